"""The rows of a branch, as far as they are new: what a panel was told of is not told again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..branches.tally import Tally
from ..drawing.layout import Layout, without
from ..journal.tree import Entry
from ..loop import Cursor
from ..rows.contract import CallRow, Drop, ObjectRow, Rows, SessionRow, ToolRow
from ..state.call import CallState
from ..state.ends import End
from ..state.memory import Prepared
from ..state.shape import State
from .beside import Counting, Pale, touched_by
from .calls import call_row, uses_in
from .messages import entry_messages, turn_row
from .objects import object_row, output_rows, pending_row
from .placing import placed, standing_at
from .seen import Seen, ready_call
from .tools import offered_row, tool_row


@dataclass
class RowsTold:
    """What a panel was told of calls, objects and tools, and where they stand."""

    layout: Layout = field(default_factory=Layout)
    tools: set[str] = field(default_factory=set)
    offered: dict[str, ToolRow] = field(default_factory=dict)
    """The tools of a turn as last told, to a person who plays the model."""
    sockets: tuple[str, ...] = ()
    pending: set[str] = field(default_factory=set)
    """The object rows of calls that wait, as last told."""
    saved: tuple[str, ...] = ()
    """The objects that were told as saved."""
    counting: Counting | None = None
    took: Tally = field(default_factory=Tally)

    def _rows(
        self, seen: Seen, path: Iterable[Entry], shared: frozenset[str], most: int | None = None
    ) -> Rows:
        """Return the rows of what entries are about, all but the objects that there are.

        Of the calls that are open besides only the first `most` are told again.
        """
        entries = list(path)
        state = seen.state
        ends = self._ends_of(seen, entries, shared)
        calls = [state.calls[call_id] for call_id in touched_by(state, entries, most)]
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
        uses = [uses_in(seen, state.calls[row.call], state) for row in rows]
        used = [state.by_producer.get(p) for each in uses for p in each.values() if p.input]
        saved = set(self.saved) ^ set(saved_in(state))
        named = (*made, *used, *(saved and {*self.saved, *saved_in(state)}))
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
    ) -> tuple[Drop, ...]:
        now = {row.id for row in waiting}
        settled = [row for row in rows if row.id in self.pending and row.id not in now]
        made = {row.object for row in rows if row.id not in now}
        gone = [row.id for row in settled if row.id not in made]
        for key in gone:
            self.layout = without(self.layout, key)
        gone += [key for key in self.sockets if key not in {row.id for row in sockets}]
        self.pending.difference_update(row.id for row in settled)
        self.pending |= now
        return tuple(Drop("objects", key) for key in gone)

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

    def _session(self, cursor: Cursor, session: SessionRow) -> SessionRow:
        state, took = cursor.state, self.took
        return replace(
            session,
            turn=state.turns,
            tokens=took.tokens,
            cost=str(took.cost or ""),
            ran=took.ran,
            remembered=took.remembered,
        )

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


def _made_by(call: CallState, seen: Seen) -> list[str]:
    return [*map(seen.state.name_of, call.produced)]


def saved_in(state: State) -> tuple[str, ...]:
    """Return the objects that the outputs are; what a foreign record says may be anything."""
    said = (name for name in state.outputs.values() if isinstance(name, str))
    return tuple(name for name in said if name in state.objects)
