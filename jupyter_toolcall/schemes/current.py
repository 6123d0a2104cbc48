"""Scheme `current`: the model works from one object at a time, the current one (seed 001).

`_use_TYPE` makes an object current, and so does a tool that returns one. The model gets the tools
of the current object as views: without the receiver, and with `$name` as an object's name wherever
a tool takes one. `_saveAs` gives the current object such a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from ..core.call_record import CallRecord, result_object
from ..core.errors import CallError
from ..core.events import Data
from ..core.recorded_data import JsonDict
from ..core.state import NAME, State
from ..tools.arguments import LazySchema
from ..tools.object_references import (
    Path,
    own_name_fits,
    pattern,
    replace_names,
    takes_own_names,
    takes_values,
)
from ..tools.tool import Tool, parameters_schema
from ..tools.toolbox import Toolbox
from . import listing
from .messages import Result
from .save_tool import common_tools, reminder
from .scheme import Offer, Scheme, receivers, result_text, sent_data, tool_of_one, with_first

USE = "_use_"
SAVE_AS = "_saveAs"

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
        kinds, all_views = listing.existing_kinds(state), views(toolbox)
        shown = listing.functions_of(["", _kind(current(state), state)], toolbox)
        names = {tool.name for tool in shown}
        lines = {kind: listing.object_lines(kind, state, toolbox) for kind in kinds}
        common = (
            replace(tool, parameters=takes_own_names(parameters_schema(tool)))
            for tool in common_tools(state, toolbox)
        )
        all_kinds = dict.fromkeys((*kinds, *listing.receiver_kinds(toolbox)))
        uses = {kind: _use(kind, toolbox, lines.get(kind, ())) for kind in all_kinds}
        later = (tool for name, tool in all_views.items() if name not in names)
        return Offer(
            (_save_as(), *common, *(uses[kind] for kind in kinds)),
            tuple(all_views[tool.name] for tool in shown),
            "\n".join([SYSTEM, *listing.plain_note(state)]),
            "\n".join(listing.group_lines([""], toolbox)),
            (*(use for kind, use in uses.items() if kind not in lines), *later),
            reminder=reminder(state),
            listed={line: name for objects in lines.values() for line, name in objects.items()},
        )

    def complete(self, call: CallRecord, tool: Tool, state: State) -> JsonDict:
        arguments = _with_object_names(call, tool, state)
        if tool.name == SAVE_AS and not current(state, call):
            raise CallError(f"{SAVE_AS}: {_nothing_current(state)}")
        if tool.name.startswith(USE):
            return _used(call, tool.name.removeprefix(USE), arguments, state)
        return _on_current(call, tool, arguments, state) if tool.receiver else arguments

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        data, error = sent_data(call, state, toolbox)
        if not error and _new_current_object(call):
            data["current"] = data.pop("result")
        elif not error and call.tool == SAVE_AS:
            data["current"] = current(state, call)
        return Result(call.id, result_text(data), error, _new_tools(call, state, toolbox))


# -- the scheme's own tools ------------------------------------------------------------------


def _use(kind: str, toolbox: Toolbox, objects: Iterable[str] = ()) -> Tool:
    """Return `_use_TYPE`, which tells of the type's functions and of its objects, a line each."""
    names = [tool.name for tool in listing.functions_of([kind], toolbox)]
    functions = [f"Its functions: {', '.join(names)}."] if names else []
    about = listing.class_texts([kind], toolbox).values()
    first = " ".join([f"Sets the current object to one of type {kind}.", *about])
    wrong = (
        f'{USE}{kind} takes one argument, the name of a {kind}: {{"id": "{kind}#1"}}; '
        "a number alone names no object"
    )
    text = f'The name of an object of type {kind}, such as "{kind}#1", or "$base" if you saved it.'
    schema = {"type": "string", "pattern": pattern((kind,)), "description": text}
    named = f"{USE}{kind}", "\n".join([first, *functions, *objects])
    return tool_of_one(named, "id", takes_own_names(schema), wrong)


def _save_as() -> Tool:
    """Return `_saveAs`."""
    description = (
        "Names the current object, for when you want to come back to it or to pass it on: after "
        '_saveAs(name: "base"), "$base" stands for it.'
    )
    wrong = (
        f"{SAVE_AS} takes one argument, a name of letters (a to z), digits and _: "
        '{"name": "base"}'
    )
    text = 'Letters, digits and _, such as "base".'
    schema = {"type": "string", "pattern": "^[$]?[A-Za-z0-9_]+$", "description": text}
    return tool_of_one((SAVE_AS, description), "name", schema, wrong, own_name)


def own_name(name: object) -> str:
    """Return a name that a model gave, as it stands for the object: `$base`."""
    return f"${str(name).removeprefix('$')}"


# -- views ----------------------------------------------------------------------------------


@listing.once_for_a_toolbox
def views(toolbox: Toolbox) -> Mapping[str, Tool]:
    """Return the tools of a toolbox as the model sees them, by name, in its order."""
    schemas = {tool.name: LazySchema(partial(_view_schema, tool)) for tool in toolbox}
    return {t.name: replace(t, parameters=schemas[t.name], receiver="") for t in toolbox}


def _view_schema(tool: Tool) -> JsonDict:
    schema: JsonDict = dict(takes_own_names(parameters_schema(tool)))
    if receiver := tool.receiver:
        schema["properties"] = {k: v for k, v in schema["properties"].items() if k != receiver}
        if required := [name for name in schema.pop("required", ()) if name != receiver]:
            schema["required"] = required
    return schema


# -- what is current, and what has a name -------------------------------------------------


def current(state: State, call: CallRecord | None = None) -> str:
    """Return the name of the current object, "" for none; before `call`, if one is given."""
    # Calls are in call order, whatever the order of their results; most change what is current.
    # A call of another branch may stand further on than this branch goes.
    end = min(call.step - 1, len(state.order)) if call else len(state.order)
    calls = (state.calls[state.order[index]] for index in reversed(range(end)))
    return next(filter(None, map(_new_current_object, calls)), "")


def _new_current_object(call: CallRecord) -> str:
    """Return the name of the object that a call made current, "" if it made none so."""
    if result_object(call.outcome) is not None:
        return call.object
    match call.outcome:
        case Data(str() as name) if call.tool.startswith(USE):
            return name
    return ""


def saved(state: State, call: CallRecord | None = None) -> dict[str, str]:
    """Return the names that the model gave (`$base`, before a call), and their objects."""
    named = state.results_of(SAVE_AS)
    before = (saving for saving in named if call is None or saving.step < call.step)
    return {own_name(saving.arguments.get("name")): current(state, saving) for saving in before}


def _kind(name: str, state: State) -> str:
    """Return the type of an object, "" for none."""
    return state.objects[name].kind if name else ""


# -- what a call left out ------------------------------------------------------------------


def _with_object_names(call: CallRecord, tool: Tool, state: State) -> JsonDict:
    """Return a call's arguments with objects in place of the names that the model gave."""

    def object_named(path: Path, name: str) -> str:
        names = saved(state, call)
        if name not in names:
            listed = ", ".join(f"{key} is {of}" for key, of in names.items()) or "no names yet"
            raise CallError(f"{'.'.join(path)}: nothing is named {name}; there are: {listed}")
        return names[name]

    def fitting(schema: Mapping[str, object], text: str) -> bool:
        # Anywhere else a text may begin with a dollar by itself.
        is_plain = text.startswith("$") and saved(state, call).get(text) in state.plain
        return own_name_fits(schema, text) or (is_plain and takes_values(schema))

    return dict(replace_names(parameters_schema(tool), dict(call.asked), object_named, fitting))


def _used(call: CallRecord, kind: str, arguments: JsonDict, state: State) -> JsonDict:
    """Return the arguments of `_use_TYPE`; a name of the model's own needs no `$` there."""
    name = arguments.get("id")
    if not isinstance(name, str):
        return arguments
    if not NAME.fullmatch(name):
        return {**arguments, "id": saved(state, call).get(own_name(name), name)}
    if (other := state.resolve(name).kind) != kind:
        raise CallError(f"{name} is a {other}; call {_go_to(name, state)}")
    return arguments


def _on_current(call: CallRecord, tool: Tool, arguments: JsonDict, state: State) -> JsonDict:
    """Return the arguments with the current object as the receiver.

    Raises CallError if the tool is no function of it, or the model means another object.
    """
    name, now, kinds = arguments.get(tool.receiver), current(state, call), receivers(tool)
    if call.edited and name is not None:
        return arguments
    if not now:
        raise CallError(f"{tool.name}: {_nothing_current(state)}")
    fits = _kind(now, state) in kinds
    if fits and name in (None, now):
        return with_first(tool.receiver, now, arguments)
    wanted = listing.newest_of(kinds, state)
    if isinstance(name, str) and name in state.objects and _kind(name, state) in kinds:
        wanted = name
    types = " or ".join(kinds)
    hint = f"call {_go_to(wanted, state)} first" if wanted else f"there is no {types} yet"
    raise CallError(
        f"{tool.name} runs on the current object, {now}, so leave {tool.receiver} out; {hint}"
        if fits
        else f"{tool.name} is a function of {types}, and the current object is {now}; {hint}"
    )


def _nothing_current(state: State) -> str:
    names = [state.newest[kind] for kind in listing.existing_kinds(state)]
    if not names:
        return "there is no object yet; call a tool that makes one first"
    choices = f"; there are: {', '.join(names)}" if len(names) > 1 else ""
    return f"there is no current object yet; begin with {_go_to(names[0], state)}{choices}"


def _go_to(name: str, state: State) -> str:
    return f'{USE}{_kind(name, state)}(id: "{name}")'


# -- what comes into view --------------------------------------------------------------------


def _new_tools(call: CallRecord, state: State, toolbox: Toolbox) -> tuple[str, ...]:
    """Return the tools that a call's outcome brings: each comes into view once."""
    uses = [f"{USE}{kind}" for kind in listing.new_kinds(call, state)]
    kind = _kind(_new_current_object(call), state)
    is_new = kind and _is_first(kind, call, state)
    new_functions = listing.functions_of([kind] if is_new else [], toolbox)
    return (*uses, *(tool.name for tool in new_functions))


def _is_first(kind: str, call: CallRecord, state: State) -> bool:
    """Return whether no call before this one is known to have made such an object current."""
    first = state.calls.get(state.objects[state.oldest(kind)].producer.call)
    # Of several objects in a result none is made current.
    made_before = first and result_object(first.outcome) and first.step < call.step
    uses = state.succeeded.get(f"{USE}{kind}")
    return not made_before and (not uses or call.step <= state.calls[uses[0]].step)
