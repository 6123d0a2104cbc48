"""A session of some hundred calls while it runs: what the panel shows, and that it answers."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e import kitchen
from tests.e2e.rig import KERNEL, Place, reload, run_cell, save, screenshot, wait_idle

CALLS, SLOW = 300, 150
"""How many calls there are, and which one lasts until the file `go` exists."""
SETUP = f"""%load_ext jupyter_toolcall
import time
from pathlib import Path
from jupyter_toolcall import Scripted

class Bead:
    \"\"\"One more object on the string.\"\"\"
    def __init__(self, number: int) -> None:
        self.number = number

def thread(number: int) -> Bead:
    \"\"\"Put one more bead on the string.\"\"\"
    while number == {SLOW} and not Path("go").exists():
        time.sleep(0.01)
    return Bead(number)

model = Scripted([*[("thread", {{"number": n + 1}}) for n in range({CALLS})], "Done."])
"""
CELL = f"%%toolchat -m model -t thread --scheme flat --approve all --max-turns {CALLS + 1}\nGo on."


def open_running(page: Page, lab: Place) -> Locator:
    """Run the cell; return its panel when the slow call runs, after many fast ones."""
    view = kitchen.run_notebook(page, lab, "live.ipynb", [SETUP, CELL])
    kitchen.expect_step(view, SLOW, "running")
    return view


def test_a_long_session_shows_every_call_and_the_newest_stays_in_sight_while_it_runs(
    page: Page, lab: Place
) -> None:
    view = open_running(page, lab)
    expect(kitchen.steps(view)).to_have_count(SLOW)
    view.get_by_role("list", name="Steps").scroll_into_view_if_needed()
    expect(kitchen.steps(view).last).to_be_in_viewport()
    kitchen.expect_status(view, "Running")
    screenshot(page, "live-session-slow-call")
    (lab.root / "go").touch()
    kitchen.expect_status(view, "Finished")
    expect(kitchen.steps(view)).to_have_count(CALLS)
    expect(kitchen.steps(view).last).to_be_in_viewport()
    expect(kitchen.steps(view).last).to_contain_text(f"Bead#{CALLS}")
    screenshot(page, "live-session-finished")


def test_a_running_session_answers_a_click_on_a_tab_and_on_stop(page: Page, lab: Place) -> None:
    view = open_running(page, lab)
    turns = kitchen.open_tab(view, "Messages").get_by_role("list", name="Turns").locator("li")
    expect(turns.last).to_contain_text(f"{SLOW}")
    kitchen.press(view, "Stop")
    kitchen.expect_status(view, "Stopped")
    kitchen.open_tab(view, "Steps")
    kitchen.expect_step(view, SLOW, "interrupted")
    kitchen.press(view, "Run")
    kitchen.expect_status(view, "Finished")
    expect(kitchen.steps(view)).to_have_count(CALLS)
    kitchen.expect_step(view, CALLS, "Bead#")


@pytest.mark.long
def test_a_page_that_is_loaded_again_while_a_session_runs_shows_all_of_it(
    page: Page, lab: Place
) -> None:
    open_running(page, lab)
    save(page)
    reload(page)
    (lab.root / "go").touch()
    view = kitchen.panel(page, 1)
    kitchen.expect_status(view, "Finished")
    wait_idle(page)
    expect(kitchen.steps(view)).to_have_count(CALLS)
    kitchen.expect_step(view, 1, "Bead#1")


def test_who_looks_at_a_session_that_has_ended_does_not_make_it_save_again(
    page: Page, lab: Place
) -> None:
    model = kitchen.script("model", '("fill", {"grams": 5})', '"Done."')
    cell = "%%toolchat -m model -t fill --scheme flat --approve all\nGo on."
    kitchen.run_notebook(page, lab, "look.ipynb", [kitchen.OWN + model, cell, "1"])
    kitchen.expect_status(kitchen.panel(page, 1), "Finished")
    wait_idle(page)
    page.evaluate(
        f"""() => {{
            window.heard = [];
            {KERNEL}.iopubMessage.connect((_, message) => heard.push(message.header.msg_type));
        }}"""
    )
    kitchen.forge(page, 1, {"type": "show_request", "turn": 1})
    page.wait_for_function("heard.includes('comm_msg')")
    run_cell(page, 2)
    page.wait_for_function("heard.includes('execute_result')")
    assert "update_display_data" not in page.evaluate("heard")
    kitchen.forge(page, 1, {"type": "replay", "call": "call_1"})
    page.wait_for_function("heard.includes('update_display_data')")
