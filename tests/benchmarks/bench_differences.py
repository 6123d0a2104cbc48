"""How long it takes to say how two large values differ, beside one pass over them.

Every figure stands beside a copy of the value that was measured in the same run, since machines
differ. `python tests/benchmarks/bench_differences.py [ROWS]` prints a table; 1,000,000 rows
without it, and as many parts of the other values.
"""

from __future__ import annotations

import copy
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from PIL import Image

from jupyter_toolcall.compare.comparison_rows import difference_row
from jupyter_toolcall.compare.differences import in_a_line
from jupyter_toolcall.compare.values import difference
from jupyter_toolcall.core.digests import encode
from jupyter_toolcall.core.json_data import sendable_data

GOAL_MS, GOAL_BYTES = 100, 20_000
"""What a difference may take, and how much of it may be sent."""


@dataclass(frozen=True)
class Measured:
    """A difference: its time, that of a copy of the value, the bytes sent, and what it says."""

    name: str
    ms: float
    copied_ms: float
    size: int
    says: str


def spent(function: Callable[[], object]) -> float:
    """Return the milliseconds that a function took."""
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) * 1000


def columns(rows: int) -> dict[str, Any]:
    """Return columns of four kinds, half of the prices missing."""
    numbers = np.random.default_rng(1)
    prices = numbers.random(rows)
    return {
        "id": np.arange(rows),
        "price": np.where(prices > 0.5, prices, np.nan),
        "of": np.array([f"item {n % 1000}" for n in range(rows)]),
        "y": numbers.integers(0, 100, rows),
    }


def pairs(rows: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield values before and after a change."""
    made = columns(rows)
    filled = made | {"price": np.nan_to_num(made["price"])}
    keep = made["y"] > 50
    table, after = pd.DataFrame(made), pd.DataFrame(filled)
    yield "pandas, cells filled", table, after
    yield "pandas, rows filtered", table, table[keep]
    yield "pandas, rows sorted", table, table.sort_values("y")
    yield "pandas, objects", table.astype({"of": object}), after.astype({"of": object})
    yield (
        "pandas, texts as labels",
        table.assign(k=table["id"].astype(str)).set_index("k"),
        (after.assign(k=after["id"].astype(str)).set_index("k")),
    )
    yield "polars, cells filled", pl.DataFrame(made), pl.DataFrame(filled)
    yield "polars, rows filtered", pl.DataFrame(made), pl.DataFrame(made).filter(pl.Series(keep))
    yield "pyarrow, cells filled", pa.table(made), pa.table(filled)
    whole = pd.DataFrame({f"c{n}": made["y"][: rows // 10] for n in range(40)})
    wide = f"{rows // 10:,} × 40, all changed"
    yield f"pandas, {wide}", whole, whole + 1.5
    yield f"polars, {wide}", pl.DataFrame(whole), pl.DataFrame(whole + 1.5)
    arrow, later = pa.Table.from_pandas(whole), pa.Table.from_pandas(whole + 1.5)
    yield f"pyarrow, {wide}", arrow, later
    some = pl.DataFrame({name: each[: rows // 10] for name, each in made.items()})
    yield f"polars, {rows // 10:,} rows sorted", some, some.sort("y")
    grid = np.random.default_rng(2).random((4, 5 * rows))
    yield f"numpy, {20 * rows:,} numbers", grid, grid * 2
    image = Image.effect_noise((math.isqrt(20 * rows),) * 2, 90).convert("RGB")
    yield f"Pillow, {20 * rows:,} pixels", image, image.point(lambda light: light // 2)
    small = image.resize((math.isqrt(2 * rows),) * 2)
    yield f"Pillow, {2 * rows:,} pixels", small, small.point(lambda light: light // 2)
    text = "\n".join(f"line {n}" for n in range(rows // 5))
    yield f"text, {rows // 5:,} lines", text, text.replace("line 7", "row 7")
    long = "y" * (10 * rows)
    yield f"text, {10 * rows:,} characters", long, long[:-1] + "z"
    numbers = [*range(rows)]
    yield f"list, {rows:,} numbers", numbers, [-1, *numbers[1:]]
    records = [{"n": n} for n in numbers]
    yield f"list, {rows:,} records", records, [{"n": -1}, *records[1:]]
    keyed = {str(n): n for n in numbers}
    yield f"dictionary, {rows:,} keys", keyed, keyed | {"5": -1}


def measured(rows: int) -> list[Measured]:
    """Return the figures of all pairs."""
    found = []
    for name, before, after in pairs(rows):
        result = difference(before, after)
        size = len(encode(sendable_data(difference_row("a b", result))))
        ms = min(spent(partial(difference, before, after)) for _ in range(3))
        copied = spent(partial(copy.deepcopy, before))
        found.append(Measured(name, ms, copied, size, in_a_line(result)))
    return found


def main(rows: int = 1_000_000) -> None:
    """Print the table."""
    print(f"{'':<36}{'ms':>8}{'a copy':>9}{'bytes':>8}")
    for each in measured(rows):
        mark = " " if each.ms <= GOAL_MS and each.size <= GOAL_BYTES else "!"
        figures = f"{each.name:<36}{each.ms:>8.1f}{each.copied_ms:>9.1f}{each.size:>8,}{mark}"
        print(f"{figures} {each.says[:90]}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
