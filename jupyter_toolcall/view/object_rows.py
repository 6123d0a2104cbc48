"""The rows of a branch's objects, and of the tools that were called.

Rows are known by keys that hold on all branches: a call's is where it was asked for, an
object's is its call's, an input's is its name. Nobody reads anything out of a key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from ..compare.alignment import change, object_before
from ..compare.differences import Tables
from ..core.call_record import SAVE, CallRecord
from ..core.errors import Absent
from ..core.events import Made, Producer, Uses
from ..core.interface_text import joined, t, tn
from ..core.journal_entries import Entry
from ..core.recorded_calls import CallIndex
from ..core.recorded_data import replace
from ..core.state import State
from ..engine.cursor import Cursor
from ..engine.outdated import Reasons
from ..schemes.select import SELECT
from ..tools.tool import parameters_schema
from .contract_rows import ObjectRow, Preview, RepairRow, ToolRow
from .previews import LARGE, SMALL, Room, preview

SHORT, LONG, WHOLE, CHOICES = 80, 2_000, 20_000, 40
"""Characters of an argument in a line, of a text in a row, and of an offered tool's description;
tools of which a person who plays the model chooses by name: of more, the names are typed."""
NAMING, NAME = ("name", "owner", "title", "label", "key", "id"), 24
"""Fields that say which one of its type an object is, the first of them that it has, and so many
characters of it."""
ABSENT = Preview(text=t("its value is not in this kernel"))


@dataclass(frozen=True, slots=True)
class BranchView:
    """A branch of which rows are computed: where it stands, and what is known of it so far."""

    cursor: Cursor
    state: State
    branch: str = ""
    """Its head; empty on the branch that is shown."""
    entries: tuple[Entry, ...] = ()
    """Of another branch those that no branch before it has rows of."""
    shares: str = ""
    """The branch that has rows of what comes before them; "" for the one that is shown."""
    forked: Mapping[str, str] = field(default_factory=dict)
    """The calls that the shown branch has too, but with another outcome: by id,
    the branch that has rows of it."""
    outdated: Reasons = field(default_factory=Reasons)
    """Why calls and objects would come out otherwise today."""

    def call_key(self, call: CallRecord) -> str:
        """Return the id of a call's row."""
        fork = self.forked.get(call.id)
        return call.key if fork is None else f"{call.key}~{fork}"

    def object_before(self, call: CallRecord, uses: Uses) -> Made | None:
        """Return what a call made its first object from, of the same type; None for nothing."""
        receiver = getattr(self.cursor.tool_named(call.tool), "receiver", "")
        return object_before(call, uses, receiver, self.state)

    def object_key(self, producer: Producer) -> str:
        """Return the id of the row of an object, by what produced it."""
        if producer.input:
            return f"input:{producer.version}:{producer.input}"
        key = self.call_key(self.state.calls[producer.call])
        return f"{key}.{producer.index}" if producer.index else key

    def objects_by_row(self) -> dict[str, Made]:
        """Return the objects of the branch, by the ids of their rows."""
        return {self.object_key(ref.producer): ref for ref in self.state.objects.values()}


def object_row(view: BranchView, name: str) -> ObjectRow:
    """Return the row of an object that there is."""
    ref, state, values = view.state.objects[name], view.state, view.cursor.context.values
    call = state.calls.get(ref.producer.call)
    # The oldest object with the same content.
    same = state.contents.get((ref.kind, ref.content)) if ref.content else None
    drawn = _preview(view, ref)
    return ObjectRow(
        id=view.object_key(ref.producer),
        name=name,
        kind=ref.kind,
        role="made" if call else "input",
        step=call.step if call else 0,
        call=view.call_key(call) if call else "",
        branch=view.branch,
        saved=_saved_as(name, state),
        equals=same if same is not None and same != name else "",
        content=ref.content[:12],
        description=ref.description[:200],
        note=values.note(ref) or (t("on the cluster") if values.remote(ref) else ""),
        outdated=view.outdated.objects.get(ref.producer, ""),
        label=_label(ref, drawn),
        preview=drawn,
    )


def _saved_as(name: str, state: State) -> str:
    return next((output for output, saved in state.outputs.items() if saved == name), "")


def _label(ref: Made, drawn: Preview) -> str:
    """Return what tells an object from others of its type: its own name, or the notebook's."""
    fields = dict(drawn.fields)
    named = next((fields[name].strip('"') for name in NAMING if fields.get(name, '""') != '""'), "")
    label = named or ref.producer.input
    return "" if label.lower() in (ref.kind.lower(), drawn.caption.lower()) else label[:NAME]


def output_rows(state: State) -> tuple[ObjectRow, ...]:
    """Return the rows of the outputs that are still to be saved."""
    return tuple(
        ObjectRow(f"output:{name}", name, out.kind, "output", description=out.description)
        for name, out in state.opened.outputs.items()
        if name not in state.outputs
    )


# -- previews ----------------------------------------------------------------------------------


def _preview(view: BranchView, ref: Made) -> Preview:
    values = view.cursor.context.values
    if not values.has_value(ref.digest, ref.content):
        return ABSENT
    drawn: Preview | None = values.previews.get(ref.digest) or _drawn(view, ref, SMALL)
    return ABSENT if drawn is None else values.previews.setdefault(ref.digest, drawn)


def _drawn(view: BranchView, ref: Made, room: Room) -> Preview | None:
    """Draw a value, without secrets; None where it is lost. What stays on a cluster is drawn
    there."""
    context, call = view.cursor.context, view.state.calls.get(ref.producer.call)
    # A small picture of a table that a call made has the columns first that the call changed or
    # added, and then those that it names.
    first: list[str] = []
    if call is not None and room is SMALL:
        first = [*_changed_columns(view, ref, call), *re.findall(r"\w+", str(dict(call.arguments)))]
    try:
        if room is SMALL and (remote := context.values.remote(ref)) is not None:
            drawn: Preview = remote.apply(preview)
        else:
            drawn = preview(context.values.by_digest[ref.digest], context.value_reprs, room, first)
    except Absent:
        return None
    parts = (getattr(drawn, part.name) for part in fields(Preview))
    return Preview(*(context.secrets.hide(part) if part else part for part in parts))


def _changed_columns(view: BranchView, ref: Made, call: CallRecord) -> tuple[str, ...]:
    context, before = view.cursor.context, view.object_before(call, call.uses)
    if before is None or context.values.remote(before) or context.values.remote(ref):
        return ()
    match change(before, ref, context):
        # A table that lost columns, such as one of groups, is a new one: its keys come first.
        case Tables(columns=((), added), by_column=changed):
            return (*added, *(column.name for column in changed))
    return ()


def draw_previews(view: BranchView) -> None:
    """Draw the previews of the objects that the last reply's calls made: rows only read them."""
    state, drawn = view.state, view.cursor.context.values.previews
    for name in reversed(state.names):
        ref = state.objects[name]
        if ref.digest in drawn or ref.producer.call not in state.latest:
            return
        _preview(view, ref)


def full_preview(view: BranchView, key: str) -> Preview | None:
    """Return an object as large as may be, by the id of its row; None where it has no value."""
    context, ref = view.cursor.context, view.objects_by_row().get(key)
    is_here = ref is not None and context.values.has_value(ref.digest, ref.content)
    return _drawn(view, ref, LARGE) if ref is not None and is_here else None


# -- the end of a run, and tools -----------------------------------------------------------------


def ending(state: State) -> tuple[str, ...]:
    """Return what is to be seen at the end of a run: how many calls failed, and where an input was
    saved unchanged after that; nothing where none failed."""
    failed = [call for call in state.all_calls() if call.status == "failed"]
    if not failed:
        return ()
    count = t("%1, %2 failed", tn("%1 call", "%1 calls", len(state.order)), len(failed))
    before = [call for call in failed if call.step > state.calls_before and call.tool != SAVE]
    saved = ((name, state.objects.get(str(name))) for name in state.outputs.values())
    unchanged = [str(name) for name, ref in saved if ref is not None and ref.producer.input]
    if not (state.done and before and unchanged):
        return (count,)
    names = [t("%1 as %2", name, _saved_as(name, state)) for name in dict.fromkeys(unchanged)]
    listed, calls = joined(", ", names), tn("%1 call", "%1 calls", len(before))
    if len(unchanged) == 1:
        return count, t("saved %1: an input, unchanged; %2 failed before", listed, calls)
    return count, t("saved %1: inputs, unchanged; %2 failed before", listed, calls)


def repair_row(view: BranchView) -> RepairRow | None:
    """Return the last call of a branch that made an object where it had failed on another branch;
    None without one."""
    state, calls = view.state, [*view.state.all_calls()]
    failed = CallIndex.of(view.cursor.context.journal).failed
    repaired = (c for c in reversed(calls) if c.produced and (c.asked_call.reply, c.id) in failed)
    if (call := next(repaired, None)) is None:
        return None
    repaired_object = call.produced[0]
    name, outputs = state.name_of(repaired_object), [*map(str, state.outputs.values())]
    takes = {producer for other in calls for producer in other.uses.values()}
    is_unused = repaired_object.producer not in takes and name not in outputs
    turn = call.turn + 1 if is_unused and call.turn < state.turns else 0
    row = RepairRow(view.call_key(call), name, is_unused, turn)
    saves = (c for c in reversed(calls) if c.tool == SAVE and c.status == "succeeded")
    if not outputs or (save := next(saves, None)) is None or save.step < call.step:
        return row
    for output, older in save.arguments.items():
        ref = state.objects.get(older) if isinstance(older, str) else None
        maker = state.calls.get(ref.producer.call) if ref is not None else None
        if ref and ref.kind == repaired_object.kind and (maker is None or maker.step < call.step):
            return replace(row, save=view.call_key(save), output=output)
    return row


def tool_row(cursor: Cursor, name: str, offered: bool = False) -> ToolRow | None:
    """Return the row of a tool that was called, for its form; None for an unknown name.

    One that is `offered` to a person in the model's place has the description that a model gets.
    """
    tool = cursor.tool_named(name)
    if tool is None:
        return None
    text, limit = tool.description, WHOLE if offered else LONG
    # The list of what there is, in a tool of the scheme's own, is another after each step.
    if not offered and any(tool.name == name for tool in cursor.offer.own):
        text = text.partition("\n\n")[0]
    schema = dict(parameters_schema(tool))
    # A person chooses from the names; a model reads them in the description.
    if offered and name == SELECT and len(names := cursor.context.toolbox.names) <= CHOICES:
        items = {"type": "string", "enum": [*names]}
        schema["properties"] = {"tools": {**schema["properties"]["tools"], "items": items}}
    return ToolRow(
        *(tool.name, text[:limit], schema, tool.read_only, tool.for_person),
        can_change=tool.origin is not None and name in cursor.context.toolbox,
        returns=tool.result[:SHORT],
        order=(*schema.get("properties", ()),),
    )
