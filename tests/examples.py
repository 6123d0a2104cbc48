"""How many examples a law is tried on: few for every change, more in `make test-long`."""

from __future__ import annotations

import os

FACTOR = int(os.environ.get("EXAMPLES", "1"))
"""By how much `make test-long` multiplies the number of examples of the dear laws."""


def examples(few: int) -> int:
    """Return how many examples this run tries of a law that `few` examples find broken."""
    return few * FACTOR
