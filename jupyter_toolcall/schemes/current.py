"""The tools of scheme `current` as the model sees them: `_use_TYPE`, `_saveAs`, and views.

A view is a tool without its receiver, which is the current object, and with `$name` as an
object's name wherever it takes one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from ..core.call_record import CallRecord
from ..core.errors import CallError
from ..core.events import Data, Made
from ..core.object_names import NAME
from ..core.state import State
from ..tools.object_references import (
    Path,
    own_name_fits,
    pattern,
    replace_names,
    takes_own_names,
)
from ..tools.tool import Resolve, Tool
from ..tools.toolbox import Toolbox
from .messages import Result
from .object_lines import (
    first_of,
    functions_of,
    introduced,
    kinds_known,
    kinds_there,
    line,
    newest,
    newest_of,
)
from .save_tool import reminder, save_tools
from .scheme import Offer, Scheme, as_text, receivers, told

USE = "_use_"
SAVE_AS = "_saveAs"
_OWN_NAME = re.compile(r"[$]?[A-Za-z0-9_]+")


def listed(kind: str, state: State, toolbox: Toolbox) -> dict[str, str]:
    """Return the lines of the newest objects of a type, each with the object's name."""
    return {line(name, state, toolbox): name for name in newest(kind, state)}


def use(kind: str, toolbox: Toolbox, objects: Iterable[str] = ()) -> Tool:
    """Return `_use_TYPE`, which tells of the type's functions and of its objects, a line each."""
    names = [tool.name for tool in functions_of(kind, toolbox)]
    parts = [f"Sets the current object to one of type {kind}."]
    parts += [f"Its functions: {', '.join(names)}."] if names else []
    parts += objects
    return Tool(
        name=f"{USE}{kind}",
        description="\n".join(parts),
        parameters=_takes_one(kind),
        function=lambda id: id,
        check=lambda arguments, resolve: _check_use(kind, arguments),
        read_only=True,
    )


@lru_cache(1_000)
def _takes_one(kind: str) -> Mapping[str, Any]:
    """Return the schema of the name of an object of a type."""
    said = f'The name of an object of type {kind}, such as "{kind}#1", or "$base" if you saved it.'
    text = {"type": "string", "pattern": pattern((kind,)), "description": said}
    whole: dict[str, Any] = takes_own_names(_one_text("id", text))
    return whole


def _check_use(kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    name = arguments.get("id")
    if set(arguments) != {"id"} or not isinstance(name, str) or not NAME.fullmatch(name):
        known = f'the name of a {kind}: {{"id": "{kind}#1"}}'
        raise CallError(f"{USE}{kind} takes one argument, {known}; a number alone names no object")
    return dict(arguments)


def save_as() -> Tool:
    """Return `_saveAs`."""
    said = 'Letters, digits and _, such as "base".'
    text = {"type": "string", "pattern": f"^{_OWN_NAME.pattern}$", "description": said}
    return Tool(
        name=SAVE_AS,
        description="Names the current object, for when you want to come back to it or to pass "
        'it on: after _saveAs(name: "base"), "$base" stands for it.',
        parameters=_one_text("name", text),
        function=lambda name: own_name(name),
        check=_check_save_as,
        read_only=True,
    )


def own_name(said: Any) -> str:
    """Return the name that a model gave, as it stands for the object: `$base`."""
    return f"${str(said).removeprefix('$')}"


def _check_save_as(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
    name = arguments.get("name")
    if set(arguments) != {"name"} or not isinstance(name, str) or not _OWN_NAME.fullmatch(name):
        raise CallError(
            f"{SAVE_AS} takes one argument, a name of letters (a to z), digits and _: "
            '{"name": "base"}'
        )
    return dict(arguments)


def _one_text(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: schema},
        "required": [name],
        "additionalProperties": False,
    }


def with_own_names(tool: Tool) -> Tool:
    """Return a tool that takes `$name` wherever it takes an object."""
    return replace(tool, parameters=takes_own_names(tool.parameters))


# -- views ----------------------------------------------------------------------------------

_VIEWS: WeakKeyDictionary[Toolbox, Mapping[str, Tool]] = WeakKeyDictionary()


def views(toolbox: Toolbox) -> Mapping[str, Tool]:
    """Return the tools of a toolbox as the model sees them, by name, in its order."""
    known = _VIEWS.get(toolbox)
    if known is None:
        known = _VIEWS[toolbox] = {
            each.name: replace(each, parameters=_Shown(each), receiver="") for each in toolbox
        }
    return known


class _Shown(Mapping[str, Any]):
    """The schema of a view, made when it is first read: there may be hundreds."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    @cached_property
    def _schema(self) -> dict[str, Any]:
        whole: dict[str, Any] = takes_own_names(self._tool.parameters)
        receiver = self._tool.receiver
        if not receiver:
            return whole
        properties = {k: v for k, v in whole.get("properties", {}).items() if k != receiver}
        required = [name for name in whole.get("required", ()) if name != receiver]
        rest = {k: v for k, v in whole.items() if k not in ("properties", "required")}
        return {**rest, "properties": properties, **({"required": required} if required else {})}

    def __eq__(self, other: object) -> bool:
        return self._schema == other

    def __getitem__(self, key: str) -> Any:
        return self._schema[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __len__(self) -> int:
        return len(self._schema)


SYSTEM = """\
You work from one object at a time, the current one, and your tools are its functions. Objects
have names such as Type#1 and never change: a tool that returns an object makes a new one, which
is current from then on, as {"current": "Type#2"} says. Where a tool answers {"result": ...}, the
current object stays. Begin with _use_TYPE, and go back with it to an object that is no longer
current. Keep the current object at hand with _saveAs(name: "base"): "$base" stands for it
wherever a tool takes an object. Calls of one turn run one after the other, each on what is
current by then. Use no name of an object that you were not told."""


@dataclass(frozen=True)
class Current(Scheme):
    """`_saveAs` and `_use_TYPE` always, plain functions, and those of the current object."""

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        kinds, here, seen = kinds_there(state), _kind(current(state), state), views(toolbox)
        shown = [*functions_of("", toolbox), *(functions_of(here, toolbox) if here else ())]
        names = {tool.name for tool in shown}
        objects = {kind: listed(kind, state, toolbox) for kind in kinds}
        later = [kind for kind in kinds_known(toolbox) if kind not in kinds]
        return Offer(
            own=(
                save_as(),
                *map(with_own_names, save_tools(state)),
                *(use(kind, toolbox, lines) for kind, lines in objects.items()),
            ),
            tools=tuple(seen[tool.name] for tool in shown),
            system=SYSTEM,
            deferred=(
                *(use(kind, toolbox) for kind in later),
                *(tool for name, tool in seen.items() if name not in names),
            ),
            reminder=reminder(state),
            listed={line: name for lines in objects.values() for line, name in lines.items()},
        )

    def complete(self, call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
        given = _spelled_out(call, tool, state)
        if tool.name == SAVE_AS and not current(state, call):
            raise CallError(f"{SAVE_AS}: {_nothing_current(state)}")
        if tool.name.startswith(USE):
            return _used(call, tool.name.removeprefix(USE), given, state)
        return _on_current(call, tool, given, state) if tool.receiver else given

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        said, error = told(call, state)
        if not error and (isinstance(call.outcome, Made) or call.tool.startswith(USE)):
            said["current"] = said.pop("result")
        elif not error and call.tool == SAVE_AS:
            said["current"] = current(state, call)
        return Result(call.id, as_text(said), error, _into_view(call, state, toolbox))


# -- what is current, and what has a name -------------------------------------------------


def current(state: State, call: CallRecord | None = None) -> str:
    """Return the name of the current object, "" for none; before `call`, where one is given."""
    trails = (state.succeeded.get(f"{USE}{kind}") or () for kind in state.counts)
    ends = (_last(trail, state, call) for trail in (state.returned, *trails))
    last = max(filter(None, ends), key=lambda found: found.step, default=None)
    match last:
        case CallRecord(outcome=Made(), object=name):
            return name
        case CallRecord(outcome=Data(str() as name)):
            return name
    return ""


def _last(trail: Sequence[str], state: State, call: CallRecord | None) -> CallRecord | None:
    """Return the last of some calls, or the last before `call`.

    The trail is in order of turns; within one turn, results may come in any order.
    """
    calls = state.calls
    end = bisect_right(trail, call.turn, key=lambda i: calls[i].turn) if call else len(trail)
    best: CallRecord | None = None
    for index in reversed(range(end)):
        found = calls[trail[index]]
        if best is not None and found.turn != best.turn:
            break
        if (call is None or found.step < call.step) and (best is None or found.step > best.step):
            best = found
    return best


def saved(state: State, call: CallRecord | None = None) -> dict[str, str]:
    """Return the names that the model gave (`$base`), and the objects that they stand for."""
    before = (each for each in state.results_of(SAVE_AS) if call is None or each.step < call.step)
    return {own_name(each.arguments.get("name")): current(state, each) for each in before}


def _kind(name: str, state: State) -> str:
    """Return the type of an object, "" for none."""
    return state.objects[name].kind if name else ""


# -- what a call left unsaid ---------------------------------------------------------------


def _spelled_out(call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
    """Return a call's arguments with objects in place of the names that the model gave."""

    def meant(path: Path, name: str) -> str:
        names = saved(state, call)
        if name not in names:
            known = ", ".join(f"{key} is {of}" for key, of in names.items()) or "no names yet"
            raise CallError(f"{'.'.join(path)}: nothing is named {name}; there are: {known}")
        return names[name]

    given: dict[str, Any] = replace_names(tool.parameters, dict(call.asked), meant, own_name_fits)
    return given


def _used(call: CallRecord, kind: str, given: dict[str, Any], state: State) -> dict[str, Any]:
    """Return the arguments of `_use_TYPE`; a name of the model's own needs no `$` there."""
    name = given.get("id")
    if not isinstance(name, str):
        return given
    if not NAME.fullmatch(name):
        return {**given, "id": saved(state, call).get(own_name(name), name)}
    if (other := state.resolve(name).kind) != kind:
        raise CallError(f"{name} is a {other}; call {_go_to(name, state)}")
    return given


def _on_current(
    call: CallRecord, tool: Tool, given: dict[str, Any], state: State
) -> dict[str, Any]:
    """Return the arguments with the current object as the receiver.

    Raises CallError where the tool is no function of it, or the model means another object.
    """
    said, here, kinds = given.get(tool.receiver), current(state, call), receivers(tool)
    if call.edited and said is not None:
        return given
    if not here:
        raise CallError(f"{tool.name}: {_nothing_current(state)}")
    if _kind(here, state) not in kinds:
        raise CallError(
            f"{tool.name} is a function of {' or '.join(kinds)}, and the current object is "
            f"{here}; {_reach(said, kinds, state)}"
        )
    if said not in (None, here):
        raise CallError(
            f"{tool.name} runs on the current object, {here}, so leave {tool.receiver} out; "
            f"{_reach(said, kinds, state)}"
        )
    return {tool.receiver: here, **given, tool.receiver: here}


def _reach(said: Any, kinds: tuple[str, ...], state: State) -> str:
    """Return how to get to the object that a call needs."""
    wanted = (
        said if said in state.objects and _kind(said, state) in kinds else newest_of(kinds, state)
    )
    return (
        f"call {_go_to(wanted, state)} first" if wanted else f"there is no {' or '.join(kinds)} yet"
    )


def _nothing_current(state: State) -> str:
    names = [state.newest[kind] for kind in kinds_there(state)]
    if not names:
        return "there is no object yet; call a tool that makes one first"
    more = f"; there are: {', '.join(names)}" if len(names) > 1 else ""
    return f"there is no current object yet; begin with {_go_to(names[0], state)}{more}"


def _go_to(name: str, state: State) -> str:
    return f'{USE}{_kind(name, state)}(id: "{name}")'


# -- what comes into view --------------------------------------------------------------------


def _into_view(call: CallRecord, state: State, toolbox: Toolbox) -> tuple[str, ...]:
    """Return the tools that a call's outcome brings: each comes into view once."""
    first = dict.fromkeys(made.kind for made in introduced(call, state))
    uses = [f"{USE}{kind}" for kind in first]
    here = _kind(_after(call), state)
    mine = functions_of(here, toolbox) if here and _is_first(here, call, state) else ()
    return (*uses, *(tool.name for tool in mine))


def _after(call: CallRecord) -> str:
    """Return the name of the object that a call made current, "" where it made none so."""
    match call.outcome:
        case Made():
            return call.object
        case Data(str() as name) if call.tool.startswith(USE):
            return name
    return ""


def _is_first(kind: str, call: CallRecord, state: State) -> bool:
    """Return whether no call before this one is known to have made such an object current."""
    first = state.calls.get(state.objects[first_of(kind)].producer.call)
    # Of the objects of a list none is made current.
    single = first if first is not None and isinstance(first.outcome, Made) else None
    uses = state.succeeded.get(f"{USE}{kind}")
    known = [single, state.calls[uses[0]] if uses else None]
    return all(each is None or call.step <= each.step for each in known)
