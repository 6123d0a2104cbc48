"""What a person sees of a call: a step, its edges in the graph, and the tool that it is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CallStatus = Literal[
    "proposed",
    "approved",
    "running",
    "succeeded",
    "failed",
    "rejected",
    "answered",
    "interrupted",
    "unknown",
]


@dataclass(frozen=True, slots=True)
class Use:
    """An argument of a call that names an object: an edge of the graph."""

    parameter: str
    object: str
    """The id of an ObjectRow."""
    receiver: bool = False
    """The edge of the main line; the others are drawn thin, with the parameter's name."""
    input: bool = False
    """The object is an input: no call made it."""


@dataclass(frozen=True, slots=True)
class CallRow:
    """A step. `id` is unique over all branches."""

    id: str
    call: str
    """The call's id within its session: what commands name."""
    tool: str
    step: int
    turn: int
    status: CallStatus = "proposed"
    branch: str = ""
    memory: bool = False
    """Its result came from memory."""
    edited: bool = False
    saves: bool = False
    """It hands over what was asked for: `save`, where it is not a tool of the person's own."""
    stale: bool = False
    """The model may have decided it on something that has since changed."""
    outdated: str = ""
    """Why it would come out otherwise today, where it would."""
    notes: tuple[str, ...] = ()
    """What a person is told of its run: inputs that it changed, results that are not kept."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As they run, or ran."""
    asked: Mapping[str, Any] | None = None
    """What the model asked for, where something else runs."""
    filled: tuple[str, ...] = ()
    """The arguments that the model left out and the scheme filled in."""
    uses: tuple[Use, ...] = ()
    object: str = ""
    """The id of the ObjectRow that it made, returned, or will make."""
    what: str = ""
    """One line: `Potato#1, sink Sink#1`. The object that it made is not in it."""
    result: str = ""
    """A scalar result, or what the model was told, as text; capped."""
    error: str = ""
    reason: str = ""
    ms: float = 0
    prints: str = ""
    why: str = ""
    """Why it waits: one sentence."""
    again: bool = False
    """It was decided once, and is asked about again; `why` says why."""
    may_have_run: bool = False
    """It is recorded where this kernel cannot rely on it, so a person decides; `why` says why."""
    recorded: str = ""
    """The recorded result of such a call, where it can be kept."""
    downstream: str = ""
    """What follows from it: one sentence."""
    bound: str = ""
    """The digest of exactly what will run; a decision must carry it."""
    column: float = 0
    """Where in the graph a call stands that came to nothing, such as one that failed."""
    lane: float = 0
    """0 for one that has no place: it used no object."""


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool, for the edit form and the card. `id` is its name."""

    id: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schema. A string with the pattern `^Potato#[1-9][0-9]*$` names a Potato."""
    read_only: bool = False
    for_person: bool = False
    """A request to the person: it is answered or rejected, and never runs."""
