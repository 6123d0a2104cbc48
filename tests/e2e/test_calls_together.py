"""Four slow read-only calls of one reply: watched, stopped in the middle, and continued."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import expect_status, expect_step, node, open_tab, panel, press
from tests.e2e.rig import (
    Place,
    dark_theme,
    open_notebook,
    run_cell,
    run_command,
    screenshot,
    wait_idle,
)

FORECASTS = '''%load_ext jupyter_toolcall
import threading
from jupyter_toolcall import Scripted, tool
from jupyter_toolcall.tools.running_tool import report_progress

class Forecast:
    """The weather of a city."""
    def __init__(self, city: str) -> None:
        self.city = city

answered = {city: threading.Event() for city in ("Oslo", "Rome", "Lima", "Pune")}
answered["Rome"].set()

@tool(read_only=True)
def fetch_forecast(city: str) -> Forecast:
    """Fetch a forecast from a slow server."""
    print("asks for", city)
    if city == "Lima":
        report_progress("2 of 5 stations")
    answered[city].wait()
    return Forecast(city)

calls = [("fetch_forecast", {"city": city}) for city in answered]
model = Scripted([calls, "That is all."])
'''
CELL = "%%toolchat -m model -t Forecast fetch_forecast --scheme flat --jobs 4\n"
ANSWER = "for event in answered.values(): event.set()"


def look_at(view: Locator) -> None:
    """Scroll a panel to the top of the notebook."""
    view.evaluate("view => view.scrollIntoView({ block: 'start' })")


def test_calls_that_run_together_are_stopped_in_the_middle_and_run_together_again(
    page: Page, lab: Place
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    cells = [FORECASTS, CELL + "Fetch all four.", ANSWER, CELL + "Fetch them again."]
    open_notebook(page, lab, "j.ipynb", cells)
    run_cell(page, 0)
    run_cell(page, 1)
    view = panel(page, 1)
    for number in (1, 3, 4):
        expect_step(view, number, "fetch_forecast", "running")
    expect_step(view, 2, "fetch_forecast", "ms")
    expect_step(view, 3, "2 of 5 stations")
    expect_status(view, "Running 3 calls")
    # How long they have run is shown, and goes on.
    for seconds in ("1 s", "2 s"):
        expect_step(view, 1, seconds)
        expect_step(view, 4, seconds)
    # The graph shows it too, and that a result waits for its number.
    for name, text in (("Forecast#3", r"^\d+ s · 2 of 5 stations$"), ("Forecast#2", "^done$")):
        expect(node(view, name)).to_have_attribute("aria-description", re.compile(text))
    stop = view.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    look_at(view)
    screenshot(page, "together-running")
    run_command(page, "application:toggle-left-area")
    page.set_viewport_size({"width": 500, "height": 768})
    look_at(view)
    expect(stop).to_be_visible()
    screenshot(page, "together-running-500")
    page.set_viewport_size({"width": 1366, "height": 768})
    dark_theme(page)
    look_at(view)
    expect(stop).to_be_visible()
    screenshot(page, "together-running-dark")
    open_tab(view, "Steps")
    screenshot(page, "together-running-steps-dark")
    open_tab(view, "Graph")

    stop.click()
    wait_idle(page, timeout=10)
    expect_status(view, "Stopped")
    for number in (1, 3, 4):
        expect_step(view, number, "interrupted")
    # What had ended has its name, the first one that is free.
    expect(node(view, "Forecast#1")).to_be_visible()
    look_at(view)
    screenshot(page, "together-stopped-dark")
    open_tab(view, "Steps")
    screenshot(page, "together-stopped-steps-dark")
    press(view, "Run")
    expect_status(view, "Finished")

    run_cell(page, 2)
    run_cell(page, 3)
    again = panel(page, 3)
    expect_status(again, "Finished")
    for number in range(1, 5):
        expect_step(again, number, "fetch_forecast", f"Forecast#{number}")
    look_at(again)
    screenshot(page, "together-finished-dark")
