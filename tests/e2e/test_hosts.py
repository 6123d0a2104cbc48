"""Other hosts of notebooks, started for real in an environment of their own, as a user has them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e import rig
from tests.e2e.kitchen import expect_status, panel, press
from tests.e2e.rig import cell
from tests.e2e.test_headless import notebook

ROOT = Path(__file__).parents[2]
HOSTS = ("jupyter-collaboration", "jupytext", "marimo", "nbdime", "nbstripout", "nbval", "voila")
MIME = "application/vnd.jupyter-toolcall.session+json"
TOOL = '''from jupyter_toolcall import Scripted, Session, Toolbox
ran = []
def fill(grams: int) -> str:
    """Fill a jar."""
    ran.append(grams)
    return f"{grams} g"
model = Scripted([("fill", {"grams": 5}), "Filled."])
'''
PANEL = f"""{TOOL}
session = Session(Toolbox(fill), model, scheme="flat", approve="ask").tell("Fill it.")
session.panel
"""
MARIMO = f"""import marimo
app = marimo.App()

@app.cell
def _():
{indent(PANEL, "    ")}
    return
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with this package and the newest version of each host."""
    folder = tmp_path_factory.mktemp("hosts")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = (folder / "bin" / "pip", "install", "--quiet", f"{ROOT}[lab]", "nbconvert")
    subprocess.run([*map(str, install), *HOSTS], check=True, cwd=folder)
    return folder / "bin"


def home(folder: Path) -> dict[str, str]:
    """An environment in which a program keeps all that it writes in a folder."""
    return {**os.environ, "XDG_DATA_HOME": str(folder / "share"), "HOME": str(folder)}


def run(folder: Path, *command: str | Path) -> str:
    """What a program printed, which ended well."""
    ran = subprocess.run(
        command, cwd=folder, env=home(folder), capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def listens(port: int) -> bool:
    """Whether a program takes connections."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


# -- hosts with a page --------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["voila", "marimo"])
def test_the_panel_is_live_and_a_person_decides(
    page: Page, programs: Path, tmp_path: Path, host: str
) -> None:
    rig.write_notebook(rig.Place("jupyterlab", "", tmp_path), "a.ipynb", [PANEL])
    (tmp_path / "a.py").write_text(MARIMO)
    command: dict[str, tuple[str | Path, ...]] = {
        "voila": (programs / "voila", "a.ipynb", "--no-browser", "--Voila.ip=127.0.0.1"),
        "marimo": (programs / "marimo", "run", "a.py", "--headless", "--no-token"),
    }
    page.set_viewport_size({"width": 1366, "height": 768})
    port = rig.free_port()
    program = [*command[host], f"--port={port}"]
    with rig.running(program, tmp_path, home(tmp_path), lambda: listens(port)):
        page.goto(f"http://127.0.0.1:{port}")
        view = page.get_by_role("region", name="Tool calls")
        expect(view.get_by_text("fill", exact=True).first).to_be_visible(timeout=rig.START * 1000)
        rig.screenshot(page, f"{host}-waits")
        press(view, "Approve")
        expect_status(view, "Finished")
        rig.screenshot(page, f"{host}-finished")


def test_two_people_see_one_session_and_one_of_them_decides_once(
    browser: Browser, programs: Path, tmp_path: Path
) -> None:
    rig.write_settings(tmp_path / "settings", rig.QUIET)
    with rig.served("jupyterlab", tmp_path, programs / "python") as server:
        chat = "%%toolchat -m model -t fill --approve ask\nFill it."
        load = f"%load_ext jupyter_toolcall\n{TOOL}"
        rig.write_notebook(server, "a.ipynb", [load, chat, "print(ran)"])
        size: Any = {"width": 1366, "height": 900}
        ann, ben = (browser.new_context(viewport=size).new_page() for _ in range(2))
        for name, person in {"ann": ann, "ben": ben}.items():
            person.goto(f"{server.url}/lab/workspaces/{name}/tree/a.ipynb")
            rig.wait_ready(person)
        rig.run_cell(ann, 0)
        rig.wait_idle(ann)
        rig.run_cell(ann, 1)
        for person in (ann, ben):
            approve = panel(person, 1).get_by_role("button", name="Approve", exact=True)
            expect(approve).to_be_enabled()
        rig.screenshot(ben, "collaboration-waits")
        press(panel(ben, 1), "Approve")
        for person in (ann, ben):
            expect_status(panel(person, 1), "Finished")
        rig.wait_idle(ann)
        rig.run_cell(ann, 2)
        for person in (ann, ben):
            expect(cell(person, 2)).to_contain_text("[5]")
            # A page that stays connected would keep the server from ending.
            person.context.close()


# -- programs that read and write notebooks -----------------------------------------------------


def executed(folder: Path, programs: Path, name: str = "a") -> Path:
    """A notebook after a run in a kernel and a home of its own."""
    (home_of_run := folder / f"home-{len(list(folder.iterdir()))}").mkdir()
    convert = (programs / "jupyter-nbconvert", "--to", "notebook", "--execute", "--output")
    run(home_of_run, *convert, home_of_run / "ran.ipynb", folder / f"{name}.ipynb")
    return home_of_run / "ran.ipynb"


def session_output(notebook: Path) -> Any:
    """The saved session in a notebook, with its picture and text."""
    cells = nbformat.read(notebook, as_version=4).cells
    shown = [out.get("data", {}) for cell in cells for out in cell.get("outputs", ())]
    [saved] = [data for data in shown if MIME in data]
    return saved


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    """A folder with a notebook that has a session."""
    notebook(tmp_path, "--approve all")
    return tmp_path


def test_nbdime_finds_no_difference_of_two_equal_runs(kitchen: Path, programs: Path) -> None:
    one, other = executed(kitchen, programs), executed(kitchen, programs)
    # nbconvert notes in the metadata when a cell ran.
    assert run(kitchen, programs / "nbdiff", "--ignore-metadata", one, other) == ""


def test_nbval_finds_the_output_of_another_run_as_it_was(kitchen: Path, programs: Path) -> None:
    ran = executed(kitchen, programs)
    run(kitchen, programs / "python", "-m", "pytest", "-p", "no:cacheprovider", "--nbval", ran)


def test_a_notebook_without_outputs_or_as_a_script_gives_the_same_session_again(
    kitchen: Path, programs: Path
) -> None:
    ran = executed(kitchen, programs)
    (kitchen / "stripped.ipynb").write_bytes(ran.read_bytes())
    run(kitchen, programs / "nbstripout", "stripped.ipynb")
    assert MIME not in (kitchen / "stripped.ipynb").read_text()
    run(kitchen, programs / "jupytext", "--to", "py:percent", "--output", "a.py", "a.ipynb")
    assert "# %%toolchat" in (kitchen / "a.py").read_text()
    run(kitchen, programs / "jupytext", "--to", "ipynb", "--output", "from_script.ipynb", "a.py")
    for name in ("stripped", "from_script"):
        assert session_output(executed(kitchen, programs, name)) == session_output(ran)
