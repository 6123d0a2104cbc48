"""Tools made from Python functions, classes and instances: schemas from hints and docstrings.

Docstrings may be of Google's, NumPy's or Sphinx' style.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import GenericAlias
from typing import Annotated, Any, NotRequired, Unpack, get_args, get_origin

from docstring_parser import ParseError, parse
from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from ..core.digests import encode
from ..core.errors import CallError, DefinitionError
from ..core.interface_text import joined, t
from ..core.interrupts import attempt
from ..core.recorded_data import JsonDict, JsonObject
from . import object_types
from .arguments import argument_check, arguments_adapter, resolve_receiver
from .object_references import receiver_schema
from .object_types import Kinds, kind_name, receiver_types
from .tool import (
    METHODS_OF_FUNCTOOLS,
    Changed,
    CheckAnswer,
    Origin,
    Resolve,
    Tool,
    accepted,
    held_function,
    parameters_schema,
    tool_options,
)
from .tool_version import version_of
from .value_copies import private

Parameter = inspect.Parameter


def from_function(
    function: Callable[..., object], kinds: Kinds, name: str = "", origin: Origin | None = None
) -> Tool:
    """Return the tool for a function; that of a method takes no `self`.

    `origin` says where a method is defined.

    Raises:
        DefinitionError: names the parameter, why it has no schema and what to write.
    """
    origin, bare = origin or Origin(function), function
    while (held := held_function(bare)) is not None:
        bare = held
    options = tool_options(origin.marked or function)
    title = name or options.name or str(getattr(bare, "__name__", type(bare).__name__))
    has_self = origin.owner is not None and not origin.static
    parameters = _parameters(function, title)[has_self:]
    annotations = object_types.annotation_types(bare, title, kinds)
    types = tuple(_argument_type(p, annotations, kinds, title) for p in parameters)
    # All that the schema depends on: a reload can change any of it and keep the function.
    key = (function, title, parameters, types, origin.receiver, inspect.getdoc(bare) or "")
    # A reload changes the fields of a record class in place.
    classes = (cls for annotation in types for cls in object_types.classes_in(annotation))
    says_all = not attempt(hash, key)[1] and not any(map(object_types.fields_of, classes))
    typed = (_typed_tool if says_all else _typed_tool.__wrapped__)(*key)
    typed = replace(
        typed,
        **options.of_tool(),
        description=typed.description if options.description is None else options.description,
        returns=object_types.returned_type(annotations, kinds),
        result=_returned_text(bare),
        check_answer=_answer_check(annotations.get("return"), _returned_text(bare), title, kinds),
        makes=object_types.created_types(annotations, kinds),
        origin=origin,
    )
    return replace(typed, version=version_of(function, origin.owner, **typed.other_code))


def _returned_text(function: object) -> str:
    returned = getattr(function, "__annotations__", {}).get("return", "")
    text = returned if isinstance(returned, str) else inspect.formatannotation(returned)
    return text.strip("'\"")


def _answer_check(annotation: object, returned: str, title: str, kinds: Kinds) -> CheckAnswer:
    """Return the check of what a person answers in a tool's place; its schema is made at first use.

    Objects are given by name, as in arguments.
    """
    if annotation in (None, type(None), Any, Changed):
        return accepted

    @functools.cache
    def adapter() -> Any:
        fields = {"result": object_types.by_object_name(annotation, kinds)}
        return attempt(arguments_adapter, title, fields)[0]

    def check_answer(result: object, resolve: Resolve) -> None:
        parts_of_result = adapter()
        if parts_of_result is None:
            return
        try:
            argument_check(title, *parts_of_result)({"result": result}, resolve)
        except CallError as error:
            path, problem = next(iter(error.fields.items()), ("", str(error)))
            schema = parts_of_result[1]
            sample = _example(schema["properties"]["result"], schema)
            if part := path.removeprefix("result").lstrip("."):
                problem = joined(": ", [part, problem])
            elif isinstance(sample, dict | list):
                problem = t("give JSON, such as %1", json.dumps(sample))
            text = f"{title} returns {returned}; result: {problem}"
            raise CallError(text, {"result": problem}) from None

    return check_answer


def _example(schema: Any, root: JsonObject, depth: int = 0) -> Any:
    """Return data that fits a JSON Schema, for a person to read; `root` has the definitions."""
    if not isinstance(schema, dict) or depth > 3:
        return "text"
    choices = schema.get("anyOf") or [schema]
    schema = min(choices, key=lambda choice: choice.get("type") in ("object", "array"))
    schema = root.get("$defs", {}).get(str(schema.get("$ref")).rpartition("/")[2], schema)
    if schema.get("type") == "array":
        return [_example(schema.get("items"), root, depth + 1)]
    if schema.get("type") == "object":
        parts = schema.get("properties") or {"name": schema.get("additionalProperties")}
        names = schema.get("required") or [*parts][:1]
        return {name: _example(parts.get(name), root, depth + 1) for name in names}
    plain = {"integer": 1, "number": 1.5, "boolean": True}.get(schema.get("type", ""), "text")
    return schema.get("enum", [plain])[0]


def _parameters(function: Callable[..., object], title: str) -> tuple[Parameter, ...]:
    if (signature := attempt(inspect.signature, function)[0]) is not None:
        return tuple(signature.parameters.values())
    unread = "its signature cannot be read; wrap it in a function with typed parameters"
    raise DefinitionError(f"{title}: {unread}")


@functools.lru_cache(1_000)
def _typed_tool(
    function: Callable[..., object],
    title: str,
    parameters: tuple[Parameter, ...],
    types: tuple[object, ...],
    receiver: str,
    docstring: str,
) -> Tool:
    """Return the tool for a function, with its schema and its check."""
    description, notes = _documentation(docstring)
    fields = {p.name: _field(p, cls, notes) for p, cls in zip(parameters, types, strict=True)}
    adapter, schema = arguments_adapter(title, fields)
    # An error names the receiver, whose schema is added later.
    first: dict[str, Any] = {receiver: {}} if receiver else {}
    extended = {**schema, "properties": first | schema.get("properties", {})}
    return Tool(
        name=title,
        description=description,
        parameters=schema,
        function=_by_keywords(function),
        check=argument_check(title, adapter, extended),
    )


def _documentation(docstring: str) -> tuple[str, dict[str, str]]:
    """Return the description in a docstring, and those of the parameters by name."""
    try:
        parsed = parse(docstring)
    except ParseError:
        return docstring.strip(), {}
    parts = (parsed.short_description, parsed.long_description)
    notes = {p.arg_name.lstrip("*"): p.description for p in parsed.params if p.description}
    description = "\n\n".join(part for part in parts if part)
    return description, {name: " ".join(note.split()) for name, note in notes.items()}


# -- the parameters of a function ----------------------------------------------------------


def _argument_type(
    parameter: Parameter, annotations: Mapping[str, object], kinds: Kinds, title: str
) -> object:
    """Return the type of a parameter's argument: a list for `*args`, an object for `**kwargs`.

    Raises DefinitionError if it has no type.
    """
    if parameter.name not in annotations:
        raise DefinitionError(
            f"{title}: the parameter {parameter.name!r} has no type, so it has no schema; "
            f"write `{parameter.name}: str`, or what it takes"
        )
    try:
        annotation = object_types.by_object_name(annotations[parameter.name], kinds)
    except RecursionError:
        raise DefinitionError(
            f"{title}: the parameter {parameter.name!r} has a type that holds itself and objects; "
            "take a list of them (or a TypedDict of `typing_extensions`, if it holds itself alone)"
        ) from None
    match parameter.kind:
        case Parameter.VAR_POSITIONAL:
            return GenericAlias(list, (_described(annotation),))
        case Parameter.VAR_KEYWORD if get_origin(annotation) is Unpack:
            return get_args(annotation)[0]
        case Parameter.VAR_KEYWORD:
            return GenericAlias(dict, (str, _described(annotation)))
    return annotation


def _field(parameter: Parameter, annotation: Any, notes: Mapping[str, str]) -> object:
    """Return a parameter as a field of a schema, with the default and notes that pydantic reads."""
    annotation, note = _described(annotation), notes.get(parameter.name)
    has_field = any(isinstance(part, FieldInfo) for part in _annotated_parts(annotation))
    if note is not None:
        # The first of several descriptions counts least.
        first, *others = _annotated_parts(annotation)
        annotation = Annotated[(first, Field(description=note), *others)]
    if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
        is_required = getattr(annotation, "__required_keys__", ())
        return annotation if is_required else NotRequired[annotation]
    default = parameter.default
    if default is not parameter.empty and not has_field and not isinstance(default, FieldInfo):
        # The function itself has its default: it need not be JSON, nor can it always be copied.
        return NotRequired[Annotated[annotation, Field(json_schema_extra=_default(default))]]
    if default is not parameter.empty:
        default = default if isinstance(default, FieldInfo) else Field(default)
        field = attempt(FieldInfo.from_annotated_attribute, annotation, default)[0]
        # What pydantic refuses, such as two defaults, is said where the schema is made.
        annotation = Annotated[field.annotation, field] if field else Annotated[annotation, default]
    field = attempt(FieldInfo.from_annotation, annotation)[0]
    return NotRequired[annotation] if field and not field.is_required() else annotation


def _annotated_parts(annotation: object) -> tuple[object, ...]:
    return get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)


def _described(annotation: object) -> object:
    """A bare text beside a type (`Annotated[str, "The city."]`) is its description."""
    first, *notes = _annotated_parts(annotation)
    fields = [Field(description=note) if isinstance(note, str) else note for note in notes]
    described: Any = Annotated[(first, *fields)] if notes else annotation
    return described


def _default(default: object) -> JsonDict:
    """Return the part of a schema that shows a default; a value that is not JSON is not shown."""
    data, raised = attempt(to_jsonable_python, default)
    return {} if raised or attempt(encode, data)[1] else {"default": data}


def takes_keywords(function: Callable[..., object]) -> bool:
    """Return whether a function can be called with all of its arguments as keywords.

    A decorator may leave its own parameters, under other names, and `functools.singledispatch`
    looks at what stands first.
    """
    parameters = inspect.signature(function).parameters
    outer = attempt(lambda: inspect.signature(function, follow_wrapped=False))[0]
    refused = outer is not None and attempt(lambda: outer.bind(**dict.fromkeys(parameters)))[1]
    is_plain = all(parameter.kind in _PLAIN for parameter in parameters.values())
    return is_plain and not refused and not hasattr(function, "dispatch")


_PLAIN = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def _by_keywords(function: Callable[..., object]) -> Callable[..., Any]:
    """Return a function that takes all arguments as keywords, whatever kinds they are of."""
    # A function in a function has no pickle for a worker process.
    defaults = [p.default for p in _parameters(function, "") if _has_default(p)]
    can_change = any(private(default)[0] is not default for default in defaults)
    is_plain = takes_keywords(function) and not can_change
    return function if is_plain else functools.partial(_call_by_position, function)


def _has_default(parameter: Parameter) -> bool:
    """Return whether Python fills in a parameter that is left out; pydantic fills in its fields."""
    return parameter.default is not parameter.empty and not isinstance(parameter.default, FieldInfo)


def _call_by_position(
    function: Callable[..., object], /, *receiver: object, **values: object
) -> object:
    """Call a function with some values by position, as its parameters are; `*args` is a list."""
    signature = inspect.signature(function)
    parameters = [*signature.parameters.values()][len(receiver) :]
    bindings = inspect.BoundArguments(signature.replace(parameters=parameters), values)
    for parameter in parameters:
        if parameter.name not in values and _has_default(parameter):
            # A call could change its default, and the next call would get another one.
            values[parameter.name] = private(parameter.default)[0]
    # A parameter before `*args` that was left out has its default.
    bindings.apply_defaults()
    return function(*receiver, *bindings.args, **bindings.kwargs)


# -- the methods of a class ----------------------------------------------------------------


def from_class(cls: type, kinds: Kinds, instance: object = None) -> Iterator[Tool]:
    """Yield a tool for each public method of a class, or of an instance, which shares its state.

    An instance's tools are named by its `name` and described by its `description`, if its
    class has these. Raises DefinitionError if they are no texts.
    """
    kind = kind_name(cls)
    # A class that inherits its docstring, or has the one of a dataclass, has none of its own.
    group, docstring = kind, vars(cls).get("__doc__")
    generated = dataclasses.is_dataclass(cls) and str(docstring).startswith(f"{cls.__name__}(")
    about = inspect.cleandoc(docstring) if isinstance(docstring, str) and not generated else ""
    if instance is not None:
        group = _own_text(instance, "name") or kind
        about = _own_text(instance, "description") or about
    for name, member in _methods(cls):
        title = f"{group}_{tool_options(member).name or name}"
        static = isinstance(member, (staticmethod, classmethod))
        holder = cls if instance is None else instance
        function = getattr(holder, name) if static else _as_function(cls, name, member)
        receiver = kind if instance is None and not static else ""
        heirs = receiver_types(cls, kinds)[1:] if receiver else ()
        overriding = tuple((heir, vars(heir)[name]) for heir in heirs if name in vars(heir))
        origin = Origin(function, cls, name, static, receiver, member, overriding)
        tool = from_function(function, kinds, title, origin)
        if receiver:
            tool = _with_receiver(tool, cls, kinds, origin)
        elif not static:
            tool = replace(tool, instance=group, subject=instance)
        yield replace(tool, group=group, about=about)


def from_bound_method(method: Any, kinds: Kinds) -> Tool:
    """Return the tool for a method of an instance (`counter.add`), whose state it shares with the
    other tools of that instance. Raises DefinitionError."""
    function, subject = method.__func__, method.__self__
    origin = Origin(function, type(subject), method.__name__)
    tool = from_function(function, kinds, origin=origin)
    instance = _own_text(subject, "name") or kind_name(type(subject))
    return replace(tool, instance=instance, subject=subject)


def _own_text(instance: object, name: str) -> str:
    """Return an instance's `name` or `description`; "" if its class has neither."""
    cls = type(instance)
    if not any(_has_data(cls, name) for name in _TEXTS):
        return ""
    text = getattr(instance, name, None)
    if callable(text) or (text is None and not _has_data(cls, name)):
        return ""
    what, form, example = _TEXTS[name]
    if isinstance(text, str) and re.fullmatch(form, text, re.DOTALL):
        return text
    raise DefinitionError(
        f"{cls.__name__}.{name} is {text!r:.60}; it has to be {what}, such as {name} = {example!r}"
    )


_TEXTS = {
    "name": ("letters, digits, _, - and .", r"[\w.-]+", "weather"),
    "description": ("a text", r".*\S.*", "Tells the weather of a city"),
}


def _has_data(cls: type, name: str) -> bool:
    """Return whether a class has an attribute or a property of this name, and not a method."""
    value = inspect.getattr_static(cls, name, None)
    data = isinstance(value, (property, functools.cached_property)) or not callable(value)
    return value is not None and data and not isinstance(value, (staticmethod, classmethod))


def _methods(cls: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods of a class and its bases, the newest definition of each."""
    names: set[str] = set()
    for base in cls.__mro__:
        if base is object or base.__module__.startswith("pydantic"):
            continue
        for name, member in vars(base).items():
            is_method = inspect.isfunction(member) or isinstance(member, _METHODS)
            if is_method and not name.startswith("_") and name not in names:
                names.add(name)
                yield name, member


_METHODS = (staticmethod, classmethod, *METHODS_OF_FUNCTOOLS, type(functools.cache(len)))
"""What a class has for a method, besides a function."""


def _as_function(cls: type, name: str, member: object) -> Any:
    """Return a method as a function that takes the object first."""
    if not isinstance(member, METHODS_OF_FUNCTOOLS):
        return member

    def method(subject: object, /, *args: object, **values: object) -> Any:
        return member.__get__(subject, type(subject))(*args, **values)

    functools.update_wrapper(method, member.func)
    signature = inspect.signature(getattr(cls, name))
    vars(method).update(__signature__=signature, dispatch=getattr(member, "dispatcher", None))
    return method


def _with_receiver(tool: Tool, cls: type, kinds: Kinds, origin: Origin) -> Tool:
    """Return a method's tool, with the argument that names the object it works on."""
    kind, check_rest = kind_name(cls), tool.check
    properties = parameters_schema(tool).get("properties", {})
    if kind in properties:
        raise DefinitionError(
            f"{tool.name}: the parameter {kind!r} is named as its own type; rename it"
        )
    fitting = receiver_types(cls, kinds)
    names = dict.fromkeys(name for cls_of_name, name in kinds.items() if cls_of_name in fitting)

    def check(arguments: JsonObject, resolve: Resolve) -> JsonDict:
        receiver = resolve_receiver(kind, arguments.get(kind), fitting, resolve)
        others = {key: value for key, value in arguments.items() if key != kind}
        return {kind: receiver, **check_rest(others, resolve)}

    properties = {kind: receiver_schema(kind, tuple(names)), **properties}
    return replace(
        tool,
        parameters={**parameters_schema(tool), "properties": properties},
        kind=kind,
        receiver=kind,
        check=check,
        function=functools.partial(
            _call_method, tool.function, cls, origin.name, origin.overriding
        ),
    )


def _call_method(
    method: Callable[..., object],
    owner: type,
    name: str,
    overriding: tuple[tuple[type, object], ...],
    /,
    **values: object,
) -> Any:
    """Call a method of an object; that of a subclass which overrides it is its own."""
    subject = values.pop(kind_name(owner))
    classes = type(subject).__mro__
    # An old object of a class that was defined again has the new methods.
    for cls in classes[: classes.index(owner)] if owner in classes else ():
        # What counts as the tool's code is what runs.
        if member := dict(overriding).get(cls) or vars(cls).get(name):
            return _by_keywords(_as_function(cls, name, member).__get__(subject))(**values)
    return method(subject, **values)
