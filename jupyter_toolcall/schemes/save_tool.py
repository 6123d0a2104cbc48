"""The tools that are the same in every scheme: `save`, by which a model hands over the outputs, and
`read_result`, by which it reads on in a result that was longer than its limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any

from pydantic import Field

from ..core.call_record import SAVE
from ..core.errors import CallError
from ..core.events import Output
from ..core.recorded_data import JsonDict, JsonObject
from ..core.state import State, kind_in
from ..tools.answer_types import answer_type, json_answer, read_answer
from ..tools.arguments import name_in_line
from ..tools.object_references import pattern
from ..tools.tool import Resolve, Tool
from ..tools.toolbox import Toolbox

SCALARS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
"""The JSON type of a text, a number and a truth, which are handed over as they are."""


def is_data(out: Output) -> bool:
    """Return whether an output is handed over as data, and not by the name of an object."""
    return out.kind in SCALARS or bool(out.schema)


SAVE_TEXT = (
    "Hand over what was asked for. You are not done before this call. Call it once, at the end, "
    "with all of:"
)
READ = "read_result"
BEFORE = 200
"""Characters before a text that is searched for."""


def common_tools(state: State, toolbox: Toolbox) -> tuple[Tool, ...]:
    """Return the tools that every scheme has now."""
    # A session without a long result stays as it is, for the sake of prompt caches.
    sizes = ((name, n) for name, n in state.sizes.items() if name in toolbox)
    is_cut = any(n > result_limit(name, state, toolbox) for name, n in sizes)
    reads = (_read_tool(state),) if is_cut and READ not in toolbox else ()
    return (*save_tools(state, toolbox), *reads)


def result_limit(name: str, state: State, toolbox: Toolbox) -> int:
    """Return how many characters of a result of a tool the model is sent."""
    tool = toolbox.get(name)
    return (tool and tool.max_result) or state.opened.max_result


def _read_tool(state: State) -> Tool:
    def read_result(call: str, start: Annotated[int, Field(ge=0)] = 0, search: str = "") -> str:
        """Read on in the result of an earlier call that was cut.

        Args:
            call: The id of the call.
            start: The character to begin at.
            search: Begin shortly before the next place from there that has this text.
        """
        text = state.calls[call].result_text if call in state.calls else ""
        found = text.find(search, int(start))
        if found < 0 or start >= len(text):
            return f"The result of {call!r:.60} has no {search!r:.60} from character {start} on."
        begin = max(start, found - BEFORE)
        end = begin + state.opened.max_result
        ending = f"… (characters {begin} to {end} of {len(text)})" if end < len(text) else ""
        return f"{text[begin:end]}{ending}"

    return replace(Toolbox(read_result)[READ], read_only=True, origin=None, version=str)


def save_tools(state: State, toolbox: Toolbox) -> tuple[Tool, ...]:
    """Return `save`, if the session has outputs."""
    outputs = state.opened.outputs
    if not outputs:
        return ()
    lines = [f"- {name} ({out.kind}): {out.description}" for name, out in outputs.items()]
    data = {name: out.kind for name, out in outputs.items() if is_data(out)}
    types = {name: answer_type(kind, toolbox.answers, toolbox.kinds) for name, kind in data.items()}

    def check_output(name: str, arguments: JsonObject, resolve: Resolve) -> None:
        if name not in outputs:
            raise CallError("there is no such output")
        if name not in arguments:
            raise CallError(f"is missing; it must be a {outputs[name].kind}")
        if name in types:
            read_answer(types[name], arguments[name], resolve, toolbox.kinds)
        else:
            _check_name(arguments[name], outputs[name].kind, state, resolve)

    def check(arguments: JsonObject, resolve: Resolve) -> JsonDict:
        """Check all outputs together: all are saved, or none."""
        wrong = dict[str, str]()
        for name in (*(name for name in arguments if name not in outputs), *outputs):
            try:
                check_output(name, arguments, resolve)
            except CallError as error:
                wrong[name] = str(error)
        if wrong:
            texts = "; ".join(f"{name_in_line(name)}: {text}" for name, text in wrong.items())
            raise CallError(f"Nothing was saved. {texts}", wrong)
        return dict(arguments)

    save = Tool(
        SAVE,
        "\n".join([SAVE_TEXT, *(line.rstrip(": ") for line in lines)]),
        _parameters(outputs),
        lambda **saved: "ok",
        check,
        read_only=True,
        fill=lambda arguments, variables: {
            name: json_answer(types.get(name), value) for name, value in arguments.items()
        },
    )
    return (save,)


def _check_name(value: object, kind: str, state: State, resolve: Resolve) -> None:
    """Raise CallError for anything but the name of an object of this type."""
    if not isinstance(value, str):
        raise CallError(f"must be the name of a {kind}, not {value!r:.60}")
    resolve(value, ())
    if kind_in(value) != kind:
        newest = f"the newest {kind} is {state.newest.get(kind, 'not made yet')}"
        raise CallError(f"must be a {kind}; {value} is a {kind_in(value)}; {newest}")


def _parameters(outputs: Mapping[str, Output]) -> dict[str, Any]:
    parts = (out.schema.get("$defs", {}).items() for out in outputs.values())
    definitions = dict(chain.from_iterable(parts))
    properties = {name: _schema(out) for name, out in outputs.items()}
    schema = {"type": "object", "properties": properties, "required": [*outputs]}
    closed = {**schema, "additionalProperties": False}
    return {**closed, "$defs": definitions} if definitions else closed


def reminder(state: State) -> str:
    """Return what a model is told that stops without `save`, "" where nothing is due."""
    if state.done or not state.opened.outputs:
        return ""
    missing = ", ".join(f"{name} ({out.kind})" for name, out in state.opened.outputs.items())
    return f"You have not called save yet. Outputs that are due: {missing}."


def _schema(out: Output) -> dict[str, Any]:
    if is_data(out):
        described = {"description": out.description} if out.description else {}
        schema = {key: part for key, part in out.schema.items() if key != "$defs"}
        return {**(schema or {"type": SCALARS[out.kind]}), **described}
    text = f"The name of a {out.kind}. {out.description}".strip()
    return {"type": "string", "pattern": pattern((out.kind,)), "description": text}
