"""The rows of a branch's objects and calls, and of the tools that were called.

Rows are known by keys that hold on all branches: a call's is where it was asked for, an
object's is its call's, an input's is its name. Nobody reads anything out of a key.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..compare.alignment import interruption_text
from ..compare.call_changes import change, object_before
from ..compare.differences import CHANGED, in_a_line
from ..core.call_record import SAVE, CallRecord, is_bare_list, objects_of
from ..core.digests import readable_json
from ..core.errors import Absent, CallError
from ..core.events import Data, Failed, Interrupted, Made, Many, Producer, Uses
from ..core.interface_text import joined, t, tn
from ..core.recorded_calls import CallEnd
from ..core.secrets import Hide
from ..core.state import State
from ..core.state_fold import state_at
from ..core.text import shortened_text
from ..engine.call_effects import call_effect
from ..engine.cursor import Cursor, SessionContext
from ..engine.decisions import recorded_result
from ..engine.outdated import Reasons
from ..engine.replay import reapproval_reason
from ..engine.session_values import PreparedCall
from ..schemes.select import SELECT
from ..tools.object_references import fits_in, references
from .call_warnings import call_warning
from .contract_rows import CallRow, ObjectRow, Preview, ToolRow, Use
from .graph_layout import Layout
from .input_rows import with_rounds
from .previews import LARGE, caption, preview

FOR_PERSON = t("It is a request to you, and nothing runs: answer it, or reject it.")
SHORT, LONG, WHOLE = 80, 2_000, 20_000
"""Characters of an argument in a line, of a text in a row, and of an offered tool's description."""
LINE = 160
"""Characters of what a call changed."""
NAMING, NAME = ("name", "owner", "title", "label", "key", "id"), 24
"""Fields that say which one of its type an object is, the first of them that it has, and so many
characters of it."""


@dataclass(frozen=True, slots=True)
class SameRows:
    """The rows of other branches that are drawn as an equal row, by their ids."""

    calls: Mapping[str, str] = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BranchView:
    """A branch of which rows are computed: where it stands, and what is known of it so far."""

    cursor: Cursor
    state: State
    branch: str = ""
    """Its head; empty on the branch that is shown."""
    forked: Mapping[str, str] = field(default_factory=dict)
    """The calls that the shown branch has too, but with another outcome: by id,
    the branch that has rows of it."""
    outdated: Reasons = field(default_factory=Reasons)
    """Why calls and objects would come out otherwise today."""
    same: SameRows = field(default_factory=SameRows)
    """What is drawn once though other branches have it too."""


def call_key(call: CallRecord, branch_view: BranchView) -> str:
    """Return the id of a call's row."""
    fork = branch_view.forked.get(call.id) if branch_view.forked else None
    return call.key if fork is None else f"{call.key}~{fork}"


def object_key(producer: Producer, branch_view: BranchView) -> str:
    """Return the id of the row of an object, by what produced it."""
    if producer.input:
        return f"input:{producer.version}:{producer.input}"
    key = call_key(branch_view.state.calls[producer.call], branch_view)
    return f"{key}.{producer.index}" if producer.index else key


# -- objects -----------------------------------------------------------------------------------


def object_row(branch_view: BranchView, name: str, layout: Layout) -> ObjectRow:
    """Return the row of an object that there is."""
    made, state = branch_view.state.objects[name], branch_view.state
    key = object_key(made.producer, branch_view)
    same_as = branch_view.same.objects.get(key, "")
    column, lane = layout.places.get(same_as or key, (0, 0))
    call = state.calls.get(made.producer.call)
    # The oldest object with the same content.
    same = state.contents.get((made.kind, made.content)) if made.content else None
    drawn, saved = _preview(branch_view, made), _saved_as(name, state)
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
        used=(same_as or key) in layout.places,
        saved=saved,
        equals=same if same is not None and same != name else "",
        content=made.content[:12],
        description=made.description[:200],
        note=branch_view.cursor.context.values.note(made),
        outdated=branch_view.outdated.objects.get(made.producer, ""),
        label=_label(made, drawn),
        same=same_as,
        preview=drawn,
    )


def _saved_as(name: str, state: State) -> str:
    return next((output for output, saved in state.outputs.items() if saved == name), "")


def _label(made: Made, drawn: Preview) -> str:
    """Return what tells an object from others of its type: its own name, or the notebook's."""
    own = dict(drawn.fields)
    named = next((own[name].strip('"') for name in NAMING if own.get(name, '""') != '""'), "")
    label = named or made.producer.input
    return "" if label.lower() in (made.kind.lower(), drawn.caption.lower()) else label[:NAME]


def _preview(branch_view: BranchView, made: Made) -> Preview:
    context = branch_view.cursor.context
    values = context.values
    if not values.has_value(made.digest, made.content):
        return Preview(text=t("its value is not in this kernel"))
    cached: Preview | None = values.previews.get(made.digest)
    if cached is None:
        try:
            drawn = _drawn(context, made)
        except Absent:
            return Preview(text=t("its value is not in this kernel"))
        cached = values.previews[made.digest] = _without_secrets(drawn, context.hide)
    return cached


def _drawn(context: SessionContext, made: Made) -> Preview:
    """Draw a value; what stays on a cluster is drawn there. Raises Absent where that is lost."""
    remote = context.values.remote(made)
    if remote is not None:
        drawn: Preview = remote.apply(preview)
        return drawn
    return preview(context.values.by_digest[made.digest], context.value_reprs)


def draw_previews(branch_view: BranchView) -> None:
    """Draw the previews of the objects that the newest calls made, so that rows only read them."""
    state, drawn = branch_view.state, branch_view.cursor.context.values.previews
    for call_id in reversed(state.latest):
        made = state.calls[call_id].produced
        if made and all(each.digest in drawn for each in made):
            return
        for each in made:
            _preview(branch_view, each)


def objects_by_row(branch_view: BranchView) -> dict[str, Made]:
    """Return the objects of a branch, by the ids of their rows."""
    made = branch_view.state.objects.values()
    return {object_key(each.producer, branch_view): each for each in made}


def full_preview(branch_view: BranchView, key: str) -> Preview | None:
    """Return an object as large as may be, by the id of its row; None where it has no value."""
    context, made = branch_view.cursor.context, objects_by_row(branch_view).get(key)
    if made is None or not context.values.has_value(made.digest, made.content):
        return None
    try:
        value = context.values.by_digest[made.digest]
    except Absent:
        return None
    return _without_secrets(preview(value, context.value_reprs, LARGE), context.hide)


def _without_secrets(drawn: Preview, hide: Hide) -> Preview:
    parts = (getattr(drawn, part.name) for part in fields(Preview))
    return Preview(*(hide(part) if part else part for part in parts))


def pending_row(call_view: CallView, row: CallRow, kind: str, layout: Layout) -> ObjectRow:
    """Return the row of an object that a call will make which waits, or runs."""
    call, key = call_view.call, call_view.call.key
    column, lane = layout.places.get(key, (0, 0))
    return ObjectRow(
        id=key,
        name=call_view.makes,
        kind=kind,
        role="pending",
        step=call.step,
        call=key,
        column=column,
        lane=lane,
        used=True,
        preview=Preview(caption(row.change) if row.status == "running" else ""),
    )


def next_names(branch_view: BranchView) -> Callable[[CallRecord], str]:
    """Return what names the objects that open calls will make, if each call makes its own.

    An outcome that waits for those of calls before it gets its names with them. It looks at the
    calls before the one that it is asked for, each of them once.
    """
    cursor, state = branch_view.cursor, branch_view.state
    names, counts = dict[str, str](), dict[str, int]()
    nameless = sorted((*state.open, *state.arrived), key=state.latest.index)
    rest = iter(() if branch_view.branch else nameless)

    def name(call: CallRecord) -> str:
        while call.outcome is None and call.id not in names:
            call_id = next(rest, None)
            if call_id is None:
                return ""
            tool = cursor.tool_named(state.calls[call_id].tool)
            kind = tool.returns if tool is not None else ""
            counts[kind] = counts.get(kind, state.counts.get(kind) or 0) + 1
            names[call_id] = f"{kind}#{counts[kind]}" if kind else ""
        return names.get(call.id, "")

    return name


def output_rows(state: State) -> tuple[ObjectRow, ...]:
    """Return the rows of the outputs that are still to be saved."""
    return tuple(
        ObjectRow(f"output:{name}", name, out.kind, "output", description=out.description)
        for name, out in state.opened.outputs.items()
        if name not in state.outputs
    )


def ending(state: State) -> tuple[str, ...]:
    """Return what is to be seen at the end of a run: how many calls failed, and where an input was
    saved unchanged after that; nothing where none failed."""
    failed = [call for call in state.all_calls() if call.status == "failed"]
    if not failed:
        return ()
    count = t("%1, %2 failed", _calls(len(state.order)), len(failed))
    before = [call for call in failed if call.step > state.calls_before and call.tool != SAVE]
    saved = ((name, state.objects.get(str(name))) for name in state.outputs.values())
    unchanged = [str(name) for name, made in saved if made is not None and made.producer.input]
    if not (state.done and before and unchanged):
        return (count,)
    names = dict.fromkeys(unchanged)
    listed = joined(", ", [t("%1 as %2", name, _saved_as(name, state)) for name in names])
    calls = _calls(len(before))
    if len(unchanged) == 1:
        return count, t("saved %1: an input, unchanged; %2 failed before", listed, calls)
    return count, t("saved %1: inputs, unchanged; %2 failed before", listed, calls)


def _calls(count: int) -> str:
    return tn("%1 call", "%1 calls", count)


# -- calls -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallView:
    """A call of which a row is computed, and what is known of it at the end of its branch."""

    call: CallRecord
    end: CallEnd | None
    ready: PreparedCall | None
    """An open call of the shown branch as it would run; None where it can't run now."""
    absent: str
    """Which value is not in this kernel, where that is why it can't run."""
    uses: Uses
    """What produced the objects that it used, or names, by argument."""
    makes: str = ""
    """The name of the object that an open call will make."""


def call_view(
    branch_view: BranchView, call: CallRecord, end: CallEnd | None, makes: str = ""
) -> CallView:
    """Return what is known of a call; `end` is how it ended, None where it is open."""
    cursor, state, ready, absent = branch_view.cursor, branch_view.state, None, ""
    if call.outcome is None and not branch_view.branch:
        try:
            ready = cursor.prepared(call, state)[0]
        except Absent as error:
            absent = error.args[0]
        except CallError:
            pass
    if call.started is not None:
        return CallView(call, end, ready, absent, call.uses, makes)
    if ready is not None:
        return CallView(call, end, ready, absent, ready.uses, makes)
    tool = cursor.tool_named(call.tool)
    # `save`, and what failed a check, did not run. What got its name after the call had ended
    # is another object than the one that it meant.
    then = end.state if end else state
    objects, fits = then.objects, fits_in(then.objects, then.plain)
    named = references(tool.parameters, call.arguments, fits) if tool is not None else ()
    uses = {argument: objects[name].producer for argument, name in named if name in objects}
    return CallView(call, end, None, absent, uses)


def call_row(branch_view: BranchView, call_view: CallView, layout: Layout) -> CallRow:
    """Return the row of a call, as it stands at the end of its branch."""
    cursor, call, ready, end = branch_view.cursor, call_view.call, call_view.ready, call_view.end
    tool_name, tool = call.tool, cursor.tool_named(call.tool)
    arguments, asked = ready.arguments if ready else call.arguments, call.asked
    receiver = tool.receiver if tool else ""
    key, call_id, made = call_key(call, branch_view), call.id, objects_of(call.outcome)
    returned = object_key(made[0].producer, branch_view) if made else ""
    saves = tool_name == SAVE and bool(branch_view.state.opened.outputs)
    row = CallRow(
        id=key,
        call=call_id,
        tool=tool_name,
        step=call.step,
        turn=call.turn,
        by=call.asked_call.by if call.asked_call.by_client else "",
        status="running" if call_id in cursor.running else call.status,
        branch=branch_view.branch,
        memory=end is not None and end.cached,
        edited=call.edited,
        stale=call.asked_call.stale,
        change=_progress(cursor, call_id),
        outdated=branch_view.outdated.calls.get(call_id, ""),
        notes=end.notes if end else (),
        warning=call_warning(call, end, branch_view.state, cursor.running),
        arguments=dict(arguments),
        asked=_asked(call, arguments),
        filled=tuple(name for name in arguments if name not in asked),
        uses=_uses(call_view.uses, branch_view, receiver, layout),
        object=returned or (key if ready is not None and ready.tool.returns else ""),
        saves=saves,
        what=_arguments_line(call, arguments, receiver, saves, cursor.context.toolbox),
        why=call_view.absent,
        bound=_digest_to_decide_on(call_view, branch_view),
        reason=call.reason,
        same=branch_view.same.calls.get(key, ""),
        ms=end.ms if end else 0,
        prints=end.prints if end else "",
    )
    if ready:
        row = _with_question(row, branch_view, call_view, ready)
        return with_rounds(row, call, cursor)
    return with_rounds(
        _with_change(_with_outcome(row, call), branch_view, call_view, receiver), call, cursor
    )


def _progress(cursor: Cursor, call_id: str) -> str:
    """Return how long a call has run that runs beside others, and how far it is."""
    running = cursor.running.get(call_id)
    if running is None:
        return ""
    seconds = int(cursor.context.clock() - running.began) if running.began else 0
    return " · ".join(filter(None, (f"{seconds} s" if seconds else "", running.progress)))


def _digest_to_decide_on(call_view: CallView, branch_view: BranchView) -> str:
    """Return the approval digest of a call; "" for one that waits and can't run now."""
    call, ready = call_view.call, call_view.ready
    if ready is not None:
        return ready.approval_digest
    return "" if call.outcome is None and not branch_view.branch else call.approval_digest


def _with_change(
    row: CallRow, branch_view: BranchView, call_view: CallView, receiver: str
) -> CallRow:
    """Return the row of a call with what it changed, where its object has one before it."""
    call, context = call_view.call, branch_view.cursor.context
    before = object_before(call, call_view.uses, receiver, branch_view.state)
    if before is None:
        effect = call_view.end.effect if call_view.end else ""
        return replace(row, change=shortened_text(effect, LINE))
    made = objects_of(call.outcome)[0]
    if context.values.remote(before) or context.values.remote(made):
        # Nobody has asked for them yet.
        return replace(row, change=t("not compared: on the cluster"))
    line = in_a_line(change(before, made, context), CHANGED)
    key = object_key(before.producer, branch_view)
    return replace(row, before=key, change=shortened_text(line, LINE))


def _uses(uses: Uses, branch_view: BranchView, receiver: str, layout: Layout) -> tuple[Use, ...]:
    """Return the edges that lead to a call, the one of the main line marked."""
    edges = [
        (argument, object_key(producer, branch_view), producer.input != "")
        for argument, producer in uses.items()
        if producer in branch_view.state.by_producer
    ]
    drawn = branch_view.same.objects
    main = layout.main_use(
        [(drawn.get(key, key), name == receiver, is_input) for name, key, is_input in edges]
    )
    return tuple(
        [Use(name, key, drawn.get(key, key) == main, is_input) for name, key, is_input in edges]
    )


def _asked(call: CallRecord, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the model asked for, where something else runs; what was filled in is no change."""
    asked = dict(call.proposed)
    kept = all(key in arguments and arguments[key] == asked[key] for key in asked)
    return asked if call.edited or not kept else None


def _arguments_line(
    call: CallRecord,
    arguments: Mapping[str, Any],
    receiver: str,
    saves: bool,
    tools: Container[str],
) -> str:
    """Return a call's arguments as one line."""
    if saves:
        return ", ".join(f"{key} = {_text(value)[:SHORT]}" for key, value in arguments.items())
    if call.tool == SELECT:
        named = arguments.get("tools")
        count = sum(name in tools for name in named) if isinstance(named, list) else 0
        return tn("%1 tool selected", "%1 tools selected", count)
    texts = {key: _text(value)[:SHORT] for key, value in arguments.items()}
    first = [texts.pop(receiver)] if receiver in texts else []
    line = ", ".join([*first, *(f"{key} {text}" for key, text in texts.items())])
    return line if len(line) <= 200 else f"{line[:199]}…"


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else readable_json(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def _with_outcome(row: CallRow, call: CallRecord) -> CallRow:
    match call.outcome:
        case Data(data):
            return replace(row, result=_text(data))
        case Many() if not is_bare_list(call.outcome) and call.result is not None:
            return replace(row, result=_text(call.result))
        case Failed(message):
            return replace(row, error=message[:LONG])
        case Interrupted() as interrupted:
            return replace(row, error=interruption_text(interrupted))
    return row


def _with_question(
    row: CallRow, branch_view: BranchView, call_view: CallView, ready: PreparedCall
) -> CallRow:
    """Return the row of an open call with why it waits, where it does."""
    cursor, state, call = branch_view.cursor, branch_view.state, call_view.call
    if row.status == "running" or call.arrived is not None:
        return row
    decision, why = cursor.policy_answer(call, ready)
    if ready.tool.for_person and decision != "reject":
        decision, why = "ask", FOR_PERSON
    if decision != "ask" and call.status != "unknown":
        return row
    effect = call_effect(ready, state, cursor.context.values, cursor.context.model)
    following: list[str] = [t("Sent to %1.", ready.tool.server)] if ready.tool.server else []
    following += [t("It may delete or overwrite data.")] if ready.tool.destructive else []
    following += [effect] if effect else []
    following += [t("Creates %1.", call_view.makes)] if call_view.makes else []
    if unsaved := [f"`{name}`" for name in state.opened.outputs if name not in state.outputs]:
        following.append(t("Not saved yet: %1.", ", ".join(unsaved)))
    row = replace(row, downstream=joined(" ", following))
    if call.status == "unknown":
        return row
    if cursor.may_have_run(call, ready):
        return replace(row, why=why, may_have_run=True, recorded=_recorded(cursor, call, ready))
    again = reapproval_reason(cursor.replay_queue, cursor.context.journal, ready)
    return replace(row, why=again or why, again=again != "")


def _recorded(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> str:
    """Return what a call that may have run came to as it is recorded, "" where that is not kept."""
    entry = recorded_result(cursor, call, ready)
    if entry is None:
        return ""
    call = state_at(cursor.context.journal, entry.id).calls[call.id]
    match call.outcome:
        case Data(data):
            return _text(data) or '""'
        case Failed(message):
            return message[:LONG]
        case Interrupted():
            return t("interrupted")
    return ", ".join(call.objects)


# -- tools -------------------------------------------------------------------------------------


def tool_row(cursor: Cursor, name: str, offered: bool = False) -> ToolRow | None:
    """Return the row of a tool that was called, for its form; None for an unknown name.

    One that is `offered` to a person in the model's place has the description that a model gets.
    """
    tool = cursor.tool_named(name)
    if tool is None:
        return None
    text, limit = tool.description, WHOLE if offered else LONG
    # The list of what there is, in a tool of the scheme's own, is another after each step.
    if not offered and any(each.name == name for each in cursor.offer.own):
        text = text.partition("\n\n")[0]
    return ToolRow(
        tool.name,
        text[:limit],
        dict(tool.parameters),
        tool.read_only,
        tool.for_person,
        returns=tool.result[:SHORT],
        order=(*tool.parameters.get("properties", ()),),
    )
