"""Rules that a person may want instead of deciding on calls like one: `generalisations`.

Texts and numbers stay as they are, since they may be the id of somebody's order. What may vary is
chosen by the tool's schema alone: the objects of the session, and arguments with a closed list of
values. A call with a value that others wrote is never generalised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.call_record import CallRecord
from ..core.digests import readable_json
from ..core.interface_text import joined, t
from ..core.text import shortened_text
from ..tools.object_references import kinds_in
from ..tools.tool import Tool, parameters_schema
from .approval_policy import Rule
from .origins import CallOrigins

OriginsOf = Callable[[CallRecord], CallOrigins]
"""Returns the origins of a recorded call."""
SHORT = 40
"""Characters of a value in a condition."""


@dataclass(frozen=True, slots=True)
class Generalisation:
    """A rule for a call and those like it, and what it would have done with the calls so far."""

    rule: Rule
    free: tuple[str, ...] = ()
    """The arguments that may have any value."""
    decided: tuple[str, ...] = ()
    """The ids of the calls of the tool that a person decided on."""
    would_run: tuple[str, ...] = ()
    """Those that the rule would have run."""
    rejected: tuple[str, ...] = ()
    """Those of them that the person did not run, or not as they were."""
    left_out: str = ""
    """The value that a rejected call had, and that this rule leaves out."""

    def __str__(self) -> str:
        text = f"would have run {len(self.would_run)} of {len(self.decided)}"
        return f"{text}; you rejected {len(self.rejected)}" if self.rejected else text

    @property
    def condition(self) -> str:
        """What the rule asks of the arguments, as a sentence without an end."""
        free = dict.fromkeys(self.free)
        parts = [_condition(name, schema) for name, schema in self.rule.arguments.items()]
        parts += [t("any `%1`", name) for name in free if name not in self.rule.arguments]
        return joined(", ", parts) or t("any call")


def _condition(name: str, schema: Mapping[str, Any]) -> str:
    """Return the condition on an argument in words."""
    match schema:
        case {"const": value}:
            return t("`%1` is %2", name, shortened_text(readable_json(value), SHORT))
        case {"not": {"const": value}}:
            return t("any `%1` but %2", name, shortened_text(readable_json(value), SHORT))
    return t("`%1` fits %2", name, shortened_text(readable_json(schema), SHORT))


def conditions(rule: Rule) -> str:
    """Return what a rule asks of the arguments, as a sentence without an end."""
    return joined(", ", [_condition(*item) for item in rule.arguments.items()]) or t("any call")


def generalisations(
    call: CallRecord, tool: Tool, calls: Iterable[CallRecord], origins_of: OriginsOf
) -> list[Generalisation]:
    """Return at most three rules that would run a call, the narrowest first. One that would have
    run what the person rejected is followed by the same without the rejected value.

    Arguments:
        call: a call that waits, with its arguments as it would run.
        calls: the calls that a person decided on so far.
    """
    if tool.for_person or origins_of(call).has_untrusted:
        return []
    decided = [decided_call for decided_call in calls if decided_call.tool == call.tool]
    offers = list[Generalisation]()
    for free in _free(call, tool):
        same = {
            name: {"const": value} for name, value in call.arguments.items() if name not in free
        }
        offer = _with_past(same, free, tool, decided, origins_of)
        offers += [offer, *_without_rejected(offer, call, tool, decided, origins_of)]
    return offers


def _free(call: CallRecord, tool: Tool) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that may vary: none, then the objects, then what is closed too."""
    properties: Mapping[str, Any] = parameters_schema(tool).get("properties", {})
    names = [name for name in call.arguments if name in properties]
    objects = [name for name in names if any(kinds_in(properties[name]))]
    closed = [name for name in names if name not in objects and _is_closed(properties[name])]
    yield from dict.fromkeys([(), tuple(objects), (*objects, *closed)])


def _is_closed(schema: Any) -> bool:
    return isinstance(schema, Mapping) and ("enum" in schema or schema.get("type") == "boolean")


def _with_past(
    arguments: Mapping[str, Any],
    free: tuple[str, ...],
    tool: Tool,
    decided: list[CallRecord],
    origins_of: OriginsOf,
    left_out: str = "",
) -> Generalisation:
    rule = Rule(tool.name, "run", arguments, code=tool.version(), name=_name(tool, arguments))

    def runs(past: CallRecord) -> bool:
        # What the model asked for is judged, not what an edit made of it.
        answer = rule(tool, past.proposed, lambda: origins_of(past))
        return answer is not None and answer[0] == "approve"

    would_run = [past for past in decided if runs(past)]
    return Generalisation(
        rule,
        free,
        tuple(past.id for past in decided),
        tuple(past.id for past in would_run),
        tuple(past.id for past in would_run if past.decision != "approve"),
        left_out,
    )


def _name(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the name of a rule: its tool, and the first text that it names."""
    values = (schema.get("const") for schema in arguments.values())
    text = next((value for value in values if isinstance(value, str) and "#" not in value), "")
    return f"{tool.name} {shortened_text(text, SHORT)}".strip()


def _without_rejected(
    offer: Generalisation,
    call: CallRecord,
    tool: Tool,
    decided: list[CallRecord],
    origins_of: OriginsOf,
) -> Iterator[Generalisation]:
    """Yield the offer without the value by which a rejected call differs, where one value does."""
    rejected = [past for past in decided if past.id in offer.rejected]
    properties: Mapping[str, Any] = parameters_schema(tool).get("properties", {})
    closed = [name for name in offer.free if _is_closed(properties[name])]
    differing = {
        (name, readable_json(past.proposed.get(name))): past.proposed.get(name)
        for past in rejected
        for name in closed
        if past.proposed.get(name) != call.arguments.get(name)
    }
    for (name, shown), value in [*differing.items()][:1]:
        same = {**offer.rule.arguments, name: {"not": {"const": value}}}
        narrower = _with_past(same, offer.free, tool, decided, origins_of, shown)
        if len(narrower.rejected) < len(offer.rejected):
            yield narrower
