"""What a drawing costs: milliseconds of the kernel's CPU for a call more, and how calm it is.

Sessions at random: most calls take the newest objects, some take two or three, some of these far
back. Counted are the nodes that move by more than their size when a call is added, and the
drawings that fail.

python tests/benchmarks/bench_graph.py [CALLS], 60 without it.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import median

from jupyter_toolcall.view.contract import Rows
from jupyter_toolcall.view.contract_rows import CallRow, ObjectRow, Use
from jupyter_toolcall.view.graph import graph_row
from jupyter_toolcall.view.graph_rows import GraphRow

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 60
ADDED, SESSIONS = 12, 400
GOAL = 30.0
"""Milliseconds for a call that is added to 60."""


def session(seed: int, count: int) -> Rows:
    """Return the rows of a session of so many calls."""
    rng = random.Random(seed)
    objects = [ObjectRow(f"in{n}", f"Table#{n + 1}", "Table", role="input") for n in range(3)]
    calls = []
    for step in range(1, count + 1):
        near, far = objects[-4:], objects
        taken = {rng.choice(near).id: None}
        for _ in range(rng.choices((0, 1, 2), (70, 22, 8))[0]):
            taken[rng.choice(near if rng.random() < 0.7 else far).id] = None
        uses = tuple(Use(f"argument_{n}", key) for n, key in enumerate(taken))
        makes = rng.choices((0, 1, 2), (20, 72, 8))[0]
        for n in range(makes):
            key = f"c{step}.{n}"
            name = f"Table#{len(objects) + 1}"
            objects.append(ObjectRow(key, name, "Table", step=step, call=f"c{step}"))
        made = f"c{step}.0" if makes else ""
        key = f"c{step}"
        call = CallRow(key, key, "clean", step, step, "succeeded", uses=uses, object=made)
        calls.append(call if makes else replace(call, tool="mean", result=str(rng.random())))
    return Rows(calls=tuple(calls), objects=tuple(objects))


def moved(before: GraphRow, after: GraphRow) -> Iterator[bool]:
    """Yield for each node of both drawings whether it moved by more than its size."""
    places = {(node.kind, node.row): (node.x, node.y) for node in before.nodes}
    for node in after.nodes:
        if (place := places.get((node.kind, node.row))) is not None:
            x, y = node.x - place[0], node.y - place[1]
            yield abs(x) > node.width or abs(y) > node.height


def main() -> None:
    """Print the figures."""
    times, moves = [], list[bool]()
    for seed in range(8):
        rows = session(seed, CALLS + ADDED)
        drawings = []
        for until in range(CALLS, CALLS + ADDED + 1):
            began = time.process_time()
            drawings.append(graph_row(rows, until))
            times.append(1e3 * (time.process_time() - began))
        for before, after in pairwise(drawings):
            moves += moved(before, after)
    count = SESSIONS if CALLS >= 60 else 20
    errors = sum(bool(graph_row(session(seed, CALLS)).error) for seed in range(count))
    print(f"a call more after {CALLS}: {median(times):.1f} ms of CPU (goal {GOAL:.0f})")
    print(f"the slowest: {max(times):.1f} ms")
    print(f"nodes that move by more than their size: {100 * sum(moves) / len(moves):.0f} %")
    print(f"drawings that failed: {errors} of {count}")


if __name__ == "__main__":
    main()
