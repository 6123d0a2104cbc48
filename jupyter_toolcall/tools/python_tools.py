"""What a docstring says of a function and of each parameter (Google, NumPy, Sphinx)."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import types as python_types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, NotRequired, get_args, get_origin

from docstring_parser import ParseError, parse
from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..core.digests import encode
from ..core.errors import CallError, DefinitionError
from .argument_schema import adapter_of, check_of
from .object_types import Kinds, kind_name, makes, receiver_types, refer, returned, types_of
from .tool import Origin, Resolve, Tool, hints_of
from .tool_version import version_of


def documented(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return a function's description, and those of its parameters by name."""
    text = inspect.getdoc(function) or ""
    try:
        found = parse(text)
    except ParseError:
        return text.strip(), {}
    said = "\n\n".join(part for part in (found.short_description, found.long_description) if part)
    notes = {p.arg_name.lstrip("*"): _line(p.description) for p in found.params if p.description}
    return said, notes


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


_Parameter = inspect.Parameter


def parameters_of(function: Callable[..., Any], title: str) -> list[_Parameter]:
    """Return what a function takes. Raises DefinitionError where nobody can tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise DefinitionError(
            f"{title}: its signature cannot be read; wrap it in a function with typed parameters"
        ) from None


def field_of(
    parameter: _Parameter,
    types: Mapping[str, Any],
    notes: Mapping[str, str],
    kinds: Kinds,
    title: str,
) -> Any:
    """Return a parameter as a field of a schema. Raises DefinitionError where it has no type."""
    annotation = _annotation(parameter, types, kinds, title)
    extra: dict[str, Any] = {}
    if parameter.default is not parameter.empty:
        extra["json_schema_extra"] = _default(parameter.default)
    if parameter.name in notes and not _has_description(annotation):
        extra["description"] = notes[parameter.name]
    made = Annotated[annotation, Field(**extra)] if extra else annotation
    return made if _is_required(parameter) else NotRequired[made]


def _annotation(parameter: _Parameter, types: Mapping[str, Any], kinds: Kinds, title: str) -> Any:
    """Return the type of what a parameter takes: of many, a list or a record of it."""
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
    match parameter.kind:
        case _Parameter.VAR_POSITIONAL:
            return python_types.GenericAlias(list, (annotation,))
        case _Parameter.VAR_KEYWORD:
            return python_types.GenericAlias(dict, (str, annotation))
    return annotation


def _is_required(parameter: _Parameter) -> bool:
    many = parameter.kind in (_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not many


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


def caller(function: Callable[..., Any], parameters: list[_Parameter]) -> Callable[..., Any]:
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
    parameters = parameters_of(function, title)[1 if method else 0 :]
    types = types_of(bare, title, kinds)
    fields = {p.name: field_of(p, types, notes, kinds, title) for p in parameters}
    adapter, schema = adapter_of(title, fields)
    return Tool(
        name=title,
        description=hints.description if hints.description is not None else said,
        parameters=schema,
        function=caller(function, parameters),
        check=check_of(adapter, title, [*receiver, *fields]),
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
            made = replace(made, instance=group, subject=instance)
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
