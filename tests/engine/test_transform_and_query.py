"""One question beside the session's own work: `transform` and `query`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.digests import readable_json
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
    return Session(BOX, Scripted(script), **given | options)


def unchanged_by_replay(session: Session) -> bool:
    entries, ran = len(session.journal), list(RAN)
    again = session.replay().run()
    return again.head == session.head and len(session.journal) == entries and ran == RAN


def said_last(session: Session) -> str:
    return [m.text for m in session.cursor.request.messages if isinstance(m, User)][-1]


def test_transform_asks_in_this_session_and_returns_a_value_of_the_same_type() -> None:
    session = at_work(CUT, SAVE)
    entries = len(session.journal)
    assert session.transform("Book#1", "Make it short.") == Book("Dune", 9)
    assert said_last(session).startswith("Make it short.")
    assert "Book#1" in said_last(session)
    assert len(session.journal) > entries
    assert session.deps("Book#2") == ("Book#1",)
    assert unchanged_by_replay(session)


def test_a_value_that_is_no_object_yet_becomes_an_input() -> None:
    session = at_work(SAVE, ("save", {"result": "Book#2"}), ("save", {"result": "Book#3"}))
    assert session.transform(Book("Emma"), "Leave it.") == Book("Emma")
    assert session.objects == ("Book#1", "Book#2")
    # What an object has already is that object.
    session.transform(session["Book#2"], "Leave it.")
    assert session.objects == ("Book#1", "Book#2")
    session.transform(Book("Ada"), "Leave it.")
    assert session["Book#3"] == Book("Ada")
    assert dict(session.state.opened.inputs).keys() == {"book", "book_2", "book_3"}
    assert unchanged_by_replay(session)
    loaded = Journal.loads(session.journal.dumps())
    inputs = {"book": Book("Dune"), "book_2": Book("Emma"), "book_3": Book("Ada")}
    again = Session(BOX, Scripted([]), scheme="flat", inputs=inputs, journal=loaded)
    assert again.checkout(session.head)["Book#3"] == Book("Ada")


def test_values_that_nothing_tells_apart_stay_apart_on_other_branches() -> None:
    session = at_work("no", "no")
    one, other = Single(), Single()
    forks = [session.fork(), session.fork()]
    for fork, value in zip(forks, (one, other), strict=True):
        with pytest.raises(Unfinished):
            fork.transform(value, "Leave it.")
    names = [fork.state.opened.inputs[-1][0] for fork in forks]
    assert names == ["single", "single_2"]


SCALARS = st.one_of(st.integers(), st.booleans(), st.text("ab1 ", min_size=1).map(str.strip))
DATA = st.recursive(
    SCALARS.filter(lambda value: value != ""),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
    max_leaves=5,
)


@given(DATA, st.booleans())
def test_plain_data_is_transformed_and_asked_about_and_is_an_answer_in_words(
    value: Any, is_reminded: bool
) -> None:
    session = at_work(("save", {"result": value}))
    assert session.transform(value, "Leave {it}.") == value
    assert readable_json(value) in said_last(session)
    words = value if isinstance(value, str) else json.dumps(value)
    session = at_work(*(["Let me see.", words] if is_reminded else [words, words]))
    assert session.query(value, "What is it?", type(value)) == value
    assert unchanged_by_replay(session)


class Nest:
    """Something that only says in words what it is."""

    def __init__(self, eggs: int) -> None:
        self.eggs = eggs

    def __str__(self) -> str:
        return f"a nest of {self.eggs} eggs"


def test_what_an_object_says_of_itself_is_in_the_question() -> None:
    session = at_work(("save", {"result": "Three."}))
    assert session.query(Nest(3), "How many?") == "Three."
    assert said_last(session).endswith("holds a nest of 3 eggs")


@dataclass
class Page:
    """A record with a tool, which makes no other page."""

    title: str

    def shout(self) -> str:
        """Return the title, loudly."""
        return self.title.upper()


def test_a_record_that_no_tool_makes_and_a_list_of_objects_are_written_by_the_model() -> None:
    written = Scripted([("save", {"result": {"title": "Two"}})])
    session = Session(Toolbox(Page), written, scheme="flat", approve="all")
    assert session.transform(Page("One"), "Count on.") == Page("Two")
    books = [Book("Dune"), Book("Emma")]
    session = at_work(("save", {"result": ["Book#1", "Book#1"]}))
    assert session.transform(books, "Take the first twice.") == [Book("Dune")] * 2


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
    assert [call.status for call in session.calls] == ["failed", "succeeded", "succeeded"]


def test_every_call_of_a_transform_has_its_result_and_the_model_is_told() -> None:
    session = at_work([CUT, ("count", {"book": "Book#1"}), ("burn", {"book": "Book#1"})], SAVE)
    session.transform("Book#1", "Make it short.")
    messages = session.cursor.request.messages
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
    assert [call.status for call in session.calls] == ["failed", "failed", "succeeded"]
    assert "Shelf#1 is a Shelf" in session.calls[1].error


def test_a_model_that_never_saves_is_reminded_and_then_unfinished() -> None:
    session = at_work("It is short.", "I said so.")
    with pytest.raises(Unfinished, match=r"saved no Book.*I said so"):
        session.transform("Book#1", "Make it short.")
    assert "You have not called save yet" in said_last(session)
    assert session.state.main_work is None
    assert unchanged_by_replay(session)


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
    session.tell("Thanks.")
    RAN.clear()
    edited = session.edit("call_1", pages=5).run()
    assert RAN == ["cut"]
    assert edited["Book#2"] == Book("Dune", 5)
    assert str(edited) == "ok"
    assert edited.state.opened == session.state.opened


def test_what_save_takes_now_is_recorded_with_the_reply_that_first_saw_it() -> None:
    session = at_work(("save", {"out": "Book#1"}), ("save", {"result": 9}), outputs={"out": Book})
    session.tell("Take it.")
    session.query("Book#1", "How many?", int)
    saves = [text for text in session.journal.texts.values() if "Hand over" in str(text)]
    assert [list(text["parameters"]["properties"]) for text in saves] == [["out"], ["result"]]


def test_where_a_call_waits_it_is_named_and_the_session_goes_on_from_there() -> None:
    session = at_work(CUT, SAVE, "ok", approve="ask", outputs={"out": int})
    with pytest.raises(Unfinished, match=r"call_1 \(cut\).*decide.*run\(\).*outputs"):
        session.transform("Book#1", "Make it short.")
    with pytest.raises(NotYourTurn, match="call_1"):
        session.query("Book#1", "How long?")
    session.decide("call_1").run()
    assert session.outputs == {"result": Book("Dune", 9)}
    # The next prompt is the session's own again.
    session.tell("Thanks.")
    assert list(session.state.opened.outputs) == ["out"]
    assert session.outputs == {}
    assert unchanged_by_replay(session)


def test_after_a_fault_of_the_model_running_again_goes_on_with_the_question() -> None:
    faults = [ModelError("no network")]

    def model(request: Request) -> Reply:
        if faults:
            raise faults.pop()
        return Scripted([("save", {"result": 9})])(request)

    session = at_work()
    session.cursor.context.model = model
    with pytest.raises(ModelError):
        session.query("Book#1", "How many?", int)
    assert session.run().outputs == {"result": 9}


def test_a_model_that_is_not_ready_is_waited_for_by_nobody() -> None:
    session = at_work()
    session.cursor.context.model = lambda request: None
    with pytest.raises(Unfinished, match="has not answered yet"):
        session.query("Book#1", "How many?", int)
    assert list(session.state.opened.outputs) == ["result"]


def test_turns_that_run_out_are_unfinished() -> None:
    session = at_work(CUT, CUT, SAVE, max_turns=2)
    with pytest.raises(Unfinished, match="saved no Book"):
        session.transform("Book#1", "Make it short.")
    assert session.state.main_work is None


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
    assert session.query("Book#2", "How many pages?", int) == 9
    assert unchanged_by_replay(session)
