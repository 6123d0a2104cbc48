"""From a session to what a panel is sent: rows of its branches, updates, JSON.

One `ViewRows` goes with one panel. A step costs what it changed, however
long the session is; only another branch, or a panel that connects, needs all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..compare.branch_totals import branch_totals
from ..compare.comparison_rows import same_rows
from ..core.branches import Branch, ancestor_name, branches, is_prompt, shared_with_older
from ..core.call_record import CallRecord
from ..core.events import Opened
from ..core.journal_entries import Entry, Label
from ..core.recorded_calls import CallEnd, CallIndex
from ..core.recorded_data import replace
from ..core.state import State
from ..engine import person_model as replying
from ..engine.cursor import Cursor, ExtensionRow
from ..engine.outdated import outdated_reasons
from .branch_rows import branch_row, entries_ahead, side_branches, touched_calls, used
from .call_rows import call_rows
from .comparison_rows import with_differences
from .contract import Drop, Rows
from .contract_rows import BranchRow, CallRow, SessionRow
from .graph import graph_row
from .message_rows import conversation_rows
from .object_rows import BranchView, ending, object_row, output_rows, tool_row


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


class Window(NamedTuple):
    """Which calls are drawn."""

    until: int = 0
    """The number of the last one; 0 is the newest."""
    selected: str = ""
    """The id of the row of an object or a call whose ancestors are drawn too."""
    page: int = 0
    """Pixels of the width of rows; 0 for a usual width."""
    compact: bool = False
    """Whether objects are drawn by their names alone."""


STORED = ("calls", "objects", "tools", "branches", "comparisons", "differences", "extensions")
"""The tables of which a panel gets only what it has not."""


@dataclass
class RowStore:
    """The rows that a panel has of a session, by table and id."""

    tables: dict[str, dict[str, Any]] = field(default_factory=lambda: {name: {} for name in STORED})

    def put(self, rows: Rows) -> Rows:
        """Keep rows; return them without those that are kept already."""
        for drop in rows.drop:
            self.tables[drop.table].pop(drop.id, None)
        new: dict[str, Any] = {}
        for name, table in self.tables.items():
            changed = {row.id: row for row in getattr(rows, name) if table.get(row.id) != row}
            table.update(changed)
            new[name] = (*changed.values(),)
        return replace(rows, **new)

    def with_comparisons(self, rows: Rows, shown: Rows) -> Rows:
        """Add to rows what the panel has not of the comparisons that are shown now."""
        gone = self.tables["comparisons"].keys() - {row.id for row in shown.comparisons}
        drop = tuple(Drop("comparisons", key) for key in sorted(gone))
        new = self.put(replace(shown, drop=drop))
        drop += rows.drop
        return replace(rows, comparisons=new.comparisons, differences=new.differences, drop=drop)

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
    window: Window = field(default_factory=Window)
    """Which calls a person asked to see in the graph."""
    _branches: tuple[Branch, ...] = ()
    """The branches that have a row, as they were when all rows were computed."""
    _draws_ahead: bool = False
    """Whether branches that go on from the head have rows."""
    _sides: list[Rows] = field(default_factory=list)
    """The rows of calls and objects of the other branches, in the order of `branch_views`."""
    _ends: dict[str, CallEnd] = field(default_factory=dict)
    """How the calls of the shown branch ended, by id."""
    store: RowStore = field(default_factory=RowStore)
    """What the panel has."""

    # -- all rows, or what changed ----------------------------------------------------------

    def whole(
        self, cursor: Cursor, session: SessionRow, extensions: tuple[ExtensionRow, ...] = ()
    ) -> Rows:
        """Return all rows of a session at a cursor, with those of itself and of extensions."""
        context, state, self.position = cursor.context, cursor.state, None
        journal, path = context.journal, context.journal.path(cursor.head)
        hides, self.store = position(cursor).hides_branches, RowStore()
        self._branches = tuple(b for b in branches(journal, cursor.head) if b.current or not hides)
        shared = shared_with_older(journal, cursor.head)
        self._ends = CallIndex.of(journal).ends(path, shared)
        shown = BranchView(cursor, state, outdated=outdated_reasons(context, state))
        # A replay that runs repeats what lies ahead of it: to send its rows at each step is slow.
        self._draws_ahead = not _continues_at_once(session) and bool(entries_ahead(cursor))
        sides = side_branches(cursor, self._branches, self.wanted, path, self._draws_ahead)
        self.branch_views = {"": shown, **sides}
        self._sides = [self._side_rows(view) for view in self.branch_views.values() if view.branch]
        inputs = [name for name in state.names if not state.objects[name].producer.call]
        branch_rows = tuple(map(self._branch_row, self._branches))
        rows = Rows((session,), branches=branch_rows, extensions=extensions)
        return self._new_rows(rows, path, touched_calls(state, path), inputs)

    def changes(
        self, cursor: Cursor, session: SessionRow, extensions: tuple[ExtensionRow, ...] = ()
    ) -> Rows | None:
        """Return the rows that changed since the last ones; None where all have to be sent."""
        path, continues_at_once = self._entries_since(cursor), _continues_at_once(session)
        is_ahead = not continues_at_once and bool(entries_ahead(cursor))
        if path is None or (is_ahead and not self._draws_ahead):
            return None
        state, before = cursor.state, self.branch_views[""]
        # What the calls of a long reply would do is computed at a pause, not before each of them.
        running = (*cursor.running, *cursor.early_ends)
        calls = touched_calls(state, path, 1 if continues_at_once else None, running)
        outdated = outdated_reasons(cursor.context, state, calls, before.outdated)
        self.branch_views[""] = BranchView(cursor, state, outdated=outdated)
        # Objects that are outputs now, or no longer. Those of a foreign journal may be anything.
        saved = (*before.state.outputs.values(), *state.outputs.values())
        names = [str(name) for name in saved if str(name) in state.objects]
        self._ends |= CallIndex.of(cursor.context.journal).ends(path)
        rows = Rows((session,), extensions=extensions)
        if not continues_at_once:
            # Its id is the head, which moves.
            rows_there = self.store.tables["branches"].values()
            gone = [row for row in rows_there if row.current and row.id != cursor.head]
            drop = tuple(Drop("branches", row.id) for row in gone)
            rows = replace(rows, branches=(self._branch_row(self._shown_branch()),), drop=drop)
        return self._new_rows(rows, path, calls, names)

    def _entries_since(self, cursor: Cursor) -> tuple[Entry, ...] | None:
        """Return the entries since the last rows; None where another branch has changed."""
        journal, last = cursor.context.journal, self.position
        if last is None or last[2:] != position(cursor)[2:]:
            return None
        path = journal.path(cursor.head, after=last.head)
        heads = {branch.head for branch in self._branches}
        new = {entry.id for entry in journal.entries_after(last.entries)}
        # A recorded branch on whose way the session is ends at its head, or before a later prompt.
        changes_branches = (
            isinstance(entry.event, Opened)
            or len(journal.children(entry.parent)) > 1
            or entry.id in heads
            or (self._draws_ahead and entry.id not in new)
            or (is_prompt(entry) and entry.id not in new)
            for entry in path
        )
        is_after = not path or path[0].parent == last.head
        is_all = new <= {entry.id for entry in path}
        return path if is_after and is_all and not any(changes_branches) else None

    def _new_rows(
        self, rows: Rows, entries: Sequence[Entry], calls: Sequence[CallRecord], names: list[str]
    ) -> Rows:
        """Return what the panel has not of some rows, and of those of entries of the shown branch,
        of their calls, of objects and of tools."""
        view, stored, session = self.branch_views[""], self.store.tables, rows.session[0]
        new = call_rows(view, calls, self._ends)
        objects = (*(object_row(view, n) for n in names), *new.objects, *output_rows(view.state))
        # An output that is saved now, or what a call would have made, is no more.
        gone = {f"output:{name}" for name in view.state.opened.outputs}
        gone = (gone | {row.id for row in new.calls}) - {row.id for row in objects}
        drop = tuple(Drop("objects", key) for key in sorted(gone & stored["objects"].keys()))
        offered = [*session.yours.tools] if session.yours is not None else []
        offered += [name for extension in rows.extensions for name in extension.offered_tools()]
        box = view.cursor.context.toolbox
        # The server of a tool may have changed it since its row was sent.
        kept = {name for name in stored["tools"] if name not in box or not box[name].server}
        called = [*(c.tool for c in calls), *(row.suggested_tool or row.tool for row in new.calls)]
        tools = {n: False for n in called if n not in kept} | dict.fromkeys(offered, True)
        messages, turns = conversation_rows(view.cursor, entries)
        totals = branch_totals(view.cursor, view.cursor.head)
        session = replace(session, turn=view.state.turns, by_rules=totals.by_rules, **used(totals))
        session = replace(session, offered=len(box) + len(view.cursor.offer.own))
        rows = replace(
            rows,
            session=(session,),
            calls=new.calls,
            objects=objects,
            tools=tuple(filter(None, (tool_row(view.cursor, *item) for item in tools.items()))),
            messages=messages,
            turns=turns,
            drop=rows.drop + drop,
        )
        self.position = position(view.cursor)
        return self.store.put(self._with_sides(rows) if rows.branches else rows)

    def _side_rows(self, view: BranchView) -> Rows:
        ends = CallIndex.of(view.cursor.context.journal).ends(view.entries)
        rows = call_rows(view, touched_calls(view.state, view.entries), ends)
        # An input is one row on all branches.
        shown = self.branch_views[""].objects_by_row()
        return replace(rows, objects=tuple(row for row in rows.objects if row.id not in shown))

    def _with_sides(self, rows: Rows) -> Rows:
        """Add the rows of other branches, each with the row that it is drawn as now."""
        same = same_rows([*self.branch_views.values()]) if self._sides else {}
        # A call that a replay repeats next stands once, with what comes after it.
        repeated = self._repeated_rows(rows.calls)
        same = {row: repeated.get(drawn, drawn) for row, drawn in same.items()} | repeated
        calls, objects = [*rows.calls], [*rows.objects]
        for side in self._sides:
            calls += [replace(row, same=same.get(row.id, "")) for row in side.calls]
            objects += [replace(row, same=same.get(row.id, "")) for row in side.objects]
        return replace(rows, calls=(*calls,), objects=(*objects,))

    def _repeated_rows(self, calls: Sequence[CallRow]) -> dict[str, str]:
        """Return the rows of calls of other branches that the shown branch comes to next, by id,
        and the row of the same call on the shown branch: it would run exactly the same."""
        coming = {row.call: row for row in calls if row.call in self.branch_views[""].state.open}
        return {
            row.id: repeats.id
            for side in self._sides
            for row in side.calls
            if (repeats := coming.get(row.call)) is not None and _is_same_run(row, repeats)
        }

    def _branch_row(self, branch: Branch) -> BranchRow:
        cursor = self.branch_views[""].cursor
        side, totals = self.branch_views.get(branch.head), branch_totals(cursor, branch.head)
        return branch_row(cursor, branch, self._branches, side, totals)

    def _shown_branch(self) -> Branch:
        """Return the branch that is shown, as far as it has come."""
        cursor = self.branch_views[""].cursor
        branch = next(branch for branch in self._branches if branch.current)
        if branch.is_ancestor:
            names = [other.name for other in self._branches if other is not branch]
            branch = replace(branch, name=ancestor_name(cursor.context.journal, cursor.head, names))
        return replace(branch, head=cursor.head)

    def with_graph(self, rows: Rows) -> Rows:
        """Add the drawing of all rows to those that changed, if it is another one than before."""
        if not (rows.calls or rows.objects or rows.branches or rows.drop):
            return rows
        return replace(rows, graph=(graph_row(self.store.rows(), *self.window),))

    def draw(self, window: Window) -> Rows:
        """Return the drawing of the calls that a person asked to see; it stays so from now on."""
        self.window = window
        return Rows(graph=(graph_row(self.store.rows(), *window),))


def _is_same_run(row: CallRow, waiting: CallRow) -> bool:
    """Return whether a call of another branch is what a call that waits would be."""
    is_same = row.approval_digest == waiting.approval_digest != ""
    match row.status:
        case "succeeded":
            return is_same and (row.object == row.id) == (waiting.object == waiting.id)
        case "failed":
            return is_same
        case "rejected":
            return row.arguments == waiting.arguments
    return False


def _continues_at_once(session: SessionRow) -> bool:
    return session.phase in ("thinking", "running")


def saved_rows(cursor: Cursor, session: SessionRow, extensions: tuple[ExtensionRow, ...]) -> Rows:
    """Return all rows of a session as a notebook keeps them, with its comparisons."""
    view = ViewRows()
    rows = view.whole(cursor, session, extensions)
    # Two equal runs are saved alike, so that a notebook under version control does not change:
    # nobody decides on a saved call that has run, and durations are whole seconds.
    timed = {"calls": rows.calls, "turns": rows.turns, "branches": rows.branches}
    saved = {name: tuple(_saved(row, cursor.state) for row in timed[name]) for name in timed}
    return with_differences(replace(rows, **saved), view.branch_views)


def _saved(row: Any, state: State) -> object:
    has_ended = isinstance(row, CallRow) and row.call not in state.open
    return replace(row, ms=round(row.ms, -3), **({"approval_digest": ""} if has_ended else {}))


def all_rows(cursor: Cursor, name: str) -> Rows:
    """Return all rows of a session that nothing runs."""
    phase, status = replying.idle_phase(cursor)
    row = SessionRow(
        name=name,
        phase=phase,
        says=status,
        ending=ending(cursor.state) if phase == "finished" else (),
        text=cursor.state.reply_text,
        yours=replying.person_turn(cursor),
    )
    extensions = filter(None, (hook.view_row(cursor) for hook in cursor.context.hooks))
    return saved_rows(cursor, row, tuple(extensions))
