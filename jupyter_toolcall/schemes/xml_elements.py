"""What stands between and in the tags that a model writes: text, attributes, elements in a row.

A parser of XML would refuse most of what models write.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")
_OPEN = re.compile(
    r"(?:\s++|<!--(?:(?!-->).)*+-->)*+<([A-Za-z_][\w.-]*+)(?=[\s/>])"
    r"""((?:[^<>"'/]++|/(?!\s*+>)|"[^"<]*+"|'[^'<]*+')*+)(/?+)\s*+>""",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_EDGES = re.compile(r"\A[ \t]*+\r?\n|\r?\n[ \t]*+\Z")
MARKUP = re.compile(r"<[/!?]?[A-Za-z]")


class Element(NamedTuple):
    """An element as it is written: its name, attributes and content, and where it ends."""

    name: str
    rest: str
    raw: str
    end: int

    @property
    def text(self) -> str:
        """What its content stands for. `<size a="1"/>` has the content of `<a>1</a>`."""
        in_tag = (f"<{key}>{part}</{key}>" for key, part in _attributes(self.rest))
        return content(self.raw) or "".join(in_tag)


def elements(text: str, start: int, end: int) -> Iterator[Element]:
    """Yield the elements of a part of a text, up to the first text that is no complete element."""
    while (opened := _OPEN.match(text, start, end)) is not None:
        name, rest, is_empty = opened.groups()
        start = inner_end = opened.end()
        if not is_empty:
            closed = _end_of(name, text, start, end)
            if closed is None:
                return
            inner_end, start = closed.span()
        yield Element(name, rest, text[opened.end() : inner_end], start)


def _end_of(name: str, text: str, position: int, end: int) -> re.Match[str] | None:
    """Return the tag that ends an element; elements of the same name and CDATA may be in it."""
    tag = re.compile(rf"<!\[CDATA\[|<(/?){re.escape(name)}(?=[\s/>])[^<>]*+>")
    depth = 1
    while (match := tag.search(text, position, end)) is not None:
        position = match.end()
        if match[1] is None:
            position = text.find("]]>", position, end) + 3
            if position < 3:
                return None
        elif match[1]:
            depth -= 1
        elif not match[0].endswith("/>"):
            depth += 1
        if not depth:
            return match
    return None


def attribute(rest: str, *names: str) -> str:
    """Return the value of the first attribute of one of these names, "" for none."""
    found = (value for name, value in _attributes(rest) if name.lower() in names)
    return unescaped(next(found, ""))


def _attributes(rest: str) -> list[tuple[str, str]]:
    found = _ATTRIBUTE.findall(rest)
    return [(name, double or single or bare) for name, double, single, bare in found]


def content(raw: str) -> str:
    """Return the value that the text between a parameter's tags stands for.

    CDATA is exact. Markup means that the value is code, which stands there as it is; else
    entities are read. Blank lines at the edges, and spaces around one line, are layout.
    """
    outside = CDATA.sub("", raw)
    if MARKUP.search(outside):
        return _trimmed(raw)
    # White space around CDATA alone is layout.
    has_text = outside == raw or bool(outside.strip())
    parts = enumerate(CDATA.split(_trimmed(raw) if has_text else raw))
    # Every other part is what stood in CDATA.
    return "".join(part if index % 2 else unescaped(part) * has_text for index, part in parts)


def _trimmed(raw: str) -> str:
    text = _EDGES.sub("", raw)
    return text if "\n" in text else text.strip()


def unescaped(text: str) -> str:
    """Return a text with its entities read; what is none stays as it is."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)
