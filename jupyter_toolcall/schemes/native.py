"""Any scheme, spoken in XML: its tools stand in the system text, calls and results in the text.

What may be called, what is left unsaid and what a call came to is the inner scheme's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import CallError
from ..core.events import Call
from ..core.state import State
from ..tools.arguments import writable_call
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .messages import Assistant, Message, Reply, Result, Results, User, call_id
from .scheme import Offer, Scheme
from .xml_reading import Spoken, found, pair, prose, spoken
from .xml_values import types, value
from .xml_writing import FORCE, WRITE_SO, calls, instructions, result, results, retold

UNREADABLE = "unreadable"
"""The name of a call that does not say which tool it is for."""


@dataclass(frozen=True, slots=True)
class Native:
    """A scheme whose tools are called in the text. `force`: at least one has to be."""

    scheme: Scheme
    force: bool = False

    @property
    def name(self) -> str:
        return f"native({self.scheme.name}{', force' if self.force else ''})"

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        inner = self.scheme.offer(state, toolbox)
        told = instructions(inner.own, inner.tools, toolbox)
        due = [FORCE] if self.force and not _called(state, toolbox) else []
        return replace(
            inner,
            system="\n\n".join(part for part in (inner.system, told) if part),
            spoken=True,
            reminder="\n".join([*due, *([inner.reminder] if inner.reminder else [])]),
        )

    def read(self, reply: Reply, state: State, toolbox: Toolbox) -> Reply:
        """A reply that calls by an interface (a script's) reads as if it had been written."""
        inner = self.scheme.offer(state, toolbox)
        tools = {tool.name: tool for tool in (*toolbox, *inner.tools, *inner.own)}
        if reply.calls:
            reply = _written(reply, tools)
        elif said := spoken(reply.text):
            ids = (call_id(state.turns, index, len(said)) for index in range(len(said)))
            made = tuple(_call(call_id, one, tools) for call_id, one in zip(ids, said, strict=True))
            stop = "tools" if reply.stop == "end" else reply.stop
            reply = replace(reply, calls=made, stop=stop, said=prose(reply.text, said))
        return self.scheme.read(reply, state, toolbox)

    def complete(self, call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
        return self.scheme.complete(call, tool, state)

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        told = self.scheme.render(call, state, toolbox)
        tool, name = toolbox.get(call.tool), call.tool.removeprefix(UNREADABLE)
        own = (name, "" if call.call.broken else name)
        return replace(told, content=result(*(pair(tool) if tool else own), told))

    def speak(self, message: Message) -> Message:
        match self.scheme.speak(message):
            case Assistant(text, made, raw) if made:
                return Assistant(text if raw is not None else retold(text, made), (), raw)
            case Results(told, news):
                return User(results(told, news))
            case other:
                return other


def _called(state: State, toolbox: Toolbox) -> bool:
    """Return whether a tool ran, or a person ruled on one, since a person spoke last."""
    places = range(state.calls_before, len(state.order))
    since = (state.calls[state.order[place]] for place in places)
    ruled = (call for call in since if call.started is not None or call.decided is not None)
    return any(call.tool in toolbox for call in ruled)


def _written(reply: Reply, tools: Mapping[str, Tool]) -> Reply:
    """Return a reply with its calls in its text too. What was sent was another text."""
    made = tuple(map(writable_call, reply.calls))
    parts = (reply.text, calls(made, tools.get))
    text = "\n\n".join(part for part in parts if part)
    return replace(reply, text=text, calls=made, said=reply.text, raw=None)


def _call(call_id: str, said: Spoken, tools: Mapping[str, Tool]) -> Call:
    """Return a call as it was spoken; one that cannot be read says why, and how to write it."""
    texts = dict(said.whole) if said.whole is not None else {g.name: g.text for g in said.given}
    try:
        tool = found(said.tool, said.function, tools.values())
    except CallError as error:
        name = "_".join(part for part in (said.tool, said.function) if part) or UNREADABLE
        unnamed = f"{error}. {WRITE_SO}" if name == UNREADABLE else str(error)
        return Call(call_id, name, texts, f"{said.wrong}. {WRITE_SO}" if said.wrong else unnamed)
    if said.wrong:
        return Call(call_id, tool.name, texts, f"{said.wrong}. {WRITE_SO}")
    try:
        return Call(call_id, tool.name, _arguments(said, tool))
    except ValueError as error:
        return Call(call_id, tool.name, texts, f"{tool.name}: {error}")


def _arguments(said: Spoken, tool: Tool) -> dict[str, Any]:
    """Return the values that the texts stand for. Raises ValueError, which names the place."""
    if said.whole is not None:
        return dict(said.whole)
    schema, made = tool.parameters, dict[str, Any]()
    for given in said.given:
        part = schema.get("properties", {}).get(given.name, schema.get("additionalProperties"))
        try:
            made[given.name] = value(given.text, types(part, schema.get("$defs", {})))
        except ValueError as error:
            raise ValueError(f"{given.name}: {error}") from None
    return made
