"""The way out: a tool, or a function, as a tool definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import DefinitionError
from ...tools import Tool, Toolbox
from .arguments import Filling
from .reading import Definition


def to_definition(tool: Any) -> dict[str, Any]:
    """Return a `Tool`, or a function, as a tool definition: plain data, ready for JSON.

    What came from a definition is that definition again; anything else is an action.
    Raises DefinitionError for what is not one tool.
    """
    one = tool if isinstance(tool, Tool) else _only(tool)
    if isinstance(one.fill, Filling):
        return written(one.fill.definition)
    return {"type": "action", "tool": {"type": "function", "function": _plain(one.definition())}}


def _only(source: Any) -> Tool:
    tools = list(Toolbox(source))
    if len(tools) == 1:
        return tools[0]
    first = tools[0].name if tools else "name"
    raise DefinitionError(
        f"{len(tools)} tools are not one definition; give them one by one, such as "
        f"to_definition(Toolbox(...)[{first!r}])"
    )


def written(made: Definition) -> dict[str, Any]:
    """Return a definition as JSON data, in one spelling: the keys in order, nothing null."""
    function = {
        "name": made.name,
        "description": made.description,
        "parameters": made.parameters,
    }
    said: dict[str, Any] = {
        "type": made.type,
        "tool": {"type": "function", "function": function},
    }
    if made.endpoint is not None:
        said["endpoint"] = {
            "url": made.endpoint.url,
            "method": made.endpoint.method,
            "argument_location": made.endpoint.argument_location,
        }
        if made.endpoint.timeout is not None:
            said["endpoint"]["timeout"] = made.endpoint.timeout
    said |= {key: made.said[key] for key in ("defaults", "static_parameters") if made.said.get(key)}
    if "result" in made.said:
        said["result"] = made.said["result"]
    plain: dict[str, Any] = _plain(said)
    return plain


def _plain(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    return value
