"""Which tools a request declares, hides, and defines on the way, by the strategy.

Pure. What was sent before is sent again unchanged, or the prompt cache and the model's
thinking are lost: a tool keeps its order, its place and its first description, and stays
in view once it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...content.value import well_formed
from ...request import Assistant, Message, Request, Result, Results, Sent
from ...tools import Tool
from .abilities import Way

Json = dict[str, Any]

HIDDEN = {"defer_loading": True}
_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Declared:
    """The tools of a request. `hidden` wait for a result that refers to them.

    `added` are defined in the conversation: for each turn those that came with its request.
    """

    tools: Sequence[Json]
    hidden: frozenset[str] = frozenset()
    added: Mapping[int, Sequence[Json]] = field(default_factory=dict)


def declared(request: Request, way: Way) -> Declared:
    """Return the tools of a request, as a model is told of them that is spoken to so."""
    there = {tool.name: tool for tool in (*request.tools, *request.deferred)}
    sent = [one for one in (*request.first, *_new(request)) if one.name in there]
    if way.strategy == "resend":
        return _resent(request, sent)
    by_name = way.strategy == "reference"
    base, named, added = _placed(sent, _named(request.messages) if by_name else {}, way.inline)
    if not base:
        return _resent(request, sent)
    defined = {one["name"] for more in added.values() for one in more}
    hidden = sorted(there.keys() - base.keys() - defined) if by_name else ()
    later = (named.get(name) or _as_sent(there[name], request.turn) for name in hidden)
    tools = (*map(_declaration, base.values()), *(_declaration(one) | HIDDEN for one in later))
    return Declared(tools, frozenset(hidden), added)


Placed = tuple[dict[str, Sent], dict[str, Sent], dict[int, list[Json]]]


def _placed(sent: Sequence[Sent], named: Mapping[str, int], inline: bool) -> Placed:
    """Return what is declared at the start, what a result named, and what is defined between."""
    base: dict[str, Sent] = {}
    revealed: dict[str, Sent] = {}
    added: dict[int, list[Json]] = {}
    for one in sent:
        known = one.name in base or one.name in revealed
        if one.turn == sent[0].turn:
            base[one.name] = one
        elif not known and named.get(one.name, _NEVER) <= one.turn:
            revealed[one.name] = one
        elif inline:
            added.setdefault(one.turn, []).append(_declaration(one))
        else:
            (revealed if one.name in revealed else base)[one.name] = one
    return base, revealed, added


def _resent(request: Request, sent: Iterable[Sent]) -> Declared:
    offered = {tool.name for tool in request.tools}
    newest = {one.name: one for one in sent if one.name in offered}
    return Declared([_declaration(one) for one in newest.values()])


def _new(request: Request) -> list[Sent]:
    """Return the tools that go out with this request for the first time, by name."""
    known = {one.name: one for one in request.first}
    fresh = {
        tool.name: _as_sent(tool, request.turn)
        for tool in request.tools
        if tool.name not in known or known[tool.name].parameters != tool.parameters
    }
    return [fresh[name] for name in sorted(fresh)]


def _as_sent(tool: Tool, turn: int) -> Sent:
    return Sent(turn, tool.name, tool.description, tool.parameters)


def _named(messages: Iterable[Message]) -> dict[str, int]:
    """Return the turn with whose request each tool was first named by a result."""
    found: dict[str, int] = {}
    turn = 0
    for message in messages:
        match message:
            case Assistant():
                turn += 1
            case Results(results):
                for result in results:
                    found |= {name: turn for name in names_of(result) if name not in found}
    return found


def names_of(result: Result) -> tuple[str, ...]:
    """Return the tools that a result brings into view; what failed brings none."""
    return () if result.error else result.selected


def _declaration(tool: Sent) -> Json:
    text = well_formed(tool.description)
    described = {"description": text} if text.strip() else {}
    return {
        "name": tool.name,
        **described,
        "input_schema": {"type": "object", **tool.parameters},
    }
