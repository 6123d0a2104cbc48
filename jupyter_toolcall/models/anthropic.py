"""Claude, by Anthropic's Messages API. The only file that imports `anthropic`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ..core.errors import ModelError
from ..schemes.messages import Reply, Request
from . import anthropic_requests as requests
from .anthropic_replies import ReplyDraft
from .anthropic_requests import Strategy
from .provider_client import Json, ProviderClient, http_client, json_object, read_to_end
from .retrying import Patience

if TYPE_CHECKING:
    import anthropic


OFFICIAL = "https://api.anthropic.com"
NO_KEY = (
    "ANTHROPIC_API_KEY is not set: set it and restart the kernel, "
    "or work offline with `-m scripted:NAME`"
)


class Claude(ProviderClient):
    """A model of Anthropic's: call it with a `Request`, and it returns a `Reply`.

    Args:
        model: Its name at Anthropic.
        on_text: Called with each part of a reply's text.
        on_wait: Called with a line of text while the client waits before it asks again.
        client: An SDK client of your own. None: one with the key of the environment.
        max_tokens: The most tokens of a reply.
        strategy: How tools are added during a conversation. None: the model's best one.
        beta: Whether beta features are used; False for a gateway that has none.
        patience: How often it is asked, and how long it waits in between.

    A call raises ModelError where there is no reply.
    """

    provider, key_name = "anthropic", "ANTHROPIC_API_KEY"

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
        super().__init__(model, on_text, on_wait, patience, client)
        self._target = requests.target(model, max_tokens, strategy, beta)

    def _body(self, request: Request) -> Json:
        return requests.body(request, self._target)

    def _sdk(self) -> tuple[object, type[Exception]]:
        import anthropic

        return anthropic, anthropic.AnthropicError

    def _named_url(self) -> str:
        return os.environ.get("ANTHROPIC_BASE_URL") or OFFICIAL

    def _read(self, parts: Iterable[Json], body: Json, tools: Mapping[str, str]) -> Reply:
        digest = requests.bound_to(body) if self._target.binds else ""
        return ReplyDraft(self.on_text, self.model, digest, tools).reply(parts)

    def _stream(self, body: Json) -> Iterator[Json]:
        import anthropic

        messages = self._client.beta.messages.with_streaming_response
        betas = requests.betas(body)
        with messages.create(**body, **({"betas": betas} if betas else {})) as response:
            parts = anthropic.Stream.raw_events(response.http_response)
            for event in (json_object(part.data) for part in parts if part.data):
                if event.get("type") == "message_stop":
                    read_to_end(parts)
                yield event

    def _connected(self) -> anthropic.Anthropic:
        import anthropic

        connection = http_client(self, anthropic.DefaultHttpxClient)
        client = anthropic.Anthropic(http_client=connection, max_retries=0)
        if not (client.api_key or client.auth_token or client.credentials):
            raise ModelError(NO_KEY)
        return client
