"""`defaults` of a definition: how the arguments of a call change before it runs.

A text may have references, such as `Hello, {name}!`. A reference is a key to look up, never an
attribute or an index of a Python object: a definition reads the call's arguments and the session's
variables, and nothing else. Texts and conditions read the arguments as the model gave them; values
are written first and removed last. So the order of the keys in a definition has no meaning.
"""

from __future__ import annotations

import contextlib
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..core.digests import encode
from ..core.errors import CallError, DefinitionError

MISSING: Any = object()
MAX_WIDTH = 1_000
"""Characters that a format may pad a value to."""
_PART = r"(?:[A-Za-z][A-Za-z0-9_-]*|<[A-Za-z][A-Za-z0-9_-]*>)"
"""A name, or one in angle brackets, as in the examples of the specification."""
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


def lookup(data: object, name: str) -> object:
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


# -- defaults -----------------------------------------------------------------------------

Action = Literal["default", "override", "remove"]
ACTIONS: tuple[Action, ...] = get_args(Action)
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


def _with(data: Mapping[str, object], path: list[str], value: object, key: str) -> dict[str, Any]:
    head, *inner = path
    if not inner:
        return {**data, head: value}
    inside = data.get(head)
    if inside is not None and not isinstance(inside, Mapping):
        raise CallError(f"{head} is {inside!r:.40}, which has no parts, so {key} cannot be set")
    return {**data, head: _with(inside or {}, inner, value, key)}


def _without(data: Mapping[str, object], path: list[str]) -> dict[str, Any]:
    head, *inner = path
    if not inner:
        return {key: value for key, value in data.items() if key != head}
    inside = data.get(head)
    return {**data, head: _without(inside, inner)} if isinstance(inside, Mapping) else dict(data)
