"""What a model wrote in one turn as a `Reply`: whole, or not at all.

A fold over pieces of text, without I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...content.value import well_formed
from ...errors import ModelError
from ...events import Call, Usage
from ...request import Reply, call_id
from .. import strict

_CALLS = re.compile(r"(?:^|\n)(?=\{)")
UNREADABLE = "unreadable"
"""The tool of a call that cannot be read."""


@dataclass(frozen=True, slots=True)
class End:
    """How a turn came to its end: "stop", "length" or "context"; and what it took."""

    reason: str
    usage: Usage | None = None


Piece = str | End


def reply(
    pieces: Iterable[Piece], turn: int, calls: bool, on_text: Callable[[str], object]
) -> Reply:
    """Return the reply that the pieces make; `calls` says whether lines may be calls.

    Raises ModelError where the end is missing.
    """
    whole, shown = "", 0
    for piece in pieces:
        if isinstance(piece, End):
            return _finished(whole, piece, turn, calls)
        whole += well_formed(piece)
        text = said(whole, calls)
        if len(text) > shown:
            on_text(text[shown:])
            shown = len(text)
    raise ModelError("the model's reply was cut off before its end; running again asks anew")


def said(whole: str, calls: bool) -> str:
    """Return the text before the calls, without what may still be the line's end."""
    found = _CALLS.search(whole) if calls else None
    return whole[: found.start()] if found else whole.rstrip("\n")


def _finished(whole: str, end: End, turn: int, calls: bool) -> Reply:
    text = said(whole, calls)
    if end.reason != "stop":
        return Reply(text, stop=end.reason, usage=end.usage)
    lines = [line for line in whole[len(text) :].split("\n") if line] if calls else []
    made = tuple(_call(line, call_id(turn, place, len(lines))) for place, line in enumerate(lines))
    return Reply(text.strip(), made, "tools" if made else "end", end.usage)


def _call(line: str, name: str) -> Call:
    """Return the call that a line holds. What cannot be read is told to the model, not run."""
    try:
        found = strict.read(line)
    except ValueError as error:
        return Call(name, UNREADABLE, {}, str(error))
    match found:
        case {"tool": str(tool), "arguments": dict(arguments)} if len(found) == 2:
            return Call(name, tool, arguments)
    return Call(name, UNREADABLE, {}, 'a call is {"tool":"NAME","arguments":{...}}')
