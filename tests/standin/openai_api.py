"""A server on this machine that stands in for chat completions, as strict as all of them.

It refuses what any such server refuses, and accounts prefixes as OpenAI's cache does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import openai

from jupyter_toolcall.models.openai import OpenAI

from . import openai_rules as rules
from .model_api import Refused, SentResult, bad
from .model_api import StandIn as ModelApi
from .openai_turns import stream
from .turns import Json, Turn

KEY = "sk-canary-0123456789-openai"
MODEL = "gpt-6-sol"


class StandIn(ModelApi):
    """The server; `counts` is whether it takes `stream_options`."""

    name, model_name, own_key = "openai", MODEL, KEY
    path = "/v1"
    id_format = "call_{:04}"
    sdk_class, client_class = openai.OpenAI, OpenAI
    kinds, other_kind = {400: "invalid_request_error"}, "server_error"

    def __init__(
        self, turns: Iterable[Turn] = (), key: str | None = None, counts: bool = True
    ) -> None:
        super().__init__(turns, key)
        self.counts = counts
        self._before = b""

    def check(self, path: str, headers: dict[str, str], data: bytes, body: Json) -> list[Json]:
        if path != "/v1/chat/completions":
            raise Refused(404, f"there is nothing at {path}")
        if headers.get("authorization") != f"Bearer {self.key}":
            raise Refused(401, "Incorrect API key provided", code="invalid_api_key")
        if len(data) > rules.LARGEST:
            raise Refused(413, "the request is too large")
        if not self.counts and "stream_options" in body:
            raise bad("Unknown parameter: 'stream_options'", "unknown_parameter")
        rules.check(body)
        return []

    def account(self, body: Json) -> Json:
        """Count tokens, with those that begin as the last request did, as the cache would."""
        told = json.dumps([body.get("tools"), body["messages"]]).encode()
        shared = next(
            (i for i, (a, b) in enumerate(zip(told, self._before, strict=False)) if a != b),
            min(len(told), len(self._before)),
        )
        self._before = told
        cached = shared // 4 // 128 * 128
        return {
            "prompt_tokens": len(told) // 4,
            "completion_tokens": 10,
            "total_tokens": len(told) // 4 + 10,
            "prompt_tokens_details": {"cached_tokens": cached if cached >= 1024 else 0},
        }

    def stream(self, turn: Turn, body: Json, usage: Json) -> bytes:
        counted = usage if body.get("stream_options", {}).get("include_usage") else None
        return stream(turn, counted, self._ids)

    def refusal(self, refused: Refused) -> Json:
        error = {"message": refused.message, "type": refused.kind, "code": refused.code}
        return {"error": {**error, "param": None}}

    def sent_tools(self, number: int = -1) -> dict[str, Json]:
        tools = [tool["function"] for tool in self.asked[number].body.get("tools", ())]
        return {tool["name"]: {"description": "", **tool} for tool in tools}

    def call_ids(self, number: int = -1) -> list[str]:
        messages = self.asked[number].body["messages"]
        return [call["id"] for message in messages for call in message.get("tool_calls", ())]

    def results(self, number: int = -1) -> list[SentResult]:
        return [
            SentResult(message["tool_call_id"], message["content"], _is_error(message["content"]))
            for message in self.asked[number].body["messages"]
            if message["role"] == "tool"
        ]


def _is_error(content: str) -> bool:
    """There is no field for it."""
    try:
        return [*json.loads(content)] == ["error"]
    except (ValueError, TypeError):
        return False
