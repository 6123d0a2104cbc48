"""The person's hand: commands from a panel or a line magic, carried out on a session.

A command is data until `obey`. What it asks for is checked as strictly as a model's call:
the panel is only a view, and what it sends may be late, double or forged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..acts import places
from ..errors import NotYourTurn, UsageError
from ..rows.contract import (
    Anew,
    Answer,
    Approve,
    ApproveAll,
    BeginNew,
    Checkout,
    Command,
    Edit,
    Fork,
    HideBranch,
    KeepResult,
    NameBranch,
    Refused,
    Reject,
    Replay,
    Say,
)
from ..session import Session

_COMMAND: TypeAdapter[Command] = TypeAdapter(Command)


def command(data: Any) -> Command:
    """Return the command that a message is. Raises UsageError for what is none."""
    try:
        return _COMMAND.validate_python(data)
    except ValidationError:
        kind = data.get("type") if isinstance(data, Mapping) else data
        raise UsageError(f"{str(kind)[:40]!r} is no command of this panel") from None


def obey(session: Session, wish: Command) -> Session:
    """Return the session in which a command was carried out; it is recorded, nothing has run.

    Raises what `decide`, `reply`, `edit`, `fork`, `replay` and `name_branch` raise.
    """
    match wish:
        case Approve(call, bound):
            return session.decide(call, "approve", bound=bound)
        case ApproveAll(calls):
            return session.approve_all({each.call: each.bound for each in calls})
        case KeepResult(call, bound, rest):
            return session.keep_result(call, bound=bound, rest=rest)
        case BeginNew():
            return session.begin_new()
        case Edit(call, arguments, bound, reason) if _open(session, call):
            return session.decide(call, "edit", arguments=arguments, reason=reason, bound=bound)
        case Reject(call, bound, reason) if _open(session, call):
            return session.decide(call, "reject", reason=reason, bound=bound)
        case Answer(call, result, bound, reason) if _open(session, call):
            return session.decide(call, "answer", result=result, reason=reason, bound=bound)
        case Edit(call) | Reject(call) | Answer(call):
            return _decide_anew(session, wish)
        case Replay(call):
            return session.replay(call)
        case Fork(call):
            return session.fork(call)
        case Anew(turn):
            return session.fork(places.before_reply(session.cursor, turn))
        case Checkout(branch):
            return session.fork(branch)
        case NameBranch(branch, name):
            return session.name_branch(name, _head(session, branch))
        case HideBranch(branch, hidden):
            head = _head(session, branch)
            return session.hide_branch(head) if hidden else session.show_branch(head)
        case Say(text, calls):
            return session.reply(text, *((call.tool, call.arguments) for call in calls))
    raise UsageError(f"{wish.type!r} is for the one who runs the session")


def _head(session: Session, branch: str) -> str:
    """Return the head of a branch that a panel names: that of the shown one may have moved on."""
    on_show = any(entry.id == branch for entry in session.journal.path(session.head))
    return session.head if on_show else branch


def _open(session: Session, call: str) -> bool:
    return call in session.state.open


def _decide_anew(session: Session, wish: Edit | Reject | Answer) -> Session:
    """A decision on a call that has its result is the start of another branch."""
    call = session.state.call(wish.call)
    if wish.bound != call.bound:
        raise NotYourTurn(f"call {call.id} is {call.status} by now; look at it and decide again")
    match wish:
        case Edit(arguments=arguments, reason=reason):
            return session.decide_anew(call, "edit", arguments=arguments, reason=reason)
        case Answer(result=result, reason=reason):
            return session.decide_anew(call, "answer", result=result, reason=reason)
    return session.decide_anew(call, "reject", reason=wish.reason)


def refusal(wish: Any, error: Exception) -> Refused:
    """Return what a panel is told whose command was not carried out."""
    kind = wish.get("type", "") if isinstance(wish, Mapping) else getattr(wish, "type", "")
    return Refused(str(kind)[:40], str(error)[:2_000], getattr(error, "fields", {}))
