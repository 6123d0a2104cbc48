"""The schemas of an MCP server, and the checks of a result: its size, and its output schema."""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

from ..core.errors import CallError
from ..core.text import printable
from .definition_dialects import at_pointer, current_schema, is_pattern, mapped_schema
from .definition_schema import schema_validator
from .mcp_sdk import MAX_BYTES, Json


def demand_size(data: Any, what: str) -> None:
    """Raise CallError for data that are too large."""
    if len(json.dumps(data, ensure_ascii=False)) > MAX_BYTES:
        raise CallError(too_large_text(what))


def too_large_text(what: str) -> str:
    """Return the error text for a result that is too large, with what to do."""
    return f"{what} has more than {MAX_BYTES:,} characters; ask for less"


_PLACE = re.compile(r"#(?!/(?:\$defs|definitions)/[^/]+$)(?:/.*)?")
"""A reference to the whole schema, or to a place in it that is no definition: zod writes these."""
_DATA = ("enum", "const", "default", "examples")
_OF_ROOT = ("$schema", "$id", "id", "$defs", "definitions")


def readable_schema(schema: Json) -> dict[str, Any]:
    """Return the schema of a server, of any draft, as one of draft 2020-12.

    What is referred to by its place is made a definition, since it may move: `items` of another
    draft become `prefixItems`, and a provider takes no choice at the top. A pattern that JavaScript
    alone reads is left to the server.
    """
    names: dict[str, str] = {}
    definitions: dict[str, Any] = {}

    def named(part: Any) -> Any:
        if isinstance(part, list):
            return [named(inner) for inner in part]
        if not isinstance(part, dict):
            return part
        result = {k: inner if k in _DATA else named(inner) for k, inner in part.items()}
        for word in ("$id", "id"):
            if isinstance(part.get(word), str) and part[word].startswith("#"):
                result["$anchor"] = result.pop(word)[1:]
        ref = str(part.get("$ref", part.get("$recursiveRef")))
        for target in at_pointer(schema, unquote(ref[1:])) if _PLACE.fullmatch(ref) else ():
            if ref not in names:
                names[ref] = f"place_{len(names)}"
                outside = _OF_ROOT if target is schema else ()
                definitions[names[ref]] = named(
                    {k: v for k, v in target.items() if k not in outside}
                )
            result["$ref"] = f"#/$defs/{names[ref]}"
        return result

    result = named(schema)
    if definitions:
        result["$defs"] = {**result.get("$defs", {}), **definitions}
    return cast(dict[str, Any], mapped_schema(current_schema(result), _without_foreign_pattern))


def _without_foreign_pattern(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    is_foreign = "pattern" in schema and not is_pattern(str(schema["pattern"]))
    return {k: v for k, v in schema.items() if k != "pattern"} if is_foreign else schema


def demand_declared(tool: str, result: Mapping[str, Any], schema: Json | None) -> None:
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
