"""What a model's reply becomes as a fact: text that can be written down, calls with plain ids."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ..content.value import well_formed
from ..events import Call, Replied
from ..request import Reply
from ..secrets import Hide
from ..state.call import CALL_ID
from ..state.shape import State
from ..tools.arguments import sound

RUNS = ("end", "tools")
"""The stop reasons with which the calls of a reply may run."""
_NO_WORD = re.compile(r"[^A-Za-z0-9_-]")


def replied(
    reply: Reply, state: State, offered: Mapping[str, str], news: str, hide: Hide
) -> Replied:
    """Return a reply as the fact that it is: calls that can be written down, each id once.

    An id is a name that later entries use, so a secret in it is hidden before it is one.
    """
    made = tuple(_hidden_id(sound(call), hide) for call in reply.calls)
    calls = _unique(made, state) if reply.stop in RUNS else ()
    raw = reply.raw if calls == tuple(reply.calls) else None
    return Replied(
        well_formed(reply.text),
        calls,
        reply.stop,
        reply.usage,
        raw,
        offered,
        reply.thought,
        said=well_formed(reply.said),
        news=news,
        ending=well_formed(reply.ending),
    )


def _hidden_id(call: Call, hide: Hide) -> Call:
    plain = hide(call.id)
    return call if plain == call.id else replace(call, id=plain)


def _unique(calls: tuple[Call, ...], state: State) -> tuple[Call, ...]:
    """A call id is a plain word, and used once in a session, whatever a model sends."""
    taken: dict[str, Call] = {}
    for call in calls:
        plain = call.id if CALL_ID.fullmatch(call.id) else _NO_WORD.sub("_", call.id)[:100]
        call_id, number = plain or "call", 1
        while call_id in taken or call_id in state.calls:
            number += 1
            call_id = f"{(plain or 'call')[:100]}-{number}"
        taken[call_id] = call if call_id == call.id else replace(call, id=call_id)
    return tuple(taken.values())
