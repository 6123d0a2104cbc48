"""python -m tests.benchmarks.peers [COUNT] [ROUNDS] [PEER ...]: other systems on the same work.

Without names all peers run; this product always runs, since the ratios are to it.

Each peer has a virtual environment of its own in build/peers, made on demand with the
versions below. One process runs at a time, and a figure is the median of its rounds; the
peers take turns, so that what else the machine does hits all alike. A peer that can't be
had is named, and left out.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmarks.peers.work import WORKS, Done, Work

ROOT = Path(__file__).parents[3]
HOMES = ROOT / "build" / "peers"
LONGEST = 900
"""Seconds that one job may take."""
TITLES: Mapping[Work, str] = {
    "loop": "calls in memory",
    "durable": "calls, each step on disk before the next",
    "graph": "one call changed, on which 10 others depend",
    "chain": "one call changed, on which half of the others depend",
}


@dataclass(frozen=True)
class Peer:
    """A system, its module here, what it is installed from, and the work that it can do."""

    name: str
    module: str
    needs: tuple[str, ...] = ()
    works: tuple[Work, ...] = WORKS
    store: str = ""
    """What keeps its steps, where that is not the system itself."""


PEERS = (
    Peer("ours", "ours"),
    Peer(
        "LangGraph",
        "of_langgraph",
        (
            *("langgraph==1.2.22", "langgraph-prebuilt==1.1.2"),
            *("langgraph-checkpoint-sqlite==3.1.2", "langchain-core==1.7.2"),
        ),
    ),
    Peer("Burr", "of_burr", ("apache-burr==0.43.0", "aiosqlite")),
    Peer("joblib", "of_joblib", ("joblib==1.6.0",), ("durable", "graph", "chain")),
    Peer("DBOS", "of_dbos", ("dbos==3.4.0",), ("durable", "graph", "chain")),
    Peer(
        "pydantic-ai",
        "of_pydantic_ai",
        ("pydantic-ai-slim[dbos]==2.68.0", "dbos==3.4.0"),
        ("loop", "durable"),
        store="steps kept by its DBOS integration",
    ),
)
QUIET = {"DO_NOT_TRACK": "1", "LANGSMITH_TRACING": "false"}
"""The environment of every job: nothing is reported to anybody."""
LOOPS: tuple[Work, ...] = ("loop", "durable")
"""The works in which every call runs, so that a call has a cost and a growth."""
RISES = 2.0
"""From how much growth on a table says that the cost of a call rises."""


class Missing(Exception):
    """A peer can't be had, or can't do its work."""


def python_of(peer: Peer) -> Path:
    """Return the Python that a peer runs in. Raises Missing where it can't be installed."""
    if not peer.needs:
        return Path(sys.executable)
    home = HOMES / peer.name.lower()
    python, mark = home / "bin" / "python", home / "installed"
    if not mark.exists() or mark.read_text() != "\n".join(peer.needs):
        _run([sys.executable, "-m", "venv", "--clear", str(home)])
        _run([str(python), "-m", "pip", "install", "--quiet", *peer.needs])
        mark.write_text("\n".join(peer.needs))
    return python


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=True,
            cwd=ROOT,
            env={**os.environ, **QUIET},
        )
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines() or ["no word"]
        raise Missing(said[-1][:200]) from None
    except (subprocess.TimeoutExpired, OSError) as error:
        raise Missing(str(error)[:200]) from None
    return done.stdout


def done_by(peer: Peer, work: Work, count: int) -> Done:
    """Return what a job took a peer. Raises Missing."""
    with tempfile.TemporaryDirectory(dir=HOMES) as folder:
        module = f"{__package__}.{peer.module}"
        said = _run([str(python_of(peer)), "-m", module, work, str(count), folder])
    return Done(**json.loads(said.splitlines()[-1]))


def at_hand(peers: Iterable[Peer]) -> Iterator[Peer]:
    """Yield the peers that can be had; say of each other one why not."""
    for peer in peers:
        try:
            python_of(peer)
            yield peer
        except Missing as error:
            print(f"{peer.name} is missing: {error}")


def rounds(peers: list[Peer], work: Work, count: int, times: int) -> dict[str, list[Done]]:
    """Return what the job took each peer, round after round."""
    found: dict[str, list[Done]] = {peer.name: [] for peer in peers if work in peer.works}
    for _ in range(times):
        for peer in peers:
            try:
                if peer.name in found:
                    found[peer.name].append(done_by(peer, work, count))
            except Missing as error:
                print(f"{peer.name} is left out of {work}: {error}")
                del found[peer.name]
    return found


def median(found: list[Done]) -> Done:
    """Return the round in the middle, with the median of each time and of the growth."""
    cpu, wall = (
        statistics.median(getattr(each, name) for each in found) for name in ("cpu", "wall")
    )
    growths = [each.growth for each in found if each.growth is not None]
    return replace(
        found[0],
        cpu=cpu,
        wall=wall,
        right=all(each.right for each in found),
        growth=statistics.median(growths) if growths else None,
    )


HEAD = (
    f"{'':14}{'CPU ms':>11}{'wall ms':>11}{'ran':>7}{'CPU µs a call':>15}"
    f"{'last/first 10 %':>17}{'bytes a call':>14}{'CPU / ours':>12}"
)


def show(work: Work, count: int, found: Mapping[str, list[Done]]) -> None:
    """Print the table of one work, and what is to be known of its rows."""
    print(f"\n{count:,} {TITLES[work]}\n{HEAD}")
    middle = {name: median(each) for name, each in found.items() if each}
    ours = middle["ours"].cpu if "ours" in middle else float("nan")
    for name, done in middle.items():
        wrong = "" if done.right else "   WRONG RESULT"
        growth = f"{done.growth:.1f}" if work in LOOPS and done.growth is not None else ""
        each = f"{done.cpu / count * 1e6:.0f}" if work in LOOPS else ""
        print(
            f"{name:14}{done.cpu * 1e3:11.1f}{done.wall * 1e3:11.1f}{done.executions:7,}"
            f"{each:>15}{growth:>17}"
            f"{done.size / count:14,.0f}{done.cpu / ours:12.1f}{wrong}"
        )
    for peer in PEERS:
        if peer.name in middle:
            for note in notes(peer, work, middle[peer.name]):
                print(f"  {peer.name}: {note}")


def notes(peer: Peer, work: Work, done: Done) -> Iterator[str]:
    """Yield what is to be known of a peer's row."""
    if peer.store and work == "durable":
        yield peer.store
    if work in LOOPS and (done.growth or 0) >= RISES:
        yield "the cost of a call rises with the number of calls, so the ratio depends on COUNT"


def main() -> None:
    """Print a table for each work that one of the chosen peers can do."""
    numbers = [int(word) for word in sys.argv[1:3]]
    count, times = (*numbers, *(1_000, 3)[len(numbers) :])
    names = {"ours", *(sys.argv[3:] or [peer.name for peer in PEERS])}
    if unknown := names - {peer.name for peer in PEERS}:
        sys.exit(f"no peer {', '.join(unknown)}; there are {', '.join(p.name for p in PEERS)}")
    HOMES.mkdir(parents=True, exist_ok=True)
    peers = list(at_hand(peer for peer in PEERS if peer.name in names))
    for work in WORKS:
        if any(work in peer.works for peer in peers if peer.name != "ours"):
            show(work, count, rounds(peers, work, count, times))


if __name__ == "__main__":
    main()
