"""What another package adds from outside: options, subcommands, commands and rows of a panel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.engine.cursor import Cursor, ExtensionRow, SessionHooks
from jupyter_toolcall.engine.person_model import Phase
from jupyter_toolcall.jupyter import extensions
from jupyter_toolcall.jupyter import extensions as added
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.extensions import (
    CellRun,
    Flag,
    NotebookExtension,
    PanelExtension,
    Registration,
    add_flag,
    add_replay_source,
    register,
)
from jupyter_toolcall.jupyter.options import help_text, parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out, subcommands, subcommands_help
from jupyter_toolcall.schemes.messages import Model
from jupyter_toolcall.storage.notebook_files import MIME, with_parsed_rows
from jupyter_toolcall.view.contract import Delta, Notice, Refused, Rows, Whole
from jupyter_toolcall.view.saved_output import mime_bundle


@dataclass(frozen=True, slots=True)
class Gate:
    """Open the gate for one reply."""

    type: Literal["gate"] = "gate"


@dataclass(frozen=True, slots=True)
class GateRow(ExtensionRow):
    """Whether the gate is open."""

    id: str = "gate"
    opened: int = 0

    def saved(self) -> GateRow | None:
        return GateRow()

    def invitation(self) -> str:
        return "Run the cell, and open the gate."


@dataclass
class Gated(SessionHooks, PanelExtension):
    """Holds each reply until the command `gate` comes."""

    commands: ClassVar = {"gate": Gate}
    held_status = "Waiting at the gate"
    opened: set[str] = field(default_factory=set)
    hidden: bool = True

    def holds_reply(self, cursor: Cursor) -> bool:
        return cursor.head not in self.opened and not cursor.state.open

    def hides_branches(self) -> bool:
        return self.hidden

    def view_row(self, cursor: Cursor) -> GateRow:
        return GateRow(opened=len(self.opened))

    def row(self, session: Session, phase: Phase) -> GateRow:
        return self.view_row(session.cursor)

    def apply(self, session: Session, command: Any) -> bool:
        self.opened.add(session.head)
        return True


def note(words: str) -> str:
    """Write something down."""
    return f"noted {words}"


def gated(gate: Gated, **more: Any) -> Session:
    model = Scripted([("note", {"words": "one"}), "Done."])
    session = Session(Toolbox(note), model, scheme="flat", approve="all", **more)
    session.cursor.context.hooks = (gate,)
    return session.ask("Write.")


def test_a_hook_holds_each_reply_until_it_lets_go() -> None:
    gate = Gated()
    session = gated(gate).run()
    assert (session.calls, session.text) == ((), "")
    for _ in range(3):
        gate.opened.add(session.head)
        session.run()
    assert session.text == "Done."


def test_a_session_that_is_held_says_why_and_shows_the_row_of_the_hook() -> None:
    shown = gated(Gated())._repr_mimebundle_()
    assert shown["text/plain"].startswith("Waiting at the gate")
    assert "open the gate" in shown["image/svg+xml"]
    assert with_parsed_rows(shown[MIME])["rows"]["extensions"] == [{"id": "gate"}]


def test_a_hook_hides_the_other_branches() -> None:
    model = Scripted([("note", {"words": "one"}), "Done."])
    session = Session(Toolbox(note), model, scheme="flat", approve="all").tell("Write.")
    fork = session.edit(session.calls[0], words="two").run()
    controller = PanelController(fork, lambda notice: None)
    assert len(controller.whole().branches) == 2
    gate = Gated(opened={fork.head})
    fork.cursor.context.hooks = (gate,)
    controller.publish("finished")
    assert len(controller.whole().branches) == 1
    gate.hidden = False
    assert len(controller.whole().branches) == 2


def test_a_panel_carries_out_the_commands_of_its_extensions_and_sends_their_rows() -> None:
    sent: list[Notice] = []
    gate = Gated()
    controller = PanelController(gated(gate), sent.append, extensions=(gate,))
    controller.run_to_pause()
    assert controller.whole().session[0].says == "Waiting at the gate"
    for _ in range(2):
        controller.receive({"type": "gate"})
        asyncio.run(controller.resume())
    assert controller.session.text == "Done."
    rows = [each.rows for each in sent if isinstance(each, (Whole, Delta))]
    assert [row.opened for row in gate_rows(rows)][-1] == 2
    saved = mime_bundle(controller.session.cursor, controller.whole(), None)[MIME]
    extensions = with_parsed_rows(saved)["rows"]["extensions"]
    assert extensions == [{"id": "gate"}], "the row says what of it is saved"


def gate_rows(all_rows: list[Rows]) -> list[GateRow]:
    return [row for rows in all_rows for row in rows.extensions if isinstance(row, GateRow)]


@pytest.mark.parametrize("message", [{"type": "gate"}, {"type": "gate", "wide": True}, "gate", 3])
def test_a_command_of_no_extension_of_the_panel_is_refused(message: Any) -> None:
    sent: list[Notice] = []
    controller = PanelController(gated(Gated()), sent.append)
    controller.inbox.append(message)
    assert not controller.apply_commands()
    (refusal,) = sent
    assert isinstance(refusal, Refused)
    assert "is no command of this panel" in refusal.reason


# -- the magics ---------------------------------------------------------------------------------


class Counter(NotebookExtension):
    """Counts the cells that say `--count`."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.counted = cells, 0

    def attach(self, session: Session, run: CellRun) -> None:
        self.counted += run.options.extra["count"]

    def subcommand(
        self, command: str, words: list[str], name: str, variables: Mapping[str, Any]
    ) -> Any:
        return f"{self.counted} {' '.join(words)}".strip()

    def replayed_model(self, file: str) -> Model | None:
        return Scripted([file]) if file.endswith(".tally") else None


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(extensions, "_registered", {})
    flags, sources = dict(added.FLAGS), dict(added.REPLAY_SOURCES)
    add_flag(Flag("count", "count this cell", "do not count it", "Count each cell."))
    add_replay_source(".tally", "a tally")
    register(Registration("counter", Counter, ("tally",), "  tally   how many\n"))
    yield
    added.FLAGS.clear()
    added.FLAGS.update(flags)
    added.REPLAY_SOURCES.clear()
    added.REPLAY_SOURCES.update(sources)


@pytest.mark.usefixtures("registered")
def test_the_magics_have_the_options_and_subcommands_of_an_extension() -> None:
    told = " ".join(help_text().split())
    assert "--no-count do not count it" in told
    assert "or a tally (.tally)" in told
    lines = {"": False, "--count": True, "--no-count": False}
    assert {line: parse_options(line).extra["count"] for line in lines} == lines
    assert parse_options("", {"count": True}).extra["count"], "its setting"
    assert carry_out(["tally", "so far"], Cells(), {}) == "0 so far"
    assert "tally" in subcommands()
    assert "how many" in subcommands_help()


@pytest.mark.usefixtures("registered")
def test_a_file_of_an_extension_can_be_replayed() -> None:
    session = Cells().session(parse_options("--replay a.tally"), {}).tell("How many?")
    assert session.text == "a.tally"
