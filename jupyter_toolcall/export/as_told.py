"""A session that nothing can go on from: its tools are the definitions that were sent.

What their results said is told in the very words that the file has of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..events import Replied
from ..journal.tree import Journal
from ..loop import Cursor, Desk
from ..request import Message, Reply, Result
from ..runner.approval import policy
from ..schemes import Offer, Scheme, scheme_recorded
from ..schemes.current_tools import SAVE_AS, USE
from ..schemes.select import SELECT
from ..state.call import SAVE, CallRecord
from ..state.fold import state_at
from ..state.memory import Memory
from ..state.shape import State
from ..tools import Tool, Toolbox
from ..tools.references import kinds_of, pattern

OWN = (SELECT, SAVE, SAVE_AS)
"""The tools of a scheme's own; `_use_TYPE` beside them."""


@dataclass(frozen=True)
class AsTold:
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
        told = self.scheme.render(call, state, toolbox)
        return replace(told, content=self.words.get(call.id, told.content))

    def speak(self, message: Message) -> Message:
        return self.scheme.speak(message)


def cursor_on_paper(journal: Journal, head: str, words: Mapping[str, str]) -> Cursor:
    """Return a place of a journal that nothing can go on from; `words` are those of results."""
    state = state_at(journal, head)
    box = Toolbox(*_tools(journal, head, state))
    scheme = AsTold(scheme_recorded(state.opened.scheme), words)
    desk = Desk(journal, box, scheme, Memory(journal, {}), None, policy("ask", ()))
    return Cursor(desk, head)


def _tools(journal: Journal, head: str, state: State) -> Iterator[Tool]:
    """Yield the tools that were sent, as they are known by their definitions and their calls."""
    # What was spelled out in XML was sent as a text alone.
    sent: dict[str, Any] = {call.tool: {} for call in state.each() if call.started}
    for entry in journal.path(head):
        if isinstance(entry.event, Replied):
            sent |= {name: journal.texts.get(key) for name, key in entry.event.offered.items()}
    for name, said in sent.items():
        if name and isinstance(said, Mapping) and not is_own(name):
            yield _tool(name, said, [call for call in state.each() if call.tool == name])


def is_own(name: str) -> bool:
    """Return whether a tool is one of a scheme's own."""
    return name in OWN or name.startswith(USE)


def _tool(name: str, said: Mapping[str, Any], calls: Sequence[CallRecord]) -> Tool:
    parameters = dict(said.get("parameters", {}))
    instances = (call.started.instance for call in calls if call.started)
    instance = next(filter(None, instances), "")
    kind = _receiver(name, parameters, [argument for call in calls for argument in call.uses])
    if kind and kind not in parameters.get("properties", {}):
        named = {"type": "string", "pattern": pattern((kind,))}
        parameters["properties"] = {kind: named, **parameters.get("properties", {})}
    made = Tool(name, str(said.get("description", "")), parameters)
    return replace(made, kind=kind, receiver=kind, instance=instance, group=kind or instance)


def _receiver(name: str, parameters: Mapping[str, Any], used: Iterable[str]) -> str:
    """Return the argument of a method that names its object: it is named as its type."""
    properties = parameters.get("properties", {})
    objects = [key for key, part in properties.items() if kinds_of(part)]
    return next((key for key in (*objects, *used) if name.startswith(f"{key}_")), "")
