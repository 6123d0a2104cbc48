"""What a model is sent, and what it returns: `Request -> Reply | None`.

Only these frozen dataclasses live here. They know no provider: `models` translates them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.digests import digest
from ..core.events import Call, Usage
from ..core.interrupts import attempt
from ..core.recorded_data import recorded
from ..tools.tool import ToolDefinition
from ..tools.tool_version import parts_of


@dataclass(frozen=True, slots=True)
class User:
    """A message of the person (or of the session, as a reminder).

    `secrets` are the keys of the markers in a message that stand for values; a model is sent
    the values.
    """

    text: str
    secrets: tuple[str, ...] = field(default=(), compare=False, repr=False)


@recorded("raw")
@dataclass(frozen=True, slots=True)
class Assistant:
    """A message of the model. `raw` is the provider's own content, sent back as it is."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    raw: Any = None
    secrets: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call, as the model is sent it: text (JSON if it is not a word).

    `selected` are the tools that this result brings into view (scheme `select`).
    """

    call_id: str
    content: str
    error: bool = False
    selected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one turn's calls, exactly one for each, in the order of the calls.

    `news` is what else the model has to know since its last turn ("" for nothing):
    it is sent as text after the results.
    """

    results: tuple[Result, ...]
    news: str = ""


Message = User | Assistant | Results


@dataclass(frozen=True, slots=True)
class Sent(ToolDefinition):
    """A tool's definition as it was first sent: `turn` counts the replies before that request."""

    turn: int = field(default=0, kw_only=True)


@recorded("newest")
@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model: what it is sent, and what a provider needs to send it well.

    A session makes requests; a model of your own gets them. Only the first three fields reach
    every model; the others let a provider keep its prompt cache.

    Args:
        system: The system prompt, "" for none.
        tools: The tools that may be called now, as data: their names, descriptions and parameters.
        messages: The conversation, the oldest message first.
        deferred: The tools that a later turn may offer: a provider that can refer to tools by
            name declares them once.
        turn: How many replies there were before, on this branch.
        client_turns: How many of them clients of a served session gave in the model's place.
        beside: How many replies questions beside this branch got before (`transform`, `query`).
        newest: The name of the newest object of each type, such as `{"Potato": "Potato#2"}`.
        first: The definitions of tools as they were first sent, in the order of turns, and by
            name within one; a tool whose arguments changed is there again.
        news: What the last message says beside its own text, "" for nothing.
        secrets: The keys of the markers in the system prompt that stand for values.
        marked: Whether a marker stands for a value in any part of the request.
        cut_off: How many replies to this request were cut off before, since they were too long;
            a model may allow the next one to be longer.

    Example:
        A model is a function from a request to a reply:

        >>> from jupyter_toolcall import Session, Toolbox
        >>> from jupyter_toolcall.models import Reply
        >>> def echo(request):
        ...     return Reply(request.messages[-1].text.upper())
        >>> Session(Toolbox(), echo, scheme="flat").tell("Hello").run().text
        'HELLO'
    """

    system: str
    tools: tuple[ToolDefinition, ...]
    messages: Sequence[Message]
    deferred: tuple[ToolDefinition, ...] = ()
    turn: int = 0
    newest: Mapping[str, str] = field(default_factory=dict)
    first: Sequence[Sent] = ()
    news: str = ""
    secrets: tuple[str, ...] = field(default=(), compare=False, repr=False)
    marked: bool = field(default=False, compare=False, repr=False)
    cut_off: int = 0
    client_turns: int = 0
    beside: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that was made again: what was wrong with it or its reply, and the wait (s)."""

    said: str
    waited: float = 0


@recorded("raw")
@dataclass(frozen=True, slots=True)
class Reply:
    """What a model returned for a request.

    The session checks each call before it runs, and runs none unless `stop` is "tools" or "end".
    A reply that was cut off ("length") is asked for again. Making a reply raises nothing: what is
    wrong with a call is a result that the model is sent.

    Args:
        text: The text of the reply.
        calls: The tool calls that the model asks for, in order; `Call(id, tool, arguments)`.
        stop: Why the model stopped: "end", "tools", "length" (cut off), "refused", "paused" (it
            continues if asked again) or "context" (the conversation is too long for it). Any
            other reason is an error, if the reply has calls.
        usage: The tokens of the request; None if they are not known.
        raw: JSON-ready content of the provider, kept and sent back untouched; None for none.
        thought: What the model thought aloud, for the person to read; `raw` has it as it is
            sent back.
        said: What a person reads of the text, if calls are written in it too; None for all of it.
        attempts: The requests before it that failed, or whose reply was cut off.
        ending: What a person reads of a reply that stopped before its end; `said` has it too.

    Example:
        >>> from jupyter_toolcall.models import Call, Reply
        >>> reply = Reply("I look it up.", (Call("call_1", "search", {"text": "fries"}),), "tools")
        >>> reply.calls[0].tool
        'search'
        >>> Reply("Done.").stop
        'end'
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: str = "end"
    usage: Usage | None = None
    raw: Any = None
    thought: str = ""
    said: str | None = None
    attempts: tuple[Attempt, ...] = ()
    ending: str = ""


def call_id(turn: int, index: int, count: int) -> str:
    """Return the id of a call that has none: the `index`-th of `count` after `turn` replies."""
    return f"call_{turn + 1}" if count == 1 else f"call_{turn + 1}_{index + 1}"


Model = Callable[[Request], Reply | None]


def model_identity(model: Any) -> str:
    """Return the name by which a replay knows a model: another one is asked again.

    It has a digest of what a client sends beside the messages, unless that is the usual, and of the
    code of a model that is a function.
    """
    # A recording is known by the model that it records.
    if callable(recorded_model := getattr(model, "model", None)):
        return model_identity(recorded_model)
    name = str(getattr(model, "identity", None) or getattr(model, "name", None) or "")
    if hasattr(model, "body"):
        settings, usual = _settings(model), attempt(lambda: _settings(type(model)(model.model)))[0]
        return name if settings == usual else f"{name}:{digest('model', settings)[:12]}"
    if name:
        return name
    is_function = inspect.isroutine(model)
    # Not what it reads: a flag that it looks at may change while it is the same model.
    code = parts_of(model if is_function else type(model).__call__).get("", "")
    return f"{(model if is_function else type(model)).__name__}:{digest('model', code)[:12]}"


def server_digest(model: object) -> str:
    """Return a digest of the address of the server that a model asks, "" for a model without one.

    A replay asks again where it differs. A record has the digest alone: an address may be private.
    """
    server = attempt(getattr, model, "server", "")[0]
    return digest("server", str(server))[:12] if server else ""


def _settings(client: Any) -> dict[str, Any]:
    # Whether tokens are asked for depends on what the server answered before.
    return {**client.body(Request("", (), ())), "stream_options": None}
