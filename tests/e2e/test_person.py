"""A person plays the model, in a real JupyterLab."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from jupyter_toolcall.storage.notebook_files import with_parsed_rows
from tests.e2e.kitchen import (
    LOAD,
    choose,
    expect_status,
    expect_step,
    expect_waits,
    open_tab,
    panel,
    press,
    run_notebook,
    steps,
    text_of,
)
from tests.e2e.rig import (
    Place,
    cell,
    open_notebook,
    reload,
    restart_kernel,
    run_all,
    save,
    saved_notebook,
    screenshot,
    show_alone,
    wait_idle,
)

TOOLS = "-t Potato Oven Fries -i potato sink oven plate"
YOU = "You are the model"
PEELED = f"{LOAD}\npotato = potato.peel()"
CARD = "Reply as the model"
WEIGH = """from typing import Annotated
from pydantic import Field
from jupyter_toolcall import tool

@tool(read_only=True)
def weigh(potato: Potato, grams: Annotated[int, Field(le=500)] = 5) -> int:
    \"\"\"Weigh a potato.\"\"\"
    return grams
"""


def person_cell(options: str, prompt: str = "Slice {potato} into sticks.") -> str:
    return f"%%toolchat -m person {TOOLS} {options}\n{prompt}"


def tools(view: Locator) -> Locator:
    return view.get_by_role("list", name="Tools of this turn")


def write_call(view: Locator, tool: str) -> Locator:
    """Choose a tool; returns the dialog that asks for its arguments."""
    tools(view).get_by_role("button", name=tool, exact=True).click()
    dialog = view.get_by_role("dialog", name="Write call")
    expect(dialog).to_contain_text(tool)
    return dialog


def add(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Add call", exact=True).click()
    expect(dialog).to_have_count(0)


def written(view: Locator) -> Locator:
    return view.get_by_role("list", name="Your calls").locator("> li")


def send(dialog: Locator) -> None:
    """Add the call of a form and send the reply, in one click."""
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog).to_have_count(0)


def say(view: Locator, text: str) -> None:
    view.get_by_label("Your words").fill(text)
    press(view, "Send")


def test_the_person_selects_calls_saves_and_the_cell_continues(page: Page, lab: Place) -> None:
    cells = [PEELED, person_cell("-o sliced:Potato --approve all"), "str(sliced)"]
    open_notebook(page, lab, "select.ipynb", cells)
    run_all(page)
    view = panel(page, 1)
    expect_status(view, YOU)
    card = view.get_by_role("group", name=CARD)
    expect(card).to_contain_text("Slice Potato#1 into sticks.")
    expect(tools(view).locator("li")).to_have_count(2)
    expect(tools(view)).to_contain_text("- Potato#1")
    screenshot(page, "person-select")
    dialog = write_call(view, "selectTools")
    for name in ("Potato_slice", "Potato_peel"):
        dialog.get_by_role("checkbox", name=name).check()
    screenshot(page, "person-select-tools")
    add(dialog)
    expect(written(view)).to_contain_text('selectTools(tools=["Potato_peel","Potato_slice"])')
    press(view, "Send")
    expect(card).to_contain_text("turn 2")
    expect(tools(view).locator("li")).to_have_count(4)
    dialog = write_call(view, "Potato_slice")
    dialog.get_by_label("STICKS").check()
    send(dialog)
    expect_step(view, 2, "Potato_slice", "Potato#2")
    expect(card).to_contain_text('{"result": "Potato#2"}')
    dialog = write_call(view, "save")
    dialog.get_by_label("sliced").select_option("Potato#2")
    screenshot(page, "person-save")
    send(dialog)
    expect_status(view, "Finished")
    wait_idle(page)
    expect(text_of(page, 2)).to_contain_text("sticks")


def test_what_does_not_fit_comes_back_at_its_field_and_can_be_sent_anyway(
    page: Page, lab: Place
) -> None:
    setup = f"{LOAD}\n{WEIGH}"
    source = "%%toolchat -m person -t weigh -i potato --scheme flat --approve ask\nWeigh it."
    view = run_notebook(page, lab, "wrong.ipynb", [setup, source])
    expect_status(view, YOU)
    dialog = write_call(view, "weigh")
    # The only object of its kind is chosen from the start.
    expect(dialog.get_by_label("potato")).to_have_value("Potato#1")
    dialog.get_by_label("grams").fill("501")
    dialog.get_by_role("button", name="Add call").click()
    expect(dialog.get_by_label("grams")).to_have_attribute("aria-invalid", "true")
    # The field has the focus, and says what is wrong.
    expect(dialog.get_by_label("grams")).to_be_focused()
    expect(dialog.get_by_label("grams")).to_have_accessible_description(re.compile("500"))
    screenshot(page, "person-wrong")
    dialog.get_by_role("button", name="Add with the mistake").click()
    expect(dialog).to_have_count(0)
    expect(steps(view)).to_have_count(0)
    press(view, "Send")
    expect_step(view, 1, "weigh", "failed")
    screenshot(page, "person-failed")
    say(view, "I can't weigh that.")
    expect_status(view, "Finished · 1 call, 1 failed")


def test_two_calls_go_in_one_turn_and_the_person_is_asked_for_each_part_in_turn(
    page: Page, lab: Place
) -> None:
    view = run_notebook(page, lab, "two.ipynb", [LOAD, person_cell("--scheme flat")])
    dialog = write_call(view, "Potato_rinse")
    dialog.get_by_label("sink").select_option("Sink#1")
    add(dialog)
    add(write_call(view, "Potato_peel"))
    add(write_call(view, "Potato_peel"))
    expect(written(view)).to_have_count(3)
    written(view).nth(2).get_by_role("button", name="Remove Potato_peel").click()
    expect(written(view)).to_have_count(2)
    view.get_by_label("Your words").fill("First I clean it.")
    screenshot(page, "person-two-calls")
    press(view, "Send")
    expect_status(view, "Waiting for you")
    expect(view).to_contain_text("you, as the model; now you decide as the person")
    screenshot(page, "person-approves")
    expect_waits(view, 1, "Potato_rinse")
    press(view, "Approve")
    expect_waits(view, 2, "Potato_peel")
    press(view, "Approve")
    expect_status(view, YOU)
    expect(view.get_by_role("group", name=CARD)).to_contain_text('"Potato#3"')
    choose(view, 1)
    expect(view.get_by_role("group", name=CARD)).to_have_count(0)
    press(view, "Show")
    say(view, "Done.")
    expect_status(view, "Finished")


def test_a_reload_keeps_the_turn_and_the_calls_and_the_saved_view_shows_the_same(
    page: Page, lab: Place
) -> None:
    cells = [LOAD, person_cell("--scheme flat --no-wait --approve all")]
    open_notebook(page, lab, "reload.ipynb", cells)
    run_all(page)
    view = panel(page, 1)
    expect_status(view, YOU)
    add(write_call(view, "Potato_peel"))
    expect(written(view)).to_have_count(1)
    wait_idle(page)
    save(page)
    reload(page)
    view = panel(page, 1)
    expect(written(view)).to_contain_text("Potato_peel()")
    press(view, "Send")
    expect_step(view, 1, "Potato_peel", "Potato#2")
    # The row of the call comes before the next turn does.
    expect(view).to_contain_text("turn 2")
    wait_idle(page)
    save(page)
    (bundle,) = [
        output.data
        for output in saved_notebook(lab, "reload.ipynb").cells[1].outputs
        if "application/vnd.jupyter-toolcall.session+json" in output.get("data", {})
    ]
    saved = with_parsed_rows(bundle["application/vnd.jupyter-toolcall.session+json"])
    session = saved["rows"]["session"][0]
    assert session["says"] == [YOU]
    assert session["yours"]["turn"] == 2
    restart_kernel(page)
    view = panel(page, 1)
    expect_status(view, "Not finished")
    expect(view).to_contain_text("Saved copy. Run the cell to continue.")
    expect(view.get_by_role("button", name="Send", exact=True)).to_have_count(0)
    screenshot(page, "person-saved")


def test_restart_and_run_all_walks_the_replies_without_asking(page: Page, lab: Place) -> None:
    cells = [LOAD, person_cell("--scheme flat --approve all"), "len(_.calls), _.text"]
    open_notebook(page, lab, "walk.ipynb", cells)
    run_all(page)
    view = panel(page, 1)
    add(write_call(view, "Potato_peel"))
    press(view, "Send")
    expect(view.get_by_role("group", name=CARD)).to_contain_text("turn 2")
    say(view, "Peeled.")
    expect_status(view, "Finished")
    wait_idle(page)
    restart_kernel(page)
    run_all(page)
    expect_status(panel(page, 1), "Finished")
    wait_idle(page)
    expect(text_of(page, 2)).to_contain_text("(1, 'Peeled.')")


def test_in_xml_the_person_writes_calls_into_the_words(page: Page, lab: Place) -> None:
    cells = [PEELED, person_cell("--scheme flat --native --approve all")]
    open_notebook(page, lab, "xml.ipynb", cells)
    run_all(page)
    view = panel(page, 1)
    expect_status(view, YOU)
    view.get_by_text("System text").click()
    expect(view.get_by_role("group", name=CARD)).to_contain_text('<tool-call tool="TOOL"')
    screenshot(page, "person-xml")
    say(
        view,
        'Now: <tool-calls><tool-call tool="Potato" function="slice">'
        '<parameter name="shape">STICKS</parameter></tool-call></tool-calls>',
    )
    expect_step(view, 1, "Potato_slice", "Potato#2")
    expect(view.get_by_role("group", name=CARD)).to_contain_text("<tool-result")
    dialog = write_call(view, "Potato_peel")
    add(dialog)
    press(view, "Send")
    expect_step(view, 2, "Potato_peel", "Potato#3")
    say(view, "Done.")
    expect_status(view, "Finished")
    expect(open_tab(view, "Messages")).to_contain_text(re.compile("<tool-call "))


@pytest.mark.parametrize("width", [500, 900, 1200])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_sticks_out_however_wide_it_is(
    page: Page, lab: Place, width: int, theme: str
) -> None:
    cells = [LOAD, person_cell("--scheme flat --approve all", "Bake me some fries from {potato}.")]
    open_notebook(page, lab, "looks.ipynb", cells)
    show_alone(page, width, theme)
    run_all(page)
    view = panel(page, 1)
    dialog = write_call(view, "Potato_rinse")
    dialog.get_by_label("sink").select_option("Sink#1")
    add(dialog)
    press(view, "Send")
    expect_step(view, 1, "Potato_rinse")
    add(write_call(view, "Potato_peel"))
    cell(page, 1).get_by_label("Your words").fill("Peeled potatoes bake more evenly.")
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth")
    view.get_by_role("button", name="Send", exact=True).scroll_into_view_if_needed()
    screenshot(page, f"person-{width}-{theme}-low")
    view.get_by_role("status", name="Session status").scroll_into_view_if_needed()
    screenshot(page, f"person-{width}-{theme}")
    dialog = write_call(view, "Potato_slice")
    screenshot(page, f"person-{width}-{theme}-dialog")
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
