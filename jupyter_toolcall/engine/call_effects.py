"""What a call would do: its effect in a sentence, and the name of the object that it would make.

A person reads both on the card before the call runs, and the effect at its step afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from ..core.call_record import CallRecord
from ..core.events import Made, Producer
from ..core.interrupts import attempt
from ..core.object_names import introduce, produced_names
from ..core.state import State
from .cursor import Cursor
from .session_values import PreparedCall, SessionValues, ToolInputs


def call_effect(ready: PreparedCall, state: State, values: SessionValues, model: object) -> str:
    """Return the effect of a call that can run; "" if it has none, or a value is missing."""
    effect = ready.tool.effect
    if effect is None:
        return ""
    inputs = ready.inputs or ToolInputs(ready.arguments, ready.variables)
    name = str(getattr(model, "name", "") or "the model")

    def sentence() -> str:
        checked = ready.tool.check(
            inputs.arguments, lambda object_name, types: values.value(state.resolve(object_name))
        )
        return effect(checked, name)

    return attempt(sentence)[0] or ""


def next_names(cursor: Cursor, calls: Sequence[CallRecord]) -> dict[str, str]:
    """Return what names the objects that open calls will make, if each call makes its own.

    Calls after the last of `calls` are skipped: a reply may have thousands.
    """
    names, recorded, state = dict[str, str](), cursor.recorded_states(), cursor.state
    last = max((call.step for call in calls if call.outcome is None), default=0)
    open_calls = map(state.calls.__getitem__, state.open)
    for call in takewhile(lambda call: call.step <= last, open_calls):
        tool = cursor.tool_named(call.tool)
        if tool is not None and (kind := tool.returns):
            (name,) = produced_names(call.id, [Made(kind, "")], state, recorded)
            state = introduce(state, Made(kind, "", producer=Producer(call.id), name=name))
            names[call.id] = name
    return names
