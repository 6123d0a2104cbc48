"""A person plays the model: what they are shown, and a reply of theirs recorded as any other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import NotYourTurn, Unfinished, UsageError
from jupyter_toolcall.core.events import Asked, Replied
from jupyter_toolcall.engine.person_model import YourTurn
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import reply_by_input
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.kitchen import Fries, Oven, Potato, Sink
from jupyter_toolcall.models.named import model_named
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.storage.notebook_files import execute
from jupyter_toolcall.view.contract import Delta, Notice, Refused
from jupyter_toolcall.view.contract_rows import SessionRow
from tests.jupyter.test_panel_controller import stop_while_it_waits
from tests.notebooks import write_notebook

BOX = Toolbox(Potato, Oven, Fries)
PEEL = {"tool": "Potato_peel"}
SLICE = {"tool": "Potato_slice", "arguments": {"shape": "STICKS"}}
WRONG = {"tool": "Potato_slice", "arguments": {"shape": "CUBES"}}
SLICED = ("Potato_slice", {"shape": "STICKS"})


def asked(model: Any = "person", **more: Any) -> Session:
    """Return a session in which the model has been asked: here a person."""
    given = {"potato": Potato(peeled=True), "sink": Sink()}
    settings = {"scheme": "flat", "approve": "all", "inputs": given, **more}
    return Session(BOX, model, **settings).ask("Slice it.")


@dataclass
class Seat:
    """Somebody in front of a panel, and what the panel was told."""

    drive: PanelController
    heard: list[Notice] = field(default_factory=list)

    @property
    def turn(self) -> YourTurn:
        (row,) = self.drive.whole().session
        assert row.yours is not None
        return row.yours

    @property
    def row(self) -> SessionRow:
        return self.drive.whole().session[0]

    def send(self, kind: str, *calls: Any, **fields: Any) -> None:
        self.drive.receive({"type": kind, **({"calls": [*calls]} if calls else {}), **fields})
        asyncio.run(self.drive.resume())

    @property
    def written(self) -> list[str]:
        """The tools of the calls that the person has written so far."""
        return [call.tool for call in self.turn.calls]

    @property
    def statuses(self) -> list[str]:
        return [call.status for call in self.drive.session.calls]

    def refused(self) -> Refused:
        (refusal,) = (notice for notice in self.heard if isinstance(notice, Refused))
        return refusal


def seated(session: Session | None = None, **more: Any) -> Seat:
    heard: list[Notice] = []
    seat = Seat(PanelController(asked(**more) if session is None else session, heard.append), heard)
    seat.drive.run_to_pause()
    return seat


# -- the reply ----------------------------------------------------------------------------


def test_a_prompt_that_is_asked_again_reads_as_it_did() -> None:
    first = asked()
    again = first.begin_new()
    assert again.head != first.head
    for session in (first, again):
        turn = seated(session).turn
        assert (turn.prompt, turn.told) == ("Slice it.", ())


def test_nobody_replies_until_the_person_does() -> None:
    session = asked().run()
    assert isinstance(session.state.last, Asked)
    session.reply("", SLICED).run()
    assert (session.calls[0].id, session.calls[0].object) == ("call_1", "Potato#2")
    assert session.reply("There you are.").run().text == "There you are."


def test_a_reply_is_recorded_as_a_models_and_says_by_whom() -> None:
    rinse = ("Potato_rinse", {"sink": "Sink#1"})
    played = asked().reply("First:", rinse).run()
    spoken = asked(Scripted([["First:", rinse]])).step()
    (mine, its) = (
        next((e.event, e.meta.get("by")) for e in session.journal if isinstance(e.event, Replied))
        for session in (played, spoken)
    )
    assert mine == (its[0], "person")
    assert its[1] is None
    assert played.usage.input == 0


def test_calls_have_an_id_each_and_a_wrong_one_fails_as_a_models_does() -> None:
    session = asked()
    session.reply("", ("Potato_peel", {}), ("Potato_slice", {"shape": "CUBES"})).run()
    assert [(call.id, call.status) for call in session.calls] == [
        *(("call_1_1", "succeeded"), ("call_1_2", "failed")),
    ]
    assert session.reply("Sorry.").run().text == "Sorry."


def test_no_reply_is_taken_where_it_is_not_the_models_turn() -> None:
    session = asked(approve="ask").reply("", ("Potato_peel", {}))
    for wait in (session, session.run()):
        with pytest.raises(NotYourTurn, match="these calls have no result yet: call_1"):
            wait.reply("And?")
    session.decide("call_1").run().reply("Done.").run()
    with pytest.raises(NotYourTurn, match="nobody has asked anything since"):
        session.reply("And?")
    with pytest.raises(NotYourTurn, match="are replayed first"):
        session.replay().reply("Before its time")
    session = asked(max_turns=1).reply("", ("Potato_peel", {})).run()
    with pytest.raises(NotYourTurn, match="replied 1 time; a larger max_turns"):
        session.reply("Done.")


@pytest.mark.parametrize(
    ("text", "calls", "said"),
    [
        *((text, (), "the reply is empty") for text in ("", " \n")),
        *(("", (call,), "is no call; give a") for call in ("Potato_peel", ("Potato_peel", 5))),
    ],
)
def test_what_is_no_reply_is_not_recorded(text: str, calls: Any, said: str) -> None:
    session = asked()
    head = session.head
    with pytest.raises(UsageError, match=said):
        session.reply(text, *calls)
    assert session.head == head


def test_in_a_spoken_session_calls_are_written_in_xml_or_by_form_but_not_both() -> None:
    block = (
        '<tool-calls><tool-call tool="Potato" function="slice">'
        '<parameter name="shape">STICKS</parameter></tool-call></tool-calls>'
    )
    written = asked(native=True).reply(f"Now:\n{block}").run()
    formed = asked(native=True).reply("Now:", SLICED).run()
    assert [call.object for call in (*written.calls, *formed.calls)] == ["Potato#2"] * 2
    with pytest.raises(UsageError, match="the words hold calls already"):
        asked(native=True).reply(block, ("Potato_peel", {}))


# -- what is shown ------------------------------------------------------------------------


def test_the_person_sees_what_a_model_is_sent() -> None:
    seat = seated(scheme="select", outputs={"sliced": Potato})
    session = seat.drive.session
    assert (seat.row.says, seat.turn.turn) == ("You are the model", 1)
    assert seat.turn.prompt == "Slice it."
    assert seat.turn.tools == tuple(tool.name for tool in session.cursor.request.tools)
    rows = {row.id: row for row in seat.drive.whole().tools}
    for tool in session.cursor.request.tools:
        assert rows[tool.name].description == tool.description
        if tool.name != "selectTools":
            assert rows[tool.name].parameters == tool.parameters
    assert "- Potato#1" in rows["selectTools"].description
    # A person ticks the names that a model reads in the description.
    chosen = rows["selectTools"].parameters["properties"]["tools"]["items"]
    assert chosen["enum"] == [tool.name for tool in session.toolbox]
    assert seat.turn.system in session.cursor.request.system


def test_what_came_of_the_calls_is_shown_as_the_model_is_told_it() -> None:
    seat = seated()
    seat.send("say", PEEL, WRONG)
    told = [(told.tool, told.step, told.error) for told in seat.turn.told]
    assert told == [("Potato_peel", 1, False), ("Potato_slice", 2, True)]
    assert seat.turn.told[0].text == '{"result": "Potato#2"}'
    assert seat.turn.prompt == "Slice it."


def test_a_panel_is_told_of_each_tool_once_and_again_where_it_has_changed() -> None:
    def tools() -> list[str]:
        deltas = [notice for notice in seat.heard[before:] if isinstance(notice, Delta)]
        return [row.id for delta in deltas for row in delta.rows.tools]

    seat = seated(scheme="select")
    before = len(seat.heard)
    seat.send("draft", {"tool": "selectTools", "arguments": {"tools": ["x"]}})
    assert tools() == []
    seat.send("say", {"tool": "selectTools", "arguments": {"tools": ["Potato_peel"]}})
    assert tools() == ["Potato_peel"]
    seat.send("say", PEEL)
    assert tools() == ["Potato_peel", "selectTools"]


# -- from a panel -------------------------------------------------------------------------


def test_calls_are_written_one_by_one_and_a_panel_that_comes_later_sees_them() -> None:
    seat = seated()
    seat.send("draft", PEEL)
    seat.send("draft", PEEL, SLICE)
    seat.send("hello")
    assert (seat.written, seat.statuses) == (["Potato_peel", "Potato_slice"], [])
    seat.send("say", PEEL, SLICE, text="Now.")
    assert (seat.written, seat.statuses) == ([], ["succeeded"] * 2)


def test_a_call_is_added_and_the_reply_sent_at_once_where_it_could_run() -> None:
    seat = seated()
    seat.send("draft", PEEL)
    seat.send("draft", PEEL, WRONG, send=True, text="Now.")
    assert {*seat.refused().fields} == {"shape"}
    assert (seat.written, seat.statuses) == (["Potato_peel"], [])
    seat.send("draft", PEEL, SLICE, send=True, text="Now.")
    assert (seat.written, seat.statuses) == ([], ["succeeded"] * 2)
    assert seat.drive.session.text == "Now."


def test_a_call_that_could_not_run_comes_back_at_its_field_and_can_be_written_anyway() -> None:
    seat = seated()
    seat.send("draft", WRONG)
    assert ({*seat.refused().fields}, seat.written) == ({"shape"}, [])
    seat.send("draft", WRONG, anyway=True)
    seat.send("draft", WRONG, PEEL)
    assert seat.written == ["Potato_slice", "Potato_peel"]


@pytest.mark.parametrize("kind", ["say", "draft"])
def test_after_a_reply_it_is_not_the_models_turn_and_what_comes_then_is_refused(kind: str) -> None:
    seat = seated(approve="ask")
    assert seat.row.detail == ""
    seat.send("say", SLICE)
    assert (seat.row.says, seat.row.yours) == ("Waiting for you", None)
    seat.send(kind, SLICE, text="Late.")
    assert "not the model's turn" in seat.refused().reason
    assert len(seat.drive.session.calls) == 1


def test_a_cell_waits_for_the_reply_and_goes_on_with_it() -> None:
    heard: list[Notice] = []
    drive = PanelController(asked(), heard.append)

    async def played() -> None:
        going = asyncio.ensure_future(drive.run())
        while not heard:
            await asyncio.sleep(0)
        assert not going.done()
        drive.receive({"type": "say", "text": "Done.", "calls": []})
        await going

    asyncio.run(played())
    assert drive.session.text == "Done."
    phases = [row.phase for each in heard if isinstance(each, Delta) for row in each.rows.session]
    assert "thinking" not in phases


def test_a_function_that_has_no_reply_yet_is_waited_for_and_asked_again() -> None:
    replies: list[Reply | None] = [None, Reply("Now.")]

    def late(request: Request) -> Reply | None:
        return replies.pop(0)

    seat = seated(Session(BOX, late, scheme="flat").ask("Well?"))
    assert (seat.row.phase, seat.row.yours) == ("waiting", None)
    assert seat.row.says == "Waiting for the model"
    seat.send("run")
    assert seat.drive.session.text == "Now."


def test_stopping_while_the_model_is_waited_for_loses_nothing() -> None:
    drive = PanelController(asked(), lambda notice: None)
    stop_while_it_waits(drive)
    assert drive.session.reply("Still here.").run().text == "Still here."


# -- without a panel ----------------------------------------------------------------------


def typed(*words: str) -> Callable[[str], str]:
    given = iter(words)
    return lambda prompt: next(given)


@pytest.mark.parametrize("line", ["Potato_slice shape=STICKS", "{number} shape=STICKS"])
def test_a_typed_call_has_a_name_or_a_number(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    session = asked()
    number = BOX.names.index("Potato_slice") + 1
    reply_by_input(session, typed(line.format(number=number)))
    assert session.run().objects[-1] == "Potato#2"
    shown = capsys.readouterr().out
    assert "Slice it." in shown
    assert f"{number}. Potato_slice(Potato, shape)" in shown


def test_typed_words_are_a_reply_and_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    session = asked()
    reply_by_input(session, typed("Potato_slice shape=CUBES"))
    assert session.calls == ()
    assert "shape" in capsys.readouterr().out
    reply_by_input(session, typed("Potato_slice is what I would call"))
    assert session.run().text == "Potato_slice is what I would call"


def opened(line: str) -> tuple[Cells, Session]:
    """Return a kernel's sessions, with one that a cell opened."""
    kernel, variables = Cells(), {"Potato": Potato, "potato": Potato(peeled=True)}
    session = kernel.session(parse_options(f"{line} -t Potato -i potato"), variables)
    return kernel, kernel.keep(session.ask("Slice it."))


def test_line_commands_reply_as_the_model() -> None:
    kernel, session = opened("-m person --scheme flat --approve all")
    carry_out(["call", "Potato_slice", "shape=STICKS"], kernel, {})
    carry_out(["say", "There", "you", "are."], kernel, {})
    assert (session.calls[0].object, session.text) == ("Potato#2", "There you are.")


def test_person_is_a_model_by_name() -> None:
    assert repr(model_named("person")) == "<person: you play the model>"
    _, session = opened("-m person")
    assert session.state.opened.model == "person"
    with pytest.raises(UsageError, match="'person:me' is no model"):
        model_named("person:me")


def test_where_nobody_can_be_asked_the_cell_fails_in_one_line(tmp_path: Path) -> None:
    sources = [
        "%load_ext jupyter_toolcall\nfrom jupyter_toolcall.kitchen import Potato",
        "%%toolchat -m person -t Potato\nWell?",
    ]
    with pytest.raises(Unfinished, match=r"the model is a person \(-m person\)"):
        execute(write_notebook(tmp_path / "a.ipynb", *sources))
