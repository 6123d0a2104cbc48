"""Scheme `select`: the model picks the tools that it wants to see (seed 000).

`selectTools` tells of the objects and of the tools that there are; a tool is called by
its own name once it was selected. What is selected is a fold over those calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ..errors import CallError
from ..request import Message, Reply, Result
from ..state import SAVE, CallState, State, objects_of
from ..tools import Tool, Toolbox, nearest
from ..tools.tool import Resolve
from .outputs import reminder, save_tools
from .scheme import Offer, rendered, with_receiver

SELECT = "selectTools"
SYSTEM = """\
You work with objects by tools. Objects have names such as Type#1 and never change: a tool that
returns an object makes a new one, under a new name. Call selectTools to get the tools that you
need before you call them."""
SHOWN = 8
"""So many of a type's made objects are listed, the newest; what is older stays usable."""


@dataclass(frozen=True, slots=True)
class Select:
    """`selectTools` always, what was selected, and `save` where outputs are due."""

    name: str = "select"

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        chosen = selected(state, toolbox)
        rest = tuple(tool for tool in toolbox if tool.name not in chosen)
        own = (_select_tools(state, toolbox), *save_tools(state))
        tools = tuple(toolbox[name] for name in chosen)
        return Offer(own, tools, SYSTEM, rest, reminder=reminder(state))

    def read(self, reply: Reply, state: State, toolbox: Toolbox) -> Reply:
        return reply

    def complete(self, call: CallState, tool: Tool, state: State) -> dict[str, Any]:
        if tool.name not in (SELECT, SAVE) and not _is_selected(tool.name, state):
            raise CallError(
                f'{tool.name} is not selected yet; call {SELECT} with ["{tool.name}"] first'
            )
        return with_receiver(call, tool, state)

    def render(self, call: CallState, state: State, toolbox: Toolbox) -> Result:
        made = rendered(call, state)
        if call.tool == SELECT and call.status == "succeeded":
            return replace(made, content=_answer(call, toolbox), selected=_named(call, toolbox))
        return replace(made, content=_with_hint(made.content, call, state, toolbox))

    def speak(self, message: Message) -> Message:
        return message


def selected(state: State, toolbox: Toolbox) -> dict[str, None]:
    """Return the names of the tools that were selected so far, in that order."""
    chosen = (name for call in state.of(SELECT) for name in _named(call, toolbox))
    return dict.fromkeys(chosen)


def _is_selected(name: str, state: State) -> bool:
    return any(name in _wanted(call) for call in state.of(SELECT))


def _wanted(call: CallState) -> tuple[str, ...]:
    """A person may have answered the call in the model's place, whatever its arguments were."""
    names = call.arguments.get("tools")
    named = names if isinstance(names, list) else []
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str)))


def _named(call: CallState, toolbox: Toolbox) -> tuple[str, ...]:
    return tuple(name for name in _wanted(call) if name in toolbox)


def _answer(call: CallState, toolbox: Toolbox) -> str:
    unknown = [name for name in _wanted(call) if name not in toolbox]
    if not unknown:
        return "ok"
    lines = [f"There is no tool {name!r}.{nearest(name, toolbox.names)}" for name in unknown]
    known = _named(call, toolbox)
    return " ".join([f"Selected: {', '.join(known) or 'none'}.", *lines])


def _with_hint(content: str, call: CallState, state: State, toolbox: Toolbox) -> str:
    """The first object of a type brings its tools into reach: the model is told once."""
    firsts = {made.kind for made in _objects(call) if state.by_maker[made.maker].endswith("#1")}
    new = [tool.name for tool in toolbox if tool.kind in firsts]
    if not new or not content.endswith("}"):
        return content
    return f'{content[:-1]}, "hint": "New tools to select: {", ".join(new)}"}}'


def _objects(call: CallState) -> tuple[Any, ...]:
    made = objects_of(call.outcome)
    return tuple(each for each in made if each.maker.partition("[")[0] == call.id)


def _select_tools(state: State, toolbox: Toolbox) -> Tool:
    listed = "\n".join(
        [
            "Gets you more tools, for all turns to come.",
            "",
            "Objects:",
            *_objects_listed(state),
            "",
            "Tools:",
            *(f"- {name}" for name in available(state, toolbox)),
        ]
    )
    return Tool(SELECT, listed, _PARAMETERS, lambda tools: "ok", _check, read_only=True)


def available(state: State, toolbox: Toolbox) -> list[str]:
    """Return the tools that are listed: plain ones, and those of types that have an object."""
    return [t.name for t in toolbox if not t.receiver or t.kind in state.counts]


def _objects_listed(state: State) -> list[str]:
    inputs = dict(state.opened.inputs)
    lines = [
        f"- {state.by_maker[made.maker]}: {made.description}".rstrip(": ")
        for made in inputs.values()
    ]
    made_here = list(islice(_newest(state), SHOWN + 1))
    lines += [f"- {name}" for name in reversed(made_here[:SHOWN])]
    return [*lines, *(["- and older ones"] if len(made_here) > SHOWN else [])]


def _newest(state: State) -> Any:
    names = (state.names[-1 - back] for back in range(len(state.names)))
    return (name for name in names if not state.objects[name].maker.startswith("input:"))


_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "tools": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The names of the tools that you want.",
        }
    },
    "required": ["tools"],
    "additionalProperties": False,
}


def _check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
    names = arguments.get("tools")
    if set(arguments) != {"tools"} or not isinstance(names, list) or not names:
        raise CallError(f'{SELECT} takes one argument, a list of names: {{"tools": ["NAME"]}}')
    if not all(isinstance(name, str) for name in names):
        raise CallError(
            f"{SELECT}: every name in tools must be a string", {"tools": "strings only"}
        )
    return dict(arguments)
