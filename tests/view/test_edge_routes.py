"""Routes of edges: the cases that the panel has too, and that no edge crosses a text or a tile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall.view.edge_routes import (
    LANE,
    LETTER,
    NARROW,
    TEXT_BOTTOM,
    TEXT_TOP,
    WIDE,
    Argument,
    ArgumentRoute,
    Cell,
    Grid,
    Route,
    argument_routes,
    main_route,
    text_anchor,
    tool_lines,
    tool_zone,
)

CASES = json.loads(Path(__file__).with_name("edge_routes.json").read_text("utf-8"))
GRIDS = {"wide": WIDE, "narrow": NARROW}


def as_json(route: Route) -> dict[str, Any]:
    points = [list(point) for point in route.points]
    return {"points": points, "tip": list(route.tip), "arrow": route.arrow}


@pytest.mark.parametrize("case", CASES["main"], ids=lambda case: case["why"])
def test_a_main_edge_has_the_route_of_the_case(case: dict[str, Any]) -> None:
    source, target, grid = Cell(**case["source"]), Cell(**case["target"]), GRIDS[case["grid"]]
    assert as_json(main_route(source, target, grid)) == case["route"]
    assert list(tool_zone(target, grid)) == case["zone"]


@pytest.mark.parametrize("case", CASES["arguments"], ids=lambda case: case["why"])
def test_arguments_have_the_routes_labels_and_chips_of_the_case(case: dict[str, Any]) -> None:
    given_ones = [Argument(**{**one, "source": Cell(**one["source"])}) for one in case["given"]]
    routes = argument_routes(Cell(**case["target"]), given_ones, GRIDS[case["grid"]])
    assert [
        {
            "entry": one.entry,
            "arguments": [given_ones.index(argument) for argument in one.arguments],
            "route": as_json(one.route),
            "label": one.label and one.label._asdict(),
            "chip": one.chip and one.chip._asdict(),
        }
        for one in routes
    ] == case["routes"]


@pytest.mark.parametrize("case", CASES["anchors"], ids=str)
def test_a_text_is_anchored_as_in_the_case(case: dict[str, Any]) -> None:
    assert list(text_anchor(case["width"], GRIDS[case["grid"]])) == case["anchor"]


@pytest.mark.parametrize("case", CASES["tools"], ids=str)
def test_the_name_of_a_tool_has_the_lines_of_the_case(case: dict[str, Any]) -> None:
    assert tool_lines(case["tool"], case["kinds"], case["width"]) == case["lines"]


@dataclass(frozen=True)
class Box:
    what: str
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def boxes_of_a_cell(cell: Cell, grid: Grid) -> Iterator[Box]:
    half = 28 if cell.saved else 24
    up = 8 if cell.stack else 0
    at = f"({cell.x:g}, {cell.y:g})"
    yield Box(f"tile {at}", cell.x - half, cell.y - half - up, cell.x + half + up, cell.y + half)
    sides = cell.x - grid.left, cell.x + grid.right
    yield Box(f"texts {at}", sides[0], cell.y + TEXT_TOP, sides[1], cell.y + TEXT_BOTTOM)
    left, right = tool_zone(cell, grid)
    yield Box(f"tool {at}", left, cell.y - 36, right, cell.y - 9)


def boxes_of_an_argument(one: ArgumentRoute, edge: str) -> Iterator[Box]:
    if one.label:
        x, y, anchor, text = one.label
        left = x - len(text) * LETTER if anchor == "end" else x
        yield Box(f"label {text} of {edge}", left, y - 9, left + len(text) * LETTER, y + 2)
    if one.chip:
        left, top, width, text = one.chip
        yield Box(f"chip {text} of {edge}", left, top, left + width, top + 13)


def boxes_of_a_route(what: str, route: Route) -> Iterator[Box]:
    # Without the arrow's head, which touches the tile.
    for (x, y), (u, v) in pairwise(route.points):
        yield Box(what, min(x, u) - 0.6, min(y, v) - 0.6, max(x, u) + 0.6, max(y, v) + 0.6)


names = st.text("abcdeM#_1", min_size=1, max_size=30)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Grid, list[Cell], list[tuple[int, list[int], list[str]]]]:
    grid = draw(st.sampled_from([WIDE, NARROW]))
    places = draw(
        st.lists(
            st.tuples(st.integers(0, 5), st.integers(-4, 4)), min_size=2, max_size=24, unique=True
        )
    )
    kinds = st.sampled_from([(False, False), (True, False), (False, True)])
    cells = [Cell(grid.left + c * grid.pitch, r * LANE, *draw(kinds)) for c, r in places]
    some = st.integers(0, len(cells) - 1)
    calls = []
    for number, cell in enumerate(cells):
        others = [n for n in draw(st.lists(some, max_size=4, unique=True)) if n != number]
        # A main edge goes to the right; those of a forged file need not be legible.
        mains = [n for n in others if cells[n].x < cell.x]
        if mains:
            rest = [n for n in others if n != mains[0]]
            calls.append((number, [mains[0], *rest], [draw(names) for _ in others]))
    return grid, cells, calls


@given(graphs())
def test_no_edge_crosses_a_text_or_a_tile_and_no_two_of_these_overlap(
    graph: tuple[Grid, list[Cell], list[tuple[int, list[int], list[str]]]],
) -> None:
    grid, cells, calls = graph
    boxes = [box for cell in cells for box in boxes_of_a_cell(cell, grid)]
    edges: list[Box] = []
    for number, (main, *others), texts in calls:
        edges += boxes_of_a_route("main edge", main_route(cells[main], cells[number], grid))
        # To a stack, only main edges are drawn.
        drawn = [] if cells[number].stack else zip(others, texts, reversed(texts), strict=False)
        arguments = [Argument(cells[n], *words) for n, *words in drawn]
        for one in argument_routes(cells[number], arguments, grid):
            edge = f"{one.entry} edge of {number}"
            boxes += boxes_of_an_argument(one, edge)
            edges += boxes_of_a_route(edge, one.route)
    assert [(a.what, b.what) for a, b in combinations(boxes, 2) if a.meets(b)] == []
    assert [
        (edge.what, box.what)
        for edge in edges
        for box in boxes
        if edge.meets(box) and not (box.what.startswith("chip") and box.what.endswith(edge.what))
    ] == []
