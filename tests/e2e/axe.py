"""axe-core, run in the page: what it finds that a person would stumble over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

SOURCE = Path(__file__).parents[2] / "labextension/node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
GRAVE = ("serious", "critical")


def findings(page: Page, *places: str) -> list[str]:
    """The grave findings in what these selectors find, a line each."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(SOURCE.read_text())
        # JupyterLab's body has no height, and hides what sticks out: axe takes all for hidden.
        page.add_style_tag(content="body { overflow: visible !important }")
    # A cell that is out of sight is not drawn.
    page.locator(places[0]).first.scroll_into_view_if_needed()
    options = {"runOnly": {"type": "tag", "values": RULES}}
    found: dict[str, Any] = page.evaluate(
        "([places, options]) => axe.run({ include: places.map(place => [place]) }, options)",
        [list(places), options],
    )
    seen = sum(len(each["nodes"]) for each in found["passes"] if each["id"] == "color-contrast")
    assert seen > 1, "axe takes the text for hidden"
    return [
        f"{each['id']}: {node['html'][:120]} ({node['failureSummary'][:160]})"
        for each in found["violations"]
        if each["impact"] in GRAVE
        for node in each["nodes"]
        # What an open list lies on is reached when the list is closed.
        if "obscured" not in node["failureSummary"]
    ]
