"""What a session is as code: a row of `MessageText` and `Line`s, and what they need.

How they look on paper is up to a format; where tools and values are found, to a `SessionSource`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from jsonschema_rs import is_valid

from ..core.call_record import CallRecord, status_phrase
from ..core.events import Data, Failed, Interrupted, Made, Producer
from ..core.interrupts import attempt
from ..core.recorded_data import JsonObject
from ..core.state import State
from ..core.text import visible_text
from ..engine.cursor import Cursor
from ..tools.plain_data import cut
from .callees import Callee
from .code import DEEPEST, Code, call, is_name, joined, quoted, record, with_article, written
from .definitions import Slice
from .module_text import Texts

Author = Literal["You", "Model", "Session"]


@dataclass(frozen=True, slots=True)
class MessageText:
    """What somebody said."""

    author: Author
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A statement (or nothing), with comments above it and behind it."""

    code: Code | None = None
    comments: tuple[str, ...] = ()
    behind: str = ""
    open: bool = False
    """It is for the person to fill in."""


@dataclass(frozen=True, slots=True)
class Script:
    """A session as code."""

    title: str
    definitions: Slice
    input_lines: tuple[Line, ...] = ()
    parts: tuple[MessageText | Line, ...] = ()
    saved: tuple[Line, ...] = ()

    @property
    def lines(self) -> list[Line]:
        parts = (*self.input_lines, *self.parts, *self.saved)
        return [part for part in parts if isinstance(part, Line)]

    def calls(self, function: str) -> bool:
        """Return whether a line calls a function."""
        return any(f"{function}(" in line.code.text for line in self.lines if line.code)


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a session is written: calls (by id), objects (by producer), instances (by name)."""

    calls: frozenset[str] = frozenset()
    objects: frozenset[Producer] = frozenset()
    instances: frozenset[str] = frozenset()


ObjectCode = Callable[[str], Code]
"""From an object's name to the code that a call gets it by."""


class SessionSource(Protocol):
    """Where the tools and values of an exported session come from: this process, or a file."""

    @property
    def texts(self) -> Texts: ...

    def callee(self, call: CallRecord, instance: Code | None) -> Callee:
        """Return how a call's tool is called. Raises Unwritable."""

    def changed(self, call: CallRecord) -> str:
        """Say what of a call's tool is another than it was when it ran, "" for nothing."""

    def arguments(self, call: CallRecord, object_code: ObjectCode) -> dict[str, Code]:
        """Return the arguments as they reached the function. Raises Unwritable."""

    def saved(self, name: str) -> Code:
        """Return the data that was saved as an output, of its class. Raises Absent, Unwritable."""

    def is_shared(self, ref: Made) -> bool:
        """Return whether a call gets an object itself, and no copy of it."""

    def instance_variable(self, name: str) -> str:
        """Return the notebook's variable that holds a stateful instance, "" for none."""


# -- arguments by their JSON Schema alone -------------------------------------------------

Named = Callable[[str], Code | None]
"""From the name of a class to the code that names it; None where it is not known."""


def by_schema(
    schema: JsonObject,
    arguments: JsonObject,
    objects: Mapping[str, str],
    object_code: ObjectCode,
    named: Named = lambda name: None,
) -> dict[str, Code]:
    """Return arguments as code; `objects` are the places in them that name objects."""
    wording = _Wording(schema.get("$defs", {}), objects, object_code, named)
    return wording.fields(schema, arguments, "")


@dataclass(frozen=True, slots=True)
class _Wording:
    """How the values of one call are written; a place is their way, such as `order.0.item`."""

    defs: JsonObject
    objects: Mapping[str, str]
    object_code: ObjectCode
    named: Named

    def fields(self, part: Any, value: JsonObject, at: str) -> dict[str, Code]:
        named, others = part.get("properties", {}), part.get("additionalProperties", {})
        return {key: self._code(named.get(key, others), v, at + key) for key, v in value.items()}

    def _code(self, part: object, value: object, path: str) -> Code:
        if path in self.objects:
            return self.object_code(self.objects[path])
        part, cls = self._resolved(part, value)
        match value:
            case _ if cls and ("enum" in part or "const" in part):
                return call(cls, [written(value)])
            case list():
                kinds = itertools.chain(
                    part.get("prefixItems", ()), itertools.repeat(part.get("items", {}))
                )
                pairs = enumerate(zip(value, kinds, strict=False))
                items = (self._code(kind, item, f"{path}.{n}") for n, (item, kind) in pairs)
                return joined("[", items, "]")
            case dict():
                fields = self.fields(part, value, f"{path}.")
                if cls and "properties" in part:
                    return call(cls, named=fields)
                return record((Code(quoted(key)), code) for key, code in fields.items())
        return written(value)

    def _resolved(self, part: Any, value: Any) -> tuple[JsonObject, Code | None]:
        """Return what a schema says of a value, and the class of which it makes it one."""
        cls = None
        # In a file that was changed, a definition may refer to itself.
        for _ in range(DEEPEST):
            part = part if isinstance(part, Mapping) else {}
            branches = (b for key in ("anyOf", "oneOf", "allOf") for b in part.get(key, ()))
            if "$ref" in part:
                name = str(part["$ref"]).rpartition("/")[2]
                cls, part = self.named(name), self.defs.get(name)
            elif fitting := [branch for branch in branches if self._takes(branch, value)]:
                part = fitting[0]
            else:
                break
        return part, cls

    def _takes(self, branch: object, value: object) -> bool:
        schema = {**branch, "$defs": self.defs} if isinstance(branch, Mapping) else False
        # A file may hold a schema that is none.
        return bool(attempt(is_valid, schema, value)[0])


# -- names --------------------------------------------------------------------------------


def variable_name(text: str, kind: str, used_names: Collection[str]) -> str:
    """Return a name that code can have and does not have yet, which reads like a text."""
    bare = re.sub(r"\W", "_", text).lower()
    name = next(filter(is_name, (bare, f"{kind}_{bare}", kind)))
    while name in used_names:
        name += "_"
    return name


@dataclass
class Draft:
    """One branch on its way into code."""

    source: SessionSource
    cursor: Cursor
    names: Mapping[str, str]
    """For each object its variable."""
    reserved: frozenset[str] = frozenset()
    """Names that no variable has."""
    only: Selection | None = None
    """What is written; None for all."""
    awaits: bool = False
    there: set[Producer] = field(default_factory=set)
    """The objects that are defined by now."""
    instances: dict[str, str] = field(default_factory=dict)
    """For each stateful instance its variable."""
    at: dict[str, str] = field(default_factory=dict)
    """For each of them the digest of what it was given as."""
    definitions: Slice = field(init=False)
    """What the code so far needs."""

    def __post_init__(self) -> None:
        self.definitions = Slice(self.source.texts)

    @property
    def state(self) -> State:
        return self.cursor.state

    def value(self, ref: Made) -> Any:
        """Return an object's value. Raises Absent."""
        return self.cursor.context.values.value(ref)

    def receiver(self, call: CallRecord) -> str:
        """Return the argument that names the object which a call is a method of, or ""."""
        tool = self.cursor.context.toolbox.get(call.tool)
        # A function takes the object as an argument.
        is_method = tool is not None and (tool.origin is None or tool.origin.owner is not None)
        return tool.receiver if tool is not None and is_method else ""

    def defined(self, code: Code) -> Code:
        """Return code when all that it needs is defined. Raises Unwritable if it cannot be."""
        self.definitions = self.definitions.adding(code.needs)
        return code

    def wants_call(self, call_id: str) -> bool:
        """Return whether a call is written."""
        return self.only is None or call_id in self.only.calls

    def wants_object(self, ref: Made) -> bool:
        """Return whether an object is written."""
        return self.only is None or ref.producer in self.only.objects

    def instance(self, name: str) -> str:
        """Return the variable of a stateful instance."""
        return self.instances.setdefault(name, variable_name(name, "instance", self._used_names))

    def result(self, call: CallRecord) -> str:
        """Return the variable of a call's plain result."""
        return variable_name(f"result_{call.step}", "result", self._used_names)

    @property
    def _used_names(self) -> set[str]:
        return {*self.names.values(), *self.instances.values(), *self.reserved}

    def variable_of(self, ref: Made) -> str:
        """Return the variable of an object."""
        return self.names[self.state.name_of(ref)]


LONG = 300
"""Characters of a line that tells of a call."""


def line_of(call: CallRecord) -> str:
    """Return a call as one line."""
    arguments = ", ".join(f"{key}={value!r:.80}" for key, value in call.arguments.items())
    return visible_text(cut(f"{call.step} {call.tool}({arguments})", 200))


def call_line(call: CallRecord) -> str:
    """Return a call as one line, with what came of it."""
    match call.outcome:
        case None:
            end = "has no result yet"
        case Data(data):
            end = f"came to {data!r:.80}"
        case Failed(message):
            end = f"{status_phrase(call.status)}{f': {message}' if message else ''}"
        case Interrupted():
            end = "was interrupted"
        case _:
            end = f"{'made' if call.produced else 'gave back'} {', '.join(call.objects)}"
    return visible_text(f"{line_of(call)} {end}", LONG)


def about(ref: Made) -> str:
    """Return what an object is: its type and its description."""
    return f"{with_article(ref.kind)}{f' ({ref.description})' if ref.description else ''}"
