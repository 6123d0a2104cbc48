"""The sessions of a kernel, and how a cell opens one or goes on with one.

A name belongs to one notebook. A new kernel starts it at its root; where the journal has
what a cell asks already, the recorded branch is walked and nobody is asked twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .disk import Kept, journal_file, open_journal
from .errors import UsageError
from .events import Asked, Opened
from .journal import Entry, Journal
from .loop import Cursor, Desk, Script
from .models.named import model_named
from .opening import opening
from .options import Options
from .request import Model
from .schemes.outputs import SCALARS
from .secrets import is_named_secret, secret_values
from .session import Session
from .tools import Toolbox, nearest

Variables = Mapping[str, Any]
_NAMED = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass
class Cells:
    """What a kernel knows of its notebook's sessions."""

    notebook: str = ""
    """The path of the notebook, "" where it is not known: then nothing goes to disk."""
    kept: dict[str, Kept] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    last: str | None = None

    def journal(self, name: str) -> Journal:
        """Return the journal of a name, from disk where it was there before."""
        if name not in self.kept:
            file = journal_file(self.notebook, name)
            self.kept[name] = open_journal(file) if self.notebook else Kept(Journal())
        return self.kept[name].journal

    def current(self, name: str = "") -> Session:
        """Return a session of this kernel by name, or the last one. Raises UsageError."""
        wanted = name or self.last
        if wanted is None or wanted not in self.sessions:
            known = ", ".join(filter(None, self.sessions)) or "none"
            raise UsageError(
                f"no session {name!r} in this kernel; there are: {known}. %%toolchat opens one"
            )
        return self.sessions[wanted]

    def session(self, chosen: Options, variables: Variables) -> Session:
        """Return the session that a cell speaks to: opened, gone on with, or set up anew."""
        name = chosen.session
        known = self.sessions.get(name or self.last or "")
        if known is not None and not chosen.opens:
            return known
        if known is None and not chosen.opens:
            raise UsageError(
                "there is no session to go on with; open one, such as "
                "%%toolchat -m scripted:kitchen -t Potato -i potato"
            )
        desk, opened = desk_for(
            chosen, variables, self.journal(name), self.values.setdefault(name, {})
        )
        if known is not None and name:
            return self._set_up_anew(known, desk, opened)
        head = desk.journal.append(None, opened).id
        return self.keep(Session.here(Cursor(desk, head), name))

    def _set_up_anew(self, known: Session, desk: Desk, opened: Opened) -> Session:
        """Changed options are a new `Opened` at this kernel's place."""
        state = known.state
        same = replace(opened, inputs=state.opened.inputs, instances=state.opened.instances)
        fresh = _new_inputs(opened, state.by_maker, dict(state.opened.inputs))
        head = known.head
        if fresh or replace(same, inputs=opened.inputs) != replace(
            state.opened, inputs=opened.inputs
        ):
            head = desk.journal.append(head, replace(opened, inputs=fresh)).id
        return self.keep(Session.here(Cursor(desk, head), known.name))

    def keep(self, session: Session) -> Session:
        """Remember a session as the last one of its name."""
        self.sessions[session.name] = session
        self.last = session.name
        return session


def _new_inputs(opened: Opened, makers: Any, before: Mapping[str, Any]) -> tuple[Any, ...]:
    """Inputs that are new, or have changed since: those get another maker, so another name."""
    fresh = []
    for name, made in opened.inputs:
        old = before.get(name)
        if old is not None and old.digest == made.digest:
            continue
        maker, number = made.maker, 1
        while maker in makers:
            number += 1
            maker = f"{made.maker}~{number}"
        fresh.append((name, replace(made, maker=maker)))
    return tuple(fresh)


def say(session: Session, text: str, fresh: bool) -> Session:
    """Return the session in which a prompt was said.

    Where the journal has that very prompt at this place, what was recorded behind it is
    said again, up to the next prompt; with `fresh` it is said on a new branch.
    """
    if not text.strip():
        raise UsageError("the prompt is empty; write what is to be done below the first line")
    cursor = session.cursor
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
    chosen: Options, variables: Variables, journal: Journal, values: dict[str, Any]
) -> tuple[Desk, Opened]:
    """Return what a cell's options set up. Raises UsageError and DefinitionError."""
    box = Toolbox(*(variable(name, variables, "-t") for name in chosen.tools))
    inputs = {name: (variable(name, variables, "-i"), said) for name, said in chosen.inputs}
    outputs = {
        name: (_type(name, kind, variables, box), said) for name, kind, said in chosen.outputs
    }
    desk, opened = opening(
        box,
        model(chosen.model or chosen.default_model, variables),
        scheme=chosen.scheme,
        inputs=inputs,
        outputs=outputs,
        system=_system(chosen.system, variables),
        approve=chosen.approve,
        journal=journal,
        breaks=chosen.breaks,
        max_turns=chosen.max_turns,
    )
    values.update(desk.memory.values)
    desk.memory.values = values
    return desk, replace(opened, model=model_name(desk.model))


def variable(name: str, variables: Variables, option: str) -> Any:
    """Return a variable's value. Raises UsageError, which names the nearest."""
    if name not in variables:
        shown = [known for known in variables if not known.startswith("_")]
        raise UsageError(f"{option}: no variable {name} in this notebook.{nearest(name, shown)}")
    return variables[name]


def model(name: str, variables: Variables) -> Model | None:
    """Return the model of a cell: by name, or from a variable."""
    if not name:
        name = os.environ.get("JUPYTER_TOOLCALL_MODEL", "")
    if not name:
        raise UsageError(
            "no model: give one with -m, such as -m scripted:kitchen (offline), "
            "-m anthropic:MODEL, or -m NAME of a variable that holds a model"
        )
    if ":" not in name:
        held = variable(name, variables, "-m")
        if not callable(held):
            raise UsageError(f"-m {name}: that variable holds no model; Scripted([...]) makes one")
        return held  # type: ignore[no-any-return]
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
    return held if isinstance(held, str) else text


def filled(text: str, session: Session, variables: Variables) -> str:
    """Return a prompt in which `{name}` is an object's name or a variable's text.

    What is no variable stays as it is. Raises UsageError for a secret.
    """
    state = session.state
    inputs = {name: state.by_maker.get(made.maker) for name, made in _all_inputs(session)}

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if inputs.get(name):
            return str(inputs[name])
        if name not in variables:
            return found[0]
        if _is_secret(name, variables[name]):
            raise UsageError(
                f"{{{name}}} holds a secret; a prompt is sent and saved, so it stays out"
            )
        return str(variables[name])

    return _NAMED.sub(fill, text)


def _all_inputs(session: Session) -> list[tuple[str, Any]]:
    path = session.journal.path(session.head)
    opened = [entry.event for entry in path if isinstance(entry.event, Opened)]
    return [pair for event in opened for pair in event.inputs]


def _is_secret(name: str, value: Any) -> bool:
    if hasattr(value, "get_secret_value"):
        return True
    held = isinstance(value, str) and value in secret_values(os.environ)
    return held or (isinstance(value, str) and is_named_secret(name))
