"""What each scheme costs in prompt tokens, and the size of requests, on schemas of big APIs.

One schema is Dagger's and no part of this project: JUPYTER_TOOLCALL_DAGGER_SCHEMA in the
environment names a copy (`docs/docs-graphql/schema.graphqls` of github.com/dagger/dagger). Without
one a made-up type of sixty functions stands in. Two more are generated here, with as many tools
as Saleor's and GitHub's schemas, and shaped like them.

`python tests/benchmarks/bench_schemes.py [TYPES]`: those of the smaller one, 96 without it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox, from_graphql
from jupyter_toolcall.evaluation import SCHEMES, Run, Task, compare
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.openai import OpenAI

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.large_schema import LINKS, large_schema
from tests.standin.anthropic_cache import Cache

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
    full, referred = run.tokens, run.by_reference
    return (
        f"  {run.scheme:<8}{run.turns:>3} turns  ~{full.input // run.requests:>7,} tokens a request"
        f"  ~{full.input:>9,} in all  {full.input / flat.tokens.input:>6.1%} of flat"
        f"  cached {full.cached / full.input:>4.0%}"
        f"   by reference ~{referred.input:>9,}  cached {referred.cached / referred.input:>4.0%}"
    )


# -- the size of requests ----------------------------------------------------------------------

TURNS = 20
MODELS = (Claude("claude-opus-5-5"), Claude("claude-sonnet-5"), OpenAI("gpt-6-sol"))


def course(selections: Sequence[str], calls: Plan) -> list[Any]:
    """Return a script of twenty turns: each tool is selected before its first call."""
    script: list[Any] = []
    for tool, arguments in calls:
        due = tool in selections and not any(tool in turn[1].get("tools", ()) for turn in script)
        script += [("selectTools", {"tools": [tool]})] if due else []
        script.append((tool, arguments))
    return script[:TURNS]


DAGGER: Plan = [
    ("container", {}),
    ("Container_from", {"address": "alpine:3.20"}),
    *[("Container_withExec", {"args": ["sh", "-c", f"echo {n} > /src/{n}"]}) for n in range(6)],
    ("Container_directory", {"path": "/src"}),
    *[("Directory_withNewFile", {"path": f"/{n}", "contents": f"text {n}"}) for n in range(6)],
]


def cached_by_prefix(bodies: Iterable[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each request, and those that OpenAI's cache serves of it.

    It knows how the last request began, from 1,024 tokens on, in steps of 128.
    """
    before = ""
    for body in bodies:
        text = json.dumps([body.get("tools"), body["messages"]])
        same = len(os.path.commonprefix([text, before])) // 4 // 128 * 128  # noqa: RUF071
        before = text
        yield len(text) // 4, same if same >= 1024 else 0


def cached_by_breakpoints(bodies: Iterable[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each request, and those that Claude's cache serves of it."""
    cache = Cache()
    for body in bodies:
        usage = cache.account(body)
        served = usage["cache_read_input_tokens"]
        yield usage["input_tokens"] + usage["cache_creation_input_tokens"] + served, served


def show_sizes(name: str, toolbox: Toolbox, scheme: str, script: Sequence[Any]) -> None:
    """Print the size of the first and of the last request, and how much a cache serves."""
    model = Scripted(script)
    session = Session(toolbox, model, scheme=scheme, approve="all", max_turns=TURNS).tell("Go.")
    requests = [exchange.request for exchange in session.requests]
    assert len(requests) == TURNS, len(requests)
    assert all(call.status == "succeeded" for call in session.calls), session.calls
    for provider in MODELS:
        bodies = [provider.body(request) for request in requests]
        counts = cached_by_breakpoints if isinstance(provider, Claude) else cached_by_prefix
        tokens, served = map(sum, zip(*counts(bodies), strict=True))
        first, last = (len(json.dumps(body).encode()) for body in (bodies[0], bodies[-1]))
        print(
            f"  {name:<7}{len(toolbox):>6,} tools  {scheme:<8}{provider.name:<26}"
            f"{first:>9,} B {last:>9,} B {served / tokens:>7.1%}"
        )


def show_all_sizes(dagger: str, types: int) -> None:
    """Print the table of all schemas."""
    print(f"the first and the last of {TURNS} requests, and the cached share of all of them")
    plans = [("dagger", Path(dagger).read_text(), DAGGER)] if dagger else []
    plans += [
        ("shop", large_schema(types, 23, types * 35 // 8, 2), LINKS),
        ("forge", large_schema(types * 8 // 5 + 1, 25, types * 25 // 8, 1), LINKS),
    ]
    for name, sdl, plan in plans:
        toolbox = from_graphql(sdl)
        show_sizes(name, toolbox, "select", course([tool for tool, _ in plan], plan))


def main(types: int = 96) -> None:
    """Print the tables."""
    named = os.environ.get("JUPYTER_TOOLCALL_DAGGER_SCHEMA", "")
    if named:
        path = Path(named)
        show(build(path, BUILD, "five calls"))
        show(build(path, [*BUILD[:4], *EDITS, BUILD[4]], "eighteen calls"))
    else:
        print("A made-up type stands in: JUPYTER_TOOLCALL_DAGGER_SCHEMA names no copy of Dagger's.")
        show(picture())
    show_all_sizes(named, types)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
