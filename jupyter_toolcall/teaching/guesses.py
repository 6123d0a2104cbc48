"""A learner guesses each reply of the model before it is asked for, and then sees both.

A guess is no event of the session: nothing of it is in the journal. It is kept here for as
long as the kernel lives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import Absent, CallError, NotYourTurn, UsageError
from ..core.events import Call, Replied
from ..core.state import AskModel
from ..core.text import nearest
from ..engine import person_model as replying
from ..engine.cursor import Cursor
from ..engine.hooks import SessionHooks
from ..engine.person_model import Written, YourTurn
from ..models.named import Person
from ..session.session import Session
from ..tools.argument_schema import readable
from ..tools.object_references import references
from ..tools.tool import misfits
from .guess_scores import NO_POINTS, Points, score_guess
from .panel_rows import Guess, GuessRow, TeachingRow

NOBODY = "predict is off: nobody is here to guess"
PLAYS = "predict is off: you are the model yourself"


@dataclass
class Guesses(SessionHooks):
    """The guesses of a cell; while they are on, each reply is held until it is guessed."""

    held_status = "Your turn to guess"

    root: str = ""
    """The entry that the session began with."""
    earlier: Points = NO_POINTS
    """The points of the session's cells before."""
    points: Points = NO_POINTS
    rows: list[GuessRow] = field(default_factory=list)
    _passed: set[str] = field(default_factory=set)
    """The entries after which a reply was guessed, skipped, or seen before this cell."""
    _open: tuple[str, Guess | None] | None = None
    """An entry, and the guess of the reply after it; None for no guess."""

    def hides_branches(self) -> bool:
        """Return True: other branches may contain the replies that are still to be guessed."""
        return True

    def view_row(self, cursor: Cursor) -> TeachingRow | None:
        """Return the turn that is to be guessed."""
        turn = turn_to_guess(cursor)
        return TeachingRow(turn=turn) if turn is not None else None

    def holds_reply(self, cursor: Cursor) -> bool:
        """Return whether the next reply is one to be guessed."""
        state = cursor.state
        if (
            state.open
            or state.aside is not None
            or cursor.head in self._passed
            or cursor.turn_limit_reached
        ):
            return False
        replayed = cursor.replay_queue.next()
        if replayed is not None:
            return isinstance(replayed.event, Replied) and replayed.parent not in self._passed
        has_model = cursor.context.model is not None and not _plays(cursor)
        return has_model and isinstance(cursor.next_step, AskModel)

    def take(self, cursor: Cursor, guess: Guess | None) -> None:
        """Take the guess of the next reply, None for none.

        Raises NotYourTurn where nothing is to be guessed, UsageError and CallError for a call
        that could not be made.
        """
        if not isinstance(cursor.holding_hook, Guesses):
            raise NotYourTurn("nothing is to be guessed now")
        self._open = cursor.head, None if guess is None else _possible(cursor, guess)
        self._passed.add(cursor.head)

    def settle(self, cursor: Cursor) -> None:
        """Compare the guess with its reply, where that has come."""
        if self._open is None:
            return
        head, guess = self._open
        path = cursor.context.journal.path(cursor.head, after=head)
        if not path or path[0].parent != head or not isinstance(path[0].event, Replied):
            return
        self._open = None
        row = _row(cursor, head, guess, path[0].event.calls)
        self.points += Points(row.right, row.of)
        self.rows.append(row)

    @property
    def score(self) -> str:
        """The points so far in words, "" for none."""
        if not (self.earlier + self.points).of:
            return ""
        return ", ".join(filter(None, [str(self.points), self.session_score]))

    @property
    def session_score(self) -> str:
        """What was guessed in the whole session, "" where only this cell has guesses."""
        return f"{self.earlier + self.points} in this session" if self.earlier.of else ""


def turn_to_guess(cursor: Cursor) -> YourTurn | None:
    """Return the turn whose reply is to be guessed; None where none is.

    It is made of the request, and so holds nothing of the reply.
    """
    return replying.next_turn(cursor) if isinstance(cursor.holding_hook, Guesses) else None


def begin(session: Session, before: Guesses | None = None) -> Guesses:
    """From now on hold the session's replies until they are guessed; return the guesses.

    The replies that it has already were seen. `before` are the guesses of its last cell.
    """
    end(session)
    cursor = session.cursor
    path = cursor.context.journal.path(cursor.head)
    seen = {entry.parent or "" for entry in path if isinstance(entry.event, Replied)}
    root, earlier = path[0].id, NO_POINTS
    if before is not None and before.root == root:
        earlier = before.earlier + before.points
    made = Guesses(root, earlier, _passed=seen)
    cursor.context.hooks = (*cursor.context.hooks, made)
    return made


def end(session: Session) -> None:
    """Hold no reply any more."""
    desk = session.cursor.context
    desk.hooks = tuple(hook for hook in desk.hooks if not isinstance(hook, Guesses))


def current(session: Session) -> Guesses:
    """Return the guesses that hold a session's replies. Raises UsageError where none do."""
    for hook in session.cursor.context.hooks:
        if isinstance(hook, Guesses):
            return hook
    raise UsageError(
        "nothing is to be guessed here; a cell that begins with %%toolchat --predict asks "
        "for a guess before each reply"
    )


def why_not(session: Session, somebody: bool) -> str:
    """Return why nothing can be guessed in a cell, "" where it can."""
    return PLAYS if _plays(session.cursor) else "" if somebody else NOBODY


def _plays(cursor: Cursor) -> bool:
    return isinstance(cursor.context.model, Person)


# -- a guess that can be made -------------------------------------------------------------


def _possible(cursor: Cursor, guess: Guess) -> Guess:
    """Return a guess of a call that could be made; it may leave out arguments.

    Raises UsageError and CallError for any other.
    """
    if not guess.tool:
        return Guess()
    offered = [tool.name for tool in (*cursor.offer.own, *cursor.offer.tools)]
    if guess.tool not in offered:
        raise UsageError(
            f"{guess.tool!r:.60} is none of the tools of this turn: {', '.join(offered)}."
            f"{nearest(guess.tool, offered)}"
        )
    arguments = readable(guess.arguments)
    if problems := _problems(cursor, guess.tool, arguments):
        raise misfits(guess.tool, problems)
    return Guess(guess.tool, arguments)


def _problems(cursor: Cursor, name: str, arguments: dict[str, Any]) -> dict[str, str]:
    """Return what no call of the tool could have, by its path in the arguments."""
    state, tool = cursor.state, cursor.tool_named(name)
    assert tool is not None
    problems = {
        path: f"there is no object {object_name}"
        for path, object_name in references(tool.parameters, arguments)
        if object_name not in state.objects
    }
    try:
        cursor.prepared(state.next_call(Call("guess", name, arguments)), state)
    except CallError as error:
        for path, problem in error.fields.items():
            if path.partition(".")[0] in arguments:
                problems[path] = problem
    except Absent:
        pass
    return problems


# -- guesses beside the calls ---------------------------------------------------------------


def _row(cursor: Cursor, head: str, guess: Guess | None, calls: tuple[Call, ...]) -> GuessRow:
    """Return a guess, None for a skipped one, beside the calls of the reply after an entry."""
    before = Cursor(cursor.context, head)
    scored = score_guess(before, guess or Guess(), calls)
    call = scored.call
    row = GuessRow(
        id=head[:12],
        turn=before.state.turns + 1,
        says=f"Skipped: it {'answered' if call is None else f'called {call.tool}'}.",
        came=None if call is None else Written(call.tool, dict(call.arguments)),
        step=0 if call is None else cursor.state.calls[call.id].step,
        calls=len(calls),
    )
    if guess is None:
        return row
    return replace(
        row,
        says=scored.sentence,
        guess=Written(guess.tool, dict(guess.arguments)),
        marks=scored.marks,
        tool=scored.tool,
        right=scored.points.right,
        of=scored.points.of,
    )


def as_text(rows: Iterable[GuessRow], score: str) -> str:
    """Return guesses beside the calls as text, for those who have no panel."""
    lines = []
    for row in rows:
        lines.append(f"turn {row.turn}: {row.says}")
        if row.guess is not None:
            lines.append(f"  you    {_as_code(row.guess)}")
        lines.append(f"  model  {_as_code(row.came)}")
    return "\n".join([*lines, *([f"Score: {score}"] if score else [])])


def _as_code(call: Written | None) -> str:
    if call is None or not call.tool:
        return "no call: it answers"
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return f"{call.tool}({arguments})"[:300]
