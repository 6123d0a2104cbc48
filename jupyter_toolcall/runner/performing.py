"""A call as it runs: timed, and its result kept where it is expensive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..events import Decided, Finished, Outcome
from ..state.fold import state_at
from ..state.memory import Memory, Prepared, results_of
from ..state.recorded_calls import recorded_call
from ..state.shape import State
from ..tools import Tool, Toolbox
from ..tools.invoke import invoke
from .running import run

DEAR = 200.0
"""Milliseconds from which on a result is kept, though it could be computed again."""
UNKEPT = "gone when the kernel ends: keeping it was interrupted"


@dataclass(frozen=True, slots=True)
class Performed:
    """What a run came to, and what is written down beside it."""

    outcome: Outcome
    meta: Mapping[str, Any]
    interrupted: bool


def performed(
    ready: Prepared, state: State, memory: Memory, clock: Callable[[], float]
) -> Performed:
    """Run a call, and return what it came to. Raises as `run` does."""
    began = clock()
    ran = run(ready, state, memory, invoke)
    took = milliseconds(began, clock())
    # Before it is written down that there is a result, the result is kept.
    kept, interrupted = _kept(ready, ran.outcome, memory, took), ran.interrupted
    if kept is None:
        kept, interrupted = (UNKEPT,), True
    notes = [*ran.notes, *kept]
    meta: dict[str, Any] = {"ms": took}
    if ran.prints:
        meta["prints"] = ran.prints
    if notes:
        meta["notes"] = notes
    return Performed(ran.outcome, meta, interrupted)


def _kept(ready: Prepared, outcome: Outcome, memory: Memory, took: float) -> tuple[str, ...] | None:
    """Keep what a call came to; return what is not kept, and why, None after an interrupt."""
    try:
        return memory.shelve(ready, outcome) if worth_keeping(ready.tool, took) else ()
    except KeyboardInterrupt:
        return None


def worth_keeping(tool: Tool, ms: float) -> bool:
    """Return whether a result is kept beyond the kernel: it was dear, or must not be made twice."""
    return ms >= DEAR or not tool.repeatable


def keep_all(memory: Memory, toolbox: Toolbox) -> None:
    """Keep beyond the kernel what runs would have kept, had there been a shelf."""
    for entry in memory.journal:
        match entry.event:
            case Finished(call_id) | Decided(call_id, "answer") if entry.own:
                call = state_at(memory.journal, entry.id).call(call_id)
                tool = toolbox.get(call.tool)
                if tool is None or worth_keeping(tool, entry.meta.get("ms", 0)):
                    recorded = recorded_call(memory.journal, entry.id, call_id)
                    memory.put(results_of(call.outcome, call_id, recorded))


def milliseconds(began: float, ended: float) -> float:
    """Return how long something took between two times of a clock."""
    return round((ended - began) * 1000, 1)
