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
from ..tools.object_references import kinds_in
from ..tools.tool import Tool, parameters_schema
from .approval_policy import Rule
from .origins import CallOrigins

OriginsOf = Callable[[CallRecord], CallOrigins]
"""Returns the origins of a recorded call."""


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

    def __str__(self) -> str:
        text = f"would have run {len(self.would_run)} of {len(self.decided)}"
        return f"{text}; you rejected {len(self.rejected)}" if self.rejected else text


def generalisations(
    call: CallRecord, tool: Tool, calls: Iterable[CallRecord], origins_of: OriginsOf
) -> list[Generalisation]:
    """Return at most three rules that would run a call, the narrowest first.

    Arguments:
        call: a call that waits, with its arguments as it would run.
        calls: the calls that a person decided on so far.
    """
    if tool.for_person or origins_of(call).has_untrusted:
        return []
    decided = [each for each in calls if each.tool == call.tool]
    return [_with_past(free, call, tool, decided, origins_of) for free in _free(call, tool)]


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
    free: tuple[str, ...],
    call: CallRecord,
    tool: Tool,
    decided: list[CallRecord],
    origins_of: OriginsOf,
) -> Generalisation:
    same = {name: {"const": value} for name, value in call.arguments.items() if name not in free}
    rule = Rule(tool.name, "run", same, code=tool.version())

    def runs(each: CallRecord) -> bool:
        # What the model asked for is judged, not what an edit made of it.
        answer = rule(tool, each.proposed, lambda: origins_of(each))
        return answer is not None and answer[0] == "approve"

    would_run = [each for each in decided if runs(each)]
    return Generalisation(
        rule,
        free,
        tuple(each.id for each in decided),
        tuple(each.id for each in would_run),
        tuple(each.id for each in would_run if each.decision != "approve"),
    )
