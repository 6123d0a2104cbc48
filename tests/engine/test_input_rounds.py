"""A tool asks the person for input: the call waits, goes on with the response, and runs no part
of itself twice."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.errors import CallError, NotYourTurn
from jupyter_toolcall.core.events import Decided, Started
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.secrets import MissingSecret
from jupyter_toolcall.engine.input_rounds import MOST_ROUNDS
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.storage.journal_file import journals_folder
from jupyter_toolcall.storage.signatures import signer
from jupyter_toolcall.tools.running_tool import (
    InputRequest,
    InputRequired,
    InputResponse,
    OutcomeUnknown,
    report_progress,
)
from jupyter_toolcall.view.view_rows import all_rows
from tests.example_tools import ask_calls, panel_of, results, run_calls

TEXT = {"type": "string", "minLength": 1}
GUESTS = {"type": "integer", "default": 2, "minimum": 1}
WHO = {"type": "object", "properties": {"name": TEXT, "guests": GUESTS}, "required": ["name"]}
ADA, YES = {"name": "Ada"}, {"sure": True}
SURE = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}


class Restaurant:
    """A tool that asks twice, and what of it ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.responses: list[InputResponse] = []

    def ask(self, day: str) -> str:
        self.ran.append(f"ask {day}")
        raise InputRequired({"who": InputRequest("Who books?", WHO)}, {"asked": 1})

    def resume(
        self, state: Any, responses: Mapping[str, InputResponse], arguments: Mapping[str, Any]
    ) -> str:
        response = responses["who"]
        self.ran.append(f"resume {state['asked']} {response.action}")
        self.responses.append(response)
        if response.action == "decline":
            return "not booked"
        if state["asked"] == 1:
            name = response.content["name"]
            raise InputRequired({"who": InputRequest("Sure?", SURE)}, {"asked": 2, "name": name})
        return f"{arguments['day']} for {state['name']}"

    def session(self, journal: Journal | None = None, approve: str = "all") -> Session:
        parameters = {"type": "object", "properties": {"day": TEXT}, "required": ["day"]}
        book = Tool("book", "Book a table.", parameters, self.ask, resume=self.resume)
        model = Scripted([("book", {"day": "Monday"}), "Done."])
        return Session(Toolbox(book), model, scheme="flat", approve=approve, journal=journal)

    def asked(self, approve: str = "all") -> Session:
        session = self.session(approve=approve).tell("Book.")
        return session if approve == "all" else session.decide("call_1").run()

    def answered(self, *results: Any) -> Session:
        """Return a session in which a person answered; the last answer has not run yet."""
        session = self.asked()
        for number, result in enumerate(results):
            session = (session.run() if number else session).decide(
                "call_1", "answer", result=result
            )
        return session

    def restarted(self, session: Session, own: bool = True) -> Session:
        """Return the session as another kernel reads it, on this machine or on another."""
        seal = signer(journals_folder())
        text = session.journal.dumps(seal if own else None)
        return self.session(Journal.loads(text, seal)).checkout(session.head)


def waiting(session: Session) -> list[tuple[str, str]]:
    return [(call.id, call.status) for call in session.pending]


@pytest.fixture
def restaurant() -> Restaurant:
    return Restaurant()


@pytest.mark.parametrize("approve", ["all", "ask"])
def test_a_call_asks_in_rounds_and_has_one_result(restaurant: Restaurant, approve: str) -> None:
    session = restaurant.asked(approve)
    for result in (ADA, YES):
        assert waiting(session) == [("call_1", "input required")]
        session.decide("call_1", "answer", result=result).run()
    assert session.calls[0].result == "Monday for Ada"
    assert restaurant.ran == ["ask Monday", "resume 1 accept", "resume 2 accept"]
    assert [json.loads(r.content) for r in results(session)] == [{"result": "Monday for Ada"}]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, {"name": "is missing"}),
        ({"name": "Ada", "guests": 0}, {"guests": "0 is less than the minimum of 1"}),
        (ADA | {"table": 1}, {"table": "there is no such argument; there are: name, guests."}),
        ("Ada", {}),
    ],
)
def test_an_answer_that_does_not_fit_the_form_is_refused_at_its_field(
    restaurant: Restaurant, fields: Any, wrong: dict[str, str]
) -> None:
    session = restaurant.asked()
    count = len(session.journal)
    with pytest.raises(CallError) as refused:
        session.decide("call_1", "answer", result=fields)
    assert refused.value.fields == wrong
    assert (len(session.journal), restaurant.ran) == (count, ["ask Monday"])


def test_late_double_and_forged_responses_are_refused_with_a_reason(restaurant: Restaurant) -> None:
    session = restaurant.asked()
    first = all_rows(session.cursor, "").calls[0].approval_digest
    with pytest.raises(NotYourTurn, match="has changed since it was shown"):
        session.decide("call_1", "answer", result=ADA, approval_digest="0" * 32)
    with pytest.raises(NotYourTurn, match="asks you for input"):
        session.decide("call_1", "approve")
    session.decide("call_1", "answer", result=ADA, approval_digest=first)
    with pytest.raises(NotYourTurn, match="responded to call call_1 already"):
        session.decide("call_1", "answer", result={"name": "Bo"})
    session.run()
    with pytest.raises(NotYourTurn, match="has changed since it was shown"):
        session.decide("call_1", "answer", result=YES, approval_digest=first)
    forged = Decided("call_1", "answer", round=1)
    with pytest.raises(NotYourTurn, match="round 1"):
        session.journal.append(session.head, forged)
    session.decide("call_1", "answer", result=YES).run()
    with pytest.raises(NotYourTurn, match="succeeded already"):
        session.decide("call_1", "answer", result=YES)
    assert len(restaurant.ran) == 3


def test_an_open_round_survives_a_restart_and_is_answered_there(restaurant: Restaurant) -> None:
    session = restaurant.asked()
    again = restaurant.restarted(session).replay().run()
    assert (again.head, waiting(again)) == (session.head, [("call_1", "input required")])
    again.decide("call_1", "answer", result=ADA)
    # The kernel dies before the tool goes on: the next one goes on with the response.
    assert waiting(restaurant.restarted(again).run()) == [("call_1", "input required")]
    assert restaurant.ran == ["ask Monday", "resume 1 accept"]


def test_a_kernel_that_dies_in_a_tool_leaves_an_unknown_outcome(restaurant: Restaurant) -> None:
    session = restaurant.answered(ADA)
    session.cursor.write(Started("call_1"))
    again = restaurant.restarted(session).run()
    assert waiting(again) == [("call_1", "unknown")]
    assert restaurant.ran == ["ask Monday"]
    # It starts over from its first round.
    again.decide("call_1", "approve").run()
    assert waiting(again) == [("call_1", "input required")]
    assert restaurant.ran == ["ask Monday", "ask Monday"]


def test_a_response_is_good_for_one_start_on_whatever_branch(restaurant: Restaurant) -> None:
    session = restaurant.answered(ADA)
    fork = session.fork()
    session.run()
    assert waiting(fork.run()) == [("call_1", "approved")]
    assert restaurant.ran == ["ask Monday", "resume 1 accept"]
    fork.decide("call_1", "answer", result={"name": "Bo"}).run()
    assert restaurant.ran[2:] == ["resume 1 accept"]


def test_an_edit_starts_over_from_the_first_round(restaurant: Restaurant) -> None:
    session = restaurant.answered(ADA).run()
    session.decide("call_1", "edit", arguments={"day": "Tuesday"}).run()
    assert waiting(session) == [("call_1", "input required")]
    assert len(session.pending[0].rounds) == 1
    session.decide("call_1", "answer", result={"name": "Bo"}).run()
    session.decide("call_1", "answer", result=YES).run()
    edited = session.edit("call_1", day="Friday").run()
    assert restaurant.ran[-1] == "ask Friday"
    assert waiting(edited) == [("call_1", "input required")]


def test_a_tool_may_ask_ten_times_and_not_more() -> None:
    def resume(state: int, responses: object, arguments: object) -> str:
        raise InputRequired({"more": InputRequest("More?")}, state + 1)

    @tool(resume=resume)
    def ask() -> str:
        raise InputRequired({"more": InputRequest("More?")}, 1)

    session = run_calls(ask, calls=[("ask", {})])
    for _ in range(MOST_ROUNDS):
        session.decide("call_1", "answer").run()
    assert session.calls[0].error == "ask asked for input 10 times, and asks again"


@pytest.mark.parametrize(
    ("request_", "resume", "reason"),
    [
        *(
            (InputRequest("Go.", url=url), str, "no plain address")
            for url in ("javascript:alert(1)", "https://good.example@bad.example/")
        ),
        *(
            (InputRequest("Go.", schema=schema), str, "cannot be shown")
            for schema in ({"type": "object", "properties": 3}, {"properties": {"x": object()}})
        ),
        (InputRequest("More?"), None, "ask asks for input, and has no `resume` that takes it"),
    ],
)
def test_a_question_that_cannot_be_shown_or_answered_fails_the_call(
    request_: InputRequest, resume: Any, reason: str
) -> None:
    @tool(resume=resume)
    def ask() -> str:
        raise InputRequired({"more": request_})

    assert reason in run_calls(ask, calls=[("ask", {})]).calls[0].error


def test_a_secret_in_a_response_reaches_the_tool_and_not_the_journal(
    restaurant: Restaurant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "tok-9f8e7d6c5b4a3210")
    session = restaurant.asked()
    session.decide("call_1", "answer", result={"name": "tok-9f8e7d6c5b4a3210"})
    monkeypatch.delenv("SHOP_TOKEN")
    with pytest.raises(MissingSecret, match="SHOP_TOKEN"):
        session.run()
    monkeypatch.setenv("SHOP_TOKEN", "tok-9f8e7d6c5b4a3210")
    session.run()
    assert restaurant.responses[0].content["name"] == "tok-9f8e7d6c5b4a3210"
    rows = repr(all_rows(session.cursor, ""))
    assert "tok-9f8e" not in session.journal.dumps()
    assert "tok-9f8e" not in rows


def test_rounds_are_replayed_verified_and_exported(restaurant: Restaurant, tmp_path: Path) -> None:
    session = restaurant.answered(ADA, YES).run()
    count, ran = len(session.journal), len(restaurant.ran)
    assert session.replay().run().head == session.head
    assert session.replay(fresh=True).run().head == session.head
    assert session.verify()
    assert (len(session.journal), len(restaurant.ran)) == (count, ran)
    script = session.export(tmp_path / "book.py").read_text()
    assert 'result_1 = "Monday for Ada"' in script
    namespace: dict[str, Any] = {}
    exec(script, namespace)
    assert namespace["result_1"] == "Monday for Ada"
    for ending in ("html", "json", "svg", "ipynb"):
        assert session.export(tmp_path / f"book.{ending}").read_text()


def test_the_rows_of_a_call_have_its_questions_and_then_its_answers(restaurant: Restaurant) -> None:
    session = restaurant.asked()
    row = all_rows(session.cursor, "").calls[0]
    assert (row.status, row.change) == ("input required", "Who books?")
    [question] = row.questions
    assert (question.message, dict(question.values)) == ("Who books?", {"guests": 2})
    session.decide("call_1", "answer", result=ADA).run()
    session.decide("call_1", "reject", reason="later").run()
    row = all_rows(session.cursor, "").calls[0]
    assert row.questions == ()
    assert (session.calls[0].result, restaurant.ran[-1]) == ("not booked", "resume 2 decline")
    assert row.notes == ("Who books? You: name Ada", "Sure? You declined.")


def test_a_panel_answers_by_question_and_is_refused_at_the_field(restaurant: Restaurant) -> None:
    controller, sent = panel_of(restaurant.asked())
    digest = all_rows(controller.session.cursor, "").calls[0].approval_digest
    answer = {"type": "answer", "call": "call_1", "approval_digest": digest}
    controller.receive({**answer, "result": {"who": {"guests": 3}}})
    controller.apply_commands()
    assert sent[-1].fields == {"name": "is missing"}
    controller.receive({**answer, "result": {"who": {"name": "Ada", "guests": 3}}})
    assert controller.apply_commands()
    controller.run_to_pause()
    assert restaurant.responses[0].content == {"name": "Ada", "guests": 3}


def test_the_program_that_runs_calls_itself_answers_and_continues(restaurant: Restaurant) -> None:
    session = restaurant.session(approve="none").ask("Book.").step()
    assert session.call_tool("call_1").status == "input required"
    with pytest.raises(NotYourTurn, match="asks for input"):
        session.call_tool("call_1")
    session.decide("call_1", "answer", result=ADA)
    assert session.call_tool("call_1").status == "input required"


# -- an unknown outcome, and progress -------------------------------------------------------------


def losing(idempotent: bool, ran: list[int]) -> Session:
    @tool(idempotent=idempotent)
    def pay(amount: int) -> str:
        ran.append(amount)
        raise OutcomeUnknown("the server stopped while the call ran")

    return run_calls(pay, calls=[("pay", {"amount": 3})])


def test_a_tool_that_does_not_know_its_outcome_says_why_and_does_not_run_again() -> None:
    ran: list[int] = []
    session = losing(False, ran)
    assert waiting(session) == [("call_1", "unknown")]
    assert waiting(session.run()) == [("call_1", "unknown")]
    warning = all_rows(session.cursor, "").calls[0].warning
    assert warning is not None
    assert "the server stopped while the call ran" in warning.text
    count = len(session.journal)
    assert session.replay().run().head == session.head
    assert (len(session.journal), ran) == (count, [3])
    session.decide("call_1", "reject", reason="I look myself.").run()
    told = str(session.requests[-1].request.messages[-1])
    assert "the server stopped while the call ran" in told
    assert "I look myself." in told


def test_an_idempotent_tool_runs_again_once_by_itself() -> None:
    ran: list[int] = []
    session = losing(True, ran)
    assert (waiting(session), ran) == ([("call_1", "unknown")], [3, 3])
    session.run().decide("call_1").run()
    assert (waiting(session), ran) == ([("call_1", "unknown")], [3, 3, 3])


def test_progress_is_shown_from_tasks_and_threads_until_the_call_ends_and_not_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "tok-9f8e7d6c5b4a3210")
    late, sent = list[contextvars.Context](), list[Any]()

    async def copy() -> str:
        async def part(number: int) -> None:
            report_progress(f"part {number} of tok-9f8e7d6c5b4a3210")

        late.append(contextvars.copy_context())
        await asyncio.gather(part(1), part(2))
        text = "part 3" + "!" * 500
        thread = threading.Thread(target=late[0].run, args=(report_progress, text))
        thread.start()
        thread.join()
        return "copied"

    session = ask_calls(copy, calls=[("copy", {})])
    controller = PanelController(session, sent.append)
    controller.run_to_pause()
    says = [row.says for notice in sent for row in notice.rows.session if "part" in row.says]
    parts = [f"part {n} of {{secret:SHOP_TOKEN}}" for n in (1, 2)]
    assert says[:2] == [f"Running: {text}" for text in parts]
    assert says[2].startswith("Running: part 3!!!")
    steps = [row.change for notice in sent for row in notice.rows.calls]
    assert {*parts} <= {*steps}
    assert max(map(len, steps)) <= 200
    assert "part 1" not in session.journal.dumps() + repr(controller.whole())
    late[0].run(report_progress, "too late")
    assert sent[-1].rows.session[0].says == "Finished"
    report_progress("nothing runs")


def test_a_recorded_result_after_rounds_can_be_kept(restaurant: Restaurant) -> None:
    session = restaurant.answered(ADA, YES).run()
    theirs = restaurant.restarted(session, own=False).replay().run()
    assert waiting(theirs) == [("call_1", "proposed")]
    theirs.keep_result("call_1").run()
    assert (theirs.calls[0].result, len(theirs.calls[0].rounds)) == ("Monday for Ada", 2)
    assert len(restaurant.ran) == 3


@pytest.mark.parametrize("responded", [False, True])
def test_a_round_of_a_copy_is_not_answered_here(restaurant: Restaurant, responded: bool) -> None:
    session = restaurant.asked()
    if responded:
        session.decide("call_1", "answer", result=ADA)
    copied = restaurant.restarted(session)
    copied.journal.mark_open_calls("copied")
    for again in (copied, copied.replay()):
        again.run()
        assert waiting(again) == [("call_1", "unknown" if again is copied else "proposed")]
    assert restaurant.ran == ["ask Monday"]
    copied.decide("call_1", "approve").run()
    assert restaurant.ran == ["ask Monday", "ask Monday"]
