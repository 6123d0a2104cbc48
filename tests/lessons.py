"""The lessons as parameters of a test: one or two in each run, the others in `make test-long`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NAMES = sorted(path.name for path in FOLDER.glob("*.ipynb"))
FIRST, REPLAYING = "00_", "07_"
"""How the lessons begin that are executed in each test run."""


def executed(names: Iterable[str] = NAMES, each_time: tuple[str, ...] = (FIRST,)) -> list[Any]:
    """Return lessons as parameters of a test that executes them in a kernel."""
    marks = {name: () if name.startswith(each_time) else pytest.mark.long for name in names}
    return [pytest.param(name, marks=mark) for name, mark in marks.items()]
