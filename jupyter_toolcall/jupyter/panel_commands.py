"""The commands of a person, from a panel or a line magic, applied to a session.

A command is data until it is applied. What it asks for is checked as strictly as a model's call:
the panel is only a view, and what it sends may be late, double or forged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..core.errors import NotYourTurn, UsageError
from ..engine import forks as places
from ..session.session import Session
from ..view.contract import (
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

_COMMAND: TypeAdapter[Command] = TypeAdapter(Command)


def parse_command(data: Any, more: Mapping[str, type] | None = None) -> Any:
    """Return the command that a message is: a `Command`, or one of `more`, by its `type`.

    Raises UsageError for anything else.
    """
    kind = data.get("type") if isinstance(data, Mapping) else data
    own = more.get(kind) if more and isinstance(kind, str) else None
    try:
        return (_COMMAND if own is None else TypeAdapter(own)).validate_python(data)
    except ValidationError:
        raise UsageError(f"{str(kind)[:40]!r} is no command of this panel") from None


def apply_command(session: Session, command: Command) -> Session:
    """Return the session after a command; it is recorded, nothing has run.

    Raises what `decide`, `reply`, `edit`, `fork`, `replay` and `name_branch` raise.
    """
    match command:
        case Approve(call, bound):
            return session.decide(call, "approve", bound=bound)
        case ApproveAll(calls):
            return session.approve_all({each.call: each.bound for each in calls})
        case KeepResult(call, bound, rest):
            return session.keep_result(call, bound=bound, rest=rest)
        case BeginNew():
            return session.begin_new()
        case Edit() | Reject() | Answer():
            return _decided(session, command)
        case Replay(call):
            return session.replay(call)
        case Fork(call):
            return session.fork(call)
        case Anew(turn):
            return session.fork(places.entry_before_reply(session.cursor, turn))
        case Checkout(branch):
            return session.fork(branch)
        case NameBranch(branch, name):
            return session.name_branch(name, _head(session, branch))
        case HideBranch(branch, hidden):
            head = _head(session, branch)
            return session.hide_branch(head) if hidden else session.show_branch(head)
        case Say(text, calls):
            return session.reply(text, *((call.tool, call.arguments) for call in calls))
    raise UsageError(f"{command.type!r} is for the one who runs the session")


def _head(session: Session, branch: str) -> str:
    """Return the head of a branch that a panel names: that of the shown one may have moved on."""
    on_show = any(entry.id == branch for entry in session.journal.path(session.head))
    return session.head if on_show else branch


def _decided(session: Session, command: Edit | Reject | Answer) -> Session:
    """Decide on an open call; on a call that has its result, on another branch."""
    if command.call in session.state.open:
        decide: Callable[..., Session] = session.decide
        given: dict[str, Any] = {"bound": command.bound}
    else:
        call = session.state.call(command.call)
        if command.bound != call.approval_digest:
            raise NotYourTurn(
                f"call {call.id} is {call.status} by now; look at it and decide again"
            )
        decide, given = session.decide_anew, {}
    given["reason"] = command.reason
    match command:
        case Edit(arguments=arguments):
            return decide(command.call, "edit", arguments=arguments, **given)
        case Answer(result=result):
            return decide(command.call, "answer", result=result, **given)
    return decide(command.call, "reject", **given)


def refusal(command: Any, error: Exception) -> Refused:
    """Return what a panel is sent whose command was not carried out."""
    mapping = isinstance(command, Mapping)
    kind = command.get("type", "") if mapping else getattr(command, "type", "")
    return Refused(str(kind)[:40], str(error)[:2_000], getattr(error, "fields", {}))
