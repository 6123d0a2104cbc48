"""`%toolchat SUBCOMMAND`: each one a function from words and a session to what comes of it.

A group of subcommands has a file, which says at its end what they are called (`COMMANDS`)
and what they do (`HELP`).
"""

from .asking import ask_by_input, reply_by_input, shown, turn_as_text
from .carrying import carry_out, help_text, subcommands
from .words import split

__all__ = [
    "ask_by_input",
    "carry_out",
    "help_text",
    "reply_by_input",
    "shown",
    "split",
    "subcommands",
    "turn_as_text",
]
