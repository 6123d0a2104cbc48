"""No recorded effect comes twice unasked, whatever keeps a kernel from its record.

That nothing runs without a decision of its own is the law of `tests/faults/effects.py`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import Unfinished, UnreadableJournal
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import demand_no_person
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.rules.approval_policy import Answer, Verdict
from jupyter_toolcall.storage import signatures as seal
from jupyter_toolcall.storage.file_system import DISK, Files
from jupyter_toolcall.storage.journal_file import (
    journal_file,
    journal_names,
    journals_folder,
)
from jupyter_toolcall.tools.tool import Tool
from tests.storage.test_copied_notebooks import saved

SENT: list[str] = []


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


def send(to: str) -> str:
    """Send a word."""
    SENT.append(to)
    return f"sent to {to}"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    SENT.clear()
    yield
    for cells in OTHERS:
        cells.close()
    OTHERS.clear()
    seal._key.cache_clear()


TURN = [("write", {"to": "Ann"}), ("post", {"letter": "Letter#1"}), ("send", {"to": "Ben"})]


# -- a record that is out of reach ---------------------------------------------------------------

SCRIPT = [("send", {"to": "Ann"}), ("send", {"to": "Ben"}), "Done."]


class ReadOnly(Files):
    """Files of a disk that cannot be written."""

    def lock(self, path: Path) -> Any:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))


class Unreadable(ReadOnly):
    """Files of a disk that cannot be read either."""

    def read(self, path: Path) -> bytes | None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def cells_of(notebook: Path, files: Any = DISK) -> Cells:
    seal._key.cache_clear()
    return Cells(str(notebook), files=files)


def run(
    cells: Cells,
    *words: str,
    approve: str = "all",
    name: str = "post",
    script: Sequence[Any] = (*SCRIPT, *SCRIPT),
) -> Session:
    chosen = parse_options(
        f"-m m -t send writes_letter --scheme flat --approve {approve}"
        f" {f'-n {name}' if name else ''} {' '.join(words)}"
    )
    tools = {"send": send, "writes_letter": writes_letter}
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
        OTHERS.append(cells_of(notebook))
        run(OTHERS[-1])
        return cells_of(notebook)
    LOST[how]()
    return cells_of(notebook)


OTHERS: list[Cells] = []
"""The kernels that hold a journal while a test runs."""
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

TWO = [("send", {"to": "Ann"}), ("send", {"to": "Ben"})]


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
    policy, box = Today(), Toolbox(write, post, types=[Letter])
    session = Session(box, Scripted([TURN[:2], "Done."]), scheme="flat", approve=policy)
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
