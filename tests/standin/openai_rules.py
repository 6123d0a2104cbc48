"""What a server of chat completions refuses: OpenAI's rules, and those of local servers.

One request has to please them all, so what any of them refuses is refused here: OpenAI
the shape of a history and of a tool, vLLM and Ollama arguments that are no JSON, the chat
templates of local models turns that do not alternate.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

from .model_api import Refused, bad
from .turns import Json

LARGEST = 32 * 1024 * 1024
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
FIELDS = {
    *("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream"),
    *("stream_options", "temperature", "top_p", "seed", "stop", "max_completion_tokens"),
    *("max_tokens", "reasoning_effort", "response_format", "user", "metadata", "n"),
}
ROLES = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal", "reasoning_content"},
    "tool": {"role", "content", "tool_call_id"},
}


def check(body: Json) -> None:
    """Raise Refused where a server would refuse the body."""
    if unknown := sorted(set(body) - FIELDS):
        raise bad(f"Unknown parameter: '{unknown[0]}'", "unknown_parameter")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise bad("You have to name a model")
    if "stream_options" in body and not body.get("stream"):
        raise bad("stream_options goes with stream")
    if "tools" in body:
        check_tools(body["tools"])
    elif "tool_choice" in body or "parallel_tool_calls" in body:
        raise bad("tool_choice and parallel_tool_calls go with tools")
    check_messages(body.get("messages"))


def check_tools(tools: Any) -> None:
    if not isinstance(tools, list) or not tools:
        raise bad("tools: an array that is not empty is wanted", "empty_array")
    if len(tools) > 128:
        raise bad(f"tools: at most 128, not {len(tools)}", "array_above_max_length")
    for tool in tools:
        _check_tool(tool)
    names = [tool["function"]["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise bad("tools: names must be unique")


def _check_tool(tool: Any) -> None:
    match tool:
        case {"type": "function", "function": {"name": str(name), **rest}}:
            pass
        case _:
            raise bad("tools: a function with a name is wanted")
    if not NAME.fullmatch(name):
        raise bad(f"tools: the name {name[:90]!r} does not match [a-zA-Z0-9_-]{{1,64}}")
    if unknown := sorted(map(str, set(rest) - {"description", "parameters", "strict"})):
        raise bad(f"tools: unknown parameter {unknown[0]!r}")
    described = rest.get("description", "x")
    if not isinstance(described, str) or not 1 <= len(described) <= 1024:
        raise bad("tools: a description has 1 to 1024 characters", "string_above_max_length")
    match rest.get("parameters", {"type": "object", "properties": {}}):
        case {"type": "object", "properties": dict(), **more}:
            if found := {"anyOf", "oneOf", "allOf", "enum", "not"} & set(more):
                raise bad(f"tools: {name}: no {min(found)} at the top of a schema")
        case _:
            raise bad(f"tools: {name}: an object schema with properties is wanted")


def check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise bad("messages: an array that is not empty is wanted", "empty_array")
    for message in messages:
        _check_message(message)
    _check_answers(messages)
    _check_order(messages)


def _check_message(message: Any) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ROLES:
        raise bad(f"messages: {role!r} is no role")
    if unknown := sorted(set(message) - ROLES[role]):
        raise bad(f"messages: a {role} message has no {unknown[0]!r}")
    content, calls = message.get("content"), message.get("tool_calls")
    if role == "assistant":
        if "tool_calls" in message:
            _check_calls(calls)
        if not isinstance(content, str) and not (content is None and calls):
            raise bad("messages: an assistant message has content or calls")
    elif not isinstance(content, str):
        raise bad(f"messages: the content of a {role} message is a string")
    if role in ("user", "system", "developer") and not content.strip():
        raise bad(f"messages: the {role} message is empty")
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        raise bad("messages: a tool message has a tool_call_id")


def _check_calls(calls: Any) -> None:
    if not isinstance(calls, list) or not calls:
        raise bad("messages: tool_calls is an array that is not empty", "empty_array")
    for call in calls:
        match call:
            case {
                "id": str(call_id),
                "type": "function",
                "function": {"name": str(name), "arguments": str(arguments)},
            }:
                pass
            case _:
                raise bad("messages: a call has an id, a type, a name and arguments as a string")
        if not 1 <= len(call_id) <= 40:
            raise bad("messages: the id of a call has 1 to 40 characters")
        if not NAME.fullmatch(name):
            raise bad(f"messages: the name {name[:90]!r} of a call does not match")
        _check_arguments(arguments)
    ids = [call["id"] for call in calls]
    if len(set(ids)) < len(ids):
        raise bad("messages: two calls with one id")


def _check_arguments(arguments: str) -> None:
    try:
        given = json.loads(arguments, parse_constant=_no_constant)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise Refused(500, "the arguments of a call in the history are no JSON object")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _check_order(messages: list[Json]) -> None:
    if any(message["role"] in ("system", "developer") for message in messages[1:]):
        raise bad("messages: the system message must be at the beginning")
    turns = [m["role"] for m in messages if m["role"] not in ("system", "developer")]
    if not turns or turns[0] != "user":
        raise bad("messages: a user message comes first")
    for before, after in pairwise(turns):
        if before == after != "tool":
            raise bad("messages: user and assistant must alternate")
    if turns[-1] == "assistant":
        raise bad("messages: the last one is the assistant's, and would be gone on with")


def _check_answers(messages: list[Json]) -> None:
    """Each call is answered once, in call order, right behind the message that asks for it."""
    due: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            _check_answer(message["tool_call_id"], due)
        elif due:
            raise bad(f"messages: no answer to {', '.join(due)} behind the calls")
        due += [call["id"] for call in message.get("tool_calls") or ()]
    if due:
        raise bad(f"messages: no answer to {', '.join(due)} behind the calls")


def _check_answer(call_id: str, due: list[str]) -> None:
    if call_id not in due:
        raise bad(f"messages: a tool message answers {call_id!r}, and no call before it asks so")
    if call_id != due[0]:
        raise bad(f"messages: {call_id!r} is answered before {due[0]!r}")
    due.pop(0)
