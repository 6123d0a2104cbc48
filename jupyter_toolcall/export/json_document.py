"""The structure of a session as JSON, which stays: `docs/session.schema.json` is its schema.

A field that is added later has a default; what is here keeps its name and its meaning
within one version. Only these shapes live here, and the schema that they amount to. A call has no
shape of its own here but the keys of its JSON: `document` writes them from its `CallRecord`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from ..core.branches import branches
from ..core.call_record import ArgumentOrigin, CallRecord, RecordedStatus
from ..core.events import Asked, Failed, Replied, Usage, to_json
from ..core.journal_entries import Entry
from ..core.lineage import Graph, lineage
from ..core.recorded_calls import CallEnd, CallIndex
from ..core.state import State
from ..core.state_fold import state_at
from ..core.text import progress_bar
from ..engine.cursor import Cursor
from ..schemes.messages import Assistant, Message, Results, User
from ..schemes.requests import NOTHING
from ..view.message_rows import Exchange, exchanges, replying_model, request_data
from .file_marks import MARK
from .provenance import deciders

FORMAT: Literal["jupyter-toolcall/session"] = "jupyter-toolcall/session"


@dataclass(frozen=True, slots=True)
class OutputPart:
    """What was to be made: `value` names an object, or is plain data; null until it is saved."""

    name: str
    type: str
    description: str = ""
    value: Any = None


@dataclass(frozen=True, slots=True)
class SessionPart:
    """The session, at one place of one branch."""

    name: str
    head: str
    """The id of the journal's entry that it stands at."""
    scheme: str
    model: str
    system: str
    prompts: tuple[str, ...]
    """What a person said."""
    text: str
    """What the model said last."""
    outputs: tuple[OutputPart, ...] = ()


Text = Annotated[str, Field(default="")]


class CallPart(TypedDict):
    """A call, as it stands; in call order."""

    id: str
    step: int
    turn: int
    tool: str
    status: RecordedStatus
    arguments: Mapping[str, Any]
    """As they ran, or as they were asked for."""
    asked: Mapping[str, Any]
    """As the model asked for them."""
    origins: NotRequired[Annotated[Mapping[str, ArgumentOrigin], Field(default={})]]
    """For each argument, where its value came from."""
    decision: NotRequired[Text]
    """approve, edit, reject or answer; "" where nobody had to decide."""
    decided_by: NotRequired[Text]
    """person, policy or program."""
    reason: NotRequired[Text]
    used: NotRequired[Mapping[str, str]]
    """For each argument that names an object, that object."""
    objects: NotRequired[Annotated[tuple[str, ...], Field(default=())]]
    """What it came to, where that is objects."""
    result: NotRequired[Annotated[Any, Field(default=None)]]
    """What it came to, where that is plain data, or data in which names of objects stand."""
    changed: NotRequired[Annotated[Mapping[str, str], Field(default={})]]
    """For each argument that it changed in place besides its result, what it is now."""
    error: NotRequired[Text]
    from_memory: NotRequired[Annotated[bool, Field(default=False)]]
    prints: NotRequired[Text]
    ms: NotRequired[Annotated[float, Field(default=0)]]


@dataclass(frozen=True, slots=True)
class ObjectPart:
    """An object, oldest first."""

    name: str
    type: str
    made_by: str
    """The id of the call, or `input:NAME`."""
    content: str = ""
    """The digest of its value; "" where it has none."""
    description: str = ""
    made_from: tuple[str, ...] = ()
    saved_as: str = ""
    equals: str = ""
    """The oldest object with the same content, where that is another one."""


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of the conversation, in order."""

    role: Literal["user", "assistant", "call", "tool", "session"]
    text: str = ""
    call: str = ""
    """The id of the call that it is, or that it is the result of."""
    error: bool = False


@dataclass(frozen=True, slots=True)
class TurnPart:
    """What one request to the model took."""

    turn: int
    model: str
    usage: Usage | None = None
    ms: float = 0


@dataclass(frozen=True, slots=True)
class BranchPart:
    """A branch of the session; the one that this document tells of is `current`."""

    name: str
    head: str
    current: bool
    calls: int


@dataclass(frozen=True, slots=True)
class Document:
    """A session, whole."""

    session: SessionPart
    calls: tuple[CallPart, ...] = ()
    objects: tuple[ObjectPart, ...] = ()
    messages: tuple[MessagePart, ...] = ()
    turns: tuple[TurnPart, ...] = ()
    branches: tuple[BranchPart, ...] = ()
    usage: Usage = field(default_factory=Usage)
    format: Literal["jupyter-toolcall/session"] = FORMAT
    version: Literal[1] = 1
    made: str = MARK
    """A digest of this document, by which export knows its own."""


def schema() -> str:
    """Return the JSON Schema of a session, as it stands in `docs`."""
    made = TypeAdapter(Document).json_schema(mode="serialization")
    return json.dumps(made, indent=1) + "\n"


def document(cursor: Cursor, name: str) -> Document:
    """Return one branch of a session."""
    journal, state = cursor.context.journal, cursor.state
    path = journal.path(cursor.head)
    ends = CallIndex.of(journal).ends(path, frozenset())
    by = deciders(state, path)
    graph = lineage(state)
    return Document(
        session=_session(cursor, name, path),
        calls=tuple(
            _call(cursor.shown(each), state, ends.get(each.id), by[each.id])
            for each in state.all_calls()
        ),
        objects=tuple(_object(each, state, graph) for each in state.names),
        messages=tuple(_messages(cursor)),
        turns=tuple(_turns(cursor, path)),
        branches=tuple(
            BranchPart(b.name, b.head, b.current, len(state_at(journal, b.head).order))
            for b in branches(journal, cursor.head)
        ),
        usage=state.usage,
    )


def as_json(cursor: Cursor, name: str) -> str:
    """Return one branch of a session as JSON."""
    return json.dumps(asdict(document(cursor, name)), indent=1, ensure_ascii=False) + "\n"


def _session(cursor: Cursor, name: str, path: tuple[Entry, ...]) -> SessionPart:
    state = cursor.state
    opened = state.opened
    asked = (e.event for e in path if isinstance(e.event, Asked))
    outputs = (
        OutputPart(key, out.kind, out.description, state.outputs.get(key))
        for key, out in opened.outputs.items()
    )
    return SessionPart(
        name=name,
        head=cursor.head,
        scheme=opened.scheme,
        model=opened.model or str(getattr(cursor.context.model, "name", "")),
        system=opened.system,
        prompts=tuple(each.text for each in asked if each.by == "person"),
        text=state.said,
        outputs=tuple(outputs),
    )


def _call(call: CallRecord, state: State, end: CallEnd | None, by: str) -> CallPart:
    used = {argument: state.by_producer.get(producer) for argument, producer in call.uses.items()}
    return CallPart(
        id=call.id,
        step=call.step,
        turn=call.turn,
        tool=call.tool,
        status=call.recorded_status,
        arguments=dict(call.arguments),
        asked=dict(call.proposed),
        origins=dict(call.origins),
        decision=call.decision,
        decided_by=by,
        reason=call.reason,
        used={argument: name for argument, name in used.items() if name},
        objects=call.objects,
        result=call.result if call.data is not None else None,
        changed=call.changed,
        error=call.outcome.message if isinstance(call.outcome, Failed) else "",
        from_memory=end is not None and end.cached,
        prints=end.prints if end else "",
        ms=float(end.ms) if end else 0,
    )


def _object(name: str, state: State, graph: Graph) -> ObjectPart:
    made = state.objects[name]
    first = state.contents.get((made.kind, made.content)) if made.content else None
    return ObjectPart(
        name=name,
        type=made.kind,
        made_by=made.producer.call or f"input:{made.producer.input}",
        content=made.content,
        description=made.description,
        made_from=graph.deps(name),
        saved_as=next((key for key, value in state.outputs.items() if value == name), ""),
        equals=first if first and first != name else "",
    )


def _messages(cursor: Cursor) -> Iterator[MessagePart]:
    sent = cursor.context.journal.fold(cursor.head, cursor.context.fold_conversation, NOTHING)
    for message in sent.messages:
        yield from _parts(message)


def _parts(message: Message) -> Iterator[MessagePart]:
    match message:
        case User(text):
            yield MessagePart("user", text)
        case Assistant(text, calls):
            if text:
                yield MessagePart("assistant", text)
            for each in calls:
                arguments = json.dumps(dict(each.arguments), ensure_ascii=False)
                yield MessagePart("call", f"{each.tool}({arguments})", each.id)
        case Results(results, news):
            for result in results:
                yield MessagePart("tool", result.content, result.call_id, result.error)
            if news:
                yield MessagePart("session", news)


def _turns(cursor: Cursor, path: tuple[Entry, ...]) -> Iterator[TurnPart]:
    for entry in path:
        if isinstance(entry.event, Replied):
            turn = state_at(cursor.context.journal, entry.id).turns
            ms = float(entry.meta.get("ms", 0))
            yield TurnPart(turn, replying_model(cursor, entry), entry.event.usage, ms)


MESSAGES_FORMAT = "jupyter-toolcall/messages"


def messages(cursor: Cursor, exact: bool) -> str:
    """Return all turns as JSON.

    `request` is the body that went to the provider, or what a model that is a function is
    given. Headers, and so keys, are in neither. What a file alone knows of a request is not
    `exact`: definitions are as they were first sent.
    """
    turns = []
    with progress_bar(cursor.state.turns, "messages", "turn") as moved:
        for each in exchanges(cursor):
            body = request_data(each.request) if each.body is None else each.body
            turns.append(_turn(each, body if exact else _recorded(cursor, each)))
            moved.update()
    head = {"format": MESSAGES_FORMAT, "version": 1, "made": MARK, "exact": exact}
    return json.dumps({**head, "turns": turns}, indent=1, ensure_ascii=False) + "\n"


def _turn(exchange: Exchange, request: Any) -> dict[str, Any]:
    reply = to_json(exchange.reply)
    return {
        "turn": exchange.turn,
        "model": exchange.model,
        "request": request,
        "reply": {key: item for key, item in reply.items() if key not in ("type", "offered")},
        "usage": None if exchange.usage is None else asdict(exchange.usage),
        "ms": exchange.ms,
    }


def _recorded(cursor: Cursor, exchange: Exchange) -> dict[str, Any]:
    """Return a request with the texts that the journal has of it."""
    journal = cursor.context.journal
    sent, texts = state_at(journal, exchange.entry).sent, journal.texts
    request = request_data(exchange.request)
    tools = (texts.get(sent.get(tool.name) or "") for tool in exchange.request.tools)
    system = texts.get(sent.get("") or "", request["system"])
    return {**request, "system": system, "tools": [tool for tool in tools if tool is not None]}
