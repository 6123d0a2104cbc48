"""The next step of a session, taken and written down, and nothing else."""

from .cursor import Cursor
from .hooks import SessionHooks
from .place import Desk, Place

__all__ = ["Cursor", "Desk", "Place", "SessionHooks"]
