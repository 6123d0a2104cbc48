"""The elements in a row of a text, as rigging writes the parameters of a call: `<city>Oslo</city>`.

A parser of XML would refuse most of what models write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")
_SPACE = re.compile(r"(?:\s++|<!--(?:(?!-->).)*+-->)*+", re.DOTALL)
_OPEN = re.compile(r"<([A-Za-z_][\w.-]*+)(?=[\s/>])([^<>]*+)>")


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its name, where its content starts and ends, and where the next text starts."""

    name: str
    start: int
    end: int
    after: int
    attributes: str = ""

    @property
    def children_of_attributes(self) -> str:
        """Its attributes, written as elements: `<size a="1"/>` has `<a>1</a>`."""
        matches = ATTRIBUTE.finditer(self.attributes.rstrip().removesuffix("/"))
        return "".join(f"<{m[1]}>{m[2] or m[3] or m[4] or ''}</{m[1]}>" for m in matches)


def elements(text: str, start: int, end: int) -> Iterator[Element]:
    """Yield the elements of a part of a text, up to the first text that is no complete element."""
    position = start
    while True:
        space = _SPACE.match(text, position, end)
        opened = _OPEN.match(text, space.end() if space else position, end)
        if opened is None:
            return
        name, attributes = opened.groups()
        if attributes.rstrip().endswith("/"):
            yield Element(name, opened.end(), opened.end(), opened.end(), attributes)
            position = opened.end()
        elif (closed := _end_of(name, text, opened.end(), end)) is not None:
            yield Element(name, opened.end(), closed.start(), closed.end(), attributes)
            position = closed.end()
        else:
            return


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
