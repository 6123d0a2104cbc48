"""The rows of what a person decides by: origins of arguments, rules that are offered, and rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from ..compare.comparison_rows import PartRow, difference_row
from ..compare.values import difference
from ..core.call_record import ArgumentOrigin, CallRecord
from ..core.digests import readable_json
from ..core.events import Decided, Started
from ..core.interface_text import joined, t
from ..core.recorded_data import replace
from ..engine.budget_hook import BudgetHook
from ..engine.cursor import Cursor, SessionContext
from ..engine.decisions import ASKED
from ..models.prices import READ_ON
from ..rules.approval_policy import Rule, RulePolicy, source_of
from ..rules.generalisations import conditions
from ..rules.person_rules import until_kind
from ..tools.tool import Tool
from .decision_contract import BudgetRow, OriginRow, RuleRow, UndoRow
from .object_rows import SHORT, BranchView

LINE = 160
"""Characters of what stands in one line, such as what a call changed."""
NOUNS = {"to": t("address"), "address": t("address"), "url": t("address"), "email": t("address")}
"""How a warning calls the value of a parameter with this name."""


def origin_rows(
    view: BranchView, call: CallRecord, arguments: Mapping[str, object]
) -> Iterator[OriginRow]:
    """Yield where the arguments came from with which a call would run."""
    origins = view.cursor.context.origins(view.state, call, arguments)
    for name, origin in origins.arguments.items():
        # A number has no words.
        is_number = isinstance(arguments[name], (bool, int, float))
        is_plain = origin.kind == "model" and not origin.also
        # The parts of a list may be of several origins: they have no note, or that of the worst.
        is_mixed = bool(origin.also) and isinstance(arguments[name], (list, tuple, Mapping))
        if is_mixed and origin.trust == "trusted":
            continue
        # What a model usually writes says nothing about its origin.
        if is_plain and (origin.trust == "trusted" or (is_number and origin.trust == "unclear")):
            continue
        source = view.state.calls.get(origin.call)
        is_bad = origin.trust == "untrusted"
        yield OriginRow(
            name,
            _origin_text(view, replace(origin, also=()) if is_mixed else origin),
            origin.trust,
            view.call_key(source) if source else "",
            _warning(name, arguments[name], origin) if is_bad else "",
            _passage(source, arguments[name]) if source and is_bad else (),
            _in_prompts(origin) if is_bad else "",
        )


def _origin_text(view: BranchView, origin: ArgumentOrigin) -> str:
    """Return one origin in words, and where else the value stands."""
    match origin.kind:
        case "object" if origin.step:
            call = view.state.calls[origin.call]
            used = [view.state.by_producer.get(producer) for producer in call.uses.values()]
            made_from = ", ".join(filter(None, used))
            text = t("made by call %1", origin.step)
            text = t("%1 from %2", text, made_from) if made_from else text
        case "object":
            text = t("from the notebook")
        case "result":
            text = t("from call %1, %2", origin.step, origin.tool)
        case "person":
            text = t("your answer to call %1", origin.step) if origin.step else t("typed by you")
        case "prompt":
            text = t("from your prompt")
        case "default":
            text = t("the tool's default")
        case "model":
            text = t("the model's own words")
    if origin.trust == "untrusted":
        text = t("%1 (not trusted)", text)
    return joined("; ", [text, *(_origin_text(view, part) for part in origin.also[:2])])


def _warning(name: str, value: object, origin: ArgumentOrigin) -> str:
    noun = NOUNS.get(name) or (t("text") if isinstance(value, str) else t("value"))
    source = origin.tool or t("others")
    return t("This %1 comes from %2. Nobody has checked it.", noun, source)


def _in_prompts(origin: ArgumentOrigin) -> str:
    stands = any(part.kind == "prompt" and part.trust == "trusted" for part in origin.also)
    return t("It is in your prompt too.") if stands else t("It is not in your prompts.")


def _passage(call: CallRecord, value: object) -> tuple[str, ...]:
    """Return the passage of a result in which a text stands as it is; nothing where it does not."""
    data = call.error if call.status == "failed" else call.structure or call.data
    text = data if isinstance(data, str) else readable_json(data)
    before, found, after = text.partition(value if isinstance(value, str) else readable_json(value))
    return (before[-LINE:], found, after[:LINE]) if found else ()


# -- rules ----------------------------------------------------------------------------------------


def rule_rows(cursor: Cursor, run_ended: bool) -> tuple[RuleRow, ...]:
    """Return the rules in the order in which they decide: those that the person added, and those
    of the policy, which come from the cell, a file or a program.

    With `run_ended` those that hold until the end of the run have ended.
    """
    context = cursor.context
    policy = context.policy.rules if isinstance(context.policy, RulePolicy) else ()
    rules = (*context.person_rules.rules, *(rule for rule in policy if isinstance(rule, Rule)))
    if not rules:
        return ()
    calls = [*cursor.state.all_calls()]
    ran = Counter(map(rule_of, calls))
    asked = Counter(_decision_meta(cursor, call).get(ASKED) for call in calls)
    return tuple(
        _rule_row(rule, context, ran[rule.label], asked[rule.label], run_ended) for rule in rules
    )


def budget_row(cursor: Cursor) -> BudgetRow | None:
    """Return what a session has used that is paused for its budget; None for any other one."""
    budget = cursor.context.budget
    if budget is None or not isinstance(cursor.holding_hook, BudgetHook):
        return None
    note = t("Prices of %1.", READ_ON) if budget.used_cost else ""
    if budget.unpriced:
        note = t("No price is known for %1: its tokens count alone.", budget.unpriced)
    offers = budget.offer("tokens"), budget.offer("cost")
    used = budget.used_tokens, budget.tokens or 0, budget.used_cost, budget.cost or 0
    return BudgetRow(budget.shortage, *used, note, *offers)


def rule_of(call: CallRecord) -> str:
    """Return the name of the rule that decided on a call, "" where none did."""
    by_policy = call.started.rule if call.started is not None else ""
    return by_policy or (call.decided.rule if call.decided is not None else "")


def decider_of(cursor: Cursor, call: CallRecord) -> str:
    """Return the name of the person who decided on a call, "" where it is not known."""
    return str(_decision_meta(cursor, call).get("who", ""))[:SHORT]


def asked_reason(view: BranchView, call: CallRecord) -> str:
    """Return why a rule left a call to the person, who has decided on it, "" where none did."""
    rule = _decision_meta(view.cursor, call).get(ASKED)
    # A call that waits once more after it began has another reason.
    if not rule or (call.started is not None and not call.is_over):
        return ""
    origins = view.cursor.context.origins(view.state, call, call.recorded_arguments)
    if not origins.has_untrusted or origins.doubtful is None:
        return t("rule '%1'", str(rule)[:SHORT])
    name, origin = origins.doubtful
    return joined(" ", [name, _origin_text(view, origin)])


def _decision_meta(cursor: Cursor, call: CallRecord) -> Mapping[str, object]:
    return cursor.context.journal[call.decision_entry].meta if call.decision_entry else {}


def undo_row(view: BranchView) -> UndoRow | None:
    """Return the last decision of the person, or of a rule of theirs, with what undoing it does.

    Calls that started since then are undone with it, in whatever order they were asked for.
    """
    cursor, calls, effects = view.cursor, view.state.calls, dict[str, None]()
    for entry in reversed(cursor.context.journal.path(cursor.head)):
        if not isinstance(event := entry.event, Started | Decided):
            continue
        call, rule = calls[event.call_id], rule_of(calls[event.call_id])
        if isinstance(event, Started):
            effects[_lasting_effect(cursor.tool_named(call.tool))] = None
        elif call.decision_entry == entry.id and (rule or decider_of(cursor, call)):
            back = t(
                "Undo goes back to before the decision on call %1, on a new branch.", call.step
            )
            none = t("There was no effect outside of the session.")
            paused = [t("The rule %1 is paused.", repr(rule))] if rule else []
            stays = [*filter(None, effects)] or [none]
            return UndoRow(view.call_key(call), joined(" ", [back, *stays, *paused]))
    return None


def _lasting_effect(tool: Tool | None) -> str:
    """Return what is said of a call's effect that undo leaves as it is, "" for none."""
    if tool is not None and (tool.pure or tool.read_only):
        return ""
    if tool is not None and (tool.external or tool.server):
        return t("What reached others cannot be taken back.")
    if tool is not None and tool.destructive:
        return t("What was deleted or overwritten is not restored.")
    return t("Effects outside of the session stay.")


def _rule_row(rule: Rule, context: SessionContext, ran: int, asked: int, over: bool) -> RuleRow:
    tool, you = context.toolbox.get(rule.tool), context.person_rules.person
    verbs = {
        "run": t("Runs `%1` when %2.", rule.tool, conditions(rule)),
        "ask": t("Asks about `%1` when %2.", rule.tool, conditions(rule)),
        "refuse": t("Rejects `%1` when %2.", rule.tool, conditions(rule)),
    }
    counts = t("Rejected %1.", ran) if rule.decision == "refuse" else t("Ran %1.", ran)
    if asked:
        counts = t("Ran %1, asked %2.", ran, asked)
    ends = {"run": t("until the end of this run"), "": t("until you remove it")}
    day = rule.made and datetime.fromisoformat(rule.made).astimezone().strftime("%Y-%m-%d %H:%M")
    end = t("It ended with the run.") if over and rule.until == "run" else ""
    end = end or (rule.ended(tool) if tool is not None else "")
    creation = (
        t("You made it on %1.", day) if rule.by == you else t("%1 made it on %2.", rule.by, day)
    )
    return RuleRow(
        *(rule.label, rule.decision, rule.arguments, rule.scope, until_kind(rule), rule.tool),
        *(verbs[rule.decision], ran, counts, ends.get(rule.until) or t("until %1", rule.until)),
        creation if day else "",
        *(rule.paused, end, _code_change(rule, tool) if tool is not None else ()),
    )


def _code_change(rule: Rule, tool: Tool) -> tuple[PartRow, ...]:
    """Return what changed in the code of a tool since a rule was made for it."""
    if rule.code in ("", tool.version()):
        return ()
    if rule.source not in ("", source_of(tool)):
        return difference_row("", difference(rule.source, source_of(tool))).parts
    says = t("The source of %1 was not kept with the rule.", rule.tool)
    if rule.source:
        says = t("The source of %1 is the same. What it uses has changed.", rule.tool)
    return (PartRow(says=says),)
