"""What a model's reply becomes as a fact: text that can be written down, calls with plain ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rpds import HashTrieMap, HashTrieSet

from ..core.call_record import CALL_ID
from ..core.entries import Entry
from ..core.events import Asked, Call, Decided, Finished, Replied
from ..core.folds import Trail
from ..core.journal import Journal
from ..core.secrets import Hide, Secrets
from ..core.state import State
from ..core.state_fold import state_at
from ..tools.arguments import writable_call
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from ..tools.value_copies import well_formed
from .messages import Assistant, Message, Reply, Request, Results, Sent, User
from .scheme import Offer, Scheme

RUNS = ("end", "tools")
"""The stop reasons with which the calls of a reply may run."""
_NO_WORD = re.compile(r"[^A-Za-z0-9_-]")


def recorded_reply(
    reply: Reply, state: State, offered: Mapping[str, str], news: str, hide: Hide
) -> Replied:
    """Return a reply as the fact that it is: calls that can be written down, each id once.

    An id is a name that later entries use, so a secret in it is hidden before it is one.
    """
    made = tuple(_hidden_id(writable_call(call), hide) for call in reply.calls)
    calls = _unique(made, state) if reply.stop in RUNS else ()
    raw = reply.raw if calls == tuple(reply.calls) else None
    return Replied(
        well_formed(reply.text),
        calls,
        reply.stop,
        reply.usage,
        raw,
        offered,
        reply.thought,
        said=well_formed(reply.said),
        news=news,
        ending=well_formed(reply.ending),
    )


def _hidden_id(call: Call, hide: Hide) -> Call:
    plain = hide(call.id)
    return call if plain == call.id else replace(call, id=plain)


def _unique(calls: tuple[Call, ...], state: State) -> tuple[Call, ...]:
    """A call id is a plain word, and used once in a session, whatever a model sends."""
    taken: dict[str, Call] = {}
    for call in calls:
        plain = call.id if CALL_ID.fullmatch(call.id) else _NO_WORD.sub("_", call.id)[:100]
        call_id, number = plain or "call", 1
        while call_id in taken or call_id in state.calls:
            number += 1
            call_id = f"{(plain or 'call')[:100]}-{number}"
        taken[call_id] = call if call_id == call.id else replace(call, id=call_id)
    return tuple(taken.values())


@dataclass(frozen=True, slots=True)
class SentConversation:
    """What a model was told up to some entry.

    `first` are the definitions as they were first sent, `known` the last of each name, and
    `lines` the lines of their descriptions and of the news since.
    """

    messages: Trail[Message]
    first: Trail[Sent]
    known: HashTrieMap[str, Sent]
    lines: HashTrieSet[str]
    turns: int = 0
    waiting: int = 0
    """How many calls of the last reply have no result yet."""
    marked: bool = False
    """Whether a marker stands for a value in any message."""

    def add(self, message: Message) -> SentConversation:
        """Return what was told with one more message."""
        messages = self.messages.add(message)
        return SentConversation(
            messages, self.first, self.known, self.lines, self.turns, self.waiting, self.marked
        )

    def with_keys(self, keys: tuple[str, ...]) -> SentConversation:
        """Return what was told, marked where a message has markers that stand for values."""
        return replace(self, marked=True) if keys else self


NOTHING = SentConversation(Trail(), Trail(), HashTrieMap(), HashTrieSet())


def conversation_fold(
    journal: Journal, scheme: Scheme, toolbox: Toolbox
) -> Callable[[SentConversation, Entry], SentConversation]:
    """Return the fold from entries to what was told; keep it, since the journal goes by it."""

    def tell(told: SentConversation, entry: Entry) -> SentConversation:
        match entry.event:
            case Asked(text):
                keys = _keys(entry)
                return told.add(User(text, keys)).with_keys(keys)
            case Replied() as reply:
                spoken, keys = (
                    scheme.speak(assistant_message(reply, journal, entry.id)),
                    _keys(entry),
                )
                if keys and not isinstance(spoken, Results):
                    spoken = replace(spoken, secrets=keys)
                return _heard(told, reply, journal.texts, spoken).with_keys(keys)
            case Finished() | Decided(decision="reject" | "answer"):
                if told.waiting > 1:
                    return replace(told, waiting=told.waiting - 1)
                return told.add(scheme.speak(_results(state_at(journal, entry.id))))
        return told

    def _results(state: State) -> Results:
        done = (state.calls[call_id] for call_id in state.latest)
        return Results(tuple(scheme.render(call, state, toolbox) for call in done))

    return tell


def assistant_message(reply: Replied, journal: Journal, entry_id: str) -> Assistant:
    """Return a reply as a message: an argument that is missing says which call would make it."""
    calls = reply.calls
    if any(call.missing for call in calls):
        known = state_at(journal, entry_id).calls
        calls = tuple(Call(c.id, c.tool, known[c.id].proposed, c.broken) for c in calls)
    return Assistant(reply.text, calls, reply.raw)


def _keys(entry: Entry) -> tuple[str, ...]:
    """Return the markers that stand for values: another machine's entry says so in vain."""
    return (
        entry.event.secrets if entry.verified and isinstance(entry.event, Asked | Replied) else ()
    )


def compose_request(state: State, told: SentConversation, offer: Offer) -> Request:
    """Return the request that a state amounts to, where this is offered."""
    tools = () if offer.spoken else (*offer.own, *offer.tools)
    # A turn that paused goes on as it stands.
    paused = bool(told.messages) and isinstance(told.messages[-1], Assistant)
    news = "" if paused else "\n".join(_news(tools, state, told, offer))
    return Request(
        system="\n\n".join(part for part in (offer.system, state.opened.system) if part),
        tools=tools,
        messages=_with(told.messages, news),
        deferred=() if offer.spoken else offer.deferred,
        turn=state.turns,
        newest=state.newest,
        first=told.first,
        news=news,
        secrets=state.opened.secrets,
        marked=told.marked or bool(state.opened.secrets),
    )


def with_secret_values(request: Request, secrets: Secrets) -> Request:
    """Return a request as it is sent: values stand in place of their markers.

    Raises MissingSecret, before anything is sent, where a variable is not set.
    """
    if not request.marked:
        return request
    return replace(
        request,
        system=secrets.reveal(request.system, request.secrets),
        messages=tuple(_revealed(message, secrets) for message in request.messages),
        marked=False,
    )


def _revealed(message: Message, secrets: Secrets) -> Message:
    match message:
        case User(text, keys) if keys:
            return User(secrets.reveal(text, keys))
        case Assistant(text, calls, raw, keys) if keys:
            calls = tuple(
                replace(call, arguments=secrets.reveal(call.arguments, keys)) for call in calls
            )
            return Assistant(secrets.reveal(text, keys), calls, secrets.reveal(raw, keys))
    return message


def _heard(
    told: SentConversation, reply: Replied, texts: Mapping[str, Any], spoken: Message
) -> SentConversation:
    """Return what was told with a reply, and its request: the definitions, and the news."""
    first, known, lines = told.first, told.known, told.lines
    # By name, since a file may keep the keys of an object in any order.
    for name, digest in sorted(reply.offered.items()):
        match texts.get(digest):
            case {"description": str(said), "parameters": Mapping() as parameters} if name:
                sent = Sent(told.turns, name, said, parameters)
                first, known = first.add(sent), known.insert(name, sent)
                lines = lines.update(said.splitlines())
    if reply.news:
        lines = lines.update(reply.news.splitlines())
    messages = _with(told.messages, reply.news).add(spoken)
    waiting = len(reply.calls)
    return SentConversation(messages, first, known, lines, told.turns + 1, waiting, told.marked)


def _with(messages: Trail[Message], news: str) -> Trail[Message]:
    """Return the messages with news behind the last, which are a message where none fits."""
    if not news:
        return messages
    match messages[-1] if messages else None:
        case Results(results, told):
            both = "\n".join(part for part in (told, news) if part)
            return Trail(messages[:-1]).add(Results(results, both))
    return messages.add(User(news))


def _news(
    tools: Iterable[Tool], state: State, told: SentConversation, offer: Offer
) -> Iterator[str]:
    """Yield what the descriptions of tools say since they were first sent, as lines."""
    for tool in tools:
        sent = told.known.get(tool.name)
        if sent is None or sent.description == tool.description or _fits_anew(sent, tool):
            continue
        lines = (line for line in tool.description.splitlines() if line not in told.lines)
        new = [line for line in lines if line.strip() and not _seen(line, state, offer)]
        if new:
            yield from (f"{tool.name} now says too:", *new)


def _fits_anew(sent: Sent, tool: Tool) -> bool:
    """Return whether a tool takes other arguments, so that it is sent again as a whole."""
    return bool(sent.parameters != tool.parameters)


def _seen(line: str, state: State, offer: Offer) -> bool:
    """Return whether a line of a list tells of what some result told already.

    A result tells of the objects that its call made, and of the tools that come with the
    first of their type.
    """
    name = offer.listed.get(line)
    if not name:
        return name is not None
    made = state.objects.get(name)
    return made is not None and not made.producer.input
