"""Carrying a line out: which subcommand is meant, on which session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...errors import UsageError
from ...models.named import default, models, table
from ...printable import print_text
from ...runner.store import megabytes, shelf
from ...tools import nearest
from ..cells import Cells
from ..extensions import registrations
from . import branching, going, looking, taking
from .words import Commands, without_name

GROUPS = (looking, going, branching, taking)
"""The files that hold the subcommands of a session, as the help lists them."""
_COMMANDS: Commands = {name: do for group in GROUPS for name, do in group.COMMANDS.items()}
_NOTHING: Mapping[str, Any] = {}


def subcommands() -> tuple[str, ...]:
    """Return the names of all subcommands, those of extensions too."""
    added = (name for each in registrations() for name in each.subcommands)
    return (*_COMMANDS, *added, "sessions", "values", "models", "config", "help")


def carry_out(
    words: list[str],
    cells: Cells,
    settings: Mapping[str, Any],
    variables: Mapping[str, Any] = _NOTHING,
) -> Any:
    """Carry a subcommand out on a session; return the session where it went on.

    `-n NAME` names the session, the last one without. Returns something to display where the
    subcommand comes to that, else None. Raises UsageError.
    """
    words, name = without_name(words)
    command, *rest = words or ["status"]
    if command in ("help", "--help", "-h"):
        print_text(help_text())
        return None
    if command == "config":
        print_text("\n".join(f"ToolChat.{name} = {value!r}" for name, value in settings.items()))
        return None
    if command == "sessions":
        _sessions(cells)
        return None
    if command == "status" and (stored := cells.stored(name)):
        print_text(stored)
        return None
    if command == "models":
        chosen = settings.get("model") or default(os.environ)
        print_text(table(models(os.environ, cells.folder), chosen))
        return None
    if command == "values":
        print_text(_values("--forget" in rest))
        return None
    if (extension := cells.extension_of(command)) is not None:
        return extension.subcommand(command, rest, name, variables)
    if command not in _COMMANDS:
        known = subcommands()
        raise UsageError(
            f"no subcommand {command!r}; there are {', '.join(known)}.{nearest(command, known)}"
        )
    return _COMMANDS[command](cells.today(cells.current(name), variables), rest)


def _values(forget: bool) -> str:
    store = shelf()
    if store is None:
        return "no value is kept beyond its kernel"
    if forget:
        return f"removed {store.clear()}; a replay makes again what it needs, and asks before it"
    return f"{store.held()} of {megabytes(store.room)}, in {store.folder}"


def _sessions(cells: Cells) -> None:
    for name, session in cells.sessions.items():
        mark = "*" if name == cells.last else " "
        print_text(f"{mark} {name or '(unnamed)'}: {session!r}")
    if not cells.sessions:
        print_text(cells.stored() or "no session yet; a %%toolchat cell opens one")


def help_text() -> str:
    """Return what the subcommands do."""
    config = "  config                     the settings; %config ToolChat.NAME = VALUE changes one"
    added = (each.help for each in registrations())
    groups = (group.HELP for group in GROUPS)
    return "".join(["%toolchat SUBCOMMAND [-n SESSION]\n", *groups, *added, config])
