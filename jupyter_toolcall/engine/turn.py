"""The ordinary turn, from top to bottom: ask the model, check each call, apply the policy or
wait for a person, execute, record.

A pause is the absence of an event: a function here returns None where the next event has to
come from a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from ..core.branches import replies_beside
from ..core.call_record import CallRecord
from ..core.errors import CallError, ModelError, UsageError
from ..core.events import (
    WITHOUT_RESULT,
    Asked,
    Data,
    Decided,
    Failed,
    Finished,
    Interrupted,
    Started,
)
from ..core.interrupts import interruptible
from ..core.journal_entries import Entry
from ..core.recorded_calls import call_run
from ..core.recorded_data import JsonDict, JsonObject, replace
from ..core.state import AskModel, Clarify, Remind, ResumeCall, RunCall, State, Step
from ..models.retrying import uncut_reply
from ..schemes.messages import Reply, Request
from ..schemes.requests import recorded_reply, with_secret_values
from ..tools.tool import Tool, parameters_schema
from ..tools.tool_version import PYTHON
from .call_effects import call_effect
from .cursor import Cursor, RunningCall
from .execution import Execution, milliseconds, run_tool, stored_execution
from .input_rounds import with_response
from .permission import (
    Refuse,
    Run,
    has_approval,
    is_answered_by_record,
    may_resume,
    permission,
    repeatable_call,
)
from .session_values import PreparedCall
from .tracing import traced


def execute_step(cursor: Cursor, step: Step, state: State) -> Entry | None:
    """Take a step and return its last entry; None where a person has to be waited for."""
    match step:
        case AskModel():
            return ask_model(cursor, state)
        case RunCall(call):
            return run_call(cursor, call, state)
        case Remind(text):
            return cursor.write(Asked(text, "session"), at=cursor.context.clock())
        case ResumeCall(call):
            return resume_call(cursor, call, state)
        case Clarify(call) if (ready := repeatable_call(cursor, call, state)) is not None:
            return start_call(cursor, call, ready, state, "")
    return None


# -- the model --------------------------------------------------------------------------------


def ask_model(cursor: Cursor, state: State) -> Entry | None:
    """Ask the model and record its reply; None at the turn limit, or if the model gives none.

    Raises ModelError, and MissingSecret where the request holds one that is not set.
    """
    if cursor.turn_limit_reached:
        return None
    request = cursor.request_in(state)
    reply, meta = timed_reply(cursor, request)
    return None if reply is None else record_reply(cursor, reply, request, meta)


def timed_reply(cursor: Cursor, request: Request) -> tuple[Reply | None, JsonDict]:
    """Return what the model replies, with the metadata of its entry; nothing is recorded.

    Any thread may call it. Raises what `ask_model` raises.
    """
    context = cursor.context
    began = context.clock()
    model = str(getattr(context.model, "name", ""))
    with _open([hook.around_request(model) for hook in traced(context)]) as note:
        reply = request_reply(cursor, request)
        note(reply)
    meta: JsonDict = {"at": began, "ms": milliseconds(began, context.clock())}
    if reply is not None and reply.attempts:
        meta["attempts"] = [[attempt.said, attempt.waited] for attempt in reply.attempts]
    return reply, meta


def request_reply(cursor: Cursor, request: Request) -> Reply | None:
    """Return the model's reply to a request, unchanged; nothing is recorded."""
    if cursor.context.model is None:
        raise UsageError("this session has no model; give one, such as model=Scripted([...])")
    secrets, journal = cursor.context.secrets, cursor.context.journal
    try:
        sent = with_secret_values(request, secrets)
        if journal.questions:
            sent = replace(sent, beside=replies_beside(journal, cursor.head))
        reply = interruptible(uncut_reply, cursor.context.model, sent, cursor.context.on_wait)
    except ModelError as error:
        # A provider may quote what it was sent.
        error.args = secrets.hide(error.args)
        raise
    if reply is not None and not isinstance(reply, Reply):
        raise ModelError(f"the model returned {reply!r:.60}; a model returns a Reply or None")
    return reply


def record_reply(cursor: Cursor, reply: Reply, request: Request, meta: JsonObject) -> Entry:
    """Record a reply to the request of this turn. Raises ModelError where it can't be."""
    context, state = cursor.context, cursor.state
    try:
        offered = _new_definitions(cursor, request, state)
        read = context.scheme.read(reply, state, context.toolbox)
        event = recorded_reply(read, state, offered, request.news, context.secrets.hide)
        before = len(context.journal)
        entry = cursor.write(event, **meta)
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"the model's reply cannot be written down: {error}") from error
    cursor.latest_reply, cursor.repeats_reply = entry.id, len(context.journal) == before
    return entry


def _new_definitions(cursor: Cursor, request: Request, state: State) -> Mapping[str, str]:
    """Store the definitions that are sent for the first time, so that requests can be shown later.

    Returns their digests by tool, and by "" that of a new system text.
    """
    journal, hide, new = cursor.context.journal, cursor.context.secrets.hide, dict[str, str]()
    for tool in request.tools:
        sent = journal.text(state.sent.get(tool.name))
        # A tool that takes other arguments is another one, such as `save` with other outputs.
        if sent is None or sent["parameters"] != hide(parameters_schema(tool)):
            new[tool.name] = journal.remember(tool.definition())
    same = journal.text(state.sent.get("")) == hide(request.system)
    return new if same else {**new, "": journal.remember(request.system)}


# -- a call -----------------------------------------------------------------------------------


def run_call(
    cursor: Cursor, call: CallRecord, state: State, from_record: bool = False
) -> Entry | None:
    """Check an open call, and run it where a person or the policy lets it.

    With `from_record` a result that the journal has is taken from there. Returns None where a
    person has to decide. Raises MissingSecret.
    """
    try:
        ready, of_scheme = cursor.prepared(call, state)
    except CallError as error:
        return cursor.write(Finished(call.id, Failed(str(error))))
    match permission(cursor, call, ready, of_scheme):
        case Run("person"):
            return start_call(cursor, call, ready, state, from_record=from_record)
        case Run("scheme") if call.decided is None and ready.arguments == call.asked:
            return cursor.write(Finished(call.id, Data(ready.tool.function(**ready.arguments))))
        case Run("scheme"):
            return start_call(cursor, call, ready, state, "", from_record=from_record)
        case Run("policy", rule):
            from_journal = from_record or is_answered_by_record(cursor, call, ready)
            return start_call(cursor, call, ready, state, rule, from_record=from_journal)
        case Run("rule", rule):
            # The person took this decision before: it is recorded as one, and holds in a replay.
            cursor.decide(replace(call.approval(ready.approval_digest), rule=rule), "rule")
            return cursor.context.journal[cursor.head]
        case Refuse(reason, rule, by):
            return cursor.write(Decided(call.id, "reject", reason=reason, rule=rule), by=by)
    return None


def start_call(
    cursor: Cursor,
    call: CallRecord,
    ready: PreparedCall,
    state: State,
    rule: str | None = None,
    *,
    from_record: bool = False,
) -> Entry | None:
    """Record that a call starts, run it, and record its result.

    A `rule`, or "" for no rule, is that of the policy that approves it; None: a person approved it.
    Returns None where its server has changed the tool: a person decides on it as it is now.
    """
    if rule is not None:
        call.demand_keys()
    outcome = cursor.context.values.cached_outcome(ready) if from_record else None
    if outcome is None:
        if ready.missing is not None:
            raise ready.missing
        try:
            if not cursor.is_current(ready.tool):
                return None
        except (CallError, KeyboardInterrupt) as error:
            return _record_not_begun(cursor, call, error)
    # Only the start of a call that must not run twice has to be on disk before its tool runs.
    may_wait = outcome is not None or ready.tool.repeatable
    note = tool_code_note(cursor, ready.tool, state)
    with cursor.context.journal.lock:
        # Another thread may have started it meanwhile, on a fork that has the same approval.
        if rule is None and not has_approval(cursor, call, ready):
            return None
        cursor.reapproved.discard(call.id)
        cursor.write(start_of(call, ready, rule), may_wait=may_wait, **note)
    if outcome is not None:
        return cursor.write(Finished(call.id, outcome))
    return execute(cursor, ready, state)


def _record_not_begun(
    cursor: Cursor, call: CallRecord, error: CallError | KeyboardInterrupt
) -> Entry | None:
    """Record that a call did not begin; an earlier start of it stays unknown."""
    is_interrupt, entry = isinstance(error, KeyboardInterrupt), None
    if call.status != "unknown":
        outcome = Interrupted(ran=False) if is_interrupt else Failed(str(error))
        entry = cursor.write(Finished(call.id, outcome))
    if is_interrupt:
        raise error
    return entry


def resume_call(cursor: Cursor, call: CallRecord, state: State) -> Entry | None:
    """Resume a call with the person's response; None where the person has to respond.

    The approval covers the whole call, so nobody is asked again. Raises MissingSecret.
    """
    if not may_resume(cursor, call):
        return None
    try:
        ready = cursor.prepared(call, state)[0]
        ready = with_response(call, ready, cursor.context.secrets)
    except CallError as error:
        return cursor.write(Finished(call.id, Failed(str(error))))
    if ready.missing is not None:
        raise ready.missing
    cursor.reapproved.discard(call.id)
    cursor.write(start_of(call, ready), **tool_code_note(cursor, ready.tool, state))
    return execute(cursor, ready, state)


def tool_code_note(cursor: Cursor, tool: Tool, state: State) -> JsonDict:
    """Return the meta of a start: the tool's code, if it changed since the tool ran last.

    `outdated.recorded_tool_code` reads it.
    """
    version, journal = tool.version(), cursor.context.journal
    last = journal.text(state.code.get(tool.name))
    if not version or (last is not None and last["version"] == version):
        return {}
    text = {"version": version, "python": PYTHON, "parts": dict(tool.parts())}
    return {"code": journal.remember(text)}


def start_of(call: CallRecord, ready: PreparedCall, rule: str | None = None) -> Started:
    """Return the event of a call that starts: its arguments, where they are not what was asked,
    and its approval digest, where the policy approves it, by a rule or without.
    """
    arguments: JsonObject | None = ready.arguments
    arguments = None if arguments == call.asked else arguments
    tool, run_digest = ready.tool, "" if rule is None else ready.approval_digest
    return Started(
        *(call.id, arguments, ready.uses, tool.instance),
        *(ready.previous, ready.setters, run_digest, tool.untrusted),
        rule=rule or "",
    )


def execute(cursor: Cursor, ready: PreparedCall, state: State) -> Entry:
    """Run a call that has started, unless it ran ahead of its turn, and record its result.

    Raises KeyboardInterrupt once that is recorded.
    """
    context = cursor.context
    effect = call_effect(ready, state, context.values, context.model) if ready.tool.effect else ""
    early = cursor.early_ends.pop(ready.call_id, None)
    cursor.running.setdefault(ready.call_id, RunningCall())
    try:
        try:
            # An early end counts only if exactly the same would run now.
            if early is not None and early.approval_digest == ready.approval_digest:
                ran = early.stored(state)
            else:
                ran = _run_alone(cursor, ready, state)
        except KeyboardInterrupt:
            # A second interrupt came while the result was read: what the tool did is not known.
            ran = Execution(Interrupted(), {}, True)
        entry = record_end(cursor, ready, ran, effect)
    finally:
        cursor.running.pop(ready.call_id, None)
    if ran.interrupted:
        raise KeyboardInterrupt
    return entry


def _run_alone(cursor: Cursor, ready: PreparedCall, state: State) -> Execution:
    context = cursor.context
    with around_execution(cursor, ready) as note, while_running(cursor):
        began = context.clock()
        ran = run_tool(ready, state, context.values, context.executor_of(ready.tool))
        ms = milliseconds(began, context.clock())
        execution = stored_execution(ready, state, context.values, ran, ms)
        note(execution.outcome)
    return execution


def record_end(cursor: Cursor, ready: PreparedCall, ran: Execution, effect: str) -> Entry:
    """Record how a call ended; `effect` is what it sent or replaced, in a sentence."""
    meta, outcome = dict(ran.meta), ran.outcome
    is_not_begun = isinstance(outcome, Interrupted) and not outcome.ran
    run = call_run(cursor.state.calls[ready.call_id])
    if is_not_begun and cursor.context.call_index.starts[run] > 1:
        # This execution did not begin, but an earlier one, or the part before a question, did.
        outcome = Interrupted()
    if effect and not isinstance(ran.outcome, WITHOUT_RESULT):
        meta["effect"] = effect
    if ready.tool.server:
        meta["server"] = ready.tool.server
    return cursor.write(Finished(ready.call_id, outcome), **meta)


Note = Callable[[Any], None]


def around_execution(cursor: Cursor, ready: PreparedCall) -> AbstractContextManager[Note]:
    """Return the contexts of the hooks around a call; they yield what takes its outcome."""
    return _open([hook.around_execution(ready) for hook in traced(cursor.context)])


@contextmanager
def while_running(cursor: Cursor) -> Iterator[None]:
    """Keep the hooks' contexts open that are for the time while tools run."""
    with ExitStack() as stack:
        for hook in cursor.context.hooks:
            stack.enter_context(hook.while_running())
        yield


@contextmanager
def _open(contexts: Sequence[AbstractContextManager[Note]]) -> Iterator[Note]:
    """Open the contexts of all hooks as one, which yields a function that takes the result."""
    with ExitStack() as stack:
        notes = [stack.enter_context(context) for context in contexts]

        def note_result(result: object) -> None:
            for note in notes:
                note(result)

        yield note_result
