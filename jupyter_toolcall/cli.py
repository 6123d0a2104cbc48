"""`jupyter toolcall` on the command line: run, show and verify notebooks, compare schemes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from .errors import ToolcallError
from .evaluation import SCHEMES, compare, table, tasks_in
from .export import FORMATS
from .export.files import chosen, written
from .notebooks.files import Recorded, execute, recorded
from .reruns.rerun import verify
from .teaching.proving import prove


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a subcommand; return 0, or 1 where something is not as it should be."""
    parsed = parser().parse_args(arguments)
    try:
        return int(parsed.act(parsed))
    except ToolcallError as error:
        print(f"toolcall: {error}", file=sys.stderr)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"toolcall: {where}{error.strerror or error}", file=sys.stderr)
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
    check.add_argument("file", type=Path, nargs="+", help="a notebook, or a journal")
    said = "let run what was decided by hand on another machine, too"
    check.add_argument("--allow", action="store_true", help=said)
    prove_ = _command(commands, "check", _check, "whether exercises pass by their own solutions")
    prove_.add_argument("notebook", type=Path, nargs="+")
    _export_options(_command(commands, "export", _export, "take recorded sessions home"))
    _eval_options(_command(commands, "eval", _eval, "run tasks in several schemes and models"))
    return made


def _export_options(made: argparse.ArgumentParser) -> None:
    formats = "; ".join(f"{each.name}: {each.what}" for each in FORMATS.values())
    made.add_argument("file", type=Path, help="a notebook with recorded sessions, or a journal")
    made.add_argument("--to", choices=list(FORMATS), help=formats)
    made.add_argument("--output", type=Path, help="the file; with several sessions, its beginning")
    made.add_argument(
        "--session", default="", metavar="N", help="a session's cell or name; all without it"
    )
    made.add_argument("--force", action="store_true", help="overwrite what no export made")


def _eval_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("tasks", type=Path, metavar="TASKS", help="a Python file with TASKS")
    made.add_argument("--schemes", type=_names, default=SCHEMES, metavar="NAME,…")
    made.add_argument(
        "--models",
        type=_names,
        default=("ideal",),
        metavar="NAME,…",
        help="ideal (follows each task's plan, offline), or models such as anthropic:MODEL",
    )
    made.add_argument("--attempts", type=int, default=1, metavar="N")
    made.add_argument("--max-turns", type=int, default=50, metavar="N")
    made.add_argument(
        "--approve", default="", metavar="all|read-only", help="has to be said for real models"
    )
    made.add_argument("--each", action="store_true", help="a row for each task")
    made.add_argument("--json", type=Path, metavar="FILE", help="where every run goes, as JSON")


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


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
    for path in parsed.file:
        found = verify(path, parsed.allow)
        failed += not found
        print(f"{'same   ' if found else 'differs'}  {path}: {found}", flush=True)
    return 1 if failed else 0


def _check(parsed: argparse.Namespace) -> int:
    failed = 0
    for path in parsed.notebook:
        for proof in prove(path):
            failed += proof.wrong != ""
            print(f"{'fails ' if proof.wrong else 'passes'}  {path}: {proof.exercise}", end="")
            print(f" ({proof.wrong})" if proof.wrong else "")
    return 1 if failed else 0


def _export(parsed: argparse.Namespace) -> int:
    held = chosen(parsed.file, parsed.session)
    for path, where in written(held, parsed.file, parsed.output, parsed.to, parsed.force):
        print(f"{path}  ({where})")
    return 0


def _eval(parsed: argparse.Namespace) -> int:
    """What is done by the time of an interrupt is shown all the same."""
    runs = []
    try:
        for run in compare(
            tasks_in(parsed.tasks),
            parsed.schemes,
            parsed.models,
            attempts=parsed.attempts,
            approve=parsed.approve,
            max_turns=parsed.max_turns,
        ):
            runs.append(run)
    except KeyboardInterrupt:
        print("toolcall: stopped; what follows is what was done by then", file=sys.stderr)
    if parsed.json:
        parsed.json.write_text(json.dumps([asdict(run) for run in runs], indent=1) + "\n")
    print(table(runs, each=parsed.each))
    return 0
