"""Scheme `select`: the model picks the tools that it wants to see (seed 000).

`selectTools` tells of the objects and of the tools that there are; a tool is called by
its own name once it was selected. What is selected is a fold over those calls. A list that would
be very long has patterns such as `create*` in place of names; called with a pattern, `selectTools`
lists the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from os.path import commonprefix
from typing import Any

from ..core.call_record import SAVE, CallRecord
from ..core.errors import CallError
from ..core.state import State
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from . import listing
from .messages import Result
from .save_tool import READ, common_tools, reminder
from .scheme import Offer, Scheme, result_text, sent_data, tool_of_one, with_receiver

SELECT = "selectTools"
LONGEST_LIST = 20_000
"""Characters of the names in one list; what is beyond is listed as patterns."""
PATTERNS = "To see the names of a pattern such as NAME*, call selectTools with it."
SYSTEM = """\
You work with objects by tools. Objects have names such as Type#1 and never change: a tool that
returns an object makes a new one, under a new name. Call selectTools to get the tools that you
need before you call them."""


@dataclass(frozen=True)
class Select(Scheme):
    """`selectTools` always, what was selected, and `save` where outputs are due."""

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        chosen = [name for name in selected(state) if name in toolbox]
        others = tuple(tool for tool in toolbox if tool.name not in chosen)
        objects, listed = _object_lines(state, toolbox), _tool_lines(state, toolbox)
        groups = listing.group_lines(("", *listing.existing_kinds(state)), toolbox)
        always = (_select_tools(objects, listed, groups), *common_tools(state, toolbox))
        tools = tuple(toolbox[name] for name in chosen)
        lines = {line: name for line, name in {**objects, **listed}.items() if name is not None}
        system = "\n".join([SYSTEM, *listing.plain_note(state)])
        return Offer(always, tools, system, deferred=others, reminder=reminder(state), listed=lines)

    def complete(self, call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
        # What a person wrote runs, whatever the model had selected.
        if not (call.edited or tool.name in _own_names(state) or tool.name in selected(state)):
            raise CallError(
                f'{tool.name} is not selected yet; call {SELECT} with ["{tool.name}"] first'
            )
        return with_receiver(call, tool, state)

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        if call.tool == SELECT and call.status == "succeeded":
            return _answer(call, state, toolbox)
        data, error = sent_data(call, state, toolbox)
        # The first object of a type makes its tools available: the model is told once.
        tools = listing.functions_of(listing.new_kinds(call, state), toolbox)
        chosen = selected(state) if tools else ()
        if new := dict.fromkeys(tool.name for tool in tools if tool.name not in chosen):
            data["hint"] = f"New tools to select: {', '.join(shortened([*new]))}"
        return Result(call.id, result_text(data), error)


def selected(state: State) -> dict[str, None]:
    """Return the names that were selected so far, in that order; some may be those of no tool."""
    return dict.fromkeys(name for call in state.results_of(SELECT) for name in _wanted(call))


def _own_names(state: State) -> tuple[str, ...]:
    return (SELECT, READ, SAVE) if state.opened.outputs else (SELECT, READ)


def _wanted(call: CallRecord) -> tuple[str, ...]:
    """Return the names in a call; a person may have edited its arguments to anything."""
    names = call.recorded_arguments.get("tools")
    texts = (name for name in (names if isinstance(names, list) else []) if isinstance(name, str))
    return tuple(dict.fromkeys(texts))


def _answer(call: CallRecord, state: State, toolbox: Toolbox) -> Result:
    """A model that got no tool at all would continue as if it had: so that is an error."""
    wanted = _wanted(call)
    selected = tuple(name for name in wanted if name in toolbox)
    lists, unknown = list[str](), list[str]()
    for name in wanted:
        if "*" in name and (names := [tool for tool in toolbox.names if fnmatchcase(tool, name)]):
            lists.append(f"{name}: {', '.join(shortened(names))}")
        elif name not in (*toolbox.names, *_own_names(state)):
            unknown.append(listing.no_tool(name, toolbox.names, toolbox))
    if wanted and not unknown and not lists:
        return Result(call.id, "ok", selected=selected)
    head = f"Selected: {', '.join(selected)}." if selected else "Nothing was selected."
    text = "\n".join([" ".join([head, *unknown]), *lists])
    return Result(call.id, text, not selected and not lists, selected)


def _select_tools(objects: Iterable[str], tools: Iterable[str], groups: list[str]) -> Tool:
    """Return `selectTools`, which lists objects, tools and what these are for, a line each."""
    listed = [*tools]
    note = [PATTERNS] if any("*" in line for line in listed) else []
    about = listing.section("\nObjects:", [*objects])
    lines = [*about, "\nTools:", *listed, *note, *listing.section("", groups)]
    return _select_tool("\n".join(["Gets you more tools, for all turns to come.", *lines]))


@lru_cache(maxsize=256)
def _select_tool(description: str) -> Tool:
    """Return `selectTools` with a description, which is most often that of the turn before."""
    text = "The names of the tools that you want."
    schema = {"type": "array", "items": {"type": "string"}, "description": text}
    wrong = f'{SELECT} takes one argument, a list of names: {{"tools": ["NAME"]}}'
    return tool_of_one((SELECT, description), "tools", schema, wrong, lambda tools: "ok")


def _tool_lines(state: State, toolbox: Toolbox) -> dict[str, str | None]:
    """Return the lines of plain tools, and of those of types that have an object.

    Each with the first object of the type, which made the tool available; None for a plain tool.
    Once the list is long, the names of a further type are patterns, so that what was listed stays.
    """
    names, patterns, room = set[str](), dict[str, str | None](), LONGEST_LIST
    for kind in ("", *listing.existing_kinds(state)):
        tools = listing.functions_of([kind], toolbox)
        tool_names = [tool.name for tool in tools if tool.name not in names]
        short = shortened(tool_names, room)
        names |= set(tool_names).intersection(short)
        if short != tool_names:
            object_name = state.oldest(kind) if kind else None
            patterns.update((f"- {text}", object_name) for text in short if text not in names)
        room = max(0, room - _length(short))
    kinds = ((name, toolbox[name].kind) for name in toolbox.names if name in names)
    return {f"- {name}": state.oldest(kind) if kind else None for name, kind in kinds} | patterns


def shortened(names: Sequence[str], room: int = LONGEST_LIST) -> list[str]:
    """Return names; where they are longer than `room`, patterns with the count of each.

    A pattern ends with the first word in which the names differ; with one character of it, if
    there are too many words; or with what all names begin with.
    """
    # By letters: these are no paths.
    shown, same = [*names], len(commonprefix(names))  # noqa: RUF071
    for ending in _ENDINGS:
        if _length(shown) <= room:
            break
        groups: dict[str, list[str]] = {}
        for name in names:
            match = ending.match(name, same)
            groups.setdefault(name[: match.end() if match else same], []).append(name)
        shown = [_pattern(head, group) for head, group in groups.items()]
    return shown


_ENDINGS = [re.compile(text) for text in (r"[_-]*(?:[A-Z]*[a-z0-9]+|[A-Z]+)", r"[\w-]", "")]


def _pattern(head: str, names: Sequence[str]) -> str:
    return f"{head}* ({len(names)} tools)" if len(names) > 1 else names[0]


def _length(names: Sequence[str]) -> int:
    return sum(len(name) + 3 for name in names)


def _object_lines(state: State, toolbox: Toolbox) -> dict[str, str]:
    """Return the lines of the inputs, and of the newest objects that calls made.

    Each with the object's name.
    """
    created = (name for name in reversed(state.names) if not state.objects[name].producer.input)
    shown = [*islice(created, listing.SHOWN)]
    names = (*state.inputs.values(), *reversed(shown))
    lines = {listing.object_line(name, state, toolbox): name for name in names}
    return {**lines, "- and older ones": ""} if next(created, None) else lines
