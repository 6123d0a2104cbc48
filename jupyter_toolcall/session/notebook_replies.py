"""The recorded replies of saved sessions, for a model that replays them.

A journal records the results of calls, not the text in which the model got them; so results
are compared by their values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..core.branches import replies_beside
from ..core.call_record import CallRecord
from ..core.errors import BrokenJournal, ToolcallError, UsageError
from ..core.events import Asked, Decided, Finished, Replied
from ..core.journal import Journal
from ..core.journal_entries import Entry
from ..core.recorded_data import replace
from ..core.state import State
from ..core.state_fold import state_at
from ..models.recording_file import CallOutcome, Course, KeptMessage, Outcomes, Turn, without_raw
from ..schemes import scheme_recorded
from ..schemes.messages import Assistant, Reply, User
from ..schemes.native import Native
from ..schemes.scheme import Scheme, result_data
from ..storage.notebook_files import JoinedSessions, join_sessions, saved_sessions
from ..tools.toolbox import Toolbox

LONGEST = 10_000
"""The most characters of a result that is compared: a longer one may have been cut when sent."""
_NO_TOOLS = Toolbox()


def courses(path: Path, shown: str, part: str = "") -> tuple[Course, ...]:
    """Return the courses of a notebook's sessions, or of a journal's file: one for each branch.

    `part` is a session's name, or the number of its cell. Raises UsageError where there is none.
    """
    try:
        if path.suffix == ".ipynb":
            held = join_sessions(saved_sessions(path), shown, part)
        else:
            held = JoinedSessions(Journal.loads(path.read_text(encoding="utf-8")))
        result = tuple(filter(lambda course: course.turns, _courses(held)))
    except BrokenJournal as error:
        raise UsageError(f"{shown}: {error}") from None
    except ToolcallError as error:
        raise UsageError(f"{shown} holds no session that can be replayed: {error}") from None
    if not result:
        raise UsageError(f"{shown} holds no session with a reply in it")
    return result


def _courses(gathered: JoinedSessions) -> Iterator[Course]:
    """Yield the course of each branch that is asked for."""
    for leaf in gathered.journal.leaves():
        path = gathered.journal.path(leaf)
        if not gathered.ends or gathered.ends & {entry.id for entry in path}:
            yield _course(gathered.journal, path, path[0].id in gathered.inferred)


def _course(journal: Journal, path: Sequence[Entry], inferred: bool) -> Course:
    """Return the course of a branch."""
    course, new = Course(), list[KeptMessage]()
    for entry in path:
        state, before = state_at(journal, entry.id), state_at(journal, entry.parent)
        scheme = scheme_recorded(state.opened.scheme)
        match entry.event:
            case Asked(text):
                new.append(User(text))
            case Replied() as reply:
                turn = _turn(journal, state, before, reply)
                turn = replace(turn, number=turn.number + replies_beside(journal, entry.id))
                if isinstance(scheme, Native):
                    # Its calls stand in its text, and are read from there again.
                    turn = replace(turn, reply=replace(turn.reply, calls=(), said=None))
                course = course.then(turn, new)
                sent = Assistant(reply.text, reply.calls, reply.raw)
                new = [without_raw(scheme.speak(sent))]
            case Decided() | Finished() if before.open and not state.open:
                new.append(_outcomes(state, scheme, inferred))
    return course


def _turn(journal: Journal, state: State, before: State, reply: Replied) -> Turn:
    """Return a turn; only the tools that were new in it have their definitions."""
    new = {tool: journal.text(key) for tool, key in reply.offered.items() if tool}
    return Turn(
        number=state.turns,
        reply=Reply(
            reply.text,
            reply.calls,
            reply.stop,
            reply.usage,
            reply.raw,
            reply.thought,
            reply.said,
            ending=reply.ending,
        ),
        message_count=0,
        system=journal.text(state.sent.get("") or ""),
        tools={**dict.fromkeys(before.sent), **new},
        offered=None,
        model=state.opened.model,
    )


def _outcomes(state: State, scheme: Scheme, inferred: bool) -> Outcomes:
    scheme_tools = {tool.name for tool in scheme.offer(state, _NO_TOOLS).own}
    is_xml = isinstance(scheme, Native)
    calls = (state.calls[call_id] for call_id in state.latest)
    return Outcomes(
        tuple(
            CallOutcome(call.id, None)
            if inferred or call.tool in scheme_tools
            else _call_result(call, is_xml)
            for call in calls
        )
    )


def _call_result(call: CallRecord, is_xml: bool) -> CallOutcome:
    """Return the error of a call, and the parts of its result that a request holds unchanged."""
    data, error = result_data(call)
    data.pop("note", None)
    values = (json.dumps(value, ensure_ascii=False) for value in data.values())
    parts = call.objects if is_xml else tuple(values)
    return CallOutcome(call.id, error, tuple(part for part in parts if len(part) < LONGEST))
