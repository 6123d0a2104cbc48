"""Completion inside `%%toolchat` cells, from the kernel, so that every front end has it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

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
    from ..options.line import parser
    from .lines import subcommands
    from .notebook import here

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

    from ..schemes.outputs import SCALARS

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
    from .notebook import here

    command = line.split()[1:2]
    session = here().cells.sessions.get(here().cells.last or "")
    if session is None or command not in (["branch"], ["checkout"], ["diff"]):
        return []
    return [*session.branch_names] if line.endswith(" ") or len(line.split()) > 2 else []


def _after_subcommand(line: str) -> list[str]:
    """What may stand after a subcommand that an extension added."""
    from .notebook import here

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
    from .notebook import here

    if line[: len(line) - len(_fragment(line))].endswith("{"):
        return [name + "}" * (not rest.startswith("}")) for name in _variables("input")]
    sessions = here().cells.sessions
    last = sessions.get(here().cells.last or "")
    known = [*last.objects[::-1], *last.toolbox.names] if last else []
    return [*known, *(f"{{{name}}}" for name in _variables("input"))]
