"""The sessions of a kernel, and how a cell opens one or continues it.

A name belongs to one notebook. A new kernel starts it at its root. The sessions of a notebook that
was copied or renamed continue, each in a journal of its own.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import ToolcallError, UsageError
from ..core.events import Event, Made, Opened, Producer, Replied
from ..core.journal import Journal
from ..core.recorded_calls import CallIndex
from ..core.recorded_data import replace
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor, SessionContext
from ..engine.forks import leave_question
from ..engine.outdated import changed_tools
from ..engine.recorded_results import with_recorded_results
from ..engine.session_values import SessionValues
from ..rules.person_rules import PersonRules
from ..schemes.messages import Model
from ..session.recorded_decisions import notebook_results
from ..session.session import Session
from ..storage.file_system import DISK, Files, replace_file
from ..storage.journal_file import (
    ELSEWHERE,
    JournalHandle,
    archive_journal,
    journal_file,
    journal_names,
    journals_folder,
    key_problem,
    open_journal,
    read_journal,
)
from ..storage.notebook_files import entries_of, saved_sessions
from ..storage.signatures import signer
from ..storage.value_store import value_store
from ..tools.value_digests import content_digest
from .extensions import NotebookExtension, registrations
from .options import SET_UP, Options, Variables, context_for_cell, merged_options

NOT_ON_DISK = (
    "No front end tells this kernel its notebook, so session {0!r} ends with the kernel; "
    "_.save('{0}.jsonl') after its cell keeps it."
)
COPIED = (
    "This notebook was copied or renamed: session{} continues with a copy of "
    "its journal; --fresh starts over."
)


LINKS = ".copies"
"""The ending of the file that names the copies of a journal."""


@dataclass
class Cells:
    """The sessions of a kernel's notebook."""

    notebook: str = ""
    """The path of the notebook, "" where it is not known: then nothing goes to disk."""
    kept: dict[str, JournalHandle] = field(default_factory=dict)
    """The journals, by the names of their sessions."""
    sessions: dict[str, Session] = field(default_factory=dict)
    last: str | None = None
    """The name of the session that ran last."""
    files: Files = DISK
    has_started_over: bool = False
    """Whether the sessions started over here: then none is copied from another notebook."""
    extensions: dict[str, NotebookExtension] = field(init=False)
    """What other packages add to the sessions of this kernel, by their names."""
    _options: dict[str, Options] = field(default_factory=dict)
    """What each session was set up with."""
    _tools: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the variables held that each session has its tools from."""
    _values: dict[str, SessionValues] = field(default_factory=dict)
    _changed_tools: Mapping[str, str] = field(default_factory=dict)
    """The tools that were changed, as last reported."""
    _notes: list[str] = field(default_factory=list)
    """What is to be printed about recordings, inputs and tools."""

    def __post_init__(self) -> None:
        self.extensions = {extension.name: extension.create(self) for extension in registrations()}

    def extension_of(self, command: str) -> NotebookExtension | None:
        """Return the extension that has a subcommand; None where none has."""
        names = (r.name for r in registrations() if command in r.subcommands)
        return self.extensions.get(next(names, ""))

    @property
    def folder(self) -> Path:
        """The notebook's folder: a recording's path begins there."""
        return Path(self.notebook).parent if self.notebook else Path.cwd()

    # -- journals ---------------------------------------------------------------------------

    def journal(self, name: str, fresh: bool = False) -> Journal:
        """Return the journal of a name, from disk where it was there before.

        Raises UnreadableJournal where it is there and cannot be read, but not with `fresh`.
        """
        if name not in self.kept:
            if not self.notebook:
                self.kept[name] = JournalHandle(Journal())
            else:
                if not self.has_started_over:
                    self._notes += filter(None, [_copied_session(self.notebook, name)])
                path, seal = journal_file(self.notebook, name), signer(journals_folder())
                self.kept[name] = open_journal(path, seal, self.files, fresh=fresh)
                _mark_runs_elsewhere(path, self.kept[name].journal)
        return self.kept[name].journal

    def warn_not_on_disk(self, name: str) -> None:
        """Note once that a session with a name is not on disk, where no notebook is known."""
        if name and not self.notebook and name not in self.kept:
            self._notes.append(NOT_ON_DISK.format(name))

    def reopen_journals(self) -> None:
        """Try again to write the journals that this kernel could not write so far.

        What has run in a copy of this notebook since is not run by a policy.
        """
        for name, kept in self.kept.items():
            if kept.retry is not None:
                self.kept[name] = kept.retry()
                if name in self.sessions:
                    self.sessions[name].cursor.context.unreliable_reason = self._doubt(name)
            if self.notebook:
                _mark_runs_elsewhere(journal_file(self.notebook, name), kept.journal)

    def _doubt(self, name: str) -> str:
        """Return why the recorded calls of a session cannot be relied on, "" where they can.

        Without the key no stored value can be verified, so a call whose value is not in this
        kernel is not run again by a policy.
        """
        return self.kept[name].doubt or (key_problem() if self.notebook else "")

    def write_waiting(self, name: str, at_rest: bool) -> str:
        """Return one line for as long as something of a session is not on disk."""
        return self.kept[name].write_waiting(at_rest) if name in self.kept else ""

    def stored(self, name: str = "") -> str:
        """Return how a session stands that is on disk, and not in this kernel; else "".

        Without a name, and without any session in this kernel, all of them, a line each.
        """
        in_kernel = name in self.sessions if name else self.last is not None
        if in_kernel or not self.notebook:
            return ""
        names = [name] if name else journal_names(self.notebook)
        return "\n".join(filter(None, [_stored(self.notebook, n, self.files) for n in names]))

    def close(self) -> None:
        """Close all journals."""
        for kept in self.kept.values():
            kept.close()

    def start_over(self) -> Path | None:
        """Let all sessions of this notebook start over; return the folder of their old journals.

        None where there were none. A session that another kernel writes starts over in memory
        alone. Raises OSError where a journal cannot be renamed.
        """
        names = journal_names(self.notebook) if self.notebook else ()
        self.close()
        for kept in self.kept.values():
            # A panel of before continues in memory alone.
            kept.journal.write_to(lambda line, when: None)
        self.kept, self.sessions, self.last, self.has_started_over = {}, {}, None, True
        self._options, self._tools, self._values = {}, {}, {}
        for name in names:
            path = journal_file(self.notebook, name)
            copies = _linked(path)
            archived = archive_journal(path, self.files)
            if archived is None:
                self.kept[name] = JournalHandle(Journal(), ELSEWHERE)
                continue
            for copy in copies:
                # What ran here is still known where it was copied from, or to.
                _link(copy, archived)
        return journal_file(self.notebook, "").parent if names else None

    def notes(self) -> list[str]:
        """Return what is to be printed about journals and recordings, each once.

        What is not on disk is reported for as long as that is so.
        """
        notes = [kept.note for kept in self.kept.values() if kept.note] + self._notes
        notes += filter(None, [kept.write_waiting(True) for kept in self.kept.values()])
        self._notes = []
        self.kept = {name: replace(kept, note="") for name, kept in self.kept.items()}
        return notes

    # -- sessions ---------------------------------------------------------------------------

    def current(self, name: str = "") -> Session:
        """Return a session of this kernel by name, or the last one. Raises UsageError."""
        wanted = name or self.last
        if wanted is None or wanted not in self.sessions:
            if stored := self.stored(name):
                raise UsageError(stored)
            names = ", ".join(filter(None, self.sessions))
            existing = f"there are: {names}. " if names else ""
            which = f" {name!r}" if name else ""
            raise UsageError(f"no session{which} in this kernel; {existing}%%toolchat opens one")
        return self.sessions[wanted]

    def session(self, options: Options, variables: Variables) -> Session:
        """Return the session of a cell: opened, continued, or set up again."""
        self.reopen_journals()
        name = options.session
        existing = self.sessions.get(name or self.last or "")
        if existing is None or (options.opens and not name):
            if not options.opens:
                raise UsageError(
                    "there is no session to go on with; open one, such as "
                    "%%toolchat -m scripted:kitchen -t Potato -i potato"
                )
            context, opened = self._context(name, options, variables)
            self._options[name] = options
            head = _opening_entry(context.journal, None, opened)
            return self.keep(Session.here(Cursor(context, head), name))
        leave_question(existing.cursor)
        if options.written & SET_UP:
            merged = merged_options(self._options[existing.name], options)
            existing = self._set_up_again(existing, merged, variables)
        elif existing.name in self._options and self._has_moved_on(existing, variables):
            model = existing.cursor.context.model
            existing = self._set_up_again(existing, self._options[existing.name], variables, model)
        self._note_changed_tools(existing)
        return existing

    def with_current_tools(self, session: Session, variables: Variables) -> Session:
        """Return a session with its tools as the notebook has them now; nothing is recorded.

        Raises DefinitionError where one of them is no tool any more.
        """
        cursor, options = session.cursor, self._options.get(session.name)
        cursor.refresh()
        if options is None or not self._has_other_tools(session, variables):
            return session
        model = cursor.context.model
        context, _ = self._context(session.name, options, variables, model, cursor.context)
        context.hooks = cursor.context.hooks
        now = Cursor(context, cursor.head, cursor.replay_queue)
        return self.keep(Session.here(now, session.name))

    def options_of(self, name: str) -> Options:
        """Return what a session of this kernel was set up with."""
        return self._options[name]

    def keep(self, session: Session) -> Session:
        """Remember a session as the last one of its name."""
        handle = self.kept.get(session.name)
        if self.has_started_over and (handle is None or handle.journal is not session.journal):
            # A panel of before: its session goes on by itself.
            return session
        self.sessions[session.name] = session
        self.last = session.name
        return session

    def _has_other_tools(self, session: Session, variables: Variables) -> bool:
        held, inputs = self._tools[session.name], session.cursor.context.current_inputs
        there = all(name in variables for name in (*held, *inputs))
        return there and any(variables[name] is not tool for name, tool in held.items())

    def _has_moved_on(self, existing: Session, variables: Variables) -> bool:
        """Return whether the notebook has other tools, or other inputs, under the same names."""
        existing.cursor.refresh()
        inputs = existing.cursor.context.current_inputs.items()
        held = ((ref.content, variables[name]) for name, ref in inputs if name in variables)
        return self._has_other_tools(existing, variables) or any(
            content_digest(value) != content for content, value in held
        )

    def _note_changed_tools(self, session: Session) -> None:
        """Note once which tools are others than those that ran."""
        changed = changed_tools(session.cursor.context, session.state)
        new = [why for tool, why in changed.items() if why != self._changed_tools.get(tool)]
        self._changed_tools = changed
        if new:
            self._notes.append(
                f"{'; '.join(new)}. %toolchat outdated lists what would come out otherwise, "
                "%toolchat replay runs it again"
            )

    def _set_up_again(
        self, existing: Session, options: Options, variables: Variables, model: Model | None = None
    ) -> Session:
        """Return a session with changed options: a new `Opened` at its head."""
        before = existing.cursor.context
        context, opened = self._context(existing.name, options, variables, model, before)
        self._options[existing.name] = options
        recorded, head = existing.state.opened, existing.head
        inputs = _all_inputs(opened, existing.state.by_producer, dict(recorded.inputs))
        opened = replace(opened, inputs=inputs)
        if not _is_same_opening(opened, recorded):
            head = _opening_entry(context.journal, head, opened)
        session = Session.here(Cursor(context, head), existing.name)
        self._notes += _changed_inputs(existing.state, session.state)
        return self.keep(session)

    def _context(
        self,
        name: str,
        options: Options,
        variables: Variables,
        model: Model | None = None,
        before: SessionContext | None = None,
    ) -> tuple[SessionContext, Opened]:
        """Return what options set up; what the person set in a session of `before` stays."""
        journal = self.journal(name, options.fresh)
        if model is None and options.replay:
            added = (e.replayed_model(options.replay) for e in self.extensions.values())
            model = next(filter(None, added), None)
        # A budget that is named again would begin with nothing used.
        is_same = before is not None and self._options[name].budget == options.budget
        budget = before.budget if before is not None and is_same else None
        context, opened = context_for_cell(options, variables, journal, self.folder, model, budget)
        if (results := notebook_results()) is not None:
            context = replace(context, toolbox=with_recorded_results(context.toolbox, results))
        context.unreliable_reason = self._doubt(name)
        if before is None:
            context.person_rules = PersonRules.of(self.notebook)
        else:
            context.person_rules, context.breakpoints = before.person_rules, before.breakpoints
        held = (tool.partition(".")[0] for tool in options.tools)
        self._tools[name] = {tool: variables.get(tool) for tool in held}
        context.values.share_with(self._values.setdefault(name, context.values))
        context.values.value_store = value_store() if self.notebook else None
        self._notes += filter(None, [getattr(context.model, "note", "")])
        return context, opened


def _opening_entry(journal: Journal, parent: str | None, opened: Opened) -> str:
    """Return the entry of an opening: the recorded one, or a new one."""
    for child in journal.children(parent):
        if _is_same_opening(opened, journal[child].event):
            return child
    return journal.append(parent, opened).id


def _is_same_opening(opened: Opened, recorded: Event) -> bool:
    """Return whether a session is opened as it was recorded.

    Older records have no server, and what stands in for a model asks none: there all else decides.
    """
    if isinstance(recorded, Opened) and not (opened.server and recorded.server):
        recorded = replace(recorded, server=opened.server)
    return opened == recorded


def _stored(notebook: str, name: str, files: Files) -> str:
    """Return in a line how a session stands that is on disk; "" where there is none.

    Nothing is written, locked or allowed: that takes its cell, which brings the tools.
    """
    journal = read_journal(journal_file(notebook, name), files)
    if not len(journal):
        return ""
    named = f"session {name!r}" if name else "the session"
    try:
        state = state_at(journal, journal.leaves()[-1])
    except ToolcallError as error:
        return f"{named} is on disk, and does not fit: {error}"
    waiting = "no call open"
    if state.open:
        call = state.calls[state.open[0]]
        arguments = ", ".join(f"{key}={value!r}" for key, value in call.asked.items())[:200]
        # What its tool would do about it is not known without the tool.
        ends = {
            "unknown": "cut off while it ran",
            "approved": "approved and not run",
            "input required": "asking for input",
        }
        end = ends.get(call.status, "not decided on")
        waiting = f"{call.id} {call.tool}({arguments}) is {end}"
    return (
        f"{named} is on disk: {len(state.order)} calls, {len(state.names)} objects, {waiting}. "
        "Its tools are not in this kernel: run its cell, and it goes on there"
    )


def _all_inputs(
    opened: Opened, existing: Container[Producer], before: Mapping[str, Made]
) -> tuple[tuple[str, Made], ...]:
    """Return the inputs: those that were, and those that are new.

    A variable that holds something else since is another value of it, with another name.
    """
    now = dict(before)
    for name, ref in opened.inputs:
        old = before.get(name)
        if old is None or old.digest != ref.digest:
            versions = (Producer(input=name, version=number) for number in itertools.count(1))
            now[name] = replace(ref, producer=next(p for p in versions if p not in existing))
    return tuple(now.items())


def _changed_inputs(before: State, now: State) -> Iterator[str]:
    """Yield a line for each input that holds something else than it did."""
    old = dict(before.opened.inputs)
    for name, ref in now.opened.inputs:
        if name in old and old[name].producer != ref.producer:
            was, is_now = before.name_of(old[name]), now.name_of(ref)
            yield f"{name} holds something else by now: that is {is_now}, and {was} stays as it was"


# -- a notebook that was copied or renamed -----------------------------------------------------
#
# What the notebook says only tells which journal of this user's machine is meant; what is
# believed is that journal. Beside each of the two journals a file names the other one: a call
# that has run in one of them is not run by a policy in the other.


def _copied_session(notebook: str, name: str) -> str:
    """Copy the journal of a session to a notebook that shows the session and has no journal of it.

    Returns what is to be printed about it, "" where there is none. Raises nothing: where it can't
    be read or written the session starts over.
    """
    path, seal = journal_file(notebook, name), signer(journals_folder())
    others = (
        () if path.exists() else sorted((journals_folder() / "sessions").glob(f"*/{path.name}"))
    )
    with contextlib.suppress(OSError, ToolcallError):
        # Where no other notebook has such a session, this one need not be read.
        shown = [*_shown_entries(Path(notebook), name)] if others else []
        for other in others if shown else ():
            recorded = read_journal(other, seal=seal)
            if wanted := {entry for head, of in shown if head in recorded for entry in (head, *of)}:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _link(other, path)
                _link(path, other)
                replace_file(path, _part_of(recorded, wanted).dumps(seal))
                return COPIED.format(f" {name!r}" if name else "")
    return ""


def _link(path: Path, other: Path) -> None:
    """Name a journal beside another one that has the same calls."""
    named = f"{other.parent.name}/{other.name}\n"
    links = path.with_suffix(LINKS)
    existing = links.read_text(encoding="utf-8") if links.exists() else ""
    if named not in existing:
        replace_file(links, existing + named)


def _mark_runs_elsewhere(path: Path, journal: Journal) -> None:
    """Mark the replies of a journal whose calls have run in a copy of it, and not in it."""
    copies = _linked(path)
    if not copies:
        return
    started = CallIndex.of(journal).starts.keys()
    for copy in copies:
        in_copy = CallIndex.of(read_journal(copy)).starts.keys()
        elsewhere = {reply for reply, *_ in in_copy - started}
        replies = (entry for entry in journal if isinstance(entry.event, Replied))
        same = [entry.id for entry in replies if entry.meta.get("of", entry.id) in elsewhere]
        journal.mark(same, "copied")


def _linked(path: Path) -> set[Path]:
    """Return the journals that were copied from one, or that it was copied from."""
    linked, unread = {path}, [path]
    for journal_path in unread:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            names = journal_path.with_suffix(LINKS).read_text(encoding="utf-8").splitlines()
            new = {path.parents[1] / name for name in names} - linked
            linked |= new
            unread += new
    return linked - {path}


def _shown_entries(notebook: Path, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the head of a session that each output shows, with the entries of all its branches."""
    for saved in saved_sessions(notebook):
        rows = saved.data.get("rows", {}).get("session", ())
        if name in [str(row.get("name", "")) for row in rows]:
            part = saved.data["journal"]
            yield str(part["head"]), [entry for entry, *_ in entries_of(part)]


def _part_of(recorded: Journal, wanted: set[str]) -> Journal:
    """Return a journal of some entries of another one, and of what led to them."""
    part = Journal()
    for entry in reversed([*recorded]):
        if entry.id in wanted and entry.parent:
            wanted.add(entry.parent)
    for text in recorded.texts.values():
        part.remember(text)
    for entry in recorded:
        if entry.id in wanted:
            part.append(entry.parent, entry.event, entry.meta, entry.verified)
    for begins, label in recorded.labels.items():
        if begins in part:
            part.label(begins, label)
    # The other notebook may act on its approvals, or have done so since.
    part.mark_open_calls("copied")
    part.mark(CallIndex.of(part).unused_decisions(), "copied")
    return part
