"""Exploring a graph in a real browser: lineage, filters, copies and the overview."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from jupyter_toolcall import Scripted, Session, Toolbox
from tests.branching import ExchangeRate, Ledger, branching_session
from tests.e2e.axe import findings
from tests.e2e.kitchen import expect_current_in_sight, node, press, scale_of
from tests.e2e.rig import screenshot

FOLD = {"calls 21-80"}
"""The box that stands for most of the calls that are not drawn."""
DESKTOP: ViewportSize = {"width": 1366, "height": 768}


@dataclass(frozen=True)
class Field:
    """A field after some digging."""

    rows: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        """How large it is, as tables and arrays say it."""
        return (self.rows, 10)

    def dig(self, row: int, form: str = "STRAIGHT") -> Field:
        """Dig one row."""
        if row == 20:
            raise ValueError("row 20 is a rock")
        if row == 40:
            # A call of more than a second is slow among any others.
            time.sleep(1.05)
        return Field(10_000 if row == 60 else row)


def books() -> Session:
    """Two ledgers made of one, one of them with a successor; and a rate beside them."""
    calls: list[Any] = [
        ("Ledger_add", {"Ledger": "Ledger#1", "amount": 1}),
        ("Ledger_add", {"Ledger": "Ledger#2", "amount": 2}),
        ("Ledger_add", {"Ledger": "Ledger#1", "amount": 3}),
        ("ExchangeRate_double", {"ExchangeRate": "ExchangeRate#1"}),
        "Done.",
    ]
    inputs = {"alice": Ledger("alice", (5,)), "rate": ExchangeRate()}
    tools = Toolbox(Ledger, ExchangeRate)
    session = Session(tools, Scripted(calls), scheme="flat", inputs=inputs, approve="all")
    return session.tell("Balance the books.")


def farm() -> Session:
    """130 calls: one fails, one is slow, one has a large result, one another argument."""
    newest = 1
    calls: list[Any] = []
    for row in range(1, 131):
        form = "CURVED" if row == 80 else "STRAIGHT"
        calls.append(("Field_dig", {"Field": f"Field#{newest}", "row": row, "form": form}))
        newest += row != 20
    model = Scripted([*calls, "Done."])
    inputs = {"field": Field()}
    session = Session(Toolbox(Field), model, scheme="flat", inputs=inputs, approve="all")
    return session.tell("Dig the field.")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The addresses of exported sessions, by name."""
    folder = tmp_path_factory.mktemp("explore")
    sessions = {"books": books(), "farm": farm(), "branches": branching_session(6, 45, branches=8)}
    return {
        name: session.export(folder / f"{name}.html").as_uri() for name, session in sessions.items()
    }


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page of usual size, which may use the clipboard."""
    context = browser.new_context(
        viewport=DESKTOP, permissions=["clipboard-read", "clipboard-write"]
    )
    yield context.new_page()
    context.close()


def opened(page: Page, address: str) -> Locator:
    """Open an exported session; returns its panel, with the graph drawn."""
    page.goto(address)
    expect(page.locator(".tc-graph .node").first).to_be_visible()
    return page.get_by_role("region", name="Tool calls")


def choose(view: Locator, entry: str) -> None:
    """Choose an entry of the menu More."""
    view.get_by_role("button", name="More", exact=True).click()
    view.get_by_role("menuitem", name=entry).click()


def pale(view: Locator) -> set[str]:
    """The names of the nodes that are pale."""
    names = view.locator(".node.away .hit").evaluate_all("nodes => nodes.map(one => one.ariaLabel)")
    return set(names)


def test_lineage_of_a_clicked_object_leaves_what_is_unrelated_pale(
    page: Page, pages: dict[str, str]
) -> None:
    view = opened(page, pages["books"])
    node(view, "Ledger#2").click()
    button = view.get_by_role("button", name="Lineage")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    rates = {"ExchangeRate#1", "Call 4: ExchangeRate_double", "ExchangeRate#2"}
    assert pale(view) == {"Call 3: Ledger_add", "Ledger#4"} | rates
    node(view, "Ledger#4").click()
    calls = {"Call 1: Ledger_add", "Call 2: Ledger_add"}
    assert pale(view) == {"Ledger#2", "Ledger#3"} | calls | rates
    node(view, "Call 2: Ledger_add").click()
    assert pale(view) == {"Call 3: Ledger_add", "Ledger#4"} | rates
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert pale(view) == set()


def test_the_key_l_shows_the_lineage_of_the_focused_object_and_escape_leaves_it(
    page: Page, pages: dict[str, str]
) -> None:
    view = opened(page, pages["books"])
    node(view, "ExchangeRate#2").focus()
    page.keyboard.press("l")
    expect(view.get_by_role("button", name="Lineage")).to_have_attribute("aria-pressed", "true")
    calls = {f"Call {step}: Ledger_add" for step in (1, 2, 3)}
    assert pale(view) == {"Ledger#1", "Ledger#2", "Ledger#3", "Ledger#4"} | calls
    page.keyboard.press("Escape")
    expect(view.get_by_role("button", name="Lineage")).to_have_attribute("aria-pressed", "false")
    assert pale(view) == set()
    view.get_by_role("button", name="Lineage").click()
    page.keyboard.press("Escape")
    expect(view.get_by_role("button", name="Lineage")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(
    ("kind", "step", "reason", "marked"),
    [
        ("failed", 20, "", {"Call 20: Field_dig"}),
        ("slow", 40, "", FOLD),
        ("large", 60, "100,000 cells", FOLD),
        (
            *("unusual", 80, 'form "CURVED", "STRAIGHT" in 129 of 130 calls'),
            {"Field#80"},
        ),
    ],
)
def test_a_filter_shows_the_call_of_its_kind_in_one_click(
    page: Page, pages: dict[str, str], kind: str, step: int, reason: str, marked: set[str]
) -> None:
    view = opened(page, pages["farm"])
    chip = view.get_by_role("button", name=f"1 {kind}")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(view.get_by_role("status", name="Search results")).to_have_text("1 of 1")
    current = view.get_by_role("list", name="Steps").locator("[aria-current=step]")
    expect(current).to_have_attribute("data-n", str(step))
    expect(view.locator(".tc-why")).to_have_text(reason)
    found = view.locator(".node.found .hit")
    assert set(found.evaluate_all("nodes => nodes.map(one => one.ariaLabel)")) == marked
    for one in found.all():
        expect(one).to_be_in_viewport()


def test_the_graph_is_copied_as_svg_png_and_dot(page: Page, pages: dict[str, str]) -> None:
    view = opened(page, pages["books"])
    said = view.get_by_role("status", name="Graph")
    copied = "() => navigator.clipboard.readText()"
    choose(view, "Copy as SVG")
    expect(said).to_have_text("SVG copied")
    svg = page.evaluate(copied)
    assert svg.startswith("<svg ")
    assert {"Ledger#4", "ExchangeRate#2", "3 Ledger_add"} <= set(re.findall(r">([^<>]+)<", svg))
    choose(view, "Copy as DOT")
    expect(said).to_have_text("DOT copied")
    dot = page.evaluate(copied)
    assert dot.startswith("digraph lineage {")
    assert '"Ledger#1" -> "3 Ledger_add";' in dot
    assert '"3 Ledger_add" -> "Ledger#4";' in dot
    choose(view, "Copy as PNG")
    expect(said).to_have_text("PNG copied")
    types, (wide, high), inks = page.evaluate(
        """async () => {
          const [item] = await navigator.clipboard.read();
          const picture = await createImageBitmap(await item.getType('image/png'));
          const canvas = new OffscreenCanvas(picture.width, picture.height);
          const context = canvas.getContext('2d');
          context.drawImage(picture, 0, 0);
          const { data } = context.getImageData(0, 0, picture.width, picture.height);
          const inks = new Set();
          for (let at = 0; at < data.length; at += 4) inks.add(data.slice(at, at + 3).join());
          return [item.types, [picture.width, picture.height], inks.size];
        }"""
    )
    assert types == ["image/png"]
    size = re.match(r'<svg [^>]*?width="(\d+)" height="(\d+)"', svg)
    assert size is not None
    assert (wide, high) == (2 * int(size[1]), 2 * int(size[2]))
    # Lines, texts and tiles have colours of their own on the ground.
    assert inks > 4


def frame_of(overview: Locator) -> dict[str, float]:
    """The place of the frame in the overview."""
    frame = overview.locator(".frame")
    place: dict[str, float] = frame.evaluate(
        """element => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return { x, y, width, height };
        }"""
    )
    return place


def transform(view: Locator) -> str:
    """Where the graph is moved to."""
    text = view.get_by_role("img", name="Object lineage").locator("> g").get_attribute("transform")
    return text or ""


def test_the_overview_moves_the_graph_by_pointer_and_by_keyboard(
    page: Page, pages: dict[str, str]
) -> None:
    view = opened(page, pages["branches"])
    overview = view.get_by_role("slider", name="Overview")
    overview.focus()
    page.keyboard.press("Home")
    first, start = frame_of(overview), transform(view)
    page.keyboard.press("ArrowDown")
    down = frame_of(overview)
    assert down["x"] == first["x"]
    assert down["y"] > first["y"]
    expect(overview).to_have_attribute(
        "aria-valuetext", re.compile(r"^showing \d+ to \d+ of 45 calls$")
    )
    page.keyboard.press("Home")
    assert frame_of(overview) == first
    assert transform(view) == start
    grip = (first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
    page.mouse.move(*grip)
    page.mouse.down()
    assert transform(view) == start
    page.mouse.move(grip[0], grip[1] + 6, steps=4)
    page.mouse.up()
    dragged = frame_of(overview)
    assert dragged["x"] == first["x"]
    assert abs(dragged["y"] - first["y"] - 6) <= 2
    assert transform(view) != start
    page.mouse.move(*grip)
    assert frame_of(overview) == dragged


def test_the_overview_covers_nothing_and_a_graph_in_sight_has_none(
    page: Page, pages: dict[str, str]
) -> None:
    view = opened(page, pages["branches"])
    overview, canvas = view.get_by_role("slider", name="Overview"), view.locator(".tc-canvas")
    above, below = overview.bounding_box(), canvas.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]
    expect(opened(page, pages["books"]).get_by_role("slider", name="Overview")).to_be_hidden()


@pytest.mark.parametrize("width", [1366, 900, 500])
def test_rows_of_a_page_without_a_kernel_are_as_wide_as_it_and_their_text_is_readable(
    page: Page, pages: dict[str, str], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 768})
    view = opened(page, pages["farm"])
    canvas = view.locator(".tc-canvas").bounding_box()
    assert canvas is not None
    boxes = [box for one in view.locator(".node .tile").all() if (box := one.bounding_box())]
    left, right = min(box["x"] for box in boxes), max(box["x"] + box["width"] for box in boxes)
    assert canvas["x"] <= left < right <= canvas["x"] + canvas["width"]
    # No other call had room, with its arguments, and a mark if it waits.
    assert right - left > canvas["width"] - 340
    # The smallest names have 12 pixels.
    assert 12 * scale_of(view) >= 11


@pytest.mark.parametrize("width", [1366, 500])
def test_at_an_earlier_step_the_current_call_is_in_sight_at_every_zoom(
    page: Page, pages: dict[str, str], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 768})
    view = opened(page, pages["branches"])
    expect_current_in_sight(view)
    for zoom in ("Zoom in", "Zoom in", "Fit", "Zoom in", "Zoom out", "Zoom out"):
        press(view, zoom)
        press(view, "Step back")
        expect_current_in_sight(view)


def tour(page: Page, view: Locator) -> Iterator[str]:
    """Every way to look at a graph; yields its name when it is shown."""
    expect(view.get_by_role("slider", name="Overview")).to_be_visible()
    yield "overview"
    view.get_by_role("button", name="Lineage").click()
    yield "lineage"
    view.get_by_role("button", name="Lineage").click()
    view.get_by_role("button", name="More", exact=True).click()
    yield "menu"
    page.keyboard.press("Escape")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_no_way_to_look_at_a_graph_has_a_grave_finding(
    browser: Browser, pages: dict[str, str], scheme: str
) -> None:
    # The page's own policy lets no other script run.
    context = browser.new_context(viewport=DESKTOP, color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    view = opened(page, pages["branches"])
    found = {}
    for state in tour(page, view):
        screenshot(page, f"explore-{state}-{scheme}")
        found[state] = findings(page, ".tc")
    context.close()
    assert {state: said for state, said in found.items() if said} == {}
