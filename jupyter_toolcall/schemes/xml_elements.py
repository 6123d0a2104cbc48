"""The elements that stand side by side in a text, as rigging writes the parameters of a call:
`<city>Oslo</city>`. What a model writes is no XML that a parser would take.
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
    """An element: its name, the positions of its content, and the position behind its end."""

    name: str
    start: int
    end: int
    after: int
    attributes: str = ""

    @property
    def children_of_attributes(self) -> str:
        """Its attributes, written as elements: `<size a="1"/>` has `<a>1</a>`."""
        found = ATTRIBUTE.finditer(self.attributes.rstrip().removesuffix("/"))
        return "".join(f"<{m[1]}>{m[2] or m[3] or m[4] or ''}</{m[1]}>" for m in found)


def elements(text: str, start: int, end: int) -> Iterator[Element]:
    """Yield the elements of a part of a text, up to what is no whole element."""
    at = start
    while True:
        space = _SPACE.match(text, at, end)
        opened = _OPEN.match(text, space.end() if space else at, end)
        if opened is None:
            return
        name, attributes = opened.groups()
        if attributes.rstrip().endswith("/"):
            yield Element(name, opened.end(), opened.end(), opened.end(), attributes)
            at = opened.end()
        elif (closed := _end_of(name, text, opened.end(), end)) is not None:
            yield Element(name, opened.end(), closed.start(), closed.end(), attributes)
            at = closed.end()
        else:
            return


def _end_of(name: str, text: str, at: int, end: int) -> re.Match[str] | None:
    """Return the tag that ends an element; CDATA hides tags, and one of its name may be in it."""
    tag = re.compile(rf"<!\[CDATA\[|<(/?){re.escape(name)}(?=[\s/>])[^<>]*+>")
    depth, last = 1, text.rfind("]]>", at, end)
    while (match := tag.search(text, at, end)) is not None:
        at = match.end()
        if match[1] is None:
            at = text.index("]]>", at) + 3 if at <= last else at
        elif match[1]:
            depth -= 1
        elif not match[0].endswith("/>"):
            depth += 1
        if not depth:
            return match
    return None
