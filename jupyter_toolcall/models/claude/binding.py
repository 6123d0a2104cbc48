"""Which of a conversation's thinking still stands where it was said.

The newest models bind a block of thinking to all that was before it, and refuse a request
whose beginning was edited. Where the API cannot be asked to drop such blocks, they are
left out here, from the changed place on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]

_ENCODER = json.JSONEncoder(separators=(",", ":"), sort_keys=True)
_LENGTH = 32


def bound_to(body: Json) -> str:
    """Return what the thinking of the reply to a request is bound to, as a digest."""
    known = _begun(body)
    for turn in body["messages"]:
        _add(known, turn)
    return known.hexdigest()[:_LENGTH]


def standing(body: Json, bindings: Mapping[int, str]) -> list[Json]:
    """Return the turns of a body, from the changed place on without thinking.

    `bindings` has for the places of the model's turns what their thinking was bound to.
    """
    known, turns, moved = _begun(body), list[Json](), False
    for place, turn in enumerate(body["messages"]):
        if turn["role"] == "assistant":
            moved = moved or bindings.get(place) != known.hexdigest()[:_LENGTH]
        kept = without_thinking(turn["content"]) if moved else turn["content"]
        turns.append({**turn, "content": kept})
        _add(known, turns[-1])
    return turns


def without_thinking(content: Iterable[Json]) -> list[Json]:
    """Return the blocks of a turn that are no thinking."""
    return [block for block in content if "thinking" not in block.get("type", "")]


def _begun(body: Json) -> hashlib._Hash:
    known = hashlib.sha256()
    _add(known, {part: body.get(part) for part in ("model", "tools", "system")})
    return known


def _add(known: hashlib._Hash, part: Any) -> None:
    known.update(_ENCODER.encode(_unmarked(part)).encode())


def _unmarked(value: Any) -> Any:
    """Return JSON data without its cache breakpoints, which bind nothing."""
    match value:
        case dict():
            return {key: _unmarked(v) for key, v in value.items() if key != "cache_control"}
        case list():
            return [_unmarked(part) for part in value]
    return value
