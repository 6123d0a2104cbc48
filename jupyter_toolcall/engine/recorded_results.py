"""Recorded results of tools that run at a server: a verification uses them, and does not call the
server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..core.errors import CallError
from ..core.events import (
    Data,
    Event,
    Failed,
    Finished,
    InputNeeded,
    Interrupted,
    Made,
    Many,
    Outcome,
    Replied,
    Unknown,
)
from ..core.json_data import at_path, replaced_at
from ..core.recorded_data import JsonObject, replace
from ..tools.running_tool import InputRequest, InputRequired, NotBegun, OutcomeUnknown
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox

Value = Callable[[Made, Any, Tool], Any]
"""Returns the value of a recorded object, from the object, the record that it is in, and the tool
that made it. Raises ToolcallError where there is no value."""


class RecordedResults:
    """The recorded outcomes of calls: each is used once, in the order of the journal.

    Arguments:
        events: of a branch, or of several.
        value: returns the values of recorded objects.
    """

    def __init__(self, events: Iterable[Event], value: Value) -> None:
        self._value = value
        self._outcomes: dict[str, list[Outcome]] = {}
        for tool, outcome in _outcomes(events):
            self._outcomes.setdefault(tool, []).append(outcome)

    def next(self, tool: Tool) -> Any:
        """Return the next recorded result of a tool, or raise what its run raised.

        Raises CallError where no other result of it is recorded.
        """
        outcomes, name = self._outcomes.get(tool.name), tool.name
        if not outcomes:
            raise CallError(f"{name} did not run: verifying takes recorded results of its server")
        match outcomes.pop(0):
            case Data(data):
                return data
            case Made() as ref:
                return self._value(ref, None, tool)
            case Many() as many:
                return self._with_objects(many, tool)
            case Failed(message):
                raise CallError(message)
            case InputNeeded(requests, state):
                raise InputRequired({key: _request(data) for key, data in requests.items()}, state)
            case Unknown(reason):
                raise OutcomeUnknown(reason)
            case Interrupted(ran):
                raise KeyboardInterrupt if ran else NotBegun

    def _with_objects(self, many: Many, tool: Tool) -> object:
        objects = [ref for ref in many.objects if not ref.changed]
        if not many.paths:
            return [self._value(ref, None, tool) for ref in objects]
        data = many.data
        for path, ref in zip(many.paths, objects, strict=False):
            steps = tuple(map(str, path))
            value = self._value(ref, at_path(many.data, steps[:-1]), tool)
            data = replaced_at(data, steps, value)
        return data


def _outcomes(events: Iterable[Event]) -> Iterator[tuple[str, Outcome]]:
    """Yield the outcomes of runs, each with its tool."""
    tools: dict[str, str] = {}
    for event in events:
        match event:
            case Replied(calls=calls):
                tools.update((call.id, call.tool) for call in calls)
            case Finished(call_id, outcome, by="session") if call_id in tools:
                yield tools[call_id], outcome


def _request(data: JsonObject) -> InputRequest:
    return InputRequest(data["message"], data.get("schema", {}), data.get("url", ""))


def server_tools(toolbox: Toolbox) -> dict[str, Tool]:
    """Return the tools that run at a server, by name."""
    return {tool.name: tool for tool in toolbox if tool.server}


def with_recorded_results(toolbox: Toolbox, results: RecordedResults) -> Toolbox:
    """Return a toolbox in which tools of servers return recorded results, and call no server."""

    def replaying(tool: Tool) -> Tool:
        def run(**values: object) -> Any:
            return results.next(tool)

        def resume(state: object, responses: object, values: object) -> object:
            return results.next(tool)

        return replace(tool, function=run, resume=resume, current=None)

    tools = {name: replaying(tool) for name, tool in server_tools(toolbox).items()}
    return toolbox.with_tools(tools) if tools else toolbox
