"""The engine: one step of a session, taken and recorded.

`turn` is the ordinary path, `replay` repeats what is recorded on the same functions,
`recovery` asks a person where an effect may have happened, and `hooks` attach from outside.
"""

from .cursor import Cursor
from .desk import Desk
from .hooks import SessionHooks
from .replay import advance

__all__ = ["Cursor", "Desk", "SessionHooks", "advance"]
