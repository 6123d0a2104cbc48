"""Whether a call may run. Nothing else decides that.

`permission` reads what a person decided on exactly this call, whether it may have run already, the
session's breakpoints and its policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..core.call_record import CallRecord
from ..core.interface_text import t, tn
from ..core.json_data import at_path, replaced_at
from ..core.recorded_data import Record
from ..core.state import NAME, State
from ..rules.approval_policy import By, Judgement, fits_glob, policy_decision
from ..rules.origins import CallOrigins, Origins
from ..tools.tool import Tool
from .cursor import Cursor, SessionContext
from .session_values import PreparedCall, ToolInputs

FOR_PERSON = t("It is a request to you, and nothing runs: answer it, or reject it.")


class Run(Record, frozen=True):
    """The call runs. The scheme's own calls wait for nobody."""

    by: By | Literal["scheme"]
    rule: str = ""
    """The name of the rule that lets the call run, "" where something else does."""


class Ask(Record, frozen=True):
    """A person decides on the call; `reason` is a sentence that says why."""

    reason: str
    may_have_run: bool = False
    """Whether the call may have had its effect already."""
    rule: str = ""
    """The name of the rule that asks."""
    over_budget: bool = False
    """Whether the call would run unasked with a larger budget."""
    by_policy: bool = False
    """Whether the call would run unasked with another policy."""


class Refuse(Record, frozen=True):
    """The call is rejected; `reason` is a sentence that says why."""

    reason: str
    rule: str
    """The name of the rule that rejects the call, "" where something else does."""
    by: By


Permission = Run | Ask | Refuse


def permission(
    cursor: Cursor, call: CallRecord, ready: PreparedCall, of_scheme: bool = False
) -> Permission:
    """Return whether a call may run: exactly as it is prepared.

    Arguments:
        of_scheme: whether it is the scheme's own.
    """
    if has_approval(cursor, call, ready):
        return Run("person")
    return Run("scheme") if of_scheme else permission_of_policy(cursor, call, ready)


def permission_of_policy(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> Permission:
    """Return whether a call may run that no person decided on.

    No policy repeats an effect that may have happened: a person is asked.
    """
    if may_have_run(cursor, call, ready):
        return Ask(_reason(cursor.context, call), may_have_run=True)
    context = cursor.context

    def origins() -> CallOrigins:
        return context.origins(cursor.state, call, ready.arguments)

    arguments = ready.arguments if ready.inputs is None else _with_data(ready, ready.inputs)
    verdict, reason, rule, by = judged(context, ready.tool, arguments, origins)
    if verdict == "reject":
        return Refuse(reason, rule, by)
    if ready.tool.for_person:
        return Ask(FOR_PERSON)
    if verdict == "approve" and (altered := _altered_objects(cursor, call, ready)):
        return Ask(t("It takes %1, which a call changed after it was made.", ", ".join(altered)))
    if verdict != "approve":
        return Ask(reason, rule=rule, by_policy=(by, rule) == ("policy", ""))
    budget = context.budget
    if budget is not None and budget.calls_left <= 0 and not _is_free(cursor, call, ready):
        reason = tn(
            "%1 call ran, and the budget allows no more.",
            "%1 calls ran, and the budget allows no more.",
            budget.used_calls,
        )
        return Ask(reason, over_budget=True)
    return Run(by, rule)


def _with_data(ready: PreparedCall, inputs: ToolInputs) -> Mapping[str, Any]:
    """Return the arguments by which a policy decides: with plain data in place of its names."""
    arguments = ready.arguments
    for path, value in inputs.plain.items():
        if isinstance(name := at_path(arguments, path), str) and NAME.fullmatch(name):
            arguments = replaced_at(arguments, path, value)
    return arguments


def _is_free(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether nothing runs: the call ran ahead of its turn, or its result is recorded."""
    recorded = not (cursor.replay_queue.fresh or _is_new(cursor, call, ready))
    has_result = recorded and cursor.context.values.cached_outcome(ready) is not None
    return has_result or call.id in cursor.early_ends


def _altered_objects(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> list[str]:
    """Return the names of the objects on which a call runs, and which were changed after they were
    made."""
    values, state = cursor.context.values, cursor.state
    if not values.altered or _is_free(cursor, call, ready):
        return []
    names = filter(None, map(state.by_producer.get, ready.uses.values()))
    return [name for name in names if state.objects[name].digest in values.altered]


def judged(
    context: SessionContext, tool: Tool, arguments: Mapping[str, object], origins: Origins
) -> Judgement:
    """Return the decision on a call, with its reason and the rule that takes it.

    A breakpoint comes first. The rules that the person added tighten what the policy approves, and
    decide where it asks.

    Raises UsageError for a policy that answers with no decision.
    """
    if tool.name in context.breakpoints:
        return Judgement("ask", t("You set a breakpoint on this tool."), by="person")
    if tool.changed:
        return Judgement("ask", tool.changed, by="person")
    for glob in context.breaks:
        if fits_glob(glob, tool, arguments):
            reason = t("You wrote --break %1: this call waits for you.", glob)
            return Judgement("ask", reason, by="person")
    judgement = policy_decision(context.policy, tool, arguments, origins)
    if not context.person_rules.rules or judgement.verdict == "reject":
        return judgement
    asks = judgement.verdict == "ask"
    return context.person_rules.answer(tool, arguments, origins, asks) or judgement


# -- a person's decisions ----------------------------------------------------------------------


def has_approval(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether a person approved exactly this call, and the approval is not consumed.

    The approval of a repeatable tool is never consumed.
    """
    if call.decided is None or not call.allows(ready.approval_digest):
        return False
    once = not (cursor.replay_queue.fresh or ready.tool.repeatable or call.id in cursor.reapproved)
    return not once or cursor.context.call_index.is_unused(call)


def may_resume(cursor: Cursor, call: CallRecord) -> bool:
    """Return whether a call can continue: with a response of this person that is not consumed."""
    last = call.open_round
    if last is None or last.response is None or not (last.verified and call.verified):
        return False
    if not last.is_response_verified:
        return False
    return call.id in cursor.reapproved or cursor.context.call_index.is_unused(call)


# -- calls that may have run -------------------------------------------------------------------


def may_have_run(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether a call may have had an effect already that must not happen twice.

    A call of a reply that the model just gave did not run. A call with a cached result did run,
    but its tool does not run again.
    """
    if cursor.replay_queue.fresh or ready.tool.repeatable or _is_new(cursor, call, ready):
        return False
    values, unreliable_reason = cursor.context.values, cursor.context.unreliable_reason
    ran = cursor.context.call_index.run_of(call, ready.approval_digest)
    if ran == "finished" and values.cached_outcome(ready) is not None:
        return False
    unsure = ran == "started" or (
        ran == "finished" and (unreliable_reason != "" or values.is_unverified(ready))
    )
    return bool(call.history) or unsure


def is_answered_by_record(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether a call that a policy lets run takes a cached result, if there is one: the
    model asked for it in a recorded reply, and its tool must not run twice."""
    return not (cursor.replay_queue.fresh or ready.tool.repeatable or _is_new(cursor, call, ready))


def repeatable_call(cursor: Cursor, call: CallRecord, state: State) -> PreparedCall | None:
    """Return a call with an unknown outcome where it may run again: once, exactly as approved."""
    tool = cursor.tool_named(call.tool)
    if tool is None or not tool.idempotent or not call.verified or call.repeated:
        return None
    ready = cursor.runnable(call, state)
    return ready if ready and ready.approval_digest == call.approval_digest else None


def _is_new(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether the model just asked for a call here, and no fork has run it since."""
    if cursor.latest_reply == "" or call.asked_call.entry != cursor.latest_reply:
        return False
    run = cursor.context.call_index.run_of(call, ready.approval_digest)
    return cursor.repeats_reply or run != "finished"


def _reason(context: SessionContext, call: CallRecord) -> str:
    """Return in a sentence why a call may have run already."""
    match call.history:
        case "copied":
            return t("It may have run where this session was copied from.")
        case "kept":
            return t("You kept its recorded result, and the value is no longer available.")
        case "damaged":
            return t("It may have run: the record after this call was damaged.")
    explanation = t("it was recorded on another computer, or its record was changed")
    if not call.history:
        explanation = t("it started before, and its result is not recorded here")
    return t("It may have run already: %1.", context.unreliable_reason or explanation)
