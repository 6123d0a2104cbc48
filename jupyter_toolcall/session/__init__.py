"""`Session`, the public class: everything that a program can read of a session or do with it.

It joins the packages below it, and adds no behaviour of its own. `verify` runs a saved file again
and names the first difference. Notebook cells and panels are in `jupyter`.
"""

from .session import Session

__all__ = ["Session"]
