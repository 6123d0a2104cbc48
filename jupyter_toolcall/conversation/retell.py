"""Saying a recorded event again on another branch: names stand for what the same calls made.

`Potato#4` of the recording is the object that a certain call made. On the new branch that
call may have made another number, or nothing; then the argument is recorded as missing, and
never another object's, up to a branch on which that call makes it after all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..events import UNSAID, Call, Decided, Event, Missing, Replied
from ..state.shape import State
from ..tools import Tool
from ..tools.references import Path, walk_paths

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
        case Decided(call_id, arguments=Mapping() as arguments, missing=before):
            tool = find(told.calls[call_id].tool) if call_id in told.calls else None
            arguments, missing = _arguments(arguments, before, told, now, tool)
            return replace(event, arguments=arguments, missing=missing)
    return event


def _call(call: Call, told: State, now: State, tool: Tool | None) -> Call:
    arguments, missing = _arguments(call.arguments, call.missing, told, now, tool)
    if arguments == call.arguments and missing == call.missing:
        return call
    return replace(call, arguments=arguments, missing=missing)


def _arguments(
    arguments: Mapping[str, Any],
    before: tuple[Missing, ...],
    told: State,
    now: State,
    tool: Tool | None,
) -> tuple[Mapping[str, Any], tuple[Missing, ...]]:
    """Return arguments with the names that objects have now, and what of them is missing."""
    if tool is None:
        return arguments, before
    absent = {each.path: each.producer for each in before}
    missing: list[Missing] = []

    def again(path: Path, name: str) -> str:
        known = told.objects.get(name) if path not in absent else None
        producer = known.producer if known is not None else absent.get(path)
        if producer is None and name not in now.objects:
            return name
        found = None if producer is None else now.by_producer.get(producer)
        if found is None:
            missing.append(Missing(path, producer or UNSAID))
        return found or name

    renamed: Mapping[str, Any] = walk_paths(tool.parameters, dict(arguments), again)
    return renamed, tuple(missing)
