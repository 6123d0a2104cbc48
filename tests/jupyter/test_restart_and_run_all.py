"""Restart & Run All: what ran in a kernel that is gone runs no second time, and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, tool
from jupyter_toolcall.core.interface_text import from_wire
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import split
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.storage.notebook_files import MIME, with_parsed_rows
from jupyter_toolcall.storage.value_store import SETTING
from tests.engine.test_effects import Door
from tests.jupyter.test_cells import Kernel as CellKernel

RAN: list[str] = []
"""What ran, in all kernels."""


@dataclass
class Letter:
    text: str
    stamps: list[str] = field(default_factory=list)

    def stamp(self, by: str) -> Letter:
        """Put a stamp on it."""
        RAN.append("stamp")
        self.stamps.append(by)
        return self


class Post:
    """An office that counts what it sends."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, letter: Letter) -> int:
        """Send a letter."""
        RAN.append("send")
        self.sent.append(letter.text)
        return len(self.sent)


def write(text: str) -> Letter:
    """Write a letter."""
    RAN.append("write")
    return Letter(text)


def build() -> Door:
    """Build a door."""
    RAN.append("build")
    return Door()


@tool(read_only=True)
def read(letter: Letter) -> str:
    """Read a letter."""
    RAN.append("read")
    return letter.text


@dataclass
class Kernel(CellKernel):
    """A kernel in which the notebook's variables have just been made."""

    def cell(self, line: str, text: str = "Go.", *decisions: Any) -> Session:
        """Run a cell, in which a person decides so on the calls that wait."""
        session = self.run(line, text)
        for decision in decisions:
            session.decide(session.pending[0], **decision).run()
        return self.cells.keep(session)

    def ends(self) -> None:
        self.cells.close()


def text(session: Session) -> str:
    """Return a session as plain text."""
    return str(session._repr_mimebundle_()["text/plain"])


def why(session: Session) -> str:
    """Return what the panel says of the call that waits."""
    rows = with_parsed_rows(session._repr_mimebundle_()[MIME])["rows"]["calls"]
    return next(str(from_wire(row["why"])) for row in rows if row.get("why"))


YES = {"decision": "approve"}
BUILD: Any = ("build", {})
SCRIPT = [
    ("write", {"text": "hi"}),
    ("Letter_stamp", {"by": "me"}),
    ("Post_send", {"letter": "$Letter"}),
    "one",
    ("Post_send", {"letter": "Letter#2"}),
    "two",
]
LINE = "-m model -t write read Letter post --scheme flat"


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Kernel]]:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    RAN.clear()
    begun: list[Kernel] = []

    def begin(script: list[Any] = SCRIPT) -> Kernel:
        known = {"write": write, "read": read, "Letter": Letter, "post": Post(), "build": build}
        cells, model = Cells(str(tmp_path / "a.ipynb")), Scripted(script)
        begun.append(Kernel(cells, {**known, "model": model}))
        return begun[-1]

    yield begin
    for each in begun:
        each.ends()


Begin = Callable[..., Kernel]


def sent(kernel: Begin) -> Session:
    """Return the session of a kernel in which the letter was sent, and which has ended."""
    first = kernel()
    session = first.cell(LINE, "Send it.", YES, YES, YES)
    first.ends()
    return session


def test_a_notebook_that_runs_again_asks_nobody_and_runs_nothing(kernel: Begin) -> None:
    first = kernel()
    first.cell(LINE, "Send it.", YES, YES, YES)
    done = first.cell("", "Again.", YES)
    first.ends()
    second = kernel()
    again = [second.cell(LINE, "Send it."), second.cell("", "Again.")][-1]
    assert RAN == ["write", "stamp", "send", "send"]
    assert (again.head, len(again.journal)) == (done.head, len(done.journal))
    # The office goes on counting where it was.
    assert [call.result for call in again.calls] == ["Letter#1", "Letter#2", 1, 2]
    assert again["Letter#2"] == Letter("hi", ["me"])


def test_without_the_values_a_person_is_asked_again_before_anything_happens(
    kernel: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(kernel)
    monkeypatch.setenv(SETTING, "0")
    second = kernel().cell(LINE, "Send it.")
    assert [call.tool for call in second.pending] == ["write"]
    lost = "You are asked again: it ran, and its result is no longer on this computer."
    assert why(second) == lost
    assert lost in text(second)
    assert RAN == ["write", "stamp", "send"]


def test_an_edit_in_a_new_kernel_runs_what_depends_on_it_alone(kernel: Begin) -> None:
    sent(kernel)
    edited = kernel().cell(LINE, "Send it.").edit("call_2", by="you").run()
    assert RAN == ["write", "stamp", "send", "stamp"]
    assert [call.tool for call in edited.pending] == ["Post_send"]
    assert edited["Letter#2"] == Letter("hi", ["you"])


@pytest.mark.parametrize("last", ["chosen", "continued", "worked on"])
def test_it_goes_on_on_the_branch_chosen_or_worked_on_last(kernel: Begin, last: str) -> None:
    first = kernel()
    main = first.cell(LINE, "Send it.", YES, YES, *([YES] if last != "worked on" else []))
    head, edited = main.head, main.edit("call_2", by="you").run()
    for branch in (edited.head, head):
        main.checkout(branch)
    expected = {
        "chosen": lambda: head,
        "continued": lambda: edited.decide("call_3").run().head,
        # Not the youngest branch.
        "worked on": lambda: main.decide("call_3").run().head,
    }[last]()
    first.ends()
    assert kernel().cell(LINE, "Send it.").head == expected


def test_what_cannot_be_pickled_is_made_again_and_the_step_says_so(kernel: Begin) -> None:
    cell, script = ("-m model -t build --scheme flat", "Build."), [BUILD, "built"]
    first = kernel(script)
    done = first.cell(*cell, YES)
    ends = [e.meta for e in done.journal if "notes" in e.meta]
    assert [meta["notes"] for meta in ends] == [["gone when the kernel ends: it can't be pickled"]]
    first.ends()
    assert "\n  1 build: gone when the kernel ends" in text(done)
    assert [call.tool for call in kernel(script).cell(*cell).pending] == ["build"]
    assert RAN == ["build"]


def test_an_object_that_a_person_gave_is_there_in_the_next_kernel(kernel: Begin) -> None:
    first = kernel()
    first.cell(LINE, "Send it.", {"decision": "answer", "result": Letter("mine")}, YES, YES)
    first.ends()
    second = kernel().cell(LINE, "Send it.")
    assert second["Letter#1"] == Letter("mine")
    assert (second["Letter#2"], second.pending) == (Letter("mine", ["me"]), ())


# -- a notebook that goes on -------------------------------------------------------------


def write_again(text: str) -> Letter:
    """Write a letter."""
    RAN.append("write")
    return Letter(text.upper())


write_again.__name__ = "write"


def test_an_input_that_the_notebook_changed_in_place_is_another_object(kernel: Begin) -> None:
    first = kernel([("read", {"letter": "$Letter"}), "one", ("read", {"letter": "$Letter"}), "two"])
    mine = first.variables["mine"] = Letter("mine")
    first.cell("-m model -t read -i mine --scheme flat", "Read {mine}.")
    mine.stamps.append("me")
    after = first.cell("", "Read {mine}.")
    assert first.cells.notes() == [
        "mine holds something else by now: that is Letter#2, and Letter#1 stays as it was"
    ]
    assert [after[name].stamps for name in after.objects] == [[], ["me"]]
    assert after.state.prompt == "Read Letter#2."
    assert [str(each) for each in after.outdated()] == [
        "Letter#1: mine is Letter#2 now",
        "call_1 read: goes back to Letter#1, which is outdated",
    ]
    # What has not changed since is no news.
    first.cell("", "Again.")
    assert first.cells.notes() == []


def test_a_tool_that_the_notebook_changed_is_said_once_and_runs_from_then_on(kernel: Begin) -> None:
    first = kernel([("write", {"text": "hi"}), "one", ("write", {"text": "hi"}), "two"])
    first.cell("-m model -t write Letter --scheme flat", "Write.", YES)
    first.variables["write"] = write_again
    after = first.cell("", "Again.", YES)
    assert [after[name].text for name in after.objects] == ["hi", "HI"]
    assert first.cells.notes() == [
        "write was changed. %toolchat outdated lists what would come out otherwise, "
        "%toolchat replay runs it again"
    ]
    assert [each.name for each in after.outdated()] == ["call_1", "Letter#1"]
    first.cell("", "And again.")
    assert first.cells.notes() == []


def test_a_replay_of_a_changed_tool_asks_again_and_says_why(kernel: Begin) -> None:
    sent(kernel)
    second = kernel()
    second.variables["write"] = write_again
    again = second.cell(LINE, "Send it.")
    assert [call.tool for call in again.pending] == ["write"]
    assert why(again) == "You are asked again: write was changed."
    again.decide(again.pending[0]).run()
    assert why(again) == "You are asked again: its input has changed since then."


def line(kernel: Kernel, text: str) -> Any:
    made = carry_out(split(text), kernel.cells, {}, kernel.variables)
    return kernel.cells.keep(made) if isinstance(made, Session) else None


def test_a_line_uses_the_tools_of_now(kernel: Begin, capsys: pytest.CaptureFixture[str]) -> None:
    first = kernel([("write", {"text": "hi"}), ("read", {"letter": "$Letter"}), "done"])
    first.cell("-m model -t write read Letter --scheme flat", "Write.", YES)
    line(first, "outdated")
    first.variables["write"] = write_again
    line(first, "outdated")
    assert capsys.readouterr().out.splitlines() == [
        "nothing is outdated",
        "call_1 write: its tool write was changed",
        "Letter#1: its tool write was changed",
        "call_2 read: goes back to Letter#1, which is outdated",
    ]
    assert [call.tool for call in line(first, "replay").pending] == ["write"]
    assert line(first, "approve").calls[-1].result == "HI"
    assert RAN == ["write", "read", "write", "read"]


def test_what_is_kept_is_told_and_can_be_forgotten(
    kernel: Begin, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kernel()
    first.cell(LINE, "Send it.", YES, YES, YES)
    line(first, "values")
    assert capsys.readouterr().out.startswith("3 values, 0.0 MB of 1,024.0 MB, in ")
    line(first, "values --forget")
    assert capsys.readouterr().out.startswith("removed 3 values, 0.0 MB; a replay makes again")
    first.ends()
    assert [call.tool for call in kernel().cell(LINE, "Send it.").pending] == ["write"]
    monkeypatch.setenv(SETTING, "0")
    line(first, "values")
    assert capsys.readouterr().out == "no value is kept beyond its kernel\n"
