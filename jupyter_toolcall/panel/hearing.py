"""What a person wants, as it comes in: from any thread, and carried out between two steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..acts import replying
from ..errors import Stopped, ToolcallError
from ..rows.contract import (
    Break,
    Check,
    Checkout,
    Command,
    Compare,
    Draft,
    Export,
    Fork,
    Guess,
    Hello,
    HideBranch,
    NameBranch,
    Replay,
    Run,
    Say,
    ShowObject,
    ShowRequest,
    SkipGuess,
    Step,
    Stop,
    Task,
    Tidy,
    Written,
)
from ..teaching import scoring
from . import predicting
from .commands import command, obey, refusal
from .screen import Screen

STAYS = (
    *(Hello, Tidy, Check, Break, Fork, Checkout, Draft),
    *(NameBranch, HideBranch, Compare, ShowRequest, ShowObject, Export),
)
"""What is carried out, and does not mean to go on."""


@dataclass
class Hearing(Screen):
    """A session that hears what the person in front of it wants."""

    inbox: deque[Any] = field(default_factory=deque)
    greeted: bool = False
    """A panel has said hello."""
    busy: bool = False
    on_idle: Callable[[], None] = lambda: None
    """Called when a wish comes in and nothing drives."""
    regain: Callable[[], None] = lambda: None
    """Called before commands are carried out: what they do is written to disk where it can be."""
    check: Callable[[], Task | None] = lambda: None
    """Returns how the exercise stands."""
    _held: bool = False
    """Nothing goes on before the person says so: after a fork, in steps."""
    _replayed: int = -1
    """How long the journal was when a replay began."""

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

    def greet(self) -> None:
        """A panel has come, and is told everything."""
        self.greeted = True
        self.compared.clear()
        self._tell_whole(self.watch.layout if self.watch.head == self.session.head else None)

    def _obey_all(self) -> bool:
        """Carry out what is in the inbox; return whether any of it means to go on."""
        goes = False
        if self.inbox:
            self.regain()
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
            case Tidy() | Compare() | ShowRequest() | ShowObject() | Export():
                self._show(wish)
            case Break(tool, on):
                self.session.cursor.desk.stop_at(tool, on)
                self._publish_again()
            case NameBranch() | HideBranch():
                self.session = obey(self.session, wish)
                self._publish_again()
            case Guess() | SkipGuess():
                self._take_guess(wish)
            case Check():
                self.task = self.check()
                self._publish_again()
            case Draft():
                self._take_down(wish)
            case Say(text, calls):
                self.session = obey(self.session, Say(text, self._as_written(calls)))
            case Fork() | Checkout():
                self.session = obey(self.session, wish)
                self._held = True
            case Replay():
                self._replayed = len(self.session.journal)
                self.session = obey(self.session, wish)
            case _:
                self.session = obey(self.session, wish)

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
        calls = self._as_written(draft.calls)
        replying.demand(cursor)
        for call in calls if not draft.anyway else ():
            if call not in known:
                replying.check(cursor, call.tool, call.arguments)
        self._draft = self.session.head, calls

    def _as_written(self, calls: tuple[Written, ...]) -> tuple[Written, ...]:
        """Return calls as the person wrote them: a panel has markers in place of secrets."""
        hide = self.session.cursor.desk.hide

        def written(tool: str, name: str, value: Any) -> Any:
            drafts = (call.arguments for call in self.draft if call.tool == tool)
            values = (arguments[name] for arguments in drafts if name in arguments)
            return next((known for known in values if hide(known) == value), value)

        return tuple(
            Written(call.tool, {k: written(call.tool, k, v) for k, v in call.arguments.items()})
            for call in calls
        )
