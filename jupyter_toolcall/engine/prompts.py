"""Prompts, and steps from a prompt to the next pause."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..core.entries import Entry
from ..core.errors import NotYourTurn, UsageError
from ..core.events import Asked, Event
from ..core.interrupts import Hold
from ..core.state_fold import state_at
from ..tools.value_copies import well_formed
from .cursor import Cursor
from .replay import advance
from .replay_queue import ReplayQueue


def record_prompt(cursor: Cursor, text: str) -> None:
    """Record a prompt. Raises NotYourTurn while a call has no result."""
    if not text.strip():
        raise UsageError("the prompt is empty; say what is to be done")
    cursor.context.secrets.refresh()
    cursor.write(Asked(well_formed(text)), at=cursor.context.clock())
    cursor.replay_queue = ReplayQueue()


def run_to_pause(cursor: Cursor) -> None:
    """Continue to the next pause. Raises ModelError, and KeyboardInterrupt."""
    cursor.refresh()
    with Hold() as hold:
        while advance(cursor) is not None:
            hold.deliver()


def run_step(cursor: Cursor) -> None:
    """Take one step, if it needs no decision."""
    cursor.refresh()
    advance(cursor)


def prompt_event(cursor: Cursor, text: str) -> Asked:
    """Return the event of a prompt, with markers in place of secrets."""
    secrets = cursor.context.secrets
    secrets.refresh()
    marked, keys = secrets.mark(well_formed(text))
    return Asked(marked, secrets=keys)


def repeat_prompt(cursor: Cursor, asked: Asked) -> Cursor:
    """Return a cursor at a prompt on a new branch, without the entries recorded after it.

    The branch begins before the same prompt of this branch, else here.
    """
    branch = _before_prompt(cursor, asked)
    journal = branch.context.journal
    children = [journal[child].event for child in journal.children(branch.head)]
    event = _another_prompt(asked, children)
    return Cursor(
        branch.context, journal.append(branch.head, event, {"at": branch.context.clock()}).id
    )


def start_over(cursor: Cursor) -> Cursor:
    """Return a cursor at the last prompt, asked again on a new branch.

    Raises NotYourTurn where nobody has asked anything yet.
    """
    for entry in reversed(cursor.context.journal.path(cursor.head)):
        match entry.event:
            case Asked(by="person") as asked:
                return repeat_prompt(cursor, asked)
    raise NotYourTurn("nothing has been asked in this session yet")


def _before_prompt(cursor: Cursor, asked: Asked) -> Cursor:
    """Return a cursor before the last such prompt of this branch, with the current options."""
    journal = cursor.context.journal
    path = reversed(journal.path(cursor.head))
    asked_entry = next((entry for entry in path if _is_prompt(entry, asked)), None)
    if asked_entry is None or asked_entry.parent is None:
        return cursor
    opened, head = cursor.state.opened, asked_entry.parent
    if state_at(journal, head).opened != opened:
        head = journal.append(head, opened).id
    return Cursor(cursor.context, head)


def _is_prompt(entry: Entry, asked: Asked) -> bool:
    match entry.event:
        case Asked(text, by="person", secrets=keys):
            return (text, keys) == (asked.text, asked.secrets)
    return False


def _another_prompt(asked: Asked, children: Collection[Event]) -> Asked:
    """Return a prompt as one that was not asked here before."""
    before = sum(isinstance(event, Asked) and event.text == asked.text for event in children)
    return replace(asked, again=before)
