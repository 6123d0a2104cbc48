"""The table of what the faults came to, at the end of a test run."""

from __future__ import annotations

import pytest

from tests.faults.tally import Tally, table

TALLIES = pytest.StashKey[list[Tally]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLIES] = []


@pytest.fixture
def tallies(pytestconfig: pytest.Config) -> list[Tally]:
    """What the faults of this run came to so far."""
    return pytestconfig.stash[TALLIES]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    found = config.stash[TALLIES]
    if found:
        terminalreporter.section("faults")
        terminalreporter.write_line(table(found))
