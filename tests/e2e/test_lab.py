"""JupyterLab as the home of a session: tabs, launcher, notices, settings, shortcuts, menus."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import (
    LOAD,
    expect_status,
    expect_waits,
    fries_cell,
    panel,
    press,
    run_notebook,
)
from tests.e2e.rig import (
    CURRENT,
    START,
    Place,
    cell,
    open_notebook,
    outputs,
    run_all,
    run_cell,
    run_command,
    save,
    screenshot,
    show_side_panel,
    shut_down_kernels,
    wait_idle,
    wait_kept,
    write_notebook,
    write_settings,
)
from tests.e2e.samples import FAKE_PANEL, session, wait_for_file

SAYS = "Potato_peel waits for you."


def prefer(place: Place, **settings: Any) -> None:
    """Settings of ours, as the settings editor would leave them."""
    write_settings(place.served.parent / "settings", {"jupyter-toolcall/plugin": settings})


def waiting_item(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("^Waiting for you"))


def toasts(page: Page) -> Locator:
    return page.locator(".Toastify__toast")


@pytest.mark.long
def test_a_session_large_in_a_tab_stays_live_and_comes_back_with_the_layout(
    page: Page, lab: Place
) -> None:
    run_notebook(page, lab, "tab.ipynb", [LOAD, fries_cell()])
    expect_waits(panel(page, 1), 2, "Potato_rinse")
    side = show_side_panel(page)
    expect_waits(side, 2, "Potato_rinse")
    screenshot(page, "side-live")
    side.get_by_role("button", name="Open in tab").click()
    tab = page.locator(".jtc-tab")
    expect_waits(tab, 2, "Potato_rinse")
    press(tab, "Approve")
    for view in (tab, side):
        expect_waits(view, 3, "Potato_peel")
    screenshot(page, "tab")
    side.get_by_role("button", name="Show cell").click()
    expect_waits(panel(page, 1), 3, "Potato_peel")
    side.get_by_role("button", name="Open in tab").click()
    expect(page.locator(".jtc-tab")).to_have_count(1)
    run_command(page, "docmanager:save-all")
    wait_kept(page, '"current":"jupyter-toolcall-side"', "jupyter-toolcall-tab-")
    page.reload()
    page.wait_for_function("window.jupyterapp?.restored", timeout=START * 1000)
    expect_waits(page.locator(".jtc-tab"), 3, "Potato_peel")
    expect_waits(page.locator("#jupyter-toolcall-side"), 3, "Potato_peel")


@pytest.mark.long
def test_the_launcher_opens_a_notebook_whose_first_session_works_offline(
    page: Page, lab: Place
) -> None:
    open_notebook(page, lab, "one.ipynb", ["1"])
    run_command(page, "launcher:create")
    card = page.locator(".jp-LauncherCard[title*='works offline']")
    expect(card).to_be_visible()
    screenshot(page, "launcher")
    card.click()
    # The cell of the notebook that is open already comes before them.
    expect(cell(page, 3)).to_contain_text("%%toolchat")
    wait_idle(page)
    run_all(page)
    expect_waits(panel(page, 3), 2, "Potato_rinse")
    press(panel(page, 3), "Approve")
    expect_waits(panel(page, 3), 3, "Potato_peel")


def test_what_waits_unseen_is_notified_once_and_what_is_in_view_is_not(
    page: Page, lab: Place
) -> None:
    write_notebook(lab, "other.ipynb", ["1"])
    run_notebook(page, lab, "behind.ipynb", [wait_for_file("go") + FAKE_PANEL])
    run_command(page, "docmanager:open", path=lab.path("other.ipynb"))
    expect(page.locator(".lm-TabBar-tab.jp-mod-current")).to_contain_text("other.ipynb")
    (lab.root / "go").touch()
    expect(toasts(page)).to_contain_text(f"behind.ipynb: {SAYS}")
    expect(waiting_item(page)).to_have_text("Waiting for you in other notebooks: 1")
    screenshot(page, "notified")
    toasts(page).get_by_role("button", name="Show").click()
    expect(outputs(page, 0).get_by_role("button", name="Approve", exact=True)).to_be_visible()
    expect(page.locator(":focus")).to_have_class(re.compile("tc-card"))
    expect(toasts(page)).to_have_count(0)
    page.keyboard.press("Control+Alt+y")
    expect(outputs(page, 0)).to_contain_text("I am live, approved")
    expect(waiting_item(page)).to_have_count(0)
    run_all(page)
    expect(waiting_item(page)).to_be_visible()
    expect(page.locator(".jtc-voice")).to_have_text(SAYS)
    expect(toasts(page)).to_have_count(0)


QUICK = """
for rest in (0.05, 0.05, 0.6):
    get_ipython().run_line_magic("toolchat", "approve")
    await asyncio.sleep(rest)
"""
COUNT = """() => {
    window.mostToasts = 0;
    const count = () => {
        const now = document.querySelectorAll('.Toastify__toast').length;
        window.mostToasts = Math.max(window.mostToasts, now);
    };
    new MutationObserver(count).observe(document.body, { childList: true, subtree: true });
}"""


@pytest.mark.long
def test_quick_decisions_leave_one_notice_of_what_waits_now(page: Page, lab: Place) -> None:
    write_notebook(lab, "other.ipynb", ["1"])
    cells = [LOAD, fries_cell("--no-wait"), wait_for_file("go") + QUICK]
    open_notebook(page, lab, "quick.ipynb", cells)
    page.evaluate(COUNT)
    run_all(page)
    expect_waits(panel(page, 1), 2, "Potato_rinse")
    run_command(page, "docmanager:open", path=lab.path("other.ipynb"))
    expect(page.locator(".lm-TabBar-tab.jp-mod-current")).to_contain_text("other.ipynb")
    (lab.root / "go").touch()
    expect(toasts(page)).to_have_text(re.compile("quick.ipynb: Oven_bake waits"))
    expect(waiting_item(page)).to_have_text("Waiting for you in other notebooks: 1")
    assert page.evaluate("window.mostToasts") == 1
    screenshot(page, "quick")


NOTICES = """
window.asked = 0;
window.notices = [];
// Playwright keeps every page visible, so what a hidden page says of itself is all that is set.
window.hide = () => Object.defineProperty(document, 'hidden', { value: true });
window.Notification = class extends Notification {
    constructor(title, options) {
        super(title, options);
        for (const type of ['show', 'close'])
            this.addEventListener(type, () => window.notices.push(`${type} ${title}`));
    }
    static requestPermission() {
        window.asked++;
        return super.requestPermission();
    }
};
"""
"""Counts requests for permission, and notes what the browser says of its notifications."""


@pytest.mark.own_page
def test_the_browser_notifies_of_a_call_while_its_page_is_hidden_once_that_is_switched_on(
    page: Page, lab: Place
) -> None:
    page.context.grant_permissions(["notifications"])
    page.add_init_script(NOTICES)
    view = run_notebook(page, lab, "fries.ipynb", [LOAD, fries_cell()])
    expect_waits(view, 2, "Potato_rinse")
    page.evaluate("hide()")
    press(view, "Approve")
    expect_waits(view, 3, "Potato_peel")
    run_command(page, "settingeditor:open", query="Tool Calls")
    setting = page.get_by_label("Notify in the browser")
    expect(setting).not_to_be_checked()
    assert page.evaluate("window.asked") == 0
    setting.check()
    page.wait_for_function("window.asked === 1")
    page.locator(".lm-TabBar-tab", has_text="fries.ipynb").click()
    shown = []
    tools = ("Potato_slice", "Oven_bake", "Fries_plate")
    for says in (*(f"{tool} waits for you" for tool in tools), "Finished"):
        press(view, "Approve")
        shown.append(f"show fries.ipynb: {says}")
        page.wait_for_function(
            "said => window.notices.find(t => t.startsWith(said))", arg=shown[-1]
        )
    # One for a session: each goes when the next one comes.
    page.wait_for_function("window.notices.length === 7")
    shows = "window.notices.filter(notice => notice.startsWith('show'))"
    assert [text.partition(". It may")[0] for text in page.evaluate(shows)] == shown


def test_a_click_on_what_waits_goes_to_it_also_where_it_was_scrolled_away(
    page: Page, lab: Place
) -> None:
    run_notebook(page, lab, "long.ipynb", [FAKE_PANEL, *["1\n" * 30] * 4])
    wait_idle(page)
    page.evaluate(f"{CURRENT}.content.scrollToItem(4)")
    expect(cell(page, 0)).not_to_be_in_viewport()
    waiting_item(page).click()
    expect(outputs(page, 0).get_by_role("button", name="Approve", exact=True)).to_be_in_viewport()
    expect(page.locator(":focus")).to_have_class(re.compile("tc-card"))


def test_settings_take_effect(page: Page, lab: Place) -> None:
    prefer(
        lab,
        openSidePanel="session",
        notifyWhenWaiting=False,
        showInStatusBar=False,
        confirmApproveAll=True,
    )
    load = (
        "%load_ext jupyter_toolcall\nfrom jupyter_toolcall import Scripted\n"
        "model = Scripted([[('fill', {}), ('fill', {})], 'Done.'])\n"
        "def fill() -> int:\n    return 1"
    )
    ask = "%%toolchat -m model -t fill --scheme flat\nFill two."
    open_notebook(page, lab, "set.ipynb", [load, ask])
    expect(page.locator("#jupyter-toolcall-side")).to_be_hidden()
    run_all(page)
    view = page.locator("#jupyter-toolcall-side")
    expect_waits(view, 1, "fill")
    expect(waiting_item(page)).to_have_count(0)
    press(view, "Approve all")
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text("Approve all 2 calls?")
    screenshot(page, "confirm")
    asked.get_by_role("button", name="Cancel").click()
    expect_waits(view, 1, "fill")
    press(view, "Approve all")
    asked.get_by_role("button", name="Approve all").click()
    expect_status(view, "Finished")
    expect(toasts(page)).to_have_count(0)


def test_shortcuts_act_on_what_is_in_view_and_never_while_typing(page: Page, lab: Place) -> None:
    view = run_notebook(page, lab, "keys.ipynb", [LOAD, fries_cell(), "here"])
    expect_waits(view, 2, "Potato_rinse")
    # High enough for the card and the cell below the panel.
    page.set_viewport_size({"width": 1280, "height": 1500})
    cell(page, 2).locator(".cm-content").click()
    for key in ("y", "r", "e", "s", "n", "p"):
        page.keyboard.press(f"Control+Alt+{key}")
    expect(cell(page, 2).locator(".cm-content")).to_be_focused()
    expect_waits(view, 2, "Potato_rinse")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Alt+y")
    expect_waits(view, 3, "Potato_peel")
    page.keyboard.press("Control+Alt+r")
    reason = view.get_by_role("textbox", name="Reason")
    expect(reason).to_be_focused()
    page.keyboard.press("Control+Alt+y")
    expect(reason).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Alt+e")
    expect(view.get_by_role("dialog", name="Edit call")).to_be_visible()
    page.keyboard.press("Escape")
    expect_waits(view, 3, "Potato_peel")
    run_command(page, "apputils:activate-command-palette")
    page.locator(".lm-CommandPalette-input").fill("waiting call")
    for name in ("Approve", "Edit", "Reject", "Go to the Next"):
        expect(page.locator(".lm-CommandPalette-item").filter(has_text=name)).to_be_visible()
    page.keyboard.press("Escape")
    run_command(page, "settingeditor:open", query="Tool calls")
    # A search that comes before the page of settings stands is lost.
    expect(page.get_by_role("heading", name="Tool Calls")).to_be_visible()
    run_command(page, "settingeditor:open", query="shortcuts")
    found = page.locator(".jp-Shortcuts-Row", has_text="Approve the Waiting Call")
    expect(found.first).to_contain_text("Y")


@pytest.mark.long
@pytest.mark.own_page
def test_the_context_menu_shows_and_copies_a_session(page: Page, lab: Place) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask = "%%toolchat -m scripted:kitchen -t Potato -i potato --approve all --scheme flat\nPeel it."
    run_notebook(page, lab, "menu.ipynb", [LOAD, fries_cell("--approve all"), ask, "1"])
    expect_status(panel(page, 1), "Finished")
    # The last cell has ended.
    expect(page.locator(".jp-CodeCell .jp-InputPrompt").last).to_have_text("[4]:")
    menu_of(page, 1)
    screenshot(page, "context-menu")
    page.get_by_role("menuitem", name="Copy as DOT").click()
    expect(toasts(page)).to_contain_text("Copied the session as DOT.")
    assert "digraph" in page.evaluate("navigator.clipboard.readText()")
    for name, says in (("Python", "potato"), ("SVG", "<svg"), ("JSON", '"calls"')):
        menu_of(page, 1)
        page.get_by_role("menuitem", name=f"Copy as {name}").click()
        page.wait_for_function(
            "says => navigator.clipboard.readText().then(text => text.includes(says))", arg=says
        )
    menu_of(page, 1)
    page.get_by_role("menuitem", name="Show Tool Calls at the Side").click()
    side = page.locator("#jupyter-toolcall-side")
    expect(side.get_by_role("combobox", name="Session")).to_have_value(re.compile(".+"))
    expect(side.get_by_role("button", name="Plate#2").first).to_be_visible()


def menu_of(page: Page, number: int) -> None:
    """Open the menu of a cell, and ours in it."""
    cell(page, number).locator(".jp-InputPrompt").click(button="right")
    page.locator(".lm-Menu-item[data-type=submenu]", has_text="Tool Calls").click()


def test_quiet_leaves_the_result_alone_and_a_file_is_not_taken_at_its_word(
    page: Page, lab: Place
) -> None:
    unchecked = "not verified on this computer"
    run_notebook(page, lab, "quiet.ipynb", [LOAD, fries_cell("--approve all --quiet"), "fries"])
    wait_idle(page)
    quiet = outputs(page, 1)
    expect(quiet.get_by_role("button", name="Show the session")).to_be_visible()
    expect(quiet.get_by_role("region", name="Tool calls")).to_have_count(0)
    screenshot(page, "quiet")
    press(quiet, "Show the session")
    expect(panel(page, 1)).to_be_visible()
    expect(panel(page, 1).get_by_text(unchecked)).to_be_hidden()
    save(page)
    shut_down_kernels(lab)
    page.goto("about:blank")
    open_notebook(page, lab, "quiet.ipynb")
    press(quiet, "Show the session")
    # Jupyter signed the notebook on this computer.
    expect(panel(page, 1).get_by_text("Saved copy. Run the cell to continue.")).to_have_count(1)
    expect(panel(page, 1).get_by_text(unchecked)).to_have_count(0)
    screenshot(page, "saved-copy")


@pytest.mark.own_page
def test_opening_a_forged_session_runs_nothing_and_says_nothing_to_the_console(
    page: Page, lab: Place
) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    live = {
        "application/vnd.jupyter-toolcall.live+json": {"model_id": "forged", "version": 1},
        "application/vnd.jupyter.widget-view+json": {"model_id": "forged", "version_major": 2},
        "text/plain": "<Panel>",
    }
    open_notebook(page, lab, "forged.ipynb", ["%%toolchat\nPeel."], {0: [live, session()]})
    view = outputs(page, 0).get_by_role("region", name="Tool calls")
    expect(view).to_contain_text("not verified on this computer")
    expect(view.get_by_role("button", name="Approve")).to_have_count(0)
    counted = """async () => {
        const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
        return (await kernel.requestExecute({code: '1'}).done).content.execution_count;
    }"""
    assert page.evaluate(counted) == 1
    assert not [line for line in said if "model not found" in line]


@pytest.mark.long
@pytest.mark.own_page
def test_shift_tab_in_a_toolchat_cell_says_what_an_option_is(page: Page, lab: Place) -> None:
    open_notebook(page, lab, "help.ipynb", [LOAD, "%%toolchat --approve ask"])
    run_cell(page, 0)
    wait_idle(page)
    cell(page, 1).locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".jp-Tooltip")).to_contain_text("ask|read-only|all|none")
    screenshot(page, "shift-tab")
