"""How two images differ: of Pillow, of Matplotlib, or the bytes of a file.

Large images are compared in a sample of their pixels, and files of large ones are not opened.
"""

from __future__ import annotations

import base64
import io
import math
import sys
from importlib import import_module
from typing import Any

from ..core.interface_text import t
from ..core.interrupts import attempt
from ..tools.value_display import image_address, sharp_address
from .differences import Difference, Images, Picture, Same, Unknown

KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}
"""How a file of images begins, and what it is."""
LARGEST, THUMBNAIL = 24_000, 4_200
"""Bytes of a file that is shown as it is where nothing can read it, and of any picture else."""
LARGE, OPENED = 2_000_000, 6_000_000
"""Pixels of an image that are compared one and all, and of a file that is opened at all."""
DOTS = 75
"""Dots an inch of a figure: compared and shown at this density."""
SIDE = 320
"""Pixels of a side of the picture of what differs."""
RED = (211, 47, 47)


def is_picture(value: object) -> bool:
    """Return whether a value is an image that can be shown."""
    is_figure = _is_loaded(value, "matplotlib.figure", "Figure")
    return is_figure or _is_loaded(value, "PIL.Image", "Image") or _kind(value) != ""


def pictures(left: object, right: object) -> Difference:
    """Return how two images differ."""
    if isinstance(left, bytes) and left == right:
        return Same()
    a, b = _opened(left), _opened(right)
    shown = _picture(left, a), _picture(right, b)
    if a is None or b is None or a.size != b.size:
        return Images(*shown)
    files = isinstance(left, bytes) or isinstance(right, bytes)
    if _depth(a) or _depth(b):
        # More than 8 bits a channel, which nothing here counts.
        same = a.mode == b.mode and a.width * a.height <= OPENED and a.tobytes() == b.tobytes()
        return Same() if same and not files else Images(*shown)
    # Of large images every nth pixel is compared.
    by = math.ceil(math.sqrt(a.width * a.height / LARGE))
    if by > 1:
        size = -(-a.width // by), -(-a.height // by)
        a, b = (image.resize(size, resample=0) for image in (a, b))
    mask, pixels = _unlike(a, b), a.width * a.height
    count = pixels - mask.histogram()[0]
    if count:
        sample = pixels if by > 1 else 0
        return Images(*shown, count / pixels, _marked(a, b, mask), sample)
    if by > 1:
        return Unknown(t("no difference in a sample of %1 pixels", pixels))
    return Images(*shown, 0.0) if files or a.mode != b.mode else Same()


def _unlike(a: Any, b: Any) -> Any:
    """Return an image that is black where two are the same."""
    chops: Any = import_module("PIL.ImageChops")
    mode = "RGBA" if any(_is_transparent(image) for image in (a, b)) else "RGB"
    mode = "L" if a.mode == b.mode == "L" else mode
    first, *others = chops.difference(a.convert(mode), b.convert(mode)).split()
    for band in others:
        first = chops.lighter(first, band)
    return first


def _marked(a: Any, b: Any, mask: Any) -> Picture:
    """Return a small pale picture of two images, red where a mask is not black."""
    pillow, chops = sys.modules["PIL.Image"], import_module("PIL.ImageChops")
    by = max(1, -(-max(a.size) // SIDE))
    small = [image.convert("L").reduce(by) for image in (a, b)]
    pale = chops.lighter(*small).point(lambda light: 170 + light // 3).convert("RGB")
    # A single pixel counts too: a block in which any differs is red.
    spots = mask.point(lambda light: 255 if light else 0).reduce(by)
    spots = spots.point(lambda light: 255 if light else 0)
    drawn = pillow.composite(pillow.new("RGB", pale.size, RED), pale, spots)
    return Picture(a.width, a.height, _address(drawn))


def _is_transparent(image: Any) -> bool:
    return image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info


def _depth(image: Any) -> bool:
    """Return whether a channel of an image has more than 8 bits."""
    return str(image.mode).startswith(("I", "F"))


def _is_loaded(value: object, module: str, name: str) -> bool:
    """Return whether a value is of a class of a library, which has loaded that then."""
    return isinstance(value, getattr(sys.modules.get(module), name, ()))


def _kind(value: object) -> str:
    if not isinstance(value, bytes):
        return ""
    return next((kind for begin, kind in KINDS.items() if value.startswith(begin)), "")


def _opened(value: object) -> Any:
    """Return an image of Pillow; None where Pillow is not loaded, or can't or need not read it."""
    pillow = sys.modules.get("PIL.Image")
    if pillow is None or _is_loaded(value, "PIL.Image", "Image"):
        return value if pillow is not None else None
    try:
        image = pillow.open(io.BytesIO(value if isinstance(value, bytes) else _png(value)))
        if image.width * image.height > OPENED:
            return None
        image.load()
    # What Pillow raises for a file that is none is up to its reader.
    except Exception:
        return None
    return image


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS, metadata={"Software": None})
    return buffer.getvalue()


def _picture(value: Any, opened: Any) -> Picture:
    width, height = opened.size if opened is not None else _size(value)
    most = LARGEST if opened is None else THUMBNAIL
    if isinstance(value, bytes) and len(value) <= most:
        data = base64.b64encode(value).decode()
        return Picture(width, height, f"data:image/{_kind(value)};base64,{data}")
    if opened is None:
        return Picture(width, height)
    # Of a large image every nth pixel is enough for a small picture.
    by = max(1, max(opened.size) // (4 * SIDE))
    small = opened.resize((width // by, height // by), resample=0) if by > 1 else opened
    return Picture(width, height, _address(small))


def _address(image: object) -> str:
    """Return a small copy of an image; some builds of Pillow do not write sharp ones."""
    sharp, _ = attempt(sharp_address, image, THUMBNAIL)
    return sharp or attempt(image_address, image, {}, THUMBNAIL)[0] or ""


def _size(value: Any) -> tuple[int, int]:
    """Return the size that the head of a PNG file tells, (0, 0) for other files."""
    if _kind(value) != "png" or len(value) < 24:
        return 0, 0
    return int.from_bytes(value[16:20], "big"), int.from_bytes(value[20:24], "big")
