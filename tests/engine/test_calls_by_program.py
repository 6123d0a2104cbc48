"""Calls that a program runs or answers, in three ways, and calls of clients of a session."""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import pairwise
from typing import Any, Literal, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.errors import CallError, NotYourTurn, UsageError
from jupyter_toolcall.core.events import Call, Started
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.engine.client_calls import record_client_call
from jupyter_toolcall.engine.replay import advance
from jupyter_toolcall.schemes.messages import Assistant, Reply, Request, Results
from jupyter_toolcall.tools.tool import Changed
from tests.example_tools import RAN, Book, burn, count, cut, run_calls


def wait(book: Book) -> str:
    """Be interrupted."""
    RAN.append("wait")
    raise KeyboardInterrupt


BOX = Toolbox(Book, cut, count, burn, wait)
CUT = ("cut", {"book": "Book#1", "pages": 9})
COUNT = ("count", {"book": "Book#1"})
BURN = ("burn", {"book": "Book#1"})


def replied(*calls: Any, more: tuple[Any, ...] = ("done",), **options: Any) -> Session:
    """Return a session whose model has just asked for these calls."""
    RAN.clear()
    given: dict[str, Any] = {"scheme": "flat", "inputs": {"book": Book("Dune")}, **options}
    return Session(BOX, Scripted([list(calls), *more]), **given).ask("Go.").step()


def told(session: Session) -> list[tuple[str, str, bool]]:
    """Return the results that the model was told last."""
    last = [m for m in session.cursor.request.messages if isinstance(m, Results)][-1]
    return [(result.call_id, result.content, result.error) for result in last.results]


def unchanged_by_replay(session: Session) -> bool:
    entries, ran = len(session.journal), list(RAN)
    again = session.replay()
    while again.cursor.replay_queue.next() is not None:
        with suppress(KeyboardInterrupt):
            assert advance(again.cursor) is not None
    return again.head == session.head and len(session.journal) == entries and ran == RAN


# -- the protocol -------------------------------------------------------------------------


def test_the_smallest_program_of_the_protocol_comes_to_the_end() -> None:
    session = replied(CUT, more=([COUNT, COUNT], "Nine."))
    while session.tool_calls:
        for call in session.tool_calls:
            session.call_tool(call)
        session.step()
    assert str(session) == "Nine."
    assert [call.result for call in session.calls] == ["Book#2", 100, 100]


@pytest.mark.parametrize("approve", ["ask", "none", "read-only", "all"])
def test_call_tool_runs_on_the_programs_word_and_says_who_decided(approve: str) -> None:
    session = replied(CUT, approve=approve)
    made = session.call_tool(session.tool_calls[0])
    assert (made.status, made.result, made.object) == ("succeeded", "Book#2", "Book#2")
    assert session["Book#2"] == Book("Dune", 9)
    assert session.journal.path(session.head)[-3].meta["by"] == "program"
    assert session.deps("Book#2") == ("Book#1",)
    assert unchanged_by_replay(session)


def test_a_call_is_named_by_its_id_its_record_or_the_call_of_the_reply() -> None:
    session = replied(COUNT, COUNT, COUNT)
    call = session.state.calls["call_1_3"].call
    for given_as in ("call_1_1", session.tool_calls[1], call):
        assert session.call_tool(given_as).result == 100


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("cut", {"book": "Book#1"}), "pages"),
        (("cut", {"book": "Book#7", "pages": 1}), "there is no object 'Book#7'"),
        (("shred", {}), "there is no tool 'shred'"),
        (("cut", {"book": "Book#1", "pages": float("nan")}), ""),
        (BURN, "OSError: too wet"),
    ],
)
def test_a_call_that_does_not_fit_or_raises_is_a_reported_failure(call: Any, said: str) -> None:
    session = replied(call)
    made = session.call_tool("call_1")
    assert made.status == "failed"
    assert said in made.error
    assert told(session)[0][2]
    assert [*RAN] == (["burn"] if call is BURN else [])
    assert unchanged_by_replay(session)


def test_the_schemes_own_calls_are_answered_by_call_tool_alone() -> None:
    session = replied(
        ("selectTools", {"tools": ["cut"]}), more=(CUT, ("save", {"out": "$Book"})),
        scheme="select", outputs={"out": Book},
    )  # fmt: skip
    entries = len(session.journal)
    with pytest.raises(UsageError, match=r"session\.call_tool"):
        session.tool_call_result("call_1", "ok")
    assert len(session.journal) == entries
    assert session.call_tool("call_1").status == "succeeded"
    for number in (2, 3):
        assert session.step().call_tool(f"call_{number}").status == "succeeded"
    assert session.outputs["out"] == Book("Dune", 9)
    assert session.step().tool_calls == ()
    assert unchanged_by_replay(session)


@pytest.mark.parametrize(
    ("second", "order", "again"),
    [
        # A later call that ran first is not run again.
        (COUNT, ("call_1_2", "call_1_1"), ["cut"]),
        (("count", {"book": "Book#2"}), ("call_1_1", "call_1_2"), ["cut", "count"]),
    ],
)
def test_an_edit_runs_the_call_and_then_the_calls_of_its_turn_that_used_what_it_made(
    second: Any, order: tuple[str, str], again: list[str]
) -> None:
    session = replied(CUT, second)
    for call_id in order:
        session.call_tool(call_id)
    RAN.clear()
    edited = session.edit("call_1_1", pages=5).run()
    assert [call.result for call in edited.calls] == ["Book#2", 5 if len(again) == 2 else 100]
    assert edited["Book#2"].pages == 5
    assert [*RAN] == again


@pytest.mark.parametrize(
    ("result", "status", "content"),
    [
        (7, "succeeded", '{"result": 7}'),
        (None, "succeeded", '{"result": null}'),
        ({"a": [1]}, "succeeded", '{"result": {"a": [1]}}'),
        ("Book#1", "succeeded", '{"result": "Book#1"}'),
        (Book("Emma"), "succeeded", '{"result": "Book#2"}'),
        ([Book("Emma"), "Book#1"], "succeeded", '{"objects": ["Book#2", "Book#1"]}'),
        (ValueError("no ink"), "failed", '{"error": "ValueError: no ink"}'),
    ],
)
def test_a_result_is_data_objects_or_an_exception(result: Any, status: str, content: str) -> None:
    session = replied(CUT)
    made = session.tool_call_result("call_1", result)
    assert made.status == session.calls[0].status == status
    assert told(session) == [("call_1", content, status == "failed")]
    assert RAN == []
    # An object that the program made comes from the objects of the call.
    assert all(session.deps(name) == ("Book#1",) for name in session.objects[1:])
    assert str(session.run()) == "done"
    assert unchanged_by_replay(session)


def test_a_result_is_recorded_on_arrival_and_the_program_is_said_to_have_given_it() -> None:
    session = replied(CUT, COUNT)
    session.tool_call_result("call_1_2", 9)
    assert session.journal[session.head].meta["by"] == "program"
    assert not any(isinstance(entry.event, Started) for entry in session.journal)
    assert Journal.loads(session.journal.dumps()).dumps() == session.journal.dumps()
    # The model is told when the turn is whole.
    assert not any(isinstance(m, Results) for m in session.cursor.request.messages)
    session.tool_call_result("call_1_1", 8)
    assert told(session) == [
        ("call_1_1", '{"result": 8}', False),
        ("call_1_2", '{"result": 9}', False),
    ]


def test_a_result_changes_variables_of_the_session_as_a_tool_does() -> None:
    session = replied(COUNT)
    session.tool_call_result("call_1", Changed("ok", {"shelf": "B"}))
    assert dict(session.state.variables) == {"shelf": "B"}


def test_a_result_holds_in_a_replay_while_the_call_is_about_the_same_objects() -> None:
    session = replied(CUT, more=(("count", {"book": "Book#2"}), "done"))
    session.call_tool("call_1")
    session.step().tool_call_result("call_2", 1234)
    assert session.edit("call_1", pages=9).run().calls[1].result == 1234
    RAN.clear()
    assert session.edit("call_1", pages=5).run().calls[1].result == 5
    assert RAN == ["cut", "count"]


def test_a_replay_asks_again_for_a_result_whose_objects_have_changed() -> None:
    session = replied(CUT, more=(("burn", {"book": "Book#2"}), "done"))
    session.call_tool("call_1")
    session.step().tool_call_result("call_2", "warm")
    edited = session.run().edit("call_1", pages=5).run()
    assert [call.id for call in edited.tool_calls] == ["call_2"]
    edited.tool_call_result("call_2", "hot")
    assert str(edited.run()) == "done"
    assert edited.calls[1].result == "hot"
    assert unchanged_by_replay(edited)


@pytest.mark.parametrize("way", ["call_tool", "tool_call_result"])
def test_unknown_and_answered_calls_are_refused_naming_what_there_is(way: str) -> None:
    session = replied(CUT, COUNT)
    session.call_tool("call_1_1")
    entries = session.journal.dumps()
    unrecorded: Any = Call("elsewhere", "count")
    for call, said in (
        ("call_9", "there is no call 'call_9'"),
        ("call_1_1", "succeeded"),
        (unrecorded, "there is no call 'elsewhere'"),
    ):
        with pytest.raises(NotYourTurn, match=f"{said}.*without a result: call_1_2"):
            getattr(session, way)(call, *([1] if way == "tool_call_result" else []))
    assert session.journal.dumps() == entries


def test_the_name_of_an_object_that_there_is_not_is_no_result() -> None:
    session = replied(CUT)
    entries = len(session.journal)
    with pytest.raises(CallError, match="Book#1"):
        session.tool_call_result("call_1", "Book#7")
    assert len(session.journal) == entries
    assert session.tool_calls


def test_a_request_to_a_person_is_answered_and_never_run() -> None:
    please = Tool("please", "Ask for something.", {"type": "object"}, for_person=True)
    session = Session(Toolbox(please), Scripted([("please", {}), "ok"]), scheme="flat")
    session.ask("Go.").step()
    with pytest.raises(UsageError, match=r"session\.tool_call_result"):
        session.call_tool("call_1")
    session.tool_call_result("call_1", "here you are")
    assert str(session.run()) == "ok"


def test_a_call_that_a_person_edited_runs_as_it_was_edited() -> None:
    session = replied(CUT, approve="none")
    session.decide("call_1", "edit", arguments={"book": "Book#1", "pages": 3})
    assert session.call_tool("call_1").arguments["pages"] == 3
    assert session["Book#2"].pages == 3


def test_no_call_runs_while_another_one_runs() -> None:
    seen: list[str] = []

    def nosy() -> str:
        with pytest.raises(NotYourTurn, match="running") as refused:
            session.call_tool("call_1_2")
        seen.append(str(refused.value))
        return "ok"

    session = Session(Toolbox(nosy, cut), Scripted([[("nosy", {}), ("nosy", {})]]), scheme="flat")
    session.ask("Go.").step().call_tool("call_1_1")
    assert seen == ["call call_1_1 is running; one call runs at a time"]
    assert [call.id for call in session.tool_calls] == ["call_1_2"]


# -- nothing fancy ------------------------------------------------------------------------


def test_generate_returns_the_reply_and_touches_nothing() -> None:
    session = Session(BOX, Scripted([CUT, "done"]), scheme="flat", inputs={"book": Book("Dune")})
    session.ask("Go.")
    before = session.journal.dumps()
    for _ in range(2):
        reply = session.generate()
        assert reply is not None
        assert [(call.tool, call.arguments) for call in reply.calls] == [CUT]
    assert session.journal.dumps() == before
    assert session.calls == session.tool_calls == ()


@pytest.mark.parametrize("scheme", ["flat", "select", "current", "native(flat)"])
def test_a_session_of_generated_replies_is_one_that_runs_by_itself(scheme: str) -> None:
    def count(n: int) -> int:
        return n + 1

    script = [("count", {"n": 1}), [("count", {"n": 2}), ("count", {"n": 3})], "Done."]
    options: dict[str, Any] = {"scheme": scheme, "approve": "all"}
    first = Session(Toolbox(count), Scripted(script), **options).tell("Go.")
    second = Session(Toolbox(count), Scripted(script), **options).ask("Go.")
    while str(second) != "Done.":
        second.reply(second.generate())
        while second.tool_calls:
            second.step()
    assert first.cursor.request.messages[:] == second.cursor.request.messages[:]


def test_nothing_is_said_past_calls_without_a_result() -> None:
    session = replied(CUT, BURN)
    entries = len(session.journal)
    with pytest.raises(NotYourTurn, match="call_1_1, call_1_2"):
        session.generate()
    with pytest.raises(NotYourTurn, match="call 1 has no result yet"):
        session.ask("And now?")
    assert session.run().tool_calls
    assert len(session.journal) == entries


# -- calls of clients of the served session: they wait as any other ------------------------------


class Jar:
    """A jar."""


@tool(read_only=True)
def weigh(jar: Jar) -> int:
    return 100


def over(scheme: str, approve: Any) -> Session:
    """Return a session that is through, with a jar and an output."""
    options: Any = {"scheme": scheme, "approve": approve, "outputs": {"out": Jar}}
    return run_calls(weigh, calls=[], inputs={"jar": Jar()}, **options)


def after_call(before: Session, name: str, arguments: dict[str, Any]) -> Session:
    record_client_call(before.cursor, "mcp_1", name, arguments, "mcp:agent")
    return before.run()


OWN = [
    ("flat", "save", {"out": "Jar#1"}),
    ("select", "selectTools", {"tools": ["weigh"]}),
    ("select", "save", {"out": "Jar#1"}),
    ("current", "_use_Jar", {"id": "Jar#1"}),
    ("current", "save", {"out": "Jar#1"}),
]


@pytest.mark.parametrize(("scheme", "name", "arguments"), OWN)
@pytest.mark.parametrize(
    ("approve", "status"), [("ask", "proposed"), ("none", "proposed"), ("read-only", "rejected")]
)
def test_the_schemes_own_tools_wait_where_a_client_asks_for_them(
    scheme: str, name: str, arguments: dict[str, Any], approve: str, status: str
) -> None:
    done = after_call(over(scheme, approve), name, arguments)
    assert (done.state.calls["mcp_1"].status, done.outputs) == (status, {})


@pytest.mark.parametrize("approve", ["ask", "all"])
def test_what_the_person_approves_is_saved_and_a_replay_keeps_it(approve: str) -> None:
    done = after_call(over("flat", approve), "save", {"out": "Jar#1"})
    if approve == "ask":
        assert [call.id for call in done.pending] == ["mcp_1"]
        done = done.decide("mcp_1", "approve").run()
    assert [*done.outputs] == ["out"]
    entries = len(done.journal)
    again = done.replay().run()
    assert ([*again.outputs], len(again.journal), again.pending) == (["out"], entries, ())


def test_a_call_of_a_client_that_reads_runs_as_one_of_the_model() -> None:
    done = after_call(over("flat", "ask"), "weigh", {"jar": "Jar#1"})
    assert done.state.calls["mcp_1"].result == 100


# -- whatever the order, whatever the way ---------------------------------------------------

calls = st.one_of(
    st.builds(lambda p: ("cut", {"book": "Book#1", "pages": p}), st.integers(1, 3)),
    st.sampled_from(
        [
            *(COUNT, BURN, ("wait", {"book": "Book#1"}), ("count", {"book": "Book#2"})),
            *(("shred", {}), ("cut", {"book": "Book#1"}), ("count", {})),
        ]
    ),
)
Way = Literal["call_tool", "data", "name", "object", "exception", "reject", "run"]
ways = st.sampled_from(["call_tool", *get_args(Way)])


class Careful:
    """A model that checks each request: every call has its one result, in call order."""

    def __init__(self, turns: list[list[Any]]) -> None:
        self.script = Scripted([*turns, "done"])
        self.checked = 0

    def __call__(self, request: Request) -> Reply:
        for message, after in pairwise(request.messages):
            if isinstance(message, Assistant):
                assert isinstance(after, Results)
                assert [r.call_id for r in after.results] == [c.id for c in message.calls]
                self.checked += 1
        return self.script(request)


def deal_with(session: Session, call: Any, way: Way) -> None:
    match way:
        case "call_tool":
            session.call_tool(call)
        case "reject":
            session.decide(call, "reject", reason="no")
        case "run":
            session.run()
        case _:
            results = {"data": 7, "name": "Book#1", "object": Book("Emma"), "exception": OSError()}
            session.tool_call_result(call, results[way])


def patiently(action: Any, *given: Any) -> None:
    """Do it again after an interrupt, as a person would who runs a cell again."""
    try:
        action(*given)
    except KeyboardInterrupt:
        if getattr(action, "__name__", "") == "run":
            patiently(action)


def refused(session: Session, call_id: str) -> bool:
    before = session.journal.dumps()
    for action in (
        lambda: session.call_tool(call_id),
        lambda: session.tool_call_result(call_id, 1),
        lambda: session.decide(call_id, "approve"),
    ):
        with pytest.raises(NotYourTurn):
            action()
    return session.journal.dumps() == before


@given(
    st.lists(st.lists(calls, min_size=1, max_size=4), min_size=1, max_size=3),
    st.lists(ways, min_size=12, max_size=12),
    st.sampled_from(["ask", "none", "all"]),
    st.randoms(use_true_random=False),
)
@settings(derandomize=True, suppress_health_check=list(HealthCheck))
def test_each_call_has_one_result_in_call_order_and_a_replay_adds_nothing(
    turns: list[list[Any]], drawn: list[Way], approve: str, order: random.Random
) -> None:
    RAN.clear()
    model = Careful(turns)
    session = Session(
        BOX, model, scheme="flat", inputs={"book": Book("Dune")}, approve=approve
    ).ask("Go.")
    for _ in turns:
        patiently(session.step)
        while session.tool_calls:
            call = order.choice(session.tool_calls)
            turn = session.state.turns
            patiently(deal_with, session, call, drawn.pop() if drawn else "call_tool")
            if session.state.turns == turn and call.id not in session.state.open:
                assert refused(session, call.id)
            assert refused(session, "call_99")
            if session.state.turns != turn:
                break
    for _ in turns:
        for call in session.tool_calls:
            patiently(session.call_tool, call)
        patiently(session.run)
    assert str(session) == "done"
    assert model.checked >= len(turns)
    assert all(c.status not in ("proposed", "approved", "unknown") for c in session.calls)
    assert len(session.calls) == sum(map(len, turns))
    assert unchanged_by_replay(session)
    assert unchanged_by_replay(session.fork("call_1" if len(turns[0]) == 1 else "call_1_1"))
