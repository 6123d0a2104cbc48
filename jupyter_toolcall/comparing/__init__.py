"""Two branches of a journal, or two sessions, side by side: call by call, object by object."""

from .choosing import diff
from .comparison import Comparison
from .differences import Difference
from .pairing import alike, compare, values
from .replayed import came_out
from .saying import in_a_line, parts
from .values import difference

__all__ = [
    "Comparison",
    "Difference",
    "alike",
    "came_out",
    "compare",
    "diff",
    "difference",
    "in_a_line",
    "parts",
    "values",
]
