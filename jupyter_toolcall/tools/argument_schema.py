"""The arguments of a call, before anything is made of them: JSON, and of sane size.

A model is any function, and a person writes Python, so that arguments may hold anything.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from ..core.digests import encode
from ..core.errors import CallError, DefinitionError
from ..core.events import Call
from ..core.object_names import NAME
from ..core.text import nearest
from .object_types import strict_dict
from .tool import Check, Resolve, misfits
from .value_copies import well_formed

LONGEST = 1_000_000
"""Characters of one call's arguments."""
DEEPEST = 64
"""Levels of lists and objects in one call's arguments."""


def readable(arguments: object) -> dict[str, Any]:
    """Return arguments as JSON data. Raises CallError, which says what is not JSON."""
    if not isinstance(arguments, (dict, Mapping)):
        raise CallError('the arguments are not an object, such as {"name": "value"}')
    if _is_short_and_flat(arguments):
        return dict(arguments)
    data: dict[str, Any] = _plain(arguments, "", 0)
    try:
        size = len(encode(data))
    except ValueError:
        raise CallError("the arguments hold a number that is too long") from None
    if size > LONGEST:
        raise CallError(f"the arguments are longer than {LONGEST:,} characters ({size:,})")
    return data


def _is_short_and_flat(arguments: Mapping[Any, Any]) -> bool:
    """Return whether arguments are a few scalars, which need no further look."""
    for key, value in arguments.items():
        kind = type(value)
        if kind is str:
            plain = len(value) < 10_000 and value.isascii()
        elif kind is int:
            plain = -(1 << 63) < value < 1 << 63
        else:
            plain = value is None or kind is bool
        if not (plain and type(key) is str and len(key) < 100 and key.isascii()):
            return False
    return len(arguments) < 50


def _plain(value: Any, place: str, depth: int) -> Any:
    if depth > DEEPEST:
        raise CallError(f"the arguments are nested deeper than {DEEPEST} levels")
    match value:
        case None | bool() | int():
            return value
        case str():
            return _text(value, place)
        case float():
            if not math.isfinite(value):
                raise _refused(place, f"{value} is not JSON; give a finite number, or leave it out")
            return value
        case dict() | Mapping():
            return {_key(k, place): _plain(v, f"{place}.{k}", depth + 1) for k, v in value.items()}
        case list() | tuple():
            return [_plain(item, f"{place}.{i}", depth + 1) for i, item in enumerate(value)]
    kind = type(value).__name__
    raise _refused(place, f"a {kind} is not JSON; name an object instead, such as {kind}#1")


def _text(text: str, place: str) -> str:
    if not text.isascii() and well_formed(text) != text:
        raise _refused(place, "the text holds half of a Unicode character")
    return text


def _key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise _refused(place, f"the key {key!r:.60} is not a text; keys are texts in JSON")
    return _text(key, place)


def _refused(place: str, said: str) -> CallError:
    where = place.strip(".")[:80] or "arguments"
    return CallError(f"{where}: {said}", {where: said})


def sound(call: Call) -> Call:
    """Return a call that can be written down; where it can't be read, it is broken."""
    call_id, tool = _short(call.id), _short(call.tool)
    try:
        return Call(call_id, tool, readable(call.arguments), call.broken)
    except CallError as error:
        return Call(call_id, tool, {}, call.broken or str(error))


def _short(name: object) -> str:
    if type(name) is str and len(name) <= 200 and name.isascii():
        return name
    return well_formed(str(name)[:200])


_BAD_SCHEMA = (PydanticSchemaGenerationError, PydanticUserError, TypeError, RecursionError)


def _prove(annotation: Any, name: str, title: str) -> None:
    """Raise DefinitionError where a parameter's type has no schema."""
    try:
        TypeAdapter(strict_dict(name, {name: annotation})).json_schema()
    except _BAD_SCHEMA as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DefinitionError(
            f"{title}: the parameter {name!r} has a type that has no JSON Schema ({reason}); "
            "take plain data (str, int, list, a dataclass, a pydantic model) or an object's class"
        ) from None


def adapter_of(title: str, fields: Mapping[str, Any]) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    """Return what checks arguments, and the JSON Schema that tells of them."""
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(strict_dict(title, fields))
        schema = adapter.json_schema()
    except _BAD_SCHEMA:
        for name, annotation in fields.items():
            _prove(annotation, name, title)
        raise
    schema.pop("title", None)
    for part in schema.get("properties", {}).values():
        part.pop("title", None)
    return adapter, schema


def check_of(adapter: TypeAdapter[Any], title: str, known: Collection[str]) -> Check:
    """Return the check of arguments; it raises CallError, which says what is wrong."""

    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        try:
            checked: dict[str, Any] = adapter.validate_python(dict(arguments), context=resolve)
        except ValidationError as error:
            raise refusal(title, error, known) from None
        return checked

    return check


def refusal(title: str, error: ValidationError, known: Collection[str]) -> CallError:
    """Return what a model, or the person at the form, is told of wrong arguments."""
    fields: dict[str, str] = {}
    for problem in error.errors(include_url=False, include_context=False):
        place = ".".join(str(part) for part in problem["loc"]) or "arguments"
        said = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            said = "there is no such argument"
            if len(problem["loc"]) == 1:
                said += f"; there {'is' if len(known) == 1 else 'are'} {', '.join(known) or 'none'}"
                near = nearest(str(problem["loc"][0]), known)
                said += f".{near}" if near else ""
        # A message that begins with an object's name begins as that is written.
        fields.setdefault(place, said if NAME.match(said) else said[:1].lower() + said[1:])
    return misfits(title, fields)
