"""The API's stream of events as a `Reply`: whole, or not at all.

A fold over decoded events, without I/O. The SDK's own reading takes a stream that was
cut off for a finished one, and mends broken arguments by guessing; this one does neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import ModelError
from ..core.events import Call, Usage
from ..core.recorded_data import replace
from ..schemes.messages import Reply
from ..tools.plain_data import well_formed
from .provider_client import Json, broken_off, call_of, garbled, one_line, own_key, stop_reason
from .retrying import length_ending

STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "refusal": "refused",
    "pause_turn": "paused",
    "model_context_window_exceeded": "context",
}
_PIECES = {
    ("text", "text_delta"): "text",
    ("thinking", "thinking_delta"): "thinking",
    ("thinking", "signature_delta"): "signature",
    ("tool_use", "input_json_delta"): "partial_json",
}
_KNOWN = {
    *("message_start", "message_delta", "message_stop", "error"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
}
_NEEDED = {"tool_use": ("id", "name"), "text": ("text",), "thinking": ("thinking",)}
"""The texts that a block begins with, by its type."""
_PASSING = ("api_error", "overloaded_error", "rate_limit_error", "timeout_error")
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


@dataclass
class ReplyDraft:
    """What has come so far of one reply."""

    on_text: Callable[[str], object]
    model: str
    binding: str
    """The digest that its thinking is bound to, "" if it is not."""
    tools: Mapping[str, str]
    """The names of tools, by the short form that they were sent in."""
    started: bool = False
    content: list[Json] = field(default_factory=list)
    open: bool = False
    pieces: dict[str, list[str]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    stop: str = ""
    refusal: str = ""
    category: str = ""
    tokens: dict[str, int] = field(default_factory=dict)

    def reply(self, events: Iterable[Mapping[str, Any]]) -> Reply:
        """Return the reply that the events hold.

        Raises ModelError if they are not whole, as Passing if they ended too early.
        """
        return self._finished(any(map(self._add, events)))

    def _add(self, event: Mapping[str, object]) -> bool:
        """Add one event. Raises ModelError if it does not fit what came before."""
        in_block = self.open and event.get("index") == len(self.content) - 1
        at_block = self.started and not self.open and event.get("index") == len(self.content)
        match event:
            case {"type": "error"}:
                raise _api_error(event)
            case {"type": "message_start", "message": dict(message)} if not self.started:
                self.started = True
                self._count(message.get("usage"))
            case {"type": "content_block_start", "content_block": dict(block)} if (
                at_block and not self.stop
            ):
                self._begin_block(block)
            case {"type": "content_block_delta", "delta": dict(delta)} if in_block:
                self._extend_block(delta)
            case {"type": "content_block_stop"} if in_block:
                self._end_block()
            case {"type": "message_delta", "delta": dict(delta)} if self.started:
                self._end(delta)
                self._count(event.get("usage"))
            case {"type": "message_stop"} if self.stop and not self.open:
                return True
            case {"type": str(kind)} if kind in _KNOWN:
                raise garbled(f"{kind} where it does not belong")
        return False

    def _finished(self, ended: bool) -> Reply:
        stop = stop_reason(self.stop if ended else "", STOPS)
        content = [block for block in self.content if sendable(block)]
        calls = tuple(self.calls) if stop == "tools" else ()
        if len({call.id for call in calls}) < len(calls):
            raise garbled("two calls with one id")
        if stop != "tools":
            content = without_calls(content, stop)
        text = "".join(block["text"] for block in content if block["type"] == "text")
        lost = [call.tool for call in self.calls]
        ending = ending_text(stop, lost, self.category, self.refusal)
        raw: Json = {"anthropic": self.model, "content": content}
        raw |= {"bound": self.binding} if self.binding else {}
        raw |= {"paused": True} if stop == "paused" else {}
        return Reply(
            text=text,
            calls=calls,
            stop=stop if calls or stop != "tools" else "end",
            usage=self._usage(),
            raw=raw,
            thought="\n\n".join(b["thinking"] for b in content if b["type"] == "thinking"),
            said="\n\n".join(filter(None, (text, ending))) if ending else None,
            ending=ending,
        )

    def _begin_block(self, block: Json) -> None:
        kind = block.get("type")
        needed = _NEEDED.get(kind, ()) if isinstance(kind, str) else ("type",)
        if not all(isinstance(block.get(key), str) for key in needed):
            raise garbled("a block that lacks what its type needs")
        self.content.append(dict(block))
        self.open = True
        self.pieces = {}

    def _extend_block(self, delta: Json) -> None:
        block = self.content[-1]
        match delta:
            case {"type": "citations_delta", "citation": citation}:
                block["citations"] = [*(block.get("citations") or ()), citation]
                return
        key = _PIECES.get((block["type"], str(delta.get("type"))), "")
        piece = delta.get(key)
        if not isinstance(piece, str):
            raise garbled("a part that does not fit its block")
        self.pieces.setdefault(key, []).append(piece)
        if key == "text" and piece:
            self.on_text(well_formed(piece))

    def _end_block(self) -> None:
        block = self.content[-1]
        self.open = False
        if block["type"] == "tool_use":
            pieces = self.pieces.get("partial_json") or [json.dumps(block.get("input") or {})]
            call = call_of(block["id"], block["name"], "".join(pieces), self.tools)
            block["name"], block["input"] = call.tool, call.arguments
            arguments = {own_key(key): value for key, value in call.arguments.items()}
            self.calls.append(replace(call, arguments=arguments))
            return
        for key, pieces in self.pieces.items():
            block[key] = well_formed(str(block.get(key) or "") + "".join(pieces))

    def _end(self, delta: Json) -> None:
        self.stop = str(delta.get("stop_reason") or self.stop)
        match delta.get("stop_details"):
            case dict(why):
                self.refusal = well_formed(str(why.get("explanation") or ""))
                self.category = one_line(well_formed(str(why.get("category") or "")))

    def _count(self, usage: object) -> None:
        # The counts of a later event are totals, and stand for those before.
        for key in _USAGE:
            number = usage.get(key) if isinstance(usage, dict) else None
            if isinstance(number, int):
                self.tokens[key] = number

    def _usage(self) -> Usage:
        fresh, written, cached, output = (self.tokens.get(key, 0) for key in _USAGE)
        return Usage(fresh + written + cached, output, cached, written)


def _api_error(event: Mapping[str, object]) -> ModelError:
    match event.get("error"):
        case {"type": str(kind), "message": str(message)}:
            return broken_off("the API", one_line(f"{kind}: {message}"), kind in _PASSING)
    return broken_off("the API", "", False)


# -- how a reply ended -----------------------------------------------------------------------


def ending_text(stop: str, lost: Sequence[str], category: str, refusal: str) -> str:
    """Return what a person has to know of how a reply ended, "" for nothing.

    `lost` are the tools of the calls that the model asked for: they run if it stopped for them.
    """
    calls = f" Its calls did not run: {', '.join(lost)}." if lost else ""
    match stop:
        case "refused":
            opening = f"[The model refused{f' ({category})' if category else ''}. {refusal}"
            return f"{opening.strip()}{calls}]"
        case "length":
            return length_ending(lost)
        case "context":
            return f"[The conversation is longer than the model can read.{calls}]"
        case "end" if lost:
            return f"[The model stopped.{calls}]"
    return ""


def without_calls(content: Iterable[Json], stop: str) -> list[Json]:
    """Return what can be sent back of a turn whose calls do not run.

    The API takes no thinking at a turn's end, unless the turn is paused and continues.
    """
    blocks = [block for block in content if block["type"] != "tool_use"]
    while stop != "paused" and blocks and "thinking" in blocks[-1]["type"]:
        blocks.pop()
    return blocks


def sendable(block: Json) -> bool:
    """Return whether a block can be sent back.

    The API sends, but does not take, empty text; unsigned thinking was cut off.
    """
    match block["type"]:
        case "text":
            return bool(str(block.get("text")).strip())
        case "thinking":
            return bool(block.get("signature"))
    return True
