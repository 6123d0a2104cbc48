"""Where an object comes from: calls, inputs, and the instances whose state calls used."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..core.call_record import SAVE, CallRecord
from ..core.errors import Absent, UsageError
from ..core.events import Finished, Producer
from ..core.journal_entries import Entry
from ..core.state import State
from ..core.state_fold import state_at
from ..core.text import nearest, visible_text
from ..engine.cursor import Cursor
from ..engine.exchanges import replying_model
from ..schemes.save_tool import is_data
from ..tools.object_references import fits_in, named_paths
from .code import with_article
from .live_session import ExportedSession
from .python_script import fenced, plain, script_text, statements
from .script import LONG, Selection, call_line


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
    for call_id in calls:
        ahead.append(call_id)
        needed.update(ref.producer for ref in state.calls[call_id].produced)
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


def deciders(state: State, path: Iterable[Entry]) -> dict[str, str]:
    """Return who decided on each call, by its id: person, policy or program; "" for nobody."""
    decided = (e for e in path if e.meta.get("by", "preview") != "preview")
    by = {getattr(e.event, "call_id", ""): str(e.meta["by"]) for e in decided}
    allowed = {c.id: "policy" for c in state.all_calls() if c.started and c.started.approval_digest}
    return {call_id: allowed.get(call_id) or by.get(call_id, "") for call_id in state.order}


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

    def _by_prompt(self) -> list[tuple[str, list[str]]]:
        """Return the reasons, below the prompt that they were given under."""
        groups: list[tuple[str, list[str]]] = []
        for reason in self.reasons:
            if not groups or (reason.prompt and reason.prompt != groups[-1][0]):
                groups.append((reason.prompt, []))
            groups[-1][1].append(reason.text)
        return groups

    def __str__(self) -> str:
        lines = [self.what]
        for prompt, texts in self._by_prompt():
            asked = "\n  ".join(visible_text(line, 1_000) for line in prompt.strip().splitlines())
            lines += [f"You asked: {asked}"] if prompt else []
            lines += [f"  {text}" for text in texts]
        return "\n".join([*lines, "", self.code] if self.code else lines)

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        parts = [f"**{plain(self.what)}**"]
        for prompt, texts in self._by_prompt():
            parts += [f"You asked: {plain(prompt)}"] if prompt else []
            parts.append("\n".join(f"- {plain(text)}" for text in texts))
        return "\n\n".join([*parts, fenced(self.code)] if self.code else parts)


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
        newest = ", ".join([*reversed(state.names)][:5])
        hint = nearest(name, [*state.names, *state.outputs, *state.order])
        hint = hint or f" There are {newest or 'no objects yet'}"
        raise UsageError(f"nothing is called {name!r:.60} here.{hint}")
    return _of_object(session, name, object_name)


# -- objects, outputs, calls ------------------------------------------------------------------


def _of_object(session: ExportedSession, name: str, object_name: str) -> Explanation:
    state = session.cursor.state
    ref = state.objects[object_name]
    saved = [key for key, value in state.outputs.items() if value == object_name]
    about = [with_article(ref.kind), *([ref.description] if ref.description else [])]
    about += [f"saved as {', '.join(saved)}"] if saved else []
    what = f"{object_name}: {', '.join(about)}"
    lines = () if name == object_name else (f"{name} is {object_name}.",)
    only = functools.partial(ancestry, state, [ref.producer])
    return _explained(session, name, " ".join([*lines, what]), only, saved)


def _of_call(session: ExportedSession, call: CallRecord) -> Explanation:
    only = functools.partial(ancestry, session.cursor.state, (), [call.id])
    return _explained(session, call.id, f"{call.id}: {call_line(call)}", only, (), call.id)


def _explained(
    session: ExportedSession,
    name: str,
    what: str,
    goes_back_to: Callable[..., Selection],
    saved: Iterable[str],
    call_id: str = "",
) -> Explanation:
    """`goes_back_to` is the ancestry of what is explained, and takes `handed`."""
    cursor, hide = session.cursor, session.cursor.context.secrets.hide
    script = session.script(only=goes_back_to(handed=_handed(cursor)))
    reasons = (*_reasons(cursor, goes_back_to(), call_id), *_saved(cursor, saved))
    return Explanation(
        name,
        hide(visible_text(what, LONG)),
        tuple(Reason(hide(reason.text), hide(reason.prompt)) for reason in reasons),
        hide(statements(script)),
        hide(script_text(script)),
    )


def _handed(cursor: Cursor) -> set[str]:
    """Return the calls that the program ran by itself, and gave the results of."""
    events = (entry.event for entry in cursor.context.journal.path(cursor.head))
    return {e.call_id for e in events if isinstance(e, Finished) and e.by == "program"}


def _of_data(cursor: Cursor, name: str, output: object) -> Explanation:
    """A text or a number is the model's own word: what it read on the way is not followed."""
    what = f"{name} is {visible_text(repr(output), 200)}: a value that the model wrote down itself"
    code = f"{name} = {output!r}" if name.isidentifier() else ""
    return Explanation(name, what, tuple(_saved(cursor, [name])), code, f"{code}\n")


# -- in words ---------------------------------------------------------------------------------


def _reasons(cursor: Cursor, only: Selection, call_id: str) -> Iterator[Reason]:
    """Yield what happened: of one call the origins of all arguments, of others those of others."""
    state, path = cursor.state, cursor.context.journal.path(cursor.head)
    yield from (Reason(text) for text in _input_lines(state, only))
    by = deciders(state, path) | dict.fromkeys(_handed(cursor), "handed")
    for call in state.all_calls():
        if call.id in only.calls:
            asked = _asked(cursor, call, call_line(call), _decided(call, by[call.id]))
            yield asked
            for name, origin in cursor.shown(call).origins.items():
                if call.id == call_id or origin.trust == "untrusted":
                    yield Reason(visible_text(f"  {name}: {origin}", LONG), asked.prompt)


def _input_lines(state: State, only: Selection) -> Iterator[str]:
    for name in state.names:
        ref = state.objects[name]
        if (variable := ref.producer.input) and ref.producer in only.objects:
            description = f": {ref.description}" if ref.description else ""
            began = variable in state.inputs
            how = f"was there at the start, as {variable}" if began else "is a value that you gave"
            yield visible_text(f"{name} {how}{description}", LONG)
    for instance in sorted(only.instances):
        yield f"{visible_text(instance)} was there at the start, with a state of its own"


def _asked(cursor: Cursor, call: CallRecord, what: str, decided: str = "") -> Reason:
    """Return what a call did, and who asked for it under which prompt."""
    entry = cursor.context.journal[call.asked_call.entry]
    model = replying_model(cursor, entry)
    who = "you, in the model's place" if model == "person" else model or "the model"
    text = visible_text(f"{what}; asked by {who} in turn {call.turn}{decided}", LONG)
    return Reason(text, state_at(cursor.context.journal, entry.id).prompt)


def _decided(call: CallRecord, by: str) -> str:
    """Return who let a call run, or did something else in its place."""
    because = f" ({call.reason})" if call.reason else ""
    match call.decision, by:
        case _, "handed":
            return ", answered by your program"
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
    saved = ", ".join(names)
    for call in [*cursor.state.results_of(SAVE)][-1:] if saved else ():
        yield _asked(cursor, call, f"{call.step} save handed it over as {saved}")
