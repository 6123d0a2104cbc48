"""Execution of one call: its arguments are prepared, its tool runs, its result is read and stored.

The digests of the tool's code are noted beside the start of a call. They are not part of the
approval digest; they only explain later what has changed.
"""

from __future__ import annotations

import io
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.call_record import CallRecord
from ..core.digests import digest, encode
from ..core.errors import Absent, CallError
from ..core.events import (
    Data,
    Decided,
    Failed,
    Finished,
    Interrupted,
    Made,
    Many,
    Outcome,
    Producer,
)
from ..core.interrupts import attempt, class_name, interruptible
from ..core.journal import Journal
from ..core.recorded_calls import recorded_call
from ..core.secrets import MissingSecret
from ..core.state import State
from ..core.state_fold import state_at
from ..tools.invoke import invoke
from ..tools.object_references import walk
from ..tools.object_types import kind_name, kind_of
from ..tools.tool import Changed, Tool
from ..tools.toolbox import Toolbox
from ..tools.value_copies import LONGEST, describe, plain_data, private, well_formed
from ..tools.value_digests import SCALARS, content_digest
from .argument_copies import ArgumentCopies, ArgumentCopy
from .session_values import (
    PreparedCall,
    SessionValues,
    ToolInputs,
    instance_version,
    result_digests,
)

PYTHON = ".".join(map(str, sys.version_info[:2]))
"""Compiled code, and so the version of a tool, is another one in each of these."""


@dataclass(frozen=True, slots=True)
class ToolCode:
    """A version of a tool, and the digests of its parts; "" is the tool's own function."""

    version: str
    python: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


def tool_code_note(tool: Tool, state: State, journal: Journal) -> dict[str, Any]:
    """Return what is noted beside a start: the tool's code, where it is not what it was last."""
    version = tool.version()
    last = journal.texts.get(state.code.get(tool.name) or "")
    if not version or (last is not None and last["version"] == version):
        return {}
    text = {"version": version, "python": PYTHON, "parts": dict(tool.parts())}
    return {"code": journal.remember(text)}


def recorded_tool_code(call: CallRecord, journal: Journal) -> ToolCode | None:
    """Return what the tool of a call was made of when it ran; None where nobody has noted it."""
    match journal.texts.get(call.code):
        case {"version": str(version), "python": str(python), "parts": Mapping() as parts}:
            return ToolCode(version, python, parts)
    return None


def changed_tool_parts(tool: Tool, code: ToolCode) -> str:
    """Say what of a tool is another than it was; "" where nothing is."""
    if tool.version() == code.version:
        return ""
    if code.python != PYTHON:
        return f"{tool.name} was compiled by Python {code.python}, and this is {PYTHON}"
    now = tool.parts()
    names = sorted(name for name in {*now, *code.parts} if now.get(name) != code.parts.get(name))
    if "" in names or not names:
        return f"{tool.name} was changed"
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"{tool.name} uses what was changed: {', '.join(names[:4])}{more}"


PRINTS = 4_000
"""Characters of a tool's prints that are kept."""


def prepare_call(
    tool: Tool,
    call: CallRecord,
    arguments: Mapping[str, Any],
    state: State,
    values: SessionValues,
    variables: Mapping[str, Any],
    inputs: ToolInputs | None = None,
    missing: MissingSecret | None = None,
) -> PreparedCall:
    """Return a call that can run.

    `arguments` have markers in place of secrets, and so has the approval digest: an
    approval holds where a secret is renewed. `inputs` have the values, and are checked.
    Raises CallError, which says what is wrong with it; Absent where a value is not at hand.
    """
    uses: dict[str, Producer] = {}

    def note(argument: str, name: str) -> str:
        made = state.resolve(name)
        uses[argument] = made.producer
        return made.digest

    try:
        checked = arguments if inputs is None else inputs.arguments
        tool.check(checked, lambda name, types: _fitting(state, values, name, types))
    except CallError:
        # A marker may not fit where the value does.
        if missing is not None:
            raise missing from None
        raise
    named = walk(tool.parameters, arguments, note)
    before, previous = "", ""
    if tool.instance:
        previous = state.instances.get(tool.instance) or ""
        before = values.instance_digest(tool.instance, state)
    setters = {name: state.setters.get(name) or "" for name in variables}
    more = (dict(variables),) if variables else ()
    bound = digest("run", tool.name, tool.version(), named, before, *more)
    return PreparedCall(
        *(tool, call.id, arguments, uses, bound, before, variables),
        *(previous, setters, inputs, missing),
    )


def _fitting(state: State, values: SessionValues, name: str, types: tuple[type, ...]) -> Any:
    """Return the value of an object by name, if it is of a type that fits."""
    made = state.resolve(name)
    wanted = {values.kinds.get(cls) or kind_name(cls) for cls in types}
    if types and made.kind not in wanted:
        have = [state.newest[kind] for kind in sorted(wanted) if kind in state.newest]
        raise CallError(
            f"{name} is a {made.kind}, not a {' or '.join(sorted(wanted))}"
            + (f"; the newest: {', '.join(have)}" if have else "; there is none yet")
        )
    return values.value(made)


@dataclass(frozen=True, slots=True)
class ToolRun:
    """The outcome of a run, and what it printed."""

    outcome: Outcome
    prints: str = ""
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    """Notes for the person on the inputs that it changed."""


Invoke = Callable[[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]
"""Calls a tool's function: async functions are dealt with there."""


def run_tool(ready: PreparedCall, state: State, values: SessionValues, invoke: Invoke) -> ToolRun:
    """Run a tool and return its outcome. What a tool raises is an outcome too.

    Raises Absent where a value of ours is not at hand: that is no fault of the tool's.
    """
    printed, copies, result = _Capped(), ArgumentCopies(state, values), None
    outcome: Outcome
    try:
        outcome, result = _run(ready, copies, values, invoke, printed)
    except KeyboardInterrupt:
        outcome = Interrupted()
    except Absent:
        raise
    # A tool may raise anything, SystemExit too: all of it is reported, none of it ends the session.
    except BaseException as error:
        outcome = Failed(error_text(error))
    interrupted = isinstance(outcome, Interrupted)
    made = None if isinstance(outcome, (Failed, Interrupted)) else outcome
    try:
        # What a value's own class raises says nothing of the inputs.
        notes = (attempt(copies.notes, result, made)[0] or ()) if copies else ()
    except KeyboardInterrupt:
        notes, interrupted = (), True
    return ToolRun(outcome, printed.text(), interrupted, notes)


def _run(
    ready: PreparedCall,
    copies: ArgumentCopies,
    values: SessionValues,
    invoke: Invoke,
    printed: _Capped,
) -> tuple[Outcome, Any]:
    """Return the outcome of a call, and what its function returned.

    Tools get private copies, so that nothing that has a name ever changes.
    """
    if ready.missing is not None:
        raise ready.missing
    # The code of others is interrupted at once, ours is not: a tool that ended has its outcome.
    arguments = interruptible(_values, ready, copies)
    subject = _subject(ready, values)
    streams = {name: vars(sys).get(name) for name in ("stdout", "stderr")}
    # One call of C code sets both streams, and no interrupt comes between the tool's end and the
    # call that sets them back, whatever the tool has done to them.
    try:
        vars(sys).update(stdout=printed, stderr=printed)
        result = interruptible(_invoked, ready, subject, arguments, invoke)
    finally:
        sys.__dict__.update(streams)
    outcome = _read(result, ready, copies, values)
    if subject:
        values.by_digest[instance_version(ready.call_id, ready.approval_digest)] = subject[0]
    return outcome, result


def _values(ready: PreparedCall, copies: ArgumentCopies) -> dict[str, Any]:
    """Return what a tool's function is called with."""
    inputs = ready.inputs or ToolInputs(ready.arguments, ready.variables)
    values = ready.tool.check(inputs.arguments, copies.copy_of)
    return {**values, "variables": dict(inputs.variables)} if ready.tool.reads else values


def _invoked(
    ready: PreparedCall, subject: tuple[Any, ...], values: Mapping[str, Any], invoke: Invoke
) -> Any:
    """A tool may hold a session of its own: what is absent there is the tool's failure."""
    try:
        return invoke(ready.tool.function, subject, values)
    except Absent as error:
        raise CallError(f"Absent: {error}") from error


def error_text(error: BaseException) -> str:
    """Return the text of an error for the model."""
    # `isinstance` would ask the exception for its `__class__`.
    if issubclass(type(error), CallError):
        return str(error)
    text, failed = attempt(_text, error)
    text = "(its message cannot be read)" if failed else text
    return well_formed(f"{class_name(type(error))}: {text}"[:4_000])


def _text(error: BaseException) -> str:
    """Return an exception's message, also where its `__str__` returns a text of another class."""
    return str.__str__(str(error))


def _subject(ready: PreparedCall, values: SessionValues) -> tuple[Any, ...]:
    """Return a private copy of the instance that a method works on, if it works on one."""
    if not ready.tool.instance:
        return ()
    return (private(values.by_digest[ready.instance_digest])[0],)


def _read(
    result: Any, ready: PreparedCall, copies: ArgumentCopies, values: SessionValues
) -> Outcome:
    """Return what a tool's result is. No result is a failure because it cannot be read: the tool
    ran, and a model would have it run again."""
    if type(result) in SCALARS:
        return _outcome(result, ready, copies, values)
    outcome, _ = attempt(_tried, result, ready, copies, values)
    if isinstance(outcome, CallError):
        raise outcome
    return Data(describe(result, 2000)) if outcome is None else outcome


def _tried(
    result: Any, ready: PreparedCall, copies: ArgumentCopies, values: SessionValues
) -> Outcome | CallError:
    try:
        return _outcome(result, ready, copies, values)
    except CallError as error:
        return error


def _outcome(
    result: Any, ready: PreparedCall, copies: ArgumentCopies, values: SessionValues
) -> Outcome:
    for copied in copies:
        if result is copied.copy and not _is_another(copied):
            return copied.made
    if result is None and ready.tool.receiver:
        receiver = copies.of_producer(ready.uses.get(ready.tool.receiver))
        if receiver is not None and _is_another(receiver):
            return _made(receiver.copy, receiver.made.kind, ready, values, 0)
    if isinstance(result, Changed):
        return variables_as_data(result)
    if isinstance(result, (Iterator, AsyncIterator)) and type(result) not in values.kinds:
        raise CallError(
            f"{ready.tool.name} returned a {type(result).__name__}, which can be read only "
            "once; it has to return a list"
        )
    many = _many(result, ready, values)
    if many is not None:
        return many
    kind = kind_of(result, values.kinds)
    return Data(plain_data(result)) if kind is None else _made(result, kind, ready, values, 0)


def variables_as_data(changed: Changed) -> Data:
    """Return a result that sets variables as plain data. Raises CallError where they are too long.

    Half a variable is none, so none is cut.
    """
    variables = {str(name): plain_data(value) for name, value in changed.variables.items()}
    if len(encode(variables)) > LONGEST:
        names = ", ".join(variables)
        raise CallError(f"{names:.200}: longer than {LONGEST:,} characters, so not set")
    return Data(plain_data(changed.result), variables)


def _many(result: Any, ready: PreparedCall, values: SessionValues) -> Many | None:
    """Return the objects that a list is made of; None where it holds anything else."""
    if type(result) not in (list, tuple) or type(result) in values.kinds or not result:
        return None
    kinds = [kind_of(item, values.kinds) for item in result]
    if not all(kinds):
        return None
    pairs = enumerate(zip(result, kinds, strict=True))
    return Many(tuple(_made(item, str(kind), ready, values, i) for i, (item, kind) in pairs))


def _is_another(copied: ArgumentCopy) -> bool:
    """Return whether what a tool had is another object by now; what nobody can tell may be."""
    return copied.copied and copied.changed is not False


def _made(value: Any, kind: str, ready: PreparedCall, values: SessionValues, index: int) -> Made:
    """Return a new object; only equal values share a digest."""
    content, again = content_digest(value), 1
    name = digest("made", ready.approval_digest, ready.call_id, index, content)
    while not content and name in values.by_digest:
        again += 1
        name = digest("made", ready.approval_digest, ready.call_id, index, again)
    made = Made(kind, name, content)
    values.store(made, value)
    return made


class _Capped(io.TextIOBase):
    """Keeps the beginning of what is printed. A tool may close it: what follows is kept too."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = PRINTS

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        # Also of a class of its own, whose methods may raise, it becomes a plain text.
        text = str.__str__(text)
        if self._room > 0:
            self._parts.append(text if len(text) <= self._room else f"{text[: self._room]}…\n")
            self._room -= len(text)
        return len(text)

    def close(self) -> None:
        """Stay open, since the tool's own prints may follow."""

    def text(self) -> str:
        return well_formed("".join(self._parts))


EXPENSIVE = 200.0
"""A result that took this many milliseconds is stored, though it could be computed again."""
UNKEPT = "gone when the kernel ends: keeping it was interrupted"


@dataclass(frozen=True, slots=True)
class Execution:
    """The outcome of an execution, and the metadata of its entry."""

    outcome: Outcome
    meta: Mapping[str, Any]
    interrupted: bool


def execute_call(
    ready: PreparedCall, state: State, values: SessionValues, clock: Callable[[], float]
) -> Execution:
    """Run a call, store its results, and return its execution. Raises what `run_tool` raises."""
    began = clock()
    ran = run_tool(ready, state, values, invoke)
    took = milliseconds(began, clock())
    # Before it is written down that there is a result, the result is kept.
    kept, interrupted = _kept(ready, ran.outcome, values, took), ran.interrupted
    if kept is None:
        kept, interrupted = (UNKEPT,), True
    notes = [*ran.notes, *kept]
    meta: dict[str, Any] = {"ms": took}
    if ran.prints:
        meta["prints"] = ran.prints
    if notes:
        meta["notes"] = notes
    return Execution(ran.outcome, meta, interrupted)


def _kept(
    ready: PreparedCall, outcome: Outcome, values: SessionValues, took: float
) -> tuple[str, ...] | None:
    """Store the results; return why some are not stored, None after an interrupt."""
    try:
        return values.save_results(ready, outcome) if is_worth_storing(ready.tool, took) else ()
    except KeyboardInterrupt:
        return None


def is_worth_storing(tool: Tool, ms: float) -> bool:
    """Return whether a result is kept beyond the kernel: it is expensive, or must not run twice."""
    return ms >= EXPENSIVE or not tool.repeatable


def store_results(values: SessionValues, toolbox: Toolbox) -> None:
    """Keep beyond the kernel what runs would have kept, with a value store."""
    for entry in values.journal:
        match entry.event:
            case Finished(call_id) | Decided(call_id, "answer") if entry.verified:
                call = state_at(values.journal, entry.id).call(call_id)
                tool = toolbox.get(call.tool)
                if tool is None or is_worth_storing(tool, entry.meta.get("ms", 0)):
                    recorded = recorded_call(values.journal, entry.id, call_id)
                    values.save(result_digests(call.outcome, call_id, recorded))


def milliseconds(began: float, ended: float) -> float:
    """Return how long something took between two times of a clock."""
    return round((ended - began) * 1000, 1)
