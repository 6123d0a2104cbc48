"""What a session is as code: a row of `Words` and `Line`s, and what they need.

How they look on paper is up to a format; where tools and values are found, to a `World`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..events import Made, Producer
from ..state.call import CallRecord
from .callees import Callee
from .code import Code, is_name
from .definitions import Definitions
from .texts import Texts

Who = Literal["You", "Model", "Session"]


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody said."""

    who: Who
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A statement (or nothing), with what is said of it above and behind."""

    code: Code | None = None
    above: tuple[str, ...] = ()
    behind: str = ""
    open: bool = False
    """It is for the person to fill in."""


@dataclass(frozen=True, slots=True)
class Script:
    """A session as code."""

    title: str
    given: tuple[Line, ...] = ()
    beats: tuple[Words | Line, ...] = ()
    saved: tuple[Line, ...] = ()
    defined: Definitions = field(default_factory=Definitions)
    made: bool = False
    """Something is made out of its attributes."""
    todo: int = 0
    """How many lines are for the person to fill in."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a session is written: calls (by id), objects (by producer), instances (by name)."""

    calls: frozenset[str] = frozenset()
    objects: frozenset[Producer] = frozenset()
    instances: frozenset[str] = frozenset()


class World(Protocol):
    """Where a session's tools and values are found: in this process, or in a file."""

    @property
    def texts(self) -> Texts: ...

    def is_tool(self, name: str) -> bool:
        """Return whether a call was one of the session's tools, and not of its scheme's own."""

    def callee(self, call: CallRecord, instance: Code | None) -> Callee:
        """Return how a call's tool is called. Raises Unwritable."""

    def changed(self, call: CallRecord) -> str:
        """Say what of a call's tool is another than it was when it ran, "" for nothing."""

    def receiver(self, call: CallRecord) -> str:
        """Return the argument that names the object which a call is a method of, or ""."""

    def arguments(self, call: CallRecord, lent: Lent) -> dict[str, Code]:
        """Return the arguments as they reached the function. Raises Unwritable."""

    def value(self, made: Made) -> Any:
        """Return an object's value. Raises Absent, Unwritable."""

    def instance(self, name: str, given: str) -> Any:
        """Return a stateful instance as it was given. Raises Absent, Unwritable."""

    def is_shared(self, made: Made) -> bool:
        """Return whether a call gets an object itself, and no copy of it."""

    def instance_variable(self, name: str) -> str:
        """Return the notebook's variable that holds a stateful instance, "" for none."""


class Lent(Protocol):
    """From an object's name to the code that a call gets it by."""

    def __call__(self, name: str) -> Code: ...


# -- names --------------------------------------------------------------------------------


def variables(names: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return a variable for each object: `potato_2` for `Potato#2`."""
    found: dict[str, str] = {}
    used = set(taken)
    for name in names:
        kind, _, number = name.partition("#")
        bare = re.sub(r"\W", "_", kind).lower()
        made = f"{bare if is_name(bare) else f'object_{bare}'}_{number}"
        while made in used or not is_name(made):
            made = f"{made}_" if is_name(f"{made}_") else f"object_{len(used)}"
        used.add(made)
        found[name] = made
    return found
