"""Sessions as a notebook keeps them, and a stand-in for the live panel."""

from __future__ import annotations

from typing import Any

from jupyter_toolcall.core.call_record import Status
from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.engine.person_model import Phase
from jupyter_toolcall.view.contract import Rows, Saved, Whole
from jupyter_toolcall.view.contract_rows import CallRow, ObjectRow, Preview, SessionRow, Use
from jupyter_toolcall.view.graph import with_graph
from jupyter_toolcall.view.saved_output import row_texts

SESSION = "application/vnd.jupyter-toolcall.session+json"
LIVE = "application/vnd.jupyter-toolcall.live+json"


def session(made: str = "Potato#2", tool: str = "Potato_peel") -> dict[str, Any]:
    """The bundle of a session in which one call made one object."""
    kind = made.partition("#")[0]
    potato = ObjectRow("o1", f"{kind}#1", kind, role="input", preview=Preview(caption="raw"))
    peeled = ObjectRow("o2", made, kind, step=1, call="c1", preview=Preview(caption="peeled"))
    call = CallRow(
        "c1",
        "call_1",
        tool,
        step=1,
        turn=1,
        status="succeeded",
        uses=(Use("potato", "o1"),),
        object="o2",
        what=potato.name,
    )
    rows = Rows(
        session=(
            SessionRow(name="main", phase="finished", says="Finished", model="scripted", turn=1),
        ),
        calls=(call,),
        objects=(potato, peeled),
    )
    return bundle(saved_data(rows, {"events": []}))


def saved_data(rows: Rows, journal: dict[str, Any]) -> dict[str, Any]:
    """The data of a session as a notebook keeps it."""
    found: dict[str, Any] = sendable_data(
        Saved(row_texts(sendable_data(with_graph(rows))), journal)
    )
    return found


def bundle(data: object) -> dict[str, Any]:
    """An output with this saved data, and the text that other front ends show."""
    return {SESSION: data, "text/plain": "the text of the session"}


def told(says: str, waits: bool) -> dict[str, Any]:
    """What a kernel tells a panel that asks: a session of one call, which waits, or is done."""
    status: Status = "proposed" if waits else "succeeded"
    call = CallRow(
        "c1", "call_1", "Potato_peel", step=1, turn=1, status=status, approval_digest="b"
    )
    phase: Phase = "waiting" if waits else "finished"
    row = SessionRow(phase=phase, says=says, pending=("c1",) if waits else ())
    found: dict[str, Any] = sendable_data(Whole(Rows(session=(row,), calls=(call,))))
    return found


FAKE_PANEL = f"""
from IPython.display import display
from jupyter_toolcall.jupyter.panel import Panel

class Stub:
    def receive(self, command):
        if command["type"] == "hello":
            fake.send({told("I am live", True)!r})
        elif command["type"] == "approve":
            fake.send({told("I am live, approved", False)!r})

fake = Panel()
fake.controller = Stub()
display(fake.bundle(), raw=True)
"""
"""A panel whose kernel tells it of one call that waits, until it is approved."""


def pair(saved: dict[str, Any], between: str = "") -> str:
    """The source of a cell that publishes what a session does: its panel, then what is saved."""
    shown = f"handle = display({saved!r}, raw=True, display_id=fake.model_id)"
    return f"{FAKE_PANEL}\n{between}\n{shown}"


def wait_for_file(name: str) -> str:
    """Source that waits, as a session does for a person, until there is such a file."""
    condition = f"pathlib.Path({name!r}).exists()"
    return f"import asyncio, pathlib\nwhile not {condition}:\n    await asyncio.sleep(0.05)"
