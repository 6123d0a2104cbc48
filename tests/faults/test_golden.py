"""Journals that were written before are read, shown and replayed as they were then."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Session
from jupyter_toolcall.core.events import Decision
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.journal_entries import VERSION
from tests.faults.keepsakes import GOLDEN, Jar, Shelf, apart_from_policy, box, text

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(FOLDER.glob(f"v{VERSION}/*.jsonl"))
EDITED: Mapping[str, tuple[Decision, Mapping[str, Any]]] = {
    "call_2_1": ("edit", {"arguments": {"jar": "Jar#2", "grams": 7}})
}
"""What the person decided otherwise than by approving."""


def load(path: Path) -> Session:
    golden = GOLDEN[path.stem]
    return Session.load(path, box(), golden.model, inputs={"jar": Jar(10), "shelf": Shelf(0)})


def told(session: Session) -> list[Any]:
    calls = [(c.tool, dict(c.arguments), c.status, c.result, c.error) for c in session.calls]
    return [*calls, session.text]


def test_each_session_is_there() -> None:
    assert {path.stem for path in FILES} == {*GOLDEN}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_its_entries_are_those_that_would_be_written_today(path: Path) -> None:
    then, today = Journal.loads(path.read_text()), Journal.loads(text(path.stem))
    assert [entry.id for entry in then] == [entry.id for entry in today]
    assert [*apart_from_policy(then)] == [*apart_from_policy(today)]
    assert not any(entry.verified for entry in then)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_replay_says_the_same(path: Path) -> None:
    session = load(path)
    before = told(session)
    again = session.replay().run()
    while again.pending:
        call = again.pending[0]
        assert call.status != "unknown" or path.stem == "cut"
        verdict, how = (
            ("approve", {}) if path.stem != "decided" else EDITED.get(call.id, ("approve", {}))
        )
        again.decide(call, verdict, **how).run()
    if path.stem == "cut":
        assert (again.text, [call.status for call in again.calls]) == ("done", ["succeeded"] * 2)
        return
    assert told(again) == before
