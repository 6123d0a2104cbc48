"""`@tool(ends_run=True)`: once such a call has succeeded, the model is not asked until the next
prompt.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.state import AskPerson
from jupyter_toolcall.engine.client_calls import record_client_call
from jupyter_toolcall.engine.person_model import idle_phase
from jupyter_toolcall.schemes import SCHEMES


@tool(ends_run=True)
def submit(report: str) -> str:
    """Hand in the report. This is the last step."""
    if not report:
        raise ValueError("the report is empty")
    return f"{len(report)} characters"


@tool(read_only=True)
def count(text: str) -> int:
    return len(text)


class Desk:
    @tool(ends_run=True)
    def clear(self) -> Desk:
        return Desk()


SUBMIT = ("submit", {"report": "All is well."})


def opened(*replies: Any, scheme: str = "flat", **options: Any) -> Session:
    """Return a session whose model would go on, if it were asked."""
    options = {"approve": "all", **options}
    model = Scripted([*replies, "Asked again."])
    return Session(Toolbox(submit, count, Desk), model, scheme=scheme, **options).tell("Report.")


def is_over(session: Session) -> bool:
    waits_for_person = isinstance(session.cursor.next_step, AskPerson)
    return waits_for_person and idle_phase(session.cursor) == ("finished", "Finished")


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_model_is_asked_again_only_after_the_next_prompt(scheme: str, native: bool) -> None:
    first = [("selectTools", {"tools": ["submit"]})] if scheme == "select" else []
    session = opened(*first, SUBMIT, scheme=scheme, native=native).run()
    assert is_over(session)
    assert len(session.requests) == len(first) + 1
    assert session.run().journal is session.journal
    assert len(session.requests) == len(first) + 1
    assert session.tell("And now?").run().text == "Asked again."


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_other_calls_of_the_reply_end_first(place: int, jobs: int) -> None:
    calls: list[Any] = [("count", {"text": "a"}), ("count", {"text": "ab"})]
    calls.insert(place, SUBMIT)
    session = opened(calls, jobs=jobs).run()
    assert [call.status for call in session.calls] == ["succeeded"] * 3
    assert is_over(session)


def test_a_reply_of_several_calls_is_over_with_the_last_decision() -> None:
    session = opened([SUBMIT, SUBMIT], approve="ask").run()
    session = session.decide(session.pending[0].id, "approve").run()
    assert not is_over(session)
    assert is_over(session.decide(session.pending[0].id, "reject").run())


@pytest.mark.parametrize(
    ("decision", "options", "ends"),
    [
        ("approve", {}, True),
        ("reject", {"reason": "Not yet."}, False),
        ("answer", {"result": "12 characters"}, True),
        ("edit", {"arguments": {"report": "Short."}}, True),
        ("edit", {"arguments": {"report": ""}}, False),
    ],
)
def test_the_decision_of_a_person_is_what_counts(decision: Any, options: Any, ends: bool) -> None:
    session = opened(SUBMIT, approve="ask").run()
    session = session.decide(session.pending[0].id, decision, **options).run()
    assert is_over(session)
    assert (session.text != "Asked again.") == ends


def test_nobody_is_reminded_of_an_output_that_is_not_saved() -> None:
    session = opened(SUBMIT, outputs={"size": int}).run()
    assert is_over(session)
    assert session.outputs == {}


def test_a_replay_and_an_edit_of_an_earlier_call_end_where_the_recording_does() -> None:
    calls: Any = ("count", {"text": "a"}), ("Desk_clear", {})
    session = opened(*calls, inputs={"desk": Desk()}).run()
    entries = len(session.journal)
    again = session.replay().run()
    assert is_over(again)
    assert (len(again.journal), again.objects) == (entries, ("Desk#1", "Desk#2"))
    edited = session.edit(session.calls[0].id, text="abc").run()
    assert [call.result for call in edited.calls] == [3, "Desk#2"]
    assert is_over(edited)


def test_a_saved_session_is_over_too(tmp_path: Path) -> None:
    opened(SUBMIT).run().save(tmp_path / "session.jsonl")
    model = Scripted([SUBMIT, "Asked again."])
    loaded = Session.load(tmp_path / "session.jsonl", Toolbox(submit, count, Desk), model)
    assert is_over(loaded.run())
    assert loaded.tell("And now?").run().text == "Asked again."


def test_a_program_that_runs_the_calls_itself_ends_the_run() -> None:
    session = opened(SUBMIT, approve="ask").step()
    session.call_tool(session.tool_calls[0])
    assert is_over(session.run())


def test_a_client_of_a_served_session_ends_the_run_in_the_models_place() -> None:
    session = opened(("count", {"text": "a"}), max_turns=1).run()
    assert not is_over(session)
    record_client_call(session.cursor, "mcp_1", *SUBMIT, "mcp:agent")
    assert is_over(session.run())
    assert session.tell("And now?").run().text == "Asked again."
