"""Calls in processes that do not live long: no effect comes twice, and no result is lost."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import tool
from jupyter_toolcall.core.events import Finished, Unknown
from tests.example_tools import ask_calls

KILLED = pytest.mark.filterwarnings(
    # Of sockets and loops of distributed, where its processes are killed.
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


PROCESS: tuple[str, dict[str, Any]] = ("process", {})


@tool(executor=True)
def process() -> int:
    """Return the process that it runs in."""
    print("in", os.getpid())
    return os.getpid()


def in_kernel() -> int:
    """Return the process that it runs in."""
    return os.getpid()


class Locked:
    """What has no pickle."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


@tool(executor=True)
def lock() -> Locked:
    """Make what cannot be pickled."""
    return Locked()


def _die(path: str) -> str:
    with open(path, "a") as file:
        file.write("ran\n")
    if Path(path).read_text().count("ran") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return "twice"


@tool(executor=True)
def die(path: str) -> str:
    """Have an effect, and lose the worker at the first one."""
    return _die(path)


@tool(executor=True, idempotent=True)
def die_or_again(path: str) -> str:
    """Have an effect that may come twice, and lose the worker at the first one."""
    return _die(path)


@tool(executor=True, read_only=True)
def die_reading(path: str) -> str:
    """Have no effect that matters, and lose the worker at the first one."""
    return _die(path)


def _doomed(path: str, call: int, lives: float) -> int:
    # The alarm ends the process: in this call, while its result is sent, or in a later call.
    signal.setitimer(signal.ITIMER_REAL, lives)
    with open(path, "a") as file:
        file.write(f"{call}\n")
    return 10 * call


@tool(executor=True)
def doomed(path: str, call: int, lives: float) -> int:
    """Have an effect, in a process that does not live long."""
    return _doomed(path, call, lives)


@tool(executor=True, idempotent=True)
def doomed_or_again(path: str, call: int, lives: float) -> int:
    """Have an effect that may come twice, in a process that does not live long."""
    return _doomed(path, call, lives)


def assert_nothing_runs_twice_or_is_lost(
    folder: Path, executor: Any, count: int, longest: float, ends: set[str]
) -> None:
    """Run calls in processes that die within `longest` seconds, most of them in a call.

    A person rejects each call whose outcome is unknown. `ends` is how calls may end.
    """
    path, drawn = folder / "effects", random.Random(19)
    calls = [
        (
            drawn.choice(("doomed", "doomed_or_again")),
            {"path": str(path), "call": number, "lives": drawn.uniform(1e-6, longest)},
        )
        for number in range(count)
    ]
    done = ask_calls(doomed, doomed_or_again, calls=[calls], executor=executor)
    while done.text != "Done.":
        for call in done.run().pending:
            done.decide(call, "reject", reason="I look myself.")
    effects = Counter(map(int, path.read_text().split()))
    for number, call in enumerate(done.calls):
        again = call.tool == "doomed_or_again"
        assert effects[number] <= (2 if again else 1)
        assert call.status in ends
        if call.status == "succeeded":
            assert (call.result, effects[number] >= 1) == (10 * number, True)
        if call.status == "failed":
            assert effects[number] == 0
    outcomes = [e.event.outcome for e in done.journal if isinstance(e.event, Finished)]
    assert sum(isinstance(outcome, Unknown) for outcome in outcomes) >= 200
