"""From a name to why it is there: an object, an output, or a call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping

from ..content.value import cut
from ..drawing.text import shown
from ..errors import UsageError
from ..events import Data, Failed, Interrupted
from ..export import Take, python
from ..export.script import Selection
from ..export.wording import one
from ..loop import Cursor
from ..schemes.outputs import SCALARS
from ..state.call import SAVE, CallRecord
from ..state.shape import State
from ..tools import nearest
from .ancestry import ancestry
from .circumstances import Circumstance, circumstances
from .explanation import Explanation, Reason

LONG = 300
"""Characters of one reason."""
PERSON = "person"


def explain(take: Take, name: str) -> Explanation:
    """Return why an object, an output or a call is there.

    Raises UsageError, which names the nearest, for a name that there is not.
    """
    cursor, state = take.cursor, take.cursor.state
    output = state.outputs.get(name) if name in state.opened.outputs else None
    if name in state.calls:
        return _of_call(take, state.calls[name])
    if output is not None and state.opened.outputs[name].kind in SCALARS:
        return _of_scalar(cursor, name, output)
    wanted = str(output) if output is not None else name
    if wanted not in state.objects:
        raise UsageError(f"nothing is called {name!r:.60} here.{_known(name, state)}")
    return _of_object(take, name, wanted)


def _known(name: str, state: State) -> str:
    known = [*state.names, *state.outputs, *state.order]
    newest = ", ".join([*reversed(state.names)][:5])
    return nearest(name, known) or f" There are {newest or 'no objects yet'}"


# -- objects, outputs, calls ------------------------------------------------------------------


def _of_object(take: Take, name: str, wanted: str) -> Explanation:
    state = take.cursor.state
    made = state.objects[wanted]
    saved = [key for key, said in state.outputs.items() if said == wanted]
    about = [one(made.kind), *([made.description] if made.description else [])]
    about += [f"saved as {', '.join(saved)}"] if saved else []
    what = f"{wanted}: {', '.join(about)}"
    lines = () if name == wanted else (f"{name} is {wanted}.",)
    only = functools.partial(ancestry, state, [made.producer])
    return _explained(take, name, " ".join([*lines, what]), only, saved)


def _of_call(take: Take, call: CallRecord) -> Explanation:
    what = f"{call.id}: {_said(call, take.cursor.state)}"
    only = functools.partial(ancestry, take.cursor.state, (), [call.id])
    return _explained(take, call.id, what, only, ())


def _explained(
    take: Take, name: str, what: str, goes_back_to: Callable[..., Selection], saved: Iterable[str]
) -> Explanation:
    """`goes_back_to` is the ancestry of what is explained, and takes `handed`."""
    cursor, about = take.cursor, circumstances(take.cursor)
    handed = {call_id for call_id, how in about.items() if how.handed}
    script = take.script(only=goes_back_to(handed=handed))
    hide = cursor.desk.hide
    reasons = (*_reasons(cursor, goes_back_to()), *_saved(cursor, saved))
    return Explanation(
        name,
        hide(shown(what, LONG)),
        tuple(Reason(hide(each.text), hide(each.prompt)) for each in reasons),
        hide(python.statements(script)),
        hide(python.python(script)),
    )


def _of_scalar(cursor: Cursor, name: str, output: object) -> Explanation:
    """A text or a number is the model's own word: what it read on the way is not followed."""
    what = f"{name} is {shown(repr(output), 200)}: a value that the model wrote down itself"
    code = f"{name} = {output!r}" if name.isidentifier() else ""
    return Explanation(name, what, tuple(_saved(cursor, [name])), code, f"{code}\n")


# -- in words ---------------------------------------------------------------------------------


def _reasons(cursor: Cursor, only: Selection) -> Iterator[Reason]:
    state, about = cursor.state, circumstances(cursor)
    yield from (Reason(text) for text in _given(state, only))
    for call in state.each():
        if call.id in only.calls:
            how = about.get(call.id, Circumstance())
            text = f"{_said(call, state)}{_asked(how)}{_decided(call, how)}"
            yield Reason(shown(text, LONG), how.prompt)


def _given(state: State, only: Selection) -> Iterator[str]:
    for name in state.names:
        made = state.objects[name]
        if (variable := made.producer.input) and made.producer in only.objects:
            said = f": {made.description}" if made.description else ""
            yield shown(f"{name} was there at the start, as {variable}{said}", LONG)
    for instance in sorted(only.instances):
        yield f"{shown(instance)} was there at the start, with a state of its own"


def _said(call: CallRecord, state: State) -> str:
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
    wanted, about = list(names), circumstances(cursor)
    saves = list(cursor.state.of(SAVE)) if wanted else []
    for call in saves[-1:]:
        how = about.get(call.id, Circumstance())
        yield Reason(
            shown(f"{call.step} save handed it over as {', '.join(wanted)}{_asked(how)}", LONG),
            how.prompt,
        )
