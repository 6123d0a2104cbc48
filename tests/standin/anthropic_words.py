"""The words that the stand-in's rules share: blocks, names and digests."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from .turns import Json

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
BOUND = {
    *("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
    *("claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-2"),
}


def as_blocks(content: Any) -> list[Json]:
    """Return content as blocks: a string is one of text, if there is any."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content)


def digest(*parts: Any) -> str:
    """Return a digest of JSON data; cache breakpoints do not count."""
    text = json.dumps(unmarked(parts), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def unmarked(value: Any) -> Any:
    """Return JSON data without its cache breakpoints."""
    if isinstance(value, dict):
        return {key: unmarked(part) for key, part in value.items() if key != "cache_control"}
    if isinstance(value, (list, tuple)):
        return [unmarked(part) for part in value]
    return value
