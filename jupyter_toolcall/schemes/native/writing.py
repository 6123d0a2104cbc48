"""What is said in XML: the tools, calls, and what they came to."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary
from xml.sax.saxutils import escape

from ...events import Call
from ...request import Result
from ...tools import Tool, Toolbox
from .names import pair
from .reading import content
from .types import in_words
from .values import TEXT, types, written

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
