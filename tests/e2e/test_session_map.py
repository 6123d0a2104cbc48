"""Many sessions in a cell: those that wait stand first, and each opens into its panel."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e import rig

SETUP = """%load_ext jupyter_toolcall
from jupyter_toolcall import Session, Toolbox, tool
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.schemes.messages import Reply, User

@tool(read_only=True)
def look_up(customer: int) -> str:
    "Look a customer up."
    return "late"

def remind(customer: int) -> str:
    "Send a reminder."
    return f"sent to {customer}"

class Clerk:
    "Every fourth customer gets a reminder; the address of the third is not known."
    name = identity = "clerk"
    def __call__(self, request):
        prompt = next(m.text for m in request.messages if isinstance(m, User))
        number = int(prompt.split()[-1])
        if number == 3:
            raise ConnectionError("no address")
        tools = ["look_up", *(["remind"] if number % 4 == 0 else [])]
        if request.turn < len(tools):
            call = Call(f"call_{request.turn}", tools[request.turn], {"customer": number})
            return Reply("", (call,), "tools")
        return Reply(f"Customer {number} is done.")
"""
MAP = """runs = Session.map([f"Deal with customer {{n}}" for n in range({count})],
                   Toolbox(look_up, remind), Clerk(), scheme="flat", folder="journals")
runs"""


def table(page: Page) -> Locator:
    return page.get_by_role("region", name="Sessions of a map")


def session_row(page: Page, number: int) -> Locator:
    button = page.get_by_role("button", name=f"session {number}", exact=False)
    return table(page).get_by_role("row").filter(has=button.first)


def show(page: Page, lab: rig.Place, count: int, *more: str) -> None:
    rig.open_notebook(page, lab, "a.ipynb", [SETUP, MAP.format(count=count), *more])
    rig.run_cell(page, 0)
    rig.wait_idle(page)
    rig.run_cell(page, 1)
    expect(table(page).get_by_role("button", name=f"All {count:,}")).to_be_visible(timeout=120_000)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_sessions_that_wait_are_first_and_each_is_decided_in_its_panel(
    page: Page, lab: rig.Place
) -> None:
    show(page, lab, 10)
    rows = table(page).get_by_role("row")
    expect(rows.nth(1)).to_contain_text("Deal with customer 0Waiting")
    expect(rows.nth(2)).to_contain_text("Deal with customer 4Waiting")
    expect(table(page).get_by_role("button", name="Waiting 3")).to_be_visible()
    expect(table(page).get_by_role("list", name="Errors")).to_have_text(
        "1 × ConnectionError: no address"
    )
    # The saved copy of the table is not seen beside the live one.
    expect(rig.outputs(page, 1).get_by_text("10 sessions:")).to_be_hidden()
    press(page, "Open session 4")
    calls = page.get_by_role("region", name="Tool calls")
    expect(calls.get_by_text("remind", exact=True).first).to_be_visible()
    rig.screenshot(page, "session-map-open")
    press(page, "Approve")
    expect(rows.nth(2)).to_contain_text("Deal with customer 4Finished")
    expect(table(page).get_by_role("button", name="Waiting 2")).to_be_visible()
    press(page, "Close session 4")
    expect(calls).to_have_count(0)
    table(page).get_by_role("button", name="Waiting 2").click()
    expect(rows).to_have_count(3)


def open_and_run(page: Page, lab: rig.Place, source: str) -> None:
    """Open a session of a map, and run another cell."""
    show(page, lab, 10, source)
    press(page, "Open session 4")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    rig.run_cell(page, 2)
    rig.wait_idle(page)


def test_a_decision_from_python_is_seen_in_the_table_and_in_the_open_panel(
    page: Page, lab: rig.Place
) -> None:
    open_and_run(page, lab, "runs[4].decide(decision='reject', reason='not now').run().status")
    expect(rig.cell(page, 2)).to_contain_text("finished")
    expect(session_row(page, 4)).to_contain_text("Finished")
    expect(page.get_by_role("status", name="Session status")).to_contain_text("Finished")


def test_the_same_map_in_another_cell_closes_the_panel_that_holds_a_session(
    page: Page, lab: rig.Place
) -> None:
    open_and_run(page, lab, MAP.format(count=10).replace("runs", "again"))
    expect(table(page)).to_have_count(2)
    expect(page.get_by_role("region", name="Tool calls")).to_have_count(0)
    expect(table(page).nth(1).get_by_role("button", name="Waiting 3")).to_be_visible()


def test_without_a_kernel_the_notebook_shows_the_table_as_it_was(
    page: Page, lab: rig.Place
) -> None:
    show(page, lab, 10)
    press(page, "Open session 4")
    press(page, "Approve")
    expect(session_row(page, 4)).to_contain_text("Finished")
    rig.wait_idle(page)
    rig.save(page)
    page.evaluate(f"async () => {{ await {rig.CURRENT}.sessionContext.shutdown(); }}")
    page.reload()
    rig.wait_drawn(page)
    saved = rig.outputs(page, 1).get_by_text("10 sessions: 2 waiting, 1 failed, 7 finished")
    expect(saved).to_be_visible()
    expect(rig.outputs(page, 1).get_by_text("model not found")).to_be_hidden()


@pytest.mark.long
def test_a_thousand_sessions_are_shown_a_page_at_a_time(page: Page, lab: rig.Place) -> None:
    show(page, lab, 1_000)
    expect(table(page).get_by_role("row")).to_have_count(51)
    press(page, "Next")
    expect(table(page)).to_contain_text("51 to 100 of 1,000")
    press(page, "Open session 200")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    rig.dark_theme(page)
    rig.screenshot(page, "session-map-thousand")
    press(page, "Approve")
    expect(session_row(page, 200)).to_contain_text("Finished")
