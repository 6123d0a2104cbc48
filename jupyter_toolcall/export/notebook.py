"""Hostile text in Markdown: it is shown, and is never markup. Code stands in fences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..core.text import visible_text
from .file_marks import MARK
from .python_script import definitions, line_text, notes
from .script import Line, Script, Words

_MARKS = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Return a text as Markdown that shows it, line by line, and nothing else."""
    lines = (visible_text(line.strip(), 10_000) for line in text.strip().splitlines())
    return "  \n".join(_MARKS.sub(r"\\\1", line) for line in lines)


def quote(text: str) -> str:
    """Return a text as a quotation."""
    return "\n".join(f"> {line}" for line in plain(text).splitlines())


def fenced(code: str, language: str = "python") -> str:
    """Return code in a fence that nothing in it can end."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


Cell = tuple[str, str]
"""Its type and its source."""


def notebook(script: Script) -> str:
    """Return a script as the text of a notebook without outputs."""
    cells = [_cell(number, kind, source) for number, (kind, source) in enumerate(_cells(script))]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "exported": MARK}
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    more: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = source.strip("\n").splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **more}


def _cells(script: Script) -> Iterator[Cell]:
    head = [f"# {plain(script.title)}", *map(plain, notes(script))]
    yield "markdown", "\n\n".join(head)
    if text := definitions(script):
        yield "code", text
    if script.given:
        yield "code", "\n".join(map(line_text, script.given))
    for beat in script.beats:
        yield from _beat(beat)
    if script.saved:
        names = [line.code.text.partition(" = ")[0] for line in script.saved if line.code]
        yield "code", "\n".join([*map(line_text, script.saved), "", ", ".join(names)])


def _beat(beat: Words | Line) -> Iterator[Cell]:
    if isinstance(beat, Words):
        yield "markdown", f"**{beat.who}**\n\n{quote(beat.text)}"
    elif beat.code is None:
        yield "markdown", "\n\n".join(map(plain, beat.above))
    else:
        yield "code", line_text(beat)
