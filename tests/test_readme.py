"""What the README says is so: its code runs, its tables are complete, what it names is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import nbformat
import pytest

from jupyter_toolcall import cli
from jupyter_toolcall.engine.approval_policy import PRESETS
from jupyter_toolcall.jupyter.options import parser
from jupyter_toolcall.schemes import SCHEMES
from jupyter_toolcall.storage.notebook_files import execute
from jupyter_toolcall.teaching.registration import register_teaching

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
register_teaching()


def blocks(language: str) -> list[str]:
    """The code blocks of a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def section(title: str) -> str:
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_python_block_runs_one_after_the_other(tmp_path: Path) -> None:
    sources = blocks("python")
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in sources]
    path = tmp_path / "readme.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    done = execute(path)
    assert len(sources) == 7
    assert "Potato#1 → Potato#2 → Potato#3 → Potato#4 → Fries#1 → Plate#2" in done.sessions[0].text
    assert "Finished · 5 calls · saved DataFrame#3 as clean" in done.sessions[1].text


def test_every_make_target_that_is_named_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"\bmake ([a-z]+)", README))
    assert {"demo", "test", "lab", "bench"} <= named
    assert not [name for name in named if f"\n{name}:" not in makefile]


def test_every_command_line_that_is_named_is_understood() -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    ours = [line for line in lines if line.startswith("jupyter toolcall")]
    assert len(ours) == 6
    for line in ours:
        cli.parser().parse_args(shlex.split(line, comments=True)[2:])


@pytest.mark.parametrize(
    "option", [name for action in parser()._actions for name in action.option_strings]
)
def test_every_option_is_in_the_table(option: str) -> None:
    table = section("A first cell").partition("| option |")[2]
    assert re.search(rf"`[^`]*(?<![\w-]){re.escape(option)}(?![\w-])", table)


def test_no_option_is_made_up() -> None:
    known = {name for action in parser()._actions for name in action.option_strings}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", section("A first cell"))) <= known


def test_schemes_and_policies_are_those_that_there_are() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", section("Models"), re.MULTILINE)
    assert rows == list(SCHEMES)
    table = README.replace("\\|", "|")
    assert f"--approve {'|'.join(PRESETS)}`" in table
    assert f"--scheme {'|'.join(SCHEMES)}`" in table


def test_every_package_that_is_named_is_there() -> None:
    (names,) = re.findall(r"`(core [a-z ]+)`", section("How it is built"))
    packages = {path.parent.name for path in (ROOT / "jupyter_toolcall").glob("*/__init__.py")}
    assert {*names.split()} == packages


def test_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert "docs/panel.png" in links
    assert not [link for link in links if not (ROOT / link).is_file()]


def test_it_can_be_read_in_one_sitting() -> None:
    assert 120 <= len(README.splitlines()) <= 205


def test_the_picture_is_light() -> None:
    assert (ROOT / "docs" / "panel.png").stat().st_size <= 200_000
