"""What the stand-in remembers: thinking that it signed, and prefixes in its cache."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .anthropic_words import BOUND, as_blocks, digest, unmarked
from .model_api import bad
from .turns import Json

LOOK_BACK = 20
"""Blocks before a breakpoint in which an earlier breakpoint is found."""


@dataclass
class Thoughts:
    """Signed thinking: where it was said, and what it was."""

    signed: dict[str, tuple[str, str]] = field(default_factory=dict)

    def sign(self, body: Json, text: str) -> Json:
        """Return a new block of thinking at the end of a request."""
        shown = text if _summarized(body) else ""
        place = _place(body, len(body["messages"]))
        signature = digest("signature", place, text, len(self.signed)) + "+/="
        self.signed[signature] = (place, shown)
        return {"type": "thinking", "thinking": shown, "signature": signature}

    def check(self, body: Json) -> list[Json]:
        """Return what was dropped. Refuses thinking that was changed, or moved."""
        found = [
            {"type": "thinking_dropped", "path": f"messages.{turn}.content.{place}"}
            for turn, message in enumerate(body["messages"])
            for place, block in enumerate(as_blocks(message["content"]))
            if block["type"] == "thinking" and self._moved(body, turn, block)
        ]
        if found and not _drops(body):
            raise bad("thinking: The block is bound to a different conversation")
        return found

    def _moved(self, body: Json, turn: int, block: Json) -> bool:
        place, text = self.signed.get(block["signature"], ("", None))
        if text is None:
            raise bad(f"messages.{turn}: Invalid `signature` in `thinking` block")
        if text != block["thinking"]:
            raise bad(f"messages.{turn}: `thinking` blocks cannot be modified")
        return body["model"] in BOUND and place != _place(body, turn)


def _place(body: Json, turn: int) -> str:
    """A tool that waits is no part of what comes before it is referred to."""
    tools = {tool["name"]: tool for tool in body.get("tools", [])}
    shown = [tool for tool in tools.values() if not tool.get("defer_loading")]
    before = [
        {"role": message["role"], "content": block, "revealed": _revealed(block, tools)}
        for message in body["messages"][:turn]
        for block in as_blocks(message["content"])
    ]
    return digest(body["model"], shown, as_blocks(body.get("system", [])), before)


def _summarized(body: Json) -> bool:
    thinking = body.get("thinking") or {}
    return body["model"] not in BOUND or thinking.get("display") == "summarized"


def _drops(body: Json) -> bool:
    match body.get("thinking"):
        case {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}:
            return True
    return False


@dataclass
class Cache:
    """Prefixes that earlier requests marked: tools, then system, then messages."""

    smallest: int = 1024
    kept: set[str] = field(default_factory=set)

    def account(self, body: Json) -> Json:
        """Return the usage of a request, and keep the prefixes that it marks."""
        parts = _parts(body)
        marks = [place for place, (_, marked, _) in enumerate(parts) if marked]
        names, sizes = _prefixes(body["model"], parts)
        hits = [
            place
            for mark in marks
            for place in range(mark, max(-1, mark - LOOK_BACK), -1)
            if names[place] in self.kept
        ]
        read = sizes[max(hits)] if hits else 0
        large = [mark for mark in marks if sizes[mark] >= self.smallest]
        self.kept |= {names[mark] for mark in large}
        written = max(0, sizes[max(large)] - read) if large else 0
        return {
            "input_tokens": (sizes[-1] if sizes else 0) - read - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": 1,
        }


def _prefixes(model: str, parts: list[tuple[str, bool, int]]) -> tuple[list[str], list[int]]:
    names, sizes, name, size = [], [], model, 0
    for text, _, tokens in parts:
        name, size = digest(name, text), size + tokens
        names.append(name)
        sizes.append(size)
    return names, sizes


def _parts(body: Json) -> list[tuple[str, bool, int]]:
    """Return each block of the prompt, whether it is a breakpoint, and its tokens."""
    tools = {tool["name"]: tool for tool in body.get("tools", [])}
    shown = [tool for tool in tools.values() if not tool.get("defer_loading")]
    blocks: list[Any] = [*shown, *as_blocks(body.get("system", []))]
    blocks += [
        {**block, "role": message["role"], "revealed": _revealed(block, tools)}
        for message in body["messages"]
        for block in as_blocks(message["content"])
    ]
    return [_part(block) for block in blocks]


def _part(block: Json) -> tuple[str, bool, int]:
    text = json.dumps(unmarked(block))
    return text, "cache_control" in block, len(text) // 4 + 1


def _revealed(block: Json, tools: dict[str, Json]) -> list[Json]:
    content = block.get("content")
    parts = content if isinstance(content, list) else []
    return [tools[part["tool_name"]] for part in parts if part["type"] == "tool_reference"]
