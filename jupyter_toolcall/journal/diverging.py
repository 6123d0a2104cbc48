"""The first place in which what happened now is not what was recorded, in words."""

from __future__ import annotations

from typing import Any

from ..drawing.text import shown


def differing(was: Any, now: Any, place: str = "") -> str:
    """Return the first place in which two pieces of data differ, and what stands there."""
    match was, now:
        case {"type": one}, {"type": other} if one != other:
            return f"{place or 'it'} was {_whole(was)}, and is {_whole(now)}"
        case dict(), dict():
            keys = [key for key in (*was, *now) if was.get(key) != now.get(key)]
            key = keys[0] if keys else ""
            return differing(was.get(key), now.get(key), f"{place}.{key}".strip("."))
        case list(), list() if len(was) == len(now):
            differ = (n for n in range(len(was)) if was[n] != now[n])
            index = next(differ, 0)
            return differing(was[index], now[index], f"{place}.{index}".strip("."))
    return f"{place or 'it'} was {shown(repr(was), 120)}, and is {shown(repr(now), 120)}"


def _whole(data: dict[str, Any]) -> str:
    """Return what something is, and what it holds: `failed: 'no such row'`."""
    held = {key: value for key, value in data.items() if key != "type"}
    only = next(iter(held.values())) if len(held) == 1 else held
    return f"{data['type']}: {shown(repr(only), 120)}" if held else str(data["type"])
