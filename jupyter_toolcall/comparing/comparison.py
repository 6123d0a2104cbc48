"""Two branches side by side: facts that show themselves, as a text and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..printable import LINES, printable
from .differences import mirrored
from .facts import Compared
from .page import page
from .telling import told


@dataclass(frozen=True, slots=True)
class Comparison(Compared):
    """Two branches side by side. Printed it is a text, displayed it is a page without script."""

    @property
    def mirrored(self) -> Comparison:
        """The same comparison from the other side."""
        return Comparison(
            self.right,
            self.left,
            tuple(pair.mirrored for pair in self.calls),
            tuple(pair.mirrored for pair in self.inputs),
            mirrored(self.text),
        )

    def __str__(self) -> str:
        return told(self)

    def _repr_html_(self) -> str:
        return page(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": page(self), "text/plain": printable(told(self), LINES)}
