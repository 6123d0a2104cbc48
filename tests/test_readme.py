"""What the README says is so: its code runs, and what it names exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import nbformat
from PIL import Image

from jupyter_toolcall.jupyter.options import parser
from jupyter_toolcall.models.named import PROVIDERS
from jupyter_toolcall.storage.notebook_files import Executed, execute
from jupyter_toolcall.teaching import register_teaching
from tests.notebooks import write_notebook

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FLAGS = re.DOTALL | re.MULTILINE
register_teaching()


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)\n```$", README, FLAGS)


def run_cells(folder: Path, *cells: str) -> Executed:
    """Run the cells in a kernel without a front end; a cell that fails stops nothing."""
    return execute(write_notebook(folder / "readme.ipynb", *cells), halts=False)


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def test_the_example_waits_for_each_call_and_saves_what_the_person_decided(tmp_path: Path) -> None:
    decisions = ["%toolchat edit 1 method=median", "%toolchat approve"]
    looks = ["print(clean.values.tolist())", "print(hotels.isna().sum().to_dict())"]
    cells = run_cells(tmp_path, *blocks("python"), *decisions, *looks).notebook.cells
    assert "fill (call_1) waits for a person" in cells[1].outputs[-1].evalue
    assert printed(cells[-2]) == "[[90.0, 3.0], [110.0, 4.0], [110.0, 4.0], [9000.0, 4.0]]\n"
    assert printed(cells[-1]) == "{'price': 1, 'stars': 1}\n"


def test_the_example_runs_without_asking_where_every_call_is_approved(tmp_path: Path) -> None:
    first, second = blocks("python")
    done = run_cells(tmp_path, first, second.replace("flat", "flat --approve all", 1))
    assert done.sessions[0].text.startswith("Finished · 3 calls · saved DataFrame#3 as clean")


def test_every_option_of_a_cell_that_it_names_exists() -> None:
    known = {name for action in parser()._actions for name in action.option_strings}
    code = " ".join(re.findall(r"`[^`\n]+`", README) + blocks("python")[1:])
    named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", code))
    assert {"-m", "-t", "-i", "-o", "--scheme", "--approve"} <= named
    assert named <= known


def test_the_table_of_models_names_every_provider() -> None:
    table = README.partition("## Choose a model")[2].partition("\n## ")[0]
    named = set(re.findall(r"`-m ([a-z]+)\b", table))
    assert named == set(PROVIDERS) - {"scripted", "recorded"}


def test_every_extra_that_it_names_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set(re.findall(r"\[([a-z]+)\]'", README))
    assert {"lab", "openai", "tables"} <= named
    assert named <= set(project["optional-dependencies"])


def test_it_is_read_in_three_minutes() -> None:
    before_the_links = README.partition("## Read more")[0]
    text = re.sub(r"^```.*?^```|<picture>.*?</picture>", "", before_the_links, flags=FLAGS)
    assert len(re.sub(r"\]\(.*?\)", "]", text.replace("|", "")).split()) <= 3 * 230


def test_the_animation_moves_and_the_pictures_are_small() -> None:
    with Image.open(ROOT / "docs" / "panel.webp") as animation:
        assert getattr(animation, "n_frames", 1) >= 20
    names = re.findall(r"docs/[\w-]+\.(?:png|webp)", README)
    assert max((ROOT / name).stat().st_size for name in names) <= 600_000
