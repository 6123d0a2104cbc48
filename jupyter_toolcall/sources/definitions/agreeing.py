"""The parts of a definition, held against one another: names that lead nowhere, and the like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import CallError, DefinitionError
from ...tools import nearest
from .endpoint import check_slots
from .format import Reference
from .reading import CONTEXT, PARAMETERS, Definition, known_names, texts_in
from .schema import Checker, is_open, names_of, property_of
from .transforms import Default

_SCALARS = {"string", "integer", "number", "boolean", "null"}


def agreed(made: Definition) -> Definition:
    """Return a definition whose parts agree. Raises DefinitionError, naming the place."""
    for default in made.defaults:
        _fits_parameters(default, made)
    for default in made.defaults:
        for reference in default.reads:
            _leads(reference, made, f"defaults.{default.key}")
    for text in texts_in(made.result):
        for reference in text.references:
            _leads(reference, made, "result")
    if made.endpoint is not None:
        check_slots(made.endpoint, known_names(made))
    if made.type == "context":
        _sets_variables(made)
    return made


def _fits_parameters(default: Default, made: Definition) -> None:
    place, names = f"defaults.{default.key}", names_of(made.parameters)
    head, dot, _ = default.key.partition(".")
    if dot and default.key not in names and _is_scalar(property_of(made.parameters, head)):
        raise DefinitionError(f"{place}: {head} is no object, so it has no parts")
    if default.action == "remove" and head not in names and not is_open(made.parameters):
        guess = nearest(head, names)
        if guess:
            raise DefinitionError(f"{place}: there is no parameter {head!r} to remove.{guess}")
    constant = default.text is None and default.action == "default"
    if constant and default.key in names:
        schema = {**made.parameters, "required": []}
        try:
            Checker(place, schema)({default.key: default.value})
        except CallError as error:
            raise DefinitionError(f"{place}: {next(iter(error.fields.values()))}") from None


def _is_scalar(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type", ())
    found = {kinds} if isinstance(kinds, str) else set(kinds)
    return bool(found) and found <= _SCALARS | {"array"}


def _leads(reference: Reference, made: Definition, place: str) -> None:
    """Raise DefinitionError for a name that is nearly one of the parameters."""
    if reference.of == "vars" or is_open(made.parameters):
        return
    known = known_names(made)
    head, dot, _ = reference.name.partition(".")
    if reference.name in known:
        return
    if dot and _is_scalar(property_of(made.parameters, head)):
        raise DefinitionError(f"{place}: {reference}: {head} is no object, so it has no parts")
    if head not in known and (guess := nearest(head, known)):
        raise DefinitionError(f"{place}: there is no parameter {head!r:.60}.{guess}")


def _sets_variables(made: Definition) -> None:
    used = {r.name.partition(".")[0] for d in made.defaults for r in d.reads if r.of == "params"}
    used |= {r.name for t in texts_in(made.result) for r in t.references if r.of == "params"}
    used |= {d.key for d in made.defaults if d.action == "remove"}
    for name in known_names(made):
        if name not in CONTEXT and name not in used:
            raise DefinitionError(
                f"{PARAMETERS}.{name}: a context tool sets {', '.join(CONTEXT)} (a message is "
                f'what to say); use it in result, or take it out: {{"{name}": "@remove"}}'
            )
