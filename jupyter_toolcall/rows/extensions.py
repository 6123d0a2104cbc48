"""What an extension shows of a session: one row for each extension.

The extension defines its row as a subclass. `labextension/contract.py` writes the TypeScript
types of the core's rows and of the extensions' rows together.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtensionRow:
    """Base class of what an extension shows of a session. `id` is the extension's name."""

    id: str

    def saved(self) -> ExtensionRow | None:
        """Return what a notebook keeps of this row; None for nothing."""
        return self

    def offered_tools(self) -> tuple[str, ...]:
        """Return the names of the tools for which the panel shows forms."""
        return ()

    def invitation(self) -> str:
        """Return what running the cell is good for, shown where the session has no calls yet."""
        return ""
