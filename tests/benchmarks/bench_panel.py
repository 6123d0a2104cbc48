"""What a panel and a notebook cost: bytes an append, time an append, bytes a call saved.

python tests/benchmarks/bench_panel.py
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.panel.driving import Drive
from jupyter_toolcall.rows.contract import Notice
from jupyter_toolcall.rows.wire import packed
from jupyter_toolcall.view.saving import MIME, bundle


@dataclass(frozen=True)
class Bead:
    """One more object on the string."""

    number: int

    def next(self) -> Bead:
        """Return the bead after this one."""
        return Bead(self.number + 1)


def string(count: int) -> Session:
    """Return a session that will make so many objects, one a turn."""
    script = Scripted([("Bead_next", {})] * count)
    box = Toolbox(Bead)
    inputs = {"bead": Bead(0)}
    return Session(box, script, scheme="flat", inputs=inputs, approve="all").ask("Go on.")


def appended(count: int) -> tuple[float, float]:
    """Return bytes and microseconds of the panel's traffic a call, at the end of a session."""
    sizes: list[int] = []

    def tell(notice: Notice) -> None:
        sizes.append(len(json.dumps(packed(notice))))

    drive = Drive(string(count), tell)
    drive.greet()
    asyncio.run(drive.drive())
    began = time.process_time()
    for _ in range(200):
        drive.publish("running")
    return sum(sizes[1:]) / count, (time.process_time() - began) / 200 * 1e6


def saved(count: int) -> tuple[float, float, float]:
    """Return bytes a call of the MIME data, bytes of the SVG, and seconds to make both."""
    session = string(count).run()
    root = session.journal.path(session.head)[0].id
    began = time.process_time()
    made = bundle(session.cursor, Drive(session, lambda notice: None).whole(), root)
    spent = time.process_time() - began
    return len(json.dumps(made[MIME])) / count, len(made["image/svg+xml"]), spent


def main() -> None:
    print("  calls  B an append  µs a publish  MIME B/call     SVG B      s")
    for count in (100, 1_000, 5_000):
        size, spent = appended(count)
        mime, svg, seconds = saved(count)
        print(f"{count:7} {size:12.0f} {spent:13.0f} {mime:12.0f} {svg:9.0f} {seconds:6.2f}")


if __name__ == "__main__":
    main()
