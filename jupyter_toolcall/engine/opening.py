"""Opening a session: from the constructor's arguments to the first event and the context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, get_origin

from ..core.branches import shown_last
from ..core.errors import BrokenJournal, DefinitionError, ToolcallError, UsageError, checked_text
from ..core.events import MAX_RESULT, Made, Opened, Output
from ..core.interrupts import attempt
from ..core.journal import Journal
from ..core.recorded_data import replace
from ..core.secrets import Secrets, hide_event_secrets
from ..core.state_fold import opened_as, state_at
from ..core.text import nearest
from ..models.named import model_named
from ..rules.approval_policy import Approve, approval_policy, may_fit_glob
from ..rules.budget import Budget
from ..schemes import NAMED, scheme_named
from ..schemes.messages import Model
from ..schemes.scheme import Scheme
from ..sources.table_sharing import Sharing, sharing_of
from ..storage.file_system import replace_file
from ..storage.journal_file import (
    holds_journal,
    is_written,
    journals_folder,
    key_problem,
    written_journal,
)
from ..storage.signatures import signer
from ..storage.value_store import value_store
from ..tools.answer_types import SCALARS, data_schema, is_record_class, type_from_text, type_text
from ..tools.executors import AnyExecutor, executor_named
from ..tools.object_references import kinds_of
from ..tools.object_types import classes_within, is_object_class, kind_name, registered_kind
from ..tools.plain_data import well_formed
from ..tools.tool import parameters_schema
from ..tools.toolbox import Toolbox
from ..tools.value_text import is_plain_input, shown_value
from .budget_hook import BudgetHook
from .cursor import Cursor, SessionContext
from .execution import store_results
from .forks import is_over, leave_question, replay_cursor, resume_replay
from .replay import replay_recorded
from .session_values import SessionValues


class Described(NamedTuple):
    """An input's value or an output's type, with its description."""

    value: Any
    description: str = ""


NOT_CHOSEN = Sharing()


def open_session(
    toolbox: Toolbox,
    model: Model | str | None,
    *,
    scheme: str | Scheme,
    native: bool = False,
    inputs: Mapping[str, object],
    outputs: Mapping[str, object],
    system: str,
    approve: Approve,
    journal: Journal | Path | None,
    breaks: str | Sequence[str] = (),
    max_turns: int | None = None,
    sharing: Sharing = NOT_CHOSEN,
    executor: AnyExecutor | None = None,
    jobs: int = 1,
    max_result: int = MAX_RESULT,
    budget: Budget | None = None,
) -> tuple[SessionContext, Opened]:
    """Return what a session's branches share, and the session's first event.

    `journal` is one in memory, or the file of a new one. `sharing` says what is sent of tables,
    unless a toolset in the toolbox says it.

    Raises UsageError and DefinitionError, each naming what to write instead.
    """
    _demand_options(toolbox, inputs, outputs, max_turns, budget)
    described = {key: _described(value) for key, value in inputs.items()}
    wanted_outputs = {key: _described(value) for key, value in outputs.items()}
    box = _with_types(toolbox, described, wanted_outputs)
    recorded, chosen = _own_journal(journal), scheme_named(scheme, native)
    shared = sharing_of(box, sharing)
    values = SessionValues(recorded, box.kinds, box.answers, withhold=shared.withhold)
    context = SessionContext(
        *(recorded, box, chosen, values, model_named(model), approval_policy(approve)),
        breaks=_breaks(breaks, box),
        max_turns=max_turns,
        sharing=shared,
        executor=_executor(executor, box),
        jobs=checked_count(jobs),
        budget=budget,
        hooks=(BudgetHook(budget),) if budget is not None else (),
    )
    if isinstance(journal, Path):
        values.value_store, context.unreliable_reason = value_store(), key_problem()
    return context, _first_event(context, described, wanted_outputs, system, max_result)


def _first_event(
    context: SessionContext,
    inputs: Mapping[str, Described],
    outputs: Mapping[str, Described],
    system: str,
    max_result: int,
) -> Opened:
    """Return the first event, with its secrets hidden, and keep its inputs in the context.

    Raises UsageError and DefinitionError where the tools do not go with it.
    """
    toolbox, values = context.toolbox, context.values
    checked_count(max_result, "max_result")
    opened = Opened(
        context.scheme.name,
        tuple(_input(key, *pair, values, max_result) for key, pair in inputs.items()),
        {key: _output(key, *pair, toolbox) for key, pair in outputs.items()},
        well_formed(checked_text(system, "system")),
        instances=_instances(toolbox, values),
        max_result=max_result,
    )
    _no_clash(toolbox, opened, context.scheme)
    _can_be_called(toolbox, opened)
    context.current_inputs = dict(opened.inputs)
    hidden = hide_event_secrets(opened, context.secrets)
    assert isinstance(hidden, Opened)
    return hidden


def _demand_options(
    toolbox: object, inputs: object, outputs: object, max_turns: object, budget: object
) -> None:
    """Raise UsageError, which names the option, where a value is of another type."""
    if not isinstance(toolbox, Toolbox):
        raise UsageError(f"{toolbox!r:.60} is no toolbox; write Session(Toolbox(...), ...)")
    _demand_names("inputs", inputs)
    _demand_names("outputs", outputs)
    if max_turns is not None:
        checked_count(max_turns, "max_turns")
    if not isinstance(budget, Budget | None):
        raise UsageError(f"budget: {budget!r:.60} is no Budget, such as Budget(calls=40)")


def _demand_names(option: str, value: object) -> None:
    """Raise UsageError, which names the option, for anything but a dict by names."""
    if not isinstance(value, Mapping) or not all(isinstance(k, str) and k for k in value):
        raise UsageError(f"{option}: {value!r:.60} is no dict by names, such as {{'a': ...}}")


def _breaks(globs: str | Sequence[str], toolbox: Toolbox) -> tuple[str, ...]:
    """Return the globs of calls that wait. Raises UsageError for one that no call can fit."""
    held = tuple(globs) if isinstance(globs, (list, tuple, set)) else (globs,)
    for glob in held:
        checked_text(glob, "a glob of breaks")
        if not any(may_fit_glob(glob, name) for name in toolbox.names):
            hint = nearest(glob.partition("(")[0], toolbox.names)
            raise UsageError(f"break {glob}: no tool has that name.{hint}")
    return held


def checked_count(count: object, option: str = "jobs") -> int:
    """Return a number from 1 on, such as that of calls that run together. Raises UsageError."""
    if type(count) is not int or count < 1:
        raise UsageError(f"{option} is {count!r:.60}; give a whole number from 1 on")
    return count


def _executor(executor: AnyExecutor | None, toolbox: Toolbox) -> Executor | None:
    """Return the executor of a session. Raises UsageError where no tool would run there."""
    if executor is None:
        return None
    chosen = executor_named(executor, "executor")
    if not any(tool.executor is True for tool in toolbox):
        raise UsageError(
            "executor: no tool of this session runs on it; mark those that do with "
            "@tool(executor=True)"
        )
    return chosen


def reopen_session(
    journal: Journal,
    toolbox: Toolbox,
    model: Model | str | None,
    *,
    scheme: str | Scheme | None,
    outputs: Mapping[str, Any],
    where: str,
    **options: Any,
) -> SessionContext:
    """Return the context of a session whose journal was read from a file or a notebook (`where`).

    `options` are the other arguments of `open_session`. Raises BrokenJournal where the journal
    holds no session, UsageError where that has another scheme or other outputs.
    """
    _demand_names("outputs", outputs)
    opened = _opening_of(journal, where)
    recorded = {
        key: (out.kind, out.description) for key, out in opened.outputs.items() if not out.schema
    }
    context, reopened = open_session(
        toolbox,
        model,
        scheme=_as_recorded(opened.scheme, scheme, where),
        outputs={**recorded, **outputs},
        system=opened.system,
        journal=journal,
        max_result=opened.max_result,
        **options,
    )
    for name in outputs:
        wanted, kept = reopened.outputs[name], opened.outputs.get(name)
        if kept is None or (kept.kind, kept.schema) != (wanted.kind, wanted.schema):
            has = f"as {kept.kind}" if kept else f"among {', '.join(opened.outputs) or 'none'}"
            raise UsageError(f"{where} has the output {name!r} {has}, not as {wanted.kind}")
    return context


def _as_recorded(name: str, value: str | Scheme | None, where: str) -> Scheme:
    """Return the scheme that a session was recorded in: one of ours, or the one that is given."""
    if value is None and name not in NAMED:
        raise UsageError(f"{where} is a session in scheme {name!r}; give it with scheme=")
    chosen = scheme_named(name if value is None else value)
    if chosen.name != name:
        raise UsageError(f"{where} is a session in scheme {name!r}, not {chosen.name!r}")
    return chosen


def _opening_of(journal: Journal, where: str) -> Opened:
    first = next(iter(journal), None)
    if first is None or not isinstance(first.event, Opened):
        raise BrokenJournal(f"{where} holds no session")
    try:
        for head in journal.leaves():
            state_at(journal, head)
    except ToolcallError as error:
        raise BrokenJournal(f"{where}: its entries do not follow one another: {error}") from None
    return first.event


def _instances(toolbox: Toolbox, values: SessionValues) -> tuple[tuple[str, str], ...]:
    value = {tool.instance: tool.subject for tool in toolbox if tool.instance}
    return tuple((name, values.add_instance(name, subject)) for name, subject in value.items())


def _described(value: Any) -> Described:
    """Return an input or an output with its description."""
    is_pair = type(value) is tuple and len(value) == 2 and issubclass(type(value[1]), str)
    value, description = value if is_pair or type(value) is Described else (value, "")
    return Described(value, well_formed(description))


def _input(
    name: str, value: object, description: str, values: SessionValues, longest: int
) -> tuple[str, Made]:
    is_plain = is_plain_input(value, values.kinds)
    shown = shown_value(name, value, values.journal.secrets.hide, longest) if is_plain else ""
    return name, values.add_input(name, value, description, shown)


def _with_types(
    toolbox: Toolbox, inputs: Mapping[str, Described], outputs: Mapping[str, Described]
) -> Toolbox:
    """Return a copy of a toolbox with the types of inputs and outputs, so that calls name objects
    of them. The types of its answers are the copy's own."""
    for name, (value, _) in inputs.items():
        if raised := attempt(registered_kind, type(value), toolbox.kinds)[1]:
            raise UsageError(f"inputs: {name}: its class cannot be read: it raises {raised}")
    types = [type(v) for v, _ in inputs.values() if not is_plain_input(v, toolbox.kinds)]
    box = toolbox.with_tools({}).with_types(dict.fromkeys(types))
    wanted = dict.fromkeys(cls for kind, _ in outputs.values() for cls in classes_within(kind))
    return box.with_types(cls for cls in wanted if tools_make(cls, box))


def tools_make(cls: type, toolbox: Toolbox) -> bool:
    """Return whether tools make the values of a class; else the model writes them, as data."""
    if not is_record_class(cls):
        return cls in toolbox.kinds or (is_object_class(cls) and cls is not object)
    python = (tool for tool in toolbox if tool.origin is not None)
    return any(tool.makes is None or kind_name(cls) in tool.makes for tool in python)


def data_output(kind: Any, description: str, toolbox: Toolbox) -> Output | None:
    """Return an output that the model hands over as data; None for a type that is none."""
    # A NewType is data of the type that it names.
    kind = getattr(kind, "__supertype__", kind)
    if isinstance(kind, str):
        kind = type_from_text(kind, {name: cls for cls, name in toolbox.kinds.items()})
    if not (schema := data_schema(kind, toolbox.kinds)):
        return None
    if kind in SCALARS.values():
        return Output(kind_name(kind), description)
    text = type_text(kind)
    toolbox.answers[text] = kind
    return Output(text, description, schema)


def _output(name: str, kind: Any, description: str, toolbox: Toolbox) -> Output:
    is_class = isinstance(kind, type) and get_origin(kind) is None
    if is_class and tools_make(kind, toolbox):
        return Output(kind_name(kind), description)
    if isinstance(kind, str) and toolbox.type_named(kind):
        return Output(kind, description)
    if (output := data_output(kind, description, toolbox)) is not None:
        return output
    names = [*toolbox.kinds.values(), *SCALARS, "list[str]"]
    raise UsageError(
        f"the output {name!r} has the type {kind!r}, which is not known here; "
        f"there are {', '.join(names)}.{nearest(str(kind), names)}"
    )


def _no_clash(toolbox: Toolbox, opened: Opened, scheme: Scheme) -> None:
    """Raise UsageError where a tool has the name of one of the scheme's tools."""
    for tool in scheme.offer(opened_as(opened), toolbox).own:
        if tool.name in toolbox:
            raise UsageError(
                f"a tool of yours is named {tool.name!r}, as one of scheme {scheme.name}; "
                "rename it with @tool(name=...)"
            )


def _can_be_called(toolbox: Toolbox, opened: Opened) -> None:
    """Raise DefinitionError where a function needs an object that no tool makes and no input is."""
    kinds_made = [tool.makes for tool in toolbox]
    if None in kinds_made:
        return
    available = {ref.kind for _, ref in opened.inputs}.union(*filter(None, kinds_made))
    for tool in toolbox:
        for name in parameters_schema(tool).get("required", ()) if not tool.receiver else ():
            kinds = kinds_of(parameters_schema(tool)["properties"][name])
            if kinds and available.isdisjoint(kinds):
                raise DefinitionError(
                    f"{tool.name}: the parameter {name!r} takes a {' or '.join(kinds)}, and there "
                    f"can be none: no tool returns one, and no input is one. Give one with "
                    f"-i (in Python inputs={{...}}), or a tool that says `-> {kinds[0]}`"
                )


# -- files ---------------------------------------------------------------------------------


def save_session(cursor: Cursor, path: Path) -> None:
    """Write the journal as JSON Lines; expensive results go into the value store.

    Raises UsageError where there is no such folder.
    """
    if not path.resolve().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")
    if path.exists() and not (path.is_file() and holds_journal(path)):
        raise UsageError(f"{path} is no session, and stays as it is; choose another file")
    journal = cursor.context.journal
    if not is_written(path):
        replace_file(path, journal.dumps(signer(journals_folder())))
    elif written_journal(path) is not journal:
        raise UsageError(f"{path} is the journal of another session; choose another file")
    values = cursor.context.values
    values.value_store = values.value_store or value_store()
    store_results(values, cursor.context.toolbox)


def load_session(path: Path, toolbox: Toolbox, model: Model | str | None, **options: Any) -> Cursor:
    """Return a cursor at the place in a file that was shown last; `options` as `reopen_session`.

    Raises BrokenJournal, which names the file; UsageError where it has another scheme.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the file of a session")
    writes = is_written(path)
    journal = written_journal(path) if writes else _saved_journal(path)
    context = reopen_session(journal, toolbox, model, where=str(path), **options)
    context.values.value_store = value_store()
    context.unreliable_reason = key_problem() if writes else ""
    cursor = resume_replay(context, shown_last(journal, journal.leaves()))
    if is_over(cursor):
        leave_question(cursor)
    if writes:
        compute_values(cursor)
    return cursor


def has_values(cursor: Cursor) -> bool:
    """Return whether the values of all objects of a branch are in this kernel or its store."""
    values, objects = cursor.context.values, cursor.state.objects.values()
    return all(values.has_value(ref.digest, ref.content) for ref in objects)


def compute_values(cursor: Cursor) -> None:
    """Compute missing values by replaying a copy of the branch; the journal stays as it is.

    No tool runs that must not run twice. A value that is not as recorded stays missing.
    """
    if has_values(cursor):
        return
    context = replace(cursor.context, journal=cursor.context.journal.branch_copy(cursor.head))
    with suppress(ToolcallError):
        replay_recorded(replay_cursor(Cursor(context, cursor.head), None))


def _saved_journal(path: Path) -> Journal:
    """Return a copy of the journal in a file; the session may have continued since it was saved."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        journal = Journal.loads(text, seal=signer(journals_folder()))
    except BrokenJournal as error:
        raise type(error)(f"{path}: {error}") from None
    journal.mark_open_calls("copied")
    return journal


def _own_journal(source: Journal | Path | None) -> Journal:
    """Return a session's journal, which hides the secrets of this environment.

    A new one is in memory, or written to a file as it grows. Raises UsageError for a file that
    has a session.
    """
    if isinstance(source, Path):
        is_empty = not source.exists() or source.stat().st_size == 0
        journal = written_journal(source) if is_empty or is_written(source) else None
        if journal is None or len(journal):
            raise UsageError(f"{source} has a session already; Session.load continues it")
    else:
        journal = Journal() if source is None else source
    journal.secrets = Secrets()
    return journal
