"""The types of answers and outputs that are data: a text, a number, a list, a dict or a record.

A type is written as in Python (`list[str]`, `Person`). It is parsed from that text, which is never
executed, and the model is sent its JSON Schema.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import functools
import types
from collections.abc import Mapping
from typing import Any, Literal, Optional, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

from ..core.errors import Absent, CallError
from ..core.interrupts import attempt
from .arguments import argument_check, arguments_adapter
from .object_types import Kinds, fields_of, is_object_class, kind_name, saved_type
from .tool import Resolve

SCALARS: Mapping[str, Any] = {"str": str, "int": int, "float": float, "bool": bool}
"""The types of texts, numbers and booleans, by name."""
_NAMES: Mapping[str, Any] = {
    **SCALARS,
    **{cls.__name__: cls for cls in (list, dict, tuple, set, bytes)},
    **{cls.__name__: cls for cls in (datetime.date, datetime.datetime, decimal.Decimal)},
    **{"Any": Any, "object": object, "Literal": Literal, "Optional": Optional, "Union": Union},
}


def is_record_class(cls: object) -> bool:
    """Return whether a class is a dataclass or a pydantic model."""
    is_model = isinstance(cls, type) and issubclass(cls, BaseModel)
    return is_model or (is_object_class(cls) and bool(fields_of(cls)))


def data_schema(annotation: object, kinds: Kinds) -> dict[str, Any]:
    """Return the JSON Schema of the values of a type, which may name objects; {} for a type that
    is none, or one of objects alone."""
    if annotation in (None, type(None)) or isinstance(annotation, (str, list, dict)):
        return {}
    if is_object_class(annotation) and annotation is not object and not is_record_class(annotation):
        return {}
    is_type = isinstance(annotation, (type, types.UnionType)) or annotation is Any
    schema: dict[str, Any] = {}
    if is_type or get_origin(annotation) is not None:
        schema = attempt(lambda: TypeAdapter(saved_type(annotation, kinds)).json_schema())[0] or {}
    return schema


def type_text(annotation: object) -> str:
    """Return a type as it is written: `list[str]`."""
    if annotation is None or annotation is type(None):
        return "None"
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return " | ".join(map(type_text, parts))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, parts))}]"
    if origin is not None:
        listed = ("..." if part is ... else type_text(part) for part in parts)
        return f"{type_text(origin)}[{', '.join(listed)}]"
    return kind_name(annotation) if isinstance(annotation, type) else str(annotation)


# -- from a text ----------------------------------------------------------------------------


def type_from_text(text: str, names: Mapping[str, object]) -> object:
    """Return the type that a text such as `list[Person]` names; None if it names no type.

    `names` are the classes that the text may use, and modules that have such classes.
    """
    try:
        return _type(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError):
        return None


def _type(node: ast.expr, names: Mapping[str, object]) -> Any:
    """Return the type that an expression names. Raises ValueError if it names none."""
    match node:
        case ast.Name(name):
            named = names.get(name)
            named = named if isinstance(named, (type, types.ModuleType)) else _NAMES.get(name)
            if named is not None:
                return named
        case ast.Attribute(owner, name):
            return getattr(_type(owner, names), name)
        case ast.Constant(None):
            return None
        case ast.BinOp(left, ast.BitOr(), right):
            return Union[_type(left, names), _type(right, names)]  # noqa: UP007
        case ast.Subscript(origin, index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            generic = _type(origin, names)
            if generic is Literal:
                return generic[tuple(map(ast.literal_eval, parts))]
            arguments = tuple(_part(part, names) for part in parts)
            return generic[arguments if len(arguments) > 1 else arguments[0]]
    raise ValueError(ast.unparse(node))


def _part(node: ast.expr, names: Mapping[str, object]) -> Any:
    return ... if isinstance(node, ast.Constant) and node.value is ... else _type(node, names)


# -- the value of an answer -----------------------------------------------------------------


def answer_type(kind: str, answers: Mapping[str, object], classes: Mapping[type, str]) -> object:
    """Return the type that a text names; `Any` if this kernel does not have its classes.

    `answers` are the types of this session, by their texts.
    """
    if kind in answers:
        return answers[kind]
    annotation = type_from_text(kind, {name: cls for cls, name in classes.items()})
    return Any if annotation is None else annotation


def read_answer(annotation: object, value: object, resolve: Resolve | None, kinds: Kinds) -> Any:
    """Return JSON data as a value of a type, coerced as in tool arguments: "13" becomes the int 13.

    The names in it of objects of these `kinds`, or of any in a place of no type, are resolved.
    Raises CallError, which says what is wrong with the data.
    """
    # In Python True is an int; as an answer it is none.
    if isinstance(value, bool) and annotation in (int, float):
        raise CallError(_wrong(annotation, value))
    try:
        return _checker(annotation, kinds)({"result": value}, resolve)["result"]
    except CallError as error:
        if annotation in SCALARS.values():
            raise CallError(_wrong(annotation, value)) from None
        details = [
            f"{path.removeprefix('result').lstrip('.')}: {problem}".removeprefix(": ")
            for path, problem in error.fields.items()
        ]
        # The code of a record may raise anything, and names no field.
        problem_text = "; ".join(details) or str(error).removeprefix("save: ")
        raise CallError(f"must be a {type_text(annotation)}; {problem_text}") from None
    except Absent:
        raise
    # The code of a record may raise anything; the model reads the error and answers again.
    except Exception as error:
        raise CallError(f"must be a {type_text(annotation)}; {error!r:.200}") from None


def _wrong(annotation: object, value: object) -> str:
    return f"must be a {type_text(annotation)}, not {value!r:.60}"


def _checker(annotation: object, kinds: Kinds) -> Any:
    key = annotation, tuple(kinds.items())
    return attempt(_cached_checker, *key)[0] or _cached_checker.__wrapped__(*key)


@functools.lru_cache(256)
def _cached_checker(annotation: object, kinds: tuple[tuple[type, str], ...]) -> object:
    fields = {"result": saved_type(annotation, dict(kinds))}
    return argument_check("save", *arguments_adapter("save", fields))


def json_answer(annotation: object, value: object) -> object:
    """Return a scalar coerced to its type: 13 for "13". What does not fit stays as it is."""
    if annotation not in SCALARS.values():
        return value
    read, raised = attempt(read_answer, annotation, value, None, {})
    return value if raised else read
