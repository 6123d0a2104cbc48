"""What the entries of a branch say of each call that ran: its reply, its approval, its instance.

The state of a session says the same and much more; this is what is asked of every entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rpds import HashTrieMap

from ..events import Asked, Decided, Finished, Opened, Replied, Started
from ..journal.tree import Entry, Journal


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call at some entry of its branch."""

    reply: str = ""
    """The entry of the reply that asked for it; the first one where a replay repeated it."""
    bound: str = ""
    """The digest of what was approved."""
    decision: str = ""
    """The entry of a person's last decision, which may be good for a start; the first one where
    a replay repeated it; "" where there is none, or the policy let it run since."""
    decided: bool = False
    started: bool = False
    stateful: bool = False
    """Whether it ran on an instance that changes."""


_NONE: HashTrieMap[str, RecordedCall] = HashTrieMap()
_NO_CALL = RecordedCall()


@dataclass(frozen=True, slots=True)
class Recorded:
    """The calls of a branch, and the prompt that they answer."""

    root: str = ""
    prompt: str = ""
    again: int = 0
    """How often that was asked before at the same place."""
    calls: HashTrieMap[str, RecordedCall] = _NONE

    def call(self, call_id: str) -> RecordedCall:
        """Return a call; an empty one for an id that nobody asked for."""
        return self.calls.get(call_id) or _NO_CALL


_NOTHING = Recorded()


def recorded(journal: Journal, entry_id: str) -> Recorded:
    """Return what is recorded of the calls up to an entry."""
    return journal.fold(entry_id, _evolve, _NOTHING)


def recorded_call(journal: Journal, entry_id: str, call_id: str) -> RecordedCall:
    """Return what is recorded of a call at an entry of its branch."""
    return recorded(journal, entry_id).call(call_id)


def _evolve(known: Recorded, entry: Entry) -> Recorded:
    match entry.event:
        case Opened() if not known.root:
            return replace(known, root=entry.id)
        case Asked(text, by="person", again=again):
            return replace(known, prompt=text, again=again)
        case Replied(calls=asked) if asked:
            call = RecordedCall(str(entry.meta.get("of", entry.id)))
            calls = known.calls.update({each.id: call for each in asked})
            return Recorded(known.root, known.prompt, known.again, calls)
        case Decided(call_id, bound=bound):
            decision = str(entry.meta.get("of", entry.id))
            call = RecordedCall(known.call(call_id).reply, bound, decision, decided=True)
            return _with(known, call_id, call)
        case Started(call_id, instance=instance, bound=bound):
            before = known.call(call_id)
            approved = (bound, "") if bound else (before.bound, before.decision)
            call = RecordedCall(before.reply, *approved, before.decided, True, instance != "")
            return _with(known, call_id, call)
        case Finished(call_id, by="program", uses=uses) if uses:
            return _with(known, call_id, replace(known.call(call_id), started=True))
    return known


def _with(known: Recorded, call_id: str, call: RecordedCall) -> Recorded:
    return Recorded(known.root, known.prompt, known.again, known.calls.insert(call_id, call))
