"""Warnings at a call: what went wrong although the session continues, and what to do about it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Literal

from ..core.call_record import SAVE, CallRecord
from ..core.interface_text import joined, t, tn
from ..core.recorded_calls import CallEnd
from ..core.rows import Row, Text
from ..core.state import State

REPAIRED = ("succeeded", "answered")
WarningKind = Literal[
    "outcome unknown",
    "untracked change",
    "lost change",
    "an earlier call failed",
    "asked before a change",
    "may be stale",  # In notebooks that older versions saved.
]


class CallWarning(Row):
    """What a person is warned of at a call: its mark stands at the step, the node and the card."""

    kind: WarningKind
    """In two words, as the step shows it."""
    text: Text
    action: Text
    """What to do: one sentence."""


def call_warning(
    call: CallRecord, end: CallEnd | None, state: State, running: Container[str]
) -> CallWarning | None:
    """Return the warning at a call; None at one that is `running`, and where there is none.

    If there are several, the first one gives the kind, and the texts of all are joined.
    """
    warnings = [*_warnings(call, end, state)]
    if not warnings or call.id in running:
        return None
    text = joined(" ", (warning.text for warning in warnings))
    actions = dict.fromkeys(warning.action for warning in warnings)
    return CallWarning(warnings[0].kind, text, joined(" ", actions))


def _warnings(call: CallRecord, end: CallEnd | None, state: State) -> Iterator[CallWarning]:
    """Yield the warnings at a call, the worst first."""
    if call.status == "unknown":
        text = t("The tool started, and its end was not recorded: the kernel stopped while it ran.")
        if call.unknown_reason:
            text = t("It is not known whether the call took effect: %1.", call.unknown_reason)
        action = t("Check what it did; it does not run again unless you choose Run again.")
        yield CallWarning("outcome unknown", text, action)
    if end is not None:
        yield from _changes_in_place(end)
    if failed := _unrepaired_failures(call, state):
        text = tn(
            "Call %2 failed before this, and no later call of that tool succeeded.",
            "Calls %2 failed before this, and no later call of these tools succeeded.",
            len(failed),
            ", ".join(f"{earlier.step} ({earlier.tool})" for earlier in failed),
        )
        action = t("Check what was saved, or edit a failed call.")
        yield CallWarning("an earlier call failed", text, action)
    if _is_first_stale(call, state):
        text = t("The model asked for this, and for what follows, before the results changed.")
        action = t(
            "To ask it again, choose Ask the model from here, in the panel of the cell that "
            "started the session."
        )
        yield CallWarning("asked before a change", text, action)


def _changes_in_place(end: CallEnd) -> Iterator[CallWarning]:
    if names := ", ".join(end.changed_in_place("untracked")):
        text = t(
            "The tool changed %1 itself, or a part that cannot be copied: earlier results made "
            "from it may have changed too.",
            names,
        )
        action = t("Run the session again from the start, or let the tool return a new object.")
        yield CallWarning("untracked change", text, action)
    if names := ", ".join(end.changed_in_place("unclear")):
        text = t(
            "%1 cannot be compared, so nobody can tell whether the tool changed it in place: "
            "such a change is dropped.",
            names,
        )
        action = t("To keep a change, let the tool return the changed object.")
        yield CallWarning("untracked change", text, action)
    lost = end.changed_in_place("lost")
    if names := ", ".join(lost):
        text = tn(
            "The tool changed %2 in place and did not return it: the change is dropped, and "
            "%2 stays as before.",
            "The tool changed %2 in place and did not return it: the change is dropped, and "
            "%2 stay as before.",
            len(lost),
            names,
        )
        action = t("To keep the change, let the tool return the changed object.")
        yield CallWarning("lost change", text, action)


def _unrepaired_failures(call: CallRecord, state: State) -> list[CallRecord]:
    """Return the last failed call of each tool that never succeeded before a successful `save`.

    An earlier `save` has already warned of the calls before it.
    """
    if call.tool != SAVE or call.status not in REPAIRED or not state.opened.outputs:
        return []
    ended, failed = {SAVE}, list[CallRecord]()
    for call_id in reversed(state.order[: call.step - 1]):
        earlier = state.calls[call_id]
        if earlier.status in REPAIRED and earlier.tool == SAVE:
            break
        if earlier.tool not in ended and earlier.status in (*REPAIRED, "failed"):
            ended.add(earlier.tool)
            failed += [earlier] * (earlier.status == "failed")
    return failed[::-1]


def _is_first_stale(call: CallRecord, state: State) -> bool:
    """Return whether a call is of the first reply that the model gave before results changed: what
    it says from there on goes back to that one, and one mark is enough."""
    # Nearly no call is stale: the calls before it are not looked at for any other.
    if not call.asked_call.stale:
        return False
    earlier = (state.calls[call_id] for call_id in reversed(state.order[: call.step - 1]))
    before = next((other for other in earlier if other.turn < call.turn), None)
    return before is None or not before.asked_call.stale
