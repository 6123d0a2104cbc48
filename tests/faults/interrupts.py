"""Real signals (SIGINT) at random instants of a run, in the main thread as in a kernel.

After each of them the streams are the process's own again, memory and disk have the same
entries, each tool that had its effect has its end on record, and the session continues.
"""

from __future__ import annotations

import itertools
import random
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.journal.disk import open_journal
from jupyter_toolcall.journal.seal import sealing
from tests.faults import laws
from tests.faults.laws import Broken
from tests.faults.places import data_directory
from tests.faults.tally import Tally, cpu

SCRIPT = (("send", {"n": 1}), [("send", {"n": 2}), ("fetch", {"n": 3})], "done")
LONGEST = 0.002
"""Seconds after which a signal comes at the latest: about as long as a whole run takes."""


def toolbox(effects: Counter[int], ended: Counter[int]) -> Toolbox:
    """Return tools that print, have an effect, and note both its beginning and its end."""

    def send(n: int) -> str:
        """Send."""
        print("sends")
        effects[n] += 1
        ended[n] += 1
        return f"sent {n}"

    async def fetch(n: int) -> str:
        """Fetch."""
        print("fetches", file=sys.stderr)
        effects[n] += 1
        ended[n] += 1
        return f"fetched {n}"

    return Toolbox(send, fetch)


def with_signal(run: Callable[[], object], delay: float) -> bool:
    """Run something, with a signal after so many seconds; return whether it was interrupted."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            run()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False


def case(folder: Path, number: int, chance: random.Random) -> tuple[bool, list[Broken]]:
    """Return whether a signal interrupted a session, and what does not hold after it."""
    effects: Counter[int] = Counter()
    ended: Counter[int] = Counter()
    path = folder / f"{number}.jsonl"
    kept = open_journal(path, sealing(folder))
    box, model = toolbox(effects, ended), Scripted(SCRIPT)
    session = Session(box, model, scheme="flat", approve="all", journal=kept.journal).ask("Go.")
    streams = sys.stdout, sys.stderr
    hit = with_signal(session.run, chance.uniform(0.0, LONGEST))
    broken = [*_after(session, path, streams, ended)]
    sys.stdout, sys.stderr = streams
    while session.state.open or session.text != "done":
        session.run()
        for call in session.pending:
            broken.append(Broken("asked in vain", f"{call.id} is {call.status}"))
            session.decide(call, "reject")
    broken += [Broken("duplicate effect", f"{n}: {t}") for n, t in effects.items() if t > 1]
    kept.close()
    path.unlink()
    return hit, broken


def _after(
    session: Session, path: Path, streams: tuple[object, object], ended: Counter[int]
) -> Iterator[Broken]:
    if (sys.stdout, sys.stderr) != streams:
        yield Broken("streams", f"{sys.stdout!r}, {sys.stderr!r}")
    yield from laws.same(session.journal, path.read_text(), session.head)
    for call in session.calls:
        if call.status == "unknown" and ended[call.arguments["n"]]:
            yield Broken("lost end", f"{call.id} ended, and is {call.status}")


def run(cases: int, number: int) -> Tally:
    """Return what came of so many runs, of which almost each is interrupted."""
    tally, began, chance = Tally("interrupts"), cpu(), random.Random(number)
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    with data_directory() as folder, warnings.catch_warnings():
        # An async tool that is interrupted before it begins is never awaited.
        warnings.simplefilter("ignore", RuntimeWarning)
        for at in itertools.count():
            if tally.cases >= cases:
                break
            hit, broken = case(folder, at, chance)
            if hit or broken:
                tally.add(f"signal {at}", broken)
    signal.signal(signal.SIGALRM, before)
    tally.seconds = cpu() - began
    return tally
