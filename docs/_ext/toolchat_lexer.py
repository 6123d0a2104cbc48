"""Highlights `%%toolchat` cells: options in the first line, then a prompt, which is not Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ipython_pygments_lexers import IPython3Lexer
from pygments.token import Keyword, Name, Text

_CELL = re.compile(r"^(%%toolchat)([^\n]*)(\n?)(.*)", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"(?P<option>(?<!\S)--?[a-z][a-z-]*)|(?P<word>\S+)|(?P<space>\s+)")
_PROMPT = re.compile(r"(\{\w+\})")


class ToolchatLexer(IPython3Lexer):
    """IPython, with the cells of `%%toolchat`."""

    name = "IPython with %%toolchat"
    aliases = ("ipython3", "ipython")

    def get_tokens_unprocessed(self, text: str, *more: Any) -> Iterator[tuple[int, Any, str]]:
        """Yield the tokens of a cell."""
        cell = _CELL.search(text)
        code = text if cell is None else text[: cell.start()]
        yield from super().get_tokens_unprocessed(code, *more)
        if cell is None:
            return
        yield cell.start(1), Keyword, cell[1]
        for part in _LINE.finditer(cell[2]):
            kind = {"option": Name.Attribute, "word": Name}.get(part.lastgroup or "", Text)
            yield cell.start(2) + part.start(), kind, part[0]
        yield cell.start(3), Text, cell[3]
        at = cell.start(4)
        for prompt in _PROMPT.split(cell[4]):
            yield at, Name.Variable if _PROMPT.fullmatch(prompt) else Text, prompt
            at += len(prompt)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    for alias in ("ipython3", "ipython", "python"):
        app.add_lexer(alias, ToolchatLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
