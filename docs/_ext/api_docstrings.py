"""Makes docstrings readable for Sphinx: in them, names stand in single backquotes."""

from __future__ import annotations

import builtins
import re
from typing import Any

COLON = "\ue000"
"""Stands for a colon: what is before one would be an attribute's type to Napoleon."""
RETURNED = (
    *(f"jupyter_toolcall.{part}." for part in ("compare", "core", "engine", "export", "view")),
    "jupyter_toolcall.maps.session_map.",
    "jupyter_toolcall.session.verify_files.",
)
"""Where the classes are whose instances a session returns: nobody else creates them."""
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
    if what in ("attribute", "data", "property"):
        text = text.replace(":", COLON)
    lines[:] = text.split("\n")


def restore_colons(
    app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]
) -> None:
    """Write colons again, after Napoleon."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


def readable_signature(
    app: Any, what: str, name: str, item: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str | None, Any] | None:
    """Show defaults as they are written, and no signature of what a session alone creates."""
    if signature is None:
        return None
    if what == "class" and name.startswith(RETURNED):
        return "", returns
    named = re.sub(r"<(?:class|function|built-in function) '?(\w+)[^<>]*>", r"\1", signature)
    return re.sub(r"<[^<>]*>", "...", named), returns


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
    app.connect("autodoc-process-docstring", restore_colons, priority=600)
    app.connect("autodoc-process-signature", readable_signature)
    app.connect("doctree-read", unlink_builtins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
