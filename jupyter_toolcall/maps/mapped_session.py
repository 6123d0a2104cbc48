"""One session of a map: opened from its journal, continued to its next pause, and summed up.

The kernel and the workers of an executor run the same functions. A session is written by one of
them at a time, and its journal is all that the next one needs.
"""

from __future__ import annotations

import inspect
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ..core.digests import digest
from ..core.errors import Stopped, ToolcallError, UsageError
from ..core.events import Opened
from ..core.interrupts import Hold, attempt
from ..core.journal import Journal
from ..core.state import AskModel
from ..core.text import count_text, visible_text
from ..engine.cursor import Cursor, SessionContext
from ..engine.decisions import waiting_calls
from ..engine.forks import replay_cursor, resume_replay
from ..engine.opening import has_values, open_session
from ..engine.replay import advance, replay_recorded
from ..schemes.messages import Model
from ..session.session import Session
from ..storage.journal_file import (
    HELD_ELSEWHERE,
    JournalHandle,
    journals_folder,
    key_problem,
    open_journal,
    read_journal,
)
from ..storage.signatures import signer
from ..storage.value_store import value_store
from ..tools.toolbox import Toolbox

Status = Literal["not started", "interrupted", "waiting", "failed", "finished"]
"""How a session of a map stands: "interrupted" continues by itself, "waiting" needs a person,
"failed" says why in `error` and is tried again by the next run."""
STATUSES: tuple[Status, ...] = ("waiting", "failed", "interrupted", "not started", "finished")
"""In the order in which a table lists them."""
LONGEST_TEXT = 300
"""Characters of an error, or of the last reply, that a summary keeps."""
LOCKED = 10.0
"""Seconds that a journal may be held by a worker that is just ending."""
TICK = 0.05


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a table shows of a session; all that the kernel keeps of one that has ended."""

    status: Status = "not started"
    calls: int = 0
    turns: int = 0
    tokens: int = 0
    """Tokens of all requests and replies."""
    saved: tuple[str, ...] = ()
    """The names of the outputs that are saved."""
    waits_for: tuple[str, ...] = ()
    """The tools whose calls wait for a person."""
    text: str = ""
    """The beginning of the last reply."""
    error: str = ""


@dataclass(frozen=True)
class JournalFolder:
    """The folder of a map's journals: a name in the user's data directory, or a path."""

    name: str = ""
    absolute: str = ""

    @property
    def path(self) -> Path:
        """The folder on this machine, whose data directory may have another path."""
        return Path(self.absolute) if self.absolute else journals_folder() / "maps" / self.name


@dataclass(frozen=True)
class SessionSetup:
    """What all sessions of a map are opened with.

    Attributes:
        toolbox: the tools, or a function without parameters that returns them.
        model: as for `Session`, or a function or class without parameters that returns one.
        options: the other arguments of `Session`, by name.
        folder: where the journals are.
    """

    toolbox: Toolbox | Callable[[], Toolbox]
    model: Model | str | Callable[[], Model] | None
    options: Mapping[str, Any]
    folder: JournalFolder = field(default_factory=JournalFolder)

    @cached_property
    def tools(self) -> Toolbox:
        """The tools, created once in each process."""
        toolbox: Any = self.toolbox
        # A function may have parameters, each with a default.
        creates = not attempt(lambda: inspect.signature(toolbox).bind())[1]
        tools: Toolbox = toolbox() if creates else toolbox
        return tools

    @cached_property
    def replies(self) -> Model | str | None:
        """The model, created once in each process."""
        model: Any = self.model
        replies: Model | str | None = model() if is_factory(model) else model
        return replies

    def open(self, journal: Journal) -> tuple[SessionContext, Opened]:
        """Return the context and the first event of a session. Raises what `Session` raises."""
        return open_session(self.tools, self.replies, journal=journal, **self.options)


def is_factory(value: Any) -> bool:
    """Return whether a value is a class, or a function without parameters, and so no model."""
    parameters = attempt(lambda: inspect.signature(value).parameters)[0]
    return parameters == {} or isinstance(value, type)


@dataclass(frozen=True, slots=True)
class MappedPrompt:
    """A prompt of a map, and the name of its journal."""

    index: int
    text: str
    key: str

    def path(self, folder: JournalFolder) -> Path:
        return folder.path / f"{self.key}.jsonl"


def mapped_prompts(texts: list[str]) -> tuple[MappedPrompt, ...]:
    """Return the prompts with their journals' names; equal prompts have journals of their own.

    A name depends on no other prompt, so that a longer list continues the same sessions.
    """
    occurrences = Counter[str]()
    mapped = []
    for index, text in enumerate(texts):
        occurrences[text] += 1
        mapped.append(MappedPrompt(index, text, digest("prompt", text, occurrences[text])[:20]))
    return tuple(mapped)


# -- opening ---------------------------------------------------------------------------------


@contextmanager
def written_session(setup: SessionSetup, prompt: MappedPrompt) -> Iterator[Session]:
    """Open a session that this process alone writes, at its newest entry.

    Raises UsageError where another process writes it, or it was recorded with another setup.
    """
    handle = _writer(prompt.path(setup.folder))
    try:
        yield _session(setup, prompt, handle.journal, handle.doubt or key_problem())
    finally:
        handle.close()


def read_session(setup: SessionSetup, prompt: MappedPrompt) -> Session:
    """Return a copy of a session as it is on disk, in memory alone; its calls wait for you."""
    journal = read_journal(prompt.path(setup.folder), seal=signer(journals_folder()))
    journal.mark_open_calls("copied")
    return _session(setup, prompt, journal, key_problem())


def _writer(path: Path) -> JournalHandle:
    until = time.monotonic() + LOCKED
    # The kernel of the map records a decision, and one of its workers may use it.
    handle = open_journal(path, signer(journals_folder()), keeps_approvals=True)
    while handle.retry is not None:
        if handle.doubt != HELD_ELSEWHERE or time.monotonic() > until:
            handle.close()
            raise UsageError(f"{path.stem}: {handle.doubt}")
        time.sleep(TICK)
        handle = handle.retry()
    return handle


def _session(
    setup: SessionSetup, prompt: MappedPrompt, journal: Journal, unreliable: str
) -> Session:
    context, opened = setup.open(journal)
    context.values.value_store = value_store()
    context.unreliable_reason = unreliable
    if len(journal):
        session = Session.here(resume_replay(context, journal.leaves()[-1]), prompt.key)
        _demand_same_setup(session.state.opened, opened)
    else:
        session = Session.here(Cursor(context, journal.append(None, opened).id), prompt.key)
    if not session.state.prompt:
        session.ask(prompt.text)
    return session


def _demand_same_setup(recorded: Opened, now: Opened) -> None:
    def part(opened: Opened, name: str) -> Any:
        inputs = {name: (ref.kind, ref.content) for name, ref in opened.inputs}
        return inputs if name == "inputs" else getattr(opened, name)

    parts = "scheme", "system", "outputs", "inputs"
    if other := [name for name in parts if part(recorded, name) != part(now, name)]:
        raise UsageError(
            f"these sessions were recorded with other {' and '.join(other)}; "
            "give the map another name"
        )


# -- running ---------------------------------------------------------------------------------


def continue_session(
    setup: SessionSetup, prompt: MappedPrompt, stopped: Callable[[], bool]
) -> SessionSummary:
    """Continue a session until it pauses or ends, and return its summary.

    `stopped` is asked between two steps. Nothing is raised: what goes wrong is in the summary.
    """
    session: Session | None = None
    try:
        with written_session(setup, prompt) as session:
            begin(session)
            with Hold() as hold:
                while not stopped():
                    if advance(session.cursor) is None:
                        return end(session)
                    hold.deliver()
            return summary(session, "interrupted")
    # A model is somebody's function: what it raises ends this session alone.
    except BaseException as error:
        return summary_at_end(session, error)


def begin(session: Session) -> None:
    """Prepare a session that was opened for its next step.

    Values that are not at hand any more are computed again by a replay, which runs nothing
    that must not run twice.
    """
    session.cursor.refresh()
    if not has_values(session.cursor):
        session.cursor = replay_cursor(session.cursor, None)
        replay_recorded(session.cursor)


def end(session: Session) -> SessionSummary:
    """Return the summary of a session that takes no step by itself, and keep its outputs."""
    state, values = session.state, session.cursor.context.values
    if waiting_calls(session.cursor):
        return summary(session, "waiting")
    if error := _missing(session):
        return summary(session, "failed", error)
    saved = {name for name in state.outputs.values() if isinstance(name, str)}
    values.save(ref.digest for name, ref in state.objects.items() if name in saved)
    return summary(session, "finished")


def _missing(session: Session) -> str:
    """Return what a session lacks that waits for nobody, "" where it is finished."""
    cursor = session.cursor
    if cursor.turn_limit_reached and isinstance(cursor.next_step, AskModel):
        turns = count_text(session.state.turns_since, "turn")
        return f"stopped after {turns}; a larger max_turns continues"
    if isinstance(cursor.next_step, AskModel):
        return "the model has no reply yet"
    missing = [name for name in session.state.opened.outputs if name not in session.state.outputs]
    return f"{', '.join(missing)} was never saved" if missing else ""


def summary(session: Session, status: Status, error: str = "") -> SessionSummary:
    """Return the summary of a session as it stands."""
    state = session.state
    waiting = waiting_calls(session.cursor) if status == "waiting" else ()
    return SessionSummary(
        status,
        len(state.order),
        state.turns,
        state.tokens,
        tuple(name for name in state.opened.outputs if name in state.outputs),
        tuple(call.tool for call in waiting),
        visible_text(state.reply_text.strip(), LONGEST_TEXT),
        error,
    )


def summary_at_end(session: Session | None, error: BaseException | None) -> SessionSummary:
    """Return the summary of a session that paused, ended, or raised an error."""
    if session is not None and error is None:
        return end(session)
    is_stopped = isinstance(error, KeyboardInterrupt | Stopped)
    status: Status = "interrupted" if is_stopped else "failed"
    why = "" if is_stopped or error is None else error_line(error)
    if session is None:
        return SessionSummary(status, error=why)
    return summary(session, status, session.cursor.context.secrets.hide(why))


def error_line(error: BaseException) -> str:
    """Return an error as one line."""
    name = "" if isinstance(error, ToolcallError) else f"{type(error).__name__}: "
    return visible_text(f"{name}{' '.join(str(error).split())}".rstrip(": "), LONGEST_TEXT)
