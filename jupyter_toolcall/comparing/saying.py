"""A difference in words: its parts by name, and each part in a line."""

from __future__ import annotations

from collections.abc import Iterator

from .differences import (
    Difference,
    Fields,
    Images,
    Numbers,
    Others,
    Picture,
    Same,
    Tables,
    Texts,
    Unknown,
)

ARROW = "→"
NONE = "nothing"


def parts(difference: Difference, name: str = "") -> Iterator[tuple[str, Difference]]:
    """Yield the parts that have no parts of their own, each with its name: `cut.shape`."""
    if not isinstance(difference, Fields):
        yield name, difference
        return
    for field in difference.fields:
        inner = field.name if not name or field.name.startswith("[") else f".{field.name}"
        yield from parts(field.difference, f"{name}{inner}")
    if difference.more:
        said = f"{difference.more:,} more {'differs' if difference.more == 1 else 'differ'}"
        yield name, Unknown(said)


def in_a_line(difference: Difference) -> str:
    """Return a difference as one line."""
    match difference:
        case Same():
            return "the same"
        case Numbers(left, right):
            return f"{left} {ARROW} {right}{_by(difference)}"
        case Texts(changed=changed):
            return f"{many(changed, 'line')} {'differs' if changed == 1 else 'differ'}"
        case Tables():
            return _table(difference)
        case Images(left, right, share):
            return _images(left, right, share)
        case Fields():
            return "; ".join(f"{name}: {in_a_line(part)}" for name, part in parts(difference))
        case Others(left, right):
            return f"{left or NONE} {ARROW} {right or NONE}"
        case Unknown(why):
            return why


def _by(numbers: Numbers) -> str:
    by = numbers.by
    return "" if by is None else f" ({by:+.6g})"


def _table(found: Tables) -> str:
    said = [f"{many(found.changed, 'cell')} {'differs' if found.changed == 1 else 'differ'}"]
    said = said if found.changed else []
    if found.left != found.right:
        said.append(f"{_shape(found.left)} {ARROW} {_shape(found.right)}")
    sides = zip(("left", "right"), found.columns, found.alone, strict=True)
    for side, columns, alone in sides:
        said += [f"only {side}: {', '.join(columns[:6])}{'…' * (len(columns) > 6)}"] * bool(columns)
        said += [f"{many(alone, 'row')} only {side}"] * bool(alone)
    return "; ".join(said)


def _shape(shape: tuple[int, int]) -> str:
    return f"{shape[0]:,} × {shape[1]:,}"


def _images(left: Picture, right: Picture, share: float | None) -> str:
    sizes = f"{left.width} × {left.height}", f"{right.width} × {right.height}"
    if sizes[0] != sizes[1]:
        return f"{sizes[0]} {ARROW} {sizes[1]} pixels"
    if share is None:
        return f"two images of {sizes[0]} pixels" if left.width else "two images"
    percent = f"{100 * share:.0f}" if share >= 0.01 else "less than 1" if share else "none"
    return f"about {percent} % of the pixels differ" if share else "the same pixels, other bytes"


def many(count: int, thing: str) -> str:
    """Return `1 cell`, `2 cells`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
