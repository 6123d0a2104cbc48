"""A `Request` as the body that the Messages API takes.

Pure translation only. Two things shape it. The API refuses a history that is not exact:
each call answered once, in the next message, results first. And what was sent before
must be sent again unchanged, or the prompt cache and the model's thinking are lost:
tools keep their order, their place and their first description.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...content import well_formed
from ...events import Call
from ...request import Assistant, Message, Request, Result, Results, User
from ...tools import Tool
from .abilities import BINDING_BETA, abilities

Json = dict[str, Any]

GO_ON = "Go on."
"""Said for the person where the model has to speak twice: the API takes no prefill."""

_HIDDEN = {"defer_loading": True}
_MARK = {"cache_control": {"type": "ephemeral"}}


def declarations(request: Request, model: str, sent: Mapping[str, Json]) -> list[Json]:
    """Return the tools of a request: those in view, then those that wait for a reference.

    `sent` are the declarations of the conversation's last request, by name: a tool keeps
    its place, its first description, and stays in view once it is.
    """
    if not abilities(model).references:
        return [_declaration(tool, sent) for tool in request.tools]
    by_name = {tool.name: tool for tool in (*request.tools, *request.deferred)}
    offered = {tool.name for tool in request.tools} - _selected(request.messages)
    in_view = offered | {name for name, tool in sent.items() if not _hidden(tool)}
    shown = [name for name in {**sent, **by_name} if name in in_view and name in by_name]
    if not shown:
        return [_declaration(tool, sent) for tool in request.tools]
    hidden = sorted(by_name.keys() - set(shown))
    return [
        *(_declaration(by_name[name], sent) for name in shown),
        *(_declaration(by_name[name], sent) | _HIDDEN for name in hidden),
    ]


def body(request: Request, model: str, max_tokens: int, tools: Sequence[Json]) -> Json:
    """Return the body of a request with these declarations of its tools."""
    hidden = {tool["name"] for tool in tools if _hidden(tool)}
    parts: Json = {
        "model": model,
        "max_tokens": max_tokens,
        "thinking": _thinking(model),
        "system": _texts(request.system),
        "tools": list(tools),
        "messages": _messages(request.messages, model, hidden),
    }
    kept = {key: part for key, part in parts.items() if part}
    return _marked(kept)


def betas(model: str) -> list[str]:
    """Return the beta features that `body` makes use of for a model."""
    return [BINDING_BETA] if abilities(model).bound else []


def _selected(messages: Iterable[Message]) -> set[str]:
    return {
        name
        for message in messages
        if isinstance(message, Results)
        for result in message.results
        for name in result.selected
    }


def _hidden(declaration: Json) -> bool:
    return "defer_loading" in declaration


def _declaration(tool: Tool, sent: Mapping[str, Json]) -> Json:
    schema = {"type": "object", **tool.parameters}
    before = sent.get(tool.name, {})
    # Other arguments are another tool, and an old description would not fit them.
    same = before.get("input_schema") == schema
    text = before.get("description", "") if same else tool.description
    described = {"description": well_formed(text)} if text.strip() else {}
    return {"name": tool.name, **described, "input_schema": schema}


def _thinking(model: str) -> Json:
    able = abilities(model)
    if not able.adaptive:
        return {}
    thinking = {"type": "adaptive", "display": "summarized"}
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    return thinking | binding if able.bound else thinking


def _messages(history: Iterable[Message], model: str, hidden: Collection[str]) -> list[Json]:
    """Return the messages in turns: never two of one role, never the model's last."""
    turns: list[Json] = []
    for message in history:
        role = "assistant" if isinstance(message, Assistant) else "user"
        content = _content(message, model, hidden)
        if not content:
            continue
        if turns and turns[-1]["role"] == role == "user":
            turns[-1]["content"] += content
            continue
        if turns and turns[-1]["role"] == role:
            turns.append(_go_on())
        turns.append({"role": role, "content": content})
    if turns and turns[-1]["role"] == "assistant":
        turns.append(_go_on())
    return turns


def _go_on() -> Json:
    return {"role": "user", "content": _texts(GO_ON)}


def _content(message: Message, model: str, hidden: Collection[str]) -> list[Json]:
    match message:
        case User(text):
            return _texts(text)
        case Assistant():
            return _said(message, model)
        case Results(results, news):
            answers = [_answer(result, hidden) for result in results]
            rest = [text for result in results for text in _beside(result, hidden)]
            return [*answers, *rest, *_texts(news)]


def _said(message: Assistant, model: str) -> list[Json]:
    """Return the model's turn as it came, or rebuilt where it came from elsewhere."""
    match message.raw:
        case {"anthropic": str(speaker), "content": list(content)} if _same_calls(
            content, message.calls
        ):
            # Another model's thinking means nothing to this one.
            return list(content) if speaker == model else _without_thinking(content)
    return [*_texts(message.text), *map(_use, message.calls)]


def _same_calls(content: Sequence[Json], calls: Sequence[Call]) -> bool:
    used = [block["id"] for block in content if block.get("type") == "tool_use"]
    return used == [call.id for call in calls]


def _without_thinking(content: Iterable[Json]) -> list[Json]:
    return [block for block in content if "thinking" not in block.get("type", "")]


def _use(call: Call) -> Json:
    given = {} if call.broken else dict(call.arguments)
    return {"type": "tool_use", "id": _legal(call.id), "name": _legal(call.tool), "input": given}


def _answer(result: Result, hidden: Collection[str]) -> Json:
    named = _references(result, hidden)
    answer: Json = {
        "type": "tool_result",
        "tool_use_id": _legal(result.call_id),
        "content": named or well_formed(result.content),
    }
    return answer | {"is_error": True} if result.error else answer


def _references(result: Result, hidden: Collection[str]) -> list[Json]:
    if result.error:
        return []
    names = [name for name in result.selected if name in hidden]
    return [{"type": "tool_reference", "tool_name": name} for name in names]


def _beside(result: Result, hidden: Collection[str]) -> list[Json]:
    # A reference shares a result with nothing else: what it has to say besides comes after.
    plain = result.content in ("ok", '"ok"')
    return [] if plain or not _references(result, hidden) else _texts(result.content)


def _texts(text: str) -> list[Json]:
    # The API refuses text of nothing but white space.
    return [{"type": "text", "text": well_formed(text)}] if text.strip() else []


def _legal(name: str) -> str:
    # A turn that another model or a script made may have names that the API refuses.
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


def _marked(body: Json) -> Json:
    """Return the body with its cache breakpoints: what never changes, and the last two turns.

    The second last turn is where the last request ended, so it is found in the cache
    however many blocks have come since.
    """
    turns = body.get("messages", [])
    asked = [place for place, turn in enumerate(turns) if turn["role"] == "user"][-2:]
    marked = [_ending(turn) if place in asked else turn for place, turn in enumerate(turns)]
    return {**body, **_stable(body), "messages": marked}


def _stable(body: Json) -> Json:
    if "system" in body:
        return {"system": _last_marked(body["system"])}
    shown = [tool for tool in body.get("tools", []) if not _hidden(tool)]
    if not shown:
        return {}
    return {"tools": [*_last_marked(shown), *body["tools"][len(shown) :]]}


def _ending(turn: Json) -> Json:
    return {**turn, "content": _last_marked(turn["content"])}


def _last_marked(blocks: Sequence[Json]) -> list[Json]:
    return [*blocks[:-1], {**blocks[-1], **_MARK}]
