"""A call's turn: it is judged, allowed and run, and what came of it is written down."""

from __future__ import annotations

from ..errors import Absent, CallError
from ..events import Data, Decided, Failed, Finished, Interrupted, Started
from ..journal.tree import Entry
from ..runner.coded import coded
from ..runner.performing import Performed, performed
from ..state.call import CallState
from ..state.fold import state_at
from ..state.memory import Prepared
from ..state.shape import State
from .place import Place


def judge(place: Place, call: CallState, state: State) -> Entry | None:
    """Let a call run, or reject it, where no person has to be asked; None where one has."""
    try:
        ready, own = place.prepared(call, state)
    except CallError as error:
        return place.write(Finished(call.id, Failed(str(error))))
    if own:
        return _own(place, call, ready)
    verdict, why = place.verdict(call, ready)
    match verdict:
        case "approve" if not ready.tool.for_person:
            return approve(place, call, ready)
        case "reject":
            return place.write(Decided(call.id, "reject", reason=why), by="policy")
    return None


def _own(place: Place, call: CallState, ready: Prepared) -> Entry:
    """A call of the scheme's own waits for nobody; what was spelled out of it is kept."""
    if call.decided is None and ready.arguments == call.asked:
        return place.write(Finished(call.id, Data(ready.tool.function(**ready.arguments))))
    return approve(place, call, ready, own=True)


def approve(place: Place, call: CallState, ready: Prepared, own: bool = False) -> Entry:
    """Let a call run as it was prepared, as it stands or as a person edited it."""
    entry = place.write(call.approval(ready.bound), by="policy")
    place.allowed_by_policy.add(call.id)
    return place.as_before(entry, ready, own)


def repeated(place: Place, call: CallState, state: State) -> Prepared | None:
    """Return a call with an unknown outcome where it may run again: exactly as approved."""
    tool = place.find(call.tool)
    if tool is None or not tool.idempotent or not call.own:
        return None
    try:
        ready = place.prepared(call, state)[0]
    except (CallError, Absent):
        return None
    return ready if ready.bound == call.bound else None


def perform(place: Place, call: CallState, state: State, again: bool = False) -> Entry | None:
    """Run an approved call; with `again` take what memory knows of it. Raises MissingSecret."""
    try:
        ready = place.prepared(call, state)[0]
    except CallError as error:
        return place.write(Finished(call.id, Failed(str(error))))
    if not place.allows(call, ready):
        return judge(place, call, state)
    again = again or place.is_repeated_by_policy(call, ready)
    outcome = place.desk.memory.known(ready) if again else None
    if outcome is None:
        demand_secrets(ready)
    place.words.discard(call.id)
    place.allowed_by_policy.discard(call.id)
    started = place.write(start_of(call, ready), **coded(ready.tool, state, place.desk.journal))
    if outcome is not None:
        return place.write(Finished(call.id, outcome))
    return run(place, ready, state_at(place.desk.journal, started.id))


def demand_secrets(ready: Prepared) -> None:
    """Raise MissingSecret, before a start is written down, where a call could not run."""
    if ready.missing is not None:
        raise ready.missing


def run(place: Place, ready: Prepared, state: State) -> Entry:
    """Run a call that has started. Raises KeyboardInterrupt once that is written down."""
    desk, place.running = place.desk, ready.call_id
    try:
        try:
            ran = performed(ready, state, desk.memory, desk.hide, desk.clock)
        except KeyboardInterrupt:
            # A second one came while the end of the tool was read: what it had done is not known.
            ran = Performed(Interrupted(), {}, True)
        entry = place.write(Finished(ready.call_id, ran.outcome), **ran.meta)
    finally:
        place.running = ""
    if ran.interrupted:
        raise KeyboardInterrupt
    return entry


def start_of(call: CallState, ready: Prepared) -> Started:
    """Return the fact that a call starts: its arguments, where they are not what was asked."""
    arguments = None if ready.arguments == call.asked else ready.arguments
    return Started(
        call.id, arguments, ready.uses, ready.tool.instance, ready.previous, ready.setters
    )
