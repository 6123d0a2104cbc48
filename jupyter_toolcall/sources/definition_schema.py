"""The JSON Schema of a definition's parameters: read once, and checked against each call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from math import isfinite
from typing import Any
from urllib.parse import unquote

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from ..core.errors import DefinitionError
from ..core.json_data import nested, replaced_at
from ..core.recorded_data import JsonDict
from ..core.text import nearest
from ..tools.arguments import wrong_arguments
from .definition_dialects import Note, Schema, at_pointer, current_schema, object_schema

Ignored = Callable[[str, bool], bool]
"""Whether an argument, by its name, is not checked; the flag says that a part is missing."""
_NAMING = ("properties", "$defs", "patternProperties")
"""What makes an object a schema, where it has no type."""
_KEYWORDS = ("anyOf", "oneOf", "allOf", "$ref", "required", "additionalProperties")
_MAX_PASSES = 8
"""Levels of lists and objects that are read from JSON texts inside JSON texts."""
_MOST_CHECKS = 100_000
"""Schemas that check one value, which takes some milliseconds."""


def read_schema(parameters: object, where: str, note: Note = lambda line: None) -> JsonDict:
    """Return the schema that `parameters` are, as one of draft 2020-12.

    A bare map of properties is wrapped into a schema; `note` is told what was read as what.

    Raises DefinitionError, naming the place in it.
    """
    if not isinstance(parameters, Mapping):
        raise DefinitionError(f"{where}: {parameters!r:.60} is no JSON Schema, such as {{}}")
    is_bare = not _is_schema(parameters)
    bare = {"type": "object", "properties": parameters, "required": []}
    # Arguments are never null, even if a schema says that they may be: a call without any has none.
    schema = current_schema(bare if is_bare else {**parameters, "nullable": False}, note)
    kinds = schema.get("type", "object")
    if isinstance(kinds, list) and "object" in kinds:
        schema["type"] = "object"
    try:
        schema_validator(schema)
    except ValidationError as error:
        path, message = _mistake(error, schema)
        at = ".".join((where, *(path[1:] if is_bare and path[:1] == ["properties"] else path)))
        raise DefinitionError(f"{at}: {' '.join(message.split())[:200]}") from None
    except ValueError as error:
        raise DefinitionError(f"{where}: {error}") from None
    if schema.get("type", "object") != "object":
        raise DefinitionError(f"{where}.type: {kinds!r:.60}; arguments are an object")
    return schema


def _is_schema(parameters: Schema) -> bool:
    """Every value of a bare map is a schema itself; those of a schema are not."""
    if not parameters or isinstance(parameters.get("type"), (str, list)):
        return True
    for word in _NAMING:
        inside = parameters.get(word)
        if isinstance(inside, Mapping) and all(
            isinstance(part, (Mapping, bool)) for part in inside.values()
        ):
            return True
    return any(not isinstance(value, Mapping) for value in parameters.values()) and any(
        word in parameters for word in _KEYWORDS
    )


def schema_validator(
    schema: Schema | bool, patterns: RegexOptions | None = None, formats: bool = False
) -> Draft202012Validator:
    """Return what checks values; `patterns` says how patterns are matched, `formats` whether a
    `format` such as "email" is checked, and not only a note.

    Raises ValidationError for what is no schema, ValueError for one whose check would not end.
    """
    plain = json.loads(json.dumps(schema))
    _InPlace(plain).demand_few()
    return Draft202012Validator(
        plain,
        validate_formats=formats,
        ignore_unknown_formats=not formats,
        retriever=_refuse_to_fetch,
        pattern_options=patterns,
    )


_WORDS_OF = {
    "number": {"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"},
    "string": {"pattern", "maxLength", "minLength", "format"},
    "array": {"items", "prefixItems", "contains", "maxItems", "minItems", "uniqueItems"},
    "object": {"properties", "patternProperties", "additionalProperties", "required"}
    | {"propertyNames", "maxProperties", "minProperties", "dependentRequired", "dependentSchemas"},
}
"""The words of JSON Schema that judge values of one type alone."""


def condition(schema: object, runs: bool) -> Draft202012Validator:
    """Return what checks values against a rule's condition, where a mistake must not run a call.

    JSON Schema passes over a word that it does not have, and judges by `maximum` numbers alone: the
    text "5000" fits `{"maximum": 10}`. Here such a word is an error, and with `runs` a value fits
    only if it is of a type that the words are about.

    Raises ValidationError or ValueError for what is no schema, or has a word that is none of it.
    """
    if not isinstance(schema, Mapping | bool):
        raise ValueError(f'for one value write {{"const": {json.dumps(schema, default=repr):.60}}}')
    errors = _conditions().iter_errors(schema)
    if error := max(errors, key=lambda error: len(error.instance_path), default=None):
        unknown = error.kind.as_dict().get("unexpected", ())
        raise ValueError(f"there is no word {unknown[0]!r:.60}" if unknown else error.message)
    return schema_validator(_typed(schema) if runs else schema, RegexOptions(), formats=True)


@cache
def _conditions() -> Draft202012Validator:
    """Return what checks conditions: at any depth they have the words of the draft, `madeFrom`, and
    no others."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    extended = {"$schema": draft, "$id": "urn:condition", "$dynamicAnchor": "meta", "$ref": draft}
    words = {"properties": {"madeFrom": {"type": "string"}}, "unevaluatedProperties": False}
    return Draft202012Validator({**extended, **words})


def _typed(schema: object) -> Any:
    """Return a schema that says of which types its words are, where it does not say so itself.

    What stands below `not`, `if` and `oneOf` stays as it is: there a value that fits less often
    could let more calls run.
    """
    if not isinstance(schema, Mapping):
        return schema
    types = [kind for kind, words in _WORDS_OF.items() if words & schema.keys()]
    typed = {"type": types, **schema} if types else {**schema}
    for word, part in schema.items():
        if word in ("properties", "patternProperties"):
            typed[word] = {name: _typed(inner) for name, inner in part.items()}
        elif word in ("allOf", "anyOf", "prefixItems"):
            typed[word] = [*map(_typed, part)]
        elif word in ("items", "additionalProperties"):
            typed[word] = _typed(part)
    return typed


class _InPlace:
    """Counts the schemas that check one value, through references.

    Twenty definitions that each refer to the next one twice are a million checks. The validator
    makes them without a look at interrupts, so a schema from outside could stop the kernel.
    """

    def __init__(self, root: object) -> None:
        self._schemas = [part for part in nested(root) if isinstance(part, dict)]
        self._roots = [part for part in self._schemas if part is root or "$id" in part]
        self._counts: dict[int, int] = {}

    def demand_few(self) -> None:
        """Raise ValueError where one value would be checked by too many schemas."""
        try:
            most = max(map(self._count, self._schemas), default=0)
        except RecursionError:
            raise ValueError("its references lead too deep") from None
        if most > _MOST_CHECKS:
            raise ValueError(f"a value would be checked by more than {_MOST_CHECKS:,} schemas")

    def _count(self, schema: object) -> int:
        if not isinstance(schema, dict):
            return 1
        if id(schema) not in self._counts:
            # A reference that leads back to its own schema adds no check.
            self._counts[id(schema)] = 0
            self._counts[id(schema)] = 1 + sum(map(self._count, self._children(schema)))
        return self._counts[id(schema)]

    def _children(self, schema: JsonDict) -> Iterator[object]:
        """Yield the schemas that check the same value as this one."""
        for word, part in schema.items():
            if word in ("$ref", "$dynamicRef") and isinstance(part, str):
                yield from self._targets(part)
            elif word in ("allOf", "anyOf", "oneOf") and isinstance(part, list):
                yield from part
            elif word in ("dependentSchemas", "dependencies") and isinstance(part, dict):
                yield from part.values()
            elif word in ("not", "if", "then", "else"):
                yield part

    def _targets(self, ref: str) -> Iterator[object]:
        """Yield all schemas that a reference may lead to; with `$id` these can be several."""
        address, _, fragment = ref.partition("#")
        if fragment and not fragment.startswith("/"):
            anchors = ("$anchor", "$dynamicAnchor")
            yield from (s for s in self._schemas if fragment in map(s.get, anchors))
            return
        last = address.rpartition("/")[2]
        for root in self._roots:
            if not address or str(root.get("$id", "")).rstrip("#").rpartition("/")[2] == last:
                yield from at_pointer(root, unquote(fragment))


def _refuse_to_fetch(address: str) -> Any:
    raise ValueError("nothing is fetched for a definition")


def _mistake(error: ValidationError, schema: Schema) -> tuple[list[str], str]:
    """Return the place in a schema that is wrong, and what is wrong there."""
    for path, ref in _references(schema):
        # The error of a reference names where it leads, and not where it stands.
        address, _, pointer = ref.partition("#")
        if f"'{address or pointer}'" in error.message:
            return path, f"{ref!r:.80} leads to nothing in these parameters: {error.message}"
    inner = [inner_error for branch in getattr(error.kind, "context", ()) for inner_error in branch]
    deepest = max(inner, key=lambda inner_error: len(inner_error.instance_path), default=error)
    return [str(step) for step in deepest.instance_path], _message(deepest)


def _references(part: Any) -> Iterator[tuple[list[str], str]]:
    items = part.items() if isinstance(part, Mapping) else enumerate(part)
    for key, value in items:
        if key in ("$ref", "$dynamicRef") and isinstance(value, str):
            yield [key], value
        elif isinstance(value, (Mapping, list)):
            yield from (([str(key), *path], ref) for path, ref in _references(value))


def _message(error: ValidationError) -> str:
    """Return what is wrong, with all that would be right."""
    if error.kind.name != "enum":
        return str(error.message)
    allowed = ", ".join(json.dumps(option) for option in error.kind.as_dict()["options"])
    return f"{json.dumps(error.instance)} is not one of {allowed}"


def property_names(schema: Schema) -> tuple[str, ...]:
    """Return the parameters that a schema names, in any of its choices."""
    return tuple(object_schema(schema).get("properties", {}))


def is_open(schema: Schema) -> bool:
    """Return whether a schema takes arguments that it does not name."""
    schema = object_schema(schema)
    words = ("additionalProperties", "patternProperties")
    is_silent = not any(word in schema for word in ("properties", *words))
    return is_silent or any(schema.get(word, False) is not False for word in words)


# -- the arguments of a call --------------------------------------------------------------


class ArgumentChecker:
    """Checks arguments against one schema, after it converted what a text spells.

    `title` begins its errors; `also` are names that the schema lacks and a call may have.
    """

    def __init__(
        self,
        title: str,
        schema: Schema,
        also: Iterable[str] = (),
        ignored: Ignored = lambda name, missing: False,
    ) -> None:
        schema = current_schema(schema)
        self.title, self.ignored = title, ignored
        self._validator = schema_validator(schema)
        self.names, self.is_open = property_names(schema), is_open(schema)
        self.also = tuple(also)

    def __call__(self, arguments: Mapping[str, object]) -> JsonDict:
        """Return the arguments: "7" is 7 to an integer. Raises CallError.

        A value that fits as it is stays as it is.
        """
        converted = self._converted(dict(arguments))
        fields = dict(filter(None, map(self._problem, self._validator.iter_errors(converted))))
        if not self.is_open:
            there, names = ", ".join(self.names) or "none", (*self.names, *self.also)
            fields |= {
                key: f"there is no such argument; there are: {there}.{nearest(key, names)}"
                for key in converted
                if key not in names
            }
        if fields:
            raise wrong_arguments(self.title, fields)
        return converted

    def _problem(self, error: ValidationError) -> tuple[str, str] | None:
        """Return the place of an error and what is wrong there; None where it is ignored."""
        path = [str(part) for part in error.instance_path]
        missing = error.kind.name == "required"
        if missing:
            path.append(error.kind.as_dict()["property"])
        # Names that the schema lacks are listed beside this, with the nearest that it has.
        is_of_names = error.kind.name in ("additionalProperties", "falseSchema") and not path
        is_listed = is_of_names and not self.is_open
        if is_listed or self.ignored(path[0] if path else "", missing or not path):
            return None
        return ".".join(path) or "arguments", "is missing" if missing else _message(error)[:200]

    def _converted(self, arguments: JsonDict) -> JsonDict:
        for _ in range(_MAX_PASSES):
            changes: dict[tuple[str | int, ...], Any] = {}
            for error in self._validator.iter_errors(arguments):
                for path, value, types in _type_errors(error):
                    converted = _spelled(value, types)
                    if path and converted is not value and not self.ignored(str(path[0]), False):
                        changes.setdefault(path, converted)
            if not changes:
                break
            for path, converted in changes.items():
                arguments = replaced_at(arguments, tuple(map(str, path)), converted)
        return arguments


def _type_errors(
    error: ValidationError,
) -> Iterator[tuple[tuple[str | int, ...], object, list[str]]]:
    """Yield the place, the value and the types of each wrong type, in choices too."""
    if error.kind.name == "type":
        yield tuple(error.instance_path), error.instance, error.kind.as_dict()["types"]
    for branch in getattr(error.kind, "context", ()):
        for inner in branch:
            yield from _type_errors(inner)


def _spelled(value: object, types: list[str]) -> object:
    """Return what a text spells in JSON, or the text of a number, as one of the types.

    The value itself where it spells none of them.
    """
    if type(value) in (int, float) and "string" in types:
        return json.dumps(value)
    if not isinstance(value, str):
        return value
    text = value.strip()
    try:
        parsed = json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except (ValueError, RecursionError):
        return value
    is_number = type(parsed) is not float or isfinite(parsed)
    fits = is_number and any(name in types for name in _TYPES.get(type(parsed), ()))
    return parsed if fits else value


_TYPES: Mapping[type, tuple[str, ...]] = {
    **{bool: ("boolean",), int: ("integer", "number"), float: ("number",)},
    **{list: ("array",), dict: ("object",)},
}
"""The names in JSON Schema of the types that a text may spell."""
