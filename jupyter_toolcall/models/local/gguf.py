"""What a GGUF file says of itself: its name, its context, whether it has a chat template.

Reads the head of the file alone, and takes nothing in it on trust.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ...core.errors import ModelError

_FIXED = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The number of a type of value, and how it is packed."""
_TEXT, _LIST = 8, 9
LONGEST = 10_000_000
"""Bytes of one text."""
MOST = 50_000_000
"""Entries, or values in a list."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What is known of a model before it is loaded."""

    context: int = 0
    """Tokens that the model was made for; 0 where the file does not say."""
    template: bool = False


def weights(path: Path) -> Weights:
    """Return what a file says. Raises ModelError for what is no GGUF file, or cut short."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ModelError(f"{path.name} is no GGUF file; give the path of one")
            version, _, entries = _unpacked(file, "<IQQ")
            if version not in (2, 3) or entries > MOST:
                raise ValueError("no head that is known")
            head = {_text(file): _value(file) for _ in range(entries)}
    except OSError as error:
        raise ModelError(f"{path.name} cannot be read: {error.strerror or error}") from None
    except (struct.error, ValueError, UnicodeDecodeError):
        raise ModelError(
            f"{path.name} is broken, or was not downloaded to its end; get it again"
        ) from None
    context = head.get(f"{head.get('general.architecture')}.context_length")
    template = head.get("tokenizer.chat_template")
    return Weights(context if isinstance(context, int) else 0, bool(template))


def _value(file: BinaryIO, kind: int | None = None) -> Any:
    """Return a value, whose type comes before it if it is not given."""
    if kind is None:
        (kind,) = _unpacked(file, "<I")
    if kind == _TEXT:
        return _text(file)
    if kind == _LIST:
        return _list(file)
    if kind not in _FIXED:
        raise ValueError(f"a value of a type that is not known: {kind}")
    return _unpacked(file, f"<{_FIXED[kind]}")[0]


def _list(file: BinaryIO) -> None:
    """Pass over a list: none of them is asked for."""
    kind, count = _unpacked(file, "<IQ")
    if count > MOST:
        raise ValueError("a list that is too long")
    if kind in _FIXED:
        file.seek(struct.calcsize(f"<{_FIXED[kind]}") * count, 1)
        return
    for _ in range(count):
        _value(file, kind)


def _text(file: BinaryIO) -> str:
    (length,) = _unpacked(file, "<Q")
    if length > LONGEST:
        raise ValueError("a text that is too long")
    return _exactly(file, length).decode(errors="replace")


def _unpacked(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(form, _exactly(file, struct.calcsize(form)))


def _exactly(file: BinaryIO, size: int) -> bytes:
    found = file.read(size)
    if len(found) < size:
        raise ValueError("the file ends too soon")
    return found
