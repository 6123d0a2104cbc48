"""The calls of a reply, put together from the pieces in which they come.

OpenAI numbers the calls of a reply, gives an id and a name with the first piece and
nothing but arguments with the others. Local servers differ: no number, or 0 for all;
whole calls in one piece; an id that is empty, new with each piece, or there twice; the
name again with each piece. So what a piece belongs to goes by all that it says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...content.value import well_formed
from ...events import Call
from ...tools.arguments import LONGEST
from ..strict import arguments


@dataclass
class Calls:
    """The calls so far, in the order in which they began."""

    begun: list[_Begun] = field(default_factory=list)
    _at: dict[int | None, _Begun] = field(default_factory=dict)

    def take(self, piece: Mapping[str, Any]) -> None:
        """Take in one piece: of the call that it belongs to, or of a new one."""
        number = piece.get("index")
        place = number if isinstance(number, int) else None
        call = self._at.get(place)
        if call is None or call.is_over(piece):
            call = _Begun()
            self.begun.append(call)
        # What has no number goes on with the last one, numbered or not.
        self._at[place] = self._at[None] = call
        call.take(piece)

    def read(self) -> tuple[Call, ...]:
        """Return the calls; one whose arguments cannot be read strictly is broken."""
        return tuple(call.read() for call in self.begun)


@dataclass
class _Begun:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    def is_over(self, piece: Mapping[str, Any]) -> bool:
        """Return whether a piece that comes for this call's place begins another call.

        Only a piece with a name can. It does where its id is another one, or where this
        call has all its arguments and these are more.
        """
        name, given = _function(piece)
        if not name:
            return False
        if self.id and _text(piece.get("id")) not in ("", self.id):
            return True
        return bool(given) and self._is_whole()

    def take(self, piece: Mapping[str, Any]) -> None:
        name, given = _function(piece)
        self.id = self.id or _text(piece.get("id"))
        if name != self.name:
            self.name += name
        # Of arguments that are too long, a piece too much is enough to know.
        if self.length <= LONGEST:
            self.pieces.append(given)
            self.length += len(given)

    def read(self) -> Call:
        name, call_id = well_formed(self.name), well_formed(self.id)
        try:
            return Call(call_id, name, arguments("".join(self.pieces)))
        except ValueError as error:
            return Call(call_id, name, {}, str(error))

    def _is_whole(self) -> bool:
        try:
            return isinstance(json.loads("".join(self.pieces)), dict)
        except (ValueError, RecursionError):
            return False


def _function(piece: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name and the text of the arguments in a piece, "" for what it lacks."""
    match piece.get("function"):
        case dict(function):
            given = function.get("arguments")
            whole = json.dumps(given) if isinstance(given, dict) else _text(given)
            return _text(function.get("name")), whole
    return "", ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
