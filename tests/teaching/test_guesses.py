"""Predict: a learner guesses each reply before it is shown, and nothing of it is known before."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import ToolcallError
from jupyter_toolcall.engine.person_model import Written, YourTurn
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.kitchen import Potato, Sink
from jupyter_toolcall.storage.notebook_files import MIME, execute
from jupyter_toolcall.teaching import guesses, register_teaching
from jupyter_toolcall.teaching.magic_commands import TeachingPanel
from jupyter_toolcall.teaching.panel_rows import GuessRow, TeachingRow
from jupyter_toolcall.view.contract import Delta, Notice, Refused, Rows, Whole
from jupyter_toolcall.view.saved_output import mime_bundle
from tests.examples import examples
from tests.jupyter.test_extensions import note
from tests.jupyter.test_person_as_model import typed
from tests.notebooks import write_notebook

BOX = Toolbox(Potato)
SCRIPT = Scripted(
    [
        ["First the dirt.", ("Potato_rinse", {"sink": "Sink#1"})],
        [("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"})],
        "Sticks, at your service.",
    ]
)
RINSE = {"type": "guess", "tool": "Potato_rinse", "arguments": {"sink": "Sink#1"}}
SLICE = {"type": "guess", "tool": "Potato_slice", "arguments": {"shape": "SLICES"}}
ANSWER = {"type": "guess"}
SKIP = {"type": "skip_guess"}


def teaching_row(rows: Rows) -> TeachingRow:
    (row,) = rows.extensions
    assert isinstance(row, TeachingRow)
    return row


def asked(model: Any = SCRIPT, **more: Any) -> Session:
    settings = {"scheme": "flat", "approve": "all", "inputs": {"potato": Potato(), "sink": Sink()}}
    return Session(BOX, model, **{**settings, **more}).ask("Sticks, please.")


@dataclass
class Seat:
    """Somebody in front of a panel who guesses, and what the panel was told."""

    drive: PanelController
    heard: list[Notice] = field(default_factory=list)

    @property
    def turn(self) -> YourTurn | None:
        return teaching_row(self.drive.whole()).turn

    @property
    def at(self) -> int:
        """The turn that is to be guessed, 0 for none."""
        return self.turn.turn if self.turn is not None else 0

    @property
    def rows(self) -> list[GuessRow]:
        (panel,) = self.drive.extensions
        assert isinstance(panel, TeachingPanel)
        return panel.guesses.rows

    @property
    def score(self) -> str:
        return teaching_row(self.drive.whole()).score

    def send(self, *messages: Any) -> Seat:
        for message in messages:
            self.drive.receive(message)
        asyncio.run(self.drive.resume())
        return self

    def refusal(self) -> str:
        (refusal,) = (notice for notice in self.heard if isinstance(notice, Refused))
        return str(refusal.reason)

    def told(self) -> str:
        """Everything that the panels were told, and what a panel that comes now would be."""
        self.drive.greet()
        return json.dumps([asdict(notice) for notice in self.heard])


def seated(session: Session | None = None, stepping: bool = False, **options: Any) -> Seat:
    heard: list[Notice] = []
    session = asked(**options) if session is None else session
    panel = TeachingPanel(guesses.begin(session))
    drive = PanelController(session, heard.append, stepping=stepping, extensions=(panel,))
    drive.run_to_pause()
    return Seat(drive, heard)


# -- before the guess ----------------------------------------------------------------------


def test_the_learner_sees_what_the_model_is_sent_and_may_call() -> None:
    seat = seated()
    assert seat.turn is not None
    request = seat.drive.session.cursor.request
    assert (seat.turn.turn, seat.turn.prompt) == (1, "Sticks, please.")
    assert seat.turn.tools == tuple(tool.name for tool in request.tools)
    assert {row.id for row in seat.drive.whole().tools} >= set(seat.turn.tools)
    assert seat.drive.whole().session[0].says == "Your turn to guess"


def test_the_model_is_not_asked_before_the_guess() -> None:
    turns: list[int] = []

    def model(request: Any) -> Any:
        turns.append(request.turn)
        return SCRIPT(request)

    seat = seated(model=model)
    assert turns == []
    seat.send(RINSE)
    assert turns == [0]


WORDS = st.text("abcdefghij", min_size=6, max_size=6)
TURNS = st.lists(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=2), min_size=2, max_size=4)


@settings(max_examples=examples(15))
@given(TURNS, st.sampled_from(["new", "walked", "fresh", "forked", "beside"]))
def test_nothing_is_told_before_its_guess(turns: list[list[tuple[str, str]]], how: str) -> None:
    marked = [
        [(f"says-{n}-{a}", f"writes-{n}-{b}") for a, b in turn] for n, turn in enumerate(turns)
    ]
    items = [[part for a, b in turn for part in (a, ("note", {"words": b}))] for turn in marked]
    script = Scripted([*items, "The end."])
    session = Session(Toolbox(note), script, scheme="flat", approve="all")
    seat = seated(_as_it_comes(session, how))
    for turn in range(len(marked)):
        assert seat.at == turn + 1
        told = seat.told()
        for n, pairs in enumerate(marked):
            assert all((word in told) == (n < turn) for pair in pairs for word in pair)
        seat.send({"type": "hello"}, {"type": "guess", "tool": "note"})
    assert seat.send(ANSWER).at == 0


def _as_it_comes(session: Session, how: str) -> Session:
    """A session that nobody ran; one that is replayed; one beside a recorded branch."""
    if how == "new":
        return session.ask("Go.")
    start = session.head
    session.ask("Go.").run()
    again = session.fork(start)
    match how:
        case "walked":
            return add_prompt(again, "Go.", fresh=False)
        case "fresh":
            return add_prompt(again, "Go.", fresh=True)
        case "beside":
            session.edit(session.calls[0], words="something else").run()
    return session.fork(session.journal.children(start)[0])


def test_what_is_said_again_is_guessed_as_if_it_were_new_and_adds_nothing() -> None:
    session = asked().run()
    entries, start = len(session.journal), session.journal.path(session.head)[0].id
    seat = seated(add_prompt(session.fork(start), "Sticks, please.", fresh=False))
    seat.send(RINSE).send(SLICE).send(ANSWER)
    assert len(seat.drive.session.journal) == entries
    assert seat.drive.session.head == session.head
    assert [(row.right, row.of) for row in seat.rows] == [(3, 3), (2, 3), (1, 1)]


# -- after it ---------------------------------------------------------------------------------


def test_the_call_stands_beside_the_guess_with_what_was_right() -> None:
    seat = seated().send(RINSE)
    (row,) = seat.rows
    assert (row.right, row.of, row.step) == (3, 3, 1)
    seat.send(SLICE)
    row = seat.rows[-1]
    assert row.came == Written("Potato_slice", {"shape": "STICKS"})
    assert row.guess == Written("Potato_slice", {"shape": "SLICES"})
    assert (row.calls, row.step) == (2, 3)
    assert [(mark.name, mark.right) for mark in row.marks] == [("Potato", True), ("shape", False)]
    assert seat.score == "5 of 6 points"
    seat.send(ANSWER)
    assert (seat.rows[-1].came, seat.rows[-1].tool, seat.score) == (None, True, "6 of 7 points")


def test_a_skipped_reply_counts_for_nothing_and_the_rest_can_be_skipped_too() -> None:
    seat = seated().send(SKIP)
    assert (seat.rows[0].guess, seat.rows[0].of, seat.score) == (None, 0, "")
    assert seat.rows[0].came == Written("Potato_rinse", {"sink": "Sink#1"})
    seat.send({"type": "skip_guess", "rest": True})
    assert (len(seat.rows), seat.turn, seat.drive.session.text) == (1, None, SCRIPT.items[2][0][0])


def test_panels_are_told_of_each_guess_once_and_in_the_end_of_all() -> None:
    seat = seated().send(RINSE).send(SLICE)
    sent = [notice.rows.extensions for notice in seat.heard if isinstance(notice, Whole | Delta)]
    told = [row for rows in sent for row in rows if isinstance(row, TeachingRow)]
    assert [guess.turn for guess in told[-1].guesses] == [1, 2]
    assert all(before != after for before, after in pairwise(told))
    last = seat.send(ANSWER).heard[-1]
    assert isinstance(last, Whole)
    assert [guess.turn for guess in teaching_row(last.rows).guesses] == [1, 2, 3]


def test_other_branches_come_into_view_when_all_is_guessed() -> None:
    session = asked().run()
    session.edit(session.calls[0], sink="Sink#1").run()
    prompt = session.journal.path(session.head)[1].id
    seat = seated(session.fork(prompt))
    assert len(seat.drive.whole().branches) == 1
    last = seat.send(SKIP).send(SKIP).send(SKIP).heard[-1]
    assert isinstance(last, Whole)
    assert len(seat.drive.whole().branches) == len(last.rows.branches) == 2


def test_a_decision_is_asked_for_between_the_guesses_and_an_edit_asks_for_no_guess_again() -> None:
    seat = seated(approve="ask").send(RINSE)
    assert seat.turn is None
    assert "nothing is to be guessed now" in seat.send(RINSE).refusal()
    call = seat.drive.session.pending[0].id
    digest = next(row.approval_digest for row in seat.drive.whole().calls if row.call == call)
    edit = {"type": "edit", "call": call, "arguments": {"sink": "Sink#1"}}
    assert seat.send({**edit, "approval_digest": digest}).at == 2
    seat.send({"type": "replay", "call": call}).send({"type": "run"})
    assert seat.at == 2, "what was guessed is not asked again"
    assert len(seat.rows) == 1


def test_in_steps_a_guess_is_the_step() -> None:
    seat = seated(stepping=True)
    for _ in range(2):
        if seat.turn is None:
            seat.send({"type": "step"})
    assert seat.turn is not None
    seat.send(RINSE)
    assert (len(seat.rows), seat.drive.whole().session[0].phase) == (1, "ready")


# -- what is no guess ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ({"tool": "Potato_bake"}, "there is no tool 'Potato_bake'. Did you mean Potato_peel?"),
        ({"tool": "Potato_slice", "arguments": {"shap": "STICKS"}}, "Did you mean shape"),
        ({"tool": "Potato_slice", "arguments": {"shape": "CUBES"}}, "STICKS"),
        ({"tool": "Potato_peel", "arguments": {"Potato": "Potato#9"}}, "no object 'Potato#9'"),
    ],
)
def test_a_guess_that_could_not_be_called_costs_nothing(guess: dict[str, Any], said: str) -> None:
    seat = seated().send({"type": "guess", **guess})
    assert said in seat.refusal()
    assert seat.turn is not None
    assert seat.rows == []
    seat.send(RINSE)
    assert seat.score == "3 of 3 points"


def test_a_question_beside_the_session_is_not_guessed() -> None:
    fresh = Session(BOX, Scripted([("save", {"result": "yes"})]), inputs={"potato": Potato()})
    guesses.begin(fresh)
    assert fresh.query("Potato#1", "Is it raw?") == "yes"


# -- without a panel ----------------------------------------------------------------------------


@pytest.fixture
def kernel() -> Cells:
    variables = {"Potato": Potato, "potato": Potato(), "sink": Sink(), "m": SCRIPT}
    register_teaching()
    cells = Cells()
    line = "-m m -t Potato -i potato sink --scheme flat --approve all --predict"
    session = cells.session(parse_options(line), variables)
    session = session.ask("Sticks.")
    guesses.begin(session)
    cells.keep(session.run())
    return cells


def test_by_line_a_learner_may_guess(kernel: Cells, capsys: pytest.CaptureFixture[str]) -> None:
    carry_out(["guess"], kernel, {})
    shown = capsys.readouterr().out
    assert "Your turn to guess, turn 1: Sticks." in shown
    assert "Potato_slice(Potato, shape)" in shown
    carry_out(["guess", "Potato_rinse", "sink=Sink#1"], kernel, {})
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == "turn 1: 3 of 3 points"
    assert "Score: 3 of 3 points" in shown
    carry_out(["guess", "skip"], kernel, {})
    assert capsys.readouterr().out.splitlines()[:2] == ["turn 2: skipped", "  model  Potato_peel()"]
    carry_out(["guess", "none"], kernel, {})
    assert "Score: 4 of 4 points" in capsys.readouterr().out
    with pytest.raises(ToolcallError, match="nothing is to be guessed now"):
        carry_out(["guess", "none"], kernel, {})


def test_next_does_not_pass_a_guess(kernel: Cells, capsys: pytest.CaptureFixture[str]) -> None:
    carry_out(["next"], kernel, {})
    assert kernel.current().calls == ()
    carry_out(["guess", "skip", "rest"], kernel, {})
    assert len(kernel.current().calls) == 3
    kernel.keep(asked())
    with pytest.raises(ToolcallError, match="--predict asks for a guess before each reply"):
        carry_out(["guess", "none"], kernel, {})


def test_a_typed_guess_is_a_tool_by_name_or_number(capsys: pytest.CaptureFixture[str]) -> None:
    seat = seated()
    session = seat.drive.session
    TeachingPanel().ask_by_input(session, typed("Potato_bake"))
    assert "there is no tool 'Potato_bake'" in capsys.readouterr().out
    number = BOX.names.index("Potato_rinse") + 1
    TeachingPanel().ask_by_input(session, typed(f"{number} sink=Sink#1"))
    seat.drive.run_to_pause()
    assert (seat.rows[0].right, seat.rows[0].of) == (3, 3)
    TeachingPanel().ask_by_input(session, typed(""))
    seat.drive.run_to_pause()
    assert seat.rows[1].guess is None


def run(tmp_path: Path, *sources: str) -> Any:
    return execute(write_notebook(tmp_path / "a.ipynb", *sources))


LOAD = """%load_ext jupyter_toolcall
from jupyter_toolcall.kitchen import *
potato, sink, oven, plate = Potato(), Sink(), Oven(), Plate()"""
KITCHEN = "-m scripted:kitchen -t Potato Oven Fries -i potato sink oven plate -o fries:Plate"


@pytest.mark.parametrize("ask", ["--predict", ""])
def test_where_nobody_is_there_it_is_off_and_said_in_one_line(tmp_path: Path, ask: str) -> None:
    config = "" if ask else "%config ToolChat.predict = True"
    cell = f"%%toolchat {KITCHEN} --approve all {ask}\nFries, please."
    done = run(tmp_path, LOAD, config, cell, "fries.food", "%toolchat status")
    outputs = done.notebook.cells[2].outputs
    printed = [output.text for output in outputs if output.output_type == "stream"]
    assert printed == ["toolchat: predict is off: nobody is here to guess\n"]
    assert "saved Plate#2 as fries" in done.sessions[0].text


def test_a_cell_that_does_not_wait_leaves_the_guesses_to_lines(tmp_path: Path) -> None:
    cell = f"%%toolchat {KITCHEN} --approve all --predict --no-wait\nFries, please."
    done = run(tmp_path, LOAD, cell, "%toolchat guess none", "%toolchat guess skip rest")
    assert "you    no call" in done.notebook.cells[2].outputs[0].text
    first, last = done.sessions[0], done.sessions[-1]
    assert first.text.startswith("Your turn to guess")
    assert "saved Plate#2 as fries" in last.text


def test_a_saved_notebook_has_the_score_in_one_line_and_no_guess() -> None:
    seat = seated().send(RINSE).send(SLICE).send(ANSWER)
    kept = json.dumps(mime_bundle(seat.drive.session.cursor, seat.drive.whole(), None)[MIME])
    assert kept.count("of %1 points") == 1
    assert '"guess' not in kept


def test_a_cell_with_predict_saves_what_a_page_counts_as_right(tmp_path: Path) -> None:
    cells = [f"%%toolchat {KITCHEN} --approve all {option}\nFries." for option in ("--predict", "")]
    executed = run(tmp_path, LOAD, *cells)
    guessed, other = (session.data["rows"].get("extensions") for session in executed.sessions)
    assert other is None
    first, second, *_ = guessed[0]["answers"]
    assert first["turn"]["tools"] == ["selectTools", "save"]
    assert second["calls"][0]["call"]["tool"] == "Potato_rinse"
    names = [(answer["name"], answer.get("values")) for answer in second["calls"][0]["arguments"]]
    assert names == [("Potato", ['"Potato#1"', ""]), ("sink", ['"Sink#1"'])]
