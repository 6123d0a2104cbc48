"""How large saved sessions open in a page: the first picture, and the longest time without a break.

python tests/benchmarks/bench_saved_sessions.py [OBJECTS], 50,000 without it.

A small real session is repeated: each copy continues from the newest objects of the one before.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from playwright.sync_api import Page

from jupyter_toolcall.core.json_data import json_texts
from jupyter_toolcall.storage.notebook_files import with_parsed_rows
from tests.benchmarks.bench_page import browser, chromium, main_thread, mime, row, work
from tests.branching import branching_session

T = TypeVar("T")

PARSE = """text => {
  const began = performance.now();
  window.saved = JSON.parse(text);
  return performance.now() - began;
}"""

OPEN = """async () => {
  const began = performance.now();
  window.open();
  setTimeout(() => tell({type: 'whole', ...window.saved, live: false}));
  while (!document.querySelector('svg.g .node')) await painted();
  await painted();
  return performance.now() - began;
}"""

#: Waits until the page has nothing to do for a while.
SETTLED = """async () => {
  for (let idle = 0; idle < 3;) {
    const began = performance.now();
    await new Promise(done => requestIdleCallback(done));
    await painted();
    idle = performance.now() - began < 60 ? idle + 1 : 0;
  }
}"""

PRESS = """name => {
  const text = one => (one.getAttribute('aria-label') ?? one.textContent).trim();
  const shown = one => one.checkVisibility() && !one.disabled;
  const named = one => text(one) === name && shown(one);
  const button = [...document.querySelectorAll('button')].find(named);
  if (button) setTimeout(() => button.click());
  return Boolean(button);
}"""

TYPE = """([name, text]) => {
  const field = [...document.querySelectorAll('input')].find(
    one => one.getAttribute('aria-label') === name && one.checkVisibility());
  if (field) setTimeout(() => {
    field.value = text;
    field.dispatchEvent(new Event('input', {bubbles: true}));
  });
  return Boolean(field);
}"""

#: What is typed into fields, after the buttons.
FIELDS = [("Search calls and objects", "failed"), ("Search calls and objects", ""), ("Time", "40")]

#: The buttons that are pressed, one after the other.
BUTTONS = ["Steps", "Messages", "Compare", "Graph", "Fit", "Zoom in", "Lineage"]

Row = dict[str, Any]
Tables = dict[str, list[Row]]

#: What numbers a table's rows have that grow from copy to copy.
GROWING: Mapping[str, Sequence[str]] = {
    "objects": ("step",),
    "calls": ("step", "turn"),
    "messages": ("step", "turn"),
    "turns": ("turn",),
}


def newest_objects(rows: Sequence[Row]) -> dict[str, str]:
    """Return the newest object of each type on the shown branch."""
    return {one["kind"]: one["id"] for one in rows if not one.get("branch")}


def copied(rows: Sequence[Row], number: int, inputs: Mapping[str, str]) -> list[Row]:
    """Return a copy of rows with ids of its own, which uses these objects for its inputs."""
    text = re.sub(r'"([0-9a-f]{12})(\.[^"]*)?"', rf'"\1-{number}\2"', json.dumps(rows))
    for name, before in inputs.items():
        text = text.replace(f'"{name}"', f'"{before}"')
    found: list[Row] = json.loads(text)
    return found


def with_own_branches(tables: Tables, number: int) -> Tables:
    """Return the tables of a copy, with branches of its own instead of those of the first."""
    others = [one["id"] for one in tables["branches"] if not one.get("current")]
    text = json.dumps(tables)
    for name in others:
        text = text.replace(f'"{name}"', f'"{name}-{number}"')
    found: Tables = json.loads(text)
    return found


def repeated(saved: Row, times: int, *, branches: bool = False) -> str:
    """Return MIME data of a session repeated so often; with `branches`, those too."""
    first: Tables = saved["rows"]
    inputs = {one["id"]: one["kind"] for one in first["objects"] if one.get("role") == "input"}
    length = {
        name: max(one.get(name, 0) for one in [*first["objects"], *first["calls"]])
        for name in ("step", "turn")
    }
    grown: Tables = {name: list(rows) for name, rows in first.items()}
    newest = newest_objects(first["objects"])
    for number in range(1, times):
        uses = {name: newest[kind] for name, kind in inputs.items()}
        tables = {name: copied(first[name], number, uses) for name in GROWING}
        for name, fields in GROWING.items():
            for one in tables[name]:
                one.update({key: one.get(key, 0) + number * length[key] for key in fields})
        tables["objects"] = [one for one in tables["objects"] if one.get("role") != "input"]
        newest |= newest_objects(tables["objects"])
        if branches:
            tables = with_own_branches({**tables, "branches": first["branches"]}, number)
            tables["branches"] = [one for one in tables["branches"] if not one.get("current")]
        for name, rows in tables.items():
            grown[name].extend(rows)
    texts = {name: json_texts(rows) for name, rows in grown.items()}
    return json.dumps({**saved, "rows": texts}, separators=(",", ":"))


def session(seed: int, turns: int, branches: int) -> Row:
    """Return the MIME data of a real session with so many turns and branches."""
    saved: Row = json.loads(mime(branching_session(seed, turns, branches)))
    return dict(with_parsed_rows(saved))


def large_sessions(most: int) -> dict[str, str]:
    """Return the MIME data of the sessions that are measured, by what they are."""
    objects, messages, branches = session(3, 60, 5), session(3, 60, 1), session(5, 9, 6)
    count, several = len(objects["rows"]["objects"]), len(messages["rows"]["messages"])
    replies, copies = most * 2 // 5, max(most // 500, 1)
    return {
        f"{most:,} objects, 5 branches": repeated(objects, most // count + 1),
        f"{replies:,} messages": repeated(messages, replies // several + 1),
        f"{30 * copies:,} calls on {5 * copies:,} branches": repeated(
            branches, copies, branches=True
        ),
    }


def facts(text: str) -> str:
    """Return how much a session has."""
    rows = json.loads(text)["rows"]
    counts = [
        f"{len(rows[name]):,} {name}" for name in ("objects", "calls", "messages", "branches")
    ]
    return f"{len(text) / 1e6:.0f} MB: {', '.join(counts)}"


@dataclass(frozen=True)
class Task:
    """How long a task of a page took, in milliseconds; `worked` is without others' load."""

    wall: float
    worked: float

    def __str__(self) -> str:
        return f"{self.wall:.0f} ms, main thread {self.worked:.0f} ms"


def longest_task(trace: bytes) -> Task:
    """Return the longest task in a trace of a page."""
    events = json.loads(trace)["traceEvents"]
    names = {
        (one["pid"], one["tid"]): one["args"] for one in events if one["name"] == "thread_name"
    }
    main = {thread for thread, args in names.items() if args["name"] == "CrRendererMain"}
    tasks = [
        one
        for one in events
        if one["name"].endswith("RunTask") and (one["pid"], one["tid"]) in main
    ]
    return Task(
        max((one.get("dur", 0) / 1e3 for one in tasks), default=0),
        max((one.get("tdur", 0) / 1e3 for one in tasks), default=0),
    )


def traced(page: Page, act: Callable[[], T]) -> tuple[T, Task]:
    """Do something in a page; return its result, and the longest task until the page is idle."""
    chromium = page.context.browser
    assert chromium
    chromium.start_tracing(page=page, categories=["toplevel", "__metadata"])
    result = act()
    page.evaluate(SETTLED)
    return result, longest_task(chromium.stop_tracing())


@dataclass(frozen=True)
class Opening:
    """How a session opened, in milliseconds."""

    parsed: float
    first: float
    worked: float
    longest: Task


def opening(page: Page, text: str) -> Opening:
    """Open a session in a page."""
    devtools = work(page)
    parsed = page.evaluate(PARSE, text)
    page.evaluate(SETTLED)
    before = main_thread(devtools)

    def drawn() -> tuple[float, float]:
        return page.evaluate(OPEN), main_thread(devtools) - before

    (first, worked), longest = traced(page, drawn)
    return Opening(parsed, parsed + first, worked, longest)


def press(page: Page, name: str) -> Callable[[], bool]:
    """Return a function that presses a button, and returns whether there is one."""
    return lambda: bool(page.evaluate(PRESS, name))


def enter(page: Page, name: str, text: str) -> Callable[[], bool]:
    """Return a function that types into a field, and returns whether there is one."""
    return lambda: bool(page.evaluate(TYPE, [name, text]))


def measure(path: str, what: str, text: str, times: int) -> None:
    """Measure how a session opens, and the longest task of each thing that a person does."""
    runs: list[Opening] = []
    for _ in range(times):
        with browser(path) as page:
            runs.append(opening(page, text))
            presses = [(name, traced(page, press(page, name))) for name in BUTTONS]
            presses += [(f"{n}: {t}", traced(page, enter(page, n, t))) for n, t in FIELDS]
    runs.sort(key=lambda run: run.first)
    middle = runs[len(runs) // 2]
    print(f"\n{what} ({facts(text)})")
    row("first picture", f"{middle.first:.0f} ms", "<= 1,000 ms")
    row("of which JSON.parse", f"{middle.parsed:.0f} ms", "")
    row("main thread without JSON.parse", f"{middle.worked:.0f} ms", "")
    row("longest task while it opens, after that", str(middle.longest), "<= 100 ms")
    for name, (is_there, longest) in presses:
        row(
            f"longest task after {name}",
            str(longest) if is_there else "no such button",
            "<= 100 ms",
        )


def main(most: int = 50_000) -> None:
    path = chromium()
    for what, text in large_sessions(most).items():
        measure(path, what, text, times=3 if most > 1_000 else 1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
