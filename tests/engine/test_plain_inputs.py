"""Plain inputs: the model reads them, and their names stand for their values."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox, from_definition
from jupyter_toolcall.schemes.messages import Request
from jupyter_toolcall.sources.graphql_tools import from_graphql
from tests.example_tools import panel_of

SCHEMES = [(scheme, native) for scheme in ("select", "current", "flat") for native in (False, True)]
STRAWBERRY = "I'm a strawberry!"


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Note:
    """A note, which is plain data."""

    title: str
    tags: list[str]


class Jar:
    """A jar, which has tools."""

    def __init__(self, label: str = "") -> None:
        self.label = label

    def relabel(self, label: str) -> Jar:
        """Return the jar with another label."""
        return Jar(label)


SENT: list[Any] = []


def send(value: Any) -> str:
    SENT.append(value)
    return "sent"


def post(text: str, limit: int = 0) -> str:
    SENT.append((text, limit))
    return "sent"


def file(note: Note, texts: list[str], table: dict[str, str]) -> str:
    SENT.append((note, texts, table))
    return "sent"


def paint(colour: Colour, day: date, price: float, label: str = "") -> str:
    """Send a colour, a day and a price."""
    SENT.append((colour, day, price, label))
    return "sent"


BOX = Toolbox(send, post, file, paint)


def session_of(*script: Any, box: Toolbox = BOX, **options: Any) -> Session:
    SENT.clear()
    common: dict[str, Any] = {"scheme": "flat", "approve": "all"}
    return Session(box, Scripted(script), **common | options)


def select(scheme: str, *names: str) -> list[Any]:
    return [("selectTools", {"tools": [*names]})] if scheme == "select" else []


def read_by_model(request: Request) -> str:
    """Return all that a model reads: the system text, the tools, and the messages."""
    tools = [text for tool in request.tools for text in (tool.name, tool.description)]
    return "\n".join([request.system, *tools, *map(repr, request.messages)])


# -- what a model reads -----------------------------------------------------------------------


@pytest.mark.parametrize(("scheme", "native"), SCHEMES)
def test_the_model_is_shown_the_value_of_each_plain_input(scheme: str, native: bool) -> None:
    inputs = {
        "content": (STRAWBERRY, "what to judge"),
        "limit": 3,
        "exact": Decimal("1.50"),
        "day": date(2026, 3, 1),
        "colour": Colour.RED,
        "rows": [{"a": 1}, {"a": None}],
        "yes": True,
        "nothing": None,
    }
    session = session_of("done", scheme=scheme, native=native, inputs=inputs).tell("Go.")
    text = read_by_model(session.requests[0].request).replace("&quot;", '"')
    for line in (
        f'- str#1: "{STRAWBERRY}" (what to judge)',
        "- int#1: 3 (limit)",
        '- Decimal#1: "1.50" (exact)',
        '- date#1: "2026-03-01" (day)',
        '- Colour#1: "red" (colour)',
        '- list#1: [{"a":1},{"a":null}] (rows)',
        "- bool#1: true (yes)",
        "- NoneType#1: null (nothing)",
    ):
        assert line in text


@pytest.mark.parametrize("scheme", ["select", "current", "flat"])
def test_a_long_input_is_cut_with_its_length(scheme: str) -> None:
    inputs = {"text": "ab" * 50_000, "rows": list(range(5_000))}
    session = session_of("done", scheme=scheme, inputs=inputs).tell("Go.")
    text = read_by_model(session.requests[0].request)
    assert re.search(r'- str#1: "(ab)+"… \(100,000 characters in all\)', text)
    assert re.search(r"- list#1: \[0,1,.*… \(5,000 items in all\)", text)
    assert len(text) < 24_000


@pytest.mark.parametrize(
    ("name", "text"), [("api_token", "tiger-1234-lily"), ("text", "x" * 395 + "k9Qz7Lm2Xv8Rt4Wp")]
)
def test_a_secret_in_an_input_is_used_and_never_shown(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "k9Qz7Lm2Xv8Rt4Wp")
    session = session_of(("post", {"text": "str#1"}), "done", inputs={name: text}).tell("Go.")
    assert [(text, 0)] == SENT
    shown = read_by_model(session.requests[0].request) + session.journal.dumps()
    assert not [part for part in ("tiger", "k9Q") if part in shown]


def test_more_inputs_than_are_listed_of_objects_are_all_shown() -> None:
    inputs = {f"text_{number}": f"word {number}" for number in range(12)}
    session = session_of("done", scheme="current", inputs=inputs).tell("Go.")
    text = read_by_model(session.requests[0].request)
    assert all(f'"word {number}"' in text for number in range(12))


# -- a name stands for its value --------------------------------------------------------------


@pytest.mark.parametrize(("scheme", "native"), SCHEMES)
def test_a_tool_gets_the_value_and_never_the_name(scheme: str, native: bool) -> None:
    calls = [
        ("post", {"text": "str#1", "limit": "int#1"}),
        ("file", {"note": {"title": "str#1", "tags": ["a", "str#1"]}, "texts": "list#1",
                  "table": {"key": "str#1"}}),
        ("send", {"value": {"deep": [["str#1"]], "int#1": "no int#1"}}),
    ]  # fmt: skip
    script = [*select(scheme, "post", "file", "send"), calls, "done"]
    inputs = {"content": STRAWBERRY, "limit": 3, "words": ["x", "y"]}
    session = session_of(*script, scheme=scheme, native=native, inputs=inputs).tell("Go.")
    assert [call.error for call in session.calls if call.error] == []
    assert [
        (STRAWBERRY, 3),
        (Note(STRAWBERRY, ["a", STRAWBERRY]), ["x", "y"], {"key": STRAWBERRY}),
        {"deep": [[STRAWBERRY]], "int#1": "no int#1"},
    ] == SENT


@pytest.mark.parametrize("native", [False, True])
def test_in_current_a_name_of_the_models_own_stands_for_the_value_too(native: bool) -> None:
    script = [
        [("_use_str", {"id": "str#1"}), ("_saveAs", {"name": "it"})],
        [("post", {"text": "$it"}), ("post", {"text": "$5"}), ("send", {"value": ["$it"]})],
        "done",
    ]
    inputs = {"content": STRAWBERRY}
    session = session_of(*script, scheme="current", native=native, inputs=inputs).tell("Go.")
    assert SENT == [(STRAWBERRY, 0), ("$5", 0), [STRAWBERRY]]
    assert "text" in session.calls[2].uses


def test_the_value_is_validated_and_coerced_like_any_other() -> None:
    inputs = {"colour": Colour.RED, "day": date(2026, 3, 1), "price": Decimal("1.5"), "n": "12"}
    session = session_of(
        [
            ("paint", {"colour": "Colour#1", "day": "date#1", "price": "Decimal#1"}),
            ("paint", {"colour": "red", "day": "2026-03-02", "price": 2, "label": "date#1"}),
            ("post", {"text": "a", "limit": "str#1"}),
            ("post", {"text": "Decimal#1", "limit": "Colour#1"}),
        ],
        "done",
        inputs=inputs,
    ).tell("Go.")
    assert [
        (Colour.RED, date(2026, 3, 1), 1.5, ""),
        (Colour.RED, date(2026, 3, 2), 2.0, "2026-03-01"),
        ("a", 12),
    ] == SENT
    error = session.calls[-1].error
    assert error.startswith("post: limit: input should be a valid integer")
    assert error.endswith('Colour#1 is "red"')
    assert "\n" not in error


def test_a_tool_that_changes_its_argument_changes_no_input() -> None:
    def empty(value: Any) -> int:
        value.clear()
        return len(value)

    script = [("empty", {"value": "list#1"}), ("empty", {"value": "list#1"}), "done"]
    session = session_of(*script, box=Toolbox(empty), inputs={"rows": [1, 2]}).tell("Go.")
    assert session["list#1"] == [1, 2]
    session["list#1"].append(3)
    session.value("list#1").append(3)
    assert session["list#1"] == [1, 2]


def test_an_objects_parameter_takes_no_plain_data() -> None:
    box, calls = Toolbox(Jar), [("Jar_relabel", {"Jar": "str#1", "label": "x"})]
    session = session_of(calls, "done", box=box, inputs={"jar": Jar(), "text": "x"}).tell("Go.")
    assert session.calls[0].error == "str#1 is a str, not a Jar; the newest: Jar#1"


class Place(NamedTuple):
    note: Note
    shelf: str


@pytest.mark.parametrize(
    "value", [["Ann", "Bob"], ("a", "b", "c"), (1, 2), Place(Note("a", []), "low")]
)
def test_only_a_tuple_of_a_value_and_a_text_is_a_pair(value: Any) -> None:
    session = session_of("done", inputs={"pair": value})
    (name,) = session.objects
    assert session[name] == value
    assert session.state.objects[name].description == ""


@pytest.mark.parametrize("value", ["Ann", 3, None, [1], ("Ann", "Bob"), Jar()])
def test_a_pair_is_a_value_with_its_description(value: Any) -> None:
    session = session_of("done", inputs={"pair": (value, "It is full.")})
    (name,) = session.objects
    assert isinstance(value, Jar) or session[name] == value
    assert session.state.objects[name].description == "It is full."


def test_a_policy_decides_by_the_value() -> None:
    def only_short(tool: Any, arguments: Any) -> Any:
        return ("approve" if len(arguments["text"]) < 5 else "reject"), "only short texts"

    calls = [("post", {"text": "str#1"}), ("post", {"text": "str#2"})]
    inputs = {"one": "short, is it not?", "two": "abc"}
    session = session_of(calls, "done", inputs=inputs, approve=only_short).tell("Go.")
    assert [call.status for call in session.calls] == ["rejected", "succeeded"]


def test_tools_of_definitions_get_values_before_their_defaults_are_filled_in() -> None:
    done: list[Any] = []
    definition = {
        "type": "action",
        "tool": {"function": {"name": "order", "parameters": {
            "count": {"type": "integer"}, "item": {"type": "string"}, "tag": {"type": "string"},
        }}},
        "defaults": {"tag": "@override {item}-{count}"},
    }  # fmt: skip
    tool = from_definition(definition, action=lambda **given: done.append(given))
    call = ("order", {"count": "int#1", "item": "str#1"})
    inputs = {"count": 3, "item": "plum"}
    session = session_of(call, "done", box=Toolbox(tool), inputs=inputs).tell("Go.")
    assert session.calls[0].error == ""
    assert done == [{"count": 3, "item": "plum", "tag": "plum-3"}]
    assert {*session.calls[0].uses} == {"count", "item"}
    assert session.calls[0].arguments["item"] == "str#1"


def test_graphql_fields_get_values() -> None:
    sdl = (
        "type Query { shop(name: String!, at: When!, in: Place): Shop! } scalar When "
        "input Place { street: String, tags: [String!] } type Shop { size: Int! }"
    )
    box = from_graphql(sdl)
    arguments = {"name": "str#1", "at": "date#1", "in": {"street": "str#1", "tags": ["str#1"]}}
    inputs = {"name": "Plum", "at": date(2026, 3, 1)}
    session = session_of(("shop", arguments), "done", box=box, inputs=inputs).tell("Go.")
    assert session.calls[0].error == ""
    assert repr(session["Shop#1"]).count("Plum") == 3
    assert "2026-03-01" in repr(session["Shop#1"])
    assert "str#1" not in repr(session["Shop#1"])


# -- a dependency of the call -----------------------------------------------------------------

BY_NAME = st.sampled_from(["str#1", "int#1", "list#1", "dict#1"])
VALUES: dict[str, Any] = {
    "str#1": STRAWBERRY, "int#1": 7, "list#1": ["int#1", None], "dict#1": {"a": [1.5, True]}
}  # fmt: skip
INPUTS = {name.partition("#")[0]: value for name, value in VALUES.items()}
NESTED = st.recursive(
    BY_NAME | st.integers(0, 3) | st.text("ab#1", max_size=4) | st.none(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text("xy", min_size=1), part),
    max_leaves=8,
)


def in_place(value: Any) -> Any:
    if isinstance(value, str):
        return VALUES.get(value, value)
    if isinstance(value, list):
        return [in_place(part) for part in value]
    return {k: in_place(v) for k, v in value.items()} if isinstance(value, dict) else value


def names_in(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value} & VALUES.keys()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for part in parts for name in names_in(part)}


@given(NESTED)
def test_a_call_with_a_name_runs_as_with_the_value_and_depends_on_it(value: Any) -> None:
    session = session_of(("send", {"value": value}), "done", inputs=INPUTS).tell("Go.")
    assert [in_place(value)] == SENT
    used = {producer.input for producer in session.calls[0].uses.values()}
    assert used == {name.partition("#")[0] for name in names_in(value)}
    # It repeats as it is, and goes by other content where the inputs have other content.
    assert session.replay().run().head == session.head
    assert [in_place(value)] == SENT


def test_an_input_of_a_call_is_in_the_lineage_and_a_change_makes_it_outdated(tmp_path: Any) -> None:
    box = Toolbox(Jar)
    arguments, inputs = {"label": "str#1"}, {"label": "plum", "jar": Jar()}
    session = session_of(("Jar_relabel", arguments), "done", box=box, inputs=inputs).tell("Go.")
    assert session.deps("Jar#2") == ("str#1", "Jar#1")
    session.save(tmp_path / "s.jsonl")
    other = Session.load(tmp_path / "s.jsonl", box, inputs=inputs | {"label": "pear"})
    assert [each.name for each in other.outdated()] == ["str#1", "call_1", "Jar#2"]


def test_the_edit_of_a_call_takes_names_and_keeps_them() -> None:
    inputs = {"one": "first", "two": "second"}
    session = session_of(("post", {"text": "plain"}), "done", inputs=inputs).tell("Go.")
    edited = session.edit(session.calls[0], text="str#2", limit=1).run()
    assert SENT == [("plain", 0), ("second", 1)]
    assert edited.calls[0].arguments == {"text": "str#2", "limit": 1}
    assert edited.calls[0].uses["text"].input == "two"


def test_the_export_calls_the_tool_with_the_variable_of_the_input(tmp_path: Any) -> None:
    script = [("post", {"text": "str#1"}), ("send", {"value": ["str#1"]}), "done"]
    session = session_of(*script, inputs={"x": "first"}).tell("Go.")
    code = session.export(tmp_path / "s.py").read_text()
    assert 'str_1 = "first"' in code
    assert "post(text=str_1)" in code
    assert "send(value=[str_1])" in code


# -- in the results that a person or a program gives -------------------------------------------


def listed(count: int) -> list[int]:
    return [count]


ANSWERS: list[tuple[Any, Any]] = [
    ("str#1", STRAWBERRY),
    (["str#1", "no", "str#9"], [STRAWBERRY, "no", "str#9"]),
    ({"deep": [{"day": "date#1"}]}, {"deep": [{"day": "2026-03-01"}]}),
    ("list#1", [1, 2]),
    ("see str#1", "see str#1"),
]


@pytest.mark.parametrize(("result", "value"), ANSWERS)
@pytest.mark.parametrize("by_program", [True, False])
def test_in_given_results_names_stand_for_values(result: Any, value: Any, by_program: bool) -> None:
    inputs = {"text": STRAWBERRY, "day": date(2026, 3, 1), "numbers": [1, 2]}
    session = session_of(("send", {"value": 1}), "Done.", inputs=inputs, approve="none")
    if by_program:
        session.ask("Go.").step().tool_call_result("call_1", result)
    else:
        session.tell("Go.").decide("call_1", "answer", result=result)
    assert session.calls[0].result == value
    assert SENT == []
    assert str(session.run()) == "Done."


def test_an_answer_is_checked_as_the_value_that_a_name_stands_for() -> None:
    session = session_of(
        *(("listed", {"count": 1}), "Done."),
        box=Toolbox(listed),
        inputs={"numbers": [1, 2], "text": STRAWBERRY},
        approve="none",
    ).tell("Go.")
    controller, notices = panel_of(session)
    digest = notices[0].rows.calls[0].approval_digest
    answer = {"type": "answer", "call": "call_1", "approval_digest": digest}
    for name in ("str#1", "list#1"):
        controller.receive({**answer, "result": name})
        controller.apply_commands()
    assert [each.reason for each in notices if each.type == "refused"] == [
        "listed returns list[int]; result: give JSON, such as [1]"
    ]
    assert controller.session.calls[0].result == [1, 2]
