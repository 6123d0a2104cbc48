"""Tools and sessions that several tests share: books, and the kitchen with its fries.

The tools of recorded journals are in `older_sessions` and `faults.keepsakes` alone: the digest of
a value names the module of its class, so they can never move.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.kitchen import Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.schemes.messages import Result, Results

RAN: list[str] = []
"""The names of the tools that ran, in order."""


def play(toolbox: Toolbox, *calls: Any, **options: Any) -> Session:
    """Return a session in which a model made these calls, one a turn, and every one ran unasked."""
    options = {"scheme": "flat", "approve": "all", **options}
    return Session(toolbox, Scripted([*calls, "Done."]), **options).tell("Go.")


def ask_calls(*tools: Any, calls: Sequence[Any], **options: Any) -> Session:
    """Return a session in which a model will make these calls, one a turn, and all run unasked."""
    options = {"scheme": "flat", "approve": "all", **options}
    return Session(Toolbox(*tools), Scripted([*calls, "Done."]), **options).ask("Go.")


def run_calls(*tools: Any, calls: Sequence[Any], **options: Any) -> Session:
    """Return a session in which a model made these calls of tools, and every one ran unasked."""
    return play(Toolbox(*tools), *calls, **options)


def interrupted(session: Session) -> Session:
    """Run a session, and return it after the interrupt that ends its run."""
    with pytest.raises(KeyboardInterrupt):
        session.run()
    return session


def notes_of(session: Session) -> list[str]:
    """Return the notes of all calls, such as where they ran."""
    return [note for entry in session.journal for note in entry.meta.get("notes", ())]


def prints_of(session: Session) -> list[str]:
    """Return what calls printed, in the order in which they ended."""
    return [entry.meta["prints"] for entry in session.journal if "prints" in entry.meta]


def panel_of(session: Session) -> tuple[PanelController, list[Any]]:
    """Return what runs a panel of a session, and the notices that it sent and sends there."""
    notices = list[Any]()
    controller = PanelController(session, notices.append)
    controller.greet()
    return controller, notices


# -- books --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Book:
    """A book."""

    title: str
    pages: int = 100


def cut(book: Book, pages: int) -> Book:
    """Return the book with fewer pages."""
    RAN.append("cut")
    return replace(book, pages=pages)


@tool(read_only=True)
def count(book: Book) -> int:
    """Say how many pages it has."""
    RAN.append("count")
    return book.pages


def burn(book: Book) -> str:
    """Fail."""
    RAN.append("burn")
    raise OSError("too wet")


def last_question(session: Session) -> Session:
    """Return a session at the end of the question (`transform`, `query`) that was asked last."""
    ends = [session.fork(head) for head in session.branches]
    return [end for end in ends if end.state.conversation][-1]


# -- the kitchen --------------------------------------------------------------------------


def fries_session(model: Any, scheme: str = "select", **more: Any) -> Session:
    """Return a session that is to make fries; every call runs unasked. `more` are its options."""
    options: dict[str, Any] = {
        "inputs": {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()},
        "outputs": {"fries": Plate},
        "approve": "all",
    }
    return Session(kitchen(), model, scheme=scheme, **{**options, **more})


def in_place(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls a method of its own object; as a tool, a method gets a copy."""

    @functools.wraps(method)
    def function(*arguments: Any, **named: Any) -> Any:
        return method(*arguments, **named)

    return function


def results(session: Session) -> list[Result]:
    """Return the results in the request that is due."""
    messages = session.cursor.request.messages
    return [result for m in messages if isinstance(m, Results) for result in m.results]


def names(session: Session) -> list[str]:
    """Return the names of the tools in the request that is due."""
    return [tool.name for tool in session.cursor.request.tools]


def make_fries_after_a_fault(session: Session, turn: int) -> None:
    """Ask for fries where a turn has a fault, and run again."""
    session.ask("Make fries.")
    with pytest.raises(ModelError):
        session.run()
    before = session.calls
    assert len(before) == turn
    session.run()
    assert session.calls[:turn] == before
    assert session.outputs["fries"] == Plate("fries: sticks")
