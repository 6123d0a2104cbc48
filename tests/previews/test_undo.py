"""Who decided, and the last decision taken back."""

from __future__ import annotations

import pytest

from jupyter_toolcall import Rule, Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.events import Decided
from jupyter_toolcall.jupyter.panel_commands import Undo, apply_command
from jupyter_toolcall.jupyter.panel_updates import session_row
from jupyter_toolcall.models import Call, Reply
from jupyter_toolcall.view.view_rows import all_rows


@tool(external=True)
def send(to: str) -> str:
    """Send a mail."""
    return "sent"


CALLS = [("send", {"to": "Anna"}), ("send", {"to": "Ben"}), "Done."]


def opened() -> Session:
    return Session(Toolbox(send), Scripted(CALLS), scheme="flat").tell("Write to both.")


def test_who_decided_is_in_the_event_and_at_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_USER", "anna")
    session = opened().decide("call_1").run()
    (decided,) = (entry for entry in session.journal if isinstance(entry.event, Decided))
    assert (decided.meta["by"], decided.meta["who"]) == ("person", "anna")
    assert [call.who for call in all_rows(session.cursor, "").calls] == ["anna", ""]


def test_undo_goes_back_to_before_the_last_decision_and_says_what_stays() -> None:
    session = opened()
    rules = session.cursor.context.person_rules
    rules.add(Rule("send", "run", {"to": {"const": "Ben"}}, name="Ben"), "session", "removed")
    session = session.decide("call_1").run()
    undo = session_row(session, "finished", "", "", ()).undo
    assert undo is not None
    assert undo.says == (
        "Undo goes back to before the decision on call 2, on a new branch. "
        "What reached others cannot be taken back. The rule 'Ben' is paused."
    )
    before = apply_command(session, Undo("call_2")).run()
    assert [call.status for call in before.calls] == ["succeeded", "proposed"]
    assert rules.rules[0].paused
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]


def test_undo_takes_the_last_decision_and_tells_of_every_call_that_started_since() -> None:
    asked = tuple(Call(to, "send", {"to": to}) for to in ("Anna", "Ben"))
    replies = iter([Reply(calls=asked, stop="tools"), Reply("Done.")])
    session = Session(Toolbox(send), lambda _: next(replies), scheme="flat").tell("Write to both.")
    session = session.decide("Ben", "reject").decide("Anna").run()
    undo = session_row(session, "finished", "", "", ()).undo
    told = "on call 1, on a new branch. What reached others cannot be taken back."
    assert undo is not None
    assert undo.says.endswith(told)
    for name, before in (("Anna", "rejected"), ("Ben", "proposed")):
        calls = apply_command(session, Undo(name)).calls
        assert [call.status for call in calls] == ["proposed", before]
