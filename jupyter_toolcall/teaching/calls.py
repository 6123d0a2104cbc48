"""What an exercise asks of the calls of a session, on the branch that is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from ..state.call import CallRecord
from .conditions import Called, CalledBefore, CallIs, Calls, CallWas, Given, NoCall
from .scene import otherwise
from .values import code, equal, shown

CAME = ("succeeded", "answered")
"""How calls stand that came to a result: of these alone it is said that they were called."""

Asked = Called | CalledBefore | Calls | NoCall | CallWas | CallIs


def demand_calls(wanted: Asked, calls: Sequence[CallRecord]) -> None:
    """Raise Otherwise, which says what was found, where the calls are not so."""
    match wanted:
        case Called():
            _demand_called(wanted, [call for call in calls if call.tool == wanted.tool])
        case CalledBefore(first, then):
            order = [call.tool for call in calls if call.status in CAME]
            missing = next((tool for tool in (first, then) if tool not in order), "")
            otherwise(not missing, f"`{missing}` was not called")
            otherwise(order.index(first) < order.index(then), f"`{then}` came first")
        case Calls(count):
            otherwise(len(calls) in count, f"there are {len(calls)}")
        case NoCall(came):
            found = [call.step for call in calls if _is(call, came)]
            otherwise(not found, f"{_listed(found)} {_was(came)}")
        case CallWas(step, came, only):
            found = [call.step for call in calls if _is(call, came)]
            said = f"{_listed(found)} {_was(came)}" if found else f"no call {_was(came)}"
            otherwise(found == [step] if only else step in found, said)
        case CallIs(step, tool, given):
            otherwise(0 < step <= len(calls), f"there are {len(calls)} calls")
            call = calls[step - 1]
            fits = tool in ("", call.tool) and _has(call, given)
            otherwise(fits, f"it is {spelled(call)}")


def _demand_called(wanted: Called, mine: Sequence[CallRecord]) -> None:
    came = [call for call in mine if call.status in CAME]
    fitting = [call for call in came if _has(call, wanted.given)]
    if len(fitting) in wanted.times:
        return
    with_others = next((call for call in reversed(came) if call not in fitting), None)
    failed = next((call for call in reversed(mine) if call not in came), None)
    if not fitting and with_others is not None:
        otherwise(False, f"it was called so: {spelled(with_others)}")
    if not fitting and failed is not None:
        otherwise(False, f"call {failed.step} {_was(failed.status)}")
    otherwise(False, f"it was {_so_often(len(fitting))}")


def _has(call: CallRecord, given: Given) -> bool:
    there = call.arguments
    return all(name in there and equal(there[name], value) for name, value in given.items())


def _is(call: CallRecord, came: str) -> bool:
    return call.edited if came == "edited" else call.status == came


def _was(came: str) -> str:
    return came if came == "failed" else f"was {came}"


def _listed(steps: Sequence[int]) -> str:
    return f"call{'' if len(steps) == 1 else 's'} {', '.join(map(str, steps[:8]))}"


def _so_often(count: int) -> str:
    return {0: "not called", 1: "called once", 2: "called twice"}.get(
        count, f"called {count} times"
    )


def spelled(call: CallRecord) -> str:
    """Return a call as code."""
    given = ", ".join(f"{name}={shown(value)[1:-1]}" for name, value in call.arguments.items())
    return code(f"{call.tool}({given})")
