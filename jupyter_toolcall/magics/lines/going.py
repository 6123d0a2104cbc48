"""What makes a session go on: decisions on calls, and replies in the model's place."""

from __future__ import annotations

from typing import Any

from ...acts import replying
from ...errors import UsageError
from ...events import Decision
from ...printable import print_text
from ...session import Session
from .words import Commands, Result, arguments, call_and_rest, value

REST = "--rest"


def _next(session: Session, words: list[str]) -> Result:
    return session.run()


def _approve(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, words)
    if rest:
        raise UsageError(f"approve takes one call, by its number; not {' '.join(rest)!r}")
    return _decided(session, call, "approve")


def _reject(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, words)
    return _decided(session, call, "reject", reason=" ".join(rest))


def _edit(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, words)
    changes = arguments(rest)
    if call not in session.state.open:
        return session.edit(call, **changes).run()
    before = session.cursor.as_it_runs(session.state.call(call))
    return session.decide(call, "edit", arguments={**before, **changes}).run()


def _answer(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, words)
    if not rest:
        raise UsageError('an answer needs a result: answer CALL RESULT ("" is an empty text)')
    return _decided(session, call, "answer", result=value(" ".join(rest)))


def _decided(session: Session, call: str, verdict: Decision, **more: Any) -> Session:
    """A call that has its result is decided on anew: that is a branch of its own."""
    decide = session.decide if call in session.state.open else session.decide_anew
    return decide(call, verdict, **more).run()


def _keep(session: Session, words: list[str]) -> Result:
    call, rest = call_and_rest(session, [word for word in words if word != REST])
    if rest:
        raise UsageError(f"keep takes one call, by its number; not {' '.join(rest)!r}")
    return session.keep_result(call, rest=REST in words).run()


def _say(session: Session, words: list[str]) -> Result:
    return session.reply(" ".join(words)).run()


def _call_tool(session: Session, words: list[str]) -> Result:
    if not words:
        raise UsageError("call needs a tool, such as: %toolchat call Potato_slice shape=SLICES")
    tool, given = words[0], arguments(words[1:]) if words[1:] else {}
    replying.check(session.cursor, tool, given)
    return session.reply("", (tool, given)).run()


def _break(session: Session, words: list[str]) -> Result:
    desk = session.cursor.desk
    on = "--off" not in words
    for tool in (word for word in words if word != "--off"):
        desk.stop_at(tool, on)
    print_text(f"breakpoints: {', '.join(sorted(desk.stops)) or 'none'}")
    return None


COMMANDS: Commands = {
    "next": _next,
    "break": _break,
    "approve": _approve,
    "edit": _edit,
    "reject": _reject,
    "answer": _answer,
    "keep": _keep,
    "say": _say,
    "call": _call_tool,
}
HELP = """\
  next                       go on without a prompt
  break TOOL... [--off]      let all calls of a tool wait, or no longer
  approve [CALL]             let a call run
  edit [CALL] NAME=VALUE     run it with other arguments
  reject [CALL] [REASON]     don't run it; the model is told why
  answer [CALL] RESULT       give the result yourself
                             (one that has its result is decided anew, on a branch of its own)
  keep [CALL] [--rest]       keep the recorded result of a call that may have run; with --rest
                             all that is recorded after it too
  say TEXT                   reply as the model (-m person); without a call it ends the run
  call TOOL NAME=VALUE       call a tool as the model
"""
