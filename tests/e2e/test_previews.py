"""What a waiting call would do is shown before anybody decides, and while one edits."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import expect_status, expect_waits, press
from tests.e2e.rig import Place, run_cell
from tests.e2e.test_rules import frames, started

PRICES = '''%load_ext jupyter_toolcall
import pandas as pd
from jupyter_toolcall import Scripted, tool
hotels = pd.DataFrame({"hotel": ["Alster Inn", "Weser Hof", "Haus Trave", "Seeblick", "Am Kanal",
    "Alte Werft", "Holsten", "Domblick"], "city": ["Hamburg", "Bremen", "Lübeck", "Kiel"] * 2,
    "price": [9000.0, -1.0, 4100.0, None, 96.0, None, 148.0, -5.0]})
ran = []
@tool(pure=True)
def fill(table: pd.DataFrame, column: str, value: float) -> pd.DataFrame:
    """Fills the empty cells of a column."""
    ran.append(value)
    return table.assign(**{column: table[column].fillna(value)})
model = Scripted([
    ["Two prices are negative. I remove these rows, and those above 4,000.", ("tables_filter",
        {"table": "DataFrame#1", "where": "price BETWEEN 0 AND 4000 OR price IS NULL"})],
    ["I fill what is empty.", ("fill", {"table": "DataFrame#2", "column": "price", "value": 96})],
    "Done."])
'''
CLEAN = """%%toolchat -m model -t tables fill -i hotels --scheme flat
Clean the prices of {hotels}."""


def test_the_card_shows_what_a_call_would_do_and_approve_takes_that_result(
    page: Page, lab: Place
) -> None:
    view = started(page, lab, [PRICES, CLEAN, "ran"])
    expect_waits(view, 1, "tables_filter")
    card = view.get_by_role("region", name="Details")
    preview = card.get_by_role("group", name="Preview")
    expect(preview).to_contain_text("removes 4 rows")
    expect(card.get_by_text("Preview: removes 4 rows.")).to_be_visible()
    expect(preview.locator("del", has_text="Weser Hof")).to_be_visible()
    frames(page, view, "preview-rows")
    press(view, "Approve")
    expect_waits(view, 2, "fill")
    expect(preview).to_contain_text("fills 2 cells of price")
    expect(preview.locator("mark").first).to_have_text("96.0")
    frames(page, view, "preview-cells")

    press(view, "Edit")
    dialog = view.get_by_role("dialog", name="Edit call")
    dialog.get_by_label("value", exact=True).fill("120")
    expect(dialog.get_by_role("group", name="Preview").locator("mark").first).to_have_text("120.0")
    frames(page, view, "preview-edit")
    dialog.get_by_label("column", exact=True).fill("cost")
    expect(dialog.get_by_role("group", name="Preview")).to_contain_text(re.compile("Would fail"))
    dialog.get_by_label("column", exact=True).fill("price")
    expect(dialog.get_by_role("group", name="Preview").locator("mark").first).to_have_text("120.0")
    dialog.get_by_role("button", name="Run with these values").click()
    expect_status(view, "Finished")
    # Each was tried once, and none ran again.
    run_cell(page, 2)
    expect(page.locator(".jp-OutputArea-output", has_text="[96.0, 120.0, 120.0]")).to_be_visible()
