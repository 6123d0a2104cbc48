"""What is outdated: what a replay would run again, known before it runs, and why."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.journal import Journal
from tests.example_tools import run_calls

CELL = """
    SALT = 1

    def oil(x):
        return x * 2

    class Fries:
        def __init__(self, n: int) -> None:
            self.n = n
            self.log = []

        def dip(self, times: int) -> "Fries":
            '''Dip them.'''
            return Fries(self.n + times + self.more())

        def more(self) -> int:
            return 0

    def cut(n: int) -> Fries:
        '''Cut some.'''
        return Fries(n)

    def fry(fries: Fries) -> Fries:
        '''Fry them.'''
        return Fries(oil(fries.n))

    def salt(fries: Fries) -> Fries:
        '''Salt them.'''
        return Fries(fries.n + SALT)

    def weigh(fries: Fries) -> int:
        '''Weigh them.'''
        return fries.n

    class Till:
        '''A till.'''
        def __init__(self, n: int = 0) -> None:
            self.n = n

        def pay(self, by: int) -> int:
            '''Pay.'''
            self.n += by
            return self.n
"""


def cell(source: str = CELL) -> dict[str, Any]:
    """Return the variables of a notebook in which this cell has run."""
    module = sys.modules["a_kitchen"] = ModuleType("a_kitchen")
    exec(compile(textwrap.dedent(source), "a cell", "exec"), vars(module))
    return vars(module)


def run_again(space: dict[str, Any], source: str) -> None:
    """Run a cell in the same kernel."""
    exec(compile(textwrap.dedent(source), "a later cell", "exec"), space)


SCRIPT = [
    ("cut", {"n": 1}),
    ("fry", {"fries": "$Fries"}),
    ("salt", {"fries": "Fries#1"}),
    ("weigh", {"fries": "Fries#2"}),
    ("Fries_dip", {"Fries": "Fries#3", "times": 1}),
    ("Till_pay", {"by": 1}),
    ("Till_pay", {"by": 2}),
    "done",
]
NAMES = ("Fries", "cut", "fry", "salt", "weigh")


def box(space: dict[str, Any], till: int = 0) -> Toolbox:
    return Toolbox(*(space[name] for name in NAMES), space["Till"](till))


@pytest.fixture
def kitchen() -> tuple[dict[str, Any], Session]:
    space = cell()
    session = Session(box(space), Scripted(SCRIPT), scheme="flat", approve="all")
    return space, session.tell("Go.")


Kitchen = tuple[dict[str, Any], Session]


def said(session: Session) -> list[str]:
    return [str(each) for each in session.outdated()]


def ran_again(session: Session) -> list[str]:
    """Return the calls that an unchanged replay runs."""
    count = len(session.journal)
    session.replay().run()
    ends = (e for e in session.journal.entries_after(count) if "ms" in e.meta)
    return [call_id for e in ends if (call_id := getattr(e.event, "call_id", ""))]


def test_a_helper_that_was_defined_again_outdates_what_it_reaches(kitchen: Kitchen) -> None:
    space, session = kitchen
    run_again(space, "def oil(x):\n    return x * 3")
    why = "its tool fry uses what was changed: oil"
    on = "goes back to Fries#2, which is outdated"
    assert said(session) == [f"call_2 fry: {why}", f"Fries#2: {why}", f"call_4 weigh: {on}"]
    assert str(session.outdated()) == "\n".join(said(session))
    assert ran_again(session) == ["call_2", "call_4"]


def loaded(session: Session, tmp_path: Path, source: str = CELL, till: int = 0) -> Session:
    """Return a session as another kernel loads it."""
    session.save(tmp_path / "s.jsonl")
    tools = box(cell(source), till)
    return Session.load(tmp_path / "s.jsonl", tools, Scripted(SCRIPT), approve="all")


def test_in_the_next_kernel_what_was_edited_is_outdated(kitchen: Kitchen, tmp_path: Path) -> None:
    _, session = kitchen
    edited = CELL.replace("return Fries(n)", "return Fries(n + 1)").replace("return 0", "return 1")
    late = loaded(session, tmp_path, edited)
    report = late.outdated()
    assert [each.name for each in report if each.tool] == [f"call_{n}" for n in range(1, 6)]
    assert report[0].why == "its tool cut was changed"
    dip = next(each for each in report if each.tool == "Fries_dip")
    assert dip.why == "its tool Fries_dip uses what was changed: Fries.more"
    assert ran_again(late) == [f"call_{n}" for n in range(1, 6)]
    same = loaded(session, tmp_path)
    assert (same.outdated(), str(same.outdated())) == ((), "nothing is outdated")
    assert ran_again(same) == []
    space = cell()
    tools = Toolbox(*(space[name] for name in NAMES if name != "weigh"), space["Till"]())
    late = Session.load(tmp_path / "s.jsonl", tools, Scripted(SCRIPT), approve="all")
    assert said(late) == ["call_4 weigh: its tool weigh is gone"]


def test_a_stateful_instance_carries_on_what_is_outdated(kitchen: Kitchen, tmp_path: Path) -> None:
    _, session = kitchen
    late = loaded(session, tmp_path, CELL.replace("self.n += by", "self.n += 2 * by"))
    # The second call is outdated by its own tool, and by where the first one left the till.
    assert said(late) == [f"call_{n} Till_pay: its tool Till_pay was changed" for n in (6, 7)]
    other = loaded(session, tmp_path, till=9)
    assert said(other) == [
        "call_6 Till_pay: the instance Till is not what it was at the start",
        "call_7 Till_pay: Till is as call_6 left it, which is outdated",
    ]


def test_an_input_with_other_content_outdates_what_was_made_of_it(tmp_path: Path) -> None:
    space = cell()
    inputs = {"mine": space["Fries"](1)}
    session = run_calls(*box(space), calls=[("fry", {"fries": "$Fries"})], inputs=inputs)
    session.save(tmp_path / "s.jsonl")
    late = Session.load(tmp_path / "s.jsonl", box(space), inputs={"mine": space["Fries"](2)})
    assert said(late) == [
        "Fries#1: its input mine has other content",
        "call_1 fry: goes back to Fries#1, which is outdated",
        "Fries#2: goes back to Fries#1, which is outdated",
    ]


def test_a_call_of_which_nobody_noted_the_code_is_not_taken_for_outdated(kitchen: Kitchen) -> None:
    space, session = kitchen
    old = Journal()
    for entry in session.journal:
        meta = {key: value for key, value in entry.meta.items() if key != "code"}
        old.append(entry.parent, entry.event, meta)
    late = Session(box(space), Scripted(SCRIPT), scheme="flat", journal=old).checkout(session.head)
    run_again(space, "def oil(x):\n    return x * 3")
    assert late.outdated() == ()


def test_what_a_tool_is_made_of_is_kept_once_for_each_version(kitchen: Kitchen) -> None:
    space, session = kitchen
    noted = [e.meta["code"] for e in session.journal if "code" in e.meta]
    assert len(noted) == len(set(noted)) == 6
    run_again(space, "def oil(x):\n    return x * 3")
    again = session.replay().run()
    assert len({e.meta["code"] for e in session.journal if "code" in e.meta}) == 7
    assert again.outdated() == ()
    assert len(session.outdated()) == 3


def test_another_python_is_not_taken_for_an_edit(
    kitchen: Kitchen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, session = kitchen
    late = loaded(session, tmp_path, CELL.replace("x * 2", "x * 4"))
    monkeypatch.setattr("jupyter_toolcall.engine.outdated.PYTHON", "4.0")
    why = late.outdated()[0].why
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert why == f"its tool fry was compiled by Python {version}, and this is 4.0"


chains = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.integers(0, 8), max_size=3)),
    min_size=1,
    max_size=9,
)


@given(chains, st.sampled_from("abc"))
def test_a_replay_runs_all_outdated_calls(chain: list[tuple[str, list[int]]], edited: str) -> None:
    source = "class Thing:\n    def __init__(self, of: list) -> None:\n        self.of = of\n"
    for name in "abc":
        source += (
            f"def help_{name}(x):\n    return [x, 1]\n"
            f"def make_{name}(parts: list[Thing]) -> Thing:\n"
            f"    return Thing([help_{name}([p.of for p in parts])])\n"
        )
    space = cell(source)
    script = [
        (f"make_{name}", {"parts": [f"Thing#{n % at + 1}" for n in parts] if at else []})
        for at, (name, parts) in enumerate(chain)
    ]
    tools = space["Thing"], *(space[f"make_{name}"] for name in "abc")
    session = run_calls(*tools, calls=script)
    run_again(space, f"def help_{edited}(x):\n    return [x, 2]")
    outdated = [each.name for each in session.outdated() if each.tool]
    assert outdated == ran_again(session)
    assert bool(outdated) == any(name == edited for name, _ in chain)
