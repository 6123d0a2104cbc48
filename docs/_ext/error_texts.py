"""The texts of the package's errors, read from its code, for the page `What can go wrong`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from jupyter_toolcall.core import errors

PACKAGE = Path(errors.__file__).parents[1]
RAISED = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.ToolcallError)
}
"""The classes whose texts a person reads."""
AREAS = {
    "In a cell": ("jupyter/", "cli.py"),
    "Models and keys": ("models/",),
    "MCP servers": ("sources/mcp", "jupyter/mcp", "jupyter/serve"),
    "GraphQL": ("sources/graphql",),
    "Tables and files": ("sources/table", "sources/file", "sources/frame", "sources/sql"),
    "JSON definitions and endpoints": ("sources/",),
    "Tools and their arguments": ("tools/", "toolsets.py", "schemes/"),
    "Rules and budgets": ("rules/", "budgets/", "origins/", "previews/"),
    "Clusters and many sessions": ("executors/", "maps/", "tools/dask", "tools/executor"),
    "Lessons and exercises": ("teaching/", "evaluation/"),
    "Exported files": ("export/", "compare/", "view/"),
    "Sessions, decisions and journals": ("session/", "engine/", "core/", "storage/"),
}
"""Of each section of the page, how its files begin. The longest beginning decides."""
SHORTEST = 4
"""Words of a text that says something without its values."""


def error_texts() -> dict[str, list[str]]:
    """Return the texts of each section, in the order of the alphabet; a value is its NAME."""
    sections: dict[str, set[str]] = {area: set() for area in AREAS}
    for path in PACKAGE.rglob("*.py"):
        area = _area(path.relative_to(PACKAGE).as_posix())
        if area:
            sections[area].update(_texts_of(ast.parse(path.read_text(encoding="utf-8"))))
    return {area: sorted(texts, key=str.lower) for area, texts in sections.items() if texts}


def _area(name: str) -> str:
    starts = [(start, area) for area, known in AREAS.items() for start in known]
    fitting = [(len(start), area) for start, area in starts if name.startswith(start)]
    return max(fitting, default=(0, ""))[1]


def _texts_of(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
            continue
        if _name(node.exc.func) in RAISED and node.exc.args:
            text = re.sub(r"(?<=[.?])…$", "", " ".join(_text(node.exc.args[0]).split()))
            if sum(word.islower() for word in text.split()) >= SHORTEST:
                yield text


def _text(node: ast.expr) -> str:
    """Return a text with the names of its values; nothing where it is put together elsewhere."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_text, parts))
        case ast.FormattedValue(value=value):
            return _name(value).strip("_").upper() or "…"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
    return ""


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
