"""What a panel and a notebook cost: bytes an append, time an append, bytes a call saved.

And what many calls in one reply cost, beside as many replies of one call.

python tests/benchmarks/bench_panel.py [CALLS], 8,000 without it.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import time
from dataclasses import dataclass

from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.storage.notebook_files import MIME
from jupyter_toolcall.view.contract import Notice
from jupyter_toolcall.view.saved_output import mime_bundle
from tests.benchmarks.workload import spent, steps, string

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 8_000
PATIENCE = 30.0
"""Seconds of CPU: what is expected to take longer is estimated from smaller runs."""
GOAL_REPLY = 1.2
"""How many times as much as in replies of their own calls in one reply may cost."""


def appended(count: int) -> tuple[float, float]:
    """Return bytes and microseconds of the panel's traffic a call, at the end of a session."""
    sizes: list[int] = []

    def tell(notice: Notice) -> None:
        sizes.append(len(json.dumps(sendable_data(notice))))

    drive = PanelController(string(count), tell)
    drive.greet()
    asyncio.run(drive.run())
    began = time.process_time()
    for _ in range(200):
        drive.publish("running")
    return sum(sizes[1:]) / count, (time.process_time() - began) / 200 * 1e6


def saved(count: int) -> tuple[float, float, float]:
    """Return bytes a call of the MIME data, bytes of the SVG, and seconds to make both."""
    session = string(count).run()
    root = session.journal.path(session.head)[0].id
    began = time.process_time()
    made = mime_bundle(session.cursor, PanelController(session, lambda notice: None).whole(), root)
    took = time.process_time() - began
    return len(json.dumps(made[MIME])) / count, len(made["image/svg+xml"]), took


def seconds(count: int, together: bool, panel: bool) -> float:
    """Return the seconds of CPU that so many calls take, with a panel or without one."""
    session = steps(count, together=together)
    if not panel:
        return spent(session.run).cpu
    controller = PanelController(session, send=lambda notice: None)
    return spent(lambda: asyncio.run(controller.run())).cpu


@dataclass(frozen=True)
class Cost:
    """What CALLS calls take in seconds of CPU, and from how many calls that was estimated."""

    seconds: float
    estimated_from: int = 0


def cost(together: bool, panel: bool) -> Cost:
    """Return what CALLS calls take. Where it would take too long, it is estimated.

    The estimate takes the growth from half as many calls to the largest number that was run
    to be the same for each further doubling.
    """
    count = max(CALLS // 32, 2)
    before, took = seconds(count // 2, together, panel), seconds(count, together, panel)
    while count < CALLS:
        growth = took / before
        if took * growth > PATIENCE:
            return Cost(took * growth ** math.log2(CALLS / count), count)
        count *= 2
        before, took = took, seconds(count, together, panel)
    return Cost(took)


def replies() -> None:
    for panel in (False, True):
        where = "with a panel" if panel else "without one"
        single, together = cost(together=False, panel=panel), cost(together=True, panel=panel)
        for title, each in (("one a reply", single), ("in one reply", together)):
            how = f"   ESTIMATED from {each.estimated_from:,} calls" if each.estimated_from else ""
            print(
                f"{CALLS:,} calls {title:<12} {where:<12} {each.seconds:9.2f} s CPU"
                f" {each.seconds / CALLS * 1e6:9.0f} µs a call{how}"
            )
        ratio = together.seconds / single.seconds
        print(f"in one reply / one a reply, {where:<12} {ratio:9.2f}   goal {GOAL_REPLY}")


def main() -> None:
    print("  calls  B an append  µs a publish  MIME B/call     SVG B      s")
    for count in (max(CALLS // 64, 1), max(CALLS // 8, 1), max(CALLS * 5 // 8, 1)):
        size, published = appended(count)
        mime, svg, took = saved(count)
        print(f"{count:7} {size:12.0f} {published:13.0f} {mime:12.0f} {svg:9.0f} {took:6.2f}")
    replies()


if __name__ == "__main__":
    main()
