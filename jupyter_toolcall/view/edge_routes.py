"""Routes of edges, and where their texts stand: one rule for the panel and for the saved picture.

The graph is a grid of cells. Around the middle of a cell stand its tile and, below it, two lines of
text. Between two columns, at a fixed distance behind the first one, edges go up and down in a
channel; the rest of the gap is for the tool's name. Between two lanes, edges go across in a
channel; below it arguments enter the top of their tile.

A route depends on its two ends only. No text or tile reaches into a channel, so a later node never
changes a route, and no route crosses a text. `labextension/src/view/graph/edge_routes.ts` is the
same rule; `tests/view/edge_routes.json` has test cases for both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..core.text import visible_text

LANE = 132
"""Pixels between the middles of two lanes. All lengths below are pixels."""
TILE = 24
"""From a tile's middle to its border."""
FRAME = 28
"""From a tile's middle to the frame of a saved object."""
TEXT_TOP, TEXT_BOTTOM = 29, 64
"""Below a tile's middle: where the texts of a cell begin and end."""
GAP, HEAD = 8, 6
"""Between a tile and its edges; the length of an arrow's head behind the line."""
TRACKS = 3
"""Parallel edges in a channel: edges of one source share one."""
ABOVE = (64, 59, 54)
"""The tracks of the channel above a lane's middle."""
CHIP_TOP, CHIP_HEIGHT = 50, 13
LABEL_UP = 39
"""Above a lane's middle: the baseline of an argument's label."""
SIDE = 12
"""Below a lane's middle: where an argument from below enters its tile."""
APART = 10
"""Between the middle of a tile and each of two arguments that enter its top."""
LETTER, CODE_LETTER = 6.0, 6.33
"""The width of a letter of a label, and of a tool's name."""

Point = tuple[float, float]
Entry = Literal["above", "corner", "aside", "far"]
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Grid:
    """The columns: their distance, and how far the texts of a cell reach to the right."""

    pitch: float
    right: float

    @property
    def tracks(self) -> tuple[float, ...]:
        """The tracks of the channel behind a column, from its middle."""
        return tuple(self.right + 5 + 4.5 * number for number in range(TRACKS))

    @property
    def left(self) -> float:
        """How far texts reach to the left of a cell's middle."""
        return self.pitch - self.right - 20


WIDE = Grid(160, 45)
NARROW = Grid(132, 38)
"""The grid of a panel that is narrow."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The middle of a node."""

    x: float
    y: float
    saved: bool = False
    stack: bool = False
    """Whether the node stands for several folded objects."""


class Label(NamedTuple):
    """A line of text; `y` is its baseline."""

    x: float
    y: float
    anchor: Anchor
    text: str


class Chip(NamedTuple):
    """The name of a far source, at the beginning of a short edge."""

    left: float
    top: float
    width: float
    text: str


@dataclass(frozen=True, slots=True)
class Route:
    """The corners of an edge, and the point of its arrow."""

    points: tuple[Point, ...]
    tip: Point
    arrow: Literal["right", "down"]


class Argument(NamedTuple):
    """An argument that is drawn: the node of its object, the parameter, and the object's name."""

    source: Cell
    parameter: str
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentRoute:
    """The edge of one argument, or of all whose sources are far away."""

    entry: Entry
    arguments: tuple[Argument, ...]
    route: Route
    label: Label | None
    chip: Chip | None


def main_route(source: Cell, target: Cell, grid: Grid = WIDE) -> Route:
    """Return the route of a call's main edge, which enters the left of its tile."""
    tip = (target.x - (FRAME if target.saved else TILE) - GAP, target.y)
    end = (tip[0] - HEAD, target.y)
    begin, turn = _stub(source, grid)
    beyond = target.x - source.x
    if 0 < beyond <= 1.5 * grid.pitch:
        bends: tuple[Point, ...] = ((turn, source.y), (turn, target.y))
        return Route((begin, *(bends if source.y != target.y else ()), end), tip, "right")
    across, last = target.y - _across(source, grid), target.x - grid.pitch + _track(source, grid)
    corners = ((turn, source.y), (turn, across), (last, across), (last, target.y))
    return Route((begin, *corners, end), tip, "right")


def tool_zone(target: Cell, grid: Grid = WIDE) -> tuple[float, float]:
    """Return where the name of the tool may stand, left of the tile: from x to x."""
    return target.x - grid.left - 4, target.x - FRAME


def entry_of(source: Cell, target: Cell, grid: Grid = WIDE) -> Entry:
    """Return how the edge of an argument reaches its tile."""
    beyond, below = target.x - source.x, target.y - source.y
    if beyond == 0 and 0 < below <= 1.25 * LANE:
        return "above"
    if 0 < beyond <= 1.1 * grid.pitch and 0 < abs(below) <= 2 * LANE:
        return "corner" if below > 0 else "aside"
    return "far"


def argument_routes(
    target: Cell, arguments: Sequence[Argument], grid: Grid = WIDE
) -> list[ArgumentRoute]:
    """Return the edges of a call's arguments, without its main edge.

    At most one enters the top of the tile and one its left. All others are far away: they share
    one short edge that begins at a chip with the name of their object.
    """
    entries = [(entry_of(argument.source, target, grid), argument) for argument in arguments]
    top = next((one for one in entries if one[0] in ("above", "corner")), None)
    aside = next((one for one in entries if one[0] == "aside"), None)
    far = tuple(one[1] for one in entries if one is not top and one is not aside)
    shift = APART if top and far else 0
    routes = []
    if top:
        entry, argument = top
        route = _down if entry == "above" else _corner
        routes.append(
            _top(entry, argument, target, route(argument.source, target, shift, grid), grid)
        )
    if aside:
        routes.append(_into_left_side(aside[1], target, grid))
    if far:
        routes.append(_far(far, target, -shift, grid))
    return routes


def text_anchor(width: float, grid: Grid = WIDE) -> tuple[float, Anchor]:
    """Return where the text of a cell is anchored: in its middle, or at its right end."""
    return (0.0, "middle") if width <= 2 * grid.right else (grid.right, "end")


def _number(value: float, step: float) -> int:
    return math.floor(value / step + 0.5) % TRACKS


def _track(source: Cell, grid: Grid) -> float:
    return grid.tracks[_number(source.y, LANE)]


def _across(source: Cell, grid: Grid) -> float:
    return ABOVE[_number(source.x, grid.pitch)]


def _stub(source: Cell, grid: Grid) -> tuple[Point, float]:
    """Return where an edge leaves its source, and where it may turn."""
    begin = source.x + (FRAME if source.saved or source.stack else TILE) + GAP
    return (begin, source.y), source.x + _track(source, grid)


def _down(source: Cell, target: Cell, shift: float, grid: Grid = WIDE) -> Route:
    x, top = target.x + shift, target.y - (FRAME if target.saved else TILE)
    return Route(((x, source.y + TEXT_BOTTOM + 1), (x, top - HEAD)), (x, top), "down")


def _corner(source: Cell, target: Cell, shift: float, grid: Grid) -> Route:
    begin, turn = _stub(source, grid)
    across, down = target.y - _across(source, grid), _down(source, target, shift)
    corners = ((turn, source.y), (turn, across), (down.tip[0], across))
    return Route((begin, *corners, down.points[1]), down.tip, "down")


def _top(entry: Entry, argument: Argument, target: Cell, route: Route, grid: Grid) -> ArgumentRoute:
    """Return an edge into the top; its label stands left of it, or right of it beside a chip."""
    y, x = target.y - LABEL_UP, route.tip[0]
    label = None
    if x == target.x:
        label = Label(x - 7, y, "end", visible_text(argument.parameter, 11))
    # Between the edge and the end of the cell only a short label has space.
    elif len(argument.parameter) * LETTER <= grid.right - APART - 5:
        label = Label(x + 5, y, "start", argument.parameter)
    return ArgumentRoute(entry, (argument,), route, label, None)


def _into_left_side(argument: Argument, target: Cell, grid: Grid) -> ArgumentRoute:
    """Return an edge into the left of the tile, from a lane below."""
    begin, turn = _stub(argument.source, grid)
    tip = (target.x - (FRAME if target.saved else TILE), target.y + SIDE)
    corners = ((turn, argument.source.y), (turn, tip[1]), (tip[0] - HEAD, tip[1]))
    text = visible_text(argument.parameter, int((grid.left - 36) / LETTER))
    label = Label(target.x - grid.left, tip[1] + 11, "start", text)
    return ArgumentRoute("aside", (argument,), Route((begin, *corners), tip, "right"), label, None)


def _far(arguments: tuple[Argument, ...], target: Cell, shift: float, grid: Grid) -> ArgumentRoute:
    """Return the short edge of all arguments from far away, with its chip."""
    end = shift + APART - 1 if shift else grid.right
    text = _chip_text(arguments, int((grid.left + end - 10) / LETTER))
    width = len(text) * LETTER + 10
    right = end if shift else min(width / 2, end)
    chip = Chip(target.x + right - width, target.y - CHIP_TOP, width, text)
    x, top = target.x + shift, target.y - (FRAME if target.saved else TILE)
    points = ((x, chip.top + CHIP_HEIGHT), (x, top - HEAD))
    return ArgumentRoute("far", arguments, Route(points, (x, top), "down"), None, chip)


def _chip_text(arguments: tuple[Argument, ...], most: int) -> str:
    first, more = arguments[0], f" +{len(arguments) - 1}" if len(arguments) > 1 else ""
    # Of `oil: Oil#2`, the parameter says nothing.
    repeats = first.name.lower().startswith(first.parameter.lower())
    full = first.name if repeats else f"{first.parameter}: {first.name}"
    return visible_text(full if len(full + more) <= most else first.name, most - len(more)) + more


# -- the name of a tool on its edge ------------------------------------------------------------

_BREAK = re.compile(r"(?<=[_.\-:])|(?<=[a-z0-9])(?=[A-Z])")
"""Where a name may break: behind a mark, and before a capital."""


def tool_lines(tool: str, kinds: Collection[str], width: float) -> list[str]:
    """Return a tool's name on at most two lines; where it is too long, without its type.

    `kinds` are the types of the call's arguments; `width` is in pixels.
    """
    signs = int(width / CODE_LETTER)
    if len(tool) <= signs:
        return [tool]
    kind = next((kind for kind in kinds if kind and tool.startswith(f"{kind}_")), None)
    name = tool if kind is None else tool[len(kind) + 1 :]
    if len(name) <= signs:
        return [name]
    first, parts = "", _BREAK.split(name)
    while parts and len(first) + len(parts[0]) <= signs:
        first += parts.pop(0)
    # A word that is too long is cut, never broken in two.
    first = first or visible_text(parts.pop(0), signs)
    lines = [first, visible_text("".join(parts), signs)]
    return [line for line in lines if line]
