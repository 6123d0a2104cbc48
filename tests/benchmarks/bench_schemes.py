"""What each scheme costs in prompt tokens, on the real GraphQL schema of a big API.

The schema is Dagger's and no part of this project: `python tests/benchmarks/bench_schemes.py
FILE`, or DAGGER_SCHEMA in the environment, names a copy (`docs/docs-graphql/schema.graphqls`
of github.com/dagger/dagger). Without one a made-up type of sixty functions stands in.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from jupyter_toolcall import from_graphql
from jupyter_toolcall.evaluation import SCHEMES, Run, Task, compare

Plan = list[tuple[str, dict[str, Any]]]
BUILD: Plan = [
    ("container", {}),
    ("Container_from", {"address": "alpine:3.20"}),
    ("Container_withNewFile", {"path": "/src/hello.sh", "contents": "echo hello"}),
    ("Container_withExec", {"args": ["sh", "/src/hello.sh"]}),
    ("Container_directory", {"path": "/src"}),
]
EDITS: Plan = [
    ("Container_withExec", {"args": ["sh", "-c", f"echo {number} > /src/{number}"]})
    for number in range(13)
]


def build(path: Path, plan: Plan, name: str) -> Task:
    toolbox = from_graphql(path)
    print(f"{path.name}: {len(toolbox)} tools, {len(toolbox.kinds)} types")
    said = "Put a script into a fresh Alpine container, run it, and save the folder /src."
    return Task(name, said, toolbox, outputs={"source": "Directory"}, plan=plan)


def picture() -> Task:
    spec = importlib.util.spec_from_file_location("tasks", Path(__file__).parents[1] / "tasks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tasks"] = module
    spec.loader.exec_module(module)
    found: Task = next(task for task in module.TASKS if task.name == "picture")
    return found


def show(task: Task) -> None:
    runs = {run.scheme: run for run in compare([task], SCHEMES)}
    flat = runs["flat"]
    print(f"{task.name}: {flat.calls} calls with save; the model makes no mistake")
    for run in runs.values():
        assert run.solved, run.reason
        print(_row(run, flat))


def _row(run: Run, flat: Run) -> str:
    anew, referred = run.tokens, run.by_reference
    return (
        f"  {run.scheme:<8}{run.turns:>3} turns  ~{anew.input // run.requests:>7,} tokens a request"
        f"  ~{anew.input:>9,} in all  {anew.input / flat.tokens.input:>6.1%} of flat"
        f"  cached {anew.cached / anew.input:>4.0%}"
        f"   by reference ~{referred.input:>9,}  cached {referred.cached / referred.input:>4.0%}"
    )


if __name__ == "__main__":
    named = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("DAGGER_SCHEMA", "")
    if named:
        path = Path(named)
        show(build(path, BUILD, "five calls"))
        show(build(path, [*BUILD[:4], *EDITS, BUILD[4]], "eighteen calls"))
    else:
        print("skipped: Dagger's schema (name a copy of it as the argument, or in DAGGER_SCHEMA)")
        show(picture())
