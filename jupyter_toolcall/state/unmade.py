"""Names of objects that nothing made on a branch, as they stand in a call that is said again.

They say which call would have made them, so that a person sees where to begin, and that
another branch, on which it does make them, finds them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..events import Producer
from .call import CallState, Status

_TEXT = re.compile(
    r"(?P<name>[A-Za-z_]\w*#[1-9][0-9]*) \(not made on this branch"
    r"(?:: call (?P<step>\d+)(?:, part (?P<part>\d+),)? [a-z ]+)?\)"
)
_CAME: Mapping[Status, str] = {
    "failed": "failed",
    "rejected": "was rejected",
    "answered": "was answered",
    "interrupted": "was interrupted",
    "succeeded": "made none",
}


def unmade(name: str, producer: Producer | None, calls: Mapping[str, CallState]) -> str:
    """Return what stands for an object, by what made it elsewhere, where nothing did here."""
    call = calls.get(producer.call) if producer is not None else None
    if producer is None or call is None:
        return f"{name} (not made on this branch)"
    part = f", part {producer.index + 1}," if producer.index else ""
    return f"{name} (not made on this branch: call {call.step}{part} {came(call)})"


def came(call: CallState) -> str:
    """Return in words how a call came to make nothing."""
    return _CAME.get(call.status, "has not run")


def name_in(text: str) -> str:
    """Return the name in a text that stands for an object that was not made; else the text."""
    found = _TEXT.fullmatch(text)
    return found["name"] if found is not None else text


def producer_in(text: str, calls: Iterable[CallState]) -> Producer | None:
    """Return what would have made the object that a text stands for."""
    found = _TEXT.fullmatch(text)
    call = _step(found["step"], calls) if found is not None else None
    if found is None or call is None:
        return None
    return Producer(call.id, int(found["part"] or 1) - 1)


def cause(text: str, calls: Iterable[CallState]) -> CallState | None:
    """Return the call that would have made an object, or the one for which that had to fail."""
    known, call = [*calls], None
    found = _TEXT.fullmatch(text)
    while found is not None and (here := _step(found["step"], known)) is not None:
        call = here
        known = known[: call.step - 1]
        named = (_TEXT.fullmatch(value) for value in call.asked.values() if isinstance(value, str))
        found = next(filter(None, named), None)
    return call


def _step(step: str | None, calls: Iterable[CallState]) -> CallState | None:
    return next((call for call in calls if step and call.step == int(step)), None)
