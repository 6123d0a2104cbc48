"""The prompt of a cell: its names filled in, and its place among the prompts of the session."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from ..core.branches import is_prompt, shown_last
from ..core.errors import UsageError
from ..core.events import Asked
from ..core.journal import Journal
from ..core.journal_entries import Entry
from ..core.recorded_data import replace
from ..core.text import nearest_name
from ..engine.cursor import Cursor
from ..engine.forks import unfinished_replay
from ..engine.prompts import continue_conversation, prompt_event, repeat_prompt
from ..engine.replay_queue import ReplayQueue
from ..session.session import Session
from ..tools.table_classes import may_quote_cells
from .options import Variables, text_without_secrets

MISTYPED = (
    "no object or variable `{0}`. Did you mean {{{1}}}? Write {{{{{0}}}}} to send it as text."
)


IPYTHON = ("In", "Out", "exit", "get_ipython", "open", "quit")
"""Variables that nobody made: no name is taken for a slip of them."""


def filled_prompt(text: str, session: Session, variables: Variables) -> str:
    """Return a prompt in which `{name}` is an object's name or a variable's text.

    An input that is plain data is its text too. What is near no name stays as it is, and so
    does all between double braces. Raises UsageError for a secret, and for a name that looks
    mistyped.
    """
    inputs, plain = session.state.inputs, session.state.plain

    def fill(marker: re.Match[str]) -> str:
        name = marker[1]
        if not name:
            return marker[0]
        if inputs.get(name) and inputs[name] not in plain:
            return str(inputs[name])
        if name in inputs and name not in variables:
            return text_without_secrets(marker[0], name, session[inputs[name]])
        if name in variables:
            value = variables[name]
            # What a model is sent of a table is for the session to say.
            text = session.cursor.context.content_text(value) if may_quote_cells(value) else value
            return text_without_secrets(marker[0], name, text)
        names = (n for n in (*inputs, *variables) if n[:1] != "_" and n not in IPYTHON)
        # A single letter is an index or a formula, not a slip.
        if len(name) > 1 and (close := nearest_name(name, names)):
            raise UsageError(MISTYPED.format(name, close))
        return marker[0]

    return re.sub(r"\{\{[A-Za-z_]\w*\}\}|\{([A-Za-z_]\w*)\}", fill, text)


def add_prompt(session: Session, text: str, fresh: bool) -> Session:
    """Return the session with a prompt.

    Where the journal has that prompt at this point, what was recorded last after it is
    replayed, up to the next prompt. With `fresh` it is asked on a new branch: from where
    it was asked before on this one, else from the head.
    """
    if not text.strip():
        raise UsageError("the prompt is empty; write what is to be done below the first line")
    cursor, asked = session.cursor, prompt_event(session.cursor, text)
    if fresh:
        return session.at(repeat_prompt(cursor, asked))
    context, journal = cursor.context, cursor.context.journal
    if same := [*_same_prompts(journal, cursor.head, asked)]:
        prompt, recorded = _recorded_last(journal, same)
        return session.at(Cursor(context, prompt, recorded))
    continue_conversation(cursor)
    entry = journal.append(cursor.head, asked, {"at": context.clock()})
    return session.at(Cursor(context, entry.id))


def _same_prompts(journal: Journal, head: str, asked: Asked) -> Iterator[str]:
    """Yield the entries after a head that ask the same, for the first time or once more."""
    for child in journal.children(head):
        event = journal[child].event
        if isinstance(event, Asked) and replace(event, again=0) == asked:
            yield child


def _recorded_last(journal: Journal, prompts: Sequence[str]) -> tuple[str, ReplayQueue]:
    """Return the prompt, of some, that what was shown last comes from, and the entries from it to
    there, up to the next prompt.

    A replay that was interrupted there continues with what it had still to replay.
    """
    after = [*prompts]
    for entry_id in after:
        after += journal.children(entry_id)
    answered = set(after[len(prompts) :])
    # Of a prompt that was asked again and not answered there is nothing to replay.
    newest = shown_last(journal, answered or prompts[:1])
    prompt = next(e.id for e in reversed(journal.path(newest)) if e.id in prompts)
    path = journal.path(newest, after=prompt)
    if len(entries := _up_to_prompt(path)) < len(path):
        return prompt, ReplayQueue(entries)
    following = unfinished_replay(journal, newest)
    following = replace(following, entries=_up_to_prompt(following.entries))
    return prompt, ReplayQueue(entries, following=following)


def _up_to_prompt(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple(itertools.takewhile(lambda entry: not is_prompt(entry), entries))
