"""The next request of a session, composed from its journal; and a reply as it is recorded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from rpds import HashTrieMap, HashTrieSet

from ..core.call_record import CALL_ID
from ..core.errors import ModelError
from ..core.events import Asked, Call, Replied, ended_call
from ..core.folds import Trail
from ..core.journal import Journal
from ..core.journal_entries import Entry
from ..core.recorded_data import FrozenDict, Record, replace
from ..core.secrets import Hide, Secrets
from ..core.state import State
from ..core.state_fold import state_at
from ..tools.arguments import writable_call
from ..tools.plain_data import well_formed
from ..tools.tool import Tool, parameters_schema
from ..tools.toolbox import Toolbox
from .messages import Assistant, Message, Reply, Request, Results, Sent, User
from .scheme import Offer, Scheme

RUNS = ("end", "tools")
"""The stop reasons with which the calls of a reply may run."""
STOPS = (*RUNS, "length", "refused", "paused", "context")
_REASONS = {
    "refused": "a content filter, or the model, refused it",
    "context": "the conversation is too long for the model",
}
_NO_WORD = re.compile(r"[^A-Za-z0-9_-]")


def recorded_reply(
    reply: Reply, state: State, offered: Mapping[str, str], news: str, hide: Hide
) -> Replied:
    """Return a reply as it is recorded: calls that can be written down, each id used once.

    An id is a name that later entries use, so a secret in it is hidden before it is one. Raises
    ModelError for calls with a stop reason that says neither that they may run nor that they may
    not.
    """
    if reply.calls and reply.stop not in STOPS:
        tools = ", ".join(call.tool for call in reply.calls)
        raise ModelError(
            f"the model stopped for an unknown reason, {reply.stop!r:.60}, so its calls did not "
            f'run: {tools:.200}; a reply with calls stops with "tools"'
        )
    sound_calls = [writable_call(call) for call in reply.calls]
    calls = _with_own_ids(sound_calls, state, hide) if reply.stop in RUNS else ()
    prose, ending = reply.said, reply.ending
    # After results a model may have nothing to add.
    is_due = reply.stop not in ("end", "paused") or not state.turns_since
    words = reply.text if prose is None else prose
    if is_due and not (words.strip() or calls or ending):
        reason = _REASONS.get(reply.stop, "the model stopped without one")
        prose = ending = f"[The reply has no text: {reason}.]"
    return Replied(
        well_formed(reply.text),
        calls,
        reply.stop,
        reply.usage,
        reply.raw if reply.raw is not None and calls == tuple(reply.calls) else None,
        offered,
        reply.thought,
        said=well_formed(prose),
        news=news,
        ending=well_formed(ending),
    )


def _with_own_ids(calls: Iterable[Call], state: State, hide: Hide) -> tuple[Call, ...]:
    """A call id is a plain word, and used once in a session, whatever a model sends."""
    calls_by_id: dict[str, Call] = {}
    for call in calls:
        plain = hide(call.id)
        plain = plain if CALL_ID.fullmatch(plain) else _NO_WORD.sub("_", plain)[:100] or "call"
        call_id, numbers = plain, count(2)
        while call_id in calls_by_id or call_id in state.calls:
            call_id = f"{plain[:100]}-{next(numbers)}"
        calls_by_id[call_id] = call if call_id == call.id else replace(call, id=call_id)
    return tuple(calls_by_id.values())


class SentConversation(Record, frozen=True):
    """What a model was sent up to some entry.

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


NOTHING = SentConversation(Trail(), Trail(), HashTrieMap(), HashTrieSet())


def conversation_fold(
    journal: Journal, scheme: Scheme, toolbox: Toolbox
) -> Callable[[SentConversation, Entry], SentConversation]:
    """Return the fold from entries to what was sent; keep it, since the journal goes by it."""

    def add_entry(sent: SentConversation, entry: Entry) -> SentConversation:
        message: Message
        event = entry.event
        # The markers of another machine's entry stand for no values.
        keys = event.secrets if entry.verified and isinstance(event, Asked | Replied) else ()
        match event:
            case Asked(text):
                message = User(text, keys)
            case Replied() as reply:
                message = scheme.speak(Assistant(reply.text, reply.calls, reply.raw))
                if keys and not isinstance(message, Results):
                    message = replace(message, secrets=keys)
                sent = _with_request(sent, reply, journal)
            case event if ended_call(event):
                if sent.waiting > 1:
                    return replace(sent, waiting=sent.waiting - 1)
                state = state_at(journal, entry.id)
                calls = (state.calls[call_id] for call_id in state.latest)
                results = (scheme.render(call, state, toolbox) for call in calls)
                message = scheme.speak(Results(tuple(results)))
            case _:
                return sent
        return replace(sent, messages=sent.messages.add(message), marked=sent.marked or bool(keys))

    return add_entry


def _with_request(sent: SentConversation, reply: Replied, journal: Journal) -> SentConversation:
    """Return what was sent with the request of a reply: the definitions, and the news."""
    first, by_name, lines = sent.first, sent.known, sent.lines
    # By name, since a file may keep the keys of an object in any order.
    for name, digest in sorted(reply.offered.items()):
        match journal.text(digest):
            case {"description": str(description), "parameters": Mapping() as parameters} if name:
                tool = Sent(name, description, parameters, turn=sent.turns)
                first, by_name = first.add(tool), by_name.insert(name, tool)
                lines = lines.update(description.splitlines())
    if reply.news:
        lines = lines.update(reply.news.splitlines())
    messages, waiting = _with_news(sent.messages, reply.news), len(reply.calls)
    return SentConversation(messages, first, by_name, lines, sent.turns + 1, waiting, sent.marked)


def compose_request(state: State, sent: SentConversation, offer: Offer) -> Request:
    """Return the next request of a session, with this offer."""
    tools = () if offer.spoken else (*offer.own, *offer.tools)
    # A turn that paused continues unchanged.
    paused = bool(sent.messages) and isinstance(sent.messages[-1], Assistant)
    news = "" if paused else "\n".join(_news(tools, state, sent, offer))
    return Request(
        system="\n\n".join(filter(None, (offer.system, offer.about, state.opened.system))),
        tools=tuple(tool.offered for tool in tools),
        messages=_with_news(sent.messages, news),
        deferred=() if offer.spoken else tuple(tool.offered for tool in offer.deferred),
        turn=state.turns,
        client_turns=state.client_turns,
        newest=FrozenDict(state.newest),
        first=sent.first,
        news=news,
        secrets=state.opened.secrets,
        marked=sent.marked or bool(state.opened.secrets),
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
            sent = (replace(call, arguments=secrets.reveal(call.arguments, keys)) for call in calls)
            return Assistant(secrets.reveal(text, keys), tuple(sent), secrets.reveal(raw, keys))
    return message


def _with_news(messages: Trail[Message], news: str) -> Trail[Message]:
    """Return the messages with news: part of the last one if it has results, else a new one."""
    if not news:
        return messages
    match messages[-1] if messages else None:
        case Results(results, before):
            both = "\n".join(filter(None, (before, news)))
            return Trail(messages[:-1]).add(Results(results, both))
    return messages.add(User(news))


def _news(
    tools: Iterable[Tool], state: State, sent: SentConversation, offer: Offer
) -> Iterator[str]:
    """Yield what the descriptions of tools say since they were first sent, as lines."""
    for tool in tools:
        before = sent.known.get(tool.name)
        if before is None or before.description == tool.description:
            continue
        # A tool that takes other arguments is sent again as a whole.
        if parameters_schema(before) != parameters_schema(tool):
            continue
        lines = (line for line in tool.description.splitlines() if line not in sent.lines)
        new = [line for line in lines if line.strip() and not _was_sent(line, state, offer)]
        if new:
            yield from (f"{tool.name} now says too:", *new)


def _was_sent(line: str, state: State, offer: Offer) -> bool:
    """Return whether a line of a list says what some result said already.

    A result names the objects that its call made, and the tools that come with the first of
    their type.
    """
    name = offer.listed.get(line)
    ref = state.objects.get(name) if name else None
    return name == "" or (ref is not None and not ref.producer.input)
