"""Execution of one call: its arguments are prepared, its tool runs, its result is read and stored.

A tool gets private copies, so a named object never changes. If a tool changes its copy, the copy
becomes a new object where the tool returns it, or returns nothing; otherwise the change is
dropped. The person is informed.
"""

from __future__ import annotations

import io
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core.call_record import CallRecord, objects_of
from ..core.digests import digest, encode
from ..core.errors import Absent, CallError
from ..core.events import (
    UNSAID,
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
from ..core.recorded_calls import recorded_call
from ..core.secrets import MissingSecret
from ..core.state import State
from ..core.state_fold import state_at
from ..tools.invoke import invoke
from ..tools.object_references import Path, replace_names
from ..tools.object_types import kind_name, kind_of
from ..tools.tool import Changed, Tool
from ..tools.toolbox import Toolbox
from ..tools.value_copies import LONGEST, describe, is_frozen, plain_data, private, well_formed
from ..tools.value_digests import SCALARS, content_digest
from .session_values import (
    PreparedCall,
    SessionValues,
    ToolInputs,
    instance_version,
    result_digests,
)

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

    def note(path: Path, name: str) -> str:
        made = state.resolve(name)
        uses[".".join(path)] = made.producer
        return made.digest

    try:
        checked = arguments if inputs is None else inputs.arguments
        tool.check(checked, lambda name, types: _fitting(state, values, name, types))
    except CallError as error:
        # A marker may not fit where the value does.
        raise error if missing is None else missing from None
    named = replace_names(tool.parameters, arguments, note)
    previous = (state.instances.get(tool.instance) or "") if tool.instance else ""
    before = values.instance_digest(tool.instance, state) if tool.instance else ""
    setters = {name: state.setters.get(name) or "" for name in variables}
    bound = digest(
        "run", tool.name, tool.version(), named, before, *([dict(variables)] if variables else [])
    )
    return PreparedCall(
        *(tool, call.id, arguments, uses, bound, before, variables),
        *(previous, setters, inputs, missing),
    )


def _fitting(state: State, values: SessionValues, name: str, types: tuple[type, ...]) -> Any:
    """Return the value of an object by name, if it is of a type that fits."""
    made = state.resolve(name)
    kinds = {values.kinds.get(cls) or kind_name(cls) for cls in types}
    if types and made.kind not in kinds:
        have = [state.newest[kind] for kind in sorted(kinds) if kind in state.newest]
        raise CallError(
            f"{name} is a {made.kind}, not a {' or '.join(sorted(kinds))}"
            + (f"; the newest: {', '.join(have)}" if have else "; there is none yet")
        )
    return values.value(made)


@dataclass(frozen=True, slots=True)
class InPlaceChanges:
    """What a run changed in place: notes for the person, and the objects to warn of: changes that
    were dropped though the tool succeeded, and those of what cannot be copied."""

    notes: Sequence[str] = ()
    lost: Sequence[str] = ()
    untracked: Sequence[str] = ()


NO_CHANGES = InPlaceChanges()


@dataclass(frozen=True, slots=True)
class ToolRun:
    """The outcome of a run, and what it printed."""

    outcome: Outcome
    prints: str = ""
    interrupted: bool = False
    changes: InPlaceChanges = NO_CHANGES


Invoke = Callable[[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]
"""Calls a tool's function: async functions are dealt with there."""


def run_tool(ready: PreparedCall, state: State, values: SessionValues, invoke: Invoke) -> ToolRun:
    """Run a tool and return its outcome. What a tool raises is an outcome too.

    Raises Absent where a value of ours is not at hand: that is no fault of the tool's.
    """
    printed, result = _Capped(), None
    copies = ArgumentCopies(state, values, ready.tool.keeps_arguments)
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
        changes = attempt(copies.changes, result, made)[0] if copies else None
    except KeyboardInterrupt:
        changes, interrupted = None, True
    return ToolRun(outcome, printed.text(), interrupted, changes or NO_CHANGES)


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
    outcome, _ = attempt(_outcome_or_error, result, ready, copies, values)
    if isinstance(outcome, CallError):
        raise outcome
    return Data(describe(result, 2000)) if outcome is None else outcome


def _outcome_or_error(
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
            return _new_object(receiver.copy, receiver.made.kind, ready, values, 0)
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
    return Data(plain_data(result)) if kind is None else _new_object(result, kind, ready, values, 0)


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
    return Many(tuple(_new_object(item, str(kind), ready, values, i) for i, (item, kind) in pairs))


def _is_another(copied: ArgumentCopy) -> bool:
    """Return whether what a tool had is another object by now; what nobody can tell may be."""
    return copied.copied and copied.changed is not False


def _new_object(
    value: Any, kind: str, ready: PreparedCall, values: SessionValues, index: int
) -> Made:
    """Return a new object; only equal values share a digest."""
    content, attempt_number = content_digest(value), 1
    name = digest("made", ready.approval_digest, ready.call_id, index, content)
    while not content and name in values.by_digest:
        attempt_number += 1
        name = digest("made", ready.approval_digest, ready.call_id, index, attempt_number)
    made = Made(kind, name, content)
    values.store(made, value, ready.tool.keeps_arguments)
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
    duration = milliseconds(began, clock())
    # Before it is written down that there is a result, the result is kept.
    kept, interrupted = _store_new_result(ready, ran.outcome, values, duration), ran.interrupted
    if kept is None:
        kept, interrupted = (UNKEPT,), True
    meta: dict[str, Any] = {"ms": duration, "prints": ran.prints}
    meta |= {"notes": [*ran.changes.notes, *kept]}
    meta |= {"lost": [*ran.changes.lost], "untracked": [*ran.changes.untracked]}
    meta = {key: value for key, value in meta.items() if value or key == "ms"}
    return Execution(ran.outcome, meta, interrupted)


def _store_new_result(
    ready: PreparedCall, outcome: Outcome, values: SessionValues, duration: float
) -> tuple[str, ...] | None:
    """Store the results; return why some are not stored, None after an interrupt."""
    try:
        return values.save_results(ready, outcome) if is_worth_storing(ready.tool, duration) else ()
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


@dataclass
class ArgumentCopy:
    """An object by name, its value, and what a tool got of it: a copy, where there can be one."""

    name: str
    made: Made
    value: Any
    copy: Any

    @property
    def copied(self) -> bool:
        """Whether the tool had a copy of its own."""
        return self.copy is not self.value

    @cached_property
    def changed(self) -> bool | None:
        """Whether the tool changed it in place; None where nobody can tell."""
        if is_frozen(self.copy):
            return False
        before, now = self.made.content, content_digest(self.copy)
        if not before or before == now:
            return None if not before else False
        # A copy may differ by itself, where its class makes it so.
        return not self.copied or content_digest(private(self.value)[0]) != now


@dataclass
class ArgumentCopies:
    """The private copies of the objects that one execution takes, one of each object."""

    state: State
    values: SessionValues
    kept: bool = False  # the tool promises to change none, and gets the objects themselves

    def __post_init__(self) -> None:
        self._copies: dict[int, ArgumentCopy] = {}

    def __len__(self) -> int:
        return len(self._copies)

    def __iter__(self) -> Iterator[ArgumentCopy]:
        return iter(self._copies.values())

    def copy_of(self, name: str, types: tuple[type, ...]) -> Any:
        """Return what a tool gets of an object. Raises CallError and Absent."""
        value = self.values.value(made := self.state.resolve(name))
        if id(value) not in self._copies:
            copied = value if self.kept else private(value)[0]
            self._copies[id(value)] = ArgumentCopy(name, made, value, copied)
        return self._copies[id(value)].copy

    def of_producer(self, producer: Producer | None) -> ArgumentCopy | None:
        """Return the copy of the object of a producer, else the first copy."""
        copies = (copied for copied in self if copied.made.producer == producer)
        return next(copies, None) or next(iter(self), None)

    def changes(self, result: Any, outcome: Outcome | None = None) -> InPlaceChanges:
        """Return what the tool changed in place; `outcome` is None where it failed."""
        items = result if isinstance(result, (list, tuple)) else [result]
        new_names = [*_named(objects_of(outcome), self.state)]
        notes, lost, untracked = list[str](), list[str](), list[str]()
        for copied in [copied for copied in self if not self.kept and copied.changed]:
            name, became = copied.name, _new_name(copied, items, new_names)
            if not copied.copied:
                untracked.append(name)
            elif became:
                notes.append(f"changed {name} in place: kept as {became}")
            elif outcome is None:
                notes.append(f"changed {name} in place: dropped, so {name} stays as it was")
            else:
                lost.append(name)
        return InPlaceChanges(notes, lost, untracked)


def _new_name(copied: ArgumentCopy, items: Sequence[Any], new_names: list[str]) -> str:
    """Return the name that a changed copy has as a result; "" where it is no result."""
    names = [made for item, made in zip(items, new_names, strict=False) if item is copied.copy]
    names = names or (new_names if len(new_names) == 1 and [*items] == [None] else [])
    return names[0] if names else ""


def _named(objects: Iterable[Made], state: State) -> Iterator[str]:
    """Yield the names that a call's objects will bear."""
    counts: dict[str, int] = {}
    for made in objects:
        if made.producer != UNSAID:
            yield state.by_producer.get(made.producer) or made.kind
        else:
            counts[made.kind] = counts.get(made.kind, state.counts.get(made.kind) or 0) + 1
            yield f"{made.kind}#{counts[made.kind]}"
