"""The rules that the card of a waiting call offers, and what each would have done so far."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from ..core.call_record import CallRecord
from ..core.digests import readable_json
from ..core.errors import UsageError
from ..core.interface_text import joined, t, tn
from ..core.recorded_data import replace
from ..core.text import shortened_text
from ..engine.cursor import Cursor
from ..rules.approval_policy import Rule
from ..rules.generalisations import DecidedCalls, Generalisation, conditions, generalisations
from ..tools.tool import Tool
from ..view.decision_contract import RuleOffer, RuleParts
from ..view.decision_rows import LINE

MOST_SQUARES = 40


def rule_offers(cursor: Cursor, call_id: str) -> list[Generalisation]:
    """Return at most three rules for calls like one that waits, the narrowest first, with what each
    would have done with the calls that a person decided on; none for a call that cannot run."""
    call = cursor.state.call(call_id)
    ready = cursor.runnable(call, cursor.state)
    if ready is None:
        return []
    waiting = replace(call, runs_with=ready.arguments)
    return generalisations(waiting, _decided_calls(cursor, ready.tool))


def _decided_calls(cursor: Cursor, tool: Tool) -> DecidedCalls:
    state, journal, context = cursor.state, cursor.context.journal, cursor.context
    calls = (call for call in state.all_calls() if call.tool == tool.name and call.decision_entry)
    by_person = (c for c in calls if journal[c.decision_entry].meta.get("by") == "person")
    origins_of = lambda call: context.origins(state, call, call.recorded_arguments)  # noqa: E731
    return DecidedCalls(tool, tuple(by_person), origins_of)


def edited_rule(cursor: Cursor, number: int, name: str, edit: RuleParts) -> Generalisation:
    """Return a rule of the person as they edit it, and what it would have done if it held.

    Raises UsageError where the rules have changed since they were shown, or its tool is gone.
    """
    rule = cursor.context.person_rules.rule(number, name)
    if (tool := cursor.context.toolbox.get(rule.tool)) is None:
        raise UsageError(t("This session has no tool %1.", rule.tool))
    parts: Any = {"name": edit.name, "decision": edit.decision, "arguments": edit.arguments}
    return _decided_calls(cursor, tool).under(dataclasses.replace(rule, **parts))


def offered_rule(cursor: Cursor, call_id: str, number: int) -> Rule:
    """Return a rule that was offered for a call. Raises UsageError where it is not any more."""
    offers = rule_offers(cursor, call_id)
    if not 0 <= number < len(offers):
        raise UsageError(t("This rule is not offered any more."))
    return offers[number].rule


def offer_rows(cursor: Cursor, call_id: str) -> tuple[RuleOffer, ...]:
    """Return the rules that would decide on calls like one that waits.

    Raises UsageError where no rule can.
    """
    offers = rule_offers(cursor, call_id)
    if not offers:
        raise UsageError(t("A rule cannot decide about values that others wrote."))
    return tuple(map(offer_row, offers))


def offer_row(offer: Generalisation) -> RuleOffer:
    """Return a rule with what it would have done, for the panel."""
    ran, decided = len(offer.would_run), len(offer.decided)
    past: str = t("Would have run %1 of the %2 calls you decided.", ran, decided)
    if not decided:
        past = t("You have not decided on a call of this tool yet.")
    elif ran and not offer.rejected:
        past = joined(" ", [past, tn("You approved it.", "You approved all of them.", ran)])
    wrong = tn("You rejected 1 of them.", "You rejected %1 of them.", len(offer.rejected))
    squares: list[Literal["ran", "rejected", "asks"]] = [
        "rejected" if call in offer.rejected else "ran" if call in offer.would_run else "asks"
        for call in offer.decided[-MOST_SQUARES:]
    ]
    return RuleOffer(
        conditions(offer.rule, offer.free),
        past,
        wrong if offer.rejected else "",
        tuple(map(_seen, offer.rejected[-3:])),
        tuple(squares),
        offer.left_out,
    )


def _seen(call: CallRecord) -> str:
    shown = ", ".join(f"{name}={readable_json(value)}" for name, value in call.proposed.items())
    line = shortened_text(f"{call.tool}({shown})", LINE)
    reason = f" \u201c{call.reason}\u201d" if call.reason else ""
    done = t("You edited it.") if call.edited else t("You rejected it.")
    return joined(" ", [t("Call %1: %2", call.step, line), joined("", [done, reason])])
