"""A conversation with a model, step by step, as a session would lead it."""

from __future__ import annotations

from dataclasses import replace

from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.schemes.messages import (
    Assistant,
    Message,
    Model,
    Reply,
    Request,
    Result,
    Results,
    Sent,
    User,
)
from jupyter_toolcall.tools.tool import Tool


def a_tool(name: str, description: str = "", **fields: str) -> Tool:
    """Return a tool whose arguments have these types."""
    properties = {field: {"type": kind} for field, kind in fields.items()}
    return Tool(name, description or f"{name}.", {"type": "object", "properties": properties})


def asked(text: str, *tools: Tool, deferred: tuple[Tool, ...] = (), system: str = "") -> Request:
    """Return the first request of a conversation."""
    return Request(system, tools, (User(text),), deferred)


def heard(request: Request, reply: Reply, *more: Message) -> Request:
    """Return the next request: the reply was heard, and this came after it."""
    said = Assistant(reply.text, reply.calls, reply.raw)
    known = {(sent.name, str(sent.parameters)) for sent in request.first}
    new = [tool for tool in request.tools if (tool.name, str(tool.parameters)) not in known]
    sent = [Sent(tool.name, tool.description, tool.parameters, turn=request.turn) for tool in new]
    return replace(
        request,
        messages=(*request.messages, said, *more),
        turn=request.turn + 1,
        first=(*request.first, *sorted(sent, key=lambda one: one.name)),
    )


def answered(request: Request, reply: Reply, *contents: str | Result, news: str = "") -> Request:
    """Return the next request: each call of the reply came to one of these."""
    results = tuple(
        content if isinstance(content, Result) else Result(call.id, content)
        for call, content in zip(reply.calls, contents, strict=True)
    )
    return heard(request, reply, Results(results, news))


def outcome_of(model: Model, request: Request) -> Reply | str:
    """Return the reply, or the one line of the error that stands for it."""
    try:
        reply = model(request)
    except ModelError as error:
        return str(error)
    assert reply is not None
    return reply
