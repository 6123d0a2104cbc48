"""Runs a session for the panels that show it: one step at a time, and clicks between steps.

It knows no Jupyter: updates go to `send`, messages of panels come into `inbox`, from any thread.
The model and the tools run in the thread that calls `run`.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal

from ..core.branches import unchanged_summary
from ..core.errors import ModelError, NotKept, Stopped, ToolcallError, Unfinished
from ..core.events import Outcome, Replied
from ..core.secrets import MissingSecret
from ..core.state import AskModel, AskPerson, RunCall
from ..engine import forks as places
from ..engine import person_model as replying
from ..engine.hooks import SessionHooks
from ..engine.person_model import Phase, Written
from ..engine.replay import advance
from ..engine.session_values import PreparedCall
from ..models.person import Person
from ..session.session import Session
from ..view.contract import (
    Break,
    Checkout,
    Compare,
    Draft,
    Export,
    Fork,
    Hello,
    HideBranch,
    NameBranch,
    Notice,
    Replay,
    Rows,
    Run,
    Say,
    ShowObject,
    ShowRequest,
    Step,
    Stop,
    Tidy,
)
from ..view.contract_rows import SessionRow
from ..view.graph_rows import BranchView, call_key
from .extensions import PanelExtension
from .panel_commands import apply_command, parse_command, refusal
from .panel_updates import PanelUpdates

TICK = 0.04
"""Seconds between two looks into the inbox."""
STATUS: dict[Phase, str] = {
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
SAME_AGAIN = "Replayed: everything came out as it was recorded."

Pause = Literal["", "done", "decision", "held", "step", "reply", "model"]
"""What a session needs before its next step: "" nothing; "done": it needs nothing any more; a
decision; what a hook waits for; a click on Step; a reply of the person who plays the model;
"model": the model did not reply."""


@dataclass(frozen=True)
class PublishesExecution(SessionHooks):
    """Publishes that a call runs, before its tool does."""

    publish: Callable[[Phase], None]

    def around_execution(
        self, call: PreparedCall
    ) -> AbstractContextManager[Callable[[Outcome], None]]:
        self.publish("running")
        return super().around_execution(call)


@dataclass
class PanelController:
    """Runs one session for its panels, and applies the commands that come from them.

    Args:
        session: The session as it stands; commands and steps replace it.
        send: Sends a notice to every panel.
        model: The name of the model, as it is shown.
        stepping: Whether it pauses before every step.
    """

    session: Session
    send: Callable[[Notice], None]
    model: str = ""
    stepping: bool = False
    extensions: tuple[PanelExtension, ...] = ()
    panel: str = ""
    """The id of the panel's widget model: the saved output is found by it after a reload."""
    recorded: frozenset[str] = frozenset()
    """The entries that a cell which runs again replays."""
    save: Callable[[], None] = lambda: None
    """Writes the session as it stands into the cell's output."""
    unsaved: Callable[[], str] = lambda: ""
    """Returns one line for as long as something of the session is not on disk."""
    before_commands: Callable[[], None] = lambda: None
    """Called before commands are applied, which are to be written to disk."""
    on_idle: Callable[[], None] = lambda: None
    """Called when a message comes while nothing runs."""
    inbox: deque[Any] = field(default_factory=deque)
    greeted: bool = False
    """Whether a panel has connected."""
    busy: bool = False
    """Whether `run` runs."""
    updates: PanelUpdates = field(init=False)
    _paused: bool = False
    """Whether the next step waits for Step or Run: after a fork, or a step."""
    _draft: tuple[str, tuple[Written, ...]] = ("", ())
    """The calls that the person has written in the model's place, and at which entry."""
    _replayed_from: int = -1
    """The length of the journal when a replay began; -1 without one."""
    _published: tuple[Phase, str, str, str] = ("ready", "", "", "")
    """What was published last."""

    def __post_init__(self) -> None:
        self.updates = PanelUpdates(self.send)

    # -- running ------------------------------------------------------------------------------

    async def run(self, wait: bool = True) -> Session:
        """Run to the end, or with `wait` false to the first pause; return the session.

        Raises Stopped where the person stops it, ModelError where the model can't answer,
        NotKept where what allows an effect can't be written down.
        """
        self.busy = True
        try:
            return await self._run(wait)
        except (Stopped, KeyboardInterrupt, asyncio.CancelledError) as error:
            self.inbox.clear()
            self.publish("stopped", detail=str(error) or "Interrupted. Run goes on from here.")
            raise Stopped("interrupted; nothing is lost: %toolchat next goes on") from None
        except (ModelError, NotKept, Unfinished, MissingSecret) as error:
            self.publish("failed", detail=str(error))
            raise
        finally:
            self.busy = False

    async def _run(self, wait: bool) -> Session:
        goes_on = False
        while True:
            await asyncio.sleep(0)
            self.apply_commands()
            pause = self._pause() if self._paused else self._step(publish=goes_on)
            goes_on = False
            if pause == "done":
                self.publish("finished", detail=self._replay_result(), passing=self._repeated())
                return self.session
            if pause:
                self._publish_pause(pause)
                if not wait:
                    return self.session
                while not self.inbox:
                    await asyncio.sleep(TICK)
                goes_on = self.apply_commands()

    def run_to_pause(self) -> Session:
        """Run to the first pause, where nothing can be awaited. Raises as `run` does."""
        running = self.run(wait=False)
        try:
            # Without a person it gives way only to let clicks in, and there are none.
            while True:
                running.send(None)
        except StopIteration as end:
            session: Session = end.value
            return session

    async def resume(self) -> Session:
        """Apply the commands that came while nothing ran, and run where they ask for that.

        Raises as `run` does.
        """
        before = self.session.head, self.draft
        if self.apply_commands():
            return await self.run(wait=False)
        if (self.session.head, self.draft) != before:
            pause = self._pause()
            self.publish("finished") if pause == "done" else self._publish_pause(pause)
        return self.session

    def _step(self, publish: bool) -> Pause:
        """Take a step; return what the session needs before it can take one.

        With `publish` the panels are sent that it goes on, also where the step takes no time.
        """
        with interrupts():
            if self._advance(publish):
                self._paused = self.stepping
                return ""
        return self._pause()

    def _advance(self, publish: bool) -> bool:
        """Take the next step, published first where it takes time; return whether there was one."""
        cursor = self.session.cursor
        if cursor.holding_hook is not None:
            return False
        match cursor.next_step:
            case AskModel() if not self._person_plays:
                self.publish("thinking")
            case RunCall() if cursor.replay_queue.next() is None and not self.stepping:
                # It is published when its tool runs.
                pass
            case _ if publish or self.stepping:
                self.publish("running")
        desk, publishes = cursor.context, PublishesExecution(self.publish)
        desk.hooks = (*desk.hooks, publishes)
        try:
            return advance(cursor) is not None
        finally:
            desk.hooks = tuple(hook for hook in desk.hooks if hook is not publishes)

    def _pause(self) -> Pause:
        """Return what the session needs before its next step.

        Raises Unfinished where it needs nobody, and still can't take a step.
        """
        cursor = self.session.cursor
        if places.waiting_calls(cursor):
            return "decision"
        if isinstance(cursor.next_step, AskPerson) and cursor.replay_queue.next() is None:
            return "done"
        if cursor.holding_hook is not None:
            return "held"
        if self._paused:
            return "step"
        if cursor.turn_limit_reached:
            turns = cursor.state.turns_since
            raise Unfinished(
                f"stopped after {turns} replies of the model; a larger --max-turns goes on"
            )
        return "reply" if replying.is_person_turn(cursor) else "model"

    def _publish_pause(self, pause: Pause) -> None:
        passing = self._repeated()
        hook = self.session.cursor.holding_hook if pause == "held" else None
        match pause:
            case "decision":
                detail = AS_PERSON if self._person_plays else ""
                self.publish("waiting", detail=detail, passing=passing)
            case "reply":
                self.publish("waiting", replying.YOU, passing=passing)
            case "held" if hook is not None:
                self.publish("waiting", hook.held_status, passing=passing)
            case "model":
                self.publish("waiting", "Waiting for the model", NO_REPLY, passing)
            case _:
                self.publish("ready", "Ready for the next step", passing=passing)

    @property
    def _person_plays(self) -> bool:
        """Whether the person is the model."""
        return isinstance(self.session.cursor.context.model, Person)

    def _replay_result(self) -> str:
        """Return how a replay that has just ended came out; nothing is said of it again."""
        before, self._replayed_from = self._replayed_from, -1
        return SAME_AGAIN if before == len(self.session.journal) else ""

    def _repeated(self) -> str:
        """Return how much is as a cell that runs again had it; nothing is said of it again."""
        cursor = self.session.cursor
        if not self.recorded or cursor.replay_queue.next() is not None:
            return ""
        recorded, self.recorded = self.recorded, frozenset()
        return unchanged_summary(cursor.context.journal.path(cursor.head), recorded)

    # -- commands -----------------------------------------------------------------------------

    def receive(self, message: Any) -> None:
        """Take a message of a panel: a greeting is answered, a command waits in the inbox."""
        kind = message.get("type") if isinstance(message, dict) else ""
        if kind == "hello":
            self.greet()
        elif kind == "stop" and not self.busy:
            self.publish("stopped")
        else:
            self.inbox.append(message)
            if not self.busy:
                self.on_idle()

    def greet(self) -> None:
        """Send everything to a panel that connects."""
        self.greeted = True
        self.updates.greet(self.session)

    def apply_commands(self) -> bool:
        """Apply the commands in the inbox; return whether the session goes on afterwards.

        Raises Stopped for the command to stop. A command that is refused is answered with why.
        """
        goes_on = False
        if self.inbox:
            self.before_commands()
        own = {kind: cls for each in self.extensions for kind, cls in each.commands.items()}
        while self.inbox:
            message = self.inbox.popleft()
            try:
                goes_on = self._apply(parse_command(message, own)) or goes_on
            except Stopped:
                raise
            except ToolcallError as error:
                self.send(refusal(message, error))
        return goes_on

    def _apply(self, command: Any) -> bool:
        """Apply a command; return whether the session goes on afterwards."""
        match command:
            case Hello():
                self.greet()
                return False
            case Stop():
                raise Stopped("stopped; Run in the panel or %toolchat next goes on")
            case Run():
                self.stepping = self._paused = False
                return True
            case Step():
                self.stepping, self._paused = True, False
                return True
            case Tidy() | Compare() | ShowRequest() | ShowObject() | Export():
                self.updates.show(self.session, command)
                return False
            case Break(tool, on):
                self.session.cursor.context.set_breakpoint(tool, on)
                self._publish_again()
                return False
            case Draft():
                self._take_draft(command)
                return False
        for extension in self.extensions:
            if type(command) in extension.commands.values():
                return self._apply_to(extension, command)
        return self._apply_to_session(command)

    def _apply_to(self, extension: PanelExtension, command: Any) -> bool:
        """Apply an extension's own command; return whether the session goes on afterwards."""
        goes_on = extension.apply(self.session, command)
        if goes_on:
            self._paused = False
        else:
            self._publish_again()
        return goes_on

    def _apply_to_session(self, command: Any) -> bool:
        """Apply a command that is recorded; return whether the session goes on afterwards."""
        match command:
            case Say(text, calls):
                command = Say(text, self._revealed(calls))
            case Replay():
                self._replayed_from = len(self.session.journal)
        self.session = apply_command(self.session, command)
        match command:
            case NameBranch() | HideBranch():
                self._publish_again()
                return False
            case Fork() | Checkout():
                self._paused = True
                return False
        return True

    @property
    def draft(self) -> tuple[Written, ...]:
        """The calls that the person has written for the model's reply that is due now."""
        head, calls = self._draft
        return calls if head == self.session.head else ()

    def _take_draft(self, draft: Draft) -> None:
        """Keep the calls that the person writes in the model's place, where they could run."""
        cursor, known = self.session.cursor, self.draft
        calls = self._revealed(draft.calls)
        replying.demand_model_turn(cursor)
        for call in calls if not draft.anyway else ():
            if call not in known:
                replying.check_person_call(cursor, call.tool, call.arguments)
        self._draft = self.session.head, calls

    def _revealed(self, calls: tuple[Written, ...]) -> tuple[Written, ...]:
        """Return calls as the person wrote them: a panel has markers in place of secrets."""
        hide = self.session.cursor.context.hide

        def written(tool: str, name: str, value: Any) -> Any:
            drafts = (call.arguments for call in self.draft if call.tool == tool)
            values = (arguments[name] for arguments in drafts if name in arguments)
            return next((known for known in values if hide(known) == value), value)

        return tuple(
            Written(call.tool, {k: written(call.tool, k, v) for k, v in call.arguments.items()})
            for call in calls
        )

    # -- updates ------------------------------------------------------------------------------

    def publish(self, phase: Phase, says: str = "", detail: str = "", passing: str = "") -> None:
        """Send the panels how the session stands, and what changed since the last time.

        `says` is the status in words, `detail` a second line; `passing` is shown with it, and
        not saved: a cell that runs again saves the same.
        """
        self._published = phase, says, detail, passing
        rows = []
        for extension in self.extensions:
            extension.before_update(self.session, phase)
            rows.append(extension.row(self.session, phase))
        shown = tuple(filter(None, rows))
        self.updates.publish(self.session, self._status(phase, says, detail), shown, passing)

    def _publish_again(self) -> None:
        self.publish(*self._published)

    def republish_renamed(self) -> bool:
        """Publish again where a branch was named or hidden; return whether one was."""
        renamed = self.updates.view.labels_changed(self.session.cursor)
        if renamed:
            self._publish_again()
        return renamed

    def stream(self, text: str) -> None:
        """Send what the model has written of its reply since the last time."""
        self.updates.stream(self.session, text)

    def wait_for_model(self, reason: str) -> None:
        """Send why the model is asked again, and when."""
        self.updates.wait_for_model(self.session, reason)

    def whole(self) -> Rows:
        """Return all rows as a notebook keeps them, without sending them."""
        return self.updates.whole(self.session)

    def _status(self, phase: Phase, says: str, detail: str) -> SessionRow:
        """Return the row of the session itself."""
        session, cursor = self.session, self.session.cursor
        state, desk = cursor.state, cursor.context
        pending = () if phase in ("thinking", "running") else places.waiting_calls(cursor)
        branch_view = BranchView(cursor, state)
        reply = state.last if phase != "thinking" else None
        text = ""
        if isinstance(reply, Replied):
            # Where the model said nothing, what it thought aloud is shown.
            text = (reply.text if reply.said is None else reply.said) or reply.thought
        return SessionRow(
            name=session.name,
            phase=phase,
            says=says or STATUS[phase],
            detail="\n".join(filter(None, [desk.hide(detail), self.unsaved()])),
            model=self.model,
            scheme=state.opened.scheme,
            pending=tuple([call_key(call, branch_view) for call in pending]),
            text=text,
            stepping=self.stepping,
            stops=tuple(sorted(desk.breakpoints)),
            yours=replying.person_turn(cursor, self.draft) if phase == "waiting" else None,
        )


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Let Ctrl-C reach code that runs here, as it does in an ordinary cell.

    While a cell is awaited the kernel turns the signal into a cancellation, which a tool
    that does not await would never see.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        # An interrupt that comes right behind this call is raised here.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        signal.signal(signal.SIGINT, before)
