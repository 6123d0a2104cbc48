"""The rows of calls and of their tools: what a call uses, what it waits for, how it ended."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

from ..compare.alignment import INTERRUPTED
from ..core.call_record import SAVE, CallRecord, objects_of
from ..core.digests import readable_json
from ..core.errors import Absent, CallError
from ..core.events import Data, Failed, Interrupted, Uses
from ..core.recorded_calls import CallEnd
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..engine.recorded_results import recorded_result
from ..engine.replay import reapproval_reason
from ..engine.session_values import PreparedCall
from ..schemes.select import SELECT
from ..tools.object_references import references
from ..tools.tool import Tool
from .contract_rows import CallRow, ToolRow, Use
from .graph_layout import Layout, main_use
from .object_rows import BranchView, call_key, next_name, object_key, ready_call

FOR_PERSON = "It is a request to you, and nothing runs: answer it, or reject it."
SHORT = 80
LONG = 2_000
WHOLE = 20_000


def uses_of(uses: Uses, branch_view: BranchView, receiver: str, layout: Layout) -> tuple[Use, ...]:
    """Return the edges that lead to a call, the one of the main line marked."""
    found = [
        (argument, object_key(producer, branch_view), producer.input != "")
        for argument, producer in uses.items()
        if producer in branch_view.state.by_producer
    ]
    main = main_use([(key, name == receiver, given) for name, key, given in found], layout)
    return tuple(Use(name, key, key == main, given) for name, key, given in found)


def uses_in(branch_view: BranchView, call: CallRecord, state: State) -> Uses:
    """Return the objects that a call named when it ran, or names as it stands in a state."""
    if call.started is not None:
        return call.uses
    waits = call.outcome is None and not branch_view.branch
    ready = ready_call(branch_view, call) if waits else None
    return ready.uses if ready is not None else _named(branch_view.cursor, call, state)


def _absent(branch_view: BranchView, call: CallRecord) -> str:
    """Return why an open call can't run in this kernel, "" where it is not for its values."""
    try:
        branch_view.cursor.prepared(call, branch_view.state)
    except Absent as error:
        return str(error)
    except CallError:
        pass
    return ""


def call_row(
    branch_view: BranchView, call: CallRecord, layout: Layout, end: CallEnd | None
) -> CallRow:
    """Return the row of a call, as it stands at the end of its branch."""
    tool = branch_view.cursor.tool_named(call.tool)
    waits = call.outcome is None and not branch_view.branch
    ready = ready_call(branch_view, call) if waits else None
    arguments = ready.arguments if ready else call.arguments
    if call.started is not None:
        uses = call.uses
    elif ready is not None:
        uses = ready.uses
    else:
        uses = _named(branch_view.cursor, call, end.state if end else branch_view.state)
    receiver = tool.receiver if tool else ""
    saves = call.tool == SAVE and bool(branch_view.state.opened.outputs)
    row = CallRow(
        id=call_key(call, branch_view),
        call=call.id,
        tool=call.tool,
        step=call.step,
        turn=call.turn,
        status="running" if call.id == branch_view.cursor.running else call.status,
        branch=branch_view.branch,
        memory=end is not None and end.cached,
        edited=call.edited,
        stale=call.asked_call.stale,
        outdated=branch_view.outdated.calls.get(call.id, ""),
        notes=end.notes if end else (),
        arguments=dict(arguments),
        asked=_asked(call, arguments),
        filled=tuple(key for key in arguments if key not in call.asked),
        uses=uses_of(uses, branch_view, receiver, layout),
        object=_object_key(call, ready, branch_view),
        saves=saves,
        what=saved_line(arguments)
        if saves
        else arguments_line(call, arguments, receiver, branch_view.cursor.context.toolbox),
        why=_absent(branch_view, call) if waits and ready is None else "",
        bound=ready.approval_digest if ready else "" if waits else call.approval_digest,
        reason=call.reason,
        ms=end.ms if end else 0,
        prints=end.prints if end else "",
    )
    return (
        _with_outcome(row, call) if ready is None else _with_question(row, branch_view, call, ready)
    )


def _named(cursor: Cursor, call: CallRecord, state: State) -> Uses:
    """The objects that a call names which did not run: `save`, and what failed a check.

    What got its name after the call had ended is another object than the one that it meant.
    """
    tool = cursor.tool_named(call.tool)
    if tool is None:
        return {}
    named = references(tool.parameters, call.arguments)
    found = ((argument, state.objects.get(name)) for argument, name in named)
    return {argument: made.producer for argument, made in found if made is not None}


def _asked(call: CallRecord, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the model asked for, where something else runs; what was filled in is no change."""
    asked = dict(call.proposed)
    kept = all(key in arguments and arguments[key] == asked[key] for key in asked)
    return asked if call.edited or not kept else None


def _object_key(call: CallRecord, ready: PreparedCall | None, branch_view: BranchView) -> str:
    if made := objects_of(call.outcome):
        return object_key(made[0].producer, branch_view)
    return call_key(call, branch_view) if ready is not None and ready.tool.returns else ""


def _with_outcome(row: CallRow, call: CallRecord) -> CallRow:
    match call.outcome:
        case Data(data):
            return replace(row, result=_text(data))
        case Failed(message):
            return replace(row, error=message[:LONG])
        case Interrupted():
            return replace(row, error=INTERRUPTED)
    return row


def _with_question(
    row: CallRow, branch_view: BranchView, call: CallRecord, ready: PreparedCall
) -> CallRow:
    if row.status == "running":
        return row
    verdict, why = branch_view.cursor.policy_answer(call, ready)
    if ready.tool.for_person and verdict != "reject":
        verdict, why = "ask", FOR_PERSON
    if call.status == "unknown":
        why = "It had started, and nothing says how it ended: the kernel stopped while it ran."
    if verdict != "ask" and call.status != "unknown":
        return row
    cursor = branch_view.cursor
    row = replace(row, downstream=_downstream(ready, branch_view.state))
    if call.status == "unknown":
        return replace(row, why=why)
    if cursor.may_have_run(call, ready):
        return replace(row, why=why, may_have_run=True, recorded=_recorded(cursor, call, ready))
    anew = reapproval_reason(cursor.replay_queue, cursor.context.journal, ready)
    return replace(row, why=anew or why, again=anew != "")


def _recorded(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> str:
    """Return what a call that may have run came to as it is recorded, "" where that is not kept."""
    entry = recorded_result(cursor, call, ready)
    if entry is None:
        return ""
    call = state_at(cursor.context.journal, entry.id).calls[call.id]
    match call.outcome:
        case Data(data):
            return _text(data) or '""'
        case Failed(message):
            return message[:LONG]
        case Interrupted():
            return "interrupted"
    return ", ".join(call.objects)


def _downstream(ready: PreparedCall, state: State) -> str:
    open_outputs = [name for name in state.opened.outputs if name not in state.outputs]
    parts = []
    if ready.tool.returns:
        parts.append(f"makes {next_name(ready.tool.returns, state)}.")
    if open_outputs:
        parts.append(f"Still to save: {', '.join(f'`{name}`' for name in open_outputs)}.")
    return " ".join(parts)


def arguments_line(
    call: CallRecord, arguments: Mapping[str, Any], receiver: str, known: Container[str]
) -> str:
    """Return a call's arguments as one line."""
    if call.tool == SELECT:
        named = arguments.get("tools")
        count = sum(name in known for name in named) if isinstance(named, list) else 0
        return f"{count} tool{'' if count == 1 else 's'} selected"
    texts = {key: _text(value)[:SHORT] for key, value in arguments.items()}
    first = [texts.pop(receiver)] if receiver in texts else []
    line = ", ".join([*first, *(f"{key} {text}" for key, text in texts.items())])
    return line if len(line) <= 200 else f"{line[:199]}…"


def saved_line(arguments: Mapping[str, Any]) -> str:
    """Return what a call of `save` hands over as one line."""
    return ", ".join(f"{key} = {_text(value)[:SHORT]}" for key, value in arguments.items())


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else readable_json(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"


# -- tools ---------------------------------------------------------------------------------


def tool_row(cursor: Cursor, name: str) -> ToolRow | None:
    """Return the row of a tool that was called, for its form."""
    tool = cursor.tool_named(name)
    if tool is None:
        return None
    # The list of what there is, in a tool of the scheme's own, is another after each step.
    own = any(each.name == name for each in cursor.offer.own)
    said = tool.description.partition("\n\n")[0] if own else tool.description
    return _row_of_tool(tool, said[:LONG])


def offered_row(cursor: Cursor, name: str) -> ToolRow | None:
    """Return the row of a tool as the model is told of it, for a person in its place."""
    tool = cursor.tool_named(name)
    return _row_of_tool(tool, tool.description[:WHOLE]) if tool is not None else None


def _row_of_tool(tool: Tool, said: str) -> ToolRow:
    return ToolRow(tool.name, said, dict(tool.parameters), tool.read_only, tool.for_person)
