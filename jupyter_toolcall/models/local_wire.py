"""A `Request` as the body of one generation, and the text that comes of it as a `Reply`.

Pure. If the file has a chat template, the turns go by it; else they are written out in a plain
form of ours, which any model can carry on. A reply is read whole, or not at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..core.events import Call, Usage
from ..schemes.messages import Assistant, Reply, Request, Results, User, call_id
from ..tools.arguments import parse_json
from ..tools.tool import Tool
from ..tools.value_copies import well_formed
from .local_grammar import turn_grammar
from .openai_wire import in_turns
from .retrying import Passing

Json = dict[str, Any]

HOW = """\
To call a tool, write one line for it, and nothing after it:
{"tool":"NAME","arguments":{"ARGUMENT":"VALUE"}}
You may write one short line of text before it. The result is in the next message. When all is
done, answer in plain words instead.

Tools:"""
_ALOUD: Json = {"reasoning_format": "none", "chat_template_kwargs": {"enable_thinking": False}}
"""What is written is all there is: thinking would stand outside of the grammar."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How text is generated."""

    template: bool
    """Whether the file has a chat template."""
    max_tokens: int
    temperature: float
    calls: int = 4
    force: bool = False
    """Whether a turn has to be a call, where one is valid."""


def turn_body(request: Request, settings: Settings) -> Json:
    """Return the whole of what one turn is generated from.

    The seed is the number of the turn: the same request is answered alike.
    """
    turns = _chat(request) if settings.template else _plain(request)
    grammar = turn_grammar(request, settings.calls, settings.force)
    sent: Json = well_formed({**turns, **({"grammar": grammar} if grammar else {})})
    return sent | {
        "max_tokens": settings.max_tokens,
        "temperature": settings.temperature,
        "seed": request.turn,
    }


def _chat(request: Request) -> Json:
    system = _system(request)
    first = [{"role": "system", "content": system}] if system else []
    return {"messages": [*first, *in_turns(_messages(request))], **_ALOUD}


def _plain(request: Request) -> Json:
    heads = {"user": "### User", "assistant": "### Assistant"}
    turns = (f"{heads[turn['role']]}\n{turn['content']}" for turn in in_turns(_messages(request)))
    parts = filter(None, (_system(request), *turns, f"{heads['assistant']}\n"))
    return {"prompt": "\n\n".join(parts), "stop": ["\n###"]}


def _system(request: Request) -> str:
    tools = "\n".join([HOW, *map(_described, request.tools)]) if request.tools else ""
    return "\n\n".join(part for part in (request.system, tools) if part)


def _described(tool: Tool) -> str:
    about = {"tool": tool.name, "description": tool.description}
    return compact({**about, "parameters": _without_titles(dict(tool.parameters))})


def compact(data: Any) -> str:
    """Return data as JSON without white space, as the grammar makes it."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _without_titles(schema: Any) -> Any:
    match schema:
        case dict():
            kept = {k: v for k, v in schema.items() if k != "title" or not isinstance(v, str)}
            return {key: _without_titles(part) for key, part in kept.items()}
        case list() | tuple():
            return [_without_titles(part) for part in schema]
    return schema


def _messages(request: Request) -> Iterator[Json]:
    names: dict[str, str] = {}
    for message in request.messages:
        role, text = "user", ""
        match message:
            case User(text):
                text = text.strip()
            case Assistant(text, calls):
                role = "assistant"
                names.update({call.id: call.tool for call in calls})
                text = "\n".join(filter(None, (text.strip(), *map(written, calls))))
            case Results(results, news):
                lines = [f"{names.get(r.call_id, 'result')}: {r.content}" for r in results]
                text = "\n".join([*lines, *([news] if news else [])])
        if text:
            yield {"role": role, "content": text}


def written(call: Call) -> str:
    """Return a call as the line that the model writes for it."""
    return compact({"tool": call.tool, "arguments": dict(call.arguments)})


# -- the reply ---------------------------------------------------------------------------------

_CALLS = re.compile(r"(?:^|\n)(?=\{)")
UNREADABLE = "unreadable"
"""The tool of a call that cannot be read."""


@dataclass(frozen=True, slots=True)
class End:
    """How a turn came to its end: "stop", "length" or "context"; and its tokens."""

    reason: str
    usage: Usage | None = None


Piece = str | End


def reply(
    pieces: Iterable[Piece], turn: int, calls: bool, on_text: Callable[[str], object]
) -> Reply:
    """Return the reply that the pieces make; `calls` says whether lines may be calls.

    Raises Passing if the end is missing.
    """
    whole, shown = "", 0
    for piece in pieces:
        if isinstance(piece, End):
            return _finished(whole, piece, turn, calls)
        whole += well_formed(piece)
        text = _text_before_calls(whole, calls)
        if len(text) > shown:
            on_text(text[shown:])
            shown = len(text)
    raise Passing("the model's reply was cut off before its end; run again to ask the model again")


def _text_before_calls(whole: str, calls: bool) -> str:
    """Return the text before the calls, without what may still be the line's end."""
    match = _CALLS.search(whole) if calls else None
    return whole[: match.start()] if match else whole.rstrip("\n")


def _finished(whole: str, end: End, turn: int, calls: bool) -> Reply:
    text = _text_before_calls(whole, calls)
    if end.reason != "stop":
        return Reply(text, stop=end.reason, usage=end.usage)
    lines = [line for line in whole[len(text) :].split("\n") if line] if calls else []
    made = tuple(_call(line, call_id(turn, index, len(lines))) for index, line in enumerate(lines))
    return Reply(text.strip(), made, "tools" if made else "end", end.usage)


def _call(line: str, call_id: str) -> Call:
    """Return the call that a line holds. What cannot be read is told to the model, not run."""
    problem = 'a call is {"tool":"NAME","arguments":{...}}'
    try:
        data = parse_json(line)
        match data:
            case {"tool": str(tool), "arguments": dict(arguments)} if len(data) == 2:
                return Call(call_id, tool, arguments)
    except ValueError as error:
        problem = str(error)
    return Call(call_id, UNREADABLE, {}, problem)
