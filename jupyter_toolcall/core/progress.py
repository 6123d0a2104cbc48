"""A progress bar, shown only on a terminal."""

from __future__ import annotations

from typing import Any

from tqdm import tqdm

from .text import printable


def bar(total: int, label: str, unit: str) -> Any:
    """Return a bar that `update()` moves on; a context that takes it away again."""
    return tqdm(total=total, desc=printable(label), unit=unit, disable=None)
