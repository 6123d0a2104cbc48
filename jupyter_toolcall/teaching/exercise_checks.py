"""Checks an exercise, on request only, on copies, with a time limit, and shows how it stands.

An expression is code of the exercise's author, and runs with the rights of the kernel.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from traceback import walk_tb
from typing import Any, NoReturn, TypeVar

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError, UsageError
from ..core.interface_text import joined, t
from ..core.interrupts import Hold, end_thread, interruptible
from ..core.recorded_data import JsonDict, JsonObject
from ..core.text import LINES, nearest, printable, shortened_text
from ..models.scripted import Scripted
from ..session.session import Session
from ..tools.invoke import error_text
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from ..tools.value_copies import private
from .exercise_file import Check, Exercise
from .guesses import Points
from .panel_rows import Task

T = TypeVar("T")
MIME = "application/vnd.jupyter-toolcall.check+json"
EXPRESSION = "<check>"
"""The file of an expression, in tracebacks."""
LIMIT = 5.0
"""Seconds that one check may take."""
AGAIN, SOON, GIVEN_UP = 0.2, 0.01, 1.0
"""Seconds: from one exception that ends code to the next, to the next look whether one can be
raised, and until the thread is given up."""
COPIED = ("calls", "objects", "outputs", "text")
"""The members of a session of which an expression gets copies."""
BRANCHES = 8
"""So many branches of a session are checked, the newest, besides its own."""


class CheckedSession:
    """What an expression can read of a session: it has nothing that changes the session.

    What `COPIED` names are copies of what a `Session` has by these names.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        if name not in COPIED:
            raise AttributeError(f"a session has no {name} in a check", name=name, obj=self)
        return private(getattr(self._session, name))[0]

    @property
    def scheme(self) -> str:
        """The name of the scheme."""
        return self._session.state.opened.scheme

    @property
    def offered(self) -> tuple[tuple[str, ...], ...]:
        """The names of the tools that the model was offered, turn by turn."""
        requests = self._session.requests
        return tuple(tuple(tool.name for tool in asked.request.tools) for asked in requests)

    def __getitem__(self, name: str) -> Any:
        """Return a copy of the value of an object."""
        return self._session[name]

    def called(self, tool: str, /, **arguments: object) -> list[CallRecord]:
        """Return the calls of a tool that have a result, with these arguments among theirs."""
        return [
            call
            for call in self.calls
            if call.tool == tool and call.status in ("succeeded", "answered")
            if arguments.items() <= call.arguments.items()
        ]

    def made_from(self, name: str) -> tuple[str, ...]:
        """Return the objects that an object, or an output, was made from, with their own."""
        state = self._session.state
        return self._session.deps(str(state.outputs.get(name, name)), all=True)


def tool_of(function: object) -> Tool:
    """Return the tool of a function, as a model is offered it. Raises DefinitionError."""
    tools = list(Toolbox(function))
    if len(tools) != 1:
        raise UsageError(f"it holds {len(tools)} tools; a function is one")
    return tools[0]


def run_tool(function: object, /, **arguments: object) -> Any:
    """Return the JSON result of a tool, called as a model calls it. Raises CallError."""
    model = Scripted([(tool_of(function).name, arguments), "Done."])
    session = Session(Toolbox(function), model, scheme="flat", approve="all").tell("Call it.")
    (call,) = session.calls
    if call.error:
        raise CallError(call.error)
    return call.result


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the expressions are evaluated on."""

    session: Session | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    """The variables of the notebook."""
    score: Points = field(default_factory=Points)
    """Of the guesses of the session's last cell."""
    session_name: str = ""
    """As the exercise names its session, "" where it is the one that ran last."""

    def values(self, names: Set[str]) -> JsonDict:
        """Return copies of the values that have these names."""
        values = {"score": self.score, "tool_of": tool_of, "run_tool": run_tool}
        # A variable that has the name of a session or of an output may hold something older.
        own_names = {"session", *values}
        if self.session is not None:
            values["session"] = CheckedSession(self.session)
            own_names |= self.session.state.opened.outputs.keys()
            if names & self.session.state.outputs.keys():
                values = {**self.session.outputs, **values}
        for name in names & self.variables.keys() - own_names:
            value = self.variables[name]
            is_session = isinstance(value, Session)
            values[name] = CheckedSession(value) if is_session else private(value)[0]
        return values

    def session_for(self, check: Check) -> Session | None:
        """Return the session where a check reads it, None where it does not."""
        outputs = self.session.state.opened.outputs if self.session is not None else ()
        return self.session if check.names & {"session", *outputs} else None

    def missing(self, name: str) -> str:
        """Return the message about a name that does not exist, with the nearest name."""
        if name == "session" and self.session_name:
            return t("there is no session %1 yet", f"`{self.session_name}`")
        if name == "session":
            return t("there is no session yet: run the cell that begins with %1", "%%toolchat")
        outputs = self.session.state.outputs if self.session is not None else ()
        existing = [*outputs, *(name for name in self.variables if not name.startswith("_"))]
        return joined("", [t("there is no %1 yet.", f"`{name}`"), nearest(name, existing)])


@dataclass(frozen=True, slots=True)
class Page:
    """Markdown to display."""

    markdown: str
    data: JsonObject = field(default_factory=dict)
    """What a program reads of it, by type."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> JsonDict:
        texts = {"text/markdown": self.markdown, "text/plain": printable(str(self), LINES)}
        return {**self.data, **texts}

    def __str__(self) -> str:
        return self.markdown.replace("**", "").replace("### ", "")


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult:
    """How an exercise stands: a page for the learner, points and a message for a grader."""

    name: str
    """The name of the exercise."""
    title: str
    of: int
    """All checks of the exercise."""
    checks: tuple[str, ...]
    """A line for each check, in the order of the file, up to the first that does not hold."""
    fails: Check | None = None
    """The first check that does not hold."""
    problem: str = ""
    """Why it could not be evaluated; "" where it could."""
    notes: tuple[str, ...] = ()
    """Lines about the branch that was checked, and about its first failed call."""
    hint: str = ""

    @property
    def points(self) -> int:
        """The checks that hold, up to the first one that does not."""
        return len(self.checks) - (self.fails is not None)

    @property
    def passed(self) -> bool:
        """Whether all checks hold."""
        return self.fails is None

    @property
    def message(self) -> str:
        """One line: how many checks hold, and which one does not. It gives no hint."""
        fails = "" if self.passed else f" {self.checks[-1]}"
        text = f"{self._word}: {self.points} of {self.of} checks hold.{fails}"
        return printable(text, LINES)

    def __repr__(self) -> str:
        return self.message

    @property
    def task(self) -> Task:
        """How the exercise stands, for the panel."""
        lines = filter(None, [*self.checks, *self.notes, self.hint])
        return Task(self.title, joined("\n", lines), self.passed)

    @property
    def _word(self) -> str:
        return "Passed" if self.passed else "Not done yet"

    @property
    def page(self) -> Page:
        """How the exercise stands, for the learner."""
        data = {"exercise": self.name, "passed": self.passed, "held": self.points, "of": self.of}
        lines = (f"- {line}" for line in [*self.checks, *self.notes])
        title = f"**{self._word}: {self.title}**"
        return Page("\n".join([title, "", *lines, "", self.hint]).rstrip(), {MIME: data})


def check_exercise(exercise: Exercise, context: CheckContext, limit: float = LIMIT) -> CheckResult:
    """Return how an exercise stands. Raises KeyboardInterrupt alone."""
    lines, of = list[str](), len(exercise.checks)
    for check in exercise.checks:
        holds, problem = _evaluate(check, context, limit)
        if not holds:
            parts = [f"✗ {check.sentence.removesuffix('.')}", *filter(None, [problem])]
            lines.append(joined(": ", parts))
            notes = _failed_call(context.session_for(check))
            result = CheckResult(exercise.name, exercise.title, of, tuple(lines))
            return replace(result, fails=check, problem=problem, notes=notes)
        lines.append(f"✓ {check.sentence}")
    return CheckResult(exercise.name, exercise.title, of, tuple(lines))


def _failed_call(session: Session | None) -> tuple[str, ...]:
    calls = session.calls if session is not None else ()
    # The first one alone: the calls after it often fail because of it.
    failed = [call for call in calls if call.status == "failed"][:1]
    return tuple(t("Call %1 failed: %2", call.step, _code(call.error)) for call in failed)


def check_branches(exercise: Exercise, context: CheckContext, limit: float = LIMIT) -> CheckResult:
    """Return how an exercise stands on the branch on which most of its checks hold.

    A learner's code may have left the session on another branch than the one with the solution.
    Where as many checks hold on several, it is the session's own branch, else the newest.
    """
    best = check_exercise(exercise, context, limit)
    session = context.session_for(best.fails) if best.fails is not None else None
    if session is None:
        return best
    others = {head: name for name, head in session.branch_names.items() if head != session.head}
    for head, name in [*others.items()][: -BRANCHES - 1 : -1]:
        result = check_exercise(exercise, replace(context, session=session.fork(head)), limit)
        if result.points > best.points:
            branch = t("This is the branch %1.", f"`{name}`")
            best = replace(result, notes=(branch, *result.notes))
        if best.passed:
            break
    return best


def _evaluate(check: Check, context: CheckContext, limit: float) -> tuple[bool, str]:
    """Return whether a check holds, and in one line of Markdown what it raised."""
    try:
        # Copying a value calls methods of its class, so it is limited too.
        return with_time_limit(limit, lambda: _holds(check, context)), ""
    except OutOfTime:
        return False, t("it took longer than %1 seconds", f"{limit:g}")
    except KeyboardInterrupt:
        raise
    except NameError as error:
        return False, context.missing(error.name) if error.name else _code(error_text(error))
    except Absent:
        return False, t("its value is not in this kernel: run the cells above first")
    except BaseException as error:
        return False, _what_was_raised(error)


def _what_was_raised(error: BaseException) -> str:
    """Return in words what an expression came upon, or what the code that it called raised."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    if frame.f_code.co_filename == EXPRESSION:
        match error:
            case AttributeError(name=str(name)):
                return t("a %1 has no %2", _code(type(error.obj).__name__), _code(name))
            case IndexError():
                return t("there are fewer items than the task asks for")
            case KeyError(args=[key]):
                return t("there is no %1", _code(repr(key)))
    return _code(error_text(error))


def _holds(check: Check, context: CheckContext) -> bool:
    # Not in a sandbox: the author of an exercise is trusted as the author of a cell is.
    code = compile(check.expression, EXPRESSION, "eval")
    return bool(eval(code, context.values(check.names)))


def _code(text: str) -> str:
    """Return a text as code in one line; nothing in it can end the code."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{shortened_text(line, 120)}`"


# -- code that ends at a time limit: it runs in a thread that can be given up -----------------


class OutOfTime(Exception):
    """The time limit is over."""


def with_time_limit(seconds: float, function: Callable[[], T]) -> T:
    """Return what a function returns, which runs in a thread of its own.

    Raises OutOfTime if it takes longer, KeyboardInterrupt if a person interrupts it, and what the
    function raises.
    """
    # A thread can be given up: no interrupt has to find its way out of foreign code in this one.
    ends: SimpleQueue[Callable[[], T]] = SimpleQueue()
    may_end = threading.Lock()

    def run() -> None:
        with contextlib.suppress(SystemExit):
            try:
                result = function()
                end = lambda: result  # noqa: E731
            except BaseException as error:
                end = partial(_raise, error)
            with may_end:
                ends.put(end)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    end: Callable[[], T] | None = None
    # An interrupt anywhere but in the wait would leave the thread, or a lock of Python's own.
    with Hold():
        thread.start()
        try:
            with contextlib.suppress(Empty):
                end = interruptible(ends.get, True, seconds)
        finally:
            # The code may catch what is raised in it, and a call into C has to end first.
            last = monotonic() + GIVEN_UP
            while thread.is_alive() and monotonic() < last:
                with may_end:
                    has_ended = end is not None or not ends.empty()
                    is_raised = has_ended or end_thread(thread.ident or 0)
                thread.join(AGAIN if is_raised else SOON)
    if end is None:
        raise OutOfTime
    return end()


def _raise(error: BaseException) -> NoReturn:
    raise error


# -- pages, and the results that notebooks show ---------------------------------------------


def shown_results(cells: Iterable[Mapping[str, object]]) -> list[tuple[str, int, int]]:
    """Return the results of checks that the outputs of cells show, in their order.

    Of each the exercise, how many checks hold, and of how many. Raises LookupError, ValueError or
    OverflowError for data that no check wrote.
    """
    shown = shown_data(cells, MIME)
    return [(str(data["exercise"]), int(data["held"]), int(data["of"])) for data in shown]


def shown_data(cells: Iterable[Mapping[str, Any]], mime: str) -> Iterator[Mapping[str, Any]]:
    """Yield the data of a type that the outputs of cells show, in their order."""
    outputs = (output for cell in cells for output in cell.get("outputs", ()))
    yield from filter(None, (output.get("data", {}).get(mime) for output in outputs))
