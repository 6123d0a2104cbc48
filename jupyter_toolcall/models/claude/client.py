"""The call to the API, and one line for whatever goes wrong with it.

The only file that imports `anthropic` (and its transport), and only at the first call:
the import takes seconds. The key stays inside the SDK's client.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from ...digest import digest
from ...errors import ModelError
from ...request import Reply, Request, User
from . import stream, wire
from .stream import AGAIN, one_line

if TYPE_CHECKING:
    import anthropic

NO_KEY = (
    "ANTHROPIC_API_KEY is not set: set it and restart the kernel, "
    "or work offline with `-m scripted:NAME`"
)


class Claude:
    """A model of Anthropic's: call it with a `Request`, and it answers a `Reply`.

    `on_text` hears each piece of text as it comes; what it raises ends the call. Raises
    ModelError, in one line, where there is no whole reply; an interrupt passes through.
    """

    def __init__(
        self,
        model: str,
        *,
        on_text: Callable[[str], object] | None = None,
        client: anthropic.Anthropic | None = None,
        max_tokens: int = 32_000,
    ) -> None:
        self.model = model
        self.max_tokens = max_tokens
        self.on_text = on_text or _unheard
        self._client = client
        self._sent: dict[str, dict[str, wire.Json]] = {}

    def __repr__(self) -> str:
        return f"Claude({self.model!r})"

    def __call__(self, request: Request) -> Reply:
        """Return the model's reply. Raises ModelError where there is no whole one."""
        body = wire.body(request, self.model, self.max_tokens, self._declared(request))
        try:
            with closing(self._events(body)) as events:
                return stream.reply(events, self.model, self.on_text)
        except ModelError as error:
            problem = self._redacted(str(error))
        # Raised here, so that no trace of the request, and its key, hangs on it.
        raise ModelError(problem)

    def _declared(self, request: Request) -> list[wire.Json]:
        """Return the declarations of the tools, each as this conversation first had it."""
        before = self._sent.get(_conversation(request), {}) if request.turn else {}
        declared = wire.declarations(request, self.model, before)
        self._sent[_conversation(request)] = {tool["name"]: tool for tool in declared}
        return declared

    def _events(self, body: wire.Json) -> Generator[wire.Json, None, None]:
        import anthropic
        import httpx2

        try:
            yield from self._streamed(body)
        except anthropic.APIStatusError as error:
            raise ModelError(
                _refused(error.status_code, _message(error.body), self.model)
            ) from None
        except (anthropic.APITimeoutError, httpx2.TimeoutException):
            raise ModelError(f"the API did not answer in time; {AGAIN}") from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            told = f"the connection to the API failed ({_cause(error)}); {AGAIN}"
            raise ModelError(told) from None
        except anthropic.AnthropicError as error:
            raise ModelError(f"the API could not be asked: {one_line(str(error))}") from None
        except (httpx2.InvalidURL, ValueError, OSError) as error:
            told = f"the API could not be asked, or understood ({_cause(error)}); {AGAIN}"
            raise ModelError(told) from None

    def _streamed(self, body: wire.Json) -> Generator[wire.Json, None, None]:
        import anthropic
        import httpx2

        self._client = self._client or _connected()
        messages = self._client.beta.messages.with_streaming_response
        betas = wire.betas(self.model)
        with messages.create(**body, stream=True, betas=betas) as response:
            parts = anthropic.Stream.raw_events(response.http_response)
            for event in (stream.decode(part.data) for part in parts if part.data):
                if event.get("type") == "message_stop":
                    # Read to its end, the connection serves the next turn.
                    with suppress(httpx2.HTTPError, ValueError):
                        deque(parts, maxlen=0)
                yield event

    def _redacted(self, text: str) -> str:
        for secret in (getattr(self._client, name, None) for name in ("api_key", "auth_token")):
            text = text.replace(secret, "«redacted»") if secret else text
        return text


def _connected() -> anthropic.Anthropic:
    import anthropic

    client = anthropic.Anthropic()
    if not (client.api_key or client.auth_token or client.credentials):
        raise ModelError(NO_KEY)
    return client


def _unheard(text: str) -> None:
    """Take a piece of text, and do nothing with it."""


def _conversation(request: Request) -> str:
    asked = (message.text for message in request.messages if isinstance(message, User))
    return digest("conversation", request.system, next(asked, ""))


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
