"""The other branches beside the one that is shown: which have rows of their calls, and totals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..compare.branch_totals import BranchReader, BranchTotals
from ..core.branches import SHOWN, Branch, parent_branch, shared_with_older
from ..core.call_record import CallRecord
from ..core.events import Decided, Finished, Replied, Started
from ..core.journal_entries import Entry
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..tools.value_copies import cut
from .call_object_rows import BranchView
from .contract_rows import BranchRow

CURRENT = "current"
"""How a row names the branch that is shown: its head moves."""
TEXT = 200
"""Characters of a branch's last reply."""


@dataclass(frozen=True, slots=True)
class SideBranch:
    """A branch that is drawn pale: its entries that no branch before it has rows of."""

    branch: Branch
    branch_view: BranchView
    entries: tuple[Entry, ...]
    calls: tuple[CallRecord, ...]
    """The calls that the entries are about."""
    shares: str = ""
    """The branch that has rows of what comes before them; "" for the one that is shown."""


def side_branches(
    cursor: Cursor, known: Sequence[Branch], wanted: frozenset[str], path: Sequence[Entry]
) -> tuple[SideBranch, ...]:
    """Return the branches that are drawn beside the shown one, oldest first.

    Those are the newest of the `known` ones, the one that the shown branch left, and the `wanted`
    ones. `path` are the entries of the shown branch.
    """
    journal = cursor.context.journal
    others, paths = list[Branch](), dict[str, Sequence[Entry]]()
    for branch in known:
        if not (branch.hidden or branch.current):
            paths[branch.head] = own = journal.path(branch.head)
            # What a record has ahead of the shown branch is not drawn.
            if all(entry.id != cursor.head for entry in own):
                others.append(branch)
    shown = next((each for each in known if each.current), None)
    left = parent_branch(journal, shown, known) if shown is not None and others else None
    drawn = {each.head for each in others[-SHOWN:]} | ({left.head} if left else set()) | wanted
    shown_on = dict.fromkeys((entry.id for entry in path), "")
    sides: dict[str, SideBranch] = {}
    for branch in others:
        if branch.head in drawn:
            entries = tuple(entry for entry in paths[branch.head] if entry.id not in shown_on)
            shares = shown_on[(entries[0].parent or "") if entries else branch.head]
            sides[branch.head] = _side_branch(cursor, branch, entries, shares, sides.get(shares))
            shown_on.update((entry.id, branch.head) for entry in entries)
    return tuple(sides.values())


def _side_branch(
    cursor: Cursor,
    branch: Branch,
    entries: tuple[Entry, ...],
    shares: str,
    before: SideBranch | None,
) -> SideBranch:
    state = state_at(cursor.context.journal, branch.head)
    calls = touched_calls(state, entries)
    replies = {entry.id for entry in entries if isinstance(entry.event, Replied)}
    inherited = before.branch_view.forked if before else {}
    forked = {call_id: fork for call_id, fork in inherited.items() if call_id in state.calls}
    for call in calls:
        if call.asked_call.entry not in replies:
            forked[call.id] = branch.head[:12]
    branch_view = BranchView(Cursor(cursor.context, branch.head), state, branch.head, forked)
    return SideBranch(branch, branch_view, entries, tuple(calls), shares)


def touched_calls(
    state: State, entries: Iterable[Entry], most: int | None = None
) -> list[CallRecord]:
    """Return the calls that entries are about, and those that are open, in call order.

    Of the open ones only the first `most` are returned, where that is given.
    """
    ids: dict[str, None] = {}
    for entry in entries:
        match entry.event:
            case Replied(calls=calls):
                ids.update(dict.fromkeys(call.id for call in calls))
            case Decided(call_id) | Started(call_id) | Finished(call_id):
                ids[call_id] = None
                if call_id in state.latest:
                    ids.update(dict.fromkeys(_run_together(state)))
    # Calls that run together all show how long they have run.
    together = (call_id for call_id in _run_together(state) if call_id in state.open)
    ids.update(dict.fromkeys((*state.open[:most], *together)))
    touched = [state.calls[call_id] for call_id in ids]
    return sorted(touched, key=lambda call: call.step) if len(touched) > 1 else touched


def _run_together(state: State) -> list[str]:
    """Return the calls of the last reply whose outcome may have waited for that of another."""
    started = ((call_id, state.calls[call_id].started) for call_id in state.latest)
    return [call_id for call_id, start in started if start is not None and start.together]


def branch_rows(
    cursor: Cursor,
    known: Sequence[Branch],
    sides: Sequence[SideBranch],
    reader: BranchReader,
    totals: BranchTotals,
) -> tuple[BranchRow, ...]:
    """Return the rows of branches; those that are drawn pale say what they share.

    `totals` are those of the one that is shown.
    """
    by_head = {each.branch.head: each for each in sides}
    rows, journal = [], cursor.context.journal
    for branch in known:
        state = state_at(journal, branch.head)
        left = parent_branch(journal, branch, known)
        row = BranchRow(
            branch.head,
            branch.name,
            branch.current,
            hidden=branch.hidden,
            differs=branch.differs,
            left="" if left is None else CURRENT if left.current else left.head,
            text="" if branch.current else cut(state.said, TEXT),
        )
        if side := by_head.get(branch.head):
            steps = (call.step for call in side.calls)
            from_step = min(steps, default=len(state.order) + 1)
            row = replace(row, shares=side.shares or CURRENT, from_step=from_step)
        if branch.current:
            own = totals
        else:
            shared = shared_with_older(journal, branch.head)
            own = reader.read(journal.path(branch.head), shared)[1]
        rows.append(with_totals(row, state, own))
    return tuple(rows)


def with_totals(row: BranchRow, state: State, totals: BranchTotals) -> BranchRow:
    """Return the row of a branch with how many calls it has, and what they used."""
    return replace(
        row,
        calls=len(state.order),
        ran=totals.ran,
        remembered=totals.cached,
        ms=totals.ms,
        tokens=totals.tokens,
        cost=str(totals.cost or ""),
    )
