"""What a replay came to, beside what it says again: above all one that ran everything anew."""

from __future__ import annotations

from ..errors import UsageError
from ..loop import Cursor
from .comparison import Comparison
from .pairing import compare


def came_out(cursor: Cursor) -> Comparison:
    """Return how a replay, on the right, differs from what was recorded.

    Raises UsageError where a session says nothing again.
    """
    entries = cursor.script.entries
    if not entries:
        raise UsageError(
            "this session says nothing again; session.replay(fresh=True).run() runs all of it anew"
        )
    return compare(Cursor(cursor.desk, entries[-1].id), cursor, ("recorded", "now"))
