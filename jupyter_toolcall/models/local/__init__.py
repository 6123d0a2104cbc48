"""A model in a file of the user's own, run on this machine: no key, no network.

What it may write is a grammar made from the tools and the objects that there are now, so
that it writes valid calls only, however small it is.
"""

from .client import Local

__all__ = ["Local"]
