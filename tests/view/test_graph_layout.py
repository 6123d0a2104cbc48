"""Where objects stand: nothing ever stands on anything else, also after Graphviz had its say."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall.view.graph_layout import NEAR, Layout, layout_at
from tests.engine.test_linear_cost import work

spots = st.tuples(st.integers(0, 800), st.integers(-300, 300)).map(
    lambda s: (s[0] / 100, s[1] / 100)
)


def apart(layout: Layout, keys: set[str]) -> bool:
    pairs = combinations(layout.places.items(), 2)
    return all(
        abs(a[0] - b[0]) >= NEAR or abs(a[1] - b[1]) >= NEAR
        for (one, a), (other, b) in pairs
        if one in keys or other in keys
    )


@given(st.lists(spots, min_size=1, max_size=8), st.lists(st.integers(0, 7), max_size=12))
def test_what_is_added_to_a_tidied_graph_stands_on_nothing(
    tidied: list[tuple[float, float]], mains: list[int]
) -> None:
    layout = layout_at({f"k{n}": spot for n, spot in enumerate(tidied)}, 1)
    for number, main in enumerate(mains):
        key = f"k{main % len(tidied)}"
        layout.place(f"new{number}", [key], key)
    assert apart(layout, {f"new{number}" for number in range(len(mains))})
    assert {key: layout.places[key] for key in (f"k{n}" for n in range(len(tidied)))} == {
        f"k{n}": spot for n, spot in enumerate(tidied)
    }


def test_a_branch_goes_to_a_lane_of_its_own_beside_what_is_a_hair_away() -> None:
    layout = layout_at({"a": (12.97, 0.0), "b": (13.96, 0.0)}, 1)
    layout.place("c", ["a"], "a")
    assert layout.places["c"] == (13.97, 1.0)


def test_a_call_that_came_to_nothing_leaves_the_first_line_to_what_goes_on() -> None:
    layout = Layout()
    layout.place("a", [], "")
    layout.place("b", ["a", "oven"], "a", ["oven"])
    layout.place("call:c", ["oven"], "oven", ["oven"], failed=True)
    assert layout.places["oven"] == (1, -1)
    assert layout.places["call:c"] == (2, 1)
    layout.place("d", ["b"], "b")
    assert layout.places["d"] == (2, 0)


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
