"""Two texts, line by line."""

from __future__ import annotations

from collections.abc import Sequence

from .differences import Difference, Line, Same, Texts
from .matching import pairs

LINES, LONG, AROUND, SHOWN = 5_000, 200, 2, 80
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
    return Texts(tuple(_cut(line) for line in kept[:SHOWN]), changed)


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


def _cut(line: Line) -> Line:
    left, right = line.left, line.right
    if max(len(left or ""), len(right or "")) <= LONG:
        return line
    begin = _differ_at(left, right)
    return Line(_window(left, begin), _window(right, begin), line.at)


def _differ_at(left: str | None, right: str | None) -> int:
    """Return where a long line is to begin, so that what differs is in view."""
    if left is None or right is None:
        return 0
    both = min(len(left), len(right))
    found = next((n for n in range(both) if left[n] != right[n]), both)
    return 0 if found < LONG // 2 else found - LONG // 4


def _window(text: str | None, begin: int) -> str | None:
    if text is None:
        return None
    shown = text[begin : begin + LONG]
    return f"{'…' * (begin > 0)}{shown}{'…' * (begin + LONG < len(text))}"
