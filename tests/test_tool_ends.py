"""The end of a tool is recorded whatever the tool does to the process it runs in."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.panel.driving import Drive
from jupyter_toolcall.preview import preview

RAN: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


def after(*functions: Callable[..., Any]) -> Session:
    """Return a session in which each of these tools was called once, in order."""
    script: list[Any] = [(function.__name__, {}) for function in functions]
    model = Scripted([*script, "done"])
    return Session(Toolbox(*functions), model, scheme="flat", approve="all").tell("Go.")


def closes_stdout() -> str:
    print("before")
    with sys.stdout as out:
        out.write("inside\n")
    print("after")
    return "written"


def replaces_streams() -> str:
    sys.stdout = sys.stderr = open("/dev/null", "w")  # noqa: SIM115
    sys.stdout.close()
    return "replaced"


def deletes_streams() -> str:
    del sys.stdout, sys.stderr
    return "deleted"


@pytest.mark.parametrize("tool", [closes_stdout, replaces_streams, deletes_streams])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_tool_may_close_replace_or_delete_the_streams_and_its_result_is_kept(tool: Any) -> None:
    streams = sys.stdout, sys.stderr
    session = after(tool)
    assert [call.status for call in session.calls] == ["succeeded"]
    assert session.text == "done"
    assert (sys.stdout, sys.stderr) == streams


def test_what_is_printed_behind_a_closed_stream_is_kept_too() -> None:
    session = after(closes_stdout)
    ends = [entry.meta["prints"] for entry in session.journal if "prints" in entry.meta]
    assert ends == ["before\ninside\nafter\n"]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)

    __repr__ = __str__


class Ending(BaseException):
    """Not an Exception, so that `except Exception` lets it through."""


class Hostile:
    """Its methods raise what ends a process."""

    def __init__(self, raises: type[BaseException] = SystemExit) -> None:
        self.raises = raises

    def __repr__(self) -> str:
        raise self.raises

    __str__ = __reduce__ = _repr_html_ = __repr__


RAISED = [SystemExit, Ending, GeneratorExit, KeyboardInterrupt, asyncio.CancelledError]


def test_an_exception_that_cannot_be_printed_is_a_failure() -> None:
    def fail() -> None:
        RAN.append("fail")
        raise Unprintable

    session = after(fail)
    assert session.calls[0].status == "failed"
    assert session.calls[0].error == "Unprintable: (its message cannot be read)"
    assert (session.text, RAN) == ("done", ["fail"])


@pytest.mark.parametrize("raises", [SystemExit, Ending, GeneratorExit, asyncio.CancelledError])
def test_whatever_a_tool_raises_is_a_failure(raises: type[BaseException]) -> None:
    def fail() -> None:
        raise raises

    assert [call.status for call in after(fail).calls] == ["failed"]


@pytest.mark.parametrize("raises", RAISED)
def test_a_hostile_object_costs_its_own_preview_and_nothing_else(
    raises: type[BaseException],
) -> None:
    def make() -> Hostile:
        return Hostile(raises)

    def look(it: Hostile) -> str:
        return "seen"

    model = Scripted([("make", {}), ("look", {"it": "Hostile#1"}), "done"])
    session = Session(Toolbox(make, look), model, scheme="flat", approve="all").tell("Go.")
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]
    assert raises.__name__ in preview(session["Hostile#1"]).text
    for show in (repr, str, lambda session: session._repr_mimebundle_()):
        show(session)
    drive = Drive(session, lambda notice: None)
    drive.publish("finished")
    assert [row.name for row in drive.whole().objects] == ["Hostile#1"]


def test_a_tool_that_stops_its_event_loop_ends_and_so_do_the_next_ones() -> None:
    async def stop() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return "stopped"

    async def sleep() -> str:
        await asyncio.sleep(0.01)
        return "slept"

    session = after(stop, sleep)
    assert [call.result for call in session.calls] == ["stopped", "slept"]


def test_a_task_that_ends_the_thread_of_the_loop_costs_the_next_tool_nothing() -> None:
    async def leave() -> str:
        async def raise_exit() -> None:
            raise SystemExit

        task = asyncio.ensure_future(raise_exit())
        await asyncio.wait([task])
        task.exception()
        return "left"

    async def go_on() -> str:
        return "here"

    session = after(leave, go_on)
    assert [call.result for call in session.calls] == ["left", "here"]
