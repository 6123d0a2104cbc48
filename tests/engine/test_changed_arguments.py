"""What a tool changes in place: the object stays as it was, and the person is told."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
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

    def __deepcopy__(self, memo: object) -> Starter:
        raise TypeError("it is alive")


class Locked(Dough):
    """What can neither be copied nor told."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Moody(Dough):
    """What is another after each copy."""

    def __deepcopy__(self, memo: object) -> Moody:
        return Moody(self.grams + 1)


def eat(dough: Dough) -> str:
    """Change it, and return a text."""
    dough.grams = 0
    return "gone"


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


def play(tool: str, dough: Any = None) -> tuple[Session, list[str]]:
    """Return a session of one call on an object, and the notes and warnings of that call."""
    value = Dough() if dough is None else dough
    box = Toolbox(Dough, Starter, Locked, Moody, eat, halve, burn, look)
    named = {type(value).__name__: "$" + type(value).__name__}
    arguments = named if "_" in tool else {"dough": "$" + type(value).__name__}
    script, inputs = Scripted([(tool, arguments), "done"]), {"dough": value}
    session = Session(box, script, scheme="flat", approve="all", inputs=inputs).tell("Go.")
    notes = [note for entry in session.journal for note in entry.meta.get("notes", ())]
    (row,) = all_rows(session.cursor, "").calls
    return session, [*notes, *([f"{row.warning.kind}: {row.warning.text}"] if row.warning else [])]


CHANGED = "changed Dough#1 in place: "
DROPPED = CHANGED + "dropped, so Dough#1 stays as it was"
LOST = (
    "lost change: The tool changed Dough#1 in place and did not return it: the change is dropped, "
    "and Dough#1 stays as before."
)


@pytest.mark.parametrize(
    ("tool", "became"),
    [
        ("Dough_knead", CHANGED + "kept as Dough#2"),
        ("Dough_rest", CHANGED + "kept as Dough#2"),
        ("halve", CHANGED + "kept as Dough#3"),
        ("Dough_weigh", LOST),
        ("eat", LOST),
        ("burn", DROPPED),
    ],
)
def test_an_input_that_is_changed_stays_as_it_was_and_that_is_told(tool: str, became: str) -> None:
    session, notes = play(tool)
    assert notes == [became]
    assert session["Dough#1"].grams == 100


def test_an_input_that_stays_as_it_is_is_no_news() -> None:
    assert play("look")[1] == []
    assert play("look", Starter())[1] == []
    assert play("look", Locked())[1] == []


def test_what_cannot_be_copied_and_was_changed_is_told_as_lost() -> None:
    session, notes = play("eat", Starter())
    assert notes == [
        "untracked change: The tool changed Starter#1 in place, which cannot be copied: earlier "
        "results made from it may have changed too."
    ]
    assert session.cursor.context.values.notes[session.state.objects["Starter#1"].digest] == (
        "can't be copied: passed as it is"
    )


def test_of_what_nobody_can_tell_nothing_is_told() -> None:
    session, notes = play("eat", Locked())
    assert notes == []
    assert session.cursor.context.values.notes[session.state.objects["Locked#1"].digest] == (
        "not reproducible; can't be copied: passed as it is"
    )


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
