"""A policy lets each call of a reply run once: not again on a branch, in a copy, or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import NotYourTurn
from jupyter_toolcall.core.events import Replied
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import ask_by_input
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.storage import signatures as seal
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder
from jupyter_toolcall.view.view_rows import all_rows
from tests.storage.test_copied_notebooks import saved

SENT: list[str] = []


class Meanwhile:
    """What happens in the tool that runs next, after its effect; it is no part of the tool."""

    def __init__(self) -> None:
        self.acts: list[Callable[[], object]] = []

    def happens(self) -> None:
        while self.acts:
            self.acts.pop()()


MEANWHILE = Meanwhile()


def send(to: str) -> str:
    """Send a word."""
    SENT.append(to)
    MEANWHILE.happens()
    return f"sent to {to}"


class Door:
    """What cannot be pickled."""

    def __init__(self) -> None:
        self.opens: Callable[[], int] = lambda: 1


def build(name: str) -> Door:
    """Build a door."""
    SENT.append(name)
    return Door()


TWO = [("send", {"to": "Ann"}), ("send", {"to": "Ben"})]
OPENED: list[Cells] = []


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    seal._key.cache_clear()
    yield
    for cells in OPENED:
        cells.close()
    for each in (OPENED, SENT, MEANWHILE.acts):
        each.clear()
    seal._key.cache_clear()


def kernel(notebook: Path) -> Cells:
    """Return a new kernel of a notebook, which reads the key as it is now."""
    seal._key.cache_clear()
    OPENED.append(Cells(str(notebook)))
    return OPENED[-1]


def cell(cells: Cells, approve: str = "all", script: Any = (TWO, "Done.")) -> Session:
    """Run the notebook's cell."""
    chosen = parse_options(f"-n post -m m -t send build --scheme flat --approve {approve}")
    variables = {"send": send, "build": build, "m": Scripted([*script])}
    return cells.keep(add_prompt(cells.session(chosen, variables), "Go.", chosen.fresh).run())


def path_of(notebook: Path) -> Path:
    return journal_file(str(notebook), "post")


def cut_behind(notebook: Path, kind: str, call: str) -> None:
    """Leave of a journal what it had when an event of a call had just been written."""
    found = path_of(notebook).read_text().splitlines(keepends=True)
    last = next(n for n, line in enumerate(found) if f'"{kind}"' in line and call in line)
    path_of(notebook).write_text("".join(found[: last + 1]))


# -- branches -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["fork", "checkout", "magic"])
def test_a_place_in_the_middle_of_a_reply_goes_on_with_the_recorded_results(way: str) -> None:
    session = Session(Toolbox(send), Scripted([TWO, "Done."]), scheme="flat", approve="all")
    session.tell("Go.")
    reply = next(e.id for e in session.journal if isinstance(e.event, Replied))
    if way == "fork":
        session = session.fork("call_1_1").run()
    elif way == "checkout":
        session.checkout(reply).run()
    else:
        cells = Cells()
        cells.keep(session)
        for line in (["fork", "1"], ["next"]):
            found = carry_out(line, cells, {})
            assert isinstance(found, Session)
            session = cells.keep(found)
    assert [call.result for call in session.calls] == ["sent to Ann", "sent to Ben"]
    assert SENT == ["Ann", "Ben"]


def test_what_a_policy_allowed_before_is_for_the_policy_of_today(tmp_path: Path) -> None:
    script = [("build", {"name": "door"}), "Done."]
    cell(kernel(tmp_path / "a.ipynb"), script=script)
    OPENED[-1].close()
    session = cell(kernel(tmp_path / "a.ipynb"), "ask", script)
    session.checkout(next(e.id for e in session.journal if isinstance(e.event, Replied))).run()
    assert [call.tool for call in session.pending] == ["build"]
    assert SENT == ["door"]


# -- other kernels and copies -----------------------------------------------------------------


def test_a_second_kernel_runs_no_call_that_the_first_runs_meanwhile_or_ran(tmp_path: Path) -> None:
    notebook, second = tmp_path / "a.ipynb", kernel(tmp_path / "a.ipynb")
    MEANWHILE.acts.append(lambda: cell(second))
    first = kernel(notebook)
    assert cell(first).text == "Done."
    assert second.current("post").pending
    assert SENT == ["Ann", "Ben"]
    first.close()
    second.reopen_journals()
    session = second.current("post").run()
    while session.pending:
        assert session.pending[0].status == "unknown", "it was read while the call ran"
        session.decide(session.pending[0], "answer", result="sent").run()
    assert SENT == ["Ann", "Ben"]


@pytest.mark.parametrize("approve", ["ask", "all"])
def test_a_copy_that_is_made_while_a_call_runs_asks_about_it(tmp_path: Path, approve: str) -> None:
    notebook, copy = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    cells = kernel(notebook)
    session = cell(cells, "ask").decide("call_1_1", "approve")
    session.decide("call_1_2", "approve")
    MEANWHILE.acts.append(lambda: saved(notebook, session))
    session.run()
    copy.write_bytes(notebook.read_bytes())
    other = cell(kernel(copy), approve)
    assert [call.id for call in other.pending] == ["call_1_1", "call_1_2"]
    assert [row.status for row in all_rows(other.cursor, "").calls] == ["proposed"] * 2
    assert SENT == ["Ann", "Ben"]


def test_a_call_that_ran_in_a_copy_is_asked_about_in_its_notebook(tmp_path: Path) -> None:
    notebook, copy = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    cells = kernel(notebook)
    saved(notebook, cell(cells, "ask"))
    cells.close()
    copy.write_bytes(notebook.read_bytes())
    other = cell(kernel(copy)).decide("call_1_1", "approve").run()
    assert SENT == ["Ann"]
    session = cell(kernel(notebook), "all")
    assert [call.id for call in session.pending] == ["call_1_1", "call_1_2"]
    assert SENT == ["Ann"]
    assert other.pending[0].id == "call_1_2"


# -- keys ---------------------------------------------------------------------------------------


def test_an_effect_that_another_key_recorded_is_not_repeated_once_the_first_is_back(
    tmp_path: Path,
) -> None:
    notebook, key = tmp_path / "a.ipynb", journals_folder() / "key"
    cell(kernel(notebook), "ask")
    OPENED[-1].close()
    first = key.read_bytes()
    key.unlink()
    session = cell(kernel(notebook)).decide("call_1_1", "approve").run()
    session.decide("call_1_2", "approve").run()
    OPENED[-1].close()
    assert SENT == ["Ann", "Ben"]
    key.write_bytes(first)
    assert [call.id for call in cell(kernel(notebook)).pending][:1] == ["call_1_1"]
    assert SENT == ["Ann", "Ben"]


def test_a_decision_on_one_call_runs_no_other_one_that_another_key_approved(tmp_path: Path) -> None:
    path, box = tmp_path / "s.jsonl", Toolbox(send)
    session = Session(box, Scripted([TWO, "Done."]), scheme="flat").tell("Go.")
    for call in session.pending:
        session.decide(call, "approve")
    session.run().save(path)
    (journals_folder() / "key").write_bytes(b"k" * 32)
    seal._key.cache_clear()
    loaded = Session.load(path, box, Scripted([TWO, "Done."]))
    loaded.decide_anew("call_1_2", "approve").run()
    assert SENT == ["Ann", "Ben", "Ben"]


# -- keeping a recorded result ------------------------------------------------------------------


def unverified(notebook: Path) -> Session:
    """Return a session that another key recorded: its second call has not run."""
    cells = kernel(notebook)
    cell(cells)
    cells.close()
    cut_behind(notebook, "finished", "call_1_1")
    (journals_folder() / "key").unlink()
    return cell(kernel(notebook))


def test_to_keep_all_that_is_recorded_approves_no_call_without_a_result(tmp_path: Path) -> None:
    session = unverified(tmp_path / "a.ipynb").keep_result("call_1_1", rest=True).run()
    assert [call.id for call in session.pending] == ["call_1_2"]
    assert SENT == ["Ann", "Ben"]


@pytest.mark.parametrize("words", [["keep"], ["keep", "1"], ["keep", "call_1_1", "--rest"]])
def test_a_line_keeps_the_recorded_result(tmp_path: Path, words: list[str]) -> None:
    unverified(tmp_path / "a.ipynb")
    session = carry_out(words, OPENED[-1], {})
    assert isinstance(session, Session)
    assert (session.calls[0].result, session.pending[0].id) == ("sent to Ann", "call_1_2")
    with pytest.raises(NotYourTurn, match="no recorded result to keep"):
        carry_out(["keep", "2"], OPENED[-1], {})
    assert SENT == ["Ann", "Ben"]


def test_a_result_is_kept_on_the_input_line_where_there_is_one(tmp_path: Path) -> None:
    session, asked = unverified(tmp_path / "a.ipynb"), []

    def typed(prompt: str) -> str:
        asked.append(prompt)
        return "k"

    ask_by_input(session, session.pending[0], typed)
    ask_by_input(session.run(), session.pending[0], typed)
    assert ["[k]eep the recorded result" in prompt for prompt in asked] == [True, False]
    assert "recorded result: sent to Ann" in asked[0]
    assert [call.status for call in session.calls] == ["succeeded", "proposed"]
    assert SENT == ["Ann", "Ben"]


def test_a_late_approval_of_a_call_that_a_replay_repeats_is_refused() -> None:
    sent: list[int] = []

    def send(n: int) -> str:
        """Send."""
        sent.append(n)
        return "sent"

    model = Scripted([("send", {"n": 1}), "Done."])
    session = Session(Toolbox(send), model, scheme="flat").tell("Send.")
    session.decide(session.pending[0]).run()
    paused = session.replay(session.calls[0])
    assert [call.status for call in paused.calls] == ["proposed"]
    assert paused.pending == ()
    with pytest.raises(NotYourTurn, match="decided on already"):
        paused.decide(paused.calls[0])
    paused.run()
    assert sent == [1]
