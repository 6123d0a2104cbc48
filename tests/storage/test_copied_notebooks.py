"""A notebook that was copied or renamed goes on with its sessions, apart from the other one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.storage.journal_file import journals_folder
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.view_rows import all_rows

RAN: list[str] = []
CONTINUES = (
    "This notebook was copied or renamed: session 'post' continues with a copy of its journal; "
    "--fresh starts over."
)


def send(to: str) -> str:
    RAN.append(to)
    return f"sent to {to}"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    RAN.clear()


def cell(cells: Cells, name: str = "post", approve: str = "all") -> Session:
    """Run a cell of a notebook, as its kernel would."""
    model = Scripted([("send", {"to": "Ann"}), "Done.", ("send", {"to": "Ben"}), "Done."])
    chosen = parse_options(f"-n {name} -m m -t send --scheme flat --approve {approve}")
    session = cells.session(chosen, {"send": send, "m": model})
    return cells.keep(add_prompt(session, "Send it.", chosen.fresh).run())


def saved(path: Path, session: Session) -> None:
    """Save the notebook that the cell stands in, with what it shows."""
    root = session.journal.path(session.head)[0].id
    data: Any = mime_bundle(session.cursor, all_rows(session.cursor, session.name), root)
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    held = {"cell_type": "code", "source": "%%toolchat -n post\nSend it.", "outputs": [output]}
    path.write_text(json.dumps({"cells": [held], "nbformat": 4, "nbformat_minor": 5}))


def kept(notebook: Path, name: str = "post") -> Session:
    """Run the cell of a notebook in a kernel of its own, and save the notebook."""
    cells = Cells(str(notebook))
    session = cell(cells, name)
    cells.close()
    saved(notebook, session)
    return session


def test_a_renamed_notebook_has_all_branches_and_its_head_is_the_shown_one(tmp_path: Path) -> None:
    cells = Cells(str(tmp_path / "a.ipynb"))
    first = cell(cells)
    second = first.edit("call_1", to="Eve").run()
    cells.close()
    saved(tmp_path / "a.ipynb", second)
    (tmp_path / "a.ipynb").rename(tmp_path / "b.ipynb")
    cells = Cells(str(tmp_path / "b.ipynb"))
    after = cell(cells)
    assert (after.branches, after.head) == ((first.head, second.head), second.head)
    assert RAN == ["Ann", "Eve"]
    assert cells.notes() == [CONTINUES]


def test_a_rejection_is_repeated_in_a_renamed_notebook(tmp_path: Path) -> None:
    cells = Cells(str(tmp_path / "a.ipynb"))
    rejected = cell(cells, approve="ask").decide("call_1", "reject", reason="Too far.").run()
    saved(tmp_path / "a.ipynb", rejected)
    cells.close()
    (tmp_path / "a.ipynb").rename(tmp_path / "b.ipynb")
    again = cell(Cells(str(tmp_path / "b.ipynb")), approve="ask")
    (call,) = again.calls
    assert (again.head, call.status, call.reason) == (rejected.head, "rejected", "Too far.")
    assert not [entry for entry in again.journal if "may_have_run" in entry.meta]


def test_an_approval_on_a_side_branch_is_asked_about_again_in_a_copy(tmp_path: Path) -> None:
    cells = Cells(str(tmp_path / "a.ipynb"))
    waits = cell(cells, approve="ask")
    asked, approved = waits.head, waits.decide("call_1")
    approval = approved.head
    rejected = approved.decide("call_1", "reject").run()
    saved(tmp_path / "a.ipynb", rejected.fork(asked).edit("call_1", to="Eve").run())
    (tmp_path / "b.ipynb").write_bytes((tmp_path / "a.ipynb").read_bytes())
    cells.close()
    cells = Cells(str(tmp_path / "a.ipynb"))
    cell(cells, approve="ask").fork(approval).decide("call_1").run()
    cells.close()
    copy = cell(Cells(str(tmp_path / "b.ipynb")), approve="ask").fork(approval).run()
    assert RAN == ["Eve", "Ann"]
    assert [call.history for call in copy.state.all_calls()] == ["copied"]


def test_a_policy_does_not_run_in_a_copy_what_ran_in_its_notebook_since(tmp_path: Path) -> None:
    cells = Cells(str(tmp_path / "a.ipynb"))
    waits = cell(cells, approve="ask")
    saved(tmp_path / "a.ipynb", waits.edit("call_1", to="Eve").run())
    (tmp_path / "b.ipynb").write_bytes((tmp_path / "a.ipynb").read_bytes())
    cells.close()
    cells = Cells(str(tmp_path / "a.ipynb"))
    cell(cells, approve="ask").fork(waits.head).decide("call_1").run()
    cells.close()
    copy = cell(Cells(str(tmp_path / "b.ipynb"))).fork(waits.head).run()
    assert RAN == ["Eve", "Ann"]
    assert [call.status for call in copy.pending] == ["proposed"]


def test_a_copy_and_its_notebook_go_on_apart(tmp_path: Path) -> None:
    kept(tmp_path / "a.ipynb")
    (tmp_path / "b.ipynb").write_bytes((tmp_path / "a.ipynb").read_bytes())
    copy, first = Cells(str(tmp_path / "b.ipynb")), Cells(str(tmp_path / "a.ipynb"))
    later = add_prompt(cell(copy), "And Ben.", False).run()
    here = cell(first)
    assert RAN == ["Ann", "Ben"]
    assert [len(later.calls), len(here.calls)] == [2, 1]
    assert later.head not in here.journal
    assert first.notes() == []


def test_a_copy_is_where_its_outputs_are_and_not_where_the_other_went_since(tmp_path: Path) -> None:
    kept(tmp_path / "a.ipynb")
    (tmp_path / "b.ipynb").write_bytes((tmp_path / "a.ipynb").read_bytes())
    cells = Cells(str(tmp_path / "a.ipynb"))
    add_prompt(cell(cells), "And Ben.", False).run()
    cells.close()
    copy = cell(Cells(str(tmp_path / "b.ipynb")))
    assert (len(copy.calls), len(copy.journal.leaves())) == (1, 1)
    assert RAN == ["Ann", "Ben"]


def test_what_waits_waits_in_the_copy_too_and_is_decided_there(tmp_path: Path) -> None:
    cells = Cells(str(tmp_path / "a.ipynb"))
    waits = cell(cells, approve="ask")
    saved(tmp_path / "a.ipynb", waits)
    cells.close()
    (tmp_path / "a.ipynb").rename(tmp_path / "b.ipynb")
    again = cell(Cells(str(tmp_path / "b.ipynb")), approve="ask")
    assert [call.id for call in again.pending] == ["call_1"]
    assert again.decide("call_1").run().text == "Done."


def test_another_session_and_another_notebook_bring_nothing(tmp_path: Path) -> None:
    kept(tmp_path / "a.ipynb")
    (tmp_path / "b.ipynb").write_text(json.dumps({"cells": []}))
    cells = Cells(str(tmp_path / "b.ipynb"))
    cell(cells)
    copy = tmp_path / "c.ipynb"
    copy.write_bytes((tmp_path / "a.ipynb").read_bytes())
    other = Cells(str(copy))
    cell(other, "mail")
    assert (cells.notes(), other.notes()) == ([], [])
    assert RAN == ["Ann", "Ann", "Ann"]


@pytest.mark.parametrize("held", ["", "{}", '{"cells": 3}', '{"cells": [{"outputs": 3}]}'])
def test_a_notebook_that_cannot_be_read_begins_again(tmp_path: Path, held: str) -> None:
    (tmp_path / "a.ipynb").write_text(held)
    cells = Cells(str(tmp_path / "a.ipynb"))
    assert cell(cells).text == "Done."
    assert cells.notes() == []


def test_what_the_notebook_says_is_not_believed(tmp_path: Path) -> None:
    before = kept(tmp_path / "a.ipynb")
    for path in (journals_folder() / "sessions").glob("*/post.jsonl"):
        path.unlink()
    (tmp_path / "a.ipynb").rename(tmp_path / "b.ipynb")
    after = cell(Cells(str(tmp_path / "b.ipynb")), approve="ask")
    assert after.head != before.head
    assert [call.status for call in after.calls] == ["proposed"]
