"""The effect of a call in a sentence: the rows that it sends, or the file that it replaces.

A person reads it on the card before the call runs, and at its step afterwards.
"""

from __future__ import annotations

from typing import Any

from ..core.interrupts import attempt
from ..core.state import State
from .session_values import PreparedCall, SessionValues, ToolInputs


def call_effect(ready: PreparedCall, state: State, values: SessionValues, model: Any) -> str:
    """Return the effect of a call that can run; "" if it has none, or a value is not at hand."""
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
