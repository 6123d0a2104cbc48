"""A small picture of a value: what stands in a tile and on a card, at most about 4 kB.

Nothing here raises: a value whose own code fails is described in words. Every text is
data and stays text; images are small PNGs of the value's own making.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from .content import describe
from .rows import Preview

CAPTION, TEXT, FIELDS, IMAGE = 24, 400, 8, 4_000
SIDES = (160, 128, 96, 48)
_PATH = re.compile(r"[MmLlHhVvCcSsQqTtAaZz0-9eE ,.+-]{1,600}")


def preview(value: Any) -> Preview:
    """Return a picture of a value."""
    try:
        return _preview(value)
    # A value's own methods may raise anything; a picture is never worth a failed step.
    except Exception:
        return Preview(text=describe(value, TEXT))


def _preview(value: Any) -> Preview:
    if _is_table(value):
        return _table(value)
    image = _image(value)
    if image:
        return Preview(caption=_caption(value), image=image)
    fields = tuple(_fields(value))
    text = "" if fields else describe(value, TEXT)
    return Preview(_caption(value), text, fields, glyph=_glyph(value))


def _caption(value: Any) -> str:
    cls = type(value)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return " × ".join(str(part) for part in shape)
    if isinstance(value, (str, int, float, bool)):
        return _line(str(value), CAPTION)
    if _defines(cls, "__str__") and not _prints_repr(cls):
        return _line(str(value), CAPTION)
    if isinstance(value, (list, tuple, set, frozenset, Mapping)):
        return f"{len(value)} items"
    return ""


def _defines(cls: type, name: str) -> bool:
    """Whether a class has a method of its own, and not just every object's."""
    return getattr(cls, name) is not getattr(object, name)


def _prints_repr(cls: type) -> bool:
    """Some classes have a __str__ that says what repr says: no caption."""
    return cls.__module__.startswith(("pydantic", "matplotlib")) or hasattr(cls, "model_fields")


def _line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _fields(value: Any) -> Iterator[tuple[str, str]]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    elif isinstance(value, Mapping):
        pairs = [(str(key), item) for key, item in value.items()]
    elif not _defines(type(value), "__repr__") or hasattr(type(value), "model_fields"):
        pairs = [(k, v) for k, v in getattr(value, "__dict__", {}).items() if not k.startswith("_")]
    else:
        return
    for name, item in pairs[:FIELDS]:
        yield name[:40], describe(item, 60)


def _is_table(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("columns", "head", "itertuples", "shape"))


def _table(value: Any) -> Preview:
    columns = tuple(_line(str(name), 16) for name in list(value.columns)[:5])
    rows = value.head(4).itertuples(index=False)
    cells = tuple(tuple(_line(_cell(item), 14) for item in list(row)[:5]) for row in rows)
    return Preview(_caption(value), columns=columns, cells=cells)


def _cell(item: Any) -> str:
    return f"{item:.4g}" if isinstance(item, float) else str(item)


def _image(value: Any) -> str:
    """Return a thumbnail as a data address, "" where the value is no picture."""
    if hasattr(value, "savefig"):
        picture = _figure(value)
    elif hasattr(value, "thumbnail") and hasattr(value, "save"):
        picture = value
    else:
        return ""
    pngs = (_picture(picture, side) for side in SIDES)
    small = next((png for png in pngs if len(png) <= IMAGE * 3 // 4), b"")
    return f"data:image/png;base64,{base64.b64encode(small).decode()}" if small else ""


def _figure(value: Any) -> Any:
    """Draw a figure of Matplotlib, which brings Pillow."""
    from PIL import Image

    buffer = io.BytesIO()
    value.savefig(buffer, format="png", dpi=40, metadata={"Software": None})
    return Image.open(buffer)


def _picture(value: Any, side: int) -> bytes:
    """Return a picture as a PNG of few colours: a third of the bytes, and as good so small."""
    buffer, small = io.BytesIO(), value.convert("RGB")
    small.thumbnail((side, side))
    small.quantize(32).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _glyph(value: Any) -> tuple[str, ...]:
    """A value that draws itself in a 24 by 24 box with paths alone is drawn in our ink."""
    draw = getattr(value, "_repr_svg_", None)
    text = draw() if callable(draw) else None
    if not isinstance(text, str) or len(text) > IMAGE or "<!" in text:
        return ()
    root = ElementTree.fromstring(text)
    paths = [part.get("d", "") for part in root]
    fits = root.get("viewBox") == "0 0 24 24" and all(map(_PATH.fullmatch, paths))
    return tuple(paths[:8]) if fits else ()
