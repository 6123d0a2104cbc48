"""A reply that was cut off is asked for again, whatever the model, and nothing of it ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.models import Reply, Request
from jupyter_toolcall.models.named import model_named
from jupyter_toolcall.models.recorded import Recording
from jupyter_toolcall.models.retrying import Patience
from jupyter_toolcall.schemes.messages import Attempt
from jupyter_toolcall.view.contract_rows import SessionRow
from jupyter_toolcall.view.view_rows import ViewRows
from tests.example_tools import in_place
from tests.standin.anthropic_api import StandIn as ClaudeServer
from tests.standin.model_api import StandIn
from tests.standin.turns import Use, says

LENGTH = "the reply was too long and was cut off; nothing of it ran"
STREAM = "the model's reply was cut off before its end"
SAID = "[The reply was longer than it may be, and ends here. Its calls did not run: peel.]"


class Kitchen:
    """A tool that keeps what it did, and what is seen of the waits."""

    def __init__(self) -> None:
        self.peeled: list[str] = []
        self.slept: list[float] = []
        self.notices: list[str] = []
        self.patience = Patience(tries=3, sleep=self.slept.append, chance=lambda: 0)

    def peel(self, potato: str) -> str:
        """Peel a potato."""
        self.peeled.append(potato)
        return "peeled"

    def session(self, model: Any, scheme: str = "flat") -> Session:
        return Session(Toolbox(in_place(self.peel)), model, scheme=scheme, approve="all").ask(
            "Peel it."
        )


class Cook:
    """A model that is a function of ours: it replies from a list, whatever is asked."""

    def __init__(self, patience: Patience, *replies: Reply) -> None:
        self.patience = patience
        self.replies = list(replies)
        self.asked: list[int] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request.cut_off)
        return self.replies.pop(0)


PEEL = Call("c1", "peel", {"potato": "a"})
HALF = Reply("I begin", (PEEL,), "length", Usage(10, 5, 4, 2))
WHOLE = Reply("I peel.", (PEEL,), "tools", Usage(10, 3, 8, 1))
DONE = Reply("Done.")


HALVES = {
    "length": says("I begin", Use("peel", {"potato": "a"}), stop="length"),
    "stream": says("I begin", Use("peel", {"potato": "a"}), cut=500),
}


@pytest.mark.parametrize("fault", ["length", "stream"])
def test_it_is_asked_for_again_and_nothing_of_it_ran(api: StandIn, fault: str) -> None:
    kitchen, call = Kitchen(), Use("peel", {"potato": "a"})
    api.turns += [*[HALVES[fault]] * 2, says("I peel.", call), says("Done.")]
    with api.model(patience=kitchen.patience, on_wait=kitchen.notices.append) as model:
        session = kitchen.session(model).run()
    assert (session.text, kitchen.peeled, api.refused) == ("Done.", ["a"], [])
    assert kitchen.slept == [1, 2]
    first, second = ViewRows().whole(session.cursor, SessionRow()).turns
    problem = LENGTH if fault == "length" else STREAM
    assert [each.startswith(problem) for each in first.attempts] == [True, True]
    assert [each.rpartition("; ")[2] for each in first.attempts] == ["waited 1 s", "waited 2 s"]
    assert second.attempts == ()
    assert [each.rpartition("; ")[2] for each in kitchen.notices] == [
        "asked again in 1 s (2 of 3)",
        "asked again in 2 s (3 of 3)",
    ]


def test_a_model_of_ones_own_is_asked_again_too_and_what_all_replies_used_is_counted() -> None:
    kitchen = Kitchen()
    model = Cook(kitchen.patience, HALF, WHOLE, DONE)
    session = kitchen.session(model)
    session.cursor.context.on_wait = kitchen.notices.append
    session.run()
    assert (session.text, kitchen.peeled, kitchen.slept) == ("Done.", ["a"], [1])
    assert model.asked == [0, 1, 0]
    assert session.requests[0].attempts == (Attempt(LENGTH, 1),)
    assert session.requests[0].usage == Usage(20, 8, 12, 3)
    assert kitchen.notices == [f"{LENGTH}; asked again in 1 s (2 of 3)"]


def test_a_model_of_ones_own_that_is_always_cut_off_ends_its_turn_with_one_line() -> None:
    kitchen = Kitchen()
    session = kitchen.session(Cook(kitchen.patience, HALF, HALF, HALF, DONE)).run()
    assert session.text == f"I begin\n\n{SAID} (asked 3 times)"
    assert kitchen.peeled == []
    row = ViewRows().whole(session.cursor, SessionRow()).messages[-1]
    assert (row.role, row.text) == ("assistant", f"{SAID} (asked 3 times)")
    assert session.tell("Less, please.").text == "Done."


def test_calls_that_were_written_as_xml_and_cut_off_do_not_run() -> None:
    call = '<tool-calls><tool-call tool="peel" function="peel"></tool-call>'
    kitchen = Kitchen()
    half = Reply(f"I begin.\n{call}", stop="length")
    session = kitchen.session(Cook(kitchen.patience, half, half, half), "native").run()
    assert session.text.startswith("I begin.\n\n[The reply was longer than it may be")
    assert (session.calls, kitchen.peeled) == ((), [])


@pytest.mark.parametrize(
    ("name", "most", "limits"),
    [
        ("claude-opus-5-5", 20_000, [20_000, 40_000, 64_000]),
        ("claude-opus-4-1", None, [32_000, 32_000, 32_000]),
    ],
)
def test_claude_may_write_twice_as_much_each_time_up_to_what_its_models_can(
    name: str, most: int | None, limits: list[int]
) -> None:
    kitchen, server = Kitchen(), ClaudeServer()
    server.turns += [*[says("I begin", stop="length")] * 2, says("Done.")]
    options: Any = {"max_tokens": most} if most else {}
    with server.model(name, patience=kitchen.patience, **options) as model:
        assert kitchen.session(model).run().text == "Done."
    assert [asked.body["max_tokens"] for asked in server.asked] == limits


def test_a_recording_keeps_the_last_reply_and_repeats_it_without_waiting(tmp_path: Path) -> None:
    kitchen = Kitchen()
    file = tmp_path / "cut.jsonl"
    model = Recording(Cook(kitchen.patience, HALF, HALF, HALF), file)
    text = kitchen.session(model).run().text
    assert kitchen.slept == [1, 2]
    again = kitchen.session(model_named(f"recorded:{file}")).run()
    assert (again.text, kitchen.slept) == (text, [1, 2])


@pytest.mark.parametrize("scheme", ["flat", "native"])
def test_an_unknown_stop_reason_with_calls_is_an_error_that_says_so(scheme: str) -> None:
    kitchen = Kitchen()
    model = Cook(kitchen.patience, Reply("I peel.", (PEEL,), "tool_use"), WHOLE, DONE)
    session = kitchen.session(model, scheme)
    entries = len(session.journal)
    with pytest.raises(ModelError, match=r"^the model stopped for an unknown reason, 'tool_use'"):
        session.run()
    assert (len(session.journal), kitchen.peeled) == (entries, [])
    assert session.run().text == "Done."
    assert kitchen.peeled == ["a"]


def test_an_unknown_stop_reason_without_calls_ends_the_turn() -> None:
    kitchen = Kitchen()
    session = kitchen.session(Cook(kitchen.patience, Reply("Well.", stop="tired"))).run()
    assert session.text == "Well."


@pytest.mark.parametrize("stop", ["refused", "context", "paused"])
def test_nothing_of_a_reply_runs_that_did_not_come_to_its_end(stop: str) -> None:
    kitchen, reply = Kitchen(), Reply("half", (PEEL,), stop)
    session = kitchen.session(Cook(Patience(tries=1), *[reply] * 3)).step()
    assert (session.calls, kitchen.peeled) == ((), [])
    assert session.text.splitlines()[0] == "half"
