"""What is listed for a model: objects and tools as lines of text, the same in every scheme.

Nothing here depends on the order of a set or a map, so that the same state is always told in the
same words: a prompt cache lives by that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import TypeVar
from weakref import WeakKeyDictionary

from ..core.call_record import CallRecord, is_bare_list
from ..core.digests import readable_json
from ..core.events import Made, Many
from ..core.state import NAME, State
from ..core.text import nearest_name, shortened_text
from ..tools.object_types import receiver_types
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox

T = TypeVar("T")
SHOWN = 8
"""So many objects of one kind are listed, the newest; what is older stays usable."""
FEW = 12
"""So many functions of one type are named to a model that called another one."""
ALIKE = 0.85
"""From here on a name is a slip of the pen: the nearest is meant."""
ABOUT = 400
"""Characters of what a class says of itself: its first paragraph."""
GROUPS = "The first part of the name of a tool stands for:"
RECIPE = 160
"""Characters of how an object was made."""
PLAIN_DATA = (
    "Some names stand for data that you can read. Wherever a tool takes a text, a number or other "
    "data, you may give the value, or its exact name in place of it: the tool gets all of the "
    "value."
)


def plain_note(state: State) -> tuple[str, ...]:
    """Return what a model is told of the names of plain data, if there are any."""
    return (PLAIN_DATA,) if state.plain else ()


def once_for_a_toolbox(compute: Callable[[Toolbox], T]) -> Callable[[Toolbox], T]:
    """Return a function that computes what it returns once for each toolbox."""
    kept: WeakKeyDictionary[Toolbox, T] = WeakKeyDictionary()

    def read(toolbox: Toolbox) -> T:
        if toolbox not in kept:
            kept[toolbox] = compute(toolbox)
        return kept[toolbox]

    return read


def functions_of(kinds: Iterable[str], toolbox: Toolbox) -> list[Tool]:
    """Return the tools that objects of types have, in toolbox order; "": those of none."""
    functions = _functions_by_kind(toolbox)
    return [tool for kind in dict.fromkeys(kinds) for tool in functions.get(kind, ())]


@once_for_a_toolbox
def _functions_by_kind(toolbox: Toolbox) -> dict[str, tuple[Tool, ...]]:
    by_kind: dict[str, tuple[Tool, ...]] = {}
    for tool in toolbox:
        kind = tool.kind if tool.receiver else ""
        by_kind[kind] = (*by_kind.get(kind, ()), tool)
    # A type that was not given itself has the functions of the classes that it is made from.
    inherited: dict[str, tuple[Tool, ...]] = {}
    for kind, tools in by_kind.items():
        cls = toolbox.type_named(kind)
        for heir in receiver_types(cls, toolbox.kinds) if cls is not None else ():
            name = toolbox.kinds.get(heir, kind)
            inherited[name] = (*inherited.get(name, ()), *tools)
    return {**inherited, **by_kind}


def class_texts(kinds: Iterable[str], toolbox: Toolbox) -> dict[str, str]:
    """Return what the classes of types say of themselves, by the first part of their tools' names.

    The type "" stands for all instances and toolsets whose tools take no object.
    """
    about = {tool.group: tool.about for tool in functions_of(kinds, toolbox) if tool.about}
    first = ((group, text.partition("\n\n")[0]) for group, text in about.items())
    return {group: shortened_text(" ".join(text.split()), ABOUT) for group, text in first}


def group_lines(kinds: Iterable[str], toolbox: Toolbox) -> list[str]:
    """Return `class_texts` as lines, below a title."""
    texts = class_texts(kinds, toolbox).items()
    return section(GROUPS, [f"- {group}: {text}" for group, text in texts])


@once_for_a_toolbox
def group_lines_of_all(toolbox: Toolbox) -> list[str]:
    """Return the lines of all types."""
    return group_lines(("", *receiver_kinds(toolbox)), toolbox)


def section(title: str, lines: Sequence[str]) -> list[str]:
    """Return lines below a title, none where there are no lines."""
    return [title, *lines] if lines else []


def nearest_tool(name: str, names: Collection[str], toolbox: Toolbox) -> str:
    """Return the tool that is meant by one that does not exist; "" where no name is near.

    Where no name is almost the same, the only tool that the words of the name describe is meant.
    """
    words = _words(name)
    about = {t.name: _words(f"{t.name} {t.description[:ABOUT]}") for t in toolbox}
    described = [tool for tool in about if words and words <= about[tool]]
    if len(described) == 1 and not _is_slip(name, names):
        return described[0]
    return nearest_name(name, names)


def _is_slip(name: str, names: Collection[str]) -> bool:
    return bool(get_close_matches(name, names, 1, ALIKE))


def no_tool(name: str, names: Collection[str], toolbox: Toolbox) -> str:
    """Return what a model is told of a tool that does not exist: the nearest, or the type's."""
    group, meant = name.partition("_")[0], nearest_tool(name, names, toolbox)
    text = f"There is no tool {name!r}." + (f" Did you mean {meant}?" if meant else "")
    functions = [tool.name for tool in toolbox if group and tool.group == group]
    if _is_slip(name, names) or not 0 < len(functions) <= FEW:
        return text
    return f"{text} {group} has: {', '.join(functions)}."


def _words(text: str) -> set[str]:
    return {*re.findall("[a-z]+", text.lower())}


def object_lines(kind: str, state: State, toolbox: Toolbox) -> dict[str, str]:
    """Return the lines of the newest objects of a type, each with its name; of data all objects."""
    names = state.of_kind.get(kind) or ()
    # No result names an input that is plain data, so all of them are listed.
    shown = names if names and names[0] in state.plain else names[-SHOWN:]
    return {object_line(name, state, toolbox): name for name in shown}


def object_line(name: str, state: State, toolbox: Toolbox) -> str:
    """Return an object as one line: its name, and what is known of it."""
    return f"- {name}: {object_text(name, state, toolbox)}".rstrip(": ")


def object_text(name: str, state: State, toolbox: Toolbox) -> str:
    """Return what a person said of an object, or else the call that made it."""
    ref = state.objects[name]
    description = " ".join(ref.description.split())
    if ref.shown:
        # Plain data.
        about = description or ref.producer.input
        return f"{ref.shown} ({about})" if about else ref.shown
    call = state.calls.get(ref.producer.call)
    if call is None:
        return description
    recipe = f"{_recipe(call, toolbox.get(call.tool))}{_result_path(ref, call)}"
    return f"given by a person for {recipe}" if call.status == "answered" else recipe


def _result_path(ref: Made, call: CallRecord) -> str:
    """Return where an object stands in the result of a call: `["others"][0]`."""
    if ref.changed:
        return f", as it changed {ref.changed}"
    outcome, index = call.outcome, ref.producer.index
    if not isinstance(outcome, Many):
        return ""
    path = outcome.paths[index] if index < len(outcome.paths) else ()
    steps = (index,) if is_bare_list(outcome) else path
    return "".join(f"[{readable_json(step)}]" for step in steps)


def _recipe(call: CallRecord, tool: Tool | None) -> str:
    """Return a call in one line: `Potato#1.slice(shape: "STICKS")`."""
    arguments, name = dict(call.arguments), call.tool
    if tool is not None and (receiver := arguments.pop(tool.receiver, "")):
        name = f"{receiver}.{name.removeprefix(f'{tool.kind}_')}"
    text = f"{name}({', '.join(f'{key}: {_value(value)}' for key, value in arguments.items())})"
    return text if len(text) <= RECIPE else f"{text[:RECIPE]}…"


def _value(value: object) -> str:
    text = value if isinstance(value, str) and NAME.fullmatch(value) else readable_json(value)
    return shortened_text(text, 40)


def new_kinds(call: CallRecord, state: State) -> list[str]:
    """Return the types whose first object a call made."""
    first = (ref for ref in call.produced if state.name_of(ref) == state.oldest(ref.kind))
    return list(dict.fromkeys(ref.kind for ref in first))


def receiver_kinds(toolbox: Toolbox) -> tuple[str, ...]:
    """Return the types that a toolbox knows, in its order."""
    kinds = (tool.kind for tool in toolbox if tool.receiver)
    return tuple(dict.fromkeys((*kinds, *toolbox.kinds.values())))


def existing_kinds(state: State) -> list[str]:
    """Return the types that have an object, in the order in which they came to be."""
    kinds = sorted(state.of_kind)
    return sorted(kinds, key=lambda kind: _producing_step(state.oldest(kind), state))


def newest_of(kinds: tuple[str, ...], state: State) -> str | None:
    """Return the newest object that is of one of these types; None if there is none."""
    names = [state.newest[kind] for kind in kinds if kind in state.newest]
    return max(names, key=lambda name: _producing_step(name, state), default=None)


def _producing_step(name: str, state: State) -> int:
    """Return the step of the call that made an object; 0 for one from outside."""
    call = state.calls.get(state.objects[name].producer.call)
    return call.step if call is not None else 0
