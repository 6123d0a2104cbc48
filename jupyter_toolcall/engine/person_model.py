"""A person in the place of the model: whose turn it is, what they are shown, and their reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from ..core.errors import NotYourTurn, UsageError, checked_text
from ..core.events import Call
from ..core.interface_text import t, tn
from ..core.journal_entries import Entry
from ..core.recorded_data import JsonObject
from ..core.state import AskModel
from ..core.text import count_text
from ..models.named import Person
from ..schemes.messages import Assistant, Message, Reply, Results, User, call_id
from ..tools.arguments import plain_arguments
from ..tools.plain_data import cut, well_formed
from .cursor import Cursor
from .decisions import waiting_calls
from .turn import record_reply


@dataclass(frozen=True, slots=True)
class Told:
    """Something new in the request: the result of a call, or other text."""

    text: str
    tool: str = ""
    """The call's tool; "" where it is about no call."""
    step: int = 0
    error: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A call that the person has written in the model's place."""

    tool: str
    arguments: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class YourTurn:
    """The person plays the model, and it is the model's turn: what a model would be sent."""

    turn: int
    prompt: str = ""
    """What was asked last."""
    told: tuple[Told, ...] = ()
    system: str = ""
    tools: tuple[str, ...] = ()
    """The ids of the tools that may be called, in the order of the request."""
    calls: tuple[Written, ...] = ()
    """What the person has written so far; it is kept nowhere else, and not recorded yet."""


Phase = Literal["ready", "thinking", "waiting", "running", "finished", "stopped", "failed"]


YOU = t("You are the model")
LONG = 4_000

Pair = tuple[str, JsonObject]


def is_person_turn(cursor: Cursor) -> bool:
    """Return whether the next event is the reply of a person who plays the model."""
    return isinstance(cursor.context.model, Person) and not _why_not(cursor)


def _why_not(cursor: Cursor) -> str:
    """Return why it is not the model's turn, "" where it is."""
    if cursor.state.open:
        return f"these calls have no result yet: {', '.join(cursor.state.open)}"
    if cursor.replay_queue.next() is not None:
        return "the recorded replies are replayed first, by run()"
    # Where a client called tools last, the person who plays the model may continue as well.
    if not (isinstance(cursor.next_step, AskModel) or cursor.state.replied_by_client):
        return "nobody has asked anything since the last reply"
    most = count_text(cursor.context.max_turns or 0, "time")
    return f"it has replied {most}; a larger max_turns goes on" if cursor.turn_limit_reached else ""


def demand_model_turn(cursor: Cursor) -> None:
    """Raise NotYourTurn where it is not the model's turn."""
    if why := _why_not(cursor):
        raise NotYourTurn(f"it is not the model's turn: {why}")


def idle_phase(cursor: Cursor) -> tuple[Phase, str]:
    """Return the phase of a session that is not running, and its status text."""
    if waiting_calls(cursor):
        return "waiting", t("Waiting for you")
    if (hook := cursor.holding_hook) is not None:
        return "waiting", hook.held_status
    if is_person_turn(cursor):
        return "waiting", YOU
    if isinstance(cursor.next_step, AskModel) and cursor.state.calls:
        if cursor.turn_limit_reached:
            return "stopped", tn(
                "Stopped after %1 turn: Run continues",
                "Stopped after %1 turns: Run continues",
                cursor.state.turns_since,
            )
        return "ready", t("Ready: Run asks the model")
    return "finished", t("Finished")


def record_person_reply(cursor: Cursor, text: str | Reply | None, calls: Iterable[Pair]) -> Entry:
    """Record a person's reply in the model's place; nothing runs.

    A wrong call fails later, as a model's call does. Raises NotYourTurn where it is not the
    model's turn, UsageError for an empty reply, CallError for arguments that are no JSON.
    """
    demand_model_turn(cursor)
    if isinstance(text, Reply):
        return record_reply(cursor, text, cursor.request, {"at": cursor.context.clock()})
    text = checked_text(text or "", "the reply")
    tool_calls = tuple(_calls(cursor.state.turns, list(calls)))
    if not text.strip() and not tool_calls:
        raise UsageError("the reply is empty; say something, or call a tool")
    read = cursor.context.scheme.read
    if tool_calls and read(Reply(text), cursor.state, cursor.context.toolbox).calls:
        raise UsageError("the words hold calls already; write all calls there, or all as forms")
    reply = Reply(well_formed(text), tool_calls, "tools" if tool_calls else "end")
    meta = {"at": cursor.context.clock(), "by": "person"}
    return record_reply(cursor, reply, cursor.request, meta)


def _calls(turn: int, calls: list[Pair]) -> Iterator[Call]:
    for index, call in enumerate(calls):
        match call:
            case (str() as tool, Mapping() as arguments):
                yield Call(call_id(turn, index, len(calls)), tool, plain_arguments(arguments))
            case _:
                raise UsageError(f"{call!r:.60} is no call; give a (tool, arguments) pair")


def check_person_call(cursor: Cursor, tool: str, arguments: Mapping[str, object]) -> None:
    """Raise CallError where a call of this turn could not run; nothing is recorded."""
    state = cursor.state
    call = Call("written", tool, plain_arguments(arguments))
    cursor.prepared(state.next_call(call), state)


# -- what the person is shown -----------------------------------------------------------


def person_turn(cursor: Cursor, calls: tuple[Written, ...] = ()) -> YourTurn | None:
    """Return the turn as the person sees it who plays the model; None where it is not theirs.

    `calls` are what they have written so far.
    """
    return next_turn(cursor, calls) if is_person_turn(cursor) else None


def next_turn(cursor: Cursor, calls: tuple[Written, ...] = ()) -> YourTurn:
    """Return the turn that comes next: what the model is sent, and may call."""
    request, offer, prompt = cursor.request, cursor.offer, cursor.state.prompt
    return YourTurn(
        turn=request.turn + 1,
        prompt=cut(prompt, LONG),
        told=tuple(_new_parts(cursor, _new(request.messages), prompt)),
        system=cut(request.system, LONG),
        tools=tuple(tool.name for tool in (*offer.own, *offer.tools)),
        calls=calls,
    )


def _new(messages: Sequence[Message]) -> list[Message]:
    """Return the messages after the model's last reply."""
    new = takewhile(lambda message: not isinstance(message, Assistant), reversed(messages))
    return [*new][::-1]


def _new_parts(cursor: Cursor, messages: Iterable[Message], prompt: str) -> Iterator[Told]:
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
