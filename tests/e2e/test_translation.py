"""The interface in another language: JupyterLab's setting, or the kernel's where there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import LOAD, fries_cell
from tests.e2e.rig import (
    QUIET,
    Place,
    open_notebook,
    outputs,
    run_all,
    screenshot,
    write_settings,
)

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
def german(lab: Place) -> Place:
    language = {"@jupyterlab/translation-extension/plugin": {"locale": "de_DE"}}
    write_settings(lab.served.parent / "settings", QUIET | language)
    return lab


def panel(page: Page, number: int, name: str = "Tool-Aufrufe") -> Locator:
    return outputs(page, number).get_by_role("region", name=name)


def press(view: Locator, name: str) -> None:
    view.get_by_role("button", name=name, exact=True).click()


def test_a_session_is_in_the_language_of_jupyterlab_and_no_text_stays_english(
    page: Page, german: Place
) -> None:
    open_notebook(page, german, "a.ipynb", [LOAD, fries_cell()])
    run_all(page)
    view = panel(page, 1)
    expect(view.get_by_role("button", name="Genehmigen", exact=True)).to_be_enabled()
    assert english_texts(view) == []
    screenshot(page, "german-waiting")
    press(view, "Bearbeiten")
    expect(view.get_by_role("dialog", name="Aufruf bearbeiten")).to_be_visible()
    assert english_texts(view) == []
    screenshot(page, "german-edit")
    press(view, "Abbrechen")
    press(view, "Antworten")
    assert english_texts(view) == []
    press(view, "Abbrechen")
