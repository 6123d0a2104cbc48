"""One question beside the session's own work: `transform` and `query`."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import CallError, ModelError, NotYourTurn, Unfinished, UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.schemes.messages import Assistant, Reply, Request, Results, User
from tests.example_tools import RAN, Book, burn, count, cut


class Shelf:
    """A shelf, which is no plain data."""


class Single:
    """Something that has no digest."""

    def __reduce__(self) -> str:
        raise TypeError("not to be copied")


BOX = Toolbox(Book, cut, count, burn)
CUT = ("cut", {"book": "$Book", "pages": 9})
SAVE = ("save", {"result": "$Book"})


def at_work(*script: Any, **options: Any) -> Session:
    RAN.clear()
    given: dict[str, Any] = {"scheme": "flat", "approve": "all", "inputs": {"book": Book("Dune")}}
    items = iter(script)

    def model(request: Request) -> Reply | None:
        """Give the next reply of the script, on whatever branch."""
        item = next(items, None)
        return None if item is None else Scripted([item] * (request.turn + 1))(request)

    return Session(BOX, model, **given | options)


def question(session: Session) -> Session:
    """Return a session at the end of the question that was asked last."""
    return session.fork([*session.journal][-1].id)


def all_of(session: Session) -> list[Any]:
    """Return what a person sees of a session."""
    messages = [repr(message) for message in session.cursor.request.messages]
    state = session.state
    return [
        *(session.head, messages, session.calls, session.objects, dict(session.outputs)),
        *(session.branches, session.branch, [*session.branch_names], session.usage),
        *(state.turns, state.counts, state.opened, state.inputs, session.pending, session.text),
    ]


def unchanged_by_replay(session: Session) -> bool:
    entries, ran = len(session.journal), list(RAN)
    again = session.replay().run()
    return again.head == session.head and len(session.journal) == entries and ran == RAN


def said_last(session: Session) -> str:
    messages = question(session).cursor.request.messages
    return [m.text for m in messages if isinstance(m, User)][-1]


def test_transform_returns_a_value_of_the_same_type() -> None:
    session = at_work(CUT, SAVE)
    entries = len(session.journal)
    assert session.transform("Book#1", "Make it short.") == Book("Dune", 9)
    assert said_last(session).startswith("Make it short.")
    assert "Book#1" in said_last(session)
    assert len(session.journal) > entries
    assert question(session).deps("Book#2") == ("Book#1",)
    assert unchanged_by_replay(session)
    assert unchanged_by_replay(question(session))


def test_a_value_that_is_no_object_yet_becomes_an_input() -> None:
    session = at_work(SAVE, SAVE, SAVE)
    assert session.transform(Book("Emma"), "Leave it.") == Book("Emma")
    emma = question(session)
    assert emma.objects == ("Book#1", "Book#2")
    assert session.transform(Book("Ada"), "Leave it.") == Book("Ada")
    ada = question(session)
    # What an object has already is that object.
    assert session.transform(session["Book#1"], "Leave it.") == Book("Dune")
    assert question(session).objects == session.objects == ("Book#1",)
    for asked, value in ((emma, Book("Emma")), (ada, Book("Ada"))):
        assert asked["Book#2"] == value
        assert dict(asked.state.opened.inputs).keys() == {"book", "book_2"}
        assert unchanged_by_replay(asked)
    loaded = Journal.loads(session.journal.dumps())
    inputs = {"book": Book("Dune"), "book_2": Book("Emma")}
    again = Session(BOX, Scripted([]), scheme="flat", inputs=inputs, journal=loaded)
    assert again.checkout(emma.head)["Book#2"] == Book("Emma")


def test_values_that_nothing_tells_apart_stay_apart_on_other_branches() -> None:
    session, names = at_work(*["no"] * 4), list[str]()
    for value in (Single(), Single()):
        with pytest.raises(Unfinished):
            session.transform(value, "Leave it.")
        names.append(question(session).state.opened.inputs[-1][0])
    assert names == ["single", "single_2"]


@pytest.mark.parametrize(
    ("returns", "saved"), [(str, "Dune"), (int, 9), (float, 0.5), (bool, True), ("int", 3)]
)
def test_query_answers_with_a_text_a_number_or_a_truth(returns: Any, saved: Any) -> None:
    session = at_work(("count", {"book": "Book#1"}), ("save", {"result": saved}))
    answer = session.query("Book#1", "What is it?", returns)
    assert answer == saved
    assert type(answer) is type(saved)
    assert RAN == ["count"]
    assert unchanged_by_replay(session)


def test_a_whole_number_is_a_float_where_a_float_is_asked_for() -> None:
    answer = at_work(("save", {"result": 3})).query("Book#1", "How many?", float)
    assert type(answer) is float


@pytest.mark.parametrize("text", ["a long text with {braces}", 3, True])
def test_plain_data_goes_to_the_model_as_it_is_and_comes_back_as_its_type(text: Any) -> None:
    session = at_work(("save", {"result": text}))
    assert session.transform(text, "Leave {it}.") == text
    assert str(text).lower() in said_last(session).lower()
    assert "{it}" in said_last(session)
    assert session.objects == ("Book#1",)


def test_any_plain_data_can_be_asked_about_and_other_data_is_not_transformed() -> None:
    session = at_work(("save", {"result": "b"}))
    assert session.query({"a": 1, "b": 2}, "Which is more?") == "b"
    entries = len(session.journal)
    with pytest.raises(UsageError, match="a dict is plain data"):
        session.transform({"a": 1}, "More.")
    assert len(session.journal) == entries


@pytest.mark.parametrize("returns", [Shelf, "Shelf", "list[Shelf]", [str], None, object, "a b"])
def test_another_type_of_answer_is_refused(returns: Any) -> None:
    with pytest.raises(UsageError, match="str, int, float, bool"):
        at_work().query("Book#1", "What?", returns)


def test_what_cannot_be_asked_changes_nothing() -> None:
    session = at_work()
    entries = len(session.journal)
    with pytest.raises(CallError, match="Book#1"):
        session.transform("Book#7", "More.")
    with pytest.raises(UsageError, match="empty"):
        session.transform("Book#1", "  ")
    assert len(session.journal) == entries


def test_a_tool_of_ones_own_that_is_named_save_is_in_the_way() -> None:
    def save(path: str) -> str:
        return path

    session = Session(Toolbox(Book, save), Scripted([]), inputs={"book": Book("Dune")})
    with pytest.raises(UsageError, match="rename it"):
        session.query("Book#1", "What?")


# -- what must be impossible (facts, 1.5) ---------------------------------------------------


def test_a_tool_that_raises_is_told_and_never_the_result() -> None:
    session = at_work(("burn", {"book": "Book#1"}), CUT, SAVE)
    assert session.transform("Book#1", "Burn it.") == Book("Dune", 9)
    calls = question(session).calls
    assert [call.status for call in calls] == ["failed", "succeeded", "succeeded"]


def test_every_call_of_a_transform_has_its_result_and_the_model_is_told() -> None:
    session = at_work([CUT, ("count", {"book": "Book#1"}), ("burn", {"book": "Book#1"})], SAVE)
    session.transform("Book#1", "Make it short.")
    messages = question(session).cursor.request.messages
    for said, answered in zip(messages, [*messages[1:], None], strict=True):
        if isinstance(said, Assistant):
            assert isinstance(answered, Results)
            assert [r.call_id for r in answered.results] == [c.id for c in said.calls]


def test_a_model_that_saves_another_type_is_told_and_may_go_on() -> None:
    session = at_work(
        ("save", {"result": 9}), ("save", {"result": "Shelf#1"}), ("save", {"result": "Book#1"}),
        inputs={"book": Book("Dune"), "shelf": Shelf()},
    )  # fmt: skip
    assert session.transform("Book#1", "Leave it.") == Book("Dune")
    calls = question(session).calls
    assert [call.status for call in calls] == ["failed", "failed", "succeeded"]
    assert "Shelf#1 is a Shelf" in calls[1].error


def test_a_query_that_is_answered_by_another_type_is_told() -> None:
    session = at_work(("save", {"result": "nine"}), ("save", {"result": 9}))
    assert session.query("Book#1", "How many pages?", int) == 9
    assert "must be a int" in question(session).calls[0].error


def test_a_model_that_never_saves_is_reminded_and_then_unfinished() -> None:
    session = at_work("It is short.", "I said so.")
    with pytest.raises(Unfinished, match=r"saved no Book.*I said so"):
        session.transform("Book#1", "Make it short.")
    assert "You have not called save yet" in said_last(session)
    assert unchanged_by_replay(question(session))


@pytest.mark.parametrize("scheme", ["flat", "select"])
def test_the_tools_of_the_session_are_sent_with_the_question(scheme: str) -> None:
    asked: list[Request] = []

    def model(request: Request) -> Reply:
        asked.append(request)
        return Scripted([("save", {"result": "nine"})])(request)

    session = Session(BOX, model, scheme=scheme, inputs={"book": Book("Dune")})
    assert session.query("Book#1", "How many pages?") == "nine"
    tools = {each.name for each in (*asked[0].tools, *asked[0].deferred)}
    assert {"cut", "count", "burn", "save"} <= tools
    save = next(each for each in asked[0].tools if each.name == "save")
    assert save.parameters["properties"]["result"]["type"] == "string"


# -- beside the session's own work ----------------------------------------------------------

QUESTIONS = (CUT, SAVE, ("save", {"result": 9}))


def ask_both(session: Session) -> None:
    """Ask for a transform and a query."""
    assert session.transform("Book#1", "Make it short.") == Book("Dune", 9)
    assert session.query(Book("Emma"), "How many pages?", int) == 9


def test_nobody_can_tell_that_questions_were_asked(tmp_path: Path) -> None:
    own = (CUT, ("count", {"book": "Book#2"}), ("save", {"book": "Book#2"}), "Well.")
    outputs = {"outputs": {"book": Book}}
    plain = at_work(*own, **outputs)
    mixed = at_work(*QUESTIONS, own[0], *QUESTIONS, *own[1:3], *QUESTIONS, own[3], **outputs)
    ask_both(mixed)
    assert all_of(mixed) == all_of(plain)
    for session in (plain, mixed):
        session.ask("Make it short.").step().step()
    ask_both(mixed)
    assert all_of(mixed) == all_of(plain)
    plain.run()
    mixed.run()
    ask_both(mixed)
    assert all_of(mixed) == all_of(plain)

    assert unchanged_by_replay(mixed)
    edits = [session.edit(session.calls[0], pages=5).run() for session in (plain, mixed)]
    assert all_of(edits[0]) == all_of(edits[1])
    for name, session in (("plain", plain), ("mixed", mixed)):
        session.tell("Well?").save(tmp_path / name)
    assert all_of(mixed) == all_of(plain)
    inputs = {"book": Book("Dune")}
    loaded = [Session.load(tmp_path / name, BOX, inputs=inputs) for name in ("plain", "mixed")]
    assert all_of(loaded[0]) == all_of(loaded[1])
    assert len(loaded[1].journal) == len(mixed.journal)


def test_a_question_on_another_branch_leaves_both_as_they_were() -> None:
    session = at_work(CUT, "Done.", ("save", {"result": 5}), ("save", {"result": 9}))
    session.tell("Make it short.")
    edited = session.edit(session.calls[0], pages=5).run()
    before = [all_of(session), all_of(edited)]
    assert edited.query("Book#2", "How many pages?", int) == 5
    assert session.query("Book#2", "How many pages?", int) == 9
    assert [all_of(session), all_of(edited)] == before


def test_the_same_question_is_asked_again() -> None:
    session = at_work(("save", {"result": 1}), ("save", {"result": 2}))
    answers = [session.query("Book#1", "How many?", int) for _ in range(2)]
    assert answers == [1, 2]


def test_an_interrupt_leaves_the_session_able_to_go_on() -> None:
    def stop(book: Book) -> Book:
        """Interrupt the kernel."""
        os.kill(os.getpid(), signal.SIGINT)
        return book

    model = Scripted([("stop", {"book": "Book#1"}), "Done."])
    box = Toolbox(Book, stop)
    session = Session(box, model, scheme="flat", approve="all", inputs={"book": Book("Dune")})
    before = all_of(session)
    with pytest.raises(KeyboardInterrupt):
        session.query("Book#1", "Is it long?", bool)
    assert all_of(session) == before
    assert [call.status for call in question(session).calls] == ["interrupted"]
    session.cursor.context.model = Scripted(["Fine."])
    assert str(session.tell("How are you?")) == "Fine."


def test_afterwards_the_sessions_own_outputs_hold_again() -> None:
    session = at_work(
        CUT, ("save", {"result": "Book#2"}), ("save", {"result": True}),
        ("save", {"result": "Book#1"}), "fine",
        outputs={"result": Book},
    )  # fmt: skip
    session.tell("Make it short.")
    assert session.outputs == {"result": Book("Dune", 9)}
    assert session.query("Book#1", "Is it long?", bool) is True
    assert session.outputs == {"result": Book("Dune", 9)}
    # What was saved is saved: nothing is due, and nobody is asked.
    entries = len(session.journal)
    assert len(session.run().journal) == entries
    session.tell("The first one after all.")
    assert session.outputs == {"result": Book("Dune")}
    assert unchanged_by_replay(session)


def test_in_the_middle_of_the_sessions_own_work_that_goes_on_where_it_was() -> None:
    session = at_work(CUT, ("save", {"result": 9}), "Done.")
    session.ask("Make it short.").step().call_tool("call_1")
    assert session.query("Book#2", "How many pages?", int) == 9
    assert str(session.run()) == "Done."
    assert unchanged_by_replay(session)


def test_an_edit_in_a_transform_is_replayed_to_another_result() -> None:
    session = at_work(CUT, SAVE, "ok")
    session.transform("Book#1", "Make it short.")
    before, asked = all_of(session), question(session)
    RAN.clear()
    edited = asked.edit(asked.calls[0], pages=5).run()
    assert RAN == ["cut"]
    assert edited.outputs == {"result": Book("Dune", 5)}
    assert all_of(session) == before


def test_what_save_takes_now_is_recorded_with_the_reply_that_first_saw_it() -> None:
    session = at_work(("save", {"out": "Book#1"}), ("save", {"result": 9}), outputs={"out": Book})
    session.tell("Take it.")
    session.query("Book#1", "How many?", int)
    saves = [text for text in session.journal.texts.values() if "Hand over" in str(text)]
    assert [list(text["parameters"]["properties"]) for text in saves] == [["out"], ["result"]]


def test_where_a_call_waits_it_is_named_and_the_question_goes_on_from_there() -> None:
    session = at_work(CUT, SAVE, "ok", approve="ask", outputs={"out": int})
    before = all_of(session)
    go_on = r"question = session\.fork\('(\w+)'\), decide, question\.run\(\).*outputs"
    with pytest.raises(Unfinished, match=rf"call_1 \(cut\).*{go_on}") as raised:
        session.transform("Book#1", "Make it short.")
    assert all_of(session) == before
    asked = session.fork(re.findall(go_on, str(raised.value))[0])
    with pytest.raises(NotYourTurn, match="call_1"):
        asked.query("Book#1", "How long?")
    asked.decide(asked.pending[0]).run()
    assert asked.outputs == {"result": Book("Dune", 9)}
    # The next prompt there is the session's own again.
    asked.tell("Thanks.")
    assert list(asked.state.opened.outputs) == ["out"]
    assert asked.outputs == {}
    assert unchanged_by_replay(asked)
    assert all_of(session) == before


def test_after_a_fault_of_the_model_the_question_is_asked_again() -> None:
    faults = [ModelError("no network")]

    def model(request: Request) -> Reply:
        if faults:
            raise faults.pop()
        return Scripted([("save", {"result": 9})])(request)

    session = at_work()
    session.cursor.context.model = model
    with pytest.raises(ModelError):
        session.query("Book#1", "How many?", int)
    assert question(session).run().outputs == {"result": 9}
    assert session.query("Book#1", "How many?", int) == 9


def test_a_model_that_is_not_ready_is_waited_for_by_nobody() -> None:
    session = at_work()
    session.cursor.context.model = lambda request: None
    with pytest.raises(Unfinished, match="has not answered yet"):
        session.query("Book#1", "How many?", int)
    assert list(question(session).state.opened.outputs) == ["result"]


def test_turns_that_run_out_are_unfinished() -> None:
    session = at_work(CUT, CUT, SAVE, max_turns=2)
    with pytest.raises(Unfinished, match="saved no Book"):
        session.transform("Book#1", "Make it short.")


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({"scheme": "select"}, [("selectTools", {"tools": ["cut"]})]),
        ({"scheme": "current"}, [("_use_Book", {"id": "Book#1"})]),
        ({"scheme": "flat", "native": True}, []),
    ],
)
def test_every_scheme_has_both(options: dict[str, Any], first: list[Any]) -> None:
    by_name = ("cut", {"book": "Book#1", "pages": 9})
    session = at_work(*first, by_name, SAVE, ("save", {"result": 9}), **options)
    assert session.transform("Book#1", "Make it short.") == Book("Dune", 9)
    assert session.query("Book#1", "How many pages?", int) == 9
    assert unchanged_by_replay(session)
