"""What the panel costs in the page, in a real browser on the built widget.

python tests/benchmarks/bench_page.py
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, Route, sync_playwright

import jupyter_toolcall
from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.storage.notebook_files import MIME
from jupyter_toolcall.view.saved_output import mime_bundle

BUILT = Path(jupyter_toolcall.__file__).parent / "static"
SITE = "http://page.test/"
NODES = 10_000
PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="widget.css">
<style>:root{--jp-layout-color1:#fff;--jp-content-font-color0:#000;--jp-border-color2:#e0e0e0;
--jp-brand-color1:#1976d2;--jp-error-color1:#d32f2f;--jp-ui-font-family:sans-serif;
--jp-code-font-family:monospace}</style>
<div id="el"></div><script type="module">
import widget from './widget.js';
const el = document.getElementById('el');
let hear = () => {};
window.open = () => {
  const model = {on: (_, act) => { hear = act }, off: () => {}, send: () => {}};
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
  const call = JSON.parse(rows.calls.at(-1));
  const [last, column] = [rows.calls.length, object.column];
  let added = 0;
  window.append = phase => {
    const [before, id, step] = [added ? `new${added}` : object.id, `new${++added}`, last + added];
    const uses = [{parameter: object.kind, object: before, receiver: true}];
    tell({type: 'delta', number: added, rows: {
      session: [{...JSON.parse(rows.session[0]), phase, turn: step}],
      objects: [{...object, id, call: id, name: `${object.kind}#${step + 1}`, step,
        column: column + added}],
      calls: [{...call, id, call: `call_${step}`, step, turn: step, object: id, uses}]
    }});
  };
}"""

APPEND = """count => {
  for (let at = 0; at < count; at++) {
    append('ready');
    document.body.offsetHeight;
  }
}"""

PLACES = """() => [...document.querySelectorAll('svg.g .node')]
  .map(node => [node.dataset.k, node.getAttribute('transform')])"""

MANY = """async count => {
  for (let at = 0; at < count; at++) {
    append('running');
    if (at % 250 === 0) await painted();
  }
  append('ready');
  await painted();
}"""


@dataclass(frozen=True)
class Bead:
    """One more object on the string."""

    number: int

    def next(self) -> Bead:
        """Return the bead after this one."""
        return Bead(self.number + 1)


@dataclass(frozen=True)
class Held:
    """What a page holds: megabytes of values, and elements."""

    heap: float
    elements: int


def string(count: int) -> Session:
    """Return a finished session of so many calls, each of which made an object."""
    script = Scripted([*[("Bead_next", {})] * count, "Done."])
    inputs = {"bead": Bead(0)}
    session = Session(Toolbox(Bead), script, scheme="flat", inputs=inputs, approve="all")
    return session.ask("Go on.").run()


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
        chromium = play.chromium.launch(executable_path=path, args=arguments)
        page = chromium.new_page(viewport={"width": 1300, "height": 1000})
        page.set_default_timeout(120_000)
        page.route("**/*", serve)
        page.goto(SITE)
        page.wait_for_function("() => 'tell' in window")
        yield page
        chromium.close()


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


def first(page: Page) -> None:
    """Measure the first picture of a saved session, five times."""
    text = mime(string(1_000))
    devtools = work(page)
    before = main_thread(devtools)
    best = min(page.evaluate(FIRST, text) for _ in range(5))
    worked = (main_thread(devtools) - before) / 5
    measured = f"{best:.0f} ms, main thread {worked:.0f} ms"
    row("1,000 calls, MIME data to painted", measured, "<= 500 ms")


def append(page: Page) -> None:
    """Measure appends to a graph that has many nodes."""
    page.evaluate(OPEN, mime(string(NODES)))
    page.wait_for_selector("svg.g .node")
    page.evaluate(APPEND, 20)
    places = dict(page.evaluate(PLACES))
    devtools = work(page)
    before = main_thread(devtools)
    page.evaluate(APPEND, 100)
    worked = (main_thread(devtools) - before) / 100
    row(f"append at {NODES:,} nodes, main thread", f"{worked:.1f} ms", "<= 16 ms")
    later: list[list[str]] = page.evaluate(PLACES)
    known = [(key, place) for key, place in later if key in places]
    moved = sum(places[key] != place for key, place in known)
    row("nodes that moved in 100 appends", f"{moved} of {len(known)}", "0")


def memory(page: Page) -> None:
    """Measure what 10,000 appends leave behind, the first half and the second."""
    devtools = page.context.new_cdp_session(page)
    page.evaluate(OPEN, mime(string(1_000)))
    before = held(devtools)
    page.evaluate(MANY, NODES // 2)
    half = held(devtools)
    page.evaluate(MANY, NODES // 2)
    full = held(devtools)
    spent = [
        (to.heap - since.heap) / (NODES // 2) * 1e3 for since, to in ((before, half), (half, full))
    ]
    row(f"memory an append, over {NODES:,}", f"{spent[0]:.1f} kB, then {spent[1]:.1f} kB", "flat")
    row("elements, half way and at the end", f"{half.elements:,}, {full.elements:,}", "flat")


def main() -> None:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None or not (BUILT / "widget.js").is_file():
        print("left out: it needs chromium on the PATH, and the widget built")
        return
    size = (BUILT / "widget.js").stat().st_size
    row("widget.js", f"{size / 1e3:.1f} kB", "<= 160 kB")
    for measure in (first, append, memory):
        with browser(path) as page:
            measure(page)


if __name__ == "__main__":
    main()
