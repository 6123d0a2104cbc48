"""A learner guesses each reply of the model before it is asked for, and then sees both.

A guess is no event of the session: nothing of it is in the journal. It is kept here for as
long as the kernel lives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..acts import replying
from ..errors import Absent, CallError, NotYourTurn, UsageError
from ..events import Call, Replied
from ..loop import Cursor, SessionHooks
from ..models.person import Person
from ..rows.contract import Written, YourTurn
from ..session import Session
from ..state.steps import AskModel
from ..tools import nearest
from ..tools.arguments import readable
from ..tools.references import references
from ..tools.tool import misfits
from .rows import GuessRow, Mark, TeachingRow
from .scoring import NO_CALL, Guess, Judged, Points, in_words, judged

NOTHING = Points()
NOBODY = "predict is off: nobody is here to guess"
PLAYS = "predict is off: you are the model yourself"


@dataclass
class Guesses(SessionHooks):
    """The guesses of a cell; while they are on, each reply is held until it is guessed."""

    held_status = "Your turn to guess"

    root: str = ""
    """The entry that the session began with."""
    earlier: Points = NOTHING
    """What was guessed in the session's cells before."""
    points: Points = NOTHING
    rows: list[GuessRow] = field(default_factory=list)
    _passed: set[str] = field(default_factory=set)
    """The places behind which a reply was guessed, skipped, or seen before this cell."""
    _open: tuple[str, Guess | None] | None = None
    """A place, and the guess of what follows it; None for no guess."""

    def hides_branches(self) -> bool:
        """Return True: other branches may contain the replies that are still to be guessed."""
        return True

    def view_row(self, place: Cursor) -> TeachingRow | None:
        """Return the turn that is to be guessed."""
        turn = turn_to_guess(place)
        return TeachingRow(turn=turn) if turn is not None else None

    def holds_reply(self, place: Cursor) -> bool:
        """Return whether the next reply is one to be guessed."""
        state = place.state
        if state.open or state.aside is not None or place.head in self._passed or place.spent:
            return False
        said = place.script.next()
        if said is not None:
            return isinstance(said.event, Replied) and said.parent not in self._passed
        asked = place.desk.model is not None and not _plays(place)
        return asked and isinstance(place.due, AskModel)

    def take(self, cursor: Cursor, guess: Guess | None) -> None:
        """Take the guess of the next reply, None for none.

        Raises NotYourTurn where nothing is to be guessed, UsageError and CallError for what
        could not be said here.
        """
        if not isinstance(cursor.held_by, Guesses):
            raise NotYourTurn("nothing is to be guessed now")
        if guess is not None:
            guess = _possible(cursor, guess)
        self._open = cursor.head, guess
        self._passed.add(cursor.head)

    def settle(self, cursor: Cursor) -> None:
        """Look whether the reply that was guessed has come, and set it beside the guess."""
        if self._open is None:
            return
        head, guess = self._open
        path = cursor.desk.journal.path(cursor.head, after=head)
        if not path or path[0].parent != head or not isinstance(path[0].event, Replied):
            return
        self._open = None
        row = _row(cursor, head, guess, path[0].event.calls)
        self.points += Points(row.right, row.of)
        self.rows.append(row)

    @property
    def score(self) -> str:
        """What was guessed so far, "" for nothing."""
        if not (self.earlier + self.points).of:
            return ""
        return ", ".join(filter(None, [str(self.points), self.session_score]))

    @property
    def session_score(self) -> str:
        """What was guessed in the whole session, "" where only this cell has guesses."""
        return f"{self.earlier + self.points} in this session" if self.earlier.of else ""


def turn_to_guess(place: Cursor) -> YourTurn | None:
    """Return the turn whose reply is to be guessed; None where none is.

    It is made of what the model is sent, and so holds nothing of what it says.
    """
    return replying.turn_of(place) if isinstance(place.held_by, Guesses) else None


def begin(session: Session, before: Guesses | None = None) -> Guesses:
    """From now on hold the session's replies until they are guessed; return the guesses.

    The replies that it has already were seen. `before` are the guesses of its last cell.
    """
    end(session)
    cursor = session.cursor
    path = cursor.desk.journal.path(cursor.head)
    seen = {entry.parent or "" for entry in path if isinstance(entry.event, Replied)}
    root, earlier = path[0].id, NOTHING
    if before is not None and before.root == root:
        earlier = before.earlier + before.points
    made = Guesses(root, earlier, _passed=seen)
    cursor.desk.hooks = (*cursor.desk.hooks, made)
    return made


def end(session: Session) -> None:
    """Hold no reply any more."""
    desk = session.cursor.desk
    desk.hooks = tuple(hook for hook in desk.hooks if not isinstance(hook, Guesses))


def current(session: Session) -> Guesses | None:
    """Return the guesses that hold a session's replies, None where none do."""
    hooks = session.cursor.desk.hooks
    return next((hook for hook in hooks if isinstance(hook, Guesses)), None)


def demand_current(session: Session) -> Guesses:
    """Return the guesses of a session. Raises UsageError where nothing is guessed."""
    guesses = current(session)
    if guesses is None:
        raise UsageError(
            "nothing is to be guessed here; a cell that begins with %%toolchat --predict asks "
            "for a guess before each reply"
        )
    return guesses


def why_not(session: Session, somebody: bool) -> str:
    """Return why nothing can be guessed in a cell, "" where it can."""
    return PLAYS if _plays(session.cursor) else "" if somebody else NOBODY


def _plays(place: Cursor) -> bool:
    return isinstance(place.desk.model, Person)


# -- a guess that can be made -------------------------------------------------------------


def _possible(cursor: Cursor, guess: Guess) -> Guess:
    """Return a guess of a call that could be made; what it leaves out is no fault."""
    if guess.tool == NO_CALL:
        return Guess()
    offered = [tool.name for tool in (*cursor.offer.own, *cursor.offer.tools)]
    if guess.tool not in offered:
        raise UsageError(
            f"{guess.tool!r:.60} is none of the tools of this turn: {', '.join(offered)}."
            f"{nearest(guess.tool, offered)}"
        )
    arguments = readable(guess.arguments)
    wrong = dict(_faults(cursor, guess.tool, arguments))
    if wrong:
        raise misfits(guess.tool, wrong)
    return Guess(guess.tool, arguments)


def _faults(cursor: Cursor, name: str, arguments: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what no call of the tool could say, by the place of it."""
    state, tool = cursor.state, cursor.find(name)
    assert tool is not None
    call = state.next_call(Call("guess", name, arguments))
    for place, object_name in references(tool.parameters, arguments):
        if object_name not in state.objects:
            yield place, f"there is no object {object_name}"
    try:
        cursor.prepared(call, state)
    except CallError as error:
        mine = (each for each in error.fields.items() if each[0].partition(".")[0] in arguments)
        yield from mine
    except Absent:
        pass


# -- what came ------------------------------------------------------------------------------


def _row(cursor: Cursor, head: str, guess: Guess | None, calls: tuple[Call, ...]) -> GuessRow:
    """Return a guess beside what came, as it is shown."""
    before = Cursor(cursor.desk, head)
    one = judged(before, guess or Guess(), calls)
    came = one.call
    row = GuessRow(
        id=head[:12],
        turn=before.state.turns + 1,
        says=_skipped(one) if guess is None else in_words(one),
        came=None if came is None else Written(came.tool, dict(came.arguments)),
        step=cursor.state.calls[came.id].step if came is not None else 0,
        calls=len(calls),
    )
    return row if guess is None else _with_marks(row, one)


def _with_marks(row: GuessRow, one: Judged) -> GuessRow:
    return replace(
        row,
        guess=Written(one.guess.tool, dict(one.guess.arguments)),
        marks=tuple(Mark(mark.name, mark.right) for mark in one.marks),
        tool=one.tool,
        right=one.points.right,
        of=one.points.of,
    )


def _skipped(one: Judged) -> str:
    return f"Skipped: it {'answered' if one.call is None else f'called {one.call.tool}'}."


def as_text(rows: Iterable[GuessRow], score: str) -> str:
    """Return guesses beside what came as text, for those who have no panel."""
    lines = [line for row in rows for line in _lines(row)]
    return "\n".join([*lines, *([f"Score: {score}"] if score else [])])


def _lines(row: GuessRow) -> Iterator[str]:
    yield f"turn {row.turn}: {row.says}"
    if row.guess is not None:
        yield f"  you    {_spelled(row.guess)}"
    yield f"  model  {_spelled(row.came)}"


def _spelled(written: Written | None) -> str:
    if written is None or written.tool == NO_CALL:
        return "no call: it answers"
    given = ", ".join(f"{name}={value!r}" for name, value in written.arguments.items())
    return f"{written.tool}({given})"[:300]
