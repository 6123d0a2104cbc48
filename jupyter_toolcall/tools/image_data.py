"""Images as data addresses, of a size that has room: of Pillow, of Matplotlib, or a value's own."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

SIDES = (1200, 800, 480, 320, 160, 128, 96, 48)
THUMBNAIL = 160
FEW = 200
"""An image no larger than this has few colours: a third of the bytes, and as good so small."""
_PATH = re.compile(r"[MmLlHhVvCcSsQqTtAaZz0-9eE ,.+-]{1,600}")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*>", re.IGNORECASE)
GLYPH = 4_000


def image_address(value: Any, said: Mapping[str, Any], room: int) -> str:
    """Return a value as the address of an image of at most so many bytes, "" where it is none."""
    picture = _pillow(value, room)
    if picture is not None:
        return _small(picture, room)
    svg = said.get("image/svg+xml")
    if isinstance(svg, str):
        return _address("image/svg+xml", svg.encode(), room) if _is_drawing(svg) else ""
    return next((_raster(said[m], m, room) for m in ("image/png", "image/jpeg") if m in said), "")


def glyph(said: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the paths of a value that draws itself in a 24 by 24 box with paths alone."""
    svg = said.get("image/svg+xml")
    if not isinstance(svg, str) or len(svg) > GLYPH or "<!" in svg:
        return ()
    root = ElementTree.fromstring(svg)
    paths = [part.get("d", "") for part in root]
    fits = root.get("viewBox") == "0 0 24 24" and all(map(_PATH.fullmatch, paths))
    return tuple(paths[:8]) if fits else ()


def is_image(value: Any, said: Mapping[str, Any]) -> bool:
    """Return whether a value is an image, whatever its size."""
    own = any(mime.startswith("image/") for mime in said)
    return own or hasattr(value, "savefig") or _is_pillow(value)


def _is_pillow(value: Any) -> bool:
    return hasattr(value, "thumbnail") and hasattr(value, "save")


def _pillow(value: Any, room: int) -> Any:
    """Return a value as an image of Pillow, which Matplotlib brings; None where it is none."""
    if hasattr(value, "savefig"):
        buffer = io.BytesIO()
        dpi = 40 if room < 100_000 else 110
        value.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
        return _opened(buffer.getvalue())
    return value if _is_pillow(value) else None


def _opened(data: bytes) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(data))


def _small(picture: Any, room: int) -> str:
    """Return the largest of the sizes that has room."""
    longest = min(max(picture.size), SIDES[0] if room > GLYPH else THUMBNAIL)
    small = picture.convert("RGB")
    for side in sorted({longest, *(side for side in SIDES if side < longest)}, reverse=True):
        small.thumbnail((side, side))
        address = _address("image/png", _png(small), room)
        if address:
            return address
    return ""


def _png(value: Any) -> bytes:
    buffer = io.BytesIO()
    few = value.quantize(32) if max(value.size) <= FEW else value
    few.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _raster(data: Any, mime: str, room: int) -> str:
    raw = base64.b64decode(data) if isinstance(data, str) else bytes(data)
    address = _address(mime, raw, room)
    if address:
        return address
    try:
        return _small(_opened(raw), room)
    # Without Pillow it is shown where there is room for all of it.
    except ImportError:
        return ""


def _is_drawing(svg: str) -> bool:
    """Return whether a text is SVG that defines nothing that could grow when it is read."""
    text = _DOCTYPE.sub("", svg, count=1)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return False
    try:
        return ElementTree.fromstring(text).tag.rpartition("}")[2] == "svg"
    except ElementTree.ParseError:
        return False


def _address(mime: str, data: bytes, room: int) -> str:
    if not data or len(data) > room * 3 // 4:
        return ""
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"
