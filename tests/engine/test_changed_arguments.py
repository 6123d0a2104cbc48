"""What a tool changes in place: the object stays as it was, and the change is a new object."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import threading
from typing import Any

import pytest
from matplotlib.figure import Figure
from numpy import array, ndarray, shares_memory
from pandas import DataFrame

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.tools.value_copies import private
from jupyter_toolcall.tools.value_digests import content_digest
from jupyter_toolcall.view.view_rows import all_rows


class Dough:
    """An object that can change."""

    def __init__(self, grams: int = 100) -> None:
        self.grams = grams

    def knead(self) -> None:
        """Change it, and return nothing."""
        self.grams += 1

    def rest(self) -> Dough:
        """Change it, and return it."""
        self.grams += 10
        return self

    def weigh(self) -> int:
        """Change it, though nobody would think so, and return something else."""
        self.grams -= 5
        return self.grams


class Starter(Dough):
    """What can be read, and not be copied."""

    def __reduce__(self) -> Any:
        return _grow, (self.grams,)


def _grow(grams: int) -> Starter:
    raise TypeError(f"{grams} g are alive")


class Tray(Dough):
    """What holds a part that all copies share: it is found by its name."""

    def __init__(self) -> None:
        super().__init__()
        self.mark = MARKS["tray"]


class Mark:
    """A part that is found again by its name."""

    text = ""
    find: Any

    def __reduce__(self) -> Any:
        return self.find, ("tray",)


MARKS: dict[str, Mark] = {"tray": Mark()}
Mark.find = MARKS.__getitem__


class Locked(Dough):
    """What has a part that can neither be copied nor told."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Shut:
    """What can neither be copied nor read, and holds nothing."""

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("it is shut")


class Sealed(Dough):
    """What is read as another each time."""

    def __reduce__(self) -> Any:
        return Sealed, (), {"grams": self.grams, "read": next(READINGS), "part": Shut()}


READINGS = itertools.count()


class Moody(Dough):
    """What is another after each copy."""

    def __reduce__(self) -> Any:
        return Moody, (self.grams + 1,)


def eat(dough: Dough) -> str:
    """Change it, and return a text."""
    if not isinstance(dough, Sealed):
        dough.grams = 0
    return "gone"


def fill(dough: Dough) -> None:
    """Change it, and return nothing."""
    dough.grams *= 2


def swap(dough: Dough) -> Dough:
    """Change it, and return another one."""
    dough.grams = 7
    return Dough(3)


@tool(read_only=True)
def peek(dough: Dough) -> int:
    """Change nothing."""
    return dough.grams


def halve(dough: Dough) -> list[Dough]:
    """Change it, and return it with another one."""
    dough.grams //= 2
    return [Dough(dough.grams), dough]


def burn(dough: Dough) -> None:
    """Change it, and fail."""
    dough.grams = 0
    raise ValueError("smoke")


def look(dough: Dough) -> int:
    """Change nothing."""
    return dough.grams


def play(name: str, dough: Any = None) -> tuple[Session, list[str]]:
    """Return a session of one call on an object, and the notes and warnings of that call."""
    value = Dough() if dough is None else dough
    box = Toolbox(Dough, Starter, Locked, Sealed, Moody, eat, fill, swap, halve, burn, look, peek)
    named = {type(value).__name__: "$" + type(value).__name__}
    arguments = named if "_" in name else {"dough": "$" + type(value).__name__}
    script, inputs = Scripted([(name, arguments), "done"]), {"dough": value}
    session = Session(box, script, scheme="flat", approve="all", inputs=inputs).tell("Go.")
    notes = [note for entry in session.journal for note in entry.meta.get("notes", ())]
    (row,) = all_rows(session.cursor, "").calls
    return session, [*notes, *([f"{row.warning.kind}: {row.warning.text}"] if row.warning else [])]


CHANGED = "changed Dough#1 in place: "
KEPT = CHANGED + "kept as Dough#2"
SWAPPED = {"result": "Dough#2", "changed": {"dough": "Dough#3"}}
DROPPED = CHANGED + "dropped, so Dough#1 stays as it was"


def told(session: Session) -> Any:
    """Return what the model was told of the last call."""
    results = [
        part for message in session.requests[-1].request.messages for part in _parts(message)
    ]
    return json.loads(results[-1].content)


def _parts(message: Any) -> Any:
    return getattr(message, "results", ())


@pytest.mark.parametrize(
    ("tool", "became", "data", "grams"),
    [
        ("Dough_knead", KEPT, {"result": "Dough#2"}, 101),
        ("Dough_rest", KEPT, {"result": "Dough#2"}, 110),
        ("fill", KEPT, {"result": "Dough#2"}, 200),
        ("Dough_weigh", KEPT, {"result": 95, "changed": {"Dough": "Dough#2"}}, 95),
        ("eat", KEPT, {"result": "gone", "changed": {"dough": "Dough#2"}}, 0),
        ("halve", CHANGED + "kept as Dough#3", {"objects": ["Dough#2", "Dough#3"]}, 50),
        ("swap", CHANGED + "kept as Dough#3", SWAPPED, 7),
        ("burn", DROPPED, {"error": "ValueError: smoke"}, 100),
    ],
)
def test_an_input_stays_as_it_was_and_what_a_call_changed_is_a_new_object_beside_the_result(
    tool: str, became: str, data: Any, grams: int
) -> None:
    session, notes = play(tool)
    assert notes == [became]
    assert told(session) == data
    assert session[session.objects[-1]].grams == grams
    assert session["Dough#1"].grams == 100
    (call,) = session.calls
    assert call.changed == data.get("changed", {})


def test_each_changed_argument_is_an_object_wherever_it_stands_in_the_arguments() -> None:
    def fill_all(doughs: list[Dough], other: Dough) -> None:
        for dough in (*doughs, other):
            dough.grams += 1

    arguments = {"doughs": ["Dough#1", "Dough#2"], "other": "Dough#3"}
    inputs = {"a": Dough(1), "b": Dough(2), "c": Dough(3)}
    model = Scripted([("fill_all", arguments), "done"])
    session = Session(Toolbox(fill_all), model, scheme="flat", approve="all", inputs=inputs)
    session.tell("Go.")
    changed = {"doughs.0": "Dough#4", "doughs.1": "Dough#5", "other": "Dough#6"}
    assert told(session) == {"result": None, "changed": changed}
    assert [session[name].grams for name in session.objects] == [1, 2, 3, 2, 3, 4]


def test_under_current_the_object_stays_current_that_a_method_changed_beside_its_result() -> None:
    model = Scripted([("_use_Dough", {"id": "Dough#1"}), ("Dough_weigh", {}), "done"])
    inputs = {"dough": Dough()}
    session = Session(Toolbox(Dough), model, scheme="current", approve="all", inputs=inputs)
    assert told(session.tell("Go.")) == {"result": 95, "changed": {"Dough": "Dough#2"}}


def test_an_input_that_stays_as_it_is_is_no_news() -> None:
    assert play("look")[1] == []
    assert play("look", Starter())[1] == []
    assert play("look", Locked())[1] == []


def test_what_cannot_be_copied_and_was_changed_is_marked_and_told_to_the_model() -> None:
    session, notes = play("eat", Starter())
    assert notes == [
        "untracked change: The tool changed Starter#1 itself, or a part that cannot be copied: "
        "earlier results made from it may have changed too."
    ]
    assert told(session) == {"result": "gone", "untracked": {"dough": "Starter#1"}}
    (row,) = all_rows(session.cursor, "").objects
    assert row.note == "can't be copied: passed as it is; changed after it was made"


def test_a_later_call_on_a_changed_original_asks_and_is_not_marked_itself() -> None:
    script = [("eat", {"dough": "Starter#1"}), ("look", {"dough": "Starter#1"}), "done"]
    inputs = {"dough": Starter()}
    box = Toolbox(Starter, eat, look)
    session = Session(box, Scripted(script), scheme="flat", approve="all", inputs=inputs)
    rows = all_rows(session.tell("Go.").cursor, "").calls
    assert rows[1].why == "It takes Starter#1, which a call changed after it was made."
    session.decide(session.calls[1])
    rows = all_rows(session.run().cursor, "").calls
    assert [row.warning is not None for row in rows] == [True, False]
    assert session.text == "done"
    # Each call has its result: nothing has to run for a replay, so nobody is asked.
    assert session.replay().run().text == "done"


def test_a_later_call_on_what_nobody_can_read_does_not_ask() -> None:
    script = [("eat", {"dough": "Locked#1"}), ("look", {"dough": "Locked#1"}), "done"]
    inputs = {"dough": Locked()}
    box = Toolbox(Locked, eat, look)
    session = Session(box, Scripted(script), scheme="flat", approve="all", inputs=inputs)
    assert session.tell("Go.").text == "done"


def test_a_lock_is_shared_and_the_change_beside_it_is_a_new_object() -> None:
    session, notes = play("eat", Locked())
    assert notes == ["changed Locked#1 in place: kept as Locked#2"]
    assert (session["Locked#1"].grams, session["Locked#2"].grams) == (100, 0)
    row, _ = all_rows(session.cursor, "").objects
    assert row.note == "not reproducible; its copies share the parts that can't be pickled"


@pytest.mark.parametrize("find", [lambda name: MARKS[name], MARKS.get], ids=["own", "method"])
def test_a_change_of_a_part_that_all_copies_share_is_marked(
    find: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mark, "find", staticmethod(find))
    monkeypatch.setattr(MARKS["tray"], "text", "")

    def write(tray: Tray) -> None:
        """Write on its mark, which is the original's."""
        tray.mark.text = "written"

    inputs = {"tray": Tray()}
    model = Scripted([("write", {"tray": "Tray#1"}), "done"])
    session = Session(Toolbox(write), model, scheme="flat", approve="all", inputs=inputs)
    (row,) = all_rows(session.tell("Go.").cursor, "").calls
    assert row.warning is not None
    assert row.warning.kind == "untracked change"
    assert told(session) == {
        "result": None,
        "changed": {"tray": "Tray#2"},
        "untracked": {"tray": "Tray#1"},
    }


def test_what_can_be_copied_and_not_compared_is_marked_unless_the_tool_is_read_only() -> None:
    session, notes = play("eat", Sealed())
    assert notes == [
        "untracked change: Sealed#1 cannot be compared, so nobody can tell whether the tool "
        "changed it in place: such a change is dropped."
    ]
    assert told(session) == {"result": "gone", "untracked": {"dough": "Sealed#1"}}
    assert play("peek", Sealed())[1] == []


PRICES = {"price": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    "view",
    [
        lambda table: table.head(2),
        lambda table: table[["price"]],
        lambda table: table.rename(columns={"price": "price"}),
        lambda table: table.copy(deep=False),
    ],
)
def test_a_read_only_tool_reads_tables_where_they_are_and_cannot_write_to_them(view: Any) -> None:
    memory = list[Any]()

    @tool(read_only=True)
    def look(table: DataFrame) -> DataFrame:
        """Return what shares memory with a table."""
        memory.append(table["price"].to_numpy())
        seen: DataFrame = view(table)
        return seen

    @tool(read_only=True)
    def overwrite(table: DataFrame) -> None:
        """Write to what only others may change."""
        table.loc[0, "price"] = 0.0

    def fill(table: DataFrame) -> DataFrame:
        """Write to a copy of the result, and return it."""
        table.loc[0, "price"] = 0.0
        return table

    names = ("look", "DataFrame#1"), ("overwrite", "DataFrame#1"), ("fill", "DataFrame#2")
    script = [*((name, {"table": table}) for name, table in names), "done"]
    box, inputs = Toolbox(look, overwrite, fill), {"table": DataFrame(PRICES)}
    session = Session(box, Scripted(script), scheme="flat", approve="all", inputs=inputs)
    session.tell("Go.")
    assert [call.status for call in session.calls] == ["succeeded", "failed", "succeeded"]
    assert "let it copy them first, or remove the mark" in session.calls[1].error
    assert [list(session[name]["price"])[:2] for name in session.objects] == [
        *([1.0, 2.0], [1.0, 2.0], [0.0, 2.0])
    ]
    mine = session["DataFrame#2"]
    mine.loc[0, "price"] = 7.0
    assert session["DataFrame#2"].loc[0, "price"] == 1.0
    recorded = session.cursor.context.values.value(session.state.objects["DataFrame#1"])
    assert shares_memory(memory[0], recorded["price"].to_numpy())


class Counted:
    """What writes to its own array when it is copied."""

    def __init__(self) -> None:
        self.data = array([1.0, 2.0])

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self.data += 0.0


def test_a_read_only_tool_gets_copies_of_all_that_is_no_table() -> None:
    got = list[Any]()

    @tool(read_only=True)
    def draw(figure: Figure, counted: Counted, numbers: ndarray) -> str:
        """Draw a figure, which writes to its own arrays."""
        figure.tight_layout()
        got.extend((figure, counted, numbers))
        return "drawn"

    inputs = {"figure": Figure(), "counted": Counted(), "numbers": array([1, 2, 3])}
    arguments = {"figure": "Figure#1", "counted": "Counted#1", "numbers": "ndarray#1"}
    model = Scripted([("draw", arguments), "done"])
    session = Session(Toolbox(draw), model, scheme="flat", approve="all", inputs=inputs)
    (call,) = session.tell("Go.").calls
    assert (call.status, call.error) == ("succeeded", "")
    values, objects = session.cursor.context.values, session.state.objects
    figure, counted, numbers = (values.value(objects[name]) for name in arguments.values())
    assert (got[0] is figure, got[1] is counted) == (False, False)
    assert not shares_memory(got[1].data, counted.data)
    assert shares_memory(got[2], numbers)


def test_an_instance_with_a_used_lock_is_passed_as_it_is_without_noise(
    capfd: pytest.CaptureFixture[str],
) -> None:
    class Shop:
        def __init__(self) -> None:
            self.lock, self.sold = asyncio.Lock(), 0

        async def sell(self) -> int:
            """Sell one, after whoever sells now."""

            async def one() -> None:
                async with self.lock:
                    await asyncio.sleep(0)
                    self.sold += 1

            await asyncio.gather(one(), one())
            return self.sold

    model = Scripted([("Shop_sell", {}), ("Shop_sell", {}), "done"])
    session = Session(Toolbox(Shop()), model, scheme="flat", approve="all").tell("Go.")
    gc.collect()
    assert [call.result for call in session.calls] == [2, 4]
    assert "ignored" not in capfd.readouterr().err


def test_a_class_whose_copies_differ_by_themselves_is_not_taken_for_changed() -> None:
    assert play("look", Moody())[1] == []


def test_the_cells_of_a_table_are_the_copys_own() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [[1], [2]], "b": [1, 2]})
    before = content_digest(frame)
    copied, possible = private(frame)
    copied.loc[0, "a"].append(9)
    assert possible
    assert content_digest(frame) == before != content_digest(copied)
