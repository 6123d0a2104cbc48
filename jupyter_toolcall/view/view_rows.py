"""From a session to what a panel is sent: rows of its branches, updates, JSON.

One `ViewRows` and one `UpdateEncoder` go with one panel. A step costs what it changed, however
long the session is; only another branch, or a panel that connects, needs all rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..compare.branch_totals import BranchReader, BranchTotals
from ..compare.differences import Difference
from ..core.branches import branches, can_continue, shared_with_older, unnamed_branch_name
from ..core.call_record import CallRecord
from ..core.journal_entries import Entry, Label
from ..core.json_data import changed_fields, field_defaults, sendable_data, wire_value
from ..core.recorded_calls import CallEnd
from ..engine import person_model as replying
from ..engine.cursor import Cursor
from ..engine.hooks import ExtensionRow
from ..engine.outdated import outdated_reasons
from .branch_rows import branch_rows, same_rows, side_branches, touched_calls, with_totals
from .call_rows import call_rows
from .comparison_rows import with_changes, with_comparison
from .contract import Delta, DrawGraph, Drop, Notice, Rows, Whole
from .contract_rows import BranchRow, CallRow, ObjectRow, SessionRow, ToolRow
from .graph import graph_row
from .message_rows import conversation_rows
from .object_rows import BranchView, ending, object_row, output_rows, tool_row

DRAWING = 0.1
"""Seconds between two drawings of a session that runs: Graphviz may take a third of them."""
Drawable = TypeVar("Drawable", CallRow, ObjectRow)
FAR = 4_096
"""After so many entries a position counts as another branch: all rows are sent."""


@dataclass
class RowStore:
    """The rows that a panel has of a session, and what the next ones are computed from."""

    reader: BranchReader
    hides_branches: bool
    """Whether a hook hides the other branches."""
    beside: tuple[str, ...] | None
    """The names of the other branches, while the shown one is a place on the way of one."""
    totals: BranchTotals = field(default_factory=BranchTotals)
    """What the shown branch used in tokens, time and money."""
    ends: dict[str, CallEnd] = field(default_factory=dict)
    """How the calls of the shown branch ended, by id."""
    same: dict[str, str] = field(default_factory=dict)
    """Which rows of other branches are drawn as which rows."""
    tools: dict[str, ToolRow] = field(default_factory=dict)
    calls: dict[str, CallRow] = field(default_factory=dict)
    objects: dict[str, ObjectRow] = field(default_factory=dict)
    unmade: dict[str, ObjectRow] = field(default_factory=dict)
    """Of the objects those that a call would make, and outputs that are not saved yet."""

    def put(self, rows: Rows) -> Rows:
        """Keep the rows of calls, objects and tools; return them without tools that are kept."""
        tools = tuple(row for row in rows.tools if self.tools.get(row.id) != row)
        self.tools.update((row.id, row) for row in tools)
        self.calls.update((row.id, row) for row in rows.calls)
        for drop in rows.drop:
            self.objects.pop(drop.id, None)
        self.objects.update((row.id, row) for row in rows.objects)
        return replace(rows, tools=tools)

    def drops(self, calls: Iterable[CallRow], objects: Iterable[ObjectRow]) -> tuple[Drop, ...]:
        """Return the unmade objects that are no more: of calls that made nothing, and outputs.

        `calls` and `objects` are new rows of the shown branch.
        """
        new, touched = {row.id: row for row in objects}, {row.id for row in calls}
        gone = [
            row.id
            for row in self.unmade.values()
            if row.role == "output" or row.call in touched or row.id in new
        ]
        for key in gone:
            del self.unmade[key]
        self.unmade |= {row.id: row for row in new.values() if row.role in ("pending", "output")}
        return tuple(Drop("objects", key) for key in gone if key not in new)

    def drawn_as(self, same: dict[str, str]) -> Rows:
        """Take it that rows are drawn as others from now on; return those that change."""
        changed = dict.fromkeys(key for key, _ in same.items() ^ self.same.items())
        self.same = same
        calls = _drawn_as((self.calls[key] for key in changed if key in self.calls), same)
        objects = _drawn_as((self.objects[key] for key in changed if key in self.objects), same)
        return Rows(calls=calls, objects=objects)


@dataclass
class ViewRows:
    """Computes the rows of a session for a panel, and remembers which ones the panel has."""

    head: str = ""
    """The entry at which rows were computed last."""
    branch_views: dict[str, BranchView] = field(default_factory=dict)
    """The branches that have rows, by their heads; "" is the one that is shown."""
    wanted: frozenset[str] = frozenset()
    """Branches that have rows though others are newer."""
    branches: tuple[BranchRow, ...] = ()
    window: DrawGraph = field(default_factory=DrawGraph)
    """Which calls a person asked to see in the graph."""
    graph_is_late: bool = False
    """Whether the panels have no drawing of the last update yet."""
    _drawn: float = 0
    """When the graph was drawn last."""
    _entries: int = 0
    """How many entries the journal had."""
    _has_children: bool = False
    """Whether the journal went on from the head."""
    _labels: dict[str, Label] = field(default_factory=dict)
    """The names of the branches."""
    _known: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """How values differ, by the digests of both."""
    _store: RowStore = field(init=False)

    # -- all rows, or what changed ----------------------------------------------------------

    def whole(
        self,
        cursor: Cursor,
        session: SessionRow,
        extensions: tuple[ExtensionRow, ...] = (),
    ) -> Rows:
        """Return all rows of a session at a cursor, with those of itself and of extensions."""
        journal, state, hides = cursor.context.journal, cursor.state, _hides_branches(cursor)
        path, known = journal.path(cursor.head), branches(journal, cursor.head)
        names = tuple(branch.name for branch in known if not branch.place)
        beside = names if len(names) < len(known) else None
        store = self._store = RowStore(BranchReader(cursor.context), hides, beside)
        known = tuple(branch for branch in known if branch.current or not hides)
        shown = BranchView(cursor, state, outdated=outdated_reasons(cursor.context, state))
        sides = side_branches(cursor, known, self.wanted, path)
        self.branch_views = {"": shown, **{head: side.view for head, side in sides.items()}}
        shared, calls = shared_with_older(journal, cursor.head), touched_calls(state, path)
        rows = self._shown_rows(path, calls, state.names, shared)
        side_calls, side_objects = list[CallRow](), list[ObjectRow]()
        for side in sides.values():
            side_calls += call_rows(side.view, side.calls, store.reader.read(side.entries)[0])[0]
            side_objects += _made_objects(side.view, side.calls)
        store.same = same_rows([*self.branch_views.values()], self._known)
        # What the entries of the shown branch used was counted with their rows.
        self.branches = branch_rows(cursor, known, sides, store.reader, store.totals)
        rows = replace(
            rows,
            calls=rows.calls + _drawn_as(side_calls, store.same),
            objects=rows.objects + _drawn_as(side_objects, store.same),
            branches=self.branches,
        )
        return self._with_session(cursor, rows, session, extensions)

    def changes(
        self, cursor: Cursor, session: SessionRow, extensions: tuple[ExtensionRow, ...] = ()
    ) -> Rows | None:
        """Return the rows that changed since the last ones; None where all have to be sent."""
        path = self._entries_since(cursor)
        if path is None:
            return None
        state, before, store = cursor.state, self.branch_views[""], self._store
        continues_at_once = session.phase in ("thinking", "running")
        # What the calls of a long reply would do is computed at a pause, not before each of them.
        running = (*cursor.running, *cursor.early_ends)
        calls = touched_calls(state, path, 1 if continues_at_once else None, running)
        outdated = outdated_reasons(cursor.context, state, calls, before.outdated)
        self.branch_views[""] = BranchView(cursor, state, outdated=outdated)
        made = (state.name_of(made) for call in calls for made in call.produced)
        # Objects that are outputs now, or no longer. Those of a foreign journal may be anything.
        saved = (*before.state.outputs.values(), *state.outputs.values())
        names = [*made, *(str(name) for name in saved if str(name) in state.objects)]
        rows = self._shown_rows(path, calls, dict.fromkeys(names))
        if not continues_at_once:
            if len(self.branch_views) > 1:
                again = store.drawn_as(same_rows([*self.branch_views.values()], self._known))
                calls_again, objects_again = rows.calls + again.calls, rows.objects + again.objects
                rows = replace(rows, calls=calls_again, objects=objects_again)
            rows = self._with_shown_branch(rows, cursor)
        return self._with_session(cursor, rows, session, extensions)

    def _shown_rows(
        self,
        entries: Sequence[Entry],
        calls: Sequence[CallRecord],
        names: Iterable[str],
        shared: frozenset[str] = frozenset(),
    ) -> Rows:
        """Return the rows of entries of the shown branch, of their calls, and of objects."""
        view, store = self.branch_views[""], self._store
        ends, store.totals = store.reader.read(entries, shared, store.totals)
        store.ends |= ends
        rows, pending = call_rows(view, calls, store.ends)
        objects = [object_row(view, name) for name in names]
        objects += [*pending, *output_rows(view.state)]
        new = dict.fromkeys(call.tool for call in calls if call.tool not in store.tools)
        tools = filter(None, [tool_row(view.cursor, name) for name in new])
        messages, turns = conversation_rows(view.cursor, entries)
        drop = store.drops(rows, objects)
        return Rows((), tuple(rows), tuple(objects), tuple(tools), messages, turns, drop=drop)

    def with_graph(self, rows: Rows, continues: bool = False) -> Rows:
        """Add the drawing of the rows as they were computed last.

        While the session continues there is none soon after another: `graph_is_late` then.
        """
        self.graph_is_late = continues and time.monotonic() < self._drawn + DRAWING
        if self.graph_is_late or not self.head:
            return rows
        calls, objects = self._store.calls.values(), self._store.objects.values()
        stored = Rows((), tuple(calls), tuple(objects), branches=self.branches)
        graph = graph_row(stored, self.window.until, self.window.selected)
        self._drawn = time.monotonic()
        return replace(rows, graph=(graph,))

    def labels_changed(self, cursor: Cursor) -> bool:
        """Return whether a branch was named or hidden since rows were computed last."""
        return bool(self.head) and self._labels != cursor.context.journal.labels

    def has_moved(self, cursor: Cursor) -> bool:
        """Return whether the session was continued since rows were computed last."""
        return bool(self.head) and self.head != cursor.head

    def journal_grew(self, cursor: Cursor) -> bool:
        """Return whether any branch was continued since rows were computed last."""
        return bool(self.head) and self._entries != len(cursor.context.journal)

    def _entries_since(self, cursor: Cursor) -> tuple[Entry, ...] | None:
        """Return the entries since the last rows; None where another branch has changed."""
        journal = cursor.context.journal
        if self.head not in journal or not _is_after(cursor, self.head):
            return None
        if self._store.hides_branches != _hides_branches(cursor) or self.labels_changed(cursor):
            return None
        path = journal.path(cursor.head, after=self.head)
        ids = {entry.id for entry in path}
        if any(entry.id not in ids for entry in journal.since(self._entries)):
            return None
        heads = {row.id for row in self.branches if not row.current}
        heads |= set() if self._has_children else {self.head}
        at_end = not self._has_children or bool(journal.children(cursor.head)) or not path
        return path if at_end and can_continue(journal, self.head, path, heads) else None

    def _with_shown_branch(self, rows: Rows, cursor: Cursor) -> Rows:
        """Add the row of the shown branch where it changed: its id is the head, which moves."""
        before, store = next(row for row in self.branches if row.current), self._store
        now = with_totals(replace(before, id=cursor.head), cursor.state, store.totals)
        if store.beside is not None:
            name = unnamed_branch_name(cursor.context.journal, cursor.head, store.beside)
            now = replace(now, name=name)
        if now == before:
            return rows
        self.branches = tuple(now if row is before else row for row in self.branches)
        gone = () if now.id == before.id else (Drop("branches", before.id),)
        return replace(rows, branches=(now,), drop=(*rows.drop, *gone))

    def _with_session(
        self, cursor: Cursor, rows: Rows, session: SessionRow, extensions: tuple[ExtensionRow, ...]
    ) -> Rows:
        """Return rows with those of the session itself; from here on changes are counted."""
        journal, totals = cursor.context.journal, self._store.totals
        self.head, self._entries, self._labels = cursor.head, len(journal), dict(journal.labels)
        self._has_children = bool(journal.children(cursor.head))
        row = replace(
            session,
            turn=cursor.state.turns,
            tokens=totals.tokens,
            cost=str(totals.cost or ""),
            ran=totals.ran,
            remembered=totals.cached,
        )
        names = [*session.yours.tools] if session.yours is not None else []
        names += [name for extension in extensions for name in extension.offered_tools()]
        offered = filter(None, (tool_row(cursor, name, offered=True) for name in names))
        tools = (*rows.tools, *offered)
        return self._store.put(replace(rows, session=(row,), extensions=extensions, tools=tools))


def _made_objects(view: BranchView, calls: Iterable[CallRecord]) -> Iterator[ObjectRow]:
    """Yield the rows of the objects that calls made."""
    for call in calls:
        yield from (object_row(view, view.state.name_of(made)) for made in call.produced)


def _drawn_as(rows: Iterable[Drawable], same: Mapping[str, str]) -> tuple[Drawable, ...]:
    """Return rows with the ids of those that they are drawn as."""
    return tuple(replace(row, same=same.get(row.id, "")) for row in rows)


def all_rows(cursor: Cursor, name: str) -> Rows:
    """Return all rows of a session that nothing runs."""
    phase, status = replying.idle_phase(cursor)
    yours = replying.person_turn(cursor)
    row = SessionRow(
        name=name,
        phase=phase,
        says=status,
        ending=ending(cursor.state) if phase == "finished" else (),
        text=cursor.state.said,
        yours=yours,
    )
    extensions = filter(None, (hook.view_row(cursor) for hook in cursor.context.hooks))
    view = ViewRows()
    rows = with_comparison(view.whole(cursor, row, tuple(extensions)), view.branch_views, {})
    return with_changes(rows, view.branch_views[""])


def _hides_branches(cursor: Cursor) -> bool:
    return any(hook.hides_branches() for hook in cursor.context.hooks)


def _is_after(cursor: Cursor, head: str) -> bool:
    """Return whether the cursor is at a head, or after one that is not far back."""
    entry: str | None = cursor.head
    for _ in range(FAR):
        if entry == head:
            return True
        entry = cursor.context.journal[entry].parent if entry else None
    return False


# -- JSON: what has its default, or was sent before, is left out --------------------------------

Changing = SessionRow | CallRow | ObjectRow | ExtensionRow
"""The rows that are sent again as they change."""
CHANGING = ("session", "calls", "objects", "extensions")
"""Their tables."""


@dataclass
class UpdateEncoder:
    """Encodes notices for a panel: of a row that was sent before, what has changed."""

    _sent: dict[tuple[str, str], Changing] = field(default_factory=dict)
    """By table and id."""

    def encode(self, notice: Notice) -> Any:
        """Return a notice as JSON-ready data, and take it as sent."""
        match notice:
            case Whole(rows):
                self._sent = {
                    (name, row.id): row for name in CHANGING for row in getattr(rows, name)
                }
            case Delta(rows):
                for each in rows.drop:
                    self._sent.pop((each.table, each.id), None)
                tables = changed_fields(rows)
                for name in [name for name in CHANGING if name in tables]:
                    changes = self._changes(name, tables.pop(name))
                    tables |= {name: changes} if changes else {}
                return sendable_data({**changed_fields(notice), "rows": tables})
        return sendable_data(notice)

    def _changes(self, table: str, rows: Iterable[Changing]) -> list[dict[str, Any]]:
        """Return the fields of rows that were not sent; of those that were, what changed."""
        changes = []
        for row in {row.id: row for row in rows}.values():
            before, self._sent[table, row.id] = self._sent.get((table, row.id)), row
            changed = changed_fields(row) if before is None else {"id": row.id}
            for name, _ in field_defaults(type(row)) if before is not None else ():
                old, new = getattr(before, name), getattr(row, name)
                # In JSON, unlike in Python, 1 is not true; and a call's arguments may hold either.
                differs = old is not new and (
                    old != new or (isinstance(new, Mapping) and repr(old) != repr(new))
                )
                if differs:
                    changed[name] = wire_value(new)
            changes += [changed] if len(changed) > 1 else []
        return changes
