"""What would come out otherwise today: calls whose tool or input has changed since they ran.

Only what is recorded is looked at, and nothing runs. A replay runs these calls again, and
no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..loop import Desk
from ..runner.coded import changed, code_of
from ..state.call import CallState, is_instance, is_variable, objects_of
from ..state.shape import State


@dataclass(frozen=True, slots=True)
class Outdated:
    """A call or an object that would come out otherwise today, and why."""

    name: str
    """A call's id, or an object's name."""
    why: str
    tool: str = ""
    """The tool of a call."""

    def __str__(self) -> str:
        return f"{self.name}{f' {self.tool}' if self.tool else ''}: {self.why}"


class Report(tuple[Outdated, ...]):
    """All that is outdated, in the order of the session."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "nothing is outdated"


def report(desk: Desk, state: State) -> Report:
    """Return what of a branch is outdated: inputs, calls, and what these made."""
    why = outdated(desk, state)
    inputs = (name for name in state.names if state.objects[name].maker.startswith("input:"))
    return Report((*_objects(inputs, state, why), *_calls(state, why)))


def changed_tools(desk: Desk, state: State) -> dict[str, str]:
    """Return the tools that were changed since they ran, and what of each."""
    found = ((call.tool, _by_tool(call, desk)) for call in state.each() if call.started)
    return {tool: said for tool, said in found if said}


def _calls(state: State, why: Mapping[str, str]) -> Iterator[Outdated]:
    for call in state.each():
        if call.id in why:
            yield Outdated(call.id, why[call.id], call.tool)
        yield from _objects(_made_by(call, state), state, why)


def _objects(names: Iterable[str], state: State, why: Mapping[str, str]) -> Iterator[Outdated]:
    found = ((name, why.get(state.objects[name].maker)) for name in names)
    yield from (Outdated(name, said) for name, said in found if said is not None)


def _made_by(call: CallState, state: State) -> Iterator[str]:
    for made in objects_of(call.outcome):
        if made.maker.partition("[")[0] == call.id:
            yield state.by_maker[made.maker]


def outdated(
    desk: Desk,
    state: State,
    calls: Iterable[CallState] | None = None,
    known: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return why each call is outdated, by its id, and each object, by its maker.

    With `calls` only these are looked at, which come behind what is `known`.
    """
    found = dict(_inputs(desk, state)) if known is None else {**known}
    for call in state.each() if calls is None else calls:
        why = _why(call, desk, state, found)
        if why:
            found[call.id] = why
            for made in objects_of(call.outcome):
                if made.maker.partition("[")[0] == call.id:
                    found[made.maker] = why
    return found


def _inputs(desk: Desk, state: State) -> Iterator[tuple[str, str]]:
    """Yield the inputs that hold something else by now, and the instances that are others."""
    now = dict(state.opened.inputs)
    for name in state.names:
        made = state.objects[name]
        variable = made.maker.removeprefix("input:").partition("~")[0]
        if variable == made.maker or variable not in now:
            continue
        given, latest = desk.given.get(variable), now[variable]
        if latest.maker != made.maker:
            yield made.maker, f"{variable} is {state.by_maker[latest.maker]} by now"
        elif given is not None and given.content != made.content:
            yield made.maker, f"its input {variable} has other content"
    opened = dict(state.opened.instances)
    for place, given_now in desk.memory.instances.items():
        if opened.get(place, given_now) != given_now:
            yield place, f"the instance {place[1:-1]} is not what it was at the start"


def _why(call: CallState, desk: Desk, state: State, found: Mapping[str, str]) -> str:
    """Return why a call is outdated, "" where it is not: by its tool, or by what it ran on."""
    if call.started is None:
        return ""
    by_tool = _by_tool(call, desk)
    if by_tool:
        return f"its tool {by_tool}"
    used = call.started.used.items()
    return next(filter(None, (_on(*each, state, found) for each in used)), "")


def _by_tool(call: CallState, desk: Desk) -> str:
    code, tool = code_of(call, desk.journal), desk.toolbox.get(call.tool)
    if code is None:
        return ""
    return changed(tool, code) if tool is not None else f"{call.tool} is gone"


def _on(place: str, maker: str, state: State, found: Mapping[str, str]) -> str:
    """Return why what was used at a place is outdated: an object, an instance, a variable."""
    if not maker and place in found:
        return found[place]
    if maker not in found:
        return ""
    if is_instance(place):
        return f"{place[1:-1]} is as {maker} left it, which is outdated"
    if is_variable(place):
        return f"{place[1:]} was set by {maker}, which is outdated"
    return f"goes back to {state.by_maker[maker]}, which is outdated"
