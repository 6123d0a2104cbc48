"""Sessions whose journals are kept as they were written: `golden/vN/NAME.jsonl`.

python -m tests.faults.keepsakes FOLDER writes those of today's format. The versions of the tools
are fixed, since a digest of Python's code is another one with each Python.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.events import Decided, Event, Started
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.recorded_data import replace
from jupyter_toolcall.models.scripted import Item


@dataclass(frozen=True)
class Jar:
    """Something with a mass."""

    grams: int


@dataclass(frozen=True)
class Shelf:
    """Where jars stand."""

    jars: int


class Till:
    """Money."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, coins: int) -> int:
        """Put coins in."""
        self.total += coins
        return self.total


def fill(jar: Jar, grams: int) -> Jar:
    """Fill a jar."""
    return Jar(jar.grams + grams)


def split(jar: Jar) -> list[Jar]:
    """Make two of one."""
    return [Jar(jar.grams // 2), Jar(jar.grams - jar.grams // 2)]


def stack(jars: list[Jar], on: Shelf) -> Shelf:
    """Put jars on a shelf."""
    return Shelf(on.jars + len(jars))


@tool(read_only=True)
def weigh(jar: Jar) -> int:
    """Weigh a jar."""
    return jar.grams


def drop(jar: Jar) -> str:
    """Drop a jar."""
    raise RuntimeError("it broke")


def box() -> Toolbox:
    """Return the tools of all golden sessions, in versions that never change."""
    types = [Jar, Shelf]
    found = Toolbox(fill, split, stack, weigh, drop, Till(), types=types)
    return Toolbox(*(replace(each, version=lambda: "1") for each in found), types=types)


Play = Callable[[Session], object]


@dataclass(frozen=True)
class Golden:
    """A session: what the model says, how it is set up, and what the person does."""

    script: tuple[Item, ...]
    play: Play
    options: Mapping[str, Any]

    def session(self, **more: Any) -> Session:
        """Return the session, at its first pause."""
        given = {"inputs": {"jar": Jar(10), "shelf": Shelf(0)}, **self.options, **more}
        return Session(box(), self.model, **given).tell("Go.")

    @property
    def model(self) -> Scripted:
        return Scripted(self.script, name="golden")


def _decide(session: Session) -> None:
    session.decide("call_1").run()
    session.decide("call_2_1", "edit", arguments={"jar": "Jar#2", "grams": 7})
    session.decide("call_2_2", "reject", reason="too much").run()
    session.decide("call_3", "answer", result=5).run()


def _branches(session: Session) -> None:
    first = session.run()
    first.edit("call_1", grams=3).run()
    first.replay().run()
    first.fork("call_2").tell("And more.")


def _nothing(session: Session) -> None:
    session.run()


def _cut(session: Session) -> None:
    """What is written of it ends where its second call has started."""
    session.run()


FILL = ("fill", {"jar": "$Jar", "grams": 1})
GOLDEN: Mapping[str, Golden] = {
    "decided": Golden(
        (FILL, [FILL, FILL], ("fill", {"jar": "$Jar", "grams": 2}), "done"),
        _decide,
        {"scheme": "flat"},
    ),
    "branches": Golden(
        (FILL, ("weigh", {"jar": "$Jar"}), ("split", {"jar": "$Jar"}), "done", FILL, "more"),
        _branches,
        {"scheme": "flat", "approve": "all"},
    ),
    "selected": Golden(
        (
            ("selectTools", {"tools": ["fill", "stack"]}),
            FILL,
            ("stack", {"jars": ["Jar#1", "Jar#2"], "on": "$Shelf"}),
            ("save", {"full": "$Shelf"}),
            "done",
        ),
        _nothing,
        {"scheme": "select", "approve": "all", "outputs": {"full": Shelf}},
    ),
    "failed": Golden(
        (
            [("drop", {"jar": "$Jar"}), ("fill", {"jar": "Jar#9", "grams": 1}), ("nothing", {})],
            ("Till_add", {"coins": 2}),
            ("Till_add", {"coins": 3}),
            "done",
        ),
        _nothing,
        {"scheme": "flat", "approve": "all"},
    ),
    "cut": Golden((FILL, FILL, "done"), _cut, {"scheme": "flat", "approve": "all"}),
}


def text(name: str) -> str:
    """Return the journal of a golden session, as it is written today."""
    golden = GOLDEN[name]
    session = golden.session()
    golden.play(session)
    lines = session.journal.dumps().splitlines(keepends=True)
    if name != "cut":
        return "".join(lines)
    starts = [number for number, line in enumerate(lines) if '"started"' in line]
    return "".join(lines[: starts[1] + 1])


def apart_from_policy(journal: Journal) -> Iterator[Event]:
    """Yield the events without approvals of the policy: before version 2 they were decisions."""
    for entry in journal:
        match entry.event:
            case Decided(decision="approve") if entry.meta.get("by") == "policy":
                pass
            case Started() as started:
                yield replace(started, approval_digest="")
            case event:
                yield event


def write(folder: Path) -> None:
    """Write all golden sessions to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in GOLDEN:
        (folder / f"{name}.jsonl").write_text(text(name))


if __name__ == "__main__":
    # By its name, which is part of what the classes of this module are.
    importlib.import_module("tests.faults.keepsakes").write(Path(sys.argv[1]))
