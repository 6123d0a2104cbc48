"""An object that shows itself by markup of its own: seen in a frame, out of which nothing acts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Request, expect

from tests.e2e.corpus import CORPUS, HOST
from tests.e2e.kitchen import expect_status, node, panel, press
from tests.e2e.rig import Place, dark_theme, open_notebook, run_all, screenshot, wait_idle

pytestmark = pytest.mark.own_page

TWICE = (
    "<svg><desc><p></p></desc><style><!--</style>"
    f"<a href='https://{HOST}/link'>click</a><link rel=preconnect href='https://{HOST}'>"
    "--></style></svg>"
)
"""A comment to who reads it once; and markup to the frame, which reads what that one wrote."""
VEILED = f"<style>*{{background:u\\72l(https://{HOST}/veiled.png)}}</style>"
HEAD = "<h3>Sales</h3><p>all of it</p>"
LONG = HEAD + "<p>and more</p>" * 200
"""More than stands in a row, so that all of it is asked for."""
MARKUP = HEAD + VEILED + "".join(CORPUS)


def own(markup: str) -> str:
    """The source of a cell with a tool that makes an object of this markup."""
    return f"""
%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted

class Note:
    def _repr_html_(self) -> str:
        return {markup!r}

def write() -> Note:
    return Note()

model = Scripted([("write", {{}}), "Done."])
"""


CELL = "%%toolchat -m model -t write --scheme flat --approve all\nWrite it."


@pytest.mark.parametrize(
    ("theme", "markup"), [("light", MARKUP), ("dark", MARKUP), ("light", LONG + TWICE)]
)
def test_markup_of_a_value_is_seen_and_acts_nowhere(
    page: Page, lab: Place, theme: str, markup: str
) -> None:
    seen: list[str] = []

    def note(request: Request) -> None:
        if HOST in request.url.partition("?")[0]:
            seen.append(request.url)

    page.on("request", note)
    open_notebook(page, lab, "note.ipynb", [own(markup), CELL])
    if theme == "dark":
        dark_theme(page)
    run_all(page)
    view = panel(page, 1)
    expect_status(view, "Finished")
    wait_idle(page)
    node(view, "Note#1").click()
    press(view, "Show all")
    frame = view.locator("iframe.tc-frame")
    expect(frame).to_have_attribute("sandbox", "")
    inside = view.frame_locator("iframe.tc-frame")
    expect(inside.get_by_role("heading", name="Sales")).to_be_visible()
    expect(inside.locator("a, link, form, body meta, script")).to_have_count(0)
    screenshot(page, f"frame-{theme}")
    assert len(CORPUS) > 90
    assert page.evaluate("window.canary") is None
    assert seen == []
