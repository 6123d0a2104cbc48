"""What the Messages API refuses in a history: each call is answered once, in its place."""

from __future__ import annotations

import re
from collections import Counter

from .anthropic_words import NAME, as_blocks
from .model_api import bad
from .turns import Json

BLOCKS = {
    "text": {"text", "citations", "cache_control"},
    "tool_use": {"id", "name", "input", "caller", "toolset_name", "cache_control"},
    "tool_result": {"tool_use_id", "content", "is_error", "toolset_name", "cache_control"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "image": {"source", "cache_control"},
    "tool_reference": {"tool_name", "cache_control"},
    "tool_addition": {"tool", "cache_control"},
    "tool_removal": {"tool", "cache_control"},
}
SPOKEN = {"user": {"text", "image", "tool_result"}}
SPOKEN["system"] = {"text", "tool_addition", "tool_removal"}
SPOKEN["assistant"] = {"text", "tool_use", "thinking", "redacted_thinking"}
ID = re.compile(r"[a-zA-Z0-9_-]+")


def check_messages(body: Json, paused: list[Json] | None = None) -> None:
    """Refuse a history that the API does not take. `paused` is a turn that may go on."""
    turns = merged(body["messages"])
    if not turns:
        raise bad("messages: at least one message is required")
    if turns[0]["role"] != "user":
        raise bad("messages: first message must use the user role")
    for place, turn in enumerate(turns):
        _check_turn(f"messages.{place}", turn)
    goes_on = turns[-1]["role"] == "assistant" and turns[-1]["content"] == paused
    for place, turn in enumerate(turns):
        if "thinking" in turn["content"][-1]["type"] and not (goes_on and turn is turns[-1]):
            raise bad(
                f"messages.{place}: The final block in an assistant message cannot be `thinking`"
            )
    if turns[-1]["role"] == "assistant" and not goes_on:
        raise bad("This model does not support assistant message prefill")
    _check_system_turns(turns)
    _check_ids(turns)
    for place, turn in enumerate(turns):
        _check_answers(place, turns[place - 1] if place else {"content": []}, turn)
    _check_references(turns, {tool["name"] for tool in body.get("tools", [])})


def merged(messages: list[Json]) -> list[Json]:
    """Return the messages with neighbours of one role as one, as the API takes them."""
    turns: list[Json] = []
    for place, message in enumerate(messages):
        if message.get("role") not in SPOKEN:
            raise bad(f"messages.{place}.role: Input should be 'user' or 'assistant'")
        if not message.get("content"):
            raise bad(f"messages.{place}: all messages must have non-empty content")
        content = as_blocks(message["content"])
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1]["content"] = turns[-1]["content"] + content
        else:
            turns.append({"role": message["role"], "content": content})
    return turns


def _check_turn(place: str, turn: Json) -> None:
    for number, block in enumerate(turn["content"]):
        check_block(f"{place}.content.{number}", block, SPOKEN[turn["role"]])
        if block["type"] == "tool_use":
            _check_use(f"{place}.content.{number}", block)


def _check_system_turns(turns: list[Json]) -> None:
    """A system message stands behind the user's, and before the model's or at the end."""
    for place, turn in enumerate(turns):
        if turn["role"] == "system" and (
            turns[place - 1]["role"] != "user"
            or (place + 1 < len(turns) and turns[place + 1]["role"] != "assistant")
        ):
            raise bad(f"messages.{place}: a system message must follow a user message")


def _check_use(place: str, block: Json) -> None:
    if not NAME.fullmatch(block["name"]):
        raise bad(f"{place}.tool_use.name: String should match pattern")
    if not ID.fullmatch(block["id"]):
        raise bad(f"{place}.tool_use.id: String should match pattern")
    if not isinstance(block["input"], dict):
        raise bad(f"{place}.tool_use.input: Input should be an object")


def _check_ids(turns: list[Json]) -> None:
    used = Counter(block["id"] for turn in turns for block in _of(turn, "tool_use"))
    for name, times in used.items():
        if times > 1:
            raise bad(f"messages: `tool_use` ids must be unique: {name}")


def _of(turn: Json, kind: str) -> list[Json]:
    return [block for block in turn["content"] if block["type"] == kind]


def _check_answers(place: int, before: Json, turn: Json) -> None:
    asked = [block["id"] for block in _of(before, "tool_use")]
    answered = [block["tool_use_id"] for block in _of(turn, "tool_result")]
    for name in answered:
        if name not in asked:
            raise bad(f"messages.{place}: unexpected `tool_use_id` in `tool_result`: {name}")
        if answered.count(name) > 1:
            raise bad(f"messages.{place}: each tool_use must have a single result: {name}")
    if missing := [name for name in asked if name not in answered]:
        raise bad(f"messages.{place - 1}: `tool_use` ids without `tool_result` after: {missing}")
    kinds = [block["type"] for block in turn["content"]]
    if any(kind != "tool_result" for kind in kinds[: len(answered)]):
        raise bad(f"messages.{place}: `tool_result` blocks must come first")


def _check_references(turns: list[Json], declared: set[str]) -> None:
    for turn in turns:
        for block in _of(turn, "tool_result"):
            parts = as_blocks(block.get("content") or [])
            if isinstance(block.get("content"), str):
                continue
            for part in parts:
                check_block("tool_result", part, {"text", "image", "tool_reference"})
            named = [part["tool_name"] for part in parts if part["type"] == "tool_reference"]
            for name in named:
                if name not in declared:
                    raise bad(f"Tool reference '{name}' not found in available tools")
            if named and len(named) < len(parts):
                raise bad("tool_result: tool_reference cannot be mixed with other content")


def check_block(place: str, block: Json, allowed: set[str]) -> None:
    """Refuse a block that is of no allowed type, or has what its type does not know."""
    kind = block.get("type", "")
    if kind not in allowed:
        raise bad(f"{place}: Input tag '{kind}' found does not match any of the expected tags")
    for extra in block.keys() - BLOCKS[kind] - {"type"}:
        raise bad(f"{place}.{kind}.{extra}: Extra inputs are not permitted")
    if kind == "text" and not block["text"].strip():
        raise bad(f"{place}: text content blocks must be non-empty")
