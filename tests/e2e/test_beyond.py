"""A notebook that runs again, or was changed: nobody is asked twice, and changes are told."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import rig
from tests.e2e.kitchen import (
    OWN,
    approve,
    edit_call,
    expect_status,
    expect_step,
    node,
    open_tab,
    panel,
    press,
    run_notebook,
    script,
    steps,
)

SCRIPT = script(
    "model",
    "('fill', {'grams': 5})",
    "('weigh', {'jar': '$Jar'})",
    "'It weighs 5 grams.'",
    "'It weighs something.'",
)
OPEN = "%%toolchat -m model -t fill weigh Jar --scheme flat\nWeigh a jar."
FILL_AGAIN = """def fill(grams: Annotated[int, Field(ge=1, le=500)], of: str = "beans") -> Jar:
    \"\"\"Fill a jar.\"\"\"
    ran.append(("fill again", grams))
    return Jar(2 * grams, of)
"""


def test_a_restart_asks_nobody_about_unmarked_tools_and_runs_none_of_them(
    page: Page, lab: rig.Place
) -> None:
    run_notebook(page, lab, "twice.ipynb", [OWN + SCRIPT, OPEN, "print(ran)"])
    approve(panel(page, 1), "fill", "weigh", first=1)
    rig.wait_idle(page)
    expect(rig.outputs(page, 2)).to_contain_text("[('fill', 5), ('weigh', 5)]")
    rig.restart_kernel(page)
    rig.run_all(page)
    expect_status(panel(page, 1), "Finished")
    rig.wait_idle(page)
    expect_step(panel(page, 1), 1, "fill", "Jar#1")
    expect(rig.outputs(page, 2)).to_contain_text("[]")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_tool_that_was_changed_is_told_and_its_steps_are_marked_until_they_run_again(
    page: Page, lab: rig.Place, theme: str
) -> None:
    cells = [OWN + SCRIPT, OPEN, FILL_AGAIN, "%%toolchat\nAnd again.", "%toolchat outdated"]
    rig.open_notebook(page, lab, "changed.ipynb", cells)
    if theme == "dark":
        rig.dark_theme(page)
    rig.run_cell(page, 0)
    rig.run_cell(page, 1)
    approve(panel(page, 1), "fill", "weigh", first=1)
    rig.wait_idle(page)
    for number in (2, 3, 4):
        rig.run_cell(page, number)
        rig.wait_idle(page)
    expect(rig.outputs(page, 3)).to_contain_text("fill was changed. %toolchat outdated lists")
    expect(rig.outputs(page, 4)).to_contain_text("call_1 fill: its tool fill was changed")
    expect(rig.outputs(page, 4)).to_contain_text(
        "call_2 weigh: goes back to Jar#1, which is outdated"
    )
    view = panel(page, 3)
    expect_step(view, 1, "fill", "outdated")
    expect_step(view, 2, "weigh", "outdated")
    node(view, "Jar#1").first.click()
    expect(view.get_by_role("region", name="Details")).to_contain_text("its tool fill was changed")
    rig.screenshot(page, f"outdated_{theme}")
    press(view, "Replay from here")
    press(view, "Run")
    expect_step(view, 1, "fill", "waits for you")
    expect(view.get_by_role("region", name="Details")).to_contain_text(
        "You are asked again: fill was changed."
    )
    rig.screenshot(page, f"asked_again_{theme}")
    approve(view, "fill", "weigh", first=1)
    expect_step(view, 2, "10")
    expect(steps(view).filter(has_text="outdated")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_model_is_asked_again_in_place_of_an_outdated_reply(
    page: Page, lab: rig.Place, theme: str
) -> None:
    opens = OPEN.replace("flat", "flat --approve all")
    rig.open_notebook(page, lab, "stale.ipynb", [OWN + SCRIPT, opens])
    if theme == "dark":
        rig.dark_theme(page)
    rig.run_all(page)
    view = panel(page, 1)
    expect_status(view, "Finished")
    rig.wait_idle(page)
    node(view, "Jar#1").first.click()
    dialog = edit_call(view)
    dialog.get_by_label("grams").fill("7")
    press(dialog, "Run with these values")
    expect_step(view, 2, "7")
    messages = open_tab(view, "Messages")
    messages.get_by_role("button", name="Turn 3").click()
    expect(messages).to_contain_text("Outdated: the model wrote this")
    rig.screenshot(page, f"stale_{theme}")
    press(messages, "Ask the model from here")
    expect(messages.get_by_role("button", name="Ask the model from here")).to_have_count(0)
    expect(messages).to_contain_text("It weighs 5 grams.")
