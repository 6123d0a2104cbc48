"""Tools from Python: functions, classes and instances.

A function's signature is its schema, its docstring says what it is for. A class gives a
`Type_method` for each public method, whose receiver is an argument named as the type.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from ..errors import CallError, DefinitionError
from .annotations import makes, returned, types_of
from .docs import documented
from .fingerprint import version_of
from .kinds import Kinds, kind_name, receiver_types, refer
from .parameters import caller, field_of, parameters_of
from .schema import adapter_of, check_of
from .tool import Origin, Resolve, Tool, hints_of


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
