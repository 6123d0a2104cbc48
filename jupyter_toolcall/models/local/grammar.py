r"""What a model may write in one turn, as a grammar: calls of the tools that it has, or text.

    Potato is clean, so it can be cut now.
    {"tool":"Potato_slice","arguments":{"Potato":"Potato#2","shape":"STICKS"}}

A turn is at most one line of text, then one call a line; or text alone, in which no line begins
with a brace. The notation is that of llguidance, which llama.cpp contains: a variant of Lark with
JSON Schemas in it (https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md).
"""

from __future__ import annotations

import json
from typing import Any

from ...request import Request
from ...tools import Tool
from ...tools.references import kinds_of
from .argument_schema import argument_schema

LINE = 300
"""Most characters in a line of text."""
LINES = 12
_CHOOSER = "selectTools"
"""The one tool whose argument names tools: those that a later turn may offer."""
# `lenient`: a keyword or format that the converter does not know is ignored, not an error.
_COMPACT = {"whitespace_flexible": False, "lenient": True}

_INK = r"\x00-\x20\x7F"
_TEXT = rf"""text: LINE ("\n" LINE){{0,{LINES - 1}}}
LINE: /[^{{{_INK}]( ?[^{_INK}]){{0,{LINE}}}/"""


def turn_grammar(request: Request, most: int = 4, force: bool = False) -> str:
    """Return the grammar of a turn, "" for a model without tools: nothing binds it.

    A turn holds at most `most` calls; with `force` at least one, if one is valid now.
    """
    if not request.tools:
        return ""
    calls = [rule for tool in request.tools if (rule := _call(tool, request))]
    if not calls:
        return f"%llguidance {{}}\nstart: text\n{_TEXT}"
    names = [f"call_{number}" for number in range(len(calls))]
    return "\n".join(
        [
            "%llguidance {}",
            "start: calls" if force else 'start: (LINE "\\n")? calls | text',
            f'calls: call ("\\n" call){{0,{most - 1}}}',
            f"call: {' | '.join(names)}",
            *(f"{name}: {rule}" for name, rule in zip(names, calls, strict=True)),
            *([] if force else [_TEXT]),
        ]
    )


def _call(tool: Tool, request: Request) -> str:
    """Return the rule for a call of a tool, "" if no call of it is valid now."""
    schema = tool.parameters
    if tool.name == _CHOOSER:
        names = [other.name for other in request.deferred if _has_receiver(other, request)]
        schema = _names_of_tools(names)
    elif not _has_receiver(tool, request):
        return ""
    arguments = argument_schema(schema, request.newest)
    if arguments is None:
        return ""
    begin = json.dumps(f'{{"tool":{json.dumps(tool.name, ensure_ascii=False)},"arguments":')
    return f'{begin} %json {_json({"x-guidance": _COMPACT, **arguments})} "}}"'


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


def _has_receiver(tool: Tool, request: Request) -> bool:
    """A receiver that is left out is the newest object of its type: so there has to be one."""
    receiver = tool.parameters.get("properties", {}).get(tool.receiver, {})
    kinds = kinds_of(receiver) or ((tool.kind,) if tool.receiver else ())
    return not kinds or any(kind in request.newest for kind in kinds)


def _names_of_tools(names: list[str]) -> dict[str, Any]:
    items = {"type": "array", "items": {"enum": names}, "minItems": 1, "maxItems": 4}
    return {"type": "object", "properties": {"tools": items}, "required": ["tools"]}
