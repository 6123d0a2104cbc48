"""What the panel costs in the page, in a real browser on the built widget.

python tests/benchmarks/bench_page.py [NODES], 10,000 without it.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import CDPSession, Page, Route, sync_playwright

import jupyter_toolcall
from jupyter_toolcall import Session
from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.storage.notebook_files import MIME
from jupyter_toolcall.view.contract import Delta, Rows, Whole
from jupyter_toolcall.view.contract_rows import SessionRow
from jupyter_toolcall.view.graph import graph_row
from jupyter_toolcall.view.saved_output import mime_bundle
from tests.benchmarks.bench_graph import session
from tests.benchmarks.workload import string

ADDED, GLIDE = 20, 300
"""Calls that are added, and milliseconds in which the drawing has come to rest."""
BUILT = Path(jupyter_toolcall.__file__).parent / "static"
SITE = "http://page.test/"
PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="widget.css">
<style>:root{--jp-layout-color1:#fff;--jp-content-font-color0:#000;--jp-border-color2:#e0e0e0;
--jp-brand-color1:#1976d2;--jp-error-color1:#d32f2f;--jp-ui-font-family:sans-serif;
--jp-code-font-family:monospace}</style>
<div id="el"></div><script type="module">
import widget from './widget.js';
const el = document.getElementById('el');
let hear = () => {};
window.open = () => {
  const model = {get: () => ({}), on: (_, act) => { hear = act }, off: () => {}, send: () => {}};
  return widget.render({model, el});
};
window.tell = notice => hear(notice);
window.painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
</script>"""

FIRST = """async text => {
  const began = performance.now();
  const {rows, version} = JSON.parse(text);
  const close = window.open();
  tell({type: 'whole', rows, version, live: false});
  await painted();
  const spent = performance.now() - began;
  const nodes = document.querySelectorAll('svg.g .node').length;
  close();
  return nodes ? spent : NaN;
}"""

OPEN = """text => {
  const {rows, version} = JSON.parse(text);
  window.open();
  tell({type: 'whole', rows, version, live: true});
  const object = JSON.parse(rows.objects.findLast(one => JSON.parse(one).call));
  const [call, last] = [JSON.parse(rows.calls.at(-1)), rows.calls.length];
  let added = 0;
  window.append = phase => {
    const [before, id, step] = [added ? `new${added}` : object.id, `new${++added}`, last + added];
    const uses = [{parameter: object.kind, object: before}];
    tell({type: 'delta', number: added, rows: {
      session: [{...JSON.parse(rows.session[0]), phase, turn: step}],
      objects: [{...object, id, call: id, name: `${object.kind}#${step + 1}`, step}],
      calls: [{...call, id, call: `call_${step}`, step, turn: step, object: id, uses}]
    }});
  };
}"""

SHOW = "all => { window.open(); window.notices = all; tell(all.shift()); return painted() }"
ADD = "() => { tell(notices.shift()); return painted() }"

MANY = """async count => {
  for (let at = 0; at < count; at++) {
    append('running');
    if (at % 250 === 0) await painted();
  }
  append('ready');
  await painted();
}"""


@dataclass(frozen=True)
class Held:
    """What a page holds: megabytes of values, and elements."""

    heap: float
    elements: int


def mime(session: Session) -> str:
    """Return the MIME data of a session as it stands in a notebook."""
    root = session.journal.path(session.head)[0].id
    rows = PanelController(session, lambda notice: None).whole()
    made: dict[str, Any] = mime_bundle(session.cursor, rows, root)
    return json.dumps(made[MIME])


def serve(route: Route) -> None:
    """Answer with the page, or with a built file."""
    name = route.request.url.removeprefix(SITE)
    if name in ("widget.js", "widget.css"):
        route.fulfill(path=BUILT / name)
    elif name == "":
        route.fulfill(body=PAGE, content_type="text/html")
    else:
        route.fulfill(status=404)


@contextmanager
def browser(path: str) -> Iterator[Page]:
    """Open the page in a browser."""
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=arguments)
        page = started.new_page(viewport={"width": 1300, "height": 1000})
        page.set_default_timeout(120_000)
        page.route("**/*", serve)
        page.goto(SITE)
        page.wait_for_function("() => 'tell' in window")
        yield page
        started.close()


def held(devtools: CDPSession) -> Held:
    """Return what is left when the garbage is gone."""
    devtools.send("HeapProfiler.collectGarbage")
    heap = devtools.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    return Held(heap, devtools.send("Memory.getDOMCounters")["nodes"])


def row(what: str, measured: str, goal: str) -> None:
    print(f"{what:44} {measured:>30}   {goal}")


def main_thread(devtools: CDPSession) -> float:
    """Return the milliseconds that the page's main thread has worked: others' load is not in it."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration")) * 1e3


def work(page: Page) -> CDPSession:
    """Begin to count what the main thread does."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    return devtools


def first(page: Page, nodes: int) -> None:
    """Measure the first picture of a saved session, five times."""
    text = mime(string(nodes // 10).run())
    devtools = work(page)
    before = main_thread(devtools)
    best = min(page.evaluate(FIRST, text) for _ in range(5))
    worked = (main_thread(devtools) - before) / 5
    measured = f"{best:.0f} ms, main thread {worked:.0f} ms"
    row(f"{nodes // 10:,} calls, MIME data to painted", measured, "<= 500 ms")


def calls_more(calls: int, count: int) -> Iterator[Whole | Delta]:
    """Yield what a kernel sends of a session of so many calls, and then call by call."""
    rows = session(0, calls + count)
    before = Rows()
    for number in range(count + 1):
        done = tuple(call for call in rows.calls if call.step <= calls + number)
        objects = tuple(row for row in rows.objects if row.step <= calls + number)
        now = Rows((SessionRow(phase="ready"),), done, objects)
        fresh = replace(
            now, calls=done[len(before.calls) :], objects=objects[len(before.objects) :]
        )
        fresh = replace(fresh, graph=(graph_row(now),))
        yield Delta(fresh, number) if number else Whole(fresh)
        before = now


def added(page: Page, nodes: int) -> None:
    """Measure a call more in a drawing of at most 60: from the message to the painted frame.

    That is all the main thread does: script, style, layout and paint. With the glide of 150 ms,
    the frames that follow are measured too.
    """
    calls = min(nodes, 51)
    notices = [sendable_data(notice) for notice in calls_more(calls, ADDED)]
    for motion in ("reduce", "no-preference"):
        page.emulate_media(reduced_motion=motion)
        page.reload()
        page.wait_for_function("() => 'tell' in window")
        page.evaluate(SHOW, notices)
        devtools, spent = work(page), list[float]()
        for _ in range(ADDED):
            before = main_thread(devtools)
            page.evaluate(ADD)
            if motion != "reduce":
                page.wait_for_timeout(GLIDE)
            spent.append(main_thread(devtools) - before)
        *_, slow = quantiles(spent, n=10)
        what, goal = ("first frame", "<= 16 ms") if motion == "reduce" else ("all frames", "")
        measured = f"{median(spent):.1f} ms, 90 % below {slow:.1f} ms"
        row(f"a call more at {calls} to {calls + ADDED}, {what}", measured, goal)


def memory(page: Page, nodes: int) -> None:
    """Measure what many appends leave behind, the first half and the second."""
    devtools = page.context.new_cdp_session(page)
    page.evaluate(OPEN, mime(string(nodes // 10).run()))
    before = held(devtools)
    page.evaluate(MANY, nodes // 2)
    half = held(devtools)
    page.evaluate(MANY, nodes // 2)
    full = held(devtools)
    spent = [
        (to.heap - since.heap) / (nodes // 2) * 1e3 for since, to in ((before, half), (half, full))
    ]
    row(f"memory an append, over {nodes:,}", f"{spent[0]:.1f} kB, then {spent[1]:.1f} kB", "flat")
    row("elements, half way and at the end", f"{half.elements:,}, {full.elements:,}", "flat")


def chromium() -> str:
    """Return the browser's path. Ends the program where there is none, or no widget to open."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None or not (BUILT / "widget.js").is_file():
        sys.exit("Chromium has to be on the PATH, and the widget built: make chromium .venv/.dev")
    return path


def main(nodes: int = 10_000) -> None:
    path = chromium()
    size = (BUILT / "widget.js").stat().st_size
    row("widget.js", f"{size / 1e3:.1f} kB", "<= 160 kB")
    for measure in (first, added, memory):
        with browser(path) as page:
            measure(page, nodes)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
