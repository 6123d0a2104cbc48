"""What the Messages API refuses, as rules over a request. Each rule raises `Refused`.

Sources: measurements and readings of the SDK's types and of public reports, gathered for
this project; where the API's own wording is known, its sense is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .anthropic_history import check_block, check_messages
from .anthropic_words import BOUND, KEY, NAME, as_blocks
from .model_api import Refused, bad
from .turns import Json

PARAMS = {
    *("cache_control", "container", "context_management", "diagnostics", "inference_geo"),
    *("max_tokens", "messages", "metadata", "model", "output_config", "service_tier", "speed"),
    *("stop_sequences", "stream", "system", "thinking", "tool_choice", "tools"),
    *("user_profile_id", "workspace_id"),
}
TOOL = {
    *("name", "description", "input_schema", "type", "strict", "defer_loading", "cache_control"),
    *("eager_input_streaming", "input_examples", "allowed_callers"),
}
BETAS = {"thinking-binding-controls-2026-08-01", "inline-tools-2026-09-15"}
BINDING = "thinking-binding-controls-2026-08-01"
INLINE = "inline-tools-2026-09-15"
UNFORCED = (BOUND | {"claude-mythos-5-1"}) - {"claude-haiku-5-5"}
NO_ADAPTIVE = {"claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5", "claude-opus-4-1"}
NO_REFERENCES = {"claude-opus-4-1"}
NO_SYSTEM = NO_ADAPTIVE | {"claude-sonnet-5", "claude-opus-4-7", "claude-sonnet-4-6"}
LARGEST = 32_000_000


def check_headers(headers: Mapping[str, str], key: str) -> None:
    """Refuse a request without a key, a version, or with an unknown beta feature."""
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    given = headers.get("x-api-key") or bearer
    if given != key:
        raise Refused(401, "invalid x-api-key", "authentication_error")
    if "anthropic-version" not in headers:
        raise bad("anthropic-version: header is required")
    for beta in betas(headers) - BETAS:
        raise bad(f"Unexpected value(s) `{beta}` for the `anthropic-beta` header")


def betas(headers: Mapping[str, str]) -> set[str]:
    """Return the beta features that a request names."""
    return {beta.strip() for beta in headers.get("anthropic-beta", "").split(",")} - {""}


def check(body: Json, features: set[str], paused: list[Json] | None = None) -> None:
    """Refuse a body that the API does not take, but for its thinking blocks."""
    for extra in sorted(body.keys() - PARAMS):
        raise bad(f"{extra}: Extra inputs are not permitted")
    for needed in ("model", "max_tokens", "messages"):
        if needed not in body:
            raise bad(f"{needed}: Field required")
    if not str(body["model"]).startswith("claude-"):
        raise Refused(404, f"model: {body['model']}", "not_found_error")
    if not isinstance(body["max_tokens"], int) or not 1 <= body["max_tokens"] <= 128_000:
        raise bad("max_tokens: out of range")
    _check_thinking(body, features)
    _check_tools(body)
    _check_system(body.get("system", []))
    check_messages(body, paused)
    _check_changes(body, features)
    _check_marks(body)


def _check_thinking(body: Json, features: set[str]) -> None:
    thinking, model = body.get("thinking"), body["model"]
    match thinking:
        case None | {"type": "between_tools"}:
            return
        case {"type": "adaptive", **rest}:
            if model in NO_ADAPTIVE:
                raise bad("adaptive thinking is not supported on this model")
            if "block_binding" in rest and BINDING not in features:
                raise bad("thinking.adaptive.block_binding: Extra inputs are not permitted")
            if rest.keys() - {"display", "block_binding"}:
                raise bad("thinking.adaptive: Extra inputs are not permitted")
        case {"type": "enabled", "budget_tokens": int()}:
            if model not in NO_ADAPTIVE:
                raise bad("thinking.enabled: this model takes no budget")
        case {"type": "disabled"}:
            if model in BOUND:
                raise bad("thinking.disabled: thinking cannot be disabled on this model")
        case _:
            raise bad("thinking: Input should be a valid configuration")


def _check_changes(body: Json, features: set[str]) -> None:
    """Refuse tools that come in a system message where the model or the header lacks it."""
    known = {tool["name"] for tool in body.get("tools", [])}
    for place, message in enumerate(body["messages"]):
        if message["role"] != "system":
            continue
        if body["model"] in NO_SYSTEM:
            raise bad(f"messages.{place}.role: 'system' is not supported on this model")
        for block in as_blocks(message["content"]):
            match block.get("tool"):
                case {"type": "tool_definition", "definition": dict(tool)}:
                    if INLINE not in features:
                        raise bad(f"messages.{place}: tool_definition: Extra inputs")
                    _check_tool(f"messages.{place}.definition", tool, body["model"])
                    known.add(tool["name"])
                case {"type": "tool_reference", "name": str(name)} if name in known:
                    pass
                case None if block["type"] == "text":
                    pass
                case _:
                    raise bad(f"messages.{place}: {block['type']} of no known tool")


def _check_tools(body: Json) -> None:
    tools = body.get("tools", [])
    for place, tool in enumerate(tools):
        _check_tool(f"tools.{place}", tool, body["model"])
    for name, times in Counter(tool["name"] for tool in tools).items():
        if times > 1:
            raise bad(f"tools: Tool names must be unique: {name}")
    if tools and all(tool.get("defer_loading") for tool in tools):
        raise bad("At least one tool must have defer_loading=false")
    match body.get("tool_choice"):
        case {"type": "any" | "tool"} if body["model"] in UNFORCED:
            raise bad("tool_choice: this model does not support forced tool use")
        case {"type": _} if not tools:
            raise bad("tool_choice: may only be specified while providing tools")


def _check_tool(place: str, tool: Json, model: str) -> None:
    for extra in tool.keys() - TOOL:
        raise bad(f"{place}.{extra}: Extra inputs are not permitted")
    if not NAME.fullmatch(tool.get("name", "")):
        raise bad(f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
    schema = tool.get("input_schema", {})
    if schema.get("type") != "object":
        raise bad(f"{place}.input_schema.type: Input should be 'object'")
    if any(not KEY.fullmatch(key) for key in schema.get("properties", ())):
        pattern = "'^[a-zA-Z0-9_.-]{1,64}$'"
        raise bad(f"{place}.input_schema.properties: Property keys should match pattern {pattern}")
    if schema.keys() & {"oneOf", "allOf", "anyOf"}:
        raise bad(f"{place}.input_schema: no oneOf, allOf, or anyOf at the top level")
    if tool.get("defer_loading") and "cache_control" in tool:
        raise bad(f"{place}: cache_control cannot be used with defer_loading=true")
    if tool.get("defer_loading") and model in NO_REFERENCES:
        raise bad(f"{place}.defer_loading: not supported on this model")


def _check_system(system: Any) -> None:
    for place, block in enumerate(as_blocks(system)):
        check_block(f"system.{place}", block, {"text"})


def _check_marks(body: Json) -> None:
    blocks = list(marked(body))
    if len(blocks) > 4:
        raise bad(f"A maximum of 4 blocks with cache_control may be provided. Found {len(blocks)}.")
    for block in blocks:
        if block["cache_control"] not in ({"type": "ephemeral"}, *_LASTING):
            raise bad("cache_control: Input should be a valid configuration")


_LASTING = tuple({"type": "ephemeral", "ttl": ttl} for ttl in ("5m", "1h"))


def marked(value: Any) -> Iterator[Json]:
    """Yield every block that has a cache breakpoint."""
    if isinstance(value, dict):
        if "cache_control" in value:
            yield value
        for key, part in value.items():
            if key not in ("input", "input_schema"):
                yield from marked(part)
    elif isinstance(value, list):
        for part in value:
            yield from marked(part)
