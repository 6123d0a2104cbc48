"""README and docs: each block runs as a reader would run it, or says why it does not."""

from __future__ import annotations

import os
import re
import shlex
import venv
from pathlib import Path
from typing import Any

import pandas
import pytest

from jupyter_toolcall import cli
from jupyter_toolcall.sources.table_tools import derive_column
from jupyter_toolcall.storage.notebook_files import execute
from tests.notebooks import write_notebook
from tests.packaging.test_packages import run

DOCS = Path(__file__).parents[2] / "docs"
ROOT = DOCS.parent
EACH_TIME = (
    "how-to/own-tools",
    "how-to/tables",
    "how-to/replay-and-compare",
    "how-to/approve",
    "architecture",
)
"""The guides that run in each test run; the others run in `make test-long`."""
BLOCK = re.compile(
    r"^(?: *<!-- not run: (?P<reason>.+) -->\n)?"
    r" *```(?P<language>[\w{}-]*)[^\n]*\n(?P<code>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)
RUN_BY_OTHERS = {
    "../README": {"python"},
    "ci": {"python", "yaml"},
    "how-to/tables": {"sql"},
    "teaching": {"", "python", "ipython", "markdown", "yaml"},
}
"""Of each page, the languages of the blocks that a test of its own runs."""
CLONED = "https://github.com/jupyter-toolcall/jupyter-toolcall"
WITH_COMMANDS = ("../README", "reference/command-line", "how-to/install")
"""The pages whose commands run, in this order, in one shell."""


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in a language, without those that are marked as not run."""
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [one["code"] for one in found if one["language"] == language and not one["reason"]]


def name(page: Path) -> str:
    return os.path.relpath(page.with_suffix(""), DOCS).replace(os.sep, "/")


PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
WITH_CODE = [
    pytest.param(page, id=name(page), marks=() if name(page) in EACH_TIME else pytest.mark.long)
    for page in PAGES
    if "python" not in RUN_BY_OTHERS.get(name(page), ()) and blocks(page, "python")
]


@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_of_a_guide_runs(page: Path, tmp_path: Path) -> None:
    cells = [block.strip() for block in blocks(page, "python")]
    done = execute(write_notebook(tmp_path / "guide.ipynb", *cells))
    assert len(done.sessions) >= sum(cell.startswith("%%toolchat") for cell in cells)


def test_the_guides_that_run_each_time_have_code() -> None:
    assert {name(page.values[0]) for page in WITH_CODE} > {*EACH_TIME}  # type: ignore[arg-type]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_block_of_a_page_runs_or_says_why_it_does_not(page: Path) -> None:
    run_here = RUN_BY_OTHERS.get(name(page), set()) | {"python"}
    if name(page) in WITH_COMMANDS or {*blocks(page, "sh")} <= {*blocks(PAGES[0], "sh")}:
        run_here |= {"sh"}
    left = [one for one in BLOCK.finditer(page.read_text("utf-8")) if not one["reason"]]
    assert {one["language"] for one in left if one["language"][:1] != "{"} <= run_here


@pytest.mark.long
def test_the_commands_of_the_pages_run_from_the_clone_to_the_end(tmp_path: Path) -> None:
    pages = {name(page): blocks(page, "sh") for page in PAGES}
    readme, commands, install = (pages[one] for one in WITH_COMMANDS)
    commands = ['export PATH="$PWD/.venv/bin:$PATH"', *commands, "mkdir ../second; cd ../second"]
    venv.create(tmp_path / "venv", with_pip=True)
    programs = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # The clone is this repository, at its last commit.
    address = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_VALUE_0": CLONED, "PATH": programs}
    address["GIT_CONFIG_KEY_0"] = f"url.{ROOT.as_uri()}.insteadOf"
    script = "\n".join(["set -eux", *readme, *commands, *install])
    assert "Finished · 8 calls" in run(["bash", "-c", script], {**os.environ, **address}, tmp_path)


@pytest.mark.parametrize("expression", blocks(DOCS / "how-to/tables.md", "sql")[0].splitlines())
def test_an_expression_of_the_guide_to_tables_is_computed(expression: str) -> None:
    row: dict[str, Any] = dict.fromkeys(["city", "name", "first", "last", "code"], "7")
    row |= dict.fromkeys(["my day", "day"], pandas.Timestamp("2024-02-01"))
    table: Any = pandas.DataFrame([row | {"price": 4.0, "items": [1], "address": {"number": 2}}])
    assert "new" in repr(derive_column(table, "new", expression))


def test_every_command_line_of_a_page_is_understood() -> None:
    pages = "\n".join(path.read_text() for path in DOCS.rglob("*.md"))
    lines = [line.strip() for line in re.findall(r"^ *jupyter toolcall .*$", pages, re.MULTILINE)]
    assert len(lines) >= 6
    for line in lines:
        cli.parser().parse_args(shlex.split(line, comments=True)[2:])


def test_no_page_installs_the_package_from_an_index_on_which_it_is_not() -> None:
    pages = [*PAGES, *(ROOT / "notebooks").rglob("*.ipynb")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    installing = [line for line in lines if re.search(r"pip install.*jupyter-toolcall", line)]
    assert installing
    from_index = r"pip install[^`]*[\s'\"\\]jupyter-toolcall"
    assert [line for line in installing if re.search(from_index, line)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_to_a_file_on_a_code_host_too(page: Path) -> None:
    links = re.findall(r"(?:\]\(|src=\"|srcset=\")([^)#:\"]+)(?:#[^)]*)?[)\"]", page.read_text())
    assert [link for link in links if not (page.parent / link).is_file()] == []


def test_what_the_changelog_names_in_its_newest_sections_is_in_the_code() -> None:
    changelog = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = "".join(s.partition("### Upgrade")[0] for s in changelog.split("\n## ")[1:3])
    code = "\n".join(re.findall(r"`([^`\n]+)`", newest))
    names = set(re.findall(r"(?<=--)[a-z-]+|[A-Za-z_]\w*(?=[(=])|(?<=\.)[a-z_]\w*(?=\()", code))
    sources = (DOCS.parent / "jupyter_toolcall").rglob("*.py")
    package = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert {"from_mcp", "jobs", "executor", "resume", "map"} <= names
    assert {name for name in names if not re.search(rf"\b{name}\b", package)} == set()
