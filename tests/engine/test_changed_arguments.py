"""Running a call: what comes of what a tool returns, and of what it changes in place: the object
stays as it was, and the change is a new object."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from numpy import array, ndarray, shares_memory
from pandas import DataFrame

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import Absent
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.value_store import SETTING
from jupyter_toolcall.tools.value_digests import content_digest
from jupyter_toolcall.view.view_rows import all_rows
from tests.example_tools import notes_of, results, run_calls


class Dough:
    """An object that can change."""

    def __init__(self, grams: int = 100) -> None:
        self.grams = grams

    def knead(self) -> None:
        """Change it, and return nothing."""
        self.grams += 1

    def keep(self) -> Dough:
        """Return it as it is."""
        return self

    def split(self) -> list[Dough]:
        """Make two."""
        return [Dough(self.grams // 2), Dough(self.grams - self.grams // 2)]

    def merge(self, other: Dough) -> Dough:
        """Return the other one."""
        return other

    def rest(self) -> Dough:
        """Change it, and return it."""
        self.grams += 10
        return self

    def weigh(self) -> int:
        """Change it, though nobody would think so, and return something else."""
        self.grams -= 5
        return self.grams


class Sourdough(Dough):
    """A kind of dough."""


class Basket(list[Dough]):
    """A list that is an object of its own."""

    def count_all(self) -> int:
        """Say how many."""
        return len(self)


class Tally:
    """A stateful instance."""

    def __init__(self, n: int = 0) -> None:
        self.n = n

    def up(self, by: int) -> int:
        """Count."""
        self.n += by
        if by > 100:
            raise ValueError("too much")
        return self.n


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
    tools = Dough, Starter, Locked, Sealed, Moody, eat, fill, swap, halve, burn, look, peek
    kind = type(value).__name__
    arguments = {kind if "_" in name else "dough": f"${kind}"}
    session = run_calls(*tools, calls=[(name, arguments)], inputs={"dough": value})
    (row,) = all_rows(session.cursor, "").calls
    return session, [
        *notes_of(session),
        *([f"{row.warning.kind}: {row.warning.text}"] if row.warning else []),
    ]


CHANGED = "changed Dough#1 in place: "
KEPT = CHANGED + "kept as Dough#2"
SWAPPED = {"result": "Dough#2", "changed": {"dough": "Dough#3"}}
DROPPED = CHANGED + "dropped, so Dough#1 stays as it was"


def told(session: Session) -> Any:
    """Return what the model was told of the last call."""
    return json.loads(results(session)[-1].content)


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
        ("Dough_keep", "", {"result": "Dough#1"}, 100),
        ("Dough_split", "", {"objects": ["Dough#2", "Dough#3"]}, 50),
        ("look", "", {"result": 100}, 100),
    ],
)
def test_an_input_stays_as_it_was_and_what_a_call_changed_is_a_new_object_beside_the_result(
    tool: str, became: str, data: Any, grams: int
) -> None:
    session, notes = play(tool)
    assert notes == [became] * bool(became)
    assert told(session) == data
    assert session[session.objects[-1]].grams == grams
    assert session["Dough#1"].grams == 100
    (call,) = session.calls
    assert call.changed == data.get("changed", {})


@pytest.mark.parametrize(
    ("default", "change"),
    [
        ([1], lambda salt: salt.append(2)),
        ({"a": [1]}, lambda salt: salt["a"].append(2)),
        (Dough(1), Dough.knead),
        (array([1]), lambda salt: salt.fill(2)),
    ],
    ids=["list", "dict", "object", "array"],
)
def test_each_call_gets_a_default_of_its_own(default: Any, change: Any) -> None:
    def season(salt: Any = default) -> bool:
        """Change the default."""
        seen.append(content_digest(salt))
        change(salt)
        return salt is default

    seen = [content_digest(default)]
    session = run_calls(season, calls=[("season", {}), ("season", {})])
    assert [call.result for call in session.calls] == [False, False]
    assert seen == [content_digest(default)] * 3


def test_each_changed_argument_is_an_object_wherever_it_stands_in_the_arguments() -> None:
    def fill_all(doughs: list[Dough], other: Dough) -> None:
        for dough in (*doughs, other):
            dough.grams += 1

    arguments = {"doughs": ["Dough#1", "Dough#2"], "other": "Dough#3"}
    inputs = {"a": Dough(1), "b": Dough(2), "c": Dough(3)}
    session = run_calls(fill_all, calls=[("fill_all", arguments)], inputs=inputs)
    changed = {"doughs.0": "Dough#4", "doughs.1": "Dough#5", "other": "Dough#6"}
    assert told(session) == {"result": None, "changed": changed}
    assert [session[name].grams for name in session.objects] == [1, 2, 3, 2, 3, 4]


@pytest.mark.parametrize("dough", [Starter(), Locked(), Moody()], ids=type)
def test_an_unchanged_input_is_no_news_also_where_copies_differ_or_fail(dough: Dough) -> None:
    assert play("look", dough)[1] == []


def test_what_cannot_be_copied_and_was_changed_is_marked_and_told_to_the_model() -> None:
    session, notes = play("eat", Starter())
    assert notes == [
        "untracked change: The tool changed Starter#1 itself, or a part that cannot be copied: "
        "earlier results made from it may have changed too."
    ]
    assert told(session) == {"result": "gone", "untracked": {"dough": "Starter#1"}}
    (row,) = all_rows(session.cursor, "").objects
    assert row.note == "can't be copied: passed as it is; changed after it was made"


def eaten_and_looked_at(dough: Dough) -> Session:
    kind = type(dough)
    calls = [(name, {"dough": f"{kind.__name__}#1"}) for name in ("eat", "look")]
    return run_calls(kind, eat, look, calls=calls, inputs={"dough": dough})


def test_a_later_call_on_a_changed_original_asks_and_is_not_marked_itself() -> None:
    session = eaten_and_looked_at(Starter())
    rows = all_rows(session.cursor, "").calls
    assert rows[1].why == "It takes Starter#1, which a call changed after it was made."
    session.decide(session.calls[1])
    rows = all_rows(session.run().cursor, "").calls
    assert [row.warning is not None for row in rows] == [True, False]
    # Each call has its result: nothing has to run for a replay, so nobody is asked.
    assert session.text == session.replay().run().text == "Done."


def test_a_later_call_on_what_nobody_can_read_does_not_ask() -> None:
    assert eaten_and_looked_at(Locked()).text == "Done."


def test_a_lock_is_shared_and_the_change_beside_it_is_a_new_object() -> None:
    session, notes = play("eat", Locked())
    assert notes == ["changed Locked#1 in place: kept as Locked#2"]
    assert (session["Locked#1"].grams, session["Locked#2"].grams) == (100, 0)
    row, _ = all_rows(session.cursor, "").objects
    assert row.note == "not reproducible; its copies share the parts that can't be pickled"


@pytest.mark.parametrize("find", [lambda name: MARKS[name], MARKS.get], ids=["own", "method"])
def test_a_change_of_a_shared_part_is_marked(find: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mark, "find", staticmethod(find))
    monkeypatch.setattr(MARKS["tray"], "text", "")

    def write(tray: Tray) -> None:
        """Write on its mark, which is the original's."""
        tray.mark.text = "written"

    session = run_calls(write, calls=[("write", {"tray": "Tray#1"})], inputs={"tray": Tray()})
    (row,) = all_rows(session.cursor, "").calls
    assert row.warning is not None
    assert row.warning.kind == "untracked change"
    changes = {"changed": {"tray": "Tray#2"}, "untracked": {"tray": "Tray#1"}}
    assert told(session) == {"result": None, **changes}


def test_what_can_be_copied_and_not_compared_is_marked_unless_the_tool_is_read_only() -> None:
    session, notes = play("eat", Sealed())
    assert notes == [
        "untracked change: Sealed#1 cannot be compared, so nobody can tell whether the tool "
        "changed it in place: such a change is dropped."
    ]
    assert told(session) == {"result": "gone", "untracked": {"dough": "Sealed#1"}}
    assert play("peek", Sealed())[1] == []


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
    calls = [(name, {"table": table}) for name, table in names]
    inputs = {"table": DataFrame({"price": [1.0, 2.0, 3.0]})}
    session = run_calls(look, overwrite, fill, calls=calls, inputs=inputs)
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
    session = run_calls(draw, calls=[("draw", arguments)], inputs=inputs)
    (call,) = session.calls
    assert (call.status, call.error) == ("succeeded", "")
    values, objects = session.cursor.context.values, session.state.objects
    figure, counted, numbers = (values.value(objects[name]) for name in arguments.values())
    assert (got[0] is figure, got[1] is counted) == (False, False)
    assert not shares_memory(got[1].data, counted.data)
    assert shares_memory(got[2], numbers)


def test_an_instance_with_a_used_lock_makes_no_noise(capfd: pytest.CaptureFixture[str]) -> None:
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

    session = run_calls(Shop(), calls=[("Shop_sell", {})] * 2)
    gc.collect()
    assert [call.result for call in session.calls] == [2, 4]
    assert "ignored" not in capfd.readouterr().err


# -- which object it is ---------------------------------------------------------------------


def start() -> Sourdough:
    return Sourdough(3)


def fill_basket() -> Basket:
    return Basket([Dough(1), Dough(2)])


def start_rye() -> Dough:
    class Rye(Dough):
        """A class that the toolbox does not name."""

    return Rye(5)


def same(one: Dough, other: Dough) -> bool:
    return one is other


def ask_inside() -> str:
    raise Absent("not here")


BOTH = {"Dough": "Sourdough#1", "other": "Sourdough#1"}


@pytest.mark.parametrize(
    ("calls", "came_to"),
    [
        (
            [("Dough_rest", {}), ("Dough_merge", {"Dough": "Dough#2", "other": "Dough#1"})],
            ["Dough#2", "Dough#1"],
        ),
        ([("start_rye", {}), ("Dough_knead", {})], ["Dough#2", "Dough#3"]),
        (
            [("start", {}), ("Dough_merge", BOTH), ("Sourdough_knead", {})],
            ["Sourdough#1", "Sourdough#1", "Sourdough#2"],
        ),
        ([("fill_basket", {}), ("Basket_count_all", {})], ["Basket#1", 2]),
        ([("same", {"one": "Dough#1", "other": "Dough#1"})], [True]),
        # What is absent in a session of a tool's own is the tool's failure.
        ([("ask_inside", {})], ["Absent: not here"]),
    ],
    ids=[
        *(
            "an input that comes back",
            "a class that nobody named",
            "a subclass",
            "a list that is a type",
        ),
        *("one object twice", "absent within a tool"),
    ],
)
def test_a_result_is_the_object_that_it_was_or_a_new_one(calls: Any, came_to: list[Any]) -> None:
    tools = Dough, Sourdough, Basket, start, fill_basket, start_rye, same, ask_inside
    session = run_calls(*tools, calls=calls, inputs={"dough": Dough()})
    assert [call.error or call.result for call in session.calls] == came_to


# -- instances ------------------------------------------------------------------------------

UP = ("Tally_up", {"by": 1})


def test_an_instance_that_is_given_again_is_no_matter_of_memory() -> None:
    journal = Journal()
    counts = [run_calls(Tally(n), calls=[UP], journal=journal).calls for n in (5, 100, 5)]
    assert [call.result for (call,) in counts] == [6, 101, 6]
    assert len(journal.leaves()) == 2


def test_an_instance_is_what_it_was_when_the_session_opened() -> None:
    mine = Tally()
    session = Session(Toolbox(mine), Scripted([UP, "done"]), scheme="flat", approve="all")
    session.ask("go")
    mine.n = 100
    assert session.run().calls[0].result == 1


def kept(path: Path) -> Path:
    """Return the file of a session of which the second of two calls on an instance waits."""
    session = run_calls(Tally(), calls=[UP, ("Tally_up", {"by": 2})], approve="ask")
    session.decide(session.pending[0]).run().save(path / "s.jsonl")
    return path / "s.jsonl"


def test_a_missing_instance_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "0")
    script = Scripted([UP, ("Tally_up", {"by": 2}), "done"])
    session = Session.load(kept(tmp_path), Toolbox(Tally()), script)
    before = session.head
    with pytest.raises(Absent, match=r"session\.replay\(\)\.run\(\) makes it again"):
        session.decide("call_2")
    assert session.head == before
    # It may not run a second time on one approval: the person is asked about it again.
    again = session.replay().run()
    again.decide(again.pending[0]).run().decide("call_2").run()
    assert [call.result for call in again.calls] == [1, 3]


def test_another_instance_does_not_stand_in_for_the_one_that_was(tmp_path: Path) -> None:
    session = Session.load(kept(tmp_path), Toolbox(Tally(100)), Scripted(["done"]))
    with pytest.raises(Absent, match=r"not here as it was at the start"):
        session.replay().run()
