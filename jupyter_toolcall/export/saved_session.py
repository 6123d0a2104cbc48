"""A session that cannot continue: its tools are the definitions that were sent.

Results are the texts that the file has of them.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

from ..core.call_record import SAVE, CallRecord
from ..core.events import Made, Replied
from ..core.journal import Journal
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor, SessionContext
from ..engine.session_values import SessionValues
from ..rules.approval_policy import approval_policy
from ..rules.origins import OriginReader
from ..schemes import scheme_recorded
from ..schemes.current import SAVE_AS, USE
from ..schemes.messages import Result
from ..schemes.save_tool import READ
from ..schemes.scheme import Scheme
from ..schemes.select import SELECT
from ..sources.toolsets import toolset_function
from ..tools.object_references import kinds_of, pattern
from ..tools.tool import Tool, parameters_schema
from ..tools.toolbox import Toolbox
from .callees import Callee, function_of, method_of, of_function, shape_of
from .code import MAIN, Code, Unwritable, of_module
from .module_text import WORLD, Text, cells_text, module_text
from .script import ObjectCode, by_schema

OWN = (SELECT, SAVE, READ, SAVE_AS)
"""The tools of a scheme's own; `_use_TYPE` beside them."""


@dataclass(frozen=True)
class RecordedResults:
    """A scheme whose results are told in the very words that a file has of them."""

    scheme: Scheme
    words: Mapping[str, str]
    """By the id of the call."""

    def __getattr__(self, name: str) -> object:
        return getattr(self.scheme, name)

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        result = self.scheme.render(call, state, toolbox)
        return replace(result, content=self.words.get(call.id, result.content))


def read_only_cursor(journal: Journal, head: str, words: Mapping[str, str]) -> Cursor:
    """Return a cursor that cannot continue; `words` are the texts of results."""
    state = state_at(journal, head)
    box = Toolbox(*_tools(journal, head, state))
    scheme = cast(Scheme, RecordedResults(scheme_recorded(state.opened.scheme), words))
    parts = journal, box, scheme, SessionValues(journal, {}), None, approval_policy("ask")
    context = SessionContext(*parts, origin_reader=OriginReader(of_file=True))
    return Cursor(context, head)


def _tools(journal: Journal, head: str, state: State) -> Iterator[Tool]:
    """Yield the tools that were sent, as they are known by their definitions and their calls."""
    # What was spelled out in XML was sent as a text alone.
    sent: dict[str, Any] = {call.tool: {} for call in state.all_calls() if call.started}
    for entry in journal.path(head):
        if isinstance(entry.event, Replied):
            sent |= {name: journal.text(key) for name, key in entry.event.offered.items()}
    for name, definition in sent.items():
        if name and isinstance(definition, Mapping) and not is_own(name):
            yield _tool(name, definition, [call for call in state.all_calls() if call.tool == name])


def is_own(name: str) -> bool:
    """Return whether a tool is one of a scheme's own."""
    return name in OWN or name.startswith(USE)


def _tool(name: str, definition: Mapping[str, Any], calls: Sequence[CallRecord]) -> Tool:
    parameters = dict(definition.get("parameters", {}))
    instances = (call.started.instance for call in calls if call.started)
    instance = next(filter(None, instances), "")
    # The argument of a method that names its object is named as its type.
    objects = [key for key, part in parameters.get("properties", {}).items() if kinds_of(part)]
    used = [argument for call in calls for argument in call.uses]
    kind = next((key for key in (*objects, *used) if name.startswith(f"{key}_")), "")
    if kind and kind not in parameters.get("properties", {}):
        named = {"type": "string", "pattern": pattern((kind,))}
        parameters["properties"] = {kind: named, **parameters.get("properties", {})}
    tool = Tool(name, str(definition.get("description", "")), parameters)
    return replace(tool, kind=kind, receiver=kind, instance=instance, group=kind or instance)


@dataclass(frozen=True)
class SavedSession:
    """A branch of a session whose file is a notebook, or a journal alone."""

    cursor: Cursor
    cells: Sequence[str] = ()
    tool_names: tuple[str, ...] = ()
    """The notebook's variables that hold tools."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What a saved session says of its objects, by name."""

    @functools.cached_property
    def _cells_text(self) -> Text:
        return cells_text(self.cells)

    def texts(self, module: str) -> Text | None:
        """Return the text of the notebook, or of our own world: nothing else is read."""
        cells_text = self._cells_text if module == MAIN else None
        return module_text(module) if module == WORLD else cells_text

    def arguments(self, call: CallRecord, object_code: ObjectCode) -> dict[str, Code]:
        tool, state = self.cursor.context.toolbox.get(call.tool), self.cursor.state
        used = {argument: state.by_producer.get(ref, "") for argument, ref in call.uses.items()}
        objects = {argument: name for argument, name in used.items() if name}
        schema = parameters_schema(tool) if tool else {}
        return by_schema(schema, call.arguments, objects, object_code, self._class)

    def _class(self, name: str) -> Code | None:
        node = self._node(name)
        if not isinstance(node, ast.ClassDef):
            return None
        # A record that is a TypedDict is a plain dict.
        is_dict = any(ast.unparse(base).endswith("TypedDict") for base in node.bases)
        return None if is_dict else _main(name)

    def callee(self, call: CallRecord, instance: Code | None) -> Callee:
        callee = next(self._ways(call.tool, instance), None)
        if callee is None:
            raise Unwritable("a tool that no cell of the file defines")
        return callee

    def _ways(self, name: str, instance: Code | None) -> Iterator[Callee]:
        """Yield how a tool may be called, the likeliest first."""
        tool = self.cursor.context.toolbox.get(name)
        group, receiver = (tool.group, tool.receiver) if tool else ("", "")
        if instance is not None:
            method = name.removeprefix(f"{group}_")
            classes = (self._node(self._constructor(name)) for name in self._tool_variables())
            callees = (method_of(c, method) for c in classes if isinstance(c, ast.ClassDef))
            yield from (replace(callee, head=instance) for callee in callees if callee)
        node = self._node(name)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield replace(shape_of(function_of(node)), head=_main(name))
        for kind in accumulate(name.split("_")[:-1], "{}_{}".format):
            cls, method = self._node(kind), name.removeprefix(f"{kind}_")
            if isinstance(cls, ast.ClassDef) and (callee := method_of(cls, method)):
                yield callee if receiver else replace(callee, head=_main(kind))
            elif cls is not None and receiver == kind:
                yield Callee(None, method, gives="unsure")
        if node is not None and not self._is_ours(node):
            yield Callee(_main(name))
        # A script imports the functions of a toolset that a cell names.
        folders = dict(variable.partition(":")[::2] for variable in self.tool_names)
        folder = folders.get(name.partition("_")[0])
        if folder is not None and (function := toolset_function(name, Path(folder))):
            yield of_function(function)
        # A journal has no cells: what it calls a tool has to be defined by the person.
        if tool and not self.cells and receiver:
            method, needs = name.removeprefix(f"{receiver}_"), _main(receiver).needs
            yield Callee(None, method, gives="unsure", needs=needs)
        elif tool and not self.cells:
            yield Callee(_main(name))

    def _is_ours(self, node: ast.stmt) -> bool:
        """Return whether a statement makes a tool with what is ours, such as a definition."""
        text = self.texts(MAIN)
        ours = {imported.alias for imported in text.ours} if text else set()
        return any(isinstance(part, ast.Name) and part.id in ours for part in ast.walk(node))

    def _tool_variables(self) -> Iterator[str]:
        """Yield the variables that hold tools, those in a toolbox too."""
        # `-t counter.add` names a method of the variable `counter`.
        for name in (named.partition(".")[0] for named in self.tool_names):
            yield name
            value = _value_of(self._node(name), name)
            if isinstance(value, ast.Call) and self._constructor(name) == "Toolbox":
                yield from (part.id for part in value.args if isinstance(part, ast.Name))

    def _constructor(self, name: str) -> str:
        """Return the class, or the function, whose call a variable is; "" for none."""
        match _value_of(self._node(name), name):
            case ast.Call(func=ast.Name(id=function)):
                return function
        return ""

    def _node(self, name: str) -> ast.stmt | None:
        """Return the statement of a cell that binds a name; one of our world's where it is its."""
        return _node_in(self.texts(MAIN), name)

    def changed(self, call: CallRecord) -> str:
        """A file does not know what its tools are made of by now."""
        return ""

    def saved(self, name: str) -> Code:
        state = self.cursor.state
        schema, saved = state.opened.outputs[name].schema, {"saved": state.outputs[name]}
        # A record that is the output itself has its class as a title, and no reference to it.
        title = str(schema.get("title", ""))
        part = {"$ref": f"#/$defs/{title}"} if "properties" in schema else schema
        whole = {"properties": {"saved": part}, "$defs": {title: schema, **schema.get("$defs", {})}}
        return by_schema(whole, saved, {}, Code, self._class)["saved"]

    def is_shared(self, ref: Made) -> bool:
        name = self.cursor.state.by_producer.get(ref.producer, "")
        marks = getattr(self._node(ref.kind), "decorator_list", ())
        is_frozen = any("frozen=True" in ast.unparse(mark) for mark in marks)
        return is_frozen or "can't be copied" in self.notes.get(name, "")

    def instance_variable(self, name: str) -> str:
        return next(
            (variable for variable in self._tool_variables() if self._makes(variable, name)), ""
        )

    def _makes(self, variable: str, group: str) -> bool:
        """Return whether a variable holds an instance whose tools have this name."""
        constructor = self._constructor(variable)
        body = getattr(self._node(constructor), "body", ())
        is_named = any(ast.unparse(part) == f"name = {group!r}" for part in body)
        return constructor != "" and (is_named or group in (constructor, variable))


def _main(name: str) -> Code:
    return of_module(MAIN, name, name)


def _node_in(text: Text | None, name: str) -> ast.stmt | None:
    statements = reversed(text.statements) if text else ()
    found = next((statement for statement in statements if name in statement.binds), None)
    if found and found.imports and found.imports.module == WORLD:
        return _node_in(module_text(WORLD), found.imports.name)
    return found.node if found else None


def _value_of(node: ast.stmt | None, name: str) -> ast.expr | None:
    """Return what a statement assigns to a name; None where that is not plain."""
    for target in getattr(node, "targets", ()):
        match target, getattr(node, "value", None):
            case ast.Name(id=variable), ast.expr() as value if variable == name:
                return value
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                pairs = zip(names, values, strict=True)
                return next((v for n, v in pairs if ast.unparse(n) == name), None)
    return None
