"""The lessons as parameters of a test: two in each run, the others in `make test-long`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NAMES = sorted(path.name for path in FOLDER.glob("*.ipynb"))
EACH_TIME = ("00_", "07_")
"""The lessons that are executed in each test run: the first, and the one that replays."""


def executed(names: Iterable[str] = NAMES) -> list[Any]:
    """Return lessons as parameters of a test that executes them in a kernel."""
    marks = {name: () if name.startswith(EACH_TIME) else pytest.mark.long for name in names}
    return [pytest.param(name, marks=mark) for name, mark in marks.items()]
