"""A validator that takes all that the JSON Schema of a type offers, and loses nothing of it.

pydantic drops keys that a record does not have, takes one of two spellings of a field, and lets
dict keys become one key. A tool would then get something else than what the person was shown, so
each record, dict and set in the core schema of a type is checked as well.

What is checked is JSON as Python has it, in which live values stand where a name stood for plain
data. So a strict type takes here what it takes in JSON: a date as a text, a tuple as a list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, SchemaValidator, core_schema

from ..core.interrupts import attempt
from ..core.json_data import unique_keys
from ..core.recorded_data import JsonDict, JsonObject

Path = tuple[str | int, ...]
_NO_SCHEMAS = frozenset({"config", "default", "expected", "metadata", "serialization"})
"""The keys of a core schema that hold other data than core schemas."""
_FORMS = ("json", "python")
_TIMES = frozenset({"date", "datetime", "time", "timedelta"})
_OF_PYTHON = _TIMES | {
    *("uuid", "url", "multi-host-url", "bytes", "decimal", "enum", "complex", "lax-or-strict"),
    *("tuple", "set", "frozenset", "generator", "model", "dataclass"),
}
"""The types that JSON writes as others: where they are strict, pydantic takes instances alone."""
_LOSSES = ("unknown_key", "repeated_key", "collision", "repeated_in_text")
_RECORDS = ("model-fields", "typed-dict", "dataclass-args")


def lossless_validator(adapter: TypeAdapter[Any]) -> SchemaValidator:
    """Return a validator of a type that refuses what pydantic would drop.

    That is an unknown key of a record without `extra="allow"`, a field that is given under two
    names, and keys or items that become one. The type's own config says whether itself takes
    unknown keys.
    """
    # pydantic would otherwise take the validator that a class has already, which checks nothing.
    return SchemaValidator(_checked(adapter.core_schema, {}, True), _use_prebuilt=False)


def _checked(node: object, config: Mapping[str, object], is_root: bool = False) -> Any:
    """Return a core schema, or what holds core schemas, with a check of each container."""
    if isinstance(node, (list, tuple)):
        return type(node)(_checked(part, config) for part in node)
    if not isinstance(node, dict):
        return node
    if not isinstance(kind := node.get("type"), str):
        return {name: _checked(part, config) for name, part in node.items()}
    config = node.get("config", config)
    # Definitions stand around the type itself.
    holds_root = is_root and kind == "definitions"
    checked = dict(node)
    for key in node.keys() - _NO_SCHEMAS:
        checked[key] = _checked(node[key], config, holds_root and key == "schema")
    if kind in _OF_PYTHON:
        checked["strict"] = False
        if kind in _TIMES and node.get("strict", config.get("strict")):
            return _with_check(_no_number, checked)
    if kind == "literal" and any(isinstance(choice, Enum) for choice in node["expected"]):
        member = _member_of(node["expected"])
        return core_schema.no_info_plain_validator_function(member, ref=node.get("ref"))
    if kind == "enum" and any(isinstance(member.value, tuple) for member in node["members"]):
        return _with_check(_tuples, checked)
    if kind == "json-or-python":
        # The names of the choices are left out where an error is told.
        forms: Any = [(checked[f"{form}_schema"], f"function-plain[{form}]") for form in _FORMS]
        return core_schema.union_schema(forms, mode="left_to_right", ref=checked.get("ref"))
    # The keys of JSON are texts: only another type lets two of them become one.
    if "keys_schema" in node and "type" in checked["keys_schema"]:
        checked["keys_schema"]["strict"] = False
    if "keys_schema" in node or kind in ("set", "frozenset"):
        return _with_check(_uncollided, checked, core_schema.no_info_wrap_validator_function)
    if kind == "json":
        return _with_check(_unique, checked)
    if kind == "generator":
        # The items of an iterator are checked before the tool has it.
        items = {**checked, "type": "list"}
        return core_schema.no_info_after_validator_function(iter, items, ref=items.pop("ref", None))
    if kind == "model" and node.get("custom_init"):
        # An `__init__` of the class's own gets all keys, and validates them by pydantic alone.
        first = core_schema.no_info_wrap_validator_function(_lossless, checked["schema"])
        return core_schema.chain_schema([first, checked], ref=checked.pop("ref", None))
    if kind in _RECORDS and (record := _RecordCheck(node, config, is_root)).is_needed:
        return _with_check(record.check, checked)
    return checked


Check = Callable[..., object]
_BEFORE: Check = core_schema.no_info_before_validator_function


def _with_check(check: Check, node: JsonDict, add: Check = _BEFORE) -> object:
    """Return a core schema whose values are checked, by default before they are validated."""
    # What refers to the schema gets the checked one.
    return add(check, node, ref=node.pop("ref", None))


def _lossless(value: object, read: Callable[[Any], object]) -> object:
    """Return a value as it is. Raises ValidationError if a part of it would be lost."""
    try:
        read(value)
    except ValidationError as error:
        # What else is wrong, the `__init__` may mend.
        problems = list[InitErrorDetails]()
        for detail in (detail for detail in error.errors() if detail["type"] in _LOSSES):
            loss = PydanticCustomError(detail["type"], detail["msg"], detail.get("ctx"))
            problems.append(InitErrorDetails(type=loss, loc=detail["loc"], input=detail["input"]))
        if problems:
            raise ValidationError.from_exception_data("keys", problems) from None
    return value


def _no_number(value: object) -> object:
    """Return a value as it is. Raises an error for a number, which a strict time does not take."""
    if isinstance(value, (int, float)):
        raise PydanticCustomError("time_type", "input should be a text, such as 2030-12-31")
    return value


def _tuples(value: object) -> object:
    """Return the tuple that a list in JSON stands for."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _member_of(expected: Sequence[object]) -> Callable[[Any], object]:
    """Return a function from a value in JSON to the choice of a Literal, maybe an enum's member."""
    plain = {choice: choice.value if isinstance(choice, Enum) else choice for choice in expected}
    listed = {"expected": " or ".join(map(repr, plain.values()))}

    def member(value: object) -> Any:
        for choice, text in plain.items():
            if value is choice or (type(value) is type(text) and value == text):
                return choice
        raise PydanticCustomError("literal_error", "input should be {expected}", listed)

    return member


# -- records --------------------------------------------------------------------------------


class _RecordCheck:
    """The check of one record: which keys it takes, and which of them are the same field."""

    def __init__(self, node: JsonObject, config: JsonObject, is_root: bool) -> None:
        fields = node.get("fields", {})
        named = fields if isinstance(fields, dict) else {f["name"]: f for f in fields}
        extra = node.get("extra_behavior") or config.get("extra_fields_behavior")
        self._keeps_unknown = is_root or extra == "allow"
        self._spellings = {
            name: _spellings(name, field, config)
            for name, field in named.items()
            if field.get("init", True)
        }
        names = {name: [(name,)] for name in self._spellings}
        self.is_needed = not self._keeps_unknown or self._spellings != names
        """Whether a value can be wrong: not if all keys are kept, and each is a field's name."""
        self._names = [str(paths[0][0]) for paths in self._spellings.values()]
        self._known: dict[str | int, Any] = {}
        for path in (path for paths in self._spellings.values() for path in paths):
            node_at = self._known
            for step in path:
                node_at = node_at.setdefault(step, {})

    def check(self, value: Any) -> Any:
        """Return a value as it is. Raises ValidationError, with the path of each wrong key."""
        if isinstance(value, Mapping):
            problems = [*self._unknown(value), *self._repeated(value)]
            if problems:
                raise ValidationError.from_exception_data("keys", problems)
        return value

    def _unknown(self, value: Mapping[Any, object]) -> Iterator[InitErrorDetails]:
        for path in _unknown_paths(value, self._known):
            if len(path) > 1 or not self._keeps_unknown:
                context = {"names": self._names} if len(path) == 1 else {}
                error = PydanticCustomError("unknown_key", "there is no such argument", context)
                yield InitErrorDetails(type=error, loc=path, input=value)

    def _repeated(self, value: Mapping[Any, object]) -> Iterator[InitErrorDetails]:
        for name, paths in self._spellings.items():
            # An unknown key that is kept must not be taken for a field of its name.
            all_paths = dict.fromkeys([*paths, *([(name,)] if self._keeps_unknown else [])])
            present = [path for path in all_paths if _is_present(value, path)]
            for path in present[1:]:
                other = ".".join(map(str, present[0]))
                text = "this is the same argument as {other}; give one of them"
                error = PydanticCustomError("repeated_key", text, {"other": other})
                yield InitErrorDetails(type=error, loc=path, input=value)


def _spellings(name: str, field: JsonObject, config: JsonObject) -> list[Path]:
    """Return the paths under which a record takes a field, the first as its schema has it."""
    alias, paths = field.get("validation_alias"), list[Path]()
    if alias is not None and config.get("validate_by_alias", True):
        choices = [alias] if isinstance(alias, str) or isinstance(alias[0], (str, int)) else alias
        paths = [(choice,) if isinstance(choice, str) else tuple(choice) for choice in choices]
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    return [*paths, (name,)] if by_name or not paths else paths


def _unknown_paths(value: Any, checked: Mapping[str | int, Any]) -> Iterator[Path]:
    """Yield the path of each part that no spelling of a field leads to; {} takes all of a part."""
    if isinstance(value, Mapping):
        parts = [(key, key, part) for key, part in value.items()]
    elif isinstance(value, list):
        parts = [(n, n if n in checked else n - len(value), part) for n, part in enumerate(value)]
    else:
        return
    for key, step, part in parts:
        if step not in checked:
            yield (key,)
        elif checked[step]:
            yield from ((key, *path) for path in _unknown_paths(part, checked[step]))


def _is_present(value: Any, path: Path) -> bool:
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return False
    return True


# -- dicts, sets and JSON texts -------------------------------------------------------------


def _uncollided(value: Any, read: Callable[[Any], Any]) -> object:
    """Return a dict or a set that was read. Raises ValidationError if keys or items became one."""
    result = read(value)
    if not isinstance(value, Collection) or len(result) == len(value):
        return result
    singles = _singles(value)
    if len(result) == len(singles):
        return result
    first: dict[Any, Any] = {}
    problems = list[InitErrorDetails]()
    for key, single in singles.items():
        # It may have to hold more than one item.
        for same in attempt(read, single)[0] or ():
            if same in first:
                error = _collision(f"{first[same]!r:.80}")
                problems.append(InitErrorDetails(type=error, loc=(key,), input=value))
            first.setdefault(same, key)
    problems = problems or [InitErrorDetails(type=_collision("another one"), loc=(), input=value)]
    raise ValidationError.from_exception_data("keys", problems)


def _singles(value: Any) -> dict[Any, Any]:
    """Return what holds one item alone, by its key or position, for each different item."""
    if isinstance(value, Mapping):
        return {key: {key: item} for key, item in value.items()}
    # The same item twice is no loss in a set.
    different = dict[str, tuple[int, Any]]()
    for n, item in enumerate(value):
        different.setdefault(repr(item), (n, item))
    return {n: [item] for n, item in different.values()}


def _collision(other: str) -> PydanticCustomError:
    text = "this becomes the same as {other}; give one of them"
    return PydanticCustomError("collision", text, {"other": other})


def _unique(value: object) -> object:
    """Return a JSON text as it is. Raises an error if an object in it has a key twice."""
    if isinstance(value, (str, bytes, bytearray)):
        try:
            json.loads(value, object_pairs_hook=unique_keys)
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            # pydantic says what is wrong with it.
            return value
        except ValueError as error:
            raise PydanticCustomError("repeated_in_text", "{text}", {"text": str(error)}) from None
    return value
