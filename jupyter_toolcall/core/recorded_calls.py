"""An index of the calls of a journal on all its branches: their starts, ends and results."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal

from .call_record import CallRecord, objects_of
from .digests import digest
from .errors import NotYourTurn
from .events import Decided, Finished, Outcome, Started, ended_call
from .journal import Journal
from .journal_entries import Entry
from .recorded_data import JsonObject
from .state import State
from .state_fold import state_at

CallRun = tuple[str, str, str]
"""One run of a call: the entry of its reply, the id of the call, its approval digest. For a reply
that a replay repeated it is the entry of the first one."""
Inputs = tuple[str, str, int, str, str]


def call_run(call: CallRecord) -> CallRun:
    """Return the key that tells a run of a call from all other runs."""
    return call.asked_call.reply, call.id, call.approval_digest


@dataclass
class CallIndex:
    """The calls of a journal on all branches, read as the journal grows."""

    journal: Journal
    starts: Counter[CallRun] = field(default_factory=Counter)
    """How often each call has started."""
    outcomes: dict[tuple[str, str], Outcome] = field(default_factory=dict)
    """The last verified outcome of calls that ran, by id and approval digest."""
    verified_digests: set[str] = field(default_factory=set)
    """The digests of the values that verified entries name."""
    failed: set[tuple[str, str]] = field(default_factory=set)
    """The calls that failed on some branch, by reply and call."""
    _read: int = 0
    _acted_on: set[str] = field(default_factory=set)
    """The decisions after which a call has started, by entry."""
    _finished: set[CallRun] = field(default_factory=set)
    """The runs with a result that this computer recorded."""
    _unfinished: dict[tuple[str, str], dict[str, CallRun]] = field(default_factory=dict)
    """For each reply and call with other runs, these runs by approval digest."""
    _first: dict[Inputs, str] = field(default_factory=dict)
    _cached: set[str] = field(default_factory=set)
    """The ends of calls that had run before with the same inputs, by entry."""
    _process: int = field(default_factory=os.getpid)
    """The process that acts on the journal's decisions."""

    @classmethod
    def of(cls, journal: Journal) -> CallIndex:
        """Return the index of a journal, up to its last entry."""
        index = journal.index(cls)
        for entry in journal.entries_after(index._read):
            index.read(entry)
        if index._process != os.getpid():
            # This process was forked: the one that recorded the decisions may act on them.
            index._process = os.getpid()
            index._acted_on |= index.unused_decisions()
        return index

    def read(self, entry: Entry, state: State | None = None) -> None:
        """Add the journal's next entry; `state` is the state after it, if the caller has it."""
        try:
            if isinstance(entry.event, Started):
                state = state or state_at(self.journal, entry.id)
                call = state.calls[entry.event.call_id]
                run = call_run(call)
                self.starts[run] += 1
                self._acted_on.add(call.decision_entry)
                if run not in self._finished:
                    self._unfinished.setdefault(run[:2], {})[run[2]] = run
            elif call_id := ended_call(entry.event):
                self._add_end(entry, state or state_at(self.journal, entry.id), call_id)
            elif entry.verified and isinstance(entry.event, Decided):
                self.verified_digests.update(ref.digest for ref in entry.event.inputs)
        # An entry of a damaged file may not fit its state: the index leaves it out.
        except NotYourTurn:
            pass
        # Counted last, so that an entry is read again if an interrupt came here.
        self._read += 1

    def _add_end(self, entry: Entry, state: State, call_id: str) -> None:
        call = state.calls[call_id]
        if entry.verified:
            self.verified_digests.update(result_digests(call))
        if not isinstance(entry.event, Finished):
            return
        if call.status == "failed":
            self.failed.add((call.asked_call.reply, call_id))
        # An entry that a person vouches for is read a second time. What ran again took its time.
        first = self._first.setdefault(_inputs(call, state), entry.id)
        if first != entry.id and "ms" not in entry.meta:
            self._cached.add(entry.id)
        if entry.verified and call.started is not None:
            self.outcomes[call_id, call.approval_digest] = entry.event.outcome
        if entry.verified and entry.event.by == "session":
            run = call_run(call)
            unfinished = self._unfinished.pop(run[:2], {})
            # The same tuple as in `starts`, which saves 64 bytes a call.
            self._finished.add(unfinished.pop(run[2], run))
            if unfinished:
                self._unfinished[run[:2]] = unfinished

    # -- approvals ---------------------------------------------------------------------------

    def is_unused(self, call: CallRecord) -> bool:
        """Return whether no call has started by the last decision on this call."""
        return not call.decision_entry or call.decision_entry not in self._acted_on

    def unused_decisions(self) -> set[str]:
        """Return the approvals and the responses, by entry, that are not consumed."""
        return {
            entry.id
            for entry in self.journal
            if isinstance(entry.event, Decided)
            and (entry.event.round or entry.event.decision in ("approve", "edit"))
            and str(entry.meta.get("of", entry.id)) not in self._acted_on
        }

    def run_of(self, call: CallRecord, approval_digest: str) -> Literal["", "started", "finished"]:
        """Return whether this call of this reply ran with this digest, on any branch.

        "finished": this computer recorded its result. "started": its result is unknown or not
        verified, also if that run had another digest, for example because its tool has changed.
        """
        run = call.asked_call.reply, call.id, approval_digest
        if run in self._finished:
            return "finished"
        return "started" if run[:2] in self._unfinished else ""

    # -- ends --------------------------------------------------------------------------------

    def has_run(self, call: CallRecord, state: State) -> bool:
        """Return whether a call has ended before, in a state with the same inputs."""
        return _inputs(call, state) in self._first

    def is_cached(self, result: Entry) -> bool:
        """Return whether a result was taken from the cache."""
        return result.id in self._cached

    def ends(
        self, entries: Iterable[Entry], shared: Collection[str] = frozenset()
    ) -> dict[str, CallEnd]:
        """Return the end of each call that has one; `shared` entries ran on another branch."""
        ends = {}
        for entry in entries:
            if not (call_id := ended_call(entry.event)):
                continue
            if isinstance(entry.event, Finished):
                is_shared = entry.id in shared
                is_cached = is_shared or self.is_cached(entry)
                ends[call_id] = CallEnd(self.journal, entry.id, is_cached, is_shared, entry.meta)
            else:
                ends[call_id] = CallEnd(self.journal, entry.id)
        return ends


def _inputs(call: CallRecord, state: State) -> Inputs:
    """Return the key of a call's inputs: calls with an equal key share a cached result.

    It holds the approval digest, or else the digests of the objects that the arguments name.
    It holds the session's first entry too: two sessions of a journal share no cached results.
    """
    inputs = call.approval_digest
    if not (inputs or call.decided):
        values = (v for v in call.recorded_arguments.values() if isinstance(v, str))
        named_objects = (state.objects.get(value) for value in values)
        inputs = " ".join(used.digest for used in named_objects if used is not None)
    return state.root, state.prompt, state.asked_again, call.id, inputs


def result_digests(call: CallRecord) -> tuple[str, ...]:
    """Return the recorded digests of all values that a call made or changed."""
    digests = tuple(ref.digest for ref in objects_of(call.outcome))
    if call.started is None or not call.started.instance:
        return digests
    return *digests, instance_version(call.id, call.approval_digest)


def instance_version(call_id: str, approval_digest: str) -> str:
    """Return the digest that names the value of a stateful instance after a call."""
    return digest("after", call_id, approval_digest)


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The end of a call: its entry, whether its tool did not run here (`cached`), and whether that
    is since it ended before the branch left an older one (`inherited`)."""

    journal: Journal = field(repr=False, compare=False)
    entry: str
    cached: bool = False
    inherited: bool = False
    meta: JsonObject = field(default_factory=dict)

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
        """Notes about its run, for the person."""
        return tuple(self.meta.get("notes", ()))

    @property
    def effect(self) -> str:
        """What it sent or replaced, in a sentence."""
        effect = self.meta.get("effect")
        return effect if isinstance(effect, str) else ""

    def changed_in_place(self, kind: Literal["lost", "untracked", "unclear"]) -> tuple[str, ...]:
        """Return the objects that its tool changed in place, and that stay as they were ("lost"),
        cannot be copied ("untracked"), or cannot be compared, so that nobody knows ("unclear")."""
        return tuple(self.meta.get(kind, ()))

    @property
    def state(self) -> State:
        """The session's state after it."""
        return state_at(self.journal, self.entry)
