"""Names of objects that nothing made on a branch, as they stand in a call that is said again.

They say which call would have made them, so that a person sees where to begin, and that
another branch, on which it does make them, finds them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .call import CallState, Status

_TEXT = re.compile(
    r"(?P<name>[A-Za-z_]\w*#[1-9][0-9]*) \(not made on this branch"
    r"(?:: call (?P<step>\d+)(?:, part (?P<part>\d+),)? [a-z ]+)?\)"
)
_MAKER = re.compile(r"(?P<call>[^\[\]]+)(?:\[(?P<part>\d+)\])?")
_CAME: Mapping[Status, str] = {
    "failed": "failed",
    "rejected": "was rejected",
    "answered": "was answered",
    "interrupted": "was interrupted",
    "succeeded": "made none",
}


def unmade(name: str, maker: str, calls: Mapping[str, CallState]) -> str:
    """Return what stands for an object, by what made it elsewhere, where nothing did here."""
    found = _MAKER.fullmatch(maker)
    call = calls.get(found["call"]) if found is not None else None
    if found is None or call is None:
        return f"{name} (not made on this branch)"
    part = f", part {int(found['part']) + 1}," if found["part"] else ""
    return f"{name} (not made on this branch: call {call.step}{part} {came(call)})"


def came(call: CallState) -> str:
    """Return in words how a call came to make nothing."""
    return _CAME.get(call.status, "has not run")


def name_in(text: str) -> str:
    """Return the name in a text that stands for an object that was not made; else the text."""
    found = _TEXT.fullmatch(text)
    return found["name"] if found is not None else text


def maker_in(text: str, calls: Iterable[CallState]) -> str:
    """Return what would have made the object that a text stands for, "" where it does not say."""
    found = _TEXT.fullmatch(text)
    call = _step(found["step"], calls) if found is not None else None
    if found is None or call is None:
        return ""
    return f"{call.id}[{int(found['part']) - 1}]" if found["part"] else call.id


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
