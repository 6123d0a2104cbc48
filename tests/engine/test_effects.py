"""No recorded effect comes twice unasked, whatever keeps a kernel from its record.

That nothing runs without a decision of its own is the law of `tests/faults/effects.py`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import NotYourTurn, Unfinished, UnreadableJournal
from jupyter_toolcall.core.events import Replied
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import ask_by_input, demand_no_person
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.rules.approval_policy import Answer, Verdict
from jupyter_toolcall.storage import signatures as seal
from jupyter_toolcall.storage.file_system import DISK, Files
from jupyter_toolcall.storage.journal_file import journal_file, journal_names, journals_folder
from jupyter_toolcall.tools.tool import Tool
from jupyter_toolcall.view.view_rows import all_rows
from tests.storage.test_copied_notebooks import saved

SENT: list[str] = []
OPENED: list[Cells] = []
"""The kernels of a test: they hold their journals until it ends, or until they are closed."""


class Letter:
    """A letter."""

    def __init__(self, to: str = "") -> None:
        self.to = to


def write(to: str) -> Letter:
    """Write a letter."""
    return Letter(to)


def post(letter: Letter) -> str:
    """Post a letter."""
    SENT.append(letter.to)
    return f"posted to {letter.to}"


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


# -- a record that is out of reach ---------------------------------------------------------------

TWO = [("send", {"to": "Ann"}), ("send", {"to": "Ben"})]
SCRIPT, REPLY = [*TWO, "Done."], [TWO, "Done."]
"""The calls one after the other, and both in one reply."""


class ReadOnly(Files):
    """Files of a disk that cannot be written."""

    def lock(self, path: Path) -> Any:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))


class Unreadable(ReadOnly):
    """Files of a disk that cannot be read either."""

    def read(self, path: Path) -> bytes | None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def cells_of(notebook: Path, files: Any = DISK) -> Cells:
    """Return a new kernel of a notebook, which reads the key as it is now."""
    seal._key.cache_clear()
    OPENED.append(Cells(str(notebook), files=files))
    return OPENED[-1]


def run(
    cells: Cells,
    *words: str,
    approve: str = "all",
    name: str = "post",
    script: Sequence[Any] = (*SCRIPT, *SCRIPT),
) -> Session:
    chosen = parse_options(
        f"-m m -t send writes_letter build --scheme flat --approve {approve}"
        f" {f'-n {name}' if name else ''} {' '.join(words)}"
    )
    tools = {"send": send, "writes_letter": writes_letter, "build": build}
    session = cells.session(chosen, {**tools, "m": Scripted([*script])})
    return cells.keep(add_prompt(session, "Send it.", chosen.fresh).run())


def writes_letter(to: str) -> Letter:
    """Write a letter, and count it."""
    SENT.append(to)
    return Letter(to)


def recorded(notebook: Path) -> None:
    """Run the notebook's cell once, in a kernel that ends."""
    cells = cells_of(notebook)
    run(cells)
    cells.close()
    assert SENT == ["Ann", "Ben"]


def delete_key() -> None:
    (journals_folder() / "key").unlink()


def replace_key() -> None:
    (journals_folder() / "key").write_bytes(b"k" * 32)


def empty_key() -> None:
    (journals_folder() / "key").write_bytes(b"")


LOST = {"deleted": delete_key, "replaced": replace_key, "empty": empty_key}


def out_of_reach(notebook: Path, how: str) -> Cells:
    """Return a new kernel of a notebook whose record is out of its reach."""
    if how == "read-only":
        return cells_of(notebook, ReadOnly())
    if how == "another kernel":
        run(cells_of(notebook))
        return cells_of(notebook)
    LOST[how]()
    return cells_of(notebook)


HOW = ["read-only", "another kernel", *LOST]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("approve", ["ask", "all"])
def test_a_recorded_effect_is_not_repeated_because_its_record_is_out_of_reach(
    tmp_path: Path, how: str, approve: str
) -> None:
    notebook = tmp_path / "a.ipynb"
    recorded(notebook)
    cells = out_of_reach(notebook, how)
    session = run(cells, approve=approve)
    assert [call.id for call in session.pending] == ["call_1"]
    assert SENT == ["Ann", "Ben"]
    notes = cells.notes()
    assert len(notes) == 1
    assert "\n" not in notes[0]
    row = PanelController(session, lambda notice: None).whole().calls[0]
    assert (row.may_have_run, row.recorded) == (True, "sent to Ann")


@pytest.mark.parametrize("how", LOST)
def test_a_policy_makes_no_object_again_whose_stored_value_cannot_be_verified(
    tmp_path: Path, how: str
) -> None:
    script = [("writes_letter", {"to": "Ann"}), "Done."]
    first, second = cells_of(tmp_path / "a.ipynb"), cells_of(tmp_path / "a.ipynb")
    run(first, name="", script=script)
    run(second, name="", script=script)
    first.close()
    LOST[how]()
    seal._key.cache_clear()
    # The second kernel writes the journal from now on, and has verified it with the lost key.
    session = run(second, name="", script=script)
    assert [call.id for call in session.pending] == ["call_1"]
    assert SENT == ["Ann"]
    second.close()


@pytest.mark.parametrize("how", HOW)
def test_under_a_runner_without_a_person_the_cell_fails_with_the_cause(
    tmp_path: Path, how: str
) -> None:
    notebook = tmp_path / "a.ipynb"
    recorded(notebook)
    session = run(out_of_reach(notebook, how))
    with pytest.raises(Unfinished) as error:
        demand_no_person(PanelController(session, lambda notice: None))
    text = str(error.value)
    assert "may have run already" in text
    assert "--fresh" in text
    assert "\n" not in text
    assert "--approve all" not in text, "it has no effect here"


@pytest.mark.parametrize("how", HOW)
def test_a_person_keeps_what_is_recorded_and_nothing_runs(tmp_path: Path, how: str) -> None:
    notebook = tmp_path / "a.ipynb"
    recorded(notebook)
    session = run(out_of_reach(notebook, how))
    session.keep_result("call_1").run()
    assert [call.id for call in session.pending] == ["call_2"]
    assert session.keep_result("call_2").run().text == "Done."
    assert [call.result for call in session.calls] == ["sent to Ann", "sent to Ben"]
    assert SENT == ["Ann", "Ben"]


def test_what_was_kept_is_not_asked_about_in_the_next_kernel(tmp_path: Path) -> None:
    notebook = tmp_path / "a.ipynb"
    recorded(notebook)
    cells = out_of_reach(notebook, "deleted")
    run(cells).keep_result("call_1", rest=True).run()
    cells.close()
    assert run(cells_of(notebook)).text == "Done."
    assert SENT == ["Ann", "Ben"]


def test_what_a_person_runs_again_runs_once_more_and_is_not_asked_about_later(
    tmp_path: Path,
) -> None:
    notebook = tmp_path / "a.ipynb"
    recorded(notebook)
    cells = out_of_reach(notebook, "deleted")
    session = run(cells).decide("call_1", "approve").run()
    assert SENT == ["Ann", "Ben", "Ann"]
    session.decide("call_2", "approve").run()
    cells.close()
    assert run(cells_of(notebook)).text == "Done."
    assert SENT == ["Ann", "Ben", "Ann", "Ben"]


@pytest.mark.parametrize("how", HOW)
def test_a_new_session_asks_the_model_again_by_its_own_policy(tmp_path: Path, how: str) -> None:
    notebook = tmp_path / "a.ipynb"
    recorded(notebook)
    assert run(out_of_reach(notebook, how)).begin_new().run().text == "Done."
    assert SENT == ["Ann", "Ben", "Ann", "Ben"]


def test_an_unreadable_journal_begins_no_session_before_that_is_asked_for(tmp_path: Path) -> None:
    notebook = tmp_path / "a.ipynb"
    recorded(notebook)
    cells = cells_of(notebook, Unreadable())
    with pytest.raises(UnreadableJournal, match="--fresh begins a new session"):
        run(cells)
    assert SENT == ["Ann", "Ben"]
    assert run(cells, "--fresh").text == "Done."


def test_with_no_record_and_no_writable_disk_the_cell_runs_and_says_so(tmp_path: Path) -> None:
    cells = cells_of(tmp_path / "new.ipynb", ReadOnly())
    assert run(cells).text == "Done."
    assert [note[:33] for note in cells.notes()] == ["This session is not kept on disk:"]


# -- an approval that a replay repeats ------------------------------------------------------------


def test_an_approval_that_is_verified_again_lets_nothing_run_again(tmp_path: Path) -> None:
    notebook, key = tmp_path / "a.ipynb", journals_folder() / "key"
    script = [TWO, ("send", {"to": "Cid"}), "Done."]
    cells = cells_of(notebook)
    run(cells, script=script)
    cells.close()
    first = key.read_bytes()
    empty_key()
    # A person runs all of it again. The other order makes it another branch, without a seal.
    cells = cells_of(notebook)
    session = run(cells, script=script).decide("call_1_2", "approve")
    session = session.decide("call_1_1", "approve").run()
    assert session.decide("call_2", "approve").run().text == "Done."
    cells.close()
    assert sorted(SENT) == ["Ann", "Ann", "Ben", "Ben", "Cid", "Cid"]
    key.write_bytes(first)
    assert run(cells_of(notebook), script=script).text == "Done."
    assert len(SENT) == 6


def test_a_replay_runs_no_call_of_an_unverified_branch_that_ran_on_another_one(
    tmp_path: Path,
) -> None:
    notebook, key, script = tmp_path / "a.ipynb", journals_folder() / "key", [TWO, "Done."]
    key.parent.mkdir(parents=True)
    empty_key()
    cells = cells_of(notebook)
    unverified = run(cells, script=script).head
    cells.close()
    replace_key()
    session = run(cells_of(notebook), script=script).decide("call_1_2", "approve")
    session.decide("call_1_1", "approve").run()
    assert sorted(SENT) == ["Ann", "Ann", "Ben", "Ben"]
    assert session.checkout(unverified).replay().run().text == "Done."
    assert len(SENT) == 4


class Today:
    """The policy of today: it changes between two kernels."""

    def __init__(self) -> None:
        self.answer: Verdict = "ask"

    def __call__(self, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
        return self.answer, ""


def test_an_approval_that_was_used_lets_nothing_run_on_another_branch_under_a_policy() -> None:
    policy, model = Today(), Scripted([TWO, "Done.", "Done."])
    session = Session(Toolbox(send), model, scheme="flat", approve=policy).tell("Send it.")
    session = session.decide("call_1_1", "approve").run().decide("call_1_2", "approve")
    fork = session.fork()
    session.run()
    assert SENT == ["Ann", "Ben"]
    policy.answer = "approve"
    assert fork.edit("call_1_1", to="Cid").run().text == "Done."
    assert SENT == ["Ann", "Ben", "Cid"]


def test_a_policy_carries_no_approval_of_a_person_over_to_other_arguments() -> None:
    turn = [("write", {"to": "Ann"}), ("post", {"letter": "Letter#1"})]
    policy, box = Today(), Toolbox(write, post, types=[Letter])
    session = Session(box, Scripted([turn, "Done."]), scheme="flat", approve=policy)
    session = session.tell("Write.").decide("call_1_1", "approve").run()
    session.decide("call_1_2", "approve")
    branch = session.edit("call_1_1", to="Mallory")
    for _ in range(8):
        # Wherever the kernel ends, the next one asks.
        before, policy.answer = [*SENT], "ask"
        branch.fork().run()
        assert before == SENT
        policy.answer = "approve"
        branch.step()
    assert (branch.text, SENT) == ("Done.", ["Mallory"])


# -- copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("approve", ["ask", "all"])
def test_a_copy_asks_about_a_call_that_was_approved_and_had_not_started(
    tmp_path: Path, approve: str
) -> None:
    notebook, copy = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    cells = cells_of(notebook)
    session = run(cells, approve="ask").decide("call_1", "approve")
    saved(notebook, session)
    copy.write_bytes(notebook.read_bytes())
    session.run()
    assert SENT == ["Ann"]
    other = run(cells_of(copy), approve=approve)
    assert [call.id for call in other.pending] == ["call_1"]
    assert SENT == ["Ann"]


# -- names of sessions and files ------------------------------------------------------------------


@given(st.lists(st.text("aAbB09-_éß%cels", max_size=8), unique=True, max_size=8))
def test_two_sessions_never_share_a_file_even_where_case_is_not_told_apart(
    names: list[str],
) -> None:
    files = [journal_file("a.ipynb", name).name for name in names]
    assert len({name.lower() for name in files}) == len(names)
    assert all("/" not in name for name in files)


def test_a_session_named_cells_is_not_the_unnamed_one(tmp_path: Path) -> None:
    cells = cells_of(tmp_path / "a.ipynb")
    for name in ("cells", "con", "A", "a"):
        run(cells, name=name)
    assert len(cells.notes()) == 0
    assert sorted(journal_names(str(tmp_path / "a.ipynb"))) == ["A", "a", "cells", "con"]


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
    run(cells_of(tmp_path / "a.ipynb"), script=script)
    OPENED[-1].close()
    session = run(cells_of(tmp_path / "a.ipynb"), approve="ask", script=script)
    session.checkout(next(e.id for e in session.journal if isinstance(e.event, Replied))).run()
    assert [call.tool for call in session.pending] == ["build"]
    assert SENT == ["door"]


# -- other kernels and copies -----------------------------------------------------------------


def test_a_second_kernel_runs_no_call_that_the_first_runs_meanwhile_or_ran(tmp_path: Path) -> None:
    notebook, second = tmp_path / "a.ipynb", cells_of(tmp_path / "a.ipynb")
    MEANWHILE.acts.append(lambda: run(second, script=REPLY))
    first = cells_of(notebook)
    assert run(first, script=REPLY).text == "Done."
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
    cells = cells_of(notebook)
    session = run(cells, approve="ask", script=REPLY).decide("call_1_1", "approve")
    session.decide("call_1_2", "approve")
    MEANWHILE.acts.append(lambda: saved(notebook, session))
    session.run()
    copy.write_bytes(notebook.read_bytes())
    other = run(cells_of(copy), approve=approve, script=REPLY)
    assert [call.id for call in other.pending] == ["call_1_1", "call_1_2"]
    rows = [row for row in all_rows(other.cursor, "").calls if not row.branch]
    assert [row.status for row in rows] == ["proposed"] * 2
    assert SENT == ["Ann", "Ben"]


def test_a_call_that_ran_in_a_copy_is_asked_about_in_its_notebook(tmp_path: Path) -> None:
    notebook, copy = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    cells = cells_of(notebook)
    saved(notebook, run(cells, approve="ask", script=REPLY))
    cells.close()
    copy.write_bytes(notebook.read_bytes())
    other = run(cells_of(copy), script=REPLY).decide("call_1_1", "approve").run()
    assert SENT == ["Ann"]
    session = run(cells_of(notebook), approve="all", script=REPLY)
    assert [call.id for call in session.pending] == ["call_1_1", "call_1_2"]
    assert SENT == ["Ann"]
    assert other.pending[0].id == "call_1_2"


# -- keys ---------------------------------------------------------------------------------------


def test_an_effect_that_another_key_recorded_is_not_repeated_once_the_first_is_back(
    tmp_path: Path,
) -> None:
    notebook, key = tmp_path / "a.ipynb", journals_folder() / "key"
    run(cells_of(notebook), approve="ask", script=REPLY)
    OPENED[-1].close()
    first = key.read_bytes()
    key.unlink()
    session = run(cells_of(notebook), script=REPLY).decide("call_1_1", "approve").run()
    session.decide("call_1_2", "approve").run()
    OPENED[-1].close()
    assert SENT == ["Ann", "Ben"]
    key.write_bytes(first)
    assert [call.id for call in run(cells_of(notebook), script=REPLY).pending][:1] == ["call_1_1"]
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
    cells = cells_of(notebook)
    run(cells, script=REPLY)
    cells.close()
    cut_behind(notebook, "finished", "call_1_1")
    (journals_folder() / "key").unlink()
    return run(cells_of(notebook), script=REPLY)


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
