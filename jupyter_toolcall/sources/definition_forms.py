"""The forms of a tool definition: the ToolDefinition's own, OpenAI's, Anthropic's and MCP's.

All of them have a function: a name, a description and the JSON Schema of its parameters. The
ToolDefinition says also what a call does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from ..core.errors import DefinitionError
from ..core.json_data import no_constant, unique_keys
from ..core.recorded_data import JsonDict
from ..core.text import nearest
from ..tools.arguments import MAX_DEPTH, is_too_deep
from ..tools.toolbox import TOOL_NAME
from .definition_defaults import ACTIONS
from .definition_dialects import Note
from .definition_schema import read_schema

Kind = Literal["action", "endpoint", "context"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_KEYS = ("type", "tool", "endpoint", "defaults", "static_parameters", "result")
_SPELLINGS = {"staticParameters": "static_parameters", "argumentLocation": "argument_location"}
"""Other spellings of keys."""
_WORDS: dict[str, tuple[str, ...]] = {
    "type": KINDS,
    "tool.type": ("function",),
    "endpoint.method": ("get", "post", "put", "delete"),
    "endpoint.argument_location": ("body", "form", "path", "query"),
    "static_parameters.type": ("string", "int", "boolean", "data_source_list"),
    "transform.action": ACTIONS,
    "when.operator": ("eq",),
}
"""The words that a key takes, by the object that it is in."""
_LISTS = ("tools", "functions", "function_declarations", "functionDeclarations")
"""The keys of an object that holds a list of definitions, as a provider or a server sends it."""


class Form(NamedTuple):
    """Where a form has its function, and the key of its schema."""

    whose: str
    path: tuple[str, ...]
    schema: str = "parameters"


OWN = Form("ToolDefinition's", ("tool", "function"))
_FORMS = (
    OWN,
    Form("OpenAI's", ("function",)),
    Form("Anthropic's", (), "input_schema"),
    Form("MCP's", (), "inputSchema"),
    Form("OpenAI's", ()),
)


class Function(NamedTuple):
    """What all forms have."""

    name: str
    description: str
    parameters: JsonDict


def definitions_in(source: object) -> list[Any]:
    """Return the definitions in JSON data, a JSON text or a .json file: one, or those of a list.

    Raises DefinitionError for what is no JSON.
    """
    data = loaded(source)
    if isinstance(data, Mapping) and not {"tool", "function", "name"} & data.keys():
        data = next((data[key] for key in _LISTS if isinstance(data.get(key), list)), data)
    return data if isinstance(data, list) and data else [data]


def read_form(data: Any, note: Note) -> tuple[Function, JsonDict]:
    """Return the function of a definition, and the keys of a ToolDefinition that are not null.

    Arguments:
        data: JSON data, in any form.
        note: is told what was read as what.

    Raises DefinitionError, which names the place of what is wrong.
    """
    form = _form_of(data)
    if form is OWN:
        part = read_object(data, _KEYS, "")
        if "tool" not in part:
            raise DefinitionError('tool: is missing; write {"function": {"name": ...}}')
        tool = read_object(part["tool"], ("type", "function"), "tool", ("function",))
        required: tuple[str, ...] = ("name", form.schema)
        return _read_function(tool["function"], form, required, note), part
    if data.get("type", "function") not in ("function", "custom"):
        raise DefinitionError(
            f"type: {data['type']!r:.60} is not known here; a ToolDefinition has its function in "
            'tool: {"type": ..., "tool": {"function": {...}}}'
        )
    note(f"{form.whose} form is read as an action")
    function = data
    for key in form.path:
        for other in data.keys() - {key, "type"}:
            note(f"{other} is not read")
        function = data[key]
    return _read_function(function, form, ("name",), note), {}


def _form_of(data: object) -> Form:
    """Return the form of a definition; what has none is read as a ToolDefinition's mistake."""
    if not isinstance(data, Mapping) or "tool" in data:
        return OWN
    for form in _FORMS[1:]:
        if all(key in data for key in form.path or (form.schema,)):
            return form
    is_function = "name" in data and not any(key in data for key in _KEYS[2:])
    return _FORMS[-1] if is_function else OWN


def _read_function(data: object, form: Form, required: tuple[str, ...], note: Note) -> Function:
    keys, where = ("name", "description", form.schema), ".".join(form.path)
    prefix = f"{where}." if where else ""
    if isinstance(data, Mapping):
        # A key that is near to one that is missing is a mistake; any other is for somebody else.
        missing = [key for key in keys if key not in data]
        unread = [key for key in data if key not in keys and not nearest(str(key), missing)]
        for key in unread:
            if key not in ("type", "title"):
                note(f"{key} is not read")
        titled = {"description": data["title"]} if data.get("title") else {}
        data = titled | {key: part for key, part in data.items() if key not in unread}
    function = read_object(data, keys, where, required)
    name, description = function["name"], function.get("description", "")
    # The specification's own example has a placeholder in angle brackets for its name.
    name = name[1:-1] if isinstance(name, str) and re.fullmatch("<[^<>]+>", name) else name
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise DefinitionError(
            f"{prefix}name: {name!r:.60} is no name: letters, digits, spaces and any of _ - . / :, "
            "at most 200"
        )
    if not isinstance(description, str):
        raise DefinitionError(f"{prefix}description: {description!r:.60} is no text")
    parameters = function.get(form.schema, {"type": "object", "properties": {}})
    return Function(name, description, read_schema(parameters, f"{prefix}{form.schema}", note))


# -- JSON ---------------------------------------------------------------------------------


def loaded(source: Any) -> object:
    """Return plain JSON data of our own, whatever it is given as. Raises DefinitionError."""
    where = "the definition"
    source = source.removeprefix("\ufeff") if isinstance(source, str) else source
    is_path = isinstance(source, str) and not source.lstrip().startswith(("{", "["))
    if isinstance(source, Path) or is_path:
        path = Path(source).expanduser()
        if path.suffix != ".json":
            raise DefinitionError(f"{str(source)!r:.80} is neither a JSON object nor a .json file")
        where = f"{str(path)!r:.120}"
        try:
            source = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeError) as error:
            raise DefinitionError(f"{where} cannot be read: {error}") from None
    try:
        text = source if isinstance(source, str) else json.dumps(source, allow_nan=False)
        data = json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_constant)
    except RecursionError:
        raise DefinitionError(_too_deep(where)) from None
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"{where} is no JSON: {error}") from None
    return check_depth(data, where)


def check_depth(data: object, where: str) -> object:
    """Return JSON data. Raises DefinitionError if it is nested too deep."""
    if is_too_deep(data):
        raise DefinitionError(_too_deep(where))
    return data


def _too_deep(where: str) -> str:
    return f"{where}: is nested deeper than {MAX_DEPTH} levels"


def read_object(
    data: object, keys: tuple[str, ...], where: str, required: tuple[str, ...] = (), of: str = ""
) -> JsonDict:
    """Return an object without what is null; `of` is its name in `_WORDS`, if not `where`.

    Raises DefinitionError for another key or word, and for a required key that is missing.
    """
    prefix, of = (f"{where}." if where else ""), (f"{of or where}." if of or where else "")
    if not isinstance(data, Mapping):
        at = f"{where}: " if where else ""
        raise DefinitionError(f"{at}{data!r:.60} is no object with {', '.join(keys)}")
    # Later versions have other keys, and a null there.
    part = {_SPELLINGS.get(k, k): value for k, value in data.items() if value is not None}
    for key in part:
        if key not in keys:
            raise DefinitionError(
                f"{prefix}{key}: there is no such key; there are {', '.join(keys)}."
                f"{nearest(str(key), keys)}"
            )
    for key in keys:
        words = _WORDS.get(f"{of}{key}", ())
        there = f"; there is {' or '.join(words)}" if words else ""
        if key in required and key not in part:
            raise DefinitionError(f"{prefix}{key}: is missing{there}")
        if words and key in part and part[key] not in words:
            word = part[key]
            guess = nearest(str(word), words)
            raise DefinitionError(f"{prefix}{key}: {word!r:.60} is not known{there}.{guess}")
    return {key: part[key] for key in keys if key in part}
