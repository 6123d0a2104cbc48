"""Names for content: equal bytes have equal digests; and JSON data as one line of text."""

from __future__ import annotations

import hashlib
import json
from typing import Any

LENGTH = 32
"""Hex digits: 128 bits."""

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_READ = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_CANONICAL = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True)


def encode(data: Any) -> str:
    """Return JSON-ready data as one line of ASCII, in the order that it has."""
    return _ENCODER.encode(data)


def literal(data: Any) -> str:
    """Return JSON-ready data as one line that is read: letters of any language as they are."""
    return _READ.encode(data)


def digest_text(tag: str, *texts: str) -> str:
    """Return the digest of texts in their order; the tag keeps kinds apart."""
    whole = "\0".join((tag, *texts))
    return hashlib.sha256(whole.encode()).hexdigest()[:LENGTH]


def digest(tag: str, *parts: Any) -> str:
    """Return the digest of JSON-ready data; the order of keys does not matter."""
    return digest_text(tag, _CANONICAL.encode(parts))
