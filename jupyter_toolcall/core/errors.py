"""The errors that several packages raise on purpose, and checks of what a person passes.

Each message is for the person who reads it: what was wrong, where, what is allowed,
what to do. In a notebook an error is its message alone, without a traceback.

* ToolcallError
  + DefinitionError   a tool, a type or a toolbox cannot be made from what was given
  + UsageError        a name, an option or an argument is wrong
  + CallError         a call cannot run as it was asked for: the model gets the error
    + NotRun          an executor did not run it
  + Absent            the value of an object is not in this kernel: a replay makes it again
    + Lost            it stayed on a cluster, which has lost it
  + NotYourTurn       a decision or a result came for a call that does not wait for it
  + UnknownEntry      a journal has no such entry
  + BrokenJournal     a journal does not fit its own digests
    + UnknownFormat   another version of this package wrote it
  + UnreadableJournal  a session's journal is on this computer and cannot be read
  + NotKept           what allows an effect can't be written down, so nothing ran
  + ModelError        a model could not answer; the session can continue
  + Unfinished        a session stopped before it had what was asked of it
  + Stopped           a person stopped it; it can continue
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from .text import LINES, printable

F = TypeVar("F", bound=Callable[..., Any])


class ToolcallError(Exception):
    """Base class of the errors that this package raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines in place of a traceback."""
        return [f"toolchat: {printable(str(self), LINES)}"]


class DefinitionError(ToolcallError):
    """A tool, a type or a toolbox cannot be made from what was given."""


class UsageError(ToolcallError):
    """A name, an option or an argument is wrong."""


class CallError(ToolcallError):
    """A call cannot run as it was asked for. `fields` says which arguments, and why."""

    def __init__(self, message: str, fields: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.fields = fields or {}


class NotRun(CallError):
    """A call never reached its tool: its executor or its worker does not take it."""


class Absent(ToolcallError):
    """The value of an object is not in this kernel; a replay makes it again."""


class Lost(Absent):
    """The value of an object stayed on a cluster, which has lost it."""


class NotYourTurn(ToolcallError):
    """A decision or a result came for a call that does not wait for it."""


class UnknownEntry(ToolcallError):
    """A journal has no such entry."""


class BrokenJournal(ToolcallError):
    """A journal does not fit its own digests."""


class UnknownFormat(BrokenJournal):
    """Another version of this package wrote a journal."""


class UnreadableJournal(ToolcallError):
    """A session's journal is on this computer and cannot be read: its calls may have run."""


class NotKept(ToolcallError):
    """What allows an effect can't be written down, so nothing ran; it can be tried again."""


class ModelError(ToolcallError):
    """A model could not answer."""


class Unfinished(ToolcallError):
    """A session stopped before it had what was asked of it."""


class Stopped(ToolcallError):
    """A person stopped a session."""


def checked_text(text: object, what: str) -> str:
    """Return a text as it is. Raises UsageError, which begins with `what`, for anything else.

    A journal with anything else in the place of a text could not be read again.
    """
    if not isinstance(text, str):
        raise UsageError(f"{what} is {text!r:.60}, which is no text")
    return text


def checked_function(function: F, what: str, *parameters: str) -> F:
    """Return a function. Raises UsageError, which begins with `what`, if it takes other parameters.

    A function of another language, such as C, may have no signature; it is not checked.
    """
    with suppress(ValueError):
        try:
            inspect.signature(function).bind(*parameters)
        except TypeError as error:
            takes = f"has to take ({', '.join(parameters)})"
            raise UsageError(f"{what} {function!r:.60} {takes}: {error}") from None
    return function


def checked_path(path: object) -> Path:
    """Return the path of a file. Raises UsageError for what no file can be named."""
    if isinstance(path, str | os.PathLike) and "\0" not in os.fspath(path):
        with suppress(UnicodeEncodeError):
            os.fsencode(path)
            return Path(path)
    raise UsageError(f"{path!r:.60} is no path of a file")
