"""What a tool changes in place: the object stays as it was, and the change is a new object."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import threading
from typing import Any

import pytest
from numpy import shares_memory
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

    def __reduce__(self) -> Any:
        return find_mark, ("tray",)


MARKS = {"tray": Mark()}


def find_mark(name: str) -> Mark:
    return MARKS[name]


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
    ("tool", "became"),
    [
        ("Dough_knead", CHANGED + "kept as Dough#2"),
        ("Dough_rest", CHANGED + "kept as Dough#2"),
        ("halve", CHANGED + "kept as Dough#3"),
        ("Dough_weigh", CHANGED + "kept as Dough#2"),
        ("eat", CHANGED + "kept as Dough#2"),
        ("fill", CHANGED + "kept as Dough#2"),
        ("burn", DROPPED),
    ],
)
def test_an_input_that_is_changed_stays_as_it_was_and_that_is_told(tool: str, became: str) -> None:
    session, notes = play(tool)
    assert notes == [became]
    assert session["Dough#1"].grams == 100


@pytest.mark.parametrize(
    ("tool", "data", "grams"),
    [
        ("Dough_knead", {"result": "Dough#2"}, 101),
        ("fill", {"result": "Dough#2"}, 200),
        ("Dough_weigh", {"result": 95, "changed": {"Dough": "Dough#2"}}, 95),
        ("eat", {"result": "gone", "changed": {"dough": "Dough#2"}}, 0),
        ("swap", {"result": "Dough#2", "changed": {"dough": "Dough#3"}}, 7),
    ],
)
def test_a_changed_argument_is_a_new_object_besides_the_result(
    tool: str, data: Any, grams: int
) -> None:
    session, _ = play(tool)
    assert told(session) == data
    assert session[session.objects[-1]].grams == grams
    assert session["Dough#1"].grams == 100
    (call,) = session.calls
    assert (call.result, call.changed) == (data["result"], data.get("changed", {}))


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
    assert row.note == "can't be copied: passed as it is; changed from outside"


def test_a_later_call_on_a_changed_original_asks_and_is_not_marked_itself() -> None:
    script = [("eat", {"dough": "Starter#1"}), ("look", {"dough": "Starter#1"}), "done"]
    inputs = {"dough": Starter()}
    box = Toolbox(Starter, eat, look)
    session = Session(box, Scripted(script), scheme="flat", approve="all", inputs=inputs)
    rows = all_rows(session.tell("Go.").cursor, "").calls
    assert rows[1].why == "Starter#1 changed after it was made: see the call that changed it."
    session.decide(session.calls[1])
    rows = all_rows(session.run().cursor, "").calls
    assert [row.warning is not None for row in rows] == [True, False]
    assert session.text == "done"


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


def test_a_change_of_a_part_that_all_copies_share_is_marked() -> None:
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


def test_a_read_only_tool_gets_tables_and_arrays_without_a_copy_and_cannot_write_to_them() -> None:
    memory = list[Any]()

    @tool(read_only=True)
    def first(table: DataFrame) -> DataFrame:
        """Return the first two rows."""
        memory.append(table["price"].to_numpy())
        return table.head(2)

    @tool(read_only=True)
    def overwrite(table: DataFrame) -> None:
        """Write to what only others may change."""
        table.loc[0, "price"] = 0.0

    def fill(table: DataFrame) -> DataFrame:
        """Write to a copy of the result, and return it."""
        table.loc[0, "price"] = 0.0
        return table

    names = ("first", "DataFrame#1"), ("overwrite", "DataFrame#1"), ("fill", "DataFrame#2")
    script = [*((name, {"table": table}) for name, table in names), "done"]
    inputs = {"table": DataFrame({"price": [1.0, 2.0, 3.0]})}
    box = Toolbox(first, overwrite, fill)
    session = Session(box, Scripted(script), scheme="flat", approve="all", inputs=inputs)
    session.tell("Go.")
    assert [call.status for call in session.calls] == ["succeeded", "failed", "succeeded"]
    assert "read-only" in session.calls[1].error
    assert [list(session[name]["price"]) for name in session.objects] == [
        *([1.0, 2.0, 3.0], [1.0, 2.0], [0.0, 2.0]),
    ]
    made = session.state.objects["DataFrame#1"]
    recorded = session.cursor.context.values.value(made)
    assert shares_memory(memory[0], recorded["price"].to_numpy())


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
