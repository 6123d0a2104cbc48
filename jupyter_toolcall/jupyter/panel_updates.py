"""What the panels of a session are sent: its status, what changed, and what a person looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path

from ..compare.comparison_rows import CURRENT
from ..core.errors import UsageError
from ..core.events import Replied
from ..core.interface_text import joined, t
from ..core.recorded_data import replace
from ..core.state_fold import state_at
from ..engine.cursor import ExtensionRow
from ..engine.decisions import waiting_calls
from ..engine.exchanges import request_json
from ..engine.person_model import Phase, Written, person_turn
from ..previews.rule_offers import edited_rule, offer_row, offer_rows
from ..session.session import Session
from ..view import contract
from ..view.comparison_rows import UNASKED, Sides, change_row, compared_with, shown_comparisons
from ..view.contract_rows import SessionRow
from ..view.decision_rows import budget_row, rule_rows, undo_row
from ..view.object_rows import BranchView, draw_previews, ending, full_preview, repair_row
from ..view.view_rows import ViewRows, Window, saved_rows
from . import panel_commands as commands

STATUS: dict[Phase, str] = {
    "ready": t("Ready"),
    "thinking": t("The model is thinking"),
    "waiting": t("Waiting for you"),
    "running": t("Running"),
    "finished": t("Finished"),
    "stopped": t("Stopped"),
    "failed": t("Failed"),
}


COMPARED = 4
"""So many comparisons are kept up to date: those that were asked for last."""


@dataclass
class PanelUpdates:
    """Sends the panels of a session what changed, and remembers what they have."""

    send: Callable[[contract.Notice], None]
    """Sends a notice to every panel."""
    session: Callable[[], Session]
    """Returns the session as it stands."""
    view: ViewRows = field(default_factory=ViewRows)
    comparisons: list[Sides] = field(default_factory=list)
    """The comparisons that panels show, those that were asked for last at the end."""
    status: SessionRow = field(default_factory=SessionRow)
    """The row of the session itself, as last sent."""
    extensions: tuple[ExtensionRow, ...] = ()
    """The rows of extensions, as last sent."""
    _transient: str = ""
    """What the panels show beside the status, and a notebook does not keep."""
    _number: int = 0
    """How many updates were sent since all rows were."""
    _streamed: str = ""
    """The text of the reply that the model is writing, as far as it came."""

    def publish(
        self, status: SessionRow, extensions: tuple[ExtensionRow, ...], transient: str
    ) -> None:
        """Send the status, and what changed since the last time.

        `transient` is shown beside the status, and not kept in the notebook.
        """
        self.status, self.extensions, self._transient = status, extensions, transient
        self._streamed = ""
        rows = self.view.changes(self.session().cursor, self.shown_status(), extensions)
        if rows is None:
            self.send_whole()
        else:
            continues = status.phase in ("thinking", "running")
            # How two long branches differ takes longer than a call: it is told at a pause.
            rows = rows if continues else self._with_comparisons(rows)
            self._send_delta(self.view.with_graph(rows))

    def draw_previews(self) -> None:
        """Draw the previews that the next update needs: a value's own code runs now, not then."""
        cursor = self.session().cursor
        draw_previews(BranchView(cursor, cursor.state))

    def send_whole(self) -> None:
        """Send all rows."""
        self._number = 0
        status = self.shown_status()
        rows = self.view.whole(self.session().cursor, status, self.extensions)
        self.send(contract.Whole(self.view.with_graph(self._with_comparisons(rows))))

    def greet(self, reopens: bool = False) -> None:
        """Send all rows to a panel that connects; `reopens` says that one connected before."""
        self._transient = "" if reopens else self._transient
        self.comparisons.clear()
        self.view.window = Window()
        self.send_whole()

    def whole(self) -> contract.Rows:
        """Return all rows as a notebook keeps them, without sending them."""
        # Rules are of a person at work here: a notebook that others read does not show them.
        status = replace(self.status, rules=(), notebook_rules="", undo=None, person="")
        return saved_rows(self.session().cursor, status, self.extensions)

    def stream(self, text: str) -> None:
        """Send what the model has written of its reply since the last time."""
        self._streamed += text
        # A secret that has come in part is no secret yet, and would be shown.
        text = self.session().cursor.context.secrets.unfinished(self._streamed)
        self._send_status(replace(self.status, text=text))

    def wait_for_model(self, reason: str) -> None:
        """Send why the model is asked again, and when."""
        self._streamed = ""
        detail = self.session().cursor.context.secrets.hide(reason)
        self._send_status(replace(self.status, detail=detail, text=""))

    def show(self, look: commands.Look) -> None:
        """Send what a person asked to see. Raises UsageError where there is none."""
        session, view = self.session(), self.view
        views = view.branch_views.values()
        match look:
            case commands.DrawGraph():
                window = Window(look.until, look.selected, look.page, look.compact)
                self._send_delta(view.draw(window))
            case commands.Compare(on=True):
                self._compare(_sides(session, look))
            case commands.Compare():
                self._forget(_sides(session, look))
                self._send_delta(self._with_comparisons(contract.Rows()))
            case commands.ShowRequest(turn):
                self.send(contract.Shown(turn, request_json(session.cursor, turn)))
            case commands.ShowObject(key):
                picture = next(filter(None, (full_preview(v, key) for v in views)), None)
                if picture is None:
                    raise UsageError(
                        "the value of that object is not in this kernel; a replay makes it"
                    )
                self.send(contract.Displayed(key, picture))
            case commands.ShowDifference(left, right):
                found = (change_row(v, v.objects_by_row(), left, right) for v in views)
                self._send_delta(contract.Rows(differences=tuple(islice(filter(None, found), 1))))
            case commands.OfferRules(call):
                self.send(contract.Offered(call, offer_rows(session.cursor, call)))
            case commands.EditRule(number, name, edit):
                rule = edited_rule(session.cursor, number, name, edit)
                self.send(contract.Offered(name, (offer_row(rule),)))
            case commands.Export(to):
                # What exports is imported when it is used first.
                export = import_module("..export", __package__)
                text = export.text(export.exported_session(session.cursor, session.name), to)
                # Two cells of a notebook have two files, though neither session has a name.
                name = session.name or session.cursor.state.root[:6]
                notebook = Path(session.cursor.context.person_rules.notebook).stem
                self.send(contract.Exported(to, text, export.formats.file_stem(notebook, name)))

    def shown_status(self) -> SessionRow:
        """Return the row of the session as panels show it, with what the last action came to."""
        if not self._transient:
            return self.status
        lines = filter(None, (self.status.detail, self._transient))
        return replace(self.status, detail=joined("\n", lines))

    def _send_status(self, status: SessionRow) -> None:
        self.status = status
        self._send_delta(contract.Rows(session=(status,)))

    def _send_delta(self, rows: contract.Rows) -> None:
        self._number += 1
        self.send(contract.Delta(rows, self._number))

    def _with_comparisons(self, rows: contract.Rows) -> contract.Rows:
        """Add what is new of the comparisons that a panel shows."""
        unasked = compared_with(self.view.store.rows().branches)
        shown = shown_comparisons(self.comparisons, self.view.branch_views, unasked)
        return self.view.store.with_comparisons(rows, shown)

    def _forget(self, sides: Sides) -> None:
        """Keep a comparison up to date no longer; a panel that still shows it asks again."""
        self.comparisons = [other for other in self.comparisons if other != sides]

    def _compare(self, sides: Sides) -> None:
        """Send how two branches differ; `publish` sends it again as they grow."""
        heads = {side for side in sides if side not in ("", CURRENT)}
        if not heads <= self.view.branch_views.keys():
            self.view.wanted |= heads
            self.send_whole()
        if not heads <= self.view.branch_views.keys():
            raise UsageError("that branch can't be compared: it is out of view, or lies ahead")
        if sides == UNASKED and compared_with(self.view.store.rows().branches) is None:
            raise UsageError("there is no other branch in view to compare with")
        self._forget(sides)
        self.comparisons = [*self.comparisons, sides][-COMPARED:]
        self._send_delta(self._with_comparisons(contract.Rows()))


def _sides(session: Session, compare: commands.Compare) -> Sides:
    """Return the branches that a panel names: the head of the shown one may have moved on."""
    if not compare.left and not compare.right:
        return UNASKED
    path = {entry.id for entry in session.journal.path(session.head)}
    left, right = (
        CURRENT if not head or head in path else head for head in (compare.left, compare.right)
    )
    return left, right


def session_row(
    session: Session, phase: Phase, status: str, detail: str, draft: tuple[Written, ...]
) -> SessionRow:
    """Return the row of the session itself; `draft` are calls written in the model's place."""
    cursor = session.cursor
    state, context = cursor.state, cursor.context
    pending = () if phase in ("thinking", "running", "ready") else waiting_calls(cursor)
    branch_view = BranchView(cursor, state)
    recorded = cursor.replay_queue.recorded_heads if cursor.replay_queue.next(state.open) else ()
    next_call = state.calls[state.open[0]] if phase == "ready" and state.open else None
    if next_call and not (recorded or detail or waiting_calls(cursor)):
        detail = t("The next step runs call %1 (%2).", next_call.step, next_call.tool)
    reply = state.last if phase != "thinking" else None
    text = ""
    if isinstance(reply, Replied):
        # Where the model said nothing, what it thought aloud is shown.
        text = (reply.text if reply.said is None else reply.said) or reply.thought
    return SessionRow(
        name=session.name,
        person=context.person_rules.person,
        phase=phase,
        says=status or STATUS[phase],
        detail=context.secrets.hide(detail),
        ending=ending(state) if phase == "finished" else (),
        repair=repair_row(branch_view) if phase == "finished" else None,
        scheme=state.opened.scheme,
        pending=tuple([branch_view.call_key(call) for call in pending]),
        next_call=next_call.key if next_call else "",
        # An edit in a replay leaves the calls after it to be repeated, which are of another branch.
        recorded_calls=max((len(state_at(context.journal, e).order) for e in recorded), default=0),
        text=text,
        stops=tuple(sorted(context.breakpoints)),
        budget=budget_row(cursor),
        rules=rule_rows(cursor, phase == "finished"),
        undo=None if phase in ("thinking", "running") else undo_row(branch_view),
        notebook_rules=context.person_rules.for_metadata,
        yours=person_turn(cursor, draft) if phase == "waiting" else None,
    )
