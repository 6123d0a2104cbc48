"""Help on what stands at the cursor of a `%%toolchat` cell, for every front end."""

from __future__ import annotations

import argparse
import re
from typing import Any

from ..content.value import describe
from ..printable import LINES, printable

_WORD = re.compile(r"%{0,2}-{0,2}[A-Za-z_][\w-]*(?:#\d+)?|--?")
MOST = 1_000
"""So many characters of a value are told."""


def help_at(code: str, at: int) -> dict[str, str]:
    """Return the MIME bundle of what there is to say of a place in a cell; empty for nothing."""
    begin = len(code) - len(code.lstrip())
    if not code.startswith("%%toolchat", begin):
        return {}
    end = code.find("\n", begin) % (len(code) + 1)
    word, before = word_at(code, at), code[begin : min(at, end)]
    said = _option(word, before) if at <= end else _named(word)
    return {"text/plain": printable(said, LINES)} if said else _variable(word)


def word_at(code: str, at: int) -> str:
    """Return the word at a place or right before it, "" where there is none."""
    spans = _WORD.finditer(code)
    return next((found[0] for found in spans if found.start() <= at <= found.end()), "")


def _option(word: str, before: str) -> str:
    """Return what an option is, also at its value; the whole table at the magic's name."""
    from ..options.line import help_text, parser

    if word == "%%toolchat":
        return help_text()
    actions = {name: action for action in parser()._actions for name in action.option_strings}
    if word in actions:
        return _told(actions[word])
    given = [name for name in before.split() if name in actions]
    # A variable says more of itself than the option that names it.
    if not given or (word and _variable(word)):
        return ""
    return _told(actions[given[-1]])


def _told(action: argparse.Action) -> str:
    takes = "|".join(map(str, action.choices)) if action.choices else (action.metavar or "")
    several = "…" if action.nargs == "+" else ""
    default = f" (default {action.default})" if action.choices else ""
    head = " ".join(filter(None, [", ".join(action.option_strings), f"{takes}{several}"]))
    return f"{head}\n{(action.help or '').replace('%%', '%')}{default}"


def _named(word: str) -> str:
    """Return what an object or a tool of the last session is."""
    from .notebook import here

    session = here().cells.sessions.get(here().cells.last or "")
    if session is None:
        return ""
    if word in session.objects:
        came = ", ".join(session.deps(word))
        return "\n".join(filter(None, [word, came and f"came from {came}", _value(session, word)]))
    if word in session.toolbox.names:
        tool = session.toolbox[word]
        takes = tool.parameters.get("properties", {})
        told = (
            f"  {name}: {each.get('description', '')}".rstrip(": ") for name, each in takes.items()
        )
        return "\n".join([f"{word}({', '.join(takes)})", tool.description, *told])
    return ""


def _value(session: Any, name: str) -> str:
    from ..errors import Absent

    try:
        return describe(session[name], MOST)
    except Absent:
        return "Its value is not at hand in this kernel: a replay makes it again."


def _variable(word: str) -> dict[str, str]:
    """Return what IPython says of a variable."""
    from IPython import get_ipython

    shell = get_ipython()
    if word not in shell.user_ns:
        return {}
    found: dict[str, str] = shell.object_inspect_mime(word)
    return {"text/plain": found["text/plain"]}
