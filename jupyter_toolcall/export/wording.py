"""Words about calls and objects, each one line in which nothing is hidden."""

from __future__ import annotations

from collections.abc import Collection

from ..core.call_record import CallRecord
from ..core.events import Data, Failed, Interrupted, Made
from ..core.state import State
from ..core.text import visible_text
from ..tools.value_copies import cut

SHORT = 60
"""Characters of a result that stand behind its statement."""
LONG = 300
"""Characters of a line that tells of a call which made nothing."""
_WAS = {"failed": "failed", "rejected": "was rejected", "answered": "was answered"}


def line_of(call: CallRecord) -> str:
    """Return a call as one line."""
    arguments = ", ".join(f"{key}={value!r:.80}" for key, value in call.arguments.items())
    return visible_text(cut(f"{call.step} {call.tool}({arguments})", 200))


def undone(call: CallRecord) -> str:
    """Return why a call made nothing here."""
    match call.outcome:
        case Failed(message):
            why = f": {message}" if message else ""
            return visible_text(f"{line_of(call)} {_WAS[call.status]}{why}", LONG)
        case Interrupted():
            return visible_text(f"{line_of(call)} was interrupted", LONG)
    return visible_text(f"{line_of(call)} has no result", LONG)


def about(made: Made) -> str:
    """Return what an object is: its type, its description, its content."""
    content = f"content {made.content}" if made.content else "a content that has no digest"
    said = f" ({made.description})" if made.description else ""
    return f"{one(made.kind)}{said} with {content}"


def one(kind: str) -> str:
    """Return a type's name with its article: `a Potato`, `an Image`."""
    return f"{'an' if kind[:1] in 'AEIOUaeiou' else 'a'} {kind}"


def edited(call: CallRecord) -> tuple[str, ...]:
    """Return what a person changed in a call, as one line; () where it runs as it was asked for."""
    if not call.edited:
        return ()
    before, reason = call.proposed, call.reason
    # An object that the model left out was filled in, and is no change.
    known = {k: v for k, v in call.asked.items() if k in before or k not in call.uses}
    now = {k: v for k, v in known.items() if k not in before or before[k] != v}
    parts = [
        f"{key} was {before[key]!r:.80}" if key in before else f"{key} is yours" for key in now
    ]
    parts += [f"{key} was {value!r:.80}" for key, value in before.items() if key not in call.asked]
    said = "; ".join(parts) or "as the model asked"
    return (
        visible_text(
            f"{call.step} You changed this call: {said}{f' ({reason})' if reason else ''}"
        ),
    )


def behind(call: CallRecord, own: Collection[Made], state: State) -> str:
    """Return what stands behind a statement: its plain result, or which object it gave back."""
    match call.outcome:
        case Data(None):
            return ""
        case Data(data):
            return visible_text(f"{data!r}", SHORT)
        case Made() as made if not own:
            return visible_text(f"{state.name_of(made)} itself", SHORT)
    return ""
