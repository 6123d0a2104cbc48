"""A picture of a value: what stands in a tile and on a card, small in a row, larger on demand.

Nothing here raises: a value whose own code fails is described in words. Every text is
data and stays text; markup is a value's own, and shown in a frame that runs nothing.
"""

from .drawing import LARGE, SMALL, Room, preview
from .reprs import Shows, reprs, speaking

__all__ = ["LARGE", "SMALL", "Room", "Shows", "preview", "reprs", "speaking"]
