"""Completion and help inside `%%toolchat` cells, from the kernel, so that every front end has it.

`%load_ext` imports this; what an answer needs is imported when somebody asks for one.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from IPython import get_ipython
from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from ..core.text import LINES, printable

if TYPE_CHECKING:
    from ..session.session import Session
    from .cells import Cells

_FRAGMENT = re.compile(r"[^\s{}\"']*$")
_WORD = re.compile(r"%{0,2}-{0,2}[A-Za-z_][\w-]*(?:#\d+)?|--?")
MOST = 1_000
"""Characters of a value in a help text."""


def _cells() -> Cells:
    from .notebook import current_notebook

    return current_notebook().cells


def _last_session() -> Session | None:
    cells = _cells()
    return cells.sessions.get(cells.last or "")


def _options() -> dict[str, argparse.Action]:
    from .options import parser

    return {name: action for action in parser()._actions for name in action.option_strings}


def _variables() -> list[str]:
    """Return the notebook's variables, without modules and private ones."""
    names: dict[str, Any] = get_ipython().user_ns
    return [n for n, value in names.items() if n[:1] != "_" and not isinstance(value, ModuleType)]


# -- completion --------------------------------------------------------------------------------


@context_matcher(identifier="toolchat")  # type: ignore[untyped-decorator]
def matcher(context: CompletionContext) -> dict[str, Any]:
    """Return what fits at the cursor: options on the first line, objects and tools below."""
    if not context.full_text.lstrip().startswith(("%%toolchat", "%toolchat")):
        return {"completions": []}
    at = context.cursor_position
    line, after = context.line_with_cursor[:at], context.line_with_cursor[at:]
    fragment = _fragment(line)
    if context.cursor_line > 0:
        words: Iterable[str] = _prompt_words(line, after)
    elif line.lstrip().startswith("%toolchat"):
        words = _subcommand_words(line)
    else:
        words = _option_words(line, fragment)
    found = [
        SimpleCompletion(text=word, type="toolchat") for word in words if word.startswith(fragment)
    ]
    return {"completions": found, "matched_fragment": fragment, "suppress": bool(found)}


def _fragment(line: str) -> str:
    """Return what stands of a word before the cursor."""
    match = _FRAGMENT.search(line)
    return match[0] if match else ""


def _option_words(line: str, fragment: str) -> Iterable[str]:
    """Return the names of options, or the values of the option before the cursor."""
    options, words = _options(), line.split()
    before = [word for word in words[: len(words) - (not line.endswith(" "))] if word in options]
    if not before or fragment.startswith("-"):
        return options
    action = options[before[-1]]
    return [str(choice) for choice in action.choices or _option_values(action.dest, fragment)]


def _option_values(option: str, fragment: str) -> list[str]:
    """Return the values that an option can have; other options where they are not known."""
    from ..models.named import completions, recordings
    from ..schemes import SCHEMES, is_scheme
    from ..schemes.save_tool import SCALARS
    from ..sources.toolsets import NAMES
    from ..tools import executors

    cells, variables = _cells(), get_ipython().user_ns
    match option:
        case "model":
            return [*completions(cells.folder)]
        case "replay":
            added = (extension.replay_files() for extension in cells.extensions.values())
            return [*recordings(cells.folder), *(name for names in added for name in names)]
        case "scheme":
            return [*SCHEMES, *(name for name, value in variables.items() if is_scheme(value))]
        case "executor":
            return [
                *executors.NAMES,
                *(n for n, v in variables.items() if executors.is_executor(v)),
            ]
        case "session":
            return [name for name in cells.sessions if name]
        case "outputs" if ":" in fragment:
            classes = [n for n, v in variables.items() if isinstance(v, type) and n[:1] != "_"]
            # Inside brackets a type stands where the last one begins.
            at = max(fragment.rfind(sign) for sign in ":[,|") + 1
            generic = ("list[", "dict[str, ", "tuple[", "set[")
            return [f"{fragment[:at]}{kind}" for kind in (*classes, *SCALARS, *generic)]
        case "tools":
            return [*_variables(), *NAMES, *_mcp_names(cells.folder), *_options()]
        case "inputs" | "system" | "outputs":
            return [*_variables(), *_options()]
    return [*_options()]


def _mcp_names(folder: Path) -> list[str]:
    """Return the MCP servers that have a name here, none where a file of them cannot be read."""
    from ..core.errors import UsageError
    from ..sources.mcp_servers import named_servers
    from .magics import settings_of

    try:
        servers = named_servers(folder, settings_of(get_ipython()).mcp_servers)
    except UsageError:
        return []
    return [f"mcp:{name}" for name in servers]


def _subcommand_words(line: str) -> Iterable[str]:
    """Return the subcommands, or behind one of them the names that it takes."""
    from .subcommands import subcommands

    words, cells = line.split(), _cells()
    candidates: list[str] = []
    if len(words) > 1 and (line.endswith(" ") or len(words) > 2):
        session = _last_session()
        if words[1] in ("branch", "checkout", "diff") and session is not None:
            candidates = [*session.branch_names]
        elif (extension := cells.extension_of(words[1])) is not None:
            candidates = extension.complete_subcommand(words[1])
    return candidates or subcommands()


def _prompt_words(line: str, after: str) -> list[str]:
    """Objects and tools of the last session, and the variables that a prompt may name."""
    if line[: len(line) - len(_fragment(line))].endswith("{"):
        return [name + "}" * (not after.startswith("}")) for name in _variables()]
    last = _last_session()
    names = [*last.objects[::-1], *last.toolbox.names] if last is not None else []
    return [*names, *(f"{{{name}}}" for name in _variables())]


# -- help --------------------------------------------------------------------------------------


def help_at(code: str, at: int) -> dict[str, str]:
    """Return the MIME bundle of the help for a position in a cell; empty for none."""
    begin = len(code) - len(code.lstrip())
    if not code.startswith("%%toolchat", begin):
        return {}
    end = code.find("\n", begin) % (len(code) + 1)
    word, before = word_at(code, at), code[begin : min(at, end)]
    text = _option_help(word, before) if at <= end else _name_help(word)
    return {"text/plain": printable(text, LINES)} if text else _variable_help(word)


def word_at(code: str, at: int) -> str:
    """Return the word at a position or right before it, "" where there is none."""
    spans = _WORD.finditer(code)
    return next((match[0] for match in spans if match.start() <= at <= match.end()), "")


def _option_help(word: str, before: str) -> str:
    """Return what an option is, also at its value; the whole table at the magic's name."""
    from .options import help_text

    if word == "%%toolchat":
        return help_text()
    options = _options()
    named = [name for name in before.split() if name in options]
    # A variable says more of itself than the option that names it.
    if word not in options and (not named or (word and _variable_help(word))):
        return ""
    action = options[word if word in options else named[-1]]
    takes = "|".join(map(str, action.choices)) if action.choices else (action.metavar or "")
    several = "…" if action.nargs == "+" else ""
    default = f" (default {action.default})" if action.choices else ""
    head = " ".join(filter(None, [", ".join(action.option_strings), f"{takes}{several}"]))
    return f"{head}\n{(action.help or '').replace('%%', '%')}{default}"


def _name_help(word: str) -> str:
    """Return what an object or a tool of the last session is."""
    from ..core.errors import Absent
    from ..tools.plain_data import describe

    session = _last_session()
    if session is None:
        return ""
    if word in session.objects:
        sources = ", ".join(session.deps(word))
        try:
            value = describe(session[word], MOST)
        except Absent:
            value = "Its value is not at hand in this kernel: a replay makes it again."
        return "\n".join(filter(None, [word, sources and f"came from {sources}", value]))
    if word in session.toolbox.names:
        tool = session.toolbox[word]
        takes = tool.parameters.get("properties", {})
        lines = (f"  {n}: {part.get('description', '')}".rstrip(": ") for n, part in takes.items())
        return "\n".join([f"{word}({', '.join(takes)})", tool.description, *lines])
    return ""


def _variable_help(word: str) -> dict[str, str]:
    """Return what IPython says of a variable."""
    shell = get_ipython()
    if word not in shell.user_ns:
        return {}
    return {"text/plain": shell.object_inspect_mime(word)["text/plain"]}
