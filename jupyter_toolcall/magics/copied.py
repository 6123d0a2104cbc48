"""A notebook that was copied or renamed: its sessions go on, each in a journal of its own.

What the notebook says only tells which journal of this user's machine is meant; what is
believed is that journal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import ToolcallError
from ..journal.disk import home, journal_file, replace_file
from ..notebooks.files import recorded

GOES_ON = (
    "This notebook was copied or renamed: session{} goes on with all that happened there, and "
    "is kept apart from it from now on; --fresh begins anew."
)


def brought(notebook: str, name: str) -> str:
    """Bring a session's journal to a notebook that has none of its own; say so, "" for none.

    Raises nothing: where it can't be read or written the session begins anew.
    """
    path = journal_file(notebook, name)
    if path.exists():
        return ""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for known in _written_from(path, [*_heads(Path(notebook), name)]):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, known)
            return GOES_ON.format(f" {name!r}" if name else "")
    return ""


def _heads(notebook: Path, name: str) -> Iterator[str]:
    """Yield where a notebook's outputs say that a session stood, the last cell first."""
    with contextlib.suppress(OSError, ToolcallError):
        for saved in reversed(recorded(notebook)):
            rows = saved.data.get("rows", {}).get("session", ())
            if name in [str(row.get("name", "")) for row in rows]:
                yield str(saved.data["journal"]["head"])


def _written_from(path: Path, heads: list[str]) -> Iterator[str]:
    """Yield what journals of that name hold which came by one of these places."""
    for other in sorted((home() / "sessions").glob(f"*/{path.name}")) if heads else ():
        text = other.read_text(encoding="utf-8")
        if any(f'"id":"{head}"' in text for head in heads):
            yield text
