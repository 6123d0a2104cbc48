"""Claude and OpenAI where something goes wrong: one line, nothing half, and on from there."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.core.errors import ModelError, Stopped
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.models.retrying import Patience
from jupyter_toolcall.schemes.messages import Assistant, Request, Result, Results, User
from jupyter_toolcall.tools.tool import Tool
from jupyter_toolcall.view.contract_rows import SessionRow
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.view_rows import ViewRows
from tests.models.conftest import PROVIDERS
from tests.standin import anthropic_turns, openai_turns
from tests.standin.model_api import StandIn
from tests.standin.openai_turns import chunk
from tests.standin.talk import outcome_of
from tests.standin.turns import Think, Turn, Use, says

PEEL = Tool("peel", "Peel it.", {"type": "object", "properties": {"n": {}}})
GO = Request("", (PEEL,), (User("Go."),))
AGAIN = "run again to continue"
PASSING = [408, 409, 429, 500, 502, 503, 504, 529]
LASTING = [400, 401, 403, 404, 413, 422]
PEELED = Use("peel", {"n": 1})


def problem_of(api: StandIn, turn: Turn, **options: Any) -> str:
    """Return the one line that stands for a turn, after which the next request is answered."""
    api.turns += [turn, says("here")]
    with api.model(**options) as model:
        problem = outcome_of(model, GO)
        assert isinstance(problem, str)
        assert "\n" not in problem
        assert model(GO).text == "here"
    assert api.refused == []
    return problem


REMEDIES: list[tuple[str, Turn, str]] = [
    ("anthropic", says(status=401), "ANTHROPIC_API_KEY"),
    ("anthropic", says(status=403), "claude-opus-5-5"),
    ("anthropic", says(status=404), "check the name"),
    ("anthropic", says(status=429), AGAIN),
    ("anthropic", says(status=529), AGAIN),
    ("openai", says(status=401), "OPENAI_API_KEY"),
    ("openai", says(status=403), "gpt-6-sol"),
    ("openai", says(status=404), "no model gpt-6-sol"),
    ("openai", says(status=413), "begin a new session"),
    ("openai", says(status=400, code="context_length_exceeded"), "begin a new session"),
    ("openai", says(status=429), "wait a little"),
    ("openai", says(status=429, code="insufficient_quota"), "no credit left"),
    ("openai", says(status=503), "busy or down"),
    ("openai", says(status=400, message="reasoning_content is missing"), "keep_thoughts=True"),
]


@pytest.mark.parametrize(("provider", "turn", "remedy"), REMEDIES)
def test_a_status_says_what_to_do(provider: str, turn: Turn, remedy: str) -> None:
    assert remedy in problem_of(PROVIDERS[provider](), turn)


BROKEN_OFF = {
    "anthropic": "overloaded_error: Overloaded",
    "openai": "broke off its reply (The server had an error)",
}


@pytest.mark.parametrize("after", range(10))
def test_an_error_at_any_place_of_a_stream_is_one_line(api: StandIn, after: int) -> None:
    problem = problem_of(api, says("Peeling.", PEELED, breaks_after=after))
    assert BROKEN_OFF[api.name] in problem
    assert AGAIN in problem


# -- streams that make no sense -------------------------------------------------------------


def event(kind: str, **parts: Any) -> bytes:
    return anthropic_turns.encode({"type": kind, **parts})


def block(index: int, **parts: object) -> bytes:
    return event("content_block_start", index=index, content_block=parts)


def delta(index: int, **parts: object) -> bytes:
    return event("content_block_delta", index=index, delta=parts)


def close(index: int) -> bytes:
    return event("content_block_stop", index=index)


USE = {"type": "tool_use", "id": "a", "name": "peel", "input": {}}
START = event("message_start", message={"usage": {"input_tokens": 1}})
END = event("message_delta", delta={"stop_reason": "tool_use"}, usage={})
STOP = event("message_stop")


def stopped(reason: str | None) -> bytes:
    return event("message_delta", delta={"stop_reason": reason}, usage={})


MISFITS = [
    delta(0, type="text_delta", text="no block is open"),
    block(1, **USE) + close(1),
    block(0, **USE) + block(1, **USE) + close(1),
    block(0, **USE),
    block(0, **USE) + close(1),
    block(0, **USE) + delta(0, type="text_delta", text="in a call") + close(0),
    block(0, **USE) + delta(0, type="input_json_delta", partial_json=None) + close(0),
    block(0, **USE) + delta(0, type="unheard_of") + close(0),
    block(0, type="tool_use", name="peel", input={}) + close(0),
    block(0, type="text") + close(0),
    block(0, type=None) + close(0),
    block(0, **USE) + close(0) + block(1, **USE) + close(1),
    block(0, **USE) + close(0) + END + block(1, **USE | {"id": "b"}) + close(1),
    block(0, **USE, number=float("nan")) + close(0),
]
"""Events of Anthropic's API that are each well-formed, and never make a call together."""
CALL = {"index": 0, "id": "a", "function": {"name": "peel", "arguments": "{}"}}
BEGUN = openai_turns.encode(chunk({"role": "assistant", "content": "Ja."}))
CALLED = openai_turns.encode(chunk({"tool_calls": [CALL]}))
ENDED = openai_turns.encode(chunk({}, "tool_calls"))
NONSENSE = [
    b"",
    b"<html>Bad gateway</html>",
    b"data: {nonsense\n\n",
    b"data: [1]\n\n",
    b"data: " + b"[" * 100_000 + b"\n\n",
    b"data: \xff\xfe\n\n",
]
BAD: dict[str, list[bytes]] = {
    "anthropic": [
        *NONSENSE,
        b"event: message_start\ndata: {nonsense\n\n",
        b"event: message_start\ndata: [1]\n\n",
        b'event: x\ndata: {"type": "message_start", "n": NaN}\n\n',
        STOP,
        END + STOP,
        START + STOP,
        START + START,
        START + stopped(None) + STOP,
        START + stopped("tired") + STOP,
        *(START + middle + END + STOP for middle in MISFITS),
    ],
    "openai": [
        *NONSENSE,
        b"\n\n\n",
        b": only a comment\n\n",
        b"data: [DONE]\n\n",
        b"data: null\n\n",
        b'data: {"choices": NaN}\n\n',
        b'data: {"choices": 5}\n\n',
        b'data: {"choices": [null, {"delta": 5}]}\n\n',
        b'data: {"choices": [{"index": 0, "delta": {"tool_calls": 5, "content": 7}}]}\n\n',
        b'event: error\ndata: {"message": "out of memory"}\n\n',
        b'data: {"object": "error", "message": "out of memory", "code": 500}\n\n',
        b'data: {"error": "out of memory"}\n\n',
        b'data: {"detail": "out of memory"}\n\n',
        BEGUN,
        BEGUN + b"data: [DONE]",
        BEGUN + CALLED + b"data: [DONE]\n\n",
        BEGUN + openai_turns.encode(chunk({}, "tired")),
        BEGUN + ENDED + CALLED,
        BEGUN + ENDED + openai_turns.encode(chunk({"content": "more"})),
        BEGUN + ENDED + openai_turns.encode({"error": {"message": "late"}}),
    ],
}


@pytest.mark.parametrize(
    ("provider", "raw"), [(name, raw) for name, streams in BAD.items() for raw in streams]
)
def test_a_bad_stream_is_one_line_and_never_mended_into_a_call(provider: str, raw: bytes) -> None:
    assert AGAIN in problem_of(PROVIDERS[provider](), Turn(raw=raw))


HALVES = [b'"\\ud83e"', b'"\\udd54 and \\ud83e."']
"""Texts that begin or end within a character."""


def halved(piece: bytes) -> bytes:
    """Return pieces of a stream with these texts."""
    return b"".join(piece.replace(b'"TEXT"', half) for half in HALVES)


HALF_CHARACTERS = {
    "anthropic": START
    + block(0, type="text", text="")
    + halved(delta(0, type="text_delta", text="TEXT"))
    + close(0)
    + END
    + STOP,
    "openai": halved(openai_turns.encode(chunk({"content": "TEXT"}))) + ENDED,
}


def test_half_a_character_becomes_one_that_can_be_stored(api: StandIn) -> None:
    api.turns.append(Turn(raw=HALF_CHARACTERS[api.name]))
    pieces: list[str] = []
    with api.model(on_text=pieces.append) as model:
        reply = model(GO)
    assert reply.text == "🥔 and \N{REPLACEMENT CHARACTER}."
    assert json.dumps([reply.raw, pieces], ensure_ascii=False).encode()


# -- arguments ------------------------------------------------------------------------------


DOUBTFUL = [
    ('{"n": NaN}', "NaN"),
    ('{"n": -Infinity}', "-Infinity"),
    ('{"n": 1e999}', "too large"),
    ('{"n": 1, "n": 2}', "the key 'n' is twice"),
    ('{"n": {"a": 1, "a": 2}}', "the key 'a' is twice"),
    ('{"n": "Potato#1"', "not valid JSON"),
    ("{'n': 1}", "not valid JSON"),
    ('{"n": 1,}', "not valid JSON"),
    ('{"n": 1}{"n": 2}', "not valid JSON"),
    ('```json\n{"n": 1}\n```', "not valid JSON"),
    ('["Potato#1"]', "not a JSON object"),
    ('"{}"', "not a JSON object"),
    ("null", "not a JSON object"),
    ('{"n": "\\ud83e"}', "half of a Unicode character"),
    ('{"n": ' + "9" * 10_000 + "}", "digits"),
    ('{"n": ' + "[" * 64 + "]" * 64 + "}", "deeper than 64"),
    ('{"n": ' + "[" * 100_000, "deeper than 64"),
    ('{"n": "' + "x" * 5_000_000 + '"}', "longer than 1,000,000"),
    ('{"n": NaN, "x": [1,', "NaN"),
]
"""The text of the arguments, and a part of what the model is told."""


@pytest.mark.parametrize(("raw", "why"), DOUBTFUL, ids=lambda text: text[:24])
def test_doubtful_arguments_make_a_broken_call_beside_a_good_one_and_the_model_is_told(
    api: StandIn, raw: str, why: str
) -> None:
    api.turns += [says(Use("peel", raw=raw), PEELED, piece=100_000), says("sorry")]
    with api.model() as model:
        reply = model(GO)
        broken, fine = reply.calls
        assert why in broken.broken
        assert len(broken.broken) < 300
        assert (broken.arguments, fine.arguments, fine.broken) == ({}, {"n": 1}, "")
        assert len(json.dumps(reply.raw)) < 2000
        said = Assistant(reply.text, reply.calls, reply.raw)
        results = Results((Result(broken.id, broken.broken, error=True), Result(fine.id, "ok")))
        assert model(replace(GO, messages=(*GO.messages, said, results))).text == "sorry"
    assert api.refused == []


def test_arguments_at_the_limits_and_none_are_read(api: StandIn) -> None:
    deep = '{"n": ' + "[" * 63 + "]" * 63 + "}"
    long = '{"n": "' + "x" * (1_000_000 - 9) + '"}'
    odd = '{"__proto__": {"constructor": "\\u0000\\u202e"}, "n": -0.0}'
    api.turns.append(says(*(Use("peel", raw=raw) for raw in (deep, long, odd, "")), piece=50_000))
    with api.model() as model:
        calls = model(GO).calls
    assert [call.broken for call in calls] == [""] * 4
    assert [call.arguments for call in calls] == [
        json.loads(raw or "{}") for raw in (deep, long, odd, "")
    ]


# -- the connection -------------------------------------------------------------------------


def test_one_connection_serves_all_turns(server: StandIn) -> None:
    server.turns += [says("a"), says("b"), says("c")]
    with server.model() as model:
        for _ in range(3):
            model(GO)
    assert server.connections == 1


def test_a_stream_that_comes_byte_by_byte_is_read_and_heard_piece_by_piece(server: StandIn) -> None:
    text = "A potato is a tuber, and so is 🥔."
    calls = PEELED, Use("peel", {"n": [2]})
    server.turns.append(says(Think("Zwei Stück 🥔."), text, *calls, piece=7, drip=1))
    pieces: list[str] = []
    with server.model(on_text=pieces.append) as model:
        reply = model(GO)
    assert [call.arguments for call in reply.calls] == [{"n": 1}, {"n": [2]}]
    assert (reply.thought, reply.text, "".join(pieces)) == ("Zwei Stück 🥔.", text, text)
    assert len(pieces) > 3


def test_no_server_is_one_line(server: StandIn) -> None:
    with server.model() as model:
        server.__exit__()
        problem = str(outcome_of(model, GO))
    told = {
        "anthropic": "the connection to the API failed (ConnectError)",
        "openai": f"no server answers at {server.url}: start it",
    }
    assert problem.startswith(f"{told[server.name]}; nothing of it ran; {AGAIN}")


def test_a_server_that_stalls_ends_at_the_timeout_and_is_not_asked_again(server: StandIn) -> None:
    patient = Patience(tries=3, sleep=lambda seconds: None)
    turn = says("Peeling.", PEELED, cut=300, hard=True, stalls=True)
    problem = problem_of(server, turn, patience=patient)
    assert "did not answer in time" in problem
    assert AGAIN in problem
    assert server.left.wait(10)
    assert len(server.asked) == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stopped, ValueError])
def test_what_the_listener_raises_passes_through_and_closes_the_connection(
    server: StandIn, error: type[BaseException]
) -> None:
    def fail(text: str) -> None:
        raise error

    server.reading = 60
    server.turns += [says("A long text", PEELED, cut=800, stalls=True, hard=True), says("again")]
    with server.model(on_text=fail) as model:
        with pytest.raises(error):
            model(GO)
        assert server.left.wait(10), "the connection is still open"
        model.on_text = print
        assert model(GO).text == "again"


# -- what is asked again --------------------------------------------------------------------

OVERLOADED = {"type": "overloaded_error", "code": 429, "message": "full"}
REQUESTS_MADE: list[tuple[Turn, int]] = [
    *((says(status=status, message="Just\nso."), 1) for status in LASTING),
    *((says(status=status, message="Just\nso."), 3) for status in PASSING),
    (says(status=503, headers=(("x-should-retry", "false"),)), 1),
    (says(status=422, headers=(("x-should-retry", "true"),)), 3),
    *((says("Ja. " * 99, cut=cut, hard=hard), 3) for cut in (100, 900) for hard in (False, True)),
    *((says(Think("Hm. " * 99), cut=900, hard=hard), 3) for hard in (False, True)),
    (says("", PEELED, breaks_after=3), 3),
    (says(Think("Hm."), breaks_after=3), 3),
    (says("Ja.", breaks_after=1, error=OVERLOADED), 3),
    (says("Ja.", breaks_after=1, error={"type": "invalid_request_error", "message": "no"}), 1),
    (says("Ja.", stop="tired"), 1),
    (Turn(raw=b"data: {nonsense\n\n"), 1),
]


@pytest.mark.parametrize(("turn", "times"), REQUESTS_MADE)
def test_only_what_may_pass_is_asked_again(api: StandIn, turn: Turn, times: int) -> None:
    slept: list[float] = []
    waits: list[str] = []
    patience = Patience(tries=3, sleep=slept.append, chance=lambda: 0)
    api.turns += [turn] * (times - 1)
    problem = problem_of(api, turn, patience=patience, on_wait=waits.append)
    assert ("(asked 3 times)" in problem) == (times == 3)
    if turn.message == "Just\nso.":
        assert f"({turn.status})" in problem
        assert "Just so." in problem
    assert slept == [1, 2][: times - 1]
    notices = ["asked again in 1 s (2 of 3)", "asked again in 2 s (3 of 3)"]
    assert [line.rpartition("; ")[2] for line in waits] == notices[: times - 1]
    assert [asked.body for asked in api.asked] == [api.asked[0].body] * (times + 1)


def test_a_final_error_of_chat_completions_is_not_asked_again() -> None:
    api = PROVIDERS["openai"]()
    api.turns += [
        says(status=429, code="insufficient_quota"),
        says("Ja.", breaks_after=1, error={"code": 400, "message": "no"}),
    ]
    with api.model(patience=Patience(tries=3)) as model:
        assert isinstance(outcome_of(model, GO), str)
        assert isinstance(outcome_of(model, GO), str)
    assert len(api.asked) == 2


def test_a_busy_server_is_asked_again_when_it_says_and_the_reply_tells_of_it(api: StandIn) -> None:
    api.turns += [
        says(status=529, message="Overloaded", headers=(("retry-after-ms", "40"),)),
        says(status=429, message="Slow down", headers=(("retry-after", "3600"),)),
        says("Half of it", breaks_after=4),
        says("Ja."),
    ]
    slept: list[float] = []
    pieces: list[str] = []
    patience = Patience(sleep=slept.append, chance=lambda: 0)
    with api.model(patience=patience, on_text=pieces.append) as model:
        reply = model(GO)
    assert slept == [0.04, 60, 4]
    assert [attempt.waited for attempt in reply.attempts] == slept
    assert "Overloaded" in reply.attempts[0].said
    assert "nothing of it ran" in reply.attempts[2].said
    assert (reply.text, pieces[-1]) == ("Ja.", "Ja.")


def test_an_interrupt_ends_the_wait_for_another_try(api: StandIn) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    api.turns += [says(status=503), says("here")]
    with api.model(patience=Patience(sleep=interrupted)) as model:
        with pytest.raises(KeyboardInterrupt):
            model(GO)
        assert model(GO).text == "here"


# -- secrets --------------------------------------------------------------------------------

CANARY = "canary-in-a-header-98765"


def leaks(secret: str) -> list[Turn]:
    """Return turns that give a secret away in every place where a server may say something."""
    everywhere = {"message": secret, "code": secret, "type": secret}
    return [
        *(says(status=status, message=f"you sent {secret}") for status in PASSING + LASTING),
        says(status=503, message=f"Authorization: Bearer {secret}"),
        says("Ja.", breaks_after=1, error=everywhere),
        says("Ja.", stop=secret),
        says("Ja. " * 99, cut=300, hard=True),
        Turn(raw=openai_turns.encode({"type": "error", "error": secret})),
        Turn(raw=openai_turns.encode({"detail": secret})),
        Turn(raw=f"data: {{{secret}\n\n".encode()),
        Turn(raw=b""),
    ]


def peel(n: int) -> str:
    """Peel."""
    return "peeled"


def test_no_key_and_no_header_is_in_anything_that_stays(
    api: StandIn,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level("DEBUG")
    shown: list[str] = []
    patience = Patience(tries=2, sleep=lambda seconds: None)
    options: Any = {"on_wait": shown.append, "patience": patience, "headers": {"x-team": CANARY}}
    with api.model(**options) as model:
        session = Session(Toolbox(peel), model, scheme="flat", approve="all").ask("Peel.")
        panel = PanelController(session, lambda notice: shown.append(repr(notice)))
        for turn in leaks(f"{api.key} and {CANARY}"):
            api.turns[:] = [turn, turn]
            with pytest.raises(ModelError) as caught:
                session.run()
            error = caught.value
            assert (error.__context__, error.__cause__) == (None, None)
            shown += [repr(error), *error._render_traceback_(), repr(panel.whole())]
        # The SDK itself logs the headers of an answer.
        shown.append(caplog.text)
        busy = says(status=503, message=api.key, headers=(("x-key", api.key),))
        api.turns[:] = [busy, says("I peel.", PEELED), says("Done.")]
        session.run()
        shown += [repr(model), str(vars(model)), repr(model.body(session.cursor.request))]
    assert (session.text, [call.result for call in session.calls]) == ("Done.", ["peeled"])
    session.save(tmp_path / "session.jsonl")
    root = session.journal.path(session.head)[0].id
    saved = mime_bundle(session.cursor, ViewRows().whole(session.cursor, SessionRow()), root)
    shown += [(tmp_path / "session.jsonl").read_text(), json.dumps(saved), repr(session)]
    shown += [json.dumps(session._repr_mimebundle_(), default=str), repr(session.state)]
    shown += [repr(list(session.requests)), *capsys.readouterr()]
    everything = "".join(shown)
    assert "«redacted»" in everything
    for form in (*forms(api.key), CANARY):
        assert form not in everything
    headers = {(asked.headers["authorization"], asked.headers["x-team"]) for asked in api.asked}
    assert headers == {(f"Bearer {api.key}", CANARY)}


def forms(key: str) -> list[str]:
    return [key, base64.b64encode(key.encode()).decode(), quote(key), key[3:]]
