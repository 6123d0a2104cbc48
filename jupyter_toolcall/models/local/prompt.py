"""What a model of this machine is told: a request as the body of one generation.

Pure. Where the file brings a chat template, the turns go by it; else they are written
out in a plain form of ours, which any model can carry on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...content.value import well_formed
from ...events import Call
from ...request import Assistant, Message, Request, Results, User
from ...tools import Tool
from .grammar import turn_grammar

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


def body(request: Request, settings: Settings) -> Json:
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
