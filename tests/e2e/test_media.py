"""For fingers, for high contrast, for who wants nothing to move."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import (
    LOAD,
    edit_call,
    expect_waits,
    fries_cell,
    open_tab,
    press,
    run_notebook,
)
from tests.e2e.rig import Place, screenshot

pytestmark = pytest.mark.own_page

TARGET = 44
"""Pixels that a finger needs, each way."""
SMALL = """(view, least) => {
    const whole = '.tc-step, .tc-turns li, .tc-tool, label, .tc-list li';
    const acts = 'button, [role=tab], [role=button], input, select, textarea, summary';
    return [...view.querySelectorAll(acts)]
        .filter(each => each.checkVisibility() && !each.closest('[inert]'))
        .map(each => [each, (each.closest(whole) ?? each).getBoundingClientRect()])
        .filter(([, { width, height }]) => width > 0 && (width < least || height < least))
        .map(([each, { width, height }]) =>
            `${each.className.baseVal ?? each.className} ${each.getAttribute('aria-label')
                ?? each.textContent.slice(0, 30)}: ${Math.round(width)} x ${Math.round(height)}`);
}"""
MOVES = """view => [view, ...view.querySelectorAll('*')].filter(each => {
    const { transitionDuration, animationName } = getComputedStyle(each);
    return transitionDuration.split(', ').some(time => time !== '0s') || animationName !== 'none';
}).map(each => each.outerHTML.slice(0, 80))"""


def small(view: Locator) -> list[str]:
    """What is shown for a finger, and too small for it."""
    return list(view.evaluate(SMALL, TARGET - 0.5))


def touch(page: Page) -> None:
    """From now on the page is under fingers."""
    devtools = page.context.new_cdp_session(page)
    size = {"width": 800, "height": 1100, "deviceScaleFactor": 1, "mobile": True}
    devtools.send("Emulation.setDeviceMetricsOverride", size)
    devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})
    page.wait_for_function("matchMedia('(pointer: coarse)').matches")


def style(view: Locator, selector: str, name: str) -> str:
    found = view.locator(selector).first
    return str(found.evaluate("(each, name) => getComputedStyle(each)[name]", name))


def test_high_contrast_no_motion_and_fingers(page: Page, lab: Place) -> None:
    view = run_notebook(page, lab, "media.ipynb", [LOAD, fries_cell()])
    expect_waits(view, 2, "Potato_rinse")

    page.emulate_media(reduced_motion="reduce")
    assert view.evaluate(MOVES) == []
    press(view, "Approve")
    expect_waits(view, 3, "Potato_peel")
    assert page.evaluate("document.getAnimations().length") == 0

    page.emulate_media(forced_colors="active")
    chosen = style(view, "[role=tab][aria-selected=true]", "borderBottomColor")
    assert chosen != style(view, "[role=tab][aria-selected=false]", "borderBottomColor")
    assert style(view, ".tc-step[aria-current]", "outlineStyle") == "solid"
    assert style(view, ".tc-acts .primary", "borderTopStyle") == "solid"
    view.get_by_role("button", name="Approve", exact=True).focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert style(view, ".tc-acts .primary", "outlineStyle") == "solid"
    screenshot(page, "forced-colors")
    page.emulate_media(forced_colors="none")

    assert small(view), "a mouse needs less than a finger"
    touch(page)
    found = {}
    for tab in ("Steps", "Messages", "Compare", "Graph"):
        open_tab(view, tab)
        found[tab] = small(view)
        screenshot(page, f"touch-{tab}")
    press(view, "Reject")
    found["reject"] = small(view)
    press(view, "Cancel")
    dialog = edit_call(view)
    expect(dialog).to_be_visible()
    found["edit"] = small(view)
    assert {place: said for place, said in found.items() if said} == {}
