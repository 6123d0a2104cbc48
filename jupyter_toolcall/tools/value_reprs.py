"""What a value says of itself, by MIME type: by methods of its own, or by a front end's printers.

Nothing of it is trusted. A `_repr_*_` that raises, or gives what it should not, says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..core.interrupts import attempt

Shows = Callable[[Any], Mapping[str, Any]]
"""Returns what a value says of itself: texts, and bytes of images, by MIME type."""
METHODS: Mapping[str, str] = {
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
}
CANARY = "_ipython_canary_method_should_not_exist_"


def reprs(value: Any) -> dict[str, Any]:
    """Return what a value's own methods say, as far as they say anything."""
    if isinstance(value, type) or hasattr(value, CANARY):
        return {}
    shown = {
        mime: _called(method)
        for mime, name in METHODS.items()
        if callable(method := getattr(value, name, None))
    }
    bundle = _called(getattr(value, "_repr_mimebundle_", None))
    if isinstance(bundle, Mapping):
        shown |= {mime: bundle[mime] for mime in METHODS if _is_content(bundle.get(mime))}
    return {mime: data for mime, data in shown.items() if data is not None}


def speaking(printers: Mapping[str, Any]) -> Shows:
    """Return `reprs` where a person's printers go first, as IPython's formatters hold them."""
    return lambda value: {**reprs(value), **dict(_printed(value, printers))}


def _printed(value: Any, printers: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for mime in METHODS:
        try:
            printer = printers[mime].lookup(value)
        # No printer for this type; a lookup may go by what a person registered.
        except Exception:
            continue
        found = _called(lambda printer=printer: printer(value))
        if found is not None:
            yield mime, found


def _called(method: Any) -> Any:
    """Return what a method gives, None where it gives nothing that can be shown."""
    # A value's own methods may raise anything; a picture is never worth a failed step.
    found = attempt(method)[0] if callable(method) else None
    # Data may come with metadata beside it.
    data = found[0] if isinstance(found, tuple) and found else found
    return data if isinstance(data, Mapping) or _is_content(data) else None


def _is_content(data: Any) -> bool:
    return isinstance(data, (str, bytes)) and len(data) > 0
