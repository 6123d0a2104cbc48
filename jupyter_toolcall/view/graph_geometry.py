"""Where the nodes and edges of a drawing stand: all of it is Graphviz's work.

What is laid out holds numbers and sizes alone, never a text of others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from unicodedata import category, east_asian_width

from ..core.recorded_data import replace
from ..core.text import visible_text
from .graph_rows import GraphEdge, GraphNode, GraphRow
from .graphviz_engine import layout

LABEL, MARGIN, BELOW = 14, 12, 8
"""Pixels: the height of an edge's label, around a drawing, and below a heading."""
SMALL = 11
"""Pixels of the type of all texts but names and pills."""
REFERENCE, MARK = 26, 16
"""Pixels of the height of a reference, and of an icon on a pill, with its gap."""
GAP, UP, NAME = 22, "\N{UPWARDS ARROW}", 28
"""Pixels between columns, the mark of a reference to an object above, and characters of the name
of a branch on it."""
WEIGHTS = {"object": 4, "call": 8, "fold": 2, "reference": 4}
"""How short and straight the lines from a node are to be."""
LETTERS = {
    **dict.fromkeys("ijl|.,:;'!I`", 0.3),
    **dict.fromkeys(' ()[]{}ft/\\r-"', 0.4),
    **dict.fromkeys("mwMW@%", 0.98),
    **dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ&#", 0.76),
}
"""How wide letters are beside the size of the type."""

Point = tuple[int, int]
Reference = Callable[[GraphEdge], GraphNode]
Headings = Mapping[str, GraphNode]
Hidden = tuple[int, int]
"""A line that nobody sees, from a node to another: it keeps them beside each other."""


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


def placed(graph: GraphRow, hidden: Iterable[Hidden], top: int) -> GraphRow:
    """Return a drawing with the places that Graphviz gives it, so many pixels from the top.

    They are whole pixels: what is saved stays small. Raises LayoutError.
    """
    drawn = layout("\n".join(["digraph {", *_dot(graph, hidden), "}"]))
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


@dataclass(frozen=True, slots=True)
class _Row:
    """Consecutive calls of a branch with what they take and make, in columns as Graphviz's are."""

    column: Mapping[int, int] = field(default_factory=dict)
    """Of each node."""
    widths: Mapping[int, float] = field(default_factory=dict)
    """Of the columns, with the references and the labels of edges in them."""
    lines: list[list[int]] = field(default_factory=list)
    """Calls that neither take nor make an object, and objects that no call takes or makes: they
    stand below the others, in lines."""

    @property
    def width(self) -> float:
        return sum(self.widths.values()) + GAP * (len(self.widths) - 1) + 2 * MARGIN

    def with_nodes(self, nodes: Iterable[tuple[int, int, float]]) -> _Row:
        """Return a row with more nodes: their numbers, -1 for references and labels, their columns
        and their widths."""
        column, widths = dict(self.column), dict(self.widths)
        for n, at, width in nodes:
            widths[at] = max(widths.get(at, 0), width)
            column |= {n: at} if n >= 0 else {}
        return _Row(column, widths, self.lines)


def in_rows(graph: GraphRow, page: int, branches: Sequence[str], headings: Headings) -> GraphRow:
    """Return a drawing in rows about as wide as a page, one below the other, as text is written.

    The rows of a branch stand together, below its heading. What a call makes is in the row of the
    call. An object of another row that a call takes is drawn there again, as a reference: no line
    leads from row to row. Raises LayoutError.

    Args:
        branches: The branch of each node: "" is the one that is shown, and stands first.
        headings: The headings of branches, by branch.
    """
    nodes, edges, width, height = list[GraphNode](), list[GraphEdge](), 0.0, 0
    rows, unnamed = _Rows(graph, page, branches, headings), dict(headings)
    for branch, row in rows:
        if (heading := unnamed.pop(branch, None)) is not None:
            # It is two margins high.
            nodes.append(replace(heading, x=MARGIN + heading.width / 2, y=height + 2 * MARGIN))
            width, height = max(width, heading.width), height + int(heading.height) + BELOW
        lines = [_Row({n: at for at, n in enumerate(line)}) for line in row.lines]
        for part in [row] * bool(row.column) + lines:
            drawn, first = placed(*_part(graph, part, rows.reference), height), len(nodes)
            edges += (replace(e, tail=e.tail + first, head=e.head + first) for e in drawn.edges)
            nodes += drawn.nodes
            width, height = max(width, drawn.width), height + int(drawn.height)
    # No line is drawn to a reference, but it comes from its object.
    object_at = {node.row: n for n, node in enumerate(nodes) if node.kind == "object"}
    for n, node in enumerate(nodes):
        if node.kind == "reference":
            arrow = "\N{DOWNWARDS ARROW}" if nodes[object_at[node.row]].y > node.y else UP
            nodes[n] = replace(node, label=f"{arrow} {node.label}")
            edges.append(GraphEdge(object_at[node.row], n, muted=node.muted))
    return replace(graph, width=width, height=height, nodes=tuple(nodes), edges=tuple(edges))


def _room(node: GraphNode) -> float:
    """Return the width of a node, with room for the mark of a call that waits: as it ends, no row
    is broken elsewhere."""
    return node.width + MARK * (node.kind == "call" and node.state == "ran")


class _Rows:
    """Breaks a drawing into rows about as wide as a page. It is read once."""

    def __init__(
        self, graph: GraphRow, page: int, branches: Sequence[str], headings: Headings
    ) -> None:
        self.graph, self.page, self.branches, self.headings = graph, page, branches, headings
        self.uses = defaultdict[int, list[GraphEdge]](list)
        self.results = defaultdict[int, list[int]](list)
        for edge in graph.edges:
            self.uses[edge.head].append(edge)
            self.results[edge.tail].append(edge.head)
        self.labels = Counter(node.label for node in graph.nodes)
        self.calls = [n for n, node in enumerate(graph.nodes) if node.kind in ("call", "fold")]
        self.elsewhere = {result for call in self.calls for result in self.results[call]}
        """The objects that calls make, and those of the rows before."""

    def __iter__(self) -> Iterator[tuple[str, _Row]]:
        """Yield the rows, each with its branch: a row ends before the call that has no room in it.

        Objects that no drawn call made are in the row of the first call that takes them. Inputs
        that no call takes stand in lines below the rows of the shown branch.
        """
        nodes, row = self.graph.nodes, _Row()
        boxes = [n for n, node in enumerate(nodes) if node.kind == "object" and not self.uses[n]]
        outputs = [n for n in boxes if nodes[n].is_unsaved_output]
        for branch in dict.fromkeys(("", *self.branches)):
            has_calls = False
            for unit in self._units(branch):
                call = unit[0]
                if not (self.uses[call] or self.results[call]):
                    self._add_to_lines(row, call)
                    continue
                longer = self._with_unit(row, unit)
                if has_calls and longer.width > self.page:
                    yield branch, row
                    longer = self._with_unit(_Row(), unit)
                row, has_calls = longer, True
                self.elsewhere |= row.column.keys()
            if branch == "":
                at = max(row.widths, default=-1) + 1
                longer = row.with_nodes((n, at, nodes[n].width) for n in outputs)
                if longer.width > self.page:
                    longer = row.with_nodes((n, at - 1, nodes[n].width) for n in outputs)
                row = longer if at else row
                for n in (n for n in boxes if n not in row.column and not self.results[n]):
                    self._add_to_lines(row, n)
            if row.column or row.lines:
                yield branch, row
            row = _Row()

    def _units(self, branch: str) -> Iterator[list[int]]:
        """Yield the calls of a branch that stand together; of more than a page has room for each.

        A call that makes nothing stands with the call that made, or first took, what it takes.
        """
        units, heads = defaultdict[int, list[int]](list), dict[int, int]()
        for call in self.calls:
            results, tails = self.results[call], [edge.tail for edge in self.uses[call]]
            ends = {heads.get(tail, call) for tail in tails}
            head = call if results or len(ends) > 1 else min(ends, default=call)
            head = head if self.branches[head] == self.branches[call] else call
            units[head].append(call)
            heads = dict.fromkeys([*results, *tails], head) | heads
        for unit in (unit for head, unit in units.items() if self.branches[head] == branch):
            has_room = len(unit) == 1 or self._with_unit(_Row(), unit).width <= self.page
            yield from [unit] if has_room else ([call] for call in unit)

    def _with_unit(self, row: _Row, unit: Iterable[int]) -> _Row:
        for call in unit:
            row = row.with_nodes(self._nodes_of(row, call))
        return row

    def _nodes_of(self, row: _Row, call: int) -> Iterator[tuple[int, int, float]]:
        """Yield what a call brings into a row, as `_Row.with_nodes` takes it."""
        before = (row.column.get(e.tail, 0) + bool(e.label) for e in self.uses[call])
        at, nodes = max(before, default=-1) + 1, self.graph.nodes
        for edge in self.uses[call]:
            is_here = edge.tail in row.column or edge.tail not in self.elsewhere
            node = nodes[edge.tail] if is_here else self.reference(edge)
            column = row.column.get(edge.tail, at - 1 - bool(edge.label))
            yield edge.tail if is_here else -1, column, node.width
            if edge.label:
                yield -1, at - 1, text_width(edge.label, SMALL) + 6
        yield call, at, _room(nodes[call])
        yield from ((result, at + 1, nodes[result].width) for result in self.results[call])

    def _add_to_lines(self, row: _Row, node: int) -> None:
        nodes, line = self.graph.nodes, row.lines[-1] if row.lines else []
        is_full = sum(_room(nodes[n]) + GAP for n in [*line, node]) + 2 * MARGIN > self.page
        if line and not is_full and nodes[line[0]].kind == nodes[node].kind:
            line.append(node)
        else:
            row.lines.append([node])

    def reference(self, edge: GraphEdge) -> GraphNode:
        """Return a box for what a call takes, with the name of its branch if that is another. That
        of the shown branch is left out where no other object has the same name."""
        original, branch = self.graph.nodes[edge.tail], self.branches[edge.tail]
        heading = self.headings.get(branch) if branch != self.branches[edge.head] else None
        is_one_of_several = branch or self.labels[original.label] > 1
        is_named = heading and is_one_of_several and self.uses[edge.tail]
        of = f" of {visible_text(heading.label, NAME)}" if heading and is_named else ""
        label = f"{original.label}{of}"
        width = even(text_width(f"{UP} {label}", SMALL) + 16)
        return GraphNode("reference", original.row, 0, 0, width, REFERENCE, label, muted=True)


def _part(graph: GraphRow, row: _Row, reference: Reference) -> tuple[GraphRow, list[Hidden]]:
    """Return a row without its lines, or such a line, with a reference for each object of
    another row, and the lines that nobody sees."""
    nodes, place, column = list[GraphNode](), dict[tuple[int, int], int](), row.column
    sources = {edge.tail for edge in graph.edges} - {edge.head for edge in graph.edges}
    sources = {n for n in sources if graph.nodes[n].kind == "object"}

    def key(edge: GraphEdge) -> tuple[int, int]:
        # Calls in one column share a reference. Calls in several columns do not: Graphviz would
        # move them, to keep the lines from the reference short.
        return edge.tail, -1 if edge.tail in column else column[edge.head]

    edges = [edge for edge in graph.edges if edge.head in column]
    # What no call made stands with the first call that takes it, in the order of its arguments.
    for n in sorted(column.keys() - sources):
        for edge in edges:
            if edge.head == n and (edge.tail in sources or edge.tail not in column):
                original = graph.nodes[edge.tail] if edge.tail in column else reference(edge)
                at = place.setdefault(key(edge), len(nodes))
                if at == len(nodes):
                    nodes.append(original)
                nodes[at] = replace(nodes[at], muted=nodes[at].muted and edge.muted)
        place[n, -1] = len(nodes)
        nodes.append(graph.nodes[n])
    edges = [replace(e, tail=place[key(e)], head=place[e.head, -1]) for e in edges]
    # Outputs stand behind the last node where they have a column of their own, and else below it.
    outputs = [n for n in column if graph.nodes[n].is_unsaved_output]
    last = max((column[n], n) for n in column if n not in outputs or not edges)
    behind = [(place[last[1], -1], place[n, -1]) for n in outputs if column[n] > last[0]]
    hidden = behind if edges else [*pairwise(range(len(nodes)))]
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges)), hidden


def _dot(graph: GraphRow, hidden: Iterable[Hidden]) -> Iterator[str]:
    """Yield the lines of a drawing in the DOT language, in the order of its nodes and edges.

    That order, and what a node's edges leave it in (`ordering`), keep nodes where they were when
    a call is added: measured, fewer of them move, for some more crossings.
    """
    yield "rankdir=LR ordering=out nodesep=.22 ranksep=.3"
    yield 'node [shape=box fixedsize=true label=""] edge [dir=none headport=w]'
    group = [*range(len(graph.nodes))]
    for ends in ((group[edge.tail], group[edge.head]) for edge in graph.edges):
        group[:] = [min(ends) if number in ends else number for number in group]
    # Of groups that no line joins Graphviz puts the one that it reads last on top: these are read
    # from the newest to the oldest, and so a new one stands below the others.
    for n in sorted(range(len(group)), key=lambda n: (-group[n], n)):
        yield _sized(f"{n}", graph.nodes[n].width, graph.nodes[n].height)
    tails = {edge.tail for edge in graph.edges}
    for n, edge in enumerate(graph.edges):
        # What a call makes stays close to it. Calls that lead to no object do not bend lines.
        weight = WEIGHTS[graph.nodes[edge.tail].kind] if edge.head in tails else 1
        head = f"{edge.head}"
        if edge.label:
            # A node on the edge. Graphviz's own labels would double all ranks, and its time.
            yield _sized(f"label{n}", text_width(edge.label, SMALL) + 6, LABEL)
            yield f"label{n} -> {head} [id=after{n} weight={2 * weight}]"
            head = f"label{n}"
        yield f"{edge.tail} -> {head} [id={n} weight={weight}]"
    last = [f"{n}" for n, node in enumerate(graph.nodes) if node.flag and n not in tails]
    yield f"{{rank=max {' '.join(last)}}}" if tails else ""
    yield from (f"{before} -> {n} [style=invis]" for before, n in hidden)


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
