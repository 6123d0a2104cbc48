"""A person approves each change of a table in the panel, and sees what it did and what was sent."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.kitchen import approve, choose, expect_status, expect_step, expect_waits, panel
from tests.e2e.rig import Place, dark_theme, open_notebook, run_all, screenshot, wait_drawn

SETUP = """%load_ext jupyter_toolcall
import pandas as pd
from jupyter_toolcall import Scripted

df = pd.DataFrame({"city": ["Rome", "Oslo", None] * 4, "price": [3.5, None, 4.0] * 4})
cleaner = Scripted(
    [
        ("tables_head", {"rows": 5}),
        ["Three cities are not known.", ("tables_filter", {"where": "city IS NOT NULL"})],
        ("tables_fill", {"columns": ["price"], "method": "mean"}),
        ("tables_plot", {"kind": "bar", "x": "city", "y": ["price"], "title": "Prices"}),
        ("save", {"clean": "$DataFrame"}),
    ],
    name="scripted:cleaner",
)
"""
CELL = """%%toolchat -m cleaner -t tables -i df -o clean:DataFrame
Clean {df}: leave out rows without a city, and fill the prices. Save the table as clean."""
SENT = "Sends the first 5 rows of 2 columns to scripted:cleaner."


@pytest.mark.parametrize(("width", "height", "dark"), [(1366, 768, False), (500, 900, True)])
def test_a_table_is_cleaned_step_by_step(
    page: Page, lab: Place, width: int, height: int, dark: bool
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    open_notebook(page, lab, "tables.ipynb", [SETUP, CELL])
    if dark:
        dark_theme(page)
    run_all(page)
    view = panel(page, 1)
    expect_waits(view, 3, "tables_filter")
    expect_step(view, 2, "tables_head", SENT)
    expect(view.get_by_text("city IS NOT NULL").last).to_be_visible()
    screenshot(page, f"tables-{width}-waits")
    approve(view, "tables_filter", first=3)
    expect_waits(view, 4, "tables_fill")
    expect_step(view, 3, "4 rows removed")
    approve(view, "tables_fill", first=4)
    expect_waits(view, 5, "tables_plot")
    screenshot(page, f"tables-{width}-filled")
    approve(view, "tables_plot", first=5)
    expect_status(view, "Finished")
    screenshot(page, f"tables-{width}-finished")
    choose(view, 3)
    expect(view.get_by_text("kept 8 of 12 rows", exact=True)).to_be_visible()
    screenshot(page, f"tables-{width}-filtered")
    choose(view, 5)
    wait_drawn(page)
    screenshot(page, f"tables-{width}-figure")
