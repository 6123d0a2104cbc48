"""A JSON Schema in a few words, as a model is told of a parameter's type."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary
from xml.sax.saxutils import escape

from ..core.events import Call
from ..tools.arguments import parse_arguments
from ..tools.object_references import kinds_of
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .messages import Result
from .xml_reading import Spoken, content, nested, pair, spoken
from .xml_values import TEXT, same, says, types, written

Schema = Mapping[str, Any]
_NAMES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "object",
    "array": "list",
}
_LIMITS = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "format"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
)
DEEPEST = 12


def in_words(schema: Any, defs: Schema, spelled: set[str], depth: int = 0) -> str:
    """Return a type such as `list[str] | null`; what `spelled` has is named, and not said again.

    An object of fields is `Name{"field": type, "may_be_left_out"?: type}`.
    """
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return "any"

    def inner(part: Any) -> str:
        return in_words(part, defs, spelled, depth + 1)

    if "$ref" in schema:
        return _named(str(schema["$ref"]).rpartition("/")[2], defs, spelled, depth)
    for key, sign in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        if schema.get(key):
            return sign.join(dict.fromkeys(inner(part) for part in schema[key]))
    if "enum" in schema or "const" in schema:
        return " | ".join(written(each) for each in schema.get("enum", [schema.get("const")]))
    said = schema.get("type", "object" if "properties" in schema else "")
    if isinstance(said, list):
        return " | ".join(inner({**schema, "type": each}) for each in said)
    if kinds_of(schema):
        return f"name such as {' or '.join(f'{kind}#1' for kind in kinds_of(schema))}"
    return _plain(schema, said, inner) + _limits(schema)


def _named(name: str, defs: Schema, spelled: set[str], depth: int) -> str:
    schema = defs.get(name, {})
    if "properties" not in schema:
        return name if name in spelled else in_words(schema, defs, spelled | {name}, depth + 1)
    if name in spelled:
        return name
    spelled.add(name)
    return f"{name}{in_words(schema, defs, spelled, depth + 1)}"


def _plain(schema: Schema, said: str, inner: Any) -> str:
    match said:
        case "array" if schema.get("prefixItems"):
            return f"[{', '.join(map(inner, schema['prefixItems']))}]"
        case "array" if schema.get("items"):
            return f"list[{inner(schema['items'])}]"
        case "object" if schema.get("properties"):
            needed = schema.get("required", ())
            fields = schema["properties"].items()
            return f"{{{', '.join(_field(k, k in needed, inner(v), v) for k, v in fields)}}}"
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return f"dict[str, {inner(schema['additionalProperties'])}]"
    return _NAMES.get(said, said or "any")


def _field(name: str, needed: bool, said: str, schema: Any) -> str:
    about = schema.get("description", "") if isinstance(schema, Mapping) else ""
    note = f" ({' '.join(about.split())})" if about else ""
    return f"{written(name, frozenset())}{'' if needed else '?'}: {said}{note}"


def _limits(schema: Schema) -> str:
    known = [f"{key} {written(schema[key])}" for key in _LIMITS if key in schema]
    return f" ({', '.join(known)})" if known else ""


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
"""What was described last of a toolbox: most turns offer the same tools."""


def instructions(own: Sequence[Tool], tools: tuple[Tool, ...], toolbox: Toolbox) -> str:
    """Return what a model is told of its tools, and of how to call them."""
    before, told = _LAST.get(toolbox, ((), ""))
    if len(before) != len(tools) or not all(map(operator.is_, before, tools)):
        told = _descriptions(tools)
        _LAST[toolbox] = tools, told
    start = f"{HOW}\n<tool-description-list>"
    lines = (start, _descriptions(own), told, "</tool-description-list>")
    return "\n".join(line for line in lines if line)


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
        function = pair(tool)[1]
        said = {"description": tool.description} if tool.group else {}
        parameters = list(_parameters(tool))
        end = "" if parameters else "/"
        yield f"      <tool-function{_attributes(name=function, **said)}{end}>"
        if parameters:
            yield from ("        <parameters>", *parameters, "        </parameters>")
            yield "      </tool-function>"
    yield "    </functions>"
    yield "  </tool-description>"


def _parameters(tool: Tool) -> Iterator[str]:
    schema, spelled = tool.parameters, set[str]()
    for name, part in schema.get("properties", {}).items():
        needed = name in schema.get("required", ())
        said = {
            "name": name,
            "type": in_words(part, schema.get("$defs", {}), spelled),
            "required": "true" if needed else "false",
        }
        if isinstance(part, Mapping) and "default" in part:
            said["default"] = written(part["default"], TEXT)
        if isinstance(part, Mapping) and part.get("description"):
            said["description"] = part["description"]
        yield f"          <tool-parameter{_attributes(**said)}/>"


def _attributes(**said: str) -> str:
    return "".join(f" {name}={quoted(text)}" for name, text in said.items() if text)


def quoted(text: str) -> str:
    """Return a text as the value of an attribute, quotes and all."""
    return f'"{escape(text, {chr(34): "&quot;"})}"'


def calls(said: Iterable[Call], find: Callable[[str], Tool | None]) -> str:
    """Return calls as a model would write them. `find` gives a tool by its name."""
    lines = [line for call in said for line in _call(call, find(call.tool))]
    return "\n".join(["<tool-calls>", *lines, "</tool-calls>"])


def _call(call: Call, tool: Tool | None) -> Iterator[str]:
    name, function = pair(tool) if tool else (call.tool, call.tool)
    schema: Mapping[str, Any] = tool.parameters if tool else {}
    yield f"  <tool-call tool={quoted(name)} function={quoted(function)}>"
    for key, data in call.arguments.items():
        text = written(data, types(schema.get("properties", {}).get(key), schema.get("$defs", {})))
        yield f"    <parameter name={quoted(key)}>{element(text)}</parameter>"
    yield "  </tool-call>"


def element(text: str) -> str:
    """Return a text as what stands between a parameter's tags."""
    plain = escape(text)
    if content(plain) == text:
        return plain
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def result(tool: str, function: str, told: Result) -> str:
    """Return what a call came to, as an element; what is said beside it are attributes."""
    body, beside = _told(told.content)
    named = _attributes(tool=tool, function=function, error=str(told.error).lower(), **beside)
    return f"  <tool-result{named}>{escape(body)}</tool-result>"


def _told(text: str) -> tuple[str, dict[str, str]]:
    """Return a result's text, and the notes beside it. Text that is no JSON is all there is."""
    try:
        data = json.loads(text)
    except ValueError:
        return text, {}
    main = next((key for key in ("result", "error") if key in data), "") if data else ""
    rest = {key: said for key, said in data.items() if key != main} if main else {}
    if not main or not all(isinstance(said, str) for said in rest.values()):
        return text, {}
    return written(data[main], TEXT), rest


def results(told: Iterable[Result], news: str = "") -> str:
    """Return the results of one turn's calls, and what else there is to say."""
    block = "\n".join(["<tool-results>", *(each.content for each in told), "</tool-results>"])
    return f"{block}\n\n{news}" if news else block


Change = tuple[int, int, str]
"""From here, to there, this."""


def retold(text: str, calls: Sequence[Call]) -> str:
    """Return a text as the model wrote it, but for the values that its calls no longer have."""
    said = spoken(text)[-len(calls) :]
    if len(said) != len(calls):
        return text
    parts, at = [], 0
    for one, call in zip(said, calls, strict=True):
        for start, end, new in _changes(text, one, call):
            parts += [text[at:start], new]
            at = end
    return "".join([*parts, text[at:]])


def _changes(text: str, said: Spoken, call: Call) -> Iterator[Change]:
    if said.whole is not None and not same(dict(said.whole), dict(call.arguments)):
        yield *said.json, _as_json(text[slice(*said.json)], call)
    for given in said.given:
        now = call.arguments.get(given.name, given.text)
        if not says(given.text, now):
            new = written(now, TEXT)
            yield given.start, given.end, _in_place(new, text[given.start - 1])


def _in_place(new: str, before: str) -> str:
    """Return a value as it is written where this stands before it."""
    if before in ("'", '"'):
        return quoted(new)[1:-1]
    return quoted(new) if before == "=" else element(new)


def _as_json(text: str, call: Call) -> str:
    data = parse_arguments(text)
    key = nested(data)
    return written({**data, key: dict(call.arguments)} if key else dict(call.arguments))
