"""What the panels of a session are told: how it stands, what changed, and what is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module

from ..acts import places, replying
from ..drawing.layout import Layout
from ..errors import UsageError
from ..events import Asked, Replied
from ..rows.contract import (
    Compare,
    Delta,
    Displayed,
    Export,
    Exported,
    GuessRow,
    Notice,
    Phase,
    Preview,
    Rows,
    SessionRow,
    Shown,
    ShowObject,
    ShowRequest,
    Task,
    Tidy,
    Whole,
    Written,
)
from ..session import Session
from ..view.beside import CURRENT
from ..view.comparison_rows import compared_with, with_comparison
from ..view.comparison_updates import UNASKED, ComparisonUpdates, Sides
from ..view.exchanges import exact
from ..view.objects import displayed
from ..view.seen import Seen, call_key
from ..view.tidy import tidied
from ..view.watch import Watch
from . import predicting
from .predicting import Predicting

SAYS: dict[Phase, str] = {
    "ready": "Ready",
    "thinking": "The model is thinking",
    "waiting": "Waiting for you",
    "running": "Running",
    "finished": "Finished",
    "stopped": "Stopped",
    "failed": "Failed",
}
Look = Tidy | Compare | ShowRequest | ShowObject | Export
"""What a person wants to see, and what changes nothing."""


@dataclass
class Screen:
    """A session, and the panels that show it."""

    session: Session
    tell: Callable[[Notice], None]
    model: str = ""
    stepping: bool = False
    watch: Watch = field(default_factory=Watch)
    guesses: Predicting = field(default_factory=Predicting)
    """What the person guessed of the model's replies, where they are guessed."""
    task: Task | None = None
    """The exercise that the session is for."""
    late: Callable[[], str] = lambda: ""
    """Returns one line for as long as something of the session is not on disk."""
    _draft: tuple[str, tuple[Written, ...]] = ("", ())
    """What the person has written in the model's place, and where in the journal."""
    compared: ComparisonUpdates = field(default_factory=ComparisonUpdates)
    _told: int = 0
    """How many guesses the panels were told of."""
    _number: int = 0
    _row: SessionRow = field(default_factory=SessionRow)
    _streamed: str = ""
    """What the model has said so far of its reply, as it came."""
    _now: str = ""
    """What is said to who is there now, and not saved: a cell that runs again saves the same."""

    def publish(self, phase: Phase, says: str = "", detail: str = "", now: str = "") -> None:
        """Tell the panels how the session stands, and what changed since the last time.

        `now` is said to them alone, and is not saved.
        """
        self.guesses.settle(self.session.cursor)
        if phase == "finished":
            predicting.end(self.session)
        detail, self._streamed = self.session.cursor.desk.hide(detail), ""
        self._row, self._now = self._session_row(phase, says, detail), now
        rows = self.watch.changes(self.session.cursor, self._live_row)
        if rows is None:
            self._tell_whole()
        else:
            self._number += 1
            rows = self._with_comparisons(rows, goes_on=phase in ("thinking", "running"))
            self.tell(Delta(replace(rows, guesses=self._guessed(self._told)), self._number))

    def _publish_again(self) -> None:
        self.publish(self._row.phase, self._row.says, self._row.detail, self._now)

    def _guessed(self, since: int) -> tuple[GuessRow, ...]:
        """Return the guesses behind the first ones; the panels are told of them now."""
        self._told = len(self.guesses.rows)
        return tuple(self.guesses.rows[since:])

    def _tell_whole(self, layout: Layout | None = None) -> None:
        self._number = 0
        rows = self.watch.whole(self.session.cursor, self._live_row, layout)
        self.compared.start_over()
        rows = self._with_comparisons(rows)
        self.tell(Whole(replace(rows, guesses=self._guessed(0))))

    def _with_comparisons(self, rows: Rows, goes_on: bool = False) -> Rows:
        """Return rows with what is new of the comparisons that are looked at."""
        cursor = self.session.cursor
        seen = {**self.watch.seen, "": Seen(cursor, cursor.state)}
        news = self.compared.news(seen, compared_with(self.watch.branches), goes_on)
        return replace(rows, comparisons=news.comparisons, differences=news.differences)

    def whole(self) -> Rows:
        """Return everything that there is to see, without telling anybody."""
        watch = Watch()
        rows = watch.whole(self.session.cursor, self._row)
        return with_comparison(rows, watch.seen, self.compared.known)

    def renew(self) -> bool:
        """Tell the panels where a branch got a name or was hidden; return whether one did."""
        named = self.watch.is_named_anew(self.session.cursor)
        if named:
            self._publish_again()
        return named

    def stream(self, text: str) -> None:
        """Tell what the model has said so far of its reply."""
        self._streamed += text
        # A secret that has come in part is no secret yet, and would be shown.
        shown = self.session.cursor.desk.secrets.unfinished(self._streamed)
        self._row = replace(self._row, text=shown)
        self._number += 1
        self.tell(Delta(Rows(session=(self._row,)), self._number))

    def wait_for_model(self, said: str) -> None:
        """Tell why the model is asked again, and when."""
        self._streamed = ""
        self._row = replace(self._row, detail=self.session.cursor.desk.hide(said), text="")
        self._number += 1
        self.tell(Delta(Rows(session=(self._row,)), self._number))

    @property
    def _live_row(self) -> SessionRow:
        return replace(self._row, detail="\n".join(filter(None, [self._row.detail, self._now])))

    def _session_row(self, phase: Phase, says: str, detail: str) -> SessionRow:
        state = self.session.state
        seen = Seen(self.session.cursor, state)
        last, waits = state.last, phase == "waiting"
        runs = phase in ("thinking", "running")
        pending = () if runs else places.waiting(self.session.cursor)
        return SessionRow(
            name=self.session.name,
            phase=phase,
            says=says or SAYS[phase],
            detail="\n".join(filter(None, [detail, self.late()])),
            model=self.model,
            scheme=state.opened.scheme,
            pending=tuple(call_key(call, seen) for call in pending),
            text=_words(last) if phase != "thinking" else "",
            stepping=self.stepping,
            stops=tuple(sorted(self.session.cursor.desk.stops)),
            yours=replying.your_turn(self.session.cursor, self.draft) if waits else None,
            guess=replying.to_guess(self.session.cursor) if waits else None,
            score=self.guesses.score,
            task=self.task,
        )

    @property
    def draft(self) -> tuple[Written, ...]:
        """The calls that the person has written for the model's reply that is due here."""
        head, calls = self._draft
        return calls if head == self.session.head else ()

    def _show(self, wish: Look) -> None:
        """Tell what a person wants to look at; nothing of the session changes."""
        match wish:
            case Tidy():
                self._tidy()
            case Compare(on=True):
                self._compare(self._sides(wish))
            case Compare():
                drop = self.compared.remove(self._sides(wish))
                self._tell_rows(Rows(drop=drop))
            case ShowRequest(turn):
                self.tell(Shown(turn, exact(self.session.cursor, turn)))
            case ShowObject(key):
                self.tell(Displayed(key, self._displayed(key)))
            case Export(to):
                home = import_module("..export", __package__)
                told = home.text(home.take(self.session.cursor, self.session.name), to)
                self.tell(Exported(to, told))

    def _compare(self, sides: Sides) -> None:
        """Tell how two branches differ, and tell it again as they grow."""
        heads = {side for side in sides if side not in ("", CURRENT)}
        if not heads <= self.watch.seen.keys():
            self.watch.wanted |= heads
            self._tell_whole(self.watch.layout)
        if not heads <= self.watch.seen.keys():
            raise UsageError("that branch can't be compared: it is out of view, or lies ahead")
        if sides == UNASKED and compared_with(self.watch.branches) is None:
            raise UsageError("there is no other branch in view to compare with")
        self.compared.add(sides)
        self._tell_rows(self._with_comparisons(Rows()))

    def _sides(self, wish: Compare) -> Sides:
        """Return the branches that a panel names: the head of the shown one may have moved on."""
        if not wish.left and not wish.right:
            return UNASKED
        path = {entry.id for entry in self.session.journal.path(self.session.head)}
        left, right = (
            CURRENT if not head or head in path else head for head in (wish.left, wish.right)
        )
        return left, right

    def _tell_rows(self, rows: Rows) -> None:
        self._number += 1
        self.tell(Delta(rows, self._number))

    def _displayed(self, key: str) -> Preview:
        """Return an object as large as may be. Raises UsageError where its value is not here."""
        found = (displayed(seen, key) for seen in self.watch.seen.values())
        drawn = next((each for each in found if each is not None), None)
        if drawn is None:
            raise UsageError("the value of that object is not in this kernel; a replay makes it")
        return drawn

    def _tidy(self) -> None:
        rows = self.watch.whole(self.session.cursor, self._live_row, self.watch.layout)
        edges = [(use.object, call.object) for call in rows.calls for use in call.uses]
        self._tell_whole(tidied(self.watch.layout, edges))


def _words(last: Asked | Replied | None) -> str:
    """What the model said last; what it thought aloud where it said nothing."""
    if not isinstance(last, Replied):
        return ""
    return (last.text if last.said is None else last.said) or last.thought
