"""Whether a request that failed is made again, and after how long.

Every client asks through `persistent`, so that each wait is shown before it begins and
kept after it. The sleep and the chance are passed in; no provider is known here.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from ..core.errors import ModelError
from ..schemes.messages import Attempt, Reply


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
        """Return how long to wait after so many failures; None if that was the last."""
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
        on_wait(f"{problem}; asked again in {wait:.3g} s ({failed + 1} of {patience.tries})")
        patience.sleep(wait)


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that an API asks to wait, None if it does not say.

    Reads `retry-after-ms`, and `retry-after` as seconds or a date (RFC 9110, 10.2.3).
    """
    ms = _seconds(headers.get("retry-after-ms"))
    if ms is not None:
        return ms / 1000
    text = headers.get("retry-after")
    seconds = _seconds(text)
    if seconds is not None or text is None:
        return seconds
    try:
        return max(parsedate_to_datetime(text).timestamp() - now, 0)
    except (ValueError, OverflowError):
        return None


def may_pass(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether a request that met this HTTP status may be answered later.

    An API that says so itself (`x-should-retry`) is believed.
    """
    own = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
    return own if own is not None else status in (408, 409, 429) or status >= 500


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
