"""What it costs to make tools, and what tools cost in a prompt and in a call.

Every figure stands beside one that was measured in the same run, since machines differ.
`python tests/benchmarks/bench_sources.py [CALLS]` prints a table; 1,000 calls without it, half as
many functions, and schemas of 4 and 6 times as many fields. Dagger's schema is looked for beside
the repository, or where JUPYTER_TOOLCALL_DAGGER_SCHEMA says; without it the larger generated
one stands in.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from graphql import build_client_schema, build_schema, introspection_from_schema
from pydantic import TypeAdapter

from jupyter_toolcall import Scripted, Session, Toolbox, from_graphql
from jupyter_toolcall.schemes import SCHEMES
from tests.standin.graphql_schemas import forge

ROOT = Path(__file__).parents[2]
FILE = Path(
    os.environ.get("JUPYTER_TOOLCALL_DAGGER_SCHEMA")
    or ROOT.parent / "shared" / "data" / "dagger-2025-04.graphqls"
)
CHARACTERS = 4
"""Of JSON and English in one token, roughly."""
CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000


def spent(function: Callable[[], object], times: int = 15) -> float:
    """Return the seconds of CPU that a function takes at best."""
    found = []
    for _ in range(times):
        began = time.process_time()
        function()
        found.append(time.process_time() - began)
    return min(found)


def schemas() -> dict[str, str]:
    """Return the schemas that are measured, Dagger's last if it is there."""
    counts = (4 * CALLS, 6 * CALLS)
    found = {f"{fields:,} generated fields": forge(max(fields // 27, 2)) for fields in counts}
    return found | ({"Dagger": FILE.read_text(encoding="utf-8")} if FILE.exists() else {})


def building() -> None:
    """Print what a toolbox costs beside graphql-core's own schema; the goal is at most 1.2."""
    for name, sdl in schemas().items():
        count = len(from_graphql(sdl))
        floor, ours = alternately(partial(build_schema, sdl), partial(from_graphql, sdl))
        print(
            f"{name:<22} {count:>5,} tools   from_graphql {min(ours) * 1e3:6.1f} ms"
            f"   build_schema {min(floor) * 1e3:6.1f} ms   ratio {min(ours) / min(floor):4.2f}"
            f" (of the medians {median(ours) / median(floor):4.2f})"
        )


def alternately(
    one: Callable[[], object], other: Callable[[], object]
) -> tuple[list[float], list[float]]:
    """Return the seconds that two functions take in turns; neither pays for the other's garbage."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(9):
        for function, seconds in zip((one, other), times, strict=True):
            gc.collect()
            seconds.append(spent(function, 1))
    return times


def graphql(sdl: str) -> None:
    text = json.dumps(introspection_from_schema(build_schema(sdl)))
    data = json.loads(text)
    floor = spent(lambda: json.loads(text))
    print(f"json.loads of {len(text):,} characters of introspection {floor * 1e3:9.2f} ms")
    rows: dict[str, Callable[[], object]] = {
        "from_graphql(introspection)": lambda: from_graphql(data),
        "graphql-core build_client_schema": lambda: build_client_schema(data),
    }
    for name, function in rows.items():
        floors, ours = [], []
        for _ in range(40):
            floors.append(spent(lambda: json.loads(text), 1))
            ours.append(spent(function, 1))
        ratio = min(ours) / min(floors)
        print(f"{name:<40} {min(ours) * 1e3:9.2f} ms   ratio {ratio:5.1f}")


def prompts(sdl: str) -> None:
    box = from_graphql(sdl)
    sizes = {name: prompt_size(box, name) for name in SCHEMES}
    for name, size in sizes.items():
        print(
            f"prompt of {len(box)} tools, {name:<8} {size:>9,} characters"
            f"  ~{size // CHARACTERS:>7,} tokens  {size / sizes['flat']:6.1%} of flat"
        )


def prompt_size(box: Toolbox, scheme: str) -> int:
    request = Session(box, scheme=scheme).ask("go").cursor.request
    return len(request.system) + len(json.dumps([tool.definition() for tool in request.tools]))


def made(count: int) -> list[Any]:
    """Return functions that differ, of four parameters each."""
    code = (
        "def f{n}(a: int, b: str = 'x', c: list[str] | None = None, d: float = 1.5) -> str:\n"
        "    '''Do the thing number {n}.\n\n    Args:\n        a: the first\n"
        "        b: the second\n"
        "    '''\n    return b * a\n"
    )
    space: dict[str, Any] = {}
    for n in range(count):
        exec(code.format(n=n), space)
    return [space[f"f{n}"] for n in range(count)]


def functions() -> None:
    given = made(CALLS // 2)
    floor = spent(lambda: [TypeAdapter(f).json_schema() for f in given], 3)
    ours = spent(lambda: Toolbox(*given), 3)
    print(
        f"{len(given):,} functions {ours * 1e3:9.1f} ms   TypeAdapter {floor * 1e3:9.1f} ms"
        f"   ratio {ours / floor:5.2f}"
    )


def step(x: int) -> int:
    """Add one."""
    return x + 1


def calls() -> None:
    floor = spent(lambda: [step(x=n) for n in range(CALLS)], 5)
    for scheme in SCHEMES:
        script: list[Any] = [("selectTools", {"tools": ["step"]})] if scheme == "select" else []
        script += [("step", {"x": n}) for n in range(CALLS)]

        def run(script: list[Any] = script, scheme: str = scheme) -> Session:
            model = Scripted([*script, "done"])
            return Session(Toolbox(step), model, scheme=scheme, approve="all").tell("go")

        assert run().state.calls
        print(
            f"a call of {CALLS:,}, scheme {scheme:<8} {spent(run, 3) / CALLS * 1e6:9.1f} µs"
            f"   the function alone {floor / CALLS * 1e6:5.2f} µs"
        )


if __name__ == "__main__":
    building()
    *_, last = schemas().values()
    graphql(last)
    prompts(last)
    functions()
    calls()
