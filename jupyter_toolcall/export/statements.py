"""The statements of a session: what is given, what each call makes of it, and what is saved."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..core import events
from ..core.call_record import CallRecord, is_bare_list, objects_of, result_object
from ..core.errors import Absent, CallError
from ..core.journal import Journal
from ..core.journal_entries import Entry
from ..core.json_data import at_path
from ..core.state_fold import state_at
from ..core.text import visible_text
from ..engine.cursor import Cursor
from ..schemes.save_tool import is_data
from ..tools.json_structure import Access, Path
from ..tools.object_references import fits_in, references
from ..view.previews import preview
from .callees import Callee
from .code import MAIN, Code, Unwritable, call, is_name, joined, of_module, placeholder, written
from .script import (
    LONG,
    Draft,
    Line,
    MessageText,
    Script,
    Selection,
    SessionSource,
    about,
    by_schema,
    call_line,
    line_of,
    variable_name,
)

SHORT = 60
"""Characters of a result that stand behind its statement."""


def variables(names: Iterable[str], used_names: Collection[str] = ()) -> dict[str, str]:
    """Return a variable for each object: `potato_2` for `Potato#2`."""
    result: dict[str, str] = {}
    for name in names:
        result[name] = variable_name(name, "object", {*used_names, *result.values()})
    return result


def statement(draft: Draft, ran: CallRecord) -> Line:
    """Return the statement that a call is. Raises Unwritable, which says why there is none."""
    source, produced = draft.source, ran.produced
    instance = ran.started.instance if ran.started else ""
    callee = source.callee(ran, Code(draft.instance(instance)) if instance else None)
    used = Counter(draft.state.by_producer.get(producer, "") for producer in ran.uses.values())
    object_code = _ObjectCopies(draft, used)
    changed = [ref for ref in produced if ref.changed and draft.wants_object(ref)]
    for ref in changed:
        name = at_path(ran.arguments, tuple(ref.changed.split(".")))
        object_code.change(str(name), draft.variable_of(ref))
    arguments = source.arguments(ran, object_code)
    subject = arguments.pop(draft.receiver(ran), None)
    results = [ref for ref in produced if not ref.changed]
    if results and subject is not None and _may_change(draft, ran, callee):
        code = _changed(draft, draft.variable_of(produced[0]), subject, callee, arguments)
    else:
        code = callee.called(arguments, draft.awaits, subject)
        # What an instance gives out may change with it later.
        code = _unpacking(draft, ran, copied(code) if instance and results else code)
    # What an instance was given it may change later.
    kept = [draft.variable_of(ref) for ref in changed if instance]
    after = [assigned([variable], copied(Code(variable))) for variable in kept]
    lines = draft.defined(joined("", [*object_code.before, code, *after], "", "\n"))
    draft.there |= {ref.producer for ref in produced}
    return Line(lines, edited(ran), behind(draft, ran))


def _unpacking(draft: Draft, ran: CallRecord, code: Code) -> Code:
    """Return the assignments that take a call's result apart. Raises Unwritable."""
    outcome, produced = ran.outcome, ran.produced
    new = [ref for ref in produced if not ref.changed and draft.wants_object(ref)]
    if isinstance(outcome, events.Many) and is_bare_list(outcome):
        inside = (ref for ref in outcome.objects if not ref.changed)
        targets = [draft.variable_of(ref) if ref in produced else "_" for ref in inside]
        return assigned([*targets, *(["*_"] if outcome.unnamed else [])], code, many=True)
    if (single := result_object(outcome)) is not None:
        return assigned([draft.variable_of(single)] if single in new else [], code)
    if ran.data is None:
        return code
    result = draft.result(ran)
    if not isinstance(outcome, events.Many):
        return assigned([result], code)
    # An iterator and a set have no positions: their items are taken once.
    spread = any(type(path[0]) is type(how[0]) is int for path, how in _steps(outcome) if how)
    objects = [ref for ref in outcome.objects if not ref.changed]
    parts = [
        assigned([draft.variable_of(ref)], Code(_reached(result, path, how, spread)))
        for ref, (path, how) in zip(objects, _steps(outcome), strict=False)
        if ref in new
    ]
    code = joined("[*", [code], "]") if spread else code
    return joined("", [assigned([result], code), *parts], "", "\n")


def _steps(outcome: events.Many) -> list[tuple[Path, Access]]:
    """Return for each object of a result how it is reached."""
    access = outcome.access or tuple((None,) * len(path) for path in outcome.paths)
    return [*zip(outcome.paths, access, strict=False)]


def _reached(text: str, path: Path, access: Access, spread: bool) -> str:
    """Return the expression that leads to an object of a result: `result["others"][0]`.

    Raises Unwritable where a file has a path that is none.
    """
    for n, (step, how) in enumerate(zip(path, access, strict=False)):
        if isinstance(how, str) and is_name(how) and not how.startswith("__"):
            text = f"{text}.{how}"
        elif type(step) in (int, str) and (how is None or (spread and n == 0)):
            text = f"{text}[{written(step).text}]"
        elif type(how) is int:
            text = f"[*{text}{'.values()' if isinstance(step, str) else ''}][{how}]"
        else:
            raise Unwritable("a result whose parts have no names in Python")
    return text


def _may_change(draft: Draft, ran: CallRecord, callee: Callee) -> bool:
    """Return whether the new object may be the one that a method was called on, changed."""
    name = ran.arguments.get(draft.receiver(ran))
    ref = draft.state.objects.get(name) if isinstance(name, str) else None
    if not isinstance(ran.outcome, events.Made) or ref is None or callee.gives == "value":
        return False
    return ref.kind == ran.outcome.kind and not draft.source.is_shared(ref)


def _changed(
    draft: Draft, to: str, subject: Code, callee: Callee, arguments: dict[str, Code]
) -> Code:
    """A method that returned nothing changed the copy that it got: that is the new object."""
    copy = assigned([to], subject)
    done = callee.called(arguments, draft.awaits, Code(to))
    if callee.gives == "nothing":
        return joined("", [copy, done], "", "\n")
    kept = Code(f"{to} = {to} if result is None else result")
    return joined("", [copy, assigned(["result"], done), kept], "", "\n")


@dataclass
class _ObjectCopies:
    """Lends objects to one call: a copy of each, the same one wherever it stands."""

    draft: Draft
    often: Mapping[str, int]
    """How often the call names each object."""
    before: list[Code] = field(default_factory=list)
    lent: dict[str, Code] = field(default_factory=dict)

    def __call__(self, name: str) -> Code:
        if name not in self.lent:
            self.lent[name] = self._lent(name)
        return self.lent[name]

    def change(self, name: str, target: str) -> None:
        """Lend an object as the copy that is the new object after the call."""
        self.before.append(assigned([target], self._lent(name)))
        self.lent[name] = Code(target)

    def _lent(self, name: str) -> Code:
        ref, draft = self.draft.state.objects.get(name), self.draft
        if ref is None or ref.producer not in draft.there:
            raise Unwritable(f"a call that needs {name}, which is not made here")
        bare = Code(draft.names[name])
        if draft.source.is_shared(ref):
            return bare
        if self.often[name] < 2:
            return copied(bare)
        copy = f"{bare.text}_copy"
        self.before.append(assigned([copy], copied(bare)))
        return Code(copy)


FILL, CHECK = "FILL IN: ", "CHECK: "


def beginning(draft: Draft, event: events.Opened | events.Decided) -> Iterator[Line]:
    """Yield what is at hand from an opening or an edit on, as far as it is new."""
    for ref in events.inputs_of(event):
        if ref.producer not in draft.there and draft.wants_object(ref):
            # No variable of the notebook had what an edit was given.
            is_variable = isinstance(event, events.Opened)
            yield input_line(draft, ref, ref.producer.input if is_variable else "")
    for name, digest in event.instances if isinstance(event, events.Opened) else ():
        if draft.at.get(name) != digest and (draft.only is None or name in draft.only.instances):
            draft.at[name] = digest
            yield _instance(draft, name, digest)


def input_line(draft: Draft, ref: events.Made, variable: str = "") -> Line:
    """Return the line that gives an object: its value, or what the person has to fill in."""
    draft.there.add(ref.producer)
    to = draft.variable_of(ref)
    try:
        code = draft.defined(written(draft.value(ref)))
    except (Absent, Unwritable) as error:
        shown = preview(draft.value(ref)) if isinstance(error, Unwritable) else None
        looks = (shown.caption if "×" in shown.caption else shown.text[:80]) if shown else ""
        name = draft.state.name_of(ref)
        sentence = f"{name} was {about(ref)}{looks and f', {looks}'}"
        return _unwritten(draft, to, name, sentence, error, variable)
    behind = visible_text(ref.description, SHORT) if ref.description else ""
    return Line(assigned([to], code), behind=behind)


def _instance(draft: Draft, name: str, digest: str) -> Line:
    to, values = draft.instance(name), draft.cursor.context.values
    try:
        if not values.has_value(digest):
            raise Absent(f"the instance {name} is not here as it was given")
        code = draft.defined(written(values.by_digest[digest]))
        return Line(assigned([to], code))
    except (Absent, Unwritable) as error:
        comment = f"{name} was an instance with a state of its own"
        return _unwritten(draft, to, name, comment, error, draft.source.instance_variable(name))


def _unwritten(
    draft: Draft, to: str, name: str, comment: str, error: Exception, variable: str
) -> Line:
    """What the notebook's cells say of a variable may be what it was; a person has to check."""
    text = draft.source.texts(MAIN) if variable else None
    if text is not None and text.binding(variable):
        note = f"{CHECK}{comment}; this is how the notebook's cells define {variable}."
        with contextlib.suppress(Unwritable):
            code = draft.defined(of_module(MAIN, variable, variable))
            return Line(assigned([to], code), (visible_text(note, LONG),))
    why = f"it is {error}" if isinstance(error, Unwritable) else "its value is not at hand"
    note = f"{FILL}{comment}; {why}, so write it here."
    what = f"{name}{f', the input {variable},' if variable else ''} is not in this script: {why}"
    return Line(assigned([to], placeholder(what)), (visible_text(note, LONG),), open=True)


def handed(draft: Draft, call: CallRecord, how: str) -> Iterator[Line]:
    """Yield what a call came to that does not run here: its result, as it was recorded."""
    comments = (visible_text(f"{line_of(call)} does not run here: {how}.", LONG),)
    if isinstance(call.outcome, events.Data):
        to = draft.result(call)
        try:
            line = Line(assigned([to], written(call.outcome.data)))
        except Unwritable as error:
            line = _unwritten(draft, to, to, f"{to} was its result", error, "")
        yield replace(line, comments=(*comments, *line.comments))
        return
    objects = (ref for ref in objects_of(call.outcome) if ref.producer not in draft.there)
    new = [ref for ref in objects if draft.wants_object(ref)]
    first, *others = [input_line(draft, ref) for ref in new] or [Line()]
    yield replace(first, comments=(*comments, *first.comments))
    yield from others


def script_of(
    cursor: Cursor,
    source: SessionSource,
    title: str,
    only: Selection | None = None,
    awaits: bool = False,
    reserved: frozenset[str] = frozenset(),
) -> Script:
    """Return one branch, up to its head, as code.

    Args:
        cursor: The branch.
        source: Where its tools and values are found.
        title: The first line of the script.
        only: What is written; None for all.
        awaits: Code can `await` at its top, as a notebook's can.
        reserved: Names that no variable has.
    """
    path = cursor.context.journal.path(cursor.head)
    names = variables(cursor.state.names, reserved)
    draft = Draft(source, cursor, names, reserved, only, awaits)
    opened = next((e.event for e in path if isinstance(e.event, events.Opened)), events.Opened())
    input_lines = tuple(beginning(draft, opened))
    parts = tuple(part for entry in path for part in _parts(draft, entry, cursor.context.journal))
    saved = tuple(_saved(draft)) if only is None else ()
    clash = draft.definitions.meanings.keys() & {*names.values(), *draft.instances.values()}
    if clash - reserved:
        return script_of(cursor, source, title, only, awaits, reserved | clash)
    return Script(title, draft.definitions, input_lines, (*parts, *_waiting(draft)), saved)


def _parts(draft: Draft, entry: Entry, journal: Journal) -> Iterator[MessageText | Line]:
    """Yield what an entry says or does."""
    match entry.event:
        case events.Opened() | events.Decided(inputs=(_, *_)) as event:
            yield from beginning(draft, event)
        case events.Asked(text, by) if draft.only is None:
            yield MessageText("You" if by == "person" else "Session", text)
        case events.Replied() as reply if draft.only is None:
            text = reply.text if reply.said is None else reply.said
            if text.strip():
                yield MessageText("Model", text)
        case events.Finished() | events.Decided() as event if call_id := events.ended_call(event):
            by_program = isinstance(event, events.Finished) and event.by == "program"
            if draft.wants_call(call_id):
                how = "your program gave its result" if by_program else ""
                yield from _ended(draft, state_at(journal, entry.id).calls[call_id], how)


def _ended(draft: Draft, call: CallRecord, how: str) -> Iterator[Line]:
    """Yield what a call did; `how` says who gave its result in the place of its tool."""
    answered = "you gave its result" if call.status == "answered" else ""
    how = how or answered or ("its tool asked you for input" if call.rounds else "")
    is_own = call.tool in [tool.name for tool in draft.cursor.offer.own]
    is_tool = call.tool in draft.cursor.context.toolbox or (
        bool(call.started or how) and not is_own
    )
    if isinstance(call.outcome, (events.Failed, events.Interrupted)):
        yield Line(comments=(call_line(call),))
    elif is_tool and how:
        yield from handed(draft, call, how)
    elif is_tool:
        try:
            line = statement(draft, call)
            changed = draft.source.changed(call)
            comment = f"{CHECK}since this ran: {changed}; what comes out may be another."
            yield replace(line, comments=(*line.comments, comment)) if changed else line
        except (Unwritable, CallError) as error:
            yield from handed(draft, call, f"it is {error}")


def _waiting(draft: Draft) -> Iterator[Line]:
    """Yield what the session stands before."""
    for call_id in draft.state.open:
        if draft.wants_call(call_id):
            yield Line(comments=(call_line(draft.state.calls[call_id]),))


def _saved(draft: Draft) -> Iterator[Line]:
    """Yield the outputs under their names."""
    opened = draft.state.opened.outputs
    for number, (name, value) in enumerate(draft.state.outputs.items(), 1):
        if name not in opened:
            continue
        is_object = not is_data(opened[name])
        code = _object(draft, str(value)) if is_object else _data(draft, name, value)
        to = name if is_name(name) else f"output_{number}"
        comments = () if to == name else (visible_text(f"The output {name}"),)
        yield Line(assigned([to], code), comments)


def _object(draft: Draft, name: str) -> Code:
    if name in draft.names:
        return Code(draft.names[name])
    return placeholder(f"{name} is not in this script: no call of it is recorded")


def _data(draft: Draft, output: str, value: object) -> Code:
    """Return the data that was saved as an output, with the variables of objects that it names."""
    schema, state = draft.state.opened.outputs[output].schema, draft.state
    whole = {"properties": {"value": schema}, "$defs": schema.get("$defs", {})}
    named = dict(references(whole, {"value": value}, fits_in(state.objects, state.plain)))
    if not named:
        with contextlib.suppress(Absent, Unwritable):
            return draft.defined(draft.source.saved(output))
    return by_schema({}, {"value": value}, named, lambda name: _object(draft, name))["value"]


# -- pieces of statements -----------------------------------------------------------------


def copied(code: Code) -> Code:
    """Return the code of a copy."""
    return call(of_module("copy", "deepcopy", "deepcopy"), [code])


def assigned(targets: list[str], code: Code, many: bool = False) -> Code:
    """Return an assignment; the code alone where there is nothing to assign to."""
    if not targets:
        return code
    to = f"[{targets[0]}]" if many and len(targets) == 1 else ", ".join(targets)
    return Code(f"{to} = {code.text}", code.needs)


def edited(call: CallRecord) -> tuple[str, ...]:
    """Return what a person changed in a call, as one line; () where it runs as it was asked for."""
    if not call.edited:
        return ()
    before, asked, reason = call.proposed, call.asked, call.reason
    # An object that the model left out was filled in, and is no change.
    keys = (key for key in {**asked, **before} if key in before or key not in call.uses)
    parts = [
        f"{key} was {before[key]!r:.80}" if key in before else f"{key} is yours"
        for key in keys
        if asked.get(key, ...) != before.get(key, ...)
    ]
    parts += [f"tool was {call.call.tool!r:.80}"] * (call.tool != call.call.tool)
    changes = "; ".join(parts) or "as the model asked"
    why = f" ({reason})" if reason else ""
    return (visible_text(f"{call.step} You changed this call: {changes}{why}"),)


def behind(draft: Draft, call: CallRecord) -> str:
    """Return what stands behind a statement: its plain result, or which object it gave back."""
    match call.outcome:
        case events.Data(None):
            return ""
        case events.Data(data):
            return visible_text(f"{data!r}", SHORT)
        case events.Made() as ref if not call.produced:
            return visible_text(f"{draft.state.name_of(ref)} itself", SHORT)
    return ""
