"""What a tool-calling scheme is: five pure functions, and no state of its own.

What a model selected, uses, named or saved is in the calls that it made, so a scheme
reads it from there. A scheme is one small file beside this one.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..core.call_record import CallRecord
from ..core.digests import readable_json
from ..core.errors import CallError
from ..core.events import Data, Failed, Interrupted, Made, Many
from ..core.state import State
from ..tools.object_references import kinds_of
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .messages import Message, Reply, Result
from .object_lines import newest_of, no_tool

_ENCODER = json.JSONEncoder(ensure_ascii=False)
TOLD = 100_000
"""Characters of one result that a model is told."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a model is given for one turn: tools of the scheme itself, and others.

    `own` run without being asked about: they change nothing but the conversation.
    `deferred` are tools that a later turn may offer.
    """

    own: tuple[Tool, ...] = ()
    tools: tuple[Tool, ...] = ()
    system: str = ""
    deferred: tuple[Tool, ...] = ()
    spoken: bool = False
    """The system text tells of the tools: none goes by the model's own interface."""
    reminder: str = ""
    """What the model is told once where it stops here, "" where it may."""
    listed: Mapping[str, str] = field(default_factory=dict)
    """The lines of its own tools' descriptions that list objects and tools: for each line the
    object whose result tells the model of it too, "" where the line tells nothing new."""


class Scheme(Protocol):
    """A tool-calling scheme: what a model is offered, and how its calls are understood.

    Only `offer` is every scheme's own; a class made from this one has the rest as most do.
    """

    @property
    def name(self) -> str:
        """What it is called in a journal: its class, in small letters."""
        return type(self).__name__.lower()

    @abstractmethod
    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        """Return what the model may call now.

        It may go by how the session was opened, what a person said, and what calls came
        to, and by nothing else, so that it holds until the next of these.
        """

    def read(self, reply: Reply, state: State, toolbox: Toolbox) -> Reply:
        """Return the reply with its calls spelled out."""
        return reply

    def complete(self, call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
        """Return a call's arguments with what the model left unsaid.

        The tool is any of the scheme's own or the toolbox's. Raises CallError for a call
        that the scheme does not allow now, and says what to do first.
        """
        return with_receiver(call, tool, state)

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        """Return what the model is told of a call's outcome."""
        return rendered(call, state)

    def speak(self, message: Message) -> Message:
        """Return a message as it goes by the model's own interface."""
        return message


def with_receiver(call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
    """Return a call's arguments; a receiver that was left out is the newest of its type."""
    if not tool.receiver or call.asked.get(tool.receiver) is not None:
        return dict(call.asked)
    newest = newest_of(receivers(tool), state)
    if newest is None:
        return dict(call.asked)
    return {tool.receiver: newest, **call.asked, tool.receiver: newest}


def receivers(tool: Tool) -> tuple[str, ...]:
    """Return the types whose objects a tool is a function of, as its schema has them."""
    schema = tool.parameters.get("properties", {}).get(tool.receiver, {})
    return kinds_of(schema) or (tool.kind,)


def own_tool(name: str, offer: Offer) -> Tool | None:
    """Return a tool of the scheme itself by name; None where it has none of that name."""
    return next((tool for tool in offer.own if tool.name == name), None)


def unknown_tool(name: str, toolbox: Toolbox, offer: Offer) -> CallError:
    """Return what a model is told that called a tool which is not there."""
    known = [tool.name for tool in (*offer.own, *toolbox)]
    said = no_tool(name, known, toolbox)
    return CallError(f"{said[:1].lower()}{said[1:]}")


def told(call: CallRecord, state: State) -> tuple[dict[str, Any], bool]:
    """Return what came of a call as JSON-ready data, and whether that is an error."""
    said: dict[str, Any] = {}
    match call:
        case CallRecord(decided=decided) if decided is not None and call.edited:
            said["note"] = _edited(call, decided.reason)
        case CallRecord(decided=decided) if decided is not None and call.status == "answered":
            said["note"] = _note("A person gave this result; the tool did not run.", decided.reason)
    body, error = _outcome(call)
    return {**said, **body}, error


def _outcome(call: CallRecord) -> tuple[dict[str, Any], bool]:
    match call.outcome:
        case Made():
            return {"result": call.object}, False
        case Many():
            return {"objects": [*call.objects]}, False
        case Data(data):
            return {"result": data}, False
        case Failed(message) if call.status == "rejected":
            return {"error": _note("This call was rejected, so it did not run.", message)}, True
        case Failed(message):
            return {"error": message}, True
        case Interrupted():
            said = "A person interrupted this call while it ran; what it had done is not known."
            return {"error": said}, True
    return {"error": "This call has no result."}, True


def _edited(call: CallRecord, reason: str) -> str:
    ran = ", ".join(f"{key}={readable_json(value)}" for key, value in call.arguments.items())
    return _note(f"A person changed this call; what ran in its place: {call.tool}({ran}).", reason)


def _note(said: str, reason: str) -> str:
    return f"{said} Reason: {reason}" if reason else said


def as_text(data: Mapping[str, Any]) -> str:
    """Return what a model is told as text: JSON, cut where it is very long."""
    text = _ENCODER.encode(data)
    if len(text) <= TOLD:
        return text
    return f"{text[:TOLD]}… ({len(text):,} characters in all; the rest is left out)"


def rendered(call: CallRecord, state: State) -> Result:
    """Return the result as most schemes tell it."""
    body, error = told(call, state)
    return Result(call.id, as_text(body), error)
