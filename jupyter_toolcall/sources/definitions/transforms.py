"""`defaults`: what becomes of the arguments of a call before it runs.

Every text and condition reads the arguments as the model gave them; values are written
first and removed last. So the order in which a definition lists its keys means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ...errors import CallError, DefinitionError
from ...tools import nearest
from .format import MISSING, NotSet, Reference, Scope, Text, format_text, lookup, plain_text
from .keys import known_keys, one_of

Action = Literal["default", "override", "remove"]
ACTIONS: tuple[Action, ...] = get_args(Action)
OPERATORS = ("eq",)
_TRANSFORM = ("action", "when", "value", "format")
_WHEN = ("key", "value", "operator")
EMPTY: tuple[Any, ...] = (MISSING, None, "", [], {})
"""What a default fills in: false and 0 are values like any other."""


@dataclass(frozen=True, slots=True)
class When:
    """A condition: what is at a key reads as this value."""

    key: Reference
    value: str | int | float | bool

    def holds(self, scope: Scope) -> bool:
        """Return whether it holds; what is not set is equal to nothing."""
        try:
            found = scope.find(self.key)
        except NotSet:
            return False
        if isinstance(found, bool) or isinstance(self.value, bool):
            return str(found).lower() == str(self.value).lower()
        return str(found) == str(self.value)


@dataclass(frozen=True, slots=True)
class Default:
    """What becomes of one key. `text` is filled in at each call; without it, `value` holds."""

    key: str
    action: Action = "default"
    text: Text | None = None
    value: Any = None
    when: When | None = None

    @property
    def reads(self) -> tuple[Reference, ...]:
        """All that it refers to."""
        condition = (self.when.key,) if self.when else ()
        return (*condition, *(self.text.references if self.text else ()))

    def content(self, scope: Scope) -> Any:
        """Return what is written. Raises NotSet."""
        return self.value if self.text is None else self.text.fill(scope)


def applied(
    defaults: Iterable[Default], arguments: Mapping[str, Any], variables: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments that run; a key whose text refers to nothing is left out.

    Raises CallError where a text stands in the way of what is to go inside it.
    """
    scope, result = Scope(arguments, variables), dict(arguments)
    for default in sorted(defaults, key=lambda d: (d.action == "remove", d.key.count("."))):
        if default.when is not None and not default.when.holds(scope):
            continue
        path = _path(default.key, arguments)
        match default.action:
            case "remove":
                result = _without(result, path)
            case "default" if lookup(arguments, default.key) not in EMPTY:
                pass
            case _:
                result = _with(result, path, default, scope)
    return result


def _with(
    result: dict[str, Any], path: tuple[str, ...], default: Default, scope: Scope
) -> dict[str, Any]:
    try:
        return _put(result, path, default.content(scope), default.key)
    except NotSet:
        return result


def left_out(
    defaults: Iterable[Default], arguments: Mapping[str, Any], variables: Mapping[str, Any]
) -> list[str]:
    """Return a line for each key that has no value since what it refers to is not set.

    `arguments` are those that run: what was removed from them is not missed.
    """
    every, lines = tuple(defaults), []
    gone = {default.key for default in every if default.action == "remove"}
    scope = Scope(arguments, variables)
    for default in every:
        skips = default.when is not None and not default.when.holds(scope)
        removed = any(r.of == "params" and r.name in gone for r in default.reads)
        if default.text is None or skips or removed:
            continue
        try:
            default.content(scope)
        except NotSet as missing:
            if default.action == "override" or lookup(arguments, default.key) in EMPTY:
                lines.append(f"{default.key} is left as it is: {missing}")
    return lines


def _path(key: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    return (key,) if key in arguments else tuple(key.split("."))


def _put(data: Mapping[str, Any], path: tuple[str, ...], value: Any, key: str) -> dict[str, Any]:
    head, *rest = path
    if not rest:
        return {**data, head: value}
    inside = data.get(head)
    if inside is not None and not isinstance(inside, Mapping):
        raise CallError(f"{head} is {inside!r:.40}, which has no parts, so {key} cannot be set")
    return {**data, head: _put(inside or {}, tuple(rest), value, key)}


def _without(data: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    head, *rest = path
    inside = data.get(head)
    if rest and isinstance(inside, Mapping):
        return {**data, head: _without(inside, tuple(rest))}
    return {key: value for key, value in data.items() if rest or key != head}


# -- reading ----------------------------------------------------------------------------


def read_defaults(found: Any) -> tuple[Default, ...]:
    """Return what `defaults` say. Raises DefinitionError, naming the place."""
    if not isinstance(found, Mapping):
        raise DefinitionError(f'defaults: {found!r:.60} is no object; write {{"parameter": value}}')
    every = tuple(_default(str(key), said) for key, said in found.items())
    for default in every:
        _checked_path(default, every)
    return every


def _default(key: str, said: Any) -> Default:
    place = f"defaults.{key}"
    if not all(key.split(".")):
        raise DefinitionError(f"{place}: {key!r} is no name of a parameter, nor a path such as a.b")
    match said:
        case str() if said.startswith("@"):
            return _short(key, said, place)
        case str():
            return _constant_or_text(key, plain_text(said, place), said)
        case {"transform": transform} if len(said) == 1:
            return _transform(key, transform, f"{place}.transform")
    return Default(key, value=said)


def _constant_or_text(key: str, text: Text, said: str) -> Default:
    return Default(key, text=text) if text.references else Default(key, value=said)


def _short(key: str, said: str, place: str) -> Default:
    """`@remove`, `@override TEXT`, `@default TEXT`."""
    word, _, rest = said[1:].partition(" ")
    if word == "remove" and not rest.strip():
        return Default(key, "remove")
    for action in ACTIONS:
        if word == action != "remove" and rest:
            return Default(key, action, format_text(rest, place))
    raise DefinitionError(
        f"{place}: {said!r:.60} is no short form; there are @remove, @override TEXT and "
        f"@default TEXT.{nearest(word, ACTIONS)} A text that begins with @: "
        f'{{"transform": {{"value": "@..."}}}}'
    )


def _transform(key: str, said: Any, place: str) -> Default:
    found = known_keys(said, _TRANSFORM, place)
    action = one_of(found.get("action", "default"), ACTIONS, f"{place}.action")
    when = _when(found["when"], f"{place}.when") if "when" in found else None
    given = [name for name in ("value", "format") if name in found]
    if action == "remove" and given:
        raise DefinitionError(f"{place}.{given[0]}: what is removed takes no value or format")
    if action != "remove" and len(given) != 1:
        raise DefinitionError(f"{place}: give either value or format, and not both")
    if "format" in found and not isinstance(found["format"], str):
        raise DefinitionError(f"{place}.format: {found['format']!r:.60} is no text")
    text = format_text(found["format"], f"{place}.format") if "format" in found else None
    return Default(key, action, text, found.get("value"), when)


def _when(said: Any, place: str) -> When:
    found = known_keys(said, _WHEN, place)
    for name in ("key", "value"):
        if name not in found:
            raise DefinitionError(f"{place}.{name}: is missing")
    one_of(found.get("operator", "eq"), OPERATORS, f"{place}.operator")
    key, value = found["key"], found["value"]
    if not isinstance(key, str) or any(not part or part[0] == "_" for part in key.split(".")):
        raise DefinitionError(f"{place}.key: {key!r:.60} is no name of a parameter or vars.NAME")
    if not isinstance(value, (str, int, float)):
        raise DefinitionError(f"{place}.value: {value!r:.60} is no text to compare with")
    of, _, name = key.partition(".")
    if of in ("params", "vars") and name:
        return When(Reference("vars" if of == "vars" else "params", name), value)
    return When(Reference("params", key), value)


def _checked_path(default: Default, every: Iterable[Default]) -> None:
    """Raise DefinitionError where a key leads through another key's text or number."""
    for other in every:
        inside = default.key.startswith(f"{other.key}.")
        kept = isinstance(other.value, Mapping) or (other.text is not None and other.text.typed)
        if inside and other.action != "remove" and not kept:
            raise DefinitionError(
                f"defaults.{default.key}: {other.key} is set to what has no parts "
                f"(defaults.{other.key})"
            )
