"""`%toolchat SUBCOMMAND`: each one a function from words and a session to what comes of it.

A group of subcommands has a file, which says at its end what they are called (`COMMANDS`)
and what they do (`HELP`).
"""

from .asking import ask_by_input, asked, guess_by_input, reply_by_input, shown
from .carrying import SUBCOMMANDS, carry_out, help_text
from .learning import Learner
from .words import split

__all__ = [
    "SUBCOMMANDS",
    "Learner",
    "ask_by_input",
    "asked",
    "carry_out",
    "guess_by_input",
    "help_text",
    "reply_by_input",
    "shown",
    "split",
]
