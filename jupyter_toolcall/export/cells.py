"""A session as a notebook: one cell a call, and what was said between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .markdown import plain, quote
from .marks import MARK
from .python import definitions, line_text, notes
from .script import Line, Script, Words

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
