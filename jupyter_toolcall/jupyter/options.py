"""The options of a `%%toolchat` line: read, checked, and completed.

Every mistake is found here, in one line that names what is allowed.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from ..core.errors import UsageError
from ..core.text import nearest
from ..engine.approval_policy import PRESETS
from ..schemes import SCHEMES
from .configuration import FLAGS, REPLAY_SOURCES


@dataclass(frozen=True, slots=True)
class Options:
    """What a cell asked for, as it was written."""

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
    system: str = ""
    approve: str = "ask"
    breaks: tuple[str, ...] = ()
    step: bool = False
    wait: bool = True
    max_turns: int = 50
    record: str = ""
    """The file in which the model's turns are recorded."""
    replay: str = ""
    """The recording that is the model."""
    quiet: bool = False
    help: bool = False
    said: frozenset[str] = frozenset()
    """The names of the options that the line has."""
    default_model: str = ""
    """The model where a cell opens a session and names none."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The values of the options that extensions added, by name."""

    @property
    def opens(self) -> bool:
        """Whether they set a session up, and do not just go on with one."""
        named = self.model or self.replay or self.system
        return bool(named or self.tools or self.inputs or self.outputs)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. %%toolchat --help lists the options")

    def refuse_unknown(self, unknown: Sequence[str]) -> None:
        """Raise UsageError, which names the nearest option, where words were not understood."""
        if unknown:
            known = [option for action in self._actions for option in action.option_strings]
            hint = nearest(unknown[0], known)
            message = f"unrecognized arguments: {' '.join(unknown)}"
            raise UsageError(f"{message}.{hint} %%toolchat --help lists the options")


def _words(flags: str, metavar: str, said: str) -> _Row:
    return flags, {
        "nargs": "+",
        "action": "extend",
        "default": [],
        "metavar": metavar,
        "help": said,
    }


def _text(flags: str, metavar: str, said: str, **more: Any) -> _Row:
    return flags, {"default": "", "metavar": metavar, "help": said, **more}


def _one(flags: str, default: str, known: Iterable[str], said: str) -> _Row:
    return flags, {"default": default, "choices": list(known), "help": said}


def _mark(flags: str, said: str, **more: Any) -> _Row:
    return flags, {"action": "store_true", "help": said, **more}


_Row = tuple[str, dict[str, Any]]
_TABLE: tuple[_Row, ...] = (
    _text(
        "-m --model",
        "NAME",
        "who answers: %%toolchat models lists them; or a variable that holds a model",
    ),
    _words(
        "-t --tools",
        "NAME",
        "variables that hold functions, classes, instances, definitions or toolboxes",
    ),
    _words("-i --input", "NAME[:TEXT]", "variables that become objects"),
    _words(
        "-o --output",
        "NAME:TYPE[:TEXT]",
        "what is to be made; bound as a variable once it is saved",
    ),
    _text("-n --session", "NAME", "a session that other cells go on with"),
    _mark("--fresh", "ask anew, on a new branch, even where an answer is recorded"),
    _text(
        "--scheme",
        f"{'|'.join(SCHEMES)}",
        "how tools are shown to the model; or a variable that holds a scheme",
        default="select",
    ),
    _mark("--native", "tools are spoken of in the text, as XML, and called in it"),
    _text("--system", "TEXT", "what the model is told first, or a variable that holds it"),
    _one("--approve", "ask", PRESETS, "which calls wait for you; ask: all but read-only ones"),
    _text(
        "--break", "GLOB", "calls that wait in any case", dest="breaks", action="append", default=[]
    ),
    _mark("--step", "wait before every step"),
    _mark("--wait", "the cell waits for you (default)", default=True),
    _mark(
        "--no-wait",
        "the cell ends at a pause; the panel goes on from there",
        dest="wait",
        action="store_false",
    ),
    _text("--max-turns", "N", "stop after so many replies (default 50)", type=int, default=50),
    _text("--record", "FILE", "record what the model is told and says, a line a turn"),
)


_LAST: tuple[_Row, ...] = (
    _mark("--quiet", "no panel, only the result"),
    _mark("--help", "this text"),
)


def parser() -> _Parser:
    """Return the parser of the line behind `%%toolchat`."""
    made = _Parser(
        prog="%%toolchat", add_help=False, allow_abbrev=False, usage="%%toolchat [options]"
    )
    for flags, settings in _rows():
        made.add_argument(*flags.split(), **settings)
    return made


def _rows() -> list[_Row]:
    """Return the options in the order of the help."""
    others = "".join(f", or {noun} ({end}) replays" for end, noun in REPLAY_SOURCES.items())
    rows = [
        *_TABLE,
        _text("--replay", "FILE|NOTEBOOK", f"say again what was recorded there{others}"),
    ]
    for flag in FLAGS.values():
        rows.append(_mark(f"--{flag.name}", flag.help))
        off = {"dest": flag.name, "action": "store_false"}
        rows.append(_mark(f"--no-{flag.name}", flag.help_off, **off))
    return [*rows, *_LAST]


def parse_options(line: str, settings: Mapping[str, Any] | None = None) -> Options:
    """Return the options of a line; what it leaves out is as the settings say.

    Raises UsageError.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"the options cannot be read ({error}); close the quotes") from None
    reader, chosen = parser(), dict(settings or {})
    model = chosen.pop("model", "")
    reader.set_defaults(**chosen)
    found, unknown = reader.parse_known_args(words)
    reader.refuse_unknown(unknown)
    _one_of("--approve", found.approve, PRESETS)
    if found.max_turns < 1:
        raise UsageError("--max-turns must be at least 1")
    if found.replay and found.model:
        raise UsageError("--replay is the model that answers: leave out -m")
    return Options(
        **{name: getattr(found, name) for name in _AS_WRITTEN},
        tools=tuple(dict.fromkeys(found.tools)),
        inputs=_once("-i", [_input(text) for text in found.input]),
        outputs=_once("-o", [_output(text) for text in found.output]),
        session=_session(found.session),
        breaks=tuple(found.breaks),
        said=_said(reader, words),
        default_model=model,
        extra={name: getattr(found, name) for name in FLAGS},
    )


_AS_WRITTEN = (
    *("model", "fresh", "scheme", "native", "system", "approve", "step", "wait", "max_turns"),
    *("record", "replay", "quiet", "help"),
)
"""The options whose values are what the line or a setting says."""


def _said(reader: argparse.ArgumentParser, words: Sequence[str]) -> frozenset[str]:
    heads = {word.partition("=")[0] for word in words}
    found = (a.dest for a in reader._actions if heads & set(a.option_strings))
    return frozenset({"input": "inputs", "output": "outputs"}.get(dest, dest) for dest in found)


SET_UP = frozenset(
    {"model", "tools", "inputs", "outputs", "scheme", "native"}
    | {"system", "approve", "breaks", "max_turns", "record", "replay"}
)
"""The options that set a session up; the others are about a cell alone."""


def merged_options(before: Options, now: Options) -> Options:
    """Return what a session was set up with, changed by what a later line says.

    Tools, inputs and outputs come to those that there are; all else takes their place.
    """
    changes: dict[str, Any] = {name: getattr(now, name) for name in now.said & SET_UP}
    if {"model", "replay"} & now.said:
        # Who answers is one of the two, and what another one said is not to be recorded.
        changes |= {"model": now.model, "replay": now.replay, "record": now.record}
    changes["tools"] = tuple(dict.fromkeys((*before.tools, *now.tools)))
    for name in ("inputs", "outputs"):
        both = (*getattr(before, name), *getattr(now, name))
        changes[name] = tuple({each[0]: each for each in both}.values())
    return replace(before, **changes, said=before.said | now.said)


def _one_of(option: str, value: str, known: Iterable[str]) -> None:
    """What a line says was checked when it was read; a setting is checked here."""
    if value not in known:
        raise UsageError(
            f"{option} {value!r} is not one of {', '.join(known)}; see %config ToolChat"
        )


def _input(text: str) -> tuple[str, str]:
    name, _, said = text.partition(":")
    return _variable("-i", name), said


def _output(text: str) -> tuple[str, str, str]:
    name, _, rest = text.partition(":")
    kind, _, said = rest.partition(":")
    if not kind:
        raise UsageError(
            f"-o {text} has no type; write {name or 'NAME'}:TYPE, such as {name or 'fries'}:str"
        )
    return _variable("-o", name), kind, said


def _variable(option: str, name: str) -> str:
    if not name.isidentifier():
        raise UsageError(f"{option} {name!r} is no variable's name")
    return name


def _session(name: str) -> str:
    if name and not (name.replace("-", "").replace("_", "").isalnum() and len(name.encode()) <= 64):
        raise UsageError(f"-n {name!r} is no session's name; use letters, digits, - and _")
    return name


def _once(option: str, found: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    names = [each[0] for each in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{option} names {twice!r} twice")
    return tuple(found)


def help_text() -> str:
    """Return the options, and one example."""
    example = (
        "\nExample:\n  %%toolchat -m scripted:kitchen -t Potato Oven Fries"
        " -i potato sink oven plate -o fries:Plate\n"
        "  Bake me some fries from {potato}. Save them as fries.\n"
    )
    return parser().format_help() + example
