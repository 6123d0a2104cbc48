"""The arguments of a call: read from JSON text, checked to be JSON, and validated.

Nothing doubtful is guessed: a model is any function, and a person writes Python, so that
arguments may hold anything.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from enum import Flag
from operator import or_
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, core_schema, to_jsonable_python

from ..core.digests import encode
from ..core.errors import CallError, DefinitionError, ToolcallError
from ..core.events import Call
from ..core.interface_text import joined, t
from ..core.interrupts import attempt, class_name
from ..core.json_data import replaced_at, unique_keys
from ..core.recorded_data import FrozenDict, FrozenList, JsonDict, JsonObject, LazyDict, copied
from ..core.state import NAME
from ..core.text import nearest
from .json_structure import structure_of
from .lossless_validation import lossless_validator
from .object_references import kinds_of
from .object_types import leaf_kind, strict_dict
from .plain_data import well_formed
from .tool import Check, Resolve

MAX_LENGTH = 1_000_000
"""Characters of one call's arguments."""
MAX_DEPTH = 64
"""Levels of lists and objects in one call's arguments."""
_TOO_DEEP = f"the arguments are nested deeper than {MAX_DEPTH} levels"

# -- JSON text ----------------------------------------------------------------------------


def parse_arguments(text: str) -> JsonDict:
    """Return the arguments in a JSON text; an empty text holds none.

    Raises ValueError, which says what is wrong, unless the text is one object of plain JSON:
    no NaN or Infinity, no key twice, no broken Unicode, nothing too long or too deep.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the arguments are longer than {MAX_LENGTH:,} characters")
    arguments = parse_json(text) if text.strip() else {}
    if not isinstance(arguments, dict):
        raise ValueError("the arguments are not a JSON object")
    if is_too_deep(arguments):
        raise ValueError(_TOO_DEEP)
    return arguments


def parse_json(text: str) -> object:
    """Return the data in a JSON text. Raises ValueError, which says what is wrong."""
    try:
        data = json.loads(
            text,
            object_pairs_hook=unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
        json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"the arguments are not valid JSON: {error}") from None
    except UnicodeEncodeError:
        raise ValueError("the arguments hold half of a Unicode character") from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return data


def _refuse_constant(name: str) -> object:
    raise ValueError(f"the arguments hold {name}, which is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the arguments hold a number that is too large: {digits[:40]}")
    return number


def is_too_deep(data: object) -> bool:
    """Return whether JSON data has more than MAX_DEPTH levels of lists and objects."""
    level: list[Any] = [[data]]
    depth = -1
    while level and depth < MAX_DEPTH:
        inner = (
            container.values() if isinstance(container, dict) else container for container in level
        )
        level = [part for parts in inner for part in parts if isinstance(part, (dict, list))]
        depth += 1
    return bool(level)


# -- JSON data ----------------------------------------------------------------------------


class ObjectNames:
    """Names the live values in arguments: none of them, where a model gives the arguments."""

    def kind(self, value: object) -> str | None:
        """Return the type of a value that is an object; None for one that may be plain data."""
        return None

    def name(self, value: Any, kind: str) -> str:
        """Return the name of the object of a value of this type. Raises TypeError for no object."""
        raise TypeError(f"a {kind} is not JSON")


NO_NAMES = ObjectNames()


def plain_arguments(arguments: object, objects: ObjectNames = NO_NAMES) -> dict[str, Any]:
    """Return arguments as JSON data, with the names of objects in place of live values.

    Raises CallError, which says what is not JSON.
    """
    if not isinstance(arguments, (dict, Mapping)):
        raise CallError('the arguments are not an object, such as {"name": "value"}')
    if _is_short_and_flat(arguments):
        return dict(arguments)
    data: JsonDict = _plain(arguments, "", 0, objects)
    try:
        size = len(encode(data))
    except ValueError:
        raise CallError("the arguments hold a number that is too long") from None
    if size > MAX_LENGTH:
        raise CallError(f"the arguments are longer than {MAX_LENGTH:,} characters ({size:,})")
    return data


def _is_short_and_flat(arguments: Mapping[Any, Any]) -> bool:
    """Return whether arguments are a few scalars, which need no further check."""
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


_JSON = frozenset((type(None), bool, int, float, str, dict, list, tuple, FrozenDict, FrozenList))


def _plain(value: object, path: str, depth: int, objects: ObjectNames) -> Any:
    if depth > MAX_DEPTH:
        raise CallError(_TOO_DEEP)
    # An object may be a dict or a text too.
    if depth and type(value) not in _JSON and (kind := objects.kind(value)):
        return objects.name(value, kind)
    match value:
        case None | bool() | int():
            return value
        case str():
            return _plain_text(value, path)
        case float():
            if not math.isfinite(value):
                raise _not_json(path, f"{value} is not JSON; give a finite number, or leave it out")
            return value
        case dict() | Mapping():
            return {
                _plain_key(k, path): _plain(v, f"{path}.{k}", depth + 1, objects)
                for k, v in value.items()
            }
        case list() | tuple():
            return [_plain(item, f"{path}.{i}", depth + 1, objects) for i, item in enumerate(value)]
    # A program writes a date, or a number of a table, as Python has it.
    data, raised = attempt(_with_names, value, objects)
    if raised or isinstance(value, (bytes, bytearray)):
        kind = type(value).__name__
        raise _not_json(path, f"a {kind} is not JSON; name an object instead, such as {kind}#1")
    return _plain(data, path, depth + 1, objects)


def _with_names(value: object, objects: ObjectNames) -> object:
    structure = structure_of(value, objects.kind, leaf_kind)
    if structure.unnamed:
        raise ValueError("it holds too many objects")
    data = to_jsonable_python(structure.value)
    for held in structure.objects:
        name = objects.name(held.value, held.kind)
        data = replaced_at(data, tuple(map(str, held.path)), name)
    return data


def _plain_text(text: str, path: str) -> str:
    if not text.isascii() and well_formed(text) != text:
        raise _not_json(path, "the text holds half of a Unicode character")
    return text


def _plain_key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise _not_json(path, f"the key {key!r:.60} is not a text; keys are texts in JSON")
    return _plain_text(key, path)


def _not_json(path: str, problem: str) -> CallError:
    argument = path.strip(".")[:80] or "arguments"
    return CallError(f"{argument}: {problem}", {argument: problem})


def writable_call(call: Call) -> Call:
    """Return a call that the journal can hold; one whose arguments are not JSON is `broken`."""
    call_id, tool = well_formed(str(call.id)[:200]), well_formed(str(call.tool)[:200])
    try:
        return Call(call_id, tool, plain_arguments(call.arguments), call.broken)
    except CallError as error:
        return Call(call_id, tool, {}, call.broken or str(error))


# -- validation ---------------------------------------------------------------------------


class LazySchema(LazyDict):
    """A JSON Schema that is computed when it is first read: a toolbox may have thousands."""

    def __init__(self, compute: Callable[[], JsonDict]) -> None:
        super().__init__(lambda: well_formed(compute()))


class _Schema(GenerateJsonSchema):
    """A JSON Schema that leaves out the defaults that are not JSON, such as NaN or an object."""

    ignored_warning_kinds = frozenset({"non-serializable-default"})  # type: ignore[assignment]

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonDict:
        """Return the schema of an enum; flags may be combined, as the sum of their numbers."""
        described = super().enum_schema(schema)
        if not issubclass(flags := schema["cls"], Flag):
            return described
        most = functools.reduce(or_, flags, flags(0)).value
        names = ", ".join(f"{name} = {flag.value}" for name, flag in flags.__members__.items())
        about = f"{described.get('description', '')} The sum of any of these: {names}".strip()
        # Of many flags the list of all sums would fill the request.
        sums = [n for n in range(min(most + 1, 64)) if n | most == most]
        limits = {"enum": sums} if most < 64 else {"minimum": 0, "maximum": most}
        return {"title": flags.__name__, "type": "integer", **limits, "description": about}

    def encode_default(self, dft: object) -> object:
        """Return a default as JSON data. Raises PydanticSerializationError."""
        try:
            data = super().encode_default(dft)
            encode(data)
        # A default may be any object, whose own code may raise anything.
        except Exception as error:
            raise PydanticSerializationError(f"{error!r:.200}") from None
        return data


_NO_SCHEMA = (PydanticSchemaGenerationError, PydanticUserError, TypeError, RecursionError)


def arguments_adapter(
    title: str, fields: Mapping[str, object]
) -> tuple[TypeAdapter[Any], JsonDict]:
    """Return what validates arguments with these types, and their JSON Schema.

    Raises DefinitionError, which names the parameter whose type has no schema.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(strict_dict(title, fields))
        schema = adapter.json_schema(schema_generator=_Schema)
    except _NO_SCHEMA:
        for name, annotation in fields.items():
            try:
                TypeAdapter(strict_dict(name, {name: annotation})).json_schema()
            except _NO_SCHEMA as error:
                reason = str(error).splitlines()[0].rstrip(".")
                raise DefinitionError(
                    f"{title}: the parameter {name!r} has a type that has no JSON Schema "
                    f"({reason}); take plain data (str, int, list, a dataclass, a pydantic model) "
                    "or an object's class"
                ) from None
        raise
    schema.pop("title", None)
    for part in schema.get("properties", {}).values():
        part.pop("title", None)
    return adapter, schema


def argument_check(title: str, adapter: TypeAdapter[Any], schema: Mapping[str, object]) -> Check:
    """Return the `check` of a tool; an error tells of the arguments as the schema has them."""
    validator = functools.cache(lambda: lossless_validator(adapter))

    def check(arguments: JsonObject, resolve: Resolve) -> JsonDict:
        try:
            read = validator().validate_python
            checked: JsonDict = read(copied(arguments), context=resolve)
        except ValidationError as error:
            raise wrong_arguments(title, _problems(error, schema)) from None
        except ToolcallError:
            raise
        # The classes of a signature are the tool's own code, and may raise anything.
        except Exception as error:
            reason = f"{class_name(type(error))}: {attempt(str, error)[0]}"
            raise CallError(f"{title}: an argument cannot be read: {reason}") from None
        return checked

    return check


_FUNCTION = re.compile(r"function-(before|after|wrap|plain)\[")


def _problems(error: ValidationError, schema: JsonObject) -> dict[str, str]:
    """Return what is wrong with each argument, as the model or the person at the form reads it."""
    problems: dict[str, str] = {}
    properties, defs = schema.get("properties", {}), schema.get("$defs", {})
    for detail in error.errors(include_url=False):
        # A choice of a union that a function checks has no name of its own.
        parts = (str(part) for part in detail["loc"])
        path = ".".join(part for part in parts if not _FUNCTION.match(part)) or "arguments"
        problem = detail["msg"].removeprefix("Value error, ")
        if detail["type"] == "extra_forbidden":
            problem = unknown_argument(path, properties)
        elif detail["type"] == "missing":
            problems[path] = _missing(path, properties.get(path, {}), defs)
            continue
        elif detail["type"] == "unknown_key" and "names" in (context := detail["ctx"]):
            problem = unknown_argument(str(detail["loc"][-1]), context["names"])
        # A message that begins with an object's name keeps its capital letter.
        problem = problem if NAME.match(problem) else problem[:1].lower() + problem[1:]
        translate = _FREQUENT.get(detail["type"])
        translated = translate(detail.get("ctx", {})) if translate else ""
        # What a model reads is never changed by a translation.
        problems.setdefault(path, translated if translated == problem else problem)
    return problems


def _missing(name: str, part: JsonObject, defs: JsonObject) -> str:
    """Return what is to be done about an argument that was left out; `part` is its schema."""
    part = defs.get(str(part.get("$ref")).rpartition("/")[2], part)
    choices = [*map(repr, part.get("enum", [part["const"]] if "const" in part else ()))]
    choices += [f"{kind}#1" for kind in kinds_of(part)]
    if not choices:
        return t("Give a value")
    listed = " or ".join(choices)
    if name[0] in "aeiouAEIOU":
        return t("Choose an %1, such as %2", name, listed)
    return t("Choose a %1, such as %2", name, listed)


_FREQUENT: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "int_type": lambda c: t("input should be a valid integer"),
    "float_type": lambda c: t("input should be a valid number"),
    "string_type": lambda c: t("input should be a valid string"),
    "bool_type": lambda c: t("input should be a valid boolean"),
    "list_type": lambda c: t("input should be a valid list"),
    "literal_error": lambda c: t("input should be %1", c["expected"]),
    "enum": lambda c: t("input should be %1", c["expected"]),
    "greater_than_equal": lambda c: t("input should be greater than or equal to %1", str(c["ge"])),
    "greater_than": lambda c: t("input should be greater than %1", str(c["gt"])),
    "less_than_equal": lambda c: t("input should be less than or equal to %1", str(c["le"])),
    "less_than": lambda c: t("input should be less than %1", str(c["lt"])),
}
"""The frequent messages of pydantic as texts that a panel translates, by the types of errors."""


def unknown_argument(name: str, names: Collection[str]) -> str:
    """Return what is wrong with an argument that does not exist, and those that do."""
    existing = f"there {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"
    return f"there is no such argument; {existing}.{nearest(name, names)}".rstrip(".")


def resolve_receiver(kind: str, name: object, types: tuple[type, ...], resolve: Resolve) -> object:
    """Return the object that a method works on. Raises CallError."""
    if name is None:
        raise CallError(f"{kind}: there is no {kind} yet; make one first")
    if not isinstance(name, str):
        raise CallError(f"{kind}: must be the name of an object, such as {kind}#1")
    return resolve(name, types)


def wrong_arguments(title: str, problems: Mapping[str, str]) -> CallError:
    """Return the error, in one line, about arguments of a tool; `problems` are by argument."""
    listed = [*problems.items()][:8]
    texts = [joined(": ", [name_in_line(path), problem]) for path, problem in listed]
    message = joined(": ", [title, joined("; ", texts)])
    return CallError(message if len(message) <= 2000 else message[:2000], dict(problems))


def name_in_line(name: str) -> str:
    """Return a name that a model invented so that it fits into a line."""
    return name if name.isprintable() and len(name) <= 200 else f"{name!r:.200}"
