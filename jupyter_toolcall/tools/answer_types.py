"""The types of data that a model hands over: a text, a number, a list, a dict or a record.

A type is written as in Python (`list[str]`, `Person`), read from such a text without running it,
and shown to the model as a JSON Schema.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import functools
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

from ..core.errors import CallError
from ..core.interrupts import attempt
from .arguments import argument_check, arguments_adapter
from .object_types import has_schema, is_object_class, kind_name

SCALARS: Mapping[str, Any] = {"str": str, "int": int, "float": float, "bool": bool}
"""The types of a text, a number and a truth, by name."""
_NAMES: Mapping[str, Any] = {
    **SCALARS,
    **{cls.__name__: cls for cls in (list, dict, tuple, set, bytes)},
    **{cls.__name__: cls for cls in (datetime.date, datetime.datetime, decimal.Decimal)},
    "Literal": Literal,
}


def is_record_class(cls: Any) -> bool:
    """Return whether a class is a record that JSON can hold: a dataclass or a pydantic model."""
    is_model = isinstance(cls, type) and issubclass(cls, BaseModel)
    return (is_model or is_object_class(cls)) and has_schema(cls)


def is_data_type(annotation: Any) -> bool:
    """Return whether values of a type are handed over as data: JSON can hold them."""
    if annotation in (None, Any, object, type(None)) or isinstance(annotation, (str, list, dict)):
        return False
    is_type = isinstance(annotation, (type, types.UnionType)) or get_origin(annotation) is not None
    return is_type and bool(attempt(_json_schema, annotation)[0])


def data_schema(annotation: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type of data."""
    schema: dict[str, Any] = _json_schema(annotation)
    return schema


def _json_schema(annotation: Any) -> Any:
    return TypeAdapter(annotation).json_schema()


def type_text(annotation: Any) -> str:
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


def type_from_text(text: str, names: Mapping[str, Any]) -> Any:
    """Return the type that a text such as `list[Person]` writes; None where it is none.

    `names` are the classes that it may name, and modules that hold such.
    """
    try:
        return _type(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError):
        return None


def _type(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return the type of a part of an expression. Raises ValueError where it is no type."""
    match node:
        case ast.Name(name):
            held = names.get(name)
            held = held if isinstance(held, (type, types.ModuleType)) else _NAMES.get(name)
            if held is not None:
                return held
        case ast.Attribute(owner, name):
            return getattr(_type(owner, names), name)
        case ast.Constant(None):
            return None
        case ast.BinOp(left, ast.BitOr(), right):
            return Union[_type(left, names), _type(right, names)]  # noqa: UP007
        case ast.Subscript(origin, part):
            parts = part.elts if isinstance(part, ast.Tuple) else [part]
            generic = _type(origin, names)
            if generic is Literal:
                return generic[tuple(ast.literal_eval(each) for each in parts)]
            return generic[tuple(_part(each, names) for each in parts)]
    raise ValueError(ast.unparse(node))


def _part(node: ast.expr, names: Mapping[str, Any]) -> Any:
    return ... if isinstance(node, ast.Constant) and node.value is ... else _type(node, names)


# -- the value of an answer -----------------------------------------------------------------


def answer_type(kind: str, answers: Mapping[str, Any], classes: Mapping[type, str]) -> Any:
    """Return the type that a text stands for; `Any` where its classes are not in this kernel.

    `answers` are the types of this session by their texts.
    """
    if kind in answers:
        return answers[kind]
    known = type_from_text(kind, {name: cls for cls, name in classes.items()})
    return Any if known is None else known


def read_answer(annotation: Any, value: Any) -> Any:
    """Return the value that JSON data stands for: "13" is 13 to an int, as in a tool's argument.

    Raises CallError, which says what is wrong with it.
    """
    # True is an int in Python, and nowhere else.
    if isinstance(value, bool) and annotation in (int, float):
        raise CallError(_wrong(annotation, value))
    try:
        return _checker(annotation)({"result": value}, _no_objects)["result"]
    except CallError as error:
        if annotation in SCALARS.values():
            raise CallError(_wrong(annotation, value)) from None
        details = (
            f"{path.removeprefix('result').lstrip('.')}: {problem}".removeprefix(": ")
            for path, problem in error.fields.items()
        )
        raise CallError(f"must be a {type_text(annotation)}; {'; '.join(details)}") from None
    # The code of a record may raise anything; the model is told, and answers again.
    except Exception as error:
        raise CallError(f"must be a {type_text(annotation)}; {error!r:.200}") from None


def _wrong(annotation: Any, value: Any) -> str:
    return f"must be a {type_text(annotation)}, not {value!r:.60}"


def _checker(annotation: Any) -> Any:
    made = attempt(_cached_checker, annotation)[0]
    return made or _cached_checker.__wrapped__(annotation)


@functools.lru_cache(256)
def _cached_checker(annotation: Any) -> Any:
    adapter, _ = arguments_adapter("save", {"result": annotation})
    return argument_check(adapter, "save", ("result",))


def _no_objects(name: str, types: tuple[type, ...]) -> Any:
    raise CallError(f"{name} is no data")


def json_answer(annotation: Any, value: Any) -> Any:
    """Return a scalar as the JSON that it stands for: 13 for "13"; what is wrong, as it is."""
    if annotation not in SCALARS.values():
        return value
    read, raised = attempt(read_answer, annotation, value)
    return value if raised else read
