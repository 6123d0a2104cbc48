"""Turns as the stream of events of Anthropic's API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from .turns import Block, Hide, Json, Say, Think, Turn, Use, pieces

STOPS = {"length": "max_tokens", "refused": "refusal"}


def stream(turn: Turn, opening: Json, ids: Iterator[str], sign: Callable[[str], Json]) -> bytes:
    """Return the turn as server-sent events. `sign` makes a block of thinking."""
    if turn.raw is not None:
        return turn.raw
    events = list(_events(turn, opening, ids, sign))
    if turn.breaks_after is not None:
        error = turn.error or {"type": "overloaded_error", "message": "Overloaded"}
        events[turn.breaks_after :] = [{"type": "error", "error": error}]
    whole = b"".join(map(encode, events))
    return whole if turn.cut is None else whole[: turn.cut]


def encode(event: Json) -> bytes:
    """Return an event as the API writes it."""
    data = json.dumps(event, ensure_ascii=False)
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def said(stream: bytes) -> list[Json]:
    """Return the blocks that a stream tells, but for calls and text of nothing."""
    blocks: list[Json] = []
    for line in stream.decode(errors="ignore").split("\n"):
        event = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
        match event:
            case {"content_block": dict(block)}:
                blocks.append(dict(block))
            case {"delta": dict(delta), "index": int(index)}:
                for key in ("text", "thinking", "signature"):
                    if key in delta:
                        blocks[index][key] += delta[key]
    told = (block for block in blocks if block["type"] != "tool_use")
    return [block for block in told if block.get("text", "-").strip()]


def _events(
    turn: Turn, opening: Json, ids: Iterator[str], sign: Callable[[str], Json]
) -> Iterator[Json]:
    yield {"type": "message_start", "message": opening}
    yield {"type": "ping"}
    for index, block in enumerate(turn.blocks):
        start, deltas = _block(block, ids, sign, turn.piece or 24)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    why = {"type": "refusal", "category": "cyber", "explanation": turn.explanation}
    details = why if turn.explanation else None
    delta = {"stop_reason": _stop(turn), "stop_sequence": None, "stop_details": details}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": _tokens(turn)}}
    yield {"type": "message_stop"}


def _stop(turn: Turn) -> str | None:
    if turn.stop == "":
        return "tool_use" if turn.calls else "end_turn"
    return STOPS.get(turn.stop, turn.stop) if turn.stop else None


def _tokens(turn: Turn) -> int:
    return sum(len(repr(block)) for block in turn.blocks) // 4 + 1


def _block(
    block: Block, ids: Iterator[str], sign: Callable[[str], Json], size: int
) -> tuple[Json, list[Json]]:
    match block:
        case Say(text):
            start = {"type": "text", "text": "", "citations": None}
            return start, [{"type": "text_delta", "text": piece} for piece in pieces(text, size)]
        case Hide(data):
            return {"type": "redacted_thinking", "data": data}, []
        case Think(text):
            signed = sign(text)
            told = [
                {"type": "thinking_delta", "thinking": piece}
                for piece in pieces(signed["thinking"], size)
            ]
            signature = {"type": "signature_delta", "signature": signed["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*told, signature]
        case Use(tool):
            name = next(ids) if block.id is None else block.id
            call: Json = {"type": "tool_use", "id": name, "name": tool, "input": {}}
            parts = ["", *pieces(block.text, size)]
            return call, [{"type": "input_json_delta", "partial_json": part} for part in parts]
