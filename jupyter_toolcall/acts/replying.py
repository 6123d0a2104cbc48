"""A person in the model's place: what the turn is, and the reply, recorded as any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..content.value import cut, well_formed
from ..errors import NotYourTurn, UsageError
from ..events import Call
from ..journal.tree import Entry
from ..loop import Cursor
from ..loop.turn import record_reply
from ..models.person import Person
from ..request import Assistant, Message, Reply, Results, User, call_id
from ..rows.contract import Phase, Told, Written, YourTurn
from ..state.steps import AskModel
from ..tools.arguments import readable
from .places import waiting

YOU = "You are the model"
LONG = 4_000

Pair = tuple[str, Mapping[str, Any]]


def awaited(cursor: Cursor) -> bool:
    """Return whether the next event is the reply of a person who plays the model."""
    return isinstance(cursor.desk.model, Person) and not _why_not(cursor)


def _why_not(cursor: Cursor) -> str:
    """Return why it is not the model's turn, "" where it is."""
    if cursor.state.open:
        return f"these calls have no result yet: {', '.join(cursor.state.open)}"
    if cursor.script.next() is not None:
        return "what is recorded is said again first, by run()"
    if not isinstance(cursor.due, AskModel):
        return "nobody has asked anything since the last reply"
    most = cursor.desk.max_turns
    return f"it has replied {most} times; a larger max_turns goes on" if cursor.spent else ""


def demand(cursor: Cursor) -> None:
    """Raise NotYourTurn where it is not the model's turn."""
    if why := _why_not(cursor):
        raise NotYourTurn(f"it is not the model's turn: {why}")


def stands(cursor: Cursor) -> tuple[Phase, str]:
    """Return how a session stands that nothing drives, and that in words."""
    if waiting(cursor):
        return "waiting", "Waiting for you"
    if (hook := cursor.held_by) is not None:
        return "waiting", hook.held_status
    if awaited(cursor):
        return "waiting", YOU
    if isinstance(cursor.due, AskModel) and cursor.state.calls:
        return "ready", "The model is to go on"
    return "finished", "Finished"


def reply(cursor: Cursor, text: str, calls: Iterable[Pair]) -> Entry:
    """Record what a person says in the model's place, as a reply of the model; nothing runs.

    What a call names may be wrong: then it fails as a model's does. Raises NotYourTurn where
    it is not the model's turn, UsageError for a reply that is none, CallError for arguments
    that are no JSON.
    """
    demand(cursor)
    made = tuple(_calls(cursor.state.turns, list(calls)))
    if not text.strip() and not made:
        raise UsageError("the reply is empty; say something, or call a tool")
    if made and cursor.desk.scheme.read(Reply(text), cursor.state, cursor.desk.toolbox).calls:
        raise UsageError("the words hold calls already; write all calls there, or all as forms")
    said = Reply(well_formed(text), made, "tools" if made else "end")
    return record_reply(cursor, said, cursor.request, at=cursor.desk.clock(), by="person")


def _calls(turn: int, calls: list[Pair]) -> Iterator[Call]:
    for index, call in enumerate(calls):
        match call:
            case (str() as tool, Mapping() as arguments):
                yield Call(call_id(turn, index, len(calls)), tool, readable(arguments))
            case _:
                raise UsageError(f"{call!r:.60} is no call; give a (tool, arguments) pair")


def check(cursor: Cursor, tool: str, arguments: Mapping[str, Any]) -> None:
    """Raise CallError where a call of this turn could not run; nothing is recorded."""
    state = cursor.state
    call = Call("written", tool, readable(arguments))
    cursor.prepared(state.next_call(call), state)


# -- what the person is shown -----------------------------------------------------------


def your_turn(cursor: Cursor, calls: tuple[Written, ...] = ()) -> YourTurn | None:
    """Return the turn as the person sees it who plays the model; None where it is not theirs.

    `calls` are what they have written so far.
    """
    return turn_of(cursor, calls) if awaited(cursor) else None


def turn_of(cursor: Cursor, calls: tuple[Written, ...] = ()) -> YourTurn:
    """Return the turn that comes next: what the model is sent, and may call."""
    request, offer, prompt = cursor.request, cursor.offer, cursor.state.prompt
    return YourTurn(
        turn=request.turn + 1,
        prompt=cut(prompt, LONG),
        told=tuple(_told(cursor, _new(request.messages), prompt)),
        system=cut(request.system, LONG),
        tools=tuple(tool.name for tool in (*offer.own, *offer.tools)),
        calls=calls,
    )


def _new(messages: Sequence[Message]) -> list[Message]:
    """The messages since the model spoke last."""
    new: list[Message] = []
    for message in reversed(messages):
        if isinstance(message, Assistant):
            break
        new.insert(0, message)
    return new


def _told(cursor: Cursor, messages: Iterable[Message], prompt: str) -> Iterator[Told]:
    for message in messages:
        match message:
            case User(text) if text != prompt:
                yield Told(cut(text, LONG))
            case Results(results, news):
                for result in results:
                    call = cursor.state.calls[result.call_id]
                    yield Told(cut(result.content, LONG), call.tool, call.step, result.error)
                if news:
                    yield Told(cut(news, LONG))
