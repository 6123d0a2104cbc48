"""What the model reads of results, errors and inputs, as laws."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.digests import readable_json
from jupyter_toolcall.schemes.current import Current
from jupyter_toolcall.schemes.messages import Reply
from jupyter_toolcall.schemes.native import Native
from jupyter_toolcall.schemes.scheme import Flat, Scheme, sent_data
from jupyter_toolcall.tools.invoke import MEMBERS, error_text
from jupyter_toolcall.tools.plain_data import plain_data
from jupyter_toolcall.tools.value_text import content_text
from tests.example_tools import run_calls


def errors(leaves: st.SearchStrategy[Exception]) -> st.SearchStrategy[Exception]:
    groups = st.lists(leaves, min_size=1, max_size=4)
    return groups.map(lambda members: ExceptionGroup("several", members))


@given(st.recursive(st.integers().map(lambda n: ValueError(f"{n}\nin two lines")), errors))
def test_a_group_of_errors_is_read_member_by_member(error: Exception) -> None:
    lines = [line.strip() for line in error_text(error).splitlines()]
    waiting, leaves = [error], []
    while waiting:
        member = waiting.pop(0)
        inner = getattr(member, "exceptions", ())
        leaves += [] if inner else [str(member).splitlines()[0]]
        waiting = [*inner, *waiting]
    told = [line for line in lines if line.startswith(("- ValueError", "ValueError"))]
    assert len(lines) <= MEMBERS + 1
    assert all(map(str.__contains__, told, leaves))
    assert len(told) == len(leaves) or len(lines) == MEMBERS + 1


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), max_size=4))
def test_notes_that_were_added_to_an_error_follow_its_message(notes: list[str]) -> None:
    error = ValueError("too long")
    for note in notes:
        error.add_note(note)
    assert error_text(error).splitlines() == ["ValueError: too long", *notes]


def test_what_an_error_was_raised_from_is_read_as_python_shows_it() -> None:
    error = RuntimeError("no price")
    error.__cause__ = ExceptionGroup("both", [KeyError("shop"), ValueError("line 7")])
    error.__context__ = error.__cause__.__cause__ = error
    below = ["  - KeyError: 'shop'", "  - ValueError: line 7"]
    lines = ["RuntimeError: no price", "caused by ExceptionGroup: both (2 sub-exceptions)", *below]
    assert error_text(error).splitlines() == lines
    handled = ValueError("no number")
    handled.__context__ = KeyError("shop")
    assert error_text(handled).endswith("\nwhile handling KeyError: 'shop'")
    again = KeyError("shop")
    again.__cause__ = handled.__context__
    again.__cause__.__context__ = ValueError("line 7")
    assert error_text(again) == "KeyError: 'shop'\nwhile handling ValueError: line 7"


class Bare:
    pass


class Named(Bare):
    def __str__(self) -> str:
        return "a nest"


@dataclass
class Holder:
    held: Any


MAKERS = st.recursive(
    st.sampled_from([Bare, Named, lambda: lambda: 0, threading.Lock]),
    lambda makers: st.builds(
        lambda wrap, make: lambda: wrap(make()),
        st.sampled_from(
            [Holder, KeyError, lambda v: SimpleNamespace(v=v), lambda v: [v], lambda v: {"k": v}]
        ),
        makers,
    ),
)


@given(MAKERS)
def test_no_text_of_an_object_has_an_address_in_memory(make: Callable[[], Any]) -> None:
    first, second = (
        (plain_data(value), content_text(value, str, str), error_text(ValueError(value)))
        for value in (make(), make())
    )
    assert first == second
    assert " at 0x" not in str(first)
    assert content_text([Named()], str, str) == '["a nest"]'


@given(
    st.text('ab\n"é', min_size=41) | st.lists(st.text("ab"), min_size=30).map(tuple),
    st.integers(20, 40),
    st.sampled_from([Flat(), Current(), Native(Flat())]),
)
def test_a_result_above_the_limit_is_read_in_parts(value: Any, limit: int, scheme: Scheme) -> None:
    whole = value if isinstance(value, str) else readable_json(value)
    offered: list[bool] = []
    script: list[Any] = [("result", {})]
    script += [
        ("read_result", {"call": "call_1", "start": start})
        for start in range(limit, len(whole), limit)
    ]
    scripted = Scripted([*script, "Done."])

    def result() -> Any:
        return value

    def model(request: Any) -> Any:
        offered.append("read_result" in f"{[tool.name for tool in request.tools]}{request.system}")
        return scripted(request)

    options: Any = {"scheme": scheme, "approve": "all", "max_result": limit}
    session = Session(Toolbox(result), model, **options).tell("Go.")
    first, _ = sent_data(session.state.calls["call_1"], session.state, session.toolbox)
    parts = [call.result.partition("… (characters")[0] for call in session.calls[1:]]
    assert "".join([first["result"][:limit], *parts]) == whole
    assert f"{len(whole):,} characters" in first["result"]
    assert offered == [False, *[True] * (len(offered) - 1)]


@settings(max_examples=30)
@given(st.text(max_size=900), st.integers(1, 900))
def test_a_text_that_is_an_input_is_sent_whole_up_to_the_limit(text: str, limit: int) -> None:
    session = run_calls(calls=[], inputs={"letter": text}, max_result=limit)
    cut = f"{readable_json(text[:limit])}…"
    assert (cut if len(text) > limit else readable_json(text)) in session.requests[0].request.system


@pytest.mark.parametrize(("stop", "why"), [("refused", "content filter"), ("end", "stopped")])
def test_a_reply_without_text_says_why(stop: str, why: str) -> None:
    session = Session(Toolbox(), lambda request: Reply("", stop=stop), scheme="flat").tell("Go.")
    assert why in session.text
