"""A learner guesses each reply of the model before it is asked for, then sees both, with points.

A guess is no event of the session, so it is not in the journal. It is kept as long as the kernel
runs.

There is one point for the tool, and one for each argument. An argument of a guess is right if the
model's call would be the same call with it. So a value counts as the tool takes it, and an object
counts whether it is named or is the default.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

NO_CALL = Guess()
"""A guess that the model calls nothing."""


@dataclass(frozen=True, slots=True)
class Points:
    """How many points a learner has, and how many there were to have."""

    right: int = 0
    of: int = 0

    @property
    def percent(self) -> float:
        """The points as a part of a hundred, 0 where there were none to have."""
        return self.right * 100 / max(self.of, 1)

    @property
    def text(self) -> str:
        return tn("%2 of %1 point", "%2 of %1 points", self.of, self.right)


@dataclass
class Guesses(SessionHooks):
    """The guesses of a cell; while they are on, each reply is held until it is guessed."""

    held_status = t("Your turn to guess")

    passed: set[str] = field(default_factory=set)
    """The entries after which a reply was guessed, skipped, or seen before this cell."""
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
        if state.open or state.main_work is not None or cursor.turn_limit_reached:
            return False
        if cursor.head in self.passed:
            return False
        replayed = cursor.replay_queue.next()
        if replayed is not None:
            return isinstance(replayed.event, Replied) and replayed.parent not in self.passed
        model = cursor.context.model
        asks = isinstance(cursor.next_step, AskModel)
        return asks and model is not None and not isinstance(model, Person)

    def take(self, cursor: Cursor, guess: Guess | None) -> None:
        """Take the guess of the next reply, None for none.

        Raises UsageError and CallError for a call that could not be made.
        """
        self._open = cursor.head, None if guess is None else _possible(cursor, guess)
        self.passed.add(cursor.head)

    def settle(self, cursor: Cursor) -> GuessRow | None:
        """Compare the guess with its reply, if the reply has come; return both then."""
        head, guess = self._open or ("", None)
        path = cursor.context.journal.path(cursor.head, after=head) if self._open else ()
        if not path or path[0].parent != head or not isinstance(path[0].event, Replied):
            return None
        self._open, before = None, Cursor(cursor.context, head)
        self.rows.append(score_guess(before, guess, path[0].event.calls, cursor))
        return self.rows[-1]

    @property
    def points(self) -> Points:
        """The points so far."""
        return Points(sum(row.right for row in self.rows), sum(row.of for row in self.rows))

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


def current(cursor: Cursor) -> Guesses:
    """Return the guesses that hold the next reply. Raises NotYourTurn if none do."""
    if isinstance(cursor.holding_hook, Guesses):
        return cursor.holding_hook
    raise NotYourTurn(
        "nothing is to be guessed now; a cell that begins with %%toolchat --predict asks for a "
        "guess before each reply"
    )


# -- a guess that can be made -------------------------------------------------------------


def _possible(cursor: Cursor, guess: Guess) -> Guess:
    """Return a guess of a call that could be made; it may leave out arguments.

    Raises UsageError and CallError for any other.
    """
    if not guess.tool:
        return NO_CALL
    offered = [tool.name for tool in (*cursor.offer.own, *cursor.offer.tools)]
    if guess.tool not in offered:
        raise UsageError(
            f"{guess.tool!r:.60} is none of the tools of this turn: {', '.join(offered)}."
            f"{nearest(guess.tool, offered)}"
        )
    arguments = plain_arguments(guess.arguments)
    try:
        check_person_call(cursor, guess.tool, arguments)
    except Absent:
        pass
    except CallError as error:
        fields = error.fields.items()
        # What a guess leaves out costs a point, and is no mistake.
        wrong = {path: text for path, text in fields if path.partition(".")[0] in arguments}
        if wrong or not fields:
            raise (wrong_arguments(guess.tool, wrong) if wrong else error) from None
    return Guess(guess.tool, arguments)


# -- a guess beside the call, as text --------------------------------------------------------


def as_text(row: GuessRow, score: str) -> str:
    """Return a guess beside the call as text, for a front end without the panel."""
    lines = [f"turn {row.turn}: {Points(row.right, row.of).text if row.guess else 'skipped'}"]
    lines += [f"  you    {_as_code(row.guess)}"] if row.guess else []
    lines += [f"  model  {_as_code(row.came)}", *([f"Score: {score}"] if score else [])]
    return "\n".join(lines)


def _as_code(call: Written | None) -> str:
    if call is None or not call.tool:
        return "no call: it answers"
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return f"{call.tool}({arguments})"[:300]


# -- the score of a guess -------------------------------------------------------------------


def score_guess(
    before: Cursor, guess: Guess | None, calls: Sequence[Call], after: Cursor
) -> GuessRow:
    """Return a guess beside the calls of the reply that followed at a cursor.

    Of several calls in one reply, the one that the guess comes nearest to counts. A skipped reply
    (None) has no points, right or wrong.
    """
    guessed = guess or NO_CALL
    rows = [_scored(guessed, _answer(before, after, call, guessed)) for call in calls]
    nothing = GuessRow("", 0, tool=not guessed.tool, right=int(not guessed.tool), of=1)
    row = max(rows, key=lambda row: (row.tool, row.right / row.of), default=nothing)
    if guess is None:
        row = replace(row, tool=False, marks=(), right=0, of=0)
    written = None if guess is None else Written(guess.tool, dict(guess.arguments))
    head, turn = (before.head or "")[:12], before.state.turns + 1
    return replace(row, id=head, turn=turn, guess=written, calls=len(calls))


def _scored(guess: Guess, answer: CallAnswer) -> GuessRow:
    """Return a guess beside one call: a point for the tool, and for each argument of the call."""
    tool, marks = guess.tool == answer.call.tool, list[Mark]()
    for argument in answer.arguments:
        name, right = argument.name, tool and argument.left_out
        if tool and name in guess.arguments:
            right = encode(guess.arguments[name]) in argument.values
        # An argument too much is wrong, unless it only says the default.
        if not argument.optional or (tool and not right):
            marks.append(Mark(name, right))
    points = tool + sum(mark.right for mark in marks)
    step, of = answer.step, 1 + len(marks)
    return GuessRow("", 0, None, answer.call, step, 0, tuple(marks), tool, points, of)


def recorded_answers(cursor: Cursor) -> Iterator[ReplyAnswer]:
    """Yield the replies on the branch of a cursor, with what counts as a right guess of each."""
    for entry in cursor.context.journal.path(cursor.head):
        if isinstance(entry.event, Replied):
            before = Cursor(cursor.context, entry.parent or "")
            calls = (_answer(before, cursor, call) for call in entry.event.calls)
            yield ReplyAnswer(replying.next_turn(before), tuple(calls))


def _answer(before: Cursor, after: Cursor, call: Call, guess: Guess = NO_CALL) -> CallAnswer:
    """Return what counts as right for each argument of a call.

    There is a point for each argument that the call has, and for the object of a method, which
    is the default. A page knows the values here; a kernel adds what the guess says, which may be
    another spelling of the same.
    """
    tool, record = before.tool_named(call.tool), after.state.calls.get(call.id)
    guessed = guess.arguments if guess.tool == call.tool else {}
    defaults = default_arguments(tool) if tool is not None else {}
    receiver = [tool.receiver] if tool is not None and tool.receiver else []
    spellings = [call.arguments, record.recorded_arguments if record else {}, defaults, guessed]
    scored, answers = {*receiver, *call.arguments}, []
    for name in dict.fromkeys((*receiver, *call.arguments, *defaults, *guessed)):
        values = [arguments[name] for arguments in spellings if name in arguments]
        right = (encode(v) for v in values if _is_same(before, call, {**call.arguments, name: v}))
        others = {key: value for key, value in call.arguments.items() if key != name}
        left_out, optional = _is_same(before, call, others), name not in scored
        answers.append(ArgumentAnswer(name, tuple(dict.fromkeys(right)), left_out, optional))
    step = record.step if record else 0
    return CallAnswer(Written(call.tool, plain_data(call.arguments)), step, tuple(answers))


def _is_same(before: Cursor, call: Call, arguments: Mapping[str, Any]) -> bool:
    """Return whether a call would be the same with other arguments."""
    pair = dict(call.arguments), dict(arguments)
    meant = (plain_data(_meaning(before, call.tool, written)) for written in pair)
    # A call that could not run means what it says.
    return _are_same(*pair) or _are_same(*meant)


def _are_same(first: object, second: object) -> bool:
    return digest("same", first) == digest("same", second)


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
