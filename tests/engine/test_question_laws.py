"""The laws of questions (`transform`, `query`): the conversation is the same without them."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import Unfinished
from jupyter_toolcall.core.state import AskPerson
from tests.example_tools import RAN, Book, burn, count, cut

BOX = Toolbox(Book, cut, count, burn)
REPLIES: dict[str, Any] = {name: (name, {"book": "$Book"}) for name in ("count", "burn")}
REPLIES |= {"cut": ("cut", {"book": "$Book", "pages": 9}), "done": "done"}
QUESTIONS: dict[str, list[Any]] = {
    "Shorten it.": [REPLIES["cut"], ("save", {"result": "$Book"})],
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
def test_a_conversation_is_the_same_with_questions_beside_it_and_without(
    plan: Plan, native: bool
) -> None:
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
