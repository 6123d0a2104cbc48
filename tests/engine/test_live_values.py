"""A live value that a program gives becomes a named object of the session, and calls name it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.core.json_data import mapped
from jupyter_toolcall.tools.value_digests import content_digest
from jupyter_toolcall.view.contract_rows import CallRow
from jupyter_toolcall.view.view_rows import all_rows


class Pot:
    """An object that changes in place."""

    def __init__(self, *litres: int) -> None:
        self.litres = [*litres]

    def __repr__(self) -> str:
        return f"Pot({self.litres})"


@dataclass
class Shelf:
    """Plain data, in which objects stand."""

    label: str
    pots: list[Pot]


def fill(pot: Pot, more: int = 1) -> Pot:
    return Pot(*pot.litres, more)


def pour(pots: list[Pot]) -> int:
    return sum(sum(pot.litres) for pot in pots)


def count(table: pd.DataFrame) -> int:
    return int(table.sum().sum())


def stack(shelf: Shelf) -> Pot:
    return Pot(*(litre for pot in shelf.pots for litre in pot.litres))


def show(thing: Any) -> str:
    return repr(thing)


BOX = Toolbox(fill, pour, count, stack, show)
INPUTS = {"pot": Pot(3), "table": pd.DataFrame({"n": [1, 2]})}
CALLS: dict[str, dict[str, Any]] = {
    "fill": {"pot": "Pot#1"},
    "pour": {"pots": ["Pot#1"]},
    "count": {"table": "DataFrame#1"},
    "stack": {"shelf": {"label": "a", "pots": ["Pot#1"]}},
    "show": {"thing": "Pot#1"},
}
"""A call of each tool, with its one argument."""
AFTER = [("fill", {"pot": "Pot#1", "more": 5}), ("show", {"thing": "Pot#1"}), "Done."]


def session_of(tool: str, inputs: Mapping[str, Any] = {}, **options: Any) -> Session:
    """Return a session in which a call of a tool ran, and then two others."""
    model = Scripted([(tool, CALLS[tool]), *AFTER])
    options = {"scheme": "flat", "approve": "all", "inputs": {**INPUTS, **inputs}, **options}
    return Session(BOX, model, **options).tell("Go.")


pots = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda litres: Pot(*litres))
tables = st.lists(st.integers(0, 3), min_size=1).map(lambda cells: pd.DataFrame({"n": cells}))
things = st.recursive(
    pots | tables | st.integers() | st.text(max_size=3),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=3), parts),
    max_leaves=5,
)
edits = st.one_of(
    st.tuples(st.just("fill"), pots),
    st.tuples(st.just("pour"), st.lists(pots, max_size=3)),
    st.tuples(st.just("count"), tables),
    st.tuples(st.just("stack"), st.builds(Shelf, st.text(max_size=3), st.lists(pots, max_size=3))),
    st.tuples(st.just("show"), things),
)


def with_objects(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a value as JSON, with what `change` returns in place of each object."""
    data = {"label": value.label, "pots": value.pots} if isinstance(value, Shelf) else value
    return mapped(mapped(data, Pot, change), pd.DataFrame, change)


def edit(session: Session, value: Any) -> Session:
    """Return a session in which the only argument of the first call is another value."""
    call = session.calls[0]
    (name,) = CALLS[call.tool]
    return session.edit(call, **{name: value})


def facts(session: Session) -> tuple[Any, ...]:
    """Return what a branch came to, with the contents of objects in place of their names."""
    names = {name: content_digest(session[name]) for name in session.objects}

    def by_content(data: Any) -> Any:
        return mapped(data, str, lambda text: names.get(text, text))

    rows: list[CallRow] = [row for row in all_rows(session.cursor, "").calls if not row.branch]
    cards = [
        (row.tool, row.status, row.edited, row.change, row.notes, row.why, row.origins)
        for row in rows
    ]
    calls = [(by_content(dict(c.arguments)), by_content(c.result), c.error) for c in session.calls]
    return calls, cards, [{k: v.kind for k, v in call.origins.items()} for call in session.calls]


@given(edits)
def test_an_edit_with_a_value_is_one_with_the_name_of_an_equal_object(drawn: Any) -> None:
    tool, value = drawn
    inputs = dict[str, Any]()
    names = {content_digest(v): f"{type(v).__name__}#1" for v in INPUTS.values()}

    def named(part: Any) -> str:
        content = content_digest(part)
        if content not in names:
            inputs[f"other_{len(inputs)}"] = part
            number = sum(type(other) is type(part) for other in inputs.values()) + 1
            names[content] = f"{type(part).__name__}#{number}"
        return names[content]

    session = session_of(tool)
    by_name = with_objects(value, named)
    recorded = session_of(tool, inputs)
    expected = edit(recorded, by_name).run()
    assert expected.calls[0].status == "succeeded"
    # Where the objects are there already, it is the same edit.
    assert edit(recorded, value).run().head == expected.head
    edited = edit(session, value).run()
    assert facts(edited) == facts(expected)
    assert len(edited.objects) == len(expected.objects)
    # It is the same each time; nothing runs, and nothing is recorded.
    entries = len(session.journal)
    assert edit(session, value).run().head == edited.head
    assert edited.replay().run().head == edited.head
    assert edit(edited, value).run().head == edited.head
    assert len(session.journal) == entries
    assert edited.verify()


@given(edits)
def test_what_the_caller_does_to_the_value_later_changes_nothing(drawn: Any) -> None:
    tool, value = drawn
    expected = edit(session_of(tool), value).run()
    facts_before = facts(expected)

    def spoil(part: Any) -> None:
        if isinstance(part, Pot):
            part.litres.append(99)
        else:
            part["n"] = 99

    session = session_of(tool)
    edited = edit(session, value)
    with_objects(value, spoil)
    assert facts(edited.run()) == facts_before
    assert edited.head == expected.head
    assert facts(expected) == facts_before


def test_a_value_of_an_edit_is_an_input_from_the_person(tmp_path: Path) -> None:
    session = session_of("fill")
    edited = session.edit("call_1", pot=Pot(7)).run()
    # The name is free on both branches, and later calls that leave it out take no other object.
    assert session.objects == ("Pot#1", "DataFrame#1", "Pot#2", "Pot#3")
    assert edited.objects == ("Pot#1", "DataFrame#1", "Pot#4", "Pot#2", "Pot#3")
    assert edited.state.newest["Pot"] == "Pot#3"
    assert str(edited.calls[0].origins["pot"]) == "typed by you"
    rows = {row.name: row for row in all_rows(edited.cursor, "").objects}
    assert (rows["Pot#4"].role, rows["Pot#4"].branch) == ("input", "")
    assert ("Pot#4", "Pot#2") in [(edge.source, edge.target) for edge in edited.graph.edges]
    assert "Pot#4 is a value that you gave" in str(edited.why("Pot#2"))
    assert "pot_4 = _made(Pot, litres=[7])" in edited.export(tmp_path / "a.py").read_text()
    # It stays one where its call is edited again, or another one.
    again = edited.edit("call_1", more=2).run()
    assert again.calls[0].arguments == {"pot": "Pot#4", "more": 2}
    assert again["Pot#2"].litres == [7, 2]
    both = session.edit("call_2", pot=Pot(7)).run().edit("call_1", pot=Pot(8)).run()
    assert [both[name].litres for name in ("Pot#2", "Pot#3")] == [[8, 1], [7, 5]]
    # An input that the branch got later may be named earlier.
    assert both.edit("call_1", pot="Pot#4").run()["Pot#2"].litres == [7, 1]
    assert edited.fork("call_1")["Pot#4"].litres == [7]


def test_a_value_that_a_person_gave_is_kept_with_the_session(tmp_path: Path) -> None:
    session = session_of("fill").edit("call_1", pot=Pot(7)).run()
    session.save(tmp_path / "a.jsonl")
    options: dict[str, Any] = {"inputs": INPUTS, "approve": "all"}
    loaded = Session.load(tmp_path / "a.jsonl", BOX, **options)
    assert (loaded.head, loaded["Pot#4"].litres) == (session.head, [7])
    assert loaded.replay().run().head == session.head
    assert loaded.edit("call_1", more=2).run()["Pot#2"].litres == [7, 2]
    path = tmp_path / "b.jsonl"
    written = session_of("fill", journal=path).edit("call_1", pot=Pot(7)).run()
    head = written.head
    del written
    assert Session.load(path, BOX, **options).checkout(head)["Pot#4"].litres == [7]


def test_a_call_that_waits_takes_a_value_too() -> None:
    session = session_of("pour", approve="ask")
    session.decide("call_1", "edit", arguments={"pots": [Pot(7), Pot(3), Pot(7)]}).run()
    assert session.calls[0].arguments == {"pots": ["Pot#2", "Pot#1", "Pot#2"]}
    assert session.calls[0].result == 17
    session.decide("call_2", "answer", result=[Pot(1), Pot(7)])
    assert session.calls[1].result == ["Pot#3", "Pot#4"]


@pytest.mark.parametrize(
    ("tool", "value", "said"),
    [
        ("fill", INPUTS["table"], "pot: DataFrame#1 is a DataFrame, not a Pot"),
        ("count", [Pot(1)], "table: must be the name of an object, such as DataFrame#1"),
        ("show", b"x", "thing: a bytes is not JSON"),
        ("show", {1: Pot(1)}, "thing: the key 1 is not a text"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_one_line(tool: str, value: Any, said: str) -> None:
    session = session_of(tool)
    entries = len(session.journal)
    with pytest.raises(CallError, match=said) as raised:
        edit(session, value)
    assert len(str(raised.value).splitlines()) == 1
    assert len(session.journal) == entries


def test_a_value_that_cannot_be_copied_is_marked() -> None:
    edited = edit(session_of("show"), threading.Lock()).run()
    assert edited.calls[0].arguments == {"thing": "lock#1"}
    (row,) = (row for row in all_rows(edited.cursor, "").objects if row.name == "lock#1")
    assert "can't be copied" in row.note
    entries = len(edited.journal)
    assert edited.replay().run().head == edited.head
    assert len(edited.journal) == entries
