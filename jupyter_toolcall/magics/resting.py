"""Sessions that rest on disk: what can be said of one whose cell has not run in this kernel.

Nothing is written or locked here, and nothing of it is allowed: that takes the cell, which
brings the tools.
"""

from __future__ import annotations

from ..errors import ToolcallError
from ..journal.disk import Files, journal_file, journal_names, read_journal
from ..state.call import CallState
from ..state.fold import state_at
from ..state.shape import State


def resting(notebook: str, name: str, files: Files) -> str:
    """Return in a line how a notebook's session stands on disk; "" where there is none."""
    if not notebook:
        return ""
    journal = read_journal(journal_file(notebook, name), files)
    if not len(journal):
        return ""
    try:
        state = state_at(journal, journal.leaves()[-1])
    except ToolcallError as error:
        return f"{_named(name)} is on disk, and does not fit: {error}"
    return (
        f"{_named(name)} is on disk: {len(state.order)} calls, {len(state.names)} objects, "
        f"{_waits(state)}. Its tools are not in this kernel: run its cell, and it goes on there"
    )


def names(notebook: str) -> tuple[str, ...]:
    """Return the names of a notebook's sessions that are on disk; "" is the unnamed one."""
    return journal_names(notebook) if notebook else ()


def _named(name: str) -> str:
    return f"session {name!r}" if name else "the session"


def _waits(state: State) -> str:
    """Say what is next; what its tool would do about it is not known here."""
    if not state.open:
        return "no call open"
    call = state.calls[state.open[0]]
    return f"{call.id} {call.tool}({_arguments(call)}) is {_stands(call)}"


def _stands(call: CallState) -> str:
    return {"unknown": "cut off while it ran", "approved": "approved and not run"}.get(
        call.status, "not decided on"
    )


def _arguments(call: CallState) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in call.asked.items())[:200]
