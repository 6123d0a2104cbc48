"""`%toolchat SUBCOMMAND`: each one a function from words and a session to what comes of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from . import replying
from .cells import Cells
from .errors import ToolcallError, UsageError
from .loop import Cursor
from .models.listing import models, table
from .models.named import default
from .records import CallRecord
from .rows import YourTurn
from .session import Session
from .tools import Tool, nearest

Result = Session | None


def carry_out(words: list[str], cells: Cells, settings: Mapping[str, Any]) -> Result:
    """Carry a subcommand out on a session; return the session where it went on.

    `-n NAME` names the session, the last one without. Raises UsageError.
    """
    words, name = _without_name(words)
    command, *rest = words or ["status"]
    if command in ("help", "--help", "-h"):
        print(help_text())
        return None
    if command == "config":
        print("\n".join(f"ToolChat.{name} = {value!r}" for name, value in settings.items()))
        return None
    if command == "sessions":
        _sessions(cells)
        return None
    if command == "models":
        chosen = settings.get("model") or default(os.environ)
        print(table(models(os.environ, cells.folder), chosen))
        return None
    if command not in _COMMANDS:
        raise UsageError(
            f"no subcommand {command!r}; there are {', '.join(SUBCOMMANDS)}."
            f"{nearest(command, SUBCOMMANDS)}"
        )
    return _COMMANDS[command](cells.current(name), rest)


_JSON = re.compile(r"(?<!\S)(?:[A-Za-z_]\w*=)?(?=[\[{])")
"""Where a word begins that is JSON, or NAME= and JSON."""


def split(text: str) -> list[str]:
    """Return the words of a line; JSON is one word, and quotes that do not close only marks."""
    for found in _JSON.finditer(text):
        with contextlib.suppress(ValueError):
            _, end = json.JSONDecoder().raw_decode(text, found.end())
            return [*_words(text[: found.start()]), text[found.start() : end], *split(text[end:])]
    return _words(text)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _without_name(words: list[str]) -> tuple[list[str], str]:
    if "-n" not in words:
        return words, ""
    at = words.index("-n")
    if at + 1 >= len(words):
        raise UsageError("-n needs the name of a session")
    return words[:at] + words[at + 2 :], words[at + 1]


def _sessions(cells: Cells) -> None:
    for name, session in cells.sessions.items():
        mark = "*" if name == cells.last else " "
        print(f"{mark} {name or '(unnamed)'}: {session!r}")
    if not cells.sessions:
        print("no session yet; a %%toolchat cell opens one")


def _status(session: Session, words: list[str]) -> Result:
    print(session._repr_mimebundle_()["text/plain"])
    for call in session.pending:
        print(f"  waits: {shown(call)}")
    return None


def _tools(session: Session, words: list[str]) -> Result:
    for tool in session.toolbox:
        mark = "read-only  " if tool.read_only else "           "
        print(f"{mark}{tool.name}: {tool.description.splitlines()[0] if tool.description else ''}")
    return None


def _objects(session: Session, words: list[str]) -> Result:
    for name in session.objects:
        made = ", ".join(session.deps(name))
        print(f"{name}" + (f"  from {made}" if made else ""))
    return None


def _next(session: Session, words: list[str]) -> Result:
    return session.run()


def _approve(session: Session, words: list[str]) -> Result:
    call, _ = _call_and_rest(session, words)
    return session.decide(call, "approve").run()


def _reject(session: Session, words: list[str]) -> Result:
    call, rest = _call_and_rest(session, words)
    return session.decide(call, "reject", reason=" ".join(rest)).run()


def _edit(session: Session, words: list[str]) -> Result:
    call, rest = _call_and_rest(session, words)
    changes = _arguments(rest)
    if call not in session.state.open:
        return session.edit(call, **changes).run()
    before = session.cursor.as_it_runs(session.state.call(call))
    return session.decide(call, "edit", arguments={**before, **changes}).run()


def _answer(session: Session, words: list[str]) -> Result:
    call, rest = _call_and_rest(session, words)
    return session.decide(call, "answer", result=_value(" ".join(rest))).run()


def _say(session: Session, words: list[str]) -> Result:
    return session.reply(" ".join(words)).run()


def _call_tool(session: Session, words: list[str]) -> Result:
    if not words:
        raise UsageError("call needs a tool, such as: %toolchat call Potato_slice shape=SLICES")
    tool, arguments = words[0], _arguments(words[1:]) if words[1:] else {}
    replying.check(session.cursor, tool, arguments)
    return session.reply("", (tool, arguments)).run()


def _replay(session: Session, words: list[str]) -> Result:
    places = [word for word in words if word != "--fresh"]
    at = _call(session, places[0]) if places else None
    return session.replay(at, fresh="--fresh" in words).run()


def _fork(session: Session, words: list[str]) -> Result:
    return session.fork(_call(session, words[0]) if words else None)


def _checkout(session: Session, words: list[str]) -> Result:
    if not words:
        for head in session.branches:
            print(head)
        return None
    found = [head for head in session.branches if head.startswith(words[0])]
    if len(found) != 1:
        raise UsageError(f"{words[0]!r} names {len(found)} branches; %toolchat checkout lists them")
    return session.checkout(found[0])


def _call(session: Session, word: str) -> str:
    """Return the id of a call, given by id or by number. Raises UsageError."""
    known = [call.id for call in session.calls]
    if word in known:
        return word
    if word.isdigit() and 0 < int(word) <= len(known):
        return known[int(word) - 1]
    raise UsageError(f"no call {word!r}; there are {', '.join(known) or 'none'}")


def _call_and_rest(session: Session, words: list[str]) -> tuple[str, list[str]]:
    """Return the call that is meant, and the words behind it.

    Where the first word names no call, it is the one that waits first.
    """
    if words and words[0].isdigit():
        return _call(session, words[0]), words[1:]
    if words:
        with contextlib.suppress(UsageError):
            return _call(session, words[0]), words[1:]
    if not session.pending:
        raise UsageError("no call waits; name one by its number: %toolchat status lists them")
    return session.pending[0].id, words


def _arguments(words: list[str]) -> dict[str, Any]:
    pairs = [word.partition("=") for word in words]
    wrong = [key for key, equals, _ in pairs if not equals]
    if wrong or not pairs:
        raise UsageError("arguments are written as NAME=VALUE, such as: shape=SLICES")
    return {key: _value(text) for key, _, text in pairs}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def shown(call: CallRecord) -> str:
    """Return a call as one line."""
    arguments = ", ".join(f"{key}={value!r}" for key, value in call.arguments.items())
    return f"{call.id} {call.tool}({arguments})"[:300]


def ask_by_input(session: Session, call: CallRecord, ask: Callable[[str], str]) -> None:
    """Ask about a call on the cell's own input line, and record the decision."""
    said = ask(f"{shown(call)}\n[a]pprove, [e]dit NAME=VALUE, [r]eject REASON, [s]top? ").strip()
    verdict, _, rest = said.partition(" ")
    match verdict[:1].lower():
        case "a" | "":
            session.decide(call.id, "approve")
        case "r":
            session.decide(call.id, "reject", reason=rest)
        case "e":
            session.decide(
                call.id, "edit", arguments={**call.arguments, **_arguments(rest.split())}
            )
        case "s":
            raise KeyboardInterrupt
        case _:
            print("please answer a, e, r or s")


def reply_by_input(session: Session, ask: Callable[[str], str]) -> None:
    """Ask for the model's reply on the cell's own input line, and record it.

    A line that begins with a tool of this turn, by name or number, is a call; else it is
    what the model says.
    """
    turn = replying.your_turn(session.cursor)
    assert turn is not None
    print(asked(turn, session.cursor))
    said = ask("TOOL NAME=VALUE…, or what you say: ").strip()
    try:
        found = _as_call(said, turn.tools)
        if found is None:
            session.reply(said)
        else:
            replying.check(session.cursor, *found)
            session.reply("", found)
    except ToolcallError as error:
        print(error)


def _as_call(said: str, tools: tuple[str, ...]) -> replying.Pair | None:
    """Return the call that a line is; None where it is words."""
    first, *rest = split(said) or [""]
    numbers = {str(number): name for number, name in enumerate(tools, 1)}
    tool = numbers.get(first, first)
    if tool not in tools or not all("=" in word for word in rest):
        return None
    return tool, _arguments(rest) if rest else {}


def asked(turn: YourTurn, cursor: Cursor) -> str:
    """Return a turn of the model as the text that its player reads."""
    told = [f"{each.tool or 'told'}: {each.text}" for each in turn.told]
    tools = (cursor.find(name) for name in turn.tools)
    listed = [f"{number}. {_in_line(tool)}" for number, tool in enumerate(filter(None, tools), 1)]
    return "\n".join([f"{replying.YOU}, turn {turn.turn}: {turn.prompt}", *told, *listed])


def _in_line(tool: Tool) -> str:
    names = ", ".join(tool.parameters.get("properties", {}))
    return f"{tool.name}({names})  {tool.description}"


_COMMANDS: Mapping[str, Callable[[Session, list[str]], Result]] = {
    "status": _status,
    "tools": _tools,
    "objects": _objects,
    "next": _next,
    "approve": _approve,
    "edit": _edit,
    "reject": _reject,
    "answer": _answer,
    "say": _say,
    "call": _call_tool,
    "replay": _replay,
    "fork": _fork,
    "checkout": _checkout,
}
SUBCOMMANDS = (*_COMMANDS, "sessions", "models", "config", "help")


def help_text() -> str:
    """Return what the subcommands do."""
    return """%toolchat SUBCOMMAND [-n SESSION]
  status                     where the session stands, and what waits
  tools, objects, sessions   what there is
  models                     who can answer here, and why others cannot
  next                       go on without a prompt
  approve [CALL]             let a call run
  edit [CALL] NAME=VALUE     run it with other arguments; one that ran is replayed from there
  reject [CALL] [REASON]     don't run it; the model is told why
  answer [CALL] RESULT       give the result yourself
  say TEXT                   reply as the model (-m person); without a call it ends the run
  call TOOL NAME=VALUE       call a tool as the model
  replay [CALL] [--fresh]    say it all again, from memory where nothing changed
  fork [CALL]                go on from behind a call
  checkout [BRANCH]          list the branches, or go to one
  config                     the settings; %config ToolChat.NAME = VALUE changes one"""
