"""What a session has, as a program sees it: its calls, its values, what was saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..content.value import private
from ..errors import UsageError
from ..events import Data, Failed, Interrupted
from ..loop import Cursor
from ..schemes.outputs import SCALARS
from ..state.call import CallState, objects_of
from ..state.shape import State
from ..tools import nearest
from .places import waiting


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call, as it stands: what was asked, what ran, and what came of it."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    status: str
    result: Any = None
    error: str = ""
    object: str = ""


def record(call: CallState, state: State, running: str = "") -> CallRecord:
    """Return a call of a state as a record; `running` is the id of the call that runs."""
    status = "running" if call.id == running else call.status
    objects = objects_of(call.outcome)
    name = state.name_of(objects[0]) if objects else ""
    match call.outcome:
        case Data(data):
            return CallRecord(call.id, call.tool, call.arguments, status, data)
        case Failed(message):
            return CallRecord(call.id, call.tool, call.arguments, status, error=message)
        case Interrupted():
            return CallRecord(call.id, call.tool, call.arguments, status, error="interrupted")
    names = [*map(state.name_of, objects)]
    result = (names if len(names) > 1 else name) or None
    return CallRecord(call.id, call.tool, call.arguments, status, result, object=name)


def calls(cursor: Cursor) -> tuple[CallRecord, ...]:
    """Return every call in order, the scheme's own too."""
    state = cursor.state
    return tuple(record(call, state, cursor.running) for call in state.each())


def pending(cursor: Cursor) -> tuple[CallRecord, ...]:
    """Return the calls that wait for a person as they would run, the one to decide first."""
    state = cursor.state
    return tuple(
        replace(record(call, state), arguments=cursor.as_it_runs(call)) for call in waiting(cursor)
    )


def known_object(state: State, name: str) -> str:
    """Return a name that an object has. Raises UsageError, which names the nearest."""
    names = tuple(state.names)
    if name in names:
        return name
    there = nearest(str(name), names) or f" There are {', '.join(names[-5:]) or 'none yet'}"
    raise UsageError(f"there is no object {name!r:.60}.{there}")


def value(cursor: Cursor, name: str) -> Any:
    """Return a copy of the value of an object.

    Raises CallError for a name that there is not, Absent where the value is not here.
    """
    return private(cursor.desk.memory.value(cursor.state.resolve(name)))[0]


def outputs(cursor: Cursor) -> Mapping[str, Any]:
    """Return what was saved, by name."""
    state = cursor.state
    return {
        name: said if state.opened.outputs[name].kind in SCALARS else value(cursor, said)
        for name, said in state.outputs.items()
        if name in state.opened.outputs
    }
