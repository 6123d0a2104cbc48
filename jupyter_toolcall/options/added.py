"""The options and settings that extensions add to `%%toolchat`; `%load_ext` reads this."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Flag:
    """An option `--NAME`, with `--no-NAME`, and the setting `ToolChat.NAME` behind both."""

    name: str
    help: str
    """What `--NAME` does."""
    help_off: str
    """What `--no-NAME` does."""
    setting: str
    """What the setting does."""


FLAGS: dict[str, Flag] = {}
"""The flags, by name: `Options.extra` has their values."""
REPLAY_SOURCES: dict[str, str] = {}
"""What `--replay` takes besides recordings: a noun, by the ending of the file."""


def add_flag(flag: Flag) -> None:
    """Add an option and its setting; adding it again replaces it."""
    FLAGS[flag.name] = flag


def add_replay_source(ending: str, noun: str) -> None:
    """Let `--replay` name files with an ending; the help calls what replays them by a noun."""
    REPLAY_SOURCES[ending] = noun
