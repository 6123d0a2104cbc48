"""A learner guesses each reply of the model before it is asked for, then sees both, with points.

A guess is no event of the session, so it is not in the journal. It is kept as long as the kernel
runs.

There is one point for the tool, and one for each argument. An argument of a guess is right if the
model's call would be the same call with it. So a value counts as the tool takes it, and an object
counts whether it is named or is the default.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.digests import digest, encode
from ..core.errors import Absent, CallError, NotYourTurn, UsageError
from ..core.events import Call, Replied
from ..core.interface_text import t, tn
from ..core.state import AskModel
from ..core.text import nearest
from ..engine import person_model as replying
from ..engine.cursor import Cursor, SessionHooks
from ..engine.person_model import Written, YourTurn, check_person_call
from ..models.named import Person
from ..schemes.select import SELECT
from ..session.session import Session
from ..tools.arguments import plain_arguments, wrong_arguments
from ..tools.plain_data import plain_data
from ..tools.tool import default_arguments
from .panel_rows import (
    ArgumentAnswer,
    CallAnswer,
    Guess,
    GuessRow,
    Mark,
    ReplyAnswer,
    TeachingRow,
)

NOBODY = "predict is off: nobody is here to guess"
PLAYS = "predict is off: you are the model yourself"


@dataclass(frozen=True, slots=True)
class Points:
    """How many points a learner has, and how many there were to have."""

    right: int = 0
    of: int = 0

    @property
    def percent(self) -> float:
        """The points as a part of a hundred, 0 where there were none to have."""
        return self.right * 100 / max(self.of, 1)

    def __add__(self, more: Points) -> Points:
        return Points(self.right + more.right, self.of + more.of)

    @property
    def text(self) -> str:
        return tn("%2 of %1 point", "%2 of %1 points", self.of, self.right)


NO_POINTS = Points()


@dataclass
class Guesses(SessionHooks):
    """The guesses of a cell; while they are on, each reply is held until it is guessed."""

    held_status = t("Your turn to guess")

    passed: set[str] = field(default_factory=set)
    """The entries after which a reply was guessed, skipped, or seen before this cell."""
    points: Points = NO_POINTS
    rows: list[GuessRow] = field(default_factory=list)
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
        if state.open or state.aside is not None or cursor.turn_limit_reached:
            return False
        if cursor.head in self.passed:
            return False
        replayed = cursor.replay_queue.next()
        if replayed is not None:
            return isinstance(replayed.event, Replied) and replayed.parent not in self.passed
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
        self.passed.add(cursor.head)

    def settle(self, cursor: Cursor) -> None:
        """Compare the guess with its reply, if the reply has come."""
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
        return self.points.text if self.points.of else ""


def turn_to_guess(cursor: Cursor) -> YourTurn | None:
    """Return the turn whose reply is to be guessed, None if there is none.

    It is computed from the request, so it contains nothing of the reply.
    """
    return replying.next_turn(cursor) if isinstance(cursor.holding_hook, Guesses) else None


def begin(session: Session) -> Guesses:
    """Start to hold the session's replies until they are guessed, and return the guesses.

    Replies that it has already are not guessed.
    """
    end(session)
    context = session.cursor.context
    path = context.journal.path(session.head)
    guesses = Guesses({entry.parent or "" for entry in path if isinstance(entry.event, Replied)})
    context.hooks = (*context.hooks, guesses)
    return guesses


def end(session: Session) -> None:
    """Stop holding replies."""
    context = session.cursor.context
    context.hooks = tuple(hook for hook in context.hooks if not isinstance(hook, Guesses))


def current(session: Session) -> Guesses:
    """Return the guesses that hold a session's replies. Raises UsageError if there are none."""
    for hook in session.cursor.context.hooks:
        if isinstance(hook, Guesses):
            return hook
    raise UsageError(
        "nothing is to be guessed here; a cell that begins with %%toolchat --predict asks "
        "for a guess before each reply"
    )


def why_not(session: Session, somebody: bool) -> str:
    """Return why nothing can be guessed in a cell, "" if something can."""
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
    arguments = plain_arguments(guess.arguments)
    if problems := _problems(cursor, guess.tool, arguments):
        raise wrong_arguments(guess.tool, problems)
    return Guess(guess.tool, arguments)


def _problems(cursor: Cursor, name: str, arguments: dict[str, Any]) -> dict[str, str]:
    """Return what is wrong with arguments of a tool, by path; an argument may be missing."""
    try:
        check_person_call(cursor, name, arguments)
    except CallError as error:
        if not error.fields:
            raise
        fields = error.fields.items()
        return {path: text for path, text in fields if path.partition(".")[0] in arguments}
    except Absent:
        pass
    return {}


# -- guesses beside the calls ---------------------------------------------------------------


def _row(cursor: Cursor, head: str, guess: Guess | None, calls: tuple[Call, ...]) -> GuessRow:
    """Return a guess, None for a skipped one, beside the calls of the reply after an entry."""
    before = Cursor(cursor.context, head)
    scored = score_guess(before, guess or Guess(), calls)
    call = scored.call
    # A skipped reply has no points, right or wrong.
    points = scored.points if guess is not None else NO_POINTS
    return GuessRow(
        id=head[:12],
        turn=before.state.turns + 1,
        guess=None if guess is None else Written(guess.tool, dict(guess.arguments)),
        came=None if call is None else Written(call.tool, plain_data(call.arguments)),
        step=0 if call is None else cursor.state.calls[call.id].step,
        calls=len(calls),
        marks=scored.marks if guess is not None else (),
        tool=scored.tool and guess is not None,
        right=points.right,
        of=points.of,
    )


def as_text(rows: Iterable[GuessRow], score: str) -> str:
    """Return guesses beside the calls as text, for a front end without the panel."""
    lines = []
    for row in rows:
        lines.append(
            f"turn {row.turn}: {Points(row.right, row.of).text if row.guess else 'skipped'}"
        )
        if row.guess is not None:
            lines.append(f"  you    {_as_code(row.guess)}")
        lines.append(f"  model  {_as_code(row.came)}")
    return "\n".join([*lines, *([f"Score: {score}"] if score else [])])


def _as_code(call: Written | None) -> str:
    if call is None or not call.tool:
        return "no call: it answers"
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return f"{call.tool}({arguments})"[:300]


# -- the score of a guess -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoredGuess:
    """A guess beside the call that it is compared with, None where the model made none."""

    call: Call | None
    tool: bool
    """The guess names the right tool, or says rightly that there is none."""
    marks: tuple[Mark, ...] = ()

    @property
    def points(self) -> Points:
        right = self.tool + sum(mark.right for mark in self.marks) if self.tool else 0
        return Points(right, 1 + len(self.marks))


def score_guess(before: Cursor, guess: Guess, calls: Sequence[Call]) -> ScoredGuess:
    """Return a guess beside the calls of the reply that followed at a cursor.

    Of several calls in one reply, the one that the guess comes nearest to counts.
    """
    if not calls:
        return ScoredGuess(None, not guess.tool)
    scores = (_compared(before, guess, call) for call in calls)
    return max(scores, key=lambda scored: (scored.tool, scored.points.percent))


def _compared(before: Cursor, guess: Guess, call: Call) -> ScoredGuess:
    names = _scored_arguments(before, call)
    if guess.tool != call.tool:
        return ScoredGuess(call, False, tuple(Mark(name, False) for name in names))
    marks = [Mark(name, _is_right(before, call, name, guess.arguments)) for name in names]
    # An argument too much is wrong, unless it only says the default.
    for name in guess.arguments:
        if name not in names and not _is_right(before, call, name, guess.arguments):
            marks.append(Mark(name, False))
    return ScoredGuess(call, True, tuple(marks))


def _scored_arguments(before: Cursor, call: Call) -> tuple[str, ...]:
    """Return the arguments of a call for which there is a point.

    The object of a method counts even if it is left out, since it is the default.
    """
    tool = before.tool_named(call.tool)
    receiver = [tool.receiver] if tool is not None and tool.receiver else []
    return tuple(dict.fromkeys((*receiver, *call.arguments)))


def _is_right(before: Cursor, call: Call, name: str, guessed: Mapping[str, Any]) -> bool:
    """Return whether the call would be the same with the guess's value of one argument, or
    without the argument where the guess has no value.
    """
    others = {key: value for key, value in call.arguments.items() if key != name}
    changed = {**others, name: guessed[name]} if name in guessed else others
    pair = dict(call.arguments), changed
    meant = (plain_data(_meaning(before, call.tool, arguments)) for arguments in pair)
    # A call that could not run means what it says.
    return _are_same(*pair) or _are_same(*meant)


def _are_same(first: object, second: object) -> bool:
    return digest("same", first) == digest("same", second)


def recorded_answers(cursor: Cursor) -> Iterator[ReplyAnswer]:
    """Yield the replies on the branch of a cursor, with what counts as a right guess of each."""
    for entry in cursor.context.journal.path(cursor.head):
        if isinstance(entry.event, Replied):
            before = Cursor(cursor.context, entry.parent or "")
            calls = (_answer(before, cursor, call) for call in entry.event.calls)
            yield ReplyAnswer(replying.next_turn(before), tuple(calls))


def _answer(before: Cursor, cursor: Cursor, call: Call) -> CallAnswer:
    tool, record = before.tool_named(call.tool), cursor.state.calls[call.id]
    scored = _scored_arguments(before, call)
    defaults = default_arguments(tool) if tool is not None else {}
    answers = []
    for name in dict.fromkeys((*scored, *defaults)):
        # A page knows these values of an argument; a kernel would take others for the same.
        spellings = (call.arguments, record.recorded_arguments, defaults)
        values = [given[name] for given in spellings if name in given]
        right = (encode(v) for v in values if _is_right(before, call, name, {name: v}))
        left_out = _is_right(before, call, name, {})
        answers.append(
            ArgumentAnswer(name, tuple(dict.fromkeys(right)), left_out, name not in scored)
        )
    return CallAnswer(Written(call.tool, plain_data(call.arguments)), record.step, tuple(answers))


# -- what a call means ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """An object that an argument names."""

    name: str


def _meaning(before: Cursor, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a call's arguments mean: completed by the scheme, as the tool takes them.

    Arguments that could not run mean themselves.
    """
    tool, state = before.tool_named(name), before.state
    try:
        ready, _ = before.prepared(state.next_call(Call("guess", name, arguments)), state)
    except (CallError, Absent):
        return arguments
    complete = dict(ready.arguments)
    if name == SELECT:
        return {**complete, "tools": sorted(map(str, complete["tools"]))}
    # The types of a tool may run any code, which gets a name here in place of an object.
    with contextlib.suppress(Exception):
        assert tool is not None
        return tool.check({**default_arguments(tool), **complete}, lambda name, types: Named(name))
    return complete
