"""What a tool's function reports while it runs: that it needs a person's input, that its outcome
is unknown, or its progress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class InputRequest:
    """A question to the person: a form, or a page to open."""

    message: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of the form: an object of texts, numbers, booleans and choices."""
    url: str = ""
    """The page's address (`https://` or `http://`); the person answers when they are done."""


@dataclass(frozen=True, slots=True)
class InputResponse:
    """The person's response: with "accept", `content` has the fields of the form.

    A person who rejects the question declines it; "cancel" is only for programs.
    """

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] = field(default_factory=dict)


class InputRequired(Exception):
    """Raised by a tool's function that needs input of the person before it can continue.

    The session records the round, waits for the person, and then calls `Tool.resume` with `state`
    and the responses, by the same keys. The kernel may restart in between, so `state` is all
    that the tool continues with; what the function printed or changed in place is lost.

    Arguments:
        requests: the questions, by keys of the tool's own.
        state: JSON data. The journal has it, with markers for secrets of the environment.

    Example:
        >>> def book_for(state, responses, arguments):
        ...     return f"booked for {responses['who'].content['name']}"
        >>> form = {"type": "object", "properties": {"name": {"type": "string"}}}
        >>> @tool(resume=book_for)
        ... def book(day: str) -> str:
        ...     raise InputRequired({"who": InputRequest("Who books?", form)})
    """

    def __init__(self, requests: Mapping[str, InputRequest], state: object = None) -> None:
        super().__init__("; ".join(request.message for request in requests.values()))
        self.requests = requests
        self.state = state

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.requests, self.state)


class OutcomeUnknown(Exception):
    """Raised by a tool's function that cannot know whether the call took effect.

    Its text is the reason. A person decides whether the call runs again; the session runs an
    `idempotent` tool again by itself, once for each call.
    """


class NotBegun(KeyboardInterrupt):
    """The kernel was interrupted before the tool of a call began, which will not run."""


_PROGRESS: ContextVar[Callable[[str], None] | None] = ContextVar("progress", default=None)


def report_progress(text: str) -> None:
    """Show the progress of the running call, such as `3 of 10: copying`.

    At most 200 characters are shown, in the call's step and in the status; the journal does not
    have them. Outside of a call it does nothing. It works in every task of an async function. In
    another thread, call `context.run(report_progress, text)` with the `contextvars.copy_context()`
    of the function.
    """
    if (show := _PROGRESS.get()) is not None:
        show(text)


_DESCRIPTION: ContextVar[list[str] | None] = ContextVar("description", default=None)


def describe_result(text: str) -> None:
    """Tell the model, in one sentence beside the result, what a call did: `kept 3 of 9 rows`.

    Outside of a call it does nothing, and of an empty text neither.
    """
    sentences = _DESCRIPTION.get()
    if sentences is not None and text:
        sentences.append(text)


def described(function: Callable[[], T]) -> tuple[T, str]:
    """Return what a function returns, and what it says of that by `describe_result`."""
    sentences: list[str] = []
    token = _DESCRIPTION.set(sentences)
    try:
        return function(), "; ".join(sentences)
    finally:
        _DESCRIPTION.reset(token)


class Cancellation:
    """Cancels what a call waits for that runs beside others: an interrupt reaches no thread."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._futures: list[Future[Any]] = []

    def add(self, future: Future[object]) -> None:
        """Add what the call waits for; it is cancelled at once where the call is."""
        self._futures.append(future)
        if self.is_cancelled:
            future.cancel()

    def cancel(self) -> None:
        """Cancel all that the call waits for."""
        self.is_cancelled = True
        for future in self._futures:
            future.cancel()


_CANCELLATION: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def set_cancellation(cancellation: Cancellation) -> None:
    """Let `cancel_with_call` add to `cancellation`, in this context and in its copies."""
    _CANCELLATION.set(cancellation)


def cancel_with_call(future: Future[Any]) -> None:
    """Let a future be cancelled with the running call, where that runs beside others or is tried
    while it waits."""
    if (cancellation := _CANCELLATION.get()) is not None:
        cancellation.add(future)


@contextmanager
def showing_progress(show: Callable[[str], None]) -> Iterator[None]:
    """Let `report_progress` call `show` inside, in this thread and in what copies its context."""
    token = _PROGRESS.set(show)
    try:
        yield
    finally:
        _PROGRESS.reset(token)
