"""Taking a session home: as a script, a notebook, a page, a picture, data, or messages.

A format is a small file here and a row of `FORMATS`.
"""

from . import python
from .formats import FORMATS, Format, export, format_named, text
from .take import Take, take

__all__ = ["FORMATS", "Format", "Take", "export", "format_named", "python", "take", "text"]
