"""The options of a `%%toolchat` line: parsed, checked, and what they set up.

Every mistake raises UsageError, in one line that names what is allowed.
"""

from __future__ import annotations

import argparse
import functools
import os
import shlex
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, get_args

from ..core.errors import UsageError
from ..core.events import MAX_RESULT, Opened
from ..core.interrupts import attempt
from ..core.journal import Journal
from ..core.recorded_data import JsonDict, JsonObject, replace
from ..core.secrets import hiding, is_named_secret
from ..core.text import nearest
from ..engine.cursor import SessionContext
from ..engine.opening import Described, checked_count, open_session
from ..models.named import PROVIDERS, Person, default, is_name, model_named
from ..models.recorded import Recorded, Recording, StandIn
from ..models.recording_file import new_tape
from ..rules.approval_policy import PRESETS
from ..rules.budget import Budget
from ..rules.rule_files import rules_named
from ..schemes import SCHEMES, is_scheme, scheme_named
from ..schemes.messages import Model, model_identity, server_digest
from ..schemes.native import Native
from ..schemes.save_tool import SCALARS
from ..schemes.scheme import Scheme
from ..sources import toolsets
from ..sources.table_sharing import Share, check_sharing
from ..tools.answer_types import type_from_text
from ..tools.executors import NAMES, executor_named, is_executor
from ..tools.toolbox import Toolbox
from .extensions import FLAGS, REPLAY_SOURCES

Variables = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a cell, as they were written."""

    model: str = ""
    tools: tuple[str, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    """(variable, description)"""
    outputs: tuple[tuple[str, str, str], ...] = ()
    """(variable, type, description)"""
    session: str = ""
    fresh: bool = False
    scheme: str = "select"
    native: bool = False
    force: bool = False
    """A tool has to be called."""
    system: str = ""
    approve: str = "ask"
    rules: str = ""
    """The rules that decide before `approve`: a file, or a name of this computer's."""
    budget: str = ""
    """What the session may use before it pauses, such as `tokens=50000,cost=0.50`."""
    share: str = "sample"
    """What a model is sent of a table's content."""
    withhold: tuple[str, ...] = ()
    """The columns whose values a model is never sent."""
    breaks: tuple[str, ...] = ()
    step: bool = False
    wait: bool = True
    max_turns: int = 50
    max_result: int = MAX_RESULT
    """Characters of one result that the model is sent."""
    executor: str = ""
    """Where the tools run that are marked for an executor: a variable, or a name."""
    jobs: int = 1
    """How many read-only calls of one reply run together."""
    record: str = ""
    """The file in which the model's turns are recorded."""
    replay: str = ""
    """The recording that is the model."""
    quiet: bool = False
    help: bool = False
    written: frozenset[str] = frozenset()
    """The names of the options that the line has."""
    mcp_servers: JsonObject = field(default_factory=dict)
    """The servers of `%config ToolChat.mcp_servers`, by the name behind `-t mcp:`."""
    default_model: str = ""
    """The model where a cell opens a session and names none."""
    extra: JsonObject = field(default_factory=dict)
    """The values of the options that extensions added, by name."""

    @property
    def opens(self) -> bool:
        """Whether they set a session up, and do not just go on with one."""
        named = self.model or self.replay or self.system
        return bool(named or self.tools or self.inputs or self.outputs)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. %%toolchat --help lists the options")


def _input(text: str) -> tuple[str, str]:
    name, _, description = text.partition(":")
    return _variable_name("-i", name), description


def _output(text: str) -> tuple[str, str, str]:
    name, _, kind_and_text = text.partition(":")
    kind, _, description = kind_and_text.partition(":")
    if not kind:
        raise UsageError(
            f"-o {text} has no type; write {name or 'NAME'}:TYPE, such as {name or 'fries'}:str"
        )
    return _variable_name("-o", name), kind, description


def _variable_name(option: str, name: str) -> str:
    if not name.isidentifier():
        raise UsageError(f"{option} {name!r} is no variable's name")
    return name


def _session_name(name: str) -> str:
    if name and not (name.replace("-", "").replace("_", "").isalnum() and len(name.encode()) <= 64):
        raise UsageError(f"-n {name!r} is no session's name; use letters, digits, - and _")
    return name


_LIST: Mapping[str, Any] = {"nargs": "+", "action": "extend", "default": []}
_ON: Mapping[str, Any] = {"action": "store_true", "default": False}
_OFF: Mapping[str, Any] = {"action": "store_false", "default": False}
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "-m --model": {"metavar": "NAME"},
    "-t --tools": {"metavar": "NAME", **_LIST},
    "-i --input": {"metavar": "NAME[:TEXT]", "dest": "inputs", "type": _input, **_LIST},
    "-o --output": {"metavar": "NAME:TYPE[:TEXT]", "dest": "outputs", "type": _output, **_LIST},
    "-n --session": {"metavar": "NAME", "type": _session_name},
    "--fresh": _ON,
    "--scheme": {"metavar": "|".join(SCHEMES), "default": "select"},
    "--native": _ON,
    "--force": _ON,
    "--system": {"metavar": "TEXT"},
    "--approve": {"default": "ask", "choices": list(PRESETS)},
    "--rules": {"metavar": "FILE|NAME"},
    "--budget": {"metavar": "LIMITS"},
    "--share": {"default": "sample", "choices": list(get_args(Share))},
    "--withhold": {"metavar": "COLUMN", **_LIST},
    "--break": {"metavar": "GLOB", "dest": "breaks", "action": "append", "default": []},
    "--step": _ON,
    "--wait": {**_ON, "default": True},
    "--no-wait": {**_OFF, "dest": "wait", "default": True},
    "--max-turns": {"metavar": "N", "type": int, "default": 50},
    "--max-result": {"metavar": "N", "type": int, "default": MAX_RESULT},
    "--executor": {"metavar": "NAME"},
    "--jobs": {"metavar": "N", "type": int, "default": 1},
    "--record": {"metavar": "FILE"},
    "--replay": {"metavar": "FILE|NOTEBOOK"},
}
"""How each option is parsed; where no default stands, it is ""."""
_HELP: Mapping[str, str] = {
    "-m --model": "the model, from the list of %%toolchat models; or a variable that holds one",
    "-t --tools": "variables that hold functions, classes, instances, definitions or toolboxes; "
    "or the toolsets tables, files, files:FOLDER; or mcp:NAME, an MCP server",
    "-i --input": "variables that become objects; of a text, a number or JSON data the model sees "
    "the value",
    "-o --output": "outputs: objects, or data such as list[str]; each is a variable once saved",
    "-n --session": "a session that other cells continue",
    "--fresh": "ask the model again, on a new branch, even if its reply is recorded",
    "--scheme": "how tools are presented to the model; or a variable that holds a scheme",
    "--native": "tools and calls are XML in the text, for models without tool calling",
    "--force": "as --native, and the model has to call a tool before it answers",
    "--system": "the system prompt, or a variable that holds it",
    "--approve": "which calls wait for you; ask: all but read-only ones; flow: those that reach "
    "others, delete, or may follow from what others wrote",
    "--rules": "rules that decide before --approve: a name of %%toolchat rules, or a file, which "
    "runs no call",
    "--budget": "pause before more is used, such as tokens=50000,cost=0.50,calls=40: dollars, and "
    "calls that run unasked",
    "--share": "what a model is sent of a table; schema: names, types and counts; sample: also "
    "20 rows a call; values: any rows",
    "--withhold": "columns of tables whose values are never sent",
    "--break": "calls of these tools wait, whatever --approve says",
    "--step": "wait before every call",
    "--wait": "the cell waits for you (default)",
    "--no-wait": "the cell ends at a pause; the panel continues",
    "--max-turns": "stop after N replies (default 50)",
    "--max-result": "the model is sent N characters of a result at once (default 20,000)",
    "--executor": "where tools with @tool(executor=True) run: threads, processes, dask, "
    "dask:ADDRESS, or a variable",
    "--jobs": "run up to N read-only calls of one reply together (default 1)",
    "--record": "record each request and its reply, a line a turn",
    "--replay": "replies come from a recording, a notebook",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the line behind `%%toolchat`."""
    usage = "%%toolchat [options]"
    built = _Parser(prog="%%toolchat", add_help=False, allow_abbrev=False, usage=usage)
    others = "".join(f", or {noun} ({end})" for end, noun in REPLAY_SOURCES.items())
    for names, settings in _OPTIONS.items():
        text = _HELP[names] + (others if names == "--replay" else "")
        built.add_argument(*names.split(), help=text, **{"default": "", **settings})
    for flag in FLAGS.values():
        built.add_argument(f"--{flag.name}", help=flag.help, **_ON)
        built.add_argument(f"--no-{flag.name}", help=flag.help_off, dest=flag.name, **_OFF)
    built.add_argument("--quiet", help="no panel, only the result", **_ON)
    built.add_argument("--help", help="this text", **_ON)
    return built


def parse_options(line: str, settings: Mapping[str, Any] | None = None) -> Options:
    """Return the options of a line; what it leaves out is as the settings say.

    Raises UsageError.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"the options cannot be read ({error}); close the quotes") from None
    reader, defaults = parser(), dict(settings or {})
    long_names = {name[1:] for action in reader._actions for name in action.option_strings}
    if word := next((word for word in words if len(word) > 2 and word in long_names), ""):
        # `-tools` would be read as the option -t with the value `ools`.
        raise UsageError(f"{word}: write -{word}")
    default_model = defaults.pop("model", "")
    reader.set_defaults(**defaults)
    parsed, unknown = reader.parse_known_args(words)
    if unknown:
        hint = nearest(unknown[0], [name for a in reader._actions for name in a.option_strings])
        message = f"unrecognized arguments: {' '.join(unknown)}.{hint}"
        raise UsageError(f"{message} %%toolchat --help lists the options")
    _check(parsed)
    parsed.tools = dict.fromkeys(parsed.tools)
    values = {option.name: getattr(parsed, option.name, None) for option in fields(Options)}
    values = {k: tuple(v) if isinstance(v, (list, dict)) else v for k, v in values.items()}
    heads = {word.partition("=")[0] for word in words}
    values["mcp_servers"] = getattr(parsed, "mcp_servers", None) or {}
    values["written"] = frozenset(a.dest for a in reader._actions if heads & {*a.option_strings})
    values["extra"] = {name: getattr(parsed, name) for name in FLAGS}
    return Options(**{**values, "default_model": default_model})


def _check(parsed: argparse.Namespace) -> None:
    """Raise UsageError where values are wrong, or do not go together."""
    # What a line says was checked when it was parsed; a setting was not.
    if parsed.approve not in PRESETS:
        choices = ", ".join(PRESETS)
        raise UsageError(
            f"--approve {parsed.approve!r} is not one of {choices}; see %config ToolChat"
        )
    if parsed.share not in get_args(Share):
        check_sharing(parsed.share)
    checked_count(parsed.max_turns, "--max-turns")
    checked_count(parsed.jobs, "--jobs")
    if parsed.replay and parsed.model:
        raise UsageError("--replay is the model that answers: leave out -m")
    for option, named in (("-i", parsed.inputs), ("-o", parsed.outputs)):
        names = [pair[0] for pair in named]
        if twice := [name for name in names if names.count(name) > 1]:
            raise UsageError(f"{option} names {twice[0]!r} twice")


SET_UP = frozenset(
    {"model", "tools", "inputs", "outputs", "scheme", "native", "force"}
    | {"system", "approve", "share", "withhold", "breaks", "max_turns", "max_result", "executor"}
    | {"jobs", "record", "replay", "rules", "budget"}
)
"""The options that set a session up; the others are about a cell alone."""


def merged_options(before: Options, now: Options) -> Options:
    """Return the options that set a session up, changed by those of a later line.

    Tools, inputs and outputs come to those that there are; all else takes their place.
    """
    changes: JsonDict = {name: getattr(now, name) for name in now.written & SET_UP}
    if {"model", "replay"} & now.written:
        # Who answers is one of the two, and another one's replies are not to be recorded.
        changes |= {"model": now.model, "replay": now.replay, "record": now.record}
    for name in ("tools", "withhold"):
        both = (*getattr(before, name), *getattr(now, name))
        changes[name] = tuple(dict.fromkeys(both))
    for name in ("inputs", "outputs"):
        both = (*getattr(before, name), *getattr(now, name))
        changes[name] = tuple({pair[0]: pair for pair in both}.values())
    return replace(before, **changes, written=before.written | now.written)


def help_text() -> str:
    """Return the options, and one example."""
    example = (
        "\nExample:\n  %%toolchat -m scripted:kitchen -t Potato Oven Fries"
        " -i potato sink oven plate -o fries:Plate\n"
        "  Bake me some fries from {potato}. Save them as fries.\n"
    )
    return parser().format_help() + example


# -- what the options set up, from the variables that they name ---------------------------------


def context_for_cell(
    options: Options,
    variables: Variables,
    journal: Journal,
    folder: Path,
    model: Model | None = None,
    budget: Budget | None = None,
) -> tuple[SessionContext, Opened]:
    """Return what a cell's options set up, with the model and the budget that they name, or with
    these.

    Raises UsageError and DefinitionError.
    """
    box = toolbox_for_cell(options, variables, folder)
    inputs = {n: Described(_variable(n, variables, "-i"), text) for n, text in options.inputs}
    outputs = {
        name: Described(_output_type(name, kind, {**_input_types(inputs), **variables}, box), text)
        for name, kind, text in options.outputs
    }
    rules = rules_named(options.rules, folder) if options.rules else []
    scheme = _scheme(options.scheme, variables)
    context, opened = open_session(
        box,
        model_for_cell(options, variables, folder) if model is None else model,
        scheme=Native(scheme, force=True) if options.force else scheme,
        native=options.native,
        inputs=inputs,
        outputs=outputs,
        system=_system_prompt(options.system, variables),
        approve=[*rules, options.approve],
        journal=journal,
        breaks=options.breaks,
        max_turns=options.max_turns,
        max_result=options.max_result,
        executor=_executor(options.executor, variables),
        jobs=options.jobs,
        budget=Budget.parsed(options.budget) if options.budget and budget is None else budget,
        sharing=check_sharing(options.share, options.withhold),
    )
    return context, replace(
        opened, model=model_identity(context.model), server=server_digest(context.model)
    )


def _system_prompt(text: str, variables: Variables) -> str:
    """Return what --system holds: the prompt, or the name of a variable that holds it."""
    held = variables.get(text) if text.isidentifier() else None
    return text_without_secrets("--system", text, held) if isinstance(held, str) else text


def _executor(name: str, variables: Variables) -> Executor | None:
    """Return the executor that a variable holds, or the one of that name. Raises UsageError."""
    if not name:
        return None
    held = [key for key, value in variables.items() if is_executor(value)]
    return executor_named(variables.get(name, name), "--executor", (*NAMES, *held))


def _variable(name: str, variables: Variables, option: str) -> object:
    """Return a variable's value. Raises UsageError, which names the nearest."""
    # A method of a variable is named too.
    first, *attributes = name.split(".")
    value, missing = attempt(lambda: functools.reduce(getattr, attributes, variables[first]))
    if missing:
        names = [variable for variable in variables if not variable.startswith("_")]
        names += {"-t": toolsets.NAMES, "-m": [f"{p}:MODEL" for p in PROVIDERS]}.get(option, ())
        raise UsageError(f"{option}: no variable {name} in this notebook.{nearest(name, names)}")
    return value


def toolbox_for_cell(options: Options, variables: Variables, folder: Path) -> Toolbox:
    """Return the tools that -t names. Raises UsageError and DefinitionError."""
    return Toolbox(*(_tool_source(name, variables, folder, options) for name in options.tools))


def _tool_source(name: str, variables: Variables, folder: Path, options: Options) -> object:
    """Return what a toolbox takes: a toolset by its name, or what a variable holds. A definition
    that is held as data is read. Raises UsageError."""
    sharing = check_sharing(options.share, options.withhold)
    if name not in variables and toolsets.is_toolset_name(name):
        return toolsets.toolset_named(name, folder, sharing)
    if name.startswith("mcp:"):
        return _mcp_tools(name.removeprefix("mcp:"), folder, options.mcp_servers)
    held = _variable(name, variables, "-t")
    value = toolsets.with_sharing(held, sharing, "share" in options.written)
    parts = value if isinstance(value, list) and value else [value]
    if not all(isinstance(part, dict) for part in parts):
        return value
    return import_module("..sources.definition_tools", __package__).from_definitions(value)


def _mcp_tools(name: str, folder: Path, servers: Mapping[str, object]) -> Toolbox:
    """Return the tools of an MCP server by its name; the person is asked before the first use."""
    addresses = import_module("..sources.mcp_servers", __package__)
    address = addresses.confirmed_address(name, folder, servers, _confirm)
    toolbox: Toolbox = import_module("..sources.mcp_tools", __package__).from_mcp(address)
    return toolbox


def _confirm(question: str) -> bool:
    """Return whether a person says yes; no where nobody can be asked, as in a notebook that runs
    without one."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    # Jupyter raises StdinNotImplementedError.
    except (EOFError, NotImplementedError, RuntimeError):
        return False


def _input_types(inputs: Mapping[str, Described]) -> dict[str, type]:
    """Return the types of the inputs by name, so that an output can be of one without an import."""
    return {type(value).__name__: type(value) for value, _ in inputs.values()}


def _scheme(name: str, variables: Variables) -> str | Scheme:
    """Return a scheme of ours by its name, or else the one that a variable holds."""
    if name in SCHEMES:
        return name
    if name not in variables:
        held = [variable for variable, value in variables.items() if is_scheme(value)]
        raise UsageError(
            f"--scheme: there is no scheme {name!r}, and no variable of that name; there are "
            f"{', '.join((*SCHEMES, *held))}.{nearest(name, (*SCHEMES, *held))}"
        )
    return scheme_named(variables[name])


def _output_type(name: str, kind: str, variables: Variables, box: Toolbox) -> object:
    """Return the type of an output: a class that a variable holds, or is in it, or a scalar."""
    first, *attributes = kind.split(".")
    held = variables.get(first)
    for attribute in attributes:
        held = getattr(held, attribute, None)
    # A module may be called as the type that it holds: it is none.
    output_type = held if isinstance(held, type) else box.type_named(kind)
    if output_type is not None:
        return output_type
    if kind in SCALARS:
        return kind
    written = type_from_text(kind, {**variables, **{n: cls for cls, n in box.kinds.items()}})
    if written is not None:
        return written
    classes = [n for n, value in variables.items() if isinstance(value, type) and n[:1] != "_"]
    names = [*dict.fromkeys([*box.kinds.values(), *classes, *SCALARS])]
    raise UsageError(f"-o {name}: no type {kind} in this notebook.{nearest(kind, names)}")


def model_for_cell(options: Options, variables: Variables, folder: Path) -> Model | None:
    """Return the model of a cell; with `replay` a recorded one, with `record` one that is recorded.

    Files are named from `folder`. Raises UsageError.
    """
    model: Model | None
    if options.replay:
        model = Recorded(folder / options.replay, name=options.replay)
    else:
        model = _named_model(options.model or options.default_model, variables, folder)
    if not options.record or model is None or isinstance(model, StandIn):
        return model
    if isinstance(model, Person):
        raise UsageError(
            "--record keeps what a model replies by itself; what a person replies is kept in the "
            "notebook, and --replay NOTEBOOK replays it"
        )
    return Recording(model, new_tape(folder, options.record), name=options.record)


def _named_model(name: str, variables: Variables, folder: Path) -> Model | None:
    """Return a model by its name, or from a variable."""
    name = name or default(os.environ)
    if not name:
        raise UsageError(
            "no model: give one with -m, such as -m scripted:kitchen (offline), "
            "-m anthropic:MODEL, or -m NAME of a variable that holds a model"
        )
    if not is_name(name):
        held = _variable(name, variables, "-m")
        if not callable(held):
            raise UsageError(f"-m {name}: that variable holds no model; Scripted([...]) makes one")
        return model_named(held)
    recording = name.removeprefix("recorded:")
    return model_named(name) if recording == name else Recorded(folder / recording, name=recording)


def shown_model_name(model: object) -> str:
    """Return the name of a model as a panel shows it: of a function its own."""
    return str(getattr(model, "name", None) or getattr(model, "__name__", type(model).__name__))


def text_without_secrets(where: str, name: str, value: object) -> str:
    """Return a value as text. Raises UsageError where the text would hold a secret."""
    text = str(value)
    named = isinstance(value, str) and is_named_secret(name)
    if named or hiding(os.environ)(text) != text or hasattr(value, "get_secret_value"):
        raise UsageError(f"{where} holds a secret; a prompt is sent and saved, so it stays out")
    return text
