"""A model that makes no mistake: it follows a plan, in whatever scheme it is asked.

It shows what a scheme costs where nothing goes wrong, and nothing of how often real
models go wrong in it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.digests import digest
from ..core.events import Call
from ..core.state import kind_in
from ..models.scripted import filled
from ..schemes.current import SAVE_AS, USE
from ..schemes.messages import Assistant, Reply, Request, Results
from ..schemes.select import SELECT
from .tasks import Step


@dataclass(frozen=True, slots=True)
class Ideal:
    """Makes the calls of a plan, one a turn, and what the scheme needs before them.

    A plan names the tool and its arguments as if every tool were at hand. It keeps no
    position: what is done it reads from the messages, so a fork or a replay gets the same.
    Where tools are only described in the text, it takes them to be all there.
    """

    plan: Sequence[Step]
    name: str = "ideal"

    @property
    def identity(self) -> str:
        """The name, and a digest of the plan: another plan is another model."""
        return f"{self.name}:{digest('plan', repr(tuple(self.plan)))[:12]}"

    def __call__(self, request: Request) -> Reply:
        """Return the next call, or the last result where the plan is through."""
        calls = [c for m in request.messages if isinstance(m, Assistant) for c in m.calls]
        # One that failed is not tried again, so what was tried counts as done.
        done = 0 if request.tools else request.turn
        for call in calls if request.tools else ():
            done += done < len(self.plan) and call.tool == self.plan[done][0]
        if done >= len(self.plan):
            contents = _result_contents(request)
            return Reply(contents[-1] if contents else "")
        tool, arguments = _next_step(self.plan[done:], request, calls)
        call = Call(f"call_{request.turn + 1}", tool, filled(arguments, request.newest))
        return Reply("", (call,), "tools")

    def __repr__(self) -> str:
        return f"<{self.name}: a plan of {len(self.plan)} steps>"


def _next_step(plan: Sequence[Step], request: Request, calls: Sequence[Call]) -> Step:
    offered = {tool.name: tool for tool in request.tools}
    for step in (_selection(plan, offered, request), _use(plan[0], offered, request)):
        if step is not None:
            prepared = (step[0], filled(step[1], request.newest))
            # A preparation that did not help is not tried again.
            if not calls or (calls[-1].tool, dict(calls[-1].arguments)) != prepared:
                return step
    tool, arguments = plan[0]
    if SAVE_AS not in offered or tool not in offered:
        return plan[0]
    # The scheme `current` takes the receiver away where it is the current object.
    parameters, kind = offered[tool].parameters.get("properties", {}), offered[tool].kind
    return tool, {
        key: value for key, value in arguments.items() if key != kind or key in parameters
    }


def _selection(plan: Sequence[Step], offered: Collection[str], request: Request) -> Step | None:
    """Return the selection of all that the plan goes on with and that is listed by now."""
    if SELECT not in offered or plan[0][0] in offered:
        return None
    listed = {
        tool.name for tool in request.deferred if not tool.receiver or tool.kind in request.newest
    }
    names = dict.fromkeys(tool for tool, _ in plan if tool in listed)
    return (SELECT, {"tools": list(names)}) if plan[0][0] in names else None


def _use(step: Step, offered: Collection[str], request: Request) -> Step | None:
    """Return the step to the object that the plan goes on with, where it is not current."""
    if SAVE_AS not in offered:
        return None
    kinds = {tool.name: tool.kind for tool in (*request.deferred, *request.tools)}
    kind = kinds.get(step[0], "")
    name = filled(step[1].get(kind, f"${kind}"), request.newest)
    use = f"{USE}{kind_in(str(name))}"
    if not kind or use not in offered or name == _current_object(request):
        return None
    return use, {"id": name}


def _current_object(request: Request) -> str:
    """Return the object that a result last named as current."""
    for content in reversed(_result_contents(request)):
        try:
            data: Any = json.loads(content)
        except ValueError:
            continue
        if isinstance(data, dict) and isinstance(data.get("current"), str):
            return str(data["current"])
    return ""


def _result_contents(request: Request) -> list[str]:
    results = (m.results for m in request.messages if isinstance(m, Results))
    return [result.content for message in results for result in message]
