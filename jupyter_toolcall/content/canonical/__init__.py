"""Values by content: equal digests mean equal values, in every process and at every time.

What a value is made of is told in one order (`parts`), whatever it is that holds it together:
the order of a set, who shares what with whom, and how a library has laid its memory out are
no content. A value that can't be told so has no digest.
"""

from .digests import SCALARS, content_digest

__all__ = ["SCALARS", "content_digest"]
