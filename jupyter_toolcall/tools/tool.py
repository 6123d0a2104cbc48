"""What can be called: a tool, and a box of tools. How they are made is in the files beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from ..core.errors import CallError
from .object_references import kinds_in
from .tool_version import parts_of

Resolve = Callable[[str, tuple[type, ...]], Any]
"""From an object's name, and the types that fit, to its value. Raises CallError."""
Check = Callable[[Mapping[str, Any], Resolve], dict[str, Any]]
"""From a model's arguments to the values that the function takes. Raises CallError."""


Fill = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
"""From what was asked for, and the session's variables, to what runs. Raises CallError."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a tool's function returns that changes variables of the session."""

    result: Any
    variables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """The Python that a tool is: a function, or what a class has under a name."""

    function: Callable[..., Any]
    owner: type | None = None
    name: str = ""
    static: bool = False
    """It is called on the class itself."""


def as_asked(arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as they are."""
    return dict(arguments)


def unchecked(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
    """Return the arguments as they are."""
    return dict(arguments)


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a model can call.

    `parameters` is the JSON Schema of its arguments. `read_only` says that it changes
    nothing; `idempotent` that it may run again unasked after a crash. `kind` is the type
    that it is a function of ("" for a plain function) and `receiver` the argument that
    names the object, filled in where it is left out. Calls of tools with one `instance`
    follow one another on that instance.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[..., Any] = field(default=dict, repr=False, compare=False)
    check: Check = field(default=unchecked, repr=False, compare=False)
    read_only: bool = False
    idempotent: bool = False
    kind: str = ""
    receiver: str = ""
    returns: str = ""
    """The type of the object that it says to return, "" where it says none."""
    makes: tuple[str, ...] | None = None
    """The types of object that it may make; None where it does not say."""
    instance: str = ""
    """The name of the stateful instance that it works on, "" for none."""
    subject: Any = field(default=None, repr=False, compare=False)
    version: Callable[[], str] = field(default=str, repr=False, compare=False)
    """The digest of its source, computed when it is first asked for."""
    group: str = ""
    """The type or the instance that it is a function of: the first part of its name."""
    about: str = field(default="", compare=False)
    """What that type or instance is."""
    fill: Fill = field(default=as_asked, repr=False, compare=False)
    """What runs for what the model asked for; a person's own arguments run as they are."""
    reads: tuple[str, ...] = ()
    """The session variables that it goes by; its function gets them as `variables`."""
    variables: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What session variables are at the start."""
    for_person: bool = False
    """A request to a person: it is answered or rejected, and never runs."""
    origin: Origin | None = field(default=None, repr=False, compare=False)
    """None where it is no Python: a request to a server, or to a person."""

    @property
    def repeatable(self) -> bool:
        """Whether it may run again unasked where its result is no longer at hand."""
        return self.read_only or self.idempotent

    @property
    def takes(self) -> tuple[str, ...]:
        """The types of object that it can be given, in the order of its arguments."""
        return tuple(dict.fromkeys(kinds_in(self.parameters)))

    def parts(self) -> Mapping[str, str]:
        """Return what it is made of: the digest of its own function ("") and of each part."""
        if self.origin is None:
            return {"": self.version()}
        return parts_of(self.origin.function, self.origin.owner)

    def definition(self) -> dict[str, Any]:
        """Return what a model is told of it, JSON-ready."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }


@dataclass(frozen=True, slots=True)
class Hints:
    """What `@tool` says of a function; None is what the function itself says."""

    read_only: bool = False
    idempotent: bool = False
    name: str | None = None
    description: str | None = None


HINTS = "__toolcall__"


F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F) -> F: ...
@overload
def tool(
    function: None = None,
    *,
    read_only: bool = False,
    idempotent: bool = False,
    name: str | None = None,
    description: str | None = None,
) -> Callable[[F], F]: ...
def tool(
    function: Callable[..., Any] | None = None,
    *,
    read_only: bool = False,
    idempotent: bool = False,
    name: str | None = None,
    description: str | None = None,
) -> Any:
    """Mark a function or a method: `@tool` or `@tool(read_only=True)`; it stays as it is."""

    def mark(marked: Callable[..., Any]) -> Callable[..., Any]:
        setattr(marked, HINTS, Hints(read_only, idempotent, name, description))
        return marked

    return mark if function is None else mark(function)


def hints_of(function: Callable[..., Any]) -> Hints:
    """Return what `@tool` said of a function, or what holds without it."""
    found = getattr(function, HINTS, None)
    return found if isinstance(found, Hints) else Hints()


def misfits(title: str, fields: Mapping[str, str]) -> CallError:
    """Return what is told, in one line, of arguments that do not fit; `fields` are by place."""
    lines = "; ".join(f"{in_a_line(place)}: {said}" for place, said in [*fields.items()][:8])
    return CallError(f"{title}: {lines}"[:2000], dict(fields))


def in_a_line(name: str) -> str:
    """Return a name that a model made up so that it fits into a line."""
    return name if name.isprintable() and len(name) <= 200 else f"{name!r:.200}"
