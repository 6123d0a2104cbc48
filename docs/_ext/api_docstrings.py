"""Makes docstrings readable for Sphinx: in them, names stand in single backquotes."""

from __future__ import annotations

import builtins
import re
from typing import Any

_QUOTED = re.compile(r"(?<![`:\w])`([^`]+)`(?!`)(?=(\w?))")


def quote_names(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Mark what stands in single backquotes as code, also before a letter (`Tool`s).

    A module's docstring is for who reads the file: the page has words of its own.
    """
    if what == "module":
        lines.clear()
        return
    text = _QUOTED.sub(
        lambda quoted: f"``{quoted[1]}``" + ("\\ " if quoted[2] else ""), "\n".join(lines)
    )
    # Napoleon takes what stands before a colon in an attribute's first line for its type.
    first = [""] if what in ("attribute", "data", "property") else []
    lines[:] = [*first, *text.split("\n")]


def unlink_builtins(app: Any, doctree: Any) -> None:
    """Leave the types of Python without a link: an attribute of that name is something else."""
    from docutils.nodes import inline
    from sphinx.addnodes import pending_xref

    for reference in list(doctree.findall(pending_xref)):
        if reference.get("refdomain") == "py" and hasattr(builtins, reference["reftarget"]):
            reference.replace_self(inline("", reference["reftarget"]))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", quote_names, priority=400)
    app.connect("doctree-read", unlink_builtins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
