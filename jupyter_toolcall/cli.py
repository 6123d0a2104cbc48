"""`jupyter toolcall` on the command line: run, show, serve and verify notebooks, compare schemes.

`run`, `serve`, `verify`, `check` and `seed` execute a notebook's code with the rights of who calls
them. They say so first, and ask before they execute a notebook that this computer did not make.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from .core.errors import BrokenJournal, ToolcallError, UsageError
from .core.text import count_text, print_text, printable
from .evaluation.comparison import PLOT, SCHEMES, ResultsFolder, compare
from .evaluation.run_table import plot, table
from .evaluation.task_runs import Run
from .evaluation.tasks import tasks_in
from .export.formats import FORMATS
from .export.session_files import chosen, written
from .jupyter.options import parse_options
from .jupyter.serve_in_terminal import serve_notebook
from .rules import rule_files
from .session import verify_files
from .session.trusted_notebooks import is_trusted_notebook, trust_notebook
from .storage import notebook_files
from .storage.journal_file import journals_folder
from .storage.signatures import key_refusal
from .teaching import class_scores
from .teaching.exercise_proofs import exercise_code, noticed_errors, prove
from .teaching.lesson_page import LESSON, export_lesson

Act = Callable[[argparse.Namespace], int | None]
Add = Callable[..., argparse.Action]
Executed = Callable[[argparse.Namespace], list[Path]]
RIGHTS = "it executes the notebook's code with your rights"


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a subcommand; return its exit status.

    1 says that something is not as it should be, 2 that nothing was executed.
    """
    _print_any_character()
    parsed = parser().parse_args(arguments)
    try:
        if parsed.executed and not _may_execute(parsed):
            return 2
        return parsed.act(parsed) or 0
    except ToolcallError as error:
        _say(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say(f"{where}{error.strerror or error}")
    return 1


def _print_any_character() -> None:
    """Print what the output's encoding lacks, such as `→` in a Windows console, as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _say(text: str) -> None:
    """Print one line on standard error."""
    _print_line(f"toolcall: {' '.join(text.splitlines())}", sys.stderr)


def _print_line(text: str, file: TextIO | None = None) -> None:
    """Print a text as one line, whatever names and messages are in it."""
    print_text(printable(text), file)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    root = argparse.ArgumentParser("jupyter toolcall", description=__doc__.partition("\n")[0])
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, act: Act, executed: Executed | None = None, adds: bool = False) -> Add:
        # What it does is the first line of its function's docstring.
        what = str(act.__doc__).partition("\n")[0].rstrip(".")
        what = f"{what[0].lower()}{what[1:]}{f'; {RIGHTS}' if executed else ''}"
        added = commands.add_parser(name, help=what, description=what)
        added.set_defaults(act=act, command=name, executed=executed, adds=adds)
        if executed:
            what = "do not ask about notebooks that were not made on this computer"
            added.add_argument("--trust", action="store_true", help=what)
        return added.add_argument

    def notebook(parsed: argparse.Namespace) -> list[Path]:
        return [parsed.notebook]

    add = command("run", _run, notebook)
    add("notebook", type=Path, help="the notebook")
    add("--output", type=Path, help="the file for the executed notebook")
    add = command("serve", _serve, notebook)
    add("notebook", type=Path, help="the notebook")
    add("--port", type=int, default=0, metavar="N", help="the port; any free one without it")
    add("--session", default="", metavar="NAME", help="the session; the last one without it")
    add = command("show", _show)
    add("file", type=Path, nargs="+", help="a notebook, or a journal")
    add = command("verify", _verify, _verified)
    add("file", type=Path, nargs="+", help="a notebook, or a journal")
    add("--allow", action="store_true", help="also run what a person decided on another computer")
    add = command("check", _check, lambda parsed: parsed.notebook, adds=True)
    add("notebook", type=Path, nargs="+", help="a notebook with exercises")
    add = command("seed", _seed, notebook, adds=True)
    add("notebook", type=Path, help="the notebook that replays and checks the exercise")
    add("exercise", help="the name of the exercise")
    add = command("scores", _scores)
    add("path", type=Path, nargs="+", help="a notebook, or a folder of notebooks")
    add("--csv", action="store_true", help="print the table as CSV")
    add = command("rules", _rules)
    add("words", nargs="*", metavar="add|remove", help="as %%toolchat rules takes them")
    _export_options(command("export", _export))
    _eval_options(command("eval", _eval))
    return root


def _export_options(add: Add) -> None:
    formats = "; ".join(f"{name}: {form.what}" for name, form in FORMATS.items())
    lesson = f"{LESSON}: the whole notebook as one page, with all its sessions"
    add("file", type=Path, help="a notebook with recorded sessions, or a journal")
    add("--to", choices=[*FORMATS, LESSON], help=f"{formats}; {lesson}")
    add("--output", type=Path, help="the file; with several sessions, the start of each name")
    add("--session", default="", metavar="N", help="a session's cell or name; all without it")
    add("--force", action="store_true", help="overwrite a file that no export wrote")


def _eval_options(add: Add) -> None:
    add("tasks", type=Path, metavar="TASKS", help="a Python file with TASKS")
    add("--schemes", type=_names, default=SCHEMES, metavar="NAME,…", help="by default all of them")
    which = "ideal (follows each task's plan, offline), or models such as anthropic:MODEL"
    add("--models", type=_names, default=("ideal",), metavar="NAME,…", help=which)
    add("--attempts", type=int, default=1, metavar="N", help="how often each task is run")
    add("--max-turns", type=int, default=50, metavar="N", help="stop after so many replies")
    add("--approve", default="", metavar="all|read-only", help="required for real models")
    add("--each", action="store_true", help="a row for each task")
    add("--json", type=Path, metavar="FILE", help="the file for all runs, as JSON")
    add("--jobs", type=int, metavar="N", help="how many runs execute at the same time")
    where = "where whole runs execute: threads, processes, dask or dask:ADDRESS"
    add("--executor", metavar="NAME", help=where)
    kept = "keep each run, the table and a plot; the same command again runs only what is missing"
    add("--results", type=Path, metavar="FOLDER", help=kept)


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _may_execute(parsed: argparse.Namespace) -> bool:
    """Say that a command executes notebooks, and return whether it may.

    `parsed.adds` says that the solutions and the checks of its exercises run in it, too.
    """
    paths, adds = parsed.executed(parsed), parsed.adds
    if not paths:
        return True
    for path in paths:
        notebook_files.cell_sources(path)  # raises ToolcallError for what is no notebook
    what = "code and solutions" if adds else "code"
    notice = f"{parsed.command} executes the {what} of {_listed(paths)} with your rights"
    if parsed.trust or not (others := _untrusted(paths, adds)):
        _say(f"{notice}.")
        return True
    which = "it" if len(paths) == 1 else _listed(others)
    was = f"{which} {'was' if len(others) == 1 else 'were'} not made on this computer"
    if refusal := key_refusal(journals_folder()):
        _say(refusal)
    if not sys.stdin.isatty():
        _say(f"{notice}, and {was}. Nothing was executed: read the code, then add --trust.")
        return False
    _say(f"{notice}, and {was}. Execute it? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _untrusted(paths: Sequence[Path], adds: bool) -> list[Path]:
    codes = ((path, exercise_code(path) if adds else ()) for path in paths)
    return [path for path, code in codes if not is_trusted_notebook(path, code)]


def _listed(paths: Sequence[Path]) -> str:
    names = [str(path) for path in paths[:3]]
    return ", ".join(names) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def _run(parsed: argparse.Namespace) -> None:
    """Execute a notebook and print the chains of objects."""
    target = parsed.output or parsed.notebook.with_suffix(".executed.ipynb")
    try:
        executed = notebook_files.execute(parsed.notebook)
    except notebook_files.NotExecuted as error:
        if error.printed:
            print_text(error.printed, sys.stderr)
        raise
    target.parent.mkdir(parents=True, exist_ok=True)
    executed.write(target)
    trust_notebook(target, exercise_code(target))
    for session in executed.sessions:
        _print(session)
    print_text(f"\nThe executed notebook: {target}\nTo open it: jupyter lab {target}")


def _serve(parsed: argparse.Namespace) -> None:
    """Give a notebook's session to other agents (MCP), and decide here."""
    try:
        serve_notebook(parsed.notebook, parsed.port, parsed.session)
    except KeyboardInterrupt:
        print_text("\nThe server and its kernel have ended.")


def _show(parsed: argparse.Namespace) -> None:
    """Print the sessions that a notebook or journal holds."""
    for path in parsed.file:
        try:
            sessions = notebook_files.saved_sessions(path)
        except BrokenJournal as error:
            raise BrokenJournal(f"{path}: {error}") from None
        for session in sessions:
            _print(session)


def _print(session: notebook_files.NotebookSession) -> None:
    lines = [f"  {line}" for line in session.text.split("\n")] if session.text else []
    print_text("\n".join(["", session.where, *lines]))


def _verified(parsed: argparse.Namespace) -> list[Path]:
    return [path for path in dict.fromkeys(parsed.file) if verify_files.executes(path)]


def _verify(parsed: argparse.Namespace) -> int:
    """Run notebooks again, offline, and compare with what is recorded."""
    failed = 0
    for path in parsed.file:
        result = verify_files.verify(path, parsed.allow)
        failed += not result
        _print_line(f"{'same   ' if result else 'differs'}  {path}: {result}")
        sys.stdout.flush()
    return 1 if failed else 0


def _check(parsed: argparse.Namespace) -> int:
    """Check that each exercise passes with its own solution."""
    failed = 0
    for path in parsed.notebook:
        for name, wrong in prove(path).items():
            failed += wrong != ""
            why = f" ({wrong})" if wrong else ""
            _print_line(f"{'fails ' if wrong else 'passes'}  {path}: {name}{why}")
    return 1 if failed else 0


def _seed(parsed: argparse.Namespace) -> int:
    """Propose wrong calls that the checks of an exercise notice."""
    noticed = noticed_errors(parsed.notebook, parsed.exercise)
    for error, check in noticed:
        _print_line(f"{error}  (noticed: {check})")
    if not noticed:
        _say("its checks notice none of the wrong calls that were tried")
        return 1
    _say(f"write one as a line below ## Session of the exercise {parsed.exercise}")
    return 0


def _scores(parsed: argparse.Namespace) -> int:
    """Print the scores in notebooks; nothing is executed."""
    rows = class_scores.score_rows(parsed.path)
    print_text(class_scores.as_csv(rows) if parsed.csv else class_scores.as_text(rows))
    missing = [path for path in parsed.path if not path.exists()]
    for path in missing:
        _say(f"there is no {path}")
    return 1 if missing else 0


def _rules(parsed: argparse.Namespace) -> None:
    """List, add and remove the rules of this computer."""
    print_text(rule_files.carry_out(parsed.words))


def _export(parsed: argparse.Namespace) -> None:
    """Export recorded sessions."""
    if parsed.to == LESSON:
        if parsed.session:
            raise UsageError(f"--to {LESSON} is for the whole notebook: leave out --session")
        _print_line(str(export_lesson(parsed.file, parsed.output, parsed.force)))
        return
    held = chosen(parsed.file, parsed.session, lambda line: parse_options(line).tools)
    for path, where in written(held, parsed.file, parsed.output, parsed.to, parsed.force):
        _print_line(f"{path}  ({where})")


def _eval(parsed: argparse.Namespace) -> None:
    """Run tasks in several schemes and models.

    What is done by the time of an interrupt is shown all the same.
    """
    with ResultsFolder.opened(parsed.results) if parsed.results else nullcontext() as results:
        runs = _evaluated(parsed, results)
        text = _print_table(parsed, runs)
        if results is None:
            return
        results.write(text, plot(runs))
        others = len(results.runs) - sum(not run.lost for run in runs)
    _say(f"the runs, the table and the plot are in {parsed.results}; look at {PLOT}")
    if others > 0:
        kept = count_text(others, "other run")
        _say(f"{kept} (other tasks, schemes, models or settings) stay there, not in the table")


def _evaluated(parsed: argparse.Namespace, results: ResultsFolder | None) -> Sequence[Run]:
    runs: list[Run] = []
    try:
        names = "schemes", "models", "attempts", "approve", "max_turns", "jobs", "executor"
        options = {name: getattr(parsed, name) for name in names}
        for run in compare(tasks_in(parsed.tasks), **options, results=results):
            runs.append(run)
    except KeyboardInterrupt:
        _say("stopped; what follows is what was done by then")
    return runs


def _print_table(parsed: argparse.Namespace, runs: Sequence[Run]) -> str:
    """Print the table, write the JSON that is asked for, and return the table."""
    if parsed.json:
        parsed.json.write_text(json.dumps([asdict(run) for run in runs], indent=1) + "\n", "utf-8")
    schemes, models = parsed.schemes, parsed.models
    # Runs that overlap end in any order.
    ordered = sorted(runs, key=lambda run: (schemes.index(run.scheme), models.index(run.model)))
    text = table(ordered, each=parsed.each, costs=True)
    print_text(text)
    return text
