"""What a call prints is recorded with it, and nobody else's prints are; the streams stay."""

from __future__ import annotations

import asyncio
import contextvars
import io
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Session
from jupyter_toolcall.tools.captured_prints import StreamProxy, stream_proxies
from tests.example_tools import prints_of, run_calls


@pytest.fixture(autouse=True)
def no_call_of_another_test_runs() -> None:
    """Wait for calls that other tests gave up in threads: as long as they run, proxies stay."""
    deadline = time.monotonic() + 120
    while isinstance(sys.stdout, StreamProxy) and time.monotonic() < deadline:
        # A proxy that no call needs goes away when it is used.
        sys.stdout.flush()
        time.sleep(0.05)


def run(function: Callable[[], Any]) -> Session:
    """Return a session whose model calls a function once."""
    return run_calls(function, calls=[(function.__name__, {})])


def prints() -> None:
    """Print."""
    print("by the tool")


@dataclass
class Gated:
    """A session in a thread, whose tool prints when it starts and before it ends."""

    name: str
    inside: threading.Event = field(default_factory=threading.Event)
    leave: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        def work() -> str:
            """Work."""
            print(f"{self.name} starts")
            self.inside.set()
            self.leave.wait(60)
            print(f"{self.name} ends", file=sys.stderr)
            return self.name

        self.sessions = list[Session]()
        self.thread = threading.Thread(target=lambda: self.sessions.append(run(work)))
        self.thread.start()
        self.inside.wait(60)

    def end(self) -> list[str]:
        self.leave.set()
        self.thread.join(60)
        return prints_of(self.sessions[0])


@contextmanager
def streams_of(stream: Any) -> Iterator[Any]:
    """Have a stream in the place of both of the process, and check that it is there at the end."""
    with redirect_stdout(stream), redirect_stderr(stream):
        yield stream
        assert (sys.stdout is stream, sys.stderr is stream) == (True, True)


@given(st.permutations([0, 0, 1, 1, 2, 2]))
@settings(max_examples=25)
def test_sessions_that_overlap_in_any_order_record_their_own_prints(order: list[int]) -> None:
    """Numbers are sessions: the first time one starts, the second time it ends."""
    gated = [Gated(str(number)) for number in range(3)]
    begun = set[int]()
    with streams_of(io.StringIO()) as stream:
        for step, number in enumerate(order):
            print(f"step {step}")
            if number not in begun:
                begun.add(number)
                gated[number].start()
            else:
                assert gated[number].end() == [f"{number} starts\n{number} ends\n"]
    assert stream.getvalue() == "".join(f"step {step}\n" for step in range(6))


@pytest.mark.parametrize("ends_inside", [True, False])
def test_code_that_redirects_streams_while_a_call_runs_gets_its_prints(ends_inside: bool) -> None:
    other, gated = io.StringIO(), Gated("a")
    with streams_of(io.StringIO()) as stream:
        gated.start()
        with redirect_stdout(other):
            print("one")
            if ends_inside:
                gated.end()
            print("two")
        print("three")
        gated.end()
    assert (other.getvalue(), stream.getvalue()) == ("one\ntwo\n", "three\n")


def test_a_call_that_began_in_a_redirect_may_end_after_it() -> None:
    other, gated = io.StringIO(), Gated("a")
    with streams_of(io.StringIO()) as stream:
        with redirect_stdout(other):
            gated.start()
            print("one")
        print("two")
        assert gated.end()[0].startswith("a starts\n")
    assert (other.getvalue(), stream.getvalue()[:4]) == ("one\n", "two\n")


@pytest.mark.parametrize("event", ["call", "return"])
@pytest.mark.parametrize("function", ["__enter__", "__exit__", "write"])
def test_an_interrupted_capture_leaves_prints_to_the_notebook(function: str, event: str) -> None:
    def trace(frame: FrameType, *at: object) -> Callable[..., Any]:
        code = frame.f_code
        if "captured_prints" in code.co_filename and (code.co_name, at[0]) == (function, event):
            raise KeyboardInterrupt
        return trace

    with redirect_stdout(io.StringIO()) as stream, suppress(KeyboardInterrupt):
        sys.settrace(trace)
        run(prints)
    sys.settrace(None)
    with redirect_stdout(stream), stream_proxies():
        print("later")
    assert stream.getvalue() == "later\n"


def test_where_there_are_no_streams_the_prints_of_a_call_are_kept() -> None:
    with streams_of(None):
        assert prints_of(run(prints)) == ["by the tool\n"]


def test_prints_of_a_tools_own_threads_go_to_the_notebook_unless_they_have_its_context() -> None:
    def work() -> None:
        """Work."""
        threads = [
            threading.Thread(target=print, args=("plain thread",)),
            threading.Thread(target=contextvars.copy_context().run, args=(print, "with context")),
        ]
        for thread in threads:
            thread.start()
            thread.join()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(print, "pool").result()

    with streams_of(io.StringIO()) as stream:
        assert prints_of(run(work)) == ["with context\n"]
    assert stream.getvalue() == "plain thread\npool\n"


def test_what_async_tasks_and_to_thread_print_is_the_calls() -> None:
    async def work() -> None:
        """Work."""
        await asyncio.gather(asyncio.to_thread(print, "one", end=""), asyncio.sleep(0))
        await asyncio.create_task(asyncio.to_thread(print, "two"))

    assert prints_of(run(work)) == ["onetwo\n"]


def test_a_nested_session_records_its_own_and_the_outer_call_the_others() -> None:
    def inner() -> None:
        """Inner."""
        print("inner")

    def outer() -> str:
        """Outer."""
        print("before")
        printed = prints_of(run(inner))
        print("after")
        return printed[0]

    session = run(outer)
    assert (session.calls[0].result, prints_of(session)) == ("inner\n", ["before\nafter\n"])


def test_a_log_handler_from_before_the_call_and_one_from_inside_write_to_the_stream() -> None:
    logger = logging.getLogger("captured_prints")
    logger.propagate = False

    def work() -> None:
        """Work."""
        logger.warning("old handler")
        logger.addHandler(logging.StreamHandler(sys.stdout))

    with streams_of(io.StringIO()) as stream:
        logger.addHandler(logging.StreamHandler(stream))
        session = run(work)
        logger.removeHandler(logger.handlers[0])
        logger.warning("after the call")
        logger.removeHandler(logger.handlers[0])
    assert prints_of(session) == []
    assert stream.getvalue() == "old handler\nafter the call\n"


def test_bytes_and_lines_that_a_call_writes_are_its_prints() -> None:
    def work() -> bool:
        """Work."""
        sys.stdout.writelines(["a\n", "b\n"])
        letter = "é".encode()
        sys.stdout.buffer.write(letter[:1])
        sys.stdout.buffer.write(letter[1:] + b"\n")
        sys.stderr.flush()
        return sys.stdout.isatty()

    session = run(work)
    assert (session.calls[0].result, prints_of(session)) == (False, ["a\nb\né\n"])


def test_output_of_a_program_goes_to_the_process_stream(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        """Work."""
        code = "print('from a program')"
        subprocess.run([sys.executable, "-c", code], stdout=sys.stdout, check=True)

    assert prints_of(run(work)) == []
    assert capfd.readouterr().out == "from a program\n"
