"""Records the pictures of the README from a real JupyterLab: `make animation`.

The notebook holds the two cells of the README. A person, drawn as a mouse pointer, edits the
first call, approves the second, and the graph grows. The files are:

- `panel.webp`: the animation, light
- `panel-dark.png`: the form in which the first call is edited, dark
- `decision.png`, `decision-dark.png`: the card of a call that waits, beside the form `Edit call`
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect, sync_playwright

from tests.e2e.kitchen import edit_call, expect_status, node, panel, press
from tests.e2e.rig import (
    ARGUMENTS,
    Place,
    cell,
    chromium_path,
    dark_theme,
    fresh_folder,
    open_notebook,
    run_cell,
    run_command,
    served,
    wait_idle,
)

DOCS = Path(__file__).parent
SIZE: ViewportSize = {"width": 900, "height": 740}
CARD_WIDTH = 640
SCALE = 2
READ, LOOK, MOVE, TYPE = 3200, 1600, 40, 130
"""How long a frame stays, in milliseconds: with text to read, with a change, in a movement."""

POINTER = """() => {
    const pointer = document.createElement('div');
    pointer.id = 'pointer';
    pointer.style.cssText = 'position:fixed;left:0;top:0;z-index:99999;pointer-events:none';
    pointer.innerHTML = `<svg width="22" height="28" viewBox="0 0 22 28">
        <path d="M2 2v20l5-4.5 3.5 8 3.6-1.6-3.5-7.9H18z" fill="#111" stroke="#fff"
            stroke-width="1.5"/></svg>`;
    document.body.append(pointer);
}"""
POINT = """([x, y]) => {
    document.getElementById('pointer').style.transform = `translate(${x}px, ${y}px)`;
}"""
TRANSITIONS_ENDED = """Promise.all(
    document.getAnimations().filter(shown => shown.timeline === document.timeline)
        .map(shown => shown.finished)
)"""
"""What goes by the scroll position, such as the edge of a list, never ends."""


@dataclass
class Recording:
    """Screenshots of a page with the time that each stays, and a pointer that a person moves."""

    page: Page
    frames: list[Image.Image] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    pointer: tuple[float, float] = (620.0, 440.0)

    def start(self) -> None:
        self.page.evaluate(POINTER)
        self.page.evaluate(POINT, self.pointer)

    def keep(self, duration: int) -> None:
        """Add a frame of what the page shows when its transitions have ended."""
        settle(self.page)
        self.frames.append(screenshot(self.page))
        self.durations.append(duration)

    def move_to(self, target: Locator) -> None:
        """Move the pointer onto the target in a few frames, fast at first."""
        box = target.bounding_box()
        assert box is not None
        start, end = self.pointer, (box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.4)
        for part in (0.35, 0.65, 0.85, 0.95, 1.0):
            at = tuple(a + (b - a) * part for a, b in zip(start, end, strict=True))
            self.page.evaluate(POINT, at)
            self.keep(MOVE)
        self.page.mouse.move(*end)
        self.pointer = end
        self.keep(LOOK // 2)

    def save(self, path: Path) -> None:
        """Write the frames as an animation that repeats."""
        first, *others = self.frames
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=self.durations,
            loop=0,
            lossless=True,
            quality=100,
            method=6,
        )


def settle(page: Page) -> None:
    """Returns when the transitions of the page have ended; a cell with a panel is on top."""
    page.evaluate(TRANSITIONS_ENDED)
    if panel(page, 1).count():
        cell(page, 1).evaluate("element => element.scrollIntoView({block: 'start'})")


def screenshot(source: Page | Locator) -> Image.Image:
    """Return a picture of a page or of an element."""
    return Image.open(BytesIO(source.screenshot())).convert("RGB")


def readme_cells() -> list[str]:
    """Return the cells of the README's example: the first two blocks of Python."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)\n```$", readme, re.DOTALL | re.MULTILINE)
    return blocks[:2]


@contextmanager
def notebook(browser: Browser, server: Place, dark: bool = False) -> Iterator[Page]:
    """A new window with the example, its first cell run, in which the side bars are closed."""
    with fresh_folder(server) as place:
        page = browser.new_page(viewport=SIZE, device_scale_factor=SCALE)
        open_notebook(page, place, "hotels.ipynb", readme_cells())
        for side in ("left", "right"):
            run_command(page, "application:toggle-side-tabbar", side=side)
        run_command(page, "application:toggle-left-area")
        run_command(page, "statusbar:toggle")
        if dark:
            dark_theme(page)
        run_cell(page, 0)
        wait_idle(page)
        yield page
        page.close()


def wait_for_decision(page: Page, column: str) -> Locator:
    """Returns the panel when the call that fills the column waits."""
    view = panel(page, 1)
    expect(view.get_by_role("button", name="Approve", exact=True)).to_be_enabled()
    expect(view.get_by_text(f'"{column}"', exact=True).first).to_be_visible()
    settle(page)
    return view


def record_session(page: Page) -> Recording:
    """Record how a person edits the first call and approves the second."""
    recording = Recording(page)
    recording.start()
    recording.keep(READ)
    run_cell(page, 1)
    view = wait_for_decision(page, "price")
    recording.keep(READ)
    recording.move_to(view.get_by_role("button", name="Edit", exact=True))
    dialog = edit_call(view)
    recording.keep(LOOK)
    method = dialog.get_by_label("method")
    recording.move_to(method)
    method.fill("")
    for letter in "median":
        method.press_sequentially(letter)
        recording.keep(TYPE)
    recording.keep(LOOK)
    recording.move_to(dialog.get_by_role("button", name="Run with these values"))
    press(dialog, "Run with these values")
    wait_for_decision(page, "stars")
    recording.keep(READ)
    recording.move_to(view.get_by_role("button", name="Approve", exact=True))
    press(view, "Approve")
    expect_status(view, "Finished")
    recording.keep(READ)
    edited = node(view, "DataFrame#2").first
    recording.move_to(edited)
    edited.click()
    recording.keep(READ + LOOK)
    return recording


def edited_form(page: Page) -> Locator:
    """Run the cell and change the method in the form of its first call; returns the form."""
    run_cell(page, 1)
    form = edit_call(wait_for_decision(page, "price"))
    form.get_by_label("method").fill("median")
    return form


def card_and_form(page: Page) -> Image.Image:
    """Return a picture of the card of a waiting call, beside the form that `Edit` opens."""
    page.set_viewport_size({"width": CARD_WIDTH, "height": 1000})
    form = edited_form(page)
    # The edge of the form is between pixels, and shows what is behind it.
    edge, shot = round(2 * SCALE), screenshot(form)
    right = shot.crop((edge, edge, shot.width - edge, shot.height - edge))
    press(form, "Cancel")
    left = screenshot(panel(page, 1))
    gap = round(24 * SCALE)
    picture = Image.new("RGB", (left.width + gap + right.width, right.height), corner(left))
    picture.paste(left.crop((0, 0, left.width, right.height)), (0, 0))
    picture.paste(right, (left.width + gap, 0))
    return picture


def corner(picture: Image.Image) -> tuple[int, int, int]:
    """Return the color of the background, near the corner."""
    color = picture.getpixel((round(8 * SCALE), round(8 * SCALE)))
    assert isinstance(color, tuple)
    return color[0], color[1], color[2]


def main(folder: Path) -> None:
    """Write the animation and the pictures into the folder."""
    with (
        tempfile.TemporaryDirectory() as temporary,
        served("jupyterlab", Path(temporary)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        with notebook(browser, server) as page:
            record_session(page).save(folder / "panel.webp")
        with notebook(browser, server, dark=True) as page:
            edited_form(page)
            screenshot(page).save(folder / "panel-dark.png", optimize=True)
        for name, dark in (("decision", False), ("decision-dark", True)):
            with notebook(browser, server, dark) as page:
                card_and_form(page).save(folder / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS)
