"""From an object to the row that a person sees of it: there, still to be made, or to be saved."""

from __future__ import annotations

from dataclasses import fields

from ..drawing.layout import Layout
from ..events import Made
from ..preview import LARGE, preview
from ..rows.contract import ObjectRow, Preview
from ..secrets import Hide
from ..state.call import CallRecord
from ..state.memory import Prepared
from ..state.shape import State
from .seen import Seen, call_key, key_of, next_name


def object_row(seen: Seen, name: str, layout: Layout) -> ObjectRow:
    """Return the row of an object that there is."""
    made, state = seen.state.objects[name], seen.state
    key = key_of(made.producer, seen)
    column, lane = layout.places.get(key) or (0.0, 0.0)
    call = state.calls.get(made.producer.call)
    # The oldest object with the same content.
    same = state.contents.get((made.kind, made.content)) if made.content else None
    return ObjectRow(
        id=key,
        name=name,
        kind=made.kind,
        role="made" if call else "input",
        step=call.step if call else 0,
        call=call_key(call, seen) if call else "",
        column=column,
        lane=lane,
        branch=seen.branch,
        used=key in layout.places,
        saved=next((output for output, saved in state.outputs.items() if saved == name), ""),
        equals=same if same is not None and same != name else "",
        content=made.content[:12],
        description=made.description[:200],
        note=seen.cursor.desk.memory.note(made),
        outdated=seen.outdated.objects.get(made.producer, ""),
        preview=_preview(seen, made),
    )


def displayed(seen: Seen, key: str) -> Preview | None:
    """Return an object as large as may be, by the id of its row; None where it is not here."""
    desk = seen.cursor.desk
    found = (made for made in seen.state.objects.values() if key_of(made.producer, seen) == key)
    made = next(found, None)
    if made is None or not desk.memory.holds(made.digest, made.content):
        return None
    return _hidden(preview(desk.memory.values[made.digest], desk.shows, LARGE), desk.hide)


def _hidden(drawn: Preview, hide: Hide) -> Preview:
    return Preview(*(hide(getattr(drawn, part.name)) for part in fields(Preview)))


def _preview(seen: Seen, made: Made) -> Preview:
    desk, memory = seen.cursor.desk, seen.cursor.desk.memory
    if not memory.holds(made.digest, made.content):
        return Preview(text="its value is not in this kernel")
    known: Preview | None = memory.previews.get(made.digest)
    if known is None:
        known = _hidden(preview(memory.values[made.digest], desk.shows), desk.hide)
        memory.previews[made.digest] = known
    return known


def pending_row(seen: Seen, call: CallRecord, ready: Prepared, layout: Layout) -> ObjectRow:
    """Return the row of an object that a waiting call will make."""
    column, lane = layout.places.get(call.key) or (0.0, 0.0)
    return ObjectRow(
        id=call.key,
        name=next_name(ready.tool.returns, seen.state),
        kind=ready.tool.returns,
        role="pending",
        step=call.step,
        call=call.key,
        column=column,
        lane=lane,
        used=True,
    )


def output_rows(state: State) -> tuple[ObjectRow, ...]:
    """Return the rows of the outputs that are still to be saved."""
    return tuple(
        ObjectRow(
            id=f"output:{name}",
            name=name,
            kind=out.kind,
            role="output",
            description=out.description,
        )
        for name, out in state.opened.outputs.items()
        if name not in state.outputs
    )
