"""The API's stream of events as a `Reply`: whole, or not at all.

A fold over decoded events, without I/O. The SDK's own reading takes a stream that was
cut off for a finished one, and mends broken arguments by guessing; this one does neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...content.value import well_formed
from ...errors import ModelError
from ...events import Call, Usage
from ...request import Reply
from ...tools.arguments import LONGEST
from ..retrying import Passing
from ..strict import arguments
from .ending import STOPS, kept, sendable, told

Json = dict[str, Any]

AGAIN = "nothing of it ran, and running again goes on from here"

_PIECES = {
    ("text", "text_delta"): "text",
    ("thinking", "thinking_delta"): "thinking",
    ("thinking", "signature_delta"): "signature",
    ("tool_use", "input_json_delta"): "partial_json",
}
_KNOWN = {
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
}
_PASSING = ("api_error", "overloaded_error", "rate_limit_error", "timeout_error")
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def decode(data: str) -> Json:
    """Return one event of the stream. Raises ModelError where it is none."""
    try:
        event = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise _garbled("a part that is not a JSON object")
    return event


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
                raise _garbled(f"{kind} where it does not belong")

    def finished(self, model: str, bound: str) -> Reply:
        """Return the reply, once its last event has come."""
        if self.stop not in STOPS:
            raise ModelError(f"the model stopped for an unknown reason: {self.stop[:80]}; {AGAIN}")
        stop = STOPS[self.stop]
        sent = [block for block in self.content if sendable(block)]
        content = sent if stop == "tools" else kept(sent, stop)
        calls = tuple(self._call(block) for block in content if block["type"] == "tool_use")
        if len({call.id for call in calls}) < len(calls):
            raise _garbled("two calls with one id")
        text = "".join(block["text"] for block in content if block["type"] == "text")
        ending = self._told(stop)
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

    def _told(self, stop: str) -> str:
        lost = [block["name"] for block in self.content if block["type"] == "tool_use"]
        return told(stop, lost, self.category, self.refusal)

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
                raise _garbled("a block that lacks what its type needs")
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
            raise _garbled("a part that does not fit its block")
        self._keep(place, piece)
        if place == "text" and piece:
            self.on_text(well_formed(piece))

    def _keep(self, place: str, piece: str) -> None:
        # Of arguments that are too long, a piece too much is enough to know.
        if place != "partial_json" or self.length <= LONGEST:
            self.pieces.setdefault(place, []).append(piece)
            self.length += len(piece)

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
                return arguments("".join(self.pieces["partial_json"]))
            return arguments(json.dumps(block.get("input") or {}))
        except ValueError as error:
            self.broken[block["id"]] = str(error)
            return {}

    def _end(self, delta: Json) -> None:
        self.stop = str(delta.get("stop_reason") or self.stop)
        match delta.get("stop_details"):
            case dict(why):
                self.refusal = well_formed(str(why.get("explanation") or ""))
                self.category = one_line(well_formed(str(why.get("category") or "")))

    def _call(self, block: Json) -> Call:
        broken = self.broken.get(block["id"], "")
        return Call(block["id"], block["name"], block["input"], broken)

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


def one_line(text: str) -> str:
    """Return the words of another program as the part of one line."""
    return " ".join(text.split())[:300]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _broken_off(event: Mapping[str, Any]) -> ModelError:
    why, kind = "without saying why", ""
    match event.get("error"):
        case {"type": str(kind), "message": str(message)}:
            why = one_line(f"{kind}: {message}")
    said = f"the API broke off its reply ({why}); {AGAIN}"
    return Passing(said) if kind in _PASSING else ModelError(said)


def _garbled(what: str) -> ModelError:
    return ModelError(f"the model's reply came garbled: {what}; {AGAIN}")
