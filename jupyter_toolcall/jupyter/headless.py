"""Asking the person on the cell's own input line, where no panel can be heard."""

from __future__ import annotations

from collections.abc import Callable

from ..core.call_record import CallRecord
from ..core.errors import ToolcallError, Unfinished
from ..core.state import AskModel
from ..core.text import LINES, print_text, printable
from ..engine import person_model as replying
from ..engine.cursor import Cursor
from ..engine.decisions import unknown_outcome_reason
from ..engine.person_model import YourTurn
from ..session import recorded_decisions as standing_in
from ..session.session import Session
from ..tools.tool import Tool
from ..view.view_rows import all_rows
from .panel_controller import PanelController
from .subcommand_words import arguments, split, value

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
    rows = all_rows(session.cursor, session.name).calls
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
    turn = replying.person_turn(session.cursor)
    assert turn is not None
    print_text(turn_as_text(turn, session.cursor))
    said = ask("TOOL NAME=VALUE…, or what you say: ").strip()
    try:
        found = _as_call(said, turn.tools)
        if found is None:
            session.reply(said)
        else:
            replying.check_person_call(session.cursor, *found)
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
    tools = (cursor.tool_named(name) for name in turn.tools)
    listed = [f"{number}. {_in_line(tool)}" for number, tool in enumerate(filter(None, tools), 1)]
    return "\n".join([f"{who}, turn {turn.turn}: {turn.prompt}", *told, *listed])


def _in_line(tool: Tool) -> str:
    names = ", ".join(tool.parameters.get("properties", {}))
    return f"{tool.name}({names})  {tool.description}"


def as_recorded(controller: PanelController) -> bool:
    """While a notebook is verified, say again what a person said; return whether it waited."""
    said = standing_in.notebook_decisions().of(controller.session.state.prompt)
    while (session := standing_in.repeat_decision(controller.session, said)) is not None:
        controller.session = session
        controller.run_to_pause()
    return said.waits and not said.words


def needs_nobody(controller: PanelController) -> None:
    """Raise Unfinished where a person is needed, and there is none."""
    waiting, cursor = controller.session.pending, controller.session.cursor
    if waiting:
        call = waiting[0]
        if reason := unknown_outcome_reason(cursor, call.id):
            raise Unfinished(
                f"{call.tool} ({call.id}) waits for a person, and this run has none. {reason} "
                "--fresh begins a new session"
            )
        raise Unfinished(
            f"{call.tool} ({call.id}) waits for a person, and this run has none: use "
            "--approve all, mark the tool read-only, or run the cell in a notebook"
        )
    if replying.is_person_turn(cursor):
        raise Unfinished(
            "the model is a person (-m person), and this run has none: run the cell in a "
            "notebook, or reply with %toolchat say TEXT or %toolchat call TOOL NAME=VALUE"
        )
    if isinstance(cursor.next_step, AskModel):
        raise Unfinished("the model has no reply yet; %toolchat next asks it again")


async def by_input(controller: PanelController) -> None:
    """Ask on the cell's own input line, where no panel can be heard."""
    while True:
        await controller.run(wait=False)
        session = controller.session
        if session.pending:
            ask_by_input(session, session.pending[0], input)
        elif session.cursor.holding_hook is not None:
            for extension in controller.extensions:
                extension.ask_by_input(session, input)
        elif replying.is_person_turn(session.cursor):
            reply_by_input(session, input)
        else:
            return needs_nobody(controller)
