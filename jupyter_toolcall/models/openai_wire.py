"""Chat completions: a `Request` as the body of one, and its stream of chunks as a `Reply`. No I/O.

For OpenAI's API and local servers alike. The strictest of the servers sets the form of a request:
each call answered by one `tool` message, in call order, right behind it; user and assistant in
turns, as the chat templates of local models want it; arguments in the history always JSON.
A reply is whole, or there is none: the SDK's own reading takes a stream that was cut off for a
finished one; this one wants the reason for which the model stopped.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.digests import digest
from ..core.errors import ModelError
from ..core.events import Call, Usage
from ..core.json_data import parsed_texts
from ..schemes.messages import Assistant, Message, Reply, Request, Result, Results, Sent, User
from ..tools.plain_data import well_formed
from .provider_client import (
    GO_ON,
    Json,
    broken_off,
    call_of,
    error_text,
    garbled,
    json_object,
    legal_name,
    newest_tools,
    stop_reason,
)
from .retrying import may_pass

THOUGHTS = ("reasoning_content", "reasoning")
"""The fields in which servers send what a model thinks aloud, the usual one first."""
LONGEST_ID = 40
LONGEST_DESCRIPTION = 1024
"""Characters of a tool's description that OpenAI takes."""


def body(request: Request, model: str, *, usage: bool, options: Mapping[str, Any]) -> Json:
    """Return the body of a request, whose tools have names that the API takes.

    `usage` asks for the count of tokens, `options` are fields of the API beside ours.
    """
    tools = newest_tools(request)
    # What is too long for a tool's description stands in the system message.
    long = (f"The tool {tool.name}: {tool.description.strip()}" for tool in tools if _is_long(tool))
    system = _message("system", "\n\n".join(filter(str.strip, (request.system, *long))))
    parts: Json = {
        "model": model,
        "messages": in_turns([*system, *(part for m in request.messages for part in _messages(m))]),
        "tools": [_declaration(tool) for tool in tools],
        "stream": True,
        "stream_options": {"include_usage": True} if usage else {},
    }
    # The API refuses an empty list of tools.
    return {key: part for key, part in parts.items() if part} | dict(options)


# -- tools ----------------------------------------------------------------------------------


def _declaration(tool: Sent) -> Json:
    text = well_formed(tool.description.strip())
    if _is_long(tool):
        text = f"{text.splitlines()[0][: LONGEST_DESCRIPTION // 2]} (More: see the system message.)"
    described = {"description": text} if text else {}
    # Arguments without a list of properties are refused, also where there are none.
    schema = {"type": "object", "properties": {}, **tool.parameters}
    return {"type": "function", "function": {"name": tool.name, **described, "parameters": schema}}


def _is_long(tool: Sent) -> bool:
    return len(tool.description.strip()) > LONGEST_DESCRIPTION


# -- messages -------------------------------------------------------------------------------


def in_turns(messages: Iterable[Json]) -> list[Json]:
    """Return messages in turns: the person's joined, never two of the model's, none at the end."""
    turns: list[Json] = []
    for message in messages:
        last = turns[-1] if turns else {}
        match last.get("role"), message["role"]:
            case "user", "user":
                turns[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
                continue
            case "assistant", "assistant":
                turns += _message("user", GO_ON)
        turns.append(message)
    if turns and turns[-1]["role"] == "assistant":
        turns += _message("user", GO_ON)
    return turns


def _messages(message: Message) -> list[Json]:
    match message:
        case User(text):
            return _message("user", text)
        case Results(results, news):
            return [*map(_answer, results), *_message("user", news)]
        case Assistant(text, calls, raw):
            # What the model thought aloud, where the reply was kept to be sent with it.
            kept = raw.get("openai") if isinstance(raw, dict) else None
            thought = kept if isinstance(kept, dict) else {}
            if not calls:
                return [{**turn, **thought} for turn in _message("assistant", text)]
            content = well_formed(text) if text.strip() else None
            begin = {"role": "assistant", "content": content}
            return [{**begin, **thought, "tool_calls": [_call(call) for call in calls]}]


def _call(call: Call) -> Json:
    # Servers read the arguments of the history too.
    text = json.dumps({} if call.broken else dict(call.arguments), ensure_ascii=False)
    function = {"name": legal_name(call.tool), "arguments": text}
    return {"id": _legal_id(call.id), "type": "function", "function": function}


def _answer(result: Result) -> Json:
    text = well_formed(result.content)
    content = _error(text) if result.error else text
    return {"role": "tool", "tool_call_id": _legal_id(result.call_id), "content": content}


def _error(text: str) -> str:
    """Return a content that says that it is an error: there is no field which would."""
    [data] = parsed_texts([text])
    has_error = isinstance(data, dict) and "error" in data
    return text if has_error else json.dumps({"error": text}, ensure_ascii=False)


def _message(role: str, text: str) -> list[Json]:
    return [{"role": role, "content": well_formed(text)}] if text.strip() else []


def _legal_id(call_id: str) -> str:
    # Another model's ids may be longer than OpenAI takes.
    return call_id if len(call_id) <= LONGEST_ID else digest("call", call_id)[:LONGEST_ID]


# -- the reply --------------------------------------------------------------------------------

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
    unfinished = b""
    for part in parts:
        *lines, unfinished = (unfinished + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield _decoded(line[5:].strip())


@dataclass
class _CallDraft:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    def ends_before(self, piece: Mapping[str, object]) -> bool:
        """Return whether a piece with this call's number begins another call.

        Only a piece with a name can. It does if its id is another one, or if this call has all
        its arguments and these are more.
        """
        name, text = _function(piece)
        if not name:
            return False
        if self.id and _text(piece.get("id")) not in ("", self.id):
            return True
        return bool(text) and self._is_whole()

    def add(self, piece: Mapping[str, object]) -> None:
        name, text = _function(piece)
        self.id = self.id or _text(piece.get("id"))
        if name != self.name:
            self.name += name
        self.pieces.append(text)

    def _is_whole(self) -> bool:
        try:
            return isinstance(json.loads("".join(self.pieces)), dict)
        except (ValueError, RecursionError):
            return False


@dataclass
class ReplyDraft:
    """What has come so far of one reply.

    OpenAI numbers the calls of a reply, sends an id and a name with the first piece and nothing
    but arguments with the others. Local servers differ: no number, or 0 for all; whole calls in
    one piece; an id that is empty, new with each piece, or there twice; the name again with each
    piece. So which call a piece belongs to depends on all that it says.
    """

    on_text: Callable[[str], object] = lambda text: None
    keep_thoughts: bool = False
    tools: Mapping[str, str] = field(default_factory=dict)
    """The names of tools, by the short form that they were sent in."""
    pieces: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The pieces of its texts, by the field of the API that they came in."""
    calls: list[_CallDraft] = field(default_factory=list)
    numbered: dict[int | None, _CallDraft] = field(default_factory=dict)
    stop: str = ""
    usage: Usage | None = None

    def reply(self, payloads: Iterable[str]) -> Reply:
        """Return the reply that the chunks hold.

        Raises ModelError if they are not whole, as Passing if they ended too early.
        """
        return self._finished(any(map(self._add, payloads)))

    def _add(self, payload: str) -> bool:
        """Add one chunk. Raises ModelError if it says that the server failed."""
        if payload == DONE:
            return True
        chunk = json_object(payload) if payload else {}
        match chunk:
            case {"error": error} if error:
                raise server_error(error)
            case {"message": _} | {"detail": _} if not chunk.get("choices"):
                raise server_error(chunk)
            case {"usage": dict(usage)}:
                self.usage = _usage(usage)
        for choice in _dicts(chunk.get("choices")):
            if choice.get("index"):
                continue
            # Some send a whole message, as they would without a stream.
            delta = choice.get("delta") or choice.get("message")
            if isinstance(delta, dict):
                self._add_delta(delta)
            self.stop = _text(choice.get("finish_reason")) or self.stop
        return False

    def _finished(self, ended: bool) -> Reply:
        calls = tuple(
            call_of(call.id, call.name, "".join(call.pieces), self.tools) for call in self.calls
        )
        texts = {name: well_formed("".join(parts)) for name, parts in self.pieces.items()}
        text, refusal = texts.get("content", ""), texts.get("refusal", "")
        # Text that was sent whole, by a server that gives no reasons, has nothing to run.
        reason = self.stop or ("stop" if ended and not calls and text else "")
        stop = stop_reason(reason, STOPS)
        if stop in ("end", "tools"):
            # Many servers say `stop` when they sent calls.
            stop = "tools" if calls else "end"
        first = next((name for name in THOUGHTS if name in texts), "")
        return Reply(
            text=text or refusal,
            calls=calls,
            stop="refused" if refusal else stop,
            usage=self.usage,
            raw={"openai": {first: texts[first]}} if self.keep_thoughts and first else None,
            thought=texts.get(first, ""),
        )

    def _add_delta(self, delta: Mapping[str, object]) -> None:
        texts = {name: _text(delta.get(name)) for name in ("content", "refusal", *THOUGHTS)}
        # Some send a list of parts.
        parts = _dicts(delta.get("content"))
        texts["content"] += "".join(_text(part.get("text")) for part in parts)
        # Before there were several calls in a reply, there was this one.
        old = _dicts([delta.get("function_call")])
        pieces = [*_dicts(delta.get("tool_calls")), *({"function": call} for call in old)]
        if self.stop and (texts["content"] or texts["refusal"] or pieces):
            raise garbled("more of it behind its end")
        for piece in pieces:
            self._add_call_piece(piece)
        for name, text in texts.items():
            if text:
                self.pieces[name].append(text)
        if text := texts["content"]:
            self.on_text(well_formed(text))

    def _add_call_piece(self, piece: Mapping[str, object]) -> None:
        index = piece.get("index")
        number = index if isinstance(index, int) else None
        call = self.numbered.get(number)
        if call is None or call.ends_before(piece):
            call = _CallDraft()
            self.calls.append(call)
        # A piece without a number continues the last call, numbered or not.
        self.numbered[number] = self.numbered[None] = call
        call.add(piece)


def _usage(usage: Mapping[str, object]) -> Usage:
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


def _function(piece: Mapping[str, object]) -> tuple[str, str]:
    """Return the name and the text of the arguments in a piece, "" for what it lacks."""
    match piece.get("function"):
        case dict(function):
            data = function.get("arguments")
            text = json.dumps(data) if isinstance(data, dict) else _text(data)
            return _text(function.get("name")), text
    return "", ""


# -- errors in a stream or a response ---------------------------------------------------------

FINAL = ("insufficient_quota", "invalid_request_error")
"""The errors that no later attempt mends."""


def server_error(error: object) -> ModelError:
    """Return what an error within a stream means."""
    code = error.get("code") if isinstance(error, dict) else None
    passes = may_pass(code if isinstance(code, int) else 500, {})
    return broken_off("the server", error_text(error), passes and error_code(error) not in FINAL)


def error_code(body: object) -> str:
    """Return the word that names the kind of an error, "" if it has none."""
    match body:
        case {"code": str(code)} if code:
            return code
        case {"type": str(kind)}:
            return kind
        case {"error": dict(inner)}:
            return error_code(inner)
    return ""
