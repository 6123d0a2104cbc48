"""What a script takes over from modules: the definitions that code needs, and what they use.

A function or a class is found by its code, and what cannot be written is refused by name.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import operator
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

from ..core.interrupts import attempt
from ..tools.tool_version import names_in
from ..tools.value_digests import is_local
from .code import INDENT, MAIN, Code, Need, Unwritable, constant, definition_name, is_defined_by_you
from .definition_source import (
    Definition,
    DefinitionNode,
    codes_in,
    defaults_in,
    find_definition,
    functions_of,
    is_same_code,
    is_value,
)
from .module_text import (
    BUILTIN_NAMES,
    WORLD,
    Import,
    Statement,
    Text,
    Texts,
    annotated_names,
    is_by_source,
    names_of,
    statements_of,
)

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
            mentioned = (name for name in annotated_names(statement.node) if text.binding(name))
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

    def _constant_of(self, name: str, text: Text, at: Statement) -> Statement:
        """Return the assignment of a variable's value, in the place of a statement."""
        if name in self.state:
            raise Unwritable(f"{name}, which changes from call to call")
        code = self._constant(name, text.values[name])
        line = f"{name} = {code.text}" if code.text != name else ""
        return Statement(line, frozenset({name}), node=at.node, source=at.source)

    def _choose_import(self, imported: Import, value: object) -> None:
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

    def _constant(self, user: str, value: object) -> Code:
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
            self._import(Import("IPython.display", "display", "display"))
        elif stars := [s.imports for s in text.statements if s.imports and s.imports.name == "*"]:
            self.imports.update(dict.fromkeys(stars))
        elif need.name in {*text.values} - BUILTIN_NAMES:
            self._add(need.module, self._constant_of(need.name, text, Statement("")))
        elif need.name not in BUILTIN_NAMES:
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
        ordered, waiting = list[Statement](), [self.chosen[place] for place in sorted(self.chosen)]
        while waiting:
            # A cell that ran again may define a decorator behind the function that it decorates.
            definers = {name: s for s in reversed(waiting) for name in s.binds}
            due, passed = waiting[0], set[str]().union(*(s.binds for s in ordered))
            while needed := sorted((due.now & definers.keys()) - passed - due.binds):
                passed |= due.binds
                due = definers[needed[0]]
            waiting.remove(due)
            ordered.append(due)
        # A cell that ran twice has defined a thing once, and changed a value twice.
        texts = {(s.text, (s.changes or s.binds & s.now) and s.place): s.text for s in ordered}
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
            elif name not in {*annotated_names(top.node)}:
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
                    names |= {*names_of(node)} & top.local_names
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


def _statement(thing: object, bare: object, top: Definition, text: Text) -> Statement:
    node = copy.copy(top.node)
    if isinstance(bare, FunctionType) and thing is bare and not isinstance(node, ast.ClassDef):
        # A bare function is its code, whatever its decorators made of it.
        node.decorator_list = []
    _check_decorators(thing, node, text)
    statement = next(statements_of(node, top.source.splitlines(), text.package, text.marks))
    same = (n for n, other in enumerate(text.sources) if other.rstrip() == top.source.rstrip())
    number = max(same, default=len(text.sources))
    return replace(statement, source=number)


def _check_decorators(thing: object, node: DefinitionNode, text: Text) -> None:
    """Raise Unwritable where a function was made by a decorator that is another one by now."""
    codes = list[CodeType]()
    for mark in node.decorator_list:
        path = ast.unparse(mark.func if isinstance(mark, ast.Call) else mark)
        value = attempt(operator.attrgetter(path), SimpleNamespace(**text.values))[0]
        if isinstance(value, (type, FunctionType)):
            codes += (c for f in functions_of(value) for c in codes_in(f.__code__))
    while isinstance(thing, FunctionType) and hasattr(thing, "__wrapped__"):
        is_known = any(is_same_code(thing.__code__, code) for code in codes)
        if is_local(thing.__globals__["__name__"]) and not is_known:
            raise Unwritable(f"{node.name}, whose decorator cannot be found")
        thing = thing.__wrapped__


def _factory(name: str, values: Mapping[str, Code], text: str) -> str:
    """Return a definition inside a function that has the values it uses."""
    lines = [f"{free} = {code.text}" for free, code in values.items()]
    body = "\n".join([*lines, "", *text.splitlines(), "", f"return {name}"])
    return f"def _make_{name}():\n{textwrap.indent(body, INDENT)}\n\n\n{name} = _make_{name}()"
