"""From a session to the rows that a person sees: pure functions, one table each.

Rows are known by keys that hold on all branches: a call's is where it was asked for, an
object's is its call's, an input's is its name.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..digest import encode
from ..drawing.layout import Layout, beside, main_use, place
from ..errors import Absent, CallError
from ..events import Data, Failed, Interrupted, Made
from ..loop import Cursor
from ..preview import LARGE, preview
from ..rows.contract import CallRow, ObjectRow, Preview, ToolRow, Use
from ..runner.anew import why_anew
from ..schemes.select import SELECT
from ..secrets import Hide
from ..state.call import SAVE, CallState, objects_of
from ..state.ends import End
from ..state.memory import Prepared
from ..state.shape import State
from ..tools import Tool
from ..tools.references import references

NOTHING = ("failed", "rejected", "interrupted")
"""How a call stands that made nothing, and yet is to be seen in the graph."""
FOR_PERSON = "It is a request to you, and nothing runs: answer it, or reject it."
SHORT = 80
LONG = 2_000
WHOLE = 20_000


@dataclass(frozen=True, slots=True)
class Seen:
    """A branch on its way into rows: where it stands, and what is known of it so far."""

    cursor: Cursor
    state: State
    branch: str = ""
    """Its head; empty on the branch that is shown."""
    forked: Mapping[str, str] = field(default_factory=dict)
    """The calls that the shown branch has too, but that came to something else here: by id,
    the branch that tells of it."""
    outdated: Mapping[str, str] = field(default_factory=dict)
    """Why calls, by id, and objects, by maker, would come out otherwise today."""


def call_key(call: CallState, seen: Seen) -> str:
    """Return the id of a call's row."""
    told = seen.forked.get(call.id)
    return call.key if told is None else f"{call.key}~{told}"


def key_of(maker: str, seen: Seen) -> str:
    """Return the id of the row of an object, by its maker."""
    if maker.startswith("input:"):
        return maker
    call_id, _, index = maker.partition("[")
    key = call_key(seen.state.calls[call_id], seen)
    return f"{key}.{index[:-1]}" if index else key


# -- calls ------------------------------------------------------------------------------


def uses_of(used: Mapping[str, str], seen: Seen, receiver: str, layout: Layout) -> tuple[Use, ...]:
    """Return the edges that lead to a call, the one of the main line marked."""
    found = [
        (name, key_of(maker, seen))
        for name, maker in used.items()
        if not name.startswith(("(", "$")) and maker in seen.state.by_maker
    ]
    ranked = [(key, name == receiver, key.startswith("input:")) for name, key in found]
    main = main_use(ranked, layout)
    return tuple(Use(name, key, key == main) for name, key in found)


def ready_call(seen: Seen, call: CallState) -> Prepared | None:
    """Return an open call as it would run; None where it can't yet, or can't here."""
    try:
        return seen.cursor.prepared(call, seen.state)[0]
    except (CallError, Absent):
        return None


def _absent(seen: Seen, call: CallState) -> str:
    """Return why an open call can't run in this kernel, "" where it is not for its values."""
    try:
        seen.cursor.prepared(call, seen.state)
    except Absent as error:
        return str(error)
    except CallError:
        pass
    return ""


def call_row(seen: Seen, call: CallState, layout: Layout, end: End | None) -> CallRow:
    """Return the row of a call, as it stands at the end of its branch."""
    tool = seen.cursor.find(call.tool)
    waits = call.outcome is None and not seen.branch
    ready = ready_call(seen, call) if waits else None
    arguments = ready.arguments if ready else call.arguments
    used = call.started.used if call.started else ready.used if ready else None
    if used is None:
        used = _named(seen.cursor, call, end.state if end else seen.state)
    meta = end.meta if end else {}
    row = CallRow(
        id=call_key(call, seen),
        call=call.id,
        tool=call.tool,
        step=call.step,
        turn=call.turn,
        status="running" if call.id == seen.cursor.running else call.status,
        branch=seen.branch,
        memory=end is not None and end.memory,
        edited=call.edited,
        stale=call.stale,
        outdated=seen.outdated.get(call.id, ""),
        notes=tuple(meta.get("notes", ())),
        arguments=dict(arguments),
        asked=_asked(call, arguments),
        filled=tuple(key for key in arguments if key not in call.asked),
        uses=uses_of(used, seen, tool.receiver if tool else "", layout),
        object=_object_key(call, ready, seen),
        what=what(call, arguments, tool.receiver if tool else "", seen.cursor.desk.toolbox),
        why=_absent(seen, call) if waits and ready is None else "",
        reason=call.decided.reason if call.decided else "",
        ms=meta.get("ms", 0),
        prints=meta.get("prints", ""),
    )
    return _with_outcome(row, call) if ready is None else _with_question(row, seen, call, ready)


def _named(cursor: Cursor, call: CallState, state: State) -> dict[str, str]:
    """The objects that a call names which did not run: `save`, and what failed a check.

    What got its name after the call had ended is another object than the one that it meant.
    """
    tool = cursor.find(call.tool)
    if tool is None:
        return {}
    named = references(tool.parameters, call.arguments)
    found = ((place, state.objects.get(name)) for place, name in named)
    return {place: made.maker for place, made in found if made is not None}


def _asked(call: CallState, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the model asked for, where something else runs; what was filled in is no change."""
    asked = dict(call.call.arguments)
    kept = all(key in arguments and arguments[key] == asked[key] for key in asked)
    return asked if call.edited or not kept else None


def _object_key(call: CallState, ready: Prepared | None, seen: Seen) -> str:
    made = objects_of(call.outcome)
    if made:
        return key_of(made[0].maker, seen)
    return call_key(call, seen) if ready is not None and ready.tool.returns else ""


def _with_outcome(row: CallRow, call: CallState) -> CallRow:
    match call.outcome:
        case Data(data):
            return replace(row, result=_text(data))
        case Failed(message):
            return replace(row, error=message[:LONG])
        case Interrupted():
            return replace(
                row, error="It was interrupted while it ran; what it had done is not known."
            )
    return row


def _with_question(row: CallRow, seen: Seen, call: CallState, ready: Prepared) -> CallRow:
    verdict, why = seen.cursor.desk.verdict(ready)
    if ready.tool.for_person and verdict != "reject":
        verdict, why = "ask", FOR_PERSON
    if call.status == "unknown":
        why = "It had started, and nothing says how it ended: the kernel stopped while it ran."
    if verdict != "ask" and call.status != "unknown":
        return row
    cursor = seen.cursor
    if call.status != "unknown":
        why = why_anew(cursor.script, cursor.desk.journal, ready) or why
    return replace(row, bound=ready.bound, why=why, downstream=_downstream(ready, seen.state))


def _downstream(ready: Prepared, state: State) -> str:
    open_outputs = [name for name in state.opened.outputs if name not in state.outputs]
    parts = []
    if ready.tool.returns:
        parts.append(f"makes {next_name(ready.tool.returns, state)}.")
    if open_outputs:
        parts.append(f"Still to save: {', '.join(open_outputs)}.")
    return " ".join(parts)


def next_name(kind: str, state: State) -> str:
    """Return the name that the next object of a type will bear."""
    return f"{kind}#{(state.counts.get(kind) or 0) + 1}"


def what(
    call: CallState, arguments: Mapping[str, Any], receiver: str, known: Container[str]
) -> str:
    """Return a call's arguments as one line."""
    if call.tool == SELECT:
        named = arguments.get("tools")
        count = sum(name in known for name in named) if isinstance(named, list) else 0
        return f"{count} tool{'' if count == 1 else 's'} selected"
    if call.tool == SAVE:
        return ", ".join(f"{key} = {_text(value)[:SHORT]}" for key, value in arguments.items())
    ordered = sorted(arguments.items(), key=lambda item: item[0] != receiver)
    parts = (_shown(key, value, key == receiver) for key, value in ordered)
    line = ", ".join(parts)
    return line if len(line) <= 200 else f"{line[:199]}…"


def _shown(key: str, value: Any, bare: bool) -> str:
    text = _text(value)[:SHORT]
    return text if bare else f"{key} {text}"


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else encode(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"


# -- objects ----------------------------------------------------------------------------


def object_row(seen: Seen, name: str, layout: Layout) -> ObjectRow:
    """Return the row of an object that there is."""
    made, state = seen.state.objects[name], seen.state
    key = key_of(made.maker, seen)
    column, lane = layout.places.get(key) or (0.0, 0.0)
    call = state.calls.get(made.maker.partition("[")[0])
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
        saved=_saved(name, state),
        equals=equal_to(name, state),
        content=made.content[:12],
        description=made.description[:200],
        note=seen.cursor.desk.memory.note(made),
        outdated=seen.outdated.get(made.maker, ""),
        preview=_preview(seen, made),
    )


def _saved(name: str, state: State) -> str:
    return next((output for output, said in state.outputs.items() if said == name), "")


def equal_to(name: str, state: State) -> str:
    """Return the name of the oldest object with the same content, "" for none."""
    content = state.objects[name].content
    first = state.contents.get(f"{state.objects[name].kind}:{content}") if content else None
    return first if first is not None and first != name else ""


def displayed(seen: Seen, key: str) -> Preview | None:
    """Return an object as large as may be, by the id of its row; None where it is not here."""
    desk = seen.cursor.desk
    found = (made for made in seen.state.objects.values() if key_of(made.maker, seen) == key)
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


def pending_row(seen: Seen, call: CallState, ready: Prepared, layout: Layout) -> ObjectRow:
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


def placed(layout: Layout, call: CallState, row: CallRow, seen: Seen) -> Layout:
    """Return the layout in which what a call made, will make, or failed to make has its place."""
    main = next((use.object for use in row.uses if use.receiver), "")
    uses = [use.object for use in row.uses]
    if row.status in NOTHING and not row.object:
        return beside(layout, f"call:{row.id}", uses, main)
    mine = (m.maker for m in objects_of(call.outcome) if m.maker.partition("[")[0] == call.id)
    made = [key_of(maker, seen) for maker in mine]
    for key in made or ([row.object] if row.object and call.outcome is None else []):
        if key not in uses:
            layout = place(layout, key, uses, main)
    return layout


def standing_at(row: CallRow, layout: Layout) -> CallRow:
    """Return a call's row with the place of a call that came to nothing."""
    spot = layout.places.get(f"call:{row.id}")
    return row if spot is None else replace(row, column=spot[0], lane=spot[1])


def tool_row(cursor: Cursor, name: str) -> ToolRow | None:
    """Return the row of a tool that was called, for its form."""
    tool = cursor.find(name)
    if tool is None:
        return None
    # The list of what there is, in a tool of the scheme's own, is another after each step.
    own = any(each.name == name for each in cursor.offer.own)
    said = tool.description.partition("\n")[0] if own else tool.description
    return _tool(tool, said[:LONG])


def offered_row(cursor: Cursor, name: str) -> ToolRow | None:
    """Return the row of a tool as the model is told of it, for a person in its place."""
    tool = cursor.find(name)
    return _tool(tool, tool.description[:WHOLE]) if tool is not None else None


def _tool(tool: Tool, said: str) -> ToolRow:
    return ToolRow(tool.name, said, dict(tool.parameters), tool.read_only, tool.for_person)
