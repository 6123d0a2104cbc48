"""The time limit of a check: it ends what never ends, in any thread, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from jupyter_toolcall.core.interrupts import attempt
from jupyter_toolcall.teaching.exercise_checks import OutOfTime, with_time_limit


def loop() -> None:
    while True:
        pass


def endless_generator() -> bool:
    return all(True for _ in itertools.count())


def stubborn() -> None:
    """Catch what ends it, three times."""
    for _ in range(3):
        with contextlib.suppress(BaseException):
            loop()


def hides_it() -> int:
    try:
        loop()
    except BaseException:
        return 1
    return 2


def turns_it_into_another_error() -> None:
    try:
        loop()
    except BaseException as error:
        raise ValueError from error


ENDLESS = [loop, endless_generator, stubborn, hides_it, turns_it_into_another_error]
# The last holds interrupts back.
ENDLESS += [partial(attempt, loop)]  # type: ignore[list-item]


def in_thread(function: Callable[[], object]) -> BaseException | None:
    """Run a function in another thread; return what it raised."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function).exception(30)


@pytest.mark.parametrize("function", ENDLESS)
def test_what_never_ends_is_ended(function: Callable[[], object]) -> None:
    threads, handler = threading.active_count(), signal.getsignal(signal.SIGINT)
    with pytest.raises(OutOfTime):
        with_time_limit(0.1, function)
    assert threading.active_count() == threads
    assert signal.getsignal(signal.SIGINT) is handler


def test_waiting_is_ended_in_the_main_thread() -> None:
    begun = time.monotonic()
    with pytest.raises(OutOfTime):
        with_time_limit(0.1, lambda: time.sleep(60))
    assert time.monotonic() - begun < 30


def test_what_ends_in_time_returns_and_raises_as_it_does_without() -> None:
    threads, handler = threading.active_count(), signal.getsignal(signal.SIGINT)
    assert with_time_limit(60, lambda: 1 + 1) == 2
    assert in_thread(lambda: with_time_limit(60, lambda: 1 + 1)) is None
    with pytest.raises(ZeroDivisionError):
        with_time_limit(60, lambda: 1 / 0)
    assert threading.active_count() == threads
    assert signal.getsignal(signal.SIGINT) is handler


def test_nothing_interrupts_what_runs_after_a_function_that_ends_at_its_limit() -> None:
    def ends_at(moment: float) -> None:
        while time.monotonic() < moment:
            pass

    def again_and_again() -> None:
        for _ in range(50):
            moment = time.monotonic() + 0.005
            with contextlib.suppress(OutOfTime):
                with_time_limit(0.005, partial(ends_at, moment))
            sum(range(10_000))

    threads = threading.active_count()
    again_and_again()
    assert in_thread(again_and_again) is None
    assert threading.active_count() == threads


def test_an_interrupt_of_a_person_is_one() -> None:
    # It may come while the thread starts.
    for _ in range(50):
        with pytest.raises(KeyboardInterrupt):
            with_time_limit(60, lambda: signal.raise_signal(signal.SIGINT))


HALVES = """import pathlib, time
log = pathlib.Path(__file__).with_suffix(".log").open("a")
end = time.monotonic() + 0.3
log.write("first half, ")
while time.monotonic() < end:
    pass
log.write("second half")
log.close()
"""


def test_an_import_is_never_cut_in_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other modules would keep what they imported of the first half."""
    (tmp_path / "imported_late.py").write_text(HALVES)
    monkeypatch.syspath_prepend(str(tmp_path))

    def imports_and_hangs() -> None:
        import_module("imported_late")
        loop()

    with pytest.raises(OutOfTime):
        with_time_limit(0.05, imports_and_hangs)
    import_module("imported_late")
    monkeypatch.delitem(sys.modules, "imported_late")
    assert (tmp_path / "imported_late.log").read_text() == "first half, second half"
