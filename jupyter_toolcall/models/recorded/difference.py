"""The first difference between what a model is told and what was recorded, in words (pure)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.digests import encode
from ...core.secrets import Hide
from ...core.text import visible_text
from ...schemes.messages import Assistant, Message, Request, Result, Results, User
from .tape import Course, Outcomes, Told, Turn, definitions, message_json, message_of, plain, same

AROUND = 24
WIDEST = 72
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a request leaves a course: behind how many equal messages, and what differs."""

    place: int
    what: str
    was: str = ""
    now: str = ""

    def __str__(self) -> str:
        was, now = apart(self.was, self.now)
        return f"{self.what}: recorded {was}, now {now}"


def difference(course: Course, turn: Turn, request: Request, hide: Hide) -> Difference | None:
    """Return where a request first differs from what was told by a turn, None where nowhere.

    What was recorded had its secrets hidden, so they are hidden in what differs too.
    """
    told = course.told[: turn.heard]
    return told_otherwise(told, request.messages, hide) or _offered(turn, request, hide)


def told_otherwise(
    told: Sequence[Told], messages: Sequence[Message], hide: Hide
) -> Difference | None:
    """Return where messages first differ from those that were told."""
    for place in range(max(len(told), len(messages))):
        was = told[place] if place < len(told) else None
        now = plain(messages[place]) if place < len(messages) else None
        if was != now and not _agree(was, _hidden(now, hide)):
            return _between(place, was, _hidden(now, hide), told[:place])
    return None


def _hidden(message: Message | None, hide: Hide) -> Message | None:
    return None if message is None else message_of(hide(message_json(message)))


def _agree(was: Told | None, now: Message | None) -> bool:
    match was, now:
        case Outcomes(results), Results(given):
            ids = [result.call_id for result in given]
            return [came.call_id for came in results] == ids and all(
                came.error in (None, result.error) and all(p in result.content for p in came.parts)
                for came, result in zip(results, given, strict=True)
            )
        case Outcomes(results), User(text):
            return all(part in text for came in results for part in came.parts)
    return was == now


def _between(
    place: int, was: Told | None, now: Message | None, before: Sequence[Told]
) -> Difference:
    """Return the difference of two messages at one place."""
    match was, now:
        case User(old), User(new):
            return Difference(place, "the prompt", old, new)
        case Assistant(old, calls), Assistant(new, others):
            if old != new:
                return Difference(place, "what the model said", old, new)
            return Difference(place, "what the model called", encode_all(calls), encode_all(others))
        case Results(old_results, old_news), Results(new_results, new_news):
            for first, second in zip(old_results, new_results, strict=False):
                if first != second:
                    return _result(place, first, second, before)
            if len(old_results) == len(new_results):
                return Difference(place, "what it was told of new tools", old_news, new_news)
        case Outcomes(results), Results(given) if len(results) == len(given):
            for came, result in zip(results, given, strict=True):
                if not _agree(Outcomes((came,)), Results((result,))):
                    kept = Result(came.call_id, ", ".join(came.parts), bool(came.error))
                    return _result(place, kept, result, before)
        case Outcomes(results), User(text):
            parts = ", ".join(part for came in results for part in came.parts)
            return Difference(place, "what calls came to", parts, text)
    return Difference(place, f"message {place + 1}", _named(was), _named(now))


def _result(place: int, was: Result, now: Result, before: Sequence[Told]) -> Difference:
    if was.call_id != now.call_id:
        return Difference(place, "which call came to a result", was.call_id, now.call_id)
    tool = _tool(was.call_id, before)
    if was.content == now.content:
        kinds = {True: "a failure", False: "a success"}
        return Difference(place, f"the result of {tool}", kinds[was.error], kinds[now.error])
    return Difference(place, f"the result of {tool}", was.content, now.content)


def _tool(call_id: str, before: Sequence[Told]) -> str:
    calls = (call for told in before if isinstance(told, Assistant) for call in told.calls)
    names = [call.tool for call in calls if call.id == call_id]
    return f"{names[-1]} ({call_id})" if names else call_id


def encode_all(calls: Sequence[Any]) -> str:
    """Return calls as a text, to be compared and shown."""
    return "; ".join(f"{call.id} {call.tool}({encode(dict(call.arguments))})" for call in calls)


def _named(message: Told | None) -> str:
    match message:
        case None:
            return ""
        case User(text):
            return f"a prompt, {text}"
        case Assistant(text):
            return f"the model's words, {text}"
    return "results"


def _offered(turn: Turn, request: Request, hide: Hide) -> Difference | None:
    place = len(request.messages)
    if turn.system is not None and turn.system not in (request.system, hide(request.system)):
        return Difference(place, "the system text", turn.system, hide(request.system))
    offered = tuple(tool.name for tool in request.tools)
    if turn.offered is not None and turn.offered != offered:
        return Difference(place, "the tools", ", ".join(turn.offered), ", ".join(offered))
    for tool in definitions(request.tools):
        if tool["name"] not in turn.tools:
            return Difference(place, "the tools", "", tool["name"])
        was = turn.tools[tool["name"]]
        if was is not None and not same(was, tool) and not same(was, hide(tool)):
            return _tools_apart(place, was, hide(tool))
    return None


def _tools_apart(place: int, was: Any, now: Any) -> Difference:
    kinds: tuple[tuple[str, Callable[[Any], str]], ...] = (
        ("description", str),
        ("parameters", encode),
    )
    for key, text in kinds:
        if was.get(key) != now.get(key):
            what = f"the {key} of tool {now['name']}"
            return Difference(place, what, text(was.get(key)), text(now.get(key)))
    return Difference(place, f"tool {now['name']}", encode(was), encode(now))


def apart(was: str, now: str) -> tuple[str, str]:
    """Return two texts, quoted, from a little before the place where they part."""
    pairs = zip(was, now, strict=False)
    same_so_far = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(was), len(now)))
    start = max(0, same_so_far - AROUND)
    return _quoted(was, start), _quoted(now, start)


def _quoted(text: str, start: int) -> str:
    if not text:
        return NOTHING
    cut = visible_text(text[start:].replace("\n", "⏎"), WIDEST)
    return f"“{'…' if start else ''}{cut}”"
