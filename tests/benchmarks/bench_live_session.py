"""A live session of 5,000 calls in JupyterLab: frames a second and the longest pause.

Measured while the cell runs, while a person looks around afterwards, and when the notebook is
opened again. The floor is the same page with a cell that prints as long.

python tests/benchmarks/bench_live_session.py [CALLS]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.e2e.rig import (
    ARGUMENTS,
    CURRENT,
    QUIET,
    Place,
    chromium_path,
    open_notebook,
    outputs,
    run_cell,
    run_command,
    save,
    served,
    shut_down_kernels,
    wait_idle,
    write_notebook,
    write_settings,
)

PATIENCE = 300.0
"""Seconds that a run may take."""

SETUP = """%load_ext jupyter_toolcall
import time
from dataclasses import dataclass
from jupyter_toolcall import Scripted

@dataclass(frozen=True)
class Bead:
    \"\"\"One more object on the string.\"\"\"
    number: int

    def next(self) -> "Bead":
        \"\"\"Return the bead after this one.\"\"\"
        return Bead(self.number + 1)

bead, model = Bead(0), Scripted([*[("Bead_next", {})] * CALLS, "Done."])
"""
OPTIONS = "-m model -t Bead -i bead --scheme flat --approve all --max-turns"
PRINTS = "for n in range(LINES):\n    print(n)\n    time.sleep(0.005)"

WATCH = """(() => {
  let times = [], tasks = [], bytes = 0;
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(one => one.duration)))
    .observe({type: 'longtask'});
  const tick = () => { times.push(performance.now()); requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  const size = data => typeof data === 'string' ? data.length : data.byteLength ?? data.size ?? 0;
  window.WebSocket = class extends WebSocket {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', event => { bytes += size(event.data); });
    }
  };
  const settled = count => new Promise(done => {
    const next = left => left ? requestAnimationFrame(() => next(left - 1)) : setTimeout(done);
    next(count);
  });
  const watched = () => {
    let longest = 0;
    for (let at = 1; at < times.length; at++)
      longest = Math.max(longest, times[at] - times[at - 1]);
    const seconds = (times.at(-1) - times[0]) / 1000;
    return {seconds, rate: times.length / seconds, longest, tasks, bytes};
  };
  window.startWatch = () => { times = [performance.now()]; tasks = []; bytes = 0; };
  window.endWatch = async () => { await settled(20); return watched(); };
  window.watchUntilFinished = () => new Promise(done => {
    const look = () => {
      const status = document.querySelector('.jp-Notebook .tc-status');
      if (!status?.textContent.includes('Finished')) return requestAnimationFrame(look);
      done(watched());
      startWatch();
    };
    look();
  });
})()"""


@dataclass(frozen=True)
class Watched:
    """What a page did while it was watched."""

    seconds: float
    rate: float
    """Frames a second."""
    longest: float
    """Milliseconds between two frames at most."""
    tasks: list[float]
    """Milliseconds of tasks of the main thread that took more than 50."""
    bytes: int
    """Bytes that came over WebSockets."""


@contextmanager
def watching(page: Page, what: str) -> Iterator[None]:
    """Watch the page, and print what it did."""
    page.evaluate("startWatch()")
    yield
    show(what, Watched(**page.evaluate("endWatch()")))


def show(what: str, seen: Watched) -> None:
    blocked = [task for task in seen.tasks if task > 100]
    print(
        f"{what:34} {seen.seconds:7.1f} s {seen.rate:6.1f} frames/s {seen.longest:7.0f} ms longest"
        f" {len(blocked):4} tasks > 100 ms, {max(seen.tasks, default=0):5.0f} ms longest"
        f" {seen.bytes / 1e3:9.0f} kB",
        flush=True,
    )


@contextmanager
def lab_page() -> Iterator[tuple[Page, Place]]:
    """Start JupyterLab, and open an empty page in a browser."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served("jupyterlab", Path(folder)) as place,
        sync_playwright() as playwright,
    ):
        write_settings(Path(folder) / "settings", QUIET)
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.add_init_script(WATCH)
        yield page, place
        shut_down_kernels(place)
        browser.close()


def run_session(page: Page, calls: int) -> None:
    """Run the cell of the session, with its panel in sight."""
    run_cell(page, 1)
    expect(outputs(page, 1)).to_have_text("ready")
    page.evaluate("startWatch()")
    run_cell(page, 2)
    show(f"session of {calls:,} calls", Watched(**page.evaluate("watchUntilFinished()")))
    wait_idle(page, PATIENCE)
    show("its end, and what is saved of it", Watched(**page.evaluate("endWatch()")))
    run_cell(page, 3)
    expect(outputs(page, 3)).to_contain_text("s CPU")
    print(f"kernel: {outputs(page, 3).inner_text().strip()}", flush=True)


def look_around(page: Page) -> None:
    """Do what a person does with a session that has ended."""
    # By CSS: Playwright finds a role by computing those of the whole page in its main thread.
    view = outputs(page, 2).locator(".tc")
    for name in ("Steps", "Messages", "Compare", "Graph"):
        with watching(page, f"tab {name}"):
            view.locator("[role=tab]", has_text=name).click()
    for name in ("Zoom out", "Fit", "Zoom in"):
        with watching(page, f"{name}, 5 times"):
            for _ in range(5):
                view.locator(f".tc-tools button[aria-label='{name}']").click()
    view.locator("[role=tab]", has_text="Steps").click()
    with watching(page, "scroll Steps"):
        turn_wheel(page, view.locator(".tc-steps"))
    view.locator("[role=tab]", has_text="Graph").click()
    with watching(page, "Time, 20 places"):
        move_slider(view.locator("input[aria-label=Time]"))


def turn_wheel(page: Page, at: Locator) -> None:
    at.hover()
    for way in (-600, 600):
        for _ in range(20):
            page.mouse.wheel(0, way)


def move_slider(slider: Locator) -> None:
    """Drag the slider back and forth, with one event a frame."""
    slider.evaluate(
        """async slider => {
            const last = Number(slider.max);
            for (let at = 0; at <= 20; at++) {
                slider.value = String(Math.max(1, Math.round(last * Math.abs(10 - at) / 10)));
                slider.dispatchEvent(new Event('input', {bubbles: true}));
                await new Promise(requestAnimationFrame);
            }
        }"""
    )


def open_again(page: Page, place: Place, name: str, see: Callable[[], None]) -> None:
    """Open a notebook beside nothing else, and wait until it shows what is expected."""
    page.evaluate(f"{CURRENT}.close()")
    run_command(page, "docmanager:open", path=place.path(name))
    see()


def reopen(page: Page, place: Place) -> None:
    """Open the notebook again: with its kernel, and without one."""
    write_notebook(place, "empty.ipynb", ["1"])
    with watching(page, "save the notebook"):
        save(page)
    view = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    node = view.locator(".tc svg.g .node").first

    def drawn(cells: int) -> Callable[[], None]:
        return lambda: view.locator(".jp-Cell").nth(cells - 1).wait_for()

    def session() -> None:
        node.wait_for()

    with watching(page, "floor: open an empty notebook"):
        open_again(page, place, "empty.ipynb", drawn(1))
    save(page)
    with watching(page, "open again, kernel alive"):
        open_again(page, place, "live.ipynb", session)
    save(page)
    open_again(page, place, "empty.ipynb", drawn(1))
    shut_down_kernels(place)
    save(page)
    with watching(page, "open again, saved copy"):
        open_again(page, place, "live.ipynb", session)


def main(calls: int = 5_000) -> None:
    prints = PRINTS.replace("LINES", f"{calls * 2 // 5}")
    cells = [
        "import time",
        SETUP.replace("CALLS", f"{calls}") + "began = time.process_time()\nprint('ready')",
        f"%%toolchat {OPTIONS} {calls + 1}\nGo on.",
        "print(f'{time.process_time() - began:.1f} s CPU')",
    ]
    with lab_page() as (page, place):
        open_notebook(page, place, "live.ipynb", [*cells, prints])
        run_cell(page, 0)
        wait_idle(page)
        with watching(page, "floor: idle page"):
            page.evaluate("new Promise(done => setTimeout(done, 3000))")
        with watching(page, "floor: a cell that prints"):
            run_cell(page, 4)
            wait_idle(page)
        run_session(page, calls)
        look_around(page)
        reopen(page, place)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
