"""`SessionMap`: separate sessions of many prompts, each with a journal of its own.

The kernel keeps a summary of each session. The session itself is read from its journal when
somebody looks at it.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

from ..core.call_record import CallRecord
from ..core.digests import digest
from ..core.errors import NotYourTurn, UsageError, checked_path, checked_text
from ..core.events import Decision
from ..core.interface_text import t
from ..core.journal import Journal
from ..core.text import nearest, progress_bar
from ..engine.opening import checked_count
from ..models.named import model_named
from ..session.session import Session
from ..session.sessions_together import SessionsTogether
from ..storage.journal_file import file_stem
from ..tools.executors import executor_named
from . import table
from .mapped_session import (
    JournalFolder,
    MappedPrompt,
    SessionSetup,
    SessionSummary,
    Status,
    begin,
    mapped_prompts,
    read_session,
    summary,
    summary_at_end,
    written_session,
)
from .workers import NoWorkers, continue_on_workers, window_of

JOBS = 4
"""How many sessions run at once in the kernel where nobody says how many."""
STOPPED = t("Stopped. What is done is kept: run() continues, and so does the same map.")


@dataclass(frozen=True, slots=True)
class HeldSession:
    """A session that somebody in this kernel has open."""

    sessions: SessionMap
    current: Callable[[], Session]
    release: Callable[[], object]


_HELD: dict[Path, HeldSession] = {}
"""The sessions that are open in this kernel beyond a call, by their journals."""


class MappedSession:
    """One session of a map: its summary, and the session itself when it is asked for."""

    def __init__(self, sessions: SessionMap, index: int) -> None:
        self._map = sessions
        self.index = index

    @property
    def prompt(self) -> str:
        """What the session is asked."""
        return self._map.prompts[self.index].text

    @property
    def name(self) -> str:
        """The name of its journal, without the ending."""
        return self._map.prompts[self.index].key

    @property
    def path(self) -> Path:
        """The file of its journal."""
        return self._map.prompts[self.index].path(self._map.setup.folder)

    @property
    def summary(self) -> SessionSummary:
        """How it stands, as the table of the map shows it."""
        return self._map.summaries[self.index]

    @property
    def status(self) -> Status:
        """How it stands: "waiting" for a person, "failed", "interrupted", "not started" or
        "finished"."""
        return self.summary.status

    @property
    def calls(self) -> int:
        """How many calls the model asked for."""
        return self.summary.calls

    @property
    def turns(self) -> int:
        """How many replies the model gave."""
        return self.summary.turns

    @property
    def tokens(self) -> int:
        """The tokens of all its requests and replies."""
        return self.summary.tokens

    @property
    def error(self) -> str:
        """Why it failed, "" where it did not."""
        return self.summary.error

    @property
    def text(self) -> str:
        """The beginning of the model's last reply."""
        return self.summary.text

    @property
    def session(self) -> Session:
        """A copy of the session as its journal has it; what you do with it is not kept."""
        return read_session(self._map.setup, self._map.prompts[self.index])

    @property
    def outputs(self) -> Mapping[str, Any]:
        """What was saved, by name. Raises Absent for a value that this machine does not keep."""
        return self.session.outputs

    @property
    def pending(self) -> tuple[CallRecord, ...]:
        """The calls that wait for a person, the one to decide first."""
        if self.status != "waiting":
            return ()
        with self._map.opened(self.index) as session:
            return session.pending

    def decide(
        self,
        call: Any = None,
        decision: Decision = "approve",
        *,
        arguments: Mapping[str, Any] | None = None,
        result: Any = None,
        reason: str = "",
    ) -> MappedSession:
        """Decide on a call that waits, the first without `call`; `run` continues.

        As `Session.decide`. Raises NotYourTurn where no call waits.
        """
        with self._map.opened(self.index) as session:
            if call is None:
                call = next(iter(session.pending), None)
            if call is None:
                raise NotYourTurn("no call of this session waits")
            session.decide(call, decision, arguments=arguments, result=result, reason=reason)
            self._report(session)
        return self

    def approve_all(self) -> MappedSession:
        """Approve all calls of this session that wait; `run` continues."""
        with self._map.opened(self.index) as session:
            if calls := session.pending:
                session.approve_all(calls)
                self._report(session)
        return self

    def _report(self, session: Session) -> None:
        """Report how the session stands after a decision: until `run`, it is interrupted."""
        self._map.report(
            self.index, summary(session, "waiting" if session.pending else "interrupted")
        )

    def run(self) -> MappedSession:
        """Continue this session to its next pause, in the kernel or on the executor."""
        self._map.run([self.index])
        return self

    def __repr__(self) -> str:
        row = self.summary
        error = f": {row.error}" if row.error else ""
        return f"<{self.name} {row.status}: {row.calls} calls, {row.turns} turns{error}>"


class SessionMap(Sequence[MappedSession]):
    """Separate sessions of many prompts; see `Session.map`, which makes it.

    Attributes:
        prompts: the prompts, each with the name of its journal.
        summaries: how each session stands.
        note: what else there is to know, such as that the map was stopped.
        on_change: called with the index of a session whose summary changed.
    """

    def __init__(
        self,
        setup: SessionSetup,
        prompts: Sequence[str],
        executor: Executor | None = None,
        jobs: int | None = None,
    ) -> None:
        self.setup = setup
        self.prompts = mapped_prompts(list(prompts))
        self.summaries = [SessionSummary()] * len(self.prompts)
        self.executor, self.jobs = executor, jobs
        self.note = ""
        self.on_change: list[Callable[[int], object]] = []

    def __len__(self) -> int:
        return len(self.prompts)

    @overload
    def __getitem__(self, index: int) -> MappedSession: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MappedSession, ...]: ...
    def __getitem__(self, index: int | slice) -> MappedSession | tuple[MappedSession, ...]:
        numbers = range(len(self))[index]
        if isinstance(numbers, int):
            return MappedSession(self, numbers)
        return tuple(MappedSession(self, number) for number in numbers)

    @property
    def folder(self) -> Path:
        """The folder of the journals."""
        return self.setup.folder.path

    @property
    def pending(self) -> tuple[MappedSession, ...]:
        """The sessions that wait for a person."""
        return tuple(session for session in self if session.status == "waiting")

    @property
    def finished(self) -> tuple[MappedSession, ...]:
        """The sessions that have ended."""
        return tuple(session for session in self if session.status == "finished")

    @property
    def errors(self) -> Mapping[str, int]:
        """How many sessions failed with each error, the most frequent first."""
        return table.errors(self.summaries)

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many sessions have each status, in the order of the table."""
        return table.counts(self.summaries)

    def run(self, indices: Iterable[int] | None = None) -> SessionMap:
        """Continue all sessions that have not finished, or those with these numbers.

        Sessions that wait for a person are left as they are. An interrupt stops, and what is done
        is kept: `note` says so.
        """
        chosen = range(len(self)) if indices is None else indices
        over = ("finished", "waiting")
        due = [self.prompts[i] for i in chosen if self.summaries[i].status not in over]
        self.note = ""
        with progress_bar(len(due), "sessions", "session", leave=False) as progress:

            def report(prompt: MappedPrompt, row: SessionSummary) -> None:
                self.report(prompt.index, row)
                progress.update()

            try:
                self.note = self._run(due, report)
            except KeyboardInterrupt:
                self.note = STOPPED
        return self

    def _run(
        self, due: Sequence[MappedPrompt], report: Callable[[MappedPrompt, SessionSummary], None]
    ) -> str:
        setup = self.setup
        if due and self.executor is not None:
            for prompt in due:
                self._release(prompt)
            window = window_of(self.executor, self.jobs)
            try:
                return continue_on_workers(self.executor, window, setup, due, report)
            except NoWorkers as none:
                setup = replace(setup, options=self._options_with_executor(none))
        together = SessionsTogether[MappedPrompt](
            lambda prompt: self.opened(prompt.index, setup),
            lambda prompt, session, error: report(prompt, summary_at_end(session, error)),
            self.jobs or JOBS,
        )
        together.run(due)
        return ""

    def _options_with_executor(self, none: NoWorkers) -> Mapping[str, object]:
        """Return the options of sessions in the kernel, whose marked tools run on the executor."""
        marked = any(tool.executor is True for tool in self.setup.tools)
        if not marked and not none.args[0]:
            raise UsageError(
                "executor: its workers do not share this user's data directory, so the sessions "
                "run in the kernel, and no tool is marked to run on a worker: write "
                "@tool(executor=True)"
            )
        return {**self.setup.options, **({"executor": self.executor} if marked else {})}

    @contextmanager
    def opened(self, index: int, setup: SessionSetup | None = None) -> Iterator[Session]:
        """Open a session that this kernel writes, for as long as the context lasts.

        One that a panel of this map has open is that one; a panel of another map closes.
        """
        prompt = self.prompts[index]
        held = _HELD.get(prompt.path(self.setup.folder))
        if held is not None and held.sessions is self:
            yield held.current()
            return
        self._release(prompt)
        with written_session(setup or self.setup, prompt) as session:
            begin(session)
            yield session

    @contextmanager
    def held(
        self, index: int, current: Callable[[], Session], release: Callable[[], object]
    ) -> Iterator[None]:
        """Use an open session, which `current` returns, wherever this map needs it.

        `release` closes it, since somebody else in this kernel opens the same journal.
        """
        path = self.prompts[index].path(self.setup.folder)
        _HELD[path] = HeldSession(self, current, release)
        try:
            yield
        finally:
            del _HELD[path]

    def _release(self, prompt: MappedPrompt) -> None:
        if (held := _HELD.get(prompt.path(self.setup.folder))) is not None:
            held.release()

    def report(self, index: int, row: SessionSummary) -> None:
        """Keep a session's new summary."""
        self.summaries[index] = row
        for changed in self.on_change:
            changed(index)

    def __repr__(self) -> str:
        return table.map_text(self.summaries, self.prompts, self.note)

    def _repr_html_(self) -> str:
        return table.map_html(self.summaries, self.prompts, self.note)


def session_map(
    prompts: Iterable[str],
    toolbox: Any,
    model: Any,
    options: Mapping[str, Any],
    *,
    name: str = "",
    folder: str | os.PathLike[str] | None = None,
    executor: Executor | str | None = None,
    jobs: int | None = None,
) -> SessionMap:
    """Return the map of `Session.map`, whose sessions have not run yet. Raises UsageError."""
    texts, name = _prompts(prompts), checked_text(name, "name")
    checked_count(1 if jobs is None else jobs)
    options = _options(options)
    setup = SessionSetup(toolbox, model, options)
    # Whatever is wrong with the arguments is raised here, once.
    _, opened = setup.open(Journal())
    if folder is not None:
        # A folder may hold several maps, each in a folder of its name.
        path = checked_path(folder) / (file_stem(name) if name else "")
        where = JournalFolder(absolute=os.path.abspath(path))
    elif name:
        where = JournalFolder(file_stem(name))
    else:
        replies = setup.replies
        named = model_named(replies)
        identity = getattr(named, "identity", None) or getattr(named, "name", "")
        tools = [tool.definition() for tool in setup.tools]
        where = JournalFolder(digest("map", repr(opened), str(identity), tools, texts)[:20])
    chosen = None if executor is None else executor_named(executor, "executor")
    return SessionMap(SessionSetup(toolbox, model, options, where), texts, chosen, jobs)


def _prompts(prompts: object) -> list[str]:
    if isinstance(prompts, str) or not isinstance(prompts, Iterable):
        raise UsageError(f"prompts is {prompts!r:.60}; give a list of prompts")
    texts: list[Any] = list(prompts)
    for number, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"prompt {number} is {text!r:.60}; a prompt is a text")
    return texts


def _options(options: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments of `Session` with their defaults. Raises UsageError for another one."""
    parameters = inspect.signature(Session.__init__).parameters.values()
    shared = (p for p in parameters if p.name not in ("name", "journal", "executor"))
    defaults = {p.name: p.default for p in shared if p.kind is p.KEYWORD_ONLY}
    if unknown := [option for option in options if option not in defaults]:
        hint = nearest(unknown[0], defaults)
        raise UsageError(f"Session.map has no option {unknown[0]!r:.60}.{hint}")
    merged = {**defaults, **options}
    # None stands for no inputs and no outputs.
    return {**merged, "inputs": merged["inputs"] or {}, "outputs": merged["outputs"] or {}}
