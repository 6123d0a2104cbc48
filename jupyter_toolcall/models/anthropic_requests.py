"""A `Request` as the body that the Messages API takes. No I/O.

The API refuses a history that is not exact: each call answered once, in the next message, results
first. Below the messages: cache breakpoints, which tools go with a request, which thinking, and
what each Claude model can do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import Literal

from ..core.digests import digest
from ..core.events import Call
from ..schemes.messages import Assistant, Message, Request, Result, Results, Sent, User
from ..tools.plain_data import well_formed
from .prices import of_model
from .provider_client import GO_ON, Json, as_sent, legal_key, legal_name, newest_tools, tools_sent

NOTHING = "(nothing)"
"""Stands for a turn without a word, where there has to be one."""
MOST_TOKENS = 64_000
"""Tokens of a reply to which `max_tokens` is raised: each model that takes tools by reference can
write as many."""
_MARK = {"cache_control": {"type": "ephemeral"}}


# -- what a model can do -------------------------------------------------------------------------
# Sources, read on 2026-11-21: the types of the `anthropic` package 2.12; the profiles of
# pydantic-ai (`profiles/anthropic.py`, `providers/anthropic.py`,
# `models/anthropic/_thinking_binding.py`), whose authors tried them on the live API;
# Anthropic's pages on what is new in Opus 5.5 and on system messages in mid-conversation.

BINDING_BETA = "thinking-binding-controls-2026-08-01"
INLINE_BETA = "inline-tools-2026-09-15"

Strategy = Literal["reference", "inline", "resend"]
"""How tools are added during a conversation: a result refers to them, and they are declared as
deferred from then on; they are defined in the conversation; or the list of tools is sent as it is
now, which costs the prompt cache and the thinking that is bound to the list."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model can do."""

    adaptive: bool = True
    """It thinks as much as it sees fit, and can be asked for a summary of it."""
    references: bool = True
    """Tools can be declared as deferred, and brought into view by name later."""
    inline: bool = False
    """Tools can be defined in the conversation (beta)."""
    bound: bool = False
    """Its thinking belongs to one conversation, so that a request whose beginning was edited must
    ask the API to drop what does not fit (beta)."""


_NEWEST = Abilities(inline=True, bound=True)
_GROUPS = {
    _NEWEST: "fable-5-2 mythos-5-2 haiku-5-5 sonnet-5-5 fable-5-1 opus-5-5",
    Abilities(inline=True): "mythos-5-1 fable-5 mythos-5 opus-5 opus-4-8",
    Abilities(): "sonnet-5 mythos-preview opus-4-7 opus-4-6 sonnet-4-6",
    Abilities(adaptive=False): "haiku-4-5 opus-4-5 sonnet-4-5",
    Abilities(adaptive=False, references=False): "opus-4 sonnet-4 3 2",
}
MODELS = {f"claude-{name}": group for group, names in _GROUPS.items() for name in names.split()}
"""By the beginning of the model's name: a dated name counts as the name without it."""


def abilities(model: str) -> Abilities:
    """Return what a model can do; one that is not known here is taken for a new one."""
    return of_model(model, MODELS) or _NEWEST


@dataclass(frozen=True, slots=True)
class Target:
    """The model that a request is for, and how its API is used."""

    model: str
    max_tokens: int
    strategy: Strategy
    abilities: Abilities
    inline: bool
    """Whether tools may be defined in the conversation."""
    drops: bool
    """Whether the API is asked to drop the thinking that does not fit."""
    binds: bool
    """Whether thinking that does not fit is left out here."""


def target(model: str, max_tokens: int, strategy: Strategy | None, beta: bool) -> Target:
    """Return how a model is used; a strategy of None is the best that the model has.

    `beta` is whether beta features may be used: a gateway may not know them.
    """
    able = abilities(model)
    inline, drops, binds = beta and able.inline, beta and able.bound, not beta and able.bound
    best: Strategy = "reference" if able.references else "resend"
    # Nothing that was sent changes, so the thinking that is bound to it stays too.
    best = "inline" if inline else best
    return Target(model, max_tokens, strategy or best, able, inline, drops, binds)


# -- the body ------------------------------------------------------------------------------------


def body(request: Request, target: Target) -> Json:
    """Return the JSON body that a request is sent as; nothing else goes into it."""
    tools = declared(request, target)
    turns, bindings = _turns(request.messages, target, tools)
    parts: Json = {
        "model": target.model,
        "max_tokens": _max_tokens(target, request.cut_off),
        "thinking": _thinking(target),
        "system": _texts(request.system),
        "tools": list(tools.tools),
        "messages": turns,
    }
    kept = {key: part for key, part in parts.items() if part}
    if target.binds:
        kept["messages"] = without_moved_thinking(kept, bindings)
    return {**_marked(kept), "stream": True}


def betas(body: Json) -> list[str]:
    """Return the beta features that a body makes use of."""
    binding = "block_binding" in body.get("thinking", {})
    inline = any(turn["role"] == "system" for turn in body["messages"])
    return [*([BINDING_BETA] if binding else []), *([INLINE_BETA] if inline else [])]


def _max_tokens(target: Target, cut_off: int) -> int:
    """Return how long the reply may be: twice as long as the last one that was cut off."""
    if not target.abilities.references:
        return target.max_tokens
    return max(target.max_tokens, min(target.max_tokens << cut_off, MOST_TOKENS))


def _thinking(target: Target) -> Json:
    if not target.abilities.adaptive:
        return {}
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    return {"type": "adaptive", "display": "summarized", **(binding if target.drops else {})}


# -- messages ---------------------------------------------------------------------------------


def _turns(
    messages: Sequence[Message], target: Target, tools: Declared
) -> tuple[list[Json], dict[int, str]]:
    """Return the messages in turns: never two of one role, never the model's last.

    Tools that are defined in the conversation stand between what a person said and the reply.
    Beside the turns, by their index: what the thinking of the model's turns was bound to.
    """
    turns, bindings = list[Json](), dict[int, str]()
    replies, defined, paused = 0, list[Json](), False
    for message in messages:
        if not isinstance(message, Assistant):
            _add_user_content(turns, _user_content(message, tools.hidden))
            paused = False
            continue
        defined += tools.added.get(replies, ())
        replies += 1
        raw = message.raw if isinstance(message.raw, Mapping) else {}
        content = _assistant_content(message, target.model)
        if paused and turns and turns[-1]["role"] == "assistant":
            turns[-1]["content"] += content
        else:
            _add_reply(turns, content or (_texts(NOTHING) if defined else []), defined)
            if content or defined:
                bindings[len(turns) - 1] = raw.get("bound", "")
                defined = []
        # A model that paused continues in its next message.
        paused = raw.get("paused") is True and bool(raw.get("content"))
    if not (paused and turns and turns[-1]["role"] == "assistant"):
        _add_reply(turns, [], [*defined, *tools.added.get(replies, ())])
    return [_without_last_thinking(turn, turns[-1]) for turn in turns], bindings


def _add_user_content(turns: list[Json], content: list[Json]) -> None:
    if turns and turns[-1]["role"] == "user":
        turns[-1]["content"] += content
    elif content:
        turns.append({"role": "user", "content": content})


def _add_reply(turns: list[Json], content: list[Json], defined: Sequence[Json]) -> None:
    """Add the model's turn, after one of the person's."""
    if turns and turns[-1]["role"] == "assistant":
        turns.append({"role": "user", "content": _texts(GO_ON)})
    if defined:
        definitions = [{"type": "tool_definition", "definition": tool} for tool in defined]
        additions = [{"type": "tool_addition", "tool": tool} for tool in definitions]
        turns.append({"role": "system", "content": additions})
    if content:
        turns.append({"role": "assistant", "content": content})


def _without_last_thinking(turn: Json, last: Json) -> Json:
    """The API takes no thinking at a turn's end, unless that turn continues."""
    content = turn["content"]
    while turn is not last and content and "thinking" in content[-1].get("type", ""):
        content = content[:-1]
    return turn if content is turn["content"] else {**turn, "content": content or _texts(NOTHING)}


def _user_content(message: User | Results, hidden: Collection[str]) -> list[Json]:
    match message:
        case User(text):
            return _texts(text)
        case Results(results, news):
            references = [_references(result, hidden) for result in results]
            pairs = list(zip(results, references, strict=True))
            # A reference shares a result with nothing else: its text comes after the results.
            texts = [
                text
                for result, names in pairs
                if names and result.content not in ("ok", '"ok"')
                for text in _texts(result.content)
            ]
            return [*(_answer(*pair) for pair in pairs), *texts, *_texts(news)]


def _assistant_content(message: Assistant, model: str) -> list[Json]:
    """Return the model's turn as it came, or rebuilt if it came from elsewhere."""
    match message.raw:
        case {"anthropic": str(author), "content": list(content)} if [
            block["id"] for block in content if block.get("type") == "tool_use"
        ] == [call.id for call in message.calls]:
            # Recorded are the names of tools, sent their short forms, as the model wrote them.
            names = {call.id: legal_name(call.tool) for call in message.calls}
            blocks = [
                block | {"name": names[block["id"]]} if block.get("type") == "tool_use" else block
                for block in content
            ]
            # Another model's thinking means nothing to this one.
            return blocks if author == model else without_thinking(blocks)
    return [*_texts(message.text), *map(_use, message.calls)]


def _use(call: Call) -> Json:
    return {
        "type": "tool_use",
        "id": legal_name(call.id),
        "name": legal_name(call.tool),
        "input": {} if call.broken else {legal_key(k): v for k, v in call.arguments.items()},
    }


def _answer(result: Result, references: list[Json]) -> Json:
    answer: Json = {
        "type": "tool_result",
        "tool_use_id": legal_name(result.call_id),
        "content": references or well_formed(result.content),
    }
    return answer | {"is_error": True} if result.error else answer


def _references(result: Result, hidden: Collection[str]) -> list[Json]:
    names = [name for name in names_of(result) if name in hidden]
    return [{"type": "tool_reference", "tool_name": name} for name in names]


def _texts(text: str) -> list[Json]:
    # The API refuses text of nothing but white space.
    return [{"type": "text", "text": well_formed(text)}] if text.strip() else []


# -- the prompt cache ---------------------------------------------------------------------------


def _marked(body: Json) -> Json:
    """Return the body with its cache breakpoints: tools, system text, and the ends of the last
    two requests.

    The earlier end is found in the cache, however many blocks have come since.
    """
    turns = body.get("messages", [])
    marked = {**body, "messages": list(turns)}
    speakers = [turn["role"] for turn in turns]
    # Tools that are defined in the conversation stand behind the user's turn, and end a request.
    ends = [
        index
        for index, (speaker, reply) in enumerate(pairwise([*speakers, "assistant"]))
        if speaker != "assistant" == reply
    ]
    for index in ends[-2:]:
        content = _last_marked(turns[index]["content"])
        marked["messages"][index] = {**turns[index], "content": content}
    if "system" in body:
        marked["system"] = _last_marked(body["system"])
    if shown := [tool for tool in body.get("tools", ()) if "defer_loading" not in tool]:
        marked["tools"] = [*_last_marked(shown), *body["tools"][len(shown) :]]
    return marked


def _last_marked(blocks: Sequence[Json]) -> list[Json]:
    return [*blocks[:-1], {**blocks[-1], **_MARK}]


# -- tools: declared, hidden, and defined in the conversation, by the strategy --------------------
# What was sent before is sent again unchanged, or the prompt cache and the model's thinking are
# lost: a tool keeps its order, its place and its first description, and stays in view once it is.
# Deferred tools are no part of the cached prefix (Anthropic's page "Tool use with prompt caching"),
# so one is declared when the first result refers to it: thousands need not be sent in advance.

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


def declared(request: Request, target: Target) -> Declared:
    """Return the tools of a request, as the strategy of its target presents them."""
    all_tools = {tool.name: tool for tool in (*request.tools, *request.deferred)}
    sent = [tool for tool in tools_sent(request) if tool.name in all_tools]
    by_name = target.strategy == "reference"
    named = _named(request.messages) if by_name else {}
    base, revealed, added = _placed(sent, named, target.inline)
    if target.strategy == "resend" or not base:
        return Declared([*map(_declaration, newest_tools(request))])
    defined = {tool["name"] for tools in added.values() for tool in tools}
    waiting = all_tools.keys() - base.keys() - defined if by_name else set[str]()
    # One is declared from the start: whether a first deferred tool changes what the API puts
    # before the conversation is not documented.
    hidden = dict.fromkeys([*sorted(waiting)[:1], *(name for name in named if name in waiting)])
    later = (revealed.get(name) or as_sent(all_tools[name], request.turn) for name in hidden)
    tools = (*map(_declaration, base.values()), *(_declaration(tool) | HIDDEN for tool in later))
    return Declared(tools, frozenset(hidden), added)


Placed = tuple[dict[str, Sent], dict[str, Sent], dict[int, list[Json]]]


def _placed(sent: Sequence[Sent], named: Mapping[str, int], inline: bool) -> Placed:
    """Return what is declared at the start, what a result named, and what is defined between."""
    base: dict[str, Sent] = {}
    revealed: dict[str, Sent] = {}
    added: dict[int, list[Json]] = {}
    for tool in sent:
        is_sent = tool.name in base or tool.name in revealed
        if tool.turn == sent[0].turn:
            base[tool.name] = tool
        elif not is_sent and named.get(tool.name, _NEVER) <= tool.turn:
            revealed[tool.name] = tool
        elif inline:
            added.setdefault(tool.turn, []).append(_declaration(tool))
        else:
            (revealed if tool.name in revealed else base)[tool.name] = tool
    return base, revealed, added


def _named(messages: Iterable[Message]) -> dict[str, int]:
    """Return the turn with whose request each tool was first named by a result."""
    turns: dict[str, int] = {}
    turn = 0
    for message in messages:
        match message:
            case Assistant():
                turn += 1
            case Results(results):
                for name in (name for result in results for name in names_of(result)):
                    turns.setdefault(name, turn)
    return turns


def names_of(result: Result) -> tuple[str, ...]:
    """Return the tools that a result brings into view; what failed brings none."""
    return () if result.error else result.selected


def _declaration(tool: Sent) -> Json:
    text = well_formed(tool.description)
    described = {"description": text} if text.strip() else {}
    schema: Json = {"type": "object", **tool.parameters}
    if any(legal_key(name) != name for name in schema.get("properties", ())):
        schema["properties"] = {legal_key(k): v for k, v in schema["properties"].items()}
        schema["required"] = [legal_key(name) for name in schema.get("required", ())]
    return {"name": tool.name, **described, "input_schema": schema}


# -- thinking ------------------------------------------------------------------------------------
# The newest models bind a block of thinking to all that was before it, and refuse a request whose
# beginning was edited. If the API cannot be asked to drop such blocks, they are left out here.


def bound_to(body: Json) -> str:
    """Return what the thinking of the reply to a request is bound to, as a digest."""
    return reduce(_extended, body["messages"], _beginning(body))


def without_moved_thinking(body: Json, bindings: Mapping[int, str]) -> list[Json]:
    """Return the turns of a body, without the thinking that was bound to another beginning.

    `bindings` has what the thinking of the model's turns was bound to, by their index.
    """
    prefix, turns = _beginning(body), list[Json]()
    for index, turn in enumerate(body["messages"]):
        moved = turn["role"] == "assistant" and bindings.get(index) != prefix
        content = without_thinking(turn["content"]) if moved else turn["content"]
        turns.append({**turn, "content": content})
        prefix = _extended(prefix, turns[-1])
    return turns


def _beginning(body: Json) -> str:
    """Return the digest of what a body has before its messages."""
    return _extended("", {part: body.get(part) for part in ("model", "tools", "system")})


def _extended(prefix: str, part: Json) -> str:
    """Return the digest of the beginning of a body with one more part, such as a turn."""
    return digest("binding", prefix, _unmarked(part))


def without_thinking(content: Iterable[Json]) -> list[Json]:
    """Return the blocks of a turn that are no thinking."""
    return [block for block in content if "thinking" not in block.get("type", "")]


def _unmarked(value: object) -> object:
    """Return JSON data without its cache breakpoints, which bind nothing."""
    match value:
        case dict():
            return {key: _unmarked(v) for key, v in value.items() if key != "cache_control"}
        case list():
            return [_unmarked(part) for part in value]
    return value
