"""Real signals (SIGINT) at random instants of a run, in the main thread as in a kernel.

After each of them the streams and the handler are the process's own again, memory and disk have
the same entries, also of a session that a tool runs, every call that began has its end on
record, and each session continues without a second effect.
"""

from __future__ import annotations

import itertools
import random
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.models.scripted import Item
from jupyter_toolcall.storage.journal_file import open_journal
from jupyter_toolcall.storage.signatures import signer
from tests.faults import laws
from tests.faults.laws import Broken
from tests.faults.places import data_directory
from tests.faults.tally import Tally, cpu

SCRIPT = (("send", {"n": 1}), [("send", {"n": 2}), ("fetch", {"n": 3}), ("nest", {"n": 4})], "done")
INNER = (("send", {"n": 5}), "done")
AGAIN = 0.000_05
"""Seconds between the two signals of a person who interrupts twice."""
EVERY = 3
"""Every so many cases the person interrupts twice."""


@dataclass
class World:
    """The tools of a case, what they did, and the journals of the sessions."""

    folder: Path
    number: int
    effects: Counter[int] = field(default_factory=Counter)
    ended: Counter[int] = field(default_factory=Counter)
    sessions: list[tuple[Session, Path]] = field(default_factory=list)
    closes: list[Callable[[], object]] = field(default_factory=list)

    def session(self, box: Toolbox, script: Sequence[Item]) -> Session:
        """Return a session with a journal of its own on disk."""
        path = self.folder / f"{self.number}-{len(self.sessions)}.jsonl"
        kept = open_journal(path, signer(self.folder))
        self.closes.append(kept.close)
        model = Scripted(script)
        session = Session(box, model, scheme="flat", approve="all", journal=kept.journal)
        self.sessions.append((session.ask("Go."), path))
        return session

    def toolbox(self) -> Toolbox:
        """Return tools that print, have an effect, and note both its beginning and its end."""

        def effect(n: int) -> None:
            self.effects[n] += 1
            self.ended[n] += 1

        def send(n: int) -> str:
            """Send."""
            print("sends")
            effect(n)
            return f"sent {n}"

        async def fetch(n: int) -> str:
            """Fetch."""
            print("fetches", file=sys.stderr)
            effect(n)
            return f"fetched {n}"

        def nest(n: int) -> str:
            """Run a session of its own."""
            self.session(Toolbox(send), INNER).run()
            effect(n)
            return f"nested {n}"

        return Toolbox(send, fetch, nest)

    def close(self) -> None:
        for close in self.closes:
            close()
        for path in self.folder.glob(f"{self.number}-*"):
            path.unlink()


class Signals:
    """Sends SIGINT to this process after a time, once or more often."""

    def __init__(self) -> None:
        self.left = 0

    def __call__(self, *_: object) -> None:
        # The system may give a signal to a thread that runs later: then the case is over.
        if self.left > 0:
            self.left -= 1
            signal.raise_signal(signal.SIGINT)

    def interrupted(self, run: Callable[[], object], delay: float, times: int) -> bool:
        """Run something that is interrupted so often; return whether it ended by that."""
        hit, self.left = False, times
        try:
            signal.setitimer(signal.ITIMER_REAL, delay, AGAIN)
            run()
        except KeyboardInterrupt:
            hit = True
        while True:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                self.left = 0
                return hit
            except KeyboardInterrupt:
                hit = True


def case(world: World, signals: Signals, delay: float, times: int) -> tuple[bool, list[Broken]]:
    """Return whether a signal interrupted a session, and what does not hold after it."""
    session = world.session(world.toolbox(), SCRIPT)
    streams, handler = (sys.stdout, sys.stderr), signal.getsignal(signal.SIGINT)
    hit = signals.interrupted(session.run, delay, times)
    broken = [*_after(world, streams, handler)]
    sys.stdout, sys.stderr = streams
    signal.signal(signal.SIGINT, handler)
    for each, path in world.sessions:
        broken += _continues(each, path)
    broken += [Broken("duplicate effect", f"{n}: {t}") for n, t in world.effects.items() if t > 1]
    world.close()
    return hit, broken


def _after(world: World, streams: tuple[object, object], handler: object) -> Iterator[Broken]:
    if (sys.stdout, sys.stderr) != streams:
        yield Broken("streams", f"{sys.stdout!r}, {sys.stderr!r}")
    if signal.getsignal(signal.SIGINT) is not handler:
        yield Broken("handler", repr(signal.getsignal(signal.SIGINT)))
    for session, path in world.sessions:
        yield from laws.same(session.journal, path.read_text(), session.head)
        if (session.head,) != session.journal.leaves():
            yield Broken("head", "the session is not where its journal ends")
        for call in session.calls:
            if call.status == "unknown":
                ended = world.ended[call.arguments["n"]]
                yield Broken("lost result" if ended else "unknown", f"{call.id}, ended: {ended}")


def _continues(session: Session, path: Path) -> Iterator[Broken]:
    """Go on to the end; yield what a person is asked in vain, and what is not on disk then."""
    while session.state.open or session.text != "done":
        session.run()
        for call in session.pending:
            yield Broken("asked in vain", f"{call.id} is {call.status}")
            session.decide(call, "reject")
    yield from laws.same(session.journal, path.read_text(), session.head)


def _took(folder: Path) -> float:
    """Return how many seconds an undisturbed run takes on this machine now."""
    world = World(folder, 0)
    session, began = world.session(world.toolbox(), SCRIPT), time.perf_counter()
    session.run()
    took = time.perf_counter() - began
    world.close()
    return took


def run(cases: int, seed: int) -> Tally:
    """Return the outcomes of so many runs that a signal interrupted, anywhere in them."""
    tally, began, chance, signals = Tally("interrupts"), cpu(), random.Random(seed), Signals()
    before = signal.signal(signal.SIGALRM, signals)
    with data_directory() as folder, warnings.catch_warnings():
        # An async tool that is interrupted before it begins is never awaited.
        warnings.simplefilter("ignore", RuntimeWarning)
        longest = median(_took(folder) for _ in range(20))
        for at in itertools.count(1):
            if tally.cases >= cases:
                break
            times, delay = 1 + (at % EVERY == 0), chance.uniform(0.0, longest)
            hit, broken = case(World(folder, at), signals, delay, times)
            if hit or broken:
                tally.add(f"{times} signals after {delay * 1e6:.0f} µs, case {at}", broken)
    signal.signal(signal.SIGALRM, before)
    tally.seconds = cpu() - began
    return tally
