"""`jupyter toolcall` on the command line: run, show and verify notebooks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .errors import ToolcallError
from .notebooks import Recorded, execute, recorded, verify


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a subcommand; return 0, or 1 where something is not as it should be."""
    parsed = parser().parse_args(arguments)
    try:
        return int(parsed.act(parsed))
    except (ToolcallError, OSError) as error:
        print(f"toolcall: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser("jupyter toolcall", description=__doc__)
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    run = _command(commands, "run", _run, "execute a notebook and print the chains of objects")
    run.add_argument("notebook", type=Path)
    run.add_argument("--output", type=Path, help="where the executed notebook goes")
    show = _command(commands, "show", _show, "print the sessions that a notebook or journal holds")
    show.add_argument("file", type=Path, nargs="+")
    check = _command(commands, "verify", _verify, "run notebooks anew, offline, and compare")
    check.add_argument("notebook", type=Path, nargs="+")
    return made


Act = Callable[[argparse.Namespace], int]


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, act: Act, said: str
) -> argparse.ArgumentParser:
    made = commands.add_parser(name, help=said, description=said)
    made.set_defaults(act=act)
    return made


def _run(parsed: argparse.Namespace) -> int:
    target = parsed.output or parsed.notebook.with_suffix(".executed.ipynb")
    executed = execute(parsed.notebook)
    target.parent.mkdir(parents=True, exist_ok=True)
    executed.write(target)
    for session in executed.sessions:
        _print(session)
    print(f"\nThe executed notebook: {target}\nTo open it: jupyter lab {target}")
    return 0


def _show(parsed: argparse.Namespace) -> int:
    for path in parsed.file:
        for session in recorded(path):
            _print(session)
    return 0


def _print(session: Recorded) -> None:
    print(f"\n{session.where}")
    for line in session.text.splitlines():
        print(f"  {line}")


def _verify(parsed: argparse.Namespace) -> int:
    failed = 0
    for path in parsed.notebook:
        found = verify(path)
        failed += found.divergence != ""
        verdict = "differs" if found.divergence else "same   "
        print(f"{verdict}  {path}: {found.divergence or found.said}")
    return 1 if failed else 0
