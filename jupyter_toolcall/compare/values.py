"""How two values differ: numbers, texts, arrays, tables, images, and values of parts.

No library is loaded for it: a value of pandas, Pillow or Matplotlib has loaded its own.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Any

from ..core.interface_text import t
from ..core.interrupts import attempt
from ..core.text import shortened_text
from ..tools.plain_data import describe
from .cells import PLAIN, alike
from .differences import (
    Arrays,
    Difference,
    Field,
    Fields,
    Line,
    Numbers,
    Others,
    Same,
    Texts,
    Unknown,
    shortened,
)
from .frame_columns import frame_of, step
from .matching import pairs
from .pictures import is_picture, pictures
from .tables import tables

DEEP, MANY, FIELDS = 5, 40, 10_000
"""So deep values are taken apart, into so many parts that differ, of so many that are compared."""
DIFFER_UNSEEN = Unknown(t("they differ in a part that is not shown"))
LONG, LINE = 400, 100
"""So much of a value in words is shown; a longer text is compared line by line."""


def difference(left: object, right: object, deep: int = 0) -> Difference:
    """Return how two values differ; `deep` counts the values that they are parts of."""
    # A value's own methods, and a library's, may raise anything.
    result, raised = attempt(_difference, left, right, deep)
    if result is not None:
        return result if deep else shortened(result)
    a, b = describe(left, LONG), describe(right, LONG)
    return Others(a, b) if a != b else Unknown(t("comparing them raised %1", raised))


def _difference(left: Any, right: Any, deep: int) -> Difference:
    if left is right:
        return Same()
    if is_picture(left) and is_picture(right):
        return pictures(left, right)
    if type(left) in PLAIN and type(right) in PLAIN:
        return _plain(left, right)
    if (found := _arrays(left, right) or tables(left, right)) is not None:
        return found
    if deep < DEEP and (parts := _parts(left, right)) is not None:
        unread = len(max(left, right, key=len)) - FIELDS if isinstance(left, Mapping) else 0
        return _fields(*parts, deep + 1, max(0, unread))
    if type(left) is type(right) and isinstance(left, (set, frozenset)):
        return _sets(left - right, right - left)
    if type(left) is type(right) and isinstance(left, (list, tuple)):
        return _texts(_items(left), _items(right))
    return _described(left, right)


def _plain(left: Any, right: Any) -> Difference:
    if type(left) is type(right) and alike(left, right):
        return Same()
    if {type(left), type(right)} <= {int, float} and left != right:
        return Numbers(left, right)
    lines = [text.split("\n") for text in (left, right) if isinstance(text, str)]
    if len(lines) == 2 and (max(len(left), len(right)) > LINE or max(map(len, lines)) > 1):
        return _texts(*lines)
    return _described(left, right)


def _parts(left: object, right: object) -> tuple[Mapping[str, object], Mapping[str, object]] | None:
    """Return two values of parts as parts by name; None where they have none in common."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        if max(len(left), len(right)) > FIELDS:
            # The first ones of either side: what both have is compared, whatever its order.
            keys = dict.fromkeys(key for side in (left, right) for key in islice(side, FIELDS // 2))
            left, right = (
                {key: side[key] for key in keys if key in side} for side in (left, right)
            )
        return _named(left), _named(right)
    if isinstance(left, (list, tuple)) and type(left) is type(right) and len(left) == len(right):
        a, b = ({f"[{n}]": item for n, item in enumerate(items)} for items in (left, right))
        return a, b
    if type(left) is not type(right) or isinstance(left, (type, enum.Enum)):
        return None
    a, b = _attributes(left), _attributes(right)
    return (a, b) if a or b else None


def _named(value: Mapping[Any, object]) -> dict[str, Any]:
    return {key if type(key) is str else describe(key, 80): item for key, item in value.items()}


def _attributes(value: object) -> dict[str, Any]:
    """Return what a plain object holds; what is computed when it is asked for is left alone."""
    state = object.__getstate__(value)
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    held, in_slots = dict(attributes or {}), dict(slots or {})
    if dataclasses.is_dataclass(value):
        held |= in_slots
        return {f.name: held[f.name] for f in dataclasses.fields(value) if f.name in held}
    if hasattr(type(value), "model_fields"):
        # What a model of pydantic got beyond its fields.
        return held | (in_slots.get("__pydantic_extra__") or {})
    # A class with slots and a text of its own, such as a path, is told by that text.
    cls: Any = type(value)
    return held | in_slots if cls.__repr__ is object.__repr__ else held


def _fields(
    left: Mapping[str, object], right: Mapping[str, object], deep: int, unread: int
) -> Difference:
    """Return how two values of parts differ; so many parts are not among these."""
    names = list(left) if list(left) == list(right) else sorted({*left, *right})
    unlike = []
    for name in names:
        result = part_difference(name, left, right, deep)
        if not isinstance(result, Same):
            unlike.append(Field(name[:80], result))
    same = len(names) - len(unlike)
    if unread:
        unlike.insert(MANY - 1, Field("…", Unknown(t("%1 more parts were not compared", unread))))
    if not unlike:
        return Same()
    return Fields(tuple(unlike[:MANY]), max(0, len(unlike) - MANY), same)


def part_difference(
    name: str, left: Mapping[str, object], right: Mapping[str, object], deep: int = 0
) -> Difference:
    """Return how a part of two values differs, which one of them may not have."""
    if name in left and name in right:
        return difference(left[name], right[name], deep)
    return Others(*(shown(side[name]) if name in side else None for side in (left, right)))


def _items(values: Iterable[object]) -> list[str]:
    # A number is what most long lists hold, and its text needs no guard.
    return [repr(v) if type(v) in (int, float, bool) else describe(v, LONG) for v in values]


def _sets(left: Set[object], right: Set[object]) -> Difference:
    """Return how two sets differ, by what only one of them has."""
    if not left and not right:
        return Same()
    items, others = (sorted(_items(islice(side, LINES))) for side in (left, right))
    lines = [Line(text, None, (n, 0)) for n, text in enumerate(items[:SHOWN], 1)]
    lines += [Line(None, text, (0, n)) for n, text in enumerate(others[:SHOWN], 1)]
    lines.sort(key=lambda line: line.left or line.right or "")
    return Texts(tuple(map(_shortened_line, lines[:SHOWN])), len(left) + len(right))


def _described(left: object, right: object) -> Difference:
    a, b = shown(left), shown(right)
    if a != b:
        return Others(a, b)
    if type(left) is not type(right):
        return Others(f"{a} ({type(left).__name__})", f"{b} ({type(right).__name__})")
    is_text = type(left) in (str, bytes)
    same = left == right if is_text else describe(left, 20_000) == describe(right, 20_000)
    return Same() if same else DIFFER_UNSEEN


def shown(value: object) -> str:
    """Return a value in words; plain data as JSON, which is what a model reads."""
    if type(value) not in (str, bool, type(None)):
        return describe(value, LONG)
    return shortened_text(json.dumps(value, ensure_ascii=False), LONG)


# -- texts, line by line ------------------------------------------------------------------------

LINES, LONGEST_LINE, AROUND, SHOWN = 5_000, 200, 2, 80
"""So many lines are read, so much of each; so many same ones stand around, so many are kept."""


def _texts(left: Sequence[str], right: Sequence[str]) -> Difference:
    """Return how two sequences of lines differ."""
    if left == right:
        return Same()
    numbered = [*enumerate(left[:LINES], 1)], [*enumerate(right[:LINES], 1)]
    lines = [
        Line(a and a[1], b and b[1], (a[0] if a else 0, b[0] if b else 0))
        for a, b in pairs(*numbered, [lambda item: item[1]])
    ]
    differing = [n for n, line in enumerate(lines) if not line.same]
    near = {n + step for n in differing for step in range(-AROUND, AROUND + 1)}
    kept = [line for n, line in enumerate(lines) if n in near]
    # Of what is not read it is known how much there is, and whether it is the same.
    a, b = left[LINES:], right[LINES:]
    beyond = sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))
    return Texts(tuple(_shortened_line(line) for line in kept[:SHOWN]), len(differing) + beyond)


def _shortened_line(line: Line) -> Line:
    """Return a line of which as much is kept as is shown, what differs in view."""
    left, right = line.left, line.right
    if max(len(left or ""), len(right or "")) <= LONGEST_LINE:
        return line
    begin = 0
    if left is not None and right is not None:
        both = enumerate(zip(left, right, strict=False))
        begin = next((n for n, (a, b) in both if a != b), min(len(left), len(right)))
        begin = 0 if begin < LONGEST_LINE // 2 else begin - LONGEST_LINE // 4

    def window(text: str | None) -> str | None:
        if text is None:
            return None
        end = begin + LONGEST_LINE
        return f"{'…' * (begin > 0)}{text[begin:end]}{'…' * (end < len(text))}"

    return Line(window(left), window(right), line.at)


# -- arrays of numpy: shape, type, how many elements, and their range ---------------------------

LARGE, OBJECTS = 2_000_000, 10_000
"""Of an array with more elements, or with more objects of Python, a sample is compared."""


def _arrays(left: Any, right: Any) -> Difference | None:
    """Return how two arrays differ; None for other values, and for small ones that are tables."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not all(isinstance(value, numpy.ndarray) for value in (left, right)):
        return None
    types = (str(left.dtype), str(right.dtype)) if left.dtype != right.dtype else ("", "")
    if not any(types) and frame_of(left) and frame_of(right):
        return None
    objects = any(array.dtype.hasobject for array in (left, right))
    most = OBJECTS if objects else LARGE
    sample = max(left.size, right.size) > most
    a, b = (_some_elements(array, most) for array in (left, right))
    changed, compared, by = 0, 0, None
    if left.shape == right.shape:
        flags = _differing(a, b, objects)
        changed, compared = int(flags.sum()), int(flags.size)
        numeric = all(array.dtype.kind in "iuf" for array in (a, b))
        by = step(a, b) if numeric and changed == compared > 0 else None
    if not (changed or any(types) or left.shape != right.shape):
        text = t("no difference in %1 of %2 elements", compared, int(left.size))
        return Unknown(text) if sample else Same()
    is_other = changed or left.shape != right.shape
    ranges = (_range(a), _range(b)) if is_other else ()
    return Arrays(left.shape, right.shape, types, changed, compared, by, ranges, sample)


def _some_elements(array: Any, most: int) -> Any:
    """Return an array, or every nth part of it along its longest side."""
    if array.size <= most:
        return array
    step = -(-array.size // most)
    # Along the first side whole blocks of memory are left out; a short one is left whole.
    axis = 0 if array.shape[0] >= 10 * step else array.shape.index(max(array.shape))
    every = (slice(None, None, step if n == axis else None) for n in range(array.ndim))
    return sys.modules["numpy"].ascontiguousarray(array[tuple(every)])


def _differing(a: Any, b: Any, objects: bool) -> Any:
    """Return which elements differ; NaN is like NaN."""
    numpy: Any = sys.modules["numpy"]
    if objects:
        flags = [
            not alike(x, y) for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
        ]
        return numpy.array(flags, dtype=bool)
    flags = numpy.asarray(a != b)
    if all(array.dtype.kind in "fcmM" for array in (a, b)) and flags.any():
        nothing = numpy.isnat if a.dtype.kind in "mM" else numpy.isnan
        flags &= ~(nothing(a) & nothing(b))
    return flags


def _range(array: Any) -> tuple[float, ...]:
    """Return the least, the mean and the greatest number, NaN left out; () for none."""
    numpy: Any = sys.modules["numpy"]
    numbers = array
    if array.dtype.kind == "f":
        finite = numpy.isfinite(array)
        numbers = array if finite.all() else array[finite]
    if array.dtype.kind not in "iuf" or not numbers.size:
        return ()
    return tuple(map(float, (numbers.min(), numbers.mean(dtype=float), numbers.max())))
