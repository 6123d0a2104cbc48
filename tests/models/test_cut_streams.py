"""A stream that is cut at any byte: an error in one line, or the whole reply."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jupyter_toolcall.schemes.messages import Reply, Request, User
from tests.examples import FACTOR
from tests.models.conftest import PROVIDERS
from tests.standin.model_api import StandIn
from tests.standin.talk import outcome_of
from tests.standin.turns import Hide, Think, Turn, Use, says

GO = Request("", (), (User("Go."),))
AGAIN = "run again to continue"
PEELED = Use("peel", {"potato": "Potato#1"})
TURNS = {
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
    "cut off by its length": says("I begin", PEELED, stop="length"),
    "a refusal": says("I beg", stop="refused", explanation="Not this."),
    "an empty reply": says(),
    "a doubtful call beside a good one": says(Use("peel", raw='{"potato": NaN}'), Use("wait")),
}
TWO = (Use("peel", {"n": "Zwei 🥔"}), Use("peel", {"n": [1, {"é": None}]}))
DIALECTS = ("whole", "zero", "unnumbered pieces", "names again", "stop", "json", "crlf")
CHAT_TURNS = {
    **TURNS,
    "a refusal in a field of its own": says(refusal="Nein 🍟."),
    **{name: says("Ja.", *TWO, dialect=name, piece=5) for name in DIALECTS},
}


def content(reply: Reply) -> tuple[Any, ...]:
    """Return what a reply says, but for ids, which are always new, and tokens."""
    calls = [(call.tool, call.arguments, call.broken) for call in reply.calls]
    return reply.text, reply.thought, reply.stop, calls


def check_cut(provider: str, outcome: Reply | str, whole: Reply, missing: bytes) -> None:
    """Check the outcome of a stream that was cut: all of the reply, or one line."""
    if isinstance(outcome, str):
        assert AGAIN in outcome
        assert "\n" not in outcome
        return
    assert content(outcome) == content(whole)
    if provider == "anthropic":
        # Only the blank line behind the last event may be missing.
        assert missing.strip() == b""
    else:
        # Only the count of tokens, and the goodbye, may be missing.
        assert b'"finish_reason": "' not in missing


@pytest.mark.parametrize(
    ("provider", "name"),
    [*(("anthropic", name) for name in TURNS), *(("openai", name) for name in CHAT_TURNS)],
)
def test_a_stream_cut_at_any_byte_is_an_error_or_the_whole_reply(provider: str, name: str) -> None:
    api = PROVIDERS[provider]([CHAT_TURNS[name]])
    with api.model() as model:
        whole = model(GO)
        stream = api.streams[0]
        # All places in `make test-long`; else every seventh, and all of the last event.
        end = len(stream) if FACTOR == 1 else 0
        places = sorted({*range(0, end, 7), *range(max(end - 60, 0), len(stream))})
        for place in places:
            # Half of the cuts end the HTTP body properly, half break it off.
            kind = {"dialect": CHAT_TURNS[name].dialect, "hard": place % 2 == 0}
            api.turns = [Turn(raw=stream[:place], **kind)]
            check_cut(provider, outcome_of(model, GO), whole, stream[place:])
    assert len(api.asked) == len(places) + 1 > 20
    assert api.refused == []


def test_a_cut_of_a_real_connection_is_the_same(server: StandIn) -> None:
    turn = TURNS["thinking and parallel calls"]
    server.turns.append(turn)
    with server.model() as model:
        whole = model(GO)
        stream = server.streams[0]
        for number, place in enumerate([*range(0, len(stream) - 2, 61), len(stream)]):
            server.turns.append(replace(turn, cut=place, hard=number % 2 == 0))
            check_cut(server.name, outcome_of(model, GO), whole, stream[place:])
    assert server.refused == []
