"""What the stand-ins for the APIs of Anthropic and OpenAI share: a server that plays a script.

It plays turns over real HTTP or in memory, refuses what its API refuses, and keeps what it was
asked. What an API refuses, and how it writes a turn, is in `anthropic_api` and `openai_api`.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, ClassVar, Self

import httpx2

from jupyter_toolcall.models.retrying import Patience

from .turns import Json, Turn
from .web import Served, json_object


@dataclass
class Refused(Exception):
    """The API's answer to a request that it does not take, or that the script refuses."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


def bad(message: str, code: str | None = None) -> Refused:
    """Return the refusal of a request that is wrong in itself."""
    return Refused(400, message, code=code)


@dataclass(frozen=True)
class Asked:
    """A request that came in, and what it met with."""

    body: Json
    headers: dict[str, str]
    refused: str = ""
    usage: Json = field(default_factory=dict)
    dropped: tuple[Json, ...] = ()


@dataclass(frozen=True)
class SentResult:
    """The result of a call in a request."""

    call: str
    text: str
    error: bool


class StandIn(Served, ABC):
    """The server, in memory, or for a `with`, where `url` is its base URL.

    `asked` is what it was asked, and `key` what it wants as a key. `stalled` is set once a turn
    stalls, and `left` once its client has gone.
    """

    name: ClassVar[str]
    model_name: ClassVar[str]
    own_key: ClassVar[str]
    path: ClassVar[str] = ""
    id_format: ClassVar[str]
    sdk_class: ClassVar[Any]
    client_class: ClassVar[Any]
    kinds: ClassVar[dict[int, str]]
    other_kind: ClassVar[str]
    """The API's name for the error of another status."""
    server: _Server

    def __init__(self, turns: Iterable[Turn] = (), key: str | None = None) -> None:
        self.turns = list(turns)
        self.key = key or self.own_key
        self.asked: list[Asked] = []
        self.streams: list[bytes] = []
        self.listens = False
        self.url = f"http://stand.in{self.path}"
        self.connections = 0
        self.reading = 0.3
        """How long a client waits for a turn that stalls (s)."""
        self.stalled, self.left = threading.Event(), threading.Event()
        self.closing = threading.Event()
        self._ids = (self.id_format.format(number) for number in count(1))

    def __enter__(self) -> Self:
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.server.api = self
        self.listens = True
        self.url = f"http://127.0.0.1:{self.server.server_port}{self.path}"
        return super().__enter__()

    @property
    def refused(self) -> list[str]:
        """What was refused by a rule, not by the script."""
        return [asked.refused for asked in self.asked if asked.refused]

    @property
    def bodies(self) -> list[Json]:
        """The bodies of all requests, of which no rule refused any."""
        assert self.refused == []
        return [asked.body for asked in self.asked]

    @contextmanager
    def model(
        self, model: str = "", headers: dict[str, str] | None = None, **options: Any
    ) -> Iterator[Any]:
        """Give a client of this server, which asks once, and sends these headers of its own."""
        transport = None if self.listens else self.transport()
        hooks = {"request": [self._limit_reading]}
        with (
            httpx2.Client(timeout=60, transport=transport, event_hooks=hooks) as http,
            self.sdk(base_url=self.url, http_client=http, default_headers=headers or {}) as client,
        ):
            chosen = {"patience": Patience(tries=1), "client": client, **options}
            yield self.client_class(model or self.model_name, **chosen)

    def sdk(self, **options: Any) -> Any:
        """Return a client of the SDK, with the key."""
        return self.sdk_class(api_key=self.own_key, **options)

    def _limit_reading(self, request: httpx2.Request) -> None:
        if self.turns and self.turns[0].stalls:
            request.extensions["timeout"]["read"] = self.reading

    # -- what an API says of itself ------------------------------------------------------------

    @abstractmethod
    def check(self, path: str, headers: dict[str, str], data: bytes, body: Json) -> list[Json]:
        """Raise Refused for what the API does not take; return what it leaves out."""

    @abstractmethod
    def account(self, body: Json) -> Json:
        """Return the usage of a request."""

    @abstractmethod
    def stream(self, turn: Turn, body: Json, usage: Json) -> bytes:
        """Return a turn as the API sends it."""

    @abstractmethod
    def refusal(self, refused: Refused) -> Json:
        """Return the body of an error."""

    @abstractmethod
    def sent_tools(self, number: int = -1) -> dict[str, Json]:
        """Return the tools in a request by name: `description` and `parameters`."""

    @abstractmethod
    def call_ids(self, number: int = -1) -> list[str]:
        """Return the ids of the calls in a request, in their order."""

    @abstractmethod
    def results(self, number: int = -1) -> list[SentResult]:
        """Return the results of calls in a request, in their order."""

    # -- the server ----------------------------------------------------------------------------

    def answer(self, path: str, headers: dict[str, str], data: bytes) -> tuple[Turn, bytes]:
        """Return the turn to play, and its bytes. Raises Refused."""
        body = json_object(data)
        try:
            dropped = self.check(path, headers, data, body)
        except Refused as refused:
            self.asked.append(Asked(body, headers, refused.message))
            raise
        turn = self.turns.pop(0) if self.turns else Turn(status=400, message="no turn is left")
        usage = {} if turn.status else self.account(body)
        self.asked.append(Asked(body, headers, usage=usage, dropped=tuple(dropped)))
        if turn.status:
            kind = self.kinds.get(turn.status, self.other_kind)
            raise Refused(turn.status, turn.message, kind, turn.code, turn.headers)
        stream = self.stream(turn, body, usage)
        self.streams.append(stream)
        return turn, stream

    def headers(self, turn: Turn) -> dict[str, str]:
        """Return the headers of an answer."""
        kind = "application/json" if turn.dialect == "json" else "text/event-stream; charset=utf-8"
        return {"content-type": kind, **dict(turn.headers)}

    def transport(self) -> httpx2.MockTransport:
        """Return the same server without a network."""

        def handle(request: httpx2.Request) -> httpx2.Response:
            headers = {name.lower(): value for name, value in request.headers.items()}
            try:
                turn, stream = self.answer(request.url.path, headers, request.read())
            except Refused as refused:
                told, more = json.dumps(self.refusal(refused)), dict(refused.headers)
                kind = {"content-type": "application/json", **more}
                return httpx2.Response(refused.status, headers=kind, content=told)
            return httpx2.Response(
                200, headers=self.headers(turn), content=_played(stream, turn.hard)
            )

        return httpx2.MockTransport(handle)


def _played(stream: bytes, hard: bool) -> Iterator[bytes]:
    yield stream
    if hard:
        raise httpx2.RemoteProtocolError("peer closed connection without the end of the body")


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
            turn, stream = self.server.api.answer(self.path, headers, data)
        except Refused as refused:
            self._refuse(refused)
        else:
            broken = turn.cut is not None or turn.raw is not None or turn.hard
            play = self._break_off if broken else self._tell
            play(turn, stream)

    def _tell(self, turn: Turn, stream: bytes) -> None:
        self._head(200, {**self.server.api.headers(turn), "transfer-encoding": "chunked"})
        size = turn.drip or len(stream) or 1
        for place in range(0, len(stream), size):
            piece = stream[place : place + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, refused: Refused) -> None:
        data = json.dumps(self.server.api.refusal(refused)).encode()
        kind = {"content-type": "application/json", "content-length": str(len(data))}
        self._head(refused.status, kind | dict(refused.headers))
        self.wfile.write(data)

    def _break_off(self, turn: Turn, stream: bytes) -> None:
        """Send a stream that ends with its connection: cleanly, or within a chunk."""
        self.close_connection = True
        headers = self.server.api.headers(turn)
        if not turn.hard:
            self._head(200, {**headers, "connection": "close"})
            self.wfile.write(stream)
        else:
            self._head(200, {**headers, "transfer-encoding": "chunked"})
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

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the tests read `asked`."""
