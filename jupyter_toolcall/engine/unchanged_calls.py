"""Repeats recorded entries at once that nothing on this branch has changed.

A call is unchanged if its tool, its objects, its instance and its variables are what they were,
and its results are available. Any call that may have changed is replayed in single steps
(`replay.replay_entry`), where it is prepared and its approval digest is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile

from ..core.call_record import CallRecord
from ..core.errors import CallError
from ..core.events import Asked, Data, Decided, Finished, Producer, Replied, Started
from ..core.journal_entries import Entry
from ..core.object_names import introduce, with_inputs
from ..core.recorded_calls import instance_version
from ..core.state import State
from ..core.state_fold import state_at
from ..schemes.scheme import completed
from ..tools.object_references import fits_in, replace_names
from ..tools.tool import Tool, parameters_schema
from .cursor import Cursor, SessionHooks
from .outdated import recorded_tool_code
from .permission import judged
from .prepare import approval_digest
from .replay_queue import read_by_model
from .session_values import results_of


def repeat_unchanged(cursor: Cursor, state: State) -> bool:
    """Repeat the next recorded entries that are unchanged; return whether there are any."""
    queue, journal = cursor.replay_queue, cursor.context.journal
    if queue.position == queue.stopped_at:
        return False
    queue.stopped_at, first = queue.position, queue.entries[queue.position]
    before = state if first.parent == cursor.head else state_at(journal, first.parent)
    holds = (type(hook).holds_reply for hook in cursor.context.hooks)
    # A hook may hold any reply; and names of plain data in arguments are read with the call.
    if cursor.replay_queue.fresh or before.open != state.open or before.plain or state.plain:
        return False
    if any(hold is not SessionHooks.holds_reply for hold in holds):
        return False
    recorded = state_at(journal, queue.recorded_head)
    unchanged = _UnchangedCalls(cursor, state, recorded, before.latest, state)
    # The journal may have been verified, or marked, since the queue was made.
    following = (journal[queue.entries[n].id] for n in range(queue.position, len(queue.entries)))
    entries = [*takewhile(unchanged.includes, following)]
    if not entries:
        return False
    if first.parent == cursor.head:
        cursor.head = entries[-1].id
    else:
        read = cursor.context.call_index.read
        journal.repeat(cursor.head, entries, unchanged.is_stale, cursor.move, read)
    queue.position += len(entries)
    queue.stopped_at = queue.position
    return True


@dataclass
class _UnchangedCalls:
    """The calls of a recorded branch that are unchanged here, found entry by entry."""

    cursor: Cursor
    state: State
    """On this branch, before the first of the entries."""
    recorded: State
    """At the end of the recorded branch."""
    latest: tuple[str, ...]
    """The calls of the last reply."""
    now: State
    """`state`, with the objects after the entries so far."""
    is_stale: bool = False
    """Whether the model wrote the replies before the results changed."""
    ids: set[str] = field(default_factory=set)
    codes: dict[str, str] = field(default_factory=dict)
    """For each tool that ran in these entries, the recorded digest of its code."""
    same_digest: set[tuple[str, bool]] = field(default_factory=set)
    """The tools, and whether the call took objects, for which one approval digest was compared."""

    def includes(self, entry: Entry) -> bool:
        """Return whether an entry can be repeated as it is, after those before it."""
        if not entry.is_effective:
            return False
        match entry.event:
            case Asked():
                return True
            case Replied(calls=calls):
                self.is_stale = self.is_stale or self.state.stale or self._results_changed()
                self.latest = tuple(call.id for call in calls)
                return True
            case Decided(call_id, "reject", round=0):
                self.ids.add(call_id)
                return call_id not in self.cursor.replay_queue.superseded
            case Decided(call_id, "approve" | "edit", round=0) as decided:
                self.now = with_inputs(self.now, decided)
                return self._is_unchanged(call_id)
            case Started(call_id):
                return self._is_unchanged(call_id) and self._has_same_code(entry, call_id)
            case Finished(call_id) if call_id in self.ids:
                produced = self.recorded.calls[call_id].produced
                for ref in produced:
                    self.now = introduce(self.now, ref)
                # A name that was the next free one is not recorded; here it may not be the next.
                names, recorded = self.now.by_producer, self.recorded.by_producer
                return all(names[r.producer] == recorded[r.producer] for r in produced)
        return False

    def _results_changed(self) -> bool:
        """Return whether the model would read other results here than those that are recorded."""
        calls, recorded = self.state.calls, self.recorded.calls
        return any(
            read_by_model(recorded[call_id]) != read_by_model(calls[call_id])
            for call_id in self.latest
            if call_id in calls and call_id not in self.ids
        )

    def _has_same_code(self, entry: Entry, call_id: str) -> bool:
        """Return whether the repeated start refers to the same code of its tool as recorded."""
        call = self.recorded.calls[call_id]
        code = entry.meta.get("code") or self.codes.get(call.tool) or self.state.code.get(call.tool)
        self.codes[call.tool] = call.code
        return code == call.code

    def _is_unchanged(self, call_id: str) -> bool:
        if call_id in self.ids:
            return True
        if call_id in self.cursor.replay_queue.superseded:
            return False
        call = self.recorded.calls[call_id]
        tool, started = self.cursor.context.toolbox.get(call.tool), call.started
        if tool is None or started is None or call.outcome is None or not self._ran_once(call):
            return False
        if tool.changed or tool.for_person or not self._runs_on_the_same(call, started, tool):
            return False
        is_same = self._has_same_digest(call, started, tool) and self._is_at_hand(call, tool)
        if is_same and started.approval_digest:
            context, arguments = self.cursor.context, call.recorded_arguments
            origins = partial(context.origins, self.recorded, call, arguments)
            is_same = judged(context, tool, arguments, origins).verdict == "approve"
        if is_same:
            self.ids.add(call_id)
        return is_same

    def _ran_once(self, call: CallRecord) -> bool:
        """Return whether a call ran from its beginning to its end, without secrets."""
        secrets = call.asked_call.secrets or (call.decided is not None and call.decided.secrets)
        return not (secrets or call.rounds or call.repeated or self.state.marked)

    def _runs_on_the_same(self, call: CallRecord, started: Started, tool: Tool) -> bool:
        """Return whether objects, instance and variables are those that the call ran on."""
        return (
            all(map(self._is_same_object, started.uses.values()))
            and self._fills_in_the_same(call, tool)
            and (not started.instance or self._is_same_instance(started))
            and all(self._is_same_variable(*pair) for pair in started.setters.items())
        )

    def _is_same_object(self, producer: Producer) -> bool:
        if producer.call in self.ids:
            return True
        name = self.now.by_producer.get(producer)
        if name is None or name != self.recorded.by_producer.get(producer):
            return False
        return self.now.objects[name].digest == self.recorded.objects[name].digest

    def _fills_in_the_same(self, call: CallRecord, tool: Tool) -> bool:
        """Return whether the scheme allows the call, and fills in what it filled in then."""
        try:
            filled = completed(self.cursor.context.scheme, call, tool, self.now)
        except CallError:
            return False
        arguments = call.recorded_arguments
        return all(arguments.get(name) == value for name, value in filled.items())

    def _is_same_instance(self, started: Started) -> bool:
        name, previous = started.instance, started.previous
        if previous in self.ids:
            return True
        if (self.state.instances.get(name) or "") != previous:
            return False
        if not previous:
            return dict(self.state.opened.instances) == dict(self.recorded.opened.instances)
        calls, recorded = self.state.calls, self.recorded.calls
        return calls[previous].approval_digest == recorded[previous].approval_digest

    def _is_same_variable(self, variable: str, setter: str) -> bool:
        if setter in self.ids:
            return True
        if not setter or self.state.setters.get(variable) != setter:
            return False
        return self.state.calls[setter].outcome == self.recorded.calls[setter].outcome

    def _has_same_digest(self, call: CallRecord, started: Started, tool: Tool) -> bool:
        """Return whether the tool, and what is withheld, are what they were.

        The version of the tool is compared for each call. The whole digest is computed for one
        call of each tool: for the others all its parts are compared one by one.
        """
        code = recorded_tool_code(call, self.cursor.context.journal)
        if code is None or code.version != tool.version():
            return False
        key = tool.name, bool(started.uses or started.instance)
        if (
            key not in self.same_digest
            and self._digest(call, started, tool) == call.approval_digest
        ):
            self.same_digest.add(key)
        return key in self.same_digest

    def _digest(self, call: CallRecord, started: Started, tool: Tool) -> str:
        """Return the approval digest with which the call would run here."""
        values, calls = self.cursor.context.values, self.recorded.calls
        objects = self.recorded.objects
        named = replace_names(
            parameters_schema(tool),
            call.recorded_arguments,
            lambda path, name: objects[name].digest,
            fits_in(objects, ()),
        )
        before = ""
        if previous := started.previous:
            before = instance_version(previous, calls[previous].approval_digest)
        elif tool.instance:
            before = values.instance_digest(tool.instance, self.state)
        setters = ((name, calls[setter].outcome) for name, setter in started.setters.items())
        variables = {name: data.variables[name] for name, data in setters if isinstance(data, Data)}
        return approval_digest(tool, named, before, variables, values.withhold, bool(started.uses))

    def _is_at_hand(self, call: CallRecord, tool: Tool) -> bool:
        """Return whether all values that the call produced are available."""
        assert call.outcome is not None
        results = results_of(tool, call.id, call.approval_digest, call.outcome)
        return self.cursor.context.values.has_results(results)
