"""What things cost, counted: runs, bytes, syncs and rows. Times are in the benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.journal_file import open_journal
from jupyter_toolcall.storage.notebook_files import MIME
from jupyter_toolcall.storage.signatures import signer
from tests.benchmarks.workload import RAN, Counting, graph, step


@pytest.fixture
def files() -> Counting:
    return Counting()


@pytest.fixture
def journal(tmp_path: Path, files: Counting) -> Journal:
    return open_journal(tmp_path / "journal.jsonl", signer(tmp_path), files).journal


def plain(count: int, journal: Journal | None = None, **options: bool) -> Session:
    model = Scripted([*[("step", {"x": n}) for n in range(count)], "done"])
    box = Toolbox(tool(step, **options))
    return Session(box, model, scheme="flat", approve="all", journal=journal)


def test_what_an_edit_only_says_again_is_synced_by_the_dozen(
    journal: Journal, files: Counting
) -> None:
    session = graph(300, range(150, 161), journal)
    files.syncs = 0
    RAN.clear()
    session.edit(session.calls[150], number=-7).run()
    assert len(RAN) == 11
    # One before each call that runs, and the others in few.
    assert files.syncs < 11 + 4 * 150 // 32


@pytest.mark.parametrize(
    ("options", "syncs"), [({}, 100), ({"read_only": True}, 5), ({"idempotent": True}, 5)]
)
def test_a_call_is_synced_once_before_its_tool_runs_unless_it_may_run_twice_in_a_kilobyte(
    tmp_path: Path, journal: Journal, files: Counting, options: dict[str, bool], syncs: int
) -> None:
    path = tmp_path / "journal.jsonl"
    session = plain(100, journal, **options).ask("go")
    files.syncs, before = 0, path.stat().st_size
    session.run()
    assert files.syncs in (syncs, syncs + 1)
    assert (path.stat().st_size - before) / 100 <= 1_024


def test_a_saved_notebook_grows_by_less_than_a_kilobyte_a_call() -> None:
    few, many = (
        len(json.dumps(plain(count).tell("go")._repr_mimebundle_()[MIME])) for count in (50, 150)
    )
    assert (many - few) / 100 <= 1_024
