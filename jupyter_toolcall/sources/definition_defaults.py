"""`defaults` of a definition: how the arguments of a call change before it runs.

Every text and condition reads the arguments as the model gave them; values are written
first and removed last. So the order in which a definition lists its keys means nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..core.errors import CallError
from .definition_templates import MISSING, NotSet, Reference, Scope, Template, lookup

Action = Literal["default", "override", "remove"]
EMPTY: tuple[Any, ...] = (MISSING, None, "", [], {})
"""What a default fills in: false and 0 are values like any other."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The value at a key reads as this value; a key that is not set equals nothing."""

    key: Reference
    value: str | int | float | bool

    def holds(self, scope: Scope) -> bool:
        """Return whether it holds for these arguments and variables."""
        try:
            value = self.key.value(scope)
        except NotSet:
            return False
        if isinstance(value, bool) or isinstance(self.value, bool):
            return str(value).lower() == str(self.value).lower()
        return str(value) == str(self.value)


@dataclass(frozen=True, slots=True)
class Default:
    """How one key changes. `template` is filled in at each call; without it, `value` holds."""

    key: str
    action: Action = "default"
    template: Template | None = None
    value: Any = None
    when: Condition | None = None

    @property
    def references(self) -> tuple[Reference, ...]:
        """All that it reads."""
        condition = (self.when.key,) if self.when else ()
        return (*condition, *(self.template.references if self.template else ()))

    def applies(self, scope: Scope) -> bool:
        """Return whether it changes the call: its condition holds, and nothing is kept."""
        if self.when is not None and not self.when.holds(scope):
            return False
        return self.action != "default" or lookup(scope["params"], self.key) in EMPTY

    def content(self, scope: Scope) -> Any:
        """Return what is written. Raises NotSet, CallError."""
        return self.value if self.template is None else self.template.fill(scope)


def apply_defaults(defaults: Iterable[Default], scope: Scope) -> dict[str, Any]:
    """Return the arguments that run; a key whose text reads something unset is left out.

    Raises CallError where a text stands in the way of what is to go inside it.
    """
    result = dict(scope["params"])
    for default in sorted(defaults, key=lambda d: (d.action == "remove", d.key.count("."))):
        if not default.applies(scope):
            continue
        path = [default.key] if default.key in scope["params"] else default.key.split(".")
        if default.action == "remove":
            result = _without(result, path)
            continue
        with contextlib.suppress(NotSet):
            result = _with(result, path, default.content(scope), default.key)
    return result


def unset_messages(defaults: Sequence[Default], scope: Scope) -> list[str]:
    """Return a line for each key that has no value since what it reads is not set.

    The arguments in `scope` are those that run: what was removed from them is not missed.
    """
    removed = {default.key for default in defaults if default.action == "remove"}
    lines = []
    for default in defaults:
        if any(r.space == "params" and r.name in removed for r in default.references):
            continue
        try:
            if default.action != "remove" and default.applies(scope):
                default.content(scope)
        except NotSet as unset:
            lines.append(f"{default.key} is left as it is: {unset}")
    return lines


def _with(data: Mapping[str, Any], path: list[str], value: Any, key: str) -> dict[str, Any]:
    head, *inner = path
    if not inner:
        return {**data, head: value}
    inside = data.get(head)
    if inside is not None and not isinstance(inside, Mapping):
        raise CallError(f"{head} is {inside!r:.40}, which has no parts, so {key} cannot be set")
    return {**data, head: _with(inside or {}, inner, value, key)}


def _without(data: Mapping[str, Any], path: list[str]) -> dict[str, Any]:
    head, *inner = path
    if not inner:
        return {key: value for key, value in data.items() if key != head}
    inside = data.get(head)
    return {**data, head: _without(inside, inner)} if isinstance(inside, Mapping) else dict(data)
