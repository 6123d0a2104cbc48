"""The how-to guides: their code runs as it stands, each block as a cell of a notebook."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import nbformat
import pytest

from jupyter_toolcall import cli
from jupyter_toolcall.storage.notebook_files import execute

DOCS = Path(__file__).parents[2] / "docs"
EACH_TIME = ("how-to/own-tools", "how-to/tables", "how-to/replay-and-compare")
"""The guides that run in each test run; the others run in `make test-long`."""


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def name(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


PAGES = [DOCS / "index.md", *sorted((DOCS / "how-to").glob("*.md"))]
WITH_CODE = [
    pytest.param(page, id=name(page), marks=() if name(page) in EACH_TIME else pytest.mark.long)
    for page in PAGES
    if python_blocks(page)
]


@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_of_a_guide_runs(page: Path, tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(block.strip()) for block in python_blocks(page)]
    path = tmp_path / "guide.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    done = execute(path)
    assert len(done.sessions) == sum(cell.source.startswith("%%toolchat") for cell in cells)


def test_the_guides_that_run_each_time_have_code() -> None:
    assert {name(page.values[0]) for page in WITH_CODE} > {*EACH_TIME}  # type: ignore[arg-type]


def test_every_command_line_of_a_page_is_understood() -> None:
    pages = "\n".join(path.read_text() for path in DOCS.rglob("*.md"))
    lines = [line.strip() for line in re.findall(r"^ *jupyter toolcall .*$", pages, re.MULTILINE)]
    assert len(lines) >= 6
    for line in lines:
        cli.parser().parse_args(shlex.split(line, comments=True)[2:])


def test_no_page_installs_the_package_from_an_index_on_which_it_is_not() -> None:
    root = DOCS.parent
    pages = [root / "README.md", *DOCS.rglob("*.md"), *(root / "notebooks").rglob("*.ipynb")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    installing = [line for line in lines if re.search(r"pip install.*jupyter-toolcall", line)]
    assert installing
    from_index = r"pip install[^`]*[\s'\"\\]jupyter-toolcall"
    assert [line for line in installing if re.search(from_index, line)] == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name)
def test_every_link_of_a_page_leads_to_a_file_on_a_code_host_too(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).is_file()] == []


def test_what_the_changelog_names_in_its_newest_section_is_in_the_code() -> None:
    changelog = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = changelog.split("\n## ")[1].partition("### Upgrade")[0]
    code = "\n".join(re.findall(r"`([^`\n]+)`", newest))
    names = set(re.findall(r"(?<=--)[a-z-]+|[A-Za-z_]\w*(?=[(=])|(?<=\.)[a-z_]\w*(?=\()", code))
    sources = (DOCS.parent / "jupyter_toolcall").rglob("*.py")
    package = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert {"from_mcp", "jobs", "executor", "resume", "map"} <= names
    assert {name for name in names if not re.search(rf"\b{name}\b", package)} == set()
