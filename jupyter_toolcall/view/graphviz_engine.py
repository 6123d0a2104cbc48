"""The only place that knows which Graphviz there is: the library in pygraphviz, or the program dot.

No text is laid out, so its library never looks for fonts (it would warn of those it misses).
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..core.interface_text import t

PATIENCE = 2.0
"""Seconds that a layout may take."""


class LayoutError(Exception):
    """There is no layout; the text says why in one line."""


def layout(source: str) -> Mapping[str, Any]:
    """Return a graph in the DOT language as Graphviz's JSON, with places. Raises LayoutError."""
    began = time.monotonic()
    try:
        drawn = json.loads(_laid_out(source))
    except (ImportError, FileNotFoundError):
        raise LayoutError(t("No Graphviz here: pip install pygraphviz, or install dot")) from None
    except subprocess.TimeoutExpired:
        raise LayoutError(t("Graphviz took longer than 2 seconds")) from None
    # pygraphviz raises what C++ and SWIG raise; whatever it is, the session goes on.
    except Exception as error:
        raise LayoutError(t("Graphviz failed: %1", type(error).__name__)) from None
    if time.monotonic() - began > PATIENCE:
        raise LayoutError(t("Graphviz took longer than 2 seconds"))
    return drawn  # type: ignore[no-any-return]


def _laid_out(source: str) -> bytes:
    try:
        # Imported with the first drawing: a session that nobody looks at does not need it.
        pygraphviz = import_module("pygraphviz")
    except ImportError:
        command = ["dot", "-Tjson0"]
        return subprocess.run(
            command, input=source.encode(), capture_output=True, timeout=PATIENCE, check=True
        ).stdout
    graph = pygraphviz.AGraph(string=source)
    try:
        return bytes(graph.draw(format="json0", prog="dot"))
    finally:
        graph.close()
