"""Turns in the dialects that servers of chat completions speak."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .turns import Json, Say, Think, Turn, Use, pieces

STOPS = {"refused": "content_filter"}

DIALECTS = (
    "openai",  # numbered, in pieces, an id and a name with the first
    "whole",  # numbered, each call in one piece
    "zero",  # whole calls that all have number 0
    "unnumbered",  # whole calls without a number
    "unnumbered pieces",  # pieces without a number, and without an id but the first
    "new ids",  # another id with each piece
    "names again",  # the name and the id with each piece
    "no ids",  # empty ids
    "null ids",  # null in place of what a piece lacks
    "objects",  # arguments as an object, not as text
    "stop",  # the reason is `stop`, calls or not
    "no usage",  # no count of tokens
    "no done",  # nothing behind the last chunk
    "json",  # no stream at all: one answer in JSON
    "crlf",  # other ends of lines, comments, fields of no meaning
)


def encode(chunk: Any) -> bytes:
    """Return a chunk as it is sent."""
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def chunk(delta: Json | None = None, finish: str | None = None, **more: Any) -> Json:
    """Return one chunk of a reply; without a delta one that has no choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"object": "chat.completion.chunk", "choices": choices, **more}


def stream(turn: Turn, usage: Json | None, ids: Iterator[str]) -> bytes:
    """Return the bytes of the turn, whole or cut."""
    if turn.raw is not None:
        return turn.raw[: turn.cut]
    if turn.dialect == "json":
        return json.dumps(_whole(turn, usage, ids)).encode()[: turn.cut]
    chunks = list(_chunks(turn, usage, ids))
    if turn.breaks_after is not None:
        error = turn.error or {"message": "The server had an error", "type": "server_error"}
        chunks = [*chunks[: turn.breaks_after], {"error": error}]
    sent = b"".join(map(encode, chunks))
    if turn.breaks_after is None and turn.dialect != "no done":
        sent += b"data: [DONE]\n\n"
    if turn.dialect == "crlf":
        sent = b": hello\r\nretry: 3\r\n\r\n" + sent.replace(b"\n", b"\r\n").replace(
            b"data: ", b"data:"
        )
    return sent[: turn.cut]


def _finish(turn: Turn) -> str | None:
    if turn.stop == "":
        return "tool_calls" if turn.calls and turn.dialect != "stop" else "stop"
    return STOPS.get(turn.stop, turn.stop) if turn.stop else None


def _joined(turn: Turn, kind: type[Say | Think]) -> str:
    return "".join(block.text for block in turn.blocks if isinstance(block, kind))


def _chunks(turn: Turn, usage: Json | None, ids: Iterator[str]) -> Iterator[Json]:
    text, size = _joined(turn, Say), turn.piece or 7
    yield chunk({"role": "assistant", "content": "" if text else None})
    for thought in pieces(_joined(turn, Think), size):
        yield chunk({turn.thought_field: thought})
    for piece in pieces(text, size):
        yield chunk({"content": piece})
    if turn.refusal:
        yield chunk({"refusal": turn.refusal})
    for number, use in enumerate(turn.calls):
        call_id = next(ids) if use.id is None else use.id
        for part in _call(turn, use, number, call_id):
            yield chunk({"tool_calls": [part]})
    yield chunk({}, _finish(turn))
    if usage is not None and turn.dialect != "no usage":
        yield chunk(None, usage=usage)


def _call(turn: Turn, use: Use, number: int, call_id: str) -> Iterator[Json]:
    """Yield the pieces of a call, in the dialect of the turn."""
    head = {"id": call_id, "type": "function"}
    parts = pieces(use.text, turn.piece or 7)
    match turn.dialect:
        case "whole":
            yield {"index": number, **head, "function": _named(use, use.text)}
        case "zero":
            yield {"index": 0, **head, "function": _named(use, use.text)}
        case "unnumbered":
            yield {**head, "function": _named(use, use.text)}
        case "objects":
            yield {"index": number, **head, "function": _named(use, use.arguments)}
        case "unnumbered pieces":
            yield {**head, "function": _named(use, "")}
            yield from ({"function": {"arguments": piece}} for piece in parts)
        case "new ids":
            yield {"index": number, **head, "function": _named(use, "")}
            for place, piece in enumerate(parts):
                new = f"{call_id}_{place}"
                yield {"index": number, "id": new, "function": {"arguments": piece}}
        case "names again":
            yield from ({"index": number, **head, "function": _named(use, p)} for p in parts)
        case "no ids":
            yield {"index": number, "id": "", "function": _named(use, "")}
            for piece in parts:
                yield {"index": number, "id": "", "function": {"name": "", "arguments": piece}}
        case "null ids":
            yield {"index": number, **head, "function": _named(use, None)}
            for piece in parts:
                function = {"name": None, "arguments": piece}
                yield {"index": number, "id": None, "type": None, "function": function}
        case _:
            yield {"index": number, **head, "function": _named(use, "")}
            yield from ({"index": number, "function": {"arguments": p}} for p in parts)


def _named(use: Use, arguments: Any) -> Json:
    return {"name": use.tool, "arguments": arguments}


def _whole(turn: Turn, usage: Json | None, ids: Iterator[str]) -> Json:
    calls = [
        {"id": next(ids), "type": "function", "function": _named(use, use.text)}
        for use in turn.calls
    ]
    message = {"role": "assistant", "content": _joined(turn, Say) or None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": _finish(turn)}
    return {"object": "chat.completion", "choices": [choice], "usage": usage}
