"""Which Python types are objects with names, and how an annotation speaks of them.

A type is an object's type where a model meets it by name (`Potato#1`) and not by value:
the classes of a toolbox, what their methods return, the types of inputs and outputs, and
every class that has no JSON Schema.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import types
from collections.abc import Iterator, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PydanticUserError,
    TypeAdapter,
    create_model,
)
from pydantic.errors import PydanticSchemaGenerationError
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from ..errors import CallError
from .references import pattern

Kinds = Mapping[type, str]


@dataclasses.dataclass(frozen=True, slots=True)
class ObjectOf:
    """Marks a parameter that takes an object by its name."""

    types: tuple[type, ...]
    names: tuple[str, ...]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def resolve(name: object, info: core_schema.ValidationInfo) -> Any:
            if not isinstance(name, str):
                raise ValueError(f"must be the name of an object, such as {self.names[0]}#1")
            try:
                return info.context(name, self.types)
            except CallError as error:
                raise ValueError(str(error)) from None

        return core_schema.with_info_plain_validator_function(resolve)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "pattern": pattern(self.names)}


def kind_name(cls: type) -> str:
    """Return the name that objects of a class bear."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in cls.__name__)


def kind_of(value: object, kinds: Kinds) -> str | None:
    """Return the type of a value by name, or None where it is plain data.

    A class that was defined anew in the notebook is still the class of its old objects.
    """
    cls = type(value)
    for base in cls.__mro__:
        if base in kinds:
            return kinds[base]
    for known, name in kinds.items():
        if (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__):
            return name
    return None if is_data(value) else kind_name(cls)


_SCALARS = (str, int, float, bool, bytes, type(None), enum.Enum)


def is_data(value: object) -> bool:
    """Return whether a value is plain data: told to the model as JSON, and not named."""
    if isinstance(value, _SCALARS):
        return True
    if isinstance(value, Mapping):
        return all(map(is_data, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(is_data, value))
    return has_schema(type(value))


@functools.cache
def has_schema(cls: type) -> bool:
    """Return whether pydantic knows a JSON Schema for a class."""
    try:
        TypeAdapter(cls).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError):
        return False
    return True


def is_object_class(cls: Any) -> bool:
    """Return whether an annotation is a class that is an object's own: no plain data."""
    if not isinstance(cls, type) or get_origin(cls) is not None or is_typeddict(cls):
        return False
    if issubclass(cls, (*_SCALARS, list, dict, tuple, set, frozenset, BaseModel)):
        return False
    return dataclasses.is_dataclass(cls) or not has_schema(cls)


def classes_in(annotation: Any) -> Iterator[Any]:
    """Yield the classes that an annotation is made of."""
    if get_origin(annotation) is Literal:
        return
    if get_origin(annotation) is Annotated:
        yield from classes_in(get_args(annotation)[0])
    elif parts := get_args(annotation):
        for part in parts:
            yield from classes_in(part)
    else:
        yield annotation


def refer(annotation: Any, kinds: Kinds) -> Any:
    """Return an annotation in which objects are taken by name, at any depth."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return Annotated[(refer(parts[0], kinds), *parts[1:])]  # type: ignore[return-value]
    if origin in (Union, types.UnionType):
        return Union[tuple(refer(part, kinds) for part in parts)]  # noqa: UP007
    if origin in (Required, NotRequired):
        return origin[refer(parts[0], kinds)]
    if origin is not None and origin is not Literal and parts:
        return types.GenericAlias(origin, tuple(refer(part, kinds) for part in parts))
    if isinstance(annotation, type):
        return _refer_class(annotation, kinds)
    return annotation


def _refer_class(cls: type, kinds: Kinds) -> Any:
    fitting = {known: name for known, name in kinds.items() if issubclass(known, cls)}
    if cls in kinds or (fitting and cls is not object):
        return Annotated[Any, ObjectOf((cls, *fitting), tuple(dict.fromkeys(fitting.values())))]
    if issubclass(cls, BaseModel) and _holds(cls, kinds):
        changed = {name: (refer(f.annotation, kinds), f) for name, f in cls.model_fields.items()}
        return create_model(cls.__name__, __base__=cls, **changed)  # type: ignore[call-overload]
    if dataclasses.is_dataclass(cls) and _holds(cls, kinds):
        return _dataclass(cls, kinds)
    if is_object_class(cls) and not dataclasses.is_dataclass(cls):
        return Annotated[Any, ObjectOf((cls,), (kind_name(cls),))]
    return cls


def _holds(cls: type, kinds: Kinds) -> bool:
    hints = inspect.get_annotations(cls, eval_str=False)
    if any(isinstance(hint, str) for hint in hints.values()):
        hints = _hints(cls)
    found = {part for hint in hints.values() for part in classes_in(hint)}
    return any(part in kinds for part in found if isinstance(part, type))


def _hints(cls: type) -> dict[str, Any]:
    try:
        return get_type_hints(cls, include_extras=True)
    except NameError:
        return {}


def _dataclass(cls: type, kinds: Kinds) -> Any:
    """Return a type that is checked field by field and comes out as the dataclass."""
    hints = _hints(cls)
    wanted = {
        f.name: refer(hints.get(f.name, Any), kinds)
        if f.default is f.default_factory is dataclasses.MISSING
        else NotRequired[refer(hints.get(f.name, Any), kinds)]
        for f in dataclasses.fields(cls)
        if f.init
    }
    return Annotated[strict_dict(cls.__name__, wanted), AfterValidator(lambda d: cls(**d))]


def strict_dict(name: str, fields: Mapping[str, Any]) -> Any:
    """Return a TypedDict type that refuses keys that it does not know."""
    made = TypedDict(name, dict(fields))  # type: ignore[operator]
    made.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return made
