"""What something came of: calls, inputs, and the instances that calls went on with."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..events import Producer
from ..export.script import Selection
from ..state.shape import State


def ancestry(
    state: State,
    objects: Iterable[Producer] = (),
    calls: Iterable[str] = (),
    handed: Collection[str] = (),
) -> Selection:
    """Return the calls, objects and instances that objects (by producer) and calls go back to.

    They themselves are among them; of a list's objects only those that are needed. What calls
    used whose results were `handed` in is left out.
    """
    needed, found, instances = {*objects}, set[str](), set[str]()
    ahead = [producer.call for producer in needed]
    for each in calls:
        ahead.append(each)
        needed.update(made.producer for made in state.calls[each].produced)
    while ahead:
        call = state.calls.get(ahead.pop())
        if call is None or call.id in found:
            continue
        found.add(call.id)
        if call.id in handed or call.started is None:
            continue
        needed.update(call.uses.values())
        ahead += [producer.call for producer in call.uses.values()]
        if call.started.instance:
            instances.add(call.started.instance)
        ahead += [call.started.previous, *call.started.setters.values()]
    return Selection(frozenset(found), frozenset(needed), frozenset(instances))
