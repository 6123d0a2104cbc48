"""Operations for a program that handles tool calls itself.

`run` handles all calls of a reply. A program that handles them itself reads `tool_calls`, and
runs `call_tool` or records `tool_call_result` for each. `generate` only asks the model.
"""

from __future__ import annotations

from contextlib import suppress

from ..core.call_record import CallRecord
from ..core.errors import CallError, NotYourTurn, UsageError
from ..core.events import Failed, Finished, Outcome, Uses
from ..core.state import step_of
from ..schemes.messages import Reply
from ..schemes.scheme import completed
from ..tools.invoke import error_text
from ..tools.object_references import fits_in, references
from ..tools.tool import Changed, parameters_schema
from .cursor import Cursor
from .decisions import answer_outcome
from .permission import has_approval, may_resume
from .tool_results import variables_as_data
from .turn import execute_step, request_reply


def tool_calls(cursor: Cursor) -> tuple[CallRecord, ...]:
    """Return the calls of the last reply that have no result yet, in call order."""
    state = cursor.state
    return tuple(cursor.shown(state.calls[call_id]) for call_id in state.open)


def call_tool(cursor: Cursor, call_id: str) -> CallRecord:
    """Run a call of the last reply, in any order, and return its record.

    The program approves the call with this, whatever the policy says. A call that does not fit
    its tool fails, and the model gets the error. Raises NotYourTurn where the call has a result
    or is none, UsageError for a request to a person, KeyboardInterrupt after the interrupted call
    is recorded.
    """
    call = _unanswered(cursor, call_id)
    if cursor.running:
        raise NotYourTurn(f"call {', '.join(cursor.running)} is running; one call runs at a time")
    tool = cursor.tool_named(call.tool)
    if tool is not None and tool.for_person:
        raise UsageError(
            f"{call.tool} is a request to a person, and nothing runs: "
            f"session.tool_call_result({call_id!r}, ...) answers it"
        )
    _run(cursor, call)
    return cursor.state.calls[call_id]


def _run(cursor: Cursor, call: CallRecord) -> None:
    # What does not fit fails, and a call of the scheme's own needs no approval.
    with suppress(CallError):
        ready, of_scheme = cursor.prepared(call, cursor.state)
        if not (of_scheme and call.decided is None) and not has_approval(cursor, call, ready):
            cursor.decide(call.approval(ready.approval_digest), "program")
    cursor.replay_queue.superseded.add(call.id)
    state = cursor.state
    execute_step(cursor, step_of(state.calls[call.id]), state)


def tool_call_result(cursor: Cursor, call_id: str, result: object) -> CallRecord:
    """Record the result of a call that the program ran itself, and return the call.

    A result is plain data, an object (its value or its name), a list of objects, or an
    exception, which is a failure. Each call takes one, in any order; the model gets them in call
    order. Raises NotYourTurn where the call has a result or is none, UsageError for a call of the
    scheme's own tools, CallError for a name that no object has.
    """
    call = _unanswered(cursor, call_id)
    if any(tool.name == call.tool for tool in cursor.offer.own):
        raise UsageError(
            f"{call.tool} is the scheme's own and takes no result of yours; "
            f"session.call_tool({call_id!r}) answers it"
        )
    event = Finished(call.id, _outcome(cursor, call, result), "program", _named(cursor, call))
    cursor.write(event, at=cursor.context.clock(), by="program")
    cursor.replay_queue.superseded.add(call.id)
    return cursor.state.calls[call_id]


def _outcome(cursor: Cursor, call: CallRecord, result: object) -> Outcome:
    match result:
        case BaseException():
            return Failed(error_text(result))
        case Changed():
            return variables_as_data(result)
    return answer_outcome(cursor, call, result)


def _named(cursor: Cursor, call: CallRecord) -> Uses:
    """Return what produced the objects that a call names, by argument."""
    tool, state = cursor.tool_named(call.tool), cursor.state
    if tool is None:
        return {}
    try:
        arguments = completed(cursor.context.scheme, call, tool, state)
    except CallError:
        arguments = dict(call.asked)
    named = references(parameters_schema(tool), arguments, fits_in(state.objects, state.plain))
    objects = ((argument, state.objects.get(name)) for argument, name in named)
    return {argument: ref.producer for argument, ref in objects if ref is not None}


def _unanswered(cursor: Cursor, call_id: str) -> CallRecord:
    state = cursor.state
    call = state.calls.get(call_id)
    if call is not None and call_id in state.open and call_id not in cursor.running:
        if call.waits_for_input and not may_resume(cursor, call):
            raise NotYourTurn(
                f"{call.tool} asks for input: decide({call_id!r}, 'answer', result=...) first"
            )
        return call
    status = "running" if call_id in cursor.running else call.status if call is not None else ""
    what = f"call {call_id} is {status} already" if status else f"there is no call {call_id!r}"
    raise NotYourTurn(f"{what}; without a result: {', '.join(state.open) or 'none'}")


def all_answered(cursor: Cursor) -> None:
    """Raise NotYourTurn while calls have no result; the error names them."""
    if ids := cursor.state.open:
        raise NotYourTurn(
            f"no result yet of {', '.join(ids)}: call_tool, tool_call_result, decide or run() first"
        )


def generate(cursor: Cursor) -> Reply | None:
    """Ask the model and return its reply; nothing is recorded, nothing runs.

    None where the model gives no reply. Raises NotYourTurn while calls have no result.
    """
    all_answered(cursor)
    reply, context = request_reply(cursor, cursor.request), cursor.context
    return reply and context.scheme.read(reply, cursor.state, context.toolbox)
