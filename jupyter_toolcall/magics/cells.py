"""The sessions of a kernel, and how a cell opens one or goes on with one.

A name belongs to one notebook. A new kernel starts it at its root; where the journal has
what a cell asks already, the recorded branch is walked and nobody is asked twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from rpds import HashTrieMap

from ..acts.opening import opening
from ..acts.outdated import changed_tools
from ..content.value import content_digest, well_formed
from ..errors import UsageError
from ..events import Asked, Made, Opened
from ..journal.disk import DISK, Files, Kept, home, journal_file, open_journal
from ..journal.seal import sealing
from ..journal.tree import Entry, Journal
from ..loop import Cursor, Desk
from ..models.named import default, is_name, model_named
from ..models.person import Person
from ..models.recorded import Recorded, Recording, StandIn, file
from ..options.line import SET_UP, Options, merged
from ..panel.predicting import Predicting
from ..request import Model
from ..runner.store import shelf
from ..schemes import SCHEMES, Scheme, is_scheme, scheme_named
from ..schemes.outputs import SCALARS
from ..secrets import is_named_secret, secret_values
from ..session import Session
from ..state.memory import Memory
from ..state.script import Script
from ..state.shape import State
from ..teaching import lessons, planting
from ..teaching.lessons import Lessons
from ..tools import Tool, Toolbox, nearest
from .resting import names, resting

Variables = Mapping[str, Any]
RECORDED = "recorded:"
EXERCISE = ".md"
_NAMED = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass
class Cells:
    """What a kernel knows of its notebook's sessions."""

    notebook: str = ""
    """The path of the notebook, "" where it is not known: then nothing goes to disk."""
    kept: dict[str, Kept] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
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
    guesses: dict[str, Predicting] = field(default_factory=dict)
    """What was guessed in the last cell of each session, where it was guessed."""
    lessons: Lessons = field(default_factory=Lessons)
    files: Files = DISK

    @property
    def folder(self) -> Path:
        """The notebook's folder: a recording's path begins there."""
        return Path(self.notebook).parent if self.notebook else Path.cwd()

    def journal(self, name: str) -> Journal:
        """Return the journal of a name, from disk where it was there before."""
        if name not in self.kept:
            self.kept[name] = self._opened(name)
        return self.kept[name].journal

    def _opened(self, name: str) -> Kept:
        if not self.notebook:
            return Kept(Journal())
        return open_journal(journal_file(self.notebook, name), sealing(home()), self.files)

    def regain(self) -> None:
        """Try again to write the journals that this kernel could not write so far."""
        for name, kept in self.kept.items():
            if kept.again is not None:
                self.kept[name] = kept.again()

    def late(self, name: str) -> str:
        """Return one line for as long as something of a session is not on disk."""
        return self.kept[name].late() if name in self.kept else ""

    def resting(self, name: str = "") -> str:
        """Say how a session stands that is on disk, and not in this kernel; else return "".

        Without a name, and without any session in this kernel, all of them, a line each.
        """
        if name in self.sessions or (not name and self.last is not None):
            return ""
        found = [name] if name else names(self.notebook)
        return "\n".join(filter(None, [resting(self.notebook, n, self.files) for n in found]))

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
            if rests := self.resting(name):
                raise UsageError(rests)
            known = ", ".join(filter(None, self.sessions)) or "none"
            raise UsageError(
                f"no session {name!r} in this kernel; there are: {known}. %%toolchat opens one"
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
            known = self._set_up_anew(known, merged(self.options[known.name], chosen), variables)
        elif known.name in self.options and self._moved_on(known, variables):
            model = known.cursor.desk.model
            known = self._set_up_anew(known, self.options[known.name], variables, model)
        self._tell_of_tools(known)
        return known

    def today(self, session: Session, variables: Variables) -> Session:
        """Return a session with its tools as the notebook has them now; nothing is recorded.

        Raises DefinitionError where one of them is no tool any more.
        """
        cursor, chosen = session.cursor, self.options.get(session.name)
        cursor.look_again()
        if chosen is None or not self._has_other_tools(session, variables):
            return session
        desk, _ = self._desk(session.name, chosen, variables, cursor.desk.model)
        desk.stops, desk.holds = cursor.desk.stops, cursor.desk.holds
        here = Cursor(desk, cursor.head, cursor.script, cursor.fresh)
        return self.keep(Session.here(here, session.name))

    def _has_other_tools(self, session: Session, variables: Variables) -> bool:
        held, given = self.tools[session.name], session.cursor.desk.given
        there = all(name in variables for name in (*held, *given))
        return there and any(variables[name] is not tool for name, tool in held.items())

    def _moved_on(self, known: Session, variables: Variables) -> bool:
        """Return whether the notebook has other tools, or other inputs, under the same names."""
        known.cursor.look_again()
        given = known.cursor.desk.given.items()
        inputs = ((made.content, variables[name]) for name, made in given if name in variables)
        return self._has_other_tools(known, variables) or any(
            content_digest(value) != content for content, value in inputs
        )

    def _tell_of_tools(self, session: Session) -> None:
        """Say once which tools are others than those that ran."""
        changed = changed_tools(session.cursor.desk, session.state)
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
        desk.stops = known.cursor.desk.stops
        self.options[known.name] = chosen
        before, head = known.state.opened, known.head
        inputs = _all_inputs(opened, known.state.by_maker, dict(before.inputs))
        if replace(opened, inputs=inputs) != before:
            head = desk.journal.append(head, replace(opened, inputs=inputs)).id
        session = Session.here(Cursor(desk, head), known.name)
        self.said += _other_inputs(known.state, session.state)
        return self.keep(session)

    def _desk(
        self, name: str, chosen: Options, variables: Variables, model: Model | None = None
    ) -> tuple[Desk, Opened]:
        desk, opened = desk_for(chosen, variables, self.journal(name), self.folder, model)
        self.tools[name] = {tool: variables[tool] for tool in chosen.tools}
        desk.memory.share(self.memories.setdefault(name, desk.memory))
        desk.memory.shelf = shelf() if self.notebook else None
        self.said += filter(None, [getattr(desk.model, "note", "")])
        return desk, opened

    def keep(self, session: Session) -> Session:
        """Remember a session as the last one of its name."""
        self.sessions[session.name] = session
        self.last = session.name
        return session


def _all_inputs(
    opened: Opened, makers: HashTrieMap[str, str], before: Mapping[str, Made]
) -> tuple[tuple[str, Made], ...]:
    """Return what is at hand now: what was, and what is new.

    A variable that holds something else since has another maker, and so another name.
    """
    now = dict(before)
    for name, made in opened.inputs:
        old = before.get(name)
        if old is None or old.digest != made.digest:
            now[name] = replace(made, maker=_unused(made.maker, makers))
    return tuple(now.items())


def _other_inputs(before: State, now: State) -> Iterator[str]:
    """Yield what is to be said of inputs that hold something else than they did."""
    old = dict(before.opened.inputs)
    for name, made in now.opened.inputs:
        if name in old and old[name].maker != made.maker:
            was, is_now = before.by_maker[old[name].maker], now.by_maker[made.maker]
            yield f"{name} holds something else by now: that is {is_now}, and {was} stays as it was"


def _unused(maker: str, makers: HashTrieMap[str, str]) -> str:
    numbered = (f"{maker}~{number}" for number in range(2, len(makers) + 3))
    return maker if maker not in makers else next(n for n in numbered if n not in makers)


def say(session: Session, text: str, fresh: bool) -> Session:
    """Return the session in which a prompt was said.

    Where the journal has that very prompt at this place, what was recorded behind it is
    said again, up to the next prompt; with `fresh` it is said on a new branch.
    """
    if not text.strip():
        raise UsageError("the prompt is empty; write what is to be done below the first line")
    cursor, text = session.cursor, str(well_formed(text))
    known = {e: cursor.desk.journal[e].event for e in cursor.desk.journal.children(cursor.head)}
    said = next((e for e, event in known.items() if event == Asked(text)), None)
    if said is None or fresh:
        event = _unsaid(text, known.values()) if fresh else Asked(text)
        entry = cursor.desk.journal.append(cursor.head, event, {"at": cursor.desk.clock()})
        return session.at(Cursor(cursor.desk, entry.id))
    script = _recorded(cursor.desk.journal, said)
    return session.at(Cursor(cursor.desk, said, Script(script)))


def _unsaid(text: str, known: Any) -> Asked:
    """A prompt said anew is another entry: it differs in white space at its end alone."""
    event = Asked(text)
    while event in known:
        event = Asked(f"{event.text}\n")
    return event


def _recorded(journal: Journal, entry_id: str) -> tuple[Entry, ...]:
    """Return the newest entries behind one, up to the next prompt of a person."""
    found: list[Entry] = []
    ahead = journal.children(entry_id)
    while ahead:
        entry = journal[ahead[-1]]
        match entry.event:
            case Opened() | Asked(by="person"):
                break
        found.append(entry)
        ahead = journal.children(entry.id)
    return tuple(found)


# -- from variables ---------------------------------------------------------------------


def desk_for(
    chosen: Options,
    variables: Variables,
    journal: Journal,
    folder: Path,
    model: Model | None = None,
) -> tuple[Desk, Opened]:
    """Return what a cell's options set up, with the model that they name, or with this one.

    Raises UsageError and DefinitionError.
    """
    box = Toolbox(*(_source(variable(name, variables, "-t")) for name in chosen.tools))
    inputs = {name: (variable(name, variables, "-i"), said) for name, said in chosen.inputs}
    outputs = {
        name: (_type(name, kind, variables, box), said) for name, kind, said in chosen.outputs
    }
    desk, opened = opening(
        box,
        speaker(chosen, variables, folder) if model is None else model,
        scheme=_scheme(chosen.scheme, variables),
        native=chosen.native,
        inputs=inputs,
        outputs=outputs,
        system=_system(chosen.system, variables),
        approve=chosen.approve,
        journal=journal,
        breaks=chosen.breaks,
        max_turns=chosen.max_turns,
    )
    return desk, replace(opened, model=model_name(desk.model))


def _scheme(name: str, variables: Variables) -> str | Scheme:
    """Return a scheme of ours by its name, or else the one that a variable holds."""
    if name in SCHEMES:
        return name
    if name not in variables:
        held = [known for known, value in variables.items() if is_scheme(value)]
        raise UsageError(
            f"--scheme: there is no scheme {name!r}, and no variable of that name; there are "
            f"{', '.join((*SCHEMES, *held))}.{nearest(name, (*SCHEMES, *held))}"
        )
    return scheme_named(variables[name])


def _source(value: Any) -> Any:
    """Return what a toolbox takes: a definition that a variable holds as data is read."""
    if not isinstance(value, dict) or "tool" not in value:
        return value
    made: Tool = import_module("..sources.definitions", __package__).from_definition(value)
    return made


def variable(name: str, variables: Variables, option: str) -> Any:
    """Return a variable's value. Raises UsageError, which names the nearest."""
    if name not in variables:
        shown = [known for known in variables if not known.startswith("_")]
        raise UsageError(f"{option}: no variable {name} in this notebook.{nearest(name, shown)}")
    return variables[name]


def speaker(chosen: Options, variables: Variables, folder: Path) -> Model | None:
    """Return who answers in a cell: a model, what was recorded of one, or one on record.

    Files are named from `folder`. Raises UsageError.
    """
    if chosen.replay.endswith(EXERCISE):
        at, name = folder / chosen.replay, chosen.replay
        found: Model | None = planting.recording(lessons.read(at, name), at, name)
    elif chosen.replay:
        found = Recorded(folder / chosen.replay, name=chosen.replay)
    else:
        found = model(chosen.model or chosen.default_model, variables, folder)
    if not chosen.record or found is None or isinstance(found, StandIn):
        return found
    if isinstance(found, Person):
        raise UsageError(
            "--record keeps what a model replies by itself; what a person replies is kept in the "
            "notebook, and --replay NOTEBOOK says it again"
        )
    return Recording(found, file.place(folder, chosen.record), name=chosen.record)


def model(name: str, variables: Variables, folder: Path) -> Model | None:
    """Return the model of a cell: by name, or from a variable."""
    name = name or default(os.environ)
    if not name:
        raise UsageError(
            "no model: give one with -m, such as -m scripted:kitchen (offline), "
            "-m anthropic:MODEL, or -m NAME of a variable that holds a model"
        )
    if not is_name(name):
        held = variable(name, variables, "-m")
        if not callable(held):
            raise UsageError(f"-m {name}: that variable holds no model; Scripted([...]) makes one")
        return model_named(held)
    if name.startswith(RECORDED):
        return Recorded(folder / name[len(RECORDED) :], name=name[len(RECORDED) :])
    return model_named(name)


def model_name(model: Any) -> str:
    """Return how a model is called; a script changes its name with its words."""
    return str(
        getattr(model, "identity", None) or getattr(model, "name", None) or type(model).__name__
    )


def _type(name: str, kind: str, variables: Variables, box: Toolbox) -> Any:
    held = variables.get(kind, box.type_named(kind))
    if isinstance(held, type):
        return held
    if kind in SCALARS:
        return kind
    known = [
        each for each, value in variables.items() if isinstance(value, type) and each[:1] != "_"
    ]
    known = [*dict.fromkeys([*box.kinds.values(), *known, *SCALARS])]
    raise UsageError(f"-o {name}: no type {kind} in this notebook.{nearest(kind, known)}")


def _system(text: str, variables: Variables) -> str:
    held = variables.get(text) if text.isidentifier() else None
    return _open_text("--system", text, held) if isinstance(held, str) else text


def filled(text: str, session: Session, variables: Variables) -> str:
    """Return a prompt in which `{name}` is an object's name or a variable's text.

    What is no variable stays as it is. Raises UsageError for a secret.
    """
    state = session.state
    inputs = {name: state.by_maker.get(made.maker) for name, made in state.opened.inputs}

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if inputs.get(name):
            return str(inputs[name])
        if name not in variables:
            return found[0]
        return _open_text(f"{{{name}}}", name, variables[name])

    return _NAMED.sub(fill, text)


def _open_text(where: str, name: str, value: Any) -> str:
    """Return a value as text. Raises UsageError where that would tell a secret."""
    text = str(value)
    named = isinstance(value, str) and is_named_secret(name)
    held = any(secret in text for secret in secret_values(os.environ))
    if named or held or hasattr(value, "get_secret_value"):
        raise UsageError(f"{where} holds a secret; a prompt is sent and saved, so it stays out")
    return text
