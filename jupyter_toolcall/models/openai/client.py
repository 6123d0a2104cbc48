"""The call to the server, and one line for whatever goes wrong with it.

The only file that imports `openai` (and its transport), and only at the first call:
the import takes seconds. The key stays inside the SDK's client.
"""

from __future__ import annotations

import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...request import Reply, Request
from ..redirects import same_server_only
from ..retrying import Passing, Patience, persistent
from . import failures, stream, wire
from .failures import AGAIN
from .server import NO_KEY, Server, found

if TYPE_CHECKING:
    import openai

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
        self.on_text = on_text or _unheard
        self.on_wait = on_wait or _unheard
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
            problem = self._redacted(error)
        # Raised here, so that no trace of the request, and its key, hangs on it.
        raise problem

    def _payloads(self, body: wire.Json) -> Generator[str, None, None]:
        openai, httpx2 = _sdk()
        try:
            yield from self._streamed(body)
        except openai.APIStatusError as error:
            raise self._refused(error) from None
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            late = f"the server did not answer in time; {AGAIN}"
            unmet = _cause(error) == "ConnectTimeout"
            # A wait as long as that for an answer is not begun anew without being asked for.
            raise (Passing(late) if unmet else ModelError(late)) from None
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            raise self._unreached(error) from None
        except openai.OpenAIError as error:
            told = failures.one_line(str(error))
            raise ModelError(f"the server could not be asked: {told}") from None
        except (httpx2.InvalidURL, ValueError, OSError) as error:
            told = f"the server could not be asked, or understood ({_cause(error)}); {AGAIN}"
            raise ModelError(told) from None

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
                    # Read to its end, the connection serves the next turn.
                    with suppress(_sdk()[1].HTTPError):
                        deque(parts, maxlen=0)
                yield payload
            if not came and "event-stream" not in kind:
                raise ModelError(f"{self._where} answers no chat completions: check the base URL")

    def _connected(self) -> openai.OpenAI:
        if self._client is None:
            openai, httpx2 = _sdk()
            self._server = found(*self._place, os.environ)
            hooks = {"response": [same_server_only]}
            http_client = openai.DefaultHttpx2Client(event_hooks=hooks)
            # The SDK closes the HTTP client that it made, and not one that it was given.
            weakref.finalize(self, http_client.close)
            self._client = openai.OpenAI(
                http_client=http_client,
                base_url=self._server.url,
                api_key=self._server.key,
                max_retries=0,
                timeout=httpx2.Timeout(600, connect=10),
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

    def _unreached(self, error: Exception) -> ModelError:
        cause = _cause(error)
        if cause == "ConnectError" and self._server and self._server.private:
            return ModelError(f"no server answers at {self._where}: start it; {AGAIN}")
        return Passing(f"the connection to {self._where} failed ({cause}); {AGAIN}")

    def _redacted(self, error: ModelError) -> ModelError:
        key = self._client.api_key if self._client is not None else ""
        said = str(error)
        said = said.replace(key, "«redacted»") if key not in ("", NO_KEY) else said
        return Passing(said, error.after) if isinstance(error, Passing) else ModelError(said)


def _sdk() -> tuple[Any, Any]:
    try:
        import httpx2
        import openai
    except ImportError:
        raise ModelError(_MISSING) from None
    return openai, httpx2


def _unheard(text: str) -> None:
    """Take a text, and do nothing with it."""


def _cause(error: BaseException) -> str:
    # Only the kind: the words of a transport may quote what was sent.
    return type(error.__cause__ or error).__name__
