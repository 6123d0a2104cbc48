"""Values of a session by name: of its objects and of its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import UsageError
from ..core.state import State
from ..core.text import nearest
from ..schemes.save_tool import SCALARS
from ..tools.value_copies import private
from .cursor import Cursor


def known_object(state: State, name: str) -> str:
    """Return a name that an object has. Raises UsageError, which names the nearest."""
    names = tuple(state.names)
    if name in names:
        return name
    hint = nearest(str(name), names) or f" There are {', '.join(names[-5:]) or 'none yet'}"
    raise UsageError(f"there is no object {name!r:.60}.{hint}")


def object_value(cursor: Cursor, name: str) -> Any:
    """Return a copy of the value of an object.

    Raises CallError for a name that there is not, Absent where the value is not here.
    """
    return private(cursor.context.values.value(cursor.state.resolve(name)))[0]


def output_values(cursor: Cursor) -> Mapping[str, Any]:
    """Return what was saved, by name."""
    state = cursor.state
    return {
        name: saved if state.opened.outputs[name].kind in SCALARS else object_value(cursor, saved)
        for name, saved in state.outputs.items()
        if name in state.opened.outputs
    }
