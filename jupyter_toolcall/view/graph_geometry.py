"""Where the nodes and edges of a drawing stand: all of it is Graphviz's work.

What is laid out holds numbers and sizes alone, never a text of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from unicodedata import category, east_asian_width

from ..core.recorded_data import replace
from .graph_rows import GraphEdge, GraphNode, GraphRow
from .graphviz_engine import layout

LABEL, MARGIN, BETWEEN = 14, 12, 8
"""Pixels: the height of an edge's label, around a drawing, and of two margins that are no gap."""
SMALL = 10.5
"""Pixels of the type of all texts but names and pills."""
ROW = 6
"""Calls in a row of those that neither take nor make an object."""
REFERENCE = 26
"""Pixels of the height of a reference."""
WEIGHTS = {"object": 4, "call": 8, "earlier": 2, "reference": 4}
"""How short and straight the lines from a node are to be."""
LETTERS = {
    **dict.fromkeys("ijl|.,:;'!I`", 0.3),
    **dict.fromkeys(' ()[]{}ft/\\r-"', 0.4),
    **dict.fromkeys("mwMW@%", 0.98),
    **dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ&#", 0.76),
}
"""How wide letters are beside the size of the type."""

Point = tuple[int, int]
Part = tuple[float, int]
"""The number of a row, and the number of a node in it."""


def text_width(text: str, size: float, mono: bool = False) -> float:
    """Return about how wide a text is, in pixels: fonts differ, and this is a wide one."""
    return size * sum(_letter_width(letter, mono) for letter in text)


def _letter_width(letter: str, mono: bool) -> float:
    if letter.isascii():
        return 0.61 if mono else LETTERS.get(letter, 0.6)
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return (1.25 if category(letter) == "So" else 1) if east_asian_width(letter) in "WF" else 0.68


def even(length: float) -> int:
    """Return a length whose half is a whole number of pixels."""
    return 2 * ceil(length / 2)


def placed(graph: GraphRow, top: int = 0) -> GraphRow:
    """Return a drawing with the places that Graphviz gives it, so many pixels from the top.

    They are whole pixels: what is saved stays small. Raises LayoutError.
    """
    drawn = layout("\n".join(["digraph {", *_dot(graph), "}"]))
    width, height = (float(part) for part in drawn["bb"].split(",")[2:])

    def points(text: str) -> list[Point]:
        # Graphviz measures upwards, in points; a point is a pixel here.
        pairs = (part.split(",") for part in text.split())
        down = height + top + MARGIN
        return [(round(float(x)) + MARGIN, round(down - float(y))) for x, y in pairs]

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


def in_rows(graph: GraphRow, page: int) -> GraphRow:
    """Return a drawing, which has its places, in rows of about the width of a page, one below the
    other, as text is written.

    What a call makes is in the row of the call. An object that a call of a later row takes is drawn
    there again, as a reference: no line leads from row to row. Raises LayoutError.
    """
    part_of = _parts(graph, _rows(graph, page))
    nodes, edges, width, height = list[GraphNode](), list[GraphEdge](), 0.0, 0
    for part_name in _in_reading_order(graph, part_of):
        part, first = placed(_part(graph, part_of, part_name), height), len(nodes)
        edges += (replace(e, tail=e.tail + first, head=e.head + first) for e in part.edges)
        nodes += part.nodes
        width, height = max(width, part.width), height + int(part.height) - BETWEEN
    # No line is drawn to a reference, but it comes from its object.
    object_at = {node.row: n for n, node in enumerate(nodes) if node.kind == "object"}
    references = ((n, node) for n, node in enumerate(nodes) if node.kind == "reference")
    edges += (GraphEdge(object_at[node.row], n, muted=node.muted) for n, node in references)
    return replace(
        graph, width=width, height=height + BETWEEN, nodes=tuple(nodes), edges=tuple(edges)
    )


def height_in_rows(graph: GraphRow, page: int) -> float:
    """Return an estimate of the height of a drawing in rows, without a layout of the rows.

    Measured: within 7 % of the height for most sessions of one branch.
    """
    rows: dict[float, list[GraphNode]] = {}
    for row, node in zip(_rows(graph, page), graph.nodes, strict=True):
        rows.setdefault(row, []).append(node)
    return sum(
        max(node.y + node.height / 2 for node in row)
        - min(node.y - node.height / 2 for node in row)
        + 2 * MARGIN
        for row in rows.values()
    )


def _in_reading_order(graph: GraphRow, part_of: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts from top to bottom: each below the parts whose objects it takes, and directly
    below them where possible."""
    sources: dict[Part, set[Part]] = {part: set() for part in part_of}
    for edge in graph.edges:
        sources[part_of[edge.head]].add(part_of[edge.tail])
    position = dict[Part, int]()

    def key(part: Part) -> tuple[int, Part]:
        return -max((position.get(other, 0) for other in sources[part]), default=0), part

    while waiting := [part for part in sources if part not in position]:
        ready = [part for part in waiting if sources[part] - {part} <= position.keys()]
        # In a forged file parts may lead in a circle: then any of them is next.
        part = min(ready or waiting, key=key)
        position[part] = len(position) + 1
        yield part


def _rows(graph: GraphRow, page: int) -> list[float]:
    """Return for each node the row that it is in."""
    row_of = [float(int(node.x / page)) for node in graph.nodes]
    maker = {e.head: e.tail for e in graph.edges if graph.nodes[e.tail].kind == "call"}
    for result, call in maker.items():
        row_of[result] = row_of[call]
    takers: dict[int, list[float]] = {}
    for edge in graph.edges:
        takers.setdefault(edge.tail, []).append(row_of[edge.head])
    for n in takers.keys() - maker.keys():
        # An input is in the row of the first call that takes it.
        row_of[n] = min(takers[n])
    for run, before in _calls_alone(graph):
        # Several such calls get their own row, below that of the call before them.
        row = (row_of[before] if before >= 0 else -1) + (len(run) > 1) / 2
        for n in run:
            row_of[n] = row
    for output, last in _unsaved_outputs(graph):
        row_of[output] = row_of[last]
    return row_of


def _parts(graph: GraphRow, row_of: Sequence[float]) -> list[Part]:
    """Return the part that each node is in: its row, and the first node of that part.

    Nodes of a row are in one part if edges join them, or if they take the same object of another
    row. Parts are drawn below one another.
    """
    part_of = [(row, n) for n, row in enumerate(row_of)]

    def join(one: int, other: int) -> None:
        parts = sorted((part_of[one], part_of[other]))
        if parts[0][0] == parts[1][0]:
            part_of[:] = [parts[0] if part == parts[1] else part for part in part_of]

    takers: dict[tuple[int, float], int] = {}
    for edge in graph.edges:
        join(edge.tail, edge.head)
        # Calls that take the same object of another row are drawn together.
        join(takers.setdefault((edge.tail, row_of[edge.head]), edge.head), edge.head)
    for run, before in _calls_alone(graph):
        for n in run[1:] or [before]:
            join(run[0], n)
    for output, last in _unsaved_outputs(graph):
        join(last, output)
    return part_of


def _ends(graph: GraphRow) -> set[int]:
    """Return the nodes at which an edge begins or ends."""
    return {end for edge in graph.edges for end in (edge.tail, edge.head)}


def _calls_alone(graph: GraphRow) -> Iterator[tuple[list[int], int]]:
    """Yield the calls that neither take nor make an object, each run of them with the call before
    it; -1 for none."""
    ends = _ends(graph)
    calls = [n for n, node in enumerate(graph.nodes) if node.kind == "call"]
    before = -1
    for is_alone, group in groupby(calls, lambda n: n not in ends):
        run = [*group]
        if is_alone:
            yield run, before
        before = run[-1]


def _unsaved_outputs(graph: GraphRow) -> Iterator[tuple[int, int]]:
    """Yield the outputs that are not saved yet, each with the last node of the shown branch: that
    branch is to save it."""
    ends = _ends(graph)
    shown = [n for n, node in enumerate(graph.nodes) if not (node.muted or node.flag)]
    for n, node in enumerate(graph.nodes):
        if node.flag and n not in ends and shown:
            yield n, shown[-1]


def _part(graph: GraphRow, part_of: Sequence[Part], part: Part) -> GraphRow:
    """Return one part of a drawing, with a reference for each object of another part."""
    edges = [edge for edge in graph.edges if part_of[edge.head] == part]
    nodes, place = list[GraphNode](), dict[int, int]()
    references: dict[tuple[int, float], int] = {}
    for n, node in enumerate(graph.nodes):
        if part_of[n] != part:
            continue
        for edge in edges:
            original = graph.nodes[edge.tail]
            if edge.head != n or part_of[edge.tail] == part or original.kind != "object":
                continue
            # Calls in one column share a reference. Calls in several columns do not: Graphviz would
            # move them, to keep the lines from the reference short.
            at = references.setdefault((edge.tail, node.x), len(nodes))
            if at == len(nodes):
                nodes.append(_reference(original))
            nodes[at] = replace(nodes[at], muted=nodes[at].muted and edge.muted)
        place[n] = len(nodes)
        nodes.append(node)
    drawn = list[GraphEdge]()
    for edge in edges:
        tail = place.get(edge.tail, references.get((edge.tail, graph.nodes[edge.head].x)))
        # The box of the earlier calls is in the first row alone.
        drawn += [] if tail is None else [replace(edge, tail=tail, head=place[edge.head])]
    return replace(graph, nodes=tuple(nodes), edges=tuple(drawn))


def _reference(original: GraphNode) -> GraphNode:
    label = f"\N{UPWARDS ARROW} {original.label}"
    width = even(text_width(label, SMALL) + 16)
    return GraphNode("reference", original.row, 0, 0, width, REFERENCE, label, muted=True)


def _dot(graph: GraphRow) -> Iterator[str]:
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
        if edge.label:
            # A node on the edge. Graphviz's own labels would double all ranks, and its time.
            yield _sized(f"label{n}", text_width(edge.label, SMALL) + 6, LABEL)
            yield f"label{n} -> {head} [id=after{n} weight={2 * weight}]"
            head = f"label{n}"
        yield f"{edge.tail} -> {head} [id={n} weight={weight}]"
    # Lines that nobody sees hold calls without objects in rows, behind the call before them.
    for run, before in _calls_alone(graph):
        rows = [run[start : start + ROW] for start in range(0, len(run), ROW)]
        yield from (f"{' -> '.join(map(str, row))} [style=invis]" for row in rows)
        # The rows stand below one another, as they are read.
        yield f"{{rank=same {' -> '.join(map(str, run[::ROW]))} [style=invis]}}"
        yield f"{before} -> {run[0]} [style=invis weight=0]" if before >= 0 else ""
    if any(node.kind == "earlier" for node in graph.nodes[:1]):
        yield "{rank=min 0}"
    last = [f"{n}" for n, node in enumerate(graph.nodes) if node.flag and n not in tails]
    yield f"{{rank=sink {' '.join(last)}}}"
    yield from (f"{before} -> {n} [style=invis]" for n, before in _unsaved_outputs(graph))


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
