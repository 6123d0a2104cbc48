"""A JSON Schema, and the objects that there are now, as an expression of a grammar.

What the expression makes is JSON without white space that fits the schema. Two things
are told beside it: None where nothing fits now (a Plate is needed, and there is none),
and the places that are looser than the schema, since no grammar says what it asks for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...tools.references import kinds_of
from . import gbnf, patterns
from .rules import At, Rules

STRING = 200
"""Characters of a text whose schema sets no bound."""
LIST = 8
"""Items of a list, where the schema sets no smaller bound."""
REPEATS = 2
"""How often a definition may stand inside itself."""
CHAR = r'([^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt])'

_UNSAID = (
    *("uniqueItems", "multipleOf", "not", "if", "patternProperties", "propertyNames"),
    *("minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "contains"),
    *("contentEncoding", "unevaluatedProperties"),
)
"""What a schema may ask for that is not in the grammar."""


def expression(schema: Any, rules: Rules, path: str) -> str | None:
    """Return the expression for what fits a schema; None where nothing does."""
    defs = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    return _value(schema, At(rules, defs, path))


def _value(schema: Any, at: At) -> str | None:
    if schema is False:
        return None
    if not isinstance(schema, Mapping):
        return _any(at)
    for name in _UNSAID:
        if schema.get(name) not in (None, False):
            at.loosely(f"{name} is not held to")
    match schema:
        case {"$ref": ref}:
            return _defined(str(ref), at)
        case {"const": only}:
            return gbnf.plain(only)
        case {"enum": [*options]}:
            return gbnf.either(map(gbnf.plain, options)) if options else None
        case {"anyOf": [*options]}:
            return _either(_value(option, at) for option in options)
        case {"oneOf": [*options]}:
            if "discriminator" not in schema:
                at.loosely("oneOf is taken as anyOf")
            return _either(_value(option, at) for option in options)
        case {"allOf": [*parts]}:
            return _value(_merged(schema, parts, at), at)
        case {"type": [*types]}:
            return _either(_value({**schema, "type": one}, at) for one in types)
    return _typed(schema, at)


def _either(options: Iterable[str | None]) -> str | None:
    found = [option for option in options if option is not None]
    return gbnf.either(found) if found else None


def _typed(schema: Mapping[str, Any], at: At) -> str | None:
    match schema.get("type") or _implied(schema):
        case "string":
            return _string(schema, at)
        case "integer":
            return gbnf.integer(*_bounds(schema, at, 1))
        case "number":
            return gbnf.number(*_bounds(schema, at, 0))
        case "boolean":
            return at.rules.shared("boolean", '("true" | "false")')
        case "null":
            return '"null"'
        case "array":
            return _array(schema, at)
        case "object":
            return _object(schema, at)
    return _any(at)


def _implied(schema: Mapping[str, Any]) -> str:
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else ""


def _defined(ref: str, at: At) -> str | None:
    """A definition may stand inside itself, a few times: so all that is made is finite."""
    name = ref.rpartition("/")[2]
    if name not in at.defs or name in ("", "#"):
        at.loosely(f"{ref} is not to be found")
        return _any(at)
    inside = (*at.inside, name)
    level = len(inside) - len(set(inside))
    if level > REPEATS:
        return None
    if (name, level) not in at.known:
        body = _value(at.defs[name], replace(at, inside=inside))
        at.known[name, level] = at.rules.named("def", body) if body is not None else None
    return at.known[name, level]


def _merged(schema: Mapping[str, Any], parts: Sequence[Any], at: At) -> Any:
    """Return one schema that asks for what all parts do, as far as these are simple."""
    whole = {key: value for key, value in schema.items() if key != "allOf"}
    for part in parts:
        said = at.defs.get(str(part["$ref"]).rpartition("/")[2]) if "$ref" in part else part
        if not isinstance(said, Mapping) or not {"$ref", "anyOf", "oneOf"}.isdisjoint(said):
            if len(parts) == 1:
                return part
            at.loosely("allOf is not held to")
            return True
        properties = {**whole.get("properties", {}), **said.get("properties", {})}
        required = [*whole.get("required", ()), *said.get("required", ())]
        more = {"properties": properties} if properties else {}
        whole = {**whole, **said, **more, **({"required": required} if required else {})}
    return whole


# -- texts and numbers ---------------------------------------------------------------------


def _string(schema: Mapping[str, Any], at: At) -> str | None:
    if kinds := kinds_of(schema):
        return _object_name(kinds, at)
    least, most = int(schema.get("minLength", 0)), schema.get("maxLength")
    most = max(least, STRING) if most is None else min(int(most), max(least, STRING))
    body = None
    if said := schema.get("pattern") or patterns.FORMATS.get(schema.get("format", "")):
        body = patterns.expression(str(said))
        bounded = "minLength" in schema or "maxLength" in schema
        if body is None or bounded:
            at.loosely(f"the pattern {said} is not held to")
            body = None
    elif "format" in schema and schema["format"] not in patterns.FREE:
        at.loosely(f"the format {schema['format']} is not held to")
    if least > most:
        return None
    text = at.rules.shared("char", CHAR)
    return f'"\\"" {body or gbnf.times(text, least, most)} "\\""'


def _object_name(kinds: Iterable[str], at: At) -> str | None:
    """The objects of a type are numbered from 1 to the newest."""
    names = (at.rules.newest[kind] for kind in kinds if kind in at.rules.newest)
    found = []
    for name in names:
        kind, _, number = name.partition("#")
        head = gbnf.literal(f'"{kind}#')
        found.append(f'{head} {gbnf.integer(1, int(number))} "\\""')
    return gbnf.either(found) if found else None


def _bounds(schema: Mapping[str, Any], at: At, step: int) -> tuple[int | None, int | None]:
    """Return the least and the most; `step` is what lies next to a bound that is left out."""
    least, most = schema.get("minimum"), schema.get("maximum")
    below, above = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if step and below is not None:
        least = below // 1 + 1
    if step and above is not None:
        most = -(-above // 1) - 1
    bounds = (least, most)
    fine = step or (below is None and above is None and all(map(_whole, bounds)))
    if not fine:
        at.loosely("the bounds are not held to")
        return None, None
    low = None if least is None else -int(-least // 1)
    return low, None if most is None else int(most // 1)


def _whole(bound: Any) -> bool:
    return bound is None or bound == int(bound)


# -- lists and objects -----------------------------------------------------------------------


def _array(schema: Mapping[str, Any], at: At) -> str | None:
    fixed = schema.get("prefixItems", ())
    if fixed:
        parts = [_value(part, at.under(str(place))) for place, part in enumerate(fixed)]
        kept = [part for part in parts if part is not None]
        inside = ' "," '.join(kept)
        return f'"[" {inside} "]"' if len(kept) == len(parts) else None
    least = int(schema.get("minItems", 0))
    most = min(int(schema.get("maxItems", LIST)), max(LIST, least))
    item = _value(schema.get("items", True), at.under("items")) if most > 0 else None
    if least > most or (item is None and least > 0):
        return None
    return gbnf.listed(item or "", least, most if item is not None else 0)


def _object(schema: Mapping[str, Any], at: At) -> str | None:
    properties = schema.get("properties", {})
    required = list(dict.fromkeys(schema.get("required", ())))
    more = schema.get("additionalProperties", True)
    if not (properties or required):
        return _map(more, at)
    parts = {**properties, **{name: more for name in required if name not in properties}}
    members: list[tuple[str, bool]] = []
    for name, part in parts.items():
        value, needed = _value(part, at.under(name)), name in required
        if value is None and needed:
            return None
        if value is not None:
            members.append((f"{gbnf.literal(_key(name))} {value}", needed))
    return f'"{{" {_members(members, at.rules)} "}}"'


def _key(name: str) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}:"


def _members(members: Sequence[tuple[str, bool]], rules: Rules) -> str:
    """Return the expression for members in this order, those that may be left out too."""
    rest, first = '""', '""'
    for member, needed in reversed(members):
        begun = f"{member} {rest}"
        first = begun if needed else f"({begun} | {first})"
        later = f'"," {member}' if needed else f'("," {member})?'
        rest = rules.named("rest", f"{later} {rest}") if not needed else f"{later} {rest}"
    return first


def _map(more: Any, at: At) -> str:
    """Keys of the model's own may come twice, which no grammar of this kind can forbid."""
    if more is False:
        return '"{}"'
    at.loosely("any keys")
    value = _value(more, at.under("values"))
    return _keyed(value, at) if value is not None else '"{}"'


def _keyed(value: str, at: At) -> str:
    text = at.rules.shared("char", CHAR)
    member = f'"\\"" {gbnf.times(text, 1, 40)} "\\":" {value}'
    more = gbnf.times(f'"," {member}', 0, LIST - 1)
    return f'"{{" ({member} {more})? "}}"'


def _any(at: At) -> str:
    """Return the expression for any JSON, two levels deep."""
    at.loosely("any JSON")
    text = at.rules.shared("char", CHAR)
    scalar = (
        f'("null" | "true" | "false" | {gbnf.number()} | "\\"" {gbnf.times(text, 0, STRING)} "\\"")'
    )
    value = at.rules.shared("json-0", scalar)
    for level in range(1, 3):
        nested = f"({value} | {gbnf.listed(value, 0, LIST)} | {_keyed(value, at)})"
        value = at.rules.shared(f"json-{level}", nested)
    return value
