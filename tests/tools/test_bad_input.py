"""Bad input to the core: what tools, models and people can do wrong, and what they are told."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
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
from jupyter_toolcall.models.retrying import Patience
from jupyter_toolcall.schemes.messages import Reply, Request

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


def outcome(function: Any, *, calls: Any = None, **inputs: Any) -> CallRecord:
    """Return what the first call of a session comes to; its journal can be kept and read."""
    name = getattr(function, "__name__", "")
    model = Scripted([calls or (name, {}), "done"])
    session = Session(
        Toolbox(*([function] if function else []), Potato, types=[Plate]),
        model,
        scheme="flat",
        approve="all",
        inputs=inputs,
    ).tell("go")
    assert Journal.loads(session.journal.dumps()).dumps() == session.journal.dumps()
    assert session.text == "done"
    return session.calls[0]


# -- tools that cannot be made ------------------------------------------------------------


def test_a_parameter_without_a_type_is_named_and_what_to_write() -> None:
    def cook(dish, hot: bool) -> str:  # type: ignore[no-untyped-def]
        return "done"

    with pytest.raises(
        DefinitionError, match=r"cook: the parameter 'dish' has no type.*`dish: str`"
    ):
        Toolbox(cook)


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


NO_SCHEMA = (Callable[[int], int], Callable, type, type[Potato], dict[Potato, int], Iterator[int])
OTHER_POTATO = type("Potato", (), {"__module__": "elsewhere", "peel": lambda self: None})


@pytest.mark.parametrize(
    ("sources", "types", "said"),
    [
        *(([taking(a)], [], "'then'.*no JSON Schema.*take") for a in NO_SCHEMA),
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
    def serve(plate: Plate) -> str:
        return "here"

    with pytest.raises(DefinitionError, match="serve: the parameter 'plate' takes a Plate"):
        Session(Toolbox(serve))
    Session(Toolbox(serve), inputs={"plate": Plate()})

    def buy() -> Plate:
        return Plate()

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
    def mine() -> int:
        return 1

    renamed = tool(name=name)(mine)
    with pytest.raises(UsageError, match=f"{name!r}.*rename it"):
        Session(Toolbox(renamed), outputs={"x": int})


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
        *(("inputs", {1: 2}, "inputs: {1: 2} is no dict"), ("max_turns", 0, "0 is no number")),
        ("budget", "9", r"budget: '9' is no Budget, such as Budget\(calls=40\)"),
        *(("system", None, "system is None, which is no text"), ("name", 3, "name is 3, which")),
        ("inputs", {"": 2}, "inputs: {'': 2} is no dict"),
        *(("breaks", 3, "breaks is 3, which"), ("breaks", ["a", None], "breaks is None, which")),
        *(("jobs", n, "^jobs: .* is no number; give 1 or more") for n in (0, -1, 1.5, "4", True)),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(option: str, value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Session(Toolbox(Potato), **{option: value})


# -- calls that cannot run ----------------------------------------------------------------

nested: list[Any] = []
for _ in range(70):
    nested = [nested]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("Potato_slize", {}, "there is no tool 'Potato_slize'. Did you mean Potato_slice?"),
        ("Potato_slice", {"pieces": "many"}, "pieces: input should be a valid integer"),
        ("Potato_slice", {"size": 1}, "size: there is no such argument; there are Potato, pieces"),
        ("Potato_weigh", {}, "unit: Give a value"),
        ("Potato_slice", {"Potato": "Potato#01"}, "objects of that type: Potato#1"),
        ("Potato_slice", {"Potato": "Potato#1 "}, "there is no object 'Potato#1 '"),
        ("Potato_slice", {"Potato": "potato#1"}, "the newest are: Plate#1, Potato#1"),
        ("Potato_slice", {"Potato": "Potato#-1"}, "there is no object"),
        (
            "Potato_slice",
            {"Potato": "Plate#1"},
            "Plate#1 is a Plate, not a Potato; the newest: Potato#1",
        ),
        ("Potato_slice", {"Potato": 1}, "must be the name of an object, such as Potato#1"),
        ("Potato_slice", {"pieces": float("nan")}, "pieces: nan is not JSON"),
        ("Potato_slice", {"pieces": float("inf")}, "pieces: inf is not JSON"),
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
def test_a_call_that_cannot_run_is_told_why_and_what_there_is(
    name: str, arguments: Any, said: str
) -> None:
    def model(request: Request) -> Reply:
        return Reply("done") if request.turn else Reply("", (Call("c1", name, arguments),), "tools")

    box = Toolbox(Potato, types=[Plate])
    session = Session(
        box, model, scheme="flat", approve="all", inputs={"potato": Potato(), "plate": Plate()}
    ).tell("go")
    (call,) = session.calls
    assert call.status == "failed"
    assert said in call.error
    assert len(call.error) < 1000
    assert said.partition(";")[0] in session.cursor.request.messages[2].results[0].content.replace(  # type: ignore[union-attr]
        "\\", ""
    )
    assert Journal.loads(session.journal.dumps()).dumps() == session.journal.dumps()
    assert len(session.journal.dumps()) < 20_000


def test_a_script_that_is_one_text_is_one_reply() -> None:
    assert Scripted("Done.").items == Scripted(["Done."]).items


@dataclass
class Box:
    day: datetime.date
    sizes: list[int]


def test_what_python_has_for_data_is_written_as_json_in_arguments() -> None:
    def pack(day: datetime.date, boxes: list[Box], count: int, share: float) -> str:
        return f"{day} {boxes[0].sizes} {count} {share}"

    day = datetime.date(2030, 5, 1)
    arguments = {"day": pd.Timestamp(day), "boxes": [Box(day, [1])], "count": np.int64(3)}
    model = Scripted([("pack", {**arguments, "share": Decimal("1.50")}), "done"])
    session = Session(Toolbox(pack), model, scheme="flat", approve="all").tell("go")
    assert session.calls[0].result == "2030-05-01 [1] 3 1.5"
    edited = session.edit("call_1", boxes=[Box(day, [4])], share=np.float32(0.25)).run()
    assert edited.calls[0].result == "2030-05-01 [4] 3 0.25"
    for value, said in ((np.float32("nan"), "share: nan is not JSON"), (b"x", "a bytes is not")):
        with pytest.raises(CallError, match=said):
            session.edit("call_1", share=value)


def test_a_call_of_a_type_that_has_no_object_yet_is_told_so() -> None:
    call = outcome(None, calls=("Potato_slice", {}))
    assert call.error == "Potato: there is no Potato yet; make one first"


@pytest.mark.parametrize(
    ("sent", "known"),
    [
        ("input:potato", "input_potato"),
        ("a[0", "a_0"),
        ("", "call"),
        ("é" * 300, "_" * 100),
        ("toolu_01-A", "toolu_01-A"),
    ],
)
def test_a_call_id_is_a_plain_word_whatever_a_model_sends(sent: str, known: str) -> None:
    def model(request: Request) -> Reply:
        calls = (Call(sent, "Potato_slice", {}), Call(sent, "Potato_slice", {}))
        return Reply("", calls, "tools") if request.turn == 0 else Reply("done")

    box = Toolbox(Potato)
    given = {"potato": Potato(8)}
    session = Session(box, model, scheme="flat", approve="all", inputs=given).tell("go")
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


@pytest.mark.parametrize("stop", ["length", "refused", "context", "paused"])
def test_nothing_of_a_reply_runs_that_did_not_come_to_its_end(stop: str) -> None:
    def f() -> int:
        raise AssertionError("it ran")

    model = AskedOnce(lambda request: Reply("half", (Call("c1", "f", {}),), stop))
    session = Session(Toolbox(f), model, scheme="flat", approve="all").tell("go")
    assert session.calls == ()
    assert session.text.splitlines()[0] == "half"


class AskedOnce:
    """A model that is a function, asked once: it replies in the first turn alone."""

    patience = Patience(tries=1)

    def __init__(self, reply: Callable[[Request], Reply]) -> None:
        self.reply = reply

    def __call__(self, request: Request) -> Reply | None:
        return None if request.turn else self.reply(request)


# -- what tools do ------------------------------------------------------------------------


def not_a_number() -> float:
    return float("nan")


def not_numbers() -> dict[str, Any]:
    return {"a": [float("nan"), -float("inf")]}


def some_bytes() -> bytes:
    return b"\xff\x00"


def itself() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


def deep() -> list[Any]:
    items: list[Any] = []
    for _ in range(100_000):
        items = [items]
    return items


def long_text() -> str:
    return "x" * 50_000_000


def half_a_character() -> str:
    return "a\ud800b"


def raises_half_a_character() -> str:
    raise ValueError("a\ud800b")


def odd_keys() -> dict[Any, int]:
    return {1: 1, (2, 3): 2, None: 3}


def huge_number() -> int:
    return 10**5000


def recurses() -> None:
    recurses()


async def waits() -> int:
    await asyncio.sleep(0)
    return 5


async def leaves_later() -> None:
    await asyncio.sleep(0)
    sys.exit(4)


def makes_coroutine() -> Any:
    return waits()


async def times_out() -> None:
    raise TimeoutError("late")


@pytest.mark.parametrize(
    ("function", "result"),
    [
        *((not_a_number, None), (not_numbers, {"a": [None, "-Infinity"]})),
        *((some_bytes, "2 bytes: b'\\xff\\x00'"), (itself, "[[...]]")),
        *((half_a_character, "a\ufffdb"), (waits, 5)),
        *((makes_coroutine, 5), (huge_number, "<int whose repr raises ValueError>")),
        (deep, "<list whose repr raises RecursionError>"),
    ],
)
def test_an_odd_result_is_told_as_data(function: Any, result: Any) -> None:
    call = outcome(function)
    assert (call.status, call.result) == ("succeeded", result)


def test_odd_keys_are_told_as_texts() -> None:
    assert set(outcome(odd_keys).result.values()) == {1, 2, 3}


def test_a_text_that_is_very_long_is_told_by_its_size_and_its_beginning() -> None:
    call = outcome(long_text)
    assert len(call.result) < 3_000
    assert call.result.endswith("… (50,000,000 characters)")


@pytest.mark.parametrize(
    ("function", "error"),
    [
        *((leaves_later, "SystemExit: 4"), (recurses, "RecursionError: maximum recursion depth")),
        *((raises_half_a_character, "ValueError: a\ufffdb"), (times_out, "TimeoutError: late")),
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
    model = Scripted([("tear", {}), HALF])
    given = {"torn": (Torn(), HALF)}
    box = Toolbox(Torn, tear, odd)
    session = Session(box, model, scheme="flat", approve="all", system=HALF, inputs=given)
    shown = session.tell(HALF)._repr_mimebundle_()
    assert "Torn#2" in json.dumps(shown, ensure_ascii=False).encode().decode()
    for to in ("json", "messages", "html", "py", "ipynb", "dot", "svg"):
        assert session.export(tmp_path / f"torn.{to}", to=to).stat().st_size > 0


def test_what_a_tool_prints_is_kept_with_its_step_and_capped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def chat() -> int:
        for _ in range(100):
            print("x" * 1_000_000)
        return 1

    session = Session(Toolbox(chat), Scripted([("chat", {}), "done"]), scheme="flat", approve="all")
    session.tell("go")
    (prints,) = [e.meta["prints"] for e in session.journal if "prints" in e.meta]
    assert len(prints) < 4_100
    assert capsys.readouterr().out == ""


def test_a_tool_that_changes_its_argument_changes_nothing_outside() -> None:
    mine = Potato(10)

    def spoil(potato: Potato) -> int:
        potato.mass = 0
        return potato.mass

    call = outcome(spoil, calls=("spoil", {"potato": "$Potato"}), potato=mine)
    assert (call.result, mine.mass) == (0, 10)


def test_a_tool_that_keeps_what_it_returned_cannot_change_it_later() -> None:
    kept: list[Potato] = []

    def grow() -> Potato:
        if kept:
            kept[0].mass = 99
        kept.append(Potato(len(kept) + 1))
        return kept[-1]

    session = Session(
        Toolbox(grow), Scripted([("grow", {}), ("grow", {}), "done"]), scheme="flat", approve="all"
    ).tell("go")
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
    session = Session(
        Toolbox(new),
        Scripted([("Bowl_fill", {"Bowl": "$Bowl", "food": "soup"}), "done"]),
        scheme="flat",
        approve="all",
        inputs={"bowl": old()},
    ).tell("go")
    assert session.calls[0].object == "Bowl#1"


def test_an_answer_with_a_wrong_decision_or_no_arguments_is_refused() -> None:
    session = Session(
        Toolbox(Potato),
        Scripted([("Potato_slice", {}), "done"]),
        scheme="flat",
        inputs={"potato": Potato()},
    ).tell("go")
    with pytest.raises(UsageError, match="Did you mean approve"):
        session.decide("call_1", "approved")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="an edit needs the arguments"):
        session.decide("call_1", "edit")
    # A journal with another value in its place could not be read again.
    with pytest.raises(UsageError, match="the reason is None, which is no text"):
        session.decide("call_1", "reject", reason=None)  # type: ignore[arg-type]
    with pytest.raises(CallError, match="pieces: nan is not JSON"):
        session.decide("call_1", "edit", arguments={"pieces": float("nan")})
    with pytest.raises(CallError, match="pieces: input should be a valid integer"):
        session.decide("call_1", "edit", arguments={"pieces": "no"})
    assert [call.id for call in session.pending] == ["call_1"]
