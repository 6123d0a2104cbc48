"""A call whose result holds three objects, and one that changed its argument: on card and graph."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import LOAD, expect_status, run_notebook, script
from tests.e2e.rig import Place, dark_theme, screenshot

GARDEN = """
from jupyter_toolcall import Scripted

class Potato:
    "A potato."
    def __init__(self, grams=100):
        self.grams = grams
    def weigh(self) -> int:
        "Return its weight."
        return self.grams

def sort_crate(crate: Potato) -> dict[str, object]:
    "Sort a crate."
    return {"best": Potato(300), "others": [Potato(100), Potato(90)], "count": 3}

def peel(potato: Potato) -> int:
    "Peel a potato; return the grams that are gone."
    potato.grams -= 20
    return 20

potato = Potato(600)
tools = [Potato, sort_crate, peel]
"""
CALLS = script(
    "model",
    '("sort_crate", {"crate": "Potato#1"})',
    '("peel", {"potato": "Potato#3"})',
    '("Potato_weigh", {"Potato": "Potato#5"})',
    '"Done."',
)


def test_the_objects_of_a_nested_result_and_a_changed_argument_stand_on_card_and_graph(
    page: Page, lab: Place
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    opens = "%%toolchat -m model -t tools -i potato --scheme flat --approve all"
    view = run_notebook(page, lab, "garden.ipynb", [LOAD + GARDEN + CALLS, f"{opens}\nSort."])
    expect_status(view, "Finished")
    graph = view.get_by_role("img", name="Object lineage")
    for number in range(1, 6):
        expect(graph.get_by_role("button", name=f"Potato#{number}").first).to_be_visible()
    steps = view.get_by_role("list", name="Steps")
    expect(steps).to_contain_text("Potato#2, Potato#3, Potato#4")
    steps.get_by_role("button", name="sort_crate").click()
    expect(view.get_by_role("region", name="Details")).to_contain_text('"others":["Potato#3"')
    screenshot(page, "nested")
    steps.get_by_role("button", name="peel").click()
    screenshot(page, "nested-changed")
    dark_theme(page)
    screenshot(page, "nested-dark")
    page.set_viewport_size({"width": 500, "height": 900})
    screenshot(page, "nested-narrow")
