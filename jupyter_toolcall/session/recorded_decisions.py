"""Decisions that a notebook records: read, and repeated when the notebook runs again."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..core.errors import CallError, ToolcallError
from ..core.events import (
    Asked,
    Call,
    Data,
    Decided,
    Event,
    Finished,
    Made,
    Replied,
    Started,
    Unknown,
    ended_call,
)
from ..core.recorded_data import JsonObject
from ..engine import person_model as replying
from ..engine.client_calls import record_client_call
from ..engine.decisions import decision_event
from ..engine.recorded_results import RecordedResults
from ..engine.replay_queue import call_id_of
from ..models.named import IN_PLACE
from ..sources.mcp_results import RESOURCE, restored_resource
from ..storage.notebook_files import SavedEntry, entries_of, saved_sessions
from ..tools.tool import Tool
from .session import Session


def cut_off(entries: Sequence[SavedEntry], rows: Sequence[object]) -> Mapping[int, str]:
    """Return the calls that started and never ended, by the number of the start.

    Their approvals are consumed.
    """
    started = {n: e.call_id for n, (_, e, _) in enumerate(entries) if isinstance(e, Started)}
    for number, (_, event, _) in enumerate(entries):
        if isinstance(event, Finished) and not isinstance(event.outcome, Unknown):
            turn = _turn(entries, rows, number)
            started.pop(next((at for at in turn if started.get(at) == event.call_id), -1), "")
    return started


def waits(entries: Sequence[SavedEntry], rows: Sequence[object], head: str) -> bool:
    """Return whether a call has no result at the head of a saved session."""
    position = next((n for n, entry in enumerate(entries) if entry[0] == head), -1)
    ended: set[str] = set()
    for at in _up(rows, position):
        match event := entries[at][1]:
            case Finished() | Decided() if call_id := ended_call(event):
                ended.add(call_id)
            case Replied(calls=calls):
                return not {call.id for call in calls} <= ended
    return False


def without_cut_off(part: JsonObject) -> list[Any]:
    """Return a saved session's events without those of starts that never ended.

    A kernel that is not killed has no such events: it records the same later ones without them.
    """
    entries, rows = list(entries_of(part)), part["events"]
    dropped = {
        at
        for start, call_id in cut_off(entries, rows).items()
        for at in _turn(entries, rows, start)
        if call_id_of(entries[at][1]) == call_id
    }
    kept = [number for number in range(len(rows)) if number not in dropped]
    positions = {number: position for position, number in enumerate(kept)} | {-1: -1}
    parents = (next(n for n in (*_up(rows, rows[k][0]), -1) if n in positions) for k in kept)
    return [[positions[parent], *rows[n][1:]] for n, parent in zip(kept, parents, strict=True)]


def _turn(entries: Sequence[SavedEntry], rows: Sequence[object], number: int) -> Iterator[int]:
    """Yield an entry's number and those before it, back to the reply that began its turn."""
    return takewhile(lambda at: not isinstance(entries[at][1], Replied), _up(rows, number))


def _up(rows: Sequence[Any], at: int) -> Iterator[int]:
    """Yield a saved entry's number, that of its parent, and so on to the cell's first."""
    while at >= 0:
        yield at
        at = rows[at][0]


WORDS = "JUPYTER_TOOLCALL_WORDS"
ALL = "*"


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A person's decision on a call, or a reply in the model's place: a person's, or a client's."""

    event: Decided | Replied
    call: Call | None = None
    """The call that was decided on, as the model asked for it."""
    exactly: bool = True
    """Whether it holds only for exactly the same call, by its approval digest."""
    by: str = "person"
    """Who replied in the model's place."""


@dataclass
class CellDecisions:
    """The decisions of a cell that are still to be repeated."""

    prompt: str = ""
    remaining: list[RecordedDecision] = field(default_factory=list)
    waits: bool = False
    """Whether a call waits for a person at the end of the recording."""


@dataclass
class NotebookDecisions:
    """The decisions of a notebook's cells that are still to be repeated."""

    cells: list[CellDecisions] = field(default_factory=list)

    def of(self, prompt: str) -> CellDecisions:
        """Remove and return the decisions of the next cell with this prompt."""
        session_now = next((n for n, cell in enumerate(self.cells) if cell.prompt == prompt), None)
        return CellDecisions() if session_now is None else self.cells.pop(session_now)


@functools.cache
def notebook_decisions() -> NotebookDecisions:
    """Return the decisions to repeat in this process; none outside of a verification."""
    path, allowed = os.environ.get(IN_PLACE, ""), os.environ.get(WORDS, "")
    return decisions_in(Path(path), allowed) if path and allowed else NotebookDecisions()


@functools.cache
def notebook_results() -> RecordedResults | None:
    """Return the results of servers that a notebook has, while it is verified; else None."""
    path = os.environ.get(IN_PLACE, "")
    if not path or WORDS not in os.environ:
        return None
    return RecordedResults(_server_events(Path(path)), _restored)


def _server_events(path: Path) -> Iterator[Event]:
    """Yield the replies of a notebook's sessions, and the ends of the calls that servers ran."""
    # A session that several cells show is saved with each of them.
    events: dict[str, Event] = {}
    for part in (saved.data["journal"] for saved in saved_sessions(path)):
        for entry_id, event, meta in entries_of(part):
            if isinstance(event, Replied) or "server" in meta:
                events.setdefault(entry_id, event)
    yield from events.values()


def server_results(path: Path) -> int:
    """Return how many results of servers a notebook has."""
    return sum(isinstance(event, Finished) for event in _server_events(path))


def _restored(ref: Made, record: object, tool: Tool) -> object:
    """Return an object that a server returned. Raises CallError where the notebook has no value."""
    value = restored_resource(record, tool.group) if ref.kind == RESOURCE else None
    if value is None:
        raise CallError(f"the recorded {ref.kind} is in no notebook, so this is not verified")
    return value


def decisions_in(path: Path, allowed: str) -> NotebookDecisions:
    """Return the decisions of a notebook that are allowed."""
    parts = [saved.data["journal"] for saved in saved_sessions(path)]
    return NotebookDecisions([cell for part in parts for cell in _cell(part, allowed)])


def _cell(part: JsonObject, allowed: str) -> Iterator[CellDecisions]:
    entries, rows = list(entries_of(part)), part["events"]
    if not entries or not isinstance(entries[0][1], Asked):
        return
    calls = {c.id: c for _, event, _ in entries if isinstance(event, Replied) for c in event.calls}
    ids = None if allowed == ALL else set(allowed.split(","))
    decisions: list[RecordedDecision] = []
    over = {call_id: number for number, call_id in cut_off(entries, rows).items()}
    for number, (entry_id, event, meta) in enumerate(entries):
        by = str(meta.get("by", ""))
        if not _is_repeated(event, by) or "of" in meta or (ids is not None and entry_id not in ids):
            continue
        match event:
            case Decided(call_id) if number > over.get(call_id, -1):
                decisions.append(RecordedDecision(event, calls.get(call_id), ids is not None))
            case Replied():
                decisions.append(RecordedDecision(event, by=by))
    yield CellDecisions(entries[0][1].text, decisions, waits(entries, rows, part["head"]))


def _is_repeated(event: Event, by: str) -> bool:
    """Return whether an event is a person's decision, by a rule of theirs too, or a reply that the
    model did not give."""
    if isinstance(event, Decided):
        return by in ("person", "rule")
    return isinstance(event, Replied) and by != ""


def verified_decisions(path: Path, verified: frozenset[str]) -> tuple[str, int]:
    """Return the ids of a notebook's verified decisions, and how many are not verified."""
    everything = [
        entry_id
        for saved in saved_sessions(path)
        for entry_id, event, meta in entries_of(saved.data["journal"])
        if _is_repeated(event, str(meta.get("by", "")))
    ]
    ours = [entry_id for entry_id in dict.fromkeys(everything) if entry_id in verified]
    return ",".join(ours), len(set(everything)) - len(ours)


# -- repeating decisions --------------------------------------------------------------------


def repeat_decision(session: Session, decisions: CellDecisions) -> Session | None:
    """Repeat the next decision that fits, and return its session; None if none fits.

    The decision is removed from the list. The call has not run yet.
    """
    for number, decision in enumerate(decisions.remaining):
        try:
            session_now = _repeat(session, decision)
        except ToolcallError:
            continue
        if session_now is not None:
            del decisions.remaining[number]
            return session_now
    return None


def _repeat(session: Session, decision: RecordedDecision) -> Session | None:
    match decision.event:
        case Replied(calls=(call,)) if decision.by != "person":
            record_client_call(session.cursor, call.id, call.tool, call.arguments, decision.by)
            return session
        case Replied(text, calls) if replying.is_person_turn(session.cursor):
            return session.reply(text, *((call.tool, call.arguments) for call in calls))
        case Decided() as event:
            return _decide(session, event, decision)
    return None


def _decide(session: Session, event: Decided, decision: RecordedDecision) -> Session | None:
    call, asked = session.state.calls.get(event.call_id), decision.call
    if call is None or asked is None:
        return None
    if (call.call.tool, call.call.arguments) != (asked.tool, asked.arguments):
        return None
    if event.round and (call.open_round is None or len(call.rounds) != event.round):
        return None
    options: dict[str, Any] = {} if event.decision == "approve" else {"reason": event.reason}
    if event.inputs or not isinstance(event.result, Data | None):
        raise ToolcallError("an object that a person gave is in no notebook")
    if event.decision == "edit":
        options |= {"arguments": event.arguments, "tool": event.tool}
    if isinstance(event.result, Data):
        options["result"] = event.result.data
    if event.call_id not in session.state.open:
        forked = session.decide_anew(event.call_id, event.decision, **options)
        return forked if _is_same(forked.journal[forked.head].event, decision) else None
    now = decision_event(session.cursor, event.call_id, event.decision, **options)
    if not _is_same(now, decision):
        return None
    session.cursor.decide(now, "person")
    return session


def _is_same(now: Event, decision: RecordedDecision) -> bool:
    """Return whether a decision applies to exactly the recorded call, if it has to."""
    shown = getattr(decision.event, "approval_digest", "")
    return not decision.exactly or not shown or getattr(now, "approval_digest", "") == shown
