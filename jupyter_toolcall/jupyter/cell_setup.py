"""What a cell's options set up, from the variables that they name: tools, objects, a model."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ..core.branches import is_prompt
from ..core.entries import Entry
from ..core.errors import UsageError
from ..core.events import Opened
from ..core.journal import Journal
from ..core.secrets import is_named_secret, secret_values
from ..core.text import nearest
from ..engine.context import SessionContext
from ..engine.cursor import Cursor
from ..engine.forks import unfinished_replay
from ..engine.opening import open_session
from ..engine.prompts import prompt_event, repeat_prompt
from ..engine.replay_queue import ReplayQueue
from ..models.named import Person, default, is_name, model_named
from ..models.recorded import Recorded, Recording, StandIn
from ..models.recording_file import new_tape
from ..schemes import SCHEMES, is_scheme, scheme_named
from ..schemes.messages import Model
from ..schemes.save_tool import SCALARS
from ..schemes.scheme import Scheme
from ..session.session import Session
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .extensions import replayed_model
from .options import Options

Variables = Mapping[str, Any]
RECORDED = "recorded:"


def context_for_cell(
    chosen: Options,
    variables: Variables,
    journal: Journal,
    folder: Path,
    model: Model | None = None,
) -> tuple[SessionContext, Opened]:
    """Return what a cell's options set up, with the model that they name, or with this one.

    Raises UsageError and DefinitionError.
    """
    box = Toolbox(*(_source(notebook_variable(name, variables, "-t")) for name in chosen.tools))
    inputs = {
        name: (notebook_variable(name, variables, "-i"), said) for name, said in chosen.inputs
    }
    outputs = {
        name: (_type(name, kind, variables, box), said) for name, kind, said in chosen.outputs
    }
    desk, opened = open_session(
        box,
        model_for_cell(chosen, variables, folder) if model is None else model,
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
    made: Tool = import_module("..sources.definition_tools", __package__).from_definition(value)
    return made


def notebook_variable(name: str, variables: Variables, option: str) -> Any:
    """Return a variable's value. Raises UsageError, which names the nearest."""
    if name not in variables:
        shown = [known for known in variables if not known.startswith("_")]
        raise UsageError(f"{option}: no variable {name} in this notebook.{nearest(name, shown)}")
    return variables[name]


def model_for_cell(chosen: Options, variables: Variables, folder: Path) -> Model | None:
    """Return who answers in a cell: a model, what was recorded of one, or one on record.

    Files are named from `folder`. Raises UsageError.
    """
    found: Model | None
    if chosen.replay:
        found = replayed_model(folder, chosen.replay)
        found = found or Recorded(folder / chosen.replay, name=chosen.replay)
    else:
        found = model_option(chosen.model or chosen.default_model, variables, folder)
    if not chosen.record or found is None or isinstance(found, StandIn):
        return found
    if isinstance(found, Person):
        raise UsageError(
            "--record keeps what a model replies by itself; what a person replies is kept in the "
            "notebook, and --replay NOTEBOOK says it again"
        )
    return Recording(found, new_tape(folder, chosen.record), name=chosen.record)


def model_option(name: str, variables: Variables, folder: Path) -> Model | None:
    """Return the model of a cell: by name, or from a variable."""
    name = name or default(os.environ)
    if not name:
        raise UsageError(
            "no model: give one with -m, such as -m scripted:kitchen (offline), "
            "-m anthropic:MODEL, or -m NAME of a variable that holds a model"
        )
    if not is_name(name):
        held = notebook_variable(name, variables, "-m")
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
    held = _held(kind, variables) or box.type_named(kind)
    if held is not None:
        return held
    if kind in SCALARS:
        return kind
    known = [
        each for each, value in variables.items() if isinstance(value, type) and each[:1] != "_"
    ]
    known = [*dict.fromkeys([*box.kinds.values(), *known, *SCALARS])]
    raise UsageError(f"-o {name}: no type {kind} in this notebook.{nearest(kind, known)}")


def _held(kind: str, variables: Variables) -> type | None:
    """Return the class that a variable holds, or what is in it: `Plate`, `pd.DataFrame`.

    A module may be called as the type that it holds: it is none.
    """
    first, *rest = kind.split(".")
    held = variables.get(first)
    for name in rest:
        held = getattr(held, name, None)
    return held if isinstance(held, type) else None


def _system(text: str, variables: Variables) -> str:
    held = variables.get(text) if text.isidentifier() else None
    return open_text("--system", text, held) if isinstance(held, str) else text


def open_text(where: str, name: str, value: Any) -> str:
    """Return a value as text. Raises UsageError where that would tell a secret."""
    text = str(value)
    named = isinstance(value, str) and is_named_secret(name)
    held = any(secret in text for secret in secret_values(os.environ))
    if named or held or hasattr(value, "get_secret_value"):
        raise UsageError(f"{where} holds a secret; a prompt is sent and saved, so it stays out")
    return text


_NAMED = re.compile(r"\{([A-Za-z_]\w*)\}")


def filled_prompt(text: str, session: Session, variables: Variables) -> str:
    """Return a prompt in which `{name}` is an object's name or a variable's text.

    What is no variable stays as it is. Raises UsageError for a secret.
    """
    state = session.state
    inputs = state.inputs

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if inputs.get(name):
            return str(inputs[name])
        if name not in variables:
            return found[0]
        return open_text(f"{{{name}}}", name, variables[name])

    return _NAMED.sub(fill, text)


def add_prompt(session: Session, text: str, fresh: bool) -> Session:
    """Return the session in which a prompt was said.

    Where the journal has that very prompt at this place, what was recorded behind it is
    said again, up to the next prompt. With `fresh` it is said on a new branch: from where
    it was said before on this one, else from here.
    """
    if not text.strip():
        raise UsageError("the prompt is empty; write what is to be done below the first line")
    cursor, asked = session.cursor, prompt_event(session.cursor, text)
    if fresh:
        return session.at(repeat_prompt(cursor, asked))
    journal = cursor.context.journal
    children = journal.children(cursor.head)
    said = next((each for each in children if journal[each].event == asked), None)
    if said is None:
        entry = journal.append(cursor.head, asked, {"at": cursor.context.clock()})
        return session.at(Cursor(cursor.context, entry.id))
    return session.at(Cursor(cursor.context, said, _recorded(cursor.context.journal, said)))


def _recorded(journal: Journal, said: str) -> ReplayQueue:
    """Return the way from a prompt to the newest entry behind it, up to the next prompt.

    A replay that was cut off there goes on with what it had still to say.
    """
    behind = [said]
    for each in behind:
        behind += journal.children(each)
    reached = set(behind)
    newest = next(entry.id for entry in reversed([*journal]) if entry.id in reached)
    way = journal.path(newest, after=said)
    if len(told := _up_to_prompt(way)) < len(way):
        return ReplayQueue(told)
    rest = unfinished_replay(journal, newest)
    return ReplayQueue(told, following=replace(rest, entries=_up_to_prompt(rest.entries)))


def _up_to_prompt(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple(itertools.takewhile(lambda entry: not is_prompt(entry), entries))
