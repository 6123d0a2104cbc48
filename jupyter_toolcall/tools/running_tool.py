"""What a tool's function says while it runs: it needs a person's input, its outcome is unknown,
or how far it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class InputRequest:
    """A question to the person: a form, or a page to open."""

    message: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of the form: an object of texts, numbers, truths and choices."""
    url: str = ""
    """The page to open, which begins with https:// or http://; the person says when it is done."""


@dataclass(frozen=True, slots=True)
class InputResponse:
    """The person's response: `content` has the fields of the form, where it was accepted.

    A person who rejects the question declines it; "cancel" is for a program's own use.
    """

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] = field(default_factory=dict)


class InputRequired(Exception):
    """Raised by a tool's function that needs input of the person before it can go on.

    The session records the round, waits for the person, and then calls `Tool.resume` with `state`
    and the responses, by the same keys. A kernel may have restarted in between, so `state` is all
    that the tool goes on with; nothing that the function printed or changed in place is kept.

    Arguments:
        requests: the questions, by keys of the tool's own.
        state: JSON. It is in the journal, with markers in place of the environment's secrets.

    Example:
        >>> def go_on(state, responses, arguments):
        ...     return f"booked for {responses['who'].content['name']}"
        >>> form = {"type": "object", "properties": {"name": {"type": "string"}}}
        >>> @tool(resume=go_on)
        ... def book(day: str) -> str:
        ...     raise InputRequired({"who": InputRequest("Who books?", form)})
    """

    def __init__(self, requests: Mapping[str, InputRequest], state: Any = None) -> None:
        super().__init__("; ".join(request.message for request in requests.values()))
        self.requests = requests
        self.state = state

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.requests, self.state)


class OutcomeUnknown(Exception):
    """Raised by a tool's function that cannot know whether the call took effect.

    Its text says why. A person decides what follows; a tool that is `idempotent` runs again by
    itself, once for each call.
    """


_PROGRESS: ContextVar[Callable[[str], None] | None] = ContextVar("progress", default=None)


def report_progress(text: str) -> None:
    """Show how far the running call is, such as `3 of 10: copying`; nothing outside of a call.

    At most 200 characters are shown, in the call's step and in the status; nothing is recorded.
    It may be called in any thread that runs in the context of the tool's function: of an async
    function that is each of its tasks; for another thread take `contextvars.copy_context()` in the
    function, and call `context.run(report_progress, text)` there.
    """
    show = _PROGRESS.get()
    if show is not None:
        show(text)


@contextmanager
def showing_progress(show: Callable[[str], None]) -> Iterator[None]:
    """Let `report_progress` call `show` inside, in this thread and in what copies its context."""
    token = _PROGRESS.set(show)
    try:
        yield
    finally:
        _PROGRESS.reset(token)
