"""Which branches are compared: by name, by session, or the one that this one left."""

from __future__ import annotations

from ..branches import naming
from ..loop import Cursor
from .comparison import Comparison
from .pairing import compare


def diff(here: Cursor, other: Cursor | str | None = None) -> Comparison:
    """Return how another branch, on the left, differs from the one of a cursor.

    The other is that of a cursor, of a name, or (None) the one that this one left. Raises
    UsageError where there is none.
    """
    journal, name = here.desk.journal, naming.current(here.desk.journal, here.head).name
    if isinstance(other, Cursor):
        theirs = naming.current(other.desk.journal, other.head).name
        theirs = f"{theirs} (other)" if theirs == name and other.head != here.head else theirs
        return compare(other, here, (theirs, name))
    found = (
        naming.left(journal, here.head)
        if other is None
        else naming.named(journal, here.head, other)
    )
    return compare(Cursor(here.desk, found.head), here, (found.name, name))
