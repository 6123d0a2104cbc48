"""A model that makes no mistake: it follows a plan, in whatever scheme it is asked.

It shows what a scheme costs where nothing goes wrong, and nothing of how often real
models go wrong in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..digest import digest
from ..events import Call
from ..models.scripted import filled
from ..request import Assistant, Reply, Request, Results
from ..schemes.current_tools import SAVE_AS, USE
from ..schemes.select import SELECT
from ..tools import Tool
from ..tools.references import kind_in
from .tasks import Step


@dataclass(frozen=True, slots=True)
class Ideal:
    """Makes the calls of a plan, one a turn, and what the scheme needs before them.

    A plan names the tool and its arguments as if every tool were at hand. It keeps no
    place: what is done it reads from the messages, so a fork or a replay hears the same.
    Where tools are spoken of in the text, it takes them to be all there.
    """

    plan: Sequence[Step]
    name: str = "ideal"

    @property
    def identity(self) -> str:
        """The name, and a digest of the plan: another plan is another model."""
        return f"{self.name}:{digest('plan', repr(tuple(self.plan)))[:12]}"

    def __call__(self, request: Request) -> Reply:
        done = _done(self.plan, request)
        if done >= len(self.plan):
            return Reply(_told(request))
        tool, arguments = _next(self.plan[done:], request)
        made = Call(f"call_{request.turn + 1}", tool, filled(arguments, request.newest))
        return Reply("", (made,), "tools")

    def __repr__(self) -> str:
        return f"<{self.name}: a plan of {len(self.plan)} steps>"


def _done(plan: Sequence[Step], request: Request) -> int:
    """Return how many steps were tried; one that failed is not tried again."""
    if not request.tools:
        return request.turn
    done = 0
    for call in _calls(request):
        if done < len(plan) and call.tool == plan[done][0]:
            done += 1
    return done


def _next(rest: Sequence[Step], request: Request) -> Step:
    offered = {tool.name: tool for tool in request.tools}
    for prepare in (_selection, _change):
        step = prepare(rest, offered, request)
        if step is not None and not _just_made(step, request):
            return step
    return _spoken(rest[0], offered)


def _just_made(step: Step, request: Request) -> bool:
    """What did not help is not tried again."""
    last = next((call for call in reversed(list(_calls(request)))), None)
    made = step[0], filled(step[1], request.newest)
    return last is not None and (last.tool, dict(last.arguments)) == made


def _selection(rest: Sequence[Step], offered: Mapping[str, Tool], request: Request) -> Step | None:
    """Return the selection of all that the plan goes on with and that is listed by now."""
    if SELECT not in offered or rest[0][0] in offered:
        return None
    listed = {
        tool.name for tool in request.deferred if not tool.receiver or tool.kind in request.newest
    }
    names = dict.fromkeys(tool for tool, _ in rest if tool in listed)
    return (SELECT, {"tools": list(names)}) if rest[0][0] in names else None


def _change(rest: Sequence[Step], offered: Mapping[str, Tool], request: Request) -> Step | None:
    """Return the step to the object that the plan goes on with, where it is not current."""
    if SAVE_AS not in offered:
        return None
    tool, arguments = rest[0]
    kind = _kind(tool, offered, request)
    name = filled(arguments.get(kind, f"${kind}"), request.newest)
    use = f"{USE}{kind_in(str(name))}"
    if not kind or use not in offered or name == _current(request):
        return None
    return use, {"id": name}


def _kind(tool: str, offered: Mapping[str, Tool], request: Request) -> str:
    known = next((each for each in (*request.tools, *request.deferred) if each.name == tool), None)
    return known.kind if known is not None else ""


def _current(request: Request) -> str:
    """Return the object that a result last said to be current."""
    for message in reversed(request.messages):
        for result in reversed(message.results if isinstance(message, Results) else ()):
            found = _said(result.content).get("current")
            if isinstance(found, str):
                return found
    return ""


def _said(content: str) -> Mapping[str, Any]:
    try:
        data = json.loads(content)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _spoken(step: Step, offered: Mapping[str, Tool]) -> Step:
    """Return a step with those arguments that the tool has here: the receiver may be gone."""
    tool, arguments = step
    if SAVE_AS not in offered or tool not in offered:
        return step
    known = offered[tool].parameters.get("properties", {})
    kind = offered[tool].kind
    return tool, {key: value for key, value in arguments.items() if key != kind or key in known}


def _calls(request: Request) -> Iterator[Call]:
    for message in request.messages:
        if isinstance(message, Assistant):
            yield from message.calls


def _told(request: Request) -> str:
    """Return the last result: what is left to say where a plan is through."""
    for message in reversed(request.messages):
        if isinstance(message, Results):
            return message.results[-1].content
    return ""
