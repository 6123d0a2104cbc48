"""One branch of a session as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from ..branches.branch import branches
from ..conversation.telling import NOTHING
from ..events import Asked, Failed, Replied
from ..journal.tree import Entry
from ..lineage import Graph, lineage
from ..loop import Cursor
from ..request import Assistant, Message, Results, User
from ..rows.contract import Rows
from ..state.call import CallRecord
from ..state.ends import End, Ends
from ..state.fold import state_at
from ..state.shape import State
from ..view.exchanges import model_of
from .structure import (
    BranchPart,
    CallPart,
    Document,
    MessagePart,
    ObjectPart,
    OutputPart,
    SessionPart,
    TurnPart,
)


def document(cursor: Cursor, name: str) -> Document:
    """Return one branch of a session."""
    journal, state = cursor.desk.journal, cursor.state
    path = journal.path(cursor.head)
    ends = Ends(journal).of(path, frozenset())
    by = {getattr(e.event, "call_id", ""): e.meta.get("by", "") for e in path if "by" in e.meta}
    graph = lineage(state)
    return Document(
        session=_session(cursor, name, path),
        calls=tuple(_call(each, state, ends.get(each.id), by) for each in state.each()),
        objects=tuple(_object(each, state, graph) for each in state.names),
        messages=tuple(_messages(cursor)),
        turns=tuple(_turns(cursor, path)),
        branches=tuple(
            BranchPart(b.name, b.head, b.current, len(state_at(journal, b.head).order))
            for b in branches(journal, cursor.head)
        ),
        usage=state.usage,
    )


def as_json(cursor: Cursor, rows: Rows) -> str:
    """Return one branch of a session as JSON."""
    name = next((row.name for row in rows.session), "")
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
        model=opened.model or str(getattr(cursor.desk.model, "name", "")),
        system=opened.system,
        prompts=tuple(each.text for each in asked if each.by == "person"),
        text=state.said,
        outputs=tuple(outputs),
    )


def _call(call: CallRecord, state: State, end: End | None, by: Mapping[str, str]) -> CallPart:
    used = {argument: state.by_producer.get(producer) for argument, producer in call.uses.items()}
    return CallPart(
        id=call.id,
        step=call.step,
        turn=call.turn,
        tool=call.tool,
        status=call.recorded_status,
        arguments=dict(call.arguments),
        asked=dict(call.proposed),
        decision=call.decision,
        decided_by="policy" if call.started and call.started.bound else by.get(call.id, ""),
        reason=call.reason,
        used={argument: name for argument, name in used.items() if name},
        objects=call.objects,
        result=call.data,
        error=call.outcome.message if isinstance(call.outcome, Failed) else "",
        from_memory=end is not None and end.memory,
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
        saved_as=next((key for key, said in state.outputs.items() if said == name), ""),
        equals=first if first and first != name else "",
    )


def _messages(cursor: Cursor) -> Iterator[MessagePart]:
    told = cursor.desk.journal.fold(cursor.head, cursor.desk.tell, NOTHING)
    for message in told.messages:
        yield from _parts(message)


def _parts(message: Message) -> Iterator[MessagePart]:
    match message:
        case User(text):
            yield MessagePart("user", text)
        case Assistant(text, calls):
            if text:
                yield MessagePart("assistant", text)
            for each in calls:
                said = json.dumps(dict(each.arguments), ensure_ascii=False)
                yield MessagePart("call", f"{each.tool}({said})", each.id)
        case Results(results, news):
            for result in results:
                yield MessagePart("tool", result.content, result.call_id, result.error)
            if news:
                yield MessagePart("session", news)


def _turns(cursor: Cursor, path: tuple[Entry, ...]) -> Iterator[TurnPart]:
    for entry in path:
        if isinstance(entry.event, Replied):
            turn = state_at(cursor.desk.journal, entry.id).turns
            ms = float(entry.meta.get("ms", 0))
            yield TurnPart(turn, model_of(cursor, entry), entry.event.usage, ms)
