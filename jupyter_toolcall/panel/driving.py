"""A session that goes on while a person watches: one step at a time, and clicks between.

It knows no Jupyter: what it shows goes to `tell`, what the person wants comes into
`inbox`, from any thread. The model and the tools run where `drive` runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from ..acts import places, replying
from ..comparing import Difference
from ..drawing.layout import Layout
from ..errors import ModelError, NotKept, Stopped, ToolcallError, Unfinished, UsageError
from ..events import Asked, Replied
from ..models.person import Person
from ..rows.contract import (
    Approve,
    ApproveAll,
    Break,
    Check,
    Checkout,
    Command,
    Compare,
    Delta,
    Displayed,
    Draft,
    Export,
    Exported,
    Fork,
    Guess,
    GuessRow,
    Hello,
    HideBranch,
    NameBranch,
    Notice,
    Phase,
    Preview,
    Replay,
    Rows,
    Run,
    SessionRow,
    Shown,
    ShowObject,
    ShowRequest,
    SkipGuess,
    Step,
    Stop,
    Task,
    Tidy,
    Whole,
    Written,
)
from ..session import Session
from ..state.call import CallState
from ..state.steps import AskModel, AskPerson, Perform
from ..state.steps import Step as NextStep
from ..teaching import scoring
from ..view.differing import difference_rows, with_differences
from ..view.exchanges import exact
from ..view.tables import Seen, call_key, displayed
from ..view.tidy import tidied
from ..view.watch import Watch
from . import predicting
from .commands import command, obey, refusal
from .predicting import Predicting

TICK = 0.04
"""Seconds between two looks: how soon a click or an interrupt is seen."""
SAYS: dict[Phase, str] = {
    "ready": "Ready",
    "thinking": "The model is thinking",
    "waiting": "Waiting for you",
    "running": "Running",
    "finished": "Finished",
    "stopped": "Stopped",
    "failed": "Failed",
}


AS_PERSON = "As the model you asked for this call. Now decide on it as the person."
NO_REPLY = "The model has no reply yet. Run asks it again."
STAYS = (
    *(Hello, Tidy, Check, Break, Fork, Checkout, Draft),
    *(NameBranch, HideBranch, Compare, ShowRequest, ShowObject, Export),
)
"""What is carried out, and does not mean to go on."""


@dataclass
class Drive:
    """A session with somebody in front of it."""

    session: Session
    tell: Callable[[Notice], None]
    model: str = ""
    stepping: bool = False
    inbox: deque[Any] = field(default_factory=deque)
    watch: Watch = field(default_factory=Watch)
    greeted: bool = False
    """A panel has said hello."""
    panel: str = ""
    """The id of the panel's model: what is saved is found by it after a reload."""
    busy: bool = False
    on_idle: Callable[[], None] = lambda: None
    """Called when a wish comes in and nothing drives."""
    guesses: Predicting = field(default_factory=Predicting)
    """What the person guessed of the model's replies, where they are guessed."""
    task: Task | None = None
    """The exercise that the session is for."""
    check: Callable[[], Task | None] = lambda: None
    """Returns how the exercise stands."""
    keep: Callable[[], None] = lambda: None
    """Leaves what there is now where it is saved."""
    late: Callable[[], str] = lambda: ""
    """Returns one line for as long as something of the session is not on disk."""
    _held: bool = False
    """Nothing goes on before the person says so: after a fork, in steps."""
    _approved: frozenset[str] = frozenset()
    """The calls of a turn that the person approved as a whole, by key."""
    _replayed: int = -1
    """How long the journal was when a replay began."""
    _draft: tuple[str, tuple[Written, ...]] = ("", ())
    """What the person has written in the model's place, and where in the journal."""
    _compared: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """How values differ, by the digests of both."""
    _told: int = 0
    """How many guesses the panels were told of."""
    _number: int = 0
    _row: SessionRow = field(default_factory=SessionRow)

    # -- what is shown ------------------------------------------------------------------

    def publish(self, phase: Phase, says: str = "", detail: str = "") -> None:
        """Tell the panels how the session stands, and what changed since the last time."""
        self.guesses.settle(self.session.cursor)
        if phase == "finished":
            predicting.end(self.session)
        self._row = self._session_row(phase, says, detail)
        rows = self.watch.changes(self.session.cursor, self._row)
        if rows is None:
            self._tell_whole()
        else:
            self._number += 1
            self.tell(Delta(replace(rows, guesses=self._guessed(self._told)), self._number))

    def _guessed(self, since: int) -> tuple[GuessRow, ...]:
        """Return the guesses behind the first ones; the panels are told of them now."""
        self._told = len(self.guesses.rows)
        return tuple(self.guesses.rows[since:])

    def _tell_whole(self, layout: Layout | None = None) -> None:
        self._number = 0
        rows = self.watch.whole(self.session.cursor, self._row, layout)
        self.tell(Whole(replace(rows, guesses=self._guessed(0))))

    def whole(self) -> Rows:
        """Return everything that there is to see, without telling anybody."""
        watch = Watch()
        rows = watch.whole(self.session.cursor, self._row)
        return with_differences(rows, watch.seen, self._compared)

    def renew(self) -> bool:
        """Tell the panels where a branch got a name or was hidden; return whether one did."""
        named = self.watch.is_named_anew(self.session.cursor)
        if named:
            self._publish_again()
        return named

    def stream(self, text: str) -> None:
        """Tell what the model has said so far of its reply."""
        self._row = replace(self._row, text=self._row.text + text)
        self._number += 1
        self.tell(Delta(Rows(session=(self._row,)), self._number))

    def wait_for_model(self, said: str) -> None:
        """Tell why the model is asked again, and when."""
        self._row = replace(self._row, detail=said, text="")
        self._number += 1
        self.tell(Delta(Rows(session=(self._row,)), self._number))

    def _session_row(self, phase: Phase, says: str, detail: str) -> SessionRow:
        state = self.session.state
        seen = Seen(self.session.cursor, state)
        last, waits = state.last, phase == "waiting"
        return SessionRow(
            name=self.session.name,
            phase=phase,
            says=says or SAYS[phase],
            detail="\n".join(filter(None, [detail, self.late()])),
            model=self.model,
            scheme=state.opened.scheme,
            pending=tuple(call_key(c, seen) for c in places.waiting(self.session.cursor)),
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

    # -- what the person wants ------------------------------------------------------------

    def hear(self, data: Any) -> None:
        """Take a message of a panel: only handed over here, except for a greeting."""
        kind = data.get("type") if isinstance(data, dict) else ""
        if kind == "hello":
            self.greet()
        elif kind == "stop" and not self.busy:
            self.publish("stopped")
        else:
            self.inbox.append(data)
            if not self.busy:
                self.on_idle()

    async def resume(self) -> Session:
        """Carry out what came while nothing ran, and go on where that was asked for.

        Raises as `drive` does.
        """
        before = self.session.head, self.draft
        if self._obey_all():
            return await self.drive(wait=False)
        if (self.session.head, self.draft) != before:
            asks = self._asks()
            self.publish("finished") if asks == "done" else self.publish(*self._pause(asks))
        return self.session

    def greet(self) -> None:
        """A panel has come, and is told everything."""
        self.greeted = True
        self._tell_whole(self.watch.layout if self.watch.head == self.session.head else None)

    def _obey_all(self) -> bool:
        """Carry out what is in the inbox; return whether any of it means to go on."""
        goes = False
        while self.inbox:
            data = self.inbox.popleft()
            try:
                wish = command(data)
                self._obey(wish)
                goes = goes or not isinstance(wish, STAYS)
            except Stopped:
                raise
            except ToolcallError as error:
                self.tell(refusal(data, error))
        return goes

    def _obey(self, wish: Command) -> None:
        match wish:
            case Hello():
                self.greet()
            case Stop():
                raise Stopped("stopped; Run in the panel or %toolchat next goes on")
            case Run():
                self.stepping = self._held = False
            case Step():
                self.stepping, self._held = True, False
            case Tidy():
                self._tidy()
            case Break(tool, on):
                self.session.cursor.desk.stop_at(tool, on)
                self._publish_again()
            case NameBranch() | HideBranch():
                self.session = obey(self.session, wish)
                self._publish_again()
            case Compare(left, right):
                self._compare(left, right)
            case Guess() | SkipGuess():
                self._take_guess(wish)
            case Check():
                self.task = self.check()
                self._publish_again()
            case ShowRequest(turn):
                self.tell(Shown(turn, exact(self.session.cursor, turn)))
            case ShowObject(key):
                self.tell(Displayed(key, self._displayed(key)))
            case Export(to):
                home = import_module("..export", __package__)
                told = home.text(home.take(self.session.cursor, self.session.name), to)
                self.tell(Exported(to, told))
            case Draft():
                self._take_down(wish)
            case ApproveAll(call, bound):
                self.session = obey(self.session, Approve(call, bound))
                state = self.session.state
                self._approved = frozenset(state.calls[each].key for each in state.latest)
            case Fork() | Checkout():
                self.session = obey(self.session, wish)
                self._held, self._approved = True, frozenset()
            case Replay():
                self._replayed, self._approved = len(self.session.journal), frozenset()
                self.session = obey(self.session, wish)
            case _:
                self.session = obey(self.session, wish)

    def _publish_again(self) -> None:
        self.publish(self._row.phase, self._row.says, self._row.detail)

    def _compare(self, left: str, right: str) -> None:
        """Tell two branches, and how the values of their objects differ."""
        sides = [self._seen(left), self._seen(right)]
        if any(side not in self.watch.seen for side in sides):
            self.watch.wanted |= {side for side in sides if side}
            self._tell_whole(self.watch.layout)
        cursor = self.session.cursor
        seen = {**self.watch.seen, "": Seen(cursor, cursor.state)}
        found = [seen[side] for side in sides if side in seen]
        if len(found) != 2:
            raise UsageError("that branch can't be compared: it is out of view, or lies ahead")
        self._number += 1
        rows = Rows(differences=tuple(difference_rows(found[0], found[1], self._compared)))
        self.tell(Delta(rows, self._number))

    def _displayed(self, key: str) -> Preview:
        """Return an object as large as may be. Raises UsageError where its value is not here."""
        found = (displayed(seen, key) for seen in self.watch.seen.values())
        drawn = next((each for each in found if each is not None), None)
        if drawn is None:
            raise UsageError("the value of that object is not in this kernel; a replay makes it")
        return drawn

    def _seen(self, head: str) -> str:
        """Return what the rows call a branch: "" is the one that is shown, wherever it is."""
        path = self.session.journal.path(self.session.head)
        return "" if any(entry.id == head for entry in path) else head

    def _take_guess(self, wish: Guess | SkipGuess) -> None:
        """Take the guess of a reply, or none of it; then the reply is asked for."""
        match wish:
            case Guess(tool, arguments):
                self.guesses.take(self.session.cursor, scoring.Guess(tool, arguments))
            case SkipGuess(rest=True):
                predicting.end(self.session)
            case SkipGuess():
                self.guesses.take(self.session.cursor, None)
        self._held = False

    def _take_down(self, draft: Draft) -> None:
        """Keep what the person writes in the model's place, where it could run."""
        cursor, known = self.session.cursor, self.draft
        replying.demand(cursor)
        for call in draft.calls if not draft.anyway else ():
            if call not in known:
                replying.check(cursor, call.tool, call.arguments)
        self._draft = self.session.head, draft.calls

    def _tidy(self) -> None:
        rows = self.watch.whole(self.session.cursor, self._row, self.watch.layout)
        edges = [(use.object, call.object) for call in rows.calls for use in call.uses]
        self._tell_whole(tidied(self.watch.layout, edges))

    # -- going on -------------------------------------------------------------------------

    async def drive(self, wait: bool = True) -> Session:
        """Go on to the end of the run, or with `wait` false to the first pause.

        Raises Stopped where the person stops it, ModelError where the model can't answer,
        NotKept where what allows an effect can't be written down.
        """
        self.busy = True
        try:
            return await self._drive(wait)
        except (Stopped, KeyboardInterrupt, asyncio.CancelledError) as error:
            self.inbox.clear()
            self.publish("stopped", detail=_said(error))
            raise Stopped("interrupted; nothing is lost: %toolchat next goes on") from None
        except (ModelError, NotKept, Unfinished) as error:
            self.publish("failed", detail=str(error))
            raise
        finally:
            self.busy = False

    def drive_now(self) -> Session:
        """Go on to the first pause, where nothing can be awaited. Raises as `drive` does."""
        going = self.drive(wait=False)
        try:
            # Without a person it gives way only to let clicks in, and there are none.
            while True:
                going.send(None)
        except StopIteration as end:
            session: Session = end.value
            return session

    async def _drive(self, wait: bool) -> Session:
        while True:
            await asyncio.sleep(0)
            self._obey_all()
            asks = self._asks() if self._held else self._step()
            if asks == "done":
                self.publish("finished", detail=self._came_to())
                return self.session
            if asks and not wait:
                self.publish(*self._pause(asks))
                return self.session
            if asks:
                await self._wait(asks)

    def _came_to(self) -> str:
        """Say what a replay that is over came to; a second time nothing is said of it."""
        before, self._replayed = self._replayed, -1
        same = before == len(self.session.journal)
        return "Replayed: everything came out as it was recorded." if same else ""

    def _step(self) -> str:
        """Take a step; return what the person has to do, "" where it goes on."""
        with interrupts():
            if self._advanced():
                self._held = self.stepping
                return ""
        return self._asks()

    def _asks(self) -> str:
        """Return what the person has to do, "done" for nothing, "" where it just goes on.

        Raises Unfinished where nobody has to do anything, and still nothing goes on.
        """
        cursor = self.session.cursor
        waiting = places.waiting(cursor)
        if waiting:
            return "" if self._approved_by_turn(waiting[0]) else "decide"
        if isinstance(cursor.due, AskPerson) and cursor.script.next() is None:
            return "done"
        if cursor.held:
            return "guess"
        if self._held:
            return "go"
        if cursor.spent:
            turns = cursor.state.turns_since
            raise Unfinished(
                f"stopped after {turns} replies of the model; a larger --max-turns goes on"
            )
        return "reply" if replying.awaited(cursor) else "model"

    def _pause(self, asks: str) -> tuple[Phase, str, str]:
        """Return how it stands at a pause: the phase, in words, and what else there is to say."""
        match asks:
            case "decide":
                return "waiting", SAYS["waiting"], AS_PERSON if self._plays else ""
            case "reply":
                return "waiting", replying.YOU, ""
            case "guess":
                return "waiting", replying.GUESS, ""
            case "model":
                return "waiting", "Waiting for the model", NO_REPLY
        return "ready", "Ready for the next step", ""

    @property
    def _plays(self) -> bool:
        """Whether the person is the model."""
        return isinstance(self.session.cursor.desk.model, Person)

    def _approved_by_turn(self, call: CallState) -> bool:
        tool = self.session.cursor.find(call.tool)
        if call.key not in self._approved or call.status != "proposed":
            return False
        # What may wait for the call before it is not decided on before that has run.
        if call.id != self.session.state.open[0] or (tool is not None and tool.for_person):
            return False
        self.session.decide(call.id, "approve")
        return True

    def _advanced(self) -> bool:
        """Take the next step, told first where it takes time; return whether there was one."""
        cursor = self.session.cursor
        if cursor.held:
            return False
        step = cursor.due
        cursor.running = step.call.id if isinstance(step, Perform) else ""
        if isinstance(step, Perform) or (isinstance(step, AskModel) and not self._plays):
            self.publish(_phase(step))
        elif self.stepping:
            self.publish("running")
        try:
            return cursor.advance() is not None
        finally:
            cursor.running = ""

    async def _wait(self, asks: str) -> None:
        self.publish(*self._pause(asks))
        while not self.inbox:
            await asyncio.sleep(TICK)
        if self._obey_all():
            self.publish("running")


def _words(last: Asked | Replied | None) -> str:
    """What the model said last; what it thought aloud where it said nothing."""
    if not isinstance(last, Replied):
        return ""
    return (last.text if last.said is None else last.said) or last.thought


def _phase(step: NextStep) -> Phase:
    return "thinking" if isinstance(step, AskModel) else "running"


def _said(error: BaseException) -> str:
    return str(error) or "Interrupted. Run goes on from here."


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Let Ctrl-C reach code that runs here, as it does in an ordinary cell.

    While a cell is awaited the kernel turns the signal into a cancellation, which a tool
    that does not await would never see.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
