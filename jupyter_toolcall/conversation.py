"""What the model is told: the messages of a branch, and the request of its next turn.

A pure fold over the journal beside the state: a turn's results are told when the last
of its calls has one, each call exactly one, in the order of the calls.
"""

from __future__ import annotations

from collections.abc import Callable

from .events import Asked, Replied, Started
from .journal import Entry, Journal
from .request import Assistant, Message, Request, Results, User
from .schemes import Offer, Scheme
from .state import State, state_at
from .tools import Toolbox
from .trail import Trail

Messages = Trail[Message]
NOTHING: Messages = Trail()


def teller(
    journal: Journal, scheme: Scheme, toolbox: Toolbox
) -> Callable[[Messages, Entry], Messages]:
    """Return the fold from entries to messages; keep it, since the journal goes by it."""

    def tell(messages: Messages, entry: Entry) -> Messages:
        match entry.event:
            case Asked(text):
                return messages.add(User(text))
            case Replied(text, calls, _, _, raw):
                return messages.add(scheme.speak(Assistant(text, calls, raw)))
            case Started():
                return messages
        after = state_at(journal, entry.id)
        before = state_at(journal, entry.parent)
        if not before.open or after.open:
            return messages
        done = (after.calls[call_id] for call_id in after.latest)
        results = tuple(scheme.render(call, after, toolbox) for call in done)
        return messages.add(scheme.speak(Results(results)))

    return tell


def composed(state: State, messages: Messages, offer: Offer) -> Request:
    """Return the request that a state amounts to, where this is offered."""
    return Request(
        system="\n\n".join(part for part in (offer.system, state.opened.system) if part),
        tools=() if offer.spoken else (*offer.own, *offer.tools),
        messages=messages,
        deferred=() if offer.spoken else offer.deferred,
        turn=state.turns,
        newest=state.newest,
    )
