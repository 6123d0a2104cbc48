"""Other branches: replays, forks, and the way from one branch to another."""

from __future__ import annotations

from ..errors import UsageError
from ..session import Session
from .words import Commands, Result, call_named


def _replay(session: Session, words: list[str]) -> Result:
    places = [word for word in words if word != "--fresh"]
    at = call_named(session, places[0]) if places else None
    return session.replay(at, fresh="--fresh" in words).run()


def _fork(session: Session, words: list[str]) -> Result:
    return session.fork(call_named(session, words[0]) if words else None)


def _checkout(session: Session, words: list[str]) -> Result:
    if not words:
        for head in session.branches:
            print(head)
        return None
    found = [head for head in session.branches if head.startswith(words[0])]
    if len(found) != 1:
        raise UsageError(f"{words[0]!r} names {len(found)} branches; %toolchat checkout lists them")
    return session.checkout(found[0])


COMMANDS: Commands = {"replay": _replay, "fork": _fork, "checkout": _checkout}
HELP = """\
  replay [CALL] [--fresh]    say it all again, from memory where nothing changed
  fork [CALL]                go on from behind a call
  checkout [BRANCH]          list the branches, or go to one
"""
