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
    r"(?:\s++|<!--(?:(?!-->).)*+-->)*+<([A-Za-z_][\w.-]*+)(?=[\s/>])([^<>]*+)>", re.DOTALL
)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_EDGES = re.compile(r"\A[ \t]*+\r?\n|\r?\n[ \t]*+\Z")
MARKUP = re.compile(r"<[/!?]?[A-Za-z]")


class Element(NamedTuple):
    """An element: its name, what its content stands for, and where the text after it starts.

    Attributes of an empty element stand for elements in it: `<size a="1"/>` has `<a>1</a>`.
    """

    name: str
    text: str
    after: int


def elements(text: str, start: int, end: int) -> Iterator[Element]:
    """Yield the elements of a part of a text, up to the first text that is no complete element.

    Rigging writes the parameters of a call in this way: `<city>Oslo</city>`.
    """
    position = start
    while (opened := _OPEN.match(text, position, end)) is not None:
        name, rest = opened.groups()
        fields = rest.rstrip().removesuffix("/")
        inner, position = "", opened.end()
        if fields == rest.rstrip():
            closed = _end_of(name, text, position, end)
            if closed is None:
                return
            inner, position = text[position : closed.start()], closed.end()
        in_tag = "".join(f"<{key}>{part}</{key}>" for key, part in attributes(fields))
        yield Element(name, content(inner) or in_tag, position)


def _end_of(name: str, text: str, position: int, end: int) -> re.Match[str] | None:
    """Return the tag that ends an element; elements of the same name and CDATA may be in it."""
    tag = re.compile(rf"<!\[CDATA\[|<(/?){re.escape(name)}(?=[\s/>])[^<>]*+>")
    depth, last = 1, text.rfind("]]>", position, end)
    while (match := tag.search(text, position, end)) is not None:
        position = match.end()
        if match[1] is None:
            position = text.index("]]>", position) + 3 if position <= last else position
        elif match[1]:
            depth -= 1
        elif not match[0].endswith("/>"):
            depth += 1
        if not depth:
            return match
    return None


def attributes(text: str) -> list[tuple[str, str]]:
    """Return the attributes in the text of a tag: their names, and their values as written."""
    found = _ATTRIBUTE.findall(text)
    return [(name, double or single or bare) for name, double, single, bare in found]


def content(raw: str) -> str:
    """Return the value that the text between a parameter's tags stands for.

    CDATA is exact. Markup means that the value is code, which stands there as it is; else
    entities are read. Blank lines at the edges, and spaces around one line, are layout.
    """
    outside = _CDATA.sub("", raw)
    if MARKUP.search(outside):
        return _trimmed(raw)
    if outside == raw:
        return unescaped(_trimmed(raw))
    plain = bool(outside.strip())
    parts = enumerate(_CDATA.split(_trimmed(raw) if plain else raw))
    # Every other part is what stood in CDATA.
    return "".join(part if index % 2 else unescaped(part) if plain else "" for index, part in parts)


def _trimmed(raw: str) -> str:
    text = _EDGES.sub("", raw)
    return text if "\n" in text else text.strip()


def unescaped(text: str) -> str:
    """Return a text with its entities read; what is none stays as it is."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)
