"""Packages import only from those below them, and what is heavy is imported in one file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from symtable import Function, SymbolTable, symtable

import pytest

from tests.benchmarks.code_size import lines_of_code

PACKAGE = Path(__file__).parent.parent / "jupyter_toolcall"
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
PACKAGES = (
    *("core", "tools", "schemes", "models", "storage", "sources", "rules", "engine"),
    *("compare", "view", "export", "session", "previews", "maps", "evaluation"),
    *("jupyter", "teaching"),
)
"""The packages from the bottom to the top: each imports only from those before it."""
TOP = {"__init__", "cli", "kitchen", "toolsets"}
"""The files at the top: entry points, and importable examples."""
LATE = {
    *(("models", "kitchen"), ("models", "session")),
    *(("session", "maps"), ("session", "jupyter")),
}
"""What is looked up late: by a name that a person gives, for `Session.map` and `Session.panel`."""
CORE = ("core", "engine", "session")
MOST_ANY = 20
"""How often `Any` may stand in 1,000 lines of their code."""
MOST_IN_FILE, MOST_IN_FUNCTION = 400, 40
"""Lines of code in one file, and in one function."""
HEAVY = {
    "anthropic": "models/anthropic.py",
    "anywidget": "jupyter/panel.py",
    "blake3": "core/digests.py",
    "cloudpickle": "tools/worker_code.py",
    "distributed": "tools/dask_executor.py",
    "docstring_parser": "tools/python_tools.py",
    "filelock": "storage/file_system.py",
    "graphql": "sources/graphql_schema.py",
    "graphviz": "view/session_graph.py",
    "mistune": "view/previews.py",
    "duckdb": "sources/table_duckdb.py",
    "nbclient": "storage/notebook_files.py",
    "nbformat": "storage/notebook_files.py",
    "networkx": "view/session_graph.py",
    "openai": "models/openai.py",
    "pygraphviz": "view/graphviz_engine.py",
    "tqdm": "core/text.py",
}
"""What one file alone may import."""
MCP = {"sources/mcp_sdk.py", "jupyter/mcp_server.py"}
"""Where the MCP SDK may be imported: what connects to servers, and the server of a session."""
ENTRY_POINTS = {"__init__", "cli"}
"""What brings the optional packages together."""
WITHOUT_TEACHING = ("engine", "session", "view", "jupyter")
"""The packages to which teaching attaches from outside."""
TEACHING = re.compile(r"(?i)lesson|predict|guess|exercise|learner|teach|\bscor(?:e|ing)")
"""The words of teaching."""
DOORS = {
    "jupyter/completion.py",
    "jupyter/magics.py",
    "jupyter/notebook.py",
    "jupyter/panel.py",
    "jupyter/session_panel.py",
}
"""Where IPython and its widgets are known."""
HOMES = {
    **{heavy: {home} for heavy, home in HEAVY.items()},
    **dict.fromkeys(("mcp", "mcp_types", "starlette", "uvicorn"), MCP),
    **dict.fromkeys(("IPython", "ipykernel", "ipywidgets"), DOORS),
    "httpx2": {"models/provider_client.py", "sources/http_client.py"},
}
"""The files that may import each heavy package. The SDKs of models bring their own HTTP client."""
FILLERS = {
    *("above", "again", "aside", "arrived", "bound", "came", "each", "given", "known"),
    *("made", "more", "own", "rest", "said", "settle", "taken", "told"),
}
"""Names that do not say what they hold."""
FILLERS_LEFT = {"evaluation": 1, "session": 2}
"""How many of them each package may bind in its functions; any other package none. All are names of
public parameters, such as `bound` for programs that were written before `approval_digest`."""


@cache
def imported(path: Path) -> frozenset[str]:
    """Return what a file imports, with those of ours as `.name` of the part that they are in."""
    package = ".".join(("jupyter_toolcall", *path.relative_to(PACKAGE).parent.parts))
    return frozenset(map(top, _imported(path, package)))


def _imported(path: Path, package: str) -> Iterator[str]:
    """Yield the full names of what a file imports, also late: by a name, or `__package__` and a
    part."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module, names, level):
                home = resolve_name(f"{'.' * level}{module or ''}", package)
                yield from (f"{home}.{name.name}" for name in names)
            case ast.Call(ast.Name("import_module"), [ast.Constant(str(name)), *_]):
                yield resolve_name(name, package)
            case ast.Call(ast.Name("import_module"), [ast.JoinedStr([_, ast.Constant(str(part))])]):
                yield f"{package}{part}"


def top(name: str) -> str:
    """Return the package of a full name; of one of ours `.` and the part."""
    first, *parts = name.split(".")
    return f".{parts[0]}" if first == "jupyter_toolcall" else first


def imports_of(part: str) -> set[str]:
    """Return the packages, and the files at the top, that a package imports."""
    found = {name[1:] for path in files_of(part) for name in imported(path) if name[0] == "."}
    return {other for other in found - {part} if (part, other) not in LATE}


def files_of(*parts: str) -> list[Path]:
    paths = [path for name, path in MODULES.items() if part_of(name) in parts]
    assert paths, f"there is no {parts}"
    return paths


def part_of(name: str) -> str:
    return name.partition("/")[0].removesuffix(".py")


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all that is read when code runs: not what a type checker alone reads."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from running(node)


def files_imported(path: Path) -> Iterator[Path]:
    """Yield the files of ours that a file imports: of a package the part, else its `__init__`."""
    for node in running(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for name in node.names:
                found = file_of(home / name.name) or file_of(home)
                assert found, f"{path} imports {name.name}, and there is no such file"
                yield found


def file_of(module: Path) -> Path | None:
    places = module.with_suffix(".py"), module / "__init__.py"
    return next((place for place in places if place.is_file()), None)


def test_there_are_these_packages_and_no_others() -> None:
    assert {part_of(name) for name in MODULES} == {*PACKAGES, *TOP}


@pytest.mark.parametrize("part", PACKAGES)
def test_a_package_imports_only_from_packages_below_it(part: str) -> None:
    for other in imports_of(part):
        assert PACKAGES.index(other) < PACKAGES.index(part), f"{part} imports {other}"


@pytest.mark.parametrize("part", PACKAGES)
def test_a_package_says_in_its_docstring_what_is_in_it_and_what_is_not(part: str) -> None:
    text = ast.get_docstring(ast.parse((PACKAGE / part / "__init__.py").read_text())) or ""
    assert len(re.findall(r"[.:](?=\s|$)", text)) >= 3
    assert re.search(r"(?i)\b(not|no|nothing|neither|only)\b", text)


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = {path: set(files_imported(path)) for path in MODULES.values()}
    assert sum(map(len, graph.values())) > len(graph)
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_what_is_imported_late_counts_too() -> None:
    assert "export" in imports_of("jupyter")
    assert "jupyter" in imports_of("__init__")


@pytest.mark.parametrize("part", sorted({part_of(name) for name in MODULES}))
def test_teaching_is_imported_at_the_entry_points_alone(part: str) -> None:
    assert "teaching" not in imports_of(part) or part in ENTRY_POINTS


@pytest.mark.parametrize("part", WITHOUT_TEACHING)
def test_what_runs_and_shows_sessions_does_not_mention_teaching(part: str) -> None:
    for path in files_of(part):
        assert TEACHING.findall(path.read_text()) == [], path


@pytest.mark.parametrize("heavy", HOMES)
def test_what_is_heavy_is_imported_by_its_homes_alone(heavy: str) -> None:
    homes = {name for name, path in MODULES.items() if heavy in imported(path)}
    assert homes <= HOMES[heavy]
    assert homes or heavy not in HEAVY


def test_a_server_is_imported_only_when_a_session_is_served() -> None:
    server = PACKAGE / "jupyter" / "mcp_server.py"
    assert [name for name, path in MODULES.items() if server in files_imported(path)] == []


def function_names(table: SymbolTable) -> Iterator[str]:
    """Yield the parameters and variables of the functions in a file, once for each scope."""
    if isinstance(table, Function):
        yield from table.get_locals()
    for child in table.get_children():
        yield from function_names(child)


@pytest.mark.parametrize("part", PACKAGES)
def test_names_in_functions_say_what_they_hold(part: str) -> None:
    texts = {str(path): path.read_text(encoding="utf-8") for path in files_of(part)}
    tables = (symtable(text, path, "exec") for path, text in texts.items())
    fillers = [name for table in tables for name in function_names(table) if name in FILLERS]
    assert len(fillers) <= FILLERS_LEFT.get(part, 0), sorted(fillers)


def test_no_file_and_no_function_is_long() -> None:
    for name, path in MODULES.items():
        text = path.read_text(encoding="utf-8")
        code = lines_of_code(text)
        assert len(code) <= MOST_IN_FILE, name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                size = len(code.intersection(range(node.lineno, (node.end_lineno or 0) + 1)))
                assert size <= MOST_IN_FUNCTION, f"{name}: {node.name} has {size} lines of code"


def test_few_types_of_the_core_are_any() -> None:
    texts = [path.read_text(encoding="utf-8") for path in files_of(*CORE)]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    count = sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes)
    assert count * 1_000 <= MOST_ANY * sum(map(len, map(lines_of_code, texts))), count
