"""The schema of a tool's arguments, and their check: what is wrong is said to who gave them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from ..errors import CallError, DefinitionError
from .kinds import strict_dict
from .references import NAME
from .tool import Check, Resolve, misfits, nearest

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
