"""The graph in a real browser: no text, tile or control lies on another or on an edge."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.branching import branching_session
from tests.e2e.rig import screenshot

OVERLAPS = Path(__file__).with_name("overlaps.js").read_text("utf-8").strip().removesuffix(";")


ZOOMS = ("Fit", "Zoom out", "Zoom out", *["Zoom in"] * 4)
"""From the whole drawing to tiles alone, then to large ones."""


@pytest.mark.parametrize(
    ("seed", "turns"),
    [
        *((1, 3), (6, 45)),
        *(
            pytest.param(*size, marks=pytest.mark.long)
            for size in ((2, 8), (3, 15), (4, 15), (5, 30), (7, 120), (8, 300))
        ),
    ],
)
def test_no_text_tile_or_control_lies_on_another_and_no_edge_crosses_one(
    page: Page, tmp_path: Path, seed: int, turns: int
) -> None:
    address = branching_session(seed, turns, branches=5).export(tmp_path / "b.html").as_uri()
    for width in (1366, 500):
        page.set_viewport_size({"width": width, "height": 768})
        page.goto(address)
        expect(page.locator(".tc-graph .node").first).to_be_visible()
        found = page.evaluate(OVERLAPS)
        screenshot(page, f"overlaps-{seed}-{width}")
        assert found["boxes"] >= 6
        assert "\n".join(found["found"]) == ""
        for zoom in ZOOMS:
            page.get_by_role("button", name=zoom, exact=True).first.click()
            assert "\n".join(page.evaluate(OVERLAPS)["found"]) == "", zoom
