"""What a panel has been told, and what it has to be told now: whole, or what changed.

One watch goes with one panel. A step costs what it changed, however long the session is;
only another branch, or a panel that connects, is told everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..acts import replying
from ..acts.outdated import outdated
from ..branches.branch import Branch, branches, goes_on, shared_with_older
from ..branches.tally import Tally
from ..drawing.layout import Layout
from ..journal.tree import Entry, Label
from ..loop import Cursor
from ..rows.contract import BranchRow, Drop, Rows, SessionRow
from .beside import branch_rows, drawn, pales, touched_by, with_took
from .comparison_rows import with_comparison
from .seen import Seen
from .told import RowsTold, saved_in


@dataclass
class Watch(RowsTold):
    """Turns the place of a cursor into rows."""

    head: str = ""
    wanted: frozenset[str] = frozenset()
    """Branches that are drawn though others are newer."""
    seen: dict[str, Seen] = field(default_factory=dict)
    """The branches whose rows were told, by their heads; "" is the one that is shown."""
    _told: int = 0
    """How many entries there were when rows were told last."""
    _ahead: bool = False
    """Whether the record went on from there."""
    _veiled: bool = False
    """Whether other branches were out of sight."""
    _labels: dict[str, Label] = field(default_factory=dict)
    """What branches were called."""
    branches: tuple[BranchRow, ...] = ()

    def whole(self, cursor: Cursor, session: SessionRow, layout: Layout | None = None) -> Rows:
        """Return all rows; what has a place in `layout` keeps it."""
        self.layout, self.tools, self.offered = layout or Layout(), set(), {}
        self.took = Tally()
        self.pending, self.sockets = set(), ()
        journal = cursor.desk.journal
        path = journal.path(cursor.head)
        seen = Seen(cursor, cursor.state, outdated=outdated(cursor.desk, cursor.state))
        rows = self._rows(seen, path, shared_with_older(journal, cursor.head))
        known = _on_show(cursor)
        beside = pales(cursor, drawn(cursor, known, self.wanted), path)
        pale = [self._pale(each) for each in beside]
        # What stands where is known when all calls have their places, the pale ones too.
        rows = self._with_objects(rows, seen, tuple(seen.state.names))
        for more in pale:
            rows = _joined(rows, more)
        self.seen = {"": seen, **{each.branch.head: each.seen for each in beside}}
        self.branches = branch_rows(cursor, known, beside, self._counting(cursor), self.took)
        self._at(cursor)
        rows = self._with_offer(rows, cursor, session)
        return replace(rows, session=(self._session(cursor, session),), branches=self.branches)

    def changes(self, cursor: Cursor, session: SessionRow) -> Rows | None:
        """Return the rows that changed since the last ones; None where all has to be told."""
        path = self._way(cursor)
        if path is None:
            return None
        seen = self._since(cursor, path)
        goes_on_at_once = session.phase in ("thinking", "running")
        # What the calls of a long reply would be is told at a pause, not before each of them.
        rows = self._rows(seen, path, frozenset(), 1 if goes_on_at_once else None)
        rows = self._with_objects(rows, seen, self._names(seen, rows.calls))
        if not goes_on_at_once:
            rows = self._with_branch(rows, cursor)
        self._at(cursor)
        rows = self._with_offer(rows, cursor, session)
        return replace(rows, session=(self._session(cursor, session),))

    def _since(self, cursor: Cursor, path: tuple[Entry, ...]) -> Seen:
        """Return the shown branch as it is seen now; only what these entries touch is new."""
        state, before = cursor.state, self.seen[""].outdated if "" in self.seen else None
        touched = [state.calls[call_id] for call_id in touched_by(state, path, 1)]
        known = outdated(cursor.desk, state, touched if before is not None else None, before)
        self.seen[""] = seen = Seen(cursor, state, outdated=known)
        return seen

    def is_named_anew(self, cursor: Cursor) -> bool:
        """Return whether a branch was named or hidden since the last telling."""
        return bool(self.head) and self._labels != cursor.desk.journal.labels

    def _at(self, cursor: Cursor) -> None:
        journal = cursor.desk.journal
        self.head, self._told = cursor.head, len(journal)
        self._ahead = bool(journal.children(cursor.head))
        self._veiled = cursor.desk.holds is not None
        self._labels = dict(journal.labels)
        self.saved = saved_in(cursor.state)

    def _way(self, cursor: Cursor) -> tuple[Entry, ...] | None:
        """Return the entries since the last telling; None where another branch has changed."""
        journal = cursor.desk.journal
        if self.head not in journal or not _follows(cursor, self.head):
            return None
        if self._veiled != (cursor.desk.holds is not None) or self._labels != journal.labels:
            return None
        path = journal.path(cursor.head, after=self.head)
        ids = {entry.id for entry in path}
        if any(entry.id not in ids for entry in journal.since(self._told)):
            return None
        heads = {row.id for row in self.branches if not row.current}
        heads |= set() if self._ahead else {self.head}
        at_end = not self._ahead or bool(journal.children(cursor.head)) or not path
        return path if at_end and goes_on(journal, self.head, path, heads) else None

    def _with_branch(self, rows: Rows, cursor: Cursor) -> Rows:
        """Tell where the shown branch has come to: a branch's row is known by its head."""
        told = next(row for row in self.branches if row.current)
        now = with_took(replace(told, id=cursor.head), cursor.state, self.took)
        if now == told:
            return rows
        self.branches = tuple(now if row is told else row for row in self.branches)
        gone = () if now.id == told.id else (Drop("branches", told.id),)
        return replace(rows, branches=(now,), drop=(*rows.drop, *gone))


def standing(cursor: Cursor, name: str) -> Rows:
    """Return all rows of a session that nothing drives."""
    phase, says = replying.stands(cursor)
    yours, guess = replying.your_turn(cursor), replying.to_guess(cursor)
    row = SessionRow(
        name=name, phase=phase, says=says, text=cursor.state.said, yours=yours, guess=guess
    )
    watch = Watch()
    return with_comparison(watch.whole(cursor, row), watch.seen, {})


def _joined(first: Rows, more: Rows) -> Rows:
    return replace(
        first, calls=(*first.calls, *more.calls), objects=(*first.objects, *more.objects)
    )


def _on_show(cursor: Cursor) -> tuple[Branch, ...]:
    """The branches that are told: while replies are guessed others may hold them, so none."""
    known = branches(cursor.desk.journal, cursor.head)
    return tuple(each for each in known if each.current or cursor.desk.holds is None)


def _follows(cursor: Cursor, head: str) -> bool:
    """Return whether the cursor's place is behind one that is not far back."""
    here: str | None = cursor.head
    for _ in range(64):
        if here == head:
            return True
        here = cursor.desk.journal[here].parent if here else None
    return False
