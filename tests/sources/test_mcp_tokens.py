"""Tokens of MCP servers: from the environment, or from signing in with a browser."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import from_mcp
from jupyter_toolcall.sources.mcp_connection import connections
from tests.example_tools import play
from tests.sources.test_mcp_hostile import refusal
from tests.standin.mcp_server import TOKEN, serving
from tests.standin.web import Answer, Asked, Web

LINK = re.compile(r"Sign in to the MCP server \w+: (\S+)\n")


@pytest.fixture(autouse=True)
def no_connections_left() -> Iterator[None]:
    yield
    for link in connections():
        link.close()


def files_with(secret: str) -> list[Path]:
    """Return the files of the person's data that hold a secret."""
    paths = Path(os.environ["JUPYTER_TOOLCALL_DATA"]).rglob("*")
    files = [path for path in paths if path.is_file()]
    assert files
    return [path for path in files if secret.encode() in path.read_bytes()]


# -- of the environment ---------------------------------------------------------------


def with_token(url: str) -> dict[str, Any]:
    return {"url": url, "headers": {"Authorization": "Bearer ${PANTRY_TOKEN}"}}


def test_a_token_of_the_environment_is_sent_and_is_never_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANTRY_TOKEN", TOKEN)
    with serving(tmp_path / "log", access="bearer") as served:
        tools = from_mcp(with_token(served.url))
        session = play(tools, ("add", {"a": 1, "b": 1}), ("burn", {}))
    assert [call.status for call in session.calls] == ["succeeded", "failed"]
    assert TOKEN not in session.journal.dumps() + repr(tools.sources) + str(session)
    assert not files_with(TOKEN)


@pytest.mark.parametrize(
    ("token", "error"),
    [("", "PANTRY_TOKEN, which is not set"), ("wrong-token-1", "refuses the request (401)")],
)
def test_a_token_that_is_not_set_or_wrong_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, error: str
) -> None:
    monkeypatch.delenv("PANTRY_TOKEN", raising=False)
    if token:
        monkeypatch.setenv("PANTRY_TOKEN", token)
    with serving(tmp_path / "log", access="bearer") as served:
        refused = refusal(with_token(served.url))
    assert error in refused
    assert "wrong-token-1" not in refused


# -- signing in -----------------------------------------------------------------------


@contextmanager
def person(act: Callable[[str], None]) -> Iterator[None]:
    """Let a person act, who reads the link that is printed."""
    printed = io.StringIO()

    def read() -> None:
        until = time.monotonic() + 20
        while not (link := LINK.search(printed.getvalue())):
            if time.monotonic() > until:
                signal.raise_signal(signal.SIGINT)
                return
            time.sleep(0.005)
        act(link[1])

    thread = threading.Thread(target=read)
    with contextlib.redirect_stdout(printed):
        thread.start()
        yield
    thread.join()


def page_of(link: str) -> str:
    """Return the page that a browser comes back to from a link."""
    (page,) = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["redirect_uri"]
    return page


def opened(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=20) as page:
        content: bytes = page.read()
    return content


def test_a_person_signs_in_at_a_link_and_the_tokens_stay_in_memory(tmp_path: Path) -> None:
    pages: list[bytes] = []
    with serving(tmp_path / "log", access="oauth") as served:
        with person(lambda link: pages.append(opened(link))):
            tools = from_mcp(served.url)
        session = play(tools, ("add", {"a": 1, "b": 1}))
        assert served.provider is not None
        (token,) = served.provider.tokens
    assert session.calls[0].result == 2
    assert b"Signed in. You can close this page." in pages[0]
    assert token not in session.journal.dumps()
    assert not files_with(token)


def test_an_interrupt_ends_a_sign_in_at_once(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log", access="oauth") as served,
        person(lambda link: signal.raise_signal(signal.SIGINT)),
        pytest.raises(KeyboardInterrupt),
    ):
        from_mcp(served.url)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("error=access_denied", "the sign-in was refused: access_denied"),
        ("error=x&error_description=Call%20me%E2%80%AE%0Anow", "Call me\\u202e now"),
        ("code=stolen&state=forged", "State parameter mismatch"),
        ("nothing=1", "the sign-in was refused: no code came back"),
    ],
)
def test_a_refused_or_forged_sign_in_is_one_line(tmp_path: Path, query: str, error: str) -> None:
    def come_back(link: str) -> None:
        opened(f"{page_of(link)}?{query}")

    with serving(tmp_path / "log", access="oauth") as served, person(come_back):
        assert error in refusal(served.url)


def test_the_page_of_a_sign_in_answers_nothing_else_and_ends_with_it(tmp_path: Path) -> None:
    pages: list[str] = []
    statuses: list[int] = []

    def look_around(link: str) -> None:
        pages.append(page_of(link))
        for path in ("", "../etc/passwd", "signed-in/more"):
            with pytest.raises(urllib.error.HTTPError) as caught:
                opened(urllib.parse.urljoin(pages[0], path or "/"))
            statuses.append(caught.value.code)
            caught.value.close()
        opened(f"{pages[0]}?error=enough")

    with serving(tmp_path / "log", access="oauth") as served, person(look_around):
        refusal(served.url)
    assert statuses == [404, 404, 404]
    with pytest.raises(urllib.error.URLError):
        opened(pages[0])


def test_what_else_connects_to_the_page_of_a_sign_in_prints_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    requests = (b"GET /" + b"a" * 70_000 + b"\r\n", b"GET http://[x/ HTTP/1.1\r\n\r\n", b"")

    def send_garbage(link: str) -> None:
        page = page_of(link)
        for request in requests:
            with socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(page).port)) as to:
                to.sendall(request)
                to.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionError):
                    while to.recv(1_000):
                        pass
        opened(f"{page}?error=enough")

    with serving(tmp_path / "log", access="oauth") as served, person(send_garbage):
        assert "enough" in refusal(served.url)
    assert not [log for log in caplog.records if log.name == "asyncio"]


@pytest.mark.parametrize(
    "leads_to", ["http://127.0.0.1:{port}", "https://127.0.0.1:{port}", "https://169.254.169.254"]
)
def test_a_sign_in_service_at_a_private_address_is_not_asked(leads_to: str) -> None:
    """The typed server may be on this machine; what it names may not."""
    with Web() as inner:
        service = leads_to.format(port=inner.port)

        def route(asked: Asked) -> Answer:
            if ".well-known/oauth-protected-resource" in asked.path:
                body = {"resource": f"{web.url}/mcp", "authorization_servers": [service]}
                kind = {"content-type": "application/json"}
                return Answer(json.dumps(body).encode(), headers=kind)
            return Answer(status=401)

        with Web(route) as web:
            refused = refusal(f"{web.url}/mcp")
        assert not inner.asked
    assert "was not typed by a person" in refused
