"""The values of a session's objects, and cached results of its calls.

Values that must outlive the kernel are in a value store. Only the values that verified entries
name are read from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..core.call_record import objects_of
from ..core.digests import digest
from ..core.errors import Absent, CallError, Lost, UsageError
from ..core.events import WITHOUT_RESULT, Made, Outcome, Output, Producer, Uses
from ..core.interface_text import joined, t
from ..core.journal import Journal
from ..core.json_data import replaced_at
from ..core.recorded_calls import CallIndex, instance_version
from ..core.recorded_data import NOTHING, DataRecord, JsonDict, JsonObject, recorded
from ..core.secrets import MissingSecret
from ..core.state import State
from ..core.text import nearest
from ..schemes.current import saved
from ..schemes.save_tool import is_data
from ..storage.value_store import MISSING
from ..tools.answer_types import answer_type, read_answer
from ..tools.object_references import Path, fits_plain, named_paths
from ..tools.object_types import Kinds, kind_name, kind_of
from ..tools.plain_data import uncut_data
from ..tools.remote_values import RemoteValue
from ..tools.running_tool import InputResponse
from ..tools.tool import Tool
from ..tools.value_copies import private
from ..tools.value_digests import content_digest

RESULT = "result"
"""The name of what a question asks for."""
UNTOLD = t("not reproducible")
"""Note on an object whose content has no digest, so another one may be taken for it."""
ALTERED = t("changed after it was made")
"""Note on an object whose value is not as it was made."""


@recorded("arguments", "variables", "plain", "uses")
@dataclass(frozen=True, slots=True)
class ToolInputs:
    """What a tool gets: arguments and session variables."""

    arguments: JsonObject
    variables: Mapping[str, Any]
    plain: Mapping[Path, Any] = field(default_factory=dict)
    """The plain data that the arguments name, by the path of the name."""
    uses: Uses = field(default_factory=dict)
    """What produced this plain data."""


@recorded("state", "responses")
@dataclass(frozen=True, slots=True)
class Resumption:
    """What a call resumes with: the state of its last round of input, and the responses."""

    state: Any
    responses: Mapping[str, InputResponse]
    rounds: int
    """How many rounds of input it has had."""


class PreparedCall(DataRecord, frozen=True, gc=True):
    """A call that can run: its arguments as they will run, and all that they name."""

    tool: Tool
    call_id: str
    arguments: JsonObject
    uses: Uses
    approval_digest: str
    instance_digest: str = ""
    """For a stateful instance: what it is before the call, by digest."""
    variables: Mapping[str, Any] = NOTHING
    """The session variables that it reads."""
    previous: str = ""
    """For a stateful instance: the id of the call that worked on it last, "" for none."""
    setters: Mapping[str, str] = field(default_factory=dict)
    """For each session variable that it reads, the id of the call that set it last."""
    inputs: ToolInputs | None = field(default=None, repr=False, compare=False)
    """Arguments and variables with the values of secrets, and with plain data in place of its
    names, for the run alone; None where there is neither."""
    missing: MissingSecret | None = None
    """Why it can't run now: a variable of the environment is not set."""
    resumption: Resumption | None = None
    """What it resumes with after a round of input; None where it runs from its beginning."""
    recorded: tuple[State, ...] = ()
    """The states at the ends of the branches that are replayed, in their order."""

    data_fields = ("arguments", "uses", "variables", "setters")

    def __repr__(self) -> str:
        # What it runs with holds the values of secrets.
        return f"PreparedCall({self.tool.name!r}, {self.call_id!r})"

    def results(self, outcome: Outcome) -> list[Result]:
        """Return all that the call produced or changed, if this is its outcome."""
        return results_of(self.tool, self.call_id, self.approval_digest, outcome)


class ValueStore(Protocol):
    """Values by digest, beyond this kernel's life."""

    def find(self, name: str) -> Any:
        """Return a value, MISSING where it is not there."""

    def put(self, name: str, value: object) -> str:
        """Keep a value; return "", or why it is not kept."""

    def is_named(self, name: str) -> bool:
        """Return whether there is a value of that name, verified or not."""


class _ValuesByDigest(dict[str, Any]):
    """Values by digest. One that stays on a cluster is fetched when it is read."""

    def __getitem__(self, name: str) -> object:
        value = super().__getitem__(name)
        if type(value) is RemoteValue:
            value = self[name] = value.fetch()
        return value


class RecordedValue(NamedTuple):
    """The value of an object as it is recorded."""

    value: Any
    """A private copy: its maker may still change what it holds."""
    content: str
    """The content digest of that copy; "" for none."""
    shared: str = ""
    """A note on the parts that could not be copied, and that its maker still holds."""


def recorded_value(value: object, kept: bool = False) -> RecordedValue:
    """Return a value as it is recorded: a private copy, or if it is `kept` the value itself."""
    if type(value) is RemoteValue:
        return RecordedValue(value, value.content)
    copied, is_whole = (value, True) if kept else private(value)
    shared = ""
    if not is_whole:
        parts = t("its copies share the parts that can't be pickled")
        shared = t("can't be copied: passed as it is") if copied is value else parts
    return RecordedValue(copied, content_digest(copied), shared)


@dataclass
class SessionValues:
    """The values of a session's objects, and cached results of its calls."""

    journal: Journal
    kinds: Kinds
    answers: Mapping[str, Any] = field(default_factory=dict)
    """The types of lists and records that are asked for, by their texts."""
    by_digest: dict[str, Any] = field(default_factory=_ValuesByDigest)
    notes: dict[str, str] = field(default_factory=dict)
    uncopied: set[str] = field(default_factory=set)
    """The values that cannot be copied, by digest: all calls get the same one."""
    altered: set[str] = field(default_factory=set)
    """The values that are not as they were made, by digest: a tool changed a part of them that
    their copies share."""
    previews: JsonDict = field(default_factory=dict)
    """Pictures of the values, kept by those who draw them."""
    differences: dict[tuple[str, str], Any] = field(default_factory=dict)
    """How values differ, by the digests of both, kept by those who compare them."""
    instances: dict[str, str] = field(default_factory=dict)
    """The stateful instances as they were given, by digest."""
    hidden_instances: set[str] = field(default_factory=set)
    """The versions of stateful instances that may hold withheld values, by digest."""
    withhold: tuple[str, ...] = ()
    """The columns of tables whose values are never sent."""
    value_store: ValueStore | None = None
    """Keeps results that are expensive, or that must not be computed twice."""

    def share_with(self, other: SessionValues) -> None:
        """Share all values with those of another kernel of the same session, both ways."""
        for mine, theirs in (
            (self.by_digest, other.by_digest),
            (self.notes, other.notes),
            (self.previews, other.previews),
        ):
            theirs.update(mine)
        other.uncopied |= self.uncopied
        # The values of this kernel are as they were made.
        other.altered -= self.by_digest.keys()
        self.by_digest, self.notes, self.previews = other.by_digest, other.notes, other.previews
        self.uncopied, self.altered = other.uncopied, other.altered

    def add_input(self, name: str, value: object, description: str = "", shown: str = "") -> Made:
        """Store an input, and return its object; its digest is that of its content.

        `shown` is what a model is shown of it where it is plain data.
        """
        kind = kind_of(value, self.kinds) or kind_name(type(value))
        recorded = recorded_value(value)
        input_digest = digest("input", name, kind, recorded.content)
        ref = Made(kind, input_digest, recorded.content, description, Producer(input=name), shown)
        self.store(ref, recorded)
        return ref

    def add_instance(self, name: str, subject: object) -> str:
        """Store a copy of a stateful instance; return the digest of its state."""
        # Journals on disk have this digest of the name in parentheses.
        input_digest = digest("instance", f"({name})", content_digest(subject))
        self.by_digest[input_digest] = private(subject)[0]
        self.instances[name] = input_digest
        return input_digest

    def instance_digest(self, name: str, state: State) -> str:
        """Return the digest of the current state of an instance. Raises Absent."""
        last_call = state.instances.get(name)
        input_digest = dict(state.opened.instances).get(name) or self.instances.get(name, "")
        current = (
            instance_version(last_call, state.calls[last_call].approval_digest)
            if last_call
            else input_digest
        )
        if self.has_value(current):
            return current
        if last_call:
            raise Absent(
                f"what {name} was after {last_call} is not in this kernel; "
                "session.replay().run() makes it again"
            )
        raise Absent(
            f"the instance {name} is not here as it was at the start; load the session with a "
            "toolbox that holds it so"
        )

    def store(self, ref: Made, recorded: RecordedValue) -> None:
        """Store the value of an object."""
        self.by_digest[ref.digest] = recorded.value
        self.altered.discard(ref.digest)
        if recorded.shared:
            self.uncopied.add(ref.digest)
        notes = "" if ref.content else UNTOLD, recorded.shared
        self.notes[ref.digest] = joined("; ", (part for part in notes if part))

    def note(self, ref: Made) -> str:
        """Return warnings about an object: not reproducible, not copied, not as it was made."""
        note = self.notes.get(ref.digest, "" if ref.content else UNTOLD)
        return joined("; ", filter(None, (note, ALTERED if ref.digest in self.altered else "")))

    def value(self, ref: Made) -> Any:
        """Return an object's value. Raises Absent if it is not available."""
        if self.has_value(ref.digest, ref.content):
            return self.by_digest[ref.digest]
        if remote := self.remote(ref):
            raise Lost(remote.lost)
        if name := ref.producer.input:
            raise Absent(
                t(
                    "the input %1 is not here with the content that it had; "
                    "load the session with inputs={%1: ...}",
                    repr(name),
                )
            )
        raise Absent(
            t(
                "the %1 that %2 made is not in this kernel; session.replay().run() makes it again",
                ref.kind,
                ref.producer.call,
            )
        )

    def remote(self, ref: Made) -> RemoteValue | None:
        """Return an object's value as it is on a cluster; None if it is not there."""
        # Unlike `by_digest[...]` this does not fetch it.
        value = self.by_digest.get(ref.digest)
        return value if type(value) is RemoteValue else None

    def copy_of(self, name: str, state: State) -> Any:
        """Return a copy of the value of an object by name. Raises CallError and Absent.

        The first name of an instance (`Shelf#1`) stands for it, where no object has that name.
        """
        if name not in state.objects and (instance := self.instance_named(name)):
            return self.instance(instance, state)
        try:
            ref = state.resolve(name)
        except CallError as error:
            names = [*state.names, *(f"{instance}#1" for instance in self.instances)]
            raise CallError(f"{error}.{nearest(name, names)}".rstrip(".")) from None
        return private(self.value(ref))[0]

    def outputs(self, state: State, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Return what was saved, by name; with `names` no others. Raises Absent."""
        outputs = state.opened.outputs
        return {
            name: self._output(outputs[name], state.outputs[name], state)
            for name in (state.outputs if names is None else names)
            if name in outputs
        }

    def _output(self, output: Output, saved: Any, state: State) -> object:
        """Return what was saved as an output: a copy of the object, or the data as its type."""
        if not is_data(output):
            return self.copy_of(saved, state)
        try:
            return self.read_output(output, saved, state)
        # Its type may be a class that is not in this kernel.
        except CallError:
            return self.saved_data(saved, state)

    def read_output(self, output: Output, saved: object, state: State) -> object:
        """Return data as the type of an output. Raises CallError where it does not fit, Absent."""
        data = self.saved_data(saved, state)
        annotation = answer_type(output.kind, self.answers, self.kinds)
        return read_answer(annotation, data, lambda name, _: self.copy_of(name, state), self.kinds)

    def saved_data(self, saved: object, state: State) -> Any:
        """Return data that was handed over, with values in place of the names of inputs.

        Raises Absent.
        """
        # What a person does with it changes nothing of the recorded call.
        return private(self.with_plain_data(saved, state))[0]

    def with_plain_data(self, value: object, state: State) -> Any:
        """Return a value with plain data in place of its names, such as `str#1`. Raises Absent."""
        data: JsonObject = {RESULT: value}
        for path, name in named_paths({}, data, fits_plain(state.plain)).items():
            data = replaced_at(data, path, uncut_data(self.copy_of(name, state)))
        return data[RESULT]

    def named(self, name: str, state: State, variables: Mapping[str, object]) -> Any:
        """Return a copy of the value of an object, an output, an instance or a variable by name.

        A name that the model gave (`$base`) stands for its object.

        Raises UsageError, which names the nearest, and Absent.
        """
        name = saved(state).get(name, name)
        if name in state.objects:
            return self.copy_of(name, state)
        if name in state.opened.outputs:
            if name in state.outputs:
                return self.outputs(state, [name])[name]
            raise UsageError(f"the output {name!r} is not saved yet")
        if instance := self.instance_named(name):
            return self.instance(instance, state)
        if name in variables:
            return private(variables[name])[0]
        names = [*state.names, *state.opened.outputs, *self.instances, *variables]
        text = nearest(str(name), names) or f" There are {', '.join(names[-5:]) or 'none yet'}"
        raise UsageError(f"there is no object, output, instance or variable {name!r:.60}.{text}")

    def instance_named(self, name: str) -> str:
        """Return the instance that `Shelf`, or `Shelf#1`, names; "" for none."""
        return next((n for n in self.instances if name in (n, f"{n}#1")), "")

    def instance(self, name: str, state: State) -> Any:
        """Return a copy of an instance as the calls have left it. Raises Absent."""
        return private(self.by_digest[self.instance_digest(name, state)])[0]

    def has_value(self, name: str, content: str = "") -> bool:
        """Return whether a value is available, here or in the value store with the same content."""
        value = self.by_digest.get(name, MISSING)
        if value is not MISSING:
            return type(value) is not RemoteValue or not value.lost
        value = self._load(name)
        if value is MISSING or (content and content_digest(value) != content):
            return False
        self.by_digest[name] = value
        return True

    def _load(self, name: str) -> object:
        """Return a stored value; MISSING if there is none, or no verified entry names it."""
        if self.value_store is None:
            return MISSING
        # Only the values that verified entries name are read from there.
        is_verified = name in CallIndex.of(self.journal).verified_digests
        return self.value_store.find(name) if is_verified else MISSING

    def has_results(self, results: Iterable[Result]) -> bool:
        """Return whether all results of a call are available."""
        return all(self.has_value(name, content) for name, content in results)

    def is_unverified(self, ready: PreparedCall) -> bool:
        """Return whether a result is stored, but cannot be verified with the current key."""
        outcome = self._recorded_outcome(ready)
        if outcome is None or self.value_store is None:
            return False
        names = [
            name for name, content in ready.results(outcome) if not self.has_value(name, content)
        ]
        return any(map(self.value_store.is_named, names))

    def save(self, names: Iterable[str]) -> tuple[str, ...]:
        """Put values into the value store; return why some are not stored."""
        if self.value_store is None:
            return ()
        notes = [
            self.value_store.put(name, self.by_digest[name])
            for name in names
            # A value on a cluster comes from a read-only call, which may run again.
            if name in self.by_digest and type(self.by_digest.get(name)) is not RemoteValue
        ]
        return tuple(
            f"gone when the kernel ends: {why}" for why in dict.fromkeys(filter(None, notes))
        )

    def _recorded_outcome(self, ready: PreparedCall) -> Outcome | None:
        return CallIndex.of(self.journal).outcomes.get((ready.call_id, ready.approval_digest))

    def cached_outcome(self, ready: PreparedCall) -> Outcome | None:
        """Return the cached outcome of exactly this call, on any branch; None without one."""
        outcome = self._recorded_outcome(ready)
        is_here = outcome is not None and self.has_results(ready.results(outcome))
        return outcome if is_here else None


Result = tuple[str, str]
"""The digest and the content digest of a value that a call produced or changed."""


def results_of(tool: Tool, call_id: str, approval_digest: str, outcome: Outcome) -> list[Result]:
    """Return all that a call produced or changed; its instance has no content digest."""
    results = [(ref.digest, ref.content) for ref in objects_of(outcome)]
    if tool.instance and not isinstance(outcome, WITHOUT_RESULT):
        results.append((instance_version(call_id, approval_digest), ""))
    return results
