"""The schemas of an MCP server, and the checks of a result: its size, and its output schema."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Mapping
from typing import Any, cast

from ..core.errors import CallError
from ..core.text import printable
from .definition_dialects import current_schema, is_pattern, mapped_schema
from .definition_schema import schema_validator
from .mcp_sdk import MAX_BYTES, Json


def demand_size(data: object, what: str) -> None:
    """Raise CallError for data that are too large."""
    if len(json.dumps(data, ensure_ascii=False)) > MAX_BYTES:
        raise CallError(too_large_text(what))


def too_large_text(what: str) -> str:
    """Return the error text for a result that is too large, with what to do."""
    return f"{what} has more than {MAX_BYTES:,} characters; ask for less"


def readable_schema(schema: Json) -> dict[str, Any]:
    """Return the schema of a server, of any draft, as one of draft 2020-12.

    A pattern that JavaScript alone reads is left to the server.
    """
    return cast(dict[str, Any], mapped_schema(current_schema(schema), _without_foreign_pattern))


def _without_foreign_pattern(schema: Mapping[str, object]) -> Mapping[str, object]:
    is_foreign = "pattern" in schema and not is_pattern(str(schema["pattern"]))
    return {k: v for k, v in schema.items() if k != "pattern"} if is_foreign else schema


def demand_declared(tool: str, result: Mapping[str, object], schema: Json | None) -> None:
    """Raise CallError for a result that does not fit the output schema of its tool.

    A tool without a schema, or with an invalid one, has no check.
    """
    if schema is None or result.get("isError"):
        return
    if "structuredContent" not in result:
        raise CallError(f"{tool} ran, and its result has no structured content")
    # An invalid schema raises ValueError.
    with contextlib.suppress(ValueError, RecursionError):
        for error in _validator(json.dumps(schema)).iter_errors(result["structuredContent"]):
            path = ".".join(map(str, error.instance_path)) or "result"
            reason = f"{path}: {printable(error.message)[:200]}"
            raise CallError(f"{tool} ran, and its result is not what it declares: {reason}")


@functools.lru_cache(1_000)
def _validator(schema: str) -> Any:
    return schema_validator(readable_schema(json.loads(schema)))
