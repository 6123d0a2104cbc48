"""What a model is sent as XML: its tools, calls and their results, and values as text.

A value that is a text is written as it is, all else as JSON; which of them a text stands for is
decided by the parameter's schema alone. `written` and `value` undo each other for every value that
fits the schema.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary
from xml.sax.saxutils import escape

from ..core.events import Call
from ..core.interrupts import attempt
from ..tools.arguments import parse_json
from ..tools.object_references import NAME_OR_TEXT, kinds_of
from ..tools.tool import Tool, parameters_schema
from ..tools.toolbox import Toolbox
from .messages import Result
from .xml_parser import content, pair

Schema = Mapping[str, Any]
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_JSON_TYPES: Mapping[type, str] = {
    **{str: "string", bool: "boolean", int: "number", float: "number"},
    **{list: "array", dict: "object", type(None): "null"},
}
_PYTHON_NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
EVERY = frozenset(_JSON_TYPES.values())
TEXT = frozenset({"string"})
_WORDS = {"true": True, "false": False, "null": None, "none": None, "": None}
_LIMITS = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "format"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
)
DEEPEST = 12


# -- values as text ------------------------------------------------------------------------------


def types(schema: Any, defs: Schema, seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the JSON types that a schema takes; "number" stands for integers too."""
    match schema:
        case {"$ref": ref}:
            name = str(ref).rpartition("/")[2]
            return frozenset() if name in seen else types(defs.get(name), defs, seen | {name})
        case {"type": kinds}:
            kinds = [kinds] if isinstance(kinds, str) else kinds
            return frozenset("number" if kind == "integer" else kind for kind in kinds)
        case {"enum": _} | {"const": _}:
            return frozenset(_JSON_TYPES[type(value)] for value in _constants(schema))
        case {"anyOf": parts} | {"oneOf": parts} | {"allOf": parts}:
            return frozenset().union(*(types(part, defs, seen) for part in parts))
    return EVERY


def parameter_types(tool: Tool | None, name: str) -> frozenset[str]:
    """Return the JSON types that a parameter of a tool takes."""
    schema: Schema = parameters_schema(tool) if tool else {}
    part = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
    return types(part, schema.get("$defs", {}))


def _constants(schema: Schema) -> list[Any]:
    return list(schema.get("enum", [schema["const"]] if "const" in schema else ()))


def value(text: str, types: frozenset[str]) -> Any:
    """Return the value that a text stands for, for a parameter that takes these types.

    A text that is none of them is returned as it is: the tool says what is wrong with it.
    """
    if types == TEXT:
        return text
    word = text.strip().lower()
    if "string" not in types and word in _WORDS and _JSON_TYPES[type(_WORDS[word])] in types:
        return _WORDS[word]
    try:
        data = parse_json(text)
    except ValueError:
        return text
    return data if _JSON_TYPES[type(data)] in types or "string" not in types else text


def written(data: Any, types: frozenset[str] = EVERY) -> str:
    """Return the text that stands for a value, for a parameter that takes these types."""
    is_read_back = isinstance(data, str) and value(data, types) == data
    return data if is_read_back else _ENCODER.encode(data)


# -- types in words ------------------------------------------------------------------------------


def schema_text(schema: object, defs: Schema, spelled: set[str], depth: int = 0) -> str:
    """Return a type such as `list[str] | null`; a type in `spelled` is named only.

    An object of fields is `Name{"field": type, "may_be_left_out"?: type}`.
    """
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return "any"

    def inner(part: object) -> str:
        return schema_text(part, defs, spelled, depth + 1)

    if "$ref" in schema:
        return _named(str(schema["$ref"]).rpartition("/")[2], defs, spelled, depth)
    for key, sign in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        if schema.get(key):
            return sign.join(dict.fromkeys(map(inner, schema[key])))
    if "enum" in schema or "const" in schema:
        return " | ".join(map(written, _constants(schema)))
    kind = schema.get("type", "object" if "properties" in schema else "")
    if isinstance(kind, list):
        return " | ".join(inner({**schema, "type": name}) for name in kind)
    if schema.get("pattern") == NAME_OR_TEXT:
        return "str | name such as Type#1"
    if kinds := kinds_of(schema):
        return f"name such as {' or '.join(f'{name}#1' for name in kinds)}"
    limits = ", ".join(f"{key} {written(schema[key])}" for key in _LIMITS if key in schema)
    return _plain(schema, kind, inner) + (f" ({limits})" if limits else "")


def _named(name: str, defs: Schema, spelled: set[str], depth: int) -> str:
    if name in spelled:
        return name
    spelled.add(name)
    text = schema_text(defs.get(name, {}), defs, spelled, depth + 1)
    if text.startswith("{"):
        return f"{name}{text}"
    spelled.discard(name)
    return text


def _plain(schema: Schema, kind: str, inner: Callable[[Any], str]) -> str:
    match kind:
        case "array" if schema.get("prefixItems"):
            return f"[{', '.join(map(inner, schema['prefixItems']))}]"
        case "array":
            return f"list[{inner(schema['items'])}]" if schema.get("items") else "list"
        case "object" if schema.get("properties"):
            fields = (
                f"{_ENCODER.encode(name)}{'' if name in schema.get('required', ()) else '?'}: "
                f"{inner(part)}{_note(part)}"
                for name, part in schema["properties"].items()
            )
            return f"{{{', '.join(fields)}}}"
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return f"dict[str, {inner(schema['additionalProperties'])}]"
    return _PYTHON_NAMES.get(kind, kind or "any")


def _note(schema: object) -> str:
    description = schema.get("description", "") if isinstance(schema, Mapping) else ""
    return f" ({' '.join(description.split())})" if description else ""


# -- tools ---------------------------------------------------------------------------------------

HOW = """\
# Calling tools

You call the tools that are described below by writing a block like this one:

<tool-calls>
  <tool-call tool="TOOL" function="FUNCTION">
    <parameter name="PARAMETER">VALUE</parameter>
  </tool-call>
</tool-calls>

- A block may hold several calls. They run from top to bottom, and none can use the result of
  another: give real values, never placeholders.
- Write a text as it is, with &lt; &gt; &amp; in place of < > &, or inside <![CDATA[ and ]]>.
  Write numbers, true, false and null as in JSON; and JSON wherever the type is a list, a dict
  or an object, such as <parameter name="tags">["a", "b"]</parameter>.
- A parameter that is not required may be left out.
- End your message with the block. The results come in the next message, and you may call more
  tools then. The person reads only your last message, the one that calls nothing.
- Whatever is written in these tags is taken for a call, so use them for nothing else.
"""
FORCE = "<system-error>No tool was called yet. Call at least one before you answer.</system-error>"
WRITE_SO = (
    'Write a call like this: <tool-calls><tool-call tool="TOOL" function="FUNCTION">'
    '<parameter name="PARAMETER">VALUE</parameter></tool-call></tool-calls>'
)

_LAST: WeakKeyDictionary[Toolbox, tuple[tuple[Tool, ...], str]] = WeakKeyDictionary()
"""The tools of a toolbox that were described last: most turns offer the same ones."""


def instructions(basic: Sequence[Tool], tools: tuple[Tool, ...], toolbox: Toolbox) -> str:
    """Return what a model is told of its tools, and of how to call them."""
    before, text = _LAST.get(toolbox, ((), ""))
    if len(before) != len(tools) or not all(map(operator.is_, before, tools)):
        text = _descriptions(tools)
        _LAST[toolbox] = tools, text
    lines = (HOW, "<tool-description-list>", _descriptions(basic), text, "</tool-description-list>")
    return "\n".join(filter(None, lines))


def _descriptions(tools: Sequence[Tool]) -> str:
    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        groups.setdefault(pair(tool)[0], []).append(tool)
    return "\n".join(line for name, group in groups.items() for line in _described(name, group))


def _described(name: str, tools: Sequence[Tool]) -> Iterator[str]:
    first = tools[0]
    about = first.about if first.group else first.description
    yield f"  <tool-description{_attributes(name=name, description=about)}>"
    yield "    <functions>"
    for tool in tools:
        named = _attributes(name=pair(tool)[1], description=tool.description if tool.group else "")
        parameters = list(_parameters(tool))
        yield f"      <tool-function{named}{'' if parameters else '/'}>"
        if parameters:
            yield from ("        <parameters>", *parameters, "        </parameters>")
            yield "      </tool-function>"
    yield from ("    </functions>", "  </tool-description>")


def _parameters(tool: Tool) -> Iterator[str]:
    schema, spelled = parameters_schema(tool), set[str]()
    for name, part in schema.get("properties", {}).items():
        part_schema = part if isinstance(part, Mapping) else {}
        attributes = _attributes(
            name=name,
            type=schema_text(part, schema.get("$defs", {}), spelled),
            required="true" if name in schema.get("required", ()) else "false",
            default=written(part_schema["default"], TEXT) if "default" in part_schema else "",
            description=part_schema.get("description", ""),
        )
        yield f"          <tool-parameter{attributes}/>"


def _attributes(**texts: str) -> str:
    return "".join(f" {name}={quoted(text)}" for name, text in texts.items() if text)


def quoted(text: str) -> str:
    """Return a text as the value of an attribute, quotes and all."""
    return f'"{escape(text, {chr(34): "&quot;"})}"'


# -- calls and results ---------------------------------------------------------------------------


def calls_block(calls: Iterable[Call], find: Callable[[str], Tool | None]) -> str:
    """Return calls as a model would write them. `find` returns a tool by its name."""
    lines = [line for call in calls for line in _call(call, find(call.tool))]
    return "\n".join(["<tool-calls>", *lines, "</tool-calls>"])


def _call(call: Call, tool: Tool | None) -> Iterator[str]:
    name, function = pair(tool) if tool else (call.tool, call.tool)
    yield f"  <tool-call{_attributes(tool=name, function=function)}>"
    for key, argument in call.arguments.items():
        text = element(written(argument, parameter_types(tool, key)))
        yield f"    <parameter name={quoted(key)}>{text}</parameter>"
    yield "  </tool-call>"


def element(text: str) -> str:
    """Return a text as what stands between a parameter's tags."""
    plain = escape(text)
    if content(plain) == text:
        return plain
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def result_element(tool: str, function: str, result: Result) -> str:
    """Return the result of a call as an element; the notes beside it are attributes."""
    body, notes = _body_and_notes(result.content)
    error = str(result.error).lower()
    named = _attributes(tool=tool, function=function, error=error, **notes)
    return f"  <tool-result{named}>{escape(body)}</tool-result>"


def _body_and_notes(text: str) -> tuple[str, dict[str, str]]:
    """Return a result's text, and the notes beside it. Text that is no JSON is all there is."""
    match attempt(json.loads, text)[0]:
        case {"result": body, **notes} | {"error": body, **notes}:
            if all(isinstance(note, str) for note in notes.values()):
                return written(body, TEXT), {str(key): str(note) for key, note in notes.items()}
    return text, {}


def results_block(results: Iterable[Result], news: str = "") -> str:
    """Return the results of one turn's calls, and the news behind them."""
    lines = ["<tool-results>", *(result.content for result in results), "</tool-results>"]
    return "\n".join(lines) + (f"\n\n{news}" if news else "")
