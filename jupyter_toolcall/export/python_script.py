"""A session as a plain script, which needs nothing of ours."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.text import count_text, visible_text
from .code import HELPERS, WIDE
from .file_marks import MARK
from .script import Line, MessageText, Script


def script_text(script: Script) -> str:
    """Return a script as the text of a Python file."""
    parts = [
        _head(script),
        "\n".join(script.definitions.import_lines),
        *_section("Definitions", _blocks(script)),
        *_section("What the session began with", "\n".join(map(line_text, script.input_lines))),
        *_section("The session", _parts_text(script.parts)),
        *_section("What was saved", "\n".join(map(line_text, script.saved))),
        f"# {MARK}",
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def statements(script: Script) -> str:
    """Return the statements of a script alone: what is given, and what is made of it.

    What they use is at hand in the notebook, but for what copies and what stops at a value that
    is missing.
    """
    head = ["from copy import deepcopy"] * script.calls("deepcopy") + _helpers(script)
    return "\n".join([*head, *map(line_text, script.lines)])


def notes(script: Script) -> Iterator[str]:
    """Yield what a reader has to know before the code runs."""
    if todo := sum(line.open for line in script.lines):
        yield f"Before it runs, write {count_text(todo, 'value')} at the mark FILL IN."
    if script.definitions.missing:
        yield f"Not found, and used: {', '.join(sorted(script.definitions.missing))}."
    if script.calls("deepcopy"):
        yield "A call gets copies of what can change, so that nothing that has a name changes."


def _head(script: Script) -> str:
    needs = any("jupyter_toolcall.sources." in line for line in script.definitions.import_lines)
    free = "whose toolset it imports" if needs else "and free of it"
    subtitle = f"As plain Python, one statement a call: exported by jupyter-toolcall, {free}."
    future = "\n\nfrom __future__ import annotations" if script.definitions.future else ""
    sentences = [script.title, subtitle, *notes(script)]
    return "\n".join(comment(sentence) for sentence in sentences) + future


def definitions(script: Script) -> str:
    """Return the definitions of a script as one text."""
    future = ["from __future__ import annotations"] if script.definitions.future else []
    parts = ("\n".join(future), "\n".join(script.definitions.import_lines), _blocks(script))
    return "\n\n".join(part for part in parts if part)


def _helpers(script: Script) -> list[str]:
    return [text for name, text in HELPERS.items() if script.calls(name)]


def _blocks(script: Script) -> str:
    """Functions and classes stand apart, constants together."""
    text, tall = "", False
    for block in (*script.definitions.blocks, *_helpers(script)):
        body = block.strip("\n")
        is_tall = "\n" in body
        text += ("\n\n\n" if tall or is_tall else "\n") * bool(text) + body
        tall = is_tall
    return text


def _section(title: str, body: str) -> Iterator[str]:
    if body.strip():
        yield f"{comment(f'-- {title} ' + '-' * (70 - len(title)))}\n\n{body}"


def _parts_text(parts: Sequence[MessageText | Line]) -> str:
    """What was said begins a paragraph, with what was done upon it."""
    lines, after_calls = list[str](), False
    for part in parts:
        if isinstance(part, MessageText):
            blank = [""] if after_calls else []
            lines += [*blank, comment(f"{part.author}: {part.text}")]
        else:
            lines.append(line_text(part))
        after_calls = not isinstance(part, MessageText)
    return "".join(f"{line}\n" for line in lines)


def line_text(line: Line) -> str:
    """Return a statement with what is said of it, as comments."""
    comments = [comment(text) for text in line.comments]
    if line.code is None:
        return "\n".join(comments)
    behind = f"  {comment(line.behind)}" if line.behind else ""
    return "\n".join([*comments, line.code.text + behind])


def comment(text: str) -> str:
    """Return a text as comments: each of its lines is one, and nothing in it can end one."""
    lines = (visible_text(line, 10_000).rstrip() for line in text.splitlines())
    rows = [row for line in lines for row in textwrap.wrap(line, WIDE) or [""]] or [""]
    return "\n".join(f"# {row}".rstrip() for row in rows)


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


def notebook(script: Script) -> str:
    """Return a script as the text of a notebook without outputs."""
    cells = [_cell(number, kind, source) for number, (kind, source) in enumerate(_cells(script))]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "exported": MARK}
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = source.strip("\n").splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **fields}


def _cells(script: Script) -> Iterator[tuple[str, str]]:
    """Yield the type and the source of each cell."""
    head = [f"# {plain(script.title)}", *map(plain, notes(script))]
    yield "markdown", "\n\n".join(head)
    if text := definitions(script):
        yield "code", text
    if script.input_lines:
        yield "code", "\n".join(map(line_text, script.input_lines))
    for part in script.parts:
        if isinstance(part, MessageText):
            yield "markdown", f"**{part.author}**\n\n{quote(part.text)}"
        elif part.code is None:
            yield "markdown", "\n\n".join(map(plain, part.comments))
        else:
            yield "code", line_text(part)
    if script.saved:
        names = [line.code.text.partition(" = ")[0] for line in script.saved if line.code]
        yield "code", "\n".join([*map(line_text, script.saved), "", ", ".join(names)])
