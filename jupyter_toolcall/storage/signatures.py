"""The seal of an entry, which only this user's computer can compute.

The key is created once, in the user's data directory and never beside a notebook. An entry
without a valid seal is shown, and allows nothing.
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import os
import secrets
from pathlib import Path

from ..core.digests import LENGTH
from ..core.journal_entries import Seal
from .file_system import DISK, new_file

BYTES = 32


class KeyExposed(OSError):
    """Other users can read or change a key, so anybody may have made its seals."""


def signer(folder: Path) -> Seal | None:
    """Return the seal with the key of a folder; None if no key can be kept there."""
    try:
        key = _key(folder / "key")
    except OSError:
        return None
    return lambda text: hmac.digest(key, text.encode(), "sha256").hex()[:LENGTH]


@functools.cache
def _key(path: Path) -> bytes:
    """Return the key in a file, which is created if needed; the first of two creators wins.

    Raises OSError if it can neither be read nor created, KeyExposed if other users can read it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        return _read(path)
    with new_file(path, secrets.token_bytes(BYTES)) as new:
        _put(new, path)
    # After a loss of power all seals of a lost key would count as another computer's.
    DISK.sync_folder(path.parent)
    return _read(path)


def key_refusal(folder: Path) -> str:
    """Return why the key of a folder is not used, and the command that repairs it; "" otherwise."""
    try:
        _key(folder / "key")
    except OSError as error:
        return str(error) if isinstance(error, KeyExposed) else ""
    return ""


def _put(new: Path, path: Path) -> None:
    """Give a key its name: it appears whole or not at all, and replaces no other key."""
    with contextlib.suppress(FileExistsError):
        try:
            os.link(new, path)
        except FileExistsError:
            raise
        except OSError:
            # Some file systems have no links.
            if not path.exists():
                os.replace(new, path)


def _read(path: Path) -> bytes:
    if _is_open_to_others(path):
        raise KeyExposed(
            f"other users of this computer can read its key, so it is not used: chmod 600 {path}"
        )
    key = path.read_bytes()
    if len(key) != BYTES:
        raise OSError(f"{path} is no key")
    return key


def _is_open_to_others(path: Path) -> bool:
    if os.name == "nt" or not path.stat().st_mode & 0o077:
        return False
    # A file system without modes (such as FAT) shows the same wide one for every file.
    try:
        with new_file(path, b"", sync=False) as probe:
            return not probe.stat().st_mode & 0o077
    except OSError:
        return True
