"""The one shape of a call: what a program reads of it, and when two records are the same."""

from __future__ import annotations

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.call_record import CallRecord
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.kitchen import Potato, kitchen
from jupyter_toolcall.schemes.messages import Reply
from tests.example_tools import run_calls


def double(x: int) -> int:
    return 2 * x


def doubled(approve: str = "all") -> Session:
    return run_calls(double, calls=[("double", {"x": x}) for x in (4, 8)], approve=approve)


def test_a_record_says_what_was_called_and_what_came_of_it() -> None:
    assert repr(doubled().calls[0]) == (
        "CallRecord(id='call_1', tool='double', arguments={'x': 4}, "
        "status='succeeded', result=8, error='', object='')"
    )


def test_records_of_two_branches_are_equal_where_the_same_came_of_the_same() -> None:
    first = doubled()
    again = first.edit(first.calls[1], x=9).run()
    other = doubled()
    assert again.calls[0] == first.calls[0] == other.calls[0]
    assert again.calls[1] != first.calls[1]
    assert again.calls[0].same_facts(first.calls[0]), "it is one and the same call"
    assert first.fork(first.journal.path(first.head)[1].id).run().calls[0] == first.calls[0]


def test_all_that_is_recorded_tells_records_apart() -> None:
    unasked, approved = doubled(), doubled("ask")
    while approved.pending:
        approved.decide(approved.pending[0]).run()
    assert approved.calls == unasked.calls
    assert not any(map(CallRecord.same_facts, approved.calls, unasked.calls))


def test_a_call_that_waits_is_as_it_would_run() -> None:
    model = Scripted([("Potato_slice", {"shape": "STICKS"}), "Done."])
    session = Session(kitchen(), model, scheme="flat", inputs={"potato": Potato()}).tell("Go.")
    assert session.pending[0].arguments == {"Potato": "Potato#1", "shape": "STICKS"}
    assert session.calls[0].arguments == session.pending[0].proposed == {"shape": "STICKS"}
    assert session.calls[0].status == session.pending[0].status == "proposed"


def test_a_call_is_running_while_its_tool_runs() -> None:
    seen: list[CallRecord] = []

    def look() -> str:
        seen.extend((*session.calls, *session.tool_calls))
        return "Seen."

    session = run_calls(look, calls=[("look", {})], approve="ask")
    session.call_tool(session.pending[0])
    assert [(call.status, call.recorded_status) for call in seen] == [("running", "unknown")] * 2
    assert [call.status for call in session.calls] == ["succeeded"]


def test_the_first_call_of_a_reply_counts_the_tokens_of_its_request() -> None:
    def model(request: object) -> Reply:
        return Reply(
            calls=(Call("a", "double", {"x": 1}), Call("b", "double", {"x": 2})),
            usage=Usage(100, 10),
        )

    session = Session(Toolbox(double), model, scheme="flat", approve="all", max_turns=1)
    assert [call.tokens for call in session.tell("Go.").calls] == [110, 0]
    assert [call.tokens for call in session.replay().run().calls] == [110, 0]
    assert [call.tokens for call in session.edit("a", x=5).run().calls] == [110, 0]
