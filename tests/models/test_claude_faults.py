"""Claude over real HTTP, where something goes wrong: one line, and nothing half."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anthropic
import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.schemes.messages import Reply
from tests.example_tools import in_place
from tests.examples import FACTOR
from tests.models.doubtful_arguments import DOUBTFUL
from tests.standin.anthropic_api import StandIn
from tests.standin.anthropic_memory import in_memory
from tests.standin.anthropic_turns import Hide, Think, Turn, Use, encode, says
from tests.standin.talk import KEY, NEWEST, a_claude, a_tool, answered, asked

PEEL = a_tool("Potato_peel", "Peel a potato.", potato="string")
GO = asked("Go.", PEEL)
AGAIN = "run again to continue"
START = {"type": "message_start", "message": {"usage": {"input_tokens": 1}}}
END = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}
STOP = {"type": "message_stop"}

PEELED = Use("peel", {"potato": "Potato#1"})
RECORDED = {
    "one call": says("Peeling.", PEELED),
    "thinking and parallel calls": says(
        Think("Zwei Stück 🥔."), Use("peel", {"potato": "1"}), Use("cut", {"pieces": 2})
    ),
    "text alone": says("Fertig: «Fries#1» 🍟."),
    "hidden thinking and a call in many pieces": says(
        Hide("b3BhcXVl"), Use("peel", {"potato": [1, None, "é"]}), piece=9
    ),
    "calls alone, without arguments": says(Use("wait"), Use("wait", raw="")),
    "arguments in depth": says(Use("peel", {"potato": {"a": [{"b": [[1.5, True]]}]}})),
    "escapes and lines": says("a\n\ndata: b\r\n", Use("peel", {"potato": '\u2028\\"\n\0'})),
    "thinking between calls": says(Think("a"), PEELED, Think("b"), Use("wait"), "and?"),
    "cut off by its length": says("I begin", PEELED, stop="max_tokens"),
    "a refusal": says("I beg", stop="refusal", explanation="Not this."),
    "an empty reply": says(),
    "a doubtful call beside a good one": says(Use("peel", raw='{"potato": NaN}'), Use("wait")),
}


class Kitchen:
    """Tools that keep what they did, and a session on them."""

    def __init__(self, model: Claude) -> None:
        self.ran: list[str] = []
        tools = Toolbox(in_place(self.peel), in_place(self.cut), in_place(self.wait))
        self.session = Session(tools, model, scheme="flat", approve="all").ask("Go.")

    def peel(self, potato: Any) -> str:
        self.ran.append("peel")
        return "peeled"

    def cut(self, pieces: int) -> str:
        self.ran.append("cut")
        return "cut"

    def wait(self) -> str:
        self.ran.append("wait")
        return "waited"


@pytest.mark.parametrize("name", RECORDED)
def test_a_stream_cut_at_any_byte_is_an_error_or_the_whole_reply(name: str) -> None:
    turn, api = RECORDED[name], StandIn(key=KEY)
    with in_memory(api) as model:
        whole = _whole(api, model, turn)
        stream, cut, kitchen = api.streams[0], 0, Kitchen(model)
        # All places in `make test-long`; else every seventh, and all of the last event.
        end = len(stream) if FACTOR == 1 else 0
        places = sorted({*range(0, end, 7), *range(max(end - 60, 0), len(stream) + 1)})
        for place in places:
            # Half of the cuts end the HTTP body properly, half break it off.
            api.turns = [Turn(raw=stream[:place], hard=place % 2 == 0), says("ok")]
            problem = _ran(kitchen)
            if problem:
                cut += 1
                assert AGAIN in problem
                assert "\n" not in problem
                assert (kitchen.ran, kitchen.session.calls) == ([], ())
            else:
                assert _came_to(kitchen) == whole
                kitchen = Kitchen(model)
            api.asked.clear()
        # Only the blank line behind the last event may be missing.
        assert cut >= len(places) - 3
        assert _whole(api, model, turn) == whole
    assert api.refused == []


def _ran(kitchen: Kitchen) -> str:
    """Run a session on, and return the one line that stands for what went wrong."""
    try:
        kitchen.session.run()
    except ModelError as error:
        return str(error)
    return ""


Came = tuple[list[str], list[tuple[str, str]], str]


def _whole(api: StandIn, model: Claude, turn: Turn) -> Came:
    api.turns = [turn, says("ok")]
    kitchen = Kitchen(model)
    kitchen.session.run()
    return _came_to(kitchen)


def _came_to(kitchen: Kitchen) -> Came:
    """Return what ran, what each call came to, and what was said last."""
    calls: list[tuple[str, str]] = [(call.tool, call.status) for call in kitchen.session.calls]
    return kitchen.ran, calls, str(kitchen.session)


def test_a_cut_of_a_real_connection_is_the_same(server: StandIn) -> None:
    turn = says(Think("Zwei Stück 🥔."), "Peeling.", Use("Potato_peel", {"potato": "1"}))
    server.turns.append(turn)
    with a_claude(server) as model:
        whole = model(GO)
        length = len(server.streams[0])
        places = [*range(0, length - 2, 61), length - 3, length - 2, length]
        server.turns += [replace(turn, cut=p, hard=n % 2 == 0) for n, p in enumerate(places)]
        outcomes = [_outcome(model) for _ in places]
    assert all(isinstance(outcome, str) and AGAIN in outcome for outcome in outcomes[:-3])
    assert isinstance(outcomes[-1], Reply)
    assert _same(outcomes[-1], whole)
    assert server.refused == []


def test_a_stream_that_comes_byte_by_byte_is_read(server: StandIn) -> None:
    server.turns.append(replace(RECORDED["thinking and parallel calls"], drip=1))
    with a_claude(server) as model:
        reply = model(GO)
    assert [call.arguments for call in reply.calls] == [{"potato": "1"}, {"pieces": 2}]
    assert reply.thought == "Zwei Stück 🥔."


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500, 503, 529])
def test_each_status_is_one_line_that_names_it_and_the_session_continues(
    server: StandIn, status: int
) -> None:
    server.turns += [says(status=status, message="Just\nso."), says("here")]
    with a_claude(server) as model:
        problem = _outcome(model)
        assert isinstance(problem, str)
        assert f"({status})" in problem
        assert "Just so." in problem
        assert "\n" not in problem
        assert model(GO).text == "here"


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (401, "ANTHROPIC_API_KEY"),
        (403, NEWEST),
        (404, "check the name"),
        (429, AGAIN),
        (529, AGAIN),
    ],
)
def test_a_status_says_what_to_do(server: StandIn, status: int, remedy: str) -> None:
    server.turns.append(says(status=status))
    with a_claude(server) as model:
        assert remedy in str(_outcome(model))


@pytest.mark.parametrize("after", range(10))
def test_an_error_event_at_any_place_is_one_line(server: StandIn, after: int) -> None:
    broken = replace(RECORDED["one call"], breaks_after=after)
    server.turns += [broken, says("here")]
    with a_claude(server) as model:
        problem = str(_outcome(model))
        assert "overloaded_error: Overloaded" in problem
        assert AGAIN in problem
        assert model(GO).text == "here"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>Bad gateway</html>",
        b"event: message_start\ndata: {nonsense\n\n",
        b"event: message_start\ndata: [1]\n\n",
        b'event: x\ndata: {"type": "message_start", "n": NaN}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"data: \xff\xfe\n\n",
        encode(STOP),
        encode(END) + encode(STOP),
        encode(START) + encode(STOP),
        encode(START) + encode(START),
        encode(START) + encode(END | {"delta": {"stop_reason": None}}) + encode(STOP),
        encode(START) + encode(END | {"delta": {"stop_reason": "tired"}}) + encode(STOP),
    ],
)
def test_a_bad_stream_is_one_line_and_the_session_continues(server: StandIn, raw: bytes) -> None:
    server.turns += [Turn(raw=raw), says("here")]
    with a_claude(server) as model:
        problem = _outcome(model)
        assert isinstance(problem, str)
        assert AGAIN in problem
        assert "\n" not in problem
        assert model(GO).text == "here"


def _block(index: int, **block: object) -> bytes:
    return encode({"type": "content_block_start", "index": index, "content_block": block})


def _delta(index: int, **delta: object) -> bytes:
    return encode({"type": "content_block_delta", "index": index, "delta": delta})


def _close(index: int) -> bytes:
    return encode({"type": "content_block_stop", "index": index})


USE = {"type": "tool_use", "id": "a", "name": "Potato_peel", "input": {}}


@pytest.mark.parametrize(
    "middle",
    [
        _delta(0, type="text_delta", text="no block is open"),
        _block(1, **USE) + _close(1),
        _block(0, **USE) + _block(1, **USE) + _close(1),
        _block(0, **USE),
        _block(0, **USE) + _close(1),
        _block(0, **USE) + _delta(0, type="text_delta", text="in a call") + _close(0),
        _block(0, **USE) + _delta(0, type="input_json_delta", partial_json=None) + _close(0),
        _block(0, **USE) + _delta(0, type="unheard_of") + _close(0),
        _block(0, type="tool_use", name="Potato_peel", input={}) + _close(0),
        _block(0, type="text") + _close(0),
        _block(0, type=None) + _close(0),
        _block(0, **USE) + _close(0) + _block(1, **USE) + _close(1),
        _block(0, **USE) + _close(0) + encode(END) + _block(1, **USE | {"id": "b"}) + _close(1),
        _block(0, **USE, number=float("nan")) + _close(0),
    ],
)
def test_events_that_do_not_fit_are_never_mended_into_a_call(
    server: StandIn, middle: bytes
) -> None:
    server.turns.append(Turn(raw=encode(START) + middle + encode(END) + encode(STOP)))
    with a_claude(server) as model:
        assert AGAIN in str(_outcome(model))


def test_half_a_character_becomes_one_that_can_be_stored(server: StandIn) -> None:
    texts = [b'"\\ud83e"', b'"\\udd54 and \\ud83e."']
    pieces = [_delta(0, type="text_delta", text="TEXT").replace(b'"TEXT"', text) for text in texts]
    text = _block(0, type="text", text="") + b"".join(pieces) + _close(0)
    server.turns.append(Turn(raw=encode(START) + text + encode(END) + encode(STOP)))
    heard: list[str] = []
    with a_claude(server, on_text=heard.append) as model:
        reply = model(GO)
    assert reply.text == "🥔 and \N{REPLACEMENT CHARACTER}."
    assert json.dumps([reply.raw, heard], ensure_ascii=False).encode()


def test_events_of_types_yet_unknown_are_passed_over(server: StandIn) -> None:
    new = encode({"type": "weather", "sun": True}) + b": a comment\n\n"
    call = _block(0, **USE) + _close(0)
    server.turns.append(Turn(raw=new + encode(START) + call + new + encode(END) + encode(STOP)))
    with a_claude(server) as model:
        assert [call.id for call in model(GO).calls] == ["a"]


@pytest.mark.parametrize(("raw", "why"), DOUBTFUL, ids=lambda text: text[:24])
def test_arguments_that_are_doubtful_make_a_broken_call_and_the_model_is_told(
    server: StandIn, raw: str, why: str
) -> None:
    good = Use("Potato_peel", {"potato": "Potato#1"})
    server.turns += [says(Use("Potato_peel", raw=raw), good, piece=100_000), says("sorry")]
    with a_claude(server) as model:
        reply = model(GO)
        broken, fine = reply.calls
        assert why in broken.broken
        assert len(broken.broken) < 300
        assert (broken.arguments, fine.arguments) == ({}, {"potato": "Potato#1"})
        assert fine.broken == ""
        assert len(json.dumps(reply.raw)) < 2000
        assert model(answered(GO, reply, broken.broken, "Potato#2")).text == "sorry"
    assert server.refused == []


def test_arguments_at_the_limits_are_read(server: StandIn) -> None:
    deep = '{"potato": ' + "[" * 63 + "]" * 63 + "}"
    long = '{"potato": "' + "x" * (1_000_000 - 14) + '"}'
    odd = '{"__proto__": {"constructor": "\\u0000\\u202e"}, "n": -0.0}'
    calls = [Use("Potato_peel", raw=raw) for raw in (deep, long, odd)]
    server.turns.append(says(*calls, piece=50_000))
    with a_claude(server) as model:
        reply = model(GO)
    assert [call.broken for call in reply.calls] == ["", "", ""]
    given = [json.loads(raw) for raw in (deep, long, odd)]
    assert [call.arguments for call in reply.calls] == given


def test_no_server_is_one_line(server: StandIn) -> None:
    with a_claude(server) as model:
        server.__exit__(None, None, None)
        problem = str(_outcome(model))
    assert "connection to the API failed" in problem
    assert AGAIN in problem


def test_a_server_that_stalls_ends_at_the_timeout(server: StandIn) -> None:
    server.turns.append(replace(RECORDED["one call"], cut=300, hard=True, stalls=True))
    read_alone = anthropic.Timeout(60, read=0.2)
    with anthropic.Anthropic(api_key=KEY, base_url=server.url, timeout=read_alone) as client:
        problem = str(_outcome(Claude(NEWEST, client=client)))
    assert "did not answer in time" in problem
    assert AGAIN in problem
    assert server.left.wait(10)


def test_what_the_listener_raises_passes_through(server: StandIn) -> None:
    def fail(text: str) -> None:
        raise ValueError("the panel is gone")

    server.turns.append(says("text"))
    with a_claude(server, on_text=fail) as model, pytest.raises(ValueError, match="the panel"):
        model(GO)


def _outcome(model: Claude) -> Reply | str:
    """Return the reply, or the one line that stands for it."""
    try:
        return model(GO)
    except ModelError as error:
        return str(error)


def _same(reply: Reply, whole: Reply) -> bool:
    """Say whether a reply is the whole one, but for the ids, which are always new."""
    return [call.arguments for call in reply.calls] == [
        call.arguments for call in whole.calls
    ] and (reply.text, reply.stop) == (whole.text, whole.stop)
