"""The structure of a session as JSON, which stays: `docs/session.schema.json` is its schema.

A field that is added later has a default; what is here keeps its name and its meaning
within one version. Only these shapes live here, and the schema that they amount to. A call has no
shape of its own here but the keys of its JSON: `document` writes them from its `CallRecord`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from ..events import Usage
from ..state.call import RecordedStatus
from .marks import MARK

FORMAT: Literal["jupyter-toolcall/session"] = "jupyter-toolcall/session"


@dataclass(frozen=True, slots=True)
class OutputPart:
    """What was to be made: `value` names an object, or is plain data; null until it is saved."""

    name: str
    type: str
    description: str = ""
    value: Any = None


@dataclass(frozen=True, slots=True)
class SessionPart:
    """The session, at one place of one branch."""

    name: str
    head: str
    """The id of the journal's entry that it stands at."""
    scheme: str
    model: str
    system: str
    prompts: tuple[str, ...]
    """What a person said."""
    text: str
    """What the model said last."""
    outputs: tuple[OutputPart, ...] = ()


Text = Annotated[str, Field(default="")]


class CallPart(TypedDict):
    """A call, as it stands; in call order."""

    id: str
    step: int
    turn: int
    tool: str
    status: RecordedStatus
    arguments: Mapping[str, Any]
    """As they ran, or as they were asked for."""
    asked: Mapping[str, Any]
    """As the model asked for them."""
    decision: NotRequired[Text]
    """approve, edit, reject or answer; "" where nobody had to decide."""
    decided_by: NotRequired[Text]
    """person, policy or program."""
    reason: NotRequired[Text]
    used: NotRequired[Mapping[str, str]]
    """For each argument that names an object, that object."""
    objects: NotRequired[Annotated[tuple[str, ...], Field(default=())]]
    """What it came to, where that is objects."""
    result: NotRequired[Annotated[Any, Field(default=None)]]
    """What it came to, where that is plain data."""
    error: NotRequired[Text]
    from_memory: NotRequired[Annotated[bool, Field(default=False)]]
    prints: NotRequired[Text]
    ms: NotRequired[Annotated[float, Field(default=0)]]


@dataclass(frozen=True, slots=True)
class ObjectPart:
    """An object, oldest first."""

    name: str
    type: str
    made_by: str
    """The id of the call, or `input:NAME`."""
    content: str = ""
    """The digest of its value; "" where it has none."""
    description: str = ""
    made_from: tuple[str, ...] = ()
    saved_as: str = ""
    equals: str = ""
    """The oldest object with the same content, where that is another one."""


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of the conversation, in order."""

    role: Literal["user", "assistant", "call", "tool", "session"]
    text: str = ""
    call: str = ""
    """The id of the call that it is, or that it is the result of."""
    error: bool = False


@dataclass(frozen=True, slots=True)
class TurnPart:
    """What one request to the model took."""

    turn: int
    model: str
    usage: Usage | None = None
    ms: float = 0


@dataclass(frozen=True, slots=True)
class BranchPart:
    """A branch of the session; the one that this document tells of is `current`."""

    name: str
    head: str
    current: bool
    calls: int


@dataclass(frozen=True, slots=True)
class Document:
    """A session, whole."""

    session: SessionPart
    calls: tuple[CallPart, ...] = ()
    objects: tuple[ObjectPart, ...] = ()
    messages: tuple[MessagePart, ...] = ()
    turns: tuple[TurnPart, ...] = ()
    branches: tuple[BranchPart, ...] = ()
    usage: Usage = field(default_factory=Usage)
    format: Literal["jupyter-toolcall/session"] = FORMAT
    version: Literal[1] = 1
    made: str = MARK
    """A digest of this document, by which export knows its own."""


def schema() -> str:
    """Return the JSON Schema of a session, as it stands in `docs`."""
    made = TypeAdapter(Document).json_schema(mode="serialization")
    return json.dumps(made, indent=1) + "\n"
