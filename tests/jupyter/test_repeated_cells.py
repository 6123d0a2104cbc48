"""A cell that runs again says how much is as before, and saves the same."""

from __future__ import annotations

from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.kitchen import Potato, Sink
from jupyter_toolcall.view.contract import Delta, Notice, Rows, Whole

AGAIN = "of the last run. Add --fresh to ask the model again."
SCRIPT: list[Any] = [("Potato_rinse", {"sink": "Sink#1"}), ("Potato_peel", {}), "Done."]


def begun(approve: Any = "all", script: list[Any] = SCRIPT) -> Session:
    """Return a session in which the prompt was asked and answered."""
    given = {"potato": Potato(), "sink": Sink()}
    made = Session(Toolbox(Potato), Scripted(script), scheme="flat", inputs=given, approve=approve)
    return made.tell("Prepare it.")


def ran_again(session: Session) -> tuple[str, Rows]:
    """Return what the panel of a cell that runs again says at last, and what the cell saves."""
    told: list[Notice] = []
    drive = PanelController(session.replay(), told.append)
    drive.recorded = frozenset(entry.id for entry in drive.session.cursor.replay_queue.entries)
    drive.run_to_pause()
    rows = [notice.rows for notice in told if isinstance(notice, (Delta, Whole))]
    return rows[-1].session[0].detail, drive.whole()


def saved(session: Session) -> Rows:
    """Return what a cell saves that runs for the first time."""
    drive = PanelController(session, lambda notice: None)
    drive.run_to_pause()
    return drive.whole()


def test_a_cell_that_ran_before_says_what_is_as_it_was() -> None:
    assert ran_again(begun())[0] == f"2 calls {AGAIN}"


def test_what_a_person_decided_is_counted_also_where_the_cell_still_waits() -> None:
    session = begun("ask")
    session.decide(session.pending[0]).run()
    assert ran_again(session)[0] == f"1 call and 1 decision {AGAIN}"
    session.decide(session.pending[0], "reject", reason="The skin stays on.").run()
    assert ran_again(session)[0] == f"2 calls and 2 decisions {AGAIN}"


def test_an_answer_without_calls_is_said_to_be_the_one_of_before() -> None:
    assert ran_again(begun(script=["Nothing to do."]))[0] == f"The reply {AGAIN}"


def test_what_is_saved_is_the_same_as_the_first_time() -> None:
    first, again = saved(begun()), ran_again(begun())[1]
    assert (first.session, len(first.calls)) == (again.session, len(again.calls))
    assert AGAIN not in str(again)
