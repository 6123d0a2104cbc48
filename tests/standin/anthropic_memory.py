"""The stand-in without sockets: the same rules and streams, behind the SDK's own client.

A cut is made at the transport, so that one at every byte of many streams takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2

from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.retrying import Patience

from .anthropic_api import Scripted, StandIn
from .anthropic_words import Refused
from .talk import KEY, NEWEST


class Played(httpx2.SyncByteStream):
    """The bytes of a stream; a hard end is one of the connection."""

    def __init__(self, data: bytes, hard: bool) -> None:
        self.data = data
        self.hard = hard

    def __iter__(self) -> Iterator[bytes]:
        yield self.data
        if self.hard:
            raise httpx2.RemoteProtocolError("peer closed connection without the end of the body")


@contextmanager
def in_memory(api: StandIn, model: str = NEWEST, **options: Any) -> Iterator[Claude]:
    """Give a model that speaks to a stand-in that does not listen."""

    def handle(request: httpx2.Request) -> httpx2.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            turn, data = api.answer(headers, request.read())
        except Refused as refused:
            told = {"type": "error", "error": {"type": refused.kind, "message": refused.message}}
            more = dict(refused.headers) if isinstance(refused, Scripted) else {}
            return httpx2.Response(refused.status, headers=more, content=json.dumps(told))
        kind = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=kind, stream=Played(data, turn.hard))

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    with anthropic.Anthropic(api_key=KEY, base_url=api.url, http_client=http) as client:
        yield Claude(model, client=client, **{"patience": Patience(tries=1), **options})
