"""Objects that a call names, and that nothing has produced on this branch.

A replay comes to such a call where the call that produced the object fails by now. It is kept
as data; a person and a model read which call would have produced the object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..events import Producer

_CAME: Mapping[str, str] = {
    "failed": "failed",
    "rejected": "was rejected",
    "answered": "was answered",
    "interrupted": "was interrupted",
    "succeeded": "made none",
}


@dataclass(frozen=True, slots=True)
class MissingObject:
    """An argument that names such an object, and how the call stands that would produce it."""

    path: tuple[str, ...]
    """The keys, and the positions in lists, that lead to the argument."""
    name: str
    """What the object is called where it was produced."""
    producer: Producer
    step: int = 0
    """The step of the call that would produce it; 0 where there is none on this branch."""
    status: str = ""
    """The status of that call."""

    def __str__(self) -> str:
        if not self.step:
            return f"{self.name} (not made on this branch)"
        part = f", part {self.producer.index + 1}," if self.producer.index else ""
        return (
            f"{self.name} (not made on this branch: call {self.step}{part} {in_words(self.status)})"
        )


def in_words(status: str) -> str:
    """Return how a call came to produce nothing."""
    return _CAME.get(status, "has not run")


def shown(arguments: Mapping[str, Any], missing: Sequence[MissingObject]) -> Mapping[str, Any]:
    """Return arguments as they are shown: what is missing is no name of an object in them."""
    for each in missing:
        arguments = _replaced(arguments, each.path, str(each))
    return arguments


def at_path(value: Any, path: tuple[str, ...]) -> Any:
    """Return what a path leads to; None where it leads to nothing."""
    for step in path:
        match value:
            case Mapping() if step in value:
                value = value[step]
            case list() if step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            case _:
                return None
    return value


def with_names(arguments: Mapping[str, Any], missing: Sequence[MissingObject]) -> Mapping[str, Any]:
    """Return arguments that were shown with the bare names in them."""
    for each in missing:
        arguments = _replaced(arguments, each.path, each.name)
    return arguments


def _replaced(value: Any, path: tuple[str, ...], text: str) -> Any:
    """Return a value with a text where a path leads to."""
    if not path:
        return text
    first, rest = path[0], path[1:]
    match value:
        case Mapping() if first in value:
            return {**value, first: _replaced(value[first], rest, text)}
        case list() if first.isdecimal() and int(first) < len(value):
            at = int(first)
            return [*value[:at], _replaced(value[at], rest, text), *value[at + 1 :]]
    return value
