"""Why something is there: the calls that it came of, in words and as the smallest code.

`ancestry` finds them, `circumstances` who asked and who decided, `explanation` says it.
"""

from .explaining import explain
from .explanation import Explanation

__all__ = ["Explanation", "explain"]
