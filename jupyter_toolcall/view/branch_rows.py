"""The other branches, beside the one that is shown: what is told of each, and what it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..compare.branch_totals import BranchReader, BranchTotals
from ..core.branches import SHOWN, Branch, parent_branch, shared_with_older
from ..core.entries import Entry
from ..core.events import Decided, Finished, Replied, Started
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..tools.value_copies import cut
from .contract_rows import BranchRow
from .object_rows import BranchView

CURRENT = "current"
"""How a row names the branch that is shown: its head moves."""
SAID = 200


@dataclass(frozen=True, slots=True)
class SideBranch:
    """A branch that is drawn pale: its entries that no branch before it has told."""

    branch: Branch
    branch_view: BranchView
    entries: tuple[Entry, ...]
    shares: str = ""
    """The branch that tells what comes before them; "" for the one that is shown."""
    touched: tuple[str, ...] = ()
    """The ids of the calls that they are about."""

    @property
    def from_step(self) -> int:
        """The first step that is told here."""
        state = self.branch_view.state
        steps = (state.calls[call_id].step for call_id in self.touched)
        return min(steps, default=len(state.order) + 1)


def side_branches(
    cursor: Cursor, known: Iterable[Branch], shown: Sequence[Entry]
) -> tuple[SideBranch, ...]:
    """Return what is told of branches; `shown` are the entries of the one that is shown."""
    journal = cursor.context.journal
    tells = dict.fromkeys((entry.id for entry in shown), "")
    found: dict[str, SideBranch] = {}
    for branch in known:
        path = journal.path(branch.head)
        entries = tuple(entry for entry in path if entry.id not in tells)
        shares = tells[(entries[0].parent or "") if entries else branch.head]
        found[branch.head] = _pale(cursor, branch, entries, shares, found.get(shares))
        tells.update((entry.id, branch.head) for entry in entries)
    return tuple(found.values())


def _pale(
    cursor: Cursor,
    branch: Branch,
    entries: tuple[Entry, ...],
    shares: str,
    before: SideBranch | None,
) -> SideBranch:
    state = state_at(cursor.context.journal, branch.head)
    touched = touched_by(state, entries)
    replied = {entry.id for entry in entries if isinstance(entry.event, Replied)}
    own = (each for each in touched if state.calls[each].asked_call.entry not in replied)
    inherited = before.branch_view.forked if before else {}
    forked = {each: row for each, row in inherited.items() if each in state.calls}
    forked |= dict.fromkeys(own, branch.head[:12])
    branch_view = BranchView(Cursor(cursor.context, branch.head), state, branch.head, forked)
    return SideBranch(branch, branch_view, entries, shares, tuple(touched))


def touched_by(state: State, entries: Iterable[Entry], most: int | None = None) -> list[str]:
    """Return the calls that entries are about, and those that are open, in call order.

    Of the open ones only the first `most` are returned, where that is given.
    """
    found: dict[str, None] = {}
    for entry in entries:
        match entry.event:
            case Replied(calls=calls):
                found.update(dict.fromkeys(call.id for call in calls))
            case Decided(call_id) | Started(call_id) | Finished(call_id):
                found[call_id] = None
    found.update(dict.fromkeys(state.open[:most]))
    if len(found) < 2:
        return [*found]
    return sorted(found, key=lambda call_id: state.calls[call_id].step)


def shown_side_branches(
    cursor: Cursor, known: Sequence[Branch], wanted: frozenset[str] = frozenset()
) -> tuple[Branch, ...]:
    """Return the branches that are drawn beside the one that is shown, oldest first.

    Those are the newest, the one that this one left, and those that are asked for.
    """
    others = [each for each in known if not each.hidden and _goes_another_way(cursor, each)]
    mine = next((each for each in known if each.current), None)
    left = parent_branch(cursor.context.journal, mine, known) if mine else None
    heads = {each.head for each in others[-SHOWN:]} | ({left.head} if left else set()) | wanted
    return tuple(each for each in others if each.head in heads)


def _goes_another_way(cursor: Cursor, branch: Branch) -> bool:
    """Whether a branch leaves this one; what a record has ahead of here is not drawn."""
    path = cursor.context.journal.path(branch.head)
    return all(entry.id != cursor.head for entry in path)


def branch_rows(
    cursor: Cursor,
    known: Sequence[Branch],
    beside: Sequence[SideBranch],
    reader: BranchReader,
    took: BranchTotals,
) -> tuple[BranchRow, ...]:
    """Return the rows of branches; those that are drawn pale say what they share.

    `took` is what the one that is shown took.
    """
    drawn_beside = {each.branch.head: each for each in beside}
    rows, journal = [], cursor.context.journal
    for branch in known:
        state = state_at(journal, branch.head)
        left = parent_branch(journal, branch, known)
        row = BranchRow(
            branch.head,
            branch.name,
            branch.current,
            hidden=branch.hidden,
            left="" if left is None else CURRENT if left.current else left.head,
            text="" if branch.current else cut(state.said, SAID),
        )
        totals = took
        if not branch.current:
            shared = shared_with_older(journal, branch.head)
            totals = reader.read(journal.path(branch.head), shared)[1]
        row = with_totals(row, state, totals)
        if pale := drawn_beside.get(branch.head):
            row = replace(row, shares=pale.shares or CURRENT, from_step=pale.from_step)
        rows.append(row)
    return tuple(rows)


def with_totals(row: BranchRow, state: State, took: BranchTotals) -> BranchRow:
    """Return the row of a branch with what it has come to, and what that took."""
    return replace(
        row,
        calls=len(state.order),
        last=state.calls[state.order[-1]].tool if state.order else "",
        ran=took.ran,
        remembered=took.cached,
        ms=took.ms,
        tokens=took.tokens,
        cost=str(took.cost or ""),
    )
