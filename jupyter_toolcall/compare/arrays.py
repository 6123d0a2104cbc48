"""How two arrays of numpy differ: shape, type, how many elements, and their range."""

from __future__ import annotations

import sys
from typing import Any

from ..core.interface_text import t
from .cells import alike
from .differences import Arrays, Difference, Same, Unknown
from .frame_columns import frame_of, step

LARGE, OBJECTS = 2_000_000, 10_000
"""Of an array with more elements, or with more objects of Python, a sample is compared."""


def arrays(left: Any, right: Any) -> Difference | None:
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
