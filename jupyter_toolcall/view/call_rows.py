"""The rows of a branch's calls, and of the objects that those which wait will make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any
from urllib.parse import urlsplit

from ..compare.alignment import change, interruption_text
from ..compare.differences import CHANGED, Same, in_a_line
from ..core.call_record import SAVE, CallRecord, is_bare_list, objects_of
from ..core.digests import readable_json
from ..core.errors import Absent, CallError
from ..core.events import Data, Failed, InputNeeded, Interrupted, Many, Unknown, Uses
from ..core.input_round import InputRound
from ..core.interface_text import joined, on_wire, t, tn
from ..core.recorded_calls import CallEnd
from ..core.recorded_data import replace
from ..core.state_fold import state_at
from ..core.text import first_line, shortened_text, visible_text
from ..engine.call_effects import call_effect, next_names
from ..engine.call_warnings import call_warning
from ..engine.cursor import Cursor
from ..engine.decisions import recorded_result
from ..engine.input_rounds import round_digest
from ..engine.permission import Ask, Run, may_resume, permission_of_policy
from ..engine.replay import (
    as_repeated,
    following_approvals,
    is_decided,
    reapproval_reason,
    will_repeat,
)
from ..engine.session_values import PreparedCall
from ..schemes.listing import nearest_tool
from ..schemes.scheme import tool_names
from ..schemes.select import SELECT
from ..tools.object_references import fits_in, references
from ..tools.plain_data import cut
from ..tools.tool import parameters_schema
from .contract import Rows
from .contract_rows import CallRow, ObjectRow, Preview, QuestionRow, Use
from .decision_rows import LINE, asked_reason, decider_of, origin_rows, rule_of
from .object_rows import LONG, SHORT, BranchView, object_row
from .previews import CAPTION

FORM = t("The tool asks you for input before it goes on.")
PAGE = t("The tool asks you to open a page. Choose Answer when you are done there.")
FORMATS = {
    "email": t("an email address"),
    "uri": t("a web address"),
    "date": t("a date: 2026-01-31"),
}
"""The formats of a text, for the hint at its field."""


def call_rows(view: BranchView, calls: Sequence[CallRecord], ends: Mapping[str, CallEnd]) -> Rows:
    """Return the rows of calls, and of the objects that they made, or will make.

    `ends` are how calls ended, by id.
    """
    rows, objects = list[CallRow](), list[ObjectRow]()
    names = {} if view.branch else next_names(view.cursor, calls)
    for recorded in calls:
        call = recorded if view.branch else as_repeated(view.cursor, recorded)
        ready, absent = _prepared(view, call)
        end = ends.get(call.id)
        uses = _uses(view, call, ready, end)
        row = _call_row(view, call, ready, end, uses)
        if ready is None:
            # Without the value nothing can run: it waits as a call that nobody decided on.
            status = "proposed" if absent and row.status == "approved" else row.status
            row = replace(row, status=status, why=absent or row.why)
            row = _with_change(row, view, call, end, uses)
        elif row.object:
            drawn = Preview(visible_text(row.change, CAPTION) if row.status == "running" else "")
            name, kind = names.get(call.id, ""), ready.tool.returns
            objects += [ObjectRow(row.id, name, kind, "pending", call.step, row.id, preview=drawn)]
        waits = call.waits_for_input and row.status != "running" and not view.branch
        if waits and not may_resume(view.cursor, call):
            row = _with_questions(row, call)
        elif ready is not None and row.status == call.status:
            row = _with_decision(row, view, call, ready, names.get(call.id, ""))
        rows.append(_with_rounds(row, call))
        # The objects of an answer that a replay repeats next are not there yet.
        inputs = recorded.decided.inputs if recorded.decided is not None else ()
        new_names = map(view.state.name_of, (*inputs, *recorded.produced))
        objects += [object_row(view, name) for name in new_names]
    return Rows(calls=(*rows,), objects=(*objects,))


def _prepared(view: BranchView, call: CallRecord) -> tuple[PreparedCall | None, str]:
    """Return an open call of the shown branch as it would run; None where it can't run now, with
    the value that is not in this kernel where that is why."""
    if call.is_over or view.branch:
        return None, ""
    try:
        return view.cursor.prepared(call, view.state)[0], ""
    except (Absent, CallError) as error:
        return None, error.args[0] if isinstance(error, Absent) else ""


def _uses(
    view: BranchView, call: CallRecord, ready: PreparedCall | None, end: CallEnd | None
) -> Uses:
    """Return what produced the objects that a call used or names, by argument."""
    if call.started is not None:
        return call.uses
    if ready is not None:
        return ready.uses
    tool = view.cursor.tool_named(call.tool)
    # `save`, and what failed a check, did not run. What got its name after the call had ended
    # is another object than the one that it meant.
    then = end.state if end else view.state
    fits = fits_in(then.objects, then.plain)
    named = references(parameters_schema(tool), call.arguments, fits) if tool is not None else ()
    return {key: then.objects[name].producer for key, name in named if name in then.objects}


def _call_row(
    view: BranchView, call: CallRecord, ready: PreparedCall | None, end: CallEnd | None, uses: Uses
) -> CallRow:
    """Return the row of a call without what it waits for, or changed."""
    cursor, state = view.cursor, view.state
    tool, arguments = cursor.tool_named(call.tool), ready.arguments if ready else call.arguments
    saves = call.tool == SAVE and bool(state.opened.outputs)
    digest = ready.approval_digest if ready else call.approval_digest if call.outcome else ""
    row = CallRow(
        *(view.call_key(call), call.id, call.tool, call.step, call.turn),
        status="approved" if ready and is_decided(cursor, call, ready) else call.status,
        by=call.asked_call.by if call.asked_call.by_client else "",
        branch=view.branch,
        edited=call.edited,
        stale=call.asked_call.stale,
        change=_progress(cursor, call.id),
        arguments=dict(arguments),
        asked=_asked(call, arguments),
        filled=tuple(name for name in arguments if name not in call.asked),
        uses=tuple(
            Use(argument, view.object_key(producer), producer.input != "")
            for argument, producer in uses.items()
            if producer in state.by_producer
        ),
        object=view.call_key(call) if ready and ready.tool.returns else "",
        saves=saves,
        scheme=tool is not None and not saves and call.tool not in cursor.context.toolbox,
        what=_arguments_line(view, call, arguments),
        approval_digest=digest,
        asked_tool=call.call.tool if call.call.tool != call.tool else "",
        suggested_tool=_suggested_tool(cursor, call) if tool is None else None,
        reason=call.reason,
        by_rule=rule_of(call),
        why=asked_reason(view, call),
        who=decider_of(cursor, call),
    )
    if row.status == "approved" and will_repeat(cursor, call, ready):
        row = replace(row, memory=True)
    return _with_end(row, view, call, end)


def _with_end(row: CallRow, view: BranchView, call: CallRecord, end: CallEnd | None) -> CallRow:
    """Return the row of a call with how far it is, and what came of it."""
    cursor, results, status = view.cursor, objects_of(call.outcome), row.status
    result, error = _outcome_texts(call)
    early = cursor.early_ends.get(call.id) if cursor.running else None
    if early is not None and not isinstance(early.outcome, InputNeeded | Unknown):
        # It has ended, and is recorded after the calls before it, which run.
        status = replace(call, outcome=early.outcome).status
    # What `save` and `selectTools` answer says nothing to a person.
    is_own = row.saves or (call.tool == SELECT and call.tool not in cursor.context.toolbox)
    row = replace(
        row,
        status="running" if call.id in cursor.running else status,
        outdated=view.outdated.calls.get(call.id, ""),
        warning=call_warning(call, end, view.state, cursor.running),
        object=view.object_key(results[0].producer) if results else row.object,
        result="" if is_own else result,
        error=error,
        wrong=_wrong_arguments(view, call, end),
        ms=early.ms if early else 0,
    )
    if end is None:
        return row
    row = replace(row, memory=end.cached, inherited=end.inherited)
    return replace(row, notes=end.notes, ms=end.ms, prints=end.prints)


def _progress(cursor: Cursor, call_id: str) -> str:
    """Return how long a call has run that runs beside others, and how far it is."""
    running = cursor.running.get(call_id)
    if running is None:
        return ""
    seconds = int(cursor.context.clock() - running.began) if running.began else 0
    return " · ".join(filter(None, (f"{seconds} s" if seconds else "", running.progress)))


def _asked(call: CallRecord, arguments: Mapping[str, object]) -> dict[str, Any] | None:
    """What the model asked for, where something else runs; what was filled in is no change."""
    asked = dict(call.proposed)
    kept = all(key in arguments and arguments[key] == asked[key] for key in asked)
    return asked if call.edited or not kept else None


def _arguments_line(view: BranchView, call: CallRecord, arguments: Mapping[str, object]) -> str:
    """Return a call's arguments as one line."""
    texts = {key: first_line(_text(value), SHORT) for key, value in arguments.items()}
    if call.tool == SAVE and view.state.opened.outputs:
        return ", ".join(f"{key} = {text}" for key, text in texts.items())
    if call.tool == SELECT:
        named, tools = arguments.get("tools"), view.cursor.context.toolbox
        count = sum(name in tools for name in named) if isinstance(named, list) else 0
        return tn("%1 tool selected", "%1 tools selected", count)
    receiver = getattr(view.cursor.tool_named(call.tool), "receiver", "")
    first = [texts.pop(receiver)] if receiver in texts else []
    line = ", ".join([*first, *(f"{key} {text}" for key, text in texts.items())])
    return shortened_text(line, 200)


def _text(value: object) -> str:
    return cut(value if isinstance(value, str) else readable_json(value), LONG)


def _wrong_arguments(view: BranchView, call: CallRecord, end: CallEnd | None) -> Mapping[str, str]:
    """Return what was wrong with the arguments of a call that failed its check, by name."""
    if end is None or call.status != "failed" or call.started is not None or view.branch:
        return {}
    # Objects that came later are none that it could name.
    journal = view.cursor.context.journal
    then = state_at(journal, journal[end.entry].parent)
    try:
        view.cursor.prepared(then.calls[call.id], then)
    except (CallError, Absent) as error:
        return getattr(error, "fields", {})
    return {}


def _suggested_tool(cursor: Cursor, call: CallRecord) -> str | None:
    if call.status != "failed":
        return None
    toolbox = cursor.context.toolbox
    return nearest_tool(call.tool, tool_names(toolbox, cursor.offer), toolbox)


def _outcome_texts(call: CallRecord) -> tuple[str, str]:
    """Return the plain result of a call and its error as texts, "" for what there is not."""
    match call.outcome:
        case Data(data):
            return _text(data), ""
        case Many() if not is_bare_list(call.outcome) and call.result is not None:
            return _text(call.result), ""
        case Failed(message):
            return "", message[:LONG]
        case Interrupted() as interrupted:
            return "", interruption_text(interrupted)
    return "", ""


def _with_change(
    row: CallRow, view: BranchView, call: CallRecord, end: CallEnd | None, uses: Uses
) -> CallRow:
    """Return the row of a call with what it changed, where its object has one before it."""
    context, before = view.cursor.context, view.object_before(call, uses)
    if before is None:
        return replace(row, change=shortened_text(end.effect if end else "", LINE))
    result = objects_of(call.outcome)[0]
    if context.values.remote(before) or context.values.remote(result):
        # Nobody has asked for them yet.
        return replace(row, change=t("not compared: on the cluster"))
    difference, key = change(before, result, context), view.object_key(before.producer)
    line = shortened_text(in_a_line(difference, CHANGED), LINE)
    return replace(row, before=key, change=line, changes_nothing=isinstance(difference, Same))


def _with_decision(
    row: CallRow, view: BranchView, call: CallRecord, ready: PreparedCall, makes: str
) -> CallRow:
    """Return the row of an open call with why it waits for a decision, where it does."""
    cursor, state, tool = view.cursor, view.state, ready.tool
    allowed = permission_of_policy(cursor, call, ready)
    asks = isinstance(allowed, Ask) or call.status == "unknown"
    if not asks or is_decided(cursor, call, ready):
        # What the policy runs waits for nobody.
        is_run = isinstance(allowed, Run) and row.status == "proposed"
        return replace(row, status="approved") if is_run else row
    # What was decided is not what would run now: it waits as a call that nobody decided on.
    status = "proposed" if call.status == "approved" else row.status
    following = (
        t("Sent to %1.", tool.server) if tool.server else "",
        t("It may delete or overwrite data.") if tool.destructive else "",
        call_effect(ready, state, cursor.context.values, cursor.context.model),
        t("Creates %1.", makes) if makes else "",
    )
    row = replace(row, status=status, downstream=joined(" ", filter(None, following)))
    row = replace(row, origins=tuple(origin_rows(view, call, ready.arguments)))
    if call.status == "unknown" or not isinstance(allowed, Ask):
        return row
    if allowed.may_have_run:
        recorded = _recorded(cursor, call, ready)
        return replace(row, why=allowed.reason, may_have_run=True, recorded=recorded)
    reapproval = reapproval_reason(cursor, ready)
    after = following_approvals(cursor, ready) if reapproval else 0
    row = replace(row, why=reapproval or allowed.reason, again=reapproval != "", following=after)
    budget = cursor.context.budget if allowed.over_budget else None
    return replace(row, budget_calls=budget.offer("calls")) if budget is not None else row


def _recorded(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> str:
    """Return what a call that may have run came to as it is recorded, "" where that is not kept."""
    entry = recorded_result(cursor, call, ready)
    if entry is None:
        return ""
    recorded = state_at(cursor.context.journal, entry.id).calls[call.id]
    return "".join(_outcome_texts(recorded)) or ", ".join(recorded.objects) or '""'


# -- rounds of input: the open questions, and the answers --------------------------------------


def _with_questions(row: CallRow, call: CallRecord) -> CallRow:
    """Return the row of a call with the questions of its tool."""
    asked = tuple(starmap(_question, call.rounds[-1].asked.requests.items()))
    why = PAGE if any(question.url for question in asked) else FORM
    row = replace(row, status="input required", questions=asked, why=why)
    return replace(row, approval_digest=round_digest(call))


def _with_rounds(row: CallRow, call: CallRecord) -> CallRow:
    """Return the row of a call with what its tool asked so far, and the answers."""
    if not call.rounds:
        return row
    lines = [_line(input_round) for input_round in call.rounds]
    answered = [line for line, asked in zip(lines, call.rounds, strict=True) if asked.response]
    return replace(row, notes=(*row.notes, *answered), change=row.change or lines[-1])


def _question(key: str, request: Mapping[str, Any]) -> QuestionRow:
    """Return a question with its form."""
    schema = dict(request.get("schema", {}))
    fields = schema.get("properties", {})
    url = str(request.get("url", ""))
    form = {**schema, "properties": {name: _with_hint(part) for name, part in fields.items()}}
    values = {name: part["default"] for name, part in fields.items() if "default" in part}
    message = cut(str(request.get("message", "")), LONG)
    return QuestionRow(key, message, form, values, url, urlsplit(url).netloc)


def _with_hint(part: object) -> object:
    """Return the schema of a field with its title and its format in the description."""
    if not isinstance(part, Mapping):
        return part
    hints = (part.get("title"), part.get("description"), FORMATS.get(str(part.get("format"))))
    texts = (hint if isinstance(hint, str) else str(hint) for hint in hints if hint)
    # A default is filled in already; a field that is left out is not sent.
    kept = {key: value for key, value in part.items() if key != "default"}
    return {**kept, "description": on_wire(joined("; ", texts))}


def _line(input_round: InputRound) -> str:
    """Return a round in one line: what the tool asked, and the answer."""
    asked = (str(request.get("message", "")) for request in input_round.asked.requests.values())
    questions = " ".join(" ".join(asked).split())
    return cut(joined(" ", filter(None, [questions, _answer(input_round)])), LINE)


def _answer(input_round: InputRound) -> str:
    if input_round.response is None:
        return ""
    if input_round.response.decision == "reject":
        return t("You declined.")
    fields = [item for content in input_round.content.values() for item in content.items()]
    texts = (f"{key} {v if isinstance(v, str) else readable_json(v)}" for key, v in fields)
    return t("You: %1", " ".join(", ".join(texts).split()) or t("done"))
