"""A `Request` as the body of a chat completion, for OpenAI's API and local servers alike.

Pure translation only. The strictest of the servers sets the form: each call answered by
one `tool` message, in call order, right behind it; user and assistant in turns, as the
chat templates of local models want it; arguments in the history always JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.digests import digest
from ...core.errors import ModelError
from ...core.events import Call
from ...schemes.messages import Assistant, Message, Request, Result, Results, Sent, User
from ...tools.value_copies import well_formed
from ..provider_client import legal_name

Json = dict[str, Any]

GO_ON = "Go on."
"""Said for the person where the model has to speak twice: a server would go on with its words."""
THOUGHTS = ("reasoning_content", "reasoning")
"""The fields in which servers send what a model thinks aloud, the usual one first."""
LONGEST_ID = 40
LONGEST_DESCRIPTION = 1024
"""Characters of a tool's description that OpenAI takes."""
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def body(request: Request, model: str, *, usage: bool, options: Mapping[str, Any]) -> Json:
    """Return the body of a request. Raises ModelError, which names a tool that cannot be sent.

    `usage` asks for the count of tokens, `options` are fields of the API beside ours.
    """
    tools = _declared(request)
    parts: Json = {
        "model": model,
        "messages": _turns(_told_first(request.system, tools), request.messages),
        "tools": [_declaration(tool) for tool in tools],
        "stream": True,
        "stream_options": {"include_usage": True} if usage else {},
    }
    # The API refuses an empty list of tools.
    return {key: part for key, part in parts.items() if part} | dict(options)


# -- tools ----------------------------------------------------------------------------------


def _declared(request: Request) -> list[Sent]:
    """Return the tools of a request, each in the place and the words that it first had.

    What a server has read before, its cache knows; a tool that is new stands behind.
    """
    now = {
        tool.name: Sent(request.turn, tool.name, tool.description, tool.parameters)
        for tool in sorted(request.tools, key=lambda tool: tool.name)
    }
    before = {one.name: one for one in request.first if one.name in now}
    for name, one in before.items():
        # Other arguments are another tool, and an old description would not fit them.
        if one.parameters == now[name].parameters:
            now[name] = one
    return [now[name] for name in {**before, **now}]


def _declaration(tool: Sent) -> Json:
    if not _NAME.fullmatch(tool.name):
        raise ModelError(
            f"the tool {tool.name[:80]!r} cannot be sent: its name ({len(tool.name)} characters) "
            "must be at most 64 letters, digits, _ or -; name it with @tool(name=...)"
        )
    text = well_formed(tool.description.strip())
    if _is_long(tool):
        text = f"{text.splitlines()[0][: LONGEST_DESCRIPTION // 2]} (More: see the system message.)"
    described = {"description": text} if text else {}
    # Arguments without a list of properties are refused, also where there are none.
    schema = {"type": "object", "properties": {}, **tool.parameters}
    return {"type": "function", "function": {"name": tool.name, **described, "parameters": schema}}


def _told_first(system: str, tools: Sequence[Sent]) -> str:
    """Return the system's text, and behind it what is too long for a tool's description."""
    long = (f"The tool {tool.name}: {tool.description.strip()}" for tool in tools if _is_long(tool))
    return "\n\n".join(part for part in (system, *long) if part.strip())


def _is_long(tool: Sent) -> bool:
    return len(tool.description.strip()) > LONGEST_DESCRIPTION


# -- messages -------------------------------------------------------------------------------


def _turns(system: str, messages: Sequence[Message]) -> list[Json]:
    """Return the messages: the system's first, then in turns, never the model's last."""
    turns = _text("system", system)
    for said in (part for message in messages for part in _said(message)):
        last = turns[-1] if turns else {}
        match last.get("role"), said["role"]:
            case "user", "user":
                turns[-1] = {**last, "content": f"{last['content']}\n\n{said['content']}"}
                continue
            case "assistant", "assistant":
                turns += _text("user", GO_ON)
        turns.append(said)
    if turns and turns[-1]["role"] == "assistant":
        turns += _text("user", GO_ON)
    return turns


def _said(message: Message) -> list[Json]:
    match message:
        case User(text):
            return _text("user", text)
        case Assistant():
            return _assistant(message)
        case Results(results, news):
            return [*map(_answer, results), *_text("user", news)]


def _assistant(message: Assistant) -> list[Json]:
    if not message.calls:
        return [{**said, **_thought(message.raw)} for said in _text("assistant", message.text)]
    said = well_formed(message.text) if message.text.strip() else None
    calls = [_call(call) for call in message.calls]
    return [
        {"role": "assistant", "content": said, **_thought(message.raw), "tool_calls": calls},
    ]


def _thought(raw: Any) -> Json:
    """Return what the model thought aloud, where the reply was kept to be sent with it."""
    kept = raw.get("openai") if isinstance(raw, dict) else None
    return dict(kept) if isinstance(kept, dict) else {}


def _call(call: Call) -> Json:
    # Servers read the arguments of the history too.
    given = {} if call.broken else dict(call.arguments)
    text = json.dumps(given, ensure_ascii=False)
    function = {"name": legal_name(call.tool), "arguments": text}
    return {"id": _legal_id(call.id), "type": "function", "function": function}


def _answer(result: Result) -> Json:
    said = well_formed(result.content)
    content = _failed(said) if result.error else said
    return {"role": "tool", "tool_call_id": _legal_id(result.call_id), "content": content}


def _failed(said: str) -> str:
    """Return a content that says that it is an error: there is no field which would."""
    try:
        told = json.loads(said)
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict) and "error" in told:
        return said
    return json.dumps({"error": said}, ensure_ascii=False)


def _text(role: str, text: str) -> list[Json]:
    return [{"role": role, "content": well_formed(text)}] if text.strip() else []


def _legal_id(call_id: str) -> str:
    # Another model's ids may be longer than OpenAI takes.
    return call_id if len(call_id) <= LONGEST_ID else digest("call", call_id)[:LONGEST_ID]
