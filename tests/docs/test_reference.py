"""The reference of the documentation names everything that the code has."""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path

import pytest

import jupyter_toolcall
from docs._ext.generated_reference import PARTS, commands, lessons, options, settings, subcommands
from jupyter_toolcall import cli
from jupyter_toolcall.jupyter.magics import ToolChat
from jupyter_toolcall.jupyter.options import parse_options, parser
from jupyter_toolcall.jupyter.serve_command import register_serving
from jupyter_toolcall.jupyter.subcommands import subcommands as subcommand_names
from jupyter_toolcall.rules.approval_policy import PRESETS
from jupyter_toolcall.schemes import SCHEMES
from jupyter_toolcall.teaching import register_teaching
from jupyter_toolcall.tools.executors import NAMES as EXECUTORS
from tests.lessons import NAMES

DOCS = Path(__file__).parents[2] / "docs"
FOR_OUR_OWN_KERNELS = {"JUPYTER_TOOLCALL_RECORDED", "JUPYTER_TOOLCALL_WORDS"}
"""Variables that `verify` sets in the kernel that it starts."""
register_teaching()
register_serving()


@pytest.mark.parametrize(
    "option", [name for action in parser()._actions for name in action.option_strings]
)
def test_every_option_of_a_cell_has_a_row(option: str) -> None:
    row = rf"^\| (`-\w`, )?`{re.escape(option)}`[^|]*(\\\|[^|]*)* \| \S|^\| `{re.escape(option)}`, "
    assert re.search(row, options(), re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in subcommand_names() if name != "help"])
def test_every_subcommand_has_a_row(name: str) -> None:
    assert re.search(rf"^\| `%toolchat (\w+, )*{name}\b[^`]*` \| \S", subcommands(), re.MULTILINE)


@pytest.mark.parametrize("name", ToolChat.class_trait_names(config=True))
def test_every_setting_has_a_row(name: str) -> None:
    assert f"| `{name}` | `" in settings()


def test_every_command_has_a_section_with_all_of_its_arguments() -> None:
    (actions,) = (a for a in cli.parser()._actions if isinstance(a, argparse._SubParsersAction))
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", commands(), re.M | re.S))
    assert set(sections) == set(actions.choices)
    for name, command in actions.choices.items():
        written = [name for action in command._actions for name in action.option_strings]
        assert [each for each in written if f"`{each}`" not in sections[name]] == ["-h", "--help"]

    assert not re.search(r"^\| .* \|  ?\|$", commands(), re.MULTILINE)


def test_every_lesson_has_a_row_that_begins_with_what_one_knows_after_it() -> None:
    rows = re.findall(r"^\| \[[^]]+\]\((\w+\.ipynb)\) \| (\w)", lessons(), re.MULTILINE)
    assert [name for name, _ in rows] == NAMES


def test_every_public_name_is_in_the_python_api() -> None:
    page = (DOCS / "reference" / "python-api.md").read_text()
    named = set(re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.MULTILINE))
    assert set(jupyter_toolcall.__all__) <= named


def test_every_extra_and_every_variable_of_the_environment_is_listed() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    extras = {*project["optional-dependencies"]} - {"dev", "docs"}
    listed = re.findall(r"^\| `([a-z]+)` \|", (DOCS / "index.md").read_text(), re.MULTILINE)
    assert {*listed} == extras
    code = "\n".join(path.read_text() for path in (DOCS.parent / "jupyter_toolcall").rglob("*.py"))
    known = {*re.findall(r"JUPYTER_TOOLCALL_[A-Z]+", code)} - FOR_OUR_OWN_KERNELS
    page = (DOCS / "reference" / "configuration.md").read_text()
    assert known == {*re.findall(r"JUPYTER_TOOLCALL_[A-Z]+", page)}


def test_every_generated_part_is_in_a_page_and_every_page_names_a_part() -> None:
    pages = "\n".join(path.read_text() for path in DOCS.rglob("*.md"))
    assert set(re.findall(r"^<!-- generated: (\w+) -->$", pages, re.MULTILINE)) == set(PARTS)


def test_the_page_about_schemes_has_a_row_for_each() -> None:
    page = (DOCS / "explanation" / "schemes.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| ", page, re.MULTILINE) == list(SCHEMES)


def test_the_page_about_approval_has_a_row_for_each_policy() -> None:
    page = (DOCS / "how-to" / "approve.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `--approve ([\w-]+)`", page, re.MULTILINE) == list(PRESETS)


def test_every_cell_of_a_page_has_options_that_exist() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    lines = re.findall(r"^ *%%toolchat (.*)$", pages, re.MULTILINE)
    assert len(lines) >= 7
    for line in lines:
        parse_options(line)


def test_every_make_target_of_a_page_is_in_the_makefile() -> None:
    root = DOCS.parent
    paths = [*DOCS.rglob("*.md"), *root.glob("*.md")]
    pages = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    named = set(re.findall(r"(?:^|`|: )make ([a-z-]+)", pages, re.MULTILINE))
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    assert {"bench", "demo", "lab", "test"} <= named
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_every_executor_with_a_name_is_listed() -> None:
    page = (DOCS / "scaling.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in EXECUTORS)


def test_the_files_and_packages_of_the_architecture_page_are_there() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    package = DOCS.parent / "jupyter_toolcall"
    files = {name for name in re.findall(r"`(\w+/\w+\.py)`", page) if not name.startswith("tests")}
    assert len(files) > 20
    assert [name for name in sorted(files) if not (package / name).is_file()] == []
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    table = page.partition("## The life of a call")[0]
    assert packages == {*re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)}
    renamed = re.findall(r"^\| `([\w/]+\.ts)` \|", page, re.MULTILINE)
    sources = DOCS.parent / "labextension" / "src"
    assert [name for name in renamed if not (sources / name).is_file()] == []
