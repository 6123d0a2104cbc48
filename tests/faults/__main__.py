"""python -m tests.faults [few|some|large] [PART...]: put faults into sessions, and say what broke.

Each part prints its tally as a line of JSON with --json, all of them a table without. Ends
with 1 where anything broke.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping

from tests.faults import damage, effects, failing, interrupts, kills, power, races
from tests.faults.tally import Tally, table

Part = Callable[[], Tally]
FEW = ("unmarked", "decided")
MET = (*FEW, "failing")
"""The stories that meet a disk that fails."""
SEED = 20_260_101
SIZES: Mapping[str, Mapping[str, Part]] = {
    "few": {
        "kills": lambda: kills.run(300, SEED, FEW),
        "power": lambda: power.run(400, SEED),
        # What an error is called changes the message alone.
        "failing": lambda: failing.run(MET, failing.FULL),
        "damage": lambda: damage.run(23),
        "races": lambda: races.run(40, SEED),
        "effects": lambda: effects.run(50, 40, SEED),
        "interrupts": lambda: interrupts.run(170, SEED),
    },
    "some": {
        "kills": lambda: kills.run(1_000, SEED),
        "power": lambda: power.run(1_000, SEED),
        "failing": lambda: failing.run(MET),
        "damage": lambda: damage.run(23),
        "races": lambda: races.run(40, SEED),
        "effects": lambda: effects.run(73, 40, SEED),
        "interrupts": lambda: interrupts.run(500, SEED),
    },
    "large": {
        "kills": lambda: kills.run(10_000, SEED),
        "power": lambda: power.run(8_000, SEED),
        "failing": lambda: failing.run(),
        "damage": lambda: damage.run(1),
        "races": lambda: races.run(500, SEED),
        "effects": lambda: effects.run(2_300, 60, SEED),
        "interrupts": lambda: interrupts.run(10_000, SEED),
    },
}
"""What is run for every change, what by `make test-long`, and what by `make faults`."""
PARTS = tuple(SIZES["few"])


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("size", choices=SIZES, nargs="?", default="few")
    parser.add_argument("parts", choices=[*PARTS, []], nargs="*")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(words)
    tallies = []
    for part in chosen.parts or PARTS:
        tallies.append(SIZES[chosen.size][part]())
        print(tallies[-1].dumps() if chosen.json else table(tallies[-1:]).splitlines()[1])
    broken = [each for tally in tallies for each in tally.broken]
    if not chosen.json:
        print(table(tallies))
        for each in broken[:20]:
            print(f"\n{each['law']}: {each['how']}\n  {each['case']}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
