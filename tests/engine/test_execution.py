"""Running a call: what comes of what a tool returns, and what is made of what it changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import Absent
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.value_store import SETTING


class Dough:
    """An object that can change."""

    def __init__(self, grams: int = 0) -> None:
        self.grams = grams

    def knead(self) -> None:
        """Change it and return nothing."""
        self.grams += 1

    def look(self) -> None:
        """Change nothing and return nothing."""

    def rest(self) -> Dough:
        """Change it and return it."""
        self.grams += 10
        return self

    def keep(self) -> Dough:
        """Return it as it is."""
        return self

    def split(self) -> list[Dough]:
        """Make two."""
        return [Dough(self.grams // 2), Dough(self.grams - self.grams // 2)]

    def merge(self, other: Dough) -> Dough:
        """Return the other one."""
        return other


class Sourdough(Dough):
    """A kind of dough."""


class Basket(list[Dough]):
    """A list that is an object of its own."""

    def count_all(self) -> int:
        """Say how many."""
        return len(self)


class Counter:
    """A stateful instance."""

    def __init__(self) -> None:
        self.n = 0

    def up(self, by: int) -> int:
        """Count."""
        self.n += by
        if by > 100:
            raise ValueError("too much")
        return self.n


def play(*calls: tuple[str, dict[str, Any]], tools: tuple[Any, ...] = ()) -> Session:
    return Session(
        Toolbox(Dough, Sourdough, Basket, *tools),
        Scripted([*calls, "done"]),
        scheme="flat",
        approve="all",
        inputs={"dough": Dough(100)},
    ).tell("go")


@pytest.mark.parametrize(
    ("tool", "result", "objects"),
    [
        ("Dough_knead", "Dough#2", [100, 101]),
        ("Dough_look", None, [100]),
        ("Dough_rest", "Dough#2", [100, 110]),
        ("Dough_keep", "Dough#1", [100]),
        ("Dough_split", ["Dough#2", "Dough#3"], [100, 50, 50]),
    ],
)
def test_what_a_method_returns_or_changes_is_a_new_object_and_nothing_else_is(
    tool: str, result: Any, objects: list[int]
) -> None:
    session = play((tool, {}))
    assert session.calls[0].result == result
    assert [session[name].grams for name in session.objects] == objects


def test_an_input_that_comes_back_is_the_object_that_it_was() -> None:
    session = play(("Dough_rest", {}), ("Dough_merge", {"Dough": "Dough#2", "other": "Dough#1"}))
    assert session.calls[1].object == "Dough#1"
    assert session.objects == ("Dough#1", "Dough#2")


def test_equal_objects_have_numbers_of_their_own() -> None:
    def bake() -> Dough:
        return Dough(7)

    session = play(("bake", {}), ("bake", {}), tools=(bake,))
    assert session.objects == ("Dough#1", "Dough#2", "Dough#3")
    assert session.state.objects["Dough#2"].content == session.state.objects["Dough#3"].content


def test_an_object_of_a_subclass_does_for_its_base() -> None:
    def start() -> Sourdough:
        return Sourdough(3)

    session = play(
        ("start", {}),
        ("Dough_merge", {"Dough": "Sourdough#1", "other": "Sourdough#1"}),
        ("Sourdough_knead", {}),
        tools=(start,),
    )
    assert [call.object for call in session.calls] == ["Sourdough#1", "Sourdough#1", "Sourdough#2"]


def test_an_object_of_a_class_that_nobody_named_is_of_the_type_that_was_named() -> None:
    class Rye(Dough):
        pass

    def start() -> Dough:
        return Rye(5)

    session = play(("start", {}), ("Dough_knead", {}), tools=(start,))
    assert [call.object for call in session.calls] == ["Dough#2", "Dough#3"]


def test_a_list_that_is_a_type_is_one_object() -> None:
    def fill() -> Basket:
        return Basket([Dough(1), Dough(2)])

    session = play(("fill", {}), ("Basket_count_all", {}), tools=(fill,))
    assert [call.result for call in session.calls] == ["Basket#1", 2]


def test_the_calls_on_one_instance_follow_one_another_and_leave_ours_alone() -> None:
    mine = Counter()
    calls = [("Counter_up", {"by": by}) for by in (1, 2, 500, 4)]
    session = play(*calls, tools=(mine,))
    # What failed worked on a copy that is gone.
    assert [call.result for call in session.calls] == [1, 3, None, 7]
    assert mine.n == 0


def test_an_instance_that_is_given_again_is_no_matter_of_memory() -> None:
    journal = Journal()

    def count(start: int) -> Session:
        mine = Counter()
        mine.n = start
        script = Scripted([("Counter_up", {"by": 1}), "done"])
        box = Toolbox(mine)
        return Session(box, script, scheme="flat", approve="all", journal=journal).tell("go")

    assert [count(start).calls[0].result for start in (5, 100, 5)] == [6, 101, 6]
    assert len(journal.leaves()) == 2


def test_an_instance_is_what_it_was_when_the_session_opened() -> None:
    mine = Counter()
    script = Scripted([("Counter_up", {"by": 1}), "done"])
    session = Session(Toolbox(mine), script, scheme="flat", approve="all").ask("go")
    mine.n = 100
    assert session.run().calls[0].result == 1


def kept(path: Path) -> Path:
    """Return the file of a session of which the second of two calls on an instance waits."""
    script = Scripted([("Counter_up", {"by": 1}), ("Counter_up", {"by": 2}), "done"])
    session = Session(Toolbox(Counter()), script, scheme="flat").tell("go")
    session.decide(session.pending[0]).run().save(path / "s.jsonl")
    return path / "s.jsonl"


def test_an_instance_that_is_not_here_is_no_failure_of_the_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, "0")
    script = Scripted([("Counter_up", {"by": 1}), ("Counter_up", {"by": 2}), "done"])
    session = Session.load(kept(tmp_path), Toolbox(Counter()), script)
    before = session.head
    with pytest.raises(Absent, match=r"session\.replay\(\)\.run\(\) makes it again"):
        session.decide("call_2")
    assert session.head == before
    # It may not run a second time on one approval: the person is asked about it again.
    again = session.replay().run()
    again.decide(again.pending[0]).run().decide("call_2").run()
    assert [call.result for call in again.calls] == [1, 3]


def test_another_instance_does_not_stand_in_for_the_one_that_was(tmp_path: Path) -> None:
    other = Counter()
    other.n = 100
    session = Session.load(kept(tmp_path), Toolbox(other), Scripted(["done"]))
    with pytest.raises(Absent, match=r"not here as it was at the start"):
        session.replay().run()


def test_what_is_absent_in_a_session_of_a_tools_own_is_the_tools_failure() -> None:
    def ask_inside() -> str:
        raise Absent("not here")

    session = play(("ask_inside", {}), tools=(ask_inside,))
    assert (session.calls[0].status, session.calls[0].error) == ("failed", "Absent: not here")


def test_one_object_that_is_given_twice_is_one_object_to_the_tool() -> None:
    def same(one: Dough, other: Dough) -> bool:
        return one is other

    session = play(("same", {"one": "Dough#1", "other": "Dough#1"}), tools=(same,))
    assert session.calls[0].result is True
