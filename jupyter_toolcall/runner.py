"""Running a call: what it is bound to, what memory knows of it, and running it.

A call is bound to the tool's source and to its inputs: that digest is what a person
approves, and what memory answers by. Values live here and nowhere else.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .content import content_digest, is_frozen, plain_data, private
from .digest import digest
from .errors import CallError
from .events import Data, Decided, Failed, Finished, Interrupted, Made, Many, Outcome, Started
from .journal import Journal
from .state import CallState, State, objects_of
from .tools import Tool
from .tools.kinds import Kinds, kind_of
from .tools.references import references, rename

PRINTS = 4_000
"""Characters of a tool's prints that are kept."""
MISSING = object()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that can run: its arguments as they will run, and all that they name."""

    tool: Tool
    call_id: str
    arguments: Mapping[str, Any]
    used: Mapping[str, str]
    """For each place of an object in the arguments, the object's maker."""
    bound: str
    before: str = ""
    """For a stateful instance: what the instance was after, by digest."""


@dataclass
class Memory:
    """The values of a session's objects, and what calls came to before."""

    journal: Journal
    kinds: Kinds
    values: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    _known: dict[tuple[str, str], Outcome | None] = field(default_factory=dict)
    _bound: dict[str, str] = field(default_factory=dict)
    _read: int = 0

    def keep(self, name: str, value: Any, description: str = "") -> Made:
        """Take in an object from outside; its digest is its content's."""
        kind = kind_of(value, self.kinds) or type(value).__name__
        content = content_digest(value)
        made = Made(
            kind, f"input:{name}", digest("input", name, kind, content), content, description
        )
        self.hold(made, *private(value))
        return made

    def hold(self, made: Made, value: Any, copied: bool) -> None:
        """Keep the value of an object."""
        self.values[made.digest] = value
        said = ["" if made.content else "not reproducible"]
        said += ["" if copied else "can't be copied: passed as it is"]
        self.notes[made.digest] = "; ".join(part for part in said if part)

    def value(self, made: Made) -> Any:
        """Return an object's value. Raises CallError where it is not at hand."""
        found = self.values.get(made.digest, MISSING)
        if found is MISSING:
            raise CallError(
                f"the value that {made.maker} made is not in this kernel; replay the session"
            )
        return found

    def known(self, call_id: str, bound: str) -> tuple[bool, Outcome | None]:
        """Return whether this very call ran before, and what it came to.

        None is an outcome that is unknown. A value that is not at hand is not known.
        """
        self._catch_up()
        key = (call_id, bound)
        outcome = self._known.get(key)
        missing = any(made.digest not in self.values for made in objects_of(outcome))
        return key in self._known and not missing, outcome

    def _catch_up(self) -> None:
        for entry in islice(self.journal, self._read, None):
            self._read += 1
            match entry.event:
                case Decided(call_id, "approve" | "edit", bound):
                    self._bound[call_id] = bound
                case Started(call_id):
                    self._known.setdefault((call_id, self._bound.get(call_id, "")), None)
                case Finished(call_id, outcome):
                    self._known[call_id, self._bound.get(call_id, "")] = outcome


def prepare(
    tool: Tool, call: CallState, arguments: Mapping[str, Any], state: State, memory: Memory
) -> Prepared:
    """Return a call that can run, or raise CallError, which says what is wrong with it."""
    used = {
        place: state.resolve(name).maker
        for place, name in (references(tool.parameters, arguments) if tool.parameters else ())
    }
    tool.check(arguments, lambda name, types: _fitting(state, memory, name, types))
    before = ""
    if tool.instance:
        last = state.instances.get(tool.instance)
        used[tool.instance] = last or ""
        before = _after(state.calls[last]) if last else ""
    named = rename(tool.parameters, arguments, lambda name: state.resolve(name).digest)
    bound = digest("run", tool.name, tool.version(), named, before)
    return Prepared(tool, call.id, arguments, used, bound, before)


def _after(call: CallState) -> str:
    return digest("after", call.id, call.decided.bound if call.decided else "")


def _fitting(state: State, memory: Memory, name: str, types: tuple[type, ...]) -> Any:
    """Return the value of an object by name, if it is of a type that fits."""
    made = state.resolve(name)
    value = memory.value(made)
    wanted = {memory.kinds.get(cls, cls.__name__) for cls in types}
    if types and made.kind not in wanted and not isinstance(value, types):
        have = [state.newest[kind] for kind in sorted(wanted) if kind in state.newest]
        raise CallError(
            f"{name} is a {made.kind}, not a {' or '.join(sorted(wanted))}"
            + (f"; the newest: {', '.join(have)}" if have else "; there is none yet")
        )
    return value


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run came to, what it printed, and the error as it was raised."""

    outcome: Outcome
    prints: str = ""
    interrupted: bool = False


Invoke = Callable[[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]
"""Calls a tool's function: async functions are dealt with there."""


def run(prepared: Prepared, state: State, memory: Memory, invoke: Invoke) -> Ran:
    """Run a call and return what it came to. What a tool raises is an outcome.

    Tools get private copies, so that nothing that has a name ever changes.
    """
    lent: list[tuple[Made, Any, Any]] = []

    def lend(name: str, types: tuple[type, ...]) -> Any:
        made = state.resolve(name)
        value = memory.value(made)
        for _, original, copied in lent:
            if original is value:
                return copied
        copied, _ = private(value)
        lent.append((made, value, copied))
        return copied

    printed = _Capped()
    try:
        values = prepared.tool.check(prepared.arguments, lend)
        subject = _subject(prepared, memory)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            result = invoke(prepared.tool.function, subject, values)
    except KeyboardInterrupt:
        return Ran(Interrupted(), printed.getvalue(), interrupted=True)
    # A tool may raise anything, SystemExit too: all of it is told, none of it ends us.
    except BaseException as error:
        return Ran(Failed(_said(error)), printed.getvalue())
    if subject:
        memory.values[digest("after", prepared.call_id, prepared.bound)] = subject[0]
    return Ran(_outcome(result, prepared, lent, memory), printed.getvalue())


def _said(error: BaseException) -> str:
    if isinstance(error, CallError):
        return str(error)
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be read)"
    return f"{type(error).__name__}: {text}"[:4_000]


def _subject(prepared: Prepared, memory: Memory) -> tuple[Any, ...]:
    """Return a private copy of the instance that a method works on, if it works on one."""
    if not prepared.tool.instance:
        return ()
    return (private(memory.values.get(prepared.before, prepared.tool.subject))[0],)


def _outcome(
    result: Any, prepared: Prepared, lent: list[tuple[Made, Any, Any]], memory: Memory
) -> Outcome:
    for made, original, copied in lent:
        if result is copied and not _changed(original, copied):
            return made
    if result is None and prepared.tool.receiver and lent:
        made, original, copied = _receiver(prepared, lent)
        if _changed(original, copied):
            return _made(copied, made.kind, prepared, memory, 0)
    if isinstance(result, (list, tuple)) and result:
        kinds = [kind_of(item, memory.kinds) for item in result]
        if all(kinds):
            pairs = zip(result, kinds, strict=True)
            return Many(
                tuple(
                    _made(item, str(kind), prepared, memory, index)
                    for index, (item, kind) in enumerate(pairs)
                )
            )
    kind = kind_of(result, memory.kinds)
    return Data(plain_data(result)) if kind is None else _made(result, kind, prepared, memory, 0)


def _receiver(prepared: Prepared, lent: list[tuple[Made, Any, Any]]) -> tuple[Made, Any, Any]:
    maker = prepared.used.get(prepared.tool.receiver)
    return next((item for item in lent if item[0].maker == maker), lent[0])


def _changed(original: Any, copied: Any) -> bool:
    if original is copied or is_frozen(original):
        return False
    before, after = content_digest(original), content_digest(copied)
    return not before or before != after


def _made(value: Any, kind: str, prepared: Prepared, memory: Memory, index: int) -> Made:
    """Return a new object. A run that repeats an earlier one never takes its name."""
    content, base = content_digest(value), (prepared.bound, prepared.call_id, index)
    name, again = digest("made", *base), 1
    while name in memory.values and not (
        content and content_digest(memory.values[name]) == content
    ):
        again += 1
        name = digest("made", *base, again)
    made = Made(kind, "", name, content)
    memory.hold(made, value, True)
    return made


class _Capped(io.StringIO):
    """Keeps the beginning of what is printed."""

    def write(self, text: str) -> int:
        room = PRINTS - self.tell()
        if room > 0:
            super().write(text if len(text) <= room else f"{text[:room]}…\n")
        return len(text)
