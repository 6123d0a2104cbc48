"""From a value to the picture of it: a table, an image, markup, fields, or words."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

from ..compare.frame_columns import Frame, frame_of
from ..core.digests import readable_json
from ..core.interface_text import joined, t, tn
from ..core.interrupts import attempt
from ..core.text import shortened_text, visible_text
from ..tools.value_copies import describe, well_formed
from ..tools.value_display import Shows, glyph, image_address, is_image, reprs
from ..tools.value_text import StandsForText
from .contract_rows import Preview

CAPTION, WORD = 24, 14
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|head|template)\b.*?(?:</\1\b[^>]*>|\Z)|</?[a-z!?][^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, tags, and what has no words in it."""
READ = 20_000
"""Characters of markup that are looked through for words."""
MANY = 100_000
"""From so many cells, characters, bytes or items on, a value is large."""
COUNTED = 200_000
"""Rows of a table in which empty cells are counted."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much a picture may hold."""

    text: int
    fields: int
    columns: int
    rows: int
    image: int
    html: int


SMALL = Room(text=400, fields=8, columns=5, rows=4, image=4_000, html=2_000)
"""In a row: at most about 4 kB in all."""
LARGE = Room(text=20_000, fields=60, columns=20, rows=500, image=2_000_000, html=400_000)
"""On demand."""


def caption(text: str) -> str:
    """Return the beginning of a text, as it stands under a node of the graph."""
    return _line(text, CAPTION)


def preview(value: Any, shows: Shows = reprs, room: Room = SMALL) -> Preview:
    """Return a picture of a value; `shows` tells what it says of itself."""
    if room is LARGE and isinstance(value, StandsForText):
        # A resource is read when somebody looks at it, and says why where it cannot be.
        contents, failed = attempt(value.preview_value)
        value = value if failed else contents
    # A value's own methods may raise anything; a picture is never worth a failed step.
    drawn = attempt(_preview, value, shows, room)[0] or Preview(text=describe(value, room.text))
    large = attempt(_large, value)[0] or ""
    return replace(drawn, large=large) if large else drawn


def _preview(value: Any, shows: Shows, room: Room) -> Preview:
    if hasattr(value, "columns") and (frame := frame_of(value)) is not None:
        return _table(value, frame, room)
    own = shows(value)
    paths = glyph(own)
    if is_image(value, own) and not paths:
        address = image_address(value, own, room.image)
        return Preview(_caption(value), image=address, more=room is SMALL)
    html, fields, text = _markup(own), _fields(value, room), ""
    words = own.get("text/markdown", own.get("text/latex", value))
    if html:
        text = _plain(html)[: room.text]
    elif not fields:
        is_text = isinstance(words, str)
        text = well_formed(words)[: room.text] if is_text else describe(value, room.text)
    fits = len(html) <= room.html
    return Preview(
        _caption(value),
        text,
        fields,
        glyph=paths,
        html=html if fits else "",
        more=room is SMALL and (not fits or len(text) >= room.text),
    )


def _large(value: Any) -> str:
    """Return how large a value is, "" where it is not large."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(isinstance(part, int) for part in shape):
        cells = math.prod(shape)
        return t("%1 cells", cells) if cells >= MANY else ""
    if not isinstance(value, (str, bytes, bytearray, list, tuple, set, frozenset, Mapping)):
        return ""
    count = len(value)
    if count < MANY:
        return ""
    if isinstance(value, str):
        return t("%1 characters", count)
    is_bytes = isinstance(value, (bytes, bytearray))
    return t("%1 bytes", count) if is_bytes else tn("%1 item", "%1 items", count)


def _caption(value: Any) -> str:
    cls: Any = type(value)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return " × ".join(str(part) for part in shape)
    # The __str__ of some classes says what repr says, which is no caption.
    as_repr = cls.__module__.startswith(("pydantic", "matplotlib")) or hasattr(cls, "model_fields")
    own_text = cls.__str__ is not object.__str__ and not as_repr
    if isinstance(value, (str, int, float, bool)) or own_text:
        return _line(str(value), CAPTION)
    if isinstance(value, (list, tuple, set, frozenset, Mapping)):
        return tn("%1 item", "%1 items", len(value))
    return ""


def _line(text: str, limit: int) -> str:
    return visible_text(" ".join(text.split()), limit)


def _fields(value: Any, room: Room) -> tuple[tuple[str, str], ...]:
    cls: Any = type(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr]
    elif isinstance(value, Mapping):
        pairs = [(str(key), item) for key, item in value.items()]
    elif cls.__repr__ is object.__repr__ or hasattr(cls, "model_fields"):
        pairs = [(k, v) for k, v in getattr(value, "__dict__", {}).items() if not k.startswith("_")]
    else:
        return ()
    limit = 60 if room is SMALL else 400
    return tuple([(name[:40], _shown(item, limit)) for name, item in pairs[: room.fields]])


def _shown(item: Any, limit: int) -> str:
    """A text in the quotes that arguments have, so that it reads alike wherever it stands."""
    if type(item) is not str:
        return describe(item, limit)
    text = readable_json(well_formed(item))
    return shortened_text(text, limit)


def _table(value: Any, frame: Frame, room: Room) -> Preview:
    width = WORD if room is SMALL else 60
    names = frame.names[: room.columns]
    head = frame.take(range(min(frame.height, room.rows)))
    lists = [head.cells(head.column(number)) for number in range(len(names))]
    cells = tuple(
        tuple([_line(_cell(item), width) for item in row]) for row in zip(*lists, strict=True)
    )
    columns = tuple(_line(name, width + 2) for name in names)
    height, wide = frame.shape
    small = room is SMALL
    more = small and (height > room.rows or wide > room.columns)
    text = "" if small else _shown_part((height, wide), (room.rows, room.columns))
    return Preview(
        _caption(value), text, columns=columns, cells=cells, more=more, missing=_missing(frame)
    )


def _shown_part(shape: tuple[int, int], room: tuple[int, int]) -> str:
    """Return which rows and columns of a table are shown, "" where all are."""
    (height, wide), (rows, columns) = shape, room
    parts = [t("first %1 of %2 rows", rows, f"{height:,}")] if height > rows else []
    if wide > columns:
        parts.append(t("first %1 of %2 columns", columns, f"{wide:,}"))
    return joined(", ", parts)


def _cell(item: Any) -> str:
    return f"{item:.4g}" if isinstance(item, float) else str(item)


def _missing(frame: Frame) -> str:
    """Return which columns have empty cells, the most first; large tables are not counted."""
    if frame.height > COUNTED:
        return ""
    counts = [(frame.empty(frame.column(n)), name) for n, name in enumerate(frame.names)]
    counts = sorted((pair for pair in counts if pair[0]), key=lambda pair: -pair[0])
    named = [f"{_line(name, 2 * WORD)} {count:,}" for count, name in counts]
    more = [tn("%1 more column", "%1 more columns", len(named) - 4)] if len(named) > 4 else []
    return joined(", ", [*named[:4], *more])


# -- markup that a value makes of itself: HTML as it is, Markdown where it can be read --------


def _markup(own: Mapping[str, Any]) -> str:
    """Return what a value says of itself as HTML; "" where nothing here can read its Markdown."""
    html, words = own.get("text/html"), own.get("text/markdown")
    if isinstance(html, str):
        return well_formed(html)
    if not isinstance(words, str):
        return ""
    try:
        from mistune import create_markdown
    except ImportError:
        return ""
    return str(create_markdown(plugins=["table", "strikethrough"])(well_formed(words)))


def _plain(html: str) -> str:
    """Return the words of markup on one line."""
    return " ".join(unescape(_MARKUP.sub(" ", html[:READ])).split())
