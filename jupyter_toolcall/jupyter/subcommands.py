"""What there is, and whether it still holds: where a session stands, its tools, its objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..core import branches as naming
from ..core.branches import Branch, branches
from ..core.errors import Unfinished, UsageError
from ..core.events import Decision
from ..core.state_fold import state_at
from ..core.text import nearest, print_text, visible_text
from ..engine import person_model as replying
from ..models.named import default, models, table
from ..session.session import Session
from ..storage.value_store import megabytes, value_store
from .cells import Cells
from .extensions import registrations
from .headless import shown
from .subcommand_words import (
    Commands,
    Result,
    arguments,
    call_and_rest,
    call_named,
    value,
    without_name,
)


def _status(session: Session, words: list[str]) -> Result:
    print_text(session._repr_mimebundle_()["text/plain"])
    for call in session.pending:
        print_text(f"  waits: {shown(call)}")
    return None


def _tools(session: Session, words: list[str]) -> Result:
    for tool in session.toolbox:
        mark = "read-only  " if tool.read_only else "           "
        print_text(
            f"{mark}{tool.name}: {tool.description.splitlines()[0] if tool.description else ''}"
        )
    return None


def _objects(session: Session, words: list[str]) -> Result:
    for name in session.objects:
        made = ", ".join(session.deps(name))
        print_text(f"{name}" + (f"  from {made}" if made else ""))
    return None


def _outdated(session: Session, words: list[str]) -> Result:
    print_text(session.outdated())
    return None


def _verify(session: Session, words: list[str]) -> Result:
    found = session.verify()
    if not found:
        raise Unfinished(f"it comes out otherwise: {found}")
    print_text(found)
    return None


SHOW_COMMANDS: Commands = {
    "status": _status,
    "tools": _tools,
    "objects": _objects,
    "outdated": _outdated,
    "verify": _verify,
}
SHOW_HELP = """\
  status                     where the session stands, and what waits
  tools, objects, sessions   what there is
  outdated                   what would come out otherwise today, and why
  verify                     run all of it anew, on a copy: does it come out as recorded?
  values [--forget]          what is kept on this machine beyond a kernel; --forget removes it
  models                     who can answer here, and why others cannot
"""


REST = "--rest"


def _next(session: Session, words: list[str]) -> Result:
    return session.run()


def _approve(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, words)
    if rest:
        raise UsageError(f"approve takes one call, by its number; not {' '.join(rest)!r}")
    return _decided(session, call, "approve")


def _reject(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, words)
    return _decided(session, call, "reject", reason=" ".join(rest))


def _edit(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, words)
    changes = arguments(rest)
    if call not in session.state.open:
        return session.edit(call, **changes).run()
    before = session.cursor.arguments_to_run(session.state.call(call))
    return session.decide(call, "edit", arguments={**before, **changes}).run()


def _answer(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, words)
    if not rest:
        raise UsageError('an answer needs a result: answer CALL RESULT ("" is an empty text)')
    return _decided(session, call, "answer", result=value(" ".join(rest)))


def _decided(session: Session, call: str, verdict: Decision, **more: Any) -> Session:
    """A call that has its result is decided on anew: that is a branch of its own."""
    decide = session.decide if call in session.state.open else session.decide_anew
    return decide(call, verdict, **more).run()


def _keep(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, [word for word in words if word != REST])
    if rest:
        raise UsageError(f"keep takes one call, by its number; not {' '.join(rest)!r}")
    return session.keep_result(call, rest=REST in words).run()


def _say(session: Session, words: list[str]) -> Result:
    return session.reply(" ".join(words)).run()


def _call_tool(session: Session, words: list[str]) -> Result:
    if not words:
        raise UsageError("call needs a tool, such as: %toolchat call Potato_slice shape=SLICES")
    tool, given = words[0], arguments(words[1:]) if words[1:] else {}
    replying.check_person_call(session.cursor, tool, given)
    return session.reply("", (tool, given)).run()


def _break(session: Session, words: list[str]) -> Result:
    desk = session.cursor.context
    on = "--off" not in words
    for tool in (word for word in words if word != "--off"):
        desk.set_breakpoint(tool, on)
    print_text(f"breakpoints: {', '.join(sorted(desk.breakpoints)) or 'none'}")
    return None


RUN_COMMANDS: Commands = {
    "next": _next,
    "break": _break,
    "approve": _approve,
    "edit": _edit,
    "reject": _reject,
    "answer": _answer,
    "keep": _keep,
    "say": _say,
    "call": _call_tool,
}
RUN_HELP = """\
  next                       go on without a prompt
  break TOOL... [--off]      let all calls of a tool wait, or no longer
  approve [CALL]             let a call run
  edit [CALL] NAME=VALUE     run it with other arguments
  reject [CALL] [REASON]     don't run it; the model is told why
  answer [CALL] RESULT       give the result yourself
                             (one that has its result is decided anew, on a branch of its own)
  keep [CALL] [--rest]       keep the recorded result of a call that may have run; with --rest
                             all that is recorded after it too
  say TEXT                   reply as the model (-m person); without a call it ends the run
  call TOOL NAME=VALUE       call a tool as the model
"""


def _replay(session: Session, words: list[str]) -> Result:
    places = [word for word in words if word != "--fresh"]
    at = call_named(session, places[0]) if places else None
    again = session.replay(at, fresh="--fresh" in words).run()
    if "--fresh" in words:
        print_text(again.came_out())
    return again


def _fork(session: Session, words: list[str]) -> Result:
    return session.fork(call_named(session, words[0]) if words else None)


def _checkout(session: Session, words: list[str]) -> Result:
    if not words:
        _list(session)
        return None
    return session.checkout(
        naming.branch_named(session.journal, session.head, " ".join(words)).head
    )


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
    _list(session)
    return None


def _list(session: Session) -> None:
    known = branches(session.journal, session.head)
    rows = [_listed(session, each) for each in known if not each.hidden]
    name, calls, tokens = (max(len(row[n]) for row in rows) for n in range(3))
    for row in rows:
        print_text(f"{row[0]:<{name}}  {row[1]:>{calls}}  {row[2]:>{tokens}}  {row[3]}".rstrip())
    hidden = [visible_text(each.name) for each in known if each.hidden]
    if hidden:
        print_text(f"{len(hidden)} hidden: {', '.join(hidden)}; %toolchat branch --show NAME")


def _listed(session: Session, branch: Branch) -> tuple[str, str, str, str]:
    state = state_at(session.journal, branch.head)
    count = len(state.order)
    return (
        f"{'*' if branch.current else ' '} {visible_text(branch.name)}",
        f"{count} call{'' if count == 1 else 's'}",
        f"{state.tokens:,} tokens" if state.tokens else "",
        f"last {visible_text(state.calls[state.order[-1]].tool)}" if count else "",
    )


def _diff(session: Session, words: list[str]) -> Result:
    names = _names(session, words)
    right = session if len(names) < 2 else session.fork(_head(session, names[1]))
    return right.diff(_head(session, names[0]) if names else None)


def _head(session: Session, name: str) -> str:
    return naming.branch_named(session.journal, session.head, name).head


def _names(session: Session, words: list[str]) -> list[str]:
    """Return the names that words are: none, one or two, which may hold blanks."""
    known = {each.name for each in branches(session.journal, session.head)}
    cuts = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words) + 1)]
    fitting = [cut for cut in cuts if {*cut} - {""} <= known]
    names = fitting[-1] if fitting else cuts[-1] if len(words) == 1 else (*words,)
    if len(names) > 2:
        raise UsageError("diff takes at most two branches, such as: %toolchat diff main slices")
    return [name for name in names if name]


BRANCH_COMMANDS: Commands = {
    "replay": _replay,
    "fork": _fork,
    "branch": _branch,
    "checkout": _checkout,
    "diff": _diff,
}
BRANCH_HELP = """\
  replay [CALL] [--fresh]    say it all again, from memory where nothing changed; with --fresh
                             run all of it anew, and tell what came out otherwise
  fork [CALL]                go on from behind a call
  branch                     list the branches: what each has, and which one is on show (*)
  branch NAME                give the one on show a name
  branch --hide|--show NAME  take one out of view, or into it again; nothing is deleted
  checkout BRANCH            go to another one
  diff [BRANCH [BRANCH]]     compare with the one it left, with another one, or two others
"""


_OPTIONS = ("--to", "--force")


def _home() -> Any:
    """What writes files is imported when the first one is written."""
    return import_module("..export", __package__)


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


EXPORT_COMMANDS: Commands = {"why": _why, "export": _export}
EXPORT_HELP = """\
  why NAME                   the calls that an object, an output or a call came of, and the code
  export PATH [--to FORMAT]  take it home: py, ipynb, html, dot, svg, json or messages
"""


_COMMANDS: Commands = {**SHOW_COMMANDS, **RUN_COMMANDS, **BRANCH_COMMANDS, **EXPORT_COMMANDS}
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
        print_text(subcommands_help())
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
    store = value_store()
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


def subcommands_help() -> str:
    """Return what the subcommands do."""
    config = "  config                     the settings; %config ToolChat.NAME = VALUE changes one"
    added = (each.help for each in registrations())
    groups = (SHOW_HELP, RUN_HELP, BRANCH_HELP, EXPORT_HELP)
    return "".join(["%toolchat SUBCOMMAND [-n SESSION]\n", *groups, *added, config])
