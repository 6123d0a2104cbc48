"""The end of a tool is recorded whatever the tool does to the process it runs in."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.interrupts import LONG, Hold
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.rules.approval_policy import Verdict
from jupyter_toolcall.view.previews import preview
from tests.example_tools import ask_calls, interrupted, prints_of, run_calls

RAN: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


def after(*functions: Callable[..., Any]) -> Session:
    """Return a session in which each of these tools was called once, in order."""
    return run_calls(*functions, calls=[(function.__name__, {}) for function in functions])


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
    assert session.text == "Done."
    assert (sys.stdout, sys.stderr) == streams
    if tool is closes_stdout:
        assert prints_of(session) == ["before\ninside\nafter\n"]


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


def test_where_a_tool_failed_is_kept_for_the_person_and_not_sent_to_the_model() -> None:
    async def fail() -> None:
        print("here")
        raise ValueError("no")

    session = after(fail)
    [prints] = prints_of(session)
    assert prints.startswith("here\nTraceback (most recent call last):\n")
    assert ", in fail\n" in prints.splitlines(keepends=True)[2]
    assert 'raise ValueError("no")' in prints
    assert session.calls[0].error == "ValueError: no"


@pytest.mark.parametrize("raises", RAISED)
def test_a_hostile_object_costs_its_own_preview_alone(raises: type[BaseException]) -> None:
    def make() -> Hostile:
        return Hostile(raises)

    def look(it: Hostile) -> str:
        return "seen"

    session = run_calls(make, look, calls=[("make", {}), ("look", {"it": "Hostile#1"})])
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]
    assert raises.__name__ in preview(session["Hostile#1"]).text
    for show in (repr, str, lambda session: session._repr_mimebundle_()):
        show(session)
    drive = PanelController(session, lambda notice: None)
    drive.publish("finished")
    assert [row.name for row in drive.whole().objects] == ["Hostile#1"]


# -- event loops ------------------------------------------------------------------------------


async def go_on() -> str:
    return "here"


async def stop() -> str:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)
    return "kept"


async def cancel() -> str:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    return "kept"


async def leave() -> str:
    async def raise_exit() -> None:
        raise SystemExit

    task = asyncio.ensure_future(raise_exit())
    await asyncio.wait([task])
    task.exception()
    return "kept"


@pytest.mark.parametrize("tool", [stop, cancel, leave])
def test_a_tool_that_ends_its_task_its_loop_or_its_thread_costs_no_result(tool: Any) -> None:
    assert [call.result for call in after(tool, go_on).calls] == ["kept", "here"]


# -- what a value's own code raises -----------------------------------------------------------

PROPERTIES = ("__class__", "__dataclass_fields__", "columns", "dtype", "shape")
METHODS = (
    *("__repr__", "__str__", "__eq__", "__hash__", "__len__", "__iter__", "__bool__", "__format__"),
    *("__getattr__", "__getattribute__", "__getitem__", "__reduce_ex__", "__deepcopy__"),
    *("__content__", "_repr_html_", "_repr_svg_", "_repr_mimebundle_", "savefig", "thumbnail"),
)


def hostile(base: type, name: str, raises: type[BaseException]) -> Any:
    """Return a value with one attribute that raises whenever it is asked for, or called."""

    def bad(self: Any, *args: Any, **named: Any) -> Any:
        if name.startswith("__getattr") and str(args[0]).startswith("__"):
            return base.__getattribute__(self, *args)
        raise raises

    made: Any = property(bad) if name in PROPERTIES else bad
    return type("Hostile", (base,), {"__hash__": base.__hash__, name: made})()


class Held:
    """Where the tools find the value; what a tool's own names stand for is a part of it."""

    value: Any = None


def make_it() -> Any:
    return vars(Held)["value"]


@pytest.mark.parametrize("raises", [SystemExit, Ending, KeyboardInterrupt, RecursionError])
@pytest.mark.parametrize("base", [object, dict, list, str])
def test_whatever_attribute_of_a_result_raises_the_call_succeeds_and_is_shown(
    base: type, raises: type[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (*METHODS, *PROPERTIES):
        Held.value = hostile(base, name, raises)
        session = after(make_it)
        assert [call.status for call in session.calls] == ["succeeded"], name
        drive = PanelController(session, lambda notice: None)
        drive.publish("finished")
        drive.whole()
        cells = Cells()
        cells.keep(session)
        carry_out(["status"], cells, {})
        assert "make_it" in capsys.readouterr().out
    Held.value = None


@pytest.mark.parametrize("raises", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("base", [object, list, tuple, str, int])
def test_a_tool_may_name_a_hostile_value(base: type, raises: type[BaseException]) -> None:
    for name in ("__class__", "__repr__", "__iter__", "__len__", "__getattribute__"):
        held = hostile(base, name, raises)

        def work() -> str:
            return "used" if held is not None else ""  # noqa: B023

        assert after(work).calls[0].status == "succeeded", name


class Text(str):
    """A text whose methods raise."""

    def __format__(self, spec: str) -> str:
        raise SystemExit

    __getitem__ = encode = isascii = __len__ = __format__  # type: ignore[assignment]


class Speaks(Exception):
    def __str__(self) -> str:
        return Text("said")


class Disguised(Exception):
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise SystemExit


ERRORS: dict[type[BaseException], str] = {
    **dict.fromkeys([SystemExit, Ending, GeneratorExit, asyncio.CancelledError], ""),
    Unprintable: "Unprintable: (its message cannot be read)",
    **{Speaks: "Speaks", Disguised: "Disguised"},
}


@pytest.mark.parametrize("raises", ERRORS)
def test_whatever_a_tool_raises_is_a_failure(raises: type[BaseException]) -> None:
    def fail() -> None:
        RAN.append("fail")
        raise raises

    session = after(fail)
    (call,) = session.calls
    assert (call.status, session.text, RAN) == ("failed", "Done.", ["fail"])
    assert call.error.startswith(ERRORS[raises])


def broken() -> None:
    raise OSError("the selector is gone")


@pytest.mark.parametrize("how", ["closed", "broken"])
def test_a_tool_whose_event_loop_ends_has_failed_and_the_next_one_has_another(how: str) -> None:
    async def end() -> str:
        loop: Any = asyncio.get_running_loop()
        loop.run_forever = loop.close if how == "closed" else broken
        loop.stop()
        await asyncio.sleep(60)
        return "never"

    session = after(end, go_on)
    assert [call.status for call in session.calls] == ["failed", "succeeded"]
    assert "event loop" in (session.calls[0].error or "")


def test_an_async_tool_that_blocks_is_interrupted_and_the_next_one_runs() -> None:
    released = threading.Event()

    async def block() -> str:
        threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
        released.wait(60)
        return "late"

    session = ask_calls(block, go_on, calls=[("block", {}), ("go_on", {})])
    interrupted(session)
    session.run()
    released.set()
    assert [call.status for call in session.calls] == ["interrupted", "succeeded"]


# -- interrupts at the worst instant ----------------------------------------------------------


class Lines:
    """What is on disk; while a certain line is written, the person interrupts."""

    def __init__(self, word: str = "", times: int = 1) -> None:
        self.word, self.times = word, times
        self.lines: list[str] = []

    def __call__(self, line: str, when: str) -> None:
        if self.word and f'"{self.word}"' in line:
            self.word = ""
            for _ in range(self.times):
                signal.raise_signal(signal.SIGINT)
        self.lines.append(line)

    def ids(self) -> list[str]:
        return [data["id"] for data in map(json.loads, self.lines) if "id" in data]


def send() -> str:
    RAN.append("send")
    return "sent"


SEND: Any = ("send", {})


def interrupted_writing(tool: Any, disk: Lines) -> Session:
    """Return a session that was interrupted as a line was written, and then went on."""
    session = ask_calls(tool, calls=[(tool.__name__, {})], journal=Journal(disk))
    interrupted(session)
    assert [entry.id for entry in session.journal] == disk.ids()
    assert session.head == disk.ids()[-1]
    while session.text != "Done." and not session.pending:
        session.run()
    assert (session.text, session.pending) == ("Done.", ())
    return session


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("word", ["started", "finished", "replied"])
def test_memory_is_what_is_on_disk_however_often_it_is_interrupted(word: str, times: int) -> None:
    session = interrupted_writing(send, Lines(word, times))
    # What was interrupted before it began does not begin.
    begins = word != "started"
    assert session.calls[0].status == ("succeeded" if begins else "interrupted")
    assert len(RAN) == begins


@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_interrupt_while_an_approval_is_written_leaves_it_written(times: int) -> None:
    disk = Lines("decided", times)
    session = run_calls(send, calls=[SEND], approve="none", journal=Journal(disk))
    with pytest.raises(KeyboardInterrupt):
        session.decide(session.pending[0].id)
    assert session.head == disk.ids()[-1]
    assert session.run().text == "Done."
    assert RAN == ["send"]


def test_a_tool_that_sets_a_handler_of_its_own_is_recorded_all_the_same() -> None:
    def set_handler() -> str:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return "set"

    before = signal.getsignal(signal.SIGINT)
    assert interrupted_writing(set_handler, Lines("finished")).calls[0].status == "succeeded"
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_is_raised_in_the_main_thread_alone() -> None:
    seen: list[Any] = []

    def look() -> None:
        try:
            seen.append(preview({"a": 1}).text)
        except BaseException as error:
            seen.append(error)

    def policy(tool: Any, arguments: Any) -> tuple[Verdict, str]:
        signal.raise_signal(signal.SIGINT)
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return "approve", ""

    with pytest.raises(KeyboardInterrupt):
        run_calls(send, calls=[SEND], approve=policy)
    assert [type(result) for result in seen] == [str]


def test_what_hangs_where_an_interrupt_waits_is_ended_by_another_one() -> None:
    began = time.monotonic()

    def policy(tool: Any, arguments: Any) -> tuple[Verdict, str]:
        for delay in (0.01, LONG + 0.1):
            threading.Timer(delay, signal.raise_signal, [signal.SIGINT]).start()
        while time.monotonic() < began + 60:
            time.sleep(0.01)
        return "approve", ""

    with pytest.raises(KeyboardInterrupt):
        run_calls(send, calls=[SEND], approve=policy)
    assert time.monotonic() - began < 30
    assert RAN == []


class Slow:
    """It is interrupted while it is pickled, to be kept beyond the kernel."""

    def __content__(self) -> str:
        return "slow"

    def __reduce_ex__(self, protocol: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return Slow, ()


def test_an_interrupt_while_a_result_is_kept_costs_that_alone(tmp_path: Path) -> None:
    def make() -> Slow:
        return Slow()

    box, model, path = Toolbox(make), Scripted([("make", {}), "Done."]), tmp_path / "session.jsonl"
    Session(box, model, scheme="flat").ask("Go.").save(path)
    session = Session.load(path, box, model, approve="all")
    interrupted(session)
    assert [call.status for call in session.calls] == ["succeeded"]
    assert type(session["Slow#1"]) is Slow


def test_a_hold_that_failed_lets_later_interrupts_through(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)

    def fail(*arguments: object) -> None:
        raise RecursionError

    with pytest.raises(RecursionError), Hold():
        monkeypatch.setattr(sys.modules["_signal"], "signal", fail)
    monkeypatch.undo()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    after(closes_stdout)
    assert signal.getsignal(signal.SIGINT) is before
