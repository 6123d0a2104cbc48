"""Names of objects, such as `Potato#3`."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z_]\w*#[1-9][0-9]*")

OWN_NAME = re.compile(r"\$[A-Za-z0-9_]+")
"""A name that a model gave to an object."""


def kind_in(name: str) -> str:
    """Return the type that an object's name begins with: `Potato` for `Potato#3`."""
    return name.partition("#")[0]
