"""The call to the API, and one line for whatever goes wrong with it.

The only file that imports `anthropic` (and its transport), and only at the first call:
the import takes seconds. The key stays inside the SDK's client.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from ...errors import ModelError
from ...request import Reply, Request
from ..redirects import same_server_only
from ..retrying import Passing, Patience, asked_wait, may_pass, persistent
from . import stream, wire
from .abilities import Strategy, way
from .binding import bound_to
from .stream import AGAIN, one_line

if TYPE_CHECKING:
    import anthropic

NO_KEY = (
    "ANTHROPIC_API_KEY is not set: set it and restart the kernel, "
    "or work offline with `-m scripted:NAME`"
)
_SHORT = 6
"""Characters of a header's value that is no secret."""


class Claude:
    """A model of Anthropic's: call it with a `Request`, and it answers a `Reply`.

    `on_text` hears each piece of text as it comes, `on_wait` why it is asked again, and
    when; what they raise ends the call. `strategy` is how tools come into view on the way;
    `beta=False` is for a gateway that knows no beta features. Raises ModelError, in one
    line, where there is no whole reply; an interrupt passes through.
    """

    def __init__(
        self,
        model: str,
        *,
        on_text: Callable[[str], object] | None = None,
        on_wait: Callable[[str], object] | None = None,
        client: anthropic.Anthropic | None = None,
        max_tokens: int = 32_000,
        strategy: Strategy | None = None,
        beta: bool = True,
        patience: Patience | None = None,
    ) -> None:
        self.model = model
        self.name = f"anthropic:{model}"
        self.on_text = on_text or _unheard
        self.on_wait = on_wait or _unheard
        self.patience = patience or Patience()
        self._way = way(model, max_tokens, strategy, beta)
        self._client = client

    def __repr__(self) -> str:
        return f"Claude({self.model!r})"

    def body(self, request: Request) -> wire.Json:
        """Return the JSON body that a request is sent as: whole, and nothing remembered."""
        return wire.body(request, self._way)

    def __call__(self, request: Request) -> Reply:
        """Return the model's reply. Raises ModelError where there is no whole one."""
        body = self.body(request)
        bound = bound_to(body) if self._way.able.bound and not self._way.drops else ""
        return persistent(lambda: self._asked(body, bound), self.patience, self.on_wait)

    def _asked(self, body: wire.Json, bound: str) -> Reply:
        """Return the reply to one request. What goes wrong may pass where nothing had come."""
        try:
            with closing(self._events(body)) as events:
                return stream.reply(events, self.model, self.on_text, bound)
        except Passing as error:
            problem: ModelError = Passing(self._redacted(str(error)), error.after)
        except ModelError as error:
            problem = ModelError(self._redacted(str(error)))
        # Raised here, so that no trace of the request, and its key, hangs on it.
        raise problem

    def _events(self, body: wire.Json) -> Generator[wire.Json, None, None]:
        import anthropic
        import httpx2

        try:
            yield from self._streamed(body)
        except anthropic.APIStatusError as error:
            status, headers = error.status_code, error.response.headers
            told = _refused(status, _message(error.body), self.model)
            if may_pass(status, headers):
                raise Passing(told, asked_wait(headers, time.time())) from None
            raise ModelError(told) from None
        except (anthropic.APITimeoutError, httpx2.TimeoutException) as error:
            late = f"the API did not answer in time; {AGAIN}"
            begun = not isinstance(error.__cause__ or error, httpx2.ConnectTimeout)
            # A wait as long as that is not begun anew without being asked for.
            raise (ModelError(late) if begun else Passing(late)) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            if isinstance(error.__cause__, ModelError):
                raise error.__cause__ from None  # a redirect that is not followed
            told = f"the connection to the API failed ({_cause(error)}); {AGAIN}"
            raise Passing(told) from None
        except anthropic.AnthropicError as error:
            raise ModelError(f"the API could not be asked: {one_line(str(error))}") from None
        except (httpx2.InvalidURL, ValueError, OSError) as error:
            told = f"the API could not be asked, or understood ({_cause(error)}); {AGAIN}"
            raise ModelError(told) from None

    def _streamed(self, body: wire.Json) -> Generator[wire.Json, None, None]:
        import anthropic
        import httpx2

        self._client = self._client or self._connected()
        # Who asks again is `persistent`, where it is seen.
        if self._client.max_retries:
            self._client = self._client.with_options(max_retries=0)
        messages = self._client.beta.messages.with_streaming_response
        used = wire.betas(body)
        features: wire.Json = {"betas": used} if used else {}
        with messages.create(**body, **features) as response:
            parts = anthropic.Stream.raw_events(response.http_response)
            for event in (stream.decode(part.data) for part in parts if part.data):
                if event.get("type") == "message_stop":
                    # Read to its end, the connection serves the next turn.
                    with suppress(httpx2.HTTPError, ValueError):
                        deque(parts, maxlen=0)
                yield event

    def _connected(self) -> anthropic.Anthropic:
        import anthropic

        http_client = anthropic.DefaultHttpxClient(event_hooks={"response": [same_server_only]})
        # The SDK closes the HTTP client that it made, and not one that it was given.
        weakref.finalize(self, http_client.close)
        client = anthropic.Anthropic(http_client=http_client)
        if not (client.api_key or client.auth_token or client.credentials):
            raise ModelError(NO_KEY)
        return client

    def _redacted(self, text: str) -> str:
        """Return text without the keys, and without what a person's own headers say."""
        known = [getattr(self._client, name, None) for name in ("api_key", "auth_token")]
        known += getattr(self._client, "_custom_headers", {}).values()
        for secret in known:
            if isinstance(secret, str) and len(secret) > _SHORT:
                text = text.replace(secret, "«redacted»")
        return text


def _unheard(text: str) -> None:
    """Take a piece of text, and do nothing with it."""


def _refused(status: int, message: str, model: str) -> str:
    """Return what an HTTP status of the API means, and what to do."""
    told = f": {message}" if message else ""
    match status:
        case 401:
            return f"the API refuses the key in ANTHROPIC_API_KEY (401): check it{told}"
        case 403:
            return f"the key may not use {model} (403){told}"
        case 404:
            return f"the API has no model {model} (404): check the name{told}"
        case 408 | 429:
            return f"too many requests for now ({status}), wait a little{told}; {AGAIN}"
        case _ if status >= 500:
            return f"the API is busy or down ({status}){told}; {AGAIN}"
    return f"the API refused the request ({status}){told}"


def _message(body: object) -> str:
    match body:
        case {"error": {"message": str(message)}}:
            return one_line(message)
    return ""


def _cause(error: BaseException) -> str:
    # Only the kind: the words of a transport may quote what was sent.
    return type(error.__cause__ or error).__name__
