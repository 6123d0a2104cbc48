"""Verification: a branch runs again on a copy, and its entries are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ..core.call_record import objects_of
from ..core.digests import digest
from ..core.errors import Absent
from ..core.events import Decided, Event, Failed, Finished, Made, Many, Started, inputs_of, to_json
from ..core.journal_entries import Entry
from ..core.recorded_data import replace
from ..core.state_fold import state_at
from ..core.text import count_text, visible_text
from .budget_hook import BudgetHook
from .cursor import Cursor, SessionContext
from .decisions import waiting_calls
from .forks import replay_cursor
from .outdated import outdated_reasons
from .recorded_results import RecordedResults, server_tools, with_recorded_results
from .replay import replay_recorded
from .replay_queue import call_id_of
from .session_values import SessionValues


def first_difference(was: Any, now: Any, path: str = "") -> str:
    """Return the path of the first difference of two pieces of data, and both values."""
    match was, now:
        case {"type": one}, {"type": other} if one != other:
            return f"{path or 'it'} was {_outcome_text(was)}, and is {_outcome_text(now)}"
        case dict(), dict():
            keys = [key for key in (*was, *now) if not _is_same(was.get(key), now.get(key))]
            key = keys[0] if keys else ""
            return first_difference(was.get(key), now.get(key), f"{path}.{key}".strip("."))
        case list(), list() if len(was) == len(now):
            differ = (n for n in range(len(was)) if not _is_same(was[n], now[n]))
            index = next(differ, 0)
            return first_difference(was[index], now[index], f"{path}.{index}".strip("."))
    before, after = (visible_text(repr(data), 120) for data in (was, now))
    return f"{path or 'it'} was {before}, and is {after}"


def _is_same(one: object, other: object) -> bool:
    """Return whether two pieces of JSON data are the same, where 1 is neither true nor 1.0."""
    return digest("data", one) == digest("data", other)


def _outcome_text(data: dict[str, Any]) -> str:
    """Return what something is, and what it holds: `failed: 'no such row'`."""
    held = {key: value for key, value in data.items() if key != "type"}
    only = next(iter(held.values())) if len(held) == 1 else held
    return f"{data['type']}: {visible_text(repr(only), 120)}" if held else str(data["type"])


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a session: true if all calls gave what is recorded."""

    calls: int
    divergence: str = ""
    """The first difference; "" if there is none."""
    taken: int = 0
    """How many of the calls ran at a server: their recorded results were used."""

    def __bool__(self) -> bool:
        return not self.divergence

    def __str__(self) -> str:
        calls = count_text(self.calls, "call")
        return self.divergence or f"{calls} came out as recorded{recorded_results_text(self.taken)}"


def recorded_results_text(count: int) -> str:
    """Return the sentence on calls whose recorded results a verification used; "" for none."""
    if not count:
        return ""
    results, were = ("result", "was") if count == 1 else ("results", "were")
    calls = count_text(count, "call")
    return f"; the {results} of {calls} of MCP tools {were} taken as recorded, not verified"


def verify_cursor(cursor: Cursor) -> Verification:
    """Run all calls of a branch again on a copy of it, and return the first divergence.

    The approvals of this branch hold for the copy, and tools really run. The recorded result of a
    call that asked the person for input is used, since nobody is asked.
    """
    path = cursor.context.journal.path(cursor.head)
    replayed = replay_cursor(Cursor(_copy(cursor.context, path), cursor.head), None, fresh=True)
    calls, at_servers = len(cursor.state.order), server_tools(cursor.context.toolbox)
    ran = (call.tool for call in cursor.state.all_calls() if call.started is not None)
    from_record = sum(tool in at_servers for tool in ran)
    try:
        replay_recorded(replayed)
    except Absent as error:
        return Verification(calls, str(error))
    for call in waiting_calls(replayed):
        if cursor.state.call(call.id).outcome is not None:
            where = f"call {call.step}, {visible_text(call.tool, 60)}"
            return Verification(calls, f"{where} waits for your approval here{_NOT_RUN}")
    difference = _first_divergence(path, replayed.context.journal.path(replayed.head), cursor)
    return Verification(calls, difference, from_record)


_NOT_RUN = ", so it did not run again; open the session with the approve= that it ran with"


def _copy(context: SessionContext, path: tuple[Entry, ...]) -> SessionContext:
    """Return a new context: a journal of this branch alone, and the values from outside."""
    journal = context.journal.branch_copy(path[-1].id)
    values = SessionValues(
        journal,
        context.values.kinds,
        instances=dict(context.values.instances),
        withhold=context.values.withhold,
    )
    values.by_digest.update(
        (name, context.values.by_digest[name]) for name in _outside_digests(context, path)
    )
    results = RecordedResults(
        (entry.event for entry in path), lambda ref, record, tool: context.values.value(ref)
    )
    toolbox = with_recorded_results(context.toolbox, results)
    # A look at a session uses nothing of its budget.
    hooks = tuple(hook for hook in context.hooks if not isinstance(hook, BudgetHook))
    changed = {"journal": journal, "values": values, "toolbox": toolbox, "hooks": hooks}
    return replace(context, **changed, model=None, budget=None)


def _outside_digests(context: SessionContext, path: tuple[Entry, ...]) -> set[str]:
    """Return the digests of available values that no tool of the session can compute again."""
    digests = {ref.digest for entry in path for ref in _outside(entry.event)}
    calls = state_at(context.journal, path[-1].id).all_calls()
    digests |= {ref.digest for call in calls if call.rounds for ref in call.produced}
    digests |= {digest for _, digest in state_at(context.journal, path[0].id).opened.instances}
    return {digest for digest in digests if context.values.has_value(digest)}


def _outside(event: Event) -> Iterable[Made]:
    """Return the objects of an event that no tool made: inputs, answers, a program's results."""
    match event:
        case Decided(result=Made() | Many() as answer):
            return objects_of(answer)
        case Finished(by="program", outcome=outcome):
            return objects_of(outcome)
    return inputs_of(event)


def _first_divergence(path: tuple[Entry, ...], replayed: tuple[Entry, ...], cursor: Cursor) -> str:
    """Return the first difference of two branches in words, "" for none."""
    for was, now in zip_longest(path, replayed):
        if now is None:
            return f"{_where(was, cursor)} was recorded, and is missing in the new run"
        if was is None:
            return f"{_where(now, cursor)} was not recorded"
        match was.event, now.event:
            case Started(), Decided():
                return f"{_where(was, cursor)} is rejected here{_NOT_RUN}"
            case Started(), Finished(outcome=Failed(message)):
                return f"{_where(was, cursor)} cannot run here: {visible_text(message, 300)}"
        # The id covers the event: where it is the same, so is the event.
        contents = () if was.id == now.id else (_content(was), _content(now))
        if contents and not _is_same(*contents):
            difference = first_difference(*contents)
            if isinstance(was.event, Started | Decided):
                # Their digests tell a person nothing, but why these differ.
                reasons = outdated_reasons(cursor.context, cursor.state).calls
                difference = reasons.get(was.event.call_id, difference)
            return f"{_where(was, cursor)}: {difference}"
    return ""


def _content(entry: Entry) -> object:
    """Return an event as JSON, without which rule let a call run: it ran the same without."""
    event = entry.event
    return to_json(replace(event, rule="") if isinstance(event, Started) else event)


def _where(entry: Entry, cursor: Cursor) -> str:
    """Return what an entry is about: a call by its number and tool, or else its kind."""
    call = cursor.state.calls.get(call_id_of(entry.event))
    return f"call {call.step}, {call.tool}" if call else type(entry.event).__name__.lower()
