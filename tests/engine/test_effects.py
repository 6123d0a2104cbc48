"""No recorded effect comes twice unasked, whatever keeps a kernel from its record.

That nothing runs without a decision of its own is the law of `tests/faults/effects.py`.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import NotYourTurn, Unfinished
from jupyter_toolcall.core.events import Replied
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import ask_by_input, demand_no_person
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.rules.approval_policy import Answer, Verdict
from jupyter_toolcall.storage import signatures as seal
from jupyter_toolcall.storage.file_system import DISK
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder
from jupyter_toolcall.tools.tool import Tool
from jupyter_toolcall.view.view_rows import all_rows
from tests.example_tools import run_calls
from tests.faults.disks import Faulty
from tests.storage.test_copied_notebooks import saved

SENT: list[str] = []
OPENED: list[Cells] = []
"""The kernels of a test: they hold their journals until it ends, or until they are closed."""


class Letter:
    def __init__(self, to: str = "") -> None:
        self.to = to


def write(to: str) -> Letter:
    return Letter(to)


def post(letter: Letter) -> str:
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
    SENT.append(to)
    MEANWHILE.happens()
    return f"sent to {to}"


class Door:
    """What cannot be pickled."""

    def __init__(self) -> None:
        self.opens: Callable[[], int] = lambda: 1


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


def cells_of(notebook: Path, files: Any = DISK) -> Cells:
    """Return a new kernel of a notebook, which reads the key as it is now."""
    seal._key.cache_clear()
    OPENED.append(Cells(str(notebook), files=files))
    return OPENED[-1]


def run(
    cells: Cells,
    approve: str = "all",
    name: str = "-n post",
    script: Sequence[Any] = (*SCRIPT, *SCRIPT),
) -> Session:
    """Run the cell of a notebook."""
    words = f"-m m -t send writes_letter --scheme flat --approve {approve} {name}"
    tools = {"send": send, "writes_letter": writes_letter}
    session = cells.session(parse_options(words), {**tools, "m": Scripted([*script])})
    return cells.keep(add_prompt(session, "Send it.", False).run())


def run_once(notebook: Path, **options: Any) -> Session:
    """Run the cell of a notebook in a kernel that ends."""
    session = run(cells_of(notebook), **options)
    OPENED[-1].close()
    return session


def writes_letter(to: str) -> Letter:
    """Write a letter, and count it."""
    SENT.append(to)
    return Letter(to)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return tmp_path / "a.ipynb"


@pytest.fixture
def recorded(notebook: Path) -> Path:
    """A notebook whose cell has run once, in a kernel that has ended."""
    run_once(notebook)
    assert SENT == ["Ann", "Ben"]
    return notebook


def ids(session: Session) -> list[str]:
    """Return the calls that wait."""
    return [call.id for call in session.pending]


def copied(notebook: Path) -> Path:
    """Return a copy of a notebook."""
    return Path(shutil.copy(notebook, notebook.with_name("b.ipynb")))


def lose_key(content: bytes | None = None) -> bytes:
    """Delete the key, or replace it; return the key that is lost."""
    key = journals_folder() / "key"
    lost = key.read_bytes() if key.exists() else b""
    if content is None:
        key.unlink()
    else:
        key.parent.mkdir(parents=True, exist_ok=True)
        key.write_bytes(content)
    seal._key.cache_clear()
    return lost


LOST = {"deleted": None, "replaced": b"k" * 32, "empty": b""}


def out_of_reach(notebook: Path, how: str) -> Cells:
    """Return a new kernel of a notebook whose record is out of its reach."""
    if how == "read-only":
        return cells_of(notebook, Faulty(errno.EROFS, "lock"))
    if how == "another kernel":
        run(cells_of(notebook))
        return cells_of(notebook)
    lose_key(LOST[how])
    return cells_of(notebook)


HOW = ["read-only", "another kernel", *LOST]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("approve", ["ask", "all"])
def test_a_recorded_effect_is_not_repeated_because_its_record_is_out_of_reach(
    recorded: Path, how: str, approve: str
) -> None:
    cells = out_of_reach(recorded, how)
    session = run(cells, approve=approve)
    assert ids(session) == ["call_1"]
    assert SENT == ["Ann", "Ben"]
    (note,) = cells.notes()
    assert "\n" not in note
    controller = PanelController(session, lambda notice: None)
    row = controller.whole().calls[0]
    assert (row.may_have_run, row.recorded) == (True, "sent to Ann")
    # Without a person, the cell fails with the cause.
    with pytest.raises(Unfinished, match=r"^(?=.*--fresh).*may have run already.*$") as error:
        demand_no_person(controller)
    assert approve == "ask" or "--approve all" not in str(error.value), "it has no effect here"


@pytest.mark.parametrize("how", LOST)
def test_a_policy_makes_no_object_again_that_is_unverified(notebook: Path, how: str) -> None:
    script = [("writes_letter", {"to": "Ann"}), "Done."]
    first, second = cells_of(notebook), cells_of(notebook)
    for cells in (first, second):
        run(cells, name="", script=script)
    first.close()
    lose_key(LOST[how])
    # The second kernel writes the journal from now on, and has verified it with the lost key.
    assert ids(run(second, name="", script=script)) == ["call_1"]
    assert SENT == ["Ann"]
    second.close()


@pytest.mark.parametrize("how", HOW)
def test_a_person_keeps_what_is_recorded_and_nothing_runs(recorded: Path, how: str) -> None:
    session = run(out_of_reach(recorded, how))
    assert ids(session.keep_result("call_1").run()) == ["call_2"]
    assert session.keep_result("call_2").run().text == "Done."
    assert [call.result for call in session.calls] == ["sent to Ann", "sent to Ben"]
    assert SENT == ["Ann", "Ben"]


@pytest.mark.parametrize(
    ("decide", "runs"),
    [
        (lambda session: session.keep_result("call_1", rest=True), []),
        (
            lambda session: session.decide("call_1", "approve").run().decide("call_2", "approve"),
            ["Ann", "Ben"],
        ),
    ],
    ids=["kept", "run again"],
)
def test_what_a_person_kept_or_ran_again_is_not_asked_about_in_the_next_kernel(
    recorded: Path, decide: Callable[[Session], Session], runs: list[str]
) -> None:
    cells = out_of_reach(recorded, "deleted")
    decide(run(cells)).run()
    cells.close()
    assert run(cells_of(recorded)).text == "Done."
    assert ["Ann", "Ben", *runs] == SENT


@pytest.mark.parametrize("how", HOW)
def test_a_new_session_asks_the_model_again_by_its_own_policy(recorded: Path, how: str) -> None:
    assert run(out_of_reach(recorded, how)).begin_new().run().text == "Done."
    assert SENT == ["Ann", "Ben", "Ann", "Ben"]


def test_with_no_record_and_no_writable_disk_the_cell_runs_and_says_so(notebook: Path) -> None:
    cells = cells_of(notebook, Faulty(errno.EROFS, "lock"))
    assert run(cells).text == "Done."
    assert [note[:33] for note in cells.notes()] == ["This session is not kept on disk:"]


# -- an approval that a replay repeats ------------------------------------------------------------


def test_an_approval_that_is_verified_again_lets_nothing_run_again(notebook: Path) -> None:
    script = [TWO, ("send", {"to": "Cid"}), "Done."]
    run_once(notebook, script=script)
    first = lose_key(b"")
    # A person runs all of it again. The other order makes it another branch, without a seal.
    cells = cells_of(notebook)
    session = run(cells, script=script).decide("call_1_2", "approve")
    session = session.decide("call_1_1", "approve").run()
    assert session.decide("call_2", "approve").run().text == "Done."
    cells.close()
    assert sorted(SENT) == ["Ann", "Ann", "Ben", "Ben", "Cid", "Cid"]
    lose_key(first)
    assert run(cells_of(notebook), script=script).text == "Done."
    assert len(SENT) == 6


def test_a_replay_runs_no_unverified_call_that_ran_on_another_branch(notebook: Path) -> None:
    lose_key(b"")
    unverified = run_once(notebook, script=REPLY).head
    lose_key(b"k" * 32)
    session = run(cells_of(notebook), script=REPLY).decide("call_1_2", "approve")
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
    policy = Today()
    session = run_calls(send, calls=[TWO], approve=policy)
    session = session.decide("call_1_1", "approve").run().decide("call_1_2", "approve")
    fork = session.fork()
    session.run()
    assert SENT == ["Ann", "Ben"]
    policy.answer = "approve"
    assert fork.edit("call_1_1", to="Cid").run().text == "Done."
    assert SENT == ["Ann", "Ben", "Cid"]


def test_a_policy_carries_no_approval_of_a_person_over_to_other_arguments() -> None:
    policy, turn = Today(), [("write", {"to": "Ann"}), ("post", {"letter": "Letter#1"})]
    session = run_calls(write, post, calls=[turn], approve=policy)
    session.decide("call_1_1", "approve").run().decide("call_1_2", "approve")
    branch = session.edit("call_1_1", to="Mallory")
    for _ in range(8):
        # Wherever the kernel ends, the next one asks.
        before, policy.answer = [*SENT], "ask"
        branch.fork().run()
        assert before == SENT
        policy.answer = "approve"
        branch.step()
    assert (branch.text, SENT) == ("Done.", ["Mallory"])


# -- names of sessions and files ------------------------------------------------------------------


@given(st.lists(st.text("aAbB09-_éß%cels", max_size=8), unique=True, max_size=8))
def test_two_sessions_never_share_a_file_even_if_case_does_not_count(names: list[str]) -> None:
    files = [journal_file("a.ipynb", name).name for name in names]
    assert len({name.lower() for name in files}) == len(names)
    assert all("/" not in name for name in files)


# -- branches -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [Session.fork, Session.checkout])
@pytest.mark.parametrize("place", ["call_1_1", "the reply"])
def test_a_place_in_the_middle_of_a_reply_goes_on_with_the_recorded_results(
    way: Callable[[Session, str], Session], place: str
) -> None:
    session = run_calls(send, calls=[TWO])
    reply = next(e.id for e in session.journal if isinstance(e.event, Replied))
    there = way(session, reply if place == "the reply" else place).run()
    assert [call.result for call in there.calls] == ["sent to Ann", "sent to Ben"]
    assert SENT == ["Ann", "Ben"]


# -- other kernels and copies -----------------------------------------------------------------


def test_a_second_kernel_runs_no_call_that_the_first_runs_meanwhile_or_ran(notebook: Path) -> None:
    first, second = cells_of(notebook), cells_of(notebook)
    MEANWHILE.acts.append(lambda: run(second, script=REPLY))
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
def test_a_copy_that_is_made_while_a_call_runs_asks_about_it(notebook: Path, approve: str) -> None:
    session = run(cells_of(notebook), approve="ask", script=REPLY).decide("call_1_1", "approve")
    session.decide("call_1_2", "approve")
    MEANWHILE.acts.append(lambda: saved(notebook, session))
    session.run()
    other = run(cells_of(copied(notebook)), approve=approve, script=REPLY)
    assert ids(other) == ["call_1_1", "call_1_2"]
    rows = [row for row in all_rows(other.cursor, "").calls if not row.branch]
    assert [row.status for row in rows] == ["proposed"] * 2
    assert SENT == ["Ann", "Ben"]


def test_a_call_that_ran_in_a_copy_is_asked_about_in_its_notebook(notebook: Path) -> None:
    saved(notebook, run_once(notebook, approve="ask", script=REPLY))
    other = run(cells_of(copied(notebook)), script=REPLY).decide("call_1_1", "approve").run()
    assert SENT == ["Ann"]
    assert ids(run(cells_of(notebook), approve="all", script=REPLY)) == ["call_1_1", "call_1_2"]
    assert SENT == ["Ann"]
    assert other.pending[0].id == "call_1_2"


# -- keys ---------------------------------------------------------------------------------------


def test_an_effect_of_another_key_is_not_repeated_once_the_first_is_back(notebook: Path) -> None:
    run_once(notebook, approve="ask", script=REPLY)
    first = lose_key()
    session = run(cells_of(notebook), script=REPLY).decide("call_1_1", "approve").run()
    session.decide("call_1_2", "approve").run()
    OPENED[-1].close()
    assert SENT == ["Ann", "Ben"]
    lose_key(first)
    assert ids(run(cells_of(notebook), script=REPLY))[:1] == ["call_1_1"]
    assert SENT == ["Ann", "Ben"]


def test_a_decision_on_one_call_runs_no_other_one_that_another_key_approved(tmp_path: Path) -> None:
    path, session = tmp_path / "s.jsonl", run_calls(send, calls=[TWO], approve="ask")
    session.approve_all(session.pending).run().save(path)
    lose_key(b"k" * 32)
    loaded = Session.load(path, Toolbox(send), Scripted(REPLY))
    loaded = loaded.decide_anew("call_1_2", "approve").run()
    assert (SENT, ids(loaded)) == (["Ann", "Ben"], ["call_1_1"])
    loaded.decide("call_1_1", "reject").run()
    assert SENT == ["Ann", "Ben", "Ben"]


# -- keeping a recorded result ------------------------------------------------------------------


@pytest.fixture
def unverified(notebook: Path) -> Session:
    """A session that another key recorded: its second call has not run."""
    run_once(notebook, script=REPLY)
    path = journal_file(str(notebook), "post")
    lines = path.read_text().splitlines(keepends=True)
    last = next(n for n, line in enumerate(lines) if '"finished"' in line and "call_1_1" in line)
    path.write_text("".join(lines[: last + 1]))
    lose_key()
    return run(cells_of(notebook), script=REPLY)


def test_to_keep_all_recorded_results_approves_no_other_call(unverified: Session) -> None:
    assert ids(unverified.keep_result("call_1_1", rest=True).run()) == ["call_1_2"]
    assert SENT == ["Ann", "Ben"]


@pytest.mark.usefixtures("unverified")
@pytest.mark.parametrize("words", [["keep"], ["keep", "1"], ["keep", "call_1_1", "--rest"]])
def test_a_line_keeps_the_recorded_result(words: list[str]) -> None:
    session = carry_out(words, OPENED[-1], {})
    assert isinstance(session, Session)
    assert (session.calls[0].result, session.pending[0].id) == ("sent to Ann", "call_1_2")
    with pytest.raises(NotYourTurn, match="no recorded result to keep"):
        carry_out(["keep", "2"], OPENED[-1], {})
    assert SENT == ["Ann", "Ben"]


def test_a_result_is_kept_on_the_input_line_where_there_is_one(unverified: Session) -> None:
    session, asked = unverified, list[str]()

    def typed(prompt: str) -> str:
        asked.append(prompt)
        return "k"

    ask_by_input(session, session.pending[0], typed)
    ask_by_input(session.run(), session.pending[0], typed)
    assert ["[k]eep the recorded result" in prompt for prompt in asked] == [True, False]
    assert "recorded result: sent to Ann" in asked[0]
    assert [call.status for call in session.calls] == ["succeeded", "proposed"]
    assert SENT == ["Ann", "Ben"]
