"""The interface in another language: JupyterLab's setting, or the kernel's where there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e import rig
from tests.e2e.kitchen import LOAD, OWN, fries_cell, press, run_notebook, script
from tests.e2e.test_session_map import MAP
from tests.e2e.test_session_map import SETUP as MAP_SETUP
from tests.e2e.test_teaching import OPTIONS, PREDICT, PROMPT, SETUP, SPOT

LIVE = "application/vnd.jupyter-toolcall.live+json"

CATALOGUE = Path(__file__).parents[2] / "jupyter_toolcall/locale/de_DE/LC_MESSAGES"
NAMES = {"tools", "system", "user", "assistant", "call", "tool", "session"}
"""Names of the provider's API and of parameters, which no language translates."""
TEXTS = """root => {
    const texts = new Set();
    const names = ['aria-label', 'title', 'placeholder', 'aria-valuetext', 'aria-description'];
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ALL);
    for (let node = walk.currentNode; node; node = walk.nextNode()) {
        if (node.nodeType === Node.TEXT_NODE) texts.add(node.data.trim());
        for (const name of names) texts.add(node.getAttribute?.(name) ?? '');
    }
    return [...texts].filter(text => /[a-z]/i.test(text));
}"""
"""What a person can read, or hear, of an element."""


def english_patterns() -> Iterator[re.Pattern[str]]:
    """Yield what matches an English text of the interface that German has another text for."""
    texts = json.loads((CATALOGUE / "jupyter_toolcall.json").read_text(encoding="utf-8"))
    for english, forms in texts.items():
        words = re.sub(r"%\d|\W", "", english)
        if english and english not in (*forms, *NAMES) and len(words) > 5:
            yield re.compile(re.sub(r"%\d", ".+", re.escape(english)))


def english_texts(region: Locator) -> list[str]:
    """Return the English texts of the interface that a part of the page shows."""
    patterns = [*english_patterns()]
    texts: list[str] = region.evaluate(TEXTS)
    return [text for text in texts if any(each.fullmatch(text) for each in patterns)]


@pytest.fixture
def german(lab: rig.Place) -> rig.Place:
    language = {"@jupyterlab/translation-extension/plugin": {"locale": "de_DE"}}
    rig.write_settings(lab.served.parent / "settings", rig.QUIET | language)
    return lab


def panel(page: Page, number: int, name: str = "Tool-Aufrufe") -> Locator:
    return rig.outputs(page, number).get_by_role("region", name=name)


def test_a_session_is_in_the_language_of_jupyterlab_and_no_text_stays_english(
    page: Page, german: rig.Place
) -> None:
    run_notebook(page, german, "a.ipynb", [LOAD, fries_cell()])
    view = panel(page, 1)
    expect(view.get_by_role("button", name="Genehmigen", exact=True)).to_be_enabled()
    expect(view.get_by_role("status", name="Status der Sitzung")).to_have_text(
        "Wartet auf Entscheidung"
    )
    assert english_texts(view) == []
    rig.screenshot(page, "german-waiting")
    press(view, "Bearbeiten")
    expect(view.get_by_role("dialog", name="Aufruf bearbeiten")).to_be_visible()
    assert english_texts(view) == []
    press(view, "Abbrechen")
    for form in ("Ablehnen", "Antworten"):
        press(view, form)
        assert english_texts(view) == []
        press(view, "Abbrechen")
    for tool in ("Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake", "Fries_plate"):
        expect(view.get_by_role("heading", name=tool)).to_be_visible()
        press(view, "Genehmigen")
    expect(view.get_by_role("status", name="Status der Sitzung")).to_have_text("Fertig")
    assert english_texts(view) == []
    rig.screenshot(page, "german-finished")
    look_at_tabs(view)
    # The saved copy is in the language of the page as well.
    rig.save(page)
    rig.restart_kernel(page)
    rig.reload(page)
    saved = panel(page, 1)
    expect(saved.get_by_text("Zum Fortsetzen die Zelle ausführen")).to_be_visible()
    assert english_texts(saved) == []


def look_at_tabs(view: Locator) -> None:
    """Look at every tab, at an earlier step, and at a branch beside another."""
    view.get_by_role("slider", name="Zeit").fill("3")
    assert english_texts(view) == []
    press(view, "Zum aktuellen Stand")
    view.get_by_role("tab", name="Nachrichten").click()
    expect(view.get_by_role("group", name="Woraus die Anfrage besteht")).to_be_visible()
    assert english_texts(view) == []
    view.get_by_role("tab", name="Schritte").click()
    view.get_by_role("list", name="Schritte").get_by_role("button", name="Potato_slice").click()
    press(view, "Bearbeiten")
    dialog = view.get_by_role("dialog", name="Aufruf bearbeiten")
    dialog.get_by_label("SLICES", exact=True).check()
    assert english_texts(view) == []
    press(dialog, "Mit diesen Werten ausführen")
    for _ in range(2):
        expect(view.get_by_role("button", name="Genehmigen", exact=True)).to_be_enabled()
        assert english_texts(view) == []
        press(view, "Genehmigen")
    expect(view.get_by_role("status", name="Status der Sitzung")).to_have_text("Fertig")
    view.get_by_role("tab", name="Vergleich").click()
    expect(view.get_by_role("table", name="Vergleich von")).to_be_visible()
    assert english_texts(view) == []
    rig.screenshot(view.page, "german-compare")
    view.get_by_role("tab", name="Graph").click()


@pytest.mark.long
def test_what_is_wrong_in_a_form_is_in_the_language_of_jupyterlab(
    page: Page, german: rig.Place
) -> None:
    setup = OWN + script("m", '("fill", {"grams": 20})', '"Done."')
    cells = [setup, "%%toolchat -m m -t fill --scheme flat\nFill."]
    run_notebook(page, german, "a.ipynb", cells)
    view = panel(page, 1)
    press(view, "Bearbeiten")
    dialog = view.get_by_role("dialog", name="Aufruf bearbeiten")
    dialog.get_by_label("grams").fill("900")
    press(dialog, "Mit diesen Werten ausführen")
    expect(dialog.get_by_text("darf höchstens 500 sein").first).to_be_visible()
    assert english_texts(view) == []
    # What is no number at all is told while it is typed.
    dialog.get_by_label("grams").fill("1.5")
    expect(dialog.get_by_text("ganze Zahl").first).to_be_visible()
    assert english_texts(view) == []
    rig.screenshot(page, "german-form")


@pytest.mark.long
def test_guesses_exercises_and_their_hints_are_in_the_language_of_jupyterlab(
    page: Page, german: rig.Place
) -> None:
    (german.root / "exercises").mkdir()
    (german.root / "exercises" / "spot.md").write_text(SPOT)
    tape = f"%%toolchat -m m {OPTIONS} --approve all --record exercises/tape.jsonl\n{PROMPT}"
    planted = f"%%toolchat --replay exercises/spot.md {OPTIONS} --approve all --no-wait\n{PROMPT}"
    run_notebook(page, german, "a.ipynb", [SETUP, tape, planted, PREDICT], 2)
    view = panel(page, 2)
    for hint in ("Es gibt 2", "Tipp 1 von 2", "Tipp 2 von 2", "Es gibt keine weiteren Tipps"):
        press(view, "Prüfen")
        expect(view.get_by_role("status", name="Übung")).to_contain_text(hint)
        assert english_texts(view) == []
    guessed = panel(page, 3)
    press(guessed, "Vorhersage prüfen")
    assert english_texts(guessed) == []
    press(guessed, "Aufruf anzeigen")
    expect(guessed.get_by_text("Das Modell hat Potato_rinse aufgerufen")).to_be_visible()
    assert english_texts(guessed) == []


@pytest.mark.long
def test_the_table_of_a_map_and_the_session_below_it_are_in_the_language_of_jupyterlab(
    page: Page, german: rig.Place
) -> None:
    rig.open_notebook(page, german, "a.ipynb", [MAP_SETUP, MAP.format(count=60)])
    rig.run_cell(page, 0)
    rig.wait_idle(page)
    rig.run_cell(page, 1)
    table = page.get_by_role("region", name="Sitzungen einer Map")
    expect(table.get_by_text("wartet auf: remind").first).to_be_visible(timeout=120_000)
    assert english_texts(table) == []
    table.get_by_role("button", name="Sitzung 0 öffnen").click()
    view = panel(page, 1)
    expect(view.get_by_role("button", name="Genehmigen", exact=True)).to_be_enabled()
    assert english_texts(view) == []
    rig.screenshot(page, "german-map")


@pytest.mark.long
def test_commands_menus_and_settings_are_in_the_language_of_jupyterlab(
    page: Page, german: rig.Place
) -> None:
    rig.open_notebook(page, german, "a.ipynb", [LOAD, "1", fries_cell("--no-wait")])
    labels = page.evaluate(
        """() => {
            const { commands } = window.jupyterapp;
            const ours = commands.listCommands().filter(id => id.startsWith('jupyter-toolcall:'));
            return ours.flatMap(id => [commands.label(id), commands.caption(id)]);
        }"""
    )
    assert "Wartenden Aufruf genehmigen" in labels
    patterns = [*english_patterns()]
    assert [text for text in labels if any(each.fullmatch(text) for each in patterns)] == []
    rig.run_all(page)
    panel(page, 2).get_by_role("status", name="Status der Sitzung").click(button="right")
    page.locator(".lm-Menu-item", has_text="Tool-Aufrufe").hover()
    expect(page.locator(".lm-Menu-item", has_text="Als Python kopieren")).to_be_visible()
    rig.screenshot(page, "german-menu")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    rig.run_command(page, "settingeditor:open", query="Tool")
    editor = page.locator(".jp-SettingsPanel")
    expect(editor.get_by_text("Vor „Alle genehmigen“ nachfragen")).to_be_visible()
    expect(editor.get_by_text("Wann sich die Seitenleiste von selbst öffnet.")).to_be_visible()
    rig.screenshot(page, "german-settings")
    rig.show_side_panel(page)
    side = page.locator("#jupyter-toolcall-side")
    expect(side.get_by_role("button", name="In Tab öffnen")).to_be_visible()
    assert english_texts(side) == []


@pytest.mark.long
def test_without_jupyterlab_the_panel_is_in_the_language_of_the_kernel(
    page: Page, lab: rig.Place
) -> None:
    """A front end without the extension shows the widget."""
    rig.open_notebook(
        page, lab, "a.ipynb", [f"{LOAD}\n%config ToolChat.language = 'de'", fries_cell()]
    )
    page.evaluate(f"() => {{ {rig.CURRENT}.content.rendermime.removeMimeType({LIVE!r}); }}")
    rig.run_all(page)
    view = rig.outputs(page, 1).get_by_role("region", name="Tool-Aufrufe")
    expect(view.get_by_role("button", name="Genehmigen", exact=True)).to_be_enabled()
    assert english_texts(view) == []
