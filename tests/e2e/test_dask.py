"""Calls on a Dask cluster of the kernel: watched, stopped in the middle, and a worker is killed."""

from __future__ import annotations

import os
import signal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.kitchen import expect_status, expect_step, panel, press
from tests.e2e.rig import Place, dark_theme, open_notebook, run_cell, screenshot, wait_idle

pytestmark = pytest.mark.long

TOOLS = """%load_ext jupyter_toolcall
import os
from jupyter_toolcall import Scripted, tool

def pipe(name):
    if not os.path.exists(name):
        os.mkfifo(name)
    return os.path.abspath(name)

PIPES = {city: pipe(city) for city in ("Oslo", "Rome", "Lima", "Pune")}
BEGUN = {city: pipe(f"{city} begun") for city in PIPES}
STARTED = pipe("started")

@tool(read_only=True, executor=True)
def fetch_forecast(city: str) -> str:
    \"\"\"Fetch a forecast from a slow server.\"\"\"
    open(BEGUN[city], "w").close()
    return open(PIPES[city]).read()

@tool(executor=True)
def charge_card(amount: int) -> str:
    \"\"\"Charge a card.\"\"\"
    with open(STARTED, "w") as file:
        file.write(str(os.getpid()))
    return open(PIPES["Oslo"]).read()

forecasts = Scripted([[("fetch_forecast", {"city": city}) for city in PIPES], "That is all."])
charges = Scripted([("charge_card", {"amount": 20}), "Charged."])
"""
CELL = "%%toolchat -t fetch_forecast charge_card --scheme flat --executor dask "


def test_calls_on_dask_are_stopped_and_a_killed_worker_leaves_the_outcome_unknown(
    page: Page, lab: Place
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    cells = [
        TOOLS,
        CELL + "-m forecasts --jobs 4\nFetch all four.",
        "for pipe in PIPES.values(): os.close(os.open(pipe, os.O_RDWR))",
        CELL + "-m charges\nCharge 20.",
    ]
    open_notebook(page, lab, "dask.ipynb", cells)
    run_cell(page, 0)
    run_cell(page, 1)
    view = panel(page, 1)
    expect_status(view, "Running 4 calls")
    view.evaluate("view => view.scrollIntoView({ block: 'start' })")
    screenshot(page, "dask-running")
    for city in ("Oslo", "Rome"):
        open(lab.root / f"{city} begun").close()
    press(view, "Stop")
    wait_idle(page, timeout=30)
    for number in range(1, 5):
        expect_step(view, number, "interrupted")
    screenshot(page, "dask-stopped")

    run_cell(page, 2)
    wait_idle(page)
    run_cell(page, 3)
    view = panel(page, 3)
    press(view, "Approve")
    with open(lab.root / "started") as started:
        os.kill(int(started.read()), signal.SIGKILL)
    expect_status(view, "Waiting for you")
    expect_step(view, 1, "charge_card", "outcome unknown")
    expect(view).to_contain_text("the worker tcp://127.0.0.1:")
    expect(view).to_contain_text("that ran charge_card was lost")
    view.evaluate("view => view.scrollIntoView({ block: 'start' })")
    screenshot(page, "dask-lost-worker")
    dark_theme(page)
    screenshot(page, "dask-lost-worker-dark")
    page.set_viewport_size({"width": 500, "height": 768})
    view.evaluate("view => view.scrollIntoView({ block: 'start' })")
    screenshot(page, "dask-lost-worker-500")
