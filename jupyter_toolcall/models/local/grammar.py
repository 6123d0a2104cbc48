"""What a model may write in one turn, as a grammar: calls of the tools that it has, or text.

    Potato is clean, so it can be cut now.
    {"tool":"Potato_slice","arguments":{"Potato":"Potato#2","shape":"STICKS"}}

A turn is a line of text or none, and one call a line; or text alone, in which no line
begins with a brace. Pure: a request comes in, the grammar of its turn goes out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...request import Request
from ...tools import Tool
from ...tools.references import kinds_of
from . import gbnf
from .rules import Rules
from .schema import expression

LINE = 300
"""Characters in a line of text."""
LINES = 12
_CHOOSER = "selectTools"
"""The one tool whose argument names tools: those that a later turn may offer."""

_INK = r"\x00-\x20\x7F"
_TEXT = {
    "text": rf'line ("\n" line){{0,{LINES - 1}}}',
    "line": rf"[^{{{_INK}] ink{{0,{LINE}}}",
    "ink": rf'" "? [^{_INK}]',
}


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar in GBNF, and the places where it takes more than a tool's schema does."""

    text: str
    loose: tuple[str, ...] = ()


def turn(request: Request, most: int = 4, force: bool = False) -> Grammar:
    """Return what may be written; nothing binds a model that has no tools of its own.

    There are so many calls at `most`; with `force` at least one, where one is valid now.
    """
    if not request.tools:
        return Grammar("")
    rules = Rules(request.newest)
    calls = [call for tool in request.tools if (call := _call(tool, request, rules)) is not None]
    bodies = {"root": "text", **_TEXT, **rules.bodies}
    if calls:
        bodies["root"] = "calls" if force else '(line "\\n")? calls | text'
        bodies["calls"] = f'call ("\\n" call){{0,{most - 1}}}'
        bodies["call"] = f'"{{\\"tool\\":" ({" | ".join(calls)}) "}}"'
    return Grammar(_written(bodies), tuple(rules.loose))


def _written(bodies: dict[str, str]) -> str:
    return "\n".join(f"{name} ::= {body}" for name, body in bodies.items())


def _call(tool: Tool, request: Request, rules: Rules) -> str | None:
    """Return the name of the rule for a call of a tool; None where none is valid now."""
    schema = tool.parameters
    if tool.name == _CHOOSER:
        schema = _choice([other.name for other in request.deferred if _within_reach(other, rules)])
    elif not _within_reach(tool, rules):
        return None
    given = expression({"type": "object", **schema}, rules, tool.name)
    if given is None:
        return None
    return rules.named("call", f"{gbnf.literal(f'{_quoted(tool.name)},{_ARGUMENTS}')} {given}")


_ARGUMENTS = '"arguments":'


def _quoted(name: str) -> str:
    return f'"{name}"'


def _within_reach(tool: Tool, rules: Rules) -> bool:
    """A receiver that is left out is the newest of its type: so there has to be one."""
    receiver = tool.parameters.get("properties", {}).get(tool.receiver, {})
    kinds: Iterable[str] = kinds_of(receiver) or ([tool.kind] if tool.receiver else [])
    return not kinds or any(kind in rules.newest for kind in kinds)


def _choice(names: list[str]) -> dict[str, Any]:
    items = {"type": "array", "items": {"enum": names}, "minItems": 1, "maxItems": 4}
    return {"type": "object", "properties": {"tools": items}, "required": ["tools"]}
