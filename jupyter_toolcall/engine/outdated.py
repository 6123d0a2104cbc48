"""Outdated calls and objects: their tool, or an input, has changed since they ran.

Only the journal is read, and nothing runs. A replay runs exactly these calls again. The digests
of a tool's code are noted beside the start of a call. They are not part of its approval digest;
they only explain later what has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..core.call_record import CallRecord
from ..core.events import Made, Producer, Started
from ..core.interface_text import t
from ..core.journal import Journal
from ..core.state import State
from ..tools.tool import Tool, pinned_change
from ..tools.tool_version import PYTHON
from .cursor import Cursor, SessionContext


@dataclass(frozen=True, slots=True)
class Outdated:
    """A call or an object that would be another one today, and why."""

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


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why calls (by id), objects (by what produced them) and instances (by name) are outdated."""

    calls: dict[str, str] = field(default_factory=dict)
    objects: dict[Producer, str] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)


def outdated_report(context: SessionContext, state: State) -> Report:
    """Return the outdated inputs, calls and objects of a branch."""
    reasons = outdated_reasons(context, state)
    inputs = (ref for ref in map(state.resolve, state.names) if ref.producer.input)
    return Report((*_objects(inputs, state, reasons), *_calls(state, reasons)))


def changed_tools(context: SessionContext, state: State) -> dict[str, str]:
    """Return the tools that changed since they ran, with the change of each."""
    reasons = ((call.tool, _by_tool(call, context)) for call in state.all_calls() if call.started)
    return {tool: change for tool, change in reasons if change}


def retry_hint(cursor: Cursor) -> str:
    """Return what to press at the last failed call whose Python tool changed since; "" for none."""
    context = cursor.context
    context.toolbox.look_again()
    for call in reversed([*cursor.state.all_calls()]):
        tool = context.toolbox.get(call.tool) if call.status == "failed" else None
        if tool is not None and tool.origin and (change := _by_tool(call, context)):
            return t("%1. Press Fix and retry at call %2.", change, call.step)
    return ""


def _calls(state: State, reasons: Reasons) -> Iterator[Outdated]:
    for call in state.all_calls():
        if call.id in reasons.calls:
            yield Outdated(call.id, reasons.calls[call.id], call.tool)
        yield from _objects(call.produced, state, reasons)


def _objects(objects: Iterable[Made], state: State, reasons: Reasons) -> Iterator[Outdated]:
    for ref in objects:
        if ref.producer in reasons.objects:
            yield Outdated(state.name_of(ref), reasons.objects[ref.producer])


def outdated_reasons(
    context: SessionContext,
    state: State,
    calls: Iterable[CallRecord] | None = None,
    before: Reasons | None = None,
) -> Reasons:
    """Return why calls, objects and instances of a branch are outdated.

    With `calls` only these are checked; `before` are the reasons of the calls before them.
    """
    reasons = _of_inputs(context, state) if before is None else _copy(before)
    for call in state.all_calls() if calls is None else calls:
        if why := _why(call, context, state, reasons):
            reasons.calls[call.id] = why
            reasons.objects.update((ref.producer, why) for ref in call.produced)
    return reasons


def _copy(reasons: Reasons) -> Reasons:
    return Reasons({**reasons.calls}, {**reasons.objects}, {**reasons.instances})


def _of_inputs(context: SessionContext, state: State) -> Reasons:
    """Return why inputs and instances are outdated: they have other values now."""
    reasons, current_inputs = Reasons(), dict(state.opened.inputs)
    for ref in map(state.resolve, state.names):
        variable = ref.producer.input
        if variable not in current_inputs:
            continue
        value, current = context.current_inputs.get(variable), current_inputs[variable]
        if current.producer != ref.producer:
            reasons.objects[ref.producer] = t("%1 is %2 now", variable, state.name_of(current))
        elif value is not None and value.content != ref.content:
            reasons.objects[ref.producer] = t("its input %1 has other content", variable)
    opened = dict(state.opened.instances)
    for name, given_now in context.values.instances.items():
        if opened.get(name, given_now) != given_now:
            reasons.instances[name] = t("the instance %1 is not what it was at the start", name)
    return reasons


def _why(call: CallRecord, context: SessionContext, state: State, reasons: Reasons) -> str:
    """Return why a call is outdated, "" where it is not: by its tool, or by what it ran on."""
    if call.started is None:
        return ""
    by_tool = _by_tool(call, context)
    if by_tool:
        return t("its tool %1", by_tool)
    return next(_by_what_it_ran_on(call.started, state, reasons), "")


def _by_tool(call: CallRecord, context: SessionContext) -> str:
    code, tool = recorded_tool_code(call, context.journal), context.toolbox.get(call.tool)
    if code is None:
        return ""
    return changed_tool_parts(tool, code) if tool is not None else t("%1 is gone", call.tool)


def _by_what_it_ran_on(started: Started, state: State, reasons: Reasons) -> Iterator[str]:
    """Yield why the objects, the instance and the variables that a call ran on are outdated."""
    for producer in started.uses.values():
        if producer in reasons.objects:
            yield t("goes back to %1, which is outdated", state.by_producer[producer])
    if not started.previous and started.instance in reasons.instances:
        yield reasons.instances[started.instance]
    if started.previous in reasons.calls:
        yield t("%1 is as %2 left it, which is outdated", started.instance, started.previous)
    for variable, setter in started.setters.items():
        if setter in reasons.calls:
            yield t("%1 was set by %2, which is outdated", variable, setter)


@dataclass(frozen=True, slots=True)
class ToolCode:
    """A version of a tool, and the digests of its parts; "" is the tool's own function."""

    version: str
    python: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


def recorded_tool_code(call: CallRecord, journal: Journal) -> ToolCode | None:
    """Return the code of a call's tool when it ran; None where it is not recorded."""
    match journal.text(call.code):
        case {"version": str(version), "python": str(python), "parts": Mapping() as parts}:
            return ToolCode(version, python, parts)
    return None


def changed_tool_parts(tool: Tool, code: ToolCode) -> str:
    """Return what changed in a tool since it ran, as a text; "" for nothing."""
    if (version := tool.version()) == code.version:
        return ""
    return changed_code(tool.name, code, ToolCode(version, PYTHON, tool.parts()), tool.server)


def changed_code(tool: str, before: ToolCode, now: ToolCode, server: str = "") -> str:
    """Return what differs in two versions of a tool, as a text; "" for nothing."""
    if before.version == now.version:
        return ""
    if server:
        return t("%1 was changed by %2: %3", tool, server, pinned_change(before.parts, now.parts))
    if before.python != now.python:
        return t("%1 was compiled by Python %2, and this is %3", tool, before.python, now.python)
    parts = {*before.parts, *now.parts}
    names = sorted(name for name in parts if now.parts.get(name) != before.parts.get(name))
    if "" in names or not names:
        return t("%1 was changed", tool)
    listed = ", ".join(names[:4])
    if len(names) > 4:
        listed = t("%1 and %2 more", listed, len(names) - 4)
    return t("%1 uses what was changed: %2", tool, listed)
