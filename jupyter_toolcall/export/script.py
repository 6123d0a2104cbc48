"""What a session is as code: a row of `MessageText` and `Line`s, and what they need.

How they look on paper is up to a format; where tools and values are found, to a `SessionSource`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..core.call_record import CallRecord, status_phrase
from ..core.events import Data, Failed, Interrupted, Made, Producer
from ..core.state import State
from ..core.text import visible_text
from ..engine.cursor import Cursor
from ..tools.plain_data import cut
from .callees import Callee
from .code import Code, call, is_name, of_module, with_article
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


# -- names --------------------------------------------------------------------------------


def variables(names: Iterable[str], used_names: Collection[str] = ()) -> dict[str, str]:
    """Return a variable for each object: `potato_2` for `Potato#2`."""
    result: dict[str, str] = {}
    for name in names:
        result[name] = _variable(name, "object", {*used_names, *result.values()})
    return result


def _variable(text: str, kind: str, used_names: Collection[str]) -> str:
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
        return self.instances.setdefault(name, _variable(name, "instance", self._used_names))

    def result(self, call: CallRecord) -> str:
        """Return the variable of a call's plain result."""
        return _variable(f"result_{call.step}", "result", self._used_names)

    @property
    def _used_names(self) -> set[str]:
        return {*self.names.values(), *self.instances.values(), *self.reserved}

    def variable_of(self, ref: Made) -> str:
        """Return the variable of an object."""
        return self.names[self.state.name_of(ref)]


def copied(code: Code) -> Code:
    """Return the code of a copy."""
    return call(of_module("copy", "deepcopy", "deepcopy"), [code])


def assigned(targets: list[str], code: Code, many: bool = False) -> Code:
    """Return an assignment; the code alone where there is nothing to assign to."""
    if not targets:
        return code
    to = f"[{targets[0]}]" if many and len(targets) == 1 else ", ".join(targets)
    return Code(f"{to} = {code.text}", code.needs)


SHORT = 60
"""Characters of a result that stand behind its statement."""


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


def edited(call: CallRecord) -> tuple[str, ...]:
    """Return what a person changed in a call, as one line; () where it runs as it was asked for."""
    if not call.edited:
        return ()
    before, asked, reason = call.proposed, call.asked, call.reason
    # An object that the model left out was filled in, and is no change.
    keys = (key for key in {**asked, **before} if key in before or key not in call.uses)
    parts = [
        f"{key} was {before[key]!r:.80}" if key in before else f"{key} is yours"
        for key in keys
        if asked.get(key, ...) != before.get(key, ...)
    ]
    parts += [f"tool was {call.call.tool!r:.80}"] * (call.tool != call.call.tool)
    changes = "; ".join(parts) or "as the model asked"
    return (
        visible_text(
            f"{call.step} You changed this call: {changes}{f' ({reason})' if reason else ''}"
        ),
    )


def behind(call: CallRecord, produced: Collection[Made], state: State) -> str:
    """Return what stands behind a statement: its plain result, or which object it gave back."""
    match call.outcome:
        case Data(None):
            return ""
        case Data(data):
            return visible_text(f"{data!r}", SHORT)
        case Made() as ref if not produced:
            return visible_text(f"{state.name_of(ref)} itself", SHORT)
    return ""
