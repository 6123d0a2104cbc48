"""Models behind a chat completions API. The only file that imports `openai`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..core.errors import ModelError
from ..schemes.messages import Reply, Request
from . import openai_wire as wire
from .provider_client import (
    AGAIN,
    NO_KEY,
    Json,
    ProviderClient,
    error_text,
    http_client,
    read_to_end,
)
from .retrying import Passing, Patience

if TYPE_CHECKING:
    import openai


OFFICIAL = "https://api.openai.com/v1"
_HINT = "http://localhost:11434/v1"
_MISSING = "this model needs the openai package: pip install openai"
_CONTEXT = ("context_length_exceeded", "exceed_context_size_error")


class OpenAI(ProviderClient):
    """A model behind chat completions: call it with a `Request`, and it returns a `Reply`.

    Args:
        model: Its name at the server.
        base_url: The server's address, such as `http://localhost:11434/v1`. None:
            `OPENAI_BASE_URL`, else OpenAI's own.
        api_key: The key. None: `OPENAI_API_KEY`; a server of your own needs none.
        options: More fields of the request, such as `{"temperature": 0}`.
        keep_thoughts: Whether the model's reasoning is kept and sent back, for servers that
            need it.
        on_text: Called with each part of a reply's text.
        on_wait: Called with a line of text while the client waits before it asks again.
        patience: How often it is asked, and how long it waits in between.
        client: An SDK client of your own.

    A call raises ModelError where there is no reply.
    """

    provider, key_name = "openai", "OPENAI_API_KEY"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        options: Mapping[str, object] | None = None,
        keep_thoughts: bool = False,
        on_text: Callable[[str], object] | None = None,
        on_wait: Callable[[str], object] | None = None,
        patience: Patience | None = None,
        client: openai.OpenAI | None = None,
    ) -> None:
        super().__init__(model, on_text, on_wait, patience, client)
        self.options = dict(options or {})
        self.keep_thoughts = keep_thoughts
        self.usage = True
        """Whether tokens are asked for: False once the server has refused the question."""
        self._base_url, self._api_key = base_url, api_key

    def _body(self, request: Request) -> Json:
        return wire.body(request, self.model, usage=self.usage, options=self.options)

    def _sdk(self) -> tuple[object, type[Exception]]:
        try:
            import openai
        except ImportError:
            raise ModelError(_MISSING) from None
        return openai, openai.OpenAIError

    def _read(self, parts: Iterable[str], body: Json, tools: Mapping[str, str]) -> Reply:
        return wire.ReplyDraft(self.on_text, self.keep_thoughts, tools).reply(parts)

    def _stream(self, body: Json) -> Iterator[str]:
        completions = self._client.chat.completions.with_streaming_response
        # The body goes as it is: the SDK would rebuild all of the history.
        with completions.create(
            model=self.model, messages=(), stream=True, extra_body=body
        ) as answer:
            response = answer.http_response
            kind = response.headers.get("content-type", "")
            if "json" in kind:
                yield response.read().decode()
                return
            parts, empty = response.iter_bytes(), True
            for payload in wire.payloads(parts):
                empty = False
                if payload == wire.DONE:
                    read_to_end(parts)
                yield payload
            if empty and "event-stream" not in kind:
                raise ModelError(f"{self.where} answers no chat completions: check the base URL")

    def _connected(self) -> openai.OpenAI:
        import openai

        url, key = server_and_key(self._base_url, self._api_key, os.environ)
        return openai.OpenAI(
            http_client=http_client(self, openai.DefaultHttpx2Client),
            base_url=url,
            api_key=key,
            max_retries=0,
            timeout=openai.Timeout(600, connect=10),
        )

    def _named_url(self) -> str:
        return _url(self._base_url, os.environ)

    @property
    def where(self) -> str:
        """The server's address, as an error shows it."""
        return self.server

    def _refused(self, error: Any) -> ModelError:
        if self.usage and error.status_code in (400, 422) and "stream_options" in str(error.body):
            self.usage = False
            return Passing("the server does not count tokens in a stream", 0)
        return super()._refused(error)

    def _refusal(self, status: int, body: object) -> tuple[str, bool]:
        code, (line, _) = wire.error_code(body), super()._refusal(status, body)
        if code in _CONTEXT or status == 413:
            too_long = f"the conversation is too long for {self.model} ({status})"
            line = f"{too_long}: begin a new session"
        elif code == "insufficient_quota":
            line = f"the account at {self.where} has no credit left ({status})"
        elif status == 404:
            line += " and the address, which may have no chat completions"
        elif "reasoning_content" in error_text(body):
            line += ", OpenAI(MODEL, keep_thoughts=True) sends reasoning_content"
        return line, code in wire.FINAL

    def _unreached(self, cause: str) -> ModelError:
        if cause == "ConnectError" and _is_private(self.base_url):
            return ModelError(f"no server answers at {self.where}: start it; {AGAIN}")
        return super()._unreached(cause)


def server_and_key(
    base_url: str | None, key: str | None, environment: Mapping[str, str]
) -> tuple[str, str]:
    """Return the server that is meant, and its key. Raises ModelError, which says what to set.

    The environment's key is not sent to a private address that the program names: it is
    the key of another server.
    """
    url = _url(base_url, environment)
    private = _is_private(url)
    if key is None and not (base_url and private):
        key = environment.get("OPENAI_API_KEY")
    if not key and url == OFFICIAL:
        raise ModelError(
            "OPENAI_API_KEY is not set: set it and restart the kernel, or set OPENAI_BASE_URL "
            f"to a server of yours, such as {_HINT}"
        )
    if not key and not private:
        host = urlsplit(url).hostname
        raise ModelError(f"OPENAI_API_KEY is not set, and {host} is not of this network: set it")
    return url, key or NO_KEY


def _url(base_url: str | None, environment: Mapping[str, str]) -> str:
    """Return the address that is meant, with its path. Raises ModelError if it is none.

    The servers that people run have theirs under /v1.
    """
    url = base_url or environment.get("OPENAI_BASE_URL") or OFFICIAL
    with suppress(ValueError):
        parts = urlsplit(url.strip())
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts._replace(path=parts.path.rstrip("/") or "/v1").geturl()
    raise ModelError(f"the base URL is no address of a server; write it such as {_HINT}")


def _is_private(url: str) -> bool:
    """Return whether a server is on this machine or network."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
