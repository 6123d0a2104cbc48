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

from ..core.digests import digest, encode
from ..core.errors import Absent, CallError, NotYourTurn
from ..core.events import Call, Replied
from ..core.interface_text import t, tn
from ..core.state import AskModel
from ..engine import person_model as replying
from ..engine.cursor import Cursor, SessionHooks
from ..engine.person_model import Written, YourTurn, check_person_call
from ..schemes.select import SELECT
from ..session.session import Session
from ..tools.arguments import plain_arguments
from ..tools.plain_data import plain_data
from ..tools.tool import default_arguments
from . import panel_rows
from .panel_rows import Guess, GuessRow, SkipGuess, TeachingRow

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
        """The points in words, "" where there were none to have."""
        return tn("%2 of %1 point", "%2 of %1 points", self.of, self.right) if self.of else ""


@dataclass
class Guesses(SessionHooks):
    """The guesses of a cell; while they are on, each reply is held until it is guessed."""

    held_status = t("Your turn to guess")

    passed: set[str] = field(default_factory=set)
    """The entries after which a reply was guessed, skipped, or seen before this cell."""
    rows: list[GuessRow] = field(default_factory=list)
    is_over: bool = False
    """Whether replies are held no more."""
    _open: tuple[str, Guess | None] | None = None
    """An entry, and the guess of the reply after it; None for no guess."""

    def hides_branches(self) -> bool:
        """Return whether other branches may contain replies that are still to be guessed."""
        return not self.is_over

    def view_row(self, cursor: Cursor) -> TeachingRow | None:
        """Return the turn that is to be guessed."""
        turn = turn_to_guess(cursor)
        return TeachingRow(turn=turn) if turn is not None else None

    def holds_reply(self, cursor: Cursor) -> bool:
        """Return whether the next reply is one to be guessed."""
        state = cursor.state
        if self.is_over or state.open or state.conversation or cursor.turn_limit_reached:
            return False
        if cursor.head in self.passed:
            return False
        replayed = cursor.replay_queue.next()
        if replayed is not None:
            return isinstance(replayed.event, Replied) and replayed.parent not in self.passed
        return isinstance(cursor.next_step, AskModel) and cursor.context.model is not None

    def take(self, cursor: Cursor, command: Guess | SkipGuess) -> None:
        """Take a guess of the next reply, or none.

        Raises CallError for a call that could not be made.
        """
        if isinstance(command, SkipGuess) and command.rest:
            self.is_over = True
            return
        self._open = cursor.head, _possible(cursor, command) if isinstance(command, Guess) else None
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


def turn_to_guess(cursor: Cursor) -> YourTurn | None:
    """Return the turn whose reply is to be guessed, None if there is none.

    It is computed from the request, so it contains nothing of the reply.
    """
    return replying.next_turn(cursor) if isinstance(cursor.holding_hook, Guesses) else None


def begin(session: Session) -> Guesses:
    """Start to hold the session's replies until they are guessed, and return the guesses.

    Replies that it has already are not guessed.
    """
    context = session.cursor.context
    path = context.journal.path(session.head)
    guesses = Guesses({entry.parent or "" for entry in path if isinstance(entry.event, Replied)})
    context.hooks = (*(hook for hook in context.hooks if not isinstance(hook, Guesses)), guesses)
    return guesses


def last(session: Session) -> Guesses:
    """Return the guesses of the last cell in which replies were guessed; none before the first."""
    hooks = (hook for hook in session.cursor.context.hooks if isinstance(hook, Guesses))
    return next(hooks, Guesses(is_over=True))


def current(cursor: Cursor) -> Guesses:
    """Return the guesses that hold the next reply. Raises NotYourTurn if none do."""
    if isinstance(cursor.holding_hook, Guesses):
        return cursor.holding_hook
    raise NotYourTurn("nothing is to be guessed now; --predict asks for a guess before each reply")


# -- a guess that can be made -------------------------------------------------------------


def _possible(cursor: Cursor, guess: Guess) -> Guess:
    """Return a guess of a call that could be made; it may leave out arguments.

    Raises CallError for any other.
    """
    if not guess.tool:
        return NO_CALL
    arguments = plain_arguments(guess.arguments)
    try:
        check_person_call(cursor, guess.tool, arguments)
    except Absent:
        pass
    except CallError as error:
        names = {path.partition(".")[0] for path in error.fields}
        # What a guess leaves out costs a point, and is no mistake.
        if not names or names & arguments.keys():
            raise
    return Guess(guess.tool, arguments)


# -- a guess beside the call, as text --------------------------------------------------------


def as_text(row: GuessRow, score: str) -> str:
    """Return a guess beside the call as text, for a front end without the panel."""
    lines = [f"turn {row.turn}: {Points(row.right, row.of).text or 'skipped'}"]
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
    nothing = GuessRow(tool=not guessed.tool, right=int(not guessed.tool), of=1)
    row = max(rows, key=lambda row: (row.tool, row.right / row.of), default=nothing)
    row = replace(row, turn=before.state.turns + 1, calls=len(calls))
    if guess is None:
        return replace(row, tool=False, marks=(), right=0, of=0)
    return replace(row, guess=Written(guess.tool, dict(guess.arguments)))


def _scored(guess: Guess, answer: panel_rows.CallAnswer) -> GuessRow:
    """Return a guess beside one call: a point for the tool, and for each argument of the call."""
    tool, marks = guess.tool == answer.call.tool, list[panel_rows.Mark]()
    for argument in answer.arguments:
        name = argument.name
        guessed = encode(guess.arguments[name]) if name in guess.arguments else ""
        right = tool and guessed in argument.values
        # An argument too much is wrong, unless it only says the default.
        if not argument.optional or (tool and not right):
            marks.append(panel_rows.Mark(name, right))
    points = tool + sum(mark.right for mark in marks)
    return GuessRow(
        0, None, answer.call, answer.step, 0, tuple(marks), tool, points, 1 + len(marks)
    )


def recorded_answers(cursor: Cursor) -> Iterator[panel_rows.ReplyAnswer]:
    """Yield the replies on the branch of a cursor, with what counts as a right guess of each."""
    for entry in cursor.context.journal.path(cursor.head):
        if isinstance(entry.event, Replied):
            before = Cursor(cursor.context, entry.parent or "")
            calls = (_answer(before, cursor, call) for call in entry.event.calls)
            yield panel_rows.ReplyAnswer(replying.next_turn(before), tuple(calls))


def _answer(
    before: Cursor, after: Cursor, call: Call, guess: Guess = NO_CALL
) -> panel_rows.CallAnswer:
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
        written = [arguments[name] for arguments in spellings if name in arguments]
        right = (encode(v) for v in written if _is_same(before, call, {**call.arguments, name: v}))
        others = {key: value for key, value in call.arguments.items() if key != name}
        left_out = [""] if _is_same(before, call, others) else []
        values = dict.fromkeys([*right, *left_out])
        answers.append(panel_rows.ArgumentAnswer(name, tuple(values), name not in scored))
    step = record.step if record else 0
    return panel_rows.CallAnswer(
        Written(call.tool, plain_data(call.arguments)), step, tuple(answers)
    )


def _is_same(before: Cursor, call: Call, arguments: Mapping[str, object]) -> bool:
    """Return whether a call would be the same with other arguments."""
    written = dict(call.arguments), dict(arguments)
    meant = (plain_data(_meaning(before, call.tool, arguments)) for arguments in written)
    # A call that could not run means what it says.
    pairs = written, tuple(meant)
    return any(digest("same", first) == digest("same", second) for first, second in pairs)


def _meaning(before: Cursor, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
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
        return tool.check({**default_arguments(tool), **complete}, lambda name, types: name)
    return complete
