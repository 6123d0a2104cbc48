"""A session as JSON: `docs/session.schema.json` says what each field is, and that stays.

Within one version a field keeps its name and its meaning; one that is added has a default in the
schema. A test holds every document to it: all of its fields, and no others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..core.branches import branches
from ..core.call_record import CallRecord
from ..core.events import Asked, Failed, Replied, to_json
from ..core.journal_entries import Entry
from ..core.lineage import Graph, lineage
from ..core.recorded_calls import CallEnd, CallIndex
from ..core.state import State
from ..core.state_fold import state_at
from ..core.text import progress_bar
from ..engine.cursor import Cursor
from ..engine.exchanges import Exchange, exchanges, replying_model, request_data
from ..schemes.messages import Assistant, Message, Results, User
from ..schemes.requests import NOTHING
from .file_marks import MARK
from .provenance import deciders

Part = dict[str, Any]
"""An object of the document, by its fields."""


def as_json(cursor: Cursor, name: str) -> str:
    """Return one branch of a session as JSON."""
    journal, state = cursor.context.journal, cursor.state
    path = journal.path(cursor.head)
    ends = CallIndex.of(journal).ends(path, frozenset())
    by, graph = deciders(state, path), lineage(state)
    calls = map(cursor.shown, state.all_calls())
    return _text(
        {
            "session": _session(cursor, name, path),
            "calls": [_call(call, state, ends.get(call.id), by[call.id]) for call in calls],
            "objects": [_object(object_name, state, graph) for object_name in state.names],
            "messages": [*_messages(cursor)],
            "turns": [*_turns(cursor, path)],
            "branches": [
                {
                    "name": branch.name,
                    "head": branch.head,
                    "current": branch.current,
                    "calls": len(state_at(journal, branch.head).order),
                }
                for branch in branches(journal, cursor.head)
            ],
            "usage": asdict(state.usage),
            "format": "jupyter-toolcall/session",
            "version": 1,
            "made": MARK,
        }
    )


def _text(document: Part) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _session(cursor: Cursor, name: str, path: tuple[Entry, ...]) -> Part:
    state, opened, saved = cursor.state, cursor.state.opened, cursor.state.outputs
    asked = (e.event for e in path if isinstance(e.event, Asked))
    return {
        "name": name,
        "head": cursor.head,
        "scheme": opened.scheme,
        "model": opened.model or str(getattr(cursor.context.model, "name", "")),
        "system": opened.system,
        "prompts": [event.text for event in asked if event.by == "person"],
        "text": state.reply_text,
        "outputs": [
            {"name": key, "type": o.kind, "description": o.description, "value": saved.get(key)}
            for key, o in opened.outputs.items()
        ],
    }


def _call(call: CallRecord, state: State, end: CallEnd | None, by: str) -> Part:
    used = {argument: state.by_producer.get(producer) for argument, producer in call.uses.items()}
    return {
        "id": call.id,
        "step": call.step,
        "turn": call.turn,
        "tool": call.tool,
        "status": call.recorded_status,
        "arguments": dict(call.arguments),
        "asked": dict(call.proposed),
        "origins": {argument: asdict(origin) for argument, origin in call.origins.items()},
        "decision": call.decision,
        "decided_by": by,
        "reason": call.reason,
        "used": {argument: name for argument, name in used.items() if name},
        "objects": call.objects,
        "result": call.result if call.data is not None else None,
        "changed": dict(call.changed),
        "error": call.outcome.message if isinstance(call.outcome, Failed) else "",
        "from_memory": end is not None and end.cached,
        "prints": end.prints if end else "",
        "ms": float(end.ms) if end else 0,
    }


def _object(name: str, state: State, graph: Graph) -> Part:
    ref = state.objects[name]
    first = state.contents.get((ref.kind, ref.content)) if ref.content else None
    return {
        "name": name,
        "type": ref.kind,
        "made_by": ref.producer.call or f"input:{ref.producer.input}",
        "content": ref.content,
        "description": ref.description,
        "made_from": graph.deps(name),
        "saved_as": next((key for key, value in state.outputs.items() if value == name), ""),
        "equals": first if first and first != name else "",
    }


def _messages(cursor: Cursor) -> Iterator[Part]:
    sent = cursor.context.journal.fold(cursor.head, cursor.context.fold_conversation, NOTHING)
    for message in sent.messages:
        yield from _parts(message)


def _parts(message: Message) -> Iterator[Part]:
    def part(role: str, text: str, call: str = "", error: bool = False) -> Part:
        return {"role": role, "text": text, "call": call, "error": error}

    match message:
        case User(text):
            yield part("user", text)
        case Assistant(text, calls):
            if text:
                yield part("assistant", text)
            for call in calls:
                arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
                yield part("call", f"{call.tool}({arguments})", call.id)
        case Results(results, news):
            for result in results:
                yield part("tool", result.content, result.call_id, result.error)
            if news:
                yield part("session", news)


def _turns(cursor: Cursor, path: tuple[Entry, ...]) -> Iterator[Part]:
    for entry in path:
        if isinstance(entry.event, Replied):
            usage = entry.event.usage
            yield {
                "turn": state_at(cursor.context.journal, entry.id).turns,
                "model": replying_model(cursor, entry),
                "usage": None if usage is None else asdict(usage),
                "ms": float(entry.meta.get("ms", 0)),
            }


def messages(cursor: Cursor, exact: bool) -> str:
    """Return all turns as JSON.

    `request` is the body that went to the provider, or what a model that is a function is
    given. Headers, and so keys, are in neither. What a file alone knows of a request is not
    `exact`: definitions are as they were first sent.
    """
    turns = []
    with progress_bar(cursor.state.turns, "messages", "turn") as moved:
        for exchange in exchanges(cursor):
            body = request_data(exchange.request) if exchange.body is None else exchange.body
            turns.append(_turn(exchange, body if exact else _recorded(cursor, exchange)))
            moved.update()
    head = {"format": "jupyter-toolcall/messages", "version": 1, "made": MARK, "exact": exact}
    return _text({**head, "turns": turns})


def _turn(exchange: Exchange, request: object) -> Part:
    reply = to_json(exchange.reply)
    return {
        "turn": exchange.turn,
        "model": exchange.model,
        "request": request,
        "reply": {key: item for key, item in reply.items() if key not in ("type", "offered")},
        "usage": None if exchange.usage is None else asdict(exchange.usage),
        "ms": exchange.ms,
    }


def _recorded(cursor: Cursor, exchange: Exchange) -> Part:
    """Return a request with the texts that the journal has of it."""
    journal = cursor.context.journal
    sent, texts = state_at(journal, exchange.entry).sent, journal.texts
    request = request_data(exchange.request)
    tools = (texts.get(sent.get(tool.name) or "") for tool in exchange.request.tools)
    system = texts.get(sent.get("") or "", request["system"])
    return {**request, "system": system, "tools": [tool for tool in tools if tool is not None]}
