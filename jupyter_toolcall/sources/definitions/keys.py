"""The keys and words of a definition: which there are, and what is said of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ...errors import DefinitionError
from ...tools import nearest

Word = TypeVar("Word", bound=str)


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
