"""What a person is warned of at a call: what went wrong though the session goes on, and what to
do about it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from ..core.call_record import SAVE, CallRecord
from ..core.interface_text import joined, t, tn
from ..core.recorded_calls import CallEnd
from ..core.state import State
from .contract_rows import CallWarning

REPAIRED = ("succeeded", "answered")


def call_warning(
    call: CallRecord, end: CallEnd | None, state: State, running: Container[str]
) -> CallWarning | None:
    """Return the warning at a call; None at one that is `running`, and where there is none.

    Of several, the first one names the kind, and the texts of all stand one after the other.
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
        text = t("It is not known whether the call took effect: %1.", call.unknown_reason)
        killed = t(
            "The tool started, and nothing says how it ended: the kernel stopped while it ran."
        )
        yield CallWarning(
            "outcome unknown",
            text if call.unknown_reason else killed,
            t("Check what it did; it does not run again unless you choose Run again."),
        )
    if end is not None and (untracked := end.untracked_changes):
        yield CallWarning(
            "untracked change",
            t(
                "The tool changed %1 in place, which cannot be copied: earlier results made from "
                "it may have changed too.",
                _listed(untracked),
            ),
            t("Run the session again from the start, or let the tool return a new object."),
        )
    if end is not None and (unclear := end.unclear_changes):
        yield CallWarning(
            "untracked change",
            t(
                "%1 cannot be compared, so nobody can tell whether the tool changed it in place: "
                "such a change is dropped.",
                _listed(unclear),
            ),
            t("To keep a change, let the tool return the changed object."),
        )
    if end is not None and (lost := end.lost_changes):
        yield CallWarning(
            "lost change",
            tn(
                "The tool changed %2 in place and did not return it: the change is dropped, and "
                "%2 stays as before.",
                "The tool changed %2 in place and did not return it: the change is dropped, and "
                "%2 stay as before.",
                len(lost),
                _listed(lost),
            ),
            t("To keep the change, let the tool return the changed object."),
        )
    if (failed := _unrepaired_failure(call, state)) is not None:
        yield CallWarning(
            "failure before save",
            t(
                "Call %1 (%2) failed before this, and no later call of that tool succeeded.",
                failed.step,
                failed.tool,
            ),
            t("Check what was saved, or edit the failed call."),
        )
    if call.asked_call.stale:
        yield CallWarning(
            "may be stale",
            t("The model asked for this before the results changed."),
            t(
                "To ask it again, choose Ask the model from here, in the panel of the cell that "
                "started the session."
            ),
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _unrepaired_failure(call: CallRecord, state: State) -> CallRecord | None:
    """Return the last failed call before a `save` that saved, where its tool never succeeded
    afterwards. What came before the `save` before it was told there."""
    if call.tool != SAVE or call.status not in REPAIRED or not state.opened.outputs:
        return None
    repaired = {SAVE}
    for call_id in reversed(state.order[: call.step - 1]):
        earlier = state.calls[call_id]
        if earlier.status == "failed" and earlier.tool not in repaired:
            return earlier
        if earlier.status in REPAIRED:
            if earlier.tool == SAVE:
                return None
            repaired.add(earlier.tool)
    return None
