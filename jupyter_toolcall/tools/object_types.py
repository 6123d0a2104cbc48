"""What the type hints of a function stand for: what it takes, and what it may make."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import numbers
import types
import types as python_types
import typing
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
from typing_extensions import TypedDict, is_typeddict

from ..core.errors import CallError, DefinitionError
from ..core.interrupts import attempt
from .object_references import pattern
from .tool import Resolve


def types_of(function: Callable[..., Any], title: str, kinds: Kinds) -> dict[str, Any]:
    """Return the types of a function's parameters, and its "return" where that is known."""
    bare, found = inspect.unwrap(function), {}
    for name in getattr(bare, "__annotations__", {}):
        try:
            found[name] = hint(bare, name, kinds)
        except (NameError, SyntaxError, TypeError, AttributeError) as error:
            if name == "return":
                continue
            raise DefinitionError(
                f"{title}: the parameter {name!r} has a type that is not known here ({error}); "
                f"define or import it first, or write a type that is, such as `{name}: str`"
            ) from None
    return found


def hint(function: Any, name: str, classes: Iterable[type]) -> Any:
    """Return what one annotation of a function stands for. Raises NameError, and others."""
    local = {cls.__name__: cls for cls in classes}
    if inspect.isfunction(function):
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        local |= {free: cell.cell_contents for free, cell in cells if _filled(cell)}
    one = python_types.SimpleNamespace(__annotations__={name: function.__annotations__[name]})
    known = getattr(function, "__globals__", {})
    return typing.get_type_hints(one, known, local, include_extras=True)[name]


def makes(types: Mapping[str, Any], kinds: Kinds) -> tuple[str, ...] | None:
    """Return the types of object that a function may make; None where it does not say."""
    if "return" not in types:
        return None
    parts = [part for part in classes_in(types["return"]) if isinstance(part, type)]
    if not parts or object in parts or Any in parts:
        return None
    return tuple(kinds.get(part) or kind_name(part) for part in parts)


def returned(types: Mapping[str, Any], kinds: Kinds) -> str:
    """Return the name of the object type that a function says to return, "" for none."""
    parts = [part for part in classes_in(types.get("return")) if part is not type(None)]
    cls = parts[0] if len(parts) == 1 else None
    if not isinstance(cls, type):
        return ""
    if cls in kinds:
        return kinds[cls]
    return kind_name(cls) if is_object_class(cls) and not has_schema(cls) else ""


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


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
                resolved = cast(Resolve, info.context)
                return resolved(name, self.types)
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
    if cls in _SCALARS:
        return None
    for known, name in kinds.items():
        if (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__):
            return name
    return None if is_data(value) else kind_name(cls)


_SCALARS = (str, int, float, bool, bytes, type(None))


def is_data(value: object) -> bool:
    """Return whether a value is plain data: told to the model as JSON, and not named."""
    if type(value) in _SCALARS:
        return True
    found, raised = attempt(_is_data, value)
    # A list that holds itself is no object either; it is described in words.
    return raised == RecursionError.__name__ or bool(found)


def _is_data(value: object) -> bool:
    if isinstance(value, (*_SCALARS, enum.Enum, numbers.Number)):
        return True
    if isinstance(value, Mapping):
        return all(map(_is_data, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_data, value))
    # A number or a truth of an array library is one of ours in its way.
    cls: Any = type(value)
    return getattr(value, "shape", None) == () or has_schema(cls)


@functools.cache
def has_schema(cls: Any) -> bool:
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
    if cls in (type, Callable):
        return False
    if issubclass(cls, (*_SCALARS, enum.Enum, list, dict, tuple, set, frozenset, BaseModel)):
        return False
    known: Any = cls
    return dataclasses.is_dataclass(cls) or not has_schema(known)


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
    while isinstance(annotation, NewType):
        annotation = annotation.__supertype__
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return Annotated[(refer(parts[0], kinds), *parts[1:])]
    if origin in (Union, types.UnionType):
        return Union[tuple(refer(part, kinds) for part in parts)]  # noqa: UP007
    if origin in (Required, NotRequired):
        return origin[refer(parts[0], kinds)]
    if origin in kinds:
        return _refer_class(origin, kinds)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        # An object is no key: the name that stands for it would not be followed.
        return types.GenericAlias(origin, (parts[0], refer(parts[1], kinds)))
    if origin is not None and origin is not Literal and parts:
        return types.GenericAlias(origin, tuple(refer(part, kinds) for part in parts))
    if isinstance(annotation, type):
        return _refer_class(annotation, kinds)
    return annotation


def _refer_class(cls: type, kinds: Kinds) -> Any:
    fitting = _fitting(cls, kinds)
    if fitting and cls is not object:
        return Annotated[Any, ObjectOf(tuple(fitting), tuple(dict.fromkeys(fitting.values())))]
    if _holds(cls, kinds) or _is_bare(cls):
        return _by_fields(cls, kinds)
    if is_object_class(cls) and not dataclasses.is_dataclass(cls):
        return Annotated[Any, ObjectOf((cls,), (kind_name(cls),))]
    return cls


def _fitting(cls: type, kinds: Kinds) -> dict[type, str]:
    """Return the types whose objects a parameter of this class takes."""
    try:
        return {known: name for known, name in kinds.items() if issubclass(known, cls)}
    # A TypedDict, or a Protocol of attributes, is the class of nothing.
    except TypeError:
        return {}


def receiver_types(cls: type, kinds: Kinds) -> tuple[type, ...]:
    """Return the types whose objects have the methods of a class."""
    return tuple(dict.fromkeys((cls, *_fitting(cls, kinds))))


def _by_fields(cls: type, kinds: Kinds) -> Any:
    """Return a type that is checked field by field and comes out as the class."""
    if issubclass(cls, BaseModel):
        changed = {name: (refer(f.annotation, kinds), f) for name, f in cls.model_fields.items()}
        return create_model(cls.__name__, __base__=cls, **changed)  # type: ignore[call-overload]
    needed = _needed(cls)
    wanted = {
        name: refer(hint, kinds) if name in needed else NotRequired[refer(_bare(hint), kinds)]
        for name, hint in _fields(cls).items()
    }
    made = strict_dict(cls.__name__, wanted)
    return made if is_typeddict(cls) else Annotated[made, AfterValidator(lambda d: cls(**d))]


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint


def _needed(cls: Any) -> frozenset[str]:
    """Return the fields that have to be given."""
    if is_typeddict(cls):
        return frozenset(cls.__required_keys__)
    missing = dataclasses.MISSING
    return frozenset(
        f.name for f in dataclasses.fields(cls) if f.default is f.default_factory is missing
    )


def _fields(cls: Any) -> dict[str, Any]:
    """Return the types of a class's fields; {} where it has none that are checked alone."""
    if isinstance(cls, type) and issubclass(cls, BaseModel):
        return {name: field.annotation for name, field in cls.model_fields.items()}
    if not (is_typeddict(cls) or (dataclasses.is_dataclass(cls) and isinstance(cls, type))):
        return {}
    try:
        hints = get_type_hints(cls, include_extras=True)
    except NameError:
        return {}
    if is_typeddict(cls):
        return hints
    return {f.name: hints[f.name] for f in dataclasses.fields(cls) if f.init}


def _is_bare(cls: Any) -> bool:
    """Return whether pydantic takes a class by its fields alone: `typing.TypedDict` before 3.12."""
    return is_typeddict(cls) and not has_schema(cls)


def _holds(cls: Any, kinds: Kinds, seen: frozenset[Any] = frozenset()) -> bool:
    """Return whether a class has an object, or what is checked by fields, at any depth."""
    for hint in _fields(cls).values():
        for part in classes_in(hint):
            if not isinstance(part, type) or part in seen:
                continue
            if (_fitting(part, kinds) and part is not object) or _is_bare(part):
                return True
            if _holds(part, kinds, seen | {cls, part}):
                return True
    return False


def strict_dict(name: str, fields: Mapping[str, Any]) -> Any:
    """Return a TypedDict type that refuses keys that it does not know."""
    form: Any = TypedDict
    made = form(name, dict(fields))
    made.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return made
