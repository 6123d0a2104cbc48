"""The parameters of a function: each as a field of a schema, and called by keywords alone."""

from __future__ import annotations

import inspect
import types as python_types
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NotRequired, get_args, get_origin

from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..digest import encode
from ..errors import DefinitionError
from .kinds import Kinds, refer

_Parameter = inspect.Parameter


def parameters_of(function: Callable[..., Any], title: str) -> list[_Parameter]:
    """Return what a function takes. Raises DefinitionError where nobody can tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise DefinitionError(
            f"{title}: its signature cannot be read; wrap it in a function with typed parameters"
        ) from None


def field_of(
    parameter: _Parameter,
    types: Mapping[str, Any],
    notes: Mapping[str, str],
    kinds: Kinds,
    title: str,
) -> Any:
    """Return a parameter as a field of a schema. Raises DefinitionError where it has no type."""
    annotation = _annotation(parameter, types, kinds, title)
    extra: dict[str, Any] = {}
    if parameter.default is not parameter.empty:
        extra["json_schema_extra"] = _default(parameter.default)
    if parameter.name in notes and not _has_description(annotation):
        extra["description"] = notes[parameter.name]
    made = Annotated[annotation, Field(**extra)] if extra else annotation
    return made if _is_required(parameter) else NotRequired[made]


def _annotation(parameter: _Parameter, types: Mapping[str, Any], kinds: Kinds, title: str) -> Any:
    """Return the type of what a parameter takes: of many, a list or a record of it."""
    if parameter.name not in types:
        raise DefinitionError(
            f"{title}: the parameter {parameter.name!r} has no type, so it has no schema; "
            f"write `{parameter.name}: str`, or what it takes"
        )
    try:
        annotation = refer(_described(types[parameter.name]), kinds)
    except RecursionError:
        raise DefinitionError(
            f"{title}: the parameter {parameter.name!r} has a type that holds itself and objects; "
            "take a list of the objects in its place"
        ) from None
    match parameter.kind:
        case _Parameter.VAR_POSITIONAL:
            return python_types.GenericAlias(list, (annotation,))
        case _Parameter.VAR_KEYWORD:
            return python_types.GenericAlias(dict, (str, annotation))
    return annotation


def _is_required(parameter: _Parameter) -> bool:
    many = parameter.kind in (_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not many


def _described(annotation: Any) -> Any:
    """A bare text beside a type (`Annotated[str, "The city."]`) is its description."""
    if get_origin(annotation) is not Annotated:
        return annotation
    first, *rest = get_args(annotation)
    notes = [Field(description=note) if isinstance(note, str) else note for note in rest]
    described: Any = Annotated[(first, *notes)]
    return described


def _has_description(annotation: Any) -> bool:
    if get_origin(annotation) is not Annotated:
        return False
    notes = get_args(annotation)[1:]
    return any(isinstance(note, FieldInfo) and note.description for note in notes)


def _default(default: Any) -> dict[str, Any]:
    try:
        data = to_jsonable_python(default)
        encode(data)
    # What is not JSON is not told; it holds all the same.
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        return {}
    return {"default": data}


def caller(function: Callable[..., Any], parameters: list[_Parameter]) -> Callable[..., Any]:
    """Return a function of keywords alone, whatever kinds of parameters there are."""
    kinds = {p.kind for p in parameters}
    if kinds <= {_Parameter.POSITIONAL_OR_KEYWORD, _Parameter.KEYWORD_ONLY}:
        return function
    first = [p.name for p in parameters if p.kind is _Parameter.POSITIONAL_ONLY]
    many = next((p.name for p in parameters if p.kind is _Parameter.VAR_POSITIONAL), None)
    if many is not None:
        first = [
            p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    named = next((p.name for p in parameters if p.kind is _Parameter.VAR_KEYWORD), None)

    def call(*receiver: Any, **values: Any) -> Any:
        more = values.pop(many, []) if many else []
        keywords = values.pop(named, {}) if named else {}
        given = [values.pop(name) for name in first if name in values]
        return function(*receiver, *given, *more, **values, **keywords)

    return call
