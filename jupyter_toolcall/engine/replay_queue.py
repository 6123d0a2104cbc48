"""The queue of recorded entries that a cursor replays, and how they fit the state of its branch.

A recorded entry is skipped if its call was decided on, or run, after the replay began.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from ..core import events
from ..core.call_record import CallRecord
from ..core.journal_entries import Entry
from ..core.state import State

REPLAYS, FRESH = "replays", "fresh"
"""In the meta of a replay's first entry: the last entry of the branch that is replayed. With
`FRESH` every call runs again."""


@dataclass
class ReplayQueue:
    """Recorded entries to replay, and the position of the next one."""

    entries: tuple[Entry, ...] = ()
    fresh: bool = False
    """Whether every call runs again, also of the queues that follow."""
    position: int = 0
    superseded: set[str] = field(default_factory=set)
    """The calls that were decided on, or run, again: their recorded entries are skipped."""
    stopped_at: int = -1
    """The position of the last entry that is changed here: it is replayed in single steps."""
    approves_following: bool = False
    """Whether recorded approvals hold for calls that an edit changed only in their objects."""
    following: ReplayQueue | None = None
    """The queue that is replayed after this one."""
    passed: tuple[str, ...] = ()
    """The last entries of the branches that were replayed before this one."""

    @property
    def recorded_head(self) -> str:
        """The last entry of the branch that is replayed; "" where none is."""
        return self.entries[-1].id if self.entries else ""

    @property
    def recorded_heads(self) -> tuple[str, ...]:
        """The last entries of all branches that are replayed, in their order."""
        later = self.following.recorded_heads if self.following is not None else ()
        return (*self.passed, self.recorded_head, *later) if self.entries else later

    def is_repeated(self, head: str) -> bool:
        """Return whether everything up to an entry is as recorded, and more is to come after it."""
        return head in self._parents

    @cached_property
    def _parents(self) -> frozenset[str | None]:
        return frozenset(entry.parent for entry in self.entries)

    def meta_after(self, head: str) -> dict[str, str]:
        """Return the meta of the entry with which a fresh replay leaves the recorded branch, so
        that a session which is loaded later continues it; nothing for any other entry."""
        return {FRESH: self.recorded_head} if self.fresh and self.is_repeated(head) else {}

    def next(self, open_calls: Collection[str] = ()) -> Entry | None:
        """Return the next entry that still holds, or that is about one of these calls."""
        while self.position < len(self.entries):
            entry = self.entries[self.position]
            call_id = call_id_of(event := entry.event)
            # A decision alone does not run its call: calls that it waits for may come first.
            is_due = events.ended_call(event) or not isinstance(event, events.Decided)
            if call_id not in self.superseded or (call_id in open_calls and is_due):
                return entry
            self.position += 1
        if (following := self.following) is None:
            return None
        self.passed = (*self.passed, self.recorded_head, *following.passed)
        # Calls that were superseded stay so in the queue that follows.
        self.entries, self.position, self.following = (
            following.entries,
            following.position,
            following.following,
        )
        self.superseded |= following.superseded
        self.stopped_at = -1
        vars(self).pop("_parents", None)
        return self.next(open_calls)

    def remaining(self) -> ReplayQueue | None:
        """Return a queue of the entries that are still to come; None where none are."""
        if self.position >= len(self.entries):
            return self.following and self.following.remaining()
        return replace(self, superseded={*self.superseded}, stopped_at=-1)

    def recorded_end(self, call_id: str) -> tuple[Entry, events.Outcome] | None:
        """Return the recorded end of a call that is still to come, and its outcome."""
        for index in range(self.position, len(self.entries)):
            event = (entry := self.entries[index]).event
            if isinstance(event, events.Finished) and events.ended_call(event) == call_id:
                return entry, event.outcome
        return None

    def asks_for_input(self, call_id: str) -> bool:
        """Return whether a call that starts here is recorded to ask the person for input."""
        return any(_is_round(entry.event) for entry in self._events_after(call_id))

    def stays_open(self, call_id: str) -> bool:
        """Return whether a call that starts here is recorded with a round of input, or with an
        unknown outcome. Only verified entries count: nothing runs when they are repeated."""
        after = next(self._events_after(call_id), None)
        if after is None or not (after.is_effective and self.entries[self.position].verified):
            return False
        return isinstance(after.event, events.Finished) and events.ended_call(after.event) == ""

    def has_unknown_outcome(self, call_id: str) -> bool:
        """Return whether a call that starts here never ended: its outcome was unknown.

        Rounds of input, the responses to them, and the starts after these are skipped.
        """
        is_responded = False
        for entry in self._events_after(call_id):
            event = entry.event
            if not (is_responded and isinstance(event, events.Started)) and not _is_round(event):
                return events.ended_call(event) == "" or not isinstance(event, events.Finished)
            is_responded = isinstance(event, events.Decided)
        return True

    def _events_after(self, call_id: str) -> Iterator[Entry]:
        """Yield the entries of a call after the next entry: all come before the next reply."""
        for entry in islice(self.entries, self.position + 1, None):
            if isinstance(entry.event, events.Replied):
                return
            if call_id_of(entry.event) == call_id:
                yield entry


def _is_round(event: events.Event) -> bool:
    """Return whether an event is a round of input of a call, or the response to one."""
    match event:
        case events.Finished(outcome=events.InputNeeded()):
            return True
        case events.Decided(round=number):
            return number > 0
    return False


def call_id_of(event: events.Event) -> str:
    """Return the id of the call that an event is about; "" for what is about none."""
    match event:
        case events.Decided(call_id) | events.Started(call_id) | events.Finished(call_id):
            return call_id
    return ""


def can_follow(event: events.Event, state: State) -> bool:
    """Return whether an event may follow in a state."""
    match event:
        case events.Decided(call_id, approval_digest=approval_digest):
            call = state.calls.get(call_id)
            return call_id in state.open and not (call is not None and call.allows(approval_digest))
        case events.Started(call_id, approval_digest=approval_digest):
            by_policy = approval_digest != ""
            return call_id in state.open and (
                by_policy or state.calls[call_id].status == "approved"
            )
        case events.Finished(call_id):
            return call_id in state.open
    return not state.open


def same_objects(uses: events.Uses, recorded_state: State, now: State) -> bool:
    """Return whether the objects that a call names are now what they were when it ran."""
    return all(
        recorded_state.produced_object(producer) == now.produced_object(producer)
        for producer in uses.values()
    )


def results_changed(recorded_state: State, now: State) -> bool:
    """Return whether the last results differ from the recorded ones.

    The recorded reply may be stale then: the model read a number or an error, and used it.
    """
    if recorded_state is now:
        return False
    ids = [call_id for call_id in recorded_state.latest if call_id in now.calls]
    return any(
        read_by_model(recorded_state.calls[call_id]) != read_by_model(now.calls[call_id])
        for call_id in ids
    )


def read_by_model(call: CallRecord) -> object:
    """Return what a model reads in a result: its data, its error, or the names of its objects."""
    match call.outcome:
        case events.Data(data):
            return "data", data
        case events.Failed(message):
            return "failed", message
    return call.result, call.changed
