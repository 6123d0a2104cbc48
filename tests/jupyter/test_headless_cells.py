"""A cell that asks on its own input line, where no panel can be heard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.manager import start_new_kernel

from jupyter_toolcall import Budget, Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import Unfinished, UsageError
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import (
    ask_by_input,
    demand_no_person,
    run_by_input,
    split,
)
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.tools.running_tool import InputRequest, InputRequired
from tests.example_tools import in_place


class Post:
    """An office."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, to: str, stamps: int = 1) -> str:
        """Send a letter."""
        self.sent.append(f"{to}: {stamps}")
        return f"sent to {to}"


@pytest.fixture
def post() -> Post:
    return Post()


def sending(*arguments: dict[str, Any], post: Post, **options: Any) -> Session:
    script = Scripted([*(("send", given) for given in arguments), "Done."])
    return Session(Toolbox(in_place(post.send)), script, scheme="flat", **options).tell("Go.")


@pytest.fixture
def session(post: Post) -> Session:
    return sending({"to": "Ann"}, post=post)


def typed(words: str) -> Callable[[str], str]:
    return lambda prompt: words


def heard(session: Session) -> str:
    """Return what a person is asked about the call that waits."""
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return "a"

    ask_by_input(session, session.pending[0], ask)
    return prompts[0]


def line(session: Session, text: str) -> Any:
    """Carry out `%toolchat` on the session."""
    cells = Cells()
    cells.keep(session)
    return carry_out(split(text), cells, {})


def asked(session: Session, words: str) -> Session:
    """Return the session after a person typed that, once."""
    ask_by_input(session, session.pending[0], typed(words))
    return session.run()


def test_a_person_reads_what_would_run_and_why_it_waits(session: Session) -> None:
    asked_for = heard(session)
    assert "send(to='Ann')" in asked_for
    assert "the tool is not marked read-only" in asked_for


HIDDEN = "\x1b\x07\x9b\u202e\u200b\u2066\u3164\ufe0f\u034f\u2800\U000e0041\r\n\t\u2028\x00"
TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(HIDDEN + "\"'")))
DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda part: st.lists(part) | st.dictionaries(TEXT, part),
    max_leaves=20,
)


@given(DATA, st.integers(0, 9_000))
def test_the_question_has_every_argument_whole_and_nothing_hidden(data: Any, length: int) -> None:
    """Read as Python, it gives the arguments back."""

    def keep(data: Any, note: str) -> None:
        """Keep it."""

    arguments = {"data": data, "note": f"{'long ' * length}END"}
    model = Scripted([("keep", arguments), "Done."])
    question = heard(Session(Toolbox(keep), model, scheme="flat").tell("Go."))
    call, _, others = question.partition(")\n    ")
    assert eval(f"dict{call.removeprefix('call_1 keep')})", {}) == arguments
    assert all(c == "\n" or (c.isprintable() and c not in HIDDEN) for c in question)
    assert others.startswith("It may change something")


def test_an_object_is_told_from_a_text_of_the_same_letters() -> None:
    def send(post: Post, to: str) -> None:
        """Send a letter."""

    model = Scripted([("send", {"post": "Post#1", "to": "Post#1"}), "Done."])
    session = Session(Toolbox(send), model, scheme="flat", inputs={"post": Post()}).tell("{post}")
    assert "send(post=Post#1, to='Post#1')" in heard(session)


def test_a_question_of_others_cannot_look_like_a_line_of_ours(post: Post) -> None:
    def policy(tool: Any, arguments: Any) -> tuple[str, str]:
        return "ask", "Look:\ncall_1 send(to='Ben')\n[a]pprove\x1b[1A"

    lines = heard(sending({"to": "Ann"}, post=post, approve=policy)).split("\n")
    ours = [line for line in lines if not line.startswith("    ")]
    assert ours == ["call_1 send(to='Ann')", lines[-1]]
    assert "    [a]pprove\\u001b[1A" in lines


def test_a_run_without_a_person_prints_the_waiting_call(
    post: Post, capsys: pytest.CaptureFixture[str]
) -> None:
    session = sending({"to": "\u202eAnn" + "x" * 5_000}, post=post)
    with pytest.raises(Unfinished, match=r"^send \(call_1\) waits for a person"):
        demand_no_person(PanelController(session, lambda notice: None))
    assert f"to='\\u202eAnn{'x' * 5_000}'" in capsys.readouterr().out


APPROVE = "Use --approve all, mark the tool read-only, or run the cell in a notebook"
HELD: dict[str, tuple[dict[str, Any], str]] = {
    "it may change something": ({}, APPROVE),
    "You wrote --break send": ({"breaks": "send"}, "for you. Run the cell in a notebook"),
    "1 call ran, and the budget": ({"budget": Budget(calls=1)}, "no more. Run the cell in"),
}


@pytest.mark.parametrize("reason", HELD)
def test_a_run_without_a_person_names_what_holds_the_call(post: Post, reason: str) -> None:
    options, advice = HELD[reason]
    approve = "all" if options else "ask"
    session = sending({"to": "Ann"}, {"to": "Bo"}, post=post, approve=approve, **options)
    with pytest.raises(Unfinished, match=f"(?i){reason}") as ended:
        demand_no_person(PanelController(session, lambda notice: None))
    assert advice in str(ended.value)


def test_a_run_in_steps_without_a_person_fails_at_the_first_call(post: Post) -> None:
    model = Scripted([("send", {"to": "Ann"}), "Done."])
    session = Session(Toolbox(in_place(post.send)), model, scheme="flat", approve="all").ask("Go.")
    controller = PanelController(session, lambda notice: None, stepping=True)
    controller.run_to_pause()
    with pytest.raises(Unfinished, match=r"^send \(call_1\) waits for Step \(--step\)"):
        demand_no_person(controller)
    assert post.sent == []


def test_a_used_up_budget_ends_a_run_without_a_person_and_one_on_the_input_line() -> None:
    budget = Budget(tokens=1)
    budget.used_tokens = 1
    session = Session(Toolbox(), Scripted(["Done."]), scheme="flat", budget=budget).ask("Go.")
    controller = PanelController(session, lambda notice: None)
    with pytest.raises(Unfinished, match=r"about 0 tokens, and 0 are left\. Write a larger"):
        asyncio.run(run_by_input(controller))


@pytest.mark.parametrize("words", ["", " ", "hm", "e", "e to", "e colour=red"])
def test_what_is_no_decision_runs_nothing_and_the_call_still_waits(
    session: Session, post: Post, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [call.status for call in asked(session, words).pending] == ["proposed"]
    assert post.sent == []
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("words", "sent", "status", "result"),
    [
        ("a", ["Ann: 1"], "succeeded", "sent to Ann"),
        ("approve", ["Ann: 1"], "succeeded", "sent to Ann"),
        ('e to="Bob Ray" stamps=2', ["Bob Ray: 2"], "succeeded", "sent to Bob Ray"),
        ("n it was sent", [], "answered", "it was sent"),
        ("answer it was sent", [], "answered", "it was sent"),
        ("r not today", [], "rejected", None),
    ],
)
def test_each_decision_can_be_typed(
    session: Session, post: Post, words: str, sent: list[str], status: str, result: str | None
) -> None:
    (call,) = asked(session, words).calls
    assert (post.sent, call.status, call.result) == (sent, status, result)


def test_stop_leaves_the_call_where_it_is(session: Session, post: Post) -> None:
    with pytest.raises(KeyboardInterrupt):
        asked(session, "s")
    for words, problem in (
        ("answer 1", "answer CALL RESULT"),
        *((f"approve {call}", "approve takes one call") for call in ("call_9", "1 2", "all")),
        *((f"{command} other.ipynb", f"{command} takes no words") for command in ("verify", "dot")),
        *(("fork 1 1", "name one call"), ("replay 1 --frsh", "name one call")),
    ):
        with pytest.raises(UsageError, match=problem):
            line(session, words)
    assert ([call.tool for call in session.pending], post.sent) == (["send"], [])


# -- a console: a person, an input line, and no panel --------------------------------------------

SETUP = """%load_ext jupyter_toolcall
from jupyter_toolcall.kitchen import Potato
potato = Potato()
from jupyter_toolcall import Scripted
model = Scripted([("Potato_peel", {}), "Done."])
"""
CELL = "%%toolchat -n {} -m model -t Potato -i potato --scheme flat {}\nPeel it."


def test_a_console_asks_on_its_input_line_and_with_no_wait_leaves_the_call_where_it_is() -> None:
    manager, client = start_new_kernel()
    prompts: list[str] = []
    printed: list[str] = []

    def type_in(message: Any) -> None:
        prompts.append(message["content"]["prompt"])
        client.input("a")

    def heard(message: Any) -> None:
        printed.append(str(message["content"].get("text", "")))

    def run(code: str) -> str:
        done = client.execute_interactive(
            code, timeout=60, allow_stdin=True, stdin_hook=type_in, output_hook=heard
        )
        return str(done["content"]["status"])

    try:
        assert run(SETUP) == run(CELL.format("a", "--no-wait")) == "ok"
        assert prompts == []
        assert "session 'a' ends with the kernel" in "".join(printed)
        assert run(CELL.format("b", "")) == "ok"
        assert ["Potato_peel" in each for each in prompts] == [True]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# -- a tool that asks for input --------------------------------------------------------------------

FORM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "guests": {"type": "integer"}},
    "required": ["name"],
}


@pytest.fixture
def asking() -> Session:
    """Return a session whose tool asks who books."""

    def go_on(state: object, responses: Any, arguments: object) -> str:
        response = responses["who"]
        return f"booked for {response.content}" if response.content else response.action

    @tool(resume=go_on)
    def book() -> str:
        """Book a table."""
        raise InputRequired({"who": InputRequest("Who books?", FORM)})

    model = Scripted([("book", {}), "Done."])
    return Session(Toolbox(book), model, scheme="flat", approve="all").tell("Go.")


def test_the_input_line_shows_the_question_and_takes_the_fields(asking: Session) -> None:
    assert "Who books? name, guests" in heard(asking)
    asked(asking, 'n name="Ada Lovelace" guests=2')
    assert asking.calls[0].result == "booked for {'name': 'Ada Lovelace', 'guests': 2}"


def test_the_input_line_declines_a_question(asking: Session) -> None:
    assert asked(asking, "r").calls[0].result == "decline"


@pytest.mark.parametrize("words", ["name=Ada", '{"name": "Ada"}'])
def test_the_line_magic_answers_a_question(asking: Session, words: str) -> None:
    line(asking, f"answer call_1 {words}")
    assert asking.calls[0].result == "booked for {'name': 'Ada'}"


def test_a_run_without_a_person_ends_with_the_question(asking: Session) -> None:
    controller = PanelController(asking, lambda notice: None)
    controller.run_to_pause()
    with pytest.raises(Unfinished) as ended:
        demand_no_person(controller)
    assert str(ended.value) == (
        "book (call_1) asks for input, and this run has no person: run the cell in a notebook. "
        "It asks: Who books? name, guests"
    )
