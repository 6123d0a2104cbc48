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
import itertools
import operator
import re
import symtable
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

from ..core.interrupts import attempt
from ..tools.tool_version import FILLING, names_in
from .code import (
    INDENT,
    MAIN,
    OURS,
    Code,
    Need,
    Unwritable,
    constant,
    definition_name,
    is_defined_by_you,
    is_of_package,
    is_yours,
    origin,
)
from .definition_source import (
    Definition,
    DefinitionNode,
    codes_in,
    defaults_in,
    file_text,
    find_definition,
    functions_of,
    is_same_code,
    is_value,
)

_MAGICS = (
    (re.compile(r"^(\s*)%time\s+(?=\S)"), r"\1"),
    (re.compile(r"^(\s*)([%!])"), r"\1pass  # \2"),
    (re.compile(r"^(\s*)(\?|\S.*\?\s*$)"), r"\1pass  # \2"),
)
"""Magics, and the Python that stands for them: what `%time` times, and nothing for others."""
_BODY = ("%%time", "%%timeit", "%%capture")
"""Cell magics below which stands Python."""
KNOWN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__package__"}


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


NOWHERE = Statement("")


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

    def defined(self, module: str, name: str) -> Any:
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
        for statement in _statements(node, lines[n], package, marks)
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


def _statements(
    node: ast.stmt, lines: Sequence[str], package: str, marks: Collection[str]
) -> Iterator[Statement]:
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
    uses, now = frozenset(_used(table)) - KNOWN, frozenset(_used(table, deep=False))
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
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        if deep or not isinstance(inner, symtable.Function):
            yield from _used(inner, deep, top=False)


def _annotated(node: ast.AST | None) -> Iterator[str]:
    """Yield the names in annotations, those that are written as texts too."""
    for part in ast.walk(node) if node else ():
        for annotation in (getattr(part, "annotation", None), getattr(part, "returns", None)):
            if annotation is not None:
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


WORLD = f"{OURS}.kitchen"
"""The one module of ours that holds tools: it goes home with them."""
DISPLAY = Import("IPython.display", "display", "display")


COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.If, ast.Try)
"""Statements that hold others: a definition or a constant is taken out of them."""
Place = tuple[int, bool, bool, str, int, int, int, str]
"""Where a statement stands in a script: behind which others, its module, its place there, and what
it binds, since several constants may be taken out of one block."""


@dataclass(frozen=True)
class Slice:
    """What of the modules is written: what code needs, and what that uses itself."""

    texts: Texts
    imports: dict[Import, None] = field(default_factory=dict)
    chosen: dict[Place, Statement] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    done: set[Need] = field(default_factory=set)
    meanings: dict[str, object] = field(default_factory=dict)
    """For each name what it means, since a script has one meaning for it."""
    state: set[str] = field(default_factory=set)
    """The variables that the chosen functions change."""

    def adding(self, needs: Iterable[Need]) -> Slice:
        """Return this with more that is needed. Raises Unwritable where it cannot be written."""
        copied = Slice(*map(copy.copy, vars(self).values()))
        for need in sorted(needs, key=lambda need: (need.module, need.name)):
            copied._take(need)
        return copied

    def _take(self, need: Need) -> None:
        """Choose what defines a name, and all that it uses."""
        if need in self.done:
            return
        self.done.add(need)
        is_source = is_by_source(need.module, self.texts)
        text = self.texts(need.module) if is_source or need.thing is not None else None
        if need.thing is None and is_source and text is not None:
            need = replace(need, thing=text.defined(need.module, need.name))
        if need.thing is not None and not _is_assigned(need, text):
            self._define(need, text or Text(()), is_source)
        elif is_source and text is not None:
            for statement in text.binding(need.name) or [None]:
                self._choose(need, text, statement)
        else:
            alias = need.name or need.module.partition(".")[0]
            self._import(Import(need.module, need.name, alias))

    def _choose(self, need: Need, text: Text, statement: Statement | None) -> None:
        if statement is None:
            self._elsewhere(need, text)
        elif statement.imports:
            self._choose_import(statement.imports, text.values.get(statement.imports.alias))
        else:
            if self._is_constant(need.name, statement, text):
                statement = self._constant_of(need.name, text, statement)
            for name in statement.binds:
                self._means(name, need.module)
            self._add(need.module, statement)
            # Names in annotations may be words.
            mentioned = (name for name in _annotated(statement.node) if text.binding(name))
            for name in sorted({*statement.uses, *mentioned}):
                self._take(Need(need.module, name))

    def _is_constant(self, name: str, statement: Statement, text: Text) -> bool:
        """Return whether a variable is written as its value: the statement that assigns it does
        other things too, as a loop does, or is its only one and has another value."""
        if isinstance(statement.node, COMPOUND) or name not in text.values:
            return name in text.values
        if statement.binds != {name} or len(text.binding(name)) > 1 or name in self.state:
            return False
        node: Any = getattr(statement.node, "value", None)
        if isinstance(node, ast.Lambda):
            return not is_value(node, text.values[name], None, statement.text)
        literal, raised = attempt(ast.literal_eval, node)
        return not raised and not attempt(lambda: bool(literal == text.values[name]))[0]

    def _constant_of(self, name: str, text: Text, at: Statement = NOWHERE) -> Statement:
        """Return the assignment of a variable's value, in the place of a statement."""
        if name in self.state:
            raise Unwritable(f"{name}, which changes from call to call")
        code = self._constant(name, text.values[name])
        line = f"{name} = {code.text}" if code.text != name else ""
        return Statement(line, frozenset({name}), node=at.node, source=at.source)

    def _choose_import(self, imported: Import, value: Any) -> None:
        is_source = imported.name != "" and is_by_source(imported.module, self.texts)
        if is_source and imported.name == imported.alias:
            self._take(Need(imported.module, imported.name))
            return
        if callable(value) and is_defined_by_you(bare := inspect.unwrap(value)):
            # What a script imports has to be what ran.
            find_definition(bare, getattr(self.texts(bare.__module__), "sources", ()))
        self._import(imported)

    def _add(self, module: str, statement: Statement, number: int = 0) -> None:
        # A notebook uses what modules define, and not the other way round.
        place = number, module == MAIN, module != WORLD, module, *statement.place
        self.chosen[*place, " ".join(sorted(statement.binds))] = statement

    def _constant(self, user: str, value: Any) -> Code:
        """Return a value as code when all that it needs is chosen. Raises Unwritable."""
        try:
            code = constant(value)
            for need in code.needs:
                self._take(need)
        except Unwritable as error:
            raise Unwritable(f"{user}, {error}") from None
        return code

    def _import(self, imported: Import) -> None:
        self._means(imported.alias, imported)
        self.imports[imported] = None

    def _means(self, name: str, meaning: object) -> None:
        if self.meanings.setdefault(name, meaning) != meaning:
            raise Unwritable(f"{name}, a name that means something else in this script")

    def _elsewhere(self, need: Need, text: Text) -> None:
        if need.name == "display":
            self._import(DISPLAY)
        elif stars := [s.imports for s in text.statements if s.imports and s.imports.name == "*"]:
            self.imports.update(dict.fromkeys(stars))
        elif need.name in {*text.values} - KNOWN:
            self._add(need.module, self._constant_of(need.name, text))
        elif need.name not in KNOWN:
            self.missing.add(need.name)

    # -- what is written of it --

    @property
    def import_lines(self) -> list[str]:
        """The imports as a person would write them: modules first, names of one together."""
        modules = sorted({str(imported) for imported in self.imports if not imported.name})
        names = dict[str, list[str]]()
        for imported in sorted(self.imports, key=astuple):
            if imported.name:
                names.setdefault(imported.module, []).append(str(imported).partition(" import ")[2])
        listed = (f"from {name} import {', '.join(dict.fromkeys(names[name]))}" for name in names)
        return [*modules, *listed]

    @property
    def blocks(self) -> list[str]:
        """The definitions and constants, in an order in which they can run."""
        chosen = (self.chosen[place] for place in sorted(self.chosen))
        # A cell that ran twice has defined a thing once, and changed a value twice.
        texts = {(s.text, (s.changes or s.binds & s.now) and s.place): s.text for s in chosen}
        return [*filter(None, texts.values())]

    @property
    def future(self) -> bool:
        """Whether annotations stay texts: those in a function may use names of that function."""
        tops = (meaning[0] for meaning in self.meanings.values() if isinstance(meaning, tuple))
        texts = (self.texts(place[3]) for place in self.chosen)
        return any(top.enclosing for top in tops) or any(text.future for text in texts if text)

    # -- functions and classes of this process, by their code --

    def _define(self, need: Need, text: Text, is_source: bool) -> None:
        """Choose the very definition of a function or a class. Raises Unwritable."""
        bare = inspect.unwrap(need.thing)
        top = find_definition(bare, text.sources).outermost
        path = operator.attrgetter(definition_name(bare))
        now = attempt(path, sys.modules.get(need.module))[0]
        if not is_source and now is need.thing:
            self._import(Import(need.module, need.name, need.name))
            return
        self.state.update(names_in(top.code)["state"])
        values = self._own_values(need, bare, top)
        statement = _statement(need.thing, bare, top, text)
        for name in sorted({*statement.uses} - {*values, *top.code.co_freevars, need.name}):
            if name not in top.local_names:
                self._take(Need(need.module, name))
            elif name not in {*_annotated(top.node)}:
                raise Unwritable(f"{need.name}, which needs {name} of the function around it")
        replaced = {name: code for name, code in values.items() if code.text != name}
        self._means(need.name, (top, *replaced.values()))
        if replaced:
            statement = replace(statement, text=_factory(need.name, replaced, statement.text))
        # What has values of its own needs these at once: it stands behind all that it uses.
        self._add(need.module, statement, len(self.chosen) + 1 if replaced else 0)
        after = (later for later in text.statements if later.place > statement.place)
        if not top.enclosing:
            for later in itertools.takewhile(lambda later: need.name not in later.binds, after):
                if need.name in later.changes:
                    self._choose(need, text, later)

    def _own_values(self, need: Need, bare: Any, top: Definition) -> dict[str, Code]:
        """Return what a definition has from where it stood: free variables, defaults, bases."""
        free = {*top.code.co_freevars} - {"__class__", need.name}
        if changing := sorted(free & names_in(top.code)["state"]):
            raise Unwritable(f"{need.name}, which changes {changing[0]} from call to call")
        bases = {base.__name__: base for base in getattr(bare, "__bases__", ())}
        annotated = (attempt(inspect.get_annotations, bare)[0] or {}).values()
        cells = bases | {cls.__name__: cls for cls in annotated if isinstance(cls, type)}
        names = free | ({*bases} & top.local_names)
        for function in functions_of(bare):
            cells |= getattr(attempt(inspect.getclosurevars, function)[0], "nonlocals", {})
            there = {n: v for n, v in function.__globals__.items() if n not in top.local_names}
            for node, value in defaults_in(top.node, function):
                if is_value(node, value, there | cells, top.source):
                    names |= {*_names(node)} & top.local_names
                elif isinstance(node, ast.Name) and node.id not in function.__code__.co_names:
                    # A variable, such as that of a loop, had another value then.
                    cells[node.id] = value
                    names.add(node.id)
                else:
                    raise Unwritable(f"{need.name}, whose default was {value!r:.60} then")
        if lost := sorted(names - {*cells}):
            raise Unwritable(f"{need.name}, which uses {lost[0]}, whose value is not at hand")
        user = f"{need.name}, which uses"
        return {name: self._constant(f"{user} {name}", cells[name]) for name in sorted(names)}


def _is_assigned(need: Need, text: Text | None) -> bool:
    """Return whether a class was made by a call, such as `namedtuple`: it has no `class`."""
    if text is None or text.values.get(need.name) is not need.thing or functions_of(need.thing):
        return False
    nodes = [None, *(statement.node for statement in text.binding(need.name))]
    return isinstance(nodes[-1], ast.Assign)


def _statement(thing: Any, bare: Any, top: Definition, text: Text) -> Statement:
    node = copy.copy(top.node)
    if isinstance(bare, FunctionType) and thing is bare and not isinstance(node, ast.ClassDef):
        # A bare function is its code, whatever its decorators made of it.
        node.decorator_list = []
    _check_decorators(thing, node, text)
    statement = next(_statements(node, top.source.splitlines(), text.package, text.marks))
    same = (n for n, other in enumerate(text.sources) if other.rstrip() == top.source.rstrip())
    number = max(same, default=len(text.sources))
    return replace(statement, source=number)


def _check_decorators(thing: Any, node: DefinitionNode, text: Text) -> None:
    """Raise Unwritable where a function was made by a decorator that is another one by now."""
    codes = list[CodeType]()
    for mark in node.decorator_list:
        path = ast.unparse(mark.func if isinstance(mark, ast.Call) else mark)
        value = attempt(operator.attrgetter(path), SimpleNamespace(**text.values))[0]
        if isinstance(value, (type, FunctionType)):
            codes += (c for f in functions_of(value) for c in codes_in(f.__code__))
    while isinstance(thing, FunctionType) and hasattr(thing, "__wrapped__"):
        is_known = any(is_same_code(thing.__code__, code) for code in codes)
        if is_yours(thing.__globals__["__name__"]) and not is_known:
            raise Unwritable(f"{node.name}, whose decorator cannot be found")
        thing = thing.__wrapped__


def _factory(name: str, values: Mapping[str, Code], text: str) -> str:
    """Return a definition inside a function that has the values it uses."""
    lines = [f"{free} = {code.text}" for free, code in values.items()]
    body = "\n".join([*lines, "", *text.splitlines(), "", f"return {name}"])
    return f"def _make_{name}():\n{textwrap.indent(body, INDENT)}\n\n\n{name} = _make_{name}()"


# -- where a module's text is ---------------------------------------------------------------


def is_by_source(module: str, texts: Texts) -> bool:
    """Return whether a module's definitions go home as text: others are imported.

    A module of the person's own that imports this package is of no use without it.
    """
    if module in (MAIN, WORLD):
        return True
    if is_of_package(module) or not is_yours(module):
        return False
    text = texts(module)
    return text is not None and text.ours != ()


_module_text = functools.lru_cache(maxsize=64)(text_of)


def module_text(module: str) -> Text | None:
    """Return the text of a module that is imported, or that can be; None where there is none."""
    imported = sys.modules.get(module)
    path = str(getattr(imported, "__file__", None) or (origin(module) if module != MAIN else ""))
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
