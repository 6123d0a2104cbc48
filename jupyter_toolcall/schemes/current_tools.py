"""The tools of scheme `current` as the model sees them: `_use_TYPE`, `_saveAs`, and views.

A view is a tool without its receiver, which is the current object, and with `$name` as an
object's name wherever it takes one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import CallError
from ..state.shape import State
from ..tools import Tool, Toolbox
from ..tools.references import NAME, pattern, takes_own_names
from ..tools.tool import Resolve
from .shown import functions_of, line, newest

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
