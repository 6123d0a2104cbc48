"""Whatever fails, no effect happens twice, nothing unapproved runs and no result is lost.

Each part runs in a process of its own, since it forks; `make faults` runs many more cases.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.tally import Tally, loads

ROOT = Path(__file__).parents[2]
LEAST = {
    "kills": (300, 1_000),
    "power": (400, 1_000),
    "failing": (560, 1_100),
    "damage": (2_000, 2_000),
    "races": (40, 40),
    "interrupts": (170, 500),
    "effects": (1_700, 2_600),
}
"""A part that has fewer cases than these, for every change and in `make test-long`, lost some."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no fork here")
@pytest.mark.parametrize("part", LEAST)
@pytest.mark.parametrize("size", ["few", pytest.param("some", marks=pytest.mark.long)])
def test_nothing_breaks(part: str, size: str, tallies: list[Tally]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.faults", size, part, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ran.stdout, ran.stderr[-3_000:]
    tallies.append(loads(ran.stdout.splitlines()[-1]))
    assert not tallies[-1].broken, tallies[-1].broken[:3]
    assert tallies[-1].cases >= LEAST[part][size == "some"]
