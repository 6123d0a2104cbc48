"""Claude asked again: which faults pass by themselves, how long is waited, and what is seen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic
import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.core.errors import ModelError, ToolcallError
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.retrying import Patience
from jupyter_toolcall.schemes.messages import Attempt
from tests.standin.anthropic_api import StandIn
from tests.standin.anthropic_turns import Think, Turn, Use, encode, says
from tests.standin.talk import KEY, NEWEST, a_claude, a_tool, asked

PEEL = a_tool("Potato_peel", "Peel a potato.", potato="string")
GO = asked("Go.", PEEL)
PASSING = [408, 409, 429, 500, 502, 503, 504, 529]
LASTING = [400, 401, 403, 404, 413, 422]


class Waits:
    """A patience that keeps what it waited, and waits for nothing."""

    def __init__(self, **settings: Any) -> None:
        self.slept: list[float] = []
        self.told: list[str] = []
        self.patience = Patience(sleep=self.slept.append, chance=lambda: 0.0, **settings)


@pytest.mark.parametrize("status", PASSING)
def test_what_may_pass_is_asked_again_and_each_wait_is_seen(server: StandIn, status: int) -> None:
    waits = Waits()
    server.turns += [says(status=status), says(status=status), says("here")]
    with a_claude(server, patience=waits.patience, on_wait=waits.told.append) as model:
        reply = model(GO)
    assert reply.text == "here"
    assert waits.slept == [1, 2]
    assert [attempt.waited for attempt in reply.attempts] == [1, 2]
    assert all(f"({status})" in attempt.said for attempt in reply.attempts)
    assert [line.rpartition("; ")[2] for line in waits.told] == [
        "asked again in 1 s (2 of 4)",
        "asked again in 2 s (3 of 4)",
    ]
    assert [asked_.body for asked_ in server.asked] == [server.asked[0].body] * 3
    assert server.refused == []


@pytest.mark.parametrize("status", PASSING)
def test_after_a_few_tries_the_fault_is_told_and_the_session_continues(
    server: StandIn, status: int
) -> None:
    waits = Waits()
    server.turns += [says(status=status)] * 4
    with a_claude(server, patience=waits.patience) as model:
        with pytest.raises(ModelError, match=rf"\({status}\).*asked 4 times"):
            model(GO)
        server.turns.append(says("here"))
        assert model(GO).attempts == ()
    assert (len(server.asked), len(waits.slept)) == (5, 3)


@pytest.mark.parametrize("status", LASTING)
def test_what_does_not_pass_is_asked_once(server: StandIn, status: int) -> None:
    waits = Waits()
    server.turns += [says(status=status), says("here")]
    with a_claude(server, patience=waits.patience) as model:
        with pytest.raises(ModelError, match=rf"\({status}\)"):
            model(GO)
        assert model(GO).text == "here"
    assert (len(server.asked), waits.slept) == (2, [])


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ((("retry-after", "7"),), 7),
        ((("retry-after-ms", "30"),), 0.03),
        ((("retry-after", "9"), ("retry-after-ms", "1500")), 1.5),
        ((("retry-after", "3600"),), 60),
        ((("retry-after", "soon"),), 1),
    ],
)
def test_what_the_api_asks_to_wait_is_waited_up_to_a_minute(
    server: StandIn, headers: tuple[tuple[str, str], ...], waited: float
) -> None:
    waits = Waits()
    server.turns += [says(status=429, headers=headers), says("here")]
    with a_claude(server, patience=waits.patience) as model:
        assert model(GO).text == "here"
    assert waits.slept == [waited]


def test_an_api_that_says_whether_to_ask_again_is_believed(server: StandIn) -> None:
    waits = Waits()
    yes, no = (("x-should-retry", "true"),), (("x-should-retry", "false"),)
    server.turns += [says(status=400, headers=yes), says(status=529, headers=no)]
    with a_claude(server, patience=waits.patience) as model, pytest.raises(ModelError, match="529"):
        model(GO)
    assert (len(server.asked), len(waits.slept)) == (2, 1)


def test_a_server_that_is_not_there_yet_is_asked_again() -> None:
    server = StandIn([says("here")], key=KEY)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        server.__enter__()
        client.base_url = server.url

    patience = Patience(sleep=wait, chance=lambda: 0.0)
    with anthropic.Anthropic(api_key=KEY, base_url="http://127.0.0.1:9", max_retries=0) as client:
        reply = Claude(NEWEST, client=client, patience=patience)(GO)
    server.__exit__(None, None, None)
    assert (reply.text, waits) == ("here", [1])
    assert "connection to the API failed" in reply.attempts[0].said


@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_error_event_before_any_content_is_asked_again(server: StandIn, after: int) -> None:
    waits = Waits()
    server.turns += [says("Peeling.", breaks_after=after), says("here")]
    with a_claude(server, patience=waits.patience) as model:
        reply = model(GO)
    assert reply.text == "here"
    assert "overloaded_error" in reply.attempts[0].said


@pytest.mark.parametrize(
    "fault",
    [{"breaks_after": 4}, {"breaks_after": 3}, {"cut": 800}, {"cut": 800, "hard": True}],
    ids=str,
)
@pytest.mark.parametrize("first", ["Peeling. " * 20, Think("Hm. " * 40)])
def test_what_had_begun_is_asked_for_again_and_each_wait_is_seen(
    server: StandIn, fault: dict[str, Any], first: str | Think
) -> None:
    waits = Waits()
    server.turns += [replace(says(first), **fault), says("here")]
    heard: list[str] = []
    with a_claude(server, patience=waits.patience, on_text=heard.append) as model:
        reply = model(GO)
    assert (reply.text, heard[-1]) == ("here", "here")
    assert (len(server.asked), waits.slept) == (2, [1])
    assert "nothing of it ran" in reply.attempts[0].said
    assert server.refused == []


def test_an_error_event_that_does_not_pass_is_asked_once(server: StandIn) -> None:
    waits = Waits()
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "No."}}
    server.turns += [Turn(raw=encode(error)), says("here")]
    with a_claude(server, patience=waits.patience) as model, pytest.raises(ModelError, match="No"):
        model(GO)
    assert len(server.asked) == 1


def test_a_request_without_an_answer_in_time_is_sent_once(server: StandIn) -> None:
    waits = Waits()
    server.turns += [says("text", cut=0, hard=True, stalls=True), says("here")]
    with anthropic.Anthropic(api_key=KEY, base_url=server.url, max_retries=0) as client:
        model = Claude(NEWEST, client=client, patience=waits.patience)
        # Only reading may time out: a connection that takes long is tried again.
        client.timeout = anthropic.Timeout(60, read=0.2)
        with pytest.raises(ModelError, match="did not answer in time"):
            model(GO)
        # The server may read a request after its client has gone.
        assert server.stalled.wait(60)
        client.timeout = 60
        assert model(GO).text == "here"
    assert (len(server.asked), waits.slept) == (2, [])


def test_an_interrupt_ends_a_wait_at_once(server: StandIn) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    server.turns += [says(status=529), says("here")]
    with a_claude(server, patience=Patience(sleep=interrupt)) as model:
        with pytest.raises(KeyboardInterrupt):
            model(GO)
        assert model(GO).text == "here"
    assert len(server.asked) == 2


def test_a_session_keeps_what_was_tried_beside_the_reply(server: StandIn) -> None:
    waits = Waits()
    server.turns += [says(status=529), says("here")]
    with a_claude(server, patience=waits.patience) as model:
        session = Session(Toolbox(), model, scheme="flat").tell("Hello?")
    [exchange] = list(session.requests)
    assert [attempt.waited for attempt in exchange.attempts] == [1]
    assert "(529)" in exchange.attempts[0].said
    assert isinstance(exchange.attempts[0], Attempt)


# -- secrets --------------------------------------------------------------------------------------

CANARY = "canary-in-a-header-98765"
ECHO = f"you sent {KEY} and {CANARY}"
ERROR = {"type": "error", "error": {"type": "api_error", "message": ECHO}}
FAULTS: dict[str, Turn] = {
    **{str(status): says(status=status, message=ECHO) for status in (*PASSING, *LASTING)},
    "error event": Turn(raw=encode(ERROR)),
    "an empty stream": Turn(raw=b""),
    "cut": says("text", cut=300, hard=True),
    "no JSON": Turn(raw=f"data: {{{ECHO}\n\n".encode()),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_key_and_no_header_is_in_anything_that_stays(
    server: StandIn, fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    waits = Waits(tries=2)
    peel = Use("peel", {"potato": "Potato#1"})
    server.turns += [says("I peel.", peel), FAULTS[fault], FAULTS[fault]]
    shown: list[str] = []
    with anthropic.Anthropic(
        api_key=KEY, base_url=server.url, default_headers={"x-team": CANARY}
    ) as client:
        model = Claude(NEWEST, client=client, patience=waits.patience, on_wait=shown.append)
        session = Session(Toolbox(_peel), model, scheme="flat", approve="all").ask("Peel.")
        drive = PanelController(session, lambda notice: shown.append(repr(notice)))
        shown += _problems(session.run, drive)
        server.turns[:] = [says("Done.")]
        session.run()
    assert str(session) == "Done."
    assert [call.status for call in session.calls] == ["succeeded"]
    session.save(tmp_path / "session.jsonl")
    shown += [(tmp_path / "session.jsonl").read_text(), repr(model), str(vars(model))]
    shown += [json.dumps(session._repr_mimebundle_(), default=str), repr(session.state)]
    shown += [repr(list(session.requests)), caplog.text]
    found = [text for text in shown if KEY in text or CANARY in text]
    assert found == []
    assert all(asked_.headers["x-team"] == CANARY for asked_ in server.asked)
    assert server.refused == []


def _peel(potato: str) -> str:
    """Peel."""
    return f"{potato}, peeled"


_peel.__name__ = "peel"


def _problems(run: Callable[[], object], drive: PanelController) -> list[str]:
    """Run until the fault, and return what was said and shown of it."""
    try:
        run()
    except ToolcallError as error:
        rows = repr(drive.whole())
        chain = [repr(error), repr(error.__cause__), repr(error.__context__)]
        return [*chain, *error._render_traceback_(), rows]
    raise AssertionError("nothing went wrong")
