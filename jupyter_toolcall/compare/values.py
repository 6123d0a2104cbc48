"""Two texts, line by line."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..compare import images as pictures
from ..compare import tables
from ..compare import tables as frames
from ..core.interrupts import attempt
from ..tools.value_copies import describe
from .differences import Difference, Field, Fields, Line, Numbers, Others, Same, Texts, Unknown
from .matching import pairs
from .tables import PLAIN

LINES, LONGEST_LINE, AROUND, SHOWN = 5_000, 200, 2, 80
"""So many lines are read, so much of each; so many same ones stand around, so many are kept."""


def texts(left: Sequence[str], right: Sequence[str]) -> Difference:
    """Return how two sequences of lines differ."""
    if left == right:
        return Same()
    lines = _lines(left[:LINES], right[:LINES])
    beyond = _beyond(left, right)
    near = _near([line.same for line in lines])
    kept = [line for line, is_near in zip(lines, near, strict=True) if is_near]
    changed = sum(not line.same for line in lines) + beyond
    return Texts(tuple(_shortened_line(line) for line in kept[:SHOWN]), changed)


def _lines(left: Sequence[str], right: Sequence[str]) -> list[Line]:
    numbered = enumerate(left, 1), enumerate(right, 1)
    found = pairs([*numbered[0]], [*numbered[1]], [lambda item: item[1]])
    return [Line(a and a[1], b and b[1], (a[0] if a else 0, b[0] if b else 0)) for a, b in found]


def _beyond(left: Sequence[str], right: Sequence[str]) -> int:
    """Of what is not read it is known how much there is, and whether it is the same."""
    a, b = left[LINES:], right[LINES:]
    return sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))


def _near(same: Sequence[bool]) -> list[bool]:
    """For each line: whether it differs, or stands beside one that does."""
    differing = [n for n, is_same in enumerate(same) if not is_same]
    shown = {n + step for n in differing for step in range(-AROUND, AROUND + 1)}
    return [n in shown for n in range(len(same))]


def _shortened_line(line: Line) -> Line:
    left, right = line.left, line.right
    if max(len(left or ""), len(right or "")) <= LONGEST_LINE:
        return line
    begin = _differ_at(left, right)
    return Line(_window(left, begin), _window(right, begin), line.at)


def _differ_at(left: str | None, right: str | None) -> int:
    """Return where a long line is to begin, so that what differs is in view."""
    if left is None or right is None:
        return 0
    both = min(len(left), len(right))
    found = next((n for n in range(both) if left[n] != right[n]), both)
    return 0 if found < LONGEST_LINE // 2 else found - LONGEST_LINE // 4


def _window(text: str | None, begin: int) -> str | None:
    if text is None:
        return None
    shown = text[begin : begin + LONGEST_LINE]
    return f"{'…' * (begin > 0)}{shown}{'…' * (begin + LONGEST_LINE < len(text))}"


DEEP, MANY = 5, 40
"""So deep values are taken apart, into so many parts that differ."""
LONG, LINE = 400, 100
"""So much of a value in words is shown; a longer text is compared line by line."""


def difference(left: Any, right: Any) -> Difference:
    """Return how two values differ."""
    return _safe(left, right, 0)


def _safe(left: Any, right: Any, deep: int) -> Difference:
    # A value's own methods, and a library's, may raise anything.
    found, raised = attempt(_difference, left, right, deep)
    if found is not None:
        return found
    a, b = describe(left, LONG), describe(right, LONG)
    return Others(a, b) if a != b else Unknown(f"comparing them raised {raised}")


def _difference(left: Any, right: Any, deep: int) -> Difference:
    if left is right:
        return Same()
    if type(left) in PLAIN and type(right) in PLAIN:
        return _plain(left, right)
    if pictures.is_picture(left) and pictures.is_picture(right):
        return pictures.pictures(left, right)
    if frames.have_labels(left, right):
        return frames.frames(left, right)
    grids = _grid(left), _grid(right)
    if grids[0] is not None and grids[1] is not None:
        return tables.compared(grids[0], grids[1])
    if deep < DEEP and (parts := _parts(left, right)) is not None:
        return _fields(*parts, deep)
    if isinstance(left, (list, tuple, set, frozenset)) and type(left) is type(right):
        return texts(_items(left), _items(right))
    return _described(left, right)


def _plain(left: Any, right: Any) -> Difference:
    if isinstance(left, bytes) and isinstance(right, bytes) and pictures.is_picture(left):
        return (
            pictures.pictures(left, right)
            if pictures.is_picture(right)
            else _described(left, right)
        )
    if type(left) is type(right) and (left == right or (_is_nan(left) and _is_nan(right))):
        return Same()
    numbers = {type(left), type(right)} <= {int, float}
    if numbers and left != right:
        return Numbers(left, right)
    if isinstance(left, str) and isinstance(right, str) and (_is_long(left) or _is_long(right)):
        return texts(left.split("\n"), right.split("\n"))
    return _described(left, right)


def _is_long(text: str) -> bool:
    return len(text) > LINE or "\n" in text


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _grid(value: Any) -> tables.Grid | None:
    if tables.is_table(value):
        return tables.grid(value)
    if frames.is_frame(value):
        return frames.frame_grid(value)
    return frames.array_grid(value) if frames.is_array(value) else None


def _parts(left: Any, right: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return two values of parts as parts by name; None where they have none in common."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _named(left), _named(right)
    if isinstance(left, (list, tuple)) and type(left) is type(right) and len(left) == len(right):
        return tuple(  # type: ignore[return-value]
            {f"[{n}]": item for n, item in enumerate(each)} for each in (left, right)
        )
    if type(left) is not type(right) or isinstance(left, (type, enum.Enum)):
        return None
    a, b = _attributes(left), _attributes(right)
    return (a, b) if a or b else None


def _named(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {key if type(key) is str else describe(key, 80): item for key, item in value.items()}


def _attributes(value: Any) -> dict[str, Any]:
    """Return what a plain object holds; what is computed when it is asked for is left alone."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        held = {name: _held(value, name) for name in names}
        return {name: item for name, item in held.items() if item is not _NOT_HELD}
    found = getattr(value, "__dict__", {})
    return dict(found) if isinstance(found, dict) else {}


_NOT_HELD = object()


def _held(value: Any, name: str) -> Any:
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return _NOT_HELD


def _fields(left: Mapping[str, Any], right: Mapping[str, Any], deep: int) -> Difference:
    known = list(left) if list(left) == list(right) else sorted({*left, *right})
    found = (Field(name[:80], _field(left, right, name, deep + 1)) for name in known)
    unlike = [field for field in found if not isinstance(field.difference, Same)]
    if not unlike:
        return Same()
    return Fields(tuple(unlike[:MANY]), max(0, len(unlike) - MANY), len(known) - len(unlike))


def _field(left: Mapping[str, Any], right: Mapping[str, Any], name: str, deep: int) -> Difference:
    if name in left and name in right:
        return _safe(left[name], right[name], deep)
    return Others(
        shown(left[name]) if name in left else None, shown(right[name]) if name in right else None
    )


def _items(value: Any) -> list[str]:
    items = [describe(item, LONG) for item in value]
    return sorted(items) if isinstance(value, (set, frozenset)) else items


def _described(left: Any, right: Any) -> Difference:
    a, b = shown(left), shown(right)
    if a != b:
        return Others(a, b)
    if type(left) is not type(right):
        return Others(f"{a} ({type(left).__name__})", f"{b} ({type(right).__name__})")
    whole = [
        each if type(each) in (str, bytes) else describe(each, 20_000) for each in (left, right)
    ]
    return Same() if whole[0] == whole[1] else Unknown("they differ behind what is shown of them")


def shown(value: Any) -> str:
    """Return a value in words; plain data as JSON, which is what a model reads."""
    if type(value) in (str, bool, type(None)):
        return _cut(json.dumps(value, ensure_ascii=False))
    return describe(value, LONG)


def _cut(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"
