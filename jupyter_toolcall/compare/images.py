"""Two images: of Pillow, of Matplotlib, or the bytes of a file. No library is loaded for it."""

from __future__ import annotations

import base64
import io
import sys
from typing import Any

from ..core.interrupts import attempt
from ..tools.value_display import image_address
from .differences import Difference, Images, Picture, Same

KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}
"""How a file of images begins, and what it is."""
LARGEST, THUMBNAIL = 24_000, 4_000
"""Bytes of a file that is shown as it is, and of a smaller picture of another."""
GRAIN = (96, 96)
"""Images are compared at this size."""


def is_picture(value: Any) -> bool:
    """Return whether a value is an image that can be shown."""
    return _is_pillow(value) or _is_figure(value) or _kind(value) != ""


def pictures(left: Any, right: Any) -> Difference:
    """Return how two images differ."""
    if isinstance(left, bytes) and left == right:
        return Same()
    share = _share(left, right)
    shown = _picture(left), _picture(right)
    same_size = (shown[0].width, shown[0].height) == (shown[1].width, shown[1].height)
    if share == 0 and same_size and _raw(left) == _raw(right):
        return Same()
    return Images(*shown, share)


def _is_pillow(value: Any) -> bool:
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(value, pillow.Image)


def _is_figure(value: Any) -> bool:
    figures = sys.modules.get("matplotlib.figure")
    return figures is not None and isinstance(value, figures.Figure)


def _kind(value: Any) -> str:
    if not isinstance(value, bytes):
        return ""
    return next((kind for begin, kind in KINDS.items() if value.startswith(begin)), "")


def _opened(value: Any) -> Any:
    """Return an image of Pillow, None where Pillow is not loaded, or can't read it."""
    pillow = sys.modules.get("PIL.Image")
    if _is_pillow(value) or pillow is None:
        return value if pillow is not None else None
    try:
        return pillow.open(io.BytesIO(value if isinstance(value, bytes) else _png(value)))
    # What Pillow raises for a file that is none is up to its reader.
    except Exception:
        return None


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=40, metadata={"Software": None})
    return buffer.getvalue()


def _picture(value: Any) -> Picture:
    opened = _opened(value)
    width, height = opened.size if opened is not None else _size(value)
    if isinstance(value, bytes) and len(value) <= LARGEST:
        data = base64.b64encode(value).decode()
        return Picture(width, height, f"data:image/{_kind(value)};base64,{data}")
    return Picture(width, height, attempt(image_address, opened, {}, THUMBNAIL)[0] or "")


def _size(value: Any) -> tuple[int, int]:
    """Return the size that the head of a PNG file tells, (0, 0) for other files."""
    if _kind(value) != "png" or len(value) < 24:
        return 0, 0
    return int.from_bytes(value[16:20], "big"), int.from_bytes(value[20:24], "big")


def _raw(value: Any) -> Any:
    return value.tobytes() if _is_pillow(value) else _png(value) if _is_figure(value) else value


def _share(left: Any, right: Any) -> float | None:
    """Return which share of two images differs, coarsely; None where Pillow can't tell."""
    images = _opened(left), _opened(right)
    if any(image is None for image in images):
        return None
    a, b = (image.convert("RGB").resize(GRAIN).tobytes() for image in images)
    pixels = range(0, len(a), 3)
    unlike = sum(bool(a[n : n + 3] != b[n : n + 3]) for n in pixels)
    return unlike / max(1, len(pixels))
