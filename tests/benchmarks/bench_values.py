"""What it costs to read and to copy a value, beside a hash of as many bytes.

`python tests/benchmarks/bench_values.py [ROWS]` prints a table; tables of up to 100,000 rows
without it.
"""

from __future__ import annotations

import hashlib
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from blake3 import blake3

from jupyter_toolcall.tools.value_copies import private
from jupyter_toolcall.tools.value_digests import content_of

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
TIMES = 5
HASHES: Mapping[str, Callable[[bytes], object]] = {
    "SHA-256": hashlib.sha256,
    "BLAKE2b": hashlib.blake2b,
    "BLAKE3": blake3,
}


class Basket:
    """An object with a list."""

    def __init__(self) -> None:
        self.fruits = ["apple", "pear"]


def microseconds(function: Callable[[], object]) -> float:
    """Return the least time of some runs."""
    durations = []
    for _ in range(TIMES):
        began = time.perf_counter()
        function()
        durations.append(time.perf_counter() - began)
    return min(durations) * 1e6


def values() -> Mapping[str, Any]:
    numbers = np.random.default_rng(0)
    return {
        "an object with a list": Basket(),
        f"DataFrame {ROWS // 100:,} x 2": pd.DataFrame(numbers.random((ROWS // 100, 2))),
        f"DataFrame {ROWS:,} x 10": pd.DataFrame(numbers.random((ROWS, 10))),
        f"{ROWS:,} ints": list(range(ROWS)),
        f"{ROWS // 10:,} dicts": [{"n": n, "text": str(n)} for n in range(ROWS // 10)],
        f"array of {ROWS * 4_000 / 1e6:,.0f} MB": numbers.random(ROWS * 500),
    }


def copied_bytes(value: Any) -> int:
    """Return how much memory a read-only copy takes while it is made."""
    tracemalloc.start()
    private(value, read_only=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    print(f"{'microseconds':24}{'digest':>12}{'copy':>12}{'read-only':>12}   its memory")
    for title, value in values().items():
        read = microseconds(partial(content_of, value))
        copy = microseconds(partial(private, value))
        shared = microseconds(partial(private, value, read_only=True))
        memory = copied_bytes(value) / 1e3
        print(f"{title:24}{read:12,.0f}{copy:12,.0f}{shared:12,.0f}{memory:10,.0f} kB")
    for size in (200, ROWS * 1_000):
        durations = {
            name: microseconds(partial(hash_of, bytes(size))) for name, hash_of in HASHES.items()
        }
        figures = "   ".join(f"{name} {spent:,.1f}" for name, spent in durations.items())
        print(f"a hash of {size:,} bytes: {figures}")


if __name__ == "__main__":
    main()
