"""From a session to what a panel is sent: rows of its branches, updates, JSON.

One `ViewRows` and one `UpdateEncoder` go with one panel. A step costs what it changed, however
long the session is; only another branch, or a panel that connects, needs all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..compare.branch_totals import BranchReader, BranchTotals
from ..compare.differences import Difference
from ..core.branches import branches, can_continue, shared_with_older, unnamed_branch_name
from ..core.call_record import CallRecord
from ..core.interface_text import on_wire
from ..core.journal_entries import Entry, Label
from ..core.json_data import changed_fields, field_defaults, sendable_data
from ..core.recorded_calls import CallEnd
from ..core.state import State, kind_in
from ..engine import person_model as replying
from ..engine.cursor import Cursor
from ..engine.hooks import ExtensionRow
from ..engine.outdated import outdated_reasons
from .branch_rows import branch_rows, side_branches, touched_calls, with_totals
from .call_object_rows import (
    BranchView,
    call_key,
    call_row,
    call_view,
    ending,
    next_names,
    object_key,
    object_row,
    output_rows,
    pending_row,
    tool_row,
)
from .comparison_rows import with_changes, with_comparison
from .contract import Delta, Drop, Notice, Rows, Whole
from .contract_rows import BranchRow, CallRow, ObjectRow, SessionRow, ToolRow
from .graph_layout import Layout
from .message_rows import conversation_rows
from .same_rows import same_rows

WITHOUT_RESULT = ("failed", "rejected", "interrupted")
"""How calls end that make nothing; such a call has a place of its own in the graph."""
FAR = 4_096
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
    """The names of the tools that have rows."""
    _offered: dict[str, ToolRow] = field(default_factory=dict)
    """The rows of the tools that the person may choose from."""
    _outputs: tuple[str, ...] = ()
    """The ids of the rows of outputs that are not saved yet."""
    _pending: set[str] = field(default_factory=set)
    """The ids of the rows of objects that calls which wait will make."""
    _saved: dict[str, None] = field(default_factory=dict)
    """The names of the objects that are saved as outputs."""
    _reader: BranchReader | None = None
    _totals: BranchTotals = field(default_factory=BranchTotals)
    """What the shown branch used in tokens, time and money."""
    _ends: dict[str, CallEnd] = field(default_factory=dict)
    """The ends of the calls of the last reply, of the branch that is shown."""
    _ends_of: str = ""
    """The first call of that reply."""
    _entries: int = 0
    """How many entries the journal had."""
    _has_children: bool = False
    """Whether the journal went on from the head."""
    _beside_place: tuple[str, ...] | None = None
    """The names of the other branches, while the shown one is a place on the way of one."""
    _others_hidden: bool = False
    """Whether a hook hides the other branches."""
    _labels: dict[str, Label] = field(default_factory=dict)
    """The names of the branches."""
    _branch_of: dict[str, str] = field(default_factory=dict)
    """Which branch made an object, by the ids of their rows; "" is the shown one."""
    _known: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """How values differ, by the digests of both."""

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
        journal, state = cursor.context.journal, cursor.state
        self.layout, self._tools, self._offered = layout or Layout(), set(), {}
        self._pending, self._outputs, self._saved = set(), (), {}
        self._totals, self._branch_of = BranchTotals(), {}
        self._others_hidden = _hides_branches(cursor)
        shown = BranchView(cursor, state, outdated=outdated_reasons(cursor.context, state))
        path, shared = journal.path(cursor.head), shared_with_older(journal, cursor.head)
        rows, _ = self._entry_rows(shown, path, touched_calls(state, path), shared)
        known = branches(journal, cursor.head)
        self._beside_place = None
        if any(each.place for each in known):
            self._beside_place = tuple(each.name for each in known if not each.place)
        known = tuple(each for each in known if each.current or not self._others_hidden)
        sides = side_branches(cursor, known, self.wanted, path)
        calls, side_objects, self.branch_views = [*rows.calls], list[ObjectRow](), {"": shown}
        self.branch_views |= {side.branch.head: side.branch_view for side in sides}
        same = same_rows(self.branch_views, self._known)
        assert self._reader is not None
        for side in sides:
            view = replace(side.branch_view, same=same)
            self.branch_views[side.branch.head] = view
            calls += self._call_rows(view, side.calls, self._reader.read(side.entries)[0])[0]
            made = [view.state.name_of(each) for call in side.calls for each in call.produced]
            side_objects += [object_row(view, name, self.layout) for name in made]
        # An object's row has its place once all calls, of all branches, have theirs.
        objects = [object_row(shown, name, self.layout) for name in state.names]
        # What the entries of the shown branch used was counted with their rows.
        self.branches = branch_rows(cursor, known, sides, self._reader, self._totals)
        objects += [*rows.objects, *side_objects]
        rows = replace(rows, calls=tuple(calls), objects=tuple(objects), branches=self.branches)
        return self._with_session(cursor, state, rows, session, extensions)

    def changes(
        self, cursor: Cursor, session: SessionRow, extensions: tuple[ExtensionRow, ...] = ()
    ) -> Rows | None:
        """Return the rows that changed since the last ones; None where all have to be sent."""
        path = self._entries_since(cursor)
        if path is None:
            return None
        state, before = cursor.state, self.branch_views[""].outdated
        continues_at_once = session.phase in ("thinking", "running")
        # What the calls of a long reply would do is computed at a pause, not before each of them.
        calls = touched_calls(state, path, 1 if continues_at_once else None)
        outdated = outdated_reasons(cursor.context, state, calls, before)
        shown = self.branch_views[""] = BranchView(cursor, state, outdated=outdated)
        rows, names = self._entry_rows(shown, path, calls, frozenset())
        objects = [object_row(shown, name, self.layout) for name in names]
        rows = replace(rows, objects=(*objects, *rows.objects))
        if not continues_at_once:
            rows = self._with_shown_branch(self._with_same(rows), cursor, state)
        return self._with_session(cursor, state, rows, session, extensions)

    def _with_same(self, rows: Rows) -> Rows:
        """Add the rows of other branches that are now drawn as rows of the shown one, or no
        longer."""
        sides = {head: view for head, view in self.branch_views.items() if head}
        if not sides:
            return rows
        now, before = same_rows(self.branch_views, self._known), next(iter(sides.values())).same
        if now == before:
            return rows
        changed = {key for key, _ in now.calls.items() ^ before.calls.items()}
        calls, objects = list[CallRow](), list[ObjectRow]()
        assert self._reader is not None
        for head, side in sides.items():
            view = self.branch_views[head] = replace(side, same=now)
            some = [each for each in view.state.all_calls() if call_key(each, view) in changed]
            if some:
                ends = self._reader.read(view.cursor.context.journal.path(head))[0]
                calls += self._call_rows(view, some, ends)[0]
                made = [view.state.name_of(each) for call in some for each in call.produced]
                objects += [object_row(view, name, self.layout) for name in made]
        return replace(rows, calls=(*rows.calls, *calls), objects=(*rows.objects, *objects))

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
        if self._others_hidden != _hides_branches(cursor) or self._labels != journal.labels:
            return None
        path = journal.path(cursor.head, after=self.head)
        ids = {entry.id for entry in path}
        if any(entry.id not in ids for entry in journal.since(self._entries)):
            return None
        heads = {row.id for row in self.branches if not row.current}
        heads |= set() if self._has_children else {self.head}
        at_end = not self._has_children or bool(journal.children(cursor.head)) or not path
        return path if at_end and can_continue(journal, self.head, path, heads) else None

    def _with_shown_branch(self, rows: Rows, cursor: Cursor, state: State) -> Rows:
        """Add the row of the shown branch where it changed: its id is the head, which moves."""
        before = next(row for row in self.branches if row.current)
        now = with_totals(replace(before, id=cursor.head), state, self._totals)
        if (others := self._beside_place) is not None:
            now = replace(
                now, name=unnamed_branch_name(cursor.context.journal, cursor.head, others)
            )
        if now == before:
            return rows
        self.branches = tuple(now if row is before else row for row in self.branches)
        gone = () if now.id == before.id else (Drop("branches", before.id),)
        return replace(rows, branches=(now,), drop=(*rows.drop, *gone))

    def _with_session(
        self,
        cursor: Cursor,
        state: State,
        rows: Rows,
        session: SessionRow,
        extensions: tuple[ExtensionRow, ...],
    ) -> Rows:
        """Return rows with those of the session itself; from here on changes are counted."""
        journal, totals = cursor.context.journal, self._totals
        self.head, self._entries, self._labels = cursor.head, len(journal), dict(journal.labels)
        self._has_children = bool(journal.children(cursor.head))
        row = replace(
            session,
            turn=state.turns,
            tokens=totals.tokens,
            cost=str(totals.cost or ""),
            ran=totals.ran,
            remembered=totals.cached,
        )
        names = [*session.yours.tools] if session.yours is not None else []
        names += [name for extension in extensions for name in extension.offered_tools()]
        offered = filter(None, (tool_row(cursor, name, offered=True) for name in names))
        new = {each.id: each for each in offered if self._offered.get(each.id) != each}
        self._offered.update(new)
        self._tools.update(new)
        tools = (*rows.tools, *new.values())
        return replace(rows, session=(row,), extensions=extensions, tools=tools)

    # -- the rows of entries, and of the calls that they are about ------------------------------

    def _ends_in_last_reply(
        self, state: State, calls: Sequence[CallRecord], ends: dict[str, CallEnd]
    ) -> dict[str, CallEnd]:
        """Return the new ends, and the earlier ones of calls whose rows are sent again."""
        first = state.latest[0] if state.latest else ""
        if first != self._ends_of:
            self._ends, self._ends_of = {}, first
        self._ends.update(ends)
        again = [call.id for call in calls if call.id in self._ends and call.id not in state.open]
        return {**{call_id: self._ends[call_id] for call_id in again}, **ends}

    def _entry_rows(
        self,
        branch_view: BranchView,
        entries: Sequence[Entry],
        calls: Sequence[CallRecord],
        shared: frozenset[str],
    ) -> tuple[Rows, dict[str, None]]:
        """Return the rows of entries and their calls, without those of finished objects.

        With them come the names of the finished objects whose rows changed: the calls made or
        used them, or they are outputs now, or no longer.
        """
        cursor, outputs = branch_view.cursor, output_rows(branch_view.state)
        if self._reader is None or self._reader.journal is not cursor.context.journal:
            self._reader = BranchReader(cursor.context)
        ends, self._totals = self._reader.read(entries, shared, self._totals)
        if not branch_view.branch:
            # A call that ran beside others is shown again when these end.
            ends = self._ends_in_last_reply(branch_view.state, calls, ends)
        rows, pending, names = self._call_rows(branch_view, calls, ends)
        # The outputs of a foreign journal may hold anything.
        state, values = branch_view.state, branch_view.state.outputs.values()
        saved = dict.fromkeys(n for n in values if isinstance(n, str) and n in state.objects)
        if self._saved.keys() != saved.keys():
            names |= self._saved | saved
        self._saved = saved
        drop = self._dropped(pending, outputs, rows)
        new = dict.fromkeys(call.tool for call in calls if call.tool not in self._tools)
        self._tools.update(new)
        tools = filter(None, [tool_row(cursor, name) for name in new])
        messages, turns = conversation_rows(cursor, entries)
        objects = (*pending, *outputs)
        return Rows((), tuple(rows), objects, tuple(tools), messages, turns, drop=drop), names

    def _call_rows(
        self, branch_view: BranchView, calls: Iterable[CallRecord], ends: Mapping[str, CallEnd]
    ) -> tuple[list[CallRow], list[ObjectRow], dict[str, None]]:
        """Return the rows of calls, and of the objects that those which wait will make.

        Each gets a place in the graph. With them come the names of the objects that the calls
        made, and of the inputs that they used.
        """
        rows, pending = list[CallRow](), list[ObjectRow]()
        names, inputs = dict[str, None](), dict[str, None]()
        by_producer, makes = branch_view.state.by_producer, next_names(branch_view)
        for call in calls:
            view = call_view(branch_view, call, ends.get(call.id), makes(call))
            row = call_row(branch_view, view, self.layout)
            made = [each.producer for each in call.produced]
            kinds = {object_key(p, branch_view): kind_in(by_producer[p]) for p in made}
            if not kinds and row.object and call.outcome is None:
                kinds = {row.object: view.ready.tool.returns if view.ready else ""}
            rows.append(self._placed(row, kinds, branch_view))
            if view.ready is not None and row.object:
                pending.append(pending_row(view, row, view.ready.tool.returns, self.layout))
            names |= dict.fromkeys(by_producer[producer] for producer in made)
            used = (by_producer.get(p) for p in view.uses.values() if p.input)
            inputs |= dict.fromkeys(filter(None, used))
        return rows, pending, names | inputs

    def _placed(self, row: CallRow, kinds: Mapping[str, str], branch_view: BranchView) -> CallRow:
        """Place the objects that a call made, or will make; one that failed is placed itself.

        `kinds` are the types of the objects by id. Of another branch, a call without a result is
        not drawn, and what is the same on the shown branch has its place there.
        """
        failed = row.status in WITHOUT_RESULT and not row.object
        if row.same or (failed and row.branch):
            return row
        drawn = branch_view.same.objects
        uses = [drawn.get(use.object, use.object) for use in row.uses]
        main = next((use.object for use in row.uses if use.receiver), "")
        main = drawn.get(main, main)
        leaves = row.branch != "" and self._branch_of.get(main) != row.branch
        inputs = {use.object for use in row.uses if use.input}
        toolbox = branch_view.cursor.context.toolbox
        for key, kind in {f"call:{row.id}": ""}.items() if failed else kinds.items():
            if key not in uses:
                # A figure, say, of which nothing more is made: the line continues beside it.
                ends = kind != "" and not toolbox.takes(kind)
                self.layout.place(key, uses, main, inputs, failed, leaves or ends)
                self._branch_of[key] = row.branch
        place = self.layout.places.get(f"call:{row.id}")
        return row if place is None else replace(row, column=place[0], lane=place[1])

    def _dropped(
        self, pending: Sequence[ObjectRow], outputs: Sequence[ObjectRow], rows: Sequence[CallRow]
    ) -> tuple[Drop, ...]:
        """Return the object rows that are no more: of calls that made nothing, and of outputs."""
        waiting = {row.id for row in pending}
        settled = [row.id for row in rows if row.id in self._pending and row.id not in waiting]
        made = {row.object for row in rows if row.id not in waiting}
        gone = [key for key in settled if key not in made]
        for key in gone:
            self.layout.remove(key)
        unsaved = tuple([row.id for row in outputs])
        gone += [key for key in self._outputs if key not in unsaved]
        self._pending.difference_update(settled)
        self._pending |= waiting
        self._outputs = unsaved
        return tuple([Drop("objects", key) for key in gone])


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
                if old is not new and (
                    old != new or (isinstance(new, Mapping) and repr(old) != repr(new))
                ):
                    changed[name] = on_wire(new)
            changes += [changed] if len(changed) > 1 else []
        return changes
