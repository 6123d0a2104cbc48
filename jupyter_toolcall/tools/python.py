"""Tools from Python: functions, classes and instances.

A function's signature is its schema, its docstring says what it is for. A class gives a
`Type_method` for each public method, whose receiver is an argument named as the type.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import types as python_types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, NotRequired, get_args, get_origin

from pydantic import Field, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..digest import encode
from ..errors import CallError, DefinitionError
from .docs import documented
from .fingerprint import version_of
from .kinds import (
    Kinds,
    classes_in,
    has_schema,
    is_object_class,
    kind_name,
    receiver_types,
    refer,
    strict_dict,
)
from .references import NAME
from .tool import Check, Origin, Resolve, Tool, hints_of, misfits, nearest

_Parameter = inspect.Parameter
_BAD_SCHEMA = (PydanticSchemaGenerationError, PydanticUserError, TypeError, RecursionError)


def from_function(
    function: Callable[..., Any],
    kinds: Kinds,
    *,
    name: str = "",
    method: str = "",
    receiver: tuple[str, ...] = (),
) -> Tool:
    """Return the tool that a function is; a method of type `method` without its receiver.

    Raises DefinitionError, which names the parameter, why it has no schema and what to
    write.
    """
    bare = _underlying(function)
    hints = hints_of(bare)
    title = name or hints.name or str(getattr(bare, "__name__", type(bare).__name__))
    said, notes = documented(bare)
    parameters = _parameters(function, title)[1 if method else 0 :]
    types = _types(bare, title, kinds)
    fields = {p.name: _field(p, types, notes, kinds, title) for p in parameters}
    adapter, schema = _adapter(title, fields)
    return Tool(
        name=title,
        description=hints.description if hints.description is not None else said,
        parameters=schema,
        function=_caller(function, parameters),
        check=_check(adapter, title, [*receiver, *fields]),
        read_only=hints.read_only,
        idempotent=hints.idempotent,
        returns=returned(types, kinds),
        makes=makes(types, kinds),
        version=version_of(function),
        origin=Origin(function),
    )


def _underlying(function: Any) -> Any:
    """Return the function that a partial, or a method of a class, is made of."""
    while isinstance(function, functools.partial):
        function = function.func
    return _bare(function)


def from_class(cls: type, kinds: Kinds) -> Iterator[Tool]:
    """Yield a tool for each public method of a class."""
    kind, about = kind_name(cls), _about(cls)
    for name, member in _members(cls):
        title = f"{kind}_{hints_of(_bare(member)).name or name}"
        if isinstance(member, (staticmethod, classmethod)):
            made = from_function(getattr(cls, name), kinds, name=title)
            origin = Origin(getattr(cls, name), cls, name, static=True)
        else:
            method = from_function(member, kinds, name=title, method=kind, receiver=(kind,))
            made, origin = _with_receiver(method, cls, kinds), Origin(member, cls, name)
        version = version_of(origin.function, cls)
        yield replace(made, group=kind, about=about, origin=origin, version=version)


def from_instance(instance: object, kinds: Kinds) -> Iterator[Tool]:
    """Yield a tool for each public method of an instance; they share its state.

    They are named by its `name` and described by its `description`, where its class says
    that it has these. Raises DefinitionError where they are no texts.
    """
    cls = type(instance)
    group = _said(instance, "name") or kind_name(cls)
    about = _said(instance, "description") or _about(cls)
    for name, member in _members(cls):
        title = f"{group}_{hints_of(_bare(member)).name or name}"
        if isinstance(member, (staticmethod, classmethod)):
            made = from_function(getattr(instance, name), kinds, name=title)
            origin = Origin(getattr(instance, name), cls, name, static=True)
        else:
            made = from_function(member, kinds, name=title, method=group)
            origin = Origin(member, cls, name)
            made = replace(made, instance=f"({group})", subject=instance)
        version = version_of(origin.function, cls)
        yield replace(made, group=group, about=about, origin=origin, version=version)


def _about(cls: type) -> str:
    """Return what a class says of itself; what Python or a base says of it is not that."""
    said = cls.__dict__.get("__doc__")
    made = dataclasses.is_dataclass(cls) and str(said).startswith(f"{cls.__name__}(")
    return inspect.cleandoc(said) if isinstance(said, str) and not made else ""


def _said(instance: object, name: str) -> str:
    """Return what an instance says of itself; "" where its class is no class of tools."""
    cls = type(instance)
    if not any(_is_said(cls, each) for each in ("name", "description")):
        return ""
    said = getattr(instance, name, None)
    if callable(said) or (said is None and not _is_said(cls, name)):
        return ""
    what, pattern, such = _SAID[name]
    if isinstance(said, str) and re.fullmatch(pattern, said, re.DOTALL):
        return said
    raise DefinitionError(
        f"{cls.__name__}.{name} is {said!r:.60}; it has to be {what}, such as {name} = {such!r}"
    )


_SAID = {
    "name": ("letters a to z, digits, _ and -", r"[A-Za-z0-9_-]+", "weather"),
    "description": ("a text", r".*\S.*", "Tells the weather of a city"),
}


def _is_said(cls: type, name: str) -> bool:
    """Return whether a class has this as an attribute or a property, and not as a method."""
    found = inspect.getattr_static(cls, name, None)
    data = isinstance(found, (property, functools.cached_property)) or not callable(found)
    return found is not None and data and not isinstance(found, (staticmethod, classmethod))


def _bare(member: Any) -> Any:
    return getattr(member, "__func__", member)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for base in cls.__mro__:
        if base is object or base.__module__.startswith("pydantic"):
            continue
        for name, member in vars(base).items():
            known = isinstance(member, (staticmethod, classmethod)) or inspect.isfunction(member)
            if known and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, member


def _with_receiver(tool: Tool, cls: type, kinds: Kinds) -> Tool:
    """Return a method's tool, with the argument that names the object it works on."""
    kind = kind_name(cls)
    if kind in tool.parameters.get("properties", {}):
        raise DefinitionError(
            f"{tool.name}: the parameter {kind!r} is named as its own type; rename it"
        )
    said = f"The {kind} to work on. If left out: the newest {kind}."
    named = {**TypeAdapter(refer(cls, kinds)).json_schema(), "description": said}
    properties = {kind: named, **tool.parameters.get("properties", {})}
    inner, method, fitting = tool.check, tool.function, receiver_types(cls, kinds)

    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        rest = {key: value for key, value in arguments.items() if key != kind}
        name = arguments.get(kind)
        if name is None:
            raise CallError(f"{kind}: there is no {kind} yet; make one first")
        if not isinstance(name, str):
            raise CallError(f"{kind}: must be the name of an object, such as {kind}#1")
        return {kind: resolve(name, fitting), **inner(rest, resolve)}

    return replace(
        tool,
        parameters={**tool.parameters, "properties": properties},
        kind=kind,
        receiver=kind,
        check=check,
        function=lambda **values: method(values.pop(kind), **values),
    )


def _parameters(function: Callable[..., Any], title: str) -> list[_Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise DefinitionError(
            f"{title}: its signature cannot be read; wrap it in a function with typed parameters"
        ) from None


def _types(function: Callable[..., Any], title: str, kinds: Kinds) -> dict[str, Any]:
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


def _field(
    parameter: _Parameter,
    types: Mapping[str, Any],
    notes: Mapping[str, str],
    kinds: Kinds,
    title: str,
) -> Any:
    if parameter.name not in types:
        raise DefinitionError(
            f"{title}: the parameter {parameter.name!r} has no type, so it has no schema; "
            f"write `{parameter.name}: str`, or what it takes"
        )
    try:
        annotation = refer(_described(types[parameter.name]), kinds)
    except RecursionError:
        raise DefinitionError(
            f"{title}: the parameter {parameter.name!r} has a type that holds itself and objects; "
            "take a list of the objects in its place"
        ) from None
    if parameter.kind is _Parameter.VAR_POSITIONAL:
        annotation = python_types.GenericAlias(list, (annotation,))
    if parameter.kind is _Parameter.VAR_KEYWORD:
        annotation = python_types.GenericAlias(dict, (str, annotation))
    extra: dict[str, Any] = {}
    if parameter.default is not parameter.empty:
        extra["json_schema_extra"] = _default(parameter.default)
    if parameter.name in notes and not _has_description(annotation):
        extra["description"] = notes[parameter.name]
    made = Annotated[annotation, Field(**extra)] if extra else annotation
    required = parameter.default is parameter.empty and parameter.kind not in (
        _Parameter.VAR_POSITIONAL,
        _Parameter.VAR_KEYWORD,
    )
    return made if required else NotRequired[made]


def _described(annotation: Any) -> Any:
    """A bare text beside a type (`Annotated[str, "The city."]`) is its description."""
    if get_origin(annotation) is not Annotated:
        return annotation
    first, *rest = get_args(annotation)
    notes = [Field(description=note) if isinstance(note, str) else note for note in rest]
    described: Any = Annotated[(first, *notes)]
    return described


def _has_description(annotation: Any) -> bool:
    if get_origin(annotation) is not Annotated:
        return False
    notes = get_args(annotation)[1:]
    return any(isinstance(note, FieldInfo) and note.description for note in notes)


def _default(default: Any) -> dict[str, Any]:
    try:
        data = to_jsonable_python(default)
        encode(data)
    # What is not JSON is not told; it holds all the same.
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        return {}
    return {"default": data}


def _prove(annotation: Any, name: str, title: str) -> None:
    """Raise DefinitionError where a parameter's type has no schema."""
    try:
        TypeAdapter(strict_dict(name, {name: annotation})).json_schema()
    except _BAD_SCHEMA as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DefinitionError(
            f"{title}: the parameter {name!r} has a type that has no JSON Schema ({reason}); "
            "take plain data (str, int, list, a dataclass, a pydantic model) or an object's class"
        ) from None


def _adapter(title: str, fields: Mapping[str, Any]) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(strict_dict(title, fields))
        schema = adapter.json_schema()
    except _BAD_SCHEMA:
        for name, annotation in fields.items():
            _prove(annotation, name, title)
        raise
    schema.pop("title", None)
    for part in schema.get("properties", {}).values():
        part.pop("title", None)
    return adapter, schema


def _check(adapter: TypeAdapter[Any], title: str, known: Collection[str]) -> Check:
    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        try:
            checked: dict[str, Any] = adapter.validate_python(dict(arguments), context=resolve)
        except ValidationError as error:
            raise refusal(title, error, known) from None
        return checked

    return check


def refusal(title: str, error: ValidationError, known: Collection[str]) -> CallError:
    """Return what a model, or the person at the form, is told of wrong arguments."""
    fields: dict[str, str] = {}
    for problem in error.errors(include_url=False, include_context=False):
        place = ".".join(str(part) for part in problem["loc"]) or "arguments"
        said = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            said = "there is no such argument"
            if len(problem["loc"]) == 1:
                said += f"; there {'is' if len(known) == 1 else 'are'} {', '.join(known) or 'none'}"
                near = nearest(str(problem["loc"][0]), known)
                said += f".{near}" if near else ""
        # A message that begins with an object's name begins as that is written.
        fields.setdefault(place, said if NAME.match(said) else said[:1].lower() + said[1:])
    return misfits(title, fields)


def _caller(function: Callable[..., Any], parameters: list[_Parameter]) -> Callable[..., Any]:
    """Return a function of keywords alone, whatever kinds of parameters there are."""
    kinds = {p.kind for p in parameters}
    if kinds <= {_Parameter.POSITIONAL_OR_KEYWORD, _Parameter.KEYWORD_ONLY}:
        return function
    first = [p.name for p in parameters if p.kind is _Parameter.POSITIONAL_ONLY]
    many = next((p.name for p in parameters if p.kind is _Parameter.VAR_POSITIONAL), None)
    if many is not None:
        first = [
            p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    named = next((p.name for p in parameters if p.kind is _Parameter.VAR_KEYWORD), None)

    def call(*receiver: Any, **values: Any) -> Any:
        more = values.pop(many, []) if many else []
        keywords = values.pop(named, {}) if named else {}
        given = [values.pop(name) for name in first if name in values]
        return function(*receiver, *given, *more, **values, **keywords)

    return call
