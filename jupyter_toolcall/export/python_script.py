"""A session as a plain script, which needs nothing of ours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from ..core.text import visible_text
from .file_marks import MARK
from .script import Line, Script, Words
from .value_code import MADE_TEXT

WIDTH = 96
"""Characters of a line of comment."""
COPIES = "from copy import deepcopy"


def python(script: Script) -> str:
    """Return a script as the text of a Python file."""
    parts = [
        _head(script),
        "\n".join(script.defined.imports),
        *_section("Definitions", _blocks(script)),
        *_section("What the session began with", "\n".join(map(line_text, script.given))),
        *_section("The session", _told(script.beats)),
        *_section("What was saved", "\n".join(map(line_text, script.saved))),
        f"# {MARK}",
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def statements(script: Script) -> str:
    """Return the statements of a script alone: what is given, and what is made of it.

    What they use is at hand in the notebook, but for what copies.
    """
    lines = [*script.given, *(each for each in script.beats if isinstance(each, Line))]
    return "\n".join([*([COPIES] if _copies(script) else []), *map(line_text, lines)])


def notes(script: Script) -> Iterator[str]:
    """Yield what a reader has to know before the code runs."""
    if script.todo:
        count = f"{script.todo} line{'' if script.todo == 1 else 's'}"
        yield f"Before it runs: {count} that no literal says, marked FILL IN."
    if script.defined.missing:
        yield f"Not found, and used: {', '.join(script.defined.missing)}."
    if script.defined.twice:
        yield f"Defined in two ways, of which one is kept: {', '.join(script.defined.twice)}."
    if _copies(script):
        yield "A call gets copies of what can change, so that nothing that has a name changes."


def _copies(script: Script) -> bool:
    lines = (each for each in script.beats if isinstance(each, Line) and each.code)
    return any("deepcopy(" in line.code.text for line in lines if line.code)


def _head(script: Script) -> str:
    said = "As plain Python, one statement a call: exported by jupyter-toolcall, and free of it."
    first = [script.title, said]
    future = "\n\nfrom __future__ import annotations" if script.defined.future else ""
    return "\n".join(comment(each) for each in [*first, *notes(script)]) + future


def definitions(script: Script) -> str:
    """Return the definitions of a script as one text."""
    future = ["from __future__ import annotations"] if script.defined.future else []
    parts = ("\n".join(future), "\n".join(script.defined.imports), _blocks(script))
    return "\n\n".join(part for part in parts if part)


def _blocks(script: Script) -> str:
    """Functions and classes stand apart, constants together."""
    text, tall = "", False
    for block in (*script.defined.blocks, *([MADE_TEXT] if script.made else [])):
        body = block.strip("\n")
        is_tall = "\n" in body
        text += ("\n\n\n" if tall or is_tall else "\n") * bool(text) + body
        tall = is_tall
    return text


def _section(title: str, body: str) -> Iterator[str]:
    if body.strip():
        yield f"{comment(f'-- {title} ' + '-' * (70 - len(title)))}\n\n{body}"


def _told(beats: Sequence[Words | Line]) -> str:
    """What was said begins a paragraph, with what was done upon it."""
    text, before = "", True
    for beat in beats:
        is_said = isinstance(beat, Words)
        said = comment(f"{beat.who}: {beat.text}") if isinstance(beat, Words) else line_text(beat)
        text += ("\n" if is_said and not before else "") + said + "\n"
        before = is_said
    return text


def line_text(line: Line) -> str:
    """Return a statement with what is said of it, as comments."""
    above = [comment(each) for each in line.above]
    if line.code is None:
        return "\n".join(above)
    behind = f"  {comment(line.behind)}" if line.behind else ""
    return "\n".join([*above, line.code.text + behind])


def comment(text: str) -> str:
    """Return a text as comments: each of its lines is one, and nothing in it can end one."""
    lines = (visible_text(line, 10_000).rstrip() for line in text.splitlines())
    rows = [row for line in lines for row in textwrap.wrap(line, WIDTH) or [""]] or [""]
    return "\n".join(f"# {each}".rstrip() for each in rows)
