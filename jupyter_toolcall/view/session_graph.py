"""The graph of a session's objects and calls for programs: DOT, networkx, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..core.errors import UsageError
from ..core.lineage import Edge, lineage
from ..core.secrets import Hide
from ..engine.cursor import Cursor
from .contract import Rows
from .graph import drawing
from .graph_rows import GraphNode
from .svg import STATE_INKS, svg

EVERYTHING = 10**9
INCH = 72
"""Pixels of our drawings."""
GREY, PALE = "#6e7781", "#a8adb3"
"""The colours of nodes and of edges that only other branches have."""


@dataclass(frozen=True)
class SessionGraph:
    """The objects of a branch, and the calls that made them from one another.

    In a notebook it is shown as a picture. An edge has the fields `source`, `target`, `call_id`,
    `tool` and `parameter`.
    """

    nodes: tuple[str, ...]
    """The names of the objects, in the order in which they were made."""
    edges: tuple[Edge, ...]
    """Which object was made from which: one for each argument of a call."""
    _rows: Rows
    _hide: Hide
    """Replaces secrets in what is shown or written."""

    @property
    def source(self) -> str:
        """The graph in the DOT language, as `to_graphviz` returns it."""
        return str(self.to_graphviz().source)

    def to_graphviz(self) -> Any:
        """Return all objects and calls, of the other branches too, as a `graphviz.Digraph`.

        It is drawn with `render` where the program dot is installed; its `source` is DOT.
        """
        # Imported here: few sessions are exported as DOT.
        graphviz = import_module("graphviz")
        graph = graphviz.Digraph("session")
        graph.attr(rankdir="LR")
        graph.attr("node", shape="box", fontsize="10", fontname="Helvetica")
        graph.attr("edge", arrowsize="0.6", fontsize="9", fontname="Helvetica")
        drawn = drawing(self._rows, most=EVERYTHING)
        names = _unique_names(drawn.nodes)
        for name, node in zip(names, drawn.nodes, strict=True):
            is_call = node.kind == "call"
            lines = (graphviz.escape(self._hide(line)) for line in _lines(node) if line)
            # A call is a pill.
            styles = filter(None, ("rounded" * is_call, "dashed" * node.dashed))
            ink = GREY if node.muted else STATE_INKS.get(node.state) if is_call else None
            size = {"width": f"{node.width / INCH:.2f}", "height": f"{node.height / INCH:.2f}"}
            style = {"style": ",".join(styles) or None, "color": ink, "fontcolor": ink}
            graph.node(name, "\\n".join(lines), **size, **style)
        for edge in drawn.edges:
            style = {"style": "dashed" * edge.dashed or None, "color": PALE * edge.muted or None}
            label = graphviz.escape(edge.label) if edge.label else None
            graph.edge(names[edge.tail], names[edge.head], label, **style)
        return graph

    def to_networkx(self) -> Any:
        """Return the objects, and an edge for each argument that led from one to another, as a
        `networkx.MultiDiGraph`.

        Raises:
            UsageError: networkx is not installed.
        """
        try:
            networkx = import_module("networkx")
        except ImportError:
            raise UsageError("to_networkx needs networkx: pip install networkx") from None
        graph = networkx.MultiDiGraph()
        graph.add_nodes_from(self.nodes)
        for edge in self.edges:
            looks = {"call_id": edge.call_id, "tool": edge.tool, "parameter": edge.parameter}
            graph.add_edge(edge.source, edge.target, **looks)
        return graph

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Show the graph as a picture."""
        return {"image/svg+xml": self._hide(svg(self._rows)), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<graph of {len(self.nodes)} objects: {', '.join(self.nodes[-5:])}>"


def session_graph(cursor: Cursor, rows: Rows) -> SessionGraph:
    """Return the graph of a session at a cursor; `rows` are all of its rows."""
    graph = lineage(cursor.state)
    return SessionGraph(graph.nodes, graph.edges, rows, cursor.context.secrets.hide)


def _unique_names(nodes: Sequence[GraphNode]) -> list[str]:
    """Return names for nodes: an object's own, or of two with one name numbered ones."""
    names = dict[str, int]()
    for n in sorted(range(len(nodes)), key=lambda n: nodes[n].muted):
        # In DOT a colon would name a port.
        label = str(nodes[n].label).replace(":", " ")
        numbered = (f"{label} ({number})" for number in range(2, len(nodes) + 2))
        names[label if label not in names else next(n for n in numbered if n not in names)] = n
    return sorted(names, key=lambda name: names[name])


def _lines(node: GraphNode) -> tuple[str, ...]:
    state = node.state if node.kind == "call" and node.state != "ran" else ""
    words = (state, "edited" * node.edited, "outdated" * node.stale)
    flag = f"output {node.flag}" if node.flag else ""
    return (node.label, node.detail, flag, ", ".join(filter(None, words)))
