"""The other branches beside the one that is shown: which have rows of their calls, and totals.

The branch on show goes before the others, and of these the older one before the newer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..compare.branch_totals import BranchTotals
from ..compare.comparison_rows import CURRENT
from ..core.branches import SHOWN, Branch, is_prompt, parent_branch
from ..core.call_record import CallRecord
from ..core.events import Decided, Finished, Replied, Started
from ..core.journal_entries import Entry
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..tools.plain_data import cut
from .contract_rows import BranchRow
from .object_rows import BranchView

TEXT = 200
"""Characters of a branch's last reply."""


def side_branches(
    cursor: Cursor,
    existing: Sequence[Branch],
    wanted: frozenset[str],
    path: Sequence[Entry],
    draws_ahead: bool,
) -> dict[str, BranchView]:
    """Return the branches that are drawn beside the shown one by their heads, oldest first.

    Those are the newest `existing` ones, the one that the shown branch left, and the `wanted`
    ones; those that go on from its head only if `draws_ahead`. `path` are the entries of the shown
    branch.
    """
    journal = cursor.context.journal
    paths = {b.head: journal.path(b.head) for b in existing if not (b.hidden or b.current)}
    ahead = set() if draws_ahead else entries_ahead(cursor)
    others = [head for head in paths if ahead.isdisjoint(entry.id for entry in paths[head])]
    shown = next((branch for branch in existing if branch.current), None)
    left = parent_branch(journal, shown, existing) if shown is not None and others else None
    drawn = {*others[-SHOWN:], *wanted, left.head if left else ""}
    shown_on = dict.fromkeys((entry.id for entry in path), "")
    sides: dict[str, BranchView] = {}
    for head in [head for head in others if head in drawn]:
        entries = tuple(entry for entry in paths[head] if entry.id not in shown_on)
        shares = shown_on[(entries[0].parent or "") if entries else head]
        state = state_at(journal, head)
        inherited = sides[shares].forked if shares else {}
        forked = {call_id: fork for call_id, fork in inherited.items() if call_id in state.calls}
        forked |= _forked_calls(state, entries, head)
        sides[head] = BranchView(Cursor(cursor.context, head), state, head, entries, shares, forked)
        shown_on.update((entry.id, head) for entry in entries)
    return sides


def entries_ahead(cursor: Cursor) -> set[str]:
    """Return the entries that other branches have after the head: of calls that were forked or
    undone, or that a replay repeats next."""
    journal = cursor.context.journal
    following = (journal[entry_id] for entry_id in journal.children(cursor.head))
    return {e.id for e in following if not (e.begins_question or is_prompt(e))}


def _forked_calls(state: State, entries: Sequence[Entry], head: str) -> dict[str, str]:
    """Return the calls that entries are about, and that were asked for before them."""
    replies = {entry.id for entry in entries if isinstance(entry.event, Replied)}
    calls = touched_calls(state, entries)
    return {call.id: head[:12] for call in calls if call.asked_call.entry not in replies}


def touched_calls(
    state: State, entries: Iterable[Entry], most: int | None = None, running: Iterable[str] = ()
) -> list[CallRecord]:
    """Return the calls that entries are about, and those that are open, in call order.

    Of the open ones only the first `most` are returned, where that is given, and the `running`
    ones, which show how long they have run.
    """
    ids = {*state.open[:most], *(call_id for call_id in running if call_id in state.open)}
    for entry in entries:
        match entry.event:
            case Replied(calls=calls):
                ids.update(call.id for call in calls)
            case Decided(call_id) | Started(call_id) | Finished(call_id):
                ids.add(call_id)
    return sorted((state.calls[call_id] for call_id in ids), key=lambda call: call.step)


def branch_row(
    cursor: Cursor,
    branch: Branch,
    listed: Sequence[Branch],
    side: BranchView | None,
    totals: BranchTotals,
) -> BranchRow:
    """Return the row of one of the branches that are listed; `side` is what is drawn pale of it."""
    journal, queue = cursor.context.journal, cursor.replay_queue
    recorded = queue.recorded_head if queue.remaining() is not None else ""
    state, left = state_at(journal, branch.head), parent_branch(journal, branch, listed)
    replayed = next((b.name for b in listed if branch.is_ancestor and b.head == recorded), "")
    return BranchRow(
        branch.head,
        f"replay of {replayed}" if replayed else branch.name,
        branch.current,
        hidden=branch.hidden,
        differs="" if replayed else branch.change,
        left="" if left is None else CURRENT if left.current else left.head,
        shares="" if side is None else side.shares or CURRENT,
        calls=len(state.order),
        ms=totals.ms,
        text="" if branch.current else cut(state.reply_text, TEXT),
        repeats=recorded if branch.current else "",
        **used(totals),
    )


def used(totals: BranchTotals) -> dict[str, Any]:
    """Return what a branch used, as its row and that of the session say it."""
    calls = {"ran": totals.ran, "remembered": totals.cached, "inherited": totals.inherited}
    return {**calls, "tokens": totals.tokens, "cost": str(totals.cost or "")}
