"""Which server a model's requests go to, and what a record says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.models import Recording
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.models.prices import PRICES, price
from jupyter_toolcall.schemes.messages import Reply, Request, User, model_identity, server_digest
from tests.jupyter.test_cells import Kernel
from tests.standin import openai_turns
from tests.standin.openai_api import KEY, MODEL, StandIn
from tests.standin.turns import says
from tests.standin.web import Answer, Asked, Web


@pytest.fixture
def servers() -> Iterator[tuple[StandIn, StandIn]]:
    with StandIn() as first, StandIn() as second:
        first.turns += [says("One.")]
        second.turns += [says("Two.")]
        yield first, second


def at(server: StandIn) -> OpenAI:
    return OpenAI("gpt", base_url=server.url, api_key=KEY)


def who(kernel: Kernel, model: Any) -> str:
    """Return the reply to a cell that runs in a new kernel, with the journal of the old one."""
    return Kernel(Cells(kept=kernel.cells.kept), {"m": model}).run("-n a -m m", "Who?").text


def test_after_a_restart_a_cell_asks_another_server_again(servers: tuple[StandIn, StandIn]) -> None:
    first, second = servers
    kernel = Kernel(Cells(), {})
    answers = [who(kernel, at(server)) for server in (first, first, second, second, first)]
    assert answers == ["One.", "One.", "Two.", "Two.", "One."]
    assert (len(first.asked), len(second.asked)) == (1, 1)


class Older:
    """A client of the same name, as it was recorded before servers were."""

    name = "openai:gpt"

    def __call__(self, request: Request) -> Reply:
        return Reply("Older.")


def test_a_record_without_a_server_replays_on_any(servers: tuple[StandIn, StandIn]) -> None:
    kernel = Kernel(Cells(), {})
    assert who(kernel, Older()) == "Older."
    entries = len(kernel.cells.kept["a"].journal)
    assert [who(kernel, at(server)) for server in servers] == ["Older."] * 2
    assert len(kernel.cells.kept["a"].journal) == entries


def test_a_price_is_that_of_the_model_whatever_its_settings_are() -> None:
    name = model_identity(Claude("claude-opus-5-5", max_tokens=9))
    assert name != "anthropic:claude-opus-5-5"
    assert price(name) == price("anthropic:claude-opus-5-5-20261101") == PRICES["claude-opus-5-5"]


def test_another_server_is_another_course(servers: tuple[StandIn, StandIn], tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    for _ in range(2):
        assert Session(Toolbox(), Recording(at(servers[0]), tape)).tell("Who?").text == "One."
    with pytest.raises(ModelError, match="turn 1 is of a model at another server"):
        Session(Toolbox(), Recording(at(servers[1]), tape)).tell("Who?")
    # Older recordings have no server.
    line = tape.read_text("utf-8")
    tape.write_text(line.replace(f'"server": "{server_digest(at(servers[0]))}", ', ""), "utf-8")
    assert "server" not in tape.read_text("utf-8")
    assert Session(Toolbox(), Recording(at(servers[1]), tape)).tell("Who?").text == "One."


def test_a_server_is_known_by_its_address_not_by_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(model: Any) -> str:
        return server_digest(model)

    url = "http://one.test/v1"
    assert known(OpenAI("gpt", base_url=url)) == known(OpenAI("gpt", base_url=f"{url}/"))
    assert known(OpenAI("gpt", base_url="http://me:secret@one.test")) == known(
        OpenAI("gpt", base_url=url, api_key="k")
    )
    assert known(OpenAI("gpt", base_url="http://two.test")) != known(OpenAI("gpt", base_url=url))
    assert known(OpenAI("gpt", base_url="no address")) == known(lambda request: None) == ""
    official = known(Claude("claude-opus-5-5"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gateway.test")
    assert known(Claude("claude-opus-5-5")) not in (official, "")


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
