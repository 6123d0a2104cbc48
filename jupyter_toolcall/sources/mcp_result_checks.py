"""Checks of a result of an MCP server: its size, and that it fits the tool's output schema."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.errors import CallError
from ..core.text import printable
from .definition_schema import schema_validator
from .mcp_sdk import MAX_BYTES, Json


def demand_size(data: Any, what: str) -> None:
    """Raise CallError for data that are too large."""
    if _size(data) > MAX_BYTES:
        raise CallError(too_large_text(what))


def too_large_text(what: str) -> str:
    """Return the error text for a result that is too large, with what to do."""
    return f"{what} has more than {MAX_BYTES:,} characters; ask for less"


def _size(data: Any) -> int:
    """Return the number of characters in JSON data, without punctuation."""
    if isinstance(data, dict):
        return sum(len(key) + _size(value) for key, value in data.items())
    return sum(map(_size, data)) if isinstance(data, list) else len(str(data))


class DeclaredOutputs:
    """The output schemas of the tools that a server lists."""

    def __init__(self, tools: Iterable[Json] = ()) -> None:
        self._schemas = {tool["name"]: tool.get("outputSchema") for tool in tools}
        self._validators: dict[str, Any] = {}

    def demand(self, tool: str, result: Mapping[str, Any]) -> None:
        """Raise CallError for a result that does not fit its tool's schema.

        A tool without a schema, or with an invalid one, has no check.
        """
        schema = self._schemas.get(tool)
        if schema is None or result.get("isError"):
            return
        if "structuredContent" not in result:
            raise CallError(f"{tool} ran, and its result has no structured content")
        # An invalid schema raises ValueError.
        with contextlib.suppress(ValueError):
            if tool not in self._validators:
                self._validators[tool] = schema_validator(schema)
            content = result["structuredContent"]
            for error in self._validators[tool].iter_errors(content):
                path = ".".join(map(str, error.instance_path)) or "result"
                raise CallError(
                    f"{tool} ran, and its result is not what it declares: {path}: "
                    f"{printable(error.message)[:200]}"
                )
