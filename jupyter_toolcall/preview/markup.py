"""Markup that a value makes of itself: HTML as it is, Markdown where it can be read."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from ..content.value import well_formed

SILENT = ("script", "style", "head", "template")
READ = 20_000
"""Characters of markup that are looked through for words."""


def markup(own: Mapping[str, Any]) -> str:
    """Return what a value says of itself as HTML, "" where it says nothing so."""
    html = own.get("text/html")
    if isinstance(html, str):
        return well_formed(html)
    words = own.get("text/markdown")
    return _read(well_formed(words)) if isinstance(words, str) else ""


def _read(words: str) -> str:
    """Return Markdown as HTML, "" where there is nothing here to read it with."""
    try:
        from mistune import create_markdown
    except ImportError:
        return ""
    return str(create_markdown(plugins=["table", "strikethrough"])(words))


def plain(html: str) -> str:
    """Return the words of markup on one line."""
    reader = _Words()
    reader.feed(html[:READ])
    return " ".join("".join(reader.words).split())


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._silent += tag in SILENT
        self.words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in SILENT and self._silent > 0
        self.words.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)
