"""Another decision on a call that has its result: the first event of a branch of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Decision
from ..loop import Cursor
from .deciding import event_of, known_word
from .places import decide_first, replayed


def overruled(
    cursor: Cursor,
    call_id: str,
    verdict: Decision,
    *,
    arguments: Mapping[str, Any] | None = None,
    result: Any = None,
    reason: str = "",
) -> Cursor:
    """Return a cursor that replays this branch with another decision on one call.

    What the call could not do, or what its answer could not be, where it was asked for is
    refused. Raises UsageError for another word, CallError for arguments that do not fit.
    """
    known_word(verdict)
    again = replayed(cursor, call_id)
    call = again.state.call(call_id)
    return decide_first(again, event_of(again, call, verdict, arguments, result, reason))
