"""Other branches: replays, forks, and the way from one branch to another."""

from __future__ import annotations

from ...branches import naming
from ...branches.branch import Branch, branches
from ...drawing.text import shown
from ...errors import UsageError
from ...printable import print_text
from ...session import Session
from ...state.fold import state_at
from .words import Commands, Result, call_named


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
    return session.checkout(naming.named(session.journal, session.head, " ".join(words)).head)


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
    hidden = [shown(each.name) for each in known if each.hidden]
    if hidden:
        print_text(f"{len(hidden)} hidden: {', '.join(hidden)}; %toolchat branch --show NAME")


def _listed(session: Session, branch: Branch) -> tuple[str, str, str, str]:
    state = state_at(session.journal, branch.head)
    count = len(state.order)
    return (
        f"{'*' if branch.current else ' '} {shown(branch.name)}",
        f"{count} call{'' if count == 1 else 's'}",
        f"{state.tokens:,} tokens" if state.tokens else "",
        f"last {shown(state.calls[state.order[-1]].tool)}" if count else "",
    )


def _diff(session: Session, words: list[str]) -> Result:
    names = _names(session, words)
    right = session if len(names) < 2 else session.fork(_head(session, names[1]))
    return right.diff(_head(session, names[0]) if names else None)


def _head(session: Session, name: str) -> str:
    return naming.named(session.journal, session.head, name).head


def _names(session: Session, words: list[str]) -> list[str]:
    """Return the names that words are: none, one or two, which may hold blanks."""
    known = {each.name for each in branches(session.journal, session.head)}
    cuts = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words) + 1)]
    fitting = [cut for cut in cuts if {*cut} - {""} <= known]
    names = fitting[-1] if fitting else cuts[-1] if len(words) == 1 else (*words,)
    if len(names) > 2:
        raise UsageError("diff takes at most two branches, such as: %toolchat diff main slices")
    return [name for name in names if name]


COMMANDS: Commands = {
    "replay": _replay,
    "fork": _fork,
    "branch": _branch,
    "checkout": _checkout,
    "diff": _diff,
}
HELP = """\
  replay [CALL] [--fresh]    say it all again, from memory where nothing changed; with --fresh
                             run all of it anew, and tell what came out otherwise
  fork [CALL]                go on from behind a call
  branch                     list the branches: what each has, and which one is on show (*)
  branch NAME                give the one on show a name
  branch --hide|--show NAME  take one out of view, or into it again; nothing is deleted
  checkout BRANCH            go to another one
  diff [BRANCH [BRANCH]]     compare with the one it left, with another one, or two others
"""
