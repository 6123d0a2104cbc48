"""Without a front end: what a runner does with a session, and what a converted notebook shows."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.e2e.kitchen import LOAD, fries_cell
from tests.e2e.rig import Place, write_notebook

RUNNERS = {
    "nbconvert": ("nbconvert", "--to", "notebook", "--execute", "a.ipynb", "--output", "b.ipynb"),
    "papermill": ("papermill", "a.ipynb", "b.ipynb"),
}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module in a folder; nothing may take longer than two minutes."""
    home = {name: str(folder / "home") for name in ("IPYTHONDIR", "XDG_DATA_HOME")}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **home},
        capture_output=True,
        text=True,
        timeout=120,
    )


def notebook(folder: Path, options: str) -> None:
    sources = (LOAD, fries_cell(options), "print(fries)")
    write_notebook(Place("jupyterlab", "", folder), "a.ipynb", sources)


@pytest.mark.parametrize("runner", ["nbconvert", pytest.param("papermill", marks=pytest.mark.long)])
def test_a_session_that_needs_a_person_ends_its_cell_in_one_clear_line(
    tmp_path: Path, runner: str
) -> None:
    notebook(tmp_path, "--approve ask")
    ran = run(tmp_path, *RUNNERS[runner])
    assert ran.returncode != 0
    said = [line for line in ran.stderr.splitlines() if "waits for a person" in line]
    assert any("Potato_rinse (call_2) waits for a person" in line for line in said), ran.stderr
    assert "--approve all" in ran.stderr
    assert "jupyter_toolcall/jupyter/notebook.py" not in ran.stderr


def test_a_session_that_needs_nobody_runs_to_the_end_and_converts_to_a_picture_and_text(
    tmp_path: Path,
) -> None:
    notebook(tmp_path, "--approve all")
    ran = run(tmp_path, *RUNNERS["nbconvert"])
    assert ran.returncode == 0, ran.stderr
    cells = nbformat.read(tmp_path / "b.ipynb", as_version=4).cells
    assert cells[2].outputs[0].text == "fries: sticks\n"
    page = run(tmp_path, "nbconvert", "--to", "html", "b.ipynb")
    assert page.returncode == 0, page.stderr
    html = (tmp_path / "b.html").read_text()
    pictures = re.findall(r'<img[^>]*src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert any(b"Potato#4" in base64.b64decode(picture) for picture in pictures)
    assert "model not found" not in html.lower()
    text = run(tmp_path, "nbconvert", "--to", "markdown", "b.ipynb")
    assert text.returncode == 0, text.stderr
    assert list(tmp_path.glob("b_files/*.svg"))
