"""Where an object comes from: calls, inputs, and the instances whose state calls used."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..core.call_record import SAVE, CallRecord
from ..core.errors import Absent, UsageError
from ..core.events import (
    Asked,
    Data,
    Decided,
    Failed,
    Finished,
    Interrupted,
    Producer,
    Replied,
    Started,
)
from ..core.state import State
from ..core.state_fold import state_at
from ..core.text import nearest, visible_text
from ..engine.cursor import Cursor
from ..schemes.save_tool import is_data
from ..tools.object_references import fits_in, named_paths
from ..tools.value_copies import cut
from ..view.message_rows import replying_model
from .code import with_article
from .live_session import ExportedSession
from .python_script import fenced, plain, script_text, statements
from .script import Selection


def ancestry(
    state: State,
    objects: Iterable[Producer] = (),
    calls: Iterable[str] = (),
    handed: Collection[str] = (),
) -> Selection:
    """Return the calls, objects and instances that objects (by producer) and calls go back to.

    They themselves are among them; of a list's objects only those that are needed. What calls
    used whose results were `handed` in is left out.
    """
    needed, call_ids, instances = {*objects}, set[str](), set[str]()
    ahead = [producer.call for producer in needed]
    for each in calls:
        ahead.append(each)
        needed.update(made.producer for made in state.calls[each].produced)
    while ahead:
        call = state.calls.get(ahead.pop())
        if call is None or call.id in call_ids:
            continue
        call_ids.add(call.id)
        if call.id in handed or call.started is None:
            continue
        needed.update(call.uses.values())
        ahead += [producer.call for producer in call.uses.values()]
        if call.started.instance:
            instances.add(call.started.instance)
        ahead += [call.started.previous, *call.started.setters.values()]
    return Selection(frozenset(call_ids), frozenset(needed), frozenset(instances))


@dataclass(frozen=True, slots=True)
class Circumstance:
    """How a call came about."""

    prompt: str = ""
    model: str = ""
    turn: int = 0
    decision: str = ""
    """approve, edit, reject or answer; "" where nobody had to decide."""
    by: str = ""
    """person, policy or program: who decided, or gave the result."""
    reason: str = ""
    handed: bool = False
    """The program ran it by itself, and gave its result."""


def circumstances(cursor: Cursor) -> Mapping[str, Circumstance]:
    """Return how each call of a branch came about, by its id."""
    by_call: dict[str, Circumstance] = {}
    prompt = ""
    for entry in cursor.context.journal.path(cursor.head):
        match entry.event:
            case Asked(text, by="person"):
                prompt = text
            case Replied(calls=calls) if calls:
                turn = state_at(cursor.context.journal, entry.id).turns
                new = Circumstance(prompt, replying_model(cursor, entry), turn)
                by_call |= {call.id: new for call in calls}
            case Decided(call_id, decision, reason=reason, round=0):
                known, by = by_call[call_id], str(entry.meta.get("by", ""))
                by_call[call_id] = replace(known, decision=decision, by=by, reason=reason)
            case Started(call_id, approval_digest=approval_digest) if approval_digest:
                allowed: str = by_call[call_id].decision or "approve"
                by_call[call_id] = replace(by_call[call_id], decision=allowed, by="policy")
            case Finished(call_id, by="program"):
                by_call[call_id] = replace(by_call[call_id], by="program", handed=True)
    return by_call


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of the way to something: what happened, and under which prompt."""

    text: str
    prompt: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why something is there."""

    name: str
    """What is explained: an object, an output, or a call."""
    what: str
    """What it is, in one sentence."""
    reasons: tuple[Reason, ...] = ()
    """The way to it, from its beginning."""
    code: str = ""
    """The statements that make it, and no others."""
    script: str = ""
    """The same as a script that runs by itself."""

    def __str__(self) -> str:
        lines, prompt = [self.what], ""
        for reason in self.reasons:
            if reason.prompt and reason.prompt != prompt:
                prompt = reason.prompt
                shown = [visible_text(line, 1_000) for line in prompt.strip().splitlines()]
                first, *more = shown or [""]
                lines += [f"You asked: {first}", *(f"  {line}" for line in more)]
            lines.append(f"  {reason.text}")
        return "\n".join([*lines, "", self.code] if self.code else lines)

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        parts, prompt = [f"**{plain(self.what)}**"], ""
        items: list[str] = []
        for reason in self.reasons:
            if reason.prompt and reason.prompt != prompt:
                prompt = reason.prompt
                parts += ["\n".join(items)] if items else []
                parts.append(f"You asked: {plain(prompt)}")
                items = []
            items.append(f"- {plain(reason.text)}")
        parts += ["\n".join(items)] if items else []
        return "\n\n".join([*parts, fenced(self.code)] if self.code else parts)


LONG = 300
"""Characters of one reason."""
PERSON = "person"


def explain(session: ExportedSession, name: str) -> Explanation:
    """Return why an object, an output or a call is there.

    Raises UsageError, which names the nearest, for a name that there is not.
    """
    cursor, state = session.cursor, session.cursor.state
    output = state.outputs.get(name) if name in state.opened.outputs else None
    if name in state.calls:
        return _of_call(session, state.calls[name])
    if output is not None and is_data(declared := state.opened.outputs[name]):
        named = named_paths(declared.schema, output, fits_in(state.objects, ())).values()
        if producers := [state.objects[used].producer for used in named]:
            only = functools.partial(ancestry, state, producers)
            return _explained(session, name, f"{name} is {output!r:.200}", only, [name])
        with contextlib.suppress(Absent):
            output = cursor.context.values.saved_data(output, state)
        return _of_data(cursor, name, output)
    object_name = str(output) if output is not None else name
    if object_name not in state.objects:
        raise UsageError(f"nothing is called {name!r:.60} here.{_existing_name(name, state)}")
    return _of_object(session, name, object_name)


def _existing_name(name: str, state: State) -> str:
    known = [*state.names, *state.outputs, *state.order]
    newest = ", ".join([*reversed(state.names)][:5])
    return nearest(name, known) or f" There are {newest or 'no objects yet'}"


# -- objects, outputs, calls ------------------------------------------------------------------


def _of_object(session: ExportedSession, name: str, object_name: str) -> Explanation:
    state = session.cursor.state
    made = state.objects[object_name]
    saved = [key for key, value in state.outputs.items() if value == object_name]
    about = [with_article(made.kind), *([made.description] if made.description else [])]
    about += [f"saved as {', '.join(saved)}"] if saved else []
    what = f"{object_name}: {', '.join(about)}"
    lines = () if name == object_name else (f"{name} is {object_name}.",)
    only = functools.partial(ancestry, state, [made.producer])
    return _explained(session, name, " ".join([*lines, what]), only, saved)


def _of_call(session: ExportedSession, call: CallRecord) -> Explanation:
    what = f"{call.id}: {_call_line(call, session.cursor.state)}"
    only = functools.partial(ancestry, session.cursor.state, (), [call.id])
    return _explained(session, call.id, what, only, ())


def _explained(
    session: ExportedSession,
    name: str,
    what: str,
    goes_back_to: Callable[..., Selection],
    saved: Iterable[str],
) -> Explanation:
    """`goes_back_to` is the ancestry of what is explained, and takes `handed`."""
    cursor, about = session.cursor, circumstances(session.cursor)
    handed = {call_id for call_id, how in about.items() if how.handed}
    script = session.script(only=goes_back_to(handed=handed))
    hide = cursor.context.hide
    reasons = (*_reasons(cursor, goes_back_to()), *_saved(cursor, saved))
    return Explanation(
        name,
        hide(visible_text(what, LONG)),
        tuple(Reason(hide(each.text), hide(each.prompt)) for each in reasons),
        hide(statements(script)),
        hide(script_text(script)),
    )


def _of_data(cursor: Cursor, name: str, output: object) -> Explanation:
    """A text or a number is the model's own word: what it read on the way is not followed."""
    what = f"{name} is {visible_text(repr(output), 200)}: a value that the model wrote down itself"
    code = f"{name} = {output!r}" if name.isidentifier() else ""
    return Explanation(name, what, tuple(_saved(cursor, [name])), code, f"{code}\n")


# -- in words ---------------------------------------------------------------------------------


def _reasons(cursor: Cursor, only: Selection) -> Iterator[Reason]:
    state, about = cursor.state, circumstances(cursor)
    yield from (Reason(text) for text in _input_lines(state, only))
    for call in state.all_calls():
        if call.id in only.calls:
            how = about.get(call.id, Circumstance())
            text = f"{_call_line(call, state)}{_asked(how)}{_decided(call, how)}"
            yield Reason(visible_text(text, LONG), how.prompt)


def _input_lines(state: State, only: Selection) -> Iterator[str]:
    for name in state.names:
        made = state.objects[name]
        if (variable := made.producer.input) and made.producer in only.objects:
            description = f": {made.description}" if made.description else ""
            yield visible_text(f"{name} was there at the start, as {variable}{description}", LONG)
    for instance in sorted(only.instances):
        yield f"{visible_text(instance)} was there at the start, with a state of its own"


def _call_line(call: CallRecord, state: State) -> str:
    """Return what a call did, and to what."""
    arguments = ", ".join(f"{key}={value!r:.60}" for key, value in call.arguments.items())
    line = cut(f"{call.step} {call.tool}({arguments})", 160)
    match call.outcome:
        case None:
            return f"{line} has no result yet"
        case Data(data):
            return f"{line} came to {data!r:.80}"
        case Failed(message) if call.status == "rejected":
            return f"{line} was rejected{f': {message}' if message else ''}"
        case Failed(message):
            return f"{line} failed: {message}"
        case Interrupted():
            return f"{line} was interrupted"
    names = ", ".join(call.objects)
    return f"{line} {'made' if call.produced else 'gave back'} {names}"


def _asked(how: Circumstance) -> str:
    who = "you, in the model's place" if how.model == PERSON else how.model or "the model"
    return f"; asked by {who} in turn {how.turn}"


def _decided(call: CallRecord, how: Circumstance) -> str:
    """Return who let a call run, or did something else in its place."""
    because = f" ({how.reason})" if how.reason else ""
    if how.handed:
        return ", answered by your program"
    match how.decision, how.by:
        case "approve", "person":
            return f", approved by you{because}"
        case "approve", "program":
            return f", run by your program{because}"
        case "approve", _:
            return ", allowed by the policy"
        case "edit", _:
            return f", changed by you from {_before(call)}{because}"
        case "answer", _:
            return f", answered by you{because}"
    return because


def _before(call: CallRecord) -> str:
    asked: Mapping[str, object] = call.proposed
    changed = {k: v for k, v in asked.items() if k not in call.asked or call.asked[k] != v}
    return ", ".join(f"{k}={v!r:.60}" for k, v in changed.items()) or "what the model asked for"


def _saved(cursor: Cursor, names: Iterable[str]) -> Iterator[Reason]:
    """Yield the call that handed something over."""
    remaining, about = list(names), circumstances(cursor)
    saves = list(cursor.state.results_of(SAVE)) if remaining else []
    for call in saves[-1:]:
        how = about.get(call.id, Circumstance())
        yield Reason(
            visible_text(
                f"{call.step} save handed it over as {', '.join(remaining)}{_asked(how)}", LONG
            ),
            how.prompt,
        )
