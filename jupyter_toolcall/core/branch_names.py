"""Default names of branches: a branch without a label is named after its first own entry.

`amount=5 (call 4)` names an edit, `fork after call 4` another reply of the model. A list of
branches also shows a sentence, which says what the branch has in place of what.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .call_record import CallRecord
from .digests import readable_json
from .events import Asked, Decided, Event, Finished, Opened, Replied, Started
from .interface_text import joined, t
from .journal import Journal
from .journal_entries import Entry
from .state import State
from .state_fold import state_at
from .text import visible_text

VALUE = 20
"""Characters of a value in a name."""
CHANGES = 40
"""Characters of all changes in a name: with its call and a number it stays below 60."""
LONG = 60
"""Characters of a value in a sentence."""
QUESTION = "question"
"""Key in the meta of a question's first entry: its words, as they were given."""
DEFAULTS = "defaults"
"""Key in the meta of an edit: the arguments that the model left out and the person left alone."""


class Cause(NamedTuple):
    """What made a branch: its default name, and how it differs from the branch that it left."""

    name: str
    change: str


def cause(journal: Journal, first_own_entry: str) -> Cause:
    """Return the default name of a branch, and its change, by its first own entry."""
    entry = journal[first_own_entry]
    first = journal.continuation(entry.parent) or entry.id
    before, event = state_at(journal, entry.parent), entry.event
    match event:
        case Decided(call_id) | Started(call_id) | Finished(call_id):
            call = state_at(journal, first_own_entry).calls[call_id]
            unchanged = {**_defaults(entry, call), **_arguments_before(journal, first, call)}
            return _of_call(event, call, unchanged, journal[first].event)
        case Replied():
            now, other_reply = _reply_text(event), _reply_text(journal[first].event)
            replaces = other_reply and other_reply != now
            change = t("%1 instead of %2", now, other_reply) if replaces else now
            return Cause(fork_name(before), change)
        case Opened(question=number) if number:
            default = f"question {number}"
            words = _short(entry.meta.get(QUESTION, ""), LONG) or default
            return Cause(_name(words, default), t("question: %1", words))
        case Opened(model=model, scheme=scheme):
            then = {"model": before.opened.model, "scheme": before.opened.scheme}
            changed = _changes({"model": model, "scheme": scheme}, then)
            name = ", ".join(f"{key}={now}" for key, now, _ in changed)
            return Cause(_after(_name(name, "set up again"), before), _instead(changed))
        case Asked(text, again=times_asked):
            name = "asked again" if times_asked else "another prompt"
            return Cause(_after(name, before), t("prompt: %1", _short(text, LONG)))
    return Cause("branch", "")


def decision_change(entry: Entry, state: State) -> tuple[str, str]:
    """Return the call of a person's decision, by its id, and what the decision changed of what the
    model asked for. The entry is on the path to the state."""
    event = entry.event
    assert isinstance(event, Decided)
    call = state.calls[event.call_id]
    return call.id, _of_call(event, call, {**_defaults(entry, call), **call.proposed}, event).change


def fork_name(state: State) -> str:
    """Return the name of a fork at a state: it counts the calls that have ended."""
    count = _settled(state)
    return f"fork after call {count}" if count else "fork before call 1"


def _arguments_before(journal: Journal, first: str, call: CallRecord) -> Mapping[str, object]:
    """Return the arguments of a call on the older branch, which continues with entry `first`.

    The arguments of a started call hold the tool's defaults, as those of an edit do.
    """
    for entry in (first, *journal.children(first)[:1]):
        other = state_at(journal, entry).calls.get(call.id)
        if other is not None and other.started:
            return other.arguments
    return call.proposed if other is None else other.asked


def _defaults(entry: Entry, call: CallRecord) -> Mapping[str, object]:
    """Return the defaults that an edit recorded and the person did not change.

    The older branch has no record of them where its call never started.
    """
    names = entry.meta.get(DEFAULTS)
    # A damaged or foreign file may hold any JSON here.
    names = names if isinstance(names, list) else []
    return {name: value for name, value in call.asked.items() if name in names}


def _of_call(event: Event, call: CallRecord, before: Mapping[str, object], older: Event) -> Cause:
    name, change = "re-run", f"{call.tool} ran again"
    match event:
        case Decided(round=number) if number:
            name, change = "another response", t("another response to %1", call.tool)
        case Decided(decision="edit", tool=tool):
            changed = _changes(call.asked, before)
            parts = [tool] * bool(tool) + [f"{key}={_short(now, VALUE)}" for key, now, _ in changed]
            gone = [key for key in before if key not in call.asked]
            parts += [f"no {key}" for key in gone]
            other = t("in place of %1", call.call.tool) if tool else ""
            texts = [other, _instead(changed), *(t("no %1", key) for key in gone)]
            what = joined(", ", filter(None, texts)) or t("edited")
            name = _name(", ".join(parts), "edit")
            change = t("%1: %2", call.tool, what)
        case Decided(decision="reject", reason=reason):
            name, change = "rejected", t("%1 rejected", call.tool)
            if reason:
                change = t("%1 rejected: %2", call.tool, _short(reason, LONG))
        case Decided(decision="answer"):
            name = "answered" if call.result is None else f"answered {_short(call.result, VALUE)}"
            change = t("%1 answered by a person", call.tool)
        # It was approved on the older branch too: what differs is that it ran again.
        case Decided(decision="approve") if getattr(older, "decision", "approve") == "approve":
            name = "retry"
        case Decided(decision="approve"):
            name, change = "approved", t("%1 approved", call.tool)
    return Cause(f"{name} (call {call.step})", change)


Change = tuple[str, Any, Any]
"""A name, its value, and the one before (None for none)."""


def _changes(now: Mapping[str, object], before: Mapping[str, object]) -> list[Change]:
    same = {key for key in now if key in before and is_same_json(now[key], before[key])}
    return [(key, value, before.get(key)) for key, value in now.items() if key not in same]


def is_same_json(value: object, other: object) -> bool:
    """Return whether two values are the same in JSON, where 1 is not true."""
    return repr(value) == repr(other)


def _instead(changes: list[Change]) -> str:
    """Return changes as a sentence: `amount 5 instead of 25`."""
    texts = list[str]()
    for key, now, then in changes:
        text = f"{key} {_short(now, LONG)}"
        texts.append(t("%1 instead of %2", text, _short(then, LONG)) if then else text)
    return joined(", ", texts)


def _reply_text(event: Event) -> str:
    """Return the tools that a reply calls, or else its text; "" for another event."""
    if not isinstance(event, Replied):
        return ""
    calls = ", ".join(dict.fromkeys(call.tool for call in event.calls))
    return _short(calls or event.text or t("no reply"), LONG)


def _settled(state: State) -> int:
    return len(state.order) - len(state.open)


def _after(name: str, state: State) -> str:
    return f"{name} (after call {_settled(state)})" if _settled(state) else name


def _name(text: str, default: str) -> str:
    """Return a text as `checked_branch_name` accepts it: it does not begin with a dash."""
    return _short(text, CHANGES).lstrip("- ") or default


def _short(value: object, limit: int) -> str:
    """Return a value on one line, shortened: a text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else readable_json(value)
    return visible_text(" ".join(text[: 10 * limit].split()), limit)
