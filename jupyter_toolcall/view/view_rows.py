"""The rows that a view shows of a session: all of them, or those that changed.

One `ViewRows` goes with one panel. A step costs what it changed, however long the session is;
only another branch, or a panel that connects, needs all rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..compare.branch_totals import BranchReader, BranchTotals
from ..core.branches import branches, can_continue, shared_with_older
from ..core.call_record import CallRecord
from ..core.entries import Entry, Label
from ..core.events import Replied
from ..core.recorded_calls import CallEnd
from ..core.state import State
from ..engine import person_model as replying
from ..engine.cursor import Cursor
from ..engine.hooks import ExtensionRow
from ..engine.outdated import outdated_reasons
from .branch_rows import (
    SideBranch,
    branch_rows,
    shown_side_branches,
    side_branches,
    touched_by,
    with_totals,
)
from .call_rows import call_row, offered_row, tool_row, uses_in
from .comparison_rows import with_comparison
from .contract import Drop, Rows
from .contract_rows import BranchRow, CallRow, MessageRow, ObjectRow, SessionRow, ToolRow, TurnRow
from .graph_layout import Layout, place_failed_call, place_object, without_object
from .message_rows import entry_messages, turn_row
from .object_rows import BranchView, object_key, object_row, output_rows, pending_row, ready_call

WITHOUT_RESULT = ("failed", "rejected", "interrupted")
"""How calls end that make nothing; such a call has a place of its own in the graph."""
FAR = 64
"""After so many entries a position counts as another branch: all rows are sent."""


@dataclass
class ViewRows:
    """Computes the rows of a session for a panel, and remembers which ones the panel has."""

    head: str = ""
    """The entry at which rows were computed last."""
    layout: Layout = field(default_factory=Layout)
    """Where each row stands in the graph."""
    branch_views: dict[str, BranchView] = field(default_factory=dict)
    """The branches that have rows, by their heads; "" is the one that is shown."""
    wanted: frozenset[str] = frozenset()
    """Branches that have rows though others are newer."""
    branches: tuple[BranchRow, ...] = ()
    _tools: set[str] = field(default_factory=set)
    _offered: dict[str, ToolRow] = field(default_factory=dict)
    """The tools that the person may choose from, as last computed."""
    _outputs: tuple[str, ...] = ()
    """The ids of the rows of outputs that are not saved yet."""
    _pending: set[str] = field(default_factory=set)
    """The ids of the rows of objects that calls which wait will make."""
    _saved: tuple[str, ...] = ()
    """The names of the objects that are saved as outputs."""
    _counting: BranchReader | None = None
    _took: BranchTotals = field(default_factory=BranchTotals)
    """What the shown branch took in tokens, time and money."""
    _entries: int = 0
    """How many entries the journal had."""
    _ahead: bool = False
    """Whether the journal went on from the head."""
    _alone: bool = False
    """Whether the other branches were hidden."""
    _labels: dict[str, Label] = field(default_factory=dict)
    """The names of the branches."""

    # -- all rows, or what changed ----------------------------------------------------------

    def whole(
        self,
        cursor: Cursor,
        session: SessionRow,
        extensions: tuple[ExtensionRow, ...] = (),
        layout: Layout | None = None,
    ) -> Rows:
        """Return all rows of a session at a cursor.

        `session` and `extensions` are rows to send along; what has a place in `layout` keeps it.
        """
        self.layout, self._tools, self._offered = layout or Layout(), set(), {}
        self._pending, self._outputs, self._took = set(), (), BranchTotals()
        journal, state = cursor.context.journal, cursor.state
        path = journal.path(cursor.head)
        branch_view = BranchView(cursor, state, outdated=outdated_reasons(cursor.context, state))
        rows = self._rows_of(branch_view, path, shared_with_older(journal, cursor.head))
        known, alone = branches(journal, cursor.head), _hides_branches(cursor)
        known = tuple(each for each in known if each.current or not alone)
        beside = side_branches(cursor, shown_side_branches(cursor, known, self.wanted), path)
        # An object's row has its place once all calls, of all branches, have theirs.
        side_rows = [self._side_rows(each) for each in beside]
        objects = [object_row(branch_view, name, self.layout) for name in state.names]
        rows = replace(
            rows,
            calls=(*rows.calls, *(row for each in side_rows for row in each.calls)),
            objects=(*objects, *rows.objects, *(row for each in side_rows for row in each.objects)),
        )
        self.branch_views = {
            "": branch_view,
            **{each.branch.head: each.branch_view for each in beside},
        }
        # What the entries took was counted with their rows.
        assert self._counting is not None
        self.branches = branch_rows(cursor, known, beside, self._counting, self._took)
        rows = replace(rows, branches=self.branches)
        return self._finished(branch_view, rows, session, extensions, alone)

    def changes(
        self, cursor: Cursor, session: SessionRow, extensions: tuple[ExtensionRow, ...] = ()
    ) -> Rows | None:
        """Return the rows that changed since the last ones; None where all have to be sent."""
        path = self._entries_since(cursor)
        if path is None:
            return None
        state, before = (
            cursor.state,
            self.branch_views[""].outdated if "" in self.branch_views else None,
        )
        touched = [state.calls[call_id] for call_id in touched_by(state, path, 1)]
        known = outdated_reasons(
            cursor.context, state, touched if before is not None else None, before
        )
        self.branch_views[""] = branch_view = BranchView(cursor, state, outdated=known)
        goes_on_at_once = session.phase in ("thinking", "running")
        # What the calls of a long reply would do is computed at a pause, not before each of them.
        rows = self._rows_of(branch_view, path, frozenset(), 1 if goes_on_at_once else None)
        names = self._changed_objects(branch_view, rows.calls)
        objects = [object_row(branch_view, name, self.layout) for name in names]
        rows = replace(rows, objects=(*objects, *rows.objects))
        if not goes_on_at_once:
            rows = self._with_shown_branch(rows, branch_view)
        return self._finished(branch_view, rows, session, extensions, self._alone)

    def labels_changed(self, cursor: Cursor) -> bool:
        """Return whether a branch was named or hidden since rows were computed last."""
        return bool(self.head) and self._labels != cursor.context.journal.labels

    def _finished(
        self,
        branch_view: BranchView,
        rows: Rows,
        session: SessionRow,
        extensions: tuple[ExtensionRow, ...],
        alone: bool,
    ) -> Rows:
        """Return rows with those of the session itself; from here on changes are counted."""
        cursor, state, took = branch_view.cursor, branch_view.state, self._took
        journal = cursor.context.journal
        self.head, self._entries = cursor.head, len(journal)
        self._ahead = bool(journal.children(cursor.head))
        self._alone, self._labels = alone, dict(journal.labels)
        self._saved = saved_names(state)
        row = replace(
            session,
            turn=state.turns,
            tokens=took.tokens,
            cost=str(took.cost or ""),
            ran=took.ran,
            remembered=took.cached,
        )
        rows = replace(rows, session=(row,), extensions=extensions)
        names = list(session.yours.tools if session.yours is not None else ())
        for extension in extensions:
            names += extension.offered_tools()
        return self._with_offered(rows, cursor, names) if names else rows

    def _entries_since(self, cursor: Cursor) -> tuple[Entry, ...] | None:
        """Return the entries since the last rows; None where another branch has changed."""
        journal = cursor.context.journal
        if self.head not in journal or not _follows(cursor, self.head):
            return None
        if self._alone != _hides_branches(cursor) or self._labels != journal.labels:
            return None
        path = journal.path(cursor.head, after=self.head)
        ids = {entry.id for entry in path}
        if any(entry.id not in ids for entry in journal.since(self._entries)):
            return None
        heads = {row.id for row in self.branches if not row.current}
        heads |= set() if self._ahead else {self.head}
        at_end = not self._ahead or bool(journal.children(cursor.head)) or not path
        return path if at_end and can_continue(journal, self.head, path, heads) else None

    def _with_shown_branch(self, rows: Rows, branch_view: BranchView) -> Rows:
        """Add the row of the shown branch where it changed: its id is the head, which moves."""
        before = next(row for row in self.branches if row.current)
        now = with_totals(
            replace(before, id=branch_view.cursor.head), branch_view.state, self._took
        )
        if now == before:
            return rows
        self.branches = tuple(now if row is before else row for row in self.branches)
        gone = () if now.id == before.id else (Drop("branches", before.id),)
        return replace(rows, branches=(now,), drop=(*rows.drop, *gone))

    # -- the rows of entries ------------------------------------------------------------------

    def _rows_of(
        self,
        branch_view: BranchView,
        path: Iterable[Entry],
        shared: frozenset[str],
        most: int | None = None,
    ) -> Rows:
        """Return the rows of what entries are about, without those of finished objects.

        Of the other open calls only the first `most` have rows; None for all.
        """
        entries, state = list(path), branch_view.state
        ends = self._ends_of(branch_view, entries, shared)
        calls = [state.calls[call_id] for call_id in touched_by(state, entries, most)]
        rows = tuple([self._call_row(branch_view, call, ends.get(call.id)) for call in calls])
        pending, outputs = self._pending_rows(branch_view, rows), output_rows(state)
        drop = self._dropped(pending, outputs, rows)
        self._outputs = tuple([row.id for row in outputs])
        new = dict.fromkeys(call.tool for call in calls if call.tool not in self._tools)
        self._tools.update(new)
        messages: list[MessageRow] = []
        turns: list[TurnRow] = []
        for entry in entries:
            messages += entry_messages(branch_view.cursor, entry)
            if isinstance(entry.event, Replied):
                turns.append(turn_row(branch_view.cursor, entry, entry.event))
        return Rows(
            calls=rows,
            objects=(*pending, *outputs),
            tools=tuple(filter(None, [tool_row(branch_view.cursor, name) for name in new])),
            messages=tuple(messages),
            turns=tuple(turns),
            drop=drop,
        )

    def _side_rows(self, side_branch: SideBranch) -> Rows:
        """Return the rows of a side branch's own calls and objects."""
        branch_view = side_branch.branch_view
        ends = self._ends_of(branch_view, [*side_branch.entries], frozenset())
        calls = [branch_view.state.calls[call_id] for call_id in side_branch.touched]
        rows = tuple([self._call_row(branch_view, call, ends.get(call.id)) for call in calls])
        names = [branch_view.state.name_of(made) for call in calls for made in call.produced]
        objects = tuple([object_row(branch_view, name, self.layout) for name in names])
        return Rows(calls=rows, objects=objects)

    def _call_row(self, branch_view: BranchView, call: CallRecord, end: CallEnd | None) -> CallRow:
        """Return the row of a call, with a place in the graph for what it made, or makes."""
        row = call_row(branch_view, call, self.layout, end)
        main = next((use.object for use in row.uses if use.receiver), "")
        uses = [use.object for use in row.uses]
        inputs = {use.object for use in row.uses if use.input}
        if row.status in WITHOUT_RESULT and not row.object:
            self.layout = place_failed_call(self.layout, f"call:{row.id}", uses, main, inputs)
        else:
            made = [object_key(made.producer, branch_view) for made in call.produced]
            pending = [row.object] if row.object and call.outcome is None else []
            for key in made or pending:
                if key not in uses:
                    self.layout = place_object(self.layout, key, uses, main, inputs)
        spot = self.layout.places.get(f"call:{row.id}")
        return row if spot is None else replace(row, column=spot[0], lane=spot[1])

    def _changed_objects(
        self, branch_view: BranchView, rows: tuple[CallRow, ...]
    ) -> tuple[str, ...]:
        """Return the objects that calls made, or used for the first time, or that were saved."""
        state = branch_view.state
        calls = [state.calls[row.call] for row in rows]
        made = [state.name_of(made) for call in calls for made in call.produced]
        uses = [uses_in(branch_view, call, state) for call in calls]
        used = [state.by_producer.get(p) for each in uses for p in each.values() if p.input]
        before, now = self._saved, saved_names(state)
        saved = (*before, *now) if set(before) != set(now) else ()
        return tuple(dict.fromkeys(name for name in (*made, *used, *saved) if name is not None))

    def _pending_rows(
        self, branch_view: BranchView, rows: tuple[CallRow, ...]
    ) -> tuple[ObjectRow, ...]:
        """Return the rows of the objects that open calls will make."""
        made = [branch_view.state.calls[row.call] for row in rows if row.object == row.id]
        calls = [(call, ready_call(branch_view, call)) for call in made if call.outcome is None]
        return tuple(
            [pending_row(branch_view, call, ready, self.layout) for call, ready in calls if ready]
        )

    def _dropped(
        self,
        pending: tuple[ObjectRow, ...],
        outputs: tuple[ObjectRow, ...],
        rows: tuple[CallRow, ...],
    ) -> tuple[Drop, ...]:
        """Return the object rows that are no more: of calls that made nothing, and of outputs."""
        now = {row.id for row in pending}
        settled = [row for row in rows if row.id in self._pending and row.id not in now]
        made = {row.object for row in rows if row.id not in now}
        gone = [row.id for row in settled if row.id not in made]
        for key in gone:
            self.layout = without_object(self.layout, key)
        open_outputs = {row.id for row in outputs}
        gone += [key for key in self._outputs if key not in open_outputs]
        self._pending.difference_update(row.id for row in settled)
        self._pending |= now
        return tuple([Drop("objects", key) for key in gone])

    def _with_offered(self, rows: Rows, cursor: Cursor, names: list[str]) -> Rows:
        """Add the rows of tools that the person may choose from, where they are new."""
        offered = filter(None, (offered_row(cursor, name) for name in names))
        new = {row.id: row for row in offered if self._offered.get(row.id) != row}
        self._offered.update(new)
        self._tools.update(new)
        return replace(rows, tools=(*rows.tools, *new.values())) if new else rows

    # -- what it took ---------------------------------------------------------------------------

    def _ends_of(
        self, branch_view: BranchView, entries: list[Entry], shared: frozenset[str]
    ) -> dict[str, CallEnd]:
        """Return how the calls of entries ended, by id; what they took is added up."""
        reader = self._counting
        if reader is None or reader.journal is not branch_view.cursor.context.journal:
            reader = self._counting = BranchReader(branch_view.cursor.context)
        ends, totals = reader.read(entries, shared)
        if not branch_view.branch:
            self._took += totals
        return ends


def all_rows(cursor: Cursor, name: str) -> Rows:
    """Return all rows of a session that nothing runs."""
    phase, says = replying.idle_phase(cursor)
    yours = replying.person_turn(cursor)
    row = SessionRow(name=name, phase=phase, says=says, text=cursor.state.said, yours=yours)
    extensions = filter(None, (hook.view_row(cursor) for hook in cursor.context.hooks))
    view = ViewRows()
    return with_comparison(view.whole(cursor, row, tuple(extensions)), view.branch_views, {})


def saved_names(state: State) -> tuple[str, ...]:
    """Return the names of the objects that are outputs; a foreign journal may hold anything."""
    names = (name for name in state.outputs.values() if isinstance(name, str))
    return tuple(name for name in names if name in state.objects)


def _hides_branches(cursor: Cursor) -> bool:
    """Return whether a hook hides the other branches."""
    return any(hook.hides_branches() for hook in cursor.context.hooks)


def _follows(cursor: Cursor, head: str) -> bool:
    """Return whether the cursor is after a head that is not far back."""
    here: str | None = cursor.head
    for _ in range(FAR):
        if here == head:
            return True
        here = cursor.context.journal[here].parent if here else None
    return False
