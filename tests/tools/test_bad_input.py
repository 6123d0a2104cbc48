"""Bad input to the core: what tools, models and people can do wrong, and what they are told."""

from __future__ import annotations

import asyncio
import datetime
import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.call_record import CallRecord
from jupyter_toolcall.core.errors import BrokenJournal, CallError, DefinitionError, UsageError
from jupyter_toolcall.core.events import Asked, Call, Opened, Replied
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.toolsets import tables

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]


HALF = "a\ud800b"
"""Half of a character stands in it: it cannot be written as UTF-8."""


class Potato:
    """An object."""

    def __init__(self, mass: int = 1) -> None:
        self.mass = mass

    def slice(self, pieces: int = 2) -> Potato:
        """Cut it."""
        return Potato(self.mass // pieces)

    def weigh(self, unit: str) -> int:
        """Weigh it."""
        return self.mass


class Plate:
    """Another."""


def opened(*sources: Any, calls: Any = (), **options: Any) -> Session:
    """Return a session whose model makes calls; its journal can be kept and read."""
    options = {"scheme": "flat", "approve": "all", **options}
    box = Toolbox(*sources, Potato, types=[Plate])
    session = Session(box, Scripted([*calls, "done"]), **options).tell("go")
    assert Journal.loads(session.journal.dumps()).dumps() == session.journal.dumps()
    return session


def outcome(function: Callable[[], Any]) -> CallRecord:
    """Return what a call comes to."""
    session = opened(tool(name="act")(function), calls=[("act", {})])
    assert session.text == "done"
    return session.calls[0]


# -- tools that cannot be made ------------------------------------------------------------


@dataclass
class Nest:
    """It holds itself, and objects."""

    potato: Potato
    inner: list[Nest]


def taking(annotation: Any) -> Callable[..., str]:
    """Return a function with a parameter of a type."""

    def cook(dish: str, then: Any) -> str:
        return "done"

    cook.__annotations__["then"] = annotation
    return cook


def untyped(dish, hot: bool) -> str:  # type: ignore[no-untyped-def]
    return "done"


NO_SCHEMA = (Callable[[int], int], Callable, type, type[Potato], dict[Potato, int], Iterator[int])
OTHER_POTATO = type("Potato", (), {"__module__": "elsewhere", "peel": lambda self: None})


@pytest.mark.parametrize(
    ("sources", "types", "said"),
    [
        *(([taking(a)], [], "'then'.*no JSON Schema.*take") for a in NO_SCHEMA),
        ([untyped], [], "untyped: the parameter 'dish' has no type.*`dish: str`"),
        ([taking(Nest)], [], "cook: the parameter 'then' has a type that holds itself"),
        ([taking("Missing")], [], r"cook: the parameter 'then'.*Missing.*import it"),
        *(([thing], [], "is no tool") for thing in (5, "text", None, {"a": 1}, object())),
        ([lambda: 1], [], r"<lambda>.*@tool\(name="),
        ([taking(str)] * 2, [], "two tools are named 'cook'"),
        ([], [OTHER_POTATO], "two types are named 'Potato'"),
    ],
)
def test_tools_that_cannot_be_made_are_refused_with_the_name_and_the_reason(
    sources: list[Any], types: list[type], said: str
) -> None:
    with pytest.raises(DefinitionError, match=said):
        Toolbox(Potato, *sources, types=types)


def test_a_returned_type_that_is_not_known_does_no_harm() -> None:
    def cook(dish: str) -> Missing:
        return dish

    assert Toolbox(cook)["cook"].parameters["required"] == ["dish"]


def test_a_function_whose_object_can_never_be_is_refused_when_the_session_opens() -> None:
    def serve(plate: Plate) -> None: ...

    def buy() -> Plate:
        return Plate()

    with pytest.raises(DefinitionError, match="serve: the parameter 'plate' takes a Plate"):
        Session(Toolbox(serve))
    Session(Toolbox(serve), inputs={"plate": Plate()})
    Session(Toolbox(serve, buy))


class Odd:
    """Its attributes and its class raise."""

    def __getattr__(self, name: str) -> Any:
        raise OSError(name)

    __class__ = property(lambda self: self.nothing)


def test_an_input_whose_class_raises_anything_is_an_object_or_one_line() -> None:
    assert [*Session(Toolbox(Potato), inputs={"odd": Odd()}).objects] == ["Odd#1"]
    unhashable = type("Unhashable", (type,), {"__hash__": lambda cls: 1 // 0})
    with pytest.raises(UsageError, match="inputs: odd: its class cannot be read"):
        Session(Toolbox(Potato), inputs={"odd": unhashable("Odd", (), {})()})


@pytest.mark.parametrize("name", ["save", "selectTools"])
def test_a_tool_that_is_named_as_one_of_the_scheme_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name!r}.*rename it"):
        Session(Toolbox(tool(name=name)(lambda: 1)), outputs={"x": int})


@pytest.mark.parametrize(("text", "is_what"), [("", "empty"), ("  \n", "empty"), (3, "3, which")])
def test_an_empty_prompt_is_refused(text: Any, is_what: str) -> None:
    with pytest.raises(UsageError, match=f"the prompt is {is_what}"):
        Session(Toolbox(Potato)).ask(text)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        *(("scheme", "flatt", "Did you mean flat"), ("approve", "al", "Did you mean all")),
        *(("model", "kitchen", "scripted:NAME"), ("model", "scripted:nothing", "scripted:kitchen")),
        *(("outputs", {"x": "Potatoe"}, "Did you mean Potato"), ("outputs", ["x"], "is no dict")),
        *(("inputs", {1: 2}, "inputs: {1: 2} is no dict"), ("max_turns", 0, "max_turns is 0")),
        ("breaks", "Potato_peal", r"^break Potato_peal: .* Did you mean Potato_weigh\?$"),
        ("breaks", ["*weigh", "*Way"], r"^break \*Way: no tool has that name"),
        ("budget", "9", r"budget: '9' is no Budget, such as Budget\(calls=40\)"),
        *(("system", None, "system is None, which is no text"), ("name", 3, "name is 3, which")),
        ("inputs", {"": 2}, "inputs: {'': 2} is no dict"),
        *(("breaks", 3, "breaks is 3, which"), ("breaks", ["*", None], "breaks is None, which")),
        *(
            ("jobs", n, "^jobs is .*; give a whole number from 1 on")
            for n in (0, -1, 1.5, "4", True)
        ),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(option: str, value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Session(Toolbox(Potato), **{option: value})


# -- calls that cannot run ----------------------------------------------------------------

NUMBERS = ("nan", "inf")
nested: list[Any] = []
for _ in range(70):
    nested = [nested]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("Potato_slize", {}, "there is no tool 'Potato_slize'. Did you mean Potato_slice?"),
        ("tables_group_by", {}, "Did you mean tables_aggregate?"),
        ("Potato_slice", {"pieces": "many"}, "pieces: input should be a valid integer"),
        ("Potato_slice", {"size": 1}, "size: there is no such argument; there are Potato, pieces"),
        ("Potato_weigh", {}, "unit: Give a value"),
        ("Potato_slice", {"Potato": "Potato#01"}, "objects of that type: Potato#1"),
        ("Potato_slice", {"Potato": "potato#1"}, "the newest are: Plate#1, Potato#1"),
        ("Potato_slice", {"Potato": "Plate#1"}, "is a Plate, not a Potato; the newest: Potato#1"),
        ("Potato_slice", {"Potato": 1}, "must be the name of an object, such as Potato#1"),
        *(("Potato_slice", {"pieces": float(n)}, f"pieces: {n} is not JSON") for n in NUMBERS),
        ("Potato_slice", {"pieces": Potato()}, "a Potato is not JSON; name an object"),
        ("Potato_slice", {"pieces": 10**5000}, "a number that is too long"),
        ("Potato_weigh", {"unit": "x" * 10_000_000}, "longer than 1,000,000 characters"),
        ("Potato_weigh", {"unit": nested}, "nested deeper than 64 levels"),
        ("Potato_weigh", {"unit": "\ud800"}, "half of a Unicode character"),
        ("Potato_weigh", {1: "g"}, "the key 1 is not a text"),
        ("Potato_weigh", {"unit": "g", "__class__": "x"}, "__class__: there is no such argument"),
        ("Potato_weigh", ["g"], "the arguments are not an object"),
    ],
)
def test_a_call_that_cannot_run_is_told_why(name: str, arguments: Any, said: str) -> None:
    def model(request: Request) -> Reply:
        return Reply("done") if request.turn else Reply("", (Call("c1", name, arguments),), "tools")

    box, inputs = Toolbox(Potato, tables, types=[Plate]), {"potato": Potato(), "plate": Plate()}
    session = Session(box, model, scheme="flat", approve="all", inputs=inputs).tell("go")
    (call,) = session.calls
    assert call.status == "failed"
    assert said in call.error
    assert len(call.error) < 1000
    (told,) = session.cursor.request.messages[2].results  # type: ignore[union-attr]
    assert said.partition(";")[0] in told.content.replace("\\", "")
    assert Journal.loads(session.journal.dumps()).dumps() == session.journal.dumps()
    assert len(session.journal.dumps()) < 20_000


@dataclass
class Box:
    day: datetime.date
    sizes: list[int]


def test_what_python_has_for_data_is_written_as_json_in_arguments() -> None:
    def pack(day: datetime.date, boxes: list[Box], count: int, share: float) -> str:
        return f"{day} {boxes[0].sizes} {count} {share}"

    day = datetime.date(2030, 5, 1)
    arguments = {"day": pd.Timestamp(day), "boxes": [Box(day, [1])], "count": np.int64(3)}
    session = opened(pack, calls=[("pack", {**arguments, "share": Decimal("1.50")})])
    assert session.calls[0].result == "2030-05-01 [1] 3 1.5"
    edited = session.edit("call_1", boxes=[Box(day, [4])], share=np.float32(0.25)).run()
    assert edited.calls[0].result == "2030-05-01 [4] 3 0.25"
    for value, said in ((np.float32("nan"), "share: nan is not JSON"), (b"x", "a bytes is not")):
        with pytest.raises(CallError, match=said):
            session.edit("call_1", share=value)


@pytest.mark.parametrize(
    ("sent", "known"),
    [
        *(("input:potato", "input_potato"), ("a[0", "a_0"), ("", "call")),
        *(("é" * 300, "_" * 100), ("toolu_01-A", "toolu_01-A")),
    ],
)
def test_a_call_id_is_a_plain_word_whatever_a_model_sends(sent: str, known: str) -> None:
    def model(request: Request) -> Reply:
        calls = (Call(sent, "Potato_slice", {}), Call(sent, "Potato_slice", {}))
        return Reply("", calls, "tools") if request.turn == 0 else Reply("done")

    options: Any = {"scheme": "flat", "approve": "all", "inputs": {"potato": Potato(8)}}
    session = Session(Toolbox(Potato), model, **options).tell("go")
    assert [call.id for call in session.calls] == [known, f"{known}-2"]
    assert [call.object for call in session.calls] == ["Potato#2", "Potato#3"]
    assert session.deps("Potato#3") == ("Potato#2",)
    assert "Potato#3" in session._repr_mimebundle_()["image/svg+xml"]


def test_a_record_with_a_call_id_that_is_a_place_is_refused(tmp_path: Path) -> None:
    journal = Journal()
    head = journal.append(None, Opened("flat"))
    head = journal.append(head.id, Asked("go"))
    journal.append(head.id, Replied(calls=(Call("input:potato", "Potato_slice"),)))
    (tmp_path / "s.jsonl").write_text(journal.dumps())
    with pytest.raises(BrokenJournal, match="is no call id"):
        Session.load(tmp_path / "s.jsonl", Toolbox(Potato))


@pytest.mark.parametrize("tools", [5, None, {}, "Potato_slice", [5], []])
def test_a_call_of_selectTools_that_makes_no_sense_is_shown(tools: Any) -> None:
    script = Scripted([("selectTools", {"tools": tools}), "done"])
    session = Session(Toolbox(Potato), script, inputs={"potato": Potato()}).tell("go")
    assert session.calls[0].status == "failed"
    assert "selectTools" in session._repr_mimebundle_()["text/plain"]


# -- what tools do ------------------------------------------------------------------------


def recurses() -> None:
    recurses()


async def waits() -> int:
    await asyncio.sleep(0)
    return 5


def itself() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


def deep() -> list[Any]:
    return functools.reduce(lambda items, _: [items], range(100_000), [])


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda: {"a": [float("nan"), -float("inf")]}, {"a": [None, "-Infinity"]}),
        (lambda: b"\xff\x00", "2 bytes: b'\\xff\\x00'"),
        (lambda: HALF, "a\ufffdb"),
        (lambda: 10**5000, "<int whose repr raises ValueError>"),
        *((waits, 5), (lambda: waits(), 5), (itself, "[[...]]")),
        (deep, "<list whose repr raises RecursionError>"),
        (
            lambda: "x" * 50_000_000,
            lambda text: len(text) < 3_000 and text.endswith("… (50,000,000 characters)"),
        ),
    ],
)
def test_an_odd_result_is_told_as_data(function: Any, result: Any) -> None:
    call = outcome(function)
    assert call.status == "succeeded"
    assert result(call.result) if callable(result) else call.result == result


def raises(error: BaseException) -> Any:
    async def act() -> None:
        await asyncio.sleep(0)
        raise error

    return act


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (recurses, "RecursionError: maximum recursion"),
        (raises(ValueError(HALF)), "ValueError: a\ufffdb"),
    ],
)
def test_whatever_a_tool_raises_is_a_failure_that_is_told(function: Any, error: str) -> None:
    call = outcome(function)
    assert call.status == "failed"
    assert call.error.startswith(error)


class Torn:
    """It shows half of a character wherever it can."""

    def __init__(self) -> None:
        self.said = HALF

    def __str__(self) -> str:
        return HALF

    def _repr_html_(self) -> str:
        return HALF


def tear() -> Torn:
    return Torn()


def test_half_a_character_stops_neither_the_panel_nor_a_file(tmp_path: Path) -> None:
    said = {"type": "object", "properties": {"of": {"type": "string", "description": HALF}}}
    odd = Tool("odd", HALF, said, lambda of: of)
    given, box = {"torn": (Torn(), HALF)}, Toolbox(Torn, tear, odd)
    model = Scripted([("tear", {}), HALF])
    session = Session(box, model, scheme="flat", approve="all", system=HALF, inputs=given)
    shown = session.tell(HALF)._repr_mimebundle_()
    assert "Torn#2" in json.dumps(shown, ensure_ascii=False).encode().decode()
    for to in ("json", "messages", "html", "py", "ipynb", "dot", "svg"):
        assert session.export(tmp_path / f"torn.{to}", to=to).stat().st_size > 0


def test_what_a_tool_prints_is_capped(capsys: pytest.CaptureFixture[str]) -> None:
    def chat() -> None:
        for _ in range(100):
            print("x" * 1_000_000)

    session = opened(chat, calls=[("chat", {})])
    (prints,) = [e.meta["prints"] for e in session.journal if "prints" in e.meta]
    assert len(prints) < 4_100
    assert capsys.readouterr().out == ""


def test_a_tool_that_keeps_what_it_returned_cannot_change_it_later() -> None:
    kept: list[Potato] = []

    def grow() -> Potato:
        if kept:
            kept[0].mass = 99
        kept.append(Potato(len(kept) + 1))
        return kept[-1]

    session = opened(grow, calls=[("grow", {}), ("grow", {})])
    assert [session[name].mass for name in session.objects] == [1, 2]
    session["Potato#1"].mass = 50
    assert session["Potato#1"].mass == 1


def test_a_class_that_a_cell_defined_again_is_the_type_of_its_old_objects() -> None:
    def define() -> Any:
        class Bowl:
            def fill(self, food: str) -> Bowl:
                """Fill it."""
                return self

        return Bowl

    old, new = define(), define()
    call = ("Bowl_fill", {"Bowl": "$Bowl", "food": "soup"})
    assert opened(new, calls=[call], inputs={"bowl": old()}).calls[0].object == "Bowl#1"


@pytest.mark.parametrize(
    ("decision", "fields", "said"),
    [
        *(("approved", {}, "Did you mean approve"), ("edit", {}, "an edit needs the arguments")),
        # A journal with another value in its place could not be read again.
        ("reject", {"reason": None}, "the reason is None, which is no text"),
        ("edit", {"arguments": {"pieces": float("nan")}}, "pieces: nan is not JSON"),
        ("edit", {"arguments": {"pieces": "no"}}, "pieces: input should be a valid integer"),
    ],
)
def test_a_decision_that_is_none_is_refused(decision: Any, fields: Any, said: str) -> None:
    session = opened(calls=[("Potato_slice", {})], inputs={"potato": Potato()}, approve="ask")
    with pytest.raises((UsageError, CallError), match=said):
        session.decide("call_1", decision, **fields)
    assert [call.id for call in session.pending] == ["call_1"]
