"""A server on this machine that stands in for chat completions, as strict as all of them.

It plays a script of turns over real HTTP, or in memory, refuses what any such server
refuses, accounts prefixes as OpenAI's cache does, and keeps what it was asked.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx2
import openai

from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.models.retrying import Patience

from . import openai_rules as rules
from .openai_rules import Json, Refused
from .openai_turns import Turn, stream
from .web import Answer, Asked, Web, json_object

KEY = "sk-canary-0123456789-openai"
MODEL = "gpt-6-sol"
STREAM = {"content-type": "text/event-stream; charset=utf-8"}


@dataclass(frozen=True)
class Heard:
    """A request that came in, and what it met with."""

    body: Json
    headers: dict[str, str]
    refused: str = ""
    usage: Json = field(default_factory=dict)


class StandIn:
    """The server, in memory, or for a `with`, where `url` is its base URL.

    `asked` is what it was asked, `key` what it wants as a key, and `counts` whether it takes
    `stream_options`. `stalled` is set once a turn stalls.
    """

    def __init__(
        self, turns: Iterable[Turn] = (), key: str | None = KEY, counts: bool = True
    ) -> None:
        self.turns = list(turns)
        self.key = key
        self.counts = counts
        self.asked: list[Heard] = []
        self.sent: list[bytes] = []
        self.stalled = threading.Event()
        self._ids = (f"call_{number:04}" for number in count(1))
        self._before = b""

    def __enter__(self) -> StandIn:
        self.web = Web(self._answer)
        self.url = f"{self.web.url}/v1"
        self.web.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.web.__exit__(None, None, None)

    @property
    def refused(self) -> list[str]:
        """What was refused by a rule, not by the script."""
        return [heard.refused for heard in self.asked if heard.refused]

    def transport(self) -> httpx2.MockTransport:
        """Return the same server without a network."""

        def answer(request: httpx2.Request) -> httpx2.Response:
            headers = {name.lower(): value for name, value in request.headers.items()}
            asked = Asked(request.method, request.url.path, headers, request.content)
            given = self._answer(asked)
            body = given.body if isinstance(given.body, bytes) else b"".join(given.body)
            short = len(body) < int(given.headers.get("content-length", 0))
            told = {k: v for k, v in given.headers.items() if k != "content-length"}
            return httpx2.Response(given.status, headers=told, content=_parts(body, short))

        return httpx2.MockTransport(answer)

    def _answer(self, asked: Asked) -> Answer:
        try:
            return self._play(asked)
        except Refused as refused:
            error = {"message": refused.message, "type": refused.kind, "code": refused.code}
            told = json.dumps({"error": {**error, "param": None}}).encode()
            more = dict(refused.headers) if isinstance(refused, Scripted) else {}
            return Answer(told, refused.status, {"content-type": "application/json", **more})

    def _play(self, asked: Asked) -> Answer:
        body = json_object(asked.body)
        try:
            self._check(asked, body)
        except Refused as refused:
            self.asked.append(Heard(body, dict(asked.headers), refused.message))
            raise
        turn = self.turns.pop(0) if self.turns else Turn(status=400, message="no turn is left")
        usage = {} if turn.status else self._account(body)
        self.asked.append(Heard(body, dict(asked.headers), usage=usage))
        if turn.status:
            kind = "invalid_request_error" if turn.status == 400 else "server_error"
            raise Scripted(turn.status, turn.message, turn.code, kind, turn.headers)
        counted = usage if body.get("stream_options", {}).get("include_usage") else None
        return self._streamed(turn, stream(turn, counted, self._ids))

    def _streamed(self, turn: Turn, sent: bytes) -> Answer:
        self.sent.append(sent)
        kind = {"content-type": "application/json"} if turn.dialect == "json" else STREAM
        headers = {**kind, **dict(turn.headers)}
        if turn.stalls:
            return Answer(self._stalled(sent), headers=headers)
        if turn.hard:
            return Answer(sent, headers={**headers, "content-length": str(len(sent) + 1)})
        return Answer((bytes([byte]) for byte in sent) if turn.slow else sent, headers=headers)

    def _stalled(self, sent: bytes) -> Iterator[bytes]:
        yield sent
        self.stalled.set()
        self.web.closing.wait(20)

    def _check(self, asked: Asked, body: Json) -> None:
        if (asked.method, asked.path) != ("POST", "/v1/chat/completions"):
            raise Refused(404, f"there is nothing at {asked.path}")
        if self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            raise Refused(401, "Incorrect API key provided", "invalid_api_key")
        if len(asked.body) > rules.LARGEST:
            raise Refused(413, "the request is too large")
        if not self.counts and "stream_options" in body:
            raise rules.bad("Unknown parameter: 'stream_options'", "unknown_parameter")
        rules.check(body)

    def _account(self, body: Json) -> Json:
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


@dataclass
class Scripted(Refused):
    """A refusal that the script asked for."""

    headers: tuple[tuple[str, str], ...] = ()


@contextmanager
def a_model(server: StandIn, **options: Any) -> Iterator[OpenAI]:
    """Give a model that speaks to the server over HTTP, and asks once.

    A request times out soon if its turn stalls. Others take as long as a busy machine needs.
    """

    def limit_reading(request: httpx2.Request) -> None:
        if server.turns and server.turns[0].stalls:
            request.extensions["timeout"]["read"] = 0.3

    hooks = {"request": [limit_reading]}
    with (
        openai.DefaultHttpx2Client(event_hooks=hooks) as http,
        openai.OpenAI(api_key=KEY, base_url=server.url, timeout=60, http_client=http) as client,
    ):
        yield OpenAI(MODEL, **{"patience": Patience(tries=1), "client": client, **options})


@contextmanager
def a_near_model(server: StandIn, **options: Any) -> Iterator[OpenAI]:
    """Give a model that speaks to the server in memory, and asks once."""
    with httpx2.Client(transport=server.transport()) as http:
        client = openai.OpenAI(api_key=KEY, base_url="http://stand.in/v1", http_client=http)
        yield OpenAI(MODEL, **{"patience": Patience(tries=1), "client": client, **options})


def _parts(body: bytes, short: bool) -> Iterator[bytes]:
    yield body
    if short:
        raise httpx2.RemoteProtocolError("the connection was closed within the body")
