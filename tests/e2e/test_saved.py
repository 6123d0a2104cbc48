"""A notebook that is opened and not run: what its saved sessions show, and that nothing runs."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import rig
from tests.e2e.kitchen import OWN, expect_status, expect_waits, panel, run_notebook, script
from tests.e2e.samples import bundle, session

HOSTILE = "</script><img src=x onerror='window.broken = 1'><script>window.broken = 1</script>"


@pytest.mark.parametrize("front_end", ["lab", "notebook7"])
def test_a_saved_session_is_shown_though_no_cell_has_run(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: rig.Place = request.getfixturevalue(front_end)
    rig.open_notebook(page, place, "saved.ipynb", ["%%toolchat\nPeel it."], {0: [session()]})
    region = rig.outputs(page, 0).get_by_role("region", name="Tool calls")
    expect(region).to_be_visible()
    expect(region.get_by_role("button", name="Potato#2").first).to_be_visible()
    expect(rig.outputs(page, 0)).not_to_contain_text("the text of the session")
    rig.screenshot(page, f"saved-{front_end}")
    if front_end == "lab":
        rig.dark_theme(page)
        rig.screenshot(page, "saved-lab-dark")


BROKEN = (
    ("text", "it is not a JSON object"),
    ({"version": 1}, "it has no rows"),
    ({"version": 99, "rows": {}}, "format 99"),
    ({"version": 1, "rows": {"calls": [[HOSTILE]]}}, "its calls are not a list of rows"),
    ({"version": HOSTILE, "rows": {}}, "it has no format version"),
)


def test_a_hostile_name_is_text_and_broken_data_is_one_line_that_says_why(
    page: Page, lab: rig.Place
) -> None:
    kept = [session(made=f"{HOSTILE}#2", tool=HOSTILE), *(bundle(data) for data, _ in BROKEN)]
    cells = ["%%toolchat\nPeel it."] * len(kept)
    rig.open_notebook(page, lab, "hostile.ipynb", cells, {n: [data] for n, data in enumerate(kept)})
    expect(rig.outputs(page, 0).get_by_role("region", name="Tool calls")).to_be_visible()
    assert rig.outputs(page, 0).locator("script, img[src=x]").count() == 0
    for number, (_, why) in enumerate(BROKEN, 1):
        rig.cell(page, number).scroll_into_view_if_needed()
        says = rig.outputs(page, number).locator("p")
        expect(says).to_contain_text(why)
        expect(says).to_have_count(1)
    assert page.evaluate("window.broken") is None


def test_many_saved_sessions_are_drawn_where_they_can_be_seen(page: Page, lab: rig.Place) -> None:
    sources = [f"%%toolchat\nPeel number {number}." for number in range(3)]
    saved = {number: [session(made=f"Potato#{number + 2}")] for number in range(3)}
    rig.open_notebook(page, lab, "many.ipynb", sources, saved)
    rig.wait_drawn(page)
    for number in range(3):
        rig.cell(page, number).scroll_into_view_if_needed()
        made = rig.outputs(page, number).get_by_role("button", name=f"Potato#{number + 2}")
        expect(made.first).to_be_visible()


def test_a_reopened_call_that_waits_is_a_saved_copy_with_its_arguments_in_order(
    page: Page, lab: rig.Place
) -> None:
    model = script("model", '("fill", {"zest": "a", "grams": 5})', '"Done."')
    own = OWN.replace("def fill(", "def fill(zest: str, ")
    opens = "%%toolchat -m model -t fill --scheme flat --no-wait\nFill it."
    page.set_viewport_size({"width": 1366, "height": 768})
    run_notebook(page, lab, "again.ipynb", [own + model, opens])
    expect_waits(panel(page, 1), 1, "fill")
    rig.wait_idle(page)
    rig.save(page)
    rig.shut_down_kernels(lab)
    page.goto("about:blank")
    rig.open_notebook(page, lab, "again.ipynb")
    view = panel(page, 1)
    expect_status(view, "Not finished")
    expect(view.get_by_text("Saved copy")).to_have_text(["Saved copy. Run the cell to continue."])
    expect(view.get_by_role("button", name="Approve")).to_have_count(0)
    expect(view.locator(".tc-args dt")).to_have_text(["zest", "grams", "of"])
    rig.screenshot(page, "reopened-waiting")
