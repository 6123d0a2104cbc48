"""`Tool`, what a model can call, and `@tool`, which marks a function; see toolbox.py too."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass, field, fields, replace
from types import FunctionType
from typing import Any, TypeVar, overload

from ..core.errors import DefinitionError, checked_text
from ..core.interrupts import attempt
from ..core.recorded_data import JsonDict, JsonObject, recorded
from ..core.text import visible_text
from .executors import AnyExecutor, executor_named
from .object_references import kinds_in
from .running_tool import InputResponse
from .tool_version import parts_of

Resolve = Callable[[str, tuple[type, ...]], Any]
"""From an object's name, and the types that fit, to its value. Raises CallError."""
Check = Callable[[JsonObject, Resolve], JsonDict]
"""From a model's arguments to the values that the function takes. Raises CallError."""
CheckAnswer = Callable[[Any, Resolve], None]
"""Checks what a person answers in a tool's place. Raises CallError."""
Fill = Callable[[JsonObject, JsonObject], JsonDict]
"""From the model's arguments and the session's variables to what runs. Raises CallError."""
Resume = Callable[[Any, Mapping[str, InputResponse], Mapping[str, Any]], Any]
"""From a round's state, the person's responses by key, and the arguments to the call's result.

Raises InputRequired for another round. It may be async."""
Validator = Callable[..., object]
"""A person's `check` of arguments: it takes the values as keywords, and returns None or True.

Raises ValueError, AssertionError or CallError with what is wrong."""
Effect = Callable[[Mapping[str, Any], str], str]
"""From the values that a function takes, and the model's name, to a sentence; "" for nothing."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a tool's function returns that changes variables of the session."""

    result: Any
    variables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """The Python code of a tool: a function, or the attribute `name` of the class `owner`."""

    function: Callable[..., Any]
    owner: type | None = None
    name: str = ""
    static: bool = False
    """It is called on the class itself."""
    receiver: str = ""
    """The argument that names its object, "" for that of an instance."""
    marked: Any = None
    """What `@tool` may have marked, where that is not the function."""
    overriding: tuple[tuple[type, Any], ...] = ()
    """The subclasses whose methods run in its place for their objects, with these methods."""


def unchanged(arguments: Mapping[str, object], context: object) -> JsonDict:
    """Return the arguments as they are: the `check` and the `fill` of a tool without its own."""
    return dict(arguments)


def accepted(result: object, resolve: Resolve) -> None:
    """Accept any result: the `check_answer` of a tool whose annotation says nothing."""


@recorded(copies="parameters")
@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model gets of a tool: data alone, and nothing that runs."""

    name: str
    description: str = ""
    parameters: JsonObject = field(default_factory=dict)
    kind: str = field(default="", kw_only=True)
    """The type of object that it is a function of, "" for a plain function."""
    receiver: str = field(default="", kw_only=True)
    """The argument that names that object; left out, the newest object of the type is taken."""

    def definition(self) -> JsonDict:
        """Return what a model is shown: its `name`, `description` and `parameters`."""
        return {name: getattr(self, name) for name in ("name", "description", "parameters")}


@recorded("variables", "pinned")
@dataclass(frozen=True, slots=True)
class Tool(ToolDefinition):
    """Something that a model can call.

    `Toolbox` makes tools from functions and classes. Write one yourself where a tool has no
    Python signature, such as a request to a server.

    Arguments:
        name: letters, digits, `_`, `-` and `.`, at most 200 characters. Where a provider takes
            less, it is sent a short form of the name.
        description: what the model reads about it.
        parameters: the JSON Schema of its arguments, of type `object`.
        function: what runs. It takes what `check` returns, as keywords. An async function
            is awaited.
        check: validates the arguments of a call and returns what the function takes.
            Without one they are passed as they are.
        read_only: it changes nothing, so the policy `ask` runs it without asking. It gets arrays
            and tables without a copy of their memory; who writes to that gets an error.
        idempotent: it may run again after a crash without asking.
        destructive: it may delete or overwrite data; the card of a call says so.
        untrusted: others write what it returns, such as a web page or a mail.
        external: a call of it reaches others: it sends, pays or posts, or what it looks up leaves
            this computer.
        pure: its result depends on its arguments alone, and it has no effect.

    The other fields are described below; `Toolbox` and the sources of tools fill them in.

    Raises:
        CallError: by `check`, `fill` and `function`; the model reads its text.

    Example:
        >>> double = Tool(
        ...     "double",
        ...     "Return twice a number.",
        ...     {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        ...     lambda n: 2 * n,
        ...     read_only=True,
        ... )
        >>> double.definition()["description"], double.repeatable
        ('Return twice a number.', True)
    """

    function: Callable[..., Any] = field(default=dict, repr=False, compare=False)
    check: Check = field(default=unchanged, repr=False, compare=False)
    read_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    untrusted: bool = field(default=False, compare=False)
    external: bool = field(default=False, compare=False)
    pure: bool = field(default=False, compare=False)
    returns: str = ""
    """The type of the object that its annotation says it returns, "" for none."""
    result: str = field(default="", compare=False)
    """What its annotation says it returns, as it is written; "" where it says nothing."""
    check_answer: CheckAnswer = field(default=accepted, repr=False, compare=False)
    """Checks a result that a person gives in its place. Raises CallError."""
    makes: tuple[str, ...] | None = None
    """The types of object that it may create; None if its annotation does not say."""
    instance: str = ""
    """The name of the stateful instance that it works on, "" for none. Calls of tools with one
    `instance` run one after the other on that instance."""
    subject: Any = field(default=None, repr=False, compare=False)
    """That instance."""
    version: Callable[[], str] = field(default=str, repr=False, compare=False)
    """The digest of its source, computed when it is first needed."""
    group: str = ""
    """The type or the instance that it belongs to: the first part of its name."""
    about: str = field(default="", compare=False)
    """The description of that type or instance."""
    fill: Fill = field(default=unchanged, repr=False, compare=False)
    """What runs for the model's arguments; arguments that a person wrote run as they are."""
    reads: tuple[str, ...] = ()
    """The session variables that it reads; its function gets them as `variables`."""
    variables: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The values of session variables at the start."""
    for_person: bool = False
    """A request to a person: it is answered or rejected, and never runs."""
    origin: Origin | None = field(default=None, repr=False, compare=False)
    """None if it is no Python code: a request to a server, or to a person."""
    keeps_arguments: bool = False
    """It promises not to change its arguments, and to keep no reference to its result: it gets the
    objects themselves, without private copies, which large tables would pay for."""
    server: str = ""
    """The MCP server that runs it, "" for none: a person reads before a call that its arguments are
    sent there, and verifying a session takes its recorded results."""
    pinned: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Of a tool of a server: what the server says of it, by part, such as its `description`."""
    current: Callable[[], Tool | None] | None = field(default=None, repr=False, compare=False)
    """Asks the server before a call, and returns the tool as it is now where it has changed. Raises
    CallError where the server does not have it any more, or does not answer."""
    changed: str = field(default="", compare=False)
    """What its server changed since it was shown, so that a person is asked about its calls."""
    effect: Effect | None = field(default=None, repr=False, compare=False)
    """What a call does that its result does not show, for the person who decides: what is sent to
    the model's provider, or which file is replaced."""
    executor: Executor | bool = field(default=False, repr=False, compare=False)
    """Where it runs: True on the session's executor if it has one, False in the kernel's main
    thread, or on an executor of its own."""
    max_result: int | None = field(default=None, compare=False)
    """Characters of a result that the model is sent, None for the session's limit."""
    resume: Resume | None = field(default=None, repr=False, compare=False)
    """How a call goes on once the person responded to what `function` asked for by raising
    InputRequired."""
    ends_run: bool = field(default=False, compare=False)
    """After a call of it that succeeded, the model is not asked again until the next prompt."""
    validator: Validator | None = field(default=None, repr=False, compare=False)
    """The `check` of `@tool`: it judges arguments that fit, before anybody decides on the call."""
    sees_withheld: bool = field(default=False, compare=False)
    """The model reads its results and errors, also of a table that has withheld columns."""
    leaves_out_withheld: bool = field(default=False, compare=False)
    """Its results and errors do not depend on the withheld columns of a table."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was read as what, where its definition has another form or dialect than ours."""
    offered: ToolDefinition = field(init=False, repr=False, compare=False)
    """What a model gets of it."""

    def __post_init__(self) -> None:
        _check_marks(f"the tool {self.name!r}", self)
        shown = self.name, self.description, parameters_schema(self)
        offered = ToolDefinition(*shown, kind=self.kind, receiver=self.receiver)
        object.__setattr__(self, "offered", offered)

    @property
    def repeatable(self) -> bool:
        """Whether it may run again without asking when its result is no longer at hand."""
        return self.read_only or self.idempotent

    @property
    def takes(self) -> tuple[str, ...]:
        """The types of object that its arguments name, in the order of the arguments."""
        return tuple(dict.fromkeys(kinds_in(parameters_schema(self))))

    @property
    def other_code(self) -> Mapping[str, Callable[..., object]]:
        """What runs beside its function, and so is part of its version, by role."""
        functions = {"resume": self.resume, "its check": self.validator}
        origin = self.origin or Origin(self.function)
        functions |= {f"{cls.__name__}.{origin.name}": f for cls, f in origin.overriding}
        return {role: function for role, function in functions.items() if function is not None}

    def parts(self) -> Mapping[str, str]:
        """Return the digests of the code that it runs: of its own function (""), of each helper.

        Of a tool of a server they are what is `pinned`.
        """
        if self.origin is None:
            return self.pinned or {"": self.version()}
        return parts_of(self.origin.function, self.origin.owner, **self.other_code)


def pinned_change(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return what a server changed in the definition of a tool, with the texts around it.

    >>> pinned_change({"description": "Add."}, {"description": "Add, and mail it."})
    'its description was "Add.", and is "Add, and mail it."'
    """
    names = (name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name))
    texts = ((name, before.get(name, ""), now.get(name, "")) for name in names)
    return "; ".join(
        f"its {name} was {_around(was, text)}, and is {_around(text, was)}"
        for name, was, text in texts
    )


def _around(text: str, other: str) -> str:
    """Return the part of a text where it begins to differ from another one, in quotes."""
    same = 0
    while same < len(text) and text[same] == other[same : same + 1]:
        same += 1
    begin = max(0, same - 40)
    part = visible_text(text[begin : same + 80], 140)
    return f'"{"…" * (begin > 0)}{part}{"…" * (same + 80 < len(text))}"' if text else "empty"


def parameters_schema(tool: ToolDefinition) -> JsonObject:
    """Return the JSON Schema of a tool's parameters itself, to read: a copy each time costs more.

    Foreign code gets `tool.parameters`, which is a copy.
    """
    schema: JsonObject = vars(ToolDefinition)["parameters"].fget.read(tool)
    return schema


def default_arguments(tool: Tool) -> JsonDict:
    """Return the values of the arguments that a call may leave out, by the tool's schema."""
    properties = parameters_schema(tool).get("properties", {})
    return {name: part["default"] for name, part in properties.items() if "default" in part}


_MARKS = ["read_only", "idempotent", "destructive", "untrusted", "external", "pure"]
_MARKS += ["sees_withheld", "ends_run"]


def _check_marks(what: str, marked: Tool | ToolOptions) -> None:
    """Raise DefinitionError, which begins with `what`, for marks that are none, such as the text
    "no", which would count as a yes, or that contradict one another."""
    for mark in _MARKS:
        if type(value := getattr(marked, mark)) is not bool:
            raise DefinitionError(f"{what}: {mark} is {value!r:.60}; write True or False")
    changes_nothing = marked.read_only or marked.pure
    if (marked.destructive and changes_nothing) or (marked.pure and marked.external):
        raise DefinitionError(f"{what}: read_only and pure say that a call changes nothing")
    limit = marked.max_result
    if limit is not None and (type(limit) is not int or limit < 1):
        raise DefinitionError(f"{what}: max_result is {limit!r:.60}; give a count of characters")


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """The arguments of `@tool`; None means what the function itself says."""

    read_only: bool = False
    idempotent: bool = False
    name: str | None = None
    description: str | None = None
    resume: Resume | None = None
    executor: Executor | bool = False
    destructive: bool = False
    max_result: int | None = None
    sees_withheld: bool = False
    ends_run: bool = False
    validator: Validator | None = None
    untrusted: bool = False
    external: bool = False
    pure: bool = False

    def __post_init__(self) -> None:
        _check_marks("@tool", self)
        checked_text(self.name or "", "@tool: name")
        checked_text(self.description or "", "@tool: description")
        if self.validator is not None and not callable(self.validator):
            raise DefinitionError(f"@tool: check is {self.validator!r:.60}; give a function")
        if inspect.iscoroutinefunction(self.validator):
            raise DefinitionError("@tool: check is async; it has to be an ordinary function")

    def __reduce__(self) -> tuple[Any, ...]:
        # A function that is sent to a worker has these beside it. A pool stays where it is, and
        # arguments are checked in the kernel.
        sent = replace(self, executor=bool(self.executor), validator=None)
        return ToolOptions, tuple(getattr(sent, option.name) for option in fields(sent))

    def of_tool(self) -> JsonDict:
        """Return the options that are fields of the tool, by name."""
        names = (option.name for option in fields(self))
        return {name: getattr(self, name) for name in names if name not in ("name", "description")}


_OPTIONS = "__toolcall__"
"""The attribute of a function that holds its options."""
METHODS_OF_FUNCTOOLS = (functools.partialmethod, functools.singledispatchmethod)
F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F) -> F: ...
@overload
def tool(
    function: None = None,
    *,
    read_only: bool = False,
    idempotent: bool = False,
    destructive: bool = False,
    untrusted: bool = False,
    external: bool = False,
    pure: bool = False,
    name: str | None = None,
    description: str | None = None,
    resume: Resume | None = None,
    executor: AnyExecutor | bool = False,
    max_result: int | None = None,
    sees_withheld: bool = False,
    ends_run: bool = False,
    check: Validator | None = None,
) -> Callable[[F], F]: ...
def tool(
    function: Callable[..., object] | None = None,
    *,
    read_only: bool = False,
    idempotent: bool = False,
    destructive: bool = False,
    untrusted: bool = False,
    external: bool = False,
    pure: bool = False,
    name: str | None = None,
    description: str | None = None,
    resume: Resume | None = None,
    executor: AnyExecutor | bool = False,
    max_result: int | None = None,
    sees_withheld: bool = False,
    ends_run: bool = False,
    check: Validator | None = None,
) -> Any:
    """Say how a function or a method is used as a tool: `@tool` or `@tool(read_only=True)`.

    Arguments:
        function: the function, when the decorator is written without parentheses.
        read_only: it changes nothing, so the policy `ask` runs it without asking. It gets arrays
            and tables without a copy of their memory; who writes to that gets an error.
        idempotent: it may run again after a crash without asking.
        destructive: it may delete or overwrite data outside of the kernel; the card of a call
            says so, and so do the hints that an MCP client gets.
        name: the name of the tool, after the name of its class; without it, that of the function.
        description: what the model reads; without it, the docstring.
        resume: how a call goes on once the person responded to what the function asked for; see
            `InputRequired`.
        executor: where it runs: True on the session's executor, if it has one; a
            `concurrent.futures.Executor`, a client of Dask or ipyparallel, "threads",
            "processes", "dask" or "dask:ADDRESS"; False in the kernel.
        max_result: how many characters of a result the model is sent; it reads on by
            `read_result`. None for the session's limit.
        sees_withheld: the model reads its results and errors also of a table with withheld
            columns. Otherwise such a result is an object of which the model gets the name and
            the type, and of an error it gets the class and the line.
        untrusted: others write what it returns, such as a web page, a mail or a file. The policy
            `flow` asks about calls that may follow from it, and a rule runs no call with an
            argument from there.
        external: a call reaches others: it sends, pays or posts, or an address or a query that it
            looks up leaves this computer. The policy `flow` asks about it.
        pure: its result depends on its arguments alone, and it has no effect: it reads no file,
            clock or variable, and prints at most. While a call waits, the panel runs it on copies
            and shows what would come of it; `Approve` takes that result.
        ends_run: once a call of it has succeeded, and the other calls of that reply have ended,
            the model is not asked again until the next prompt. A call that failed or was
            rejected does not end the run.
        check: a function that judges the arguments of a call before anybody decides on it, and
            those of an edit. It gets the values as keywords: an object as a copy of its value,
            that of a method as the name of its class, and no argument that was left out. It
            raises ValueError, AssertionError or CallError with a sentence that the model and
            the person read, or returns None or True. It may run several times for one call, so
            it must only read.

    Returns:
        The function itself, which is called as before; a copy of one that is marked otherwise
        already, so that both can be tools.

    Raises:
        DefinitionError: it cannot be both read-only and destructive, or pure and external; `check`
            is no function, or it is async; what is marked keeps no options, such as a class.

    Example:
        >>> from jupyter_toolcall import Toolbox
        >>> @tool(read_only=True, name="count_words")
        ... def count(text: str) -> int:
        ...     return len(text.split())
        >>> count("one two")
        2
        >>> Toolbox(count)["count_words"].read_only
        True

        A call of this tool fails before anybody is asked about it if the sum is too large, and
        the run ends with one that succeeded:

        >>> def within_limit(cents: int) -> None:
        ...     if cents > 10_000:
        ...         raise ValueError("pay at most 100.00 at once")
        >>> @tool(ends_run=True, check=within_limit)
        ... def pay(cents: int) -> str:
        ...     "Pay the bill. This is the last step."
        ...     return f"paid {cents / 100:.2f}"
        >>> from jupyter_toolcall import Scripted, Session
        >>> replies = Scripted([("pay", {"cents": 20_000}), ("pay", {"cents": 9_000}), "Never."])
        >>> session = Session(Toolbox(pay), replies, scheme="flat", approve="all")
        >>> [call.result or call.error for call in session.tell("Pay.").run().calls]
        ['pay: pay at most 100.00 at once', 'paid 90.00']
    """

    # A worker that imports a tool's module connects to nothing.
    if not isinstance(executor, bool):
        executor = executor_named(executor, "executor", connect=False)
    named = name, description, resume
    about_result, marks = (destructive, max_result, sees_withheld), (untrusted, external, pure)
    options = ToolOptions(
        read_only, idempotent, *named, executor, *about_result, ends_run, check, *marks
    )

    def mark(marked: Callable[..., object]) -> Callable[..., Any]:
        is_function = inspect.isroutine(marked) or isinstance(marked, functools.partial)
        if is_function and getattr(marked, "__dict__", {}).get(_OPTIONS, options) != options:
            marked = _copied(marked)
        if not is_function or attempt(setattr, marked, _OPTIONS, options)[1]:
            raise DefinitionError(f"@tool: {marked!r:.60} keeps no options; mark a function")
        return marked

    return mark if function is None else mark(function)


def _copied(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function that does the same, and has attributes of its own."""
    if not isinstance(function, FunctionType):
        return functools.partial(function) if isinstance(function, functools.partial) else function
    copied = FunctionType(function.__code__, function.__globals__, closure=function.__closure__)
    for name in (*functools.WRAPPER_ASSIGNMENTS, "__defaults__", "__kwdefaults__", "__dict__"):
        setattr(copied, name, copy(getattr(function, name)))
    return copied


def tool_options(function: object) -> ToolOptions:
    """Return the arguments of a function's outermost `@tool`, or the defaults if it has none."""
    options, held = getattr(function, _OPTIONS, None), held_function(function)
    if isinstance(options, ToolOptions):
        return options
    return ToolOptions() if held is None else tool_options(held)


def held_function(function: object) -> Any:
    """Return what a partial, a dispatching, static or bound method calls; None for others."""
    is_partial = isinstance(function, (functools.partial, *METHODS_OF_FUNCTOOLS))
    return getattr(function, "func" if is_partial else "__func__", None)
