"""Taking a session home: why something is there, and files."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import UsageError
from ...printable import print_text
from ...session import Session
from ...tools import nearest
from .words import Commands, Result, call_named

_OPTIONS = ("--to", "--force")


def _home() -> Any:
    """What writes files is imported when the first one is written."""
    return import_module("...export", __package__)


def _export(session: Session, words: list[str]) -> Result:
    rest, to = _without_format(words)
    force = "--force" in rest
    names = [word for word in rest if word != "--force"]
    wrong = next((word for word in names if word.startswith("-")), None)
    if wrong is not None:
        raise UsageError(f"export knows no {wrong}.{nearest(wrong, _OPTIONS)}")
    if len(names) != 1:
        known = ", ".join(_home().FORMATS)
        raise UsageError(
            f"export takes the name of one file, such as fries.py; its formats are {known}"
        )
    path = session.export(names[0], to, force=force)
    print_text(f"{path}  ({_home().format_named(path, to).what})")
    return None


def _without_format(words: list[str]) -> tuple[list[str], str | None]:
    if "--to" not in words:
        return words, None
    at = words.index("--to")
    if at + 1 >= len(words):
        raise UsageError(f"--to needs one of {', '.join(_home().FORMATS)}")
    return words[:at] + words[at + 2 :], words[at + 1]


def _why(session: Session, words: list[str]) -> Result:
    if len(words) != 1:
        raise UsageError("why takes one name, such as Plate#2, an output, or a call's number")
    name = words[0]
    print_text(session.why(call_named(session, name) if name.isdigit() else name))
    return None


COMMANDS: Commands = {"why": _why, "export": _export}
HELP = """\
  why NAME                   the calls that an object, an output or a call came of, and the code
  export PATH [--to FORMAT]  take it home: py, ipynb, html, dot, svg, json or messages
"""
