"""A server on this machine that stands in for Anthropic's API, as strict as the API.

It refuses what the API refuses, signs and checks thinking, and accounts cached prefixes.
"""

from __future__ import annotations

from collections.abc import Iterable

import anthropic

from jupyter_toolcall.models.anthropic import Claude

from . import anthropic_rules as rules
from .anthropic_cache import Cache, Thoughts
from .anthropic_turns import said, stream
from .anthropic_words import as_blocks
from .model_api import Refused, SentResult, bad
from .model_api import StandIn as ModelApi
from .turns import Json, Turn

KEY = "sk-ant-canary-0123456789"
NEWEST = "claude-opus-5-5"
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class StandIn(ModelApi):
    """The server; `thoughts` is the thinking that it signed."""

    name, model_name, own_key = "anthropic", NEWEST, KEY
    id_format = "toolu_{:04}"
    sdk_class, client_class = anthropic.Anthropic, Claude
    kinds, other_kind = ERRORS, "api_error"

    def __init__(self, turns: Iterable[Turn] = (), key: str | None = None) -> None:
        super().__init__(turns, key)
        self.thoughts = Thoughts()
        self.cache = Cache()
        self.paused: list[Json] | None = None

    def check(self, path: str, headers: dict[str, str], data: bytes, body: Json) -> list[Json]:
        rules.check_headers(headers, self.key)
        if len(data) > rules.LARGEST:
            raise Refused(413, "Request exceeds the maximum size", "request_too_large")
        if not body:
            raise bad("The request body is not valid JSON")
        rules.check(body, rules.betas(headers), self.paused)
        return self.thoughts.check(body)

    def account(self, body: Json) -> Json:
        return self.cache.account(body)

    def stream(self, turn: Turn, body: Json, usage: Json) -> bytes:
        opening = {
            "id": f"msg_{len(self.asked):04}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        data = stream(turn, opening, self._ids, lambda text: self.thoughts.sign(body, text))
        last = body["messages"][-1]
        begun = as_blocks(last["content"]) if last["role"] == "assistant" else []
        self.paused = begun + said(data) if turn.stop == "pause_turn" else None
        return data

    def refusal(self, refused: Refused) -> Json:
        error = {"type": refused.kind, "message": refused.message}
        return {"type": "error", "error": error, "request_id": "req_0001"}

    def sent_tools(self, number: int = -1) -> dict[str, Json]:
        body = self.asked[number].body
        later = [block["tool"]["definition"] for block in self._blocks(number, "tool_addition")]
        return {
            tool["name"]: {
                "description": tool.get("description", ""),
                "parameters": tool["input_schema"],
            }
            for tool in (*body.get("tools", ()), *later)
        }

    def call_ids(self, number: int = -1) -> list[str]:
        return [block["id"] for block in self._blocks(number, "tool_use")]

    def results(self, number: int = -1) -> list[SentResult]:
        return [
            SentResult(block["tool_use_id"], str(block["content"]), block.get("is_error", False))
            for block in self._blocks(number, "tool_result")
        ]

    def _blocks(self, number: int, kind: str) -> list[Json]:
        messages = self.asked[number].body["messages"]
        blocks = (block for message in messages for block in as_blocks(message["content"]))
        return [block for block in blocks if block["type"] == kind]
