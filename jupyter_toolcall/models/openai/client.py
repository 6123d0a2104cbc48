"""The call to the server, and one line for whatever goes wrong with it.

The only file that imports `openai`, and only at the first call:
the import takes seconds. The key stays inside the SDK's client.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from ...core.errors import ModelError
from ...schemes.messages import Reply, Request
from ..openai import failures, stream, wire
from ..provider_client import AGAIN, http_client, model_errors, read_to_end, redacted
from ..retrying import Passing, Patience, persistent

if TYPE_CHECKING:
    import openai


OFFICIAL = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent where a server of one's own asks for no key: the SDK wants one."""
_HINT = "http://localhost:11434/v1"
_MISSING = "this model needs the openai package: pip install 'jupyter-toolcall[openai]'"


class OpenAI:
    """A model behind chat completions: call it with a `Request`, and it answers a `Reply`.

    `base_url` is the server's address (else `OPENAI_BASE_URL`, else OpenAI's own), such as
    `http://localhost:11434/v1`; `options` are further fields of the request, such as
    `{"temperature": 0}`; with `keep_thoughts` what the model thought aloud is kept and
    sent back, for servers that want it.

    `on_text` hears each piece of text as it comes, and what it raises ends the call;
    `on_wait` hears why the server is asked again, and when. Raises ModelError, in one
    line, where there is no whole reply; an interrupt passes through.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        options: Mapping[str, Any] | None = None,
        keep_thoughts: bool = False,
        on_text: Callable[[str], object] | None = None,
        on_wait: Callable[[str], object] | None = None,
        patience: Patience | None = None,
        client: openai.OpenAI | None = None,
    ) -> None:
        self.model = model
        self.name = f"openai:{model}"
        self.options = dict(options or {})
        self.keep_thoughts = keep_thoughts
        self.usage = True
        """Whether tokens are asked for: False once the server has refused the question."""
        self.on_text = on_text or (lambda text: None)
        self.on_wait = on_wait or (lambda text: None)
        self.patience = patience or Patience()
        self._client = client and client.with_options(max_retries=0)
        self._place = (base_url, api_key)
        self._server: Server | None = None

    def __repr__(self) -> str:
        return f"OpenAI({self.model!r})"

    def body(self, request: Request) -> wire.Json:
        """Return the body that a request is sent as. Raises ModelError where it can't be."""
        return wire.body(request, self.model, usage=self.usage, options=self.options)

    def __call__(self, request: Request) -> Reply:
        """Return the model's reply. Raises ModelError where there is no whole one."""
        return persistent(lambda: self._ask(request), self.patience, self.on_wait)

    def _ask(self, request: Request) -> Reply:
        try:
            with closing(self._payloads(self.body(request))) as payloads:
                return stream.reply(payloads, self.on_text, self.keep_thoughts)
        except ModelError as error:
            key = self._client.api_key if self._client is not None else ""
            problem = redacted(error, [key] if key != NO_KEY else [])
        # Raised here, so that no trace of the request, and its key, hangs on it.
        raise problem

    def _payloads(self, body: wire.Json) -> Generator[str, None, None]:
        openai = _sdk()
        with model_errors(openai, openai.OpenAIError, "the server", self._refused, self._unreached):
            yield from self._streamed(body)

    def _streamed(self, body: wire.Json) -> Iterator[str]:
        completions = self._connected().chat.completions.with_streaming_response
        # The body goes as it is: the SDK would rebuild all of the history.
        with completions.create(
            model=self.model, messages=(), stream=True, extra_body=body
        ) as answer:
            response = answer.http_response
            kind = response.headers.get("content-type", "")
            if "json" in kind:
                yield response.read().decode()
                return
            parts, came = response.iter_bytes(), False
            for payload in stream.payloads(parts):
                came = True
                if payload == stream.DONE:
                    read_to_end(parts)
                yield payload
            if not came and "event-stream" not in kind:
                raise ModelError(f"{self._where} answers no chat completions: check the base URL")

    def _connected(self) -> openai.OpenAI:
        if self._client is None:
            openai = _sdk()
            self._server = server_for(*self._place, os.environ)
            self._client = openai.OpenAI(
                http_client=http_client(self, openai.DefaultHttpx2Client),
                base_url=self._server.url,
                api_key=self._server.key,
                max_retries=0,
                timeout=openai.Timeout(600, connect=10),
            )
        return self._client

    @property
    def _where(self) -> str:
        if self._server is None and self._client is not None:
            self._server = Server(str(self._client.base_url), self._client.api_key)
        return self._server.place if self._server else "the server"

    def _refused(self, error: openai.APIStatusError) -> ModelError:
        if self.usage and error.status_code in (400, 422) and "stream_options" in str(error.body):
            self.usage = False
            return Passing("the server does not count tokens in a stream", 0)
        headers = error.response.headers
        return failures.refused(
            error.status_code, headers, error.body, self.model, self._where, time.time()
        )

    def _unreached(self, cause: str) -> ModelError:
        if cause == "ConnectError" and self._server and self._server.private:
            return ModelError(f"no server answers at {self._where}: start it; {AGAIN}")
        return Passing(f"the connection to {self._where} failed ({cause}); {AGAIN}")


def _sdk() -> Any:
    try:
        import openai
    except ImportError:
        raise ModelError(_MISSING) from None
    return openai


@dataclass(frozen=True, slots=True)
class Server:
    """Its address, the key that it gets, and whether it is on this machine or network."""

    url: str
    key: str = field(repr=False)
    private: bool = False

    @property
    def place(self) -> str:
        """The address as it may be shown: without a user's name and password."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def server_for(base_url: str | None, key: str | None, environment: Mapping[str, str]) -> Server:
    """Return the server that is meant. Raises ModelError, which says what to set.

    The environment's key is not sent to a private address that the program names: it is
    the key of another server.
    """
    url = _whole(base_url or environment.get("OPENAI_BASE_URL") or OFFICIAL)
    private = _is_private(urlsplit(url).hostname or "")
    if key is None and not (base_url and private):
        key = environment.get("OPENAI_API_KEY")
    if not key and not private:
        raise ModelError(_no_key(url))
    return Server(url, key or NO_KEY, private)


def _whole(url: str) -> str:
    """Return an address with its path: the servers that people run have theirs under /v1."""
    try:
        parts = urlsplit(url.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, known = SplitResult("", "", "", "", ""), False
    if not known:
        raise ModelError(f"the base URL is no address of a server; write it such as {_HINT}")
    return parts._replace(path=parts.path.rstrip("/") or "/v1").geturl()


def _no_key(url: str) -> str:
    if url == OFFICIAL:
        return (
            "OPENAI_API_KEY is not set: set it and restart the kernel, or set OPENAI_BASE_URL "
            f"to a server of yours, such as {_HINT}"
        )
    return f"OPENAI_API_KEY is not set, and {urlsplit(url).hostname} is not of this network: set it"


def _is_private(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
