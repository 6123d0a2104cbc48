"""The source text of modules, a notebook's cells too, as statements: what each binds and uses.

Text is read, never run.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import functools
import inspect
import re
import symtable
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..tools.tool_version import FILLING
from ..tools.value_digests import is_local
from .code import MAIN, OURS, definition_name, is_defined_by_you, is_of_package
from .definition_source import DefinitionNode, file_text

WORLD = f"{OURS}.kitchen"
"""The one module of this package with tools of its own: a script has their definitions."""
_WORLD_FILE = Path(__file__).parent.parent / "kitchen.py"

_MAGICS = (
    (re.compile(r"^(\s*)%time\s+(?=\S)"), r"\1"),
    (re.compile(r"^(\s*)([%!])"), r"\1pass  # \2"),
    (re.compile(r"^(\s*)(\?|\S.*\?\s*$)"), r"\1pass  # \2"),
)
"""Magics, and the Python that stands for them: what `%time` times, and nothing for others."""
_BODY = ("%%time", "%%timeit", "%%capture")
"""Cell magics below which stands Python."""
BUILTIN_NAMES = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__package__"}


@dataclass(frozen=True, slots=True)
class Import:
    """`from module import name as alias`; `import module as alias` where the name is ""."""

    module: str
    name: str
    alias: str

    def __str__(self) -> str:
        # `import a.b` binds a.
        bound_name = self.name or self.module.partition(".")[0]
        suffix = "" if self.alias == bound_name else f" as {self.alias}"
        begin = f"from {self.module} import {self.name}" if self.name else f"import {self.module}"
        return begin + suffix


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement at the top of a module, or a definition that stands deeper in it."""

    text: str
    binds: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    now: frozenset[str] = frozenset()
    """Those of them that it needs at once, and not when a function is called."""
    changes: frozenset[str] = frozenset()
    """Names whose values it changes, such as by `name.x = 1`."""
    imports: Import | None = None
    node: ast.stmt | None = field(default=None, compare=False, repr=False)
    source: int = 0
    """Which of its module's sources it stands in, such as a notebook's cells."""

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it stands in its module."""
        node = self.node
        return (self.source, node.lineno, node.col_offset) if node else (self.source, 0, 0)


@dataclass(frozen=True, slots=True)
class Text:
    """A module's statements in their order."""

    statements: tuple[Statement, ...]
    future: bool = False
    """Annotations are not evaluated in it."""
    sources: tuple[str, ...] = ()
    package: str = ""
    marks: frozenset[str] = frozenset()
    """Its names of our `@tool`, and of our package."""
    values: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What its names are in this process; nothing where it is only read."""

    def binding(self, name: str) -> tuple[Statement, ...]:
        """Return the statements that make a name what it is; () for none."""
        found: list[Statement] = []
        for statement in reversed(self.statements):
            if name in statement.binds | statement.changes:
                found.insert(0, statement)
            if name in statement.binds - statement.now and not isinstance(statement.node, PARTIAL):
                break
        return tuple(found) if any(name in statement.binds for statement in found) else ()

    def defined(self, module: str, name: str) -> object:
        """Return the function or class that a module defined under a name; None for none."""
        value = self.values.get(name)
        bare = inspect.unwrap(value) if callable(value) else None
        is_own = is_defined_by_you(bare) or module == WORLD == getattr(bare, "__module__", "")
        is_defined = is_own and bare.__module__ == module and definition_name(bare) == name
        return value if is_defined else None

    @property
    def ours(self) -> tuple[Import, ...]:
        """What it imports of this package."""
        imports = (statement.imports for statement in self.statements)
        return tuple(i for i in imports if i and is_of_package(i.module))


Texts = Callable[[str], Text | None]
"""From a module's name to its text; None where that is not at hand."""


PARTIAL = (ast.If, ast.For, ast.While, ast.AugAssign)
"""Statements after which a variable may still be what it was before, or was made from that."""


def text_of(sources: Iterable[str], package: str = "") -> Text:
    """Return the text of a module, given as one source or as cells.

    What is no Python is left out: a cell's magics, and a cell that does not parse.
    """
    texts = tuple(sources)
    trees = [_parsed(source) for source in texts]
    nodes = [
        (n, node) for n, tree in enumerate(trees) for node in _at_top(tree.body if tree else ())
    ]
    imports = [imported for _, node in nodes for imported in _imports(node, package)]
    marks = frozenset(
        i.alias for i in imports if is_of_package(i.module) and i.name in ("", "tool")
    )
    lines = [source.splitlines() for source in texts]
    statements = (
        replace(statement, source=n)
        for n, node in nodes
        for statement in statements_of(node, lines[n], package, marks)
    )
    future = any(i.module == "__future__" and i.name == "annotations" for i in imports)
    return Text(tuple(statements), future, texts, package, marks)


def _at_top(nodes: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, for `if __name__ == "__main__":` those in it."""
    for node in nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            yield from _at_top(node.body)
        else:
            yield node


def cell_source(text: str) -> str:
    """Return a cell as Python: magics are comments, and a cell of another language is nothing."""
    if text.lstrip().startswith("%%"):
        first, _, text = text.lstrip().partition("\n")
        if first.split()[0] not in _BODY:
            return ""
    for magic, python in _MAGICS:
        # What looks like a magic may stand in a text: it is one where Python cannot be read.
        if _parsed(text) is None:
            text = "\n".join(magic.sub(python, line) for line in text.splitlines())
    return text


def _parsed(source: str) -> ast.Module | None:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with contextlib.suppress(SyntaxError, ValueError):
        tree = compile(source, "<cell>", "exec", flags, dont_inherit=True)
        return tree if isinstance(tree, ast.Module) else None
    return None


def statements_of(
    node: ast.stmt, lines: Sequence[str], package: str, marks: Collection[str]
) -> Iterator[Statement]:
    """Yield a node as statements: one for each name that it imports, else one."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for imported in _imports(node, package):
            if (imported.module, bool(imported.name)) != ("__future__", True):
                binds = frozenset({imported.alias})
                yield Statement(str(imported), binds, imports=imported, node=node)
        return
    text = _source(node, lines, marks)
    try:
        table = symtable.symtable(text, "<cell>", "exec")
    # Such as `await` at the top, which no script can have.
    except (SyntaxError, ValueError):
        return
    binds = frozenset(
        s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()
    )
    uses, now = frozenset(_used(table)) - BUILTIN_NAMES, frozenset(_used(table, deep=False))
    yield Statement(text, binds, uses, now, frozenset(_changed(node)), node=node)


def _imports(node: ast.stmt, package: str) -> Iterator[Import]:
    match node:
        case ast.Import(names):
            for name in names:
                yield Import(name.name, "", name.asname or name.name.partition(".")[0])
        case ast.ImportFrom(module, names, level):
            up = package.rsplit(".", level - 1)[0] if level else ""
            whole = ".".join(filter(None, (up, module)))
            yield from (Import(whole, name.name, name.asname or name.name) for name in names)


def _source(node: ast.stmt, lines: Sequence[str], marks: Collection[str]) -> str:
    """Return a statement's own lines, with the comments right above it.

    `@tool` is left out, which says something to us alone.
    """
    bare, gone = copy.deepcopy(node), set[int]()
    for part in ast.walk(bare):
        for mark in [*getattr(part, "decorator_list", ())]:
            if _is_mark(mark, marks):
                gone |= {*range(mark.lineno, mark.end_lineno + 1)}
                part.decorator_list.remove(mark)  # type: ignore[attr-defined]
    decorator_lines = [mark.lineno for mark in getattr(node, "decorator_list", ())]
    first, last = min([node.lineno, *decorator_lines]), node.end_lineno or node.lineno
    rows = (lines[row - 1] for row in range(first, last + 1) if row not in gone)
    code = textwrap.dedent("\n".join(rows))
    tree = _parsed(code)
    # It shares a line with another statement, or has a text that less indentation changes.
    if tree is None or [*map(_shape, tree.body)] != [_shape(bare)]:
        return ast.unparse(bare)
    comments = list[str]()
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
        comments.insert(0, lines[first - 1])
    return "\n".join([*comments, code])


def _shape(node: ast.stmt) -> str:
    """Return what a statement is, whatever the indentation of its docstrings."""
    shape = ast.dump(node)
    for part in ast.walk(node):
        if isinstance(part, DefinitionNode) and (text := ast.get_docstring(part, clean=False)):
            shape = shape.replace(repr(text), repr(inspect.cleandoc(text)))
    return shape


def _used(table: symtable.SymbolTable, deep: bool = True, top: bool = True) -> Iterator[str]:
    """Yield the names that code takes from its module; without `deep`, not those of functions."""
    for symbol in table.get_symbols():
        # Of a function named `top`, `symtable` takes local names for those of the module.
        is_local = symbol.is_local() and not symbol.is_declared_global()
        if symbol.is_referenced() and (top or (symbol.is_global() and not is_local)):
            yield symbol.get_name()
    for inner in table.get_children():
        if deep or not isinstance(inner, symtable.Function):
            yield from _used(inner, deep, top=False)


def annotated_names(node: ast.AST | None) -> Iterator[str]:
    """Yield the names in annotations, those that are written as texts too."""
    for part in ast.walk(node) if node else ():
        for annotation in (getattr(part, "annotation", None), getattr(part, "returns", None)):
            if annotation is not None:
                yield from names_of(annotation)


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield the names in an expression, those in its texts too."""
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name):
                yield name
            case ast.Constant(value=str() as text):
                with contextlib.suppress(SyntaxError, ValueError):
                    yield from names_of(ast.parse(text, mode="eval"))


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose values a statement changes in place."""
    match node:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), method))) if method in FILLING:
            yield name
        case ast.AugAssign(ast.Name(name)):
            yield name
        case ast.FunctionDef(decorator_list=marks):
            # As of `functools.singledispatch`: `@area.register`, or with a class.
            named = (ast.unparse(mark).partition("(")[0].partition(".") for mark in marks)
            yield from (name for name, _, method in named if method == "register")
    is_assignment = isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete))
    for part in ast.walk(node) if is_assignment else ():
        if isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
            root: ast.expr = part
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name):
                yield root.id


def _is_mark(decorator: ast.expr, marks: Collection[str]) -> bool:
    bare = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(bare).removesuffix(".tool") in marks


def is_by_source(module: str, texts: Texts) -> bool:
    """Return whether a module's definitions go home as text: others are imported.

    A module of the person's own that imports this package is of no use without it.
    """
    if module in (MAIN, WORLD):
        return True
    text = texts(module) if is_local(module) else None
    return text is not None and text.ours != ()


_module_text = functools.lru_cache(maxsize=64)(text_of)


def module_text(module: str) -> Text | None:
    """Return the text of a module that is imported, or of our world; None where there is none."""
    imported = sys.modules.get(module)
    path = str(getattr(imported, "__file__", None) or (_WORLD_FILE if module == WORLD else ""))
    package = str(getattr(imported, "__package__", None) or module.rpartition(".")[0])
    source = file_text(path) if path.endswith(".py") else ""
    return _module_text((source,), package) if source else None


def cells_text(cells: Iterable[str]) -> Text:
    """Return the text of a notebook's cells."""
    return text_of(map(cell_source, cells))


def live_text(module: str) -> Text | None:
    """Return the text of a module of this process; of a kernel's notebook, its cells so far."""
    values = vars(sys.modules[module]) if module in sys.modules else {}
    cells = values.get("In") if module == MAIN else None
    is_kernel = isinstance(cells, list) and all(isinstance(cell, str) for cell in cells)
    text = cells_text(cells) if cells and is_kernel else module_text(module)
    return replace(text, values=values) if text else None
