"""A server's stream of chunks as a `Reply`: whole, or not at all.

A fold over what comes, without I/O. The SDK's own reading takes a stream that was cut
off for a finished one; this one wants the reason for which the model stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import ModelError
from ...core.events import Call, Usage
from ...schemes.messages import Reply
from ...tools.arguments import MAX_LENGTH, parse_arguments
from ...tools.value_copies import well_formed
from ..provider_client import AGAIN, garbled, json_object
from ..retrying import Passing
from .failures import broken_off
from .wire import THOUGHTS

DONE = "[DONE]"
STOPS = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refused",
}


def payloads(parts: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of a stream of server-sent events, line by line.

    A chunk is one line, so that the blank line behind it is not waited for; a line
    without its end was cut off. Only the ends of lines of the standard (WHATWG HTML,
    9.2.5) part them: other separators may stand within a text.
    """
    rest = b""
    for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield _decoded(line[5:].strip())


def reply(
    payloads: Iterable[str],
    on_text: Callable[[str], object] = lambda text: None,
    keep_thoughts: bool = False,
) -> Reply:
    """Return the reply that the chunks tell.

    Raises ModelError where they are not whole, as Passing where nothing of it had come.
    """
    draft, done = _Draft(on_text), False
    try:
        for payload in payloads:
            if done := payload == DONE:
                break
            if payload:
                draft.take(json_object(payload))
        return draft.finished(done, keep_thoughts)
    except Passing as error:
        # What a person saw begin does not begin again by itself.
        problem = str(error)
        if not draft.begun:
            raise
    raise ModelError(problem)


@dataclass
class Calls:
    """The calls so far, in the order in which they began.

    OpenAI numbers the calls of a reply, gives an id and a name with the first piece and nothing
    but arguments with the others. Local servers differ: no number, or 0 for all; whole calls in
    one piece; an id that is empty, new with each piece, or there twice; the name again with each
    piece. So what a piece belongs to goes by all that it says.
    """

    begun: list[_Begun] = field(default_factory=list)
    _at: dict[int | None, _Begun] = field(default_factory=dict)

    def take(self, piece: Mapping[str, Any]) -> None:
        """Take in one piece: of the call that it belongs to, or of a new one."""
        number = piece.get("index")
        place = number if isinstance(number, int) else None
        call = self._at.get(place)
        if call is None or call.is_over(piece):
            call = _Begun()
            self.begun.append(call)
        # What has no number goes on with the last one, numbered or not.
        self._at[place] = self._at[None] = call
        call.take(piece)

    def read(self) -> tuple[Call, ...]:
        """Return the calls; one whose arguments cannot be read strictly is broken."""
        return tuple(call.read() for call in self.begun)


@dataclass
class _Begun:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    def is_over(self, piece: Mapping[str, Any]) -> bool:
        """Return whether a piece that comes for this call's place begins another call.

        Only a piece with a name can. It does where its id is another one, or where this
        call has all its arguments and these are more.
        """
        name, given = _function(piece)
        if not name:
            return False
        if self.id and _text(piece.get("id")) not in ("", self.id):
            return True
        return bool(given) and self._is_whole()

    def take(self, piece: Mapping[str, Any]) -> None:
        name, given = _function(piece)
        self.id = self.id or _text(piece.get("id"))
        if name != self.name:
            self.name += name
        # Of arguments that are too long, a piece too much is enough to know.
        if self.length <= MAX_LENGTH:
            self.pieces.append(given)
            self.length += len(given)

    def read(self) -> Call:
        name, call_id = well_formed(self.name), well_formed(self.id)
        try:
            return Call(call_id, name, parse_arguments("".join(self.pieces)))
        except ValueError as error:
            return Call(call_id, name, {}, str(error))

    def _is_whole(self) -> bool:
        try:
            return isinstance(json.loads("".join(self.pieces)), dict)
        except (ValueError, RecursionError):
            return False


@dataclass
class _Draft:
    """What has come so far of one reply."""

    on_text: Callable[[str], object]
    text: list[str] = field(default_factory=list)
    thought: dict[str, list[str]] = field(default_factory=dict)
    refusal: list[str] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)
    stop: str = ""
    usage: Usage | None = None

    @property
    def begun(self) -> bool:
        """Whether anything has come that belongs to the reply."""
        return bool(self.text or self.thought or self.refusal or self.calls.begun)

    def take(self, chunk: Mapping[str, Any]) -> None:
        """Take one chunk in. Raises ModelError where it says that the server failed."""
        match chunk:
            case {"error": error} if error:
                raise broken_off(error)
            case {"message": _} | {"detail": _} if not chunk.get("choices"):
                raise broken_off(chunk)
            case {"usage": dict(usage)}:
                self.usage = _usage(usage)
        for choice in _dicts(chunk.get("choices")):
            # Some send a whole message, as they would without a stream.
            delta = choice.get("delta") or choice.get("message")
            if not choice.get("index") and isinstance(delta, dict):
                self._add(delta)
            if not choice.get("index"):
                self.stop = _text(choice.get("finish_reason")) or self.stop

    def finished(self, done: bool, keep_thoughts: bool) -> Reply:
        """Return the reply, once the stream is over; `done` says that it said so itself."""
        calls = self.calls.read()
        # Text that was sent whole, by a server that gives no reasons, has nothing to run.
        reason = self.stop or ("stop" if done and not calls and self.text else "")
        if not reason:
            raise Passing(f"the model's reply was cut off before its end; {AGAIN}")
        if reason not in STOPS:
            told = well_formed(reason[:80])
            raise ModelError(f"the model stopped for an unknown reason: {told}; {AGAIN}")
        thoughts = {name: well_formed("".join(said)) for name, said in self.thought.items()}
        first = next((name for name in THOUGHTS if thoughts.get(name)), "")
        refusal = "".join(self.refusal)
        return Reply(
            text=well_formed("".join(self.text) or refusal),
            calls=calls,
            stop="refused" if refusal else _stop(STOPS[reason], bool(calls)),
            usage=self.usage,
            raw={"openai": {first: thoughts[first]}} if keep_thoughts and first else None,
            thought=thoughts.get(first, ""),
        )

    def _add(self, delta: Mapping[str, Any]) -> None:
        content = delta.get("content")
        # Some send a list of parts.
        more = _text(content) or "".join(_text(part.get("text")) for part in _dicts(content))
        refusal = _text(delta.get("refusal"))
        # Before there were several calls in a reply, there was this one.
        old = _dicts([delta.get("function_call")])
        pieces = [*_dicts(delta.get("tool_calls")), *({"function": call} for call in old)]
        if self.stop and (more or refusal or pieces):
            raise garbled("more of it behind its end")
        for name in THOUGHTS:
            if said := _text(delta.get(name)):
                self.thought.setdefault(name, []).append(said)
        for piece in pieces:
            self.calls.take(piece)
        if refusal:
            self.refusal.append(refusal)
        if more:
            self.text.append(more)
            self.on_text(well_formed(more))


def _stop(stop: str, calls: bool) -> str:
    """Return why the model stopped: many servers say `stop` where they sent calls."""
    match stop:
        case "end" if calls:
            return "tools"
        case "tools" if not calls:
            return "end"
    return stop


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    return Usage(
        input=_count(usage.get("prompt_tokens")),
        output=_count(usage.get("completion_tokens")),
        cached=_count(details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens")),
        written=_count(details.get("cache_write_tokens")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise garbled("a part that is not UTF-8") from None


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _function(piece: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name and the text of the arguments in a piece, "" for what it lacks."""
    match piece.get("function"):
        case dict(function):
            given = function.get("arguments")
            whole = json.dumps(given) if isinstance(given, dict) else _text(given)
            return _text(function.get("name")), whole
    return "", ""
