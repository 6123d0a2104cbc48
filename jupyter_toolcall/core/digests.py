"""Digests of content, and JSON data as one line of text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from json import encoder
from typing import Any

LENGTH = 32
"""Hex digits: 128 bits."""

_READ = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _line(sort_keys: bool) -> Callable[[Any], str]:
    """Return what encodes JSON-ready data as one line of ASCII."""
    json_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=sort_keys)
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return json_encoder.encode
    # `JSONEncoder.encode` makes this object for every text, which takes longer than most texts.
    escape = encoder.encode_basestring_ascii
    chunks = make(None, json_encoder.default, escape, None, ":", ",", sort_keys, False, False)
    return lambda data: "".join(chunks(data, 0))


encode = _line(sort_keys=False)
"""Returns JSON-ready data as one line of ASCII, in the order that it has."""
_canonical = _line(sort_keys=True)


def readable_json(data: Any) -> str:
    """Return JSON-ready data as one line that is read: letters of any language as they are."""
    return _READ.encode(data)


def digest_text(tag: str, *texts: str) -> str:
    """Return the digest of texts in their order; the tag keeps kinds apart."""
    return _hex_digest("\0".join((tag, *texts)))


def digest(tag: str, *parts: Any) -> str:
    """Return the digest of JSON-ready data; the order of keys does not matter."""
    return _hex_digest(f"{tag}\0{_canonical(parts)}")


def _hex_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
