"""From a tool to the row that a person sees of it: what it is for, and its form."""

from __future__ import annotations

from ..loop import Cursor
from ..rows.contract import ToolRow
from ..tools import Tool

LONG = 2_000
WHOLE = 20_000


def tool_row(cursor: Cursor, name: str) -> ToolRow | None:
    """Return the row of a tool that was called, for its form."""
    tool = cursor.find(name)
    if tool is None:
        return None
    # The list of what there is, in a tool of the scheme's own, is another after each step.
    own = any(each.name == name for each in cursor.offer.own)
    said = tool.description.partition("\n\n")[0] if own else tool.description
    return _tool(tool, said[:LONG])


def offered_row(cursor: Cursor, name: str) -> ToolRow | None:
    """Return the row of a tool as the model is told of it, for a person in its place."""
    tool = cursor.find(name)
    return _tool(tool, tool.description[:WHOLE]) if tool is not None else None


def _tool(tool: Tool, said: str) -> ToolRow:
    return ToolRow(tool.name, said, dict(tool.parameters), tool.read_only, tool.for_person)
