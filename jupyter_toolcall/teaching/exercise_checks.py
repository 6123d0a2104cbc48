"""Evaluates the checks of an exercise: on request only, on copies, with a time limit.

An expression is code of the exercise's author, and runs with the rights of the kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError, UsageError
from ..core.text import nearest
from ..engine.execution import error_text
from ..models.scripted import Scripted
from ..session.session import Session
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from ..tools.value_copies import private
from .exercise_file import Check, Exercise
from .guess_scores import NO_POINTS, Points
from .time_limit import OutOfTime, with_time_limit

LIMIT = 5.0
"""Seconds that one check may take."""
LONGEST = 120
"""Characters of an error that the learner sees."""


class CheckedSession:
    """What an expression can read of a session: it has nothing that changes the session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """Copies of all calls, in order."""
        calls: tuple[CallRecord, ...] = private(self._session.calls)[0]
        return calls

    @property
    def outputs(self) -> Mapping[str, Any]:
        """Copies of the outputs that were saved, by name."""
        return self._session.outputs

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of all objects, oldest first."""
        return self._session.objects

    @property
    def text(self) -> str:
        """The text of the model's last reply."""
        return self._session.text

    @property
    def scheme(self) -> str:
        """The name of the scheme."""
        return self._session.state.opened.scheme

    @property
    def offered(self) -> tuple[tuple[str, ...], ...]:
        """The names of the tools that the model was offered, turn by turn."""
        requests = self._session.requests
        return tuple(tuple(tool.name for tool in each.request.tools) for each in requests)

    def __getitem__(self, name: str) -> Any:
        """Return a copy of the value of an object."""
        return self._session[name]

    def called(self, tool: str, /, **arguments: Any) -> list[CallRecord]:
        """Return the calls of a tool that have a result, with these arguments among theirs."""
        return [
            call
            for call in self.calls
            if call.tool == tool and call.status in ("succeeded", "answered")
            if all(name in call.arguments for name in arguments)
            if all(call.arguments[name] == value for name, value in arguments.items())
        ]

    def made_from(self, name: str) -> tuple[str, ...]:
        """Return the objects that an object, or an output, was made from, with their own."""
        state = self._session.state
        return self._session.deps(str(state.outputs.get(name, name)), all=True)


def tool_of(function: Any) -> Tool:
    """Return the tool that a model is offered of a function. Raises DefinitionError."""
    tools = list(Toolbox(function))
    if len(tools) != 1:
        raise UsageError(f"it holds {len(tools)} tools; a function is one")
    return tools[0]


def run_tool(function: Any, /, **arguments: Any) -> Any:
    """Return the result of a tool, called as a model calls it, as JSON. Raises CallError."""
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
    score: Points = NO_POINTS
    """Of the guesses of the session's last cell."""
    session_name: str = ""
    """As the exercise names its session, "" where it is the one that ran last."""

    def values(self, names: Set[str]) -> dict[str, Any]:
        """Return copies of the values that have these names."""
        own = {"score": self.score, "tool_of": tool_of, "run_tool": run_tool}
        outputs: Mapping[str, Any] = {}
        if self.session is not None:
            own["session"] = CheckedSession(self.session)
            if names & self.session.state.outputs.keys():
                outputs = self.session.outputs
        values: dict[str, Any] = {}
        for name in names:
            if name in own:
                values[name] = own[name]
            elif name == "session":
                continue  # never another one, which the notebook may call so
            elif name in outputs:
                values[name] = outputs[name]
            elif isinstance(value := self.variables.get(name), Session):
                values[name] = CheckedSession(value)
            elif name in self.variables:
                values[name] = private(value)[0]
        return values

    def missing(self, name: str) -> str:
        """Return that there is no such name, and the nearest that there is."""
        if name == "session" and self.session_name:
            return f"there is no session `{self.session_name}` yet"
        if name == "session":
            return "there is no session yet: run the cell that begins with %%toolchat"
        outputs = self.session.state.outputs if self.session is not None else ()
        known = [*outputs, *(each for each in self.variables if not each.startswith("_"))]
        return f"there is no `{name}` yet.{nearest(name, known)}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an exercise stands: the checks that hold, and the first one that does not."""

    exercise: Exercise
    held: tuple[Check, ...] = ()
    fails: Check | None = None
    problem: str = ""
    """Why the check could not be evaluated; "" where it could."""

    @property
    def passed(self) -> bool:
        return self.fails is None


def check_exercise(exercise: Exercise, context: CheckContext, limit: float = LIMIT) -> Verdict:
    """Return how an exercise stands. Raises KeyboardInterrupt alone."""
    for number, check in enumerate(exercise.checks):
        holds, problem = _evaluate(check, context, limit)
        if not holds:
            return Verdict(exercise, exercise.checks[:number], check, problem)
    return Verdict(exercise, exercise.checks)


def is_about(exercise: Exercise, session: str, outputs: Collection[str]) -> bool:
    """Return whether an exercise is about a session of this name, which makes these outputs.

    One that replays a recording is about the cell that replays the exercise alone.
    """
    if exercise.replays:
        return False
    if exercise.session:
        return exercise.session == session
    return any(check.names & {"session", "score", *outputs} for check in exercise.checks)


def _evaluate(check: Check, context: CheckContext, limit: float) -> tuple[bool, str]:
    """Return whether a check holds, and in one line of Markdown what it raised."""
    try:
        # Copying runs the code of others too.
        return with_time_limit(limit, lambda: _holds(check, context)), ""
    except OutOfTime:
        return False, f"it took longer than {limit:g} seconds"
    except KeyboardInterrupt:
        raise
    except NameError as error:
        return False, context.missing(error.name) if error.name else _code(error_text(error))
    except Absent:
        return False, "its value is not in this kernel: run the cells above first"
    except BaseException as error:
        return False, _code(error_text(error))


def _holds(check: Check, context: CheckContext) -> bool:
    # Not in a sandbox: the author of an exercise is trusted as the author of a cell is.
    return bool(eval(check.expression, context.values(check.names)))


def _code(text: str) -> str:
    """Return a text as code in one line; nothing in it can end the code."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{line if len(line) <= LONGEST else f'{line[:LONGEST]}…'}`"
