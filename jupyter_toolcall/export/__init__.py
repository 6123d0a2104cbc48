"""A session as a script, notebook, page, picture, data or messages, and its provenance.

Exported code needs nothing of this package and carries data only as literals. A saved file is
exported without running anything of it. The package writes no notebook output (`storage`) and
draws no panel (`view`).
"""

from .formats import FORMATS, Format, export, format_named, text
from .live_session import ExportedSession, exported_session
from .provenance import Explanation, explain

__all__ = [
    "FORMATS",
    "Explanation",
    "ExportedSession",
    "Format",
    "explain",
    "export",
    "exported_session",
    "format_named",
    "text",
]
