"""A tool that asks the person for input while it runs: its form, and how the call goes on."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import expect_status, panel, press, run_notebook, steps
from tests.e2e.rig import Place, dark_theme, restart_kernel, run_all, screenshot, wait_idle

BOOK = '''%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted, tool
from jupyter_toolcall.tools.running_tool import (
    InputRequest, InputRequired, OutcomeUnknown, report_progress,
)
import threading
FORM = {
    "type": "object",
    "required": ["name", "guests"],
    "properties": {
        "name": {"type": "string", "description": "Who books"},
        "guests": {"type": "integer", "minimum": 1, "default": 2},
        "email": {"type": "string", "format": "email"},
        "room": {"enum": ["garden", "hall"]},
        "music": {"type": "boolean"},
    },
}

def go_on(state, responses, arguments):
    response = responses["who"]
    if response.action != "accept":
        return "not booked"
    if state == "form":
        page = InputRequest("Pay the deposit, then choose Answer.", url="https://pay.example/table/7")
        raise InputRequired({"who": page}, response.content["name"])
    return f"{arguments['day']}: booked for {state}"

@tool(resume=go_on)
def book_table(day: str) -> str:
    """Book a table in the restaurant."""
    question = InputRequest("For whom is the table, and how many come?", FORM)
    raise InputRequired({"who": question}, "form")

def pay(amount: int) -> str:
    """Pay a bill."""
    raise OutcomeUnknown("the server stopped while the call ran")

seen = threading.Event()

@tool(read_only=True)
def copy_files(count: int) -> str:
    """Copy files."""
    for number in range(count):
        report_progress(f"{number + 1} of {count}: copying")
    seen.wait(60)
    return "copied"

'''
ONE = BOOK + 'model = Scripted([("book_table", {"day": "Monday"}), "Your table is booked."])'
CELL = "%%toolchat -m model -t book_table --scheme flat\nBook me a table."


def ask(page: Page, lab: Place) -> None:
    run_notebook(page, lab, "input.ipynb", [ONE, CELL])
    press(panel(page, 1), "Approve")
    expect_asked(page)


def expect_asked(page: Page) -> None:
    form = panel(page, 1).locator("form")
    expect(form.get_by_text("For whom is the table, and how many come?")).to_be_visible()


def test_the_form_of_a_tool_is_checked_at_its_fields_and_the_call_goes_on_with_it(
    page: Page, lab: Place
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    ask(page, lab)
    view = panel(page, 1)
    screenshot(page, "input-form")
    expect(view.get_by_role("button", name="Answer", exact=True)).to_be_in_viewport()
    press(view, "Answer")
    expect(view.get_by_text("is missing")).to_be_visible()
    view.get_by_label("name", exact=True).fill("Ada")
    view.get_by_label("guests", exact=True).fill("0")
    press(view, "Answer")
    expect(view.get_by_text("less than the minimum")).to_be_visible()
    screenshot(page, "input-wrong")
    view.get_by_label("guests", exact=True).fill("3")
    press(view, "Answer")
    link = view.get_by_role("link")
    expect(link).to_have_attribute("href", "https://pay.example/table/7")
    expect(link).to_have_attribute("rel", "noopener")
    expect(link.locator("b")).to_have_text("pay.example")
    screenshot(page, "input-page")
    dark_theme(page)
    screenshot(page, "input-page-dark")
    press(view, "Answer")
    wait_idle(page)
    expect_status(view, "Finished")
    expect(steps(view).first).to_contain_text("Monday: booked for Ada")
    expect(view.get_by_text("You: name Ada, guests 3").first).to_be_visible()
    screenshot(page, "input-done")


def test_an_open_question_survives_a_restart_and_can_be_declined(page: Page, lab: Place) -> None:
    ask(page, lab)
    restart_kernel(page)
    run_all(page)
    expect_asked(page)
    press(panel(page, 1), "Reject")
    wait_idle(page)
    expect(steps(panel(page, 1)).first).to_contain_text("not booked")


def test_the_form_fits_into_a_narrow_dark_window(page: Page, lab: Place) -> None:
    ask(page, lab)
    page.set_viewport_size({"width": 500, "height": 900})
    page.evaluate("window.jupyterapp.shell.collapseLeft?.()")
    screenshot(page, "input-narrow")
    dark_theme(page)
    for name in ("Answer", "Reject"):
        button = panel(page, 1).get_by_role("button", name=name, exact=True)
        button.scroll_into_view_if_needed()
        expect(button).to_be_in_viewport()
    screenshot(page, "input-narrow-dark")


def test_the_progress_of_a_running_tool_is_shown_in_its_step_and_in_the_status(
    page: Page, lab: Place
) -> None:
    model = 'model = Scripted([("copy_files", {"count": 500}), "Done."])'
    cell = "%%toolchat -m model -t copy_files --scheme flat\nCopy."
    view = run_notebook(page, lab, "progress.ipynb", [BOOK + model, cell])
    expect_status(view, "Running: 500 of 500: copying")
    expect(steps(view).first).to_contain_text("500 of 500: copying")
    steps(view).first.scroll_into_view_if_needed()
    screenshot(page, "progress")
    page.keyboard.press("Escape")


def test_a_tool_says_why_its_outcome_is_unknown(page: Page, lab: Place) -> None:
    model = 'model = Scripted([("pay", {"amount": 3}), "Done."])'
    cell = "%%toolchat -m model -t pay --scheme flat\nPay."
    view = run_notebook(page, lab, "unknown.ipynb", [BOOK + model, cell])
    press(view, "Approve")
    expect(view.get_by_text("the server stopped while the call ran").first).to_be_visible()
    expect(view.get_by_role("button", name="Run again", exact=True)).to_be_visible()
    screenshot(page, "unknown-reason")
