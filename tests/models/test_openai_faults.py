"""Chat completions where something goes wrong: one line, nothing half, and on from there."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import openai
import pytest

from jupyter_toolcall import Session
from jupyter_toolcall.core.errors import ModelError, Stopped
from jupyter_toolcall.kitchen import Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.models import openai_wire
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.models.retrying import Patience
from jupyter_toolcall.schemes.messages import Reply, Request, User
from jupyter_toolcall.tools.tool import Tool
from jupyter_toolcall.view.contract_rows import SessionRow
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.view_rows import ViewRows
from tests.models.doubtful_arguments import DOUBTFUL
from tests.standin.openai_api import KEY, MODEL, StandIn, a_model, a_near_model
from tests.standin.openai_turns import Turn, Use, chunk, encode, says
from tests.standin.openai_turns import stream as encoded

PEEL = Tool("Potato_peel", "Peel it.", {"type": "object", "properties": {"n": {}}})
GO = Request("", (PEEL,), (User("Go."),))
AGAIN = "run again to continue"

TWO = (Use("Potato_peel", {"n": "Zwei 🥔"}), Use("Potato_peel", {"n": [1, {"é": None}]}))
RECORDED = {
    "text": says("Fertig: «Fries#1» 🍟."),
    "a call": says("Ja.", TWO[0]),
    "two calls": says(*TWO),
    "a thought": says(TWO[0], thought="Hm, 🥔?"),
    "a refusal": says(refusal="Nein 🍟."),
    **{
        name: says("Ja.", *TWO, dialect=name)
        for name in ("whole", "zero", "unnumbered pieces", "names again", "stop", "json", "crlf")
    },
}


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server


@pytest.mark.parametrize("name", RECORDED)
def test_a_stream_cut_at_any_byte_is_an_error_or_the_whole_reply(name: str) -> None:
    sent = recorded(name)
    whole = openai_wire.reply(payloads(name, sent))
    came = 0
    for place in range(len(sent)):
        try:
            outcome: Reply | str = openai_wire.reply(payloads(name, sent[:place]))
        except ModelError as error:
            outcome = str(error)
        check_cut(outcome, whole, sent[place:])
        came += isinstance(outcome, Reply)
    # Of the cuts behind the reason none is an error; JSON has its end at the very end.
    behind = len(sent.split(b'"finish_reason": "')[1].split(b"\n", 1)[-1])
    assert came == (0 if name == "json" else behind)


@pytest.mark.parametrize("name", RECORDED)
def test_a_connection_that_ends_or_breaks_within_a_stream_is_an_error_or_the_whole_reply(
    name: str,
) -> None:
    sent = recorded(name)
    whole = openai_wire.reply(payloads(name, sent))
    server = StandIn()
    with a_near_model(server) as model:
        for place in range(0, len(sent), 11):
            turn = replace(RECORDED[name], piece=5, cut=place, hard=place % 2 == 0)
            server.turns.append(turn)
            check_cut(heard(model), whole, sent[place:])
    assert len(server.asked) > 20
    assert server.refused == []


def recorded(name: str) -> bytes:
    """Return the stream of a turn, as it is sent."""
    usage = {"prompt_tokens": 9, "completion_tokens": 9}
    return encoded(replace(RECORDED[name], piece=5), usage, map(str, count()))


def payloads(name: str, sent: bytes) -> list[str]:
    if RECORDED[name].dialect == "json":
        return [sent.decode(errors="replace")]
    return list(
        openai_wire.payloads(sent[start : start + 100] for start in range(0, len(sent), 100))
    )


def check_cut(outcome: Reply | str, whole: Reply, missing: bytes) -> None:
    """Check the outcome of a stream that was cut: all of the reply, or one line."""
    if isinstance(outcome, str):
        assert AGAIN in outcome
        assert "\n" not in outcome
        return
    assert told(outcome) == told(whole)
    # Only the count of tokens, and the goodbye, may be missing.
    assert b'"finish_reason": "' not in missing


@pytest.mark.parametrize(
    "status", [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529]
)
def test_each_status_is_one_line_that_names_it_and_the_session_continues(
    server: StandIn, status: int
) -> None:
    server.turns += [says(status=status, message="Just\nso."), says("here")]
    with a_model(server) as model:
        problem = heard(model)
        assert isinstance(problem, str)
        assert f"({status})" in problem
        assert "Just so." in problem
        assert "\n" not in problem
        assert model(GO).text == "here"


@pytest.mark.parametrize(
    ("turn", "remedy"),
    [
        (says(status=401), "OPENAI_API_KEY"),
        (says(status=403), MODEL),
        (says(status=404), f"no model {MODEL}"),
        (says(status=413), "begin a new session"),
        (says(status=400, code="context_length_exceeded"), "begin a new session"),
        (says(status=429), "wait a little"),
        (says(status=429, code="insufficient_quota"), "no credit left"),
        (says(status=503), "busy or down"),
        (says(status=400, message="reasoning_content is missing"), "keep_thoughts=True"),
    ],
)
def test_a_status_says_what_to_do(server: StandIn, turn: Turn, remedy: str) -> None:
    server.turns.append(turn)
    with a_model(server) as model:
        assert remedy in str(heard(model))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "full"}}, "full"),
        ({"error": "full"}, "full"),
        ({"object": "error", "message": "full", "code": 400}, "full"),
        ({"detail": "full"}, "full"),
        ({"detail": [{"loc": ["body", "tools"], "msg": "full"}]}, "body.tools: full"),
        ("full\nof it", "full of it"),
        ([1], "(400)"),
        ({}, "(400)"),
    ],
)
def test_the_words_of_an_error_are_found_in_every_form(body: Any, words: str) -> None:
    def answer(request: Any) -> Any:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        return httpx2.Response(400, content=data, headers={"content-type": "application/json"})

    client = openai.OpenAI(
        api_key=KEY,
        base_url="http://stand.in/v1",
        http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
    )
    with client:
        assert words in str(heard(OpenAI(MODEL, client=client)))


@pytest.mark.parametrize(
    ("turn", "times"),
    [
        *((says(status=status), 1) for status in (400, 401, 403, 404, 413, 422)),
        *((says(status=status), 3) for status in (408, 409, 429, 500, 502, 503, 529)),
        (says(status=429, code="insufficient_quota"), 1),
        (says(status=503, headers=(("x-should-retry", "false"),)), 1),
        (says("Ja.", cut=100), 3),
        (says("Ja.", cut=100, hard=True), 3),
        (says("Ja.", cut=330), 3),
        (says("Ja.", cut=330, hard=True), 3),
        (says("Ja.", breaks_after=1), 3),
        (says("Ja.", breaks_after=2), 3),
        (says("", TWO[0], breaks_after=2), 3),
        (says("", thought="Hm.", breaks_after=2), 3),
        (says("Ja.", breaks_after=1, error={"code": 429, "message": "full"}), 3),
        (says("Ja.", breaks_after=1, error={"code": 400, "message": "no"}), 1),
        (says("Ja.", breaks_after=1, error={"type": "invalid_request_error"}), 1),
        (says("Ja.", finish="tired"), 1),
        (Turn(raw=b"data: {nonsense\n\n"), 1),
    ],
)
def test_what_may_pass_is_asked_again_and_nothing_else(
    server: StandIn, turn: Turn, times: int
) -> None:
    server.turns += [turn] * 4
    slept: list[float] = []
    patience = Patience(tries=3, sleep=slept.append, chance=lambda: 0)
    with a_model(server, patience=patience) as model:
        assert isinstance(heard(model), str)
    assert len(server.asked) == times
    assert slept == [1, 2][: times - 1]


def test_a_busy_server_is_asked_again_when_it_says_and_the_reply_tells_of_it(
    server: StandIn,
) -> None:
    server.turns += [
        says(status=529, message="Overloaded", headers=(("retry-after-ms", "40"),)),
        says(status=429, message="Slow down", headers=(("retry-after", "3600"),)),
        says("Ja."),
    ]
    slept: list[float] = []
    waits: list[str] = []
    patience = Patience(sleep=slept.append)
    with a_model(server, patience=patience, on_wait=waits.append) as model:
        reply = model(GO)
    assert slept == [0.04, 60]
    assert [attempt.waited for attempt in reply.attempts] == slept
    assert "Overloaded" in reply.attempts[0].said
    assert "asked again in 60 s (3 of 4)" in waits[1]
    assert reply.text == "Ja."


def test_the_sdk_itself_asks_once(server: StandIn) -> None:
    server.turns += [says(status=503)] * 3
    with openai.OpenAI(api_key=KEY, base_url=server.url, max_retries=2) as client:
        heard(OpenAI(MODEL, client=client, patience=Patience(tries=1)))
    assert len(server.asked) == 1


@pytest.mark.parametrize("after", range(8))
def test_an_error_within_the_stream_is_one_line_wherever_it_comes(
    server: StandIn, after: int
) -> None:
    server.turns += [replace(RECORDED["two calls"], breaks_after=after), says("here")]
    with a_model(server) as model:
        problem = str(heard(model))
        assert "broke off its reply (The server had an error)" in problem
        assert AGAIN in problem
        assert model(GO).text == "here"


START = encode(chunk({"role": "assistant", "content": "Ja."}))
CALL = {"index": 0, "id": "a", "function": {"name": "Potato_peel", "arguments": "{}"}}
END = encode(chunk({}, "tool_calls"))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n\n\n",
        b": only a comment\n\n",
        b"<html>Bad gateway</html>",
        b"data: [DONE]\n\n",
        b"data: {nonsense\n\n",
        b"data: [1]\n\n",
        b"data: null\n\n",
        b'data: {"choices": NaN}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"choices": 5}\n\n',
        b'data: {"choices": [null, {"delta": 5}]}\n\n',
        b'data: {"choices": [{"index": 0, "delta": {"tool_calls": 5, "content": 7}}]}\n\n',
        b'event: error\ndata: {"message": "out of memory"}\n\n',
        b'data: {"object": "error", "message": "out of memory", "code": 500}\n\n',
        b'data: {"error": "out of memory"}\n\n',
        b'data: {"detail": "out of memory"}\n\n',
        START,
        START + b"data: [DONE]" + b"\n\n" * 0,
        START + encode(chunk({"tool_calls": [CALL]})) + b"data: [DONE]\n\n",
        START + encode(chunk({}, "tired")),
        START + END + encode(chunk({"tool_calls": [CALL]})),
        START + END + encode(chunk({"content": "more"})),
        START + END + encode({"error": {"message": "late"}}),
    ],
)
def test_a_bad_stream_is_one_line_and_the_session_continues(server: StandIn, raw: bytes) -> None:
    server.turns += [Turn(raw=raw), says("here")]
    with a_model(server) as model:
        problem = heard(model)
        assert isinstance(problem, str)
        assert AGAIN in problem
        assert "\n" not in problem
        assert model(GO).text == "here"


@pytest.mark.parametrize(
    "raw",
    [
        START + END + encode(chunk({})) + encode(chunk({"content": ""})),
        encode({"object": "ping"}) + START + encode({"choices": []}) + END,
        b"\n: keep-alive\n\nid: 3\nevent: message\n" + START + END,
        START + encode(chunk({"content": None, "tool_calls": None, "refusal": None})) + END,
        START + encode({"choices": [{"index": 1, "delta": {"content": "two"}}]}) + END,
        START + encode({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        START.replace(b'"Ja."', b'[{"type": "text", "text": "Ja."}]') + END,
    ],
)
def test_what_servers_send_beside_a_reply_is_passed_over(server: StandIn, raw: bytes) -> None:
    server.turns.append(Turn(raw=raw))
    with a_model(server) as model:
        assert told(model(GO)) == ("Ja.", "end", [])


def test_an_address_that_answers_something_else_is_named(server: StandIn) -> None:
    server.turns.append(Turn(raw=b"<html>", headers=(("content-type", "text/html"),)))
    with a_model(server) as model:
        assert heard(model) == f"{server.url} answers no chat completions: check the base URL"


def test_half_a_character_becomes_one_that_can_be_stored(server: StandIn) -> None:
    texts = [b'"\\ud83e"', b'"\\udd54 and \\ud83e."']
    pieces = [encode(chunk({"content": "TEXT"})).replace(b'"TEXT"', text) for text in texts]
    server.turns.append(Turn(raw=b"".join(pieces) + END))
    pieces_heard: list[str] = []
    with a_model(server, on_text=pieces_heard.append) as model:
        reply = model(GO)
    assert reply.text == "🥔 and \N{REPLACEMENT CHARACTER}."
    assert json.dumps(pieces_heard, ensure_ascii=False).encode()


@pytest.mark.parametrize(("raw", "why"), DOUBTFUL, ids=lambda text: text[:24])
def test_arguments_that_are_doubtful_make_a_broken_call_beside_a_good_one(
    server: StandIn, raw: str, why: str
) -> None:
    good = Use("Potato_peel", {"n": 1})
    server.turns.append(says(Use("Potato_peel", raw=raw), good, piece=100_000))
    with a_model(server) as model:
        broken, fine = model(GO).calls
    assert why in broken.broken
    assert len(broken.broken) < 300
    assert (broken.arguments, fine.arguments, fine.broken) == ({}, {"n": 1}, "")


def test_a_server_that_stalls_ends_at_the_timeout(server: StandIn) -> None:
    server.turns += [replace(RECORDED["a call"], cut=300, stalls=True), says("here")]
    patient = Patience(tries=3, sleep=lambda seconds: None)
    with a_model(server, patience=patient) as model:
        problem = str(heard(model))
        assert "did not answer in time" in problem
        assert AGAIN in problem
        assert server.stalled.wait(60)
        assert len(server.asked) == 1
        assert model(GO).text == "here"


def test_a_slow_stream_is_heard_to_its_end(server: StandIn) -> None:
    server.turns.append(replace(RECORDED["two calls"], slow=True))
    with a_model(server) as model:
        assert [call.arguments for call in model(GO).calls] == [use.arguments for use in TWO]


def test_no_server_is_one_line(server: StandIn) -> None:
    with a_model(server) as model:
        server.__exit__(None, None, None)
        problem = str(heard(model))
    assert problem == (f"no server answers at {server.url}: start it; nothing of it ran; {AGAIN}")


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stopped, ValueError])
def test_what_the_listener_raises_passes_through(
    server: StandIn, error: type[BaseException]
) -> None:
    def fail(text: str) -> None:
        raise error

    server.turns += [says("text"), says("here")]
    with a_model(server, on_text=fail) as model:
        with pytest.raises(error):
            model(GO)
        model.on_text = print
        assert model(GO).text == "here"


# -- secrets --------------------------------------------------------------------------------


def leaks(error: str) -> list[Turn]:
    """Return turns that give the key away in every place where a server may say something."""
    return [
        says(status=401, message=f"Incorrect API key provided: {error}"),
        says(status=400, message=f"Bearer {error}"),
        says(status=503, message=f"Authorization: Bearer {error}", headers=(("x-key", error),)),
        says("Ja.", breaks_after=1, error={"message": error, "code": error, "type": error}),
        says("Ja.", finish=error),
        Turn(raw=encode({"error": error})),
        Turn(raw=encode({"detail": error})),
    ]


def test_a_key_is_in_no_artefact_whatever_the_server_says(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[str] = []
    cooked = says(Use("Potato_peel", {"Potato": "Potato#1"}))
    patience = Patience(tries=2, sleep=lambda seconds: None)
    with a_model(server, on_wait=waits.append, patience=patience) as model:
        session = kitchen_session(model)
        session.ask("Peel.")
        problems = []
        for turn in leaks(KEY):
            server.turns[:] = [turn, turn]
            with pytest.raises(ModelError) as problem:
                session.run()
            problems.append(problem.value)
        busy = says(status=503, message=f"Bearer {KEY}")
        server.turns[:] = [busy, cooked, says("Peeled."), says("Enough.")]
        session.run()
        session.save(tmp_path / "session.jsonl")
        shown = repr((model, model.body(session.cursor.request), session))
    assert session["Potato#2"] == Potato(peeled=True)
    assert all(error.__context__ is None and error.__cause__ is None for error in problems)
    root = session.journal.path(session.head)[0].id
    saved = mime_bundle(session.cursor, ViewRows().whole(session.cursor, SessionRow()), root)
    everything = [
        session.journal.dumps(),
        (tmp_path / "session.jsonl").read_text(),
        json.dumps(saved),
        repr(session._repr_mimebundle_()),
        *(f"{error}{error!r}{error.args}" for error in problems),
        *waits,
        shown,
        *capsys.readouterr(),
    ]
    assert len(waits) >= 3
    assert "«redacted»" in "".join(everything)
    for form in forms(KEY):
        assert form not in "".join(everything)
    sent = [asked.headers["authorization"] for asked in server.asked]
    assert set(sent) == {f"Bearer {KEY}"}


def forms(key: str) -> list[str]:
    return [key, base64.b64encode(key.encode()).decode(), quote(key), key[3:]]


# -- sessions -------------------------------------------------------------------------------

FAULTS: dict[str, Callable[[Turn], Turn]] = {
    **{
        str(status): (lambda turn, status=status: replace(turn, status=status))  # type: ignore[misc]
        for status in (400, 401, 403, 404, 413, 429, 500, 503, 529)
    },
    "cut": lambda turn: replace(turn, cut=400),
    "broken off": lambda turn: replace(turn, cut=400, hard=True),
    "silent": lambda turn: replace(turn, cut=400, stalls=True),
    "error": lambda turn: replace(turn, breaks_after=3),
    "garbled": lambda turn: replace(turn, raw=START + b"data: {nonsense\n\n"),
    "no reason": lambda turn: replace(turn, finish=None),
    "another reason": lambda turn: replace(turn, finish="tired"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_after_a_fault_nothing_of_the_reply_ran_and_every_call_has_one_result(
    server: StandIn, name: str
) -> None:
    peel = says("Ja.", Use("Potato_peel", {"Potato": "Potato#1"}))
    cut = says(*(Use("Potato_slice", {"Potato": "Potato#2", "shape": s}) for s in SHAPES))
    with a_model(server) as model:
        session = kitchen_session(model)
        server.turns += [peel, FAULTS[name](cut)]
        with pytest.raises(ModelError) as problem:
            session.tell("Cut it.")
        assert "\n" not in str(problem.value)
        assert name != "silent" or server.stalled.wait(60)
        assert [call.tool for call in session.calls] == ["Potato_peel"]
        server.turns += [cut, says("Cut."), says("Enough.")]
        session.run()
    assert [call.status for call in session.calls] == ["succeeded"] * 3
    messages = server.asked[-1].body["messages"]
    asked = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert asked == answered == [call.id for call in session.calls]
    assert server.refused == []


SHAPES = ("STICKS", "SLICES")


def kitchen_session(model: OpenAI) -> Session:
    return Session(
        kitchen(),
        model,
        scheme="flat",
        inputs={"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()},
        approve="all",
    )


def heard(model: OpenAI) -> Reply | str:
    """Return the reply, or the one line that stands for it."""
    try:
        return model(GO)
    except ModelError as error:
        return str(error)


def told(reply: Reply) -> tuple[str, str, list[Any]]:
    """Return what a reply says, but for ids, which are always new, and tokens."""
    return reply.text, reply.stop, [(call.tool, call.arguments) for call in reply.calls]
