"""The input tokens of requests, as a provider counts them or estimated.

No provider publishes the tokenizer of its newest models, and each writes tools into the
prompt in words of its own, so what is counted here is the request as the JSON that the
Messages API takes. On requests with tools in English the rule stays within 10 % of four
published vocabularies (cl100k_base, o200k_base, those of Claude 2 and of DeepSeek), and
within 16 % on a bare list of names; other languages may be 30 % off. Four characters a
token, the usual rule of thumb, is up to 18 % off on the former, and 43 % on tables of
numbers. What it is good for is comparing schemes: there most of the error is on both sides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..models import anthropic_requests
from ..schemes.messages import Reply, Request

Exchange = tuple[Request, Reply | None]
_PIECE = re.compile(r"[A-Z]?[a-z]{1,10}|[A-Z]{1,3}|\d{1,3}|[^\w\s]{1,3}|[^\W\d_a-zA-Z]|\n+")
"""A word of camelCase, some capitals, three digits, up to three signs in a row."""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=dict)
_REFERRING, _PLAIN = "claude-sonnet-5", "claude-3"
"""A model that takes tools by reference, and one that does not."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Input tokens of a run, and those of them that a prompt cache serves."""

    input: int = 0
    cached: int = 0


def tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return len(_PIECE.findall(text))


def served(texts: Sequence[str]) -> list[int]:
    """Return, for each request, the tokens that it begins with as an earlier one did.

    This is what a cache serves that forgets nothing and knows every prefix.
    """
    longest = (
        max((_common_prefix(text, earlier) for earlier in texts[:index]), default=0)
        for index, text in enumerate(texts)
    )
    return [tokens(text[:length]) for text, length in zip(texts, longest, strict=True)]


def _common_prefix(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike: a binary search, for long texts."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def as_sent(requests: Iterable[Request], *, by_reference: bool = False) -> Iterator[str]:
    """Yield each request as a model reads it: tools, system, messages, as providers cache them.

    Most models get the tools of the turn, as they are described now. By reference every
    tool is declared once and kept; one that is selected later is read where it was
    selected, so that nothing before it changes.
    """
    model = anthropic_requests.target(_REFERRING if by_reference else _PLAIN, 1, None, True)
    for request in requests:
        sent = request if by_reference else replace(request, first=(), news="")
        body = anthropic_requests.body(sent, model)
        declared = {tool["name"]: tool for tool in body.get("tools", ())}
        shown = [tool for tool in declared.values() if "defer_loading" not in tool]
        turns = (_resolved(turn, declared) for turn in body["messages"])
        tools = (_JSON.encode(_resolved(tool, declared)) for tool in shown)
        yield "\n".join([*tools, request.system, *map(_JSON.encode, turns)])


def _resolved(part: object, declared: Mapping[str, dict[str, Any]]) -> object:
    """Return a part of a message with tools instead of references, and without cache marks."""
    match part:
        case {"type": "tool_reference", "tool_name": name}:
            return {key: item for key, item in declared[name].items() if key != "defer_loading"}
        case dict():
            return {k: _resolved(v, declared) for k, v in part.items() if k != "cache_control"}
        case list():
            return [_resolved(item, declared) for item in part]
    return part


def counted_tokens(asked: Sequence[Exchange]) -> tuple[Tokens, Tokens]:
    """Return the tokens as a provider counted them, or else as estimated; and by reference."""
    requests = [request for request, _ in asked]
    counted = [
        Tokens(reply.usage.input, reply.usage.cached) if reply and reply.usage else estimate
        for (_, reply), estimate in zip(asked, _estimated(as_sent(requests)), strict=True)
    ]
    return sum_tokens(counted), sum_tokens(_estimated(as_sent(requests, by_reference=True)))


def _estimated(requests: Iterable[str]) -> list[Tokens]:
    texts = list(requests)
    return [Tokens(tokens(t), cached) for t, cached in zip(texts, served(texts), strict=True)]


def sum_tokens(counts: Sequence[Tokens]) -> Tokens:
    """Return the tokens of several runs or requests together."""
    return Tokens(sum(one.input for one in counts), sum(one.cached for one in counts))
