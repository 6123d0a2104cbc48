"""A learner guesses each reply of the model before it is asked for, then sees both, with points.

A guess is no event of the session, so it is not in the journal. It is kept as long as the kernel
runs.

There is one point for the tool, and one for each argument. An argument of a guess is right if the
model's call would be the same call with it. So a value counts as the tool takes it, and an object
counts whether it is named or is the default.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.digests import digest
from ..core.errors import Absent, CallError, NotYourTurn, UsageError
from ..core.events import Call, Replied
from ..core.interface_text import joined, t, tn
from ..core.state import AskModel
from ..core.text import nearest
from ..engine import person_model as replying
from ..engine.cursor import Cursor, SessionHooks
from ..engine.person_model import Written, YourTurn
from ..models.named import Person
from ..schemes.select import SELECT
from ..session.session import Session
from ..tools.arguments import plain_arguments, wrong_arguments
from ..tools.object_references import fits_in, references
from ..tools.tool import Tool, default_arguments, parameters_schema
from ..tools.value_copies import plain_data
from .panel_rows import Guess, GuessRow, Mark, TeachingRow

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

    def __str__(self) -> str:
        return str(self.text)


NO_POINTS = Points()


@dataclass
class Guesses(SessionHooks):
    """The guesses of a cell; while they are on, each reply is held until it is guessed."""

    held_status = t("Your turn to guess")

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
        if state.open or state.aside is not None or cursor.turn_limit_reached:
            return False
        if cursor.head in self._passed:
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
        if not (self.earlier + self.points).of:
            return ""
        return joined(", ", filter(None, [self.points.text, self.session_score]))

    @property
    def session_score(self) -> str:
        """What was guessed in the whole session, "" where only this cell has guesses."""
        return t("%1 in this session", (self.earlier + self.points).text) if self.earlier.of else ""


def turn_to_guess(cursor: Cursor) -> YourTurn | None:
    """Return the turn whose reply is to be guessed, None if there is none.

    It is computed from the request, so it contains nothing of the reply.
    """
    return replying.next_turn(cursor) if isinstance(cursor.holding_hook, Guesses) else None


def begin(session: Session, before: Guesses | None = None) -> Guesses:
    """Start to hold the session's replies until they are guessed, and return the guesses.

    Replies that it has already are not guessed. `before` are the guesses of its last cell.
    """
    end(session)
    cursor = session.cursor
    path = cursor.context.journal.path(cursor.head)
    replied = {entry.parent or "" for entry in path if isinstance(entry.event, Replied)}
    root, earlier = path[0].id, NO_POINTS
    if before is not None and before.root == root:
        earlier = before.earlier + before.points
    guesses = Guesses(root, earlier, _passed=replied)
    cursor.context.hooks = (*cursor.context.hooks, guesses)
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
    state, tool = cursor.state, cursor.tool_named(name)
    assert tool is not None
    problems = {
        path: f"there is no object {object_name}"
        for path, object_name in references(
            parameters_schema(tool), arguments, fits_in(state.objects, state.plain)
        )
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
        says=t("Skipped: it answered.") if call is None else t("Skipped: it called %1.", call.tool),
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
    """Return guesses beside the calls as text, for a front end without the panel."""
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


# -- the score of a guess -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoredGuess:
    """A guess beside the call that it is compared with, None where the model made none."""

    guess: Guess
    call: Call | None
    tool: bool
    """The guess names the right tool, or says rightly that there is none."""
    marks: tuple[Mark, ...] = ()

    @property
    def points(self) -> Points:
        right = self.tool + sum(mark.right for mark in self.marks) if self.tool else 0
        return Points(right, 1 + len(self.marks))

    @property
    def sentence(self) -> str:
        """How the guess came out, in one kind line."""
        right, of = sum(mark.right for mark in self.marks), len(self.marks)
        if not self.tool:
            if self.call is None:
                return t("Not this time: it answered.")
            return t("Not this time: it called %1.", self.call.tool)
        if self.call is None:
            return t("Right: it answered, and called nothing.")
        if right == of:
            return t("Right, all of it.") if of else t("Right: that is the call.")
        if right:
            return t("The right tool, and %1 of %2 arguments.", right, of)
        return tn(
            "The right tool, with another argument.", "The right tool, with other arguments.", of
        )


def score_guess(before: Cursor, guess: Guess, calls: Sequence[Call]) -> ScoredGuess:
    """Return a guess beside the calls of the reply that followed at a cursor.

    Of several calls in one reply, the one that the guess comes nearest to counts.
    """
    if not calls:
        return ScoredGuess(guess, None, not guess.tool)
    each = [_compared(before, guess, call) for call in calls]
    return max(each, key=lambda scored: (scored.tool, scored.points.percent))


def _compared(before: Cursor, guess: Guess, call: Call) -> ScoredGuess:
    tool = before.tool_named(call.tool)
    # The object of a call counts even if it is left out, since it is the default.
    receiver = [tool.receiver] if tool is not None and tool.receiver else []
    names = tuple(dict.fromkeys((*receiver, *call.arguments)))
    if guess.tool != call.tool:
        return ScoredGuess(guess, call, False, tuple(Mark(name, False) for name in names))
    marks = [Mark(name, _is_right(before, guess, call, name)) for name in names]
    # An argument too much is wrong, unless it only says the default.
    for name in guess.arguments:
        if name not in names and not _is_right(before, guess, call, name):
            marks.append(Mark(name, False))
    return ScoredGuess(guess, call, True, tuple(marks))


def _is_right(before: Cursor, guess: Guess, call: Call, name: str) -> bool:
    """Return whether the call would be the same with the guess's value of one argument."""
    guessed = {key: value for key, value in call.arguments.items() if key != name}
    if name in guess.arguments:
        guessed[name] = guess.arguments[name]
    pair = (dict(call.arguments), guessed)
    if len({digest("said", each) for each in pair}) == 1:
        return True
    meanings = (plain_data(_meaning(before, call.tool, each)) for each in pair)
    return len({digest("meant", each) for each in meanings}) == 1


# -- what a call means ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """An object that an argument names."""

    name: str


def _meaning(before: Cursor, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a call's arguments mean: completed by the scheme, as the tool takes them.

    Arguments that could not run mean themselves.
    """
    tool = before.tool_named(name)
    if tool is None:
        return dict(arguments)
    complete = _completed(before, tool, arguments)
    if tool.name == SELECT and isinstance(complete.get("tools"), list):
        return {**complete, "tools": sorted(map(str, complete["tools"]))}
    for each in ({**default_arguments(tool), **complete}, complete):
        # The types of a tool may run any code, which gets a name here in place of an object.
        with contextlib.suppress(Exception):
            return tool.check(each, lambda name, types: Named(name))
    return complete


def _completed(before: Cursor, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    state, complete = before.state, dict(arguments)
    call = state.next_call(Call("guess", tool.name, arguments))
    with contextlib.suppress(CallError):
        complete = before.context.scheme.complete(call, tool, state)
    variables = {**before.context.toolbox.variables, **state.variables}
    known = {each: variables[each] for each in tool.reads if each in variables}
    with contextlib.suppress(CallError):
        complete = tool.fill(complete, known)
    return complete
