"""What export made is marked with a digest of itself, so that only such a file is overwritten.

A file that a person has worked on since, as where lines were to be filled in, is theirs.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..core.digests import LENGTH, digest_text
from ..core.errors import UsageError
from ..storage.file_system import replace_file

NAME = "jupyter-toolcall:"
MARK = NAME + "0" * LENGTH
"""Stands in what a format writes, where the digest will be."""
_MARKED = re.compile(f"{NAME}([0-9a-f]{{{LENGTH}}})")


def _bare(text: str) -> str:
    return _MARKED.sub(MARK, text)


def marked(text: str) -> str:
    """Return a text with its digest in the place of the mark."""
    return text.replace(MARK, NAME + digest_text("export", _bare(text)))


def write(path: Path, text: str, force: bool) -> None:
    """Write an export, whole or not at all.

    Raises UsageError for a file that is there and was not made by an export, or was changed
    since; for a folder that is not there.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")
    if path.exists() and not force and not _is_ours(path):
        raise UsageError(
            f"{path} is there already, and is no export, or was changed since: give another "
            "name, or say force=True (--force)"
        )
    mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
    replace_file(path, text)
    path.chmod(mode)


def _umask() -> int:
    """Return the bits that new files of this process do not have; only setting them tells them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _is_ours(path: Path) -> bool:
    """Return whether a file is what export made, and nobody changed it since."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return digest_text("export", _bare(text)) in _MARKED.findall(text)
