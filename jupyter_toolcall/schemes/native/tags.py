"""The tags of the format, found in a text in one pass: names and places, no meaning.

What a model writes is no XML that a parser would take, so the tags are looked for, and
all else is text. No pattern here can run past the next tag, so the pass is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["calls", "call", "parameter", "cdata"]

_OURS = r"<(?!\s*+/?+\s*+(?:tool[-_]?call|call\b|param))"
_QUOTED = rf'"[^"<]*+(?:{_OURS}[^"<]*+)*+"' + "|" + rf"'[^'<]*+(?:{_OURS}[^'<]*+)*+'"
_WORD = (
    r"tool[-_]?calls|tool[-_]?call|call(?=\s[^<>]*?\btool\s*=)|(?<=/)call|"
    r"parameter|param(?=\s)|(?<=/)param|tool[-_]parameter"
)
_TAG = re.compile(
    rf"<\s*+(?P<close>/?)\s*+(?P<word>{_WORD})(?![\w-])"
    rf"(?P<rest>(?:[^<>\"']++|{_QUOTED})*+)(?P<whole>>?)"
    r"|(?P<cdata><!\[CDATA\[)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, or a section of CDATA, and where it stands.

    `whole` says that it ends as it should; `rest` is what stands behind its name.
    """

    kind: Kind
    word: str
    start: int
    end: int
    close: bool = False
    whole: bool = True
    rest: str = ""
    rest_at: int = 0

    @property
    def empty(self) -> bool:
        return not self.close and self.rest.rstrip().endswith("/")

    def closes(self, word: str) -> bool:
        """Return whether this is the end of what a tag of that name began."""
        return self.close and self.whole and self.word == word

    def attribute(self, *names: str) -> tuple[str, int, int] | None:
        """Return an attribute as it is written, and where; None where there is none."""
        for found in _ATTRIBUTE.finditer(self.rest):
            if found[1].lower() in names:
                group = next(number for number in (2, 3, 4) if found[number] is not None)
                text = found[group]
                if group == 4 and self.empty and found.end() == len(self.rest.rstrip()):
                    text = text.removesuffix("/")
                start = self.rest_at + found.start(group)
                return text, start, start + len(text)
        return None


def tags(text: str) -> Iterator[Tag]:
    """Yield the tags of a text, and inside values the sections of CDATA, which hide tags."""
    at, inside, last = 0, "", text.rfind("]]>")
    while (found := _TAG.search(text, at)) is not None:
        at = found.end()
        if found["cdata"] and not inside:
            continue
        if found["cdata"]:
            at = text.index("]]>", at) + 3 if at <= last else at
            yield Tag("cdata", "", found.start(), at, whole=text.startswith("]]>", at - 3))
            continue
        tag = _tag(found)
        inside = _inside(tag, inside)
        yield tag


def _inside(tag: Tag, inside: str) -> str:
    """Return the word of the value that goes on behind a tag, "" outside of all values."""
    if inside and tag.kind == "parameter":
        return "" if tag.closes(inside) else inside
    opens = tag.kind == "parameter" and tag.whole and not tag.close and not tag.empty
    return tag.word if opens else ""


def _tag(found: re.Match[str]) -> Tag:
    word = re.sub("[-_]", "", found["word"].lower())
    kind: Kind = "parameter" if "param" in word else "calls" if word == "toolcalls" else "call"
    return Tag(
        kind,
        word,
        found.start(),
        found.end(),
        bool(found["close"]),
        bool(found["whole"]),
        found["rest"],
        found.start("rest"),
    )
