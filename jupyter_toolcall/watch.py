"""What a panel has been told, and what it has to be told now: whole, or what changed.

One watch goes with one panel. A step costs what it changed, however long the session is;
only another branch, or a panel that connects, is told everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .branches import SHOWN, Branch, branches, own_entries, shared_with_older
from .events import Decided, Finished, Replied, Started
from .journal import Entry
from .layout import Layout, without
from .loop import Cursor
from .messages import entry_messages
from .rows import BranchRow, CallRow, ObjectRow, Rows, SessionRow
from .runner import Prepared
from .state import CallState, State, objects_of, state_at
from .view import Seen, call_row, object_row, output_rows, pending_row, placed, ready_call, tool_row


@dataclass
class Watch:
    """Turns the place of a cursor into rows."""

    layout: Layout = field(default_factory=Layout)
    head: str = ""
    tools: set[str] = field(default_factory=set)
    sockets: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    """The object rows of calls that wait, as last told."""
    first_runs: dict[tuple[str, str, str], str] = field(default_factory=dict)
    _read: int = 0
    ran: int = 0
    remembered: int = 0

    def whole(self, cursor: Cursor, session: SessionRow, layout: Layout | None = None) -> Rows:
        """Return all rows; what has a place in `layout` keeps it."""
        self.layout, self.tools, self.head = layout or Layout(), set(), cursor.head
        self.ran = self.remembered = 0
        self.pending = ()
        journal = cursor.desk.journal
        path = journal.path(cursor.head)
        seen = Seen(cursor, cursor.state)
        shared = shared_with_older(journal, cursor.head)
        rows = self._rows(seen, path, shared, every_object=True)
        known = branches(journal, cursor.head)
        for branch in [b for b in known if _beside(cursor, b)][-SHOWN:]:
            rows = _joined(rows, self._pale(cursor, branch, frozenset(e.id for e in path)))
        return replace(
            rows, session=(self._session(cursor, session),), branches=_branch_rows(cursor, known)
        )

    def changes(self, cursor: Cursor, session: SessionRow) -> Rows | None:
        """Return the rows that changed since the last ones; None where all has to be told."""
        journal = cursor.desk.journal
        if self.head not in journal or not _follows(cursor, self.head):
            return None
        path = journal.path(cursor.head, after=self.head)
        self.head = cursor.head
        rows = self._rows(Seen(cursor, cursor.state), path, frozenset(), every_object=False)
        return replace(rows, session=(self._session(cursor, session),))

    # -- one branch ---------------------------------------------------------------------

    def _rows(
        self, seen: Seen, path: Iterable[Entry], shared: frozenset[str], every_object: bool
    ) -> Rows:
        entries = list(path)
        state = seen.state
        ends = self._ends(seen, entries, shared)
        calls = [state.calls[call_id] for call_id in _touched(state, entries)]
        rows = tuple(self._call(seen, call, ends.get(call.id)) for call in calls)
        names = tuple(state.names) if every_object else self._names(seen, rows, calls)
        objects = tuple(object_row(seen, name, self.layout) for name in names)
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
            objects=(*objects, *waiting, *sockets),
            tools=tools,
            messages=messages,
            drop=drop,
        )

    def _call(
        self, seen: Seen, call: CallState, end: tuple[bool, Mapping[str, Any]] | None
    ) -> CallRow:
        memory, meta = end or (False, {})
        row = call_row(seen, call, self.layout, memory, meta)
        self.layout = placed(self.layout, call, row, seen)
        return row

    def _names(
        self, seen: Seen, rows: tuple[CallRow, ...], calls: list[CallState]
    ) -> tuple[str, ...]:
        """The objects that these calls made, used for the first time, or saved."""
        state = seen.state
        made = [name for call in calls for name in _made_by(call, seen)]
        used = [state.by_maker.get(use.object) for row in rows for use in row.uses]
        saved = [name for name in state.outputs.values() if name in state.objects]
        return tuple(dict.fromkeys(name for name in (*made, *used, *saved) if name is not None))

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

    # -- what came from memory -----------------------------------------------------------

    def _ends(
        self, seen: Seen, entries: list[Entry], shared: frozenset[str]
    ) -> dict[str, tuple[bool, Mapping[str, Any]]]:
        """For each call that ended here: whether from memory, and its meta."""
        self._catch_up(seen.cursor)
        ends = {}
        for entry in entries:
            if isinstance(entry.event, Finished):
                call = seen.state.calls[entry.event.call_id]
                first = self.first_runs.get(_inputs(call, seen.state), entry.id)
                memory = entry.id in shared or first != entry.id
                self.remembered += memory and not seen.branch
                self.ran += not memory and not seen.branch
                ends[call.id] = (memory, entry.meta)
        return ends

    def _catch_up(self, cursor: Cursor) -> None:
        journal = cursor.desk.journal
        for entry in journal.since(self._read):
            self._read += 1
            if isinstance(entry.event, Finished):
                state = state_at(journal, entry.id)
                call = state.calls[entry.event.call_id]
                self.first_runs.setdefault(_inputs(call, state), entry.id)

    # -- other branches, the session ------------------------------------------------------

    def _pale(self, cursor: Cursor, branch: Branch, shown: frozenset[str]) -> Rows:
        """Return what is a branch's own, to be drawn beside the one that is shown."""
        journal = cursor.desk.journal
        entries = list(own_entries(journal, branch.head, shown))
        state = state_at(journal, branch.head)
        replied = {e.id[:12] for e in entries if isinstance(e.event, Replied)}
        touched = _touched(state, entries)
        forked = frozenset(c for c in touched if state.calls[c].key.split(".")[0] not in replied)
        seen = Seen(Cursor(cursor.desk, branch.head), state, branch.name, forked)
        ends = self._ends(seen, entries, frozenset())
        mine = [state.calls[call_id] for call_id in touched]
        rows = tuple(self._call(seen, call, ends.get(call.id)) for call in mine)
        names = [name for call in mine for name in _made_by(call, seen)]
        return Rows(
            calls=rows, objects=tuple(object_row(seen, name, self.layout) for name in names)
        )

    def _session(self, cursor: Cursor, session: SessionRow) -> SessionRow:
        state = cursor.state
        return replace(
            session, turn=state.turns, tokens=state.tokens, ran=self.ran, remembered=self.remembered
        )


def _touched(state: State, entries: list[Entry]) -> list[str]:
    """The calls that these entries are about, and those that are open, in call order."""
    found: dict[str, None] = {}
    for entry in entries:
        match entry.event:
            case Replied(calls=calls):
                found.update(dict.fromkeys(call.id for call in calls))
            case Decided(call_id) | Started(call_id) | Finished(call_id):
                found[call_id] = None
    found.update(dict.fromkeys(state.open))
    return sorted(found, key=lambda call_id: state.calls[call_id].step)


def _made_by(call: CallState, seen: Seen) -> list[str]:
    makers = [made.maker for made in objects_of(call.outcome)]
    return [seen.state.by_maker[m] for m in makers if m.partition("[")[0] == call.id]


def _inputs(call: CallState, state: State) -> tuple[str, str, str]:
    """What a call was asked for and ran on: what it was bound to, or the objects it names."""
    if call.decided is not None:
        return state.prompt, call.id, call.decided.bound
    named = (state.objects.get(v) for v in call.arguments.values() if isinstance(v, str))
    return state.prompt, call.id, " ".join(made.digest for made in named if made is not None)


def _joined(first: Rows, more: Rows) -> Rows:
    return replace(
        first, calls=(*first.calls, *more.calls), objects=(*first.objects, *more.objects)
    )


def _beside(cursor: Cursor, branch: Branch) -> bool:
    """Whether a branch goes another way; what a record has ahead of here is not drawn."""
    path = cursor.desk.journal.path(branch.head)
    return all(entry.id != cursor.head for entry in path)


def _follows(cursor: Cursor, head: str) -> bool:
    """Return whether the cursor's place is behind one that is not far back."""
    here: str | None = cursor.head
    for _ in range(64):
        if here == head:
            return True
        here = cursor.desk.journal[here].parent if here else None
    return False


def _branch_rows(cursor: Cursor, known: tuple[Branch, ...]) -> tuple[BranchRow, ...]:
    rows = []
    for branch in known:
        state = state_at(cursor.desk.journal, branch.head)
        rows.append(BranchRow(branch.head, branch.name, branch.current, len(state.order)))
    return tuple(rows)
