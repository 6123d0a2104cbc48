"""What a docstring says of a function and of each parameter (Google, NumPy, Sphinx)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from docstring_parser import ParseError, parse


def documented(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return a function's description, and those of its parameters by name."""
    text = inspect.getdoc(function) or ""
    try:
        found = parse(text)
    except ParseError:
        return text.strip(), {}
    said = "\n\n".join(part for part in (found.short_description, found.long_description) if part)
    notes = {p.arg_name.lstrip("*"): _line(p.description) for p in found.params if p.description}
    return said, notes


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
