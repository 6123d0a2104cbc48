"""Models without a provider: scripts, functions, and the names of models."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import ModelError, NotYourTurn, UsageError
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.kitchen import FRIES
from jupyter_toolcall.models.named import model_named
from jupyter_toolcall.schemes.messages import Reply, Request

REQUEST = Request("", (), (), turn=0, newest={"Potato": "Potato#3"})


def test_a_turn_is_a_text_a_call_or_a_list_of_these() -> None:
    model = Scripted(["hello", ("f", {"x": 1}), ["see", ("f", {}), ("g", {})]])
    replies = [model(Request("", (), (), turn=turn)) for turn in range(4)]
    assert [reply.text for reply in replies] == ["hello", "", "see", ""]
    assert replies[1] == Reply("", (Call("call_2", "f", {"x": 1}),), "tools")
    assert [call.id for call in replies[2].calls] == ["call_3_1", "call_3_2"]
    assert replies[3] == Reply()
    assert Scripted("Done.").items == Scripted(["Done."]).items


def test_a_dollar_is_the_newest_object_of_a_type_at_any_depth() -> None:
    model = Scripted([("f", {"x": "$Potato", "y": [{"z": "$Potato"}], "cost": "$5", "n": "$Pot"})])
    (call,) = model(REQUEST).calls
    assert call.arguments == {"x": "Potato#3", "y": [{"z": "Potato#3"}], "cost": "$5", "n": "$Pot"}


@pytest.mark.parametrize("item", [5, None, {"a": 1}, [5]])
def test_what_is_no_turn_is_refused_when_the_script_is_made(item: Any) -> None:
    with pytest.raises(UsageError, match="is no turn of a script"):
        Scripted([item])


def test_a_model_is_a_name_or_a_function() -> None:
    assert model_named("scripted:kitchen") is FRIES
    assert model_named(None) is None
    assert model_named(FRIES) is FRIES
    with pytest.raises(UsageError, match=r"no script 'nothing'; there are scripted:kitchen"):
        model_named("scripted:nothing")
    with pytest.raises(UsageError, match=r"'antropic:x' is no model.* Did you mean anthropic\?"):
        model_named("antropic:x")


def test_a_session_without_a_model_says_what_to_give() -> None:
    with pytest.raises(UsageError, match="has no model; give one"):
        Session(Toolbox()).tell("hello")
    with pytest.raises(UsageError, match="has no model; give one"):
        Session(Toolbox()).generate()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("text", "a model returns a Reply or None"),
        (Reply(raw=float("nan")), "cannot be written down"),
        # A journal with these could not be read again.
        (Reply(3), "cannot be written down"),  # type: ignore[arg-type]
        (Reply("x", stop=3), r"Expected `str`, got `int` - at `\$.stop`"),  # type: ignore[arg-type]
        (Reply("x", usage=Usage(1.5)), r"at `\$.usage.input`"),  # type: ignore[arg-type]
        (Reply("", (Call("1", "f", {}, 3),)), r"at `\$.calls\[0\].broken`"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_reply_is_refused_and_nothing_is_kept(reply: Any, said: str) -> None:
    session = Session(Toolbox(), lambda request: reply).ask("hello")
    count = len(session.journal)
    with pytest.raises(ModelError, match=said):
        session.run()
    assert len(session.journal) == count


def test_a_model_that_answers_nothing_is_waited_for() -> None:
    answers: list[Reply | None] = [None, Reply("here")]
    session = Session(Toolbox(), lambda request: answers.pop(0)).tell("hello")
    assert session.text == ""
    with pytest.raises(NotYourTurn):
        session.decide("call_1")
    assert session.run().text == "here"


def test_a_run_stops_at_its_last_turn_and_a_prompt_gives_it_more() -> None:
    def f() -> int:
        return 1

    session = Session(
        Toolbox(f), Scripted([("f", {})] * 9), scheme="flat", approve="all", max_turns=2
    ).tell("go")
    assert len(session.calls) == 2
    assert session.tell("on").state.turns == 4


def test_generating_changes_nothing() -> None:
    session = Session(Toolbox(), Scripted(["hello"])).ask("hi")
    count = len(session.journal)
    assert session.generate() == Reply("hello")
    assert len(session.journal) == count
