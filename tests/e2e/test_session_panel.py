"""`session.panel` in a box of widgets, in JupyterLab: a click decides, and a trait is observed."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import run_notebook
from tests.e2e.rig import Place, screenshot

SETUP = """from ipywidgets import HTML, VBox
from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.kitchen import Potato

model = Scripted([("Potato_peel", {"Potato": "Potato#1"}), "Done."])
inputs = {"potato": Potato(150)}
session = Session(Toolbox(Potato), model, inputs=inputs, scheme="flat").tell("Peel.")
seen = HTML("nothing yet")
show = lambda change: setattr(seen, "value", f"now {change.new}")
session.panel.observe(show, names="status")"""


def test_a_click_in_a_box_of_widgets_decides(page: Page, lab: Place) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    run_notebook(page, lab, "panel.ipynb", [SETUP, "VBox([seen, session.panel])", "session.calls"])
    expect(page.get_by_text("Waiting for you").first).to_be_visible()
    screenshot(page, "session-panel-waits")
    page.get_by_role("button", name="Approve", exact=True).first.click()
    expect(page.get_by_text("now finished")).to_be_visible()
    screenshot(page, "session-panel-finished")
