"""What can be called: tools, toolboxes, and how Python becomes them."""

from .tool import Hints, Tool, nearest, tool
from .toolbox import Toolbox

__all__ = ["Hints", "Tool", "Toolbox", "nearest", "tool"]
