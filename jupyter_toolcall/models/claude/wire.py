"""A `Request` as the body that the Messages API takes.

Pure translation only. The API refuses a history that is not exact: each call answered
once, in the next message, results first. Which tools go with it is in `declared`, which
thinking in `binding`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...content.value import well_formed
from ...events import Call
from ...request import Assistant, Message, Request, Result, Results, User
from .abilities import BINDING_BETA, INLINE_BETA, Way
from .binding import standing, without_thinking
from .declared import Declared, declared, names_of

Json = dict[str, Any]

GO_ON = "Go on."
"""Said for the person where the model has to speak twice: the API takes no prefill."""
NOTHING = "(nothing)"
"""Stands for a turn without a word, where there has to be one."""

_MARK = {"cache_control": {"type": "ephemeral"}}


def body(request: Request, way: Way) -> Json:
    """Return the JSON body that a request is sent as; nothing else goes into it."""
    tools = declared(request, way)
    turns, bindings = _turns(request.messages, way, tools)
    parts: Json = {
        "model": way.model,
        "max_tokens": way.max_tokens,
        "thinking": _thinking(way),
        "system": _texts(request.system),
        "tools": list(tools.tools),
        "messages": turns,
    }
    kept = {key: part for key, part in parts.items() if part}
    if way.able.bound and not way.drops:
        kept["messages"] = standing(kept, bindings)
    return {**_marked(kept), "stream": True}


def betas(body: Json) -> list[str]:
    """Return the beta features that a body makes use of."""
    used = {
        BINDING_BETA: "block_binding" in body.get("thinking", {}),
        INLINE_BETA: any(turn["role"] == "system" for turn in body["messages"]),
    }
    return [beta for beta, needed in used.items() if needed]


def _thinking(way: Way) -> Json:
    if not way.able.adaptive:
        return {}
    thinking = {"type": "adaptive", "display": "summarized"}
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    return thinking | binding if way.drops else thinking


# -- messages ---------------------------------------------------------------------------------


def _turns(
    history: Sequence[Message], way: Way, tools: Declared
) -> tuple[list[Json], dict[int, str]]:
    """Return the messages in turns: never two of one role, never the model's last.

    Tools that are defined on the way stand between what a person said and the reply to it.
    Beside the turns, what the thinking of the model's was bound to, by their places.
    """
    turns, bindings = list[Json](), dict[int, str]()
    spoken, defined = 0, list[Json]()
    for place, message in enumerate(history):
        if not isinstance(message, Assistant):
            _hear(turns, _heard(message, tools.hidden))
            continue
        defined += tools.added.get(spoken, ())
        spoken += 1
        said = _said(message, way.model)
        if place and _goes_on(history[place - 1], turns):
            turns[-1]["content"] += said
            continue
        _reply(turns, said or (_texts(NOTHING) if defined else []), defined)
        if said or defined:
            bindings[len(turns) - 1] = _binding(message)
            defined = []
    if not (history and _goes_on(history[-1], turns)):
        _reply(turns, [], [*defined, *tools.added.get(spoken, ())])
    return [_ended(turn, turns[-1]) for turn in turns], bindings


def _hear(turns: list[Json], content: list[Json]) -> None:
    if turns and turns[-1]["role"] == "user":
        turns[-1]["content"] += content
    elif content:
        turns.append({"role": "user", "content": content})


def _reply(turns: list[Json], said: list[Json], defined: Sequence[Json]) -> None:
    """Add what the model said, after a turn of the person's."""
    if turns and turns[-1]["role"] == "assistant":
        turns.append({"role": "user", "content": _texts(GO_ON)})
    if defined:
        turns.append({"role": "system", "content": [_addition(tool) for tool in defined]})
    if said:
        turns.append({"role": "assistant", "content": said})


def _addition(tool: Json) -> Json:
    return {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool}}


def _goes_on(message: Message, turns: Sequence[Json]) -> bool:
    """Return whether the last turn is the model's, and goes on where this message paused."""
    match message:
        case Assistant(raw={"paused": True, "content": [_, *_]}):
            return bool(turns) and turns[-1]["role"] == "assistant"
    return False


def _ended(turn: Json, last: Json) -> Json:
    """The API takes no thinking at a turn's end, but where that is still to go on."""
    said = turn["content"]
    while turn is not last and said and "thinking" in said[-1].get("type", ""):
        said = said[:-1]
    return turn if said is turn["content"] else {**turn, "content": said or _texts(NOTHING)}


def _heard(message: User | Results, hidden: Collection[str]) -> list[Json]:
    match message:
        case User(text):
            return _texts(text)
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
            return list(content) if speaker == model else without_thinking(content)
    return [*_texts(message.text), *map(_use, message.calls)]


def _binding(message: Assistant) -> str:
    match message.raw:
        case {"bound": str(digest)}:
            return digest
    return ""


def _same_calls(content: Sequence[Json], calls: Sequence[Call]) -> bool:
    used = [block["id"] for block in content if block.get("type") == "tool_use"]
    return used == [call.id for call in calls]


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
    names = [name for name in names_of(result) if name in hidden]
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


# -- the prompt cache ---------------------------------------------------------------------------


def _marked(body: Json) -> Json:
    """Return the body with its cache breakpoints: tools, system text, and the last two turns.

    The second last turn is where the last request ended, so it is found in the cache
    however many blocks have come since.
    """
    turns = body.get("messages", [])
    asked = [place for place, turn in enumerate(turns) if turn["role"] == "user"][-2:]
    marked = [_ending(turn) if place in asked else turn for place, turn in enumerate(turns)]
    return {**body, **_stable(body), "messages": marked}


def _stable(body: Mapping[str, Any]) -> Json:
    marked = {"system": _last_marked(body["system"])} if "system" in body else {}
    shown = [tool for tool in body.get("tools", ()) if "defer_loading" not in tool]
    if shown:
        marked["tools"] = [*_last_marked(shown), *body["tools"][len(shown) :]]
    return marked


def _ending(turn: Json) -> Json:
    return {**turn, "content": _last_marked(turn["content"])}


def _last_marked(blocks: Sequence[Json]) -> list[Json]:
    return [*blocks[:-1], {**blocks[-1], **_MARK}]
