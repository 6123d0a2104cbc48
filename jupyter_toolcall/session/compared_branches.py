"""Which branches `Session.diff` and `Session.came_out` compare."""

from __future__ import annotations

from ..compare.alignment import Comparison, compare
from ..core.branches import branch_named, current_branch, forked_from
from ..core.errors import UsageError
from ..engine.cursor import Cursor


def diff(cursor: Cursor, other: Cursor | str | None = None) -> Comparison:
    """Return how another branch, on the left, differs from the one of a cursor.

    The other is that of a cursor, of a name, or (None) the one that this one left. Raises
    UsageError where there is none.
    """
    journal, name = cursor.context.journal, current_branch(cursor.context.journal, cursor.head).name
    if isinstance(other, Cursor):
        theirs = current_branch(other.context.journal, other.head).name
        theirs = f"{theirs} (other)" if theirs == name and other.head != cursor.head else theirs
        return compare(other, cursor, (theirs, name))
    branch = (
        forked_from(journal, cursor.head)
        if other is None
        else branch_named(journal, cursor.head, other)
    )
    return compare(Cursor(cursor.context, branch.head), cursor, (branch.name, name))


def came_out(cursor: Cursor) -> Comparison:
    """Return how a replay, on the right, differs from what was recorded.

    Raises UsageError for a session that is no replay.
    """
    entries = cursor.replay_queue.entries
    if not entries:
        raise UsageError(
            "this session is no replay; session.replay(fresh=True).run() runs every call again"
        )
    return compare(Cursor(cursor.context, entries[-1].id), cursor, ("recorded", "now"))
