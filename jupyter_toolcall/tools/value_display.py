"""How a value shows itself: its `_repr_*_` methods by MIME type, and its image as a data address.

Nothing of it is trusted: a method that raises, or returns what it should not, shows nothing.
"""

from __future__ import annotations

import base64
import functools
import io
import re
from collections.abc import Callable, Iterator, Mapping
from operator import methodcaller
from typing import Any
from xml.etree import ElementTree

from ..core.interrupts import attempt

Shows = Callable[[Any], Mapping[str, Any]]
"""From a value to its texts, and the bytes of its images, by MIME type."""
METHODS: Mapping[str, str] = {
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
}
_CANARY = "_ipython_canary_method_should_not_exist_"
"""A value that has this attribute has every attribute."""
SIDES = (1200, 800, 480, 320, 160, 128, 96, 48)
"""The sizes that an image is scaled to, in pixels."""
SHARP = ((360, 50), (240, 40), (120, 30))
"""Sizes and qualities that are tried for a WebP."""
THUMBNAIL = 160
FEW_COLORS = 200
"""An image no larger than this is saved with 32 colors: a third of the bytes, and as good."""
MAX_GLYPH = 4_000
"""Characters of the SVG of a glyph, and bytes of a thumbnail."""
_PATH = re.compile(r"[MmLlHhVvCcSsQqTtAaZz0-9eE ,.+-]{1,600}")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*>", re.IGNORECASE)


def reprs(value: object) -> dict[str, Any]:
    """Return what a value's own methods return, by MIME type."""
    if isinstance(value, type) or hasattr(value, _CANARY):
        return {}
    shown = {mime: _content(getattr(value, name, None)) for mime, name in METHODS.items()}
    bundle = _content(getattr(value, "_repr_mimebundle_", None))
    if isinstance(bundle, Mapping):
        shown |= {mime: bundle[mime] for mime in METHODS if _is_content(bundle.get(mime))}
    return {mime: data for mime, data in shown.items() if data is not None}


def reprs_with_printers(printers: Mapping[str, object]) -> Shows:
    """Return `reprs` with a person's printers first, which IPython's formatters hold."""
    return lambda value: {**reprs(value), **dict(_printed(value, printers))}


def _printed(value: object, printers: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for mime in METHODS:
        # There is no printer for this type, or what a person registered raises.
        printer = attempt(methodcaller("lookup", value), printers.get(mime))[0]
        data = _content(printer and functools.partial(printer, value))
        if data is not None:
            yield mime, data


def _content(method: object) -> object:
    """Return what a method returns, None if that cannot be shown."""
    # A value's own methods may raise anything; a picture is never worth a failed step.
    data = attempt(method)[0] if callable(method) else None
    # Metadata may follow the data.
    data = data[0] if isinstance(data, tuple) and data else data
    return data if isinstance(data, Mapping) or _is_content(data) else None


def _is_content(data: object) -> bool:
    return isinstance(data, (str, bytes)) and len(data) > 0


# -- images -------------------------------------------------------------------------------


def is_image(value: object, shown: Mapping[str, object]) -> bool:
    """Return whether a value is an image, of any size; `shown` are its `reprs`."""
    has_picture = any(mime.startswith("image/") for mime in shown)
    return has_picture or hasattr(value, "savefig") or _is_pillow(value)


def image_address(value: object, shown: Mapping[str, object], room: int) -> str:
    """Return a value as the data address of an image, "" if it is none.

    The image is scaled down to at most `room` bytes; `shown` are the value's `reprs`.
    """
    if hasattr(value, "savefig"):
        buffer = io.BytesIO()
        dpi = 40 if room < 100_000 else 110
        value.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
        return _scaled(_pillow(buffer.getvalue()), room)
    if _is_pillow(value):
        return _scaled(value, room)
    svg = shown.get("image/svg+xml")
    if isinstance(svg, str):
        return _address("image/svg+xml", svg.encode(), room) if _is_drawing(svg) else ""
    return next((_raster(shown[m], m, room) for m in ("image/png", "image/jpeg") if m in shown), "")


def sharp_address(picture: Any, room: int) -> str:
    """Return an image of Pillow as the data address of a WebP, "" where it cannot be one.

    In as many bytes it has twice the sides of a PNG, so that it is sharp where it is shown.
    """
    small = picture.convert("RGB")
    for side, quality in SHARP:
        small.thumbnail((side, side))
        buffer = io.BytesIO()
        small.save(buffer, format="WEBP", quality=quality, method=2)
        if address := _address("image/webp", buffer.getvalue(), room):
            return address
    return ""


def glyph(shown: Mapping[str, object]) -> tuple[str, ...]:
    """Return the paths of a value whose SVG is a 24 by 24 box with paths alone."""
    svg = shown.get("image/svg+xml")
    if not isinstance(svg, str) or len(svg) > MAX_GLYPH or "<!" in svg:
        return ()
    root = ElementTree.fromstring(svg)
    paths = [part.get("d", "") for part in root]
    fits = root.get("viewBox") == "0 0 24 24" and all(map(_PATH.fullmatch, paths))
    return tuple(paths[:8]) if fits else ()


def _is_pillow(value: object) -> bool:
    return hasattr(value, "thumbnail") and hasattr(value, "save")


def _pillow(data: bytes) -> object:
    from PIL import Image

    return Image.open(io.BytesIO(data))


def _scaled(picture: Any, room: int) -> str:
    """Return an image of Pillow in the largest of the sizes that fits."""
    longest = min(max(picture.size), SIDES[0] if room > MAX_GLYPH else THUMBNAIL)
    small = picture.convert("RGB")
    for side in sorted({longest, *(side for side in SIDES if side < longest)}, reverse=True):
        small.thumbnail((side, side))
        buffer = io.BytesIO()
        reduced = small.quantize(32) if max(small.size) <= FEW_COLORS else small
        reduced.save(buffer, format="PNG", optimize=True)
        if address := _address("image/png", buffer.getvalue(), room):
            return address
    return ""


def _raster(data: Any, mime: str, room: int) -> str:
    raw = base64.b64decode(data) if isinstance(data, str) else bytes(data)
    try:
        return _address(mime, raw, room) or _scaled(_pillow(raw), room)
    # Without Pillow it cannot be scaled down.
    except ImportError:
        return ""


def _is_drawing(svg: str) -> bool:
    """Return whether a text is SVG without definitions that could grow when it is parsed."""
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
