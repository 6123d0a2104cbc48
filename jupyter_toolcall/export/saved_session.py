"""A session that cannot continue: its tools are the definitions that were sent.

Results are the texts that the file has of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.call_record import SAVE, CallRecord
from ..core.errors import Absent
from ..core.events import Made, Replied
from ..core.journal import Journal
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.approval_policy import approval_policy
from ..engine.cursor import Cursor, SessionContext
from ..engine.session_values import SessionValues
from ..schemes import scheme_recorded
from ..schemes.current import SAVE_AS, USE
from ..schemes.messages import Message, Reply, Result
from ..schemes.save_tool import READ
from ..schemes.scheme import Offer, Scheme
from ..schemes.select import SELECT
from ..sources.toolsets import toolset_function
from ..tools.object_references import kinds_of, pattern
from ..tools.tool import Tool, parameters_schema
from ..tools.toolbox import Toolbox
from .callees import Callee, method_of, of_function, shaped_by
from .code import MAIN, OURS, Code, Need, Unwritable
from .definitions import WORLD, Text, Texts, module_text, notebook_texts
from .script import ObjectCode
from .statements import by_schema

OWN = (SELECT, SAVE, READ, SAVE_AS)
"""The tools of a scheme's own; `_use_TYPE` beside them."""


@dataclass(frozen=True)
class RecordedResults:
    """A scheme whose results are told in the very words that a file has of them."""

    scheme: Scheme
    words: Mapping[str, str]
    """By the id of the call."""

    @property
    def name(self) -> str:
        return self.scheme.name

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        return self.scheme.offer(state, toolbox)

    def read(self, reply: Reply, state: State, toolbox: Toolbox) -> Reply:
        return self.scheme.read(reply, state, toolbox)

    def complete(self, call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
        return self.scheme.complete(call, tool, state)

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        result = self.scheme.render(call, state, toolbox)
        return replace(result, content=self.words.get(call.id, result.content))

    def speak(self, message: Message) -> Message:
        return self.scheme.speak(message)


def read_only_cursor(journal: Journal, head: str, words: Mapping[str, str]) -> Cursor:
    """Return a cursor that cannot continue; `words` are the texts of results."""
    state = state_at(journal, head)
    box = Toolbox(*_tools(journal, head, state))
    scheme = RecordedResults(scheme_recorded(state.opened.scheme), words)
    context = SessionContext(
        journal, box, scheme, SessionValues(journal, {}), None, approval_policy("ask", ())
    )
    return Cursor(context, head)


def _tools(journal: Journal, head: str, state: State) -> Iterator[Tool]:
    """Yield the tools that were sent, as they are known by their definitions and their calls."""
    # What was spelled out in XML was sent as a text alone.
    sent: dict[str, Any] = {call.tool: {} for call in state.all_calls() if call.started}
    for entry in journal.path(head):
        if isinstance(entry.event, Replied):
            sent |= {name: journal.texts.get(key) for name, key in entry.event.offered.items()}
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
    kind = _receiver(name, parameters, [argument for call in calls for argument in call.uses])
    if kind and kind not in parameters.get("properties", {}):
        named = {"type": "string", "pattern": pattern((kind,))}
        parameters["properties"] = {kind: named, **parameters.get("properties", {})}
    made = Tool(name, str(definition.get("description", "")), parameters)
    return replace(made, kind=kind, receiver=kind, instance=instance, group=kind or instance)


def _receiver(name: str, parameters: Mapping[str, Any], used: Iterable[str]) -> str:
    """Return the argument of a method that names its object: it is named as its type."""
    properties = parameters.get("properties", {})
    objects = [key for key, part in properties.items() if kinds_of(part)]
    return next((key for key in (*objects, *used) if name.startswith(f"{key}_")), "")


@dataclass(frozen=True)
class SavedSession:
    """A branch of a session whose file is a notebook, or a journal alone."""

    cursor: Cursor
    cells: Sequence[str] = ()
    given: tuple[str, ...] = ()
    """The notebook's variables that hold tools."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What a saved session says of its objects, by name."""
    texts: Texts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", notebook_texts(self.cells))

    def is_tool(self, name: str) -> bool:
        return not is_own(name)

    def receiver(self, call: CallRecord) -> str:
        tool = self.cursor.context.toolbox.get(call.tool)
        return tool.receiver if tool else ""

    def arguments(self, call: CallRecord, object_code: ObjectCode) -> dict[str, Code]:
        tool, state = self.cursor.context.toolbox.get(call.tool), self.cursor.state
        known = (
            (argument, state.produced_object(producer)) for argument, producer in call.uses.items()
        )
        objects = {argument: state.name_of(made) for argument, made in known if made is not None}
        schema = parameters_schema(tool) if tool else {}
        return by_schema(schema, call.arguments, objects, object_code, self._class)

    def _class(self, name: str) -> Code | None:
        node = self._node(name)
        plain = isinstance(node, ast.ClassDef) and not _is_dict(node)
        return Code(name, frozenset({Need(MAIN, name)})) if plain else None

    def callee(self, call: CallRecord, instance: Code | None) -> Callee:
        tool = self.cursor.context.toolbox.get(call.tool)
        for callee in self._ways(call.tool, tool, instance):
            return callee
        raise Unwritable("a tool that no cell of the file defines")

    def _ways(self, name: str, tool: Tool | None, instance: Code | None) -> Iterator[Callee]:
        """Yield how a tool may be called, the likeliest first."""
        group = tool.group if tool else ""
        if instance is not None:
            yield from self._of_instance(name.removeprefix(f"{group}_"), instance)
        function = self._node(name)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield replace(shaped_by(function), head=_main(name))
        for kind in _prefixes(name):
            cls, method = self._node(kind), name.removeprefix(f"{kind}_")
            if isinstance(cls, ast.ClassDef) and _has(cls, method):
                callee = method_of(cls, method)
                yield callee if tool and tool.receiver else replace(callee, head=_main(kind))
            elif cls is not None and tool and tool.receiver == kind:
                yield Callee(None, method, gives="unsure")
        if function is not None and not self._is_ours(function):
            yield Callee(_main(name))
        yield from self._of_toolset(name)
        if not self.cells and tool:
            yield self._guessed(name, tool)

    def _of_toolset(self, name: str) -> Iterator[Callee]:
        """Yield how a tool of a toolset that a cell names is called: a script imports it."""
        group = name.partition("_")[0]
        given = [each for each in self.given if each.partition(":")[0] == group]
        function = toolset_function(name, Path(given[-1].partition(":")[2])) if given else None
        if function is not None:
            yield of_function(function)

    def _guessed(self, name: str, tool: Tool) -> Callee:
        """A journal has no cells: what it calls a tool has to be defined by the person."""
        if not tool.receiver:
            return Callee(_main(name))
        needs = frozenset({Need(MAIN, tool.receiver)})
        method = name.removeprefix(f"{tool.receiver}_")
        return Callee(None, method, gives="unsure", needs=needs)

    def _is_ours(self, node: ast.stmt) -> bool:
        """Return whether a statement makes a tool with what is ours, such as a definition."""
        text = self.texts(MAIN)
        imports = (each.imports for each in text.statements if each.imports) if text else ()
        ours = {each.known for each in imports if each.module.partition(".")[0] == OURS}
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return bool(ours & names)

    def _of_instance(self, method: str, instance: Code) -> Iterator[Callee]:
        for cls in self._classes():
            if _has(cls, method):
                yield replace(method_of(cls, method), head=instance)
                return

    def _classes(self) -> Iterator[ast.ClassDef]:
        """Yield the classes of the variables that were given as tools."""
        for name in self._tool_variables():
            cls = self._node(self._constructor(name))
            if isinstance(cls, ast.ClassDef):
                yield cls

    def _tool_variables(self) -> Iterator[str]:
        """Yield the variables that were given as tools, those in a toolbox too."""
        for name in self.given:
            yield name
            if self._constructor(name) == "Toolbox":
                value = _value_of(self._node(name), name)
                parts = value.args if isinstance(value, ast.Call) else ()
                yield from (part.id for part in parts if isinstance(part, ast.Name))

    def _constructor(self, name: str) -> str:
        """Return the class, or the function, whose call a variable is; "" for none."""
        value = _value_of(self._node(name), name)
        function = value.func if isinstance(value, ast.Call) else None
        return function.id if isinstance(function, ast.Name) else ""

    def _node(self, name: str) -> ast.stmt | None:
        """Return the statement of a cell that binds a name; one of our world's where it is its."""
        return _node_in(self.texts(MAIN), name)

    def value(self, made: Made) -> Any:
        raise Absent("its value is not in the file")

    def instance(self, name: str, digest: str) -> Any:
        raise Absent("its value is not in the file")

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

    def is_shared(self, made: Made) -> bool:
        name = self.cursor.state.by_producer.get(made.producer, "")
        cls = self._node(made.kind)
        return "can't be copied" in self.notes.get(name, "") or _is_frozen(cls)

    def instance_variable(self, name: str) -> str:
        return next((each for each in self._tool_variables() if self._makes(each, name)), "")

    def _makes(self, variable: str, group: str) -> bool:
        """Return whether a variable holds an instance whose tools have this name."""
        made = self._constructor(variable)
        return made != "" and (group in (made, variable) or _named(self._node(made), group))


def _main(name: str) -> Code:
    return Code(name, frozenset({Need(MAIN, name)}))


def _node_in(text: Text | None, name: str) -> ast.stmt | None:
    if text is None:
        return None
    for statement in reversed(text.statements):
        if name in statement.binds:
            imported = statement.imports
            if imported is not None and imported.module == WORLD:
                return _node_in(module_text(WORLD), imported.name)
            return statement.node
    return None


def _value_of(node: ast.stmt | None, name: str) -> ast.expr | None:
    """Return what a statement assigns to a name; None where that is not plain."""
    if not isinstance(node, ast.Assign):
        return None
    for target in node.targets:
        match target, node.value:
            case ast.Name(id=known), value if known == name:
                return value
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                pairs = zip(names, values, strict=True)
                matching = (v for n, v in pairs if isinstance(n, ast.Name) and n.id == name)
                return next(matching, None)
    return None


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split("_")
    yield from ("_".join(parts[:n]) for n in range(1, len(parts)))


def _has(cls: ast.ClassDef, method: str) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(each, kinds) and each.name == method for each in cls.body)


def _is_frozen(cls: ast.stmt | None) -> bool:
    marks = cls.decorator_list if isinstance(cls, ast.ClassDef) else []
    return any("frozen=True" in ast.unparse(mark) for mark in marks)


def _is_dict(cls: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("TypedDict") for base in cls.bases)


def _named(cls: ast.stmt | None, group: str) -> bool:
    """Return whether a class says that its tools have this name."""
    body = cls.body if isinstance(cls, ast.ClassDef) else []
    return any(ast.unparse(each) in (f"name = {group!r}",) for each in body)
