"""Lines for what no statement makes: inputs, instances, and results that were handed in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..core.call_record import CallRecord, objects_of
from ..core.errors import Absent
from ..core.events import Data, Failed, Made, Opened
from ..core.text import visible_text
from ..view.previews import preview
from .code import MAIN, Code, Need, Unwritable
from .script import Draft, Line, assigned
from .value_code import written
from .wording import LONG, SHORT, about, line_of, undone

FILL, CHECK = "FILL IN: ", "CHECK: "


def beginning(draft: Draft, opened: Opened) -> Iterator[Line]:
    """Yield what is at hand from an opening on, as far as it is new."""
    for _, made in opened.inputs:
        if made.producer not in draft.there and draft.wants_object(made):
            yield given(draft, made, made.producer.input)
    for name, digest in opened.instances:
        if draft.at.get(name) != digest and draft.wants_instance(name):
            draft.at[name] = digest
            yield _instance(draft, name, digest)


def given(draft: Draft, made: Made, variable: str = "") -> Line:
    """Return the line that gives an object: its value, or what the person has to fill in."""
    draft.there.add(made.producer)
    to = draft.variable_of(made)
    try:
        code = written(draft.world.value(made))
    except (Absent, Unwritable) as error:
        looks = _looks(draft, made) if isinstance(error, Unwritable) else ""
        said = f"{draft.state.name_of(made)} was {about(made)}{looks and f', {looks}'}"
        return _unwritten(draft, to, said, error, variable)
    behind = visible_text(made.description, SHORT) if made.description else ""
    return Line(assigned([to], code), behind=behind)


def _looks(draft: Draft, made: Made) -> str:
    """Return how a value looks: its shape, or its text."""
    seen = preview(draft.world.value(made))
    return seen.caption if "×" in seen.caption else seen.text[:80]


def _instance(draft: Draft, name: str, digest: str) -> Line:
    to = draft.instance(name)
    try:
        return Line(assigned([to], written(draft.world.instance(name, digest))))
    except (Absent, Unwritable) as error:
        said = f"{name} was an instance with a state of its own"
        return _unwritten(draft, to, said, error, draft.world.instance_variable(name))


def _unwritten(draft: Draft, to: str, said: str, error: Exception, variable: str) -> Line:
    """What the notebook's cells say of a variable may be what it was; a person has to check."""
    text = draft.world.texts(MAIN) if variable else None
    if text is not None and text.binding(variable):
        note = f"{CHECK}{said}; this is what the notebook's own cells say of {variable}."
        code = Code(variable, frozenset({Need(MAIN, variable)}))
        return Line(assigned([to], code), (visible_text(note, LONG),))
    why = f"it is {error}" if isinstance(error, Unwritable) else "its value is not at hand"
    note = f"{FILL}{said}; {why}, so no literal says it."
    return Line(assigned([to], Code("...")), (visible_text(note, LONG),), open=True)


def handed(draft: Draft, call: CallRecord, how: str) -> Iterator[Line]:
    """Yield what a call came to that does not run here: its result, as it was recorded."""
    above = (visible_text(f"{line_of(call)} does not run here: {how}.", LONG),)
    match call.outcome:
        case Data(data):
            yield Line(assigned([draft.result(call)], written(data)), above)
        case Failed():
            yield Line(above=(undone(call),))
        case outcome:
            known = (made for made in objects_of(outcome) if made.producer not in draft.there)
            new = [made for made in known if draft.wants_object(made)]
            first, *rest = [given(draft, made) for made in new] or [Line()]
            yield replace(first, above=(*above, *first.above))
            yield from rest
