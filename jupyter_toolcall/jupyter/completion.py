"""Completion inside `%%toolchat` cells, from the kernel, so that every front end has it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from ..core.text import LINES, printable

_FRAGMENT = re.compile(r"[^\s{}\"']*$")


@context_matcher(identifier="toolchat")  # type: ignore[untyped-decorator]
def matcher(context: CompletionContext) -> dict[str, Any]:
    """Return what fits at the cursor: options on the first line, objects and tools below."""
    if not context.full_text.lstrip().startswith(("%%toolchat", "%toolchat")):
        return {"completions": []}
    line = context.line_with_cursor[: context.cursor_position]
    fragment = _fragment(line)
    rest = context.line_with_cursor[context.cursor_position :]
    words = _first_line(line) if context.cursor_line == 0 else _below(line, rest)
    found = [
        SimpleCompletion(text=word, type="toolchat") for word in words if word.startswith(fragment)
    ]
    return {"completions": found, "matched_fragment": fragment, "suppress": bool(found)}


def _fragment(line: str) -> str:
    found = _FRAGMENT.search(line)
    return found[0] if found else ""


def _first_line(line: str) -> Iterable[str]:
    """Option names, or the values of the option before the cursor."""
    from ..models.named import completions, recordings
    from .notebook import current_notebook as here
    from .options import parser
    from .subcommands import subcommands

    if line.lstrip().startswith("%toolchat"):
        return _branch_names(line) or _after_subcommand(line) or subcommands()
    actions = parser()._actions
    options = {name: action for action in actions for name in action.option_strings}
    words = line.split()
    before = [word for word in words[: len(words) - (not line.endswith(" "))] if word in options]
    if not before or _fragment(line).startswith("-"):
        return options
    action = options[before[-1]]
    if action.choices:
        return [str(choice) for choice in action.choices]
    match action.dest:
        case "model":
            return completions(here().cells.folder)
        case "replay":
            added = (each.replay_files() for each in here().cells.extensions.values())
            return [*recordings(here().cells.folder), *(name for each in added for name in each)]
        case "scheme":
            return _schemes()
        case "session":
            return [name for name in here().cells.sessions if name]
    name, typed, _ = _fragment(line).partition(":")
    if action.dest == "output" and typed:
        return [f"{name}:{kind}" for kind in _types()]
    return [*_variables(action.dest), *options]


def _types() -> list[str]:
    """The types that an output can have: classes of the notebook, and scalars."""
    from IPython import get_ipython

    from ..schemes.save_tool import SCALARS

    held: dict[str, Any] = get_ipython().user_ns
    classes = (n for n, value in held.items() if isinstance(value, type) and n[:1] != "_")
    return [*classes, *SCALARS]


def _schemes() -> list[str]:
    """The schemes of ours, and the variables that hold another one."""
    from IPython import get_ipython

    from ..schemes import SCHEMES, is_scheme

    held: dict[str, Any] = get_ipython().user_ns
    return [*SCHEMES, *(name for name, value in held.items() if is_scheme(value))]


def _branch_names(line: str) -> list[str]:
    """The names of branches, behind a subcommand that takes one."""
    from .notebook import current_notebook as here

    command = line.split()[1:2]
    session = here().cells.sessions.get(here().cells.last or "")
    if session is None or command not in (["branch"], ["checkout"], ["diff"]):
        return []
    return [*session.branch_names] if line.endswith(" ") or len(line.split()) > 2 else []


def _after_subcommand(line: str) -> list[str]:
    """What may stand after a subcommand that an extension added."""
    from .notebook import current_notebook as here

    words = line.split()
    if len(words) < 2 or not (line.endswith(" ") or len(words) > 2):
        return []
    extension = here().cells.extension_of(words[1])
    return extension.complete_subcommand(words[1]) if extension is not None else []


def _variables(dest: str) -> list[str]:
    if dest not in ("tools", "input", "system", "output"):
        return []
    from IPython import get_ipython

    names: dict[str, Any] = get_ipython().user_ns
    return [
        name for name, value in names.items() if not name.startswith("_") and not _module(value)
    ]


def _module(value: Any) -> bool:
    return isinstance(value, type(sys))


def _below(line: str, rest: str) -> list[str]:
    """Objects and tools of the last session, and the variables that a prompt may name."""
    from .notebook import current_notebook as here

    if line[: len(line) - len(_fragment(line))].endswith("{"):
        return [name + "}" * (not rest.startswith("}")) for name in _variables("input")]
    sessions = here().cells.sessions
    last = sessions.get(here().cells.last or "")
    known = [*last.objects[::-1], *last.toolbox.names] if last else []
    return [*known, *(f"{{{name}}}" for name in _variables("input"))]


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
    from .options import help_text, parser

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
    from .notebook import current_notebook as here

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
    from ..core.errors import Absent
    from ..tools.value_copies import describe

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
