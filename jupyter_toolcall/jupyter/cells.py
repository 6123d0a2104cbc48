"""The sessions of a kernel, and how a cell opens one or goes on with one.

A name belongs to one notebook. A new kernel starts it at its root.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from ..core.errors import ToolcallError, UsageError
from ..core.events import Made, Opened, Producer
from ..core.journal import Journal
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.context import SessionContext
from ..engine.cursor import Cursor
from ..engine.outdated import changed_tools
from ..engine.session_values import SessionValues
from ..schemes.messages import Model
from ..session.session import Session
from ..storage.file_system import DISK, Files
from ..storage.journal_file import (
    JournalHandle,
    journal_file,
    journal_names,
    journals_folder,
    key_problem,
    open_journal,
    read_journal,
)
from ..storage.signatures import signer
from ..storage.value_store import value_store
from ..tools.value_digests import content_digest
from .cell_setup import Variables, context_for_cell
from .copied_notebooks import copied_session, mark_runs_elsewhere
from .extensions import NotebookExtension, registrations
from .options import SET_UP, Options, merged_options

UNKEPT = (
    "No front end tells this kernel its notebook, so session {!r} ends with the kernel; "
    "_.save('{}.jsonl') after its cell keeps it."
)


@dataclass
class Cells:
    """What a kernel knows of its notebook's sessions."""

    notebook: str = ""
    """The path of the notebook, "" where it is not known: then nothing goes to disk."""
    kept: dict[str, JournalHandle] = field(default_factory=dict)
    memories: dict[str, SessionValues] = field(default_factory=dict)
    tools: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the variables held that each session has its tools from."""
    told: Mapping[str, str] = field(default_factory=dict)
    """What was said last of tools that were changed."""
    sessions: dict[str, Session] = field(default_factory=dict)
    options: dict[str, Options] = field(default_factory=dict)
    """What each session was set up with."""
    last: str | None = None
    said: list[str] = field(default_factory=list)
    """What is to be said of recordings, of inputs and of tools."""
    files: Files = DISK
    extensions: dict[str, NotebookExtension] = field(init=False)
    """What other packages add to the sessions of this kernel, by their names."""

    def __post_init__(self) -> None:
        self.extensions = {each.name: each.create(self) for each in registrations()}

    def extension_of(self, command: str) -> NotebookExtension | None:
        """Return the extension that has a subcommand; None where none has."""
        for each in registrations():
            if command in each.subcommands:
                return self.extensions.get(each.name)
        return None

    @property
    def folder(self) -> Path:
        """The notebook's folder: a recording's path begins there."""
        return Path(self.notebook).parent if self.notebook else Path.cwd()

    def journal(self, name: str, fresh: bool = False) -> Journal:
        """Return the journal of a name, from disk where it was there before.

        Raises UnreadableJournal where it is there and cannot be read, but not with `fresh`.
        """
        if name not in self.kept:
            self.kept[name] = self._opened(name, fresh)
        return self.kept[name].journal

    def _opened(self, name: str, fresh: bool) -> JournalHandle:
        if not self.notebook:
            return JournalHandle(Journal())
        self.said += filter(None, [copied_session(self.notebook, name)])
        path = journal_file(self.notebook, name)
        kept = open_journal(path, signer(journals_folder()), self.files, fresh=fresh)
        mark_runs_elsewhere(path, kept.journal)
        return kept

    def say_unkept(self, name: str) -> None:
        """Say once of a session with a name that it is not on disk, where no notebook is known."""
        if name and not self.notebook and name not in self.kept:
            self.said.append(UNKEPT.format(name, name))

    def regain(self) -> None:
        """Try again to write the journals that this kernel could not write so far.

        What has run in a copy of this notebook since is not run here by a policy.
        """
        for name, kept in self.kept.items():
            if kept.again is not None:
                self.kept[name] = kept.again()
                if name in self.sessions:
                    self.sessions[name].cursor.context.unreliable_reason = self._doubt(name)
            if self.notebook:
                mark_runs_elsewhere(journal_file(self.notebook, name), kept.journal)

    def _doubt(self, name: str) -> str:
        """Return why the recorded calls of a session cannot be relied on, "" where they can.

        Without the key no stored value can be verified, so a call whose value is not in this
        kernel is not run again by a policy.
        """
        return self.kept[name].doubt or (key_problem() if self.notebook else "")

    def late(self, name: str) -> str:
        """Return one line for as long as something of a session is not on disk."""
        return self.kept[name].late() if name in self.kept else ""

    def stored(self, name: str = "") -> str:
        """Say how a session stands that is on disk, and not in this kernel; else return "".

        Without a name, and without any session in this kernel, all of them, a line each.
        """
        here = name in self.sessions if name else self.last is not None
        if here or not self.notebook:
            return ""
        found = [name] if name else journal_names(self.notebook)
        return "\n".join(filter(None, [_stored(self.notebook, n, self.files) for n in found]))

    def close(self) -> None:
        """Let go of all journals."""
        for kept in self.kept.values():
            kept.close()

    def notes(self) -> list[str]:
        """Return what is to be said about journals and recordings, each once.

        What is not on disk is said for as long as that is so.
        """
        fresh = [kept.note for kept in self.kept.values() if kept.note] + self.said
        fresh += filter(None, [kept.late() for kept in self.kept.values()])
        self.said = []
        self.kept = {name: replace(kept, note="") for name, kept in self.kept.items()}
        return fresh

    def current(self, name: str = "") -> Session:
        """Return a session of this kernel by name, or the last one. Raises UsageError."""
        wanted = name or self.last
        if wanted is None or wanted not in self.sessions:
            if stored := self.stored(name):
                raise UsageError(stored)
            known = ", ".join(filter(None, self.sessions)) or "none"
            which = f" {name!r}" if name else ""
            raise UsageError(
                f"no session{which} in this kernel; there are: {known}. %%toolchat opens one"
            )
        return self.sessions[wanted]

    def session(self, chosen: Options, variables: Variables) -> Session:
        """Return the session that a cell speaks to: opened, gone on with, or set up anew."""
        self.regain()
        name = chosen.session
        known = self.sessions.get(name or self.last or "")
        goes_on = known is not None and (bool(name) or not chosen.opens)
        if not goes_on and not chosen.opens:
            raise UsageError(
                "there is no session to go on with; open one, such as "
                "%%toolchat -m scripted:kitchen -t Potato -i potato"
            )
        if known is None or not goes_on:
            return self._open(chosen, variables)
        if chosen.said & SET_UP:
            known = self._set_up_anew(
                known, merged_options(self.options[known.name], chosen), variables
            )
        elif known.name in self.options and self._moved_on(known, variables):
            model = known.cursor.context.model
            known = self._set_up_anew(known, self.options[known.name], variables, model)
        self._tell_of_tools(known)
        return known

    def today(self, session: Session, variables: Variables) -> Session:
        """Return a session with its tools as the notebook has them now; nothing is recorded.

        Raises DefinitionError where one of them is no tool any more.
        """
        cursor, chosen = session.cursor, self.options.get(session.name)
        cursor.refresh()
        if chosen is None or not self._has_other_tools(session, variables):
            return session
        desk, _ = self._desk(session.name, chosen, variables, cursor.context.model)
        desk.breakpoints, desk.hooks = cursor.context.breakpoints, cursor.context.hooks
        here = Cursor(desk, cursor.head, cursor.replay_queue, cursor.fresh)
        return self.keep(Session.here(here, session.name))

    def _has_other_tools(self, session: Session, variables: Variables) -> bool:
        held, given = self.tools[session.name], session.cursor.context.current_inputs
        there = all(name in variables for name in (*held, *given))
        return there and any(variables[name] is not tool for name, tool in held.items())

    def _moved_on(self, known: Session, variables: Variables) -> bool:
        """Return whether the notebook has other tools, or other inputs, under the same names."""
        known.cursor.refresh()
        given = known.cursor.context.current_inputs.items()
        inputs = ((made.content, variables[name]) for name, made in given if name in variables)
        return self._has_other_tools(known, variables) or any(
            content_digest(value) != content for content, value in inputs
        )

    def _tell_of_tools(self, session: Session) -> None:
        """Say once which tools are others than those that ran."""
        changed = changed_tools(session.cursor.context, session.state)
        fresh = [said for tool, said in changed.items() if said != self.told.get(tool)]
        self.told = changed
        if fresh:
            self.said.append(
                f"{'; '.join(fresh)}. %toolchat outdated lists what would come out otherwise, "
                "%toolchat replay runs it again"
            )

    def _open(self, chosen: Options, variables: Variables) -> Session:
        desk, opened = self._desk(chosen.session, chosen, variables)
        self.options[chosen.session] = chosen
        head = desk.journal.append(None, opened).id
        return self.keep(Session.here(Cursor(desk, head), chosen.session))

    def _set_up_anew(
        self, known: Session, chosen: Options, variables: Variables, model: Model | None = None
    ) -> Session:
        """Changed options are a new `Opened` at this kernel's place."""
        desk, opened = self._desk(known.name, chosen, variables, model)
        desk.breakpoints = known.cursor.context.breakpoints
        self.options[known.name] = chosen
        before, head = known.state.opened, known.head
        inputs = _all_inputs(opened, known.state.by_producer, dict(before.inputs))
        if replace(opened, inputs=inputs) != before:
            head = desk.journal.append(head, replace(opened, inputs=inputs)).id
        session = Session.here(Cursor(desk, head), known.name)
        self.said += _other_inputs(known.state, session.state)
        return self.keep(session)

    def _desk(
        self, name: str, chosen: Options, variables: Variables, model: Model | None = None
    ) -> tuple[SessionContext, Opened]:
        journal = self.journal(name, chosen.fresh)
        desk, opened = context_for_cell(chosen, variables, journal, self.folder, model)
        desk.unreliable_reason = self._doubt(name)
        self.tools[name] = {tool: variables[tool] for tool in chosen.tools}
        desk.values.share_with(self.memories.setdefault(name, desk.values))
        desk.values.value_store = value_store() if self.notebook else None
        self.said += filter(None, [getattr(desk.model, "note", "")])
        return desk, opened

    def keep(self, session: Session) -> Session:
        """Remember a session as the last one of its name."""
        self.sessions[session.name] = session
        self.last = session.name
        return session


def _stored(notebook: str, name: str, files: Files) -> str:
    """Return in a line how a session stands that is on disk; "" where there is none.

    Nothing is written, locked or allowed here: that takes its cell, which brings the tools.
    """
    journal = read_journal(journal_file(notebook, name), files)
    if not len(journal):
        return ""
    named = f"session {name!r}" if name else "the session"
    try:
        state = state_at(journal, journal.leaves()[-1])
    except ToolcallError as error:
        return f"{named} is on disk, and does not fit: {error}"
    return (
        f"{named} is on disk: {len(state.order)} calls, {len(state.names)} objects, "
        f"{_first_open(state)}. Its tools are not in this kernel: run its cell, and it goes on "
        "there"
    )


def _first_open(state: State) -> str:
    """Return which call is open; what its tool would do about it is not known without the tool."""
    if not state.open:
        return "no call open"
    call = state.calls[state.open[0]]
    arguments = ", ".join(f"{key}={value!r}" for key, value in call.asked.items())[:200]
    ends = {"unknown": "cut off while it ran", "approved": "approved and not run"}
    return f"{call.id} {call.tool}({arguments}) is {ends.get(call.status, 'not decided on')}"


def _all_inputs(
    opened: Opened, known: Container[Producer], before: Mapping[str, Made]
) -> tuple[tuple[str, Made], ...]:
    """Return what is at hand now: what was, and what is new.

    A variable that holds something else since is another value of it, with another name.
    """
    now = dict(before)
    for name, made in opened.inputs:
        old = before.get(name)
        if old is None or old.digest != made.digest:
            now[name] = replace(made, producer=_next_version(name, known))
    return tuple(now.items())


def _other_inputs(before: State, now: State) -> Iterator[str]:
    """Yield what is to be said of inputs that hold something else than they did."""
    old = dict(before.opened.inputs)
    for name, made in now.opened.inputs:
        if name in old and old[name].producer != made.producer:
            was, is_now = before.name_of(old[name]), now.name_of(made)
            yield f"{name} holds something else by now: that is {is_now}, and {was} stays as it was"


def _next_version(name: str, known: Container[Producer]) -> Producer:
    """Return the first value of an input that is not known yet."""
    values = (Producer(input=name, version=number) for number in count(1))
    return next(each for each in values if each not in known)
