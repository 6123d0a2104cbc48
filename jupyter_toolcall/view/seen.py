"""A branch on its way into rows, and what its rows are called.

Rows are known by keys that hold on all branches: a call's is where it was asked for, an
object's is its call's, an input's is its name. Nobody reads anything out of a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..acts.outdated import Reasons
from ..errors import Absent, CallError
from ..events import Producer
from ..loop import Cursor
from ..state.call import CallRecord
from ..state.memory import Prepared
from ..state.shape import State


@dataclass(frozen=True, slots=True)
class Seen:
    """A branch on its way into rows: where it stands, and what is known of it so far."""

    cursor: Cursor
    state: State
    branch: str = ""
    """Its head; empty on the branch that is shown."""
    forked: Mapping[str, str] = field(default_factory=dict)
    """The calls that the shown branch has too, but that came to something else here: by id,
    the branch that tells of it."""
    outdated: Reasons = field(default_factory=Reasons)
    """Why calls and objects would come out otherwise today."""


def call_key(call: CallRecord, seen: Seen) -> str:
    """Return the id of a call's row."""
    told = seen.forked.get(call.id)
    return call.key if told is None else f"{call.key}~{told}"


def key_of(producer: Producer, seen: Seen) -> str:
    """Return the id of the row of an object, by what produced it."""
    if producer.input:
        return f"input:{producer.version}:{producer.input}"
    key = call_key(seen.state.calls[producer.call], seen)
    return f"{key}.{producer.index}" if producer.index else key


def ready_call(seen: Seen, call: CallRecord) -> Prepared | None:
    """Return an open call as it would run; None where it can't yet, or can't here."""
    try:
        return seen.cursor.prepared(call, seen.state)[0]
    except (CallError, Absent):
        return None


def next_name(kind: str, state: State) -> str:
    """Return the name that the next object of a type will bear."""
    return f"{kind}#{(state.counts.get(kind) or 0) + 1}"
