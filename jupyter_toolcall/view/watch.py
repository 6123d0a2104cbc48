"""What a panel has been told, and what it has to be told now: whole, or what changed.

One watch goes with one panel. A step costs what it changed, however long the session is;
only another branch, or a panel that connects, is told everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..acts import replying
from ..acts.outdated import outdated
from ..branches.branch import Branch, branches, goes_on, shared_with_older
from ..branches.tally import Tally
from ..drawing.layout import Layout, without
from ..journal.tree import Entry, Label
from ..loop import Cursor
from ..rows.contract import BranchRow, CallRow, ObjectRow, Rows, SessionRow, ToolRow
from ..state.call import CallState, objects_of
from ..state.ends import End
from ..state.memory import Prepared
from ..state.shape import State
from .beside import Counting, Pale, branch_rows, drawn, pales, touched_by, with_took
from .differing import with_differences
from .messages import entry_messages, turn_row
from .tables import (
    Seen,
    call_row,
    object_row,
    offered_row,
    output_rows,
    pending_row,
    placed,
    ready_call,
    standing_at,
    tool_row,
)


@dataclass
class Watch:
    """Turns the place of a cursor into rows."""

    layout: Layout = field(default_factory=Layout)
    head: str = ""
    tools: set[str] = field(default_factory=set)
    offered: dict[str, ToolRow] = field(default_factory=dict)
    """The tools of a turn as last told, to a person who plays the model."""
    sockets: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    """The object rows of calls that wait, as last told."""
    saved: tuple[str, ...] = ()
    """The objects that were told as saved."""
    counting: Counting | None = None
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
    _branches: tuple[BranchRow, ...] = ()
    took: Tally = field(default_factory=Tally)

    def whole(self, cursor: Cursor, session: SessionRow, layout: Layout | None = None) -> Rows:
        """Return all rows; what has a place in `layout` keeps it."""
        self.layout, self.tools, self.offered = layout or Layout(), set(), {}
        self.took = Tally()
        self.pending = self.sockets = ()
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
        self._branches = branch_rows(cursor, known, beside, self._counting(cursor), self.took)
        self._at(cursor)
        rows = self._with_offer(rows, cursor, session)
        return replace(rows, session=(self._session(cursor, session),), branches=self._branches)

    def changes(self, cursor: Cursor, session: SessionRow) -> Rows | None:
        """Return the rows that changed since the last ones; None where all has to be told."""
        path = self._way(cursor)
        if path is None:
            return None
        seen = self._since(cursor, path)
        rows = self._rows(seen, path, frozenset())
        rows = self._with_objects(rows, seen, self._names(seen, rows.calls))
        if session.phase not in ("thinking", "running"):
            rows = self._with_branch(rows, cursor)
        self._at(cursor)
        rows = self._with_offer(rows, cursor, session)
        return replace(rows, session=(self._session(cursor, session),))

    def _since(self, cursor: Cursor, path: tuple[Entry, ...]) -> Seen:
        """Return the shown branch as it is seen now; only what these entries touch is new."""
        state, before = cursor.state, self.seen[""].outdated if "" in self.seen else None
        touched = [state.calls[call_id] for call_id in touched_by(state, path)]
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
        self.saved = _saved(cursor.state)

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
        heads = {row.id for row in self._branches if not row.current}
        heads |= set() if self._ahead else {self.head}
        at_end = not self._ahead or bool(journal.children(cursor.head)) or not path
        return path if at_end and goes_on(journal, self.head, path, heads) else None

    def _with_branch(self, rows: Rows, cursor: Cursor) -> Rows:
        """Tell where the shown branch has come to: a branch's row is known by its head."""
        told = next(row for row in self._branches if row.current)
        now = with_took(replace(told, id=cursor.head), cursor.state, self.took)
        if now == told:
            return rows
        self._branches = tuple(now if row is told else row for row in self._branches)
        gone = () if now.id == told.id else (f"branches:{told.id}",)
        return replace(rows, branches=(now,), drop=(*rows.drop, *gone))

    # -- one branch ---------------------------------------------------------------------

    def _rows(self, seen: Seen, path: Iterable[Entry], shared: frozenset[str]) -> Rows:
        """Return the rows of what entries are about, all but the objects that there are."""
        entries = list(path)
        state = seen.state
        ends = self._ends_of(seen, entries, shared)
        calls = [state.calls[call_id] for call_id in touched_by(state, entries)]
        rows = tuple(self._call(seen, call, ends.get(call.id)) for call in calls)
        waiting = tuple(self._waiting(seen, rows))
        sockets = output_rows(state)
        drop = self._dropped(waiting, sockets, rows)
        self.sockets = tuple(row.id for row in sockets)
        tools = tuple(
            filter(None, (tool_row(seen.cursor, name) for name in self._new_tools(calls)))
        )
        messages = tuple(m for entry in entries for m in entry_messages(seen.cursor, entry))
        return Rows(
            calls=rows,
            objects=(*waiting, *sockets),
            tools=tools,
            messages=messages,
            turns=tuple(filter(None, (turn_row(seen.cursor, entry) for entry in entries))),
            drop=drop,
        )

    def _with_objects(self, rows: Rows, seen: Seen, names: tuple[str, ...]) -> Rows:
        objects = (object_row(seen, name, self.layout) for name in names)
        return replace(rows, objects=(*objects, *rows.objects))

    def _call(self, seen: Seen, call: CallState, end: End | None) -> CallRow:
        row = call_row(seen, call, self.layout, end)
        self.layout = placed(self.layout, call, row, seen)
        return standing_at(row, self.layout)

    def _names(self, seen: Seen, rows: tuple[CallRow, ...]) -> tuple[str, ...]:
        """The objects that these calls made, or used for the first time, or that `save` named."""
        state = seen.state
        made = [name for row in rows for name in _made_by(state.calls[row.call], seen)]
        used = [state.by_maker.get(use.object) for row in rows for use in row.uses]
        saved = set(self.saved) ^ set(_saved(state))
        named = (*made, *used, *(saved and {*self.saved, *_saved(state)}))
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def _waiting(self, seen: Seen, rows: tuple[CallRow, ...]) -> Iterable[ObjectRow]:
        for row in rows:
            call = seen.state.calls[row.call]
            ready = (
                ready_call(seen, call) if call.outcome is None and row.object == row.id else None
            )
            if isinstance(ready, Prepared):
                yield pending_row(seen, call, ready, self.layout)

    def _dropped(
        self,
        waiting: tuple[ObjectRow, ...],
        sockets: tuple[ObjectRow, ...],
        rows: tuple[CallRow, ...],
    ) -> tuple[str, ...]:
        now = {row.id for row in waiting}
        made = {row.object for row in rows if row.id not in now}
        gone = [key for key in self.pending if key not in now and key not in made]
        for key in gone:
            self.layout = without(self.layout, key)
        gone += [key for key in self.sockets if key not in {row.id for row in sockets}]
        self.pending = tuple(now)
        return tuple(f"objects:{key}" for key in gone)

    def _new_tools(self, calls: list[CallState]) -> list[str]:
        new = dict.fromkeys(call.tool for call in calls if call.tool not in self.tools)
        self.tools.update(new)
        return list(new)

    def _with_offer(self, rows: Rows, cursor: Cursor, session: SessionRow) -> Rows:
        """Tell what may be called where the person is the model, or guesses: as far as new."""
        turn = session.yours or session.guess
        names = turn.tools if turn else ()
        all_rows = filter(None, (offered_row(cursor, name) for name in names))
        new = {row.id: row for row in all_rows if self.offered.get(row.id) != row}
        self.offered.update(new)
        self.tools.update(new)
        return replace(rows, tools=(*rows.tools, *new.values())) if new else rows

    def _counting(self, cursor: Cursor) -> Counting:
        if self.counting is None or self.counting.ends.journal is not cursor.desk.journal:
            self.counting = Counting.of(cursor)
        return self.counting

    def _ends_of(self, seen: Seen, entries: list[Entry], shared: frozenset[str]) -> dict[str, End]:
        counting = self._counting(seen.cursor)
        ends = counting.ends.of(entries, shared)
        if not seen.branch:
            self.took += counting.replies.took(entries, ends, shared)
        return ends

    # -- other branches, the session ------------------------------------------------------

    def _pale(self, pale: Pale) -> Rows:
        """Return what is a branch's own, to be drawn beside the one that is shown."""
        seen = pale.seen
        ends = self._ends_of(seen, [*pale.entries], frozenset())
        mine = [seen.state.calls[call_id] for call_id in pale.touched]
        rows = tuple(self._call(seen, call, ends.get(call.id)) for call in mine)
        names = [name for call in mine for name in _made_by(call, seen)]
        return Rows(
            calls=rows, objects=tuple(object_row(seen, name, self.layout) for name in names)
        )

    def _session(self, cursor: Cursor, session: SessionRow) -> SessionRow:
        state, took = cursor.state, self.took
        return replace(
            session,
            turn=state.turns,
            tokens=state.tokens,
            ran=took.ran,
            remembered=took.remembered,
        )


def standing(cursor: Cursor, name: str) -> Rows:
    """Return all rows of a session that nothing drives."""
    phase, says = replying.stands(cursor)
    yours, guess = replying.your_turn(cursor), replying.to_guess(cursor)
    row = SessionRow(
        name=name, phase=phase, says=says, text=cursor.state.said, yours=yours, guess=guess
    )
    watch = Watch()
    return with_differences(watch.whole(cursor, row), watch.seen, {})


def _made_by(call: CallState, seen: Seen) -> list[str]:
    makers = [made.maker for made in objects_of(call.outcome)]
    return [seen.state.by_maker[m] for m in makers if m.partition("[")[0] == call.id]


def _saved(state: State) -> tuple[str, ...]:
    """Return the objects that the outputs are; what a foreign record says may be anything."""
    said = (name for name in state.outputs.values() if isinstance(name, str))
    return tuple(name for name in said if name in state.objects)


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
