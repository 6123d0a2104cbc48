"""A model's server that redirects: to itself it may, to another server nothing is sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.schemes.messages import Request, User
from tests.standin import openai_turns
from tests.standin.openai_api import KEY, MODEL
from tests.standin.turns import says
from tests.standin.web import Answer, Asked, Web

GO = Request("You cook.", (), (User("Go."),))
Model = OpenAI | Claude


def an_openai(url: str, patch: pytest.MonkeyPatch) -> Model:
    return OpenAI(MODEL, base_url=f"{url}/v1", api_key=KEY)


def a_claude(url: str, patch: pytest.MonkeyPatch) -> Model:
    patch.setenv("ANTHROPIC_BASE_URL", url)
    patch.setenv("ANTHROPIC_API_KEY", KEY)
    return Claude("claude-opus-5-5")


@pytest.mark.parametrize("made", [an_openai, a_claude])
@pytest.mark.parametrize("status", [302, 308])
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_redirect_to_another_host_or_port_is_told_and_nothing_is_sent_there(
    made: Callable[[str, pytest.MonkeyPatch], Model],
    status: int,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Web() as other:
        goes_to = f"http://{name}:{other.port}/v1/chat/completions"
        with (
            Web(lambda asked: Answer(b"", status, {"location": goes_to})) as web,
            pytest.raises(ModelError) as raised,
        ):
            made(web.url, monkeypatch)(GO)
        assert other.asked == []
    assert f"redirects to http://{name}:{other.port}, which is another server" in str(raised.value)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("goes_to", ["//[", "https://127.0.0.1:{port}/v1", "http://127.0.0.1:x/"])
def test_a_redirect_to_another_scheme_or_to_no_address_is_told(goes_to: str) -> None:
    def routes(asked: Asked) -> Answer:
        return Answer(b"", 307, {"location": goes_to.format(port=web.port)})

    with Web(routes) as web, pytest.raises(ModelError, match="another server"):
        OpenAI(MODEL, base_url=f"{web.url}/v1", api_key=KEY)(GO)


def test_a_redirect_on_the_same_server_is_followed() -> None:
    hello = openai_turns.stream(says("Hello."), None, iter(()))

    def routes(asked: Asked) -> Answer:
        if asked.path.startswith("/old"):
            return Answer(b"", 307, {"location": "/v1/chat/completions"})
        return Answer(hello, headers={"content-type": "text/event-stream"})

    with Web(routes) as web:
        assert OpenAI(MODEL, base_url=f"{web.url}/old", api_key=KEY)(GO).text == "Hello."
