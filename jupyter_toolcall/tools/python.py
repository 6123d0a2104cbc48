"""Tools from Python: functions, classes and instances.

A function's signature is its schema, its docstring says what it is for. A class gives a
`Type_method` for each public method, whose receiver is an argument named as the type.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, NotRequired, get_args, get_origin

from pydantic import Field, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..errors import CallError, DefinitionError
from .docs import documented
from .fingerprint import fingerprint
from .kinds import Kinds, kind_name, refer, strict_dict
from .tool import Check, Resolve, Tool, hints_of

_Parameter = inspect.Parameter
_BAD_SCHEMA = (PydanticSchemaGenerationError, PydanticUserError, TypeError)


def from_function(
    function: Callable[..., Any], kinds: Kinds, *, name: str = "", skip: int = 0
) -> Tool:
    """Return the tool that a function is; `skip` leaves its first parameters out.

    Raises DefinitionError, which names the parameter, why it has no schema and what to
    write.
    """
    hints = hints_of(function)
    title = name or hints.name or function.__name__
    said, notes = documented(function)
    parameters = _parameters(function, title)[skip:]
    types = _types(function, title, kinds)
    fields = {p.name: _field(p, types, notes, kinds, title) for p in parameters}
    adapter, schema = _adapter(title, fields)
    return Tool(
        name=title,
        description=hints.description if hints.description is not None else said,
        parameters=schema,
        function=_caller(function, parameters),
        check=_check(adapter, title),
        read_only=hints.read_only,
        idempotent=hints.idempotent,
        version=lambda: fingerprint(function),
    )


def from_class(cls: type, kinds: Kinds) -> Iterator[Tool]:
    """Yield a tool for each public method of a class."""
    kind = kind_name(cls)
    for name, member in _members(cls):
        title = f"{kind}_{hints_of(_bare(member)).name or name}"
        if isinstance(member, (staticmethod, classmethod)):
            made = from_function(getattr(cls, name), kinds, name=title)
            yield replace(made, version=lambda f=member.__func__: fingerprint(f))
        else:
            yield _with_receiver(from_function(member, kinds, name=title, skip=1), cls, kinds)


def from_instance(instance: object, kinds: Kinds) -> Iterator[Tool]:
    """Yield a tool for each public method of an instance; they share its state."""
    kind = kind_name(type(instance))
    for name, member in _members(type(instance)):
        title = f"{kind}_{hints_of(_bare(member)).name or name}"
        if isinstance(member, (staticmethod, classmethod)):
            yield from_function(getattr(instance, name), kinds, name=title)
            continue
        made = from_function(member, kinds, name=title, skip=1)
        yield replace(made, instance=f"({kind})", subject=instance)


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
    inner, method = tool.check, tool.function

    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        rest = {key: value for key, value in arguments.items() if key != kind}
        if not isinstance(arguments.get(kind), str):
            raise CallError(f"{kind}: there is no {kind} yet; make one first")
        return {kind: resolve(arguments[kind], (cls,)), **inner(rest, resolve)}

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
    bare = inspect.unwrap(_bare(function))
    local = {cls.__name__: cls for cls in kinds}
    cells = zip(getattr(bare.__code__, "co_freevars", ()), bare.__closure__ or (), strict=False)
    for name, cell in cells if inspect.isfunction(bare) else ():
        local[name] = cell.cell_contents if _filled(cell) else None
    try:
        return typing.get_type_hints(bare, localns=local, include_extras=True)
    except NameError as error:
        raise DefinitionError(
            f"{title}: a type is not known here ({error}); define or import it first"
        ) from None
    except TypeError:
        return {}


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
    annotation = refer(_described(types[parameter.name]), kinds)
    if parameter.kind is _Parameter.VAR_POSITIONAL:
        annotation = list[annotation]
    if parameter.kind is _Parameter.VAR_KEYWORD:
        annotation = dict[str, annotation]
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
    return Annotated[(first, *notes)]  # type: ignore[return-value]


def _has_description(annotation: Any) -> bool:
    if get_origin(annotation) is not Annotated:
        return False
    notes = get_args(annotation)[1:]
    return any(isinstance(note, FieldInfo) and note.description for note in notes)


def _default(default: Any) -> dict[str, Any]:
    try:
        return {"default": to_jsonable_python(default)}
    except PydanticSerializationError:
        return {}


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


def _check(adapter: TypeAdapter[Any], title: str) -> Check:
    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        try:
            checked: dict[str, Any] = adapter.validate_python(dict(arguments), context=resolve)
        except ValidationError as error:
            raise refusal(title, error) from None
        return checked

    return check


def refusal(title: str, error: ValidationError) -> CallError:
    """Return what a model, or the person at the form, is told of wrong arguments."""
    fields: dict[str, str] = {}
    for problem in error.errors(include_url=False, include_context=False):
        place = ".".join(str(part) for part in problem["loc"]) or "arguments"
        said = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            said = "there is no such argument"
        fields.setdefault(place, said[:1].lower() + said[1:])
    lines = "; ".join(f"{place}: {said}" for place, said in list(fields.items())[:8])
    return CallError(f"{title}: {lines}"[:2000], fields)


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
