"""Whether a request that failed, or whose reply was cut off, is made again, and after how long.

Every client asks through `persistent`, and a session asks each model through `uncut_reply`, so
that each wait is shown before it begins and kept after it. The sleep and the chance are passed
in; no provider is known here.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from ..core.errors import ModelError
from ..core.events import Usage
from ..core.interface_text import t
from ..schemes.messages import Attempt, Model, Reply, Request

CUT_OFF = t("the reply was too long and was cut off; nothing of it ran")


class Passing(ModelError):
    """An error that may pass by itself. `after` is the wait (s) that the API asks for."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a model is asked, and how long is waited in between (s).

    Our own wait doubles from `first` to `longest`, and is cut by up to a half at random,
    so that many who were refused at once do not come back at once. What an API asks for
    is waited for, up to `most`.
    """

    tries: int = 4
    first: float = 1
    longest: float = 16
    most: float = 60
    sleep: Callable[[float], object] = time.sleep
    chance: Callable[[], float] = random.random

    def wait(self, failed: int, after: float | None = None) -> float | None:
        """Return how long to wait, in seconds; None if the last try has failed.

        Args:
            failed: How many tries have failed.
            after: How long the API asks to wait, if it says so.
        """
        if failed >= self.tries:
            return None
        if after is not None:
            return min(max(after, 0), self.most)
        doubled = min(self.first * 2.0 ** (failed - 1), self.longest)
        return doubled * (1 - self.chance() / 2)


def persistent(
    ask: Callable[[], Reply], patience: Patience, on_wait: Callable[[str], object]
) -> Reply:
    """Return the first reply, with the attempts before it.

    Raises ModelError if there is none: at once if the error can't pass, else after the
    last try. What interrupts a wait ends it.
    """
    attempts: tuple[Attempt, ...] = ()
    while True:
        try:
            return replace(ask(), attempts=attempts)
        except Passing as error:
            problem, after = str(error), error.after
        failed = len(attempts) + 1
        wait = patience.wait(failed, after)
        # Raised here, so that nothing of the failed request hangs on it.
        if wait is None:
            raise ModelError(f"{problem} (asked {f'{failed} times' if attempts else 'once'})")
        attempts = (*attempts, Attempt(problem, round(wait, 3)))
        on_wait(_notice(problem, wait, failed + 1, patience))
        patience.sleep(wait)


def uncut_reply(
    model: Model, request: Request, on_wait: Callable[[str], object] = lambda reason: None
) -> Reply | None:
    """Return a model's reply; one that was cut off at its greatest length is asked for again.

    It is asked for as often as the model's own `patience` says, else as `Patience()` does; each
    time `request.cut_off` is one more. The last reply is returned as it is, and says that it was
    cut off. Its `usage` is that of all replies.
    """
    patience = getattr(model, "patience", None) or Patience()
    on_wait = getattr(model, "on_wait", on_wait)
    attempts: tuple[Attempt, ...] = ()
    usage: Usage | None = None
    while True:
        reply = model(request)
        if not isinstance(reply, Reply):
            return reply
        attempts = (*attempts, *reply.attempts)
        usage = reply.usage if usage is None else usage.plus(reply.usage)
        tries = request.cut_off + 1
        wait = patience.wait(tries) if reply.stop == "length" else None
        if wait is None:
            break
        attempts = (*attempts, Attempt(CUT_OFF, round(wait, 3)))
        on_wait(_notice(CUT_OFF, wait, tries + 1, patience))
        patience.sleep(wait)
        request = replace(request, cut_off=tries)
    if attempts:
        reply = replace(reply, attempts=attempts, usage=usage)
    return _with_ending(reply, tries) if reply.stop == "length" else reply


def _notice(problem: str, wait: float, number: int, patience: Patience) -> str:
    seconds = float(f"{wait:.3g}")
    return t("%1; asked again in %2 s (%3 of %4)", problem, seconds, number, patience.tries)


def _with_ending(reply: Reply, tries: int) -> Reply:
    """Return a reply that was cut off, and says so to the person."""
    ending = reply.ending or length_ending([call.tool for call in reply.calls])
    ending += f" (asked {tries} times)" if tries > 1 else ""
    full_text = "\n\n".join(filter(None, (reply.text, ending)))
    return replace(reply, ending=ending, said=full_text)


def length_ending(lost: Sequence[str]) -> str:
    """Return what a person reads of a reply that was cut off; `lost` are the tools it called."""
    calls = f" Its calls did not run: {', '.join(lost)}." if lost else ""
    return f"[The reply was longer than it may be, and ends here.{calls}]"


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that an API asks to wait, None if it does not say.

    Reads `retry-after-ms`, and `retry-after` as seconds or a date (RFC 9110, 10.2.3).
    """
    readings: tuple[tuple[str, Callable[[str], float]], ...] = (
        ("retry-after-ms", lambda text: float(text) / 1000),
        ("retry-after", float),
        ("retry-after", lambda text: max(parsedate_to_datetime(text).timestamp() - now, 0)),
    )
    for name, seconds_in in readings:
        with suppress(KeyError, ValueError, OverflowError):
            if 0 <= (seconds := seconds_in(headers[name])) < math.inf:
                return seconds
    return None


def may_pass(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether a request that met this HTTP status may be answered later.

    An API that says so itself (`x-should-retry`) is believed.
    """
    answer = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
    return answer if answer is not None else status in (408, 409, 429) or status >= 500
