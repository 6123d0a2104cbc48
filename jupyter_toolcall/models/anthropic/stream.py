"""The API's stream of events as a `Reply`: whole, or not at all.

A fold over decoded events, without I/O. The SDK's own reading takes a stream that was
cut off for a finished one, and mends broken arguments by guessing; this one does neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import ModelError
from ...core.events import Call, Usage
from ...schemes.messages import Reply
from ...tools.arguments import MAX_LENGTH, parse_arguments
from ...tools.value_copies import well_formed
from ..provider_client import AGAIN, garbled, one_line
from ..retrying import Passing

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
_PASSING = ("api_error", "overloaded_error", "rate_limit_error", "timeout_error")
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def reply(
    events: Iterable[Mapping[str, Any]],
    model: str = "",
    on_text: Callable[[str], object] = lambda text: None,
    bound: str = "",
) -> Reply:
    """Return the reply that the events tell; `bound` is what its thinking is bound to.

    Raises ModelError where they are not whole, as Passing where nothing of it had come.
    """
    draft = _Draft(on_text)
    try:
        for event in events:
            draft.take(event)
            if event.get("type") == "message_stop":
                return draft.finished(model, bound)
        raise Passing(f"the model's reply was cut off before its end; {AGAIN}")
    except Passing as error:
        # What a person saw begin does not begin again by itself.
        problem = str(error)
        if not draft.content:
            raise
    raise ModelError(problem)


@dataclass
class _Draft:
    """What has come so far of one reply."""

    on_text: Callable[[str], object]
    started: bool = False
    content: list[Json] = field(default_factory=list)
    open: bool = False
    pieces: dict[str, list[str]] = field(default_factory=dict)
    length: int = 0
    broken: dict[str, str] = field(default_factory=dict)
    stop: str = ""
    refusal: str = ""
    category: str = ""
    tokens: dict[str, int] = field(default_factory=dict)

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one event in. Raises ModelError where it does not fit what came before."""
        match event:
            case {"type": "error"}:
                raise _broken_off(event)
            case {"type": "message_start", "message": dict(message)} if not self.started:
                self.started = True
                self._count(message.get("usage"))
            case {"type": "content_block_start", "content_block": dict(block)} if (
                self.started
                and not (self.open or self.stop)
                and event.get("index") == len(self.content)
            ):
                self._begin(block)
            case {"type": "content_block_delta", "delta": dict(delta)} if self._current(event):
                self._add(delta)
            case {"type": "content_block_stop"} if self._current(event):
                self._close()
            case {"type": "message_delta", "delta": dict(delta)} if self.started:
                self._end(delta)
                self._count(event.get("usage"))
            case {"type": "message_stop"} if self.stop and not self.open:
                pass
            case {"type": str(kind)} if kind in _KNOWN:
                raise garbled(f"{kind} where it does not belong")

    def finished(self, model: str, bound: str) -> Reply:
        """Return the reply, once its last event has come."""
        if self.stop not in STOPS:
            raise ModelError(f"the model stopped for an unknown reason: {self.stop[:80]}; {AGAIN}")
        stop = STOPS[self.stop]
        sent = [block for block in self.content if sendable(block)]
        content = sent if stop == "tools" else kept(sent, stop)
        calls = tuple(
            Call(block["id"], block["name"], block["input"], self.broken.get(block["id"], ""))
            for block in content
            if block["type"] == "tool_use"
        )
        if len({call.id for call in calls}) < len(calls):
            raise garbled("two calls with one id")
        text = "".join(block["text"] for block in content if block["type"] == "text")
        lost = [block["name"] for block in self.content if block["type"] == "tool_use"]
        ending = ending_text(stop, lost, self.category, self.refusal)
        more: Json = {"bound": bound} if bound else {}
        more |= {"paused": True} if stop == "paused" else {}
        return Reply(
            text=text,
            calls=calls,
            stop=stop if calls or stop != "tools" else "end",
            usage=self._usage(),
            raw={"anthropic": model, "content": content, **more},
            thought="\n\n".join(b["thinking"] for b in content if b["type"] == "thinking"),
            said="\n\n".join(part for part in (text, ending) if part) if ending else None,
            ending=ending,
        )

    def _current(self, event: Mapping[str, Any]) -> bool:
        return self.open and event.get("index") == len(self.content) - 1

    def _begin(self, block: Json) -> None:
        match block:
            case {"type": "tool_use", "id": str(), "name": str()}:
                pass
            case {"type": "text", "text": str()} | {"type": "thinking", "thinking": str()}:
                pass
            case {"type": str(kind)} if kind not in ("tool_use", "text", "thinking"):
                pass
            case _:
                raise garbled("a block that lacks what its type needs")
        self.content.append(dict(block))
        self.open = True
        self.pieces = {}
        self.length = 0

    def _add(self, delta: Json) -> None:
        block = self.content[-1]
        match delta:
            case {"type": "citations_delta", "citation": citation}:
                block["citations"] = [*(block.get("citations") or ()), citation]
                return
        place = _PIECES.get((block["type"], str(delta.get("type"))), "")
        piece = delta.get(place)
        if not isinstance(piece, str):
            raise garbled("a part that does not fit its block")
        # Of arguments that are too long, a piece too much is enough to know.
        if place != "partial_json" or self.length <= MAX_LENGTH:
            self.pieces.setdefault(place, []).append(piece)
            self.length += len(piece)
        if place == "text" and piece:
            self.on_text(well_formed(piece))

    def _close(self) -> None:
        block = self.content[-1]
        self.open = False
        for place in ("text", "thinking", "signature"):
            if place in self.pieces:
                whole = str(block.get(place) or "") + "".join(self.pieces[place])
                block[place] = well_formed(whole)
        if block["type"] == "tool_use":
            block["input"] = self._arguments(block)

    def _arguments(self, block: Json) -> Json:
        try:
            if "partial_json" in self.pieces:
                return parse_arguments("".join(self.pieces["partial_json"]))
            return parse_arguments(json.dumps(block.get("input") or {}))
        except ValueError as error:
            self.broken[block["id"]] = str(error)
            return {}

    def _end(self, delta: Json) -> None:
        self.stop = str(delta.get("stop_reason") or self.stop)
        match delta.get("stop_details"):
            case dict(why):
                self.refusal = well_formed(str(why.get("explanation") or ""))
                self.category = one_line(well_formed(str(why.get("category") or "")))

    def _count(self, usage: Any) -> None:
        # The counts of a later event are totals, and stand for those before.
        for key in _USAGE:
            number = usage.get(key) if isinstance(usage, dict) else None
            if isinstance(number, int):
                self.tokens[key] = number

    def _usage(self) -> Usage:
        fresh, written, cached, said = (self.tokens.get(key, 0) for key in _USAGE)
        whole = fresh + written + cached
        return Usage(input=whole, output=said, cached=cached, written=written)


def _broken_off(event: Mapping[str, Any]) -> ModelError:
    why, kind = "without saying why", ""
    match event.get("error"):
        case {"type": str(kind), "message": str(message)}:
            why = one_line(f"{kind}: {message}")
    said = f"the API broke off its reply ({why}); {AGAIN}"
    return Passing(said) if kind in _PASSING else ModelError(said)


# -- how a reply ended -----------------------------------------------------------------------


def ending_text(stop: str, lost: Sequence[str], category: str, refusal: str) -> str:
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
