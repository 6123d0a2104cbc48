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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..core import errors
from ..core.branches import unchanged_summary
from ..core.interface_text import InterfaceText, joined, on_wire, t
from ..core.interrupts import attempt
from ..core.secrets import MissingSecret
from ..core.state import AskModel, AskPerson, RunCall
from ..core.text import count_text
from ..engine import person_model as replying
from ..engine.cursor import Cursor
from ..engine.decisions import waiting_calls
from ..engine.forks import fork_note
from ..engine.outdated import retry_hint
from ..engine.person_model import Phase
from ..engine.replay import advance, last_step_text, next_step_text
from ..models.named import Person
from ..previews.call_previews import CallPreviews, Draft
from ..session.session import Session
from ..view.contract import Notice, Refused, Rows
from ..view.view_rows import position
from . import panel_commands as commands
from .extensions import PanelExtension
from .panel_commands import apply_command, parse_command
from .panel_updates import PanelUpdates, session_row
from .update_rate import PublishesExecution, UpdateRate

PROGRESS = 200
"""Characters of what a running tool says of its progress."""
TICK = 0.04
"""Seconds between two looks into the inbox."""
NO_REPLY = t("The model has no reply yet. Run asks it again.")
SAME_AGAIN = t("The same calls came out as before, so there is no new branch.")
SAME_SO_FAR = t("Replay: as it was recorded so far. Nothing ran.")
DIFFERS = t("This run differs from the recorded one.")

Pause = Literal["", "done", "decision", "held", "step", "reply", "model"]
"""What a session needs before its next step: "" nothing; "done": it needs nothing any more; a
decision; what a hook waits for; a click on Step; a reply of the person who plays the model;
"model": the model did not reply."""


@dataclass
class PanelController:
    """Runs one session for its panels, and applies the commands that come from them.

    Args:
        session: The session as it stands; commands and steps replace it.
        send: Sends a notice to every panel.
        model: The name of the model, as it is shown.
        stepping: Whether it pauses before every call.
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
    unsaved: Callable[[bool], str] = lambda at_rest: ""
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
    _waits: bool = False
    """Whether `run` waits for the person, so that no other cell runs."""
    updates: PanelUpdates = field(init=False)
    rate: UpdateRate = field(init=False)
    previews: CallPreviews = field(init=False)
    _paused: bool = False
    """Whether the next step waits for Step or Run: after a fork, before a replay or a call."""
    _written: commands.WrittenReply = field(default_factory=commands.WrittenReply)
    """What the person has written in the model's place."""
    _recorded_head: str = ""
    """The last entry of the branch that is replayed, or forked; "" where neither goes on."""
    _recorded_count: int = 0
    """How many entries there were on all branches when that began."""
    _differs: bool = False
    """Whether the replay or fork that has ended differs from that branch by itself."""
    _changes: bool = False
    """Whether the person edited, rejected or answered a call of it."""
    _retried: tuple[str, Session] | None = None
    """The call that failed and runs again, and the session before that."""
    _published: tuple[Phase, str, str, str] = ("ready", "", "", "")
    """What was published last."""
    _hint: str = ""
    """What to press after the tool of a failed call has changed, as last shown."""
    _has_refused: bool = False
    """Whether a command was refused since the last cell ran."""

    def __post_init__(self) -> None:
        self.updates = PanelUpdates(self.send, lambda: self.session)
        self.previews = CallPreviews(self.send)
        self.rate = UpdateRate(self._publish_now, lambda: self.updates.draw_previews())

    @property
    def phase(self) -> Phase:
        """The phase that was published last."""
        return self._published[0]

    # -- running ------------------------------------------------------------------------------

    async def run(self, wait: bool = True) -> Session:
        """Run to the end, or with `wait` false to the first pause; return the session.

        Raises Stopped where the person stops it, ModelError where the model can't answer,
        NotKept where what allows an effect can't be written down.
        """
        self.busy, self._waits = True, wait
        try:
            continues = False
            while True:
                await asyncio.sleep(0)
                if self.inbox:
                    self.apply_commands()
                pause = self._pause() if self._paused else self._step(publish=continues)
                continues = False
                if pause == "done":
                    count = self._recorded_count if self._recorded_head else -1
                    is_same = len(self.session.journal) == count
                    # What differs by the person's own decision is no news to them.
                    self._differs = not (self._changes or is_same or not self._recorded_head)
                    ending = SAME_AGAIN if is_same else DIFFERS if self._differs else ""
                    lines = (ending, self._repeated())
                    # A later edit runs on: it is none of the steps that were taken.
                    self._recorded_head, self.stepping = "", False
                    self.publish("finished", transient=joined("\n", filter(None, lines)))
                elif pause:
                    self._publish_pause(pause)
                if pause == "done" or (pause and not wait):
                    return self.session
                while pause and not self.inbox:
                    await asyncio.sleep(TICK)
                continues = bool(pause) and self.apply_commands()
        except (errors.Stopped, KeyboardInterrupt, asyncio.CancelledError) as error:
            self.inbox.clear()
            self.publish(
                "stopped", detail=text_of(error) or t("Interrupted. Press Run to continue.")
            )
            raise errors.Stopped("interrupted; nothing is lost: %toolchat next continues") from None
        except (errors.ModelError, errors.NotKept, errors.Unfinished, MissingSecret) as error:
            self.publish("failed", detail=text_of(error))
            raise
        except Exception as error:
            # A policy, a model or a hook may raise anything.
            self.publish("failed", detail=attempt(str, error)[0] or type(error).__name__)
            raise
        finally:
            self.busy = self._waits = False
            self.rate.end()

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
        return await self.run(wait=False) if self.apply_commands() else self.session

    def _step(self, publish: bool) -> Pause:
        """Take a step; return what the session needs before it can take one.

        A step that takes time is published first; with `publish` every step is.
        """
        cursor = self.session.cursor
        with interrupts():
            if cursor.holding_hook is not None:
                return self._pause()
            match cursor.next_step:
                case AskModel() if not isinstance(cursor.context.model, Person):
                    self.publish("thinking")
                case RunCall() if cursor.replay_queue.next() is None:
                    # It is published when its tool runs.
                    self.previews.take(cursor)
                case _ if publish:
                    self.publish("running")
            context = cursor.context
            publishes = self._publishes_execution(cursor)
            context.hooks = (*context.hooks, publishes)
            try:
                if advance(cursor, self.stepping) is not None:
                    self._paused = self._pauses_here()
                    return ""
            finally:
                context.hooks = tuple(hook for hook in context.hooks if hook is not publishes)
        return self._pause()

    def _pauses_here(self) -> bool:
        """Return whether it runs in steps, and the next step is a call that nobody decided on."""
        # One step takes a call from there to its end, and what follows it up to the next call.
        step = self.session.cursor.next_step
        return self.stepping and isinstance(step, RunCall) and step.call.status == "proposed"

    def _pause(self) -> Pause:
        """Return what the session needs before its next step.

        Raises Unfinished where it needs nobody, and still can't take a step.
        """
        cursor = self.session.cursor
        if self._paused and cursor.replay_queue.next(cursor.state.open) is not None:
            # What waits may have been decided: the replay repeats that first.
            return "step"
        if waiting_calls(cursor):
            return "decision"
        is_over = isinstance(cursor.next_step, AskPerson) and cursor.replay_queue.next() is None
        if is_over and not replying.is_person_turn(cursor):
            return "done"
        if cursor.holding_hook is not None:
            return "held"
        if self._paused:
            return "step"
        if cursor.turn_limit_reached:
            turns = count_text(cursor.state.turns_since, "turn")
            raise errors.Unfinished(
                f"stopped after {turns}: Run, or %toolchat next, continues for as many more; "
                "--max-turns sets how many"
            )
        return "reply" if replying.is_person_turn(cursor) else "model"

    def _publish_pause(self, pause: Pause) -> None:
        transient, cursor = self._repeated(), self.session.cursor
        phase: Phase = "waiting"
        status = detail = ""
        match pause:
            case "reply":
                status = replying.YOU
            case "held" if (hook := cursor.holding_hook) is not None:
                status = hook.held_status
            case "model":
                status, detail = t("Waiting for the model"), NO_REPLY
            case "step":
                phase, status = "ready", t("Ready for the next step")
                if cursor.replay_queue.next() is not None:
                    is_same = cursor.replay_queue.is_repeated(cursor.head)
                    so_far = SAME_SO_FAR if is_same else last_step_text(cursor)
                    detail = joined(" ", filter(None, (so_far, next_step_text(cursor))))
                elif self._recorded_head and isinstance(cursor.next_step, AskModel):
                    detail = fork_note(cursor)
        self.publish(phase, status, detail, transient)
        if self.greeted and pause == "decision":
            self.previews.show(self.session.cursor)

    def _repeated(self) -> str:
        """Return a summary of what a cell or a call that runs again left unchanged; only once."""
        if self._retried is not None:
            return self._failed_again(*self._retried)
        cursor = self.session.cursor
        if not self.recorded or cursor.replay_queue.next() is not None:
            return ""
        recorded, self.recorded = self.recorded, frozenset()
        return unchanged_summary(cursor.context.journal.path(cursor.head), recorded)

    def _failed_again(self, call_id: str, before: Session) -> str:
        """Return that a call failed as it did before, and go back there: its branch is hidden."""
        self._retried, call = None, before.state.calls[call_id]
        now = self.session.state.calls.get(call_id)
        if now is None or now.outcome != call.outcome:
            return ""
        if self.session.head != before.head:
            self.session = before.hide_branch(self.session.branch).checkout(before.head)
        return t("Call %1 fails as before.", call.step)

    # -- commands -----------------------------------------------------------------------------

    def receive(self, message: object) -> None:
        """Take a message of a panel: a greeting is answered, a command waits in the inbox."""
        kind = message.get("type") if isinstance(message, dict) else ""
        if kind == "stop" and not self.busy and self._recorded_head:
            # Who stops a replay, or a fork that has not run, goes back to where it began.
            kind, message = "checkout", {"type": "checkout", "branch": self._recorded_head}
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
        with self.rate.lock:
            self.updates.greet(self.greeted)
        self.greeted = True
        if self.phase == "waiting":
            self.previews.show(self.session.cursor, show_all=True)

    def apply_commands(self) -> bool:
        """Apply the commands in the inbox; return whether the session goes on afterwards.

        Raises Stopped for the command to stop. A command that is refused is answered with why.
        """
        if not self.inbox:
            return False
        continues = False
        self.before_commands()
        kinds = {kind: cls for e in self.extensions for kind, cls in e.commands.items()}
        while self.inbox:
            message = self.inbox.popleft()
            try:
                continues = self._apply(parse_command(message, kinds)) or continues
            except errors.Stopped:
                raise
            except errors.ToolcallError as error:
                kind = message.get("type", "") if isinstance(message, Mapping) else ""
                if not self.busy and self._published[0] == "waiting":
                    # What changed since a call was shown is shown, and can be decided on.
                    self._publish_again()
                self.send(refusal(str(kind)[:40], error))
                self._has_refused = True
        return continues

    def _apply(self, command: object) -> bool:
        """Apply a command; return whether the session goes on afterwards."""
        match command:
            case commands.Hello():
                self.greet()
            case commands.Stop():
                raise errors.Stopped(t("Press Run, or run %toolchat next, to continue."))
            case commands.Run() | commands.Step():
                self.stepping, self._paused = isinstance(command, commands.Step), False
                self.session.cursor.allow_more_turns()
                return True
            case commands.AddBudget() if budget := self.session.cursor.context.budget:
                budget.add(command.tokens, command.cost, command.calls)
                return True
            case commands.EditRule(save=False):
                self._show(command)
            case _ if isinstance(command, commands.Setting):
                self.session = apply_command(self.session, command)
                self._publish_again()
            case _ if isinstance(command, commands.Look):
                self._show(command)
            case commands.TryEdit(call, number=number):
                arguments = commands.edited_arguments(self.session, command)[1]
                self.previews.try_draft(self.session.cursor, Draft(call, number, arguments))
            case commands.Draft(send=send, text=text):
                calls = self._written.keep(self.session.cursor, command)
                if send:
                    return self._apply_other(commands.Say(text, calls))
                self._publish_again()
            case _ if isinstance(command, commands.Move):
                self._move(command)
                return True
            case commands.Retry(call):
                self._retried = call, self.session
                return self._apply_other(command)
            case commands.Say(text, calls):
                calls = self._written.revealed(self.session.cursor, calls)
                return self._apply_other(commands.Say(text, calls))
            case _:
                return self._apply_other(command)
        return False

    def _move(self, move: commands.Move) -> None:
        is_again = isinstance(move, (commands.Replay, commands.Fork))
        self._recorded_head, self._changes = self.session.head if is_again else "", False
        self._recorded_count = len(self.session.journal)
        self.session, self._paused = apply_command(self.session, move), True

    def _show(self, look: commands.Look) -> None:
        # A value that a cluster has lost is computed again, which may take long.
        try:
            with interrupts():
                self.updates.show(look)
        except KeyboardInterrupt:
            raise errors.UsageError(t("Interrupted")) from None

    def _apply_other(self, command: Any) -> bool:
        """Apply an extension's command, or one after which the session goes on."""
        for extension in self.extensions:
            if type(command) in extension.commands.values():
                if extension.apply(self.session, command):
                    self._paused = False
                    return True
                self._publish_again()
                return False
        self.session = apply_command(self.session, command)
        decides = isinstance(command, (commands.Edit, commands.Reject, commands.Answer))
        self._changes = self._changes or decides
        self._paused = self._pauses_here()
        return True

    # -- updates ------------------------------------------------------------------------------

    def publish(
        self, phase: Phase, status: str = "", detail: str = "", transient: str = ""
    ) -> None:
        """Send the panels how the session stands, and what changed since the last time.

        `status` is the phase in words, `detail` a second line; `transient` says what the last
        action came to: it is not saved, and ends with the next action, or where a panel opens
        again. Of a session that runs fast, most
        updates are put off, and sent with the next ones.
        """
        self._published = phase, status, detail, transient
        if phase not in ("thinking", "running") or self.rate.is_due():
            self._publish_now()

    def _publish_now(self) -> None:
        with self.rate.lock:
            self.rate.puts_off = False
            self._send_update(*self._published)

    def _send_update(self, phase: Phase, status: str, detail: str, transient: str) -> None:
        rows = []
        for extension in self.extensions:
            extension.before_update(self.session, phase)
            rows.append(extension.row(self.session, phase))
        unsaved = self.unsaved(phase not in ("thinking", "running"))
        draft = self._written.calls(self.session.head) if phase == "waiting" else ()
        row = session_row(self.session, phase, status, detail, draft)
        detail = joined("\n", filter(None, [row.detail, unsaved]))
        holds_kernel = self._waits and phase in ("waiting", "ready")
        row = replace(row, detail=detail, model=self.model, holds_kernel=holds_kernel)
        can_go_back = phase == "ready" and not self._waits and self._recorded_head != ""
        row = replace(row, differs=self._differs and transient != "", can_go_back=can_go_back)
        self.updates.publish(row, tuple(filter(None, rows)), transient)

    def stream(self, text: str) -> None:
        """Send what the model has written of its reply since the last time."""
        with self.rate.lock:
            self._publish_late()
            self.updates.stream(text)

    def wait_for_model(self, reason: str) -> None:
        """Send why the model is asked again, and when."""
        with self.rate.lock:
            self._publish_late()
            self.updates.wait_for_model(reason)

    def _publishes_execution(self, cursor: Cursor) -> PublishesExecution:
        """Return the hook that publishes which calls of a cursor run, and how far each is."""

        def publish(progress: str = "") -> None:
            count = len(cursor.running)
            says = t("Running: %1", progress) if progress else ""
            self.publish("running", t("Running %1 calls", count) if count > 1 else says)

        def show(call_id: str, text: str) -> None:
            line = " ".join(cursor.context.secrets.hide(str(text)).split())
            with self.rate.lock:
                # A thread of the tool may speak after the call has ended.
                if (running := cursor.running.get(call_id)) is not None:
                    running.progress = line[:PROGRESS]
                    # While the end of another call is recorded, the next update shows it.
                    if self.rate.is_steady:
                        publish(running.progress)

        return PublishesExecution(publish, self.rate, show)

    def _publish_late(self) -> None:
        """Send the update that was put off, if one was."""
        if self.rate.puts_off:
            self._publish_now()

    def _publish_again(self) -> None:
        self.publish(*self._published[:3])

    def republish_changed(self) -> bool:
        """Publish what other code did to the session; return whether it named or hid a branch."""
        if self._has_refused:
            # The cell may have mended why, such as the code of a tool.
            self._has_refused = False
            self.send(Refused("", ""))
        last, now = self.updates.view.position, position(self.session.cursor)
        if last is None:
            return False
        hint = self._hint if self.busy else retry_hint(self.session.cursor)
        if last.head != now.head and not self.busy:
            self.publish(*replying.idle_phase(self.session.cursor))
        elif hint != self._hint:
            # All rows are sent: calls before the failed one may be outdated too.
            self._hint, self.updates.view.position = hint, None
            self.publish(*self._published[:3], hint)
        elif last != now:
            self._publish_again()
        return last.labels != now.labels

    def whole(self) -> Rows:
        """Return all rows as a notebook keeps them, without sending them."""
        return self.updates.whole()


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Let Ctrl-C reach code that runs inside, as it does in an ordinary cell.

    While a cell is awaited the kernel turns the signal into a cancellation, which a tool
    that does not await would never see.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        # An interrupt that comes right after this call is raised at it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def refusal(command: str, error: errors.ToolcallError) -> Refused:
    """Return the notice that a command was not carried out; its texts are as a panel gets them."""
    fields = getattr(error, "fields", {})
    texts = [argument for argument in error.args if isinstance(argument, InterfaceText)]
    reason = texts[0] if texts else str(error)[:2_000]
    return Refused(command, reason, {name: on_wire(text) for name, text in fields.items()})


def text_of(error: BaseException) -> str:
    """Return what an error says; a text of the interface as one."""
    first = error.args[0] if len(error.args) == 1 else None
    return first if isinstance(first, str) else str(error)
