"""From a branch of a journal to a script: what each entry says or does, in its order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..core.call_record import CallRecord
from ..core.entries import Entry
from ..core.errors import CallError
from ..core.events import Asked, Decided, Finished, Opened, Replied
from ..core.journal import Journal
from ..core.state import State
from ..core.state_fold import state_at
from ..core.text import visible_text
from ..schemes.save_tool import SCALARS
from .code import Code, Unwritable, is_name
from .definitions import defined
from .input_lines import CHECK, beginning, handed
from .script import Draft, Line, Script, Selection, Words, World, assigned, variables
from .statements import statement
from .value_code import MADE, written
from .wording import line_of, undone


@dataclass(frozen=True)
class Writer:
    """Writes one branch, up to a place."""

    journal: Journal
    head: str
    world: World
    only: Selection | None = None
    """What is written; None for all."""
    awaits: bool = False
    """Code can `await` at its top, as a notebook's can."""
    taken: frozenset[str] = frozenset()
    """Names that no variable has."""

    def script(self, title: str) -> Script:
        """Return the branch as code."""
        state, path = state_at(self.journal, self.head), self.journal.path(self.head)
        names = variables(state.names, self.taken)
        draft = Draft(self.world, state, names, self.taken, self.only, self.awaits)
        opened = next((e.event for e in path if isinstance(e.event, Opened)), Opened())
        given = tuple(beginning(draft, opened))
        beats = tuple(beat for entry in path for beat in self._beats(draft, entry))
        saved = tuple(_saved(draft)) if self.only is None else ()
        lines = [each for each in (*given, *beats, *saved) if isinstance(each, Line)]
        codes = [line.code for line in lines if line.code]
        found = defined({need for code in codes for need in code.needs}, self.world.texts)
        clash = found.bound & {*names.values(), *draft.instances.values()}
        if clash - self.taken:
            return replace(self, taken=self.taken | clash).script(title)
        made = any(f"{MADE.text}(" in code.text for code in codes)
        todo = sum(line.open for line in lines)
        return Script(title, given, (*beats, *_waiting(draft)), saved, found, made, todo)

    def _beats(self, draft: Draft, entry: Entry) -> Iterator[Words | Line]:
        """Yield what an entry says or does."""
        match entry.event:
            case Opened() as opened:
                yield from beginning(draft, opened)
            case Asked(text, by) if self.only is None:
                yield Words("You" if by == "person" else "Session", text)
            case Replied() as reply if self.only is None:
                text = reply.text if reply.said is None else reply.said
                if text.strip():
                    yield Words("Model", text)
            case Finished(call_id, by="program"):
                yield from self._handed(draft, entry, call_id, "your program gave its result")
            case Decided(call_id, "answer"):
                yield from self._handed(draft, entry, call_id, "you gave its result")
            case Finished(call_id) | Decided(call_id, "reject"):
                yield from self._ended(draft, self._call(entry, call_id))

    def _call(self, entry: Entry, call_id: str) -> CallRecord:
        return state_at(self.journal, entry.id).calls[call_id]

    def _handed(self, draft: Draft, entry: Entry, call_id: str, how: str) -> Iterator[Line]:
        call = self._call(entry, call_id)
        if draft.wants_call(call_id) and self.world.is_tool(call.tool):
            yield from handed(draft, call, how)

    def _ended(self, draft: Draft, call: CallRecord) -> Iterator[Line]:
        if not draft.wants_call(call.id):
            return
        if call.status != "succeeded":
            yield Line(above=(undone(call),))
        elif self.world.is_tool(call.tool):
            try:
                line = statement(draft, call)
                changed = self.world.changed(call)
                said = f"{CHECK}since this ran: {changed}; what comes out may be another."
                yield replace(line, above=(*line.above, said)) if changed else line
            except (Unwritable, CallError) as error:
                yield from handed(draft, call, f"it is {error}")


def _waiting(draft: Draft) -> Iterator[Line]:
    """Yield what the session stands before."""
    state: State = draft.state
    for call_id in state.open:
        if draft.wants_call(call_id):
            yield Line(above=(f"{line_of(state.calls[call_id])} has no result yet",))


def _saved(draft: Draft) -> Iterator[Line]:
    """Yield the outputs under their names."""
    opened = draft.state.opened.outputs
    for number, (name, said) in enumerate(draft.state.outputs.items(), 1):
        if name not in opened:
            continue
        scalar = opened[name].kind in SCALARS
        code = written(said) if scalar else Code(draft.names.get(str(said), "..."))
        to = name if is_name(name) else f"output_{number}"
        yield Line(
            assigned([to], code), () if to == name else (visible_text(f"The output {name}"),)
        )
