"""Whose journal is it: the seal that only this user's machine can put on an entry.

The key is made once, in the user's data directory and never beside a notebook. What bears
no seal of it is history: it is shown, and allows nothing.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from ..core.digests import LENGTH
from ..core.entries import Seal

BYTES = 32


class KeyExposed(OSError):
    """Other users can read or change a key, so anybody may have sealed what bears its seal."""


def signer(folder: Path) -> Seal | None:
    """Return what seals with the key of a folder; None where no key can be kept there."""
    try:
        key = _key(folder / "key")
    except OSError:
        return None
    start = hmac.new(key, digestmod=hashlib.sha256)

    def seal(text: str) -> str:
        made = start.copy()
        made.update(text.encode())
        return made.hexdigest()[:LENGTH]

    return seal


@functools.cache
def _key(path: Path) -> bytes:
    """Return the key of a file, which is made where there is none; the first of two makers wins.

    Raises OSError where it can neither be read nor be made, KeyExposed where others can read it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        return _read(path)
    new = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(BYTES))
        file.flush()
        os.fsync(file.fileno())
    try:
        _put(new, path)
    finally:
        new.unlink(missing_ok=True)
    _sync(path.parent)
    return _read(path)


def key_refusal(folder: Path) -> str:
    """Return why the key of a folder is not used, and the command that mends it; "" otherwise."""
    try:
        _key(folder / "key")
    except KeyExposed as error:
        return str(error)
    except OSError:
        pass
    return ""


def _put(new: Path, path: Path) -> None:
    """Give a key its name: it appears whole or not at all, and not in place of another's."""
    with contextlib.suppress(FileExistsError):
        try:
            os.link(new, path)
        except FileExistsError:
            raise
        except OSError:
            # Some file systems have no links.
            if not path.exists():
                os.replace(new, path)


def _sync(folder: Path) -> None:
    """What is sealed with a key that a loss of power takes is another machine's for ever."""
    if os.name == "nt":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


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
    probe = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            return not os.fstat(descriptor).st_mode & 0o077
        finally:
            os.close(descriptor)
            probe.unlink(missing_ok=True)
    except OSError:
        return True
