"""A server on this machine that stands in for Anthropic's API, as strict as the API.

It plays a script of turns over real HTTP, refuses what the API refuses, signs and checks
thinking, accounts cached prefixes, and keeps what it was asked.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Self

from . import anthropic_rules as rules
from .anthropic_cache import Cache, Thoughts
from .anthropic_turns import Turn, said, stream
from .anthropic_words import Json, Refused, as_blocks, bad
from .web import Served, json_object

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Asked:
    """A request that came in, and what it met with."""

    body: Json
    headers: dict[str, str]
    refused: str = ""
    usage: Json = field(default_factory=dict)
    dropped: tuple[Json, ...] = ()


class StandIn(Served):
    """The server, for a `with`: `url` is where it listens, `asked` what it was asked."""

    server: _Server

    def __init__(self, turns: Iterable[Turn] = (), key: str | None = None) -> None:
        self.turns = list(turns)
        self.key = key
        self.asked: list[Asked] = []
        self.thoughts = Thoughts()
        self.cache = Cache()
        self.paused: list[Json] | None = None
        self.stalled = threading.Event()
        self.left = threading.Event()
        self.closing = threading.Event()
        self.connections = 0
        self.streams: list[bytes] = []
        self._ids = (f"toolu_{number:04}" for number in count(1))
        self.url = "http://stand-in.invalid"

    def __enter__(self) -> Self:
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.server.api = self
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        return super().__enter__()

    @property
    def refused(self) -> list[str]:
        """What was refused by a rule, not by the script."""
        return [asked.refused for asked in self.asked if asked.refused]

    def answer(self, headers: dict[str, str], data: bytes) -> tuple[Turn, bytes]:
        """Return the turn to play, and its bytes. Raises Refused."""
        try:
            body, dropped = self._read(headers, data)
        except Refused as refused:
            self.asked.append(Asked(json_object(data), headers, refused.message))
            raise
        turn = self.turns.pop(0) if self.turns else Turn(status=500, message="no turn is left")
        usage = {} if turn.status else self.cache.account(body)
        self.asked.append(Asked(body, headers, usage=usage, dropped=tuple(dropped)))
        if turn.status:
            kind = ERRORS.get(turn.status, "api_error")
            raise Scripted(turn.status, kind, turn.message, turn.headers)
        opening = _opening(body["model"], usage, len(self.asked))
        data = stream(turn, opening, self._ids, lambda text: self.thoughts.sign(body, text))
        last = body["messages"][-1]
        begun = as_blocks(last["content"]) if last["role"] == "assistant" else []
        self.paused = begun + said(data) if turn.stop == "pause_turn" else None
        self.streams.append(data)
        return turn, data

    def _read(self, headers: dict[str, str], data: bytes) -> tuple[Json, list[Json]]:
        rules.check_headers(headers, self.key)
        if len(data) > rules.LARGEST:
            raise Refused(413, "request_too_large", "Request exceeds the maximum size")
        body = json_object(data)
        if not body:
            raise bad("The request body is not valid JSON")
        rules.check(body, rules.betas(headers), self.paused)
        return body, self.thoughts.check(body)


@dataclass
class Scripted(Refused):
    """A refusal that the script asked for."""

    headers: tuple[tuple[str, str], ...] = ()


def _opening(model: str, usage: Json, number: int) -> Json:
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


class _Server(ThreadingHTTPServer):
    api: StandIn
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        self.server.api.connections += 1
        super().setup()

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        data = self.rfile.read(int(headers["content-length"]))
        try:
            turn, stream = self.server.api.answer(headers, data)
        except Refused as refused:
            self._refuse(refused)
        else:
            broken = turn.cut is not None or turn.raw is not None or turn.hard
            play = self._break_off if broken else self._tell
            play(turn, stream)

    def _tell(self, turn: Turn, stream: bytes) -> None:
        self._head(200, "text/event-stream", ("transfer-encoding", "chunked"))
        size = turn.drip or len(stream) or 1
        for place in range(0, len(stream), size):
            piece = stream[place : place + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, refused: Refused) -> None:
        error = {"type": refused.kind, "message": refused.message}
        told = {"type": "error", "error": error, "request_id": "req_0001"}
        data = json.dumps(told).encode()
        more = refused.headers if isinstance(refused, Scripted) else ()
        self._head(refused.status, "application/json", ("content-length", str(len(data))), *more)
        self.wfile.write(data)

    def _break_off(self, turn: Turn, stream: bytes) -> None:
        """Send a stream that ends with its connection: cleanly, or within a chunk."""
        self.close_connection = True
        if not turn.hard:
            self._head(200, "text/event-stream", ("connection", "close"))
            self.wfile.write(stream)
        else:
            self._head(200, "text/event-stream", ("transfer-encoding", "chunked"))
            self.wfile.write(b"%x\r\n%s" % (len(stream) + 1, stream))
        if turn.stalls:
            self._await_end()

    def _await_end(self) -> None:
        self.server.api.stalled.set()
        self.connection.settimeout(20)
        try:
            gone = self.connection.recv(1) == b""
        except ConnectionResetError:
            gone = True
        except TimeoutError:
            gone = False
        if gone:
            self.server.api.left.set()

    def _head(self, status: int, kind: str, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("content-type", kind), *headers):
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the tests read `asked`."""
