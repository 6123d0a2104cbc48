"""From a value to the picture of it: a table, an image, markup, fields, or words."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

from ..compare.cells import NUMBER, cell_text, is_nothing
from ..compare.frame_columns import Frame, frame_of
from ..core.digests import readable_json
from ..core.interface_text import joined, t, tn
from ..core.interrupts import attempt
from ..core.rows import Text
from ..core.text import aligned_lines, short_numbers, shortened_text, visible_text
from ..sources.table_frames import first_rows
from ..tools.plain_data import describe, well_formed
from ..tools.table_classes import library_elsewhere, shape_of
from ..tools.value_display import Shows, glyph, image_address, is_image, reprs
from ..tools.value_text import StandsForText
from .contract_rows import Preview

CAPTION, DIGITS, EMPTY = 24, 24, 40
"""Characters of a caption, and of a number, which is not cut; of columns with empty cells so
many."""
LINES, SIGNS = 4, 17
"""Lines of text in a box, and their characters."""
COLLECTIONS = (list, tuple, set, frozenset, Mapping)
_PLAIN_TAG = re.compile(r"<code.*?</code>|&lt;(/?(?:details|summary|br))&gt;", re.DOTALL)
"""A tag without attributes, which Markdown may hold; code is left as it is."""
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
    field: int
    """Characters of the value of a field."""
    columns: int
    rows: int
    cell: int
    """Characters of a cell of a table."""
    image: int
    html: int


SMALL = Room(text=400, fields=8, field=60, columns=5, rows=4, cell=14, image=4_000, html=2_000)
"""In a row: at most about 4 kB in all."""
LARGE = Room(
    text=20_000, fields=60, field=400, columns=60, rows=500, cell=60, image=2_000_000, html=400_000
)
"""On demand."""


Columns = Collection[str]
"""Names of columns."""


def preview(
    value: object, shows: Shows = reprs, room: Room = SMALL, first: Columns = ()
) -> Preview:
    """Return a picture of a value.

    `shows` tells what it says of itself. Of a table with more columns than room, those that `first`
    names and the last one, which is often new, are among the shown ones, in the table's order.
    """
    if room is LARGE and isinstance(value, StandsForText):
        # A resource is read when somebody looks at it, and says why where it cannot be.
        contents, failed = attempt(value.preview_value)
        value = value if failed else contents
    # A value's own methods may raise anything; a picture is never worth a failed step.
    drawn = attempt(_preview, value, shows, room, first)[0]
    drawn = drawn or Preview(text=describe(value, room.text))
    return replace(drawn, large=attempt(_large, value)[0] or "", more=drawn.more and room is SMALL)


def _preview(value: object, shows: Shows, room: Room, first: Columns) -> Preview:
    """Return a picture; it has `more` where there is more of the value than room."""
    if library_elsewhere(value):
        # Rows are computed for somebody who opens the picture.
        rows = _preview(first_rows(value, room.rows if room is LARGE else 0), shows, room, first)
        return replace(rows, caption=t("not computed"), more=room is SMALL)
    caption = _caption(value)
    if hasattr(value, "columns") and (frame := frame_of(value)) is not None:
        return replace(_table(frame, room, first), caption=caption)
    bundle = shows(value)
    paths = glyph(bundle)
    if is_image(value, bundle) and not paths:
        return Preview(caption, image=image_address(value, bundle, room.image), more=True)
    html, fields = _markup(bundle), _fields(value, room)
    words = bundle.get("text/markdown", bundle.get("text/latex", value))
    if html:
        # The words of the markup, on one line.
        text = " ".join(unescape(_MARKUP.sub(" ", html[:READ])).split())[: room.text]
    elif isinstance(words, str):
        text = well_formed(words)[: room.text]
    else:
        text = "" if fields else describe(value, room.text)
    is_cut = len(html) > room.html
    short = is_cut or len(text) >= room.text
    return Preview(caption, text, fields, glyph=paths, html="" if is_cut else html, more=short)


def _large(value: object) -> str:
    """Return how large a value is, "" where it is not large."""
    shape = shape_of(value)
    if isinstance(shape, tuple) and all(isinstance(part, int) for part in shape):
        cells = math.prod(shape)
        return t("%1 cells", cells) if cells >= MANY else ""
    if not isinstance(value, (str, bytes, bytearray, *COLLECTIONS)) or len(value) < MANY:
        return ""
    match value:
        case str():
            return t("%1 characters", len(value))
        case bytes() | bytearray():
            return t("%1 bytes", len(value))
    return tn("%1 item", "%1 items", len(value))


def _caption(value: object) -> str:
    cls: Any = type(value)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return " × ".join(str(part) for part in shape)
    # The __str__ of some classes says what repr says, which is no caption.
    as_repr = cls.__module__.startswith(("pydantic", "matplotlib")) or hasattr(cls, "model_fields")
    own_text = cls.__str__ is not object.__str__ and not as_repr
    if isinstance(value, (str, int, float, bool)) or own_text:
        return _line(str(value), CAPTION)
    return tn("%1 item", "%1 items", len(value)) if isinstance(value, COLLECTIONS) else ""


def _line(text: str, limit: int) -> str:
    return visible_text(" ".join(text.split()), limit)


def _fields(value: object, room: Room) -> tuple[tuple[str, str], ...]:
    cls: Any = type(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr]
    elif isinstance(value, Mapping):
        pairs = [(str(key), item) for key, item in value.items()]
    elif cls.__repr__ is object.__repr__ or hasattr(cls, "model_fields"):
        pairs = [(k, v) for k, v in getattr(value, "__dict__", {}).items() if not k.startswith("_")]
    else:
        return ()
    return tuple([(name[:40], _shown(item, room.field)) for name, item in pairs[: room.fields]])


def _shown(item: object, limit: int) -> str:
    """A text in the quotes that arguments have, so that it reads alike wherever it stands."""
    text = readable_json(well_formed(item)) if type(item) is str else describe(item, limit)
    return shortened_text(text, limit)


def _table(frame: Frame, room: Room, first: Columns) -> Preview:
    height, wide = frame.shape
    head = frame.take(range(min(height, room.rows)))
    is_wide = wide > room.columns
    shown = [*dict.fromkeys([*first, *frame.names[-1:]])] if first else []
    place = {name: n for n, name in enumerate(shown)}
    by_place = sorted(range(wide), key=lambda n: place.get(frame.names[n], math.inf))
    order = sorted(by_place[: room.columns])
    names = {n: _cell(frame.names[n], room.cell + 2) for n in order}
    texts = {n: [_cell(item, room.cell) for item in head.cells(head.column(n))] for n in order}
    rows = [visible_text(head.row_name(n), room.cell + 2) for n in range(head.height)]
    empty, parts = _empty_cells(frame), list[str]()
    if height > room.rows:
        parts.append(t("first %1 of %2 rows", room.rows, f"{height:,}"))
    if is_wide:
        parts.append(t("%1 of %2 columns", room.columns, f"{wide:,}"))
    in_box = {n: [names[n], *texts[n]] for n in by_place[: len(names)]}
    lines, others = _box_lines(in_box, wide)
    return Preview(
        text=joined(", ", parts),
        columns=(*names.values(),),
        cells=tuple(zip(*texts.values(), strict=True)),
        rows=() if rows == [*map(str, range(len(rows)))] else (*rows,),
        more=bool(parts),
        lines=lines,
        others=others,
        empty_cells=empty[:EMPTY],
        empty_columns=len(empty),
    )


def _box_lines(columns: Mapping[int, Sequence[str]], wide: int) -> tuple[tuple[str, ...], Text]:
    """Return the first rows of a table, with as many whole columns as a box has room for, in the
    table's order, and how many of all others there are. One that is too wide is passed over."""
    shown, room = dict[int, list[str]](), SIGNS
    for n, column in columns.items():
        texts = [short_numbers(text or t("empty"), SIGNS) for text in column[:LINES]]
        width = max(map(len, texts))
        if shown and width > room:
            continue
        shown[n] = texts
        room -= width + 2
    others = wide - len(shown)
    rows = [*zip(*(shown[n] for n in sorted(shown)), strict=True)][: LINES - (others > 0)]
    note = tn("+ %1 column", "+ %1 columns", others) if others else ""
    return (*aligned_lines(rows, range(len(shown))),), note


def _cell(item: object, limit: int) -> str:
    """Return a cell as it is written: "" where it is empty, in quotes where blanks would hide."""
    text = "" if is_nothing(item) else cell_text(item)
    if type(item) is str and (item.startswith('"') or not item or item != " ".join(item.split())):
        text = readable_json(text)
    # Who shows a number shortens it, and has the whole one at hand.
    is_number = len(text) <= DIGITS and re.fullmatch(NUMBER, text) is not None
    return visible_text(text, max(limit, DIGITS) if is_number else limit)


def _empty_cells(frame: Frame) -> tuple[tuple[str, str], ...]:
    """Return which columns have empty cells, in order; large tables are not counted."""
    if frame.height > COUNTED:
        return ()
    counts = [(frame.empty(frame.column(n)), name) for n, name in enumerate(frame.names)]
    return tuple((_cell(name, EMPTY), f"{count:,}") for count, name in counts if count)


# -- markup that a value makes of itself: HTML as it is, Markdown where it can be read --------


def _markup(bundle: Mapping[str, object]) -> str:
    """Return what a value says of itself as HTML; "" where nothing here can read its Markdown."""
    html, words = bundle.get("text/html"), bundle.get("text/markdown")
    if isinstance(html, str):
        return well_formed(html)
    return markdown_html(words) if isinstance(words, str) else ""


def markdown_html(words: str) -> str:
    """Return Markdown as HTML; "" where nothing here can read it.

    Of HTML in it only `<details>`, `<summary>` and `<br>` are markup, the rest is text.
    """
    try:
        from mistune import create_markdown
    except ImportError:
        return ""
    html = create_markdown(plugins=["table", "strikethrough"])(well_formed(words))
    return _PLAIN_TAG.sub(lambda tag: f"<{tag[1]}>" if tag[1] else tag[0], str(html))
