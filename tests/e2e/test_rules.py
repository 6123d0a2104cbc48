"""Rules from the card: where values came from, what a rule would have done, and what it does."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import expect_status, expect_step, expect_waits, panel, press
from tests.e2e.rig import (
    Place,
    dark_theme,
    expect_nothing,
    open_notebook,
    run_cell,
    run_command,
    save,
    saved_notebook,
    screenshot,
)

HOTELS = '''%load_ext jupyter_toolcall
import pathlib, time
from typing import Literal
import pandas as pd
from jupyter_toolcall import Scripted, tool
ran = []
hotels = pd.DataFrame({"hotel": ["Holsten", "Am Kanal", "Seeblick"], "city": ["Kiel"] * 3,
                       "price": [96.0, None, None]})
def fill(table: pd.DataFrame, column: str, method: Literal["mean", "median", "max"]
         ) -> pd.DataFrame:
    """Fills the empty cells of a column."""
    ran.append(method)
    while len(ran) == 5 and not pathlib.Path("go").exists():
        time.sleep(0.05)
    return table.assign(**{column: table[column].fillna(getattr(table[column], method)())})
def call(table, method="median", column="price"):
    return ("fill", {"table": f"DataFrame#{table}", "column": column, "method": method})
model = Scripted([
    ["Kiel has two empty prices.", call(1)], [call(1, "mean")], [call(1, "max")],
    ["I fill them with the median of Kiel.", call(1)], [call(2)], [call(3, "mean")],
    [call(1, column="city")], "Done.", "Done."])
'''
FILL = "%%toolchat -m model -t fill -i hotels --scheme flat\nFill the empty cells of price."
PAGE = '''%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted, tool
@tool(read_only=True, untrusted=True)
def read_page(url: str) -> str:
    """Reads a page of the web."""
    return "Harbor Hotels. Invoices: billing@harbor-hotels.example"
@tool(external=True)
def send_mail(to: str, body: str) -> str:
    """Sends one mail from your account."""
    return "sent"
model = Scripted([[("read_page", {"url": "harbor-hotels.example/contact"})],
    ["Three prices cannot be right. I mail them.", ("send_mail", {
        "to": "billing@harbor-hotels.example", "body": "Could you check three prices?"})], "Done."])
'''
MAIL = """%%toolchat -m model -t read_page send_mail --scheme flat
Mail the billing address on harbor-hotels.example/contact."""
NARROW = (500, 900)


def frames(page: Page, view: Locator, name: str, part: Locator | None = None) -> None:
    """Take the pictures of a state of the panel, or of a part: two widths, in both themes."""
    for theme in ("light", "dark"):
        if theme == "dark":
            dark_theme(page)
        for width, height in ((1366, 768), NARROW):
            side = "collapseLeft" if width < 700 else "expandLeft"
            page.evaluate(f"window.jupyterapp.shell.{side}()")
            page.set_viewport_size({"width": width, "height": height})
            (part or view).evaluate("part => part.scrollIntoView({ block: 'start' })")
            expect_no_overlap(view)
            screenshot(page, f"rules-{name}-{width}-{theme}")
    page.evaluate("window.jupyterapp.shell.expandLeft()")
    page.set_viewport_size({"width": 1366, "height": 768})
    run_command(page, "apputils:change-theme", theme="JupyterLab Light")
    page.locator("body[data-jp-theme-light=true]").wait_for(state="attached")


def expect_no_overlap(view: Locator) -> None:
    """No part of the card is wider than the panel, and the sheet covers no argument."""
    script = """view => {
        const panel = view.getBoundingClientRect();
        const own = ':is(.tc-sheet, .tc-args, .tc-rule, .tc-act, .tc-meanwhile) *, .tc-last > *';
        const parts = [...view.querySelectorAll(own)];
        const wide = parts.filter(e => e.getClientRects().length && !e.closest('pre, .tc-sr'))
            .filter(e => e.getBoundingClientRect().right > panel.right + 1);
        const sheet = view.querySelector('.tc-sheet')?.getBoundingClientRect();
        const covered = sheet ? [...view.querySelectorAll('.tc-args > *')].filter(
            e => e.getBoundingClientRect().bottom > sheet.top + 1
                && e.getBoundingClientRect().top < sheet.bottom) : [];
        const tabs = view.querySelector('.tc-tabs').getBoundingClientRect().top;
        if (sheet && tabs < sheet.bottom) covered.push(view.querySelector('.tc-tabs'));
        const body = view.querySelector('.tc-card:not([hidden]) > .tc-cardbody');
        if (body && body.scrollHeight > body.clientHeight + 1) covered.push(body);
        const named = e => `${e.className} ${e.textContent}`.slice(0, 80);
        return [...wide, ...covered].map(named).join('\\n');
    }"""
    expect_nothing(view, script)


def reject(view: Locator, reason: str = "") -> None:
    press(view, "Reject")
    view.get_by_label("Reason").fill(reason)
    view.locator(".tc-form").get_by_role("button", name="Reject", exact=True).click()


def open_sheet(view: Locator) -> Locator:
    press(view, "Approve, and don't ask again when…")
    sheet = view.get_by_role("dialog", name="Approve, and don't ask again")
    expect(sheet).to_be_visible()
    return sheet


def started(page: Page, lab: Place, cells: list[str]) -> Locator:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_notebook(page, lab, "r.ipynb", cells)
    run_cell(page, 0)
    run_cell(page, 1)
    return panel(page, 1)


def test_a_rule_from_the_card_says_what_it_would_have_done_and_decides_from_then_on(
    page: Page, lab: Place
) -> None:
    changed = HOTELS.replace("Fills the", "Fills all")
    view = started(page, lab, [HOTELS, FILL, changed, FILL])
    for number in (1, 2):
        expect_waits(view, number, "fill")
        press(view, "Approve")
    expect_waits(view, 3, "fill")
    reject(view, "The highest price is not typical.")
    expect_waits(view, 4, "fill")
    card = view.get_by_role("region", name="Details")
    expect(card.locator(".tc-from").first).to_have_text("from the notebook")
    expect(card.get_by_text("from your prompt")).to_be_visible()

    sheet = open_sheet(view)
    options = sheet.get_by_role("radio", name=re.compile("column"))
    expect(options).to_have_count(3)
    expect(options.first).to_be_checked()
    expect(options.first).to_be_focused()
    expect(sheet).to_contain_text("Would have run 1 of the 3 calls you decided. You approved it.")
    widest = sheet.locator(".tc-option").nth(2)
    expect(widest).to_contain_text("any table, any method")
    expect(widest).to_contain_text("You rejected 1 of them.")
    widest.get_by_role("radio").check()
    widest.get_by_role("button", name="See it").click()
    expect(widest).to_contain_text("“The highest price is not typical.”")
    frames(page, view, "sheet")
    sheet.get_by_role("button", name='Leave out "max"').click()
    expect(sheet.locator(".tc-option").nth(3)).to_contain_text('any method but "max"')
    page.keyboard.press("Escape")
    more = view.get_by_role("button", name="Approve, and don't ask again when…")
    expect(more).to_be_focused()
    expect(more).to_have_attribute("aria-expanded", "false")
    frames(page, view, "button")

    sheet = open_sheet(view)
    sheet.locator(".tc-option").nth(2).get_by_role("radio").check()
    sheet.get_by_text("This notebook").click()
    expect(sheet.get_by_role("radio", name="Today")).to_be_checked()
    sheet.get_by_role("button", name="Approve and add rule").click()
    last = view.get_by_role("list", name="Last calls").get_by_role("listitem")
    expect(last.first).to_contain_text("running")
    expect(last).to_have_count(6)
    expect(view.get_by_text("Nothing waits for you. When a call does, it")).to_be_visible()
    expect(page.locator(".jtc-status")).to_have_text("1 ran by rules")
    frames(page, view, "running")
    (lab.root / "go").touch()
    # Two calls run by the rule, and the third one is of another column.
    expect_waits(view, 7, "fill")
    expect_status(view, "2 calls ran by rules, 1 waits for you")
    meanwhile = view.get_by_role("region", name="Meanwhile")
    expect(meanwhile).to_contain_text("2 calls ran by rule 'fill price'")
    expect(view.get_by_text("Rule 'fill price' added.")).to_be_visible()
    frames(page, view, "waits")
    meanwhile.get_by_role("button", name="Show").click()
    for number in (5, 6):
        expect_step(view, number, "ran by rule 'fill price'")
    press(view, "Rules 1")
    rules = view.get_by_role("region", name="Rules")
    expect(rules).to_contain_text("Ran 2. This notebook, until ")
    expect(rules).to_be_in_viewport()
    # The rule is changed in its place: it leaves out a value, and asks from then on.
    press(rules, "Edit: fill price")
    form = view.get_by_role("region", name="Edit rule")
    expect(form).to_contain_text("Would have run 4 of the 4 calls you decided.")
    form.get_by_label("method", exact=True).select_option('is not "max"')
    expect(form).to_contain_text("Would have run 3 of the 4 calls you decided.")
    frames(page, view, "edit-rule", form)
    press(form, "Save")
    expect(rules).to_contain_text('any method but "max"')
    reject(view)
    expect_status(view, "Finished · 2 calls ran by rules")
    view.get_by_role("list", name="Steps").get_by_role("button").nth(4).click()
    frames(page, view, "steps")
    save(page)
    kept = saved_notebook(lab, "r.ipynb").metadata["jupyter_toolcall"]
    assert [rule["name"] for rule in kept["rules"]] == ["fill price"]
    assert kept["seal"]

    # The rule ends with the code of its tool, and another one is paused.
    run_cell(page, 2)
    run_cell(page, 3)
    view = panel(page, 3)
    expect_waits(view, 1, "fill")
    open_sheet(view).get_by_role("button", name="Approve and add rule").click()
    expect_waits(view, 2, "fill")
    press(view, "Edit rule")
    form = view.get_by_role("region", name="Edit rule")
    expect(form.get_by_label("Name", exact=True)).to_have_value("fill price 2")
    press(form, "Close without a change")
    rules = view.get_by_role("region", name="Rules")
    rules.get_by_role("button", name="Pause: fill price 2").click()
    expect(rules.get_by_role("listitem")).to_contain_text(["ended", "paused"])
    expect(rules).to_contain_text("The rule 'fill price' ended: the code of fill has changed.")
    press(rules, "Show the change: fill price")
    expect(rules.locator("del")).to_contain_text("Fills the empty cells")
    expect(rules.locator("mark")).to_contain_text("Fills all empty cells")
    frames(page, view, "ended", rules)
    rules.get_by_role("button", name="Use it again: fill price", exact=True).click()
    expect(rules.get_by_role("button", name="Pause: fill price", exact=True)).to_be_visible()
    for name in ("fill price 2", "fill price"):
        remove = rules.get_by_role("button", name=f"Remove: {name}", exact=True)
        remove.click()
        # Until the kernel has removed it, the panel takes no other command.
        expect(remove).to_have_count(0)
    expect(view.get_by_role("button", name=re.compile("^Rules"))).to_be_hidden()
    save(page)
    assert saved_notebook(lab, "r.ipynb").metadata["jupyter_toolcall"] == {}


def test_a_value_from_the_web_shows_its_path_and_no_rule_is_offered(page: Page, lab: Place) -> None:
    view = started(page, lab, [PAGE, MAIL])
    expect_waits(view, 2, "send_mail")
    card = view.get_by_role("region", name="Details")
    expect(card).to_contain_text("from call 1, read_page (not trusted)")
    expect(card).to_contain_text("This address comes from read_page. Nobody has checked it.")
    more = view.get_by_role("button", name="Approve, and don't ask again when…")
    expect(more).to_have_attribute("aria-disabled", "true")
    more.click(force=True)
    expect(view.get_by_role("dialog")).to_have_count(0)
    frames(page, view, "origin")
    card.get_by_role("button", name="Show the path").click()
    expect(card.get_by_role("list", name="Path of to").get_by_role("listitem")).to_have_text(
        ["your prompt", "1 read_pagenot trusted", "to"]
    )
    expect(card.locator(".tc-path .end")).to_have_text("2 send_mail")
    expect(card.locator("mark")).to_have_text("billing@harbor-hotels.example")
    # The graph below shows the same, and nothing in it moves.
    expect(view.locator(".tc-canvas.path .node:not(.away)")).to_have_count(2)
    frames(page, view, "path")
    card.get_by_role("button", name="Hide the path").click()
    expect(card.get_by_role("list", name="Path of to")).to_have_count(0)
    expect(card.get_by_role("button", name="Show the path")).to_be_focused()
    press(view, "Approve")
    expect_status(view, "Finished")


GEOCODE = '''%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted, tool
ran = []
def geocode(address: str, provider: str = "osm") -> str:
    """Finds the place of an address."""
    ran.append(address)
    return "found"
addresses = ["Jungfernstieg 16, 20354 Hamburg", "Am Wall 201, 28195 Bremen",
    "An der Obertrave 8, 23552 Lübeck", "Kanalstraße 2, 18055 Rostock",
    "Mühlenkamp 3, 22303 Hamburg", "Schlosskai 30, 24103 Kiel",
    "1 Harbor St, Hamburg, NY 14075, USA", "Domshof 14, 28195 Bremen",
    "Strandweg 5, 23570 Lübeck", "Lange Straße 9, 18055 Rostock",
    "Deichtor 1, 20095 Hamburg", "Holtenauer Str. 77, 24105 Kiel"]
calls = [("geocode", {"address": a, "provider": "osm"}) for a in addresses]
odd = Scripted([["I look up each address.", *calls], "Done."])
even = Scripted([[*calls[:6], *calls[7:], ("geocode", {"address": "Hafen 4, 24103 Kiel",
                                                      "provider": "osm"})], "Done."])
eight = Scripted([calls[:6] + calls[7:9], "Done."])
'''
ASK = "%%toolchat -m {} -t geocode --scheme flat\nFind where each hotel is."


def batch(view: Locator) -> Locator:
    return view.get_by_role("table", name=re.compile("calls of geocode"))


def test_many_similar_calls_are_one_table_with_what_differs_first(page: Page, lab: Place) -> None:
    cells = [GEOCODE, ASK.format("odd"), ASK.format("even"), ASK.format("eight"), "len(ran)"]
    view = started(page, lab, cells)
    rows = batch(view).locator("tbody tr")
    expect(rows).to_have_count(12)
    expect(rows.first).to_contain_text("1 Harbor St, Hamburg, NY 14075, USA")
    expect(rows.first).to_contain_text("differs from the others: address is written in another way")
    expect(rows.first.get_by_role("checkbox")).not_to_be_checked()
    expect(rows.nth(1).get_by_role("checkbox")).to_be_checked()
    expect(view.get_by_text("The same in all: provider=osm")).to_be_visible()
    expect(view.get_by_role("button", name="Approve 11 calls")).to_have_text("Approve 11")
    frames(page, view, "batch")
    second = view.get_by_role("checkbox", name="Call 1, Jungfernstieg 16, 20354 Hamburg")
    second.uncheck()
    expect(view.get_by_role("button", name="Approve 10 calls")).to_be_visible()
    second.check()
    press(view, "Approve 11 calls")
    expect_waits(view, 7, "geocode")
    reject(view)
    expect_status(view, "Finished")
    # Twelve that are alike take one decision.
    run_cell(page, 2)
    view = panel(page, 2)
    press(view, "Approve 12 calls")
    expect_status(view, "Finished")


def test_a_run_of_eight_calls_with_one_edit_takes_one_decision(page: Page, lab: Place) -> None:
    view = started(page, lab, [GEOCODE, ASK.format("eight"), "print(ran)"])
    rows = batch(view).locator("tbody tr")
    press(rows.nth(2), "Edit call 3")
    page.locator("input:focus").fill("An der Untertrave 8, 23552 Lübeck")
    page.keyboard.press("Enter")
    expect(rows.nth(2)).to_contain_text("you edited: An der Obertrave 8, 23552 Lübeck")
    frames(page, view, "batch-edited")
    press(view, "Approve 8 calls")
    expect_status(view, "Finished")
    expect_step(view, 3, "An der Untertrave 8")


CHAIN = '''%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted
class Table:
    """A table."""
    def __init__(self, steps=()):
        self.steps = steps
    def __str__(self):
        return "-".join(self.steps)
def fill(table: Table, method: str = "mean") -> Table:
    """Fills the empty cells."""
    return Table((*table.steps, method))
prices = Table()
model = Scripted([*[("fill", {"table": f"Table#{n}"}) for n in (1, 2, 3, 4)], "Done."])
'''


def test_approvals_after_an_edit_are_one_question_and_undo_takes_the_last_decision_back(
    page: Page, lab: Place
) -> None:
    main = "%%toolchat -m model -t fill -i prices --scheme flat\nFill {prices} four times."
    view = started(page, lab, [CHAIN, main])
    for number in range(1, 5):
        expect_waits(view, number, "fill")
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        press(view, "Approve")
    expect_status(view, "Finished")
    expect(page).not_to_have_title(re.compile(r"^\(1\) "))
    expect(view.get_by_role("region", name="Details")).to_contain_text("Decided byyou")
    expect(view.get_by_text("Effects outside of the session stay.")).to_be_visible()
    frames(page, view, "undo")
    view.get_by_role("list", name="Steps").get_by_role("button").first.click()
    press(view, "Edit")
    dialog = view.get_by_role("dialog", name="Edit call")
    dialog.get_by_role("radio", name="value", exact=True).check()
    dialog.get_by_label("method", exact=True).fill("max")
    press(dialog, "Run with these values")
    expect_waits(view, 2, "fill")
    following = view.get_by_role("button", name=re.compile("Approves this call, and those after"))
    expect(following).to_have_text("Approve, and 2 after it")
    frames(page, view, "following")
    following.click()
    expect_status(view, "Finished")
    expect_step(view, 4, "Table#5")
    press(view, "Undo")
    expect_waits(view, 4, "fill")
    expect(view.get_by_role("button", name="Branch")).to_contain_text("3")


COUNTED = '''%load_ext jupyter_toolcall
from dataclasses import replace
from jupyter_toolcall import Scripted
from jupyter_toolcall.core.events import Usage
def note(text: str) -> str:
    """Notes a text."""
    return "noted"
scripted = Scripted([*[("note", {"text": f"page {n}"}) for n in range(4)], "Done."])
def counted(request):
    return replace(scripted(request), usage=Usage(900, 100))
counted.name = "anthropic:claude-sonnet-5-5"
'''
BUDGET = """%%toolchat -m counted -t note --scheme flat --approve all --budget tokens=2500,cost=0.02
Note what changed on each page."""


def test_a_budget_pauses_the_run_and_asks_how_to_go_on(page: Page, lab: Place) -> None:
    view = started(page, lab, [COUNTED, BUDGET])
    expect_status(view, "Paused: not enough budget left")
    card = view.get_by_role("region", name="Budget")
    expect(card).to_contain_text("This run has used 2,000 of 2,500 tokens, about $0.01 of $0.02")
    expect(card).to_contain_text("The next request needs about 1,000 tokens, and 500 are left.")
    expect(card).to_contain_text("2,500 tokens more are enough for about 3 such requests.")
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    meter = card.get_by_role("meter", name="Tokens used")
    expect(meter).to_have_attribute("aria-valuenow", "2000")
    expect(view.get_by_role("button", name="Stop", exact=True)).to_be_hidden()
    spent = card.get_by_role("region", name="Where the tokens went")
    expect(spent.get_by_role("row")).to_contain_text(["tokens", "replies of the model"])
    frames(page, view, "budget")
    card.get_by_role("button", name="Change…").click()
    card.get_by_label("More tokens").fill("1000")
    more = card.get_by_role("button", name="Go on with 1,000 more")
    expect(more).to_be_enabled()
    frames(page, view, "budget-change")
    more.click()
    expect(card).to_contain_text("This run has used 3,000 of 3,500 tokens")
    card.get_by_role("button", name="Go on with 2,500 more").click()
    expect_status(view, "Finished")
    expect(card).to_be_hidden()
