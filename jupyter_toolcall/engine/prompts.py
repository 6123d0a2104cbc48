"""Prompts, the steps to the next pause, and questions to the model beside the conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..core.branch_names import QUESTION
from ..core.call_record import SAVE
from ..core.digests import readable_json
from ..core.errors import NotYourTurn, Unfinished, UsageError, checked_text
from ..core.events import Asked, Finished, Interrupted, Made, Output, Replied
from ..core.interrupts import Hold, attempt
from ..core.recorded_data import JsonDict, replace
from ..core.state import NAME, kind_in
from ..core.state_fold import state_at
from ..tools.answer_types import SCALARS
from ..tools.arguments import parse_json
from ..tools.object_types import kind_of
from ..tools.plain_data import plain_data, well_formed
from ..tools.table_classes import has_no_text
from .calls_by_program import all_answered
from .cursor import Cursor
from .decisions import waiting_calls
from .forks import is_over, leave_question
from .live_objects import live_object
from .opening import data_output, tools_make
from .prepare import data_of
from .replay import advance
from .replay_queue import ReplayQueue
from .session_values import RESULT


def record_prompt(cursor: Cursor, text: str) -> None:
    """Record a prompt. Raises NotYourTurn while a call has no result."""
    if not checked_text(text, "the prompt").strip():
        raise UsageError("the prompt is empty; say what is to be done")
    cursor.context.person_rules.end_run()
    continue_conversation(cursor)
    cursor.write(prompt_event(cursor, text), at=cursor.context.clock())
    cursor.replay_queue, cursor.turns_before = ReplayQueue(), 0


def continue_conversation(cursor: Cursor) -> None:
    """Move to where a prompt can follow: after the question that the session stands in.

    The calls after an interrupted call are recorded as not run.
    """
    state = cursor.state
    if any(state.calls[call_id].status == "interrupted" for call_id in state.latest):
        for call_id in state.open:
            if state.calls[call_id].started is None:
                cursor.write(Finished(call_id, Interrupted(ran=False)))
    leave_question(cursor)


def run_to_pause(cursor: Cursor) -> None:
    """Continue to the next pause. Raises ModelError, and KeyboardInterrupt."""
    cursor.refresh()
    with Hold() as hold:
        while advance(cursor) is not None:
            hold.deliver()


def run_step(cursor: Cursor) -> None:
    """Take one step, if it needs no decision."""
    cursor.refresh()
    advance(cursor, single=True)


def prompt_event(cursor: Cursor, text: str) -> Asked:
    """Return the event of a prompt, with markers in place of secrets."""
    secrets = cursor.context.secrets
    secrets.refresh()
    marked, keys = secrets.mark(well_formed(text))
    return Asked(marked, secrets=keys)


def repeat_prompt(cursor: Cursor, asked: Asked) -> Cursor:
    """Return a cursor at a prompt on a new branch, without the entries recorded after it.

    The branch begins before the same prompt of this branch, else here.
    """
    branch = _before_prompt(cursor, asked)
    context, journal = branch.context, branch.context.journal
    events = [journal[child].event for child in journal.children(branch.head)]
    # Counted, so that each time begins a branch of its own.
    before = sum(isinstance(event, Asked) and event.text == asked.text for event in events)
    entry = journal.append(branch.head, replace(asked, again=before), {"at": context.clock()})
    return Cursor(context, entry.id)


def start_over(cursor: Cursor) -> Cursor:
    """Return a cursor at the last prompt, asked again on a new branch.

    Raises NotYourTurn where nobody has asked anything yet.
    """
    for entry in reversed(cursor.context.journal.path(cursor.head)):
        match entry.event:
            case Asked(by="person") as asked:
                return repeat_prompt(cursor, asked)
    raise NotYourTurn("nothing has been asked in this session yet")


def _before_prompt(cursor: Cursor, asked: Asked) -> Cursor:
    """Return a cursor before the last such prompt of this branch, with the current options."""
    journal = cursor.context.journal
    path = reversed(journal.path(cursor.head))
    prompts = (entry for entry in path if isinstance(entry.event, Asked))
    asked_entry = next((e for e in prompts if replace(e.event, again=asked.again) == asked), None)
    if asked_entry is None or asked_entry.parent is None:
        return cursor
    opened, head = cursor.state.opened, asked_entry.parent
    if state_at(journal, head).opened != opened:
        head = journal.append(head, opened).id
    return Cursor(cursor.context, head)


def transform(cursor: Cursor, obj: object, instruction: str) -> object:
    """Ask the model to transform an object; return its result, a value of the same type.

    The object is a value or a name; a new value becomes an input. Plain data goes to the model as
    it is. Raises UsageError for data of no type that JSON has, Unfinished where nothing was saved.
    """
    _demand_turn(cursor)
    named, toolbox, description = _object(cursor, obj), cursor.context.toolbox, "What came of it."
    value = cursor.context.values.value(named) if named else obj
    is_object = bool(named and not named.shown)
    output: Output | None = None
    if not (is_object and tools_make(type(value), toolbox)):
        obj = data_of(value) if named else obj
        output = data_output(type(obj), description, toolbox)
    if output is None and named and is_object:
        output = Output(named.kind, description)
    if output is None:
        raise UsageError(
            f"a {type(obj).__name__} is plain data here, with no type that a result could be "
            "checked by; name its class in the toolbox, such as Toolbox(Book)"
        )
    how_to_save = f"Hand the {output.kind} that comes of it over with save(result=...)."
    return _answered(cursor, _Question(instruction, "Do this to", obj, named, how_to_save, output))


def query(cursor: Cursor, obj: object, question: str, returns: object = str) -> Any:
    """Return the model's answer to a question about an object: a text, a number, a truth, a list,
    a dict, or a record (a dataclass, a pydantic model).

    The object is as for `transform`, or any plain data. An answer that is not saved and fits the
    type counts too. Raises UsageError for another type of answer, Unfinished where there is none.
    """
    output = data_output(returns, "The answer.", cursor.context.toolbox)
    if output is None or returns is object:
        raise UsageError(
            f"a question is answered by a {', '.join(SCALARS)}, by a list or a dict "
            f"such as list[str], or by a record, not {returns!r:.60}; transform makes objects"
        )
    _demand_turn(cursor)
    how_to_save = f"Hand the answer over with save(result=...); its type is {output.kind}."
    named = _object(cursor, obj)
    about = _Question(question, "This is about", obj, named, how_to_save, output, in_words=True)
    return _answered(cursor, about)


@dataclass(frozen=True, slots=True)
class _Question:
    """A question: its words, what they are about (plain data has no object), its output."""

    words: str
    about: str
    value: Any
    named: Made | None
    hand: str
    output: Output
    in_words: bool = False
    """Whether a reply without `save` may be the answer."""


def _demand_turn(cursor: Cursor) -> None:
    """Stand in the conversation. Raises NotYourTurn while calls have no result."""
    all_answered(cursor)
    leave_question(cursor)


def _answered(cursor: Cursor, asked: _Question) -> object:
    if not checked_text(asked.words, "the instruction").strip():
        raise UsageError("the instruction is empty; say what is to be done, or answered")
    if SAVE in cursor.context.toolbox:
        raise UsageError(
            f"a tool of yours is named {SAVE!r}, by which the result is handed over; "
            "rename it with @tool(name=...)"
        )
    # The conversation's own cursor stays where it is, unless the question needs the person.
    question = Cursor(cursor.context, cursor.head)
    try:
        _open_question(question, asked)
        about, content = _about(question, asked)
        text = f"{asked.words}\n\n{asked.about} {about}. {asked.hand}{content}"
        question.write(Asked(well_formed(text)), at=question.context.clock())
        while advance(question) is not None:
            pass
        return _result(question, asked.in_words)
    finally:
        if not is_over(question):
            cursor.stand_at(question)


def _open_question(question: Cursor, asked: _Question) -> None:
    journal, opened = question.context.journal, question.state.opened
    number = 1 + sum(journal[other].parent == question.head for other in journal.questions)
    named, inputs, outputs = asked.named, opened.inputs, {RESULT: asked.output}
    if named is not None and named.producer not in question.state.by_producer:
        inputs = (*inputs, (named.producer.input, named))
    event = replace(opened, inputs=inputs, outputs=outputs, question=number)
    meta: JsonDict = {QUESTION: asked.words}
    question.write(event, **meta)


def _about(question: Cursor, asked: _Question) -> tuple[str, str]:
    """Return what a question is about: the name of an object, or plain data as JSON; and the
    content of the object, as the end of the question ("" where it has no readable text)."""
    context = question.context
    if asked.named is None:
        data = context.secrets.hide(plain_data(asked.value))
        return f"this {type(asked.value).__name__}: {readable_json(data)}", ""
    name, value = question.state.name_of(asked.named), context.values.value(asked.named)
    # An address in memory would say nothing.
    is_readable = not has_no_text(type(value))
    return name, f"\n\n{name} holds {context.content_text(value)}" if is_readable else ""


def _result(cursor: Cursor, in_words: bool) -> object:
    """Return what was saved, or answered `in_words`."""
    state = cursor.state
    if state.open:
        calls = [f"{call.id} ({call.tool})" for call in waiting_calls(cursor)] or list(state.open)
        raise Unfinished(f"no result without you, for these wait: {', '.join(calls)}; {_GO_ON}")
    if not is_over(cursor):
        raise Unfinished(f"the model has not answered yet; {_GO_ON}")
    answers, output = [*cursor.context.values.outputs(state).values()], state.opened.outputs[RESULT]
    if in_words and not state.done:
        answers = [*_answers_in_words(cursor, output)]
    if not answers:
        raise Unfinished(f"the model saved no {output.kind} and wrote: {state.reply_text!r:.200}")
    return answers[0]


def _answers_in_words(cursor: Cursor, output: Output) -> Iterator[object]:
    """Yield the replies to the latest prompt that fit the output, as values, the latest first."""
    values, state = cursor.context.values, cursor.state
    for entry in reversed(cursor.context.journal.path(cursor.head)):
        match entry.event:
            case Asked(by="person"):
                return
            case Replied(text, said=prose) if words := (text if prose is None else prose).strip():
                data, no_json = attempt(parse_json, words)
                for reading in [words] if no_json else [words, data]:
                    value, raised = attempt(values.read_output, output, reading, state)
                    if not raised:
                        yield value


_GO_ON = f'decide, session.run(), then session.outputs["{RESULT}"]'


def _object(cursor: Cursor, obj: object) -> Made | None:
    """Return the object that is named, or given; None for plain data."""
    state, kinds = cursor.state, cursor.context.values.kinds
    if isinstance(obj, str) and NAME.fullmatch(obj):
        kind = kind_in(obj)
        if kind in state.newest or kind in kinds.values():
            return state.resolve(obj)
    kind_given = kind_of(obj, kinds)
    if kind_given is None:
        return None
    return live_object(obj, kind_given, state, cursor.context.values)
