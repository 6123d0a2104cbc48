"""Prompts, the steps to the next pause, and side questions to the model."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from ..core.call_record import SAVE
from ..core.digests import readable_json
from ..core.errors import NotYourTurn, Unfinished, UsageError
from ..core.events import (
    Asked,
    Event,
    Finished,
    Interrupted,
    Made,
    Opened,
    Output,
    Producer,
    Replied,
)
from ..core.interrupts import Hold, attempt
from ..core.journal_entries import Entry
from ..core.recorded_data import replace
from ..core.state import NAME, AskModel, State, kind_in
from ..core.state_fold import state_at
from ..tools.answer_types import SCALARS
from ..tools.arguments import parse_json
from ..tools.object_types import kind_of
from ..tools.plain_data import plain_data, well_formed
from ..tools.table_classes import has_no_text
from ..tools.value_digests import content_digest
from .calls_by_program import all_answered
from .cursor import Cursor
from .decisions import waiting_calls
from .opening import data_output, tools_make
from .prepare import data_of
from .replay import advance
from .replay_queue import ReplayQueue
from .session_values import RESULT


def record_prompt(cursor: Cursor, text: str) -> None:
    """Record a prompt. Raises NotYourTurn while a call has no result."""
    if not text.strip():
        raise UsageError("the prompt is empty; say what is to be done")
    cursor.context.secrets.refresh()
    cursor.context.person_rules.end_run()
    end_interrupted_reply(cursor)
    cursor.write(Asked(well_formed(text)), at=cursor.context.clock())
    cursor.replay_queue = ReplayQueue()


def end_interrupted_reply(cursor: Cursor) -> None:
    """Record that the calls after an interrupted call did not run, so that a prompt can follow."""
    state = cursor.state
    if any(state.calls[call_id].status == "interrupted" for call_id in state.latest):
        for call_id in state.open:
            if state.calls[call_id].started is None:
                cursor.write(Finished(call_id, Interrupted(ran=False)))


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
    journal = branch.context.journal
    children = [journal[child].event for child in journal.children(branch.head)]
    event = _another_prompt(asked, children)
    return Cursor(
        branch.context, journal.append(branch.head, event, {"at": branch.context.clock()}).id
    )


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
    asked_entry = next((entry for entry in path if _is_prompt(entry, asked)), None)
    if asked_entry is None or asked_entry.parent is None:
        return cursor
    opened, head = cursor.state.opened, asked_entry.parent
    if state_at(journal, head).opened != opened:
        head = journal.append(head, opened).id
    return Cursor(cursor.context, head)


def _is_prompt(entry: Entry, asked: Asked) -> bool:
    match entry.event:
        case Asked(text, by="person", secrets=keys):
            return (text, keys) == (asked.text, asked.secrets)
    return False


def _another_prompt(asked: Asked, children: Collection[Event]) -> Asked:
    """Return a prompt that counts how often it was asked here before."""
    before = sum(isinstance(event, Asked) and event.text == asked.text for event in children)
    return replace(asked, again=before)


def transform(cursor: Cursor, obj: Any, instruction: str) -> Any:
    """Ask the model to transform an object; return its result, a value of the same type.

    The object is a value or a name; a new value becomes an input. Plain data goes to the model as
    it is. Raises UsageError for data of no type that JSON has, Unfinished where nothing was saved.
    """
    named, toolbox, description = _object(cursor, obj), cursor.context.toolbox, "What came of it."
    value = cursor.context.values.value(named[1]) if named else obj
    is_object = bool(named and not named[1].shown)
    output: Output | None = None
    if not (is_object and tools_make(type(value), toolbox)):
        obj = data_of(value) if named else obj
        output = data_output(type(obj), description, toolbox)
    if output is None and named and is_object:
        output = Output(named[1].kind, description)
    if output is None:
        raise UsageError(
            f"a {type(obj).__name__} is plain data here, with no type that a result could be "
            "checked by; name its class in the toolbox, such as Toolbox(Book)"
        )
    how_to_save = f"Hand the {output.kind} that comes of it over with save(result=...)."
    return _answered(cursor, _Question(instruction, "Do this to", obj, named, how_to_save, output))


def query(cursor: Cursor, obj: Any, question: str, returns: Any = str) -> Any:
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
    how_to_save = f"Hand the answer over with save(result=...); its type is {output.kind}."
    named = _object(cursor, obj)
    about = _Question(question, "This is about", obj, named, how_to_save, output, in_words=True)
    return _answered(cursor, about)


_Named = tuple[str, Made]
"""An object, and the name of the input that it becomes ("" where it was there before)."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A side question: its words, what they are about (plain data has no object), its output."""

    words: str
    about: str
    value: Any
    named: _Named | None
    hand: str
    output: Output
    in_words: bool = False
    """Whether a reply without `save` may be the answer."""


def _answered(cursor: Cursor, asked: _Question) -> Any:
    all_answered(cursor)
    if not asked.words.strip():
        raise UsageError("the instruction is empty; say what is to be done, or answered")
    if SAVE in cursor.context.toolbox:
        raise UsageError(
            f"a tool of yours is named {SAVE!r}, by which the result is handed over; "
            "rename it with @tool(name=...)"
        )
    _open_question(cursor, asked)
    text = f"{asked.words}\n\n{asked.about} {_object_text(cursor, asked)}. {asked.hand}"
    text += _content(cursor, asked)
    cursor.write(Asked(well_formed(text)), at=cursor.context.clock())
    cursor.replay_queue = ReplayQueue()
    while advance(cursor) is not None:
        pass
    return _result(cursor, asked.in_words)


def _main_opening(state: State) -> Opened:
    """Return the opening of the session's main work, with the current inputs."""
    opened = state.opened if state.main_work is None else state.main_work.opened
    return replace(opened, inputs=state.opened.inputs)


def _open_question(cursor: Cursor, asked: _Question) -> None:
    opened = _main_opening(cursor.state)
    new = (asked.named,) if asked.named and asked.named[0] else ()
    inputs, outputs = (*opened.inputs, *new), {RESULT: asked.output}
    cursor.write(replace(opened, inputs=inputs, outputs=outputs, aside=True))


def _object_text(cursor: Cursor, asked: _Question) -> str:
    """Return what a question is about: the name of an object, or plain data as JSON."""
    if asked.named:
        return cursor.state.name_of(asked.named[1])
    data = cursor.context.hide(plain_data(asked.value))
    return f"this {type(asked.value).__name__}: {readable_json(data)}"


def _content(cursor: Cursor, asked: _Question) -> str:
    """Return the content of an object, as the end of a question; "" for plain data, and for an
    object without a readable text."""
    context, named_object = cursor.context, asked.named and asked.named[1]
    value = context.values.value(named_object) if named_object else None
    # An address in memory would say nothing.
    if not named_object or has_no_text(type(value)):
        return ""
    return f"\n\n{cursor.state.name_of(named_object)} holds {context.content_text(value)}"


def _result(cursor: Cursor, in_words: bool) -> Any:
    """Return what was saved, or answered `in_words`, and return to the session's main work."""
    state = cursor.state
    if state.open:
        calls = [f"{call.id} ({call.tool})" for call in waiting_calls(cursor)] or list(state.open)
        raise Unfinished(f"no result without you, for these wait: {', '.join(calls)}; {_GO_ON}")
    if isinstance(cursor.next_step, AskModel) and not cursor.turn_limit_reached:
        raise Unfinished(f"the model has not answered yet; {_GO_ON}")
    answers, output = [*cursor.context.values.outputs(state).values()], state.opened.outputs[RESULT]
    if in_words and not state.done:
        answers = [*_answers_in_words(cursor, output)]
    cursor.write(_main_opening(state))
    if not answers:
        raise Unfinished(f"the model saved no {output.kind} and wrote: {state.reply_text!r:.200}")
    return answers[0]


def _answers_in_words(cursor: Cursor, output: Output) -> Iterator[Any]:
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


def _object(cursor: Cursor, obj: Any) -> _Named | None:
    """Return the object that is named, or given; None for plain data.

    A value that an object has already is that object.
    """
    state, kinds = cursor.state, cursor.context.values.kinds
    if isinstance(obj, str) and NAME.fullmatch(obj):
        kind = kind_in(obj)
        if kind in state.newest or kind in kinds.values():
            return "", state.resolve(obj)
    kind_given = kind_of(obj, kinds)
    if kind_given is None:
        return None
    content = content_digest(obj)
    existing = state.contents.get((kind_given, content)) if content else None
    if existing is not None:
        return "", state.objects[existing]
    name = _unused(cursor, kind_given.lower(), content)
    return name, cursor.context.values.add_input(name, obj)


def _unused(cursor: Cursor, variable: str, content: str) -> str:
    """Return an unused name for an input; a value without a content digest gets one that no branch
    has."""
    events = (entry.event for entry in cursor.context.journal) if not content else ()
    used_names = {name for e in events if isinstance(e, Opened) for name, _ in e.inputs}
    names = (variable if number == 1 else f"{variable}_{number}" for number in count(1))
    existing = cursor.state.by_producer
    return next(n for n in names if Producer(input=n) not in existing and n not in used_names)
