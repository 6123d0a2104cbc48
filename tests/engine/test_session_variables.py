"""Session variables: calls set them, others go by them, and a replay follows both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Tool, Toolbox
from jupyter_toolcall.core.errors import CallError, DefinitionError, UsageError
from jupyter_toolcall.tools.tool import Changed
from jupyter_toolcall.view.view_rows import all_rows
from tests.example_tools import ask_calls, run_calls

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def speak(text: str) -> Changed:
    RAN.append(f"speak {text}")
    return Changed({"ok": True}, {"language": text})


def greet(text: str, variables: Mapping[str, Any]) -> str:
    RAN.append(f"greet {text}")
    return f"{variables['language']}: {text}"


def shout(text: str) -> str:
    RAN.append(f"shout {text}")
    return text.upper()


def label(text: str, variables: Mapping[str, Any]) -> str:
    return shout(text)


def in_language(arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    return {**arguments, "text": f"{arguments['text']} ({variables['language']})"}


BOX = (
    Tool("speak", "Set the language.", TEXT, speak),
    Tool("greet", "Greet.", TEXT, greet, reads=("language",), variables={"language": "en"}),
    Tool("label", "Label.", TEXT, label, reads=("language",), fill=in_language),
    Tool("shout", "Shout.", TEXT, shout),
)


def results(session: Session) -> list[Any]:
    return [call.result for call in session.calls]


def test_a_variable_is_as_the_toolbox_gives_it_until_a_call_sets_it() -> None:
    hi = ("greet", {"text": "hi"})
    session = run_calls(*BOX, calls=[hi, ("speak", {"text": "fr"}), hi])
    assert results(session) == ["en: hi", {"ok": True}, "fr: hi"]
    assert dict(session.state.variables) == {"language": "fr"}


def test_what_runs_is_filled_in_by_variables_and_is_seen_before_it_is_approved() -> None:
    calls = [("speak", {"text": "fr"}), ("label", {"text": "a"})]
    session = run_calls(*BOX, calls=calls, approve="none")
    session.decide(session.pending[0]).run()
    (row,) = [row for row in all_rows(session.cursor, "").calls if row.tool == "label"]
    assert (row.arguments, row.asked) == ({"text": "a (fr)"}, {"text": "a"})
    session.decide(session.pending[0]).run()
    assert session.calls[1].arguments == {"text": "a (fr)"}
    # What a person edits has been filled in, and what a person wrote runs as it is.
    assert session.edit(session.calls[1]).run().calls[1].arguments == {"text": "a (fr)"}
    session.edit(session.calls[1], text="b").run()
    assert RAN == ["speak fr", "shout a (fr)", "shout a (fr)", "shout b"]


def test_two_tools_that_give_a_variable_two_values_are_refused() -> None:
    other = Tool("other", parameters=TEXT, function=shout, variables={"language": "de"})
    with pytest.raises(DefinitionError, match="'language' is 'de' here and 'en' in another tool"):
        Toolbox(*BOX, other)


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_variable_that_is_too_long_to_be_kept_is_not_set_and_that_is_told(by_hand: bool) -> None:
    long = Changed("ok", {"language": "x" * 1_100_000})
    made = Tool("make", parameters=TEXT, function=lambda text: long)
    calls = [("make", {"text": "a"}), ("greet", {"text": "hi"})]
    session = ask_calls(*BOX, made, calls=calls).step()
    said = "language: longer than 1,000,000 characters, so not set"
    if by_hand:
        with pytest.raises(CallError, match=said):
            session.tool_call_result(session.tool_calls[0], long)
    session.run()
    assert session.calls[0].result == {"result": "ok", "not_set": said}
    assert session.calls[1].result == "en: hi"


# -- a request to a person ----------------------------------------------------------------

BOOK = ("book", {"text": "room 5"})
REQUEST = Tool("book", "Book a room.", TEXT, for_person=True)


def asked(approve: str) -> Session:
    return run_calls(REQUEST, calls=[BOOK], approve=approve)


@pytest.mark.parametrize("approve", ["ask", "all", "none"])
def test_a_request_to_a_person_waits_whatever_the_policy(approve: str) -> None:
    assert [call.status for call in asked("read-only").calls] == ["rejected"]
    session = asked(approve)
    assert [call.tool for call in session.pending] == ["book"]
    with pytest.raises(UsageError, match="book is a request to you, and nothing runs: answer"):
        session.decide(session.pending[0])
    session.decide(session.pending[0], "answer", result={"room": 5}).run()
    assert (results(session), session.text) == ([{"room": 5}], "Done.")


@pytest.mark.parametrize("approve", ["ask", "all", "none"])
def test_what_a_tool_did_is_asked_of_a_person_where_it_is_a_request_now(approve: str) -> None:
    script = Scripted([BOOK, "Done."])
    done = run_calls(Tool("book", "Book a room.", TEXT, shout), calls=[BOOK])
    now = Session(Toolbox(REQUEST), script, scheme="flat", approve=approve, journal=done.journal)
    now.checkout(done.head)
    again = now.replay().run()
    assert [(call.tool, call.status) for call in again.pending] == [("book", "proposed")]
    again.decide(again.pending[0], "answer", result={"room": 6}).run()
    assert (results(again), again.text) == ([{"room": 6}], "Done.")


def test_a_fill_that_refuses_tells_the_model() -> None:
    def refuse(arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
        raise CallError("hospital is not set")

    made = Tool("visit", "Visit.", TEXT, shout, fill=refuse)
    session = run_calls(made, calls=[("visit", {"text": "a"})])
    assert session.calls[0].error == "hospital is not set"


def test_an_answer_holds_for_the_request_as_it_was_put() -> None:
    visit = Tool("visit", "Visit.", TEXT, fill=in_language, reads=("language",), for_person=True)
    session = run_calls(*BOX, visit, calls=[("speak", {"text": "fr"}), ("visit", {"text": "a"})])
    session.decide(session.pending[0], "answer", result="ok").run()
    assert session.calls[1].arguments == {"text": "a (fr)"}
    count = len(session.journal)
    assert (session.replay().run().head, len(session.journal)) == (session.head, count)
    edited = session.edit(session.calls[0], text="de").run()
    assert [call.arguments for call in edited.pending] == [{"text": "a (de)"}]
