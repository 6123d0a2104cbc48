"""The arguments of a call, read strictly: what is doubtful is not guessed at.

Every adapter whose provider sends arguments as JSON text reads them here. Only that
reading may live in this file.
"""

from __future__ import annotations

import json
from typing import Any

from .argument_schema import DEEPEST, LONGEST

TOO_LONG = f"the arguments are longer than {LONGEST:,} characters"
TOO_DEEP = f"the arguments are nested deeper than {DEEPEST} levels"


def arguments(text: str) -> dict[str, Any]:
    """Return the arguments that a JSON text holds; no text at all holds none.

    Raises ValueError, saying what is wrong, where they are not one object of plain JSON:
    no NaN or Infinity, no key twice, no broken Unicode, nothing too long or too deep.
    """
    if len(text) > LONGEST:
        raise ValueError(TOO_LONG)
    try:
        found = read(text) if text.strip() else {}
        depth = _depth(found)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if not isinstance(found, dict):
        raise ValueError("the arguments are not a JSON object")
    if depth > DEEPEST:
        raise ValueError(TOO_DEEP)
    return found


def read(text: str) -> Any:
    """Return the data that a JSON text holds. Raises ValueError, saying what is wrong."""
    try:
        found = json.loads(
            text,
            object_pairs_hook=_once_each,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        json.dumps(found, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"the arguments are not valid JSON: {error}") from None
    except UnicodeEncodeError:
        raise ValueError("the arguments hold half of a Unicode character") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    return found


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the arguments have the key {json.dumps(twice)[:80]} twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"the arguments hold {name}, which is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the arguments hold a number that is too large: {digits[:40]}")
    return number


def _depth(value: Any) -> int:
    match value:
        case dict():
            return 1 + max(map(_depth, value.values()), default=0)
        case list():
            return 1 + max(map(_depth, value), default=0)
    return 0
