"""A cell's prompt: what stands between its braces, and how it is said.

Where the journal has what a cell asks already, the recorded branch is walked and nobody is
asked twice.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from ..acts.going import asked_again, prompt
from ..acts.resuming import left_to_say
from ..branches.branch import is_prompt
from ..errors import UsageError
from ..journal.tree import Entry, Journal
from ..loop import Cursor
from ..session import Session
from ..state.script import Script
from .setting_up import Variables, open_text

_NAMED = re.compile(r"\{([A-Za-z_]\w*)\}")


def filled(text: str, session: Session, variables: Variables) -> str:
    """Return a prompt in which `{name}` is an object's name or a variable's text.

    What is no variable stays as it is. Raises UsageError for a secret.
    """
    state = session.state
    inputs = state.inputs

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if inputs.get(name):
            return str(inputs[name])
        if name not in variables:
            return found[0]
        return open_text(f"{{{name}}}", name, variables[name])

    return _NAMED.sub(fill, text)


def say(session: Session, text: str, fresh: bool) -> Session:
    """Return the session in which a prompt was said.

    Where the journal has that very prompt at this place, what was recorded behind it is
    said again, up to the next prompt. With `fresh` it is said on a new branch: from where
    it was said before on this one, else from here.
    """
    if not text.strip():
        raise UsageError("the prompt is empty; write what is to be done below the first line")
    cursor, asked = session.cursor, prompt(session.cursor, text)
    if fresh:
        return session.at(asked_again(cursor, asked))
    journal = cursor.desk.journal
    children = journal.children(cursor.head)
    said = next((each for each in children if journal[each].event == asked), None)
    if said is None:
        entry = journal.append(cursor.head, asked, {"at": cursor.desk.clock()})
        return session.at(Cursor(cursor.desk, entry.id))
    return session.at(Cursor(cursor.desk, said, _recorded(cursor.desk.journal, said)))


def _recorded(journal: Journal, said: str) -> Script:
    """Return the way from a prompt to the newest entry behind it, up to the next prompt.

    A replay that was cut off there goes on with what it had still to say.
    """
    behind = [said]
    for each in behind:
        behind += journal.children(each)
    reached = set(behind)
    newest = next(entry.id for entry in reversed([*journal]) if entry.id in reached)
    way = journal.path(newest, after=said)
    if len(told := _up_to_prompt(way)) < len(way):
        return Script(told)
    rest = left_to_say(journal, newest)
    return Script(told, then=replace(rest, entries=_up_to_prompt(rest.entries)))


def _up_to_prompt(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple(itertools.takewhile(lambda entry: not is_prompt(entry), entries))
