"""Texts with references, such as `Hello, {name}!`: parsed once, and filled in by name alone.

A reference is a key to look up, never an attribute or an index of a Python object, so that
a definition reaches nothing but the call's arguments and the session's variables.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..core.digests import encode
from ..core.errors import CallError, DefinitionError

MISSING: Any = object()
MAX_WIDTH = 1_000
"""Characters that a format may pad a value to."""
_PART = r"[A-Za-z][A-Za-z0-9_-]*"
_NAME = re.compile(rf"(?:(params|vars)\.)?({_PART})|(params|vars)\.({_PART}(?:\.{_PART})+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_HIDDEN = re.compile(r"(?:(?:params|vars)\.)(?:.*\.)?_.*|_\w*")
Space = Literal["params", "vars"]
Scope = Mapping[Space, Mapping[str, Any]]
"""The arguments of the call, and the variables of the session."""


class NotSet(Exception):
    """A reference leads to nothing, or to null."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in braces: a parameter of the call, or a variable of the session."""

    space: Space
    name: str
    conversion: str = ""
    spec: str = ""

    def __str__(self) -> str:
        return self.name if self.space == "params" else f"vars.{self.name}"

    def value(self, scope: Scope) -> Any:
        """Return what it stands for. Raises NotSet where that is nothing, or null."""
        value = lookup(scope[self.space], self.name)
        if value is MISSING or value is None:
            raise NotSet(f"{self} is not set")
        return value

    def formatted(self, scope: Scope) -> str:
        """Return what it stands for as text. Raises NotSet, CallError."""
        value = self.value(scope)
        if isinstance(value, (dict, list)) and not self.conversion:
            value = encode(value)
        try:
            converted = string.Formatter().convert_field(value, self.conversion or None)
            return format(converted, self.spec)
        except (ValueError, TypeError) as error:
            raise CallError(f"{self}: {value!r:.60} does not fit its format: {error}") from None


@dataclass(frozen=True, slots=True)
class Template:
    """A text in its parts. `typed`: it is one reference alone, and keeps the value's type."""

    parts: tuple[str | Reference, ...]
    typed: bool = False

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(part for part in self.parts if isinstance(part, Reference))

    def fill(self, scope: Scope) -> Any:
        """Return the text with what its references stand for. Raises NotSet, CallError."""
        if self.typed:
            return self.references[0].value(scope)
        texts = (p if isinstance(p, str) else p.formatted(scope) for p in self.parts)
        return "".join(texts)


def lookup(data: Any, name: str) -> Any:
    """Return what is at a name, with dots for what is inside; MISSING where nothing is.

    A key that has the dots in its own name comes first.
    """
    head = name
    while head and isinstance(data, Mapping):
        if head in data:
            return data[head] if head == name else lookup(data[head], name[len(head) + 1 :])
        head = head.rpartition(".")[0]
    return MISSING


# -- parsing ------------------------------------------------------------------------------


def parse_text(text: str, where: str) -> Template:
    """Return a text in which only whole references count; any other brace is a brace.

    Raises DefinitionError for a name that begins with an underscore.
    """
    parts: list[str | Reference] = []
    end = 0
    for braces in _BRACES.finditer(text):
        if _HIDDEN.fullmatch(braces[1]):
            raise _no_name(where, braces[0])
        if name := _NAME.fullmatch(braces[1]):
            parts += [text[end : braces.start()], _reference(name)]
            end = braces.end()
    kept = tuple(part for part in (*parts, text[end:]) if part)
    return Template(kept, typed=len(kept) == 1 and isinstance(kept[0], Reference))


def parse_format(text: str, where: str) -> Template:
    """Return a text in Python's format, always to become a text; `{{` is a brace.

    Raises DefinitionError for braces that do not match, and for what is no plain name.
    """
    try:
        return Template(tuple(_format_parts(text, where)))
    except ValueError as error:
        raise DefinitionError(
            f"{where}: {text!r:.80}: {str(error)[:1].lower()}{str(error)[1:]}; "
            "write {{ or }} for a brace itself"
        ) from None


def _format_parts(text: str, where: str) -> Iterator[str | Reference]:
    for literal, field, spec, conversion in string.Formatter().parse(text):
        if literal:
            yield literal
        if field is None:
            continue
        name = _NAME.fullmatch(field)
        if name is None or conversion not in (None, "s", "r", "a"):
            raise _no_name(where, f"{{{field}{f'!{conversion}' if conversion else ''}}}")
        numbers = re.findall(r"\d+", spec or "")
        # A number of more than nine digits may be more than Python converts, zeros included.
        if re.search(r"[{}]", spec or "") or any(
            len(digits) > 9 or int(digits) > MAX_WIDTH for digits in numbers
        ):
            raise DefinitionError(
                f"{where}: the format {spec!r:.40} is too wide, or has names in it; write "
                f"numbers up to {MAX_WIDTH:,}"
            )
        yield _reference(name, conversion or "", spec or "")


def _reference(name: re.Match[str], conversion: str = "", spec: str = "") -> Reference:
    space: Space = "vars" if "vars" in (name[1], name[3]) else "params"
    return Reference(space, name[2] or name[4], conversion, spec)


def _no_name(where: str, text: str) -> DefinitionError:
    return DefinitionError(
        f"{where}: {text:.60} is no name; write {{name}} or {{params.name}} for a parameter, "
        "{vars.name} for a variable, without attributes, indexes or a leading underscore"
    )
