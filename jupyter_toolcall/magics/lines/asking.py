"""Asking the person on the cell's own input line, where no panel can be heard."""

from __future__ import annotations

from collections.abc import Callable

from ...acts import replying
from ...errors import ToolcallError
from ...loop import Cursor
from ...printable import LINES, print_text, printable
from ...rows.contract import YourTurn
from ...session import Session
from ...state.call import CallRecord
from ...tools import Tool
from ...view.view_rows import standing
from .words import arguments, split, value

VERDICTS = "[a]pprove, [e]dit NAME=VALUE, a[n]swer RESULT, [r]eject REASON, {}[s]top? "
KEEP = "[k]eep the recorded result, "
UNKNOWN = " (outcome unknown: it had started; approve runs it again, answer says how it ended)"


def shown(call: CallRecord) -> str:
    """Return a call as one line."""
    said = ", ".join(f"{key}={value!r}" for key, value in call.arguments.items())
    return f"{call.id} {call.tool}({said})"[:300] + UNKNOWN * (call.status == "unknown")


def ask_by_input(session: Session, call: CallRecord, ask: Callable[[str], str]) -> None:
    """Ask about a call on the cell's own input line, and record the decision.

    An empty line decides nothing, and what is wrong is said. Raises KeyboardInterrupt for stop.
    """
    rows = standing(session.cursor, session.name).calls
    row = next((row for row in rows if row.call == call.id and not row.branch), None)
    why, recorded = (row.why, row.recorded) if row is not None else ("", "")
    choices = VERDICTS.format(KEEP if recorded else "")
    known = f"recorded result: {recorded}\n" if recorded else ""
    said = ask(printable(f"{shown(call)}\n{why}\n{known}{choices}", LINES)).strip()
    try:
        _decide(session, call, bool(recorded), *said.partition(" ")[::2])
    except ToolcallError as error:
        print_text(error)


def _decide(session: Session, call: CallRecord, recorded: bool, verdict: str, rest: str) -> None:
    match verdict[:1].lower():
        case "a" if verdict.lower() != "answer":
            session.decide(call.id, "approve")
        case "a" | "n":
            session.decide(call.id, "answer", result=value(rest))
        case "r":
            session.decide(call.id, "reject", reason=rest)
        case "e":
            changed = {**call.arguments, **arguments(split(rest))}
            session.decide(call.id, "edit", arguments=changed)
        case "k" if recorded:
            session.keep_result(call.id)
        case "s":
            raise KeyboardInterrupt
        case _:
            print_text(f"please answer a, e, n, r{', k' if recorded else ''} or s")


def reply_by_input(session: Session, ask: Callable[[str], str]) -> None:
    """Ask for the model's reply on the cell's own input line, and record it.

    A line that begins with a tool of this turn, by name or number, is a call; else it is
    what the model says.
    """
    turn = replying.your_turn(session.cursor)
    assert turn is not None
    print_text(turn_as_text(turn, session.cursor))
    said = ask("TOOL NAME=VALUE…, or what you say: ").strip()
    try:
        found = _as_call(said, turn.tools)
        if found is None:
            session.reply(said)
        else:
            replying.check(session.cursor, *found)
            session.reply("", found)
    except ToolcallError as error:
        print_text(error)


def _as_call(said: str, tools: tuple[str, ...]) -> replying.Pair | None:
    """Return the call that a line is; None where it is words."""
    first, *rest = split(said) or [""]
    numbers = {str(number): name for number, name in enumerate(tools, 1)}
    tool = numbers.get(first, first)
    if tool not in tools or not all("=" in word for word in rest):
        return None
    return tool, arguments(rest) if rest else {}


def turn_as_text(turn: YourTurn, cursor: Cursor, who: str = replying.YOU) -> str:
    """Return a turn of the model as the text that a person reads; `who` begins it."""
    told = [f"{each.tool or 'told'}: {each.text}" for each in turn.told]
    tools = (cursor.find(name) for name in turn.tools)
    listed = [f"{number}. {_in_line(tool)}" for number, tool in enumerate(filter(None, tools), 1)]
    return "\n".join([f"{who}, turn {turn.turn}: {turn.prompt}", *told, *listed])


def _in_line(tool: Tool) -> str:
    names = ", ".join(tool.parameters.get("properties", {}))
    return f"{tool.name}({names})  {tool.description}"
