"""What the journal records of calls: their approvals, which of these are consumed, and their ends.

`State` holds this and much more; these folds are cheap enough to ask at every entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from rpds import HashTrieMap

from .call_record import CallRecord
from .events import Asked, Decided, Finished, Opened, Replied, Started, ended_call
from .journal import Journal
from .journal_entries import Entry
from .state import State
from .state_fold import state_at


class RecordedCall(NamedTuple):
    """A call at some entry of its branch."""

    reply: str = ""
    """The entry of the reply that asked for it; the first one where a replay repeated it."""
    approval_digest: str = ""
    """The digest of what was approved."""
    decision: str = ""
    """The entry of a person's last decision, which may be good for a start; the first one where
    a replay repeated it; "" where there is none, or the policy let it run since."""
    decided: bool = False
    started: bool = False
    stateful: bool = False
    """Whether it ran on an instance that changes."""


_NONE: HashTrieMap[str, RecordedCall] = HashTrieMap()
_NO_CALL = RecordedCall()


class Recorded(NamedTuple):
    """The calls of the last reply of a branch, and the prompt that they answer."""

    root: str = ""
    prompt: str = ""
    again: int = 0
    """How often that was asked before at the same place."""
    calls: HashTrieMap[str, RecordedCall] = _NONE

    def call(self, call_id: str) -> RecordedCall:
        """Return a call; an empty one for an id that nobody asked for."""
        return self.calls.get(call_id) or _NO_CALL


_NOTHING = Recorded()


def recorded(journal: Journal, entry_id: str) -> Recorded:
    """Return what is recorded of the calls up to an entry."""
    return journal.fold(entry_id, _evolve, _NOTHING)


def recorded_call(journal: Journal, entry_id: str, call_id: str) -> RecordedCall:
    """Return what is recorded of a call at an entry of its branch."""
    return recorded(journal, entry_id).call(call_id)


def _evolve(recorded: Recorded, entry: Entry) -> Recorded:
    match entry.event:
        case Opened() if not recorded.root:
            return recorded._replace(root=entry.id)
        case Asked(text, by="person", again=again):
            return recorded._replace(prompt=text, again=again)
        case Replied(calls=asked) if asked:
            call = RecordedCall(str(entry.meta.get("of", entry.id)))
            # All calls before it have ended, and nobody asks for them any more.
            calls = HashTrieMap({asked_call.id: call for asked_call in asked})
            return recorded._replace(calls=calls)
        case Decided(call_id, round=number) if number:
            # It is good for one start, by which the call goes on as it was approved.
            response = str(entry.meta.get("of", entry.id))
            return _with(recorded, call_id, recorded.call(call_id)._replace(decision=response))
        case Decided(call_id, approval_digest=approval_digest):
            decision = str(entry.meta.get("of", entry.id))
            call = RecordedCall(
                recorded.call(call_id).reply, approval_digest, decision, decided=True
            )
            return _with(recorded, call_id, call)
        case Started(call_id, instance=instance, approval_digest=approval_digest):
            before = recorded.call(call_id)
            approved = (
                (approval_digest, "")
                if approval_digest
                else (before.approval_digest, before.decision)
            )
            call = RecordedCall(before.reply, *approved, before.decided, True, instance != "")
            return _with(recorded, call_id, call)
        case Finished(call_id, by="program", uses=uses) if uses:
            return _with(recorded, call_id, recorded.call(call_id)._replace(started=True))
    return recorded


def _with(known: Recorded, call_id: str, call: RecordedCall) -> Recorded:
    return Recorded(known.root, known.prompt, known.again, known.calls.insert(call_id, call))


@dataclass
class EntryReader:
    """Reads the entries of a journal once, in the order in which they came."""

    journal: Journal
    _read: int = 0
    _last: tuple[str | None, Recorded] = (None, _NOTHING)

    def new_entries(self) -> Iterator[tuple[Entry, Recorded]]:
        """Yield the entries since the last time, each with what is recorded up to it."""
        for entry in self.journal.since(self._read):
            last, now = self._last
            now = _evolve(now, entry) if entry.parent == last else recorded(self.journal, entry.id)
            yield entry, now
            # Last, so that an entry at which an interrupt came is read again.
            self._read, self._last = self._read + 1, (entry.id, now)


CallRun = tuple[str, str, str]
"""A call of one reply of the model, as it ran: the reply's entry, the call's id, its digest."""


@dataclass
class ConsumedApprovals(EntryReader):
    """The decisions of a journal that were acted on, as far as it was read; and what ran."""

    _acted_on: set[str] = field(default_factory=set)
    _runs: dict[tuple[str, str], dict[str, Literal["started", "finished"]]] = field(
        default_factory=dict
    )
    """Of each reply and call, the runs by approval digest."""

    def is_unused(self, head: str, call_id: str) -> bool:
        """Return whether the last decision on a call, at a head, is still good for a start."""
        self._catch_up()
        decision = recorded_call(self.journal, head, call_id).decision
        return not decision or decision not in self._acted_on

    def unused(self) -> set[str]:
        """Return the entries that approve a call, or respond to it, and let none start so far."""
        self._catch_up()
        return {
            entry.id
            for entry in self.journal
            if isinstance(entry.event, Decided)
            and (entry.event.round or entry.event.decision in ("approve", "edit"))
            and str(entry.meta.get("of", entry.id)) not in self._acted_on
        }

    def run_of(self, call: CallRecord, bound: str) -> Literal["", "started", "finished"]:
        """Return whether this call of this reply ran with this digest, on whatever branch.

        "finished": this computer recorded its result. "started": its result is unknown or not
        verified, also if that run had another digest, for example because its tool has changed.
        """
        self._catch_up()
        runs = self._runs.get((call.asked_call.reply, call.id), {})
        return runs.get(bound) or ("started" if "started" in runs.values() else "")

    def _catch_up(self) -> None:
        for entry, recorded_calls in self.new_entries():
            match entry.event:
                case Started(call_id):
                    call = recorded_calls.call(call_id)
                    self._acted_on.add(call.decision)
                    self._runs_of(call, call_id).setdefault(call.approval_digest, "started")
                case Finished(by="session") if entry.verified and (
                    call_id := ended_call(entry.event)
                ):
                    call = recorded_calls.call(call_id)
                    self._runs_of(call, call_id)[call.approval_digest] = "finished"

    def _runs_of(
        self, call: RecordedCall, call_id: str
    ) -> dict[str, Literal["started", "finished"]]:
        return self._runs.setdefault((call.reply, call_id), {})


def start_count(journal: Journal, head: str, call_id: str) -> int:
    """Return how often a call has started as it is approved at a head, on whatever branch."""
    call = recorded_call(journal, head, call_id)
    return [*_starts(journal)].count((call.reply, call_id, call.approval_digest))


def _starts(journal: Journal) -> Iterator[CallRun]:
    """Yield the call of each start.

    A reply that a replay repeated is the one that the model gave first.
    """
    for entry in journal:
        if isinstance(entry.event, Started):
            call = recorded_call(journal, entry.id, entry.event.call_id)
            yield call.reply, entry.event.call_id, call.approval_digest


def started_calls(journal: Journal) -> set[CallRun]:
    """Return the calls that have started."""
    return {*_starts(journal)}


Inputs = tuple[str, str, int, str, str]


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The end of a call: its entry, and whether its result is a cached one."""

    journal: Journal = field(repr=False, compare=False)
    entry: str
    cached: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ms(self) -> float:
        """How long its tool ran."""
        ms: float = self.meta.get("ms", 0)
        return ms

    @property
    def prints(self) -> str:
        """What its tool printed."""
        return str(self.meta.get("prints", ""))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person is told of its run."""
        return tuple(self.meta.get("notes", ()))

    @property
    def effect(self) -> str:
        """What it sent or replaced, in a sentence."""
        effect = self.meta.get("effect")
        return effect if isinstance(effect, str) else ""

    @property
    def lost_changes(self) -> tuple[str, ...]:
        """The objects that its tool changed in place, and that stay as they were."""
        return tuple(self.meta.get("lost", ()))

    @property
    def untracked_changes(self) -> tuple[str, ...]:
        """The objects that its tool changed in place, and that cannot be copied."""
        return tuple(self.meta.get("untracked", ()))

    @property
    def unclear_changes(self) -> tuple[str, ...]:
        """The objects of which nobody can tell whether the tool changed them in place."""
        return tuple(self.meta.get("unclear", ()))

    @property
    def state(self) -> State:
        """What was known by then."""
        return state_at(self.journal, self.entry)


@dataclass
class CallEnds(EntryReader):
    """Which calls of a journal took a cached result, read as the journal grows."""

    _first: dict[Inputs, str] = field(default_factory=dict)
    _cached: set[str] = field(default_factory=set)
    """The ends of calls that had run before with the same inputs, by entry."""

    def of(self, entries: Iterable[Entry], shared: frozenset[str]) -> dict[str, CallEnd]:
        """Return the end of each call that came to one; `shared` entries ran on another branch."""
        self._catch_up()
        ends = {}
        for entry in entries:
            if not (call_id := ended_call(entry.event)):
                continue
            if isinstance(entry.event, Finished):
                cached = entry.id in shared or entry.id in self._cached
                ends[call_id] = CallEnd(self.journal, entry.id, cached, entry.meta)
            else:
                ends[call_id] = CallEnd(self.journal, entry.id)
        return ends

    def _catch_up(self) -> None:
        for entry, recorded_calls in self.new_entries():
            if isinstance(entry.event, Finished) and (call_id := ended_call(entry.event)):
                inputs = self._inputs(entry, call_id, recorded_calls)
                # An entry that a person vouched for is read a second time.
                if self._first.setdefault(inputs, entry.id) != entry.id:
                    self._cached.add(entry.id)

    def _inputs(self, entry: Entry, call_id: str, known: Recorded) -> Inputs:
        """Return what a call was asked for and ran on: its approval digest, or its objects.

        Another session of the same journal remembers nothing of this one.
        """
        call = known.call(call_id)
        inputs = (
            call.approval_digest
            if call.approval_digest or call.decided
            else self._named(entry, call_id)
        )
        return known.root, known.prompt, known.again, call_id, inputs

    def _named(self, entry: Entry, call_id: str) -> str:
        state = state_at(self.journal, entry.id)
        values = state.calls[call_id].arguments.values()
        made = (state.objects.get(value) for value in values if isinstance(value, str))
        return " ".join(made_object.digest for made_object in made if made_object is not None)
