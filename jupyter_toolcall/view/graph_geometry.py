"""Where the nodes and edges of a drawing stand: all of it is Graphviz's work.

What is laid out holds numbers and sizes alone, never a text of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from unicodedata import category, east_asian_width

from ..core.recorded_data import replace
from .graph_rows import GraphEdge, GraphRow
from .graphviz_engine import layout

LABEL, MARGIN = 14, 12
"""Pixels: the height of an edge's label, and around the drawing."""
SMALL = 10.5
"""Pixels of the type of all texts but names and pills."""
ROW = 6
"""Calls in a row of those that neither take nor make an object."""
WEIGHTS = {"object": 4, "call": 8, "earlier": 2}
"""How short and straight the lines from a node are to be."""
LETTERS = {
    **dict.fromkeys("ijl|.,:;'!I`", 0.3),
    **dict.fromkeys(' ()[]{}ft/\\r-"', 0.4),
    **dict.fromkeys("mwMW@%", 0.98),
    **dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ&#", 0.76),
}
"""How wide letters are beside the size of the type."""

Point = tuple[int, int]


def text_width(text: str, size: float, mono: bool = False) -> float:
    """Return about how wide a text is, in pixels: fonts differ, and this is a wide one."""
    return size * sum(_letter_width(letter, mono) for letter in text)


def _letter_width(letter: str, mono: bool) -> float:
    if letter.isascii():
        return 0.61 if mono else LETTERS.get(letter, 0.6)
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return (1.25 if category(letter) == "So" else 1) if east_asian_width(letter) in "WF" else 0.68


def placed(graph: GraphRow, row_of: Sequence[int] = ()) -> GraphRow:
    """Return a drawing with the places that Graphviz gives it, in whole pixels: what is saved stays
    small. `row_of` are the rows that nodes stand in, one below the other. Raises LayoutError."""
    drawn = layout("\n".join(["digraph {", *_dot(graph, row_of), "}"]))
    width, height = (float(part) for part in drawn["bb"].split(",")[2:])

    def points(text: str) -> list[Point]:
        # Graphviz measures upwards, in points; a point is a pixel here.
        pairs = (part.split(",") for part in text.split())
        return [(round(float(x)) + MARGIN, round(height - float(y)) + MARGIN) for x, y in pairs]

    at = {node["name"]: points(node["pos"])[0] for node in drawn["objects"] if "pos" in node}
    splines = {line["id"]: points(line["pos"]) for line in drawn.get("edges", ()) if "id" in line}
    nodes = [replace(node, x=at[f"{n}"][0], y=at[f"{n}"][1]) for n, node in enumerate(graph.nodes)]
    edges = list[GraphEdge]()
    for n, edge in enumerate(graph.edges):
        line, after = splines.get(f"{n}", []), splines.get(f"after{n}", [])
        # It goes on straight below its label, which covers it: hidden labels leave no gap.
        line = [*line, line[-1], after[0], *after] if after else line
        (x, y), path = at.get(f"label{n}", (0, 0)), _path(line) if line else ""
        edges.append(replace(edge, path=path, label_x=x, label_y=y))
    wide, high = ceil(width) + 2 * MARGIN, ceil(height) + 2 * MARGIN
    return replace(graph, width=wide, height=high, nodes=tuple(nodes), edges=tuple(edges))


def _dot(graph: GraphRow, row_of: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a drawing in the DOT language, in the order of its nodes and edges.

    That order, and what a node's edges leave it in (`ordering`), keep nodes where they were when
    a call is added: measured, fewer of them move, for some more crossings.
    """
    yield "rankdir=LR ordering=out nodesep=.22 ranksep=.3"
    yield 'node [shape=box fixedsize=true label=""] edge [dir=none]'
    heads = {edge.head for edge in graph.edges}
    roots = {n for n, node in enumerate(graph.nodes) if node.kind == "call" and n not in heads}
    # Of the calls that take nothing Graphviz puts the one that it reads last on top: these are read
    # first, the newest before the others, and so each new one stands below them.
    for n in sorted(range(len(graph.nodes)), key=lambda n: -1 - n if n in roots else 0):
        yield _sized(f"{n}", graph.nodes[n].width, graph.nodes[n].height)
    tails = {edge.tail for edge in graph.edges}
    for n, edge in enumerate(graph.edges):
        # What a call makes stays close to it. Calls that lead to no object do not bend lines, and
        # what other branches have does not bend those of the shown one.
        weight, head = WEIGHTS[graph.nodes[edge.tail].kind], f"{edge.head}"
        weight = 1 if edge.head not in tails else min(weight, 2) if edge.muted else weight
        # A line into another row does not keep its end to the right of its beginning: like a line
        # of text, the row begins at the left again.
        free = " constraint=false" * bool(row_of and row_of[edge.tail] != row_of[edge.head])
        if edge.label:
            # A node on the edge. Graphviz's own labels would double all ranks, and its time.
            yield _sized(f"label{n}", text_width(edge.label, SMALL) + 6, LABEL)
            yield f"label{n} -> {head} [id=after{n} weight={2 * weight}{free}]"
            head = f"label{n}"
        yield f"{edge.tail} -> {head} [id={n} weight={weight}{free}]"
    # Lines that nobody sees hold calls without objects in rows, behind the call before them.
    ends = {end for edge in graph.edges for end in (edge.tail, edge.head)}
    calls = [n for n, node in enumerate(graph.nodes) if node.kind == "call"]
    before = ""
    for is_alone, group in groupby(calls, lambda n: n not in ends):
        run = [*map(str, group)]
        if is_alone:
            rows = [run[start : start + ROW] for start in range(0, len(run), ROW)]
            yield from (f"{' -> '.join(row)} [style=invis]" for row in rows)
            # The rows stand below one another, as they are read.
            yield f"{{rank=same {' -> '.join(run[::ROW])} [style=invis]}}"
            yield f"{before} -> {run[0]} [style=invis weight=0]" if before else ""
        before = run[-1]
    if graph.earlier:
        yield "{rank=min 0}"
    last = [f"{n}" for n, node in enumerate(graph.nodes) if node.flag and n not in tails]
    yield f"{{rank=sink {' '.join(last)}}}"
    # An output that is not saved yet stands in the row of the branch that is to save it.
    shown = [n for n, node in enumerate(graph.nodes) if not (node.muted or node.flag)]
    outputs = (n for n in last if int(n) not in ends and shown)
    yield from (f"{shown[-1]} -> {n} [style=invis]" for n in outputs)


def _sized(name: str, width: float, height: float) -> str:
    return f"{name} [width={width / 72:.3f} height={height / 72:.3f}]"


def _path(points: Sequence[Point]) -> str:
    """Return the path data of a spline, from its end to its start; short, since it is saved."""
    (x, y), *controls = reversed(points)
    path = f"M{x},{y}"
    if all(to_y == y for _, to_y in controls):
        return f"{path}h{controls[-1][0] - x}"
    parts = list[str]()
    for n, (to_x, to_y) in enumerate(controls, 1):
        parts.append(f"{to_x - x},{to_y - y}")
        # Three points are a curve, and the next one begins where it ends.
        if n % 3 == 0:
            x, y = to_x, to_y
    return f"{path}c{' '.join(parts)}"
