"""The exported page, opened as a file: the panel's view, without Jupyter and without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.kitchen import FRIES, Oven, Plate, Potato, Sink, kitchen
from tests.e2e.axe import findings
from tests.e2e.rig import quiet_page, screenshot

HOSTILE = "</script><img src=x onerror='window.broken = 1'><script>window.broken = 1</script>"
SCHEMES = ("light", "dark")


def lunch() -> Session:
    given = {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}
    made = Session(
        kitchen(), FRIES, approve="all", inputs=given, outputs={"fries": Plate}, name="lunch"
    )
    return made.tell("Bake me some fries from Potato#1.").edit("call_4", shape="SLICES").run()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lunch().export(tmp_path_factory.mktemp("page") / "fries.html")


@pytest.fixture
def quiet(page: Page) -> Iterator[Page]:
    """A page that loads nothing but the file, and has nothing to complain of."""
    with quiet_page(page) as loaded:
        yield page
    assert len([url for url in loaded if url.startswith("file://")]) == 1


def test_the_page_is_the_panel_with_all_its_tabs(quiet: Page, exported: Path) -> None:
    quiet.goto(exported.as_uri())
    region = quiet.get_by_role("region", name="Tool calls")
    expect(region).to_be_visible()
    expect(quiet).to_have_title("Bake me some fries from Potato#1.")
    expect(quiet.get_by_role("heading", level=1)).to_have_text("Bake me some fries from Potato#1.")
    expect(quiet.locator(".still")).to_be_hidden()
    graph = region.get_by_role("img", name="Object lineage")
    graph.get_by_role("button", name="Potato#3", exact=True).click()
    expect(region).to_contain_text("Potato_peel")
    region.get_by_role("tab", name="Steps").click()
    steps = region.get_by_role("list", name="Steps").get_by_role("listitem")
    expect(steps).to_have_count(8)
    steps.nth(4).get_by_role("button").click()
    expect(region.get_by_role("region", name="Details")).to_contain_text("made by Oven_bake")
    region.get_by_role("tab", name="Messages").click()
    region.get_by_role("button", name="Turn 4", exact=True).click()
    expect(region).to_contain_text("It is clean and peeled, so it can be cut now.")
    region.get_by_role("tab", name="Compare").click()
    expect(region.get_by_role("tabpanel", name="Compare")).to_contain_text("STICKS")


def test_time_goes_back_and_nothing_can_be_decided(quiet: Page, exported: Path) -> None:
    quiet.goto(exported.as_uri())
    region = quiet.get_by_role("region", name="Tool calls")
    slider = region.get_by_role("slider", name="Time")
    slider.focus()
    for _ in range(5):
        quiet.keyboard.press("ArrowLeft")
    expect(region.get_by_role("button", name="Potato#3").first).to_be_visible()
    expect(region.get_by_role("button", name="Plate#2")).to_have_count(0)
    for name in ("Approve", "Edit", "Replay from here", "Fork from here", "Exact request"):
        expect(region.get_by_role("button", name=name)).to_have_count(0)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [500, 1400])
def test_the_page_fits_and_is_light_or_dark_as_its_reader_has_it(
    browser: Browser, exported: Path, scheme: str, width: int
) -> None:
    view = {"width": width, "height": 1000}
    context = browser.new_context(viewport=view, color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(exported.as_uri())
    region = page.get_by_role("region", name="Tool calls")
    expect(region).to_be_visible()
    ground = page.evaluate("getComputedStyle(document.querySelector('.tc')).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(27, 27, 27)"}[scheme]
    for tab in ("Graph", "Steps", "Messages", "Compare"):
        region.get_by_role("tab", name=tab).click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        screenshot(page, f"page-{tab}-{scheme}-{width}")
    assert findings(page, "body") == []
    context.close()


def test_without_a_script_the_picture_and_the_text_are_there(
    browser: Browser, exported: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(exported.as_uri())
    expect(page.locator(".still svg")).to_be_visible()
    expect(page.locator(".still pre")).to_contain_text("3 Potato_peel(Potato#2) → Potato#3")
    screenshot(page, "page-without-script")
    context.close()


def test_whatever_a_model_says_runs_nothing(quiet: Page, tmp_path: Path) -> None:
    said = Scripted(
        [
            [HOSTILE, ("Potato_peel", {"Potato": HOSTILE})],
            ("Potato_peel", {}),
            ("<!--<script>", {"a": "--><style>*{display:none}</style>"}),
            f"{HOSTILE}\u2028<![CDATA[",
        ]
    )
    session = Session(
        kitchen(), said, scheme="flat", approve="all", inputs={"potato": (Potato(), HOSTILE)}
    )
    path = session.tell(HOSTILE).export(tmp_path / "a.html")
    quiet.goto(path.as_uri())
    region = quiet.get_by_role("region", name="Tool calls")
    expect(region).to_be_visible()
    region.get_by_role("tab", name="Messages").click()
    assert quiet.evaluate("window.broken") is None
    assert quiet.locator("img[src=x]").count() == 0
    assert quiet.locator("script").count() == 2
    expect(quiet.get_by_role("heading", level=1)).to_contain_text("</script><img")


def test_the_policy_of_the_page_stops_what_is_not_its_own(browser: Browser, exported: Path) -> None:
    """What no text can bring in, a hand put there: even so nothing runs, and nothing loads."""
    text = exported.read_text()
    added = "<script>window.broken = 1</script><img src='http://localhost:9/x.png' onerror=alert()>"
    (exported.parent / "changed.html").write_text(text.replace("<main>", f"<main>{added}"))
    page = browser.new_page()
    asked: list[str] = []
    page.on("requestfinished", lambda request: asked.append(request.url))
    page.goto((exported.parent / "changed.html").as_uri())
    expect(page.get_by_role("region", name="Tool calls")).to_be_visible()
    assert page.evaluate("window.broken") is None
    assert [url for url in asked if not url.startswith("file://")] == []
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "unsafe" not in policy[1]
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    page.close()
