"""What a model is shown of the objects and the tools that there are: lines of text.

Nothing here depends on the order of a set or a map, so that the same state is always told
in the same words: a prompt cache lives by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any
from weakref import WeakKeyDictionary

from ..core.call_record import CallRecord
from ..core.digests import readable_json
from ..core.events import Made, Many
from ..core.object_names import NAME
from ..core.state import State
from ..core.text import nearest
from ..tools.object_types import receiver_types
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox

SHOWN = 8
"""So many objects of one kind are listed, the newest; what is older stays usable."""
FEW = 12
"""So many functions of one type are named to a model that called another one."""
ALIKE = 0.85
"""From here on a name is a slip of the pen: the nearest is meant."""
RECIPE = 160
"""Characters of how an object was made."""

Functions = Mapping[str, tuple[Tool, ...]]
_FUNCTIONS: WeakKeyDictionary[Toolbox, Functions] = WeakKeyDictionary()


def functions_of(kind: str, toolbox: Toolbox) -> tuple[Tool, ...]:
    """Return the tools that objects of a type have, in toolbox order; "": those of none."""
    known = _FUNCTIONS.get(toolbox)
    if known is None:
        known = _FUNCTIONS[toolbox] = _by_kind(toolbox)
    return known.get(kind, ())


def _by_kind(toolbox: Toolbox) -> Functions:
    found: dict[str, list[Tool]] = {}
    for tool in toolbox:
        found.setdefault(tool.kind if tool.receiver else "", []).append(tool)
    known = {kind: tuple(tools) for kind, tools in found.items()}
    return {**_inherited(toolbox, known), **known}


def _inherited(toolbox: Toolbox, known: Functions) -> Functions:
    """A type that was not given itself has the functions of the classes that it is made from."""
    found: dict[str, tuple[Tool, ...]] = {}
    for kind, tools in known.items():
        cls = toolbox.type_named(kind)
        for heir in receiver_types(cls, toolbox.kinds) if cls is not None else ():
            name = toolbox.kinds.get(heir, kind)
            found[name] = (*found.get(name, ()), *tools)
    return found


def no_tool(name: str, known: Iterable[str], toolbox: Toolbox) -> str:
    """Return what a model is told of a tool that there is not: the nearest, or the type's."""
    names, kind = list(known), name.partition("_")[0]
    said = f"There is no tool {name!r}.{nearest(name, names)}"
    mine = [tool.name for tool in functions_of(kind, toolbox)] if kind else []
    if get_close_matches(name, names, 1, ALIKE) or not 0 < len(mine) <= FEW:
        return said
    return f"{said} {kind} has: {', '.join(mine)}."


def newest(kind: str, state: State) -> list[str]:
    """Return the names of the newest objects of a type, the newest last."""
    count = state.counts.get(kind) or 0
    return [f"{kind}#{number}" for number in range(max(1, count - SHOWN + 1), count + 1)]


def line(name: str, state: State, toolbox: Toolbox) -> str:
    """Return an object as one line: its name, and what is known of it."""
    return f"- {name}: {described(name, state, toolbox)}".rstrip(": ")


def described(name: str, state: State, toolbox: Toolbox) -> str:
    """Return what a person said of an object, or else the call that made it."""
    made = state.objects[name]
    if made.description:
        return " ".join(made.description.split())
    call = state.calls.get(made.producer.call)
    if call is None:
        return ""
    index = f"[{made.producer.index}]" if isinstance(call.outcome, Many) else ""
    said = f"{_recipe(call, toolbox.get(call.tool))}{index}"
    return f"given by a person for {said}" if call.status == "answered" else said


def _recipe(call: CallRecord, tool: Tool | None) -> str:
    """Return a call in one line: `Potato#1.slice(shape: "STICKS")`."""
    given = dict(call.arguments)
    receiver = given.pop(tool.receiver, "") if tool is not None else ""
    kind = tool.kind if tool is not None else ""
    name = f"{receiver}.{call.tool.removeprefix(f'{kind}_')}" if receiver else call.tool
    said = ", ".join(f"{key}: {_value(value)}" for key, value in given.items())
    text = f"{name}({said})"
    return text if len(text) <= RECIPE else f"{text[:RECIPE]}…"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) and NAME.fullmatch(value) else readable_json(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def introduced(call: CallRecord, state: State) -> list[Made]:
    """Return the objects with which a call brought the first of a type."""
    return [made for made in call.produced if state.name_of(made) == first_of(made.kind)]


def first_of(kind: str) -> str:
    """Return the name of the first object of a type."""
    return f"{kind}#1"


def kinds_known(toolbox: Toolbox) -> tuple[str, ...]:
    """Return the types that a toolbox knows, in its order."""
    kinds = (tool.kind for tool in toolbox if tool.receiver)
    return tuple(dict.fromkeys((*kinds, *toolbox.kinds.values())))


def kinds_there(state: State) -> list[str]:
    """Return the types that have an object, in the order in which they came to be."""
    return sorted(state.counts, key=lambda kind: (_made_at(first_of(kind), state), kind))


def newest_of(kinds: tuple[str, ...], state: State) -> str | None:
    """Return the newest object that is of one of these types; None where there is none."""
    names = [state.newest[kind] for kind in kinds if kind in state.newest]
    return max(names, key=lambda name: _made_at(name, state), default=None)


def _made_at(name: str, state: State) -> int:
    """Return the step of the call that made an object; 0 for one from outside."""
    call = state.calls.get(state.objects[name].producer.call)
    return call.step if call is not None else 0
