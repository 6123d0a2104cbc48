"""The systems in the panel: a request to a person, another scheme, calls in XML."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e import kitchen
from tests.e2e.rig import Place, screenshot, wait_idle

BOOKING = """%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted, from_definition
book = from_definition({
    "type": "action",
    "tool": {"function": {
        "name": "book_room",
        "description": "Books a room.",
        "parameters": {"nights": {"type": "integer"}, "city": {"type": "string"},
                       "note": {"type": "string"}},
    }},
    "defaults": {
        "note": "@remove",
        "city": {"transform": {"when": {"key": "city", "value": "Bronx"},
                               "action": "override", "format": "The {city}"}},
    },
})
model = Scripted([("book_room", {"nights": 2, "city": "Bronx"}), "Your room is booked."])
"""


def test_a_request_to_a_person_is_answered_and_has_no_approve(page: Page, lab: Place) -> None:
    cell = "%%toolchat -m model -t book --scheme flat --approve all\nBook me a room."
    view = kitchen.run_notebook(page, lab, "booking.ipynb", [BOOKING, cell, "_.calls[0].result"])
    kitchen.expect_step(view, 1, "book_room", "waits for you")
    expect(view).to_contain_text("It is a request to you, and nothing runs")
    expect(view).to_contain_text("The Bronx")
    expect(view.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    expect(view.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
    screenshot(page, "request-to-a-person")
    kitchen.press(view, "Answer")
    view.get_by_label("Result", exact=True).fill('{"room": 5}')
    kitchen.press(view, "Answer")
    kitchen.expect_status(view, "Finished")
    wait_idle(page)
    expect(kitchen.text_of(page, 2)).to_contain_text("'room': 5")


def test_the_current_object_is_followed_in_the_panel(page: Page, lab: Place) -> None:
    model = """from jupyter_toolcall import Scripted
model = Scripted([
    ("_use_Potato", {"id": "Potato#1"}),
    [("Potato_peel", {}), ("_saveAs", {"name": "peeled"}), ("Potato_slice", {"shape": "STICKS"})],
    ("_use_Oven", {"id": "Oven#1"}),
    ("Oven_bake", {"item": "Potato#3"}),
    ("Fries_plate", {"plate": "Plate#1"}),
    [("save", {"fries": "Plate#2"})],
])
"""
    cell = kitchen.fries_cell("--scheme current --approve all").replace("scripted:kitchen", "model")
    view = kitchen.run_notebook(
        page, lab, "current.ipynb", [kitchen.LOAD + "\n" + model, cell, "str(fries)"]
    )
    kitchen.expect_status(view, "Finished")
    kitchen.expect_step(view, 1, "_use_Potato")
    kitchen.expect_step(view, 4, "Potato_slice", "Potato#3")
    expect(kitchen.steps(view)).to_have_count(8)
    told = kitchen.open_tab(view, "Messages")
    expect(told).to_contain_text('{"current": "Plate#2"}')
    screenshot(page, "current")
    wait_idle(page)
    expect(kitchen.text_of(page, 2)).to_contain_text("fries: sticks")


def test_calls_in_xml_are_calls_like_any_other_and_messages_show_them_as_written(
    page: Page, lab: Place
) -> None:
    cell = kitchen.fries_cell("--native --approve all")
    view = kitchen.run_notebook(page, lab, "native.ipynb", [kitchen.LOAD, cell, "str(fries)"])
    kitchen.expect_status(view, "Finished")
    kitchen.expect_step(view, 4, "Potato_slice", "Potato#4")
    told = kitchen.open_tab(view, "Messages")
    expect(told).to_contain_text(re.compile("<tool-call "))
    expect(told).to_contain_text("<tool-result ")
    screenshot(page, "native")
    kitchen.press(told, "Exact request")
    exact = told.get_by_label("Exact request")
    expect(exact).to_contain_text('"role": "user"')
    exact.scroll_into_view_if_needed()
    screenshot(page, "exact-request")
    wait_idle(page)
    expect(kitchen.text_of(page, 2)).to_contain_text("fries: sticks")
