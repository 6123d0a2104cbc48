"""A saved session that somebody changed: shown as unchecked or refused, and never acted on."""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from playwright.sync_api import Dialog, Page, expect

from jupyter_toolcall.storage.notebook_files import with_parsed_rows
from tests.e2e.corpus import RUN
from tests.e2e.kitchen import LOAD, OPTIONS, PROMPT, expect_waits, panel
from tests.e2e.rig import Place, cell, open_notebook, outputs, run_all, screenshot
from tests.e2e.samples import SESSION, session

pytestmark = pytest.mark.own_page

UNCHECKED = "not verified on this computer"
Forge = Callable[[dict[str, Any]], object]


def rows(data: dict[str, Any], table: str) -> dict[str, Any]:
    found: dict[str, Any] = data["rows"][table][-1]
    return found


def approved(data: dict[str, Any]) -> None:
    """A call that waits, with an approval by a person behind it, and the head moved there."""
    rows(data, "calls")["status"] = "proposed"
    rows(data, "session").update(phase="waiting", says="Waiting for you", pending=["c1"])
    decided = {"type": "decided", "call_id": "call_1", "bound": "b" * 32}
    data["journal"] = {
        "parent": "0" * 32,
        "head": "f" * 32,
        "events": [[-1, decided, {"by": "person"}]],
        "texts": {},
    }


def many(data: dict[str, Any]) -> None:
    """Twenty thousand calls, none of which anything leads to."""
    one = rows(data, "calls")
    data["rows"]["calls"] = [{**one, "id": f"c{n}", "step": n + 1} for n in range(20_000)]


def bomb() -> str:
    """A kilobyte of SVG that asks for 6 to the 12th circles."""
    uses = (f'<use href="#g{n}"/>' * 6 for n in range(12))
    groups = (f'<g id="g{n}">{inside}</g>' for n, inside in enumerate(uses, 1))
    first = '<svg xmlns="http://www.w3.org/2000/svg"><g id="g0"><circle r="1"/></g>'
    return first + "".join(groups) + "</svg>"


def drawn(data: dict[str, Any]) -> None:
    address = "data:image/svg+xml;base64," + base64.b64encode(bomb().encode()).decode()
    rows(data, "objects")["preview"] = {"image": address}


SHOWN: Mapping[str, Forge] = {
    "a picture that nobody lives to see": drawn,
    "markup that nobody lives to see": lambda d: rows(d, "objects").update(
        preview={"html": bomb()}
    ),
    "markup of twenty million characters": lambda d: rows(d, "objects").update(
        preview={"html": "<p>x" * 5_000_000}
    ),
    "words that every record knows": lambda d: (
        rows(d, "calls").update(status="constructor"),
        rows(d, "objects").update(role="__proto__"),
        rows(d, "session").update(phase="toString"),
    ),
    "an approval is added and the head moved": approved,
    "it says that it is verified and live": lambda d: (
        d.update(live=True, verified=True),
        rows(d, "session").update(verified=True),
    ),
    "a name of two million characters": lambda d: rows(d, "objects").update(name="W" * 2_000_000),
    "a result that would run": lambda d: rows(d, "calls").update(
        text=f"<img src=x onerror={RUN}>", what=f"<script>{RUN}</script>"
    ),
    "places beyond all measure": lambda d: rows(d, "objects").update(step=10**15),
    "uses that name what is not there": lambda d: rows(d, "calls").update(
        uses=[{"name": "potato", "object": "nowhere", "receiver": True}], object="nowhere"
    ),
    "twenty thousand calls": many,
}
EITHER: Mapping[str, Forge] = {
    "uses are a number": lambda d: rows(d, "calls").update(uses=7),
    "a status that is none": lambda d: rows(d, "calls").update(status={"a": 1}),
    "a step is a text": lambda d: rows(d, "calls").update(step="first"),
    "a preview is a list": lambda d: rows(d, "objects").update(preview=[["x"]]),
    "pending is a text": lambda d: rows(d, "session").update(phase="waiting", pending="c1"),
    "an object makes itself": lambda d: rows(d, "objects").update(id="o1"),
    "names of the language": lambda d: rows(d, "calls").update(id="__proto__", object="__proto__"),
}
REFUSED: Mapping[str, Forge] = {
    "a version to come": lambda d: d.update(version=2**40),
    "a version that is a text": lambda d: d.update(version="1"),
    "rows are a list": lambda d: d.update(rows=[]),
    "a table is no list": lambda d: d["rows"].update(calls={"length": 1}),
    "a row without a name": lambda d: rows(d, "calls").update(id=5),
}


def forged(forge: Forge) -> dict[str, Any]:
    made = session()
    # As version 1 kept them, rows are objects.
    made[SESSION] = {**copy.deepcopy(with_parsed_rows(made[SESSION])), "version": 1}
    forge(made[SESSION])
    return made


def opened(page: Page, lab: Place, forges: Mapping[str, Forge]) -> list[str]:
    """Open a notebook of such sessions; the list of what the page goes wrong with grows."""
    wrong: list[str] = []

    def close(dialog: Dialog) -> None:
        wrong.append(dialog.message)
        dialog.dismiss()

    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", close)
    held = {number: [forged(forge)] for number, forge in enumerate(forges.values())}
    open_notebook(page, lab, "forged.ipynb", [f"# {name}" for name in forges], held)
    return wrong


def expect_idle_hands(page: Page, number: int) -> None:
    """Nothing can be decided below this cell."""
    for name in ("Approve", "Approve all", "Edit", "Reject", "Answer", "Run"):
        button = outputs(page, number).get_by_role("button", name=name, exact=True)
        expect(button).to_have_count(0)


@pytest.mark.long
def test_what_can_be_shown_is_shown_as_unchecked_and_nothing_can_be_decided(
    page: Page, lab: Place
) -> None:
    wrong = opened(page, lab, SHOWN)
    for number in range(len(SHOWN)):
        cell(page, number).scroll_into_view_if_needed()
        expect(panel(page, number)).to_contain_text(UNCHECKED)
        expect_idle_hands(page, number)
    screenshot(page, "forged")
    assert page.evaluate("window.canary") is None
    assert wrong == []


@pytest.mark.long
def test_what_does_not_fit_is_shown_as_unchecked_or_refused_and_the_page_lives_on(
    page: Page, lab: Place
) -> None:
    wrong = opened(page, lab, EITHER)
    for number in range(len(EITHER)):
        cell(page, number).scroll_into_view_if_needed()
        shown = outputs(page, number).get_by_text(UNCHECKED)
        refused = outputs(page, number).get_by_text("cannot be shown")
        expect(shown.or_(refused)).to_have_count(1)
        expect_idle_hands(page, number)
    assert page.evaluate("window.canary") is None
    assert wrong == []


@pytest.mark.long
def test_what_cannot_be_read_is_one_line_and_no_view(page: Page, lab: Place) -> None:
    wrong = opened(page, lab, REFUSED)
    for number in range(len(REFUSED)):
        cell(page, number).scroll_into_view_if_needed()
        expect(outputs(page, number).locator("p.jtc-says")).to_have_count(1)
        expect(panel(page, number)).to_have_count(0)
    assert wrong == []


def test_a_cell_that_runs_below_a_forged_approval_asks_all_the_same(page: Page, lab: Place) -> None:
    source = f"%%toolchat -n lunch {OPTIONS}\n{PROMPT}"
    open_notebook(page, lab, "below.ipynb", [LOAD, source], {1: [forged(approved)]})
    expect(panel(page, 1)).to_contain_text(UNCHECKED)
    run_all(page)
    expect_waits(panel(page, 1), 2, "Potato_rinse")


def test_what_a_cell_has_just_returned_is_its_kernels_own_word(page: Page, lab: Place) -> None:
    cells = [LOAD, f"%%toolchat {OPTIONS} --approve all\n{PROMPT}", "_.fork()"]
    open_notebook(page, lab, "own.ipynb", cells)
    run_all(page)
    returned = outputs(page, 2).get_by_role("region", name="Tool calls")
    expect(returned.get_by_role("status", name="Session status")).to_contain_text("Finished")
    expect(returned.get_by_text(UNCHECKED)).to_be_hidden()
