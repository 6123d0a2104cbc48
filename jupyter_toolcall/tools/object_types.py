"""The types of objects: in the annotations of a function, of a value, and as a JSON Schema.

A parameter whose type is an object class takes the object by its name (`Potato#3`).
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import inspect
import numbers
import pathlib
import re
import types
import uuid
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
    NotRequired,
    Required,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypeAliasType, TypedDict, is_typeddict

from ..core.errors import CallError, DefinitionError
from ..core.interrupts import attempt
from ..core.state import NAME
from .json_structure import NOT_A_SCALAR, is_listed, library_scalar
from .object_references import NAME_OR_TEXT, pattern
from .table_classes import shape_of
from .tool import Resolve

Kinds = Mapping[type, str]
"""The types of object that a toolbox knows, with their names."""
_SCALARS = (str, int, float, bool, bytes, type(None))
DATA = (
    *(enum.Enum, numbers.Number, uuid.UUID),
    *(datetime.date, datetime.time, datetime.timedelta),
)
"""Classes whose values are texts or numbers for a model, those of subclasses too."""


# -- the annotations of a function ---------------------------------------------------------


def annotation_types(function: Callable[..., object], title: str, kinds: Kinds) -> dict[str, Any]:
    """Return the types of a function's parameters, and its "return" where that is known.

    Raises DefinitionError for a parameter whose type is not defined.
    """
    bare, hints = inspect.unwrap(function), {}
    for name in getattr(bare, "__annotations__", {}):
        try:
            hints[name] = annotation_type(bare, name, kinds)
        except (NameError, SyntaxError, TypeError, AttributeError) as error:
            if name == "return":
                continue
            raise DefinitionError(
                f"{title}: the parameter {name!r} has a type that is not known here ({error}); "
                f"define or import it first, or write a type that is, such as `{name}: str`"
            ) from None
    return hints


def annotation_type(function: object, name: str, classes: Iterable[type]) -> object:
    """Return the type that one annotation of a function stands for. Raises NameError, and others.

    The classes are known by their names, besides what the function itself can name.
    """
    if type(function.__annotations__[name]) is type:
        return function.__annotations__[name]
    names = {cls.__name__: cls for cls in classes}
    if inspect.isfunction(function):
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        # A cell may be empty.
        filled = {free: attempt(getattr, cell, "cell_contents")[0] for free, cell in cells}
        names |= {free: value for free, value in filled.items() if value is not None}
    only = types.SimpleNamespace(__annotations__={name: function.__annotations__[name]})
    return get_type_hints(only, getattr(function, "__globals__", {}), names, True)[name]


def created_types(annotations: Mapping[str, object], kinds: Kinds) -> tuple[str, ...] | None:
    """Return the types of object that a function may create; None if its annotation says none."""
    returned = classes_in(annotations.get("return", object))
    classes = [cls for cls in returned if isinstance(cls, type)]
    if not classes or object in classes or Any in classes:
        return None
    return tuple(kinds.get(cls) or kind_name(cls) for cls in classes)


def returned_type(annotations: Mapping[str, object], kinds: Kinds) -> str:
    """Return the name of the object type that a function says it returns, "" for none."""
    classes = [cls for cls in classes_in(annotations.get("return")) if cls is not type(None)]
    cls = classes[0] if len(classes) == 1 else None
    if not isinstance(cls, type):
        return ""
    is_created = cls in kinds or (is_object_class(cls) and not has_schema(cls))
    return (kinds.get(cls) or kind_name(cls)) if is_created else ""


def classes_in(annotation: object) -> Iterator[object]:
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


def classes_within(annotation: object, seen: frozenset[object] = frozenset()) -> Iterator[type]:
    """Yield the classes that an annotation is made of, and those of the fields of its records."""
    for cls in classes_in(annotation):
        if isinstance(cls, type) and cls not in seen:
            yield cls
            for hint in fields_of(cls).values():
                yield from classes_within(hint, seen | {cls})


# -- the type of a value --------------------------------------------------------------------


def kind_name(cls: type) -> str:
    """Return the name of the type of a class's objects: `Potato` in `Potato#3`."""
    return re.sub(r"\W", "_", cls.__name__)


def kind_of(value: object, kinds: Kinds) -> str | None:
    """Return the name of a value's type, or None if it is plain data.

    A class that was defined again in the notebook is still the class of its old objects.
    """
    kind = registered_kind(type(value), kinds)
    return leaf_kind(value) if kind is None else kind


def registered_kind(cls: type, kinds: Kinds) -> str | None:
    """Return the name of a class's type, if it is one of the types that are known."""
    for base in cls.__mro__:
        if base in kinds:
            return kinds[base]
    if cls in _SCALARS:
        return None
    path = cls.__module__, cls.__qualname__
    named = (name for c, name in kinds.items() if (c.__module__, c.__qualname__) == path)
    return next(named, None)


def leaf_kind(value: object) -> str | None:
    """Return the name of a value's class, or None if it is plain data."""
    if type(value) in _SCALARS:
        return None
    is_data, raised = attempt(_is_data, value)
    # A list that holds itself is no object either; it is described in words.
    return None if is_data or raised == RecursionError.__name__ else kind_name(type(value))


def _is_data(value: object) -> bool:
    """Return whether a value is plain data, which the model is shown as JSON."""
    if isinstance(value, (*_SCALARS, *DATA, pathlib.PurePath)):
        return True
    if isinstance(value, Mapping):
        return all(map(_is_data, value.values()))
    if is_listed(value):
        return all(map(_is_data, cast(Iterable[object], value)))
    if library_scalar(value) is not NOT_A_SCALAR:
        return True
    # A single number or truth value of an array library has an empty shape.
    cls: Any = type(value)
    return shape_of(value) == () or has_schema(cls)


@functools.cache
def has_schema(cls: Any) -> bool:
    """Return whether pydantic knows a JSON Schema for a class."""
    return attempt(lambda: TypeAdapter(cls).json_schema())[0] is not None


def is_object_class(cls: object) -> bool:
    """Return whether an annotation is a class of objects, whose values are no plain data."""
    if not isinstance(cls, type) or get_origin(cls) is not None or is_typeddict(cls):
        return False
    plain = (*_SCALARS, enum.Enum, list, dict, tuple, set, frozenset, BaseModel)
    if cls in (type, Callable) or issubclass(cls, plain):
        return False
    anything: Any = cls
    return dataclasses.is_dataclass(cls) or not has_schema(anything)


# -- objects by name in an annotation -------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class ObjectOf:
    """Marks a parameter that takes an object by its name: one of these types, or, without types,
    any object, or data that names none."""

    types: tuple[type, ...] = ()
    names: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> CoreSchema:
        def resolve(name: object, info: core_schema.ValidationInfo) -> Any:
            if not isinstance(name, str) or not (self.types or NAME.fullmatch(name)):
                # In a list that is an input, the objects themselves are there.
                if not self.types or any(cls in type(name).__mro__ for cls in self.types):
                    return name
                raise ValueError(f"must be the name of an object, such as {self.names[0]}#1")
            try:
                return cast(Resolve, info.context)(name, self.types)
            except CallError as error:
                if not self.types:
                    return name
                raise ValueError(str(error)) from None

        return core_schema.with_info_plain_validator_function(resolve)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: object) -> dict[str, Any]:
        if not self.types:
            return {"pattern": NAME_OR_TEXT}
        return {"type": "string", "pattern": pattern(self.names)}


_alias: Any = TypeAliasType
_Leaf = Annotated[Any, ObjectOf()]
Value: Any = _alias(
    "Value",
    Annotated[
        list["Value"] | dict[str, "Value"] | _Leaf,  # type: ignore[misc]
        Field(union_mode="left_to_right"),
    ],
)
"""Any JSON data in which the names of objects, at any depth, stand for the objects."""
_OPEN = {object: Value, Any: Value, list: list[Value], dict: dict[str, Value]}


def _open_type(annotation: object) -> object:
    # An annotation may have no hash.
    return next((opened for cls, opened in _OPEN.items() if annotation is cls), None)


def saved_type(annotation: object, kinds: Kinds) -> Any:
    """Return the type of an output as it is saved: an object is given by name wherever it fits.

    What a record class's tools do not make, the model writes with its fields.
    """
    return by_object_name(annotation, {**kinds, object: ""})


def by_object_name(annotation: Any, kinds: Kinds) -> object:
    """Return an annotation in which objects are given by name, at any depth.

    What is open (`Any`, `object`, `list`, `dict`) takes any object.
    """
    while isinstance(annotation, NewType):
        annotation = annotation.__supertype__
    if (opened := _open_type(annotation)) is not None:
        return opened
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return Annotated[(by_object_name(parts[0], kinds), *parts[1:])]
    if origin in (Union, types.UnionType):
        return Union[tuple(by_object_name(part, kinds) for part in parts)]  # noqa: UP007
    if origin in (Required, NotRequired):
        return origin[by_object_name(parts[0], kinds)]
    if origin in kinds:
        return _class_by_object_name(origin, kinds)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        # An object is no key: the name that stands for it would not be followed.
        return types.GenericAlias(
            origin, (parts[0], *(by_object_name(part, kinds) for part in parts[1:]))
        )
    if origin is not None and origin is not Literal and parts:
        return types.GenericAlias(origin, tuple(by_object_name(part, kinds) for part in parts))
    return _class_by_object_name(annotation, kinds) if isinstance(annotation, type) else annotation


def _class_by_object_name(cls: type, kinds: Kinds) -> object:
    fitting = _subtypes(cls, kinds)
    if fitting and cls is not object:
        named = Annotated[Any, ObjectOf(tuple(fitting), tuple(dict.fromkeys(fitting.values())))]
        has_fields = object in kinds and fields_of(cls)
        return named | _by_fields(cls, kinds) if has_fields else named
    if _holds_objects(cls, kinds) or _needs_fields(cls):
        return _by_fields(cls, kinds)
    if is_object_class(cls) and not dataclasses.is_dataclass(cls):
        return Annotated[Any, ObjectOf((cls,), (kind_name(cls),))]
    base = next((base for base in _DATA_BASES if cls is not base and issubclass(cls, base)), None)
    if base is not None and not has_schema(cls):
        # Its values are written as those of its base, and the tool gets the class.
        return Annotated[by_object_name(base, kinds), AfterValidator(lambda value: cls(value))]
    return cls


_DATA_BASES = (str, int, float, bytes, list, dict, tuple, set, frozenset)


def _subtypes(cls: type, kinds: Kinds) -> dict[type, str]:
    """Return the known types that are subclasses of a class, with their names."""
    try:
        return {subclass: name for subclass, name in kinds.items() if issubclass(subclass, cls)}
    # `issubclass` refuses a TypedDict, and a Protocol that has attributes.
    except TypeError:
        return {}


def receiver_types(cls: type, kinds: Kinds) -> tuple[type, ...]:
    """Return the types whose objects have the methods of a class."""
    return tuple(dict.fromkeys((cls, *_subtypes(cls, kinds))))


def _by_fields(cls: type, kinds: Kinds) -> object:
    """Return a type that is validated field by field, and results in the class."""
    fields = {name: by_object_name(hint, kinds) for name, hint in fields_of(cls).items()}
    if issubclass(cls, BaseModel):
        changed = {name: (fields[name], field) for name, field in cls.model_fields.items()}
        named = create_model(cls.__name__, __base__=cls, **changed)  # type: ignore[call-overload]
        return Annotated[named, AfterValidator(lambda model: _as_class(model, cls))]
    as_list: Any = _named_tuple(cls, fields) if _is_named_tuple(cls) else None
    for name in fields.keys() - _required_fields(cls):
        if get_origin(fields[name]) is not NotRequired:
            fields[name] = NotRequired[fields[name]]
    record = strict_dict(cls.__name__, fields)
    if is_typeddict(cls):
        return record
    as_record: Any = Annotated[record, AfterValidator(lambda d: cls(**d))]
    return as_record if as_list is None else Union[as_list, as_record]  # noqa: UP007


def _is_named_tuple(cls: object) -> bool:
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_field_defaults")


def _named_tuple(cls: Any, fields: Mapping[str, Any]) -> object:
    """Return a type that takes a list, as pydantic does, and results in the class."""
    named: Any = namedtuple(cls.__name__, cls._fields, defaults=cls._field_defaults.values())  # type: ignore[misc]
    named.__annotations__ = dict(fields)
    description = f"{cls.__name__}: {', '.join(cls._fields)}"
    return Annotated[
        named, AfterValidator(lambda values: cls(*values)), Field(description=description)
    ]


def _as_class(model: object, cls: type[BaseModel]) -> object:
    """Return a model that took objects by name as one of its own class."""
    # A frozen model refuses to be changed.
    object.__setattr__(model, "__class__", cls)
    return model


def _required_fields(cls: Any) -> frozenset[str]:
    if is_typeddict(cls):
        return frozenset(cls.__required_keys__)
    if _is_named_tuple(cls):
        return frozenset(name for name in cls._fields if name not in cls._field_defaults)
    missing = dataclasses.MISSING
    return frozenset(
        f.name for f in dataclasses.fields(cls) if f.default is f.default_factory is missing
    )


def fields_of(cls: Any) -> dict[str, Any]:
    """Return the types of a record class's fields; {} for any other class."""
    if isinstance(cls, type) and issubclass(cls, BaseModel):
        return {name: field.annotation for name, field in cls.model_fields.items()}
    is_record = is_typeddict(cls) or _is_named_tuple(cls)
    if not (is_record or (dataclasses.is_dataclass(cls) and isinstance(cls, type))):
        return {}
    try:
        hints = get_type_hints(cls, include_extras=True)
    except NameError:
        return {}
    if is_record:
        return hints
    return {f.name: hints[f.name] for f in dataclasses.fields(cls) if f.init}


def _needs_fields(cls: object) -> bool:
    """Return whether pydantic cannot read a class: `typing.TypedDict` before Python 3.12."""
    return is_typeddict(cls) and not has_schema(cls)


def _holds_objects(cls: object, kinds: Kinds) -> bool:
    """Return whether a record class has a field that takes an object, at any depth."""
    inner = frozenset({cls})
    parts = (part for hint in fields_of(cls).values() for part in classes_within(hint, inner))
    return any(
        (part is not object and _subtypes(part, kinds))
        or _open_type(part) is not None
        or _needs_fields(part)
        for part in parts
    )


def strict_dict(name: str, fields: Mapping[str, object]) -> Any:
    """Return a TypedDict type that refuses unknown keys."""
    make: Any = TypedDict
    record = make(name, dict(fields))
    record.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return record
