"""A `Request` as the body that the Messages API takes.

Pure translation only. The API refuses a history that is not exact: each call answered
once, in the next message, results first. Below the messages: cache breakpoints, which tools go
with a request, and which thinking.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.events import Call
from ...schemes.messages import Assistant, Message, Request, Result, Results, Sent, User
from ...tools.tool import Tool
from ...tools.value_copies import well_formed
from ..provider_client import legal_name
from .abilities import BINDING_BETA, INLINE_BETA, Way

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
        definitions = [{"type": "tool_definition", "definition": tool} for tool in defined]
        content = [{"type": "tool_addition", "tool": tool} for tool in definitions]
        turns.append({"role": "system", "content": content})
    if said:
        turns.append({"role": "assistant", "content": said})


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
    return {
        "type": "tool_use",
        "id": legal_name(call.id),
        "name": legal_name(call.tool),
        "input": given,
    }


def _answer(result: Result, hidden: Collection[str]) -> Json:
    named = _references(result, hidden)
    answer: Json = {
        "type": "tool_result",
        "tool_use_id": legal_name(result.call_id),
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


# -- the prompt cache ---------------------------------------------------------------------------


def _marked(body: Json) -> Json:
    """Return the body with its cache breakpoints: tools, system text, and the last two turns.

    The second last turn is where the last request ended, so it is found in the cache
    however many blocks have come since.
    """
    turns = body.get("messages", [])
    asked = [place for place, turn in enumerate(turns) if turn["role"] == "user"][-2:]
    marked = {**body, "messages": list(turns)}
    for place in asked:
        content = _last_marked(turns[place]["content"])
        marked["messages"][place] = {**turns[place], "content": content}
    if "system" in body:
        marked["system"] = _last_marked(body["system"])
    if shown := [tool for tool in body.get("tools", ()) if "defer_loading" not in tool]:
        marked["tools"] = [*_last_marked(shown), *body["tools"][len(shown) :]]
    return marked


def _last_marked(blocks: Sequence[Json]) -> list[Json]:
    return [*blocks[:-1], {**blocks[-1], **_MARK}]


# -- tools: declared, hidden, and defined on the way, by the strategy -----------------------------
# What was sent before is sent again unchanged, or the prompt cache and the model's thinking are
# lost: a tool keeps its order, its place and its first description, and stays in view once it is.

HIDDEN = {"defer_loading": True}
_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Declared:
    """The tools of a request. `hidden` wait for a result that refers to them.

    `added` are defined in the conversation: for each turn those that came with its request.
    """

    tools: Sequence[Json]
    hidden: frozenset[str] = frozenset()
    added: Mapping[int, Sequence[Json]] = field(default_factory=dict)


def declared(request: Request, way: Way) -> Declared:
    """Return the tools of a request, as a model is told of them that is spoken to so."""
    there = {tool.name: tool for tool in (*request.tools, *request.deferred)}
    sent = [one for one in (*request.first, *_new(request)) if one.name in there]
    if way.strategy == "resend":
        return _resent(request, sent)
    by_name = way.strategy == "reference"
    base, named, added = _placed(sent, _named(request.messages) if by_name else {}, way.inline)
    if not base:
        return _resent(request, sent)
    defined = {one["name"] for more in added.values() for one in more}
    hidden = sorted(there.keys() - base.keys() - defined) if by_name else ()
    later = (named.get(name) or _as_sent(there[name], request.turn) for name in hidden)
    tools = (*map(_declaration, base.values()), *(_declaration(one) | HIDDEN for one in later))
    return Declared(tools, frozenset(hidden), added)


Placed = tuple[dict[str, Sent], dict[str, Sent], dict[int, list[Json]]]


def _placed(sent: Sequence[Sent], named: Mapping[str, int], inline: bool) -> Placed:
    """Return what is declared at the start, what a result named, and what is defined between."""
    base: dict[str, Sent] = {}
    revealed: dict[str, Sent] = {}
    added: dict[int, list[Json]] = {}
    for one in sent:
        known = one.name in base or one.name in revealed
        if one.turn == sent[0].turn:
            base[one.name] = one
        elif not known and named.get(one.name, _NEVER) <= one.turn:
            revealed[one.name] = one
        elif inline:
            added.setdefault(one.turn, []).append(_declaration(one))
        else:
            (revealed if one.name in revealed else base)[one.name] = one
    return base, revealed, added


def _resent(request: Request, sent: Iterable[Sent]) -> Declared:
    offered = {tool.name for tool in request.tools}
    newest = {one.name: one for one in sent if one.name in offered}
    return Declared([_declaration(one) for one in newest.values()])


def _new(request: Request) -> list[Sent]:
    """Return the tools that go out with this request for the first time, by name."""
    known = {one.name: one for one in request.first}
    fresh = {
        tool.name: _as_sent(tool, request.turn)
        for tool in request.tools
        if tool.name not in known or known[tool.name].parameters != tool.parameters
    }
    return [fresh[name] for name in sorted(fresh)]


def _as_sent(tool: Tool, turn: int) -> Sent:
    return Sent(turn, tool.name, tool.description, tool.parameters)


def _named(messages: Iterable[Message]) -> dict[str, int]:
    """Return the turn with whose request each tool was first named by a result."""
    found: dict[str, int] = {}
    turn = 0
    for message in messages:
        match message:
            case Assistant():
                turn += 1
            case Results(results):
                for result in results:
                    found |= {name: turn for name in names_of(result) if name not in found}
    return found


def names_of(result: Result) -> tuple[str, ...]:
    """Return the tools that a result brings into view; what failed brings none."""
    return () if result.error else result.selected


def _declaration(tool: Sent) -> Json:
    text = well_formed(tool.description)
    described = {"description": text} if text.strip() else {}
    return {
        "name": tool.name,
        **described,
        "input_schema": {"type": "object", **tool.parameters},
    }


# -- thinking ------------------------------------------------------------------------------------
# The newest models bind a block of thinking to all that was before it, and refuse a request whose
# beginning was edited. If the API cannot be asked to drop such blocks, they are left out here, from
# the changed turn on.

_ENCODER = json.JSONEncoder(separators=(",", ":"), sort_keys=True)
_LENGTH = 32


def bound_to(body: Json) -> str:
    """Return what the thinking of the reply to a request is bound to, as a digest."""
    known = _begun(body)
    for turn in body["messages"]:
        _add(known, turn)
    return known.hexdigest()[:_LENGTH]


def standing(body: Json, bindings: Mapping[int, str]) -> list[Json]:
    """Return the turns of a body, from the changed place on without thinking.

    `bindings` has for the places of the model's turns what their thinking was bound to.
    """
    known, turns, moved = _begun(body), list[Json](), False
    for place, turn in enumerate(body["messages"]):
        if turn["role"] == "assistant":
            moved = moved or bindings.get(place) != known.hexdigest()[:_LENGTH]
        kept = without_thinking(turn["content"]) if moved else turn["content"]
        turns.append({**turn, "content": kept})
        _add(known, turns[-1])
    return turns


def without_thinking(content: Iterable[Json]) -> list[Json]:
    """Return the blocks of a turn that are no thinking."""
    return [block for block in content if "thinking" not in block.get("type", "")]


def _begun(body: Json) -> hashlib._Hash:
    known = hashlib.sha256()
    _add(known, {part: body.get(part) for part in ("model", "tools", "system")})
    return known


def _add(known: hashlib._Hash, part: Any) -> None:
    known.update(_ENCODER.encode(_unmarked(part)).encode())


def _unmarked(value: Any) -> Any:
    """Return JSON data without its cache breakpoints, which bind nothing."""
    match value:
        case dict():
            return {key: _unmarked(v) for key, v in value.items() if key != "cache_control"}
        case list():
            return [_unmarked(part) for part in value]
    return value
