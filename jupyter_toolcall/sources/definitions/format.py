"""Texts with references, such as `Hello, {name}!`: read once, and filled in by name alone.

A reference is a key to look up, never an attribute or an index of a Python object, so that
a definition reaches nothing but the call's arguments and the session's variables.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...digest import encode
from ...errors import CallError, DefinitionError

MISSING: Any = object()
WIDEST = 1_000
"""Characters that a format may pad a value to."""
_PART = r"[A-Za-z][A-Za-z0-9_-]*"
_NAME = re.compile(rf"(?:(params|vars)\.)?({_PART})|(params|vars)\.({_PART}(?:\.{_PART})+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_HIDDEN = re.compile(r"(?:(?:params|vars)\.)(?:.*\.)?_.*|_\w*")


class NotSet(Exception):
    """What a text refers to is not there."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in braces: a parameter of the call, or a variable of the session."""

    of: Literal["params", "vars"]
    name: str
    conversion: str = ""
    spec: str = ""

    def __str__(self) -> str:
        return self.name if self.of == "params" else f"vars.{self.name}"


@dataclass(frozen=True, slots=True)
class Scope:
    """What references are looked up in."""

    params: Mapping[str, Any]
    variables: Mapping[str, Any]

    def find(self, reference: Reference) -> Any:
        """Return what a reference stands for. Raises NotSet where that is nothing, or null."""
        found = lookup(self.params if reference.of == "params" else self.variables, reference.name)
        if found is MISSING or found is None:
            raise NotSet(f"{reference} is not set")
        return found


@dataclass(frozen=True, slots=True)
class Text:
    """A text in its parts. `typed`: one reference alone keeps the type of its value."""

    parts: tuple[str | Reference, ...]
    typed: bool = False

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(part for part in self.parts if isinstance(part, Reference))

    def fill(self, scope: Scope) -> Any:
        """Return the text with what its references stand for. Raises NotSet, CallError."""
        match self.parts:
            case (Reference() as only,) if self.typed:
                return scope.find(only)
        return "".join(
            part if isinstance(part, str) else _shown(scope.find(part), part) for part in self.parts
        )


def lookup(data: Any, name: str) -> Any:
    """Return what is at a name, with dots for what is inside; MISSING where nothing is.

    A key that has the dots in its own name comes first.
    """
    if not isinstance(data, Mapping):
        return MISSING
    if name in data:
        return data[name]
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        head = ".".join(parts[:count])
        if head in data:
            return lookup(data[head], ".".join(parts[count:]))
    return MISSING


def _shown(value: Any, reference: Reference) -> str:
    if isinstance(value, (dict, list)) and not reference.conversion:
        value = encode(value)
    try:
        converted = string.Formatter().convert_field(value, reference.conversion or None)
        return format(converted, reference.spec)
    except (ValueError, TypeError) as error:
        raise CallError(f"{reference}: {value!r:.60} does not fit its format: {error}") from None


# -- reading ----------------------------------------------------------------------------


def plain_text(said: str, place: str) -> Text:
    """Return a text in which only whole references count; any other brace is a brace.

    Raises DefinitionError for a name that begins with an underscore.
    """
    parts: list[str | Reference] = []
    at = 0
    for found in _BRACES.finditer(said):
        name = _NAME.fullmatch(found[1])
        if _HIDDEN.fullmatch(found[1]):
            raise _refused(place, found[0])
        if name is not None:
            parts += [said[at : found.start()], _reference(name)]
            at = found.end()
    parts.append(said[at:])
    kept = tuple(part for part in parts if part)
    return Text(kept, typed=len(kept) == 1)


def format_text(said: str, place: str) -> Text:
    """Return a text in Python's format, always to become a text; `{{` is a brace.

    Raises DefinitionError for braces that do not match, and for what is no plain name.
    """
    try:
        return Text(tuple(_parts(said, place)))
    except ValueError as error:
        raise DefinitionError(
            f"{place}: {said!r:.80}: {str(error)[:1].lower()}{str(error)[1:]}; "
            "write {{ or }} for a brace itself"
        ) from None


def _parts(said: str, place: str) -> Iterator[str | Reference]:
    for text, name, spec, conversion in string.Formatter().parse(said):
        if text:
            yield text
        if name is None:
            continue
        found = _NAME.fullmatch(name)
        if found is None or conversion not in (None, "s", "r", "a"):
            raise _refused(place, f"{{{name}{f'!{conversion}' if conversion else ''}}}")
        if re.search(r"[{}]", spec or "") or any(_wide(n) for n in re.findall(r"\d+", spec or "")):
            raise DefinitionError(
                f"{place}: the format {spec!r:.40} is too wide, or has names in it; write "
                f"numbers up to {WIDEST:,}"
            )
        yield _reference(found, conversion or "", spec or "")


def _wide(digits: str) -> bool:
    """Python's own limit on the digits of a number counts zeros too."""
    return len(digits) > 9 or int(digits) > WIDEST


def _reference(found: re.Match[str], conversion: str = "", spec: str = "") -> Reference:
    of: Literal["params", "vars"] = "vars" if "vars" in (found[1], found[3]) else "params"
    return Reference(of, found[2] or found[4], conversion, spec)


def _refused(place: str, said: str) -> DefinitionError:
    return DefinitionError(
        f"{place}: {said:.60} is no name; write {{name}} or {{params.name}} for a parameter, "
        "{vars.name} for a variable, without attributes, indexes or a leading underscore"
    )
