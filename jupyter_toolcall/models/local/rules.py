"""The rules of one grammar while it is made, and the place in a schema that is at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass
class Rules:
    """The rules of one grammar as they come up, and where they are looser than asked."""

    newest: Mapping[str, str]
    bodies: dict[str, str] = field(default_factory=dict)
    loose: dict[str, None] = field(default_factory=dict)

    def named(self, hint: str, body: str) -> str:
        """Return the name of a rule with this body."""
        name = f"{hint}-{len(self.bodies)}"
        self.bodies[name] = body
        return name

    def shared(self, name: str, body: str) -> str:
        """Return the name of a rule that all use alike."""
        self.bodies.setdefault(name, body)
        return name


@dataclass(frozen=True, slots=True)
class At:
    """A place in a schema: its definitions, its path, the definitions that it is inside of."""

    rules: Rules
    defs: Mapping[str, Any]
    path: str
    inside: tuple[str, ...] = ()
    known: dict[tuple[str, int], str | None] = field(default_factory=dict)
    """The rules of definitions, each by its name and how deep it stands inside itself."""

    def under(self, name: str) -> At:
        return replace(self, path=f"{self.path}.{name}")

    def loosely(self, why: str) -> None:
        """Say that this place is looser than its schema."""
        self.rules.loose[f"{self.path}: {why}"] = None
