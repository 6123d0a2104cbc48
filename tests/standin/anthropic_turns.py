"""What the stand-in says: turns of blocks, as the API's stream of events; and its faults."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """Text for the person."""

    text: str


@dataclass(frozen=True)
class Think:
    """A block of thinking; the server signs it."""

    text: str


@dataclass(frozen=True)
class Hide:
    """A block of thinking that nobody may read."""

    data: str


@dataclass(frozen=True)
class Use:
    """A call. `raw` is sent in place of the arguments' JSON."""

    tool: str
    arguments: Json = field(default_factory=dict)
    id: str = ""
    raw: str | None = None


@dataclass(frozen=True)
class Turn:
    """One answer of the server, and what goes wrong with it.

    `status` refuses with that code; `cut` ends the stream after so many bytes, `hard`
    without the end of the HTTP body; `breaks_after` sends an error event after so many
    events; `raw` is sent in place of the whole stream; `stalls` waits for the client to
    go away after the cut; `drip` sends so many bytes at a time.
    """

    blocks: tuple[Say | Think | Hide | Use, ...] = ()
    stop: str | None = ""
    explanation: str = ""
    status: int = 0
    message: str = "as the script says"
    headers: tuple[tuple[str, str], ...] = ()
    cut: int | None = None
    hard: bool = False
    stalls: bool = False
    breaks_after: int | None = None
    raw: bytes | None = None
    piece: int = 24
    drip: int = 0


def says(*blocks: str | Say | Think | Hide | Use, **faults: Any) -> Turn:
    """Return a turn of blocks; a string is text."""
    made = tuple(Say(block) if isinstance(block, str) else block for block in blocks)
    return Turn(made, **faults)


def stream(turn: Turn, opening: Json, ids: Iterator[str], sign: Callable[[str], Json]) -> bytes:
    """Return the turn as server-sent events. `sign` makes a block of thinking."""
    if turn.raw is not None:
        return turn.raw
    events = list(_events(turn, opening, ids, sign))
    if turn.breaks_after is not None:
        error = {"type": "overloaded_error", "message": "Overloaded"}
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
        start, deltas = _block(block, ids, sign, turn.piece)
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
    calls = any(isinstance(block, Use) for block in turn.blocks)
    return ("tool_use" if calls else "end_turn") if turn.stop == "" else turn.stop


def _tokens(turn: Turn) -> int:
    return sum(len(repr(block)) for block in turn.blocks) // 4 + 1


def _block(
    block: Say | Think | Hide | Use,
    ids: Iterator[str],
    sign: Callable[[str], Json],
    size: int,
) -> tuple[Json, list[Json]]:
    match block:
        case Say(text):
            start = {"type": "text", "text": "", "citations": None}
            return start, [{"type": "text_delta", "text": piece} for piece in cut(text, size)]
        case Hide(data):
            return {"type": "redacted_thinking", "data": data}, []
        case Think(text):
            signed = sign(text)
            pieces = cut(signed["thinking"], size)
            told = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
            signature = {"type": "signature_delta", "signature": signed["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*told, signature]
        case Use(tool, arguments, given, raw):
            text = json.dumps(arguments) if raw is None else raw
            name = given or next(ids)
            call: Json = {"type": "tool_use", "id": name, "name": tool, "input": {}}
            pieces = ["", *cut(text, size)]
            return call, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def cut(text: str, size: int) -> list[str]:
    """Return text in pieces of a size."""
    return [text[place : place + size] for place in range(0, len(text), size)]
