"""The source text of modules, a notebook's cells too, as statements: what each binds and uses.

Text is read, never run.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import re
import symtable
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .code import MAIN, Need, is_yours, origin

OURS = __name__.partition(".")[0]
_MAGICS = (re.compile(r"^(\s*)([%!])"), re.compile(r"^(\s*)(\?|\S.*\?\s*$)"))
_BODY = ("%%time", "%%timeit", "%%capture")
"""Cell magics below which stands Python."""
KNOWN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__package__"}


@dataclass(frozen=True, slots=True)
class Import:
    """`from module import name as known`; `import module as known` where the name is ""."""

    module: str
    name: str
    known: str

    def __str__(self) -> str:
        if not self.name:
            return f"import {self.module}" + (
                "" if self.known == self.module.partition(".")[0] else f" as {self.known}"
            )
        more = "" if self.name == self.known else f" as {self.known}"
        return f"from {self.module} import {self.name}{more}"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement at the top of a module."""

    text: str
    binds: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    now: frozenset[str] = frozenset()
    """Those of them that it needs at once, and not when a function is called."""
    mentions: frozenset[str] = frozenset()
    """Names in its annotations, which may be words."""
    changes: frozenset[str] = frozenset()
    """Names whose values it changes, such as by `name.x = 1`."""
    imports: Import | None = None
    node: ast.stmt | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Text:
    """A module's statements in their order."""

    statements: tuple[Statement, ...]
    future: bool = False
    """Annotations are not evaluated in it."""

    def binding(self, name: str) -> tuple[int, ...]:
        """Return the places of the statements that make a name what it is; () for none."""
        positions: list[int] = []
        for position in reversed(range(len(self.statements))):
            each = self.statements[position]
            if name in each.binds:
                positions.append(position)
                if name not in each.now and not _may_not_bind(each.node):
                    break
            elif name in each.changes:
                positions.append(position)
        bound = any(name in self.statements[position].binds for position in positions)
        return tuple(reversed(positions)) if bound else ()

    def node(self, name: str) -> ast.stmt | None:
        """Return the statement that binds a name last; None where none does."""
        binding_statements = [each for each in self.statements if name in each.binds]
        return binding_statements[-1].node if binding_statements else None

    @property
    def stars(self) -> tuple[Import, ...]:
        """The imports of whatever a module has."""
        imports = (each.imports for each in self.statements if each.imports)
        return tuple(each for each in imports if each.name == "*")


Texts = Callable[[str], Text | None]
"""From a module's name to its text; None where that is not at hand."""


def _may_not_bind(node: ast.stmt | None) -> bool:
    return isinstance(node, (ast.If, ast.For, ast.While, ast.AugAssign))


def text_of(sources: Iterable[str], package: str = "") -> Text:
    """Return the text of a module, given as one source or as cells.

    What is no Python is left out: a cell's magics, and a cell that does not parse.
    """
    statements, future = list[Statement](), False
    for source in sources:
        tree = _parsed(source)
        lines = source.splitlines()
        for node in tree.body if tree else ():
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                future = future or any(name.name == "annotations" for name in node.names)
                continue
            statements += _statements(node, lines, package)
    marks = _marks(statements)
    return Text(tuple(_without_marks(each, marks) for each in statements), future)


def cell_source(text: str) -> str:
    """Return a cell as Python: magics are comments, and a cell of another language is nothing."""
    if text.lstrip().startswith("%%"):
        first, _, text = text.lstrip().partition("\n")
        if first.split()[0] not in _BODY:
            return ""
    for magic in _MAGICS:
        # What looks like a magic may stand in a text: it is one where Python cannot be read.
        if _parsed(text) is None:
            text = "\n".join(magic.sub(r"\1pass  # \2", line) for line in text.splitlines())
    return text


def _parsed(source: str) -> ast.Module | None:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with contextlib.suppress(SyntaxError, ValueError):
        tree = compile(source, "<cell>", "exec", flags, dont_inherit=True)
        return tree if isinstance(tree, ast.Module) else None
    return None


def _statements(node: ast.stmt, lines: Sequence[str], package: str) -> Iterator[Statement]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for each in _imports(node, package):
            yield Statement(str(each), frozenset({each.known}), imports=each, node=node)
        return
    text = _source(node, lines)
    try:
        table = symtable.symtable(text, "<cell>", "exec")
    # Such as `await` at the top, which no script can have.
    except (SyntaxError, ValueError):
        return
    binds = frozenset(
        s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()
    )
    uses, annotated = frozenset(_used(table)) - KNOWN, frozenset(_annotated(node)) - KNOWN
    now = frozenset(_used(table, deep=False))
    yield Statement(text, binds, uses, now, annotated - uses, frozenset(_changed(node)), node=node)


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[Import]:
    for name in node.names:
        if isinstance(node, ast.Import):
            yield Import(name.name, "", name.asname or name.name.partition(".")[0])
        else:
            up = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, (up, node.module)))
            yield Import(module, name.name, name.asname or name.name)


def _source(node: ast.stmt, lines: Sequence[str]) -> str:
    """Return a statement's own lines, with the comments right above it."""
    above = [each.lineno for each in getattr(node, "decorator_list", ())]
    first, last = min([node.lineno, *above]), node.end_lineno or node.lineno
    own = "\n".join(lines[first - 1 : last])
    tree = _parsed(own)
    if tree is None or len(tree.body) != 1:
        # It shares a line with another statement.
        return ast.unparse(node)
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
    return "\n".join(lines[first - 1 : last])


def _used(table: symtable.SymbolTable, deep: bool = True, top: bool = True) -> Iterator[str]:
    """Yield the names that code takes from its module; without `deep`, not those of functions."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        if deep or not isinstance(inner, symtable.Function):
            yield from _used(inner, deep, top=False)


def _annotated(node: ast.AST) -> Iterator[str]:
    """Yield the names in annotations, those that are written as texts too."""
    for part in ast.walk(node):
        for name in ("annotation", "returns"):
            annotation = getattr(part, name, None)
            if isinstance(annotation, ast.AST):
                yield from _names(annotation)


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name):
                yield name
            case ast.Constant(value=str() as text):
                with contextlib.suppress(SyntaxError, ValueError):
                    yield from _names(ast.parse(text, mode="eval"))


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose values an assignment changes in place."""
    match node:
        case ast.Assign(targets=targets):
            yield from filter(None, map(_inside, targets))
        case (
            ast.AugAssign(target=target)
            | ast.AnnAssign(target=target)
            | ast.Delete(targets=[target])
        ):
            yield from filter(None, [_inside(target)])


def _inside(target: ast.expr) -> str:
    at = target
    while isinstance(at, (ast.Attribute, ast.Subscript)):
        at = at.value
    return at.id if isinstance(at, ast.Name) and at is not target else ""


# -- marks of ours ------------------------------------------------------------------------


def _marks(statements: Iterable[Statement]) -> frozenset[str]:
    """Return how a module calls our `@tool`, and our package."""
    own = [
        each.imports
        for each in statements
        if each.imports and each.imports.module.partition(".")[0] == OURS
    ]
    return frozenset(each.known for each in own if each.name in ("", "tool"))


def _without_marks(statement: Statement, marks: frozenset[str]) -> Statement:
    """Return a definition without `@tool`, which says something to us alone."""
    node = statement.node
    if not marks & statement.uses or not isinstance(node, _DEFINITIONS):
        return statement
    tree = ast.parse(statement.text)
    gone: set[int] = set()
    for part in ast.walk(tree):
        for decorator in getattr(part, "decorator_list", ()):
            if _is_mark(decorator, marks):
                gone |= {*range(decorator.lineno, (decorator.end_lineno or 0) + 1)}
    if not gone:
        return statement
    lines = enumerate(statement.text.splitlines(), 1)
    text = "\n".join(line for number, line in lines if number not in gone)
    return next(_statements(ast.parse(text).body[0], text.splitlines(), ""))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_mark(decorator: ast.expr, marks: frozenset[str]) -> bool:
    bare = decorator.func if isinstance(decorator, ast.Call) else decorator
    match bare:
        case ast.Name(id=name):
            return name in marks
        case ast.Attribute(value=ast.Name(id=name), attr="tool"):
            return name in marks
    return False


WORLD = f"{OURS}.kitchen"
"""The one module of ours that holds tools: it goes home with them."""
DISPLAY = Import("IPython.display", "display", "display")


@dataclass(frozen=True, slots=True)
class Definitions:
    """Imports and statements that give code what it needs."""

    imports: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    bound: frozenset[str] = frozenset()
    """All names that are defined here."""
    missing: tuple[str, ...] = ()
    """Names that nothing defines."""
    twice: tuple[str, ...] = ()
    """Names that two modules define in two ways; the first one is kept."""
    future: bool = False


@dataclass
class _Slice:
    """What was chosen so far."""

    texts: Texts
    imports: dict[Import, None] = field(default_factory=dict)
    chosen: dict[str, dict[int, Statement]] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    done: set[Need] = field(default_factory=set)

    def take(self, need: Need) -> None:
        """Choose what defines a name, and all that it uses."""
        if need in self.done:
            return
        self.done.add(need)
        text = self.texts(need.module) if is_by_source(need.module, self.texts) else None
        if text is None:
            known = need.name or need.module.partition(".")[0]
            self.imports[Import(need.module, need.name, known)] = None
            return
        positions = text.binding(need.name)
        for position in positions:
            self._choose(need.module, position, text.statements[position])
        if not positions:
            self._elsewhere(need, text)

    def _choose(self, module: str, position: int, statement: Statement) -> None:
        imported = statement.imports
        if imported is None:
            self.chosen.setdefault(module, {})[position] = statement
            for name in sorted(statement.uses):
                self.take(Need(module, name))
            text = self.texts(module)
            for name in sorted(statement.mentions):
                if text is not None and text.binding(name):
                    self.take(Need(module, name))
        elif (
            imported.name
            and is_by_source(imported.module, self.texts)
            and imported.name == imported.known
        ):
            self.take(Need(imported.module, imported.name))
        else:
            self.imports[imported] = None

    def _elsewhere(self, need: Need, text: Text) -> None:
        if need.name in KNOWN:
            return
        if need.name == "display":
            self.imports[DISPLAY] = None
        elif text.stars:
            self.imports |= dict.fromkeys(text.stars)
        else:
            self.missing[need.name] = None


def defined(needs: Iterable[Need], texts: Texts) -> Definitions:
    """Return what defines all that is needed, what it uses itself too."""
    chosen = _Slice(texts)
    for need in sorted(needs, key=lambda each: (each.module, each.name)):
        chosen.take(need)
    statements = [
        chosen.chosen[module][position]
        for module in _in_order(chosen.chosen)
        for position in sorted(chosen.chosen[module])
    ]
    names = [name for each in statements for name in each.binds]
    return Definitions(
        tuple(_sorted_imports(chosen.imports)),
        tuple(dict.fromkeys(each.text for each in statements)),
        frozenset(names) | {each.known for each in chosen.imports},
        tuple(chosen.missing),
        tuple(_twice(chosen)),
        any((text := texts(module)) is not None and text.future for module in chosen.chosen),
    )


def _in_order(chosen: Mapping[str, object]) -> Sequence[str]:
    """A notebook uses what modules define, and not the other way round."""
    return sorted(chosen, key=lambda module: (module == MAIN, module != WORLD))


def _twice(chosen: _Slice) -> Iterator[str]:
    origins: dict[str, object] = {}
    for each in chosen.imports:
        if origins.setdefault(each.known, each) != each:
            yield each.known
    for module, statements in chosen.chosen.items():
        for name in sorted({name for each in statements.values() for name in each.binds}):
            if origins.setdefault(name, module) != module:
                yield name


def _sorted_imports(imports: Iterable[Import]) -> Iterator[str]:
    """Return imports as a person would write them: modules first, names of one together."""
    known = sorted(imports, key=lambda each: (each.name != "", each.module, each.name))
    groups: dict[str, list[Import]] = {}
    for imported in known:
        if imported.name:
            groups.setdefault(imported.module, []).append(imported)
        else:
            yield str(imported)
    for module, names in groups.items():
        listed = dict.fromkeys(str(each).partition(" import ")[2] for each in names)
        yield f"from {module} import {', '.join(listed)}"


# -- where a module's text is ---------------------------------------------------------------


def is_by_source(module: str, texts: Texts) -> bool:
    """Return whether a module's definitions go home as text: others are imported.

    A module of the person's own that imports this package is of no use without it.
    """
    if module in (MAIN, WORLD):
        return True
    if module.partition(".")[0] == OURS or not is_yours(module):
        return False
    text = texts(module)
    names = (each.imports.module for each in text.statements if each.imports) if text else ()
    return any(name.partition(".")[0] == OURS for name in names)


@functools.lru_cache(maxsize=64)
def _file_text(path: str, package: str, changed: int) -> Text | None:
    try:
        return text_of([Path(path).read_text(encoding="utf-8")], package)
    except (OSError, UnicodeDecodeError, ValueError):
        return None


def module_text(module: str) -> Text | None:
    """Return the text of a module that is imported, or that can be; None where there is none."""
    imported = sys.modules.get(module)
    path = str(getattr(imported, "__file__", None) or (origin(module) if module != MAIN else ""))
    package = str(getattr(imported, "__package__", None) or module.rpartition(".")[0])
    if not path.endswith(".py"):
        return None
    try:
        return _file_text(path, package, Path(path).stat().st_mtime_ns)
    except OSError:
        return None


def cells_text(cells: Iterable[str]) -> Text:
    """Return the text of a notebook's cells."""
    return text_of(map(cell_source, cells))


def live_text(module: str) -> Text | None:
    """Return the text of a module of this process; of a kernel's notebook, its cells so far."""
    cells = vars(sys.modules[MAIN]).get("In") if module == MAIN else None
    if isinstance(cells, list) and all(isinstance(cell, str) for cell in cells):
        return cells_text(cells)
    return module_text(module)


def notebook_texts(cells: Sequence[str]) -> Texts:
    """Return the texts of a notebook that is only read: its cells, and our world."""
    own = cells_text(cells)

    def text(module: str) -> Text | None:
        return own if module == MAIN else module_text(module) if module == WORLD else None

    return text
