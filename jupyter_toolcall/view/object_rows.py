"""A branch on its way into rows, and what its rows are called.

Rows are known by keys that hold on all branches: a call's is where it was asked for, an
object's is its call's, an input's is its name. Nobody reads anything out of a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError
from ..core.events import Made, Producer
from ..core.secrets import Hide
from ..core.state import State
from ..engine.cursor import Cursor
from ..engine.outdated import Reasons
from ..engine.session_values import PreparedCall
from .contract_rows import ObjectRow, Preview
from .graph_layout import Layout
from .previews import LARGE, preview


@dataclass(frozen=True, slots=True)
class BranchView:
    """A branch on its way into rows: where it stands, and what is known of it so far."""

    cursor: Cursor
    state: State
    branch: str = ""
    """Its head; empty on the branch that is shown."""
    forked: Mapping[str, str] = field(default_factory=dict)
    """The calls that the shown branch has too, but that came to something else here: by id,
    the branch that tells of it."""
    outdated: Reasons = field(default_factory=Reasons)
    """Why calls and objects would come out otherwise today."""


def call_key(call: CallRecord, branch_view: BranchView) -> str:
    """Return the id of a call's row."""
    told = branch_view.forked.get(call.id)
    return call.key if told is None else f"{call.key}~{told}"


def object_key(producer: Producer, branch_view: BranchView) -> str:
    """Return the id of the row of an object, by what produced it."""
    if producer.input:
        return f"input:{producer.version}:{producer.input}"
    key = call_key(branch_view.state.calls[producer.call], branch_view)
    return f"{key}.{producer.index}" if producer.index else key


def ready_call(branch_view: BranchView, call: CallRecord) -> PreparedCall | None:
    """Return an open call as it would run; None where it can't yet, or can't here."""
    try:
        return branch_view.cursor.prepared(call, branch_view.state)[0]
    except (CallError, Absent):
        return None


def next_name(kind: str, state: State) -> str:
    """Return the name that the next object of a type will bear."""
    return f"{kind}#{(state.counts.get(kind) or 0) + 1}"


def object_row(branch_view: BranchView, name: str, layout: Layout) -> ObjectRow:
    """Return the row of an object that there is."""
    made, state = branch_view.state.objects[name], branch_view.state
    key = object_key(made.producer, branch_view)
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
        call=call_key(call, branch_view) if call else "",
        column=column,
        lane=lane,
        branch=branch_view.branch,
        used=key in layout.places,
        saved=next((output for output, saved in state.outputs.items() if saved == name), ""),
        equals=same if same is not None and same != name else "",
        content=made.content[:12],
        description=made.description[:200],
        note=branch_view.cursor.context.values.note(made),
        outdated=branch_view.outdated.objects.get(made.producer, ""),
        preview=_preview(branch_view, made),
    )


def full_preview(branch_view: BranchView, key: str) -> Preview | None:
    """Return an object as large as may be, by the id of its row; None where it is not here."""
    desk = branch_view.cursor.context
    found = (
        made
        for made in branch_view.state.objects.values()
        if object_key(made.producer, branch_view) == key
    )
    made = next(found, None)
    if made is None or not desk.values.has_value(made.digest, made.content):
        return None
    return _hidden(preview(desk.values.by_digest[made.digest], desk.value_reprs, LARGE), desk.hide)


def _hidden(drawn: Preview, hide: Hide) -> Preview:
    return Preview(*(hide(getattr(drawn, part.name)) for part in fields(Preview)))


def _preview(branch_view: BranchView, made: Made) -> Preview:
    desk, memory = branch_view.cursor.context, branch_view.cursor.context.values
    if not memory.has_value(made.digest, made.content):
        return Preview(text="its value is not in this kernel")
    known: Preview | None = memory.previews.get(made.digest)
    if known is None:
        known = _hidden(preview(memory.by_digest[made.digest], desk.value_reprs), desk.hide)
        memory.previews[made.digest] = known
    return known


def pending_row(
    branch_view: BranchView, call: CallRecord, ready: PreparedCall, layout: Layout
) -> ObjectRow:
    """Return the row of an object that a waiting call will make."""
    column, lane = layout.places.get(call.key) or (0.0, 0.0)
    return ObjectRow(
        id=call.key,
        name=next_name(ready.tool.returns, branch_view.state),
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
