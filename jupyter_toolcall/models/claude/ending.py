"""How a reply ended: what that means, what of it is sent back, and what a person is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Json = dict[str, Any]

STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "refusal": "refused",
    "pause_turn": "paused",
    "model_context_window_exceeded": "context",
}


def told(stop: str, lost: Sequence[str], category: str, refusal: str) -> str:
    """Return what a person has to know of how a reply ended, "" for nothing.

    `lost` are the calls that were asked for, and do not run where it stopped otherwise.
    """
    calls = f" Its calls did not run: {', '.join(lost)}." if lost else ""
    match stop:
        case "refused":
            said = f"[The model refused{f' ({category})' if category else ''}. {refusal}"
            return f"{said.strip()}{calls}]"
        case "length":
            return f"[The reply was longer than it may be, and ends here.{calls}]"
        case "context":
            return f"[The conversation is longer than the model can read.{calls}]"
        case "end" if lost:
            return f"[The model stopped.{calls}]"
    return ""


def kept(content: Iterable[Json], stop: str) -> list[Json]:
    """Return what can be sent back of a turn whose calls do not run.

    The API takes no thinking at a turn's end, but where that is still to go on.
    """
    rest = [block for block in content if block["type"] != "tool_use"]
    while stop != "paused" and rest and "thinking" in rest[-1]["type"]:
        rest.pop()
    return rest


def sendable(block: Json) -> bool:
    """Return whether a block can be sent back.

    The API gives, but does not take, empty text; unsigned thinking was cut off.
    """
    match block["type"]:
        case "text":
            return bool(str(block.get("text")).strip())
        case "thinking":
            return bool(block.get("signature"))
    return True
