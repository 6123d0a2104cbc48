"""What can be called: tools, toolboxes, and how Python becomes them."""

from .tool import Changed, Hints, Tool, nearest, tool
from .toolbox import Toolbox

__all__ = ["Changed", "Hints", "Tool", "Toolbox", "nearest", "tool"]
