"""Journals on disk: one file a session, in the user's data directory, one writer each.

What allows an effect is on disk before the effect; what was said and done is there at once,
or as soon as the disk takes it. What is damaged is set aside beside the file, never lost.
"""

from .files import DISK, File, Files, LocalFiles, replace_file
from .keeping import Kept, home, journal_file, journal_names, open_journal, read_journal
from .writing import Writer

__all__ = [
    "DISK",
    "File",
    "Files",
    "Kept",
    "LocalFiles",
    "Writer",
    "home",
    "journal_file",
    "journal_names",
    "open_journal",
    "read_journal",
    "replace_file",
]
