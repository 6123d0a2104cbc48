"""Tool definitions: tools written down as JSON, read from that world and written for it.

`from_definition` gives a `Tool` for a definition of type action, endpoint or context, and
`to_definition` the definition of any tool.
"""

from .making import from_definition
from .writing import to_definition

__all__ = ["from_definition", "to_definition"]
