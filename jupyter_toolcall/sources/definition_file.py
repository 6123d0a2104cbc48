"""Reading a tool definition: every mistake in it is found here, and its place is named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import CallError, DefinitionError
from ..core.json_data import mapped, nested
from ..core.recorded_data import JsonDict, JsonObject
from ..core.secrets import hiding
from ..core.text import nearest
from .definition_defaults import (
    ACTIONS,
    Action,
    Condition,
    Default,
    Reference,
    Template,
    parse_format,
    parse_text,
)
from .definition_endpoint import SLOT, Endpoint
from .definition_forms import Kind, read_form, read_object
from .definition_schema import ArgumentChecker, is_open, property_names
from .http_client import web_url

VARIABLE_OF = {"language": "language", "say": "say", "message": "say"}
"""For each argument of a context tool the variable of the session that it sets."""
_STATIC_TYPES = {"string": str, "int": int, "boolean": bool, "data_source_list": list}


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool definition that was read. `data` is it as JSON data, in one spelling."""

    name: str
    description: str
    parameters: JsonObject
    kind: Kind
    endpoint: Endpoint | None
    defaults: tuple[Default, ...]
    fixed: JsonObject
    """`static_parameters`: arguments that always have these values."""
    result: Any
    notes: tuple[str, ...]
    """What was read as what."""
    data: JsonObject = field(repr=False)

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The arguments that may run: in the schema, fixed, or written by a default."""
        written = (d.key.partition(".")[0] for d in self.defaults if d.action != "remove")
        return tuple(dict.fromkeys((*property_names(self.parameters), *self.fixed, *written)))

    @property
    def references(self) -> Iterator[tuple[str, Reference]]:
        """All references, each with the place of its text."""
        for default in self.defaults:
            yield from ((f"defaults.{default.key}", reference) for reference in default.references)
        templates = (part for part in nested(self.result) if isinstance(part, Template))
        yield from (("result", ref) for template in templates for ref in template.references)


def read_definition(data: object) -> Definition:
    """Return the definition in JSON data, of any form.

    Raises DefinitionError, which names the place of what is wrong.
    """
    notes: dict[str, None] = {}
    function, part = read_form(data, notes.setdefault)
    kind: Kind = part.get("type", "action")
    if kind == "endpoint" and "endpoint" not in part:
        raise DefinitionError("endpoint: is missing; type 'endpoint' needs it")
    if kind != "endpoint" and "endpoint" in part:
        raise DefinitionError("endpoint: is only for endpoint tools")
    if kind != "context" and "result" in part:
        raise DefinitionError("result: is only for context tools; others return what they do")
    endpoint = {}
    if kind == "endpoint":
        required = ("url", "method", "argument_location")
        endpoint = read_object(part["endpoint"], (*required, "timeout"), "endpoint", required)
    definition = Definition(
        **function._asdict(),
        kind=kind,
        endpoint=_read_endpoint(endpoint) if endpoint else None,
        defaults=_read_defaults(part.get("defaults", {})),
        fixed=_read_static(part.get("static_parameters", [])),
        result=mapped(part.get("result"), str, lambda text: parse_text(text, "result")),
        notes=tuple(notes),
        data={
            "type": kind,
            "tool": {"type": "function", "function": function._asdict()},
            **({"endpoint": endpoint} if endpoint else {}),
            **{key: part[key] for key in ("defaults", "static_parameters") if part.get(key)},
            **{key: part[key] for key in ("result",) if key in part},
        },
    )
    _check_names(definition)
    hide = hiding(os.environ)
    for key, value in definition.data.items():
        if hide(value) != value:
            raise DefinitionError(f"{key}: holds a secret, and definitions are shown; take it out")
    return definition


# -- endpoint, static_parameters, result --------------------------------------------------


def _read_endpoint(part: JsonObject) -> Endpoint:
    method, location, seconds = part["method"], part["argument_location"], part.get("timeout", 1)
    if method in ("get", "delete") and location in ("body", "form"):
        raise DefinitionError(
            f"endpoint.argument_location: a {method} has no body for {location!r}; "
            "there is query or path"
        )
    if type(seconds) not in (int, float) or not 0 < seconds <= 3600:
        raise DefinitionError(f"endpoint.timeout: {seconds!r:.40}; give seconds, more than 0")
    _check_url(part["url"], location)
    return Endpoint(**part)


def _check_url(url: Any, location: str) -> None:
    where = f"endpoint.url: {url!r:.80}"
    parts = web_url(url)
    if parts is None:
        raise DefinitionError(f"{where} is no URL such as https://api.example.org/x")
    if "@" in parts.netloc:
        raise DefinitionError("endpoint.url: has a password; definitions are shown: leave it out")
    slots = SLOT.findall(url)
    if slots and location != "path":
        raise DefinitionError(
            f"endpoint.url: {{{slots[0]}}} is filled in only with argument_location 'path'"
        )
    outside = url.replace(parts.path, "", 1) if parts.path else url
    if SLOT.search(outside) or re.search(r"[{}]", SLOT.sub("", url)):
        raise DefinitionError(f"{where}: braces stand in the path alone, as {{name}}")


def _read_static(data: object) -> JsonDict:
    if not isinstance(data, list):
        raise DefinitionError(f"static_parameters: {data!r:.60} is no list")
    fixed = {}
    for index, parameter in enumerate(data):
        where = f"static_parameters.{index}"
        keys, required = ("name", "required", "type", "description", "default"), ("name", "type")
        part = read_object(parameter, keys, where, required, "static_parameters")
        if not isinstance(part["name"], str) or not part["name"]:
            raise DefinitionError(f"{where}.name: is missing")
        if "default" in part:
            value, kind = part["default"], part["type"]
            if type(value) is not _STATIC_TYPES[kind]:
                raise DefinitionError(f"{where}.default: {value!r:.60} is no {kind}")
            fixed[part["name"]] = part["default"]
        elif part.get("required"):
            raise DefinitionError(f"{where}.default: is missing, and {part['name']} is required")
    return fixed


# -- defaults -----------------------------------------------------------------------------


def _read_defaults(data: object) -> tuple[Default, ...]:
    if not isinstance(data, Mapping):
        raise DefinitionError(f'defaults: {data!r:.60} is no object; write {{"parameter": value}}')
    defaults = tuple(_read_default(key, value) for key, value in data.items())
    for default in defaults:
        for outer in defaults:
            is_inside = default.key.startswith(f"{outer.key}.") and outer.action != "remove"
            is_object = isinstance(outer.value, Mapping)
            if is_inside and not is_object and not (outer.template and outer.template.typed):
                raise DefinitionError(
                    f"defaults.{default.key}: {outer.key} is set to what has no parts "
                    f"(defaults.{outer.key})"
                )
    return defaults


def _read_default(key: str, value: Any) -> Default:
    where = f"defaults.{key}"
    if not all(key.split(".")):
        raise DefinitionError(f"{where}: {key!r} is no name of a parameter, nor a path such as a.b")
    match value:
        case str() if value.startswith("@"):
            return _read_short_form(key, value, where)
        case str():
            text = parse_text(value, where)
            return Default(key, template=text) if text.references else Default(key, value=value)
        case {"transform": transform} if len(value) == 1:
            return _read_transform(key, transform, f"{where}.transform")
    return Default(key, value=value)


def _read_short_form(key: str, text: str, where: str) -> Default:
    """Return the default that `@remove`, `@override TEXT` or `@default TEXT` is."""
    word, _, content = text[1:].partition(" ")
    if word == "remove" and not content.strip():
        return Default(key, "remove")
    for action in ACTIONS:
        if word == action != "remove" and content:
            return Default(key, action, parse_format(content, where))
    raise DefinitionError(
        f"{where}: {text!r:.60} is no short form; there are @remove, @override TEXT and "
        f"@default TEXT.{nearest(word, ACTIONS)} A text that begins with @: "
        f'{{"transform": {{"value": "@..."}}}}'
    )


def _read_transform(key: str, data: object, where: str) -> Default:
    part = read_object(data, ("action", "when", "value", "format"), where, (), "transform")
    action: Action = part.get("action", "default")
    when = _read_condition(part["when"], f"{where}.when") if "when" in part else None
    contents = [name for name in ("value", "format") if name in part]
    if action == "remove" and contents:
        raise DefinitionError(f"{where}.{contents[0]}: what is removed takes no value or format")
    if action != "remove" and len(contents) != 1:
        raise DefinitionError(f"{where}: give either value or format, and not both")
    if "format" not in part:
        return Default(key, action, value=part.get("value"), when=when)
    if not isinstance(part["format"], str):
        raise DefinitionError(f"{where}.format: {part['format']!r:.60} is no text")
    return Default(key, action, parse_format(part["format"], f"{where}.format"), when=when)


def _read_condition(data: object, where: str) -> Condition:
    part = read_object(data, ("key", "value", "operator"), where, ("key", "value"), "when")
    key, value = part["key"], part["value"]
    if not isinstance(key, str) or any(not step or step[0] == "_" for step in key.split(".")):
        raise DefinitionError(f"{where}.key: {key!r:.60} is no name of a parameter or vars.NAME")
    if not isinstance(value, (str, int, float)):
        raise DefinitionError(f"{where}.value: {value!r:.60} is no text to compare with")
    if key.startswith("vars."):
        return Condition(Reference("vars", key.removeprefix("vars.")), value)
    return Condition(Reference("params", key.removeprefix("params.")), value)


# -- names that lead nowhere --------------------------------------------------------------


def _check_names(definition: Definition) -> None:
    """Raise DefinitionError for names that the parts of a definition do not share."""
    for default in definition.defaults:
        _check_default(default, definition)
    for where, reference in definition.references:
        _check_reference(reference, definition, where)
    names = definition.argument_names
    for slot in SLOT.findall(definition.endpoint.url) if definition.endpoint else ():
        if slot not in names:
            raise DefinitionError(
                f"endpoint.url: there is no parameter {slot!r:.60} to fill in; there are: "
                f"{', '.join(names) or 'none'}.{nearest(slot, names)}"
            )
    if definition.kind == "context":
        _check_context(definition)


def _check_default(default: Default, definition: Definition) -> None:
    parameters, where = definition.parameters, f"defaults.{default.key}"
    names = property_names(parameters)
    head, dot, _ = default.key.partition(".")
    if dot and default.key not in names and _has_no_parts(parameters, head):
        raise DefinitionError(f"{where}: {head} is no object, so it has no parts")
    is_unknown = head not in names and not is_open(parameters)
    if default.action == "remove" and is_unknown and (guess := nearest(head, names)):
        raise DefinitionError(f"{where}: there is no parameter {head!r} to remove.{guess}")
    if default.template is None and default.action == "default" and default.key in names:
        try:
            ArgumentChecker(where, {**parameters, "required": []})({default.key: default.value})
        except CallError as error:
            raise DefinitionError(f"{where}: {next(iter(error.fields.values()))}") from None


def _check_reference(reference: Reference, definition: Definition, where: str) -> None:
    names = definition.argument_names
    is_known = reference.space == "vars" or reference.name in names
    if is_known or is_open(definition.parameters):
        return
    head, dot, _ = reference.name.partition(".")
    if dot and _has_no_parts(definition.parameters, head):
        raise DefinitionError(f"{where}: {reference}: {head} is no object, so it has no parts")
    if head not in names and (guess := nearest(head, names)):
        raise DefinitionError(f"{where}: there is no parameter {head!r:.60}.{guess}")


def _has_no_parts(parameters: JsonObject, name: str) -> bool:
    schema = parameters.get("properties", {}).get(name)
    types = schema.get("type", ()) if isinstance(schema, Mapping) else ()
    return bool(types) and types != "object" and "object" not in types


def _check_context(definition: Definition) -> None:
    """Raise DefinitionError for an argument of a context tool that nothing uses."""
    references = [r for _, r in definition.references if r.space == "params"]
    used = {reference.name.partition(".")[0] for reference in references}
    used |= {default.key for default in definition.defaults if default.action == "remove"}
    for name in definition.argument_names:
        if name not in VARIABLE_OF and name not in used:
            raise DefinitionError(
                f"tool.function.parameters.{name}: a context tool sets {', '.join(VARIABLE_OF)} (a "
                "message is what to say); use it in result, or take it out: "
                f'{{"{name}": "@remove"}}'
            )
