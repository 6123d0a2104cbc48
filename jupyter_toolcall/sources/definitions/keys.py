"""The keys and words of a definition: which there are, and what is said of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ...errors import DefinitionError
from ...tools import nearest
from ...tools.arguments import DEEPEST

Word = TypeVar("Word", bound=str)


def shallow(found: Any, place: str) -> Any:
    """Return JSON data that is not nested too deep. Raises DefinitionError where it is."""
    level = [found]
    for _ in range(DEEPEST + 1):
        inner = (each.values() if isinstance(each, dict) else each for each in level if each)
        level = [item for each in inner for item in each if isinstance(item, (dict, list))]
        if not level:
            return found
    raise too_deep(place)


def too_deep(place: str) -> DefinitionError:
    """Return the error that says so."""
    return DefinitionError(f"{place}: is nested deeper than {DEEPEST} levels")


def known_keys(said: Any, known: tuple[str, ...], place: str) -> dict[str, Any]:
    """Return what an object says, without what is null.

    Raises DefinitionError for another thing than an object, and for another key.
    """
    where = f"{place}: " if place else ""
    if not isinstance(said, Mapping):
        raise DefinitionError(f"{where}{said!r:.60} is no object with {', '.join(known)}")
    for key in said:
        if key not in known:
            at = f"{place}.{key}" if place else str(key)
            raise DefinitionError(
                f"{at}: there is no such key; there are {', '.join(known)}."
                f"{nearest(str(key), known)}"
            )
    return {str(key): value for key, value in said.items() if value is not None}


def one_of(said: Any, known: tuple[Word, ...], place: str) -> Word:
    """Return a word that is known. Raises DefinitionError, naming the nearest."""
    for word in known:
        if said == word:
            return word
    raise DefinitionError(
        f"{place}: {said!r:.60} is not known; there is {' or '.join(known)}."
        f"{nearest(str(said), known)}"
    )
