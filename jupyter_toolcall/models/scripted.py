"""A model that says what it was told to say: for tutorials and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.events import Call
from ..schemes.messages import Reply, Request, call_id

Item = str | tuple[str, Mapping[str, Any]] | Sequence[Any]


class Scripted:
    """One item a turn: a text, a `(tool, arguments)` pair, or a list of these.

    `"$Potato"` in arguments is the newest object of that type. It keeps no place: the
    turn is the number of replies so far, so a fork or a replay hears the same.
    """

    def __init__(self, items: Iterable[Item], name: str = "scripted") -> None:
        self.items = tuple(_turn(item) for item in items)
        self.name = name

    @property
    def identity(self) -> str:
        """The name, and a digest of the words: another script is another model."""
        return f"{self.name}:{digest('script', repr(self.items))[:12]}"

    def __call__(self, request: Request) -> Reply:
        if request.turn >= len(self.items):
            return Reply()
        texts, calls = self.items[request.turn]
        made = tuple(
            Call(call_id(request.turn, index, len(calls)), tool, filled(arguments, request.newest))
            for index, (tool, arguments) in enumerate(calls)
        )
        return Reply("\n".join(texts), made, "tools" if made else "end")

    def __repr__(self) -> str:
        return f"<{self.name}: a script of {len(self.items)} turns>"


_Turn = tuple[tuple[str, ...], tuple[tuple[str, Mapping[str, Any]], ...]]


def _turn(item: Item) -> _Turn:
    match item:
        case str():
            return (item,), ()
        case (str() as tool, Mapping() as arguments):
            return (), ((tool, arguments),)
        case list() | tuple():
            parts = [_turn(part) for part in item]
            return (
                tuple(text for texts, _ in parts for text in texts),
                tuple(call for _, calls in parts for call in calls),
            )
    raise UsageError(
        f"{item!r:.60} is no turn of a script: give a text, a (tool, arguments) pair, "
        "or a list of these"
    )


def filled(value: Any, newest: Mapping[str, str]) -> Any:
    """Return arguments with the newest object of each type in the place of `"$Type"`."""
    match value:
        case str() if value.startswith("$") and newest.get(value[1:]) is not None:
            return newest[value[1:]]
        case int() | float() | None:
            return value
        case dict() | Mapping():
            return {key: filled(item, newest) for key, item in value.items()}
        case list() | tuple():
            return [filled(item, newest) for item in value]
    return value
