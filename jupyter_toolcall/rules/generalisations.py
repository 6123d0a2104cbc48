"""Rules that a person may want instead of deciding on calls like one: `generalisations`.

Texts, numbers and what the call leaves out stay as they are: a text may be the id of somebody's
order. What may vary is chosen by the tool's schema alone: the objects of the session, first those
that are made from the same input, and arguments with a closed list of values. A call with a value
that others wrote is never generalised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ..core.call_record import CallRecord
from ..core.digests import readable_json
from ..core.interface_text import joined, t
from ..core.recorded_data import JsonObject
from ..core.text import shortened_text
from ..tools.object_references import kinds_in
from ..tools.tool import Tool, default_arguments, parameters_schema
from .approval_policy import Rule, source_of
from .origins import CallOrigins, Inputs

SHORT = 40
"""Characters of a value in a condition."""


@dataclass(frozen=True, slots=True)
class Generalisation:
    """A rule for a call and those like it, and what it would have done with the calls so far."""

    rule: Rule
    free: tuple[str, ...] = ()
    """The arguments that may have any value."""
    decided: tuple[CallRecord, ...] = ()
    """The calls of the tool that a person decided on."""
    would_run: tuple[CallRecord, ...] = ()
    """Those that the rule would have run."""
    rejected: tuple[CallRecord, ...] = ()
    """Those of them that the person did not run, or not as they were."""
    left_out: str = ""
    """The value that a rejected call had, and that this rule leaves out."""


def _condition(name: str, schema: Mapping[str, object]) -> str:
    """Return the condition on an argument in words."""
    match schema:
        case {"const": value}:
            return t("`%1` is %2", name, shortened_text(readable_json(value), SHORT))
        case {"madeFrom": name_of_input}:
            return t("`%1` is %2, or made from it", name, shortened_text(f"{name_of_input}", SHORT))
        case {"not": {"const": value}}:
            return t("any `%1` but %2", name, shortened_text(readable_json(value), SHORT))
    return t("`%1` fits %2", name, shortened_text(readable_json(schema), SHORT))


def conditions(rule: Rule, free: Iterable[str] = ()) -> str:
    """Return what a rule asks of the arguments, as a sentence without an end."""
    parts = [_condition(*item) for item in rule.arguments.items()]
    parts += [t("any `%1`", name) for name in free if name not in rule.arguments]
    return joined(", ", parts) or t("any call")


@dataclass(frozen=True, slots=True)
class DecidedCalls:
    """The calls of a tool that a person decided on so far."""

    tool: Tool
    calls: tuple[CallRecord, ...]
    origins_of: Callable[[CallRecord], CallOrigins]

    def under(self, rule: Rule, free: tuple[str, ...] = (), left_out: str = "") -> Generalisation:
        """Return a rule with what it would have done with these calls if it had held."""
        judge = replace(rule, paused=False, code="", until="")

        def runs(past: CallRecord) -> bool:
            # What the model asked for is judged, not what an edit made of it.
            answer = judge(self.tool, past.proposed, lambda: self.origins_of(past))
            return answer is not None and answer[0] == "approve"

        would_run = tuple(filter(runs, self.calls))
        rejected = tuple(past for past in would_run if past.decision != "approve")
        return Generalisation(rule, free, self.calls, would_run, rejected, left_out)


def generalisations(call: CallRecord, decided: DecidedCalls) -> list[Generalisation]:
    """Return at most three rules that would run a call, the narrowest first. One that would have
    run what the person rejected is followed by the same without the rejected value.

    Arguments:
        call: a call that waits, with its arguments as it would run.
        decided: those of its tool that a person decided on so far.
    """
    tool, origins = decided.tool, decided.origins_of(call)
    if tool.for_person or origins.has_untrusted:
        return []
    offers = list[Generalisation]()
    # The person saw what was left out: with another value it is another call.
    defaults = default_arguments(tool)
    unset = {name: value for name, value in defaults.items() if name not in call.arguments}
    for free in _free(call, tool):
        same = {
            name: _same(value, origins.inputs.get(name, ()))
            for name, value in {**call.arguments, **unset}.items()
            if name not in free
        }
        name, code = _name(tool, same), tool.version()
        rule = Rule(tool.name, "run", same, code=code, source=source_of(tool), name=name)
        offer = decided.under(rule, free)
        offers += [offer, *_without_rejected(offer, call, decided)]
    return offers


def _same(value: object, inputs: Inputs) -> dict[str, Any]:
    """Return the narrowest condition on an argument that a later call can fit: of an object, that
    it is made from the same input, since each call makes new objects."""
    return {"madeFrom": inputs[0]} if inputs else {"const": value}


def _free(call: CallRecord, tool: Tool) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that may vary: none, then the objects, then what is closed too."""
    properties: JsonObject = parameters_schema(tool).get("properties", {})
    names = [name for name in call.arguments if name in properties]
    objects = [name for name in names if any(kinds_in(properties[name]))]
    closed = [name for name in names if name not in objects and _is_closed(properties[name])]
    yield from dict.fromkeys([(), tuple(objects), (*objects, *closed)])


def _is_closed(schema: object) -> bool:
    return isinstance(schema, Mapping) and ("enum" in schema or schema.get("type") == "boolean")


def _name(tool: Tool, arguments: JsonObject) -> str:
    """Return the name of a rule: its tool, and the first text that it names."""
    values = (schema.get("const") for schema in arguments.values())
    text = next((value for value in values if isinstance(value, str) and "#" not in value), "")
    return f"{tool.name} {shortened_text(text, SHORT)}".strip()


def _without_rejected(
    offer: Generalisation, call: CallRecord, decided: DecidedCalls
) -> list[Generalisation]:
    """Return the offer without the value by which a rejected call differs, where one value does."""
    properties: JsonObject = parameters_schema(decided.tool).get("properties", {})
    closed = [name for name in offer.free if _is_closed(properties[name])]
    for past, name in product(offer.rejected, closed):
        value = past.proposed.get(name)
        if value != call.arguments.get(name):
            same = {**offer.rule.arguments, name: {"not": {"const": value}}}
            rule = replace(offer.rule, arguments=same)
            narrower = decided.under(rule, offer.free, readable_json(value))
            return [narrower] if len(narrower.rejected) < len(offer.rejected) else []
    return []
