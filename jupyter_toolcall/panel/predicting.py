"""Predict: before each reply of the model a learner guesses it, and then sees both.

A guess is no fact of the session: nothing of it is in the journal. It is kept here for as
long as the kernel lives, and the reply that it is about is not asked for before it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import Absent, CallError, NotYourTurn, UsageError
from ..events import Call, Replied
from ..loop import Cursor, SessionHooks
from ..models.person import Person
from ..rows.contract import GuessRow, Mark, Written
from ..session import Session
from ..state.call import CallState
from ..state.steps import AskModel
from ..teaching.scoring import NO_CALL, Guess, Judged, Points, in_words, judged
from ..tools import nearest
from ..tools.arguments import readable
from ..tools.references import references
from ..tools.tool import misfits

NOTHING = Points()
NOBODY = "predict is off: nobody is here to guess"
PLAYS = "predict is off: you are the model yourself"


@dataclass
class Predicting(SessionHooks):
    """The guesses of a cell, and what came of them."""

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

    def hides_branches(self) -> bool:
        return True

    def take(self, cursor: Cursor, guess: Guess | None) -> None:
        """Take the guess of the next reply, None for none.

        Raises NotYourTurn where nothing is to be guessed, UsageError and CallError for what
        could not be said here.
        """
        if not cursor.held_by is not None:
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
        whole = self.earlier + self.points
        if not whole.of:
            return ""
        return f"{self.points}" + (f", {whole} in this session" if self.earlier.of else "")


def begin(session: Session, before: Predicting | None = None) -> Predicting:
    """From now on hold the session's replies back until somebody has guessed them.

    What stands in it already was seen. `before` are the guesses of its last cell.
    """
    cursor = session.cursor
    path = cursor.desk.journal.path(cursor.head)
    seen = {entry.parent or "" for entry in path if isinstance(entry.event, Replied)}
    root, earlier = path[0].id, NOTHING
    if before is not None and before.root == root:
        earlier = before.earlier + before.points
    made = Predicting(root, earlier, _passed=seen)
    cursor.desk.hooks = (*_others(cursor), made)
    return made


def end(session: Session) -> None:
    """Hold nothing back any more."""
    session.cursor.desk.hooks = _others(session.cursor)


def _others(cursor: Cursor) -> tuple[SessionHooks, ...]:
    return tuple(hook for hook in cursor.desk.hooks if not isinstance(hook, Predicting))


def of(session: Session) -> Predicting:
    """Return the guesses of a session. Raises UsageError where nothing is guessed."""
    found = [hook for hook in session.cursor.desk.hooks if isinstance(hook, Predicting)]
    if not found:
        raise UsageError(
            "nothing is to be guessed here; a cell that begins with %%toolchat --predict asks "
            "for a guess before each reply"
        )
    return found[0]


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
    call = CallState(Call("guess", name, arguments), "", len(state.order) + 1, state.turns + 1)
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
