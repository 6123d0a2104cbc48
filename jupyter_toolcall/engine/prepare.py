"""`prepare` turns a call that the model asked for into one that can run, or raises what is wrong.

The scheme completes the arguments, and the tool fills in defaults. The tool checks them with values
in place of the names of objects. The approval digest covers exactly what would run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..core.call_record import CallRecord
from ..core.digests import digest
from ..core.errors import CallError
from ..core.events import Made, Producer, Uses
from ..core.json_data import replaced_at
from ..core.recorded_data import JsonObject, copied, replace
from ..core.secrets import MissingSecret, Secrets
from ..core.state import State
from ..schemes.scheme import Scheme, completed
from ..sources.table_sharing import cell_free_error, holds_withheld
from ..tools.invoke import run_validator
from ..tools.object_references import (
    Path,
    fits_in,
    fits_plain,
    named_paths,
    references,
    replace_names,
)
from ..tools.object_types import kind_name
from ..tools.plain_data import uncut_data
from ..tools.tool import Tool, parameters_schema, unchanged
from ..tools.value_copies import private
from ..tools.value_text import StandsForText
from .argument_copies import ArgumentCopies
from .session_values import PreparedCall, SessionValues, ToolInputs

T = TypeVar("T")


def prepare(
    call: CallRecord,
    tool: Tool,
    state: State,
    scheme: Scheme,
    values: SessionValues,
    initial: Mapping[str, object],
    secrets: Secrets | None,
) -> PreparedCall:
    """Return a call that can run.

    Arguments:
        initial: the session variables as they are at the start.
        secrets: those of the environment; None for the scheme's own tools, which only write down
            what the model chose.

    Raises:
        CallError: what is wrong with the call.
        Absent: a value is not in this kernel or its store.
    """
    if state.reserved:
        _demand_made(call, tool, state)
    asked = completed(scheme, call, tool, state)
    variables = {
        name: state.variables[name] if name in state.variables else initial[name]
        for name in tool.reads
        if name in state.variables or name in initial
    }
    completed_call = _CompletedCall(call, tool, asked, state, values, variables, secrets)
    if not state.plain:
        return completed_call.prepared(NO_DATA)
    named = named_data(tool, asked, state, values)
    try:
        return named.fitting(completed_call.prepared)
    except CallError as error:
        raise named.explained(error) from None


def _demand_made(call: CallRecord, tool: Tool, state: State) -> None:
    """Raise CallError for a call that names an object which is reserved, but was not made here."""
    schema, reserved = parameters_schema(tool), state.reserved
    named = references(schema, call.asked, fits_in(reserved, reserved))
    wrong = {path: name for path, name in named if name in reserved and name not in state.objects}
    if wrong:
        messages = {path: str(state.absent(name)) for path, name in wrong.items()}
        raise CallError("; ".join(dict.fromkeys(messages.values())), messages)


@dataclass(frozen=True, slots=True)
class _CompletedCall:
    """A call whose arguments the scheme has completed, and what it is checked with."""

    call: CallRecord
    tool: Tool
    asked: JsonObject
    """Its arguments, with the names of plain data."""
    state: State
    values: SessionValues
    variables: JsonObject
    secrets: Secrets | None

    def prepared(self, named: NamedData) -> PreparedCall:
        """Return the call as it can run, with plain data in place of its names.

        The arguments have markers in place of secrets, and so has the approval digest: an approval
        holds where a secret is renewed. Only the inputs of the run have the values.
        """
        call, tool, state, variables = self.call, self.tool, self.state, self.variables
        filled = self._filled(self.asked, variables, named)
        named_arguments = named.with_names(filled, self.asked)
        arguments = named_arguments if self.secrets is None else self.secrets.hide(named_arguments)
        inputs: ToolInputs | None = ToolInputs(filled, variables, named.plain, named.uses)
        missing: MissingSecret | None = None
        keys = call.asked_call.secrets or (call.decided is not None and call.decided.secrets)
        if self.secrets is not None and (keys or state.marked or arguments is not named_arguments):
            try:
                inputs = self._revealed(self.secrets, named)
            except MissingSecret as error:
                inputs, missing = None, error
        if inputs == ToolInputs(arguments, variables):
            inputs = None
        try:
            self._check(arguments if inputs is None else inputs.arguments)
        except CallError as error:
            # A marker may not fit where the secret itself does.
            raise error if missing is None else missing from None
        uses: dict[str, Producer] = {**inputs.uses} if inputs else {}

        def note(path: Path, name: str) -> str:
            ref = state.resolve(name)
            uses[".".join(path)] = ref.producer
            return ref.digest

        fitting = fits_in(state.objects, state.plain)
        by_digest = replace_names(parameters_schema(tool), arguments, note, fitting)
        previous = (state.instances.get(tool.instance) or "") if tool.instance else ""
        before = self.values.instance_digest(tool.instance, state) if tool.instance else ""
        setters = {name: state.setters.get(name) or "" for name in variables}
        withhold = self.values.withhold
        shown = approval_digest(tool, by_digest, before, variables, withhold, bool(uses))
        return PreparedCall(
            *(tool, call.id, arguments, uses, shown, before, variables),
            *(previous, setters, inputs, missing),
        )

    def _revealed(self, secrets: Secrets, named: NamedData) -> ToolInputs:
        """Return what the tool gets, with the values of secrets. Raises MissingSecret."""
        # The arguments and the variables are revealed each by its own keys, so that no marker
        # that a model wrote gets a secret that only a variable holds.
        read = {
            name: secrets.reveal(value, self.state.marked.get(name) or ())
            for name, value in self.variables.items()
        }
        filled = self._filled(secrets.reveal(self.asked, self.call.demand_keys()), read, named)
        return ToolInputs(filled, read, named.plain, named.uses)

    def _filled(self, asked: JsonObject, variables: JsonObject, named: NamedData) -> JsonObject:
        """Return the arguments with defaults filled in; a person's edit has all of them already."""
        filled = named.with_values(asked)
        if self.call.edited or self.tool.fill is unchanged:
            return filled
        return self.tool.fill(copied(filled), copied(variables))

    def _check(self, arguments: JsonObject) -> None:
        """Let the tool, and its own `check`, check the arguments. Raises CallError."""
        tool, values = self.tool, self.values
        tool.check(copied(arguments), self._fitting)
        if tool.validator is None:
            return
        # It gets private copies, so that it cannot change what is recorded.
        copies = ArgumentCopies(self.state, values)
        checked = tool.check(private(copied(arguments))[0], copies.copy_of)
        withhold = () if tool.sees_withheld else values.withhold
        # Its error may quote a withheld value, as an error of the tool may.
        is_hidden = bool(withhold) and any(
            shared.recorded.withheld or holds_withheld(shared.copy, withhold) for shared in copies
        )
        hidden_text = (lambda error: cell_free_error(error, tool)) if is_hidden else None
        run_validator(tool.name, tool.validator, checked, hidden_text)

    def _fitting(self, name: str, types: tuple[type, ...]) -> Any:
        """Return the value of an object by name, if it is of a type that fits."""
        state, values = self.state, self.values
        ref = state.resolve(name)
        kinds = {values.kinds.get(cls) or kind_name(cls) for cls in types}
        if types and ref.kind not in kinds:
            have = [state.newest[kind] for kind in sorted(kinds) if kind in state.newest]
            raise CallError(
                f"{name} is a {ref.kind}, not a {' or '.join(sorted(kinds))}"
                + (f"; the newest: {', '.join(have)}" if have else "; there is none yet")
            )
        # To check a call, a value that stays on a cluster is not fetched.
        return values.remote(ref) or values.value(ref)


def approval_digest(
    tool: Tool,
    named: object,
    before: str,
    variables: Mapping[str, object],
    withhold: Collection[str],
    takes_objects: bool,
) -> str:
    """Return the digest of exactly what a call would run: a decision applies to that alone.

    Arguments:
        named: the arguments, with the digests of objects in place of their names.
        before: what the instance of the tool is before the call, by digest; "" for none.
        variables: the session variables that the tool reads.
        withhold: the columns of tables that are not sent.
    """
    # A result that was shown before its columns were withheld is not taken from the cache.
    hidden = ["withhold", *sorted(withhold)] if withhold and (takes_objects or before) else []
    return digest(
        *("run", tool.name, tool.version(), named, before),
        *([dict(variables)] if variables else []),
        *([hidden] if hidden else []),
    )


# -- plain data that a call names ----------------------------------------------------------------
# The name of an input, such as `str#1`, stands for its value. The journal, the panel and the
# digests have the name; the tool gets the value.

Plain = Mapping[Path, Any]
"""Values, by the path of their name in the arguments."""


@dataclass(frozen=True, slots=True)
class NamedData:
    """The plain data that the arguments of one call name."""

    objects: Mapping[Path, tuple[str, Made]] = field(default_factory=dict)
    readings: tuple[Plain, ...] = ({},)
    """The values in each form that is tried: first as they are, then as JSON data."""
    plain: Plain = field(default_factory=dict)
    """The form that is tried."""

    @property
    def uses(self) -> Uses:
        """What produced each value, by argument."""
        return {".".join(path): ref.producer for path, (_, ref) in self.objects.items()}

    def fitting(self, use: Callable[[NamedData], T]) -> T:
        """Return what `use` makes of the first form that fits. Raises CallError where none does."""
        for plain in self.readings[:-1]:
            with contextlib.suppress(CallError):
                return use(replace(self, plain=plain))
        return use(replace(self, plain=self.readings[-1]))

    def with_values(self, arguments: JsonObject) -> JsonObject:
        """Return arguments with each value in place of its name."""
        for path, value in self.plain.items():
            arguments = replaced_at(arguments, path, value)
        return arguments

    def with_names(self, filled: JsonObject, asked: JsonObject) -> JsonObject:
        """Return the arguments that the tool runs with, as the model asked for them: with names.

        Arguments:
            filled: the arguments with values and defaults.
            asked: the arguments with names. One that a default changed keeps its value.
        """
        if not self.plain:
            return filled
        values = self.with_values(asked)
        arguments = dict.fromkeys(path[0] for path in self.plain if path[0] in filled)
        # NaN is not equal to itself.
        same = (n for n in arguments if filled[n] is values[n] or filled[n] == values[n])
        return {**filled, **{argument: asked[argument] for argument in same}}

    def explained(self, error: CallError) -> CallError:
        """Return an error about the arguments with the value of each name."""
        objects = dict(self.objects.values())
        values = [f"{name} is {ref.shown:.80}" for name, ref in objects.items()]
        return CallError("; ".join([str(error), *values]), error.fields) if values else error


NO_DATA = NamedData()


def data_of(value: object) -> object:
    """Return the data that a named value stands for. Raises CallError where it cannot be read."""
    return value.text() if isinstance(value, StandsForText) else private(value)[0]


def named_data(
    tool: Tool, arguments: Mapping[str, object], state: State, values: SessionValues
) -> NamedData:
    """Return the plain data that arguments name. Raises Absent for a missing value."""
    names = named_paths(parameters_schema(tool), arguments, fits_plain(state.plain))
    if not names:
        return NO_DATA
    objects = {path: (name, state.objects[name]) for path, name in names.items()}
    copies = {path: data_of(values.value(ref)) for path, (_, ref) in objects.items()}
    as_json = {path: uncut_data(value) for path, value in copies.items()}
    # Only a Python function may take a date, or a value of an enum, as it is.
    is_python = tool.origin is not None and tool.fill is unchanged
    readings = (copies, as_json) if is_python and copies != as_json else (as_json,)
    return NamedData(objects, readings)
