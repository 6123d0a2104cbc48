"""Where the nodes and edges of a drawing stand: all of it is Graphviz's work.

What is laid out holds numbers and sizes alone, never a text of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from unicodedata import category, east_asian_width

from .graph_rows import GraphEdge, GraphRow
from .graphviz_engine import layout

LABEL, MARGIN = 14, 12
"""Pixels: the height of an edge's label, and around the drawing."""
SMALL = 10.5
"""Pixels of the type of all texts but names and pills."""
EARLIER = "earlier"
"""The id of the box that stands for the calls before the drawn ones."""
ROW = 6
"""Calls in a row of those that neither take nor make an object."""
WEIGHTS = {"object": 2, "call": 4, "earlier": 1}
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


def placed(graph: GraphRow) -> GraphRow:
    """Return a drawing with the places that Graphviz gives it, in whole pixels: what is saved stays
    small. Raises LayoutError."""
    drawn = layout("\n".join(["digraph {", *_dot(graph), "}"]))
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
        parts = [splines[key] for key in (f"{n}", f"after{n}") if key in splines]
        (x, y), (label_x, label_y) = parts[-1][-1], at.get(f"label{n}", (0, 0))
        edge = replace(edge, tip_x=x, tip_y=y, label_x=label_x, label_y=label_y)
        edges.append(replace(edge, path="".join(map(_path, parts))))
    wide, high = ceil(width) + 2 * MARGIN, ceil(height) + 2 * MARGIN
    return replace(graph, width=wide, height=high, nodes=tuple(nodes), edges=tuple(edges))


def _dot(graph: GraphRow) -> Iterator[str]:
    """Yield the lines of a drawing in the DOT language, in the order of its nodes and edges.

    That order, and what a node's edges leave it in (`ordering`), keep nodes where they were when
    a call is added: measured, fewer of them move, for some more crossings.
    """
    number = {node.id: n for n, node in enumerate(graph.nodes)}
    yield "rankdir=LR ordering=out nodesep=.22 ranksep=.3"
    yield 'node [shape=box fixedsize=true label=""] edge [dir=none]'
    yield from (_sized(f"{n}", node.width, node.height) for n, node in enumerate(graph.nodes))
    for n, edge in enumerate(graph.edges):
        tail, head = number[edge.tail], f"{number[edge.head]}"
        # What a call makes stays close to it, and what other branches have does not bend lines.
        weight = 1 if edge.muted else WEIGHTS[graph.nodes[tail].kind]
        if edge.label:
            # A node on the edge. Graphviz's own labels would double all ranks, and its time.
            yield _sized(f"label{n}", text_width(edge.label, SMALL) + 6, LABEL)
            yield f"label{n} -> {head} [id=after{n} weight={2 * weight}]"
            head = f"label{n}"
        yield f"{tail} -> {head} [id={n} weight={weight}]"
    # Lines that nobody sees hold calls without objects in rows.
    ends = {end for edge in graph.edges for end in (edge.tail, edge.head)}
    alone = [f"{number[n.id]}" for n in graph.nodes if n.kind == "call" and n.id not in ends]
    rows = (alone[start : start + ROW] for start in range(0, len(alone), ROW))
    yield from (f"{' -> '.join(row)} [style=invis]" for row in rows)
    if EARLIER in number:
        yield f"{{rank=min {number[EARLIER]}}}"
    tails = {edge.tail for edge in graph.edges}
    last = [f"{number[node.id]}" for node in graph.nodes if node.flag and node.id not in tails]
    yield f"{{rank=sink {' '.join(last)}}}"


def _sized(name: str, width: float, height: float) -> str:
    return f"{name} [width={width / 72:.3f} height={height / 72:.3f}]"


def _path(points: Sequence[Point]) -> str:
    """Return the path data of a spline."""
    start, *controls = (f"{x},{y}" for x, y in points)
    return f"M{start}C{' '.join(controls)}"
