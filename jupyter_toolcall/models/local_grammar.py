"""What a model may write in one turn, as a grammar: calls of the tools that it has, or text.

    Potato is clean, so it can be cut now.
    {"tool":"Potato_slice","arguments":{"Potato":"Potato#2","shape":"STICKS"}}

A turn is at most one line of text, then one call a line; or text alone, in which no line begins
with a brace. The notation is that of llguidance, which llama.cpp contains: a variant of Lark with
JSON Schemas in it (https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..schemes.messages import Request
from ..tools.object_references import NAME_OR_TEXT, kinds_of
from ..tools.tool import Tool

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
    schema_text = json.dumps({"x-guidance": _COMPACT, **arguments}, separators=(",", ":"))
    begin = json.dumps(f'{{"tool":{json.dumps(tool.name, ensure_ascii=False)},"arguments":')
    return f'{begin} %json {schema_text} "}}"'


def _has_receiver(tool: Tool, request: Request) -> bool:
    """A receiver that is left out is the newest object of its type: so there has to be one."""
    receiver = tool.parameters.get("properties", {}).get(tool.receiver, {})
    kinds = kinds_of(receiver) or ((tool.kind,) if tool.receiver else ())
    return not kinds or any(kind in request.newest for kind in kinds)


def _names_of_tools(names: list[str]) -> dict[str, Any]:
    items = {"type": "array", "items": {"enum": names}, "minItems": 1, "maxItems": 4}
    return {"type": "object", "properties": {"tools": items}, "required": ["tools"]}


# -- a tool's argument schema, narrowed to what fits now -------------------------------------------
# llguidance turns the narrowed schema into a grammar. What it does not know is taken out here or
# ignored there; the engine validates every call again before it runs.

Json = dict[str, Any]

STRING = 200
"""Most characters of a text whose schema sets no smaller bound."""
LIST = 8
"""Most items of a list, unless its schema asks for more."""
INTEGER = 10**15
"""Largest size of a number whose schema sets no bounds: small models repeat digits for ever."""
_TYPES = ("null", "boolean", "object", "array", "number", "integer", "string")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_DAY = "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
# RFC 3339 allows more (seconds of 60, ten digits of a fraction) than Python can read.
_FORMATS = {"date": f"^{_DAY}$", "time": f"^{_TIME}$", "date-time": f"^{_DAY}T{_TIME}$"}
_OTHER_REGEX = re.compile(r"\(\?[=!<]|\(\?P=|\\[bBZ1-9]")
"""What llguidance's regular expressions lack: look-around, back references, word boundaries."""


def argument_schema(schema: Mapping[str, Any], newest: Mapping[str, str]) -> Json | None:
    """Return the schema of the arguments that fit now; None if no arguments fit.

    `newest` maps each type to the name of its newest object: only objects that exist can be named.
    """
    definitions = {
        f"#/{table}/{name}": part
        for table in ("$defs", "definitions")
        for name, part in schema.get(table, {}).items()
    }
    narrower = _Narrower(newest, definitions)
    narrowed = narrower.narrowed({"type": "object", **schema})
    return None if narrowed is None else {**narrowed, **narrower.tables()}


class _Narrower:
    def __init__(self, newest: Mapping[str, str], definitions: Mapping[str, Any]) -> None:
        self.newest = newest
        self.definitions = definitions
        self.fitting: Json = {}
        """The definitions that some value fits, narrowed, by their reference."""
        # A definition that needs itself fits nothing, so start from none and add until none is new.
        while new := dict(self._newly_fitting()):
            self.fitting |= new
        self.fitting = {ref: self.narrowed(definitions[ref]) for ref in self.fitting}

    def _newly_fitting(self) -> Iterator[tuple[str, Json]]:
        for ref, part in self.definitions.items():
            if ref not in self.fitting and (narrowed := self.narrowed(part)) is not None:
                yield ref, narrowed

    def tables(self) -> Json:
        """Return the narrowed definitions, in the tables where references look for them."""
        tables: Json = {}
        for ref, part in self.fitting.items():
            _, table, name = ref.split("/", 2)
            tables.setdefault(table, {})[name] = part
        return tables

    def narrowed(self, schema: Any) -> Json | None:
        """Return a schema of what fits now; None if nothing does."""
        if not isinstance(schema, Mapping):
            return None if schema is False else {}
        if kinds := kinds_of(schema):
            return _object_name(kinds, self.newest)
        kept = {key: part for key, part in schema.items() if key not in ("$defs", "definitions")}
        if (ref := kept.get("$ref")) is not None and ref not in self.fitting:
            if ref in self.definitions:
                return None
            del kept["$ref"]
        for key in ("anyOf", "oneOf", "allOf"):
            if key in kept:
                options = [self.narrowed(option) for option in kept[key]]
                kept[key] = [option for option in options if option is not None]
                if not kept[key] or (key == "allOf" and None in options):
                    return None
        if kept.get("enum") == []:
            return None
        return kept if {"enum", "const"} & kept.keys() else self._typed(kept)

    def _typed(self, kept: Json) -> Json | None:
        types = kept.pop("type", None) or _implied_type(kept)
        types = [name for name in ([types] if isinstance(types, str) else types) if name in _TYPES]
        if types:
            kept["type"] = types[0] if len(types) == 1 else types
        if "string" in types:
            _bound_text(kept)
        if {"integer", "number"} & {*types} and not kept.keys() & {*_BOUNDS}:
            kept |= {"minimum": -INTEGER, "maximum": INTEGER}
        alone = len(types) == 1
        if "array" in types and not self._narrow_items(kept) and alone:
            return None
        if "object" in types and not self._narrow_properties(kept) and alone:
            return None
        return kept

    def _narrow_items(self, kept: Json) -> bool:
        """Narrow the items of a list in place; return whether any list fits."""
        least = int(kept.get("minItems", 0))
        first = [self.narrowed(part) for part in kept.get("prefixItems", ())]
        if first:
            kept["prefixItems"] = first
        most = len(first) or max(LIST, least)
        most = min(kept.get("maxItems", most), most)
        if not first and (item := self.narrowed(kept.get("items", True))) is not None:
            kept["items"] = item
        elif not first:
            kept["items"], most = False, 0
        kept["maxItems"] = most
        return least <= most and None not in first

    def _narrow_properties(self, kept: Json) -> bool:
        """Narrow the properties of an object in place; return whether any object fits."""
        required, more = kept.get("required", ()), kept.get("additionalProperties", True)
        properties = {**dict.fromkeys(required, more), **kept.get("properties", {})}
        # In the schema's order, which is the order in which they are written.
        order = dict.fromkeys([*kept.get("properties", {}), *required])
        narrowed = {name: self.narrowed(properties[name]) for name in order}
        if any(narrowed[name] is None for name in required):
            return False
        if order:
            kept["properties"] = {n: part for n, part in narrowed.items() if part is not None}
            kept["additionalProperties"] = False
        elif "additionalProperties" in kept:
            values = self.narrowed(more)
            kept["additionalProperties"] = False if values is None else values
        return True


def _implied_type(schema: Json) -> list[str]:
    if "properties" in schema or "additionalProperties" in schema:
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def _bound_text(kept: Json) -> None:
    """Give a text a longest length, and drop a pattern that llguidance cannot read."""
    if kept.get("pattern") == NAME_OR_TEXT or not _readable(str(kept.get("pattern", ""))):
        del kept["pattern"]
    if kept.get("format") in _FORMATS:
        kept.setdefault("pattern", _FORMATS[kept.pop("format")])
    if not {"pattern", "format"} & kept.keys():
        most = max(STRING, int(kept.get("minLength", 0)))
        kept["maxLength"] = min(kept.get("maxLength", most), most)


def _readable(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return not _OTHER_REGEX.search(pattern)


def _object_name(kinds: tuple[str, ...], newest: Mapping[str, str]) -> Json | None:
    """Objects of a type are numbered from 1 to the newest."""
    names = [newest[kind].partition("#") for kind in kinds if kind in newest]
    options = [f"{kind}#({_one_to(number)})" for kind, _, number in names]
    return {"type": "string", "pattern": f"^({'|'.join(options)})$"} if options else None


def _one_to(number: str) -> str:
    """Return a regular expression for the whole numbers from 1 to this one."""
    digits = "[0-9]"
    options = [f"[1-9]{digits * length}" for length in range(len(number) - 1)]
    for index, digit in enumerate(number):
        least, more = int(index == 0), len(number) - index - 1
        if int(digit) > least:
            options.append(f"{number[:index]}[{least}-{int(digit) - 1}]{digits * more}")
    return "|".join([*options, number])
