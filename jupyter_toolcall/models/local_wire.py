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

from ..core.errors import ModelError
from ..core.events import Call, Usage
from ..schemes.messages import Assistant, Message, Reply, Request, Results, User, call_id
from ..tools import strict_json as strict
from ..tools.tool import Tool
from ..tools.value_copies import well_formed
from .local_grammar import turn_grammar

Json = dict[str, Any]

HOW = """\
To call a tool, write one line for it, and nothing after it:
{"tool":"NAME","arguments":{"ARGUMENT":"VALUE"}}
You may write one short line of text before it. The result is in the next message. When all is
done, answer in plain words instead.

Tools:"""
GO_ON = "Go on."
"""Said for the person where the model has to speak twice."""

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
    told = [{"role": "system", "content": system}] if (system := _system(request)) else []
    turns = [{"role": role, "content": text} for role, text in _turns(request)]
    return {"messages": [*told, *turns], **_ALOUD}


def _plain(request: Request) -> Json:
    heads = {"user": "### User", "assistant": "### Assistant"}
    turns = (f"{heads[role]}\n{text}" for role, text in _turns(request))
    told = [part for part in (_system(request), *turns) if part]
    return {"prompt": "\n\n".join([*told, f"{heads['assistant']}\n"]), "stop": ["\n###"]}


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


def _turns(request: Request) -> list[tuple[str, str]]:
    """Return who said what, in turns: never one of them twice, the model never last."""
    turns: list[tuple[str, str]] = []
    for role, text in _said(request):
        if turns and turns[-1][0] == role == "user":
            turns[-1] = role, f"{turns[-1][1]}\n\n{text}"
            continue
        if turns and turns[-1][0] == role:
            turns.append(("user", GO_ON))
        turns.append((role, text))
    return [*turns, *([("user", GO_ON)] if turns and turns[-1][0] == "assistant" else [])]


def _said(request: Request) -> Iterator[tuple[str, str]]:
    names: dict[str, str] = {}
    for message in request.messages:
        if isinstance(message, Assistant):
            names.update({call.id: call.tool for call in message.calls})
        if text := _text(message, names):
            yield ("assistant" if isinstance(message, Assistant) else "user"), text


def _text(message: Message, names: dict[str, str]) -> str:
    match message:
        case User(text):
            return text.strip()
        case Assistant(text, calls):
            return "\n".join(part for part in (text.strip(), *map(written, calls)) if part)
        case Results(results, news):
            told = [f"{names.get(each.call_id, 'result')}: {each.content}" for each in results]
            return "\n".join([*told, *([news] if news else [])])


def written(call: Call) -> str:
    """Return a call as the line that the model writes for it."""
    return compact({"tool": call.tool, "arguments": dict(call.arguments)})


# -- the reply ---------------------------------------------------------------------------------

_CALLS = re.compile(r"(?:^|\n)(?=\{)")
UNREADABLE = "unreadable"
"""The tool of a call that cannot be read."""


@dataclass(frozen=True, slots=True)
class End:
    """How a turn came to its end: "stop", "length" or "context"; and what it took."""

    reason: str
    usage: Usage | None = None


Piece = str | End


def reply(
    pieces: Iterable[Piece], turn: int, calls: bool, on_text: Callable[[str], object]
) -> Reply:
    """Return the reply that the pieces make; `calls` says whether lines may be calls.

    Raises ModelError where the end is missing.
    """
    whole, shown = "", 0
    for piece in pieces:
        if isinstance(piece, End):
            return _finished(whole, piece, turn, calls)
        whole += well_formed(piece)
        text = said(whole, calls)
        if len(text) > shown:
            on_text(text[shown:])
            shown = len(text)
    raise ModelError("the model's reply was cut off before its end; running again asks anew")


def said(whole: str, calls: bool) -> str:
    """Return the text before the calls, without what may still be the line's end."""
    found = _CALLS.search(whole) if calls else None
    return whole[: found.start()] if found else whole.rstrip("\n")


def _finished(whole: str, end: End, turn: int, calls: bool) -> Reply:
    text = said(whole, calls)
    if end.reason != "stop":
        return Reply(text, stop=end.reason, usage=end.usage)
    lines = [line for line in whole[len(text) :].split("\n") if line] if calls else []
    made = tuple(_call(line, call_id(turn, place, len(lines))) for place, line in enumerate(lines))
    return Reply(text.strip(), made, "tools" if made else "end", end.usage)


def _call(line: str, name: str) -> Call:
    """Return the call that a line holds. What cannot be read is told to the model, not run."""
    try:
        found = strict.read(line)
    except ValueError as error:
        return Call(name, UNREADABLE, {}, str(error))
    match found:
        case {"tool": str(tool), "arguments": dict(arguments)} if len(found) == 2:
            return Call(name, tool, arguments)
    return Call(name, UNREADABLE, {}, 'a call is {"tool":"NAME","arguments":{...}}')
