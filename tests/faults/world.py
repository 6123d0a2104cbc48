"""The world in which faults happen: tools with effects, a model that reads their outcomes.

What happens outside of a kernel is told to `note`, a line each, and outlives any kernel:
    effect N STARTS ALLOWED   a tool had its effect; so many starts, and approvals, were on disk
    approve N                 a person is about to let call N run
    taken N ALLOWED           the person's word was taken; so many approvals were on disk
    told ID TEXT              the model was told what a call came to
"""

from __future__ import annotations

import asyncio
import re
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from jupyter_toolcall import Scripted, Toolbox, tool
from jupyter_toolcall.core.events import Decision
from jupyter_toolcall.models.scripted import Item
from jupyter_toolcall.schemes.messages import Reply, Request, Results
from jupyter_toolcall.tools.running_tool import InputRequest, InputRequired
from tests.faults.permissions import Effect


def nothing() -> None:
    """A place at which nothing happens."""


class Effects(Protocol):
    """What is beyond a kernel: the tools of `toolbox` have their effects there."""

    @property
    def point(self) -> Callable[[], None]:
        """A place in a tool at which the kernel may die."""

    def run(self, effect: Effect) -> None:
        """Have an effect."""


@dataclass
class Outside:
    """What is beyond a kernel; each case sets it to what it looks at."""

    note: Callable[[str], None] = lambda line: None
    proof: Callable[[], bytes] = lambda: b""
    """Returns what of the journal is on disk for certain."""
    point: Callable[[], None] = nothing
    """A place in a tool at which the kernel may die."""

    def run(self, effect: Effect) -> None:
        """Note an effect, and what of the journal was on disk by then."""
        self.point()
        starts, allowed = self.on_disk()
        self.note(f"effect {effect.n} {starts} {allowed}")
        self.point()

    def on_disk(self) -> tuple[int, int]:
        """Return how many starts, and approvals, are on disk for certain."""
        proof = self.proof()
        # An approval that is given again, after damage, is a line of the same entry.
        unmarked = (line for line in proof.splitlines() if b'"may_have_run"' not in line)
        approvals = [line for line in unmarked if _ALLOWED.search(line)]
        return len(set(_STARTED.findall(proof))), len(approvals)


_EVENT = rb'"id":"(\w+)",(?:"parent":"\w+",)?"event":\{"type":'
_STARTED = re.compile(_EVENT + b'"started"')
_ALLOWED = re.compile(
    # A person's approval is a decision; the policy's is part of the start.
    _EVENT + b'(?:"decided"(?!.{0,80}"(?:reject|answer)")|"started".*"bound":"\\w)'
)


@dataclass(frozen=True)
class Jar:
    """An object."""

    n: int


class Till:
    """Money, which the next kernel finds in the store."""

    _run: ClassVar[staticmethod[[Effect], None]]

    def __init__(self) -> None:
        self.total = 0

    def add(self, n: int) -> int:
        """Add."""
        type(self)._run(Effect(f"{type(self).__name__}_add", n, self.total))
        self.total += n
        return self.total


def toolbox(outside: Effects) -> Toolbox:
    """Return a tool of each kind."""
    # What is outside is no part of the tools' code; a proxy is not followed.
    outside = weakref.proxy(outside)

    def send(n: int) -> str:
        """Send."""
        outside.run(Effect("send", n))
        return f"sent {n}"

    @tool(read_only=True)
    def look(n: int) -> str:
        """Look."""
        outside.run(Effect("look", n))
        return f"seen {n}"

    @tool(idempotent=True)
    def put(n: int) -> str:
        """Put."""
        outside.run(Effect("put", n))
        return f"put {n}"

    async def fetch(n: int) -> str:
        """Fetch."""
        await asyncio.sleep(0)
        outside.run(Effect("fetch", n))
        return f"fetched {n}"

    def fail(n: int) -> str:
        """Fail."""
        outside.run(Effect("fail", n))
        raise RuntimeError(f"broken {n}")

    def make(n: int) -> Jar:
        """Make a jar."""
        outside.run(Effect("make", n))
        return Jar(n)

    def post(jar: Jar, n: int) -> str:
        """Post a jar."""
        outside.run(Effect("post", n, jar.n))
        return f"posted {n}"

    def after_question(state: object, responses: object, arguments: Mapping[str, int]) -> str:
        return send(arguments["n"])

    @tool(resume=after_question)
    def ask(n: int) -> str:
        """Ask the person, then send."""
        outside.point()
        raise InputRequired({"sure": InputRequest("Sure?")})

    class Box(Till):
        """A till that no other kernel can read."""

    Till._run = staticmethod(lambda effect: outside.run(effect))
    sources = send, look, put, fetch, fail, make, post, ask, Till(), Box()
    # Of tools, not of their sources: what they take is worked out once.
    return Toolbox(*Toolbox(*sources, types=[Jar]), types=[Jar])


@dataclass
class Model:
    """A model that says what it was told to say, and hears what calls came to."""

    script: Scripted
    tell: Callable[[str], None]
    name: str = "model"
    heard: int = 0

    @property
    def identity(self) -> str:
        return self.script.identity

    def __call__(self, request: Request) -> Reply:
        results = [each for m in request.messages if isinstance(m, Results) for each in m.results]
        for result in results[self.heard :]:
            self.tell(f"told {result.call_id} {result.content}")
        self.heard = len(results)
        return self.script(request)


@dataclass(frozen=True)
class Story:
    """A session from its prompt to its end, if nothing went wrong."""

    name: str
    script: tuple[Item, ...]
    approve: str = "ask"
    verdicts: Mapping[int, tuple[Decision, Mapping[str, Any]]] = field(default_factory=dict)
    """What the person does about a call, by its `n`; any other is approved."""
    unasked: frozenset[int] = frozenset()
    """The calls, by their `n`, that a policy lets run once."""
    again: frozenset[int] = frozenset()
    """The calls, by their `n`, that may run again unasked: of read-only and idempotent tools. Their
    starts need not be on disk before they run."""
    remade: bool = False
    """Whether a value that is lost with its kernel is asked for, and made, again."""

    @property
    def line(self) -> str:
        return f"-m model -t box --scheme flat --approve {self.approve}"


def of(name: str, call: str, approve: str = "ask", **more: Any) -> Story:
    """Return the story of three calls of one tool, two of them of one reply."""
    script: tuple[Item, ...] = ((call, {"n": 1}), [(call, {"n": 2}), (call, {"n": 3})], "done")
    return Story(name, script, approve, **more)


ALL = frozenset({1, 2, 3})
STORIES = (
    of("unmarked", "send"),
    of("read-only", "look", unasked=ALL, again=ALL),
    of("idempotent", "put", "all", unasked=ALL, again=ALL),
    of("objects", "make"),
    of("stateful", "Till_add"),
    of("unkept", "Box_add", remade=True),
    of("async", "fetch", "all", unasked=ALL),
    of("failing", "fail"),
    of("asking", "ask"),
    of("asking unasked", "ask", "all", unasked=ALL),
    Story(
        "decided",
        (
            [("send", {"n": 1}), ("send", {"n": 2})],
            [("send", {"n": 3}), ("look", {"n": 4}), ("send", {"n": 5})],
            "done",
        ),
        verdicts={
            1: ("edit", {"arguments": {"n": 11}}),
            3: ("reject", {"reason": "no"}),
            5: ("answer", {"result": "five"}),
        },
        unasked=frozenset({4}),
        again=frozenset({4}),
    ),
)
NAMES = frozenset(story.name for story in STORIES)
