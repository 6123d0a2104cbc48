"""What was recorded, to be said again on another branch, and how it stands to what is there now.

An entry of a script holds where it fits the state; what was decided or run anew is over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.call_record import CallRecord
from ..core.entries import Entry
from ..core.events import (
    UNSAID,
    Call,
    Data,
    Decided,
    Event,
    Failed,
    Finished,
    Missing,
    Outcome,
    Replied,
    Started,
    Uses,
)
from ..core.state import State
from ..tools.object_references import Path, walk_paths
from ..tools.tool import Tool


@dataclass
class ReplayQueue:
    """Recorded entries to be said again, and how far that has come."""

    entries: tuple[Entry, ...] = ()
    position: int = 0
    superseded: set[str] = field(default_factory=set)
    """The calls that were decided or run anew: what was recorded of them is over."""
    following: ReplayQueue | None = None
    """What is said again once these are."""

    def next(self, open_calls: Collection[str] = ()) -> Entry | None:
        """Return the next entry that still holds, or that is about one of these calls."""
        while self.position < len(self.entries):
            entry = self.entries[self.position]
            call_id = call_id_of(entry.event)
            if call_id not in self.superseded or call_id in open_calls:
                return entry
            self.position += 1
        if (rest := self.following) is None:
            return None
        self.entries, self.position, self.following = rest.entries, rest.position, rest.following
        self.superseded |= rest.superseded
        return self.next(open_calls)

    def recorded_end(self, call_id: str) -> tuple[Entry, Outcome] | None:
        """Return what a call is about to come to, and the entry that says so."""
        for index in range(self.position, len(self.entries)):
            match (entry := self.entries[index]).event:
                case Finished(each, outcome) if each == call_id:
                    return entry, outcome
        return None

    def has_unknown_outcome(self, call_id: str) -> bool:
        """Return whether a call that starts here never ended: its outcome was unknown."""
        behind = (entry.event for entry in self.entries[self.position + 1 :])
        after = next((event for event in behind if call_id_of(event) == call_id), None)
        return not isinstance(after, Finished)


def call_id_of(event: Event) -> str:
    """Return the id of the call that an event is about; "" for what is about none."""
    match event:
        case Decided(call_id) | Started(call_id) | Finished(call_id):
            return call_id
    return ""


def can_follow(event: Event, state: State) -> bool:
    """Return whether an event may follow in a state."""
    match event:
        case Decided(call_id, approval_digest=approval_digest):
            known = state.calls.get(call_id)
            return call_id in state.open and not (
                known is not None and known.allows(approval_digest)
            )
        case Started(call_id, approval_digest=approval_digest):
            by_policy = approval_digest != ""
            return call_id in state.open and (
                by_policy or state.calls[call_id].status == "approved"
            )
        case Finished(call_id):
            return call_id in state.open
    return not state.open


def same_objects(uses: Uses, told: State, now: State) -> bool:
    """Return whether the objects that a call names are now what they were when it ran."""
    return all(
        told.object_made_by(producer) == now.object_made_by(producer) for producer in uses.values()
    )


def results_changed(told: State, now: State) -> bool:
    """Return whether the last results read otherwise now than where they were recorded.

    What the model said to them may be stale: it read a number or an error, and carried it on.
    """
    if told is now:
        return False
    ids = [each for each in told.latest if each in now.calls]
    return any(_read(told.calls[each]) != _read(now.calls[each]) for each in ids)


def _read(call: CallRecord) -> object:
    """Return what a model reads in a result: the names of objects, else what it says."""
    match call.outcome:
        case Data(data):
            return "data", data
        case Failed(message):
            return "failed", message
    return call.objects


FindObject = Callable[[str], Tool | None]


def rebind_references(event: Event, told: State, now: State, find: FindObject) -> Event:
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
