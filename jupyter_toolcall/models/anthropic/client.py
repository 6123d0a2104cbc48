"""The call to the API, and one line for whatever goes wrong with it.

The only file that imports `anthropic`, and only at the first call:
the import takes seconds. The key stays inside the SDK's client.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING

from ...core.errors import ModelError
from ...schemes.messages import Reply, Request
from ..anthropic import stream, wire
from ..provider_client import (
    AGAIN,
    http_client,
    json_object,
    model_errors,
    one_line,
    read_to_end,
    redacted,
)
from ..retrying import Passing, Patience, asked_wait, may_pass, persistent
from .abilities import Strategy, way
from .wire import bound_to

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
        self.on_text = on_text or (lambda text: None)
        self.on_wait = on_wait or (lambda text: None)
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
        return persistent(lambda: self._ask(body, bound), self.patience, self.on_wait)

    def _ask(self, body: wire.Json, bound: str) -> Reply:
        """Return the reply to one request. What goes wrong may pass if nothing had come."""
        try:
            with closing(self._events(body)) as events:
                return stream.reply(events, self.model, self.on_text, bound)
        except ModelError as error:
            problem = redacted(error, self._secrets())
        # Raised here, so that no trace of the request, and its key, hangs on it.
        raise problem

    def _events(self, body: wire.Json) -> Generator[wire.Json, None, None]:
        import anthropic

        def unreached(cause: str) -> ModelError:
            return Passing(f"the connection to the API failed ({cause}); {AGAIN}")

        with model_errors(anthropic, anthropic.AnthropicError, "the API", self._refused, unreached):
            yield from self._streamed(body)

    def _streamed(self, body: wire.Json) -> Generator[wire.Json, None, None]:
        import anthropic

        self._client = self._client or self._connected()
        # Who asks again is `persistent`, where it is seen.
        if self._client.max_retries:
            self._client = self._client.with_options(max_retries=0)
        messages = self._client.beta.messages.with_streaming_response
        used = wire.betas(body)
        features: wire.Json = {"betas": used} if used else {}
        with messages.create(**body, **features) as response:
            parts = anthropic.Stream.raw_events(response.http_response)
            for event in (json_object(part.data) for part in parts if part.data):
                if event.get("type") == "message_stop":
                    read_to_end(parts)
                yield event

    def _connected(self) -> anthropic.Anthropic:
        import anthropic

        client = anthropic.Anthropic(http_client=http_client(self, anthropic.DefaultHttpxClient))
        if not (client.api_key or client.auth_token or client.credentials):
            raise ModelError(NO_KEY)
        return client

    def _secrets(self) -> list[str]:
        """Return the keys, and what a person's own headers say."""
        secrets = [getattr(self._client, name, None) for name in ("api_key", "auth_token")]
        secrets += getattr(self._client, "_custom_headers", {}).values()
        return [text for text in secrets if isinstance(text, str) and len(text) > _SHORT]

    def _refused(self, error: anthropic.APIStatusError) -> ModelError:
        """Return what an HTTP status of the API means, and what to do."""
        status, headers = error.status_code, error.response.headers
        match error.body:
            case {"error": {"message": str(message)}}:
                line = _status_line(status, one_line(message), self.model)
            case _:
                line = _status_line(status, "", self.model)
        if may_pass(status, headers):
            return Passing(line, asked_wait(headers, time.time()))
        return ModelError(line)


def _status_line(status: int, message: str, model: str) -> str:
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
