"""One question beside the session's own work: `transform` and `query`, and their laws."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.digests import readable_json
from jupyter_toolcall.core.errors import CallError, ModelError, NotYourTurn, Unfinished, UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.state import AskPerson
from jupyter_toolcall.schemes.messages import Reply, Request, Results, User
from jupyter_toolcall.view.view_rows import all_rows
from tests.example_tools import RAN, Book, burn, count, cut, last_question


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


def said_last(session: Session) -> str:
    messages = last_question(session).cursor.request.messages
    return [message.text for message in messages if isinstance(message, User)][-1]


def test_transform_asks_on_a_branch_and_returns_a_value_of_the_same_type() -> None:
    session = at_work(CUT, SAVE)
    head = session.head
    assert session.transform("Book#1", "Make it short.") == Book("Dune", 9)
    assert said_last(session).startswith("Make it short.")
    assert "Book#1" in said_last(session)
    assert (session.head, session.objects, session.calls) == (head, ("Book#1",), ())
    assert [*session.branch_names] == ["main", "Make it short."]
    # A panel shows them beside the conversation.
    assert [call.tool for call in all_rows(session.cursor, "").calls] == ["cut", "save"]
    question = last_question(session)
    assert question.deps("Book#2") == ("Book#1",)


def test_a_value_that_is_no_object_yet_becomes_an_input() -> None:
    session = at_work(*[SAVE] * 4)
    assert session.transform(Book("Emma"), "Leave it.") == Book("Emma")
    assert last_question(session).objects == ("Book#1", "Book#2")
    # What an object has already is that object, and one name stands for one value.
    session.transform(Book("Emma"), "Leave it.")
    session.transform(session["Book#1"], "Leave it.")
    assert last_question(session).objects == session.objects == ("Book#1",)
    session.transform(Book("Ada"), "Leave it.")
    questions = [session.fork(head) for head in session.branches[1:]]
    names = [question.state.opened.inputs[-1][0] for question in questions]
    assert names == ["book_2", "book_2", "book", "book_3"]
    loaded = Journal.loads(session.journal.dumps())
    inputs = {"book": Book("Dune"), "book_2": Book("Emma"), "book_3": Book("Ada")}
    again = Session(BOX, Scripted([]), scheme="flat", inputs=inputs, journal=loaded)
    assert again.checkout(session.branches[-1])["Book#2"] == Book("Ada")


def test_values_that_nothing_tells_apart_stay_apart_on_other_branches() -> None:
    session = at_work("no", "no")
    one, other = Single(), Single()
    forks = [session.fork(), session.fork()]
    for fork, value in zip(forks, (one, other), strict=True):
        with pytest.raises(Unfinished):
            fork.transform(value, "Leave it.")
    questions = [session.fork(head) for head in session.branches[1:]]
    assert [q.state.opened.inputs[-1][0] for q in questions] == ["single", "single_2"]


SCALARS = st.one_of(st.integers(), st.booleans(), st.text("ab1 ", min_size=1).map(str.strip))
DATA = st.recursive(
    SCALARS.filter(lambda value: value != ""),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
    max_leaves=5,
)


@given(DATA, st.booleans())
def test_plain_data_is_transformed_asked_about_and_an_answer(value: Any, is_reminded: bool) -> None:
    session = at_work(("save", {"result": value}))
    assert session.transform(value, "Leave {it}.") == value
    assert readable_json(value) in said_last(session)
    words = value if isinstance(value, str) else json.dumps(value)
    session = at_work(*(["Let me see.", words] if is_reminded else [words, words]))
    assert session.query(value, "What is it?", type(value)) == value


@dataclass
class Page:
    """A record with a tool, which makes no other page."""

    title: str

    def shout(self) -> str:
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


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ([("burn", {"book": "Book#1"}), CUT, SAVE], "too wet"),
        ([("save", {"result": 9}), CUT, SAVE], "must be the name of a Book"),
        ([("save", {"result": "Shelf#1"}), CUT, SAVE], "Shelf#1 is a Shelf"),
    ],
)
def test_a_failure_and_another_type_are_never_the_result(script: list[Any], error: str) -> None:
    session = at_work(*script, inputs={"book": Book("Dune"), "shelf": Shelf()})
    assert session.transform("Book#1", "Burn it.") == Book("Dune", 9)
    calls = last_question(session).calls
    assert [call.status for call in calls] == ["failed", "succeeded", "succeeded"]
    assert error in calls[0].error


@pytest.mark.parametrize(
    ("script", "options", "error"),
    [
        (["It is short.", "I said so."], {}, "saved no Book.*I said so"),
        ([CUT, CUT, SAVE], {"max_turns": 2}, "saved no Book"),
    ],
)
def test_a_model_that_never_saves_leaves_the_question_unfinished(
    script: list[Any], options: dict[str, Any], error: str
) -> None:
    session = at_work(*script, **options)
    with pytest.raises(Unfinished, match=error):
        session.transform("Book#1", "Make it short.")
    assert options or "You have not called save yet" in said_last(session)
    assert not session.state.conversation


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


def test_an_edit_in_a_transform_is_replayed_to_another_result() -> None:
    session = at_work(CUT, SAVE, "ok")
    session.transform("Book#1", "Make it short.")
    session.tell("Thanks.")
    RAN.clear()
    edited = last_question(session).edit("call_1", pages=5).run()
    assert RAN == ["cut"]
    assert edited.outputs == {"result": Book("Dune", 5)}
    # A prompt continues the conversation.
    edited.ask("Again.")
    assert edited.objects == ("Book#1",)


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


@pytest.mark.parametrize("error", [ModelError("no network"), None])
def test_a_question_without_an_answer_goes_on_at_the_next_run(error: ModelError | None) -> None:
    def model(request: Request) -> Reply | None:
        if error is not None:
            raise error
        return None

    session = at_work(("save", {"result": 9}))
    script, session.cursor.context.model = session.cursor.context.model, model
    with pytest.raises(ModelError if error else Unfinished, match=r"no network|not answered yet"):
        session.query("Book#1", "How many?", int)
    session.cursor.context.model = script
    assert session.run().outputs == {"result": 9}


def test_tools_are_sent_with_a_question_and_each_call_is_answered_as_in_any_prompt() -> None:
    named = {"book": "Book#1"}
    session = at_work([CUT, ("count", named), ("burn", named)], SAVE)
    session.transform("Book#1", "Make it short.")
    request = last_question(session).cursor.request
    assert {"cut", "count", "burn", "save"} <= {tool.name for tool in request.tools}
    answered = [r.call_id for m in request.messages if isinstance(m, Results) for r in m.results]
    assert answered == ["call_1_1", "call_1_2", "call_1_3", "call_2"]


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
    assert session.query(Book("Dune", 9), "How many pages?", int) == 9


# -- the laws: the conversation is the same without questions -------------------------------------

REPLIES: dict[str, Any] = {name: (name, {"book": "$Book"}) for name in ("count", "burn")}
REPLIES |= {"cut": CUT, "done": "done"}
QUESTIONS: dict[str, list[Any]] = {
    "Shorten it.": [CUT, SAVE],
    "How long?": [REPLIES["count"], ("save", {"result": 9})],
    "Nothing?": ["no", "no"],
}
OPTIONS: dict[str, Any] = {"approve": "all", "inputs": {"book": Book("Dune")}}
Plan = Sequence[tuple[str, list[str]]]
"""The model's replies, and the questions that are asked before each."""
PLANS = st.lists(
    st.tuples(st.sampled_from([*REPLIES]), st.lists(st.sampled_from([*QUESTIONS]), max_size=2)),
    min_size=1,
    max_size=6,
)


def ask(session: Session, question: str) -> None:
    if question == "Shorten it.":
        assert session.transform("Book#1", question) == Book("Dune", 9)
        return
    with suppress(Unfinished):
        assert session.query("Book#1", question, int) == 9
        assert question == "How long?"


def held(plan: Plan, with_questions: bool, **options: Any) -> Session:
    """Return the session of a plan, to its end. Its model has one script for all that is asked."""
    script, plan = list[Any](), (*plan, ("done", []))
    for reply, questions in plan:
        script += [item for question in questions for item in QUESTIONS[question]] * with_questions
        script.append(REPLIES[reply])
    model = Scripted(script)
    session = Session(BOX, lambda request: model(request), scheme="flat", **OPTIONS, **options)
    for _, questions in plan:
        if isinstance(session.cursor.next_step, AskPerson):
            session.ask("Go on.")
        for question in questions * with_questions:
            before = session.head, session.branch
            ask(session, question)
            assert (session.head, session.branch) == before
        session.step()
        if session.state.open:
            session.step()
    return session


@given(PLANS, st.booleans())
def test_a_conversation_is_the_same_with_and_without_questions(plan: Plan, native: bool) -> None:
    plain, session = (held(plan, asks, native=native) for asks in (False, True))
    # An id is a digest of all events up to an entry, so the states and the requests are the same.
    assert session.head == plain.head
    assert session.cursor.request == plain.cursor.request
    entries, more = len(session.journal), len(session.journal) - len(plain.journal)
    RAN.clear()
    for head in session.branches:
        assert session.fork(head).replay().run().head == head
    assert (len(session.journal), RAN) == (entries, [])
    for call in plain.calls:
        if call.object:
            heads, ran = list[str](), list[list[str]]()
            for one in (plain, session):
                RAN.clear()
                heads.append(one.edit(call.id, pages=20 + call.step).run().head)
                ran.append([*RAN])
            assert heads[0] == heads[1]
            assert ran[0] == ran[1]
            assert len(session.journal) - len(plain.journal) == more


def test_after_a_kill_in_a_question_the_session_continues(tmp_path: Path) -> None:
    """The file ends after any of its lines, as after a kill."""
    path, plan = tmp_path / "a.jsonl", [("count", list[str]())]
    expected = held(plan, False).ask("Go on.").head
    session = held(plan, False, journal=path)
    model = Scripted([REPLIES["count"], "done", *QUESTIONS["Shorten it."]])
    session.cursor.context.model = model
    asked_at = session.head
    ask(session, "Shorten it.")
    lines = path.read_text().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if '"question":1' in line)
    is_over = []
    for end in range(first, len(lines) + 1):
        del session
        gc.collect()
        path.write_text("".join(lines[:end]))
        RAN.clear()
        session = Session.load(path, BOX, model, **OPTIONS).run()
        is_over.append(session.head == asked_at)
        if not is_over[-1]:
            # A call of the old journal would keep that in memory.
            [session.decide(call) for call in session.pending]
            assert session.run().outputs == {"result": Book("Dune", 9)}
            assert RAN in ([], ["cut"])
        assert session.ask("Go on.").head == expected
    assert (is_over[0], is_over[-1], all(is_over)) == (True, True, False)
