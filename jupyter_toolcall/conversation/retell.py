"""Saying a recorded event again on another branch: names stand for what the same calls made.

`Potato#4` of the recording is the object that a certain call made. On the new branch that
call may have made another number, or nothing; then the name is one that no object has,
and never another object's, up to a branch on which that call makes it after all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..events import Call, Decided, Event, Replied
from ..state.shape import State
from ..state.unmade import name_in, producer_in, unmade
from ..tools import Tool
from ..tools.references import fits, rename

Find = Callable[[str], Tool | None]


def retell(event: Event, told: State, now: State, find: Find) -> Event:
    """Return an event of a branch that came to `told`, as it reads at `now`."""
    if told is now:
        return event
    match event:
        case Replied(calls=calls) if calls:
            again = tuple(_call(call, told, now, find(call.tool)) for call in calls)
            # What the provider sent no longer fits where a name has changed.
            return event if again == calls else replace(event, calls=again, raw=None)
        case Decided(call_id, arguments=Mapping() as arguments):
            tool = find(told.calls[call_id].tool) if call_id in told.calls else None
            return replace(event, arguments=_arguments(arguments, told, now, tool))
    return event


def _call(call: Call, told: State, now: State, tool: Tool | None) -> Call:
    arguments = _arguments(call.arguments, told, now, tool)
    return call if arguments == call.arguments else replace(call, arguments=arguments)


def _arguments(
    arguments: Mapping[str, Any], told: State, now: State, tool: Tool | None
) -> Mapping[str, Any]:
    if tool is None:
        return arguments

    def again(name: str) -> str:
        known = told.objects.get(name)
        producer = known.producer if known is not None else producer_in(name, told.each())
        if producer is None and name not in now.objects:
            return name
        found = None if producer is None else now.by_producer.get(producer)
        return found or unmade(name_in(name), producer, now.calls)

    renamed: Mapping[str, Any] = rename(tool.parameters, dict(arguments), again, _names)
    return renamed


def _names(schema: Mapping[str, Any], text: str) -> bool:
    return fits(schema, name_in(text))
