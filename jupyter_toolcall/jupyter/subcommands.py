"""The subcommands of `%toolchat`, and the words behind them."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import isfunction
from typing import Any

from ..compare.comparison import Comparison
from ..core.branches import branch_named, branches
from ..core.errors import Unfinished, UsageError
from ..core.events import Decision
from ..core.interrupts import attempt
from ..core.state_fold import state_at
from ..core.text import count_text, nearest, print_text, visible_text
from ..engine import person_model as replying
from ..engine.decisions import check_answer
from ..models.named import default, models, table
from ..rules import rule_files
from ..session.session import Session
from ..storage.value_store import megabytes, value_store
from ..tools.toolbox import Toolbox
from . import mcp_commands
from .cells import Cells
from .extensions import registrations
from .input_line import arguments, call_text, fields, value
from .options import Variables, parse_options, toolbox_for_cell

Result = Session | Comparison | None
"""The session where a line continued one; a comparison is displayed, all else is printed."""


# -- words -------------------------------------------------------------------------------------


def _option(words: list[str], name: str, wrong: str) -> tuple[list[str], str | None]:
    """Return the words without an option and its value, and that value; None without it.

    Raises UsageError, which says what is `wrong`, where the option has no value.
    """
    if name not in words:
        return words, None
    at = words.index(name)
    if at + 1 >= len(words):
        raise UsageError(wrong)
    return words[:at] + words[at + 2 :], words[at + 1]


def _call_named(session: Session, word: str) -> str:
    """Return the id of a call, given by id or by number. Raises UsageError."""
    ids = [call.id for call in session.calls]
    if word in ids:
        return word
    if word.isdecimal() and 0 < int(word) <= len(ids):
        return ids[int(word) - 1]
    raise UsageError(f"no call {word!r}; there are {', '.join(ids) or 'none'}")


def _named(session: Session, words: list[str]) -> str | None:
    if len(words) > 1:
        raise UsageError(f"name one call, by its number; not {' '.join(words)!r:.80}")
    return _call_named(session, words[0]) if words else None


def _call_and_arguments(session: Session, words: list[str]) -> tuple[str, list[str]]:
    """Return the call that is meant, and the words after it.

    Where the first word names no call, it is the one that waits first.
    """
    if words and words[0].isdecimal():
        return _call_named(session, words[0]), words[1:]
    if words:
        with contextlib.suppress(UsageError):
            return _call_named(session, words[0]), words[1:]
    if not session.pending:
        raise UsageError("no call waits; name one by its number: %toolchat status lists them")
    return session.pending[0].id, words


def _only_call(session: Session, words: list[str], command: str) -> str:
    call, others = _call_and_arguments(session, words)
    if others:
        raise UsageError(f"{command} takes one call, by its number; not {' '.join(others)!r}")
    return call


# -- what there is, and whether it still holds --------------------------------------------------


def _status(session: Session, words: list[str]) -> Result:
    print_text(session._repr_mimebundle_()["text/plain"])
    for call in session.pending:
        print_text(f"  waits: {call_text(session.cursor, call)}")
    return None


def _print_tools(toolbox: Toolbox) -> None:
    for tool in toolbox:
        mark = "read-only  " if tool.read_only else "           "
        line = tool.description.splitlines()[0] if tool.description else ""
        print_text("\n".join((f"{mark}{tool.name}: {line}", *(f"  {n}" for n in tool.notes))))


def _objects(session: Session, words: list[str]) -> Result:
    for name in session.objects:
        sources = ", ".join(session.deps(name))
        print_text(f"{name}  from {sources}" if sources else name)
    return None


def _verify(session: Session, words: list[str]) -> Result:
    report = session.verify()
    if not report:
        raise Unfinished(f"it comes out otherwise: {report}")
    print_text(report)
    return None


# -- decisions, and replies in the model's place ------------------------------------------------


def _decided(session: Session, call: str, decision: Decision, **options: Any) -> Session:
    """Decide on a call; a decision on one that has its result makes a branch of its own."""
    decide = session.decide if call in session.state.open else session.decide_anew
    return decide(call, decision, **options).run()


def _approve(session: Session, words: list[str]) -> Result:
    return _decided(session, _only_call(session, words, "approve"), "approve")


def _reject(session: Session, words: list[str]) -> Result:
    call, reason = _call_and_arguments(session, words)
    return _decided(session, call, "reject", reason=" ".join(reason))


def _edit(session: Session, words: list[str]) -> Result:
    call, pairs = _call_and_arguments(session, words)
    changes = arguments(pairs)
    if call not in session.state.open:
        return session.edit(call, **changes).run()
    before = session.cursor.arguments_to_run(session.state.call(call))
    return session.decide(call, "edit", arguments={**before, **changes}).run()


def _answer(session: Session, words: list[str]) -> Result:
    call, result = _call_and_arguments(session, words)
    if call in session.state.open and session.state.call(call).waits_for_input:
        return _decided(session, call, "answer", result=fields(" ".join(result)))
    if not result:
        raise UsageError('an answer needs a result: answer CALL RESULT ("" is an empty text)')
    answer = value(" ".join(result))
    check_answer(session.cursor, call, answer)
    return _decided(session, call, "answer", result=answer)


def _keep(session: Session, words: list[str]) -> Result:
    call = _only_call(session, [word for word in words if word != "--rest"], "keep")
    return session.keep_result(call, rest="--rest" in words).run()


def _call_tool(session: Session, words: list[str]) -> Result:
    if not words:
        raise UsageError("call needs a tool, such as: %toolchat call Potato_slice shape=SLICES")
    call = words[0], arguments(words[1:]) if words[1:] else {}
    replying.check_person_call(session.cursor, *call)
    return session.reply("", call).run()


def _break(session: Session, words: list[str]) -> Result:
    context = session.cursor.context
    for tool in (word for word in words if word != "--off"):
        context.set_breakpoint(tool, "--off" not in words)
    print_text(f"breakpoints: {', '.join(sorted(context.breakpoints)) or 'none'}")
    return None


# -- branches ----------------------------------------------------------------------------------


def _replay(session: Session, words: list[str]) -> Result:
    call, fresh = _named(session, [w for w in words if w != "--fresh"]), "--fresh" in words
    replayed = session.replay(call, fresh=fresh).run()
    if fresh:
        print_text(replayed.came_out())
    return replayed


def _checkout(session: Session, words: list[str]) -> Result:
    if not words:
        _list_branches(session)
        return None
    return session.checkout(_head(session, " ".join(words)))


def _branch(session: Session, words: list[str]) -> Result:
    option, name = words[0] if words else "", " ".join(words[1:])
    if option in ("--hide", "--show") and not name:
        raise UsageError(f"{option} needs the name of a branch; %toolchat branch lists them")
    match option:
        case "":
            pass
        case "--hide":
            session.hide_branch(name)
        case "--show":
            session.show_branch(name)
        case _:
            session.name_branch(" ".join(words))
    _list_branches(session)
    return None


def _list_branches(session: Session) -> None:
    existing, rows = branches(session.journal, session.head), []
    for branch in existing:
        if not branch.hidden:
            state = state_at(session.journal, branch.head)
            rows.append(
                (
                    f"{'*' if branch.current else ' '} {visible_text(branch.name)}",
                    count_text(len(state.order), "call"),
                    f"{state.tokens:,} tokens" if state.tokens else "",
                    visible_text(branch.change),
                )
            )
    name, calls, tokens = (max(len(row[n]) for row in rows) for n in range(3))
    for row in rows:
        print_text(f"{row[0]:<{name}}  {row[1]:>{calls}}  {row[2]:>{tokens}}  {row[3]}".rstrip())
    hidden = [visible_text(branch.name) for branch in existing if branch.hidden]
    if hidden:
        print_text(f"{len(hidden)} hidden: {', '.join(hidden)}; %toolchat branch --show NAME")


def _head(session: Session, name: str) -> str:
    return branch_named(session.journal, session.head, name).head


def _diff(session: Session, words: list[str]) -> Result:
    # None, one or two names, which may hold blanks.
    branch_names = {branch.name for branch in branches(session.journal, session.head)}
    cuts = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words) + 1)]
    fitting = [cut for cut in cuts if {*cut} - {""} <= branch_names]
    cut = fitting[-1] if fitting else cuts[-1] if len(words) == 1 else (*words,)
    names = [name for name in cut if name]
    if len(cut) > 2:
        raise UsageError(
            "diff takes at most two branches, such as: %toolchat diff main amount=5 (call 4)"
        )
    right = session if len(names) < 2 else session.fork(_head(session, names[1]))
    return right.diff(_head(session, names[0]) if names else None)


def _next(session: Session, words: list[str]) -> Result:
    session.cursor.allow_more_turns()
    return session.run()


# -- files -------------------------------------------------------------------------------------


def _export(session: Session, words: list[str]) -> Result:
    # What writes files is imported when the first one is written.
    export = import_module("..export", __package__)
    formats = ", ".join(export.FORMATS)
    words, to = _option(words, "--to", f"--to needs one of {formats}")
    names = [word for word in words if word != "--force"]
    wrong = next((word for word in names if word.startswith("-")), None)
    if wrong is not None:
        raise UsageError(f"export knows no {wrong}.{nearest(wrong, ('--to', '--force'))}")
    if len(names) != 1:
        raise UsageError(
            f"export takes the name of one file, such as fries.py; its formats are {formats}"
        )
    path = session.export(names[0], to, force="--force" in words)
    print_text(f"{path}  ({export.format_named(path, to).what})")
    return None


def _why(session: Session, words: list[str]) -> Result:
    if len(words) != 1:
        raise UsageError("why takes one name, such as Plate#2, an output, or a call's number")
    name = words[0]
    print_text(session.why(_call_named(session, name) if name.isdigit() else name))
    return None


# -- all of them -------------------------------------------------------------------------------

_COMMANDS: Mapping[str, Callable[[Session, list[str]], Result]] = {
    **{"status": _status, "tools": lambda session, words: _print_tools(session.toolbox)},
    **{"objects": _objects, "outdated": lambda session, words: print_text(session.outdated())},
    **{"verify": _verify, "next": _next, "break": _break},
    **{"approve": _approve, "edit": _edit, "reject": _reject, "answer": _answer, "keep": _keep},
    **{"say": lambda session, words: session.reply(" ".join(words)).run(), "call": _call_tool},
    **{"replay": _replay, "fork": lambda session, words: session.fork(_named(session, words))},
    **{"branch": _branch, "checkout": _checkout, "diff": _diff, "why": _why},
    **{"export": _export, "dot": lambda session, _: print_text(session.graph.source)},
}
_OTHERS = ("sessions", "values", "models", "rules", "config", "help")
"""The subcommands that are about no session."""
_ALONE = {"status", "objects", "outdated", "verify", "next", "dot"}
_ALONE |= {"sessions", "models", "config"}
"""The subcommands that take no words."""
_HELP = """\
  status                     the state of the session, and the calls that wait
  tools, objects, sessions   list the tools, the objects, or the sessions of this notebook
  tools NAME...              list the tools of toolsets or variables, as after -t
  outdated                   list the calls whose tool or input has changed since they ran
  verify                     run all calls again on a copy, and compare the results
  values [--forget]          the results that are kept on this computer; --forget deletes them
  models                     list the models, and what those lack that you cannot use now
  next                       continue the run without a new prompt
  break TOOL... [--off]      all calls of these tools wait for you; --off ends that
  approve [CALL]             run the call
  edit [CALL] NAME=VALUE     run the call with other arguments
  reject [CALL] [REASON]     do not run the call; the model is sent the reason
  answer [CALL] RESULT       do not run the call; the model is sent your result
                             (a call that has a result is answered on a new branch)
  keep [CALL] [--rest]       keep the recorded result of a call that may have run; with --rest
                             all that is recorded after it too
  say TEXT                   reply as the model (-m person); without a call it ends the run
  call TOOL NAME=VALUE       call a tool as the model
  replay [CALL] [--fresh]    repeat what is recorded, with cached results where nothing changed;
                             with --fresh run every call again, and list what differs
  fork [CALL]                continue after a call, on a new branch
  branch                     list the branches and their calls; * marks the one that is shown
  branch NAME                rename the branch that is shown
  branch --hide|--show NAME  hide a branch, or show it again; nothing is deleted
  checkout BRANCH            show another branch, and continue there
  diff [BRANCH [BRANCH]]     compare two branches; without names, the shown one and its source
  why NAME                   the calls that made an object or an output, and their code
  dot                        print the graph of objects and calls in the DOT language
  export PATH [--to FORMAT]  write the session as py, ipynb, html, dot, svg, json or messages
"""


def subcommands() -> tuple[str, ...]:
    """Return the names of all subcommands, those of extensions too."""
    added = (name for extension in registrations() for name in extension.subcommands)
    return (*_COMMANDS, *added, *_OTHERS, "mcp", "prompt")


def subcommands_help() -> str:
    """Return what the subcommands do."""
    config = "  config                     the settings; %config ToolChat.NAME = VALUE changes one"
    added = (extension.help for extension in registrations())
    head = "%toolchat SUBCOMMAND [-n SESSION]\n"
    return "".join([head, _HELP, rule_files.HELP, mcp_commands.HELP, *added, config])


def carry_out(
    words: list[str],
    cells: Cells,
    settings: Mapping[str, object],
    variables: Mapping[str, object] | None = None,
) -> Any:
    """Carry a subcommand out on a session; return the session where it continued.

    `-n NAME` names the session, the last one without. Returns something to display where the
    subcommand comes to that, else None. Raises UsageError.
    """
    words, name = _option(words, "-n", "-n needs the name of a session")
    command, *arguments = words or ["status"]
    if arguments and command in _ALONE:
        # One that is passed over seems to have an effect, such as `verify other.ipynb`.
        raise UsageError(f"{command} takes no words; not {' '.join(arguments)!r:.80}")
    if command in ("mcp", "prompt"):
        done = mcp_commands.carry_out(command, arguments, cells.folder, settings)
        return print_text(done) if isinstance(done, str) else done
    if command in (*_OTHERS, "--help", "-h"):
        print_text(_without_session(command, arguments, cells, settings, variables or {}))
        return None
    if command == "tools" and arguments:
        options = parse_options(shlex.join(["-t", *arguments]), settings)
        return _print_tools(toolbox_for_cell(options, variables or {}, cells.folder))
    if command == "status" and (stored := cells.stored(name or "")):
        print_text(stored)
        return None
    if (extension := cells.extension_of(command)) is not None:
        return extension.subcommand(command, arguments, name or "", variables or {})
    if command not in _COMMANDS:
        near = nearest(command, subcommands())
        raise UsageError(f"there is no subcommand {command!r:.80}.{near} %toolchat help lists them")
    session = cells.with_current_tools(cells.current(name or ""), variables or {})
    return _COMMANDS[command](session, arguments)


def _toolbox_of_rule(names: list[str], cells: Cells, variables: Variables) -> Toolbox | None:
    """Return the toolbox with the tool of a rule: the last session's, or that of a variable."""
    last = cells.sessions.get(cells.last or "")
    if last is not None and any(name in last.toolbox for name in names):
        return last.toolbox
    functions = [variables[name] for name in names if isfunction(variables.get(name))]
    # What is no tool is named by the cell that uses it.
    return attempt(lambda: Toolbox(*functions))[0]


def _without_session(
    command: str, words: list[str], cells: Cells, settings: Variables, variables: Variables
) -> str:
    """Return what a subcommand prints that is about no session."""
    match command:
        case "config":
            return "\n".join(f"ToolChat.{name} = {value!r}" for name, value in settings.items())
        case "sessions":
            marks = {name: "*" if name == cells.last else " " for name in cells.sessions}
            lines = [
                f"{marks[name]} {name or '(unnamed)'}: {session!r}"
                for name, session in cells.sessions.items()
            ]
            nothing = cells.stored() or (
                "no session in this kernel; a %%toolchat cell opens one, or continues a saved one"
            )
            return "\n".join(lines) or nothing
        case "rules":
            return rule_files.carry_out(words, _toolbox_of_rule(words[3:4], cells, variables))
        case "models":
            chosen = settings.get("model") or default(os.environ)
            return table(models(os.environ, cells.folder), chosen)
        case "values":
            store = value_store()
            if store is None:
                return "no value is kept beyond its kernel"
            if wrong := next((word for word in words if word != "--forget"), ""):
                raise UsageError(f"values knows no {wrong}.{nearest(wrong, ('--forget',))}")
            if words:
                removed = store.clear()
                return f"removed {removed}; a replay makes again what it needs, and asks before it"
            return f"{store.held()} of {megabytes(store.room)}, in {store.folder}"
    return subcommands_help()
