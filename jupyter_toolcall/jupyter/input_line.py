"""Lines that a person writes: their words, and questions on the cell's own input line.

The input line is used where no panel can be heard, or nobody can click.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import ToolcallError, Unfinished, UsageError
from ..core.json_data import unique_keys
from ..core.state import AskModel, RunCall
from ..core.text import indented, print_text, printable
from ..engine import person_model as replying
from ..engine.budget_hook import BudgetHook
from ..engine.cursor import Cursor
from ..engine.decisions import check_answer, question_about
from ..engine.input_rounds import questions_text
from ..engine.person_model import YourTurn
from ..session import recorded_decisions
from ..session.session import Session
from ..tools.object_references import fits_in, replace_names
from ..tools.tool import parameters_schema
from ..view.view_rows import all_rows
from .panel_controller import PanelController

# -- words of a line ---------------------------------------------------------------------------

_JSON = re.compile(r"(?<!\S)(?:[A-Za-z_]\w*=)?(?=[\[{])")
"""Where a word begins that is JSON, or NAME= and JSON."""


def split(text: str) -> list[str]:
    """Return the words of a line; JSON is one word, and quotes that do not close only marks."""
    for match in _JSON.finditer(text):
        with contextlib.suppress(ValueError):
            _, end = json.JSONDecoder().raw_decode(text, match.end())
            return [
                *_split_line(text[: match.start()]),
                text[match.start() : end],
                *split(text[end:]),
            ]
    return _split_line(text)


def _split_line(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def arguments(words: list[str]) -> dict[str, Any]:
    """Return what `NAME=VALUE` words say. Raises UsageError for a word that is none."""
    pairs = [word.partition("=") for word in words]
    wrong = [key for key, equals, _ in pairs if not equals]
    if wrong or not pairs:
        raise UsageError("arguments are written as NAME=VALUE, such as: shape=SLICES")
    return {key: value(text) for key, _, text in pairs}


def fields(text: str) -> Any:
    """Return the fields of a form, written as `NAME=VALUE` words or as one JSON object."""
    words = split(text)
    return value(text) if text.startswith("{") else arguments(words) if words else {}


def value(text: str) -> Any:
    """Return a value that is written as JSON; any other text is itself.

    Raises UsageError for JSON in which an object has a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except json.JSONDecodeError:
        return text
    except ValueError as error:
        raise UsageError(str(error)) from None


# -- questions on the input line ---------------------------------------------------------------

CHOICES = "[a]pprove, [e]dit NAME=VALUE, a[n]swer RESULT, [r]eject REASON, {}[s]top? "
INPUT = "a[n]swer NAME=VALUE, [e]dit NAME=VALUE, [r]eject, [s]top? "
KEEP = "[k]eep the recorded result, "
UNKNOWN = " (outcome unknown: it had started; approve runs it again, answer says how it ended)"


LINE = 100
"""Characters of a call on one line; a longer one has a line for each argument."""


class _ObjectName(str):
    """The name of an object among arguments: unlike a text of the same letters it has no quotes."""

    __repr__ = str.__str__


def call_text(cursor: Cursor, call: CallRecord) -> str:
    """Return a call as a person reads it who decides on it: every argument, whole.

    Texts are as in Python, so that no sign in them is hidden or ends a line. A name without quotes
    is that of an object.
    """
    tool, state = cursor.tool_named(call.tool), cursor.state
    schema: Mapping[str, Any] = parameters_schema(tool) if tool is not None else {}
    fitting = fits_in(state.objects, state.plain)
    named = replace_names(schema, call.arguments, lambda path, name: _ObjectName(name), fitting)
    parts = [printable(f"{key}={value!r}") for key, value in named.items()]
    head = printable(f"{call.id} {call.tool}(")
    text = f"{head}{', '.join(parts)})"
    if len(text) > LINE:
        text = "\n".join([head, *(f"    {part}," for part in parts), ")"])
    return text + UNKNOWN * (call.status == "unknown")


def reasons(session: Session, call: CallRecord) -> tuple[list[str], str]:
    """Return why a call waits and what it would do, or what it asks; and its recorded result, ""
    where there is none."""
    rows = all_rows(session.cursor, session.name).calls
    row = next((row for row in rows if row.call == call.id and not row.branch), None)
    about = [row.why, row.downstream] if row is not None else []
    if call.waits_for_input:
        about = [questions_text(call)]
    return [*filter(None, about)], row.recorded if row is not None else ""


def ask_by_input(session: Session, call: CallRecord, ask: Callable[[str], str]) -> None:
    """Ask about a call on the cell's own input line, and record the decision.

    An empty line decides nothing, and an error is printed. Raises KeyboardInterrupt for stop.
    """
    about, recorded = reasons(session, call)
    choices = INPUT if call.waits_for_input else CHOICES.format(KEEP if recorded else "")
    about += [f"recorded result: {recorded}"] if recorded else []
    texts = [call_text(session.cursor, call), *map(indented, about)]
    line = ask("\n".join([*texts, choices])).strip()
    try:
        _decide(session, call, bool(recorded), *line.partition(" ")[::2])
    except ToolcallError as error:
        print_text(error)


def _decide(session: Session, call: CallRecord, recorded: bool, word: str, text: str) -> None:
    match word.lower():
        case "a" | "approve" if not call.waits_for_input:
            session.decide(call.id, "approve")
        case "a" | "n" | "answer" if call.waits_for_input:
            session.decide(call.id, "answer", result=fields(text))
        case "n" | "answer":
            check_answer(session.cursor, call.id, value(text))
            session.decide(call.id, "answer", result=value(text))
        case "r" | "reject":
            session.decide(call.id, "reject", reason=text)
        case "e" | "edit":
            changed = {**call.arguments, **arguments(split(text))}
            session.decide(call.id, "edit", arguments=changed)
        case "k" | "keep" if recorded:
            session.keep_result(call.id)
        case "s" | "stop":
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
    line = ask("TOOL NAME=VALUE…, or what you say: ").strip()
    first, *words = split(line) or [""]
    tool = {str(number): name for number, name in enumerate(turn.tools, 1)}.get(first, first)
    try:
        if tool in turn.tools and all("=" in word for word in words):
            call = tool, arguments(words) if words else {}
            replying.check_person_call(session.cursor, *call)
            session.reply("", call)
        else:
            session.reply(line)
    except ToolcallError as error:
        print_text(error)


def turn_as_text(turn: YourTurn, cursor: Cursor, who: str = replying.YOU) -> str:
    """Return a turn of the model as the text that a person reads; `who` begins it."""
    lines = [f"{who}, turn {turn.turn}: {turn.prompt}"]
    lines += [f"{part.tool or 'message'}: {part.text}" for part in turn.told]
    tools = filter(None, (cursor.tool_named(name) for name in turn.tools))
    for number, tool in enumerate(tools, 1):
        names = ", ".join(parameters_schema(tool).get("properties", {}))
        lines.append(f"{number}. {tool.name}({names})  {tool.description}")
    return "\n".join(lines)


def repeat_decisions(controller: PanelController) -> bool:
    """While a notebook is verified, repeat a person's decisions; return whether it waits."""
    decisions = recorded_decisions.notebook_decisions().of(controller.session.state.prompt)
    while session := recorded_decisions.repeat_decision(controller.session, decisions):
        controller.session = session
        controller.run_to_pause()
    return decisions.waits and not decisions.remaining


def demand_no_person(controller: PanelController) -> None:
    """Raise Unfinished where a person is needed, and there is none."""
    waiting, cursor = controller.session.pending, controller.session.cursor
    if waiting:
        call = waiting[0]
        # The error is one line; what would be decided stands whole above it.
        print_text(f"toolchat: this call waits:\n{call_text(cursor, call)}")
        if call.waits_for_input:
            raise Unfinished(
                f"{call.tool} ({call.id}) asks for input, and this run has no person: run the "
                f"cell in a notebook. It asks: {questions_text(call)}"
            )
        asked = question_about(cursor, call.id)
        head = f"{call.tool} ({call.id}) waits for a person, and this run has none."
        if asked is not None and asked.may_have_run:
            raise Unfinished(f"{head} {asked.reason} --fresh begins a new session")
        why = next(iter(reasons(controller.session, call)[0]), "")
        runs = "Use --approve all, mark the tool read-only, or run"
        end = f"{runs if asked is not None and asked.by_policy else 'Run'} the cell in a notebook"
        raise Unfinished(" ".join(filter(None, (head, why, end))))
    step, hook = cursor.next_step, cursor.holding_hook
    if isinstance(step, RunCall):
        raise Unfinished(
            f"{step.call.tool} ({step.call.id}) waits for Step (--step), and this run has no "
            "person: leave out --step, or run the cell in a notebook"
        )
    if isinstance(hook, BudgetHook):
        raise Unfinished(f"the budget is used up. {hook.budget.shortage} Write a larger --budget")
    if replying.is_person_turn(cursor):
        raise Unfinished(
            "the model is a person (-m person), and this run has none: run the cell in a "
            "notebook, or reply with %toolchat say TEXT or %toolchat call TOOL NAME=VALUE"
        )
    if isinstance(step, AskModel):
        raise Unfinished("the model has no reply yet; %toolchat next asks it again")


async def run_by_input(controller: PanelController) -> None:
    """Ask on the cell's own input line, where no panel can be heard."""
    while True:
        await controller.run(wait=False)
        session = controller.session
        if session.pending:
            ask_by_input(session, session.pending[0], input)
        elif not isinstance(session.cursor.holding_hook, BudgetHook | None):
            for extension in controller.extensions:
                extension.ask_by_input(session, input)
        elif replying.is_person_turn(session.cursor):
            reply_by_input(session, input)
        else:
            return demand_no_person(controller)
