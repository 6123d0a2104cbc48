"""Texts of the interface, which a panel translates: in Python they are English strings.

A text is sent as a list of the English text and its values, so that each panel shows it in the
language of its page, also from a notebook that was saved in another one. What a model or a tool
wrote, errors and the names of branches are data, and are sent as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_PLACE = re.compile(r"%(\d)")


class InterfaceText(str):
    """An English text with its values filled in; `parts` is what a panel gets."""

    parts: tuple[Any, ...]

    def wire(self) -> list[Any]:
        """Return the text as JSON-ready data, as `text` in `labextension/src/view/reader.ts` reads
        it: the English text, or a list of two for one and for many, and the values."""
        return [on_wire(part) for part in self.parts]


def t(english: str, *values: object) -> InterfaceText:
    """Return a text of the interface; `%1` stands for the first value, which may be a text too.

    Names and placeholders are those of `t` in `labextension/src/view/text.ts`: the catalogues in
    `locale/` are read from the calls of both.
    """
    return _text(english, english, values)


def tn(one: str, many: str, count: int, *values: object) -> InterfaceText:
    """Return the text for one or for many; `%1` stands for the count."""
    return _text([one, many], one if count == 1 else many, (count, *values))


def joined(separator: str, texts: Iterable[str]) -> str:
    """Return texts, one after the other, as one text."""
    parts: list[str] = []
    for text in texts:
        parts += [separator, text] if parts else [text]
    if not any(isinstance(part, InterfaceText) for part in parts):
        return "".join(parts)
    return _filled("".join(parts), ["", *parts])


def on_wire(value: object) -> Any:
    """Return the value of a row's field with its texts as they are sent."""
    if type(value) is InterfaceText:
        return value.wire()
    if type(value) is tuple and value and isinstance(value[0], str):
        return tuple([on_wire(part) for part in value])
    return value


def from_wire(data: Any) -> Any:
    """Return the text of what `on_wire` returned; data of another shape is returned as it is.

    Raises ValueError for a text that has fewer values than places.
    """
    try:
        match data:
            case ["", *parts]:
                return _filled("".join(str(from_wire(part)) for part in parts), data)
            case [[str(one), str(many)], int(count), *values]:
                english = one if count == 1 else many
                return _text([one, many], english, (count, *map(from_wire, values)))
            case [str(english), *values]:
                return _text(english, english, tuple(map(from_wire, values)))
    except IndexError:
        raise ValueError("a text has fewer values than places") from None
    return data


def _text(sent: object, english: str, values: tuple[object, ...]) -> InterfaceText:
    plain = [value if isinstance(value, (str, int, float)) else str(value) for value in values]
    shown = [_shown(value) for value in plain]
    text = _PLACE.sub(lambda match: shown[int(match[1]) - 1], english)
    return _filled(text, [sent, *plain])


def _shown(value: str | float) -> str:
    # As JavaScript writes numbers: 2.0 is 2.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _filled(text: str, parts: list[Any]) -> InterfaceText:
    filled = InterfaceText(text)
    filled.parts = tuple(parts)
    return filled
