"""Digests of content, and JSON data as one line of text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from json import encoder
from typing import Any

from blake3 import blake3

LENGTH = 32
"""Hex digits: 128 bits."""
LONG = 1 << 17
"""Bytes that are hashed by BLAKE3, in a fifth of the time of SHA-256."""


def json_line(
    *,
    sort_keys: bool = False,
    ensure_ascii: bool = True,
    space: str = "",
    allow_nan: bool = False,
    default: Callable[[Any], object] | None = None,
) -> Callable[[Any], str]:
    """Return what encodes JSON-ready data as one line, with `space` after commas and colons.

    `default` returns any other value as data that can be encoded.
    """
    comma, colon = f",{space}", f":{space}"
    json_encoder = json.JSONEncoder(
        ensure_ascii=ensure_ascii,
        allow_nan=allow_nan,
        sort_keys=sort_keys,
        separators=(comma, colon),
        default=default,
    )
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return json_encoder.encode
    # `JSONEncoder.encode` makes this object for every text, which takes longer than most texts.
    escape = encoder.encode_basestring_ascii if ensure_ascii else encoder.encode_basestring
    encode_other = json_encoder.default
    chunks = make(None, encode_other, escape, None, colon, comma, sort_keys, False, allow_nan)
    return lambda data: "".join(chunks(data, 0))


encode = json_line()
"""Returns JSON-ready data as one line of ASCII, in the order that it has."""
_canonical = json_line(sort_keys=True)
readable_json = json_line(ensure_ascii=False)
"""Returns JSON-ready data as one line that is read: letters of any language as they are."""


def hash_bytes(data: memoryview) -> bytes:
    """Return the hash of bytes; of long ones that of BLAKE3."""
    return (hashlib.sha256(data) if len(data) < LONG else blake3(data)).digest()


def digest_text(tag: str, *texts: str) -> str:
    """Return the digest of texts in their order; the tag keeps kinds apart."""
    return hashlib.sha256("\0".join((tag, *texts)).encode()).hexdigest()[:LENGTH]


def digest(tag: str, *parts: Any) -> str:
    """Return the digest of JSON-ready data; the order of keys does not matter."""
    return digest_text(tag, _canonical(parts))
