"""From a session to what a panel is sent: rows of its branches, updates, JSON.

One `ViewRows` and one `UpdateEncoder` go with one panel. A step costs what it changed, however
long the session is; only another branch, or a panel that connects, needs all rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from ..compare.branch_totals import BranchReader, BranchTotals
from ..compare.differences import Difference
from ..core.branches import Branch, branches, is_prompt, shared_with_older, unnamed_branch_name
from ..core.call_record import CallRecord
from ..core.events import Opened
from ..core.journal_entries import Entry, Label
from ..core.json_data import changed_fields, field_defaults, sendable_data, wire_value
from ..core.recorded_calls import CallEnd
from ..engine import person_model as replying
from ..engine.cursor import Cursor
from ..engine.hooks import ExtensionRow
from ..engine.outdated import outdated_reasons
from .branch_rows import branch_row, same_rows, side_branches, touched_calls, used
from .call_rows import call_rows
from .comparison_rows import Known, with_changes, with_comparison
from .contract import Delta, DrawGraph, Drop, Notice, Rows, Whole
from .contract_rows import BranchRow, CallRow, ObjectRow, SessionRow
from .graph import graph_row
from .message_rows import conversation_rows
from .object_rows import BranchView, ending, object_row, output_rows, tool_row

DRAWING = 0.1
"""Seconds between two drawings of a session that runs: Graphviz may take a third of them."""
Drawable = TypeVar("Drawable", CallRow, ObjectRow)


class Position(NamedTuple):
    """Where a session stands, and what else decides which branches it shows."""

    head: str
    entries: int
    """How many entries the journal has, on all branches."""
    labels: Mapping[str, Label]
    """The names of the branches, and which are hidden."""
    hides_branches: bool
    """Whether a hook hides the other branches."""


def position(cursor: Cursor) -> Position:
    """Return where a session stands."""
    journal, hooks = cursor.context.journal, cursor.context.hooks
    hides = any(hook.hides_branches() for hook in hooks)
    return Position(cursor.head, len(journal), dict(journal.labels), hides)


@dataclass
class RowStore:
    """The rows that a panel has of a session, by table and id."""

    tables: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {name: {} for name in ("calls", "objects", "tools", "branches")}
    )

    def put(self, rows: Rows) -> Rows:
        """Keep rows; return them without those that are kept already."""
        for drop in rows.drop:
            self.tables[drop.table].pop(drop.id, None)
        new: dict[str, Any] = {}
        for name, table in self.tables.items():
            new[name] = tuple(row for row in getattr(rows, name) if table.get(row.id) != row)
            table.update((row.id, row) for row in new[name])
        return replace(rows, **new)

    def rows(self) -> Rows:
        """Return all rows."""
        return Rows(**{name: tuple(table.values()) for name, table in self.tables.items()})


@dataclass
class ViewRows:
    """Computes the rows of a session for a panel, and remembers which ones the panel has."""

    position: Position | None = None
    """Where rows were computed last."""
    branch_views: dict[str, BranchView] = field(default_factory=dict)
    """The branches that have rows, by their heads; "" is the one that is shown."""
    wanted: frozenset[str] = frozenset()
    """Branches that have rows though others are newer."""
    window: DrawGraph = field(default_factory=DrawGraph)
    """Which calls a person asked to see in the graph."""
    graph_is_late: bool = False
    """Whether the panels have no drawing of the last update yet."""
    _drawn: float = 0
    """When the graph was drawn last."""
    _differences: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """How values differ, by the digests of both."""
    _branches: tuple[Branch, ...] = ()
    """All branches, as they were when all rows were computed."""
    _sides: Rows = field(default_factory=Rows)
    """The rows of calls and objects of the other branches."""
    _totals: BranchTotals = field(default_factory=BranchTotals)
    """What the shown branch used in tokens, time and money."""
    _ends: dict[str, CallEnd] = field(default_factory=dict)
    """How the calls of the shown branch ended, by id."""
    _store: RowStore = field(default_factory=RowStore)
    _reader: BranchReader = field(init=False)

    @property
    def branches(self) -> tuple[BranchRow, ...]:
        """The rows of the branches that the panel has."""
        return (*self._store.tables["branches"].values(),)

    # -- all rows, or what changed ----------------------------------------------------------

    def whole(
        self,
        cursor: Cursor,
        session: SessionRow,
        extensions: tuple[ExtensionRow, ...] = (),
    ) -> Rows:
        """Return all rows of a session at a cursor, with those of itself and of extensions."""
        context, state, self.position = cursor.context, cursor.state, position(cursor)
        journal, path = context.journal, context.journal.path(cursor.head)
        self._branches, self._reader = branches(journal, cursor.head), BranchReader(context)
        self._store, self._totals, self._ends = RowStore(), BranchTotals(), {}
        sides = side_branches(cursor, self._listed, self.wanted, path)
        shown = BranchView(cursor, state, outdated=outdated_reasons(context, state))
        self.branch_views = {"": shown, **sides}
        shared, calls = shared_with_older(journal, cursor.head), touched_calls(state, path)
        rows = self._shown_rows(path, calls, state.names, shared)
        side_calls, side_objects = list[CallRow](), list[ObjectRow]()
        for view in sides.values():
            calls = touched_calls(view.state, view.entries)
            side_calls += call_rows(view, calls, self._reader.read(view.entries)[0])[0]
            made = [view.state.name_of(made) for call in calls for made in call.produced]
            side_objects += [object_row(view, name) for name in made]
        self._sides = Rows(calls=(*side_calls,), objects=(*side_objects,))
        branch_rows = tuple(self._branch_row(cursor, branch) for branch in self._listed)
        rows = replace(self._with_sides(rows), branches=branch_rows)
        return self._with_session(cursor, rows, session, extensions)

    def changes(
        self, cursor: Cursor, session: SessionRow, extensions: tuple[ExtensionRow, ...] = ()
    ) -> Rows | None:
        """Return the rows that changed since the last ones; None where all have to be sent."""
        now = position(cursor)
        path = self._entries_since(cursor, now)
        if path is None:
            return None
        state, before, self.position = cursor.state, self.branch_views[""], now
        continues_at_once = session.phase in ("thinking", "running")
        # What the calls of a long reply would do is computed at a pause, not before each of them.
        calls = touched_calls(state, path, 1 if continues_at_once else None)
        outdated = outdated_reasons(cursor.context, state, calls, before.outdated)
        self.branch_views[""] = BranchView(cursor, state, outdated=outdated)
        made = (state.name_of(made) for call in calls for made in call.produced)
        # Objects that are outputs now, or no longer. Those of a foreign journal may be anything.
        saved = (*before.state.outputs.values(), *state.outputs.values())
        names = [*made, *(str(name) for name in saved if str(name) in state.objects)]
        rows = self._shown_rows(path, calls, dict.fromkeys(names))
        if not continues_at_once:
            rows = self._with_shown_branch(self._with_sides(rows), cursor)
        return self._with_session(cursor, rows, session, extensions)

    def _entries_since(self, cursor: Cursor, now: Position) -> tuple[Entry, ...] | None:
        """Return the entries since the last rows; None where another branch has changed."""
        journal, last = cursor.context.journal, self.position
        if last is None or last[2:] != now[2:]:
            return None
        path = journal.path(cursor.head, after=last.head)
        heads = {branch.head for branch in self._branches}
        new = {entry.id for entry in journal.since(last.entries)}
        # A recorded branch on whose way the session is ends at its head, or before a later prompt.
        changes_branches = (
            isinstance(entry.event, Opened)
            or len(journal.children(entry.parent)) > 1
            or entry.id in heads
            or (is_prompt(entry) and entry.id not in new)
            for entry in path
        )
        is_after = not path or path[0].parent == last.head
        is_all = new <= {entry.id for entry in path}
        return path if is_after and is_all and not any(changes_branches) else None

    def _shown_rows(
        self,
        entries: Sequence[Entry],
        calls: Sequence[CallRecord],
        names: Iterable[str],
        shared: frozenset[str] = frozenset(),
    ) -> Rows:
        """Return the rows of entries of the shown branch, of their calls, and of objects."""
        view = self.branch_views[""]
        ends, self._totals = self._reader.read(entries, shared, self._totals)
        self._ends |= ends
        rows, pending = call_rows(view, calls, self._ends)
        objects = [object_row(view, name) for name in names]
        objects += [*pending, *output_rows(view.state)]
        messages, turns = conversation_rows(view.cursor, entries)
        # An output that is saved now, or what a call would have made, is no more.
        may_be_gone = {f"output:{name}" for name in view.state.opened.outputs}
        may_be_gone |= {row.id for row in rows}
        new = {row.id for row in objects}
        gone = self._store.tables["objects"].keys() & may_be_gone - new
        drop = tuple(Drop("objects", key) for key in sorted(gone))
        return Rows((), tuple(rows), tuple(objects), (), messages, turns, drop=drop)

    def _with_sides(self, rows: Rows) -> Rows:
        """Add the rows of other branches, each with the row that it is drawn as now."""
        if len(self.branch_views) == 1:
            return rows
        same = same_rows([*self.branch_views.values()], self._differences)
        return replace(
            rows,
            calls=rows.calls + _drawn_as(self._sides.calls, same),
            objects=rows.objects + _drawn_as(self._sides.objects, same),
        )

    @property
    def _listed(self) -> list[Branch]:
        """The branches that have a row."""
        hides = self.position is not None and self.position.hides_branches
        return [branch for branch in self._branches if branch.current or not hides]

    def _branch_row(self, cursor: Cursor, branch: Branch) -> BranchRow:
        totals = self._totals
        # What the entries of the shown branch used was counted with their rows.
        if not branch.current:
            journal = cursor.context.journal
            shared = shared_with_older(journal, branch.head)
            totals = self._reader.read(journal.path(branch.head), shared)[1]
        side = self.branch_views.get(branch.head)
        return branch_row(cursor, branch, self._listed, side, totals)

    def _with_shown_branch(self, rows: Rows, cursor: Cursor) -> Rows:
        """Add the row of the shown branch: its id is the head, which moves."""
        before = next(branch for branch in self._branches if branch.current)
        others = [branch for branch in self._branches if branch is not before]
        now = replace(before, head=cursor.head)
        if before.place:
            names = [branch.name for branch in others]
            name = unnamed_branch_name(cursor.context.journal, cursor.head, names)
            now = replace(now, name=name)
        self._branches = (*others, now)
        gone = () if now.head == before.head else (Drop("branches", before.head),)
        new = (self._branch_row(cursor, now),)
        return replace(rows, branches=new, drop=(*rows.drop, *gone))

    def _with_session(
        self, cursor: Cursor, rows: Rows, session: SessionRow, extensions: tuple[ExtensionRow, ...]
    ) -> Rows:
        """Add the row of the session itself and those of tools; return what the panel has not."""
        row = replace(session, turn=cursor.state.turns, **used(self._totals))
        offered = [*session.yours.tools] if session.yours is not None else []
        offered += [name for extension in extensions for name in extension.offered_tools()]
        called = {call.tool for call in rows.calls if not call.branch}
        names = dict.fromkeys(called - self._store.tables["tools"].keys(), False)
        names |= dict.fromkeys(offered, True)
        tools = (tool_row(cursor, name, is_offered) for name, is_offered in names.items())
        rows = replace(rows, session=(row,), extensions=extensions, tools=(*filter(None, tools),))
        return self._store.put(rows)

    def with_graph(self, rows: Rows, continues: bool = False) -> Rows:
        """Add the drawing of the rows as they were computed last.

        While the session continues there is none soon after another: `graph_is_late` then.
        """
        self.graph_is_late = continues and time.monotonic() < self._drawn + DRAWING
        if self.graph_is_late or self.position is None:
            return rows
        graph = graph_row(self._store.rows(), self.window.until, self.window.selected)
        self._drawn = time.monotonic()
        return replace(rows, graph=(graph,))


def _drawn_as(rows: Iterable[Drawable], same: Mapping[str, str]) -> tuple[Drawable, ...]:
    """Return rows with the ids of those that they are drawn as."""
    return tuple(replace(row, same=same.get(row.id, "")) for row in rows)


def saved_rows(
    cursor: Cursor, session: SessionRow, extensions: tuple[ExtensionRow, ...], known: Known
) -> Rows:
    """Return all rows of a session as a notebook keeps them, with how branches and values differ.

    `known` are earlier results of comparisons.
    """
    view = ViewRows()
    rows = with_comparison(view.whole(cursor, session, extensions), view.branch_views, known)
    return with_changes(rows, view.branch_views[""])


def all_rows(cursor: Cursor, name: str) -> Rows:
    """Return all rows of a session that nothing runs."""
    phase, status = replying.idle_phase(cursor)
    row = SessionRow(
        name=name,
        phase=phase,
        says=status,
        ending=ending(cursor.state) if phase == "finished" else (),
        text=cursor.state.said,
        yours=replying.person_turn(cursor),
    )
    extensions = filter(None, (hook.view_row(cursor) for hook in cursor.context.hooks))
    return saved_rows(cursor, row, tuple(extensions), {})


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
                for drop in rows.drop:
                    self._sent.pop((drop.table, drop.id), None)
                tables = changed_fields(rows)
                for name in CHANGING:
                    if changes := self._changes(name, tables.pop(name, ())):
                        tables[name] = changes
                return sendable_data({**changed_fields(notice), "rows": tables})
        return sendable_data(notice)

    def _changes(self, table: str, rows: Iterable[Changing]) -> list[dict[str, Any]]:
        """Return the fields of rows that were not sent; of those that were, what changed."""
        changes = []
        for row in {row.id: row for row in rows}.values():
            before, self._sent[table, row.id] = self._sent.get((table, row.id)), row
            old, new = {} if before is None else changed_fields(before), changed_fields(row)
            defaults = field_defaults(type(row)) if old.keys() - new.keys() else ()
            new = {name: wire_value(item) for name, item in defaults if name in old} | new
            # Equal in Python, unlike in JSON, are 1 and true.
            changed = {
                name: item
                for name, item in new.items()
                if name == "id" or repr(item) != repr(old.get(name))
            }
            changes += [changed] if len(changed) > 1 else []
        return changes
