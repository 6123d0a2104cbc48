"""Hostile text in Markdown: it is shown, and is never markup. Code stands in fences."""

from __future__ import annotations

import re

from ..drawing.text import shown

_MARKS = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Return a text as Markdown that shows it, line by line, and nothing else."""
    lines = (shown(line.strip(), 10_000) for line in text.strip().splitlines())
    return "  \n".join(_MARKS.sub(r"\\\1", line) for line in lines)


def quote(text: str) -> str:
    """Return a text as a quotation."""
    return "\n".join(f"> {line}" for line in plain(text).splitlines())


def fenced(code: str, language: str = "python") -> str:
    """Return code in a fence that nothing in it can end."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
