"""Execution of one call: its arguments are prepared, its tool runs, its result is read and stored.

A tool gets private copies, so a named object never changes. A copy that a tool changed becomes a
new object, besides the result; where a call fails it is dropped.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from ..core import events
from ..core.call_record import objects_of
from ..core.errors import Absent, CallError, Lost, NotRun
from ..core.interface_text import t
from ..core.interrupts import attempt, interruptible
from ..core.object_names import produced_names
from ..core.recorded_calls import instance_version, result_digests
from ..core.recorded_data import JsonDict, JsonObject, Record, replace
from ..core.state import State
from ..core.state_fold import state_at
from ..sources.table_sharing import cell_free_error, holds_withheld
from ..tools.captured_prints import Prints, context_of, stream_proxies
from ..tools.invoke import error_text, message_text, traceback_text
from ..tools.object_types import kind_name
from ..tools.plain_data import plain_data, well_formed
from ..tools.remote_values import RemoteValue
from ..tools.running_tool import InputRequired, NotBegun, OutcomeUnknown
from ..tools.tool import Tool
from ..tools.tool_task import TaskEnd, ToolTask
from ..tools.toolbox import Toolbox
from ..tools.value_copies import private
from ..tools.value_digests import SCALARS, content_digest
from .argument_copies import NO_CHANGES, ArgumentCopies, InPlaceChanges
from .executor_calls import StillRunning, run_on_executor
from .input_rounds import input_outcome
from .session_values import PreparedCall, SessionValues, ToolInputs
from .tool_results import new_object, read_result


class ToolRun(Record, frozen=True, gc=True):
    """The outcome of a run, and what it printed."""

    outcome: events.Outcome
    prints: str = ""
    interrupted: bool = False
    changes: InPlaceChanges = NO_CHANGES
    worker: str = ""
    """The worker of a cluster that ran it."""


class ToolExecution:
    """One run of a tool: its private copies of objects, what it prints, and how it ends.

    Tools get private copies, so that nothing that has a name ever changes.
    """

    def __init__(
        self,
        ready: PreparedCall,
        state: State,
        values: SessionValues,
        executor: Executor | None = None,
    ) -> None:
        self._executor = executor
        self.ready, self.state, self.values = ready, state, values
        self.printed = Prints()
        self.worker = ""
        promises = ready.tool.read_only, ready.tool.keeps_arguments
        self._copies = ArgumentCopies(state, values, *promises, executor)
        self._subject: tuple[Any, ...] = ()
        """A private copy of the instance that a method works on, if it works on one."""
        self._is_hidden = False
        """Whether the model gets no more than the type of what the call returns or raises."""

    def task(self) -> ToolTask:
        """Return the task to run, with new copies of the objects.

        Raises NotRun for a value that a cluster has lost, Absent for another one that is not at
        hand, NotBegun after an interrupt, and what the code of a value raises.
        """
        ready = self.ready
        if ready.missing is not None:
            raise ready.missing
        # Only code of others is interrupted at once, so that a tool that ended has its outcome.
        try:
            arguments = interruptible(_values, ready, self._copies)
        except Lost as lost:
            raise NotRun(f"not run: {lost}") from None
        except KeyboardInterrupt:
            raise NotBegun from None
        if ready.tool.instance:
            self._subject = (private(self.values.by_digest[ready.instance_digest])[0],)
        self._is_hidden = bool(self.values.withhold) and self._may_show_withheld()
        tool, objects = ready.tool, [copied.copy for copied in self._copies]
        if (resumption := ready.resumption) is not None and tool.resume is not None:
            # A round of input has ended, so the call continues.
            responses = resumption.state, resumption.responses, arguments
            return ToolTask(tool, tool.resume, responses, {}, self.values.kinds, objects)
        return ToolTask(tool, tool.function, self._subject, arguments, self.values.kinds, objects)

    def _may_show_withheld(self) -> bool:
        """Return whether a result, or an error, may hold withheld values.

        Raises CallError for an object that the tool would show to the model.
        """
        withhold, tool = self.values.withhold, self.ready.tool
        if tool.sees_withheld:
            return False
        opaque = next((copied.name for copied in self._copies if copied.recorded.withheld), "")
        if opaque and tool.leaves_out_withheld:
            raise CallError(
                f"{opaque} is not shared: a tool made it of a table with withheld columns, and is "
                "not marked with sees_withheld"
            )
        if opaque or self.ready.instance_digest in self.values.hidden_instances:
            return True
        values = (*(copied.value for copied in self._copies), *self._subject)
        return not tool.leaves_out_withheld and any(holds_withheld(v, withhold) for v in values)

    def outcome(self, result: object, description: str) -> events.Outcome:
        """Return the outcome for a result of the function and its description."""
        outcome: events.Outcome
        if type(result) in SCALARS and not self._copies:
            outcome = events.Data(plain_data(result))
        else:
            outcome = read_result(result, self.ready, self._copies, self.values)
        if self._is_hidden and result is not None and not isinstance(outcome, events.Made):
            kind = kind_name(type(result))
            outcome = new_object(result, kind, self.ready, self.values, 0)
        if isinstance(outcome, events.Made) and outcome.producer is events.UNSAID:
            description = NOT_SENT if self._is_hidden else description
            outcome = replace(outcome, description=description, withheld=self._is_hidden)
        if self._subject:
            version = instance_version(self.ready.call_id, self.ready.approval_digest)
            self.values.by_digest[version] = self._subject[0]
            if self._is_hidden:
                self.values.hidden_instances.add(version)
        return outcome

    def outcome_of_end(self, end: TaskEnd) -> events.Outcome:
        """Return the outcome of a task that ran in a worker."""
        self.printed.write(end.prints)
        self.worker = end.worker
        self._copies.take_back(end.objects)
        if end.error is not None:
            return self.outcome_of_error(end.error, end.where)
        if self._subject and self.ready.resumption is None:
            self._subject = end.first
        outcome = self.outcome(end.result, end.description)
        if type(end.result) is RemoteValue:
            ref = next(o for o in objects_of(outcome) if self.values.remote(o) is end.result)
            end.result.compute_again = lambda: self._compute_again(ref)
        return outcome

    def _compute_again(self, ref: events.Made) -> object:
        """Run the call again for an object that is lost. Raises Lost where that fails.

        Its tool is read-only, so nobody is asked, as in a replay. The new value must have the
        content that was recorded.
        """
        execution = ToolExecution(self.ready, self.state, self.values, executor=self._executor)
        value, why, interrupted = None, "it returns another value now", False
        try:
            assert self._executor is not None
            end = run_on_executor(self._executor, execution.task(), repeatable=True)
            interrupted = end.interrupted
            value = end.result.fetch() if type(end.result) is RemoteValue else end.result
            why = error_text(end.error) if end.error else why
        except NotBegun:
            # The interrupt is for the call that needs the value, and that call may have begun.
            raise KeyboardInterrupt from None
        except (NotRun, Lost) as error:
            why = str(error)
        except Exception as error:
            why = error_text(error)
        if interrupted:
            raise KeyboardInterrupt
        if content_digest(value) != ref.content:
            self.values.notes[ref.digest] = t("lost with its worker; a replay runs its call again")
            raise Lost(
                f"the {ref.kind} that {self.ready.call_id} made is lost with its worker, and "
                f"{self.ready.tool.name} cannot make it again ({why:.300})"
            )
        self.values.notes[ref.digest] = t("computed again: its worker was lost")
        return value

    def outcome_of_error(self, error: BaseException, where: str = "") -> events.Outcome:
        """Return the outcome of a call that raised an error, or that an executor did not run.

        `where` is where a worker's code raised it.
        """
        outcome = _outcome_of(error, self.ready, self.state)
        match outcome:
            case events.Failed() if self._is_hidden:
                return events.Failed(cell_free_error(error, self.ready.tool))
            case events.Unknown() if self._is_hidden:
                return events.Unknown("")
            case events.Failed(message):
                self.printed.write(where or traceback_text(error))
                if self.ready.tool.read_only and UNWRITABLE in message:
                    return events.Failed(f"{message}. {READ_ONLY}")
        return outcome

    def ended(self, outcome: events.Outcome, interrupted: bool, state: State) -> ToolRun:
        """Return the run, with what the tool changed in place; `state` is that of its turn."""
        result = None if isinstance(outcome, events.WITHOUT_RESULT) else outcome
        copies, recorded = self._copies, self.ready.recorded
        if not copies:
            return ToolRun(outcome, self.printed.text(), interrupted, worker=self.worker)
        names = produced_names(self.ready.call_id, objects_of(result), state, recorded)
        try:
            # An error in a value's own class shows no change of the inputs.
            changes = attempt(copies.changes, result, names)[0]
        except KeyboardInterrupt:
            changes, interrupted = None, True
        changes = changes or NO_CHANGES
        # A value without a content digest has a note from the start instead.
        self.values.altered |= {c.recorded.digest for c in copies.untracked if c.recorded.content}
        return ToolRun(outcome, self.printed.text(), interrupted, changes, self.worker)


def run_tool(
    ready: PreparedCall, state: State, values: SessionValues, executor: Executor | None = None
) -> ToolRun:
    """Run a tool, here or on an executor, and return its outcome; an error of it is one too.

    Raises Absent where a value is not in this kernel: that is no error of the tool.
    """
    execution = ToolExecution(ready, state, values, executor=executor)
    try:
        outcome, interrupted = _run(execution, executor)
    except Absent:
        raise
    except BaseException as error:
        outcome = execution.outcome_of_error(error)
        interrupted = issubclass(type(error), (KeyboardInterrupt, StillRunning))
    return execution.ended(outcome, interrupted, state)


def _outcome_of(error: BaseException, ready: PreparedCall, state: State) -> events.Outcome:
    """Return the outcome of a call that raised an error, or that an executor did not run."""
    # An `except` asks the class alone; `isinstance` would ask the exception for its `__class__`.
    try:
        raise error
    except NotBegun:
        return events.Interrupted(ran=False)
    except KeyboardInterrupt:
        return events.Interrupted()
    except InputRequired as required:
        return input_outcome(required, ready)
    except OutcomeUnknown as unknown:
        return events.Unknown(well_formed((attempt(message_text, unknown)[0] or "")[:4_000]))
    except NotRun as not_run:
        # If the call was to run again, the outcome of its earlier run stays unknown.
        if state.call(ready.call_id).status == "unknown":
            return events.Unknown(f"it was to run again: {not_run}")
        return events.Failed(str(not_run))
    # A tool may raise anything, SystemExit too: all of it is reported, none of it ends the session.
    except BaseException:
        return events.Failed(error_text(error))


def _run(execution: ToolExecution, executor: Executor | None) -> tuple[events.Outcome, bool]:
    """Return the outcome of a call, and whether an interrupt came as it ended."""
    context = context_of(execution.printed)
    with stream_proxies():
        task = context.run(execution.task)
        if executor is None:
            result, description = context.run(interruptible, task.result)
        else:
            repeatable = execution.ready.tool.repeatable
            end = context.run(run_on_executor, executor, task, repeatable)
    if executor is None:
        return execution.outcome(result, description), False
    stopped = end.interrupted or isinstance(end.error, KeyboardInterrupt)
    return execution.outcome_of_end(end), stopped


def _values(ready: PreparedCall, copies: ArgumentCopies) -> JsonDict:
    """Return what a tool's function is called with."""
    inputs: ToolInputs | PreparedCall = ready.inputs or ready
    # Plain data that a name stands for may be more than JSON.
    is_json = ready.inputs is None or not ready.inputs.plain
    arguments = inputs.arguments if is_json else private(inputs.arguments)[0]
    values = ready.tool.check(arguments, copies.copy_of)
    return {**values, "variables": inputs.variables} if ready.tool.reads else values


UNWRITABLE = "read-only"
"""A word in numpy's error for memory that nobody may write to."""
READ_ONLY = (
    "The tool is marked read_only, so it reads tables and arrays where they are: let it copy them "
    "first, or remove the mark"
)
NOT_SENT = "not sent: its content may hold withheld columns"
"""The text that the model gets in place of a hidden result."""
EXPENSIVE = 200.0
"""A result that took this many milliseconds is stored, though it could be computed again."""
UNKEPT = "gone when the kernel ends: keeping it was interrupted"


class Execution(Record, frozen=True, gc=True):
    """The outcome of an execution, and the metadata of its entry."""

    outcome: events.Outcome
    meta: JsonObject
    interrupted: bool


@dataclass(frozen=True, slots=True)
class EarlyEnd:
    """The end of a call that ran ahead of its turn, and is not recorded."""

    execution: ToolExecution
    outcome: events.Outcome
    interrupted: bool
    ms: float
    """How long it ran."""
    by: str = ""
    """"preview" where it ran while it waited for a person, "" where it ran beside other calls."""

    @property
    def approval_digest(self) -> str:
        return self.execution.ready.approval_digest

    def stored(self, state: State) -> Execution:
        """Store the results, and return the execution as it is recorded in a state."""
        ready, values = self.execution.ready, self.execution.values
        ran = self.execution.ended(self.outcome, self.interrupted, state)
        stored = stored_execution(ready, state, values, ran, self.ms)
        return replace(stored, meta={**stored.meta, "by": self.by}) if self.by else stored


def stored_execution(
    ready: PreparedCall, state: State, values: SessionValues, ran: ToolRun, duration: float
) -> Execution:
    """Store the results of a run that took `duration` milliseconds, and return its execution."""
    # The result is stored before the journal says that there is one.
    stores, interrupted = values.value_store is not None, ran.interrupted
    kept = _store_new_result(ready, ran.outcome, values, duration) if stores else ()
    if kept is None:
        kept, interrupted = (UNKEPT,), True
    changes = ran.changes
    meta: JsonDict = {"ms": duration}
    if ran.prints:
        meta["prints"] = ran.prints
    if notes := [*_run_notes(ready, state, ran.worker), *changes.notes, *kept]:
        meta["notes"] = notes
    if changes is not NO_CHANGES:
        parts = {"lost": changes.lost, "untracked": changes.untracked, "unclear": changes.unclear}
        meta |= {name: [*names] for name, names in parts.items() if names}
    return Execution(ran.outcome, meta, interrupted)


def _run_notes(ready: PreparedCall, state: State, worker: str) -> list[str]:
    """Return where a call ran, and why it ran again unasked, if its outcome was unknown."""
    call, notes = state.calls[ready.call_id], []
    # Of a call that starts for the first time, the state is the one before it starts.
    if call.started is not None and call.status == "unknown":
        notes.append(f"ran again: {call.unknown_reason or 'nothing said how it ended before'}")
    return [*notes, f"ran on {worker}"] if worker else notes


def _store_new_result(
    ready: PreparedCall, outcome: events.Outcome, values: SessionValues, duration: float
) -> tuple[str, ...] | None:
    """Store the results; return why some are not stored, None after an interrupt."""
    try:
        # A result that needed a person's response is stored, so that nobody is asked twice.
        is_kept = ready.resumption is not None or is_worth_storing(ready.tool, duration)
        return values.save(name for name, _ in ready.results(outcome)) if is_kept else ()
    except KeyboardInterrupt:
        return None


def is_worth_storing(tool: Tool, ms: float) -> bool:
    """Return whether a result is kept beyond the kernel: it is expensive, or must not run twice."""
    return ms >= EXPENSIVE or not tool.repeatable


def store_results(values: SessionValues, toolbox: Toolbox) -> None:
    """Put into the value store what runs would have put there, had there been one."""
    for entry in values.journal:
        match entry.event:
            case events.Finished(call_id) | events.Decided(call_id, "answer") if entry.verified:
                call = state_at(values.journal, entry.id).call(call_id)
                tool = toolbox.get(call.tool)
                if tool is None or is_worth_storing(tool, entry.meta.get("ms", 0)):
                    values.save(result_digests(call))
            case events.Decided(inputs=inputs) if entry.verified:
                values.save(ref.digest for ref in inputs)


def milliseconds(began: float, ended: float) -> float:
    """Return how long something took between two times of a clock."""
    return round((ended - began) * 1000, 1)
