"""What something came of: calls, inputs, and the instances that calls went on with."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..state.call import is_instance
from ..state.shape import State


def ancestry(state: State, makers: Iterable[str], handed: Collection[str] = ()) -> frozenset[str]:
    """Return the calls (by id), inputs (`input:NAME`) and instances that makers go back to.

    The makers themselves are among them, of those of a list only the ones that are needed.
    What calls used whose results were `handed` in is left out.
    """
    found: set[str] = set()
    ahead = [*makers]
    while ahead:
        maker = ahead.pop()
        if not maker or maker in found:
            continue
        call = state.calls.get(_call_of(maker))
        found |= {maker, *([call.id] if call else ())}
        if call is not None and call.id in handed:
            continue
        for place, before in call.started.used.items() if call and call.started else ():
            found |= {place} if is_instance(place) else set()
            ahead.append(before)
    return frozenset(found)


def _call_of(maker: str) -> str:
    """A list's objects were made by one call."""
    return maker if maker.startswith("input:") else maker.partition("[")[0]
