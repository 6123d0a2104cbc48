"""How a package adds options, subcommands, and rows and commands of a panel.

`%load_ext` reads this: it imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ..engine.cursor import ExtensionRow
    from ..engine.person_model import Phase
    from ..schemes.messages import Model
    from ..session.session import Session
    from .cells import Cells
    from .options import Options


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
    """Let `--replay` name files with an ending; the help calls such a file by a noun."""
    REPLAY_SOURCES[ending] = noun


class PanelExtension:
    """Base class of what adds rows and commands to a panel: every method does nothing.

    An extension belongs to one panel. What pauses the session itself is a `SessionHooks`.
    """

    commands: ClassVar[Mapping[str, type]] = {}
    """The commands that it carries out, by their `type`: frozen dataclasses."""

    def before_update(self, session: Session, phase: Phase) -> None:
        """Look at the session before the panels are sent what changed."""

    def row(self, session: Session, phase: Phase) -> ExtensionRow | None:
        """Return what the panel shows of this extension; None for nothing."""
        return None

    def apply(self, session: Session, command: Any) -> bool:
        """Carry out one of `commands`; return whether the session goes on afterwards.

        Raises ToolcallError, which the panel shows, where it can't be carried out.
        """
        return False

    def ask_by_input(self, session: Session, ask: Callable[[str], str]) -> None:
        """Ask on the cell's input line for what a held reply waits for: there is no panel."""


@dataclass(frozen=True, slots=True)
class CellRun:
    """A cell that runs, as an extension sees it."""

    options: Options
    cell: str
    """The id of the cell."""
    variables: Mapping[str, Any]
    """The variables of the notebook."""
    panel: bool
    """Whether somebody can click in a panel, or answer on an input line."""


class NotebookExtension:
    """Base class of what a package adds to the sessions of a kernel: every method does nothing."""

    def attach(self, session: Session, run: CellRun) -> PanelExtension | None:
        """Attach to the session of a cell before it runs; return what its panel adds, or None."""
        return None

    def subcommand(
        self, command: str, words: list[str], name: str, variables: Mapping[str, object]
    ) -> object:
        """Carry out one of the subcommands on the session of a name, "" for the last one.

        The text below `%%toolchat SUBCOMMAND` is the last word. Returns a session that went on,
        something to display, or None. Raises UsageError.
        """
        return None

    def complete_subcommand(self, command: str) -> list[str]:
        """Return what may stand after a subcommand."""
        return []

    def replay_files(self) -> list[str]:
        """Return the files that `--replay` can name besides recordings."""
        return []

    def replayed_model(self, file: str) -> Model | None:
        """Return the model for `--replay FILE`; None for a recording. Raises UsageError."""
        return None


@dataclass(frozen=True, slots=True)
class Registration:
    """What is known of an extension before it is created."""

    name: str
    create: Callable[[Cells], NotebookExtension]
    subcommands: tuple[str, ...] = ()
    help: str = ""
    """The lines of `%toolchat help` about them."""


_registered: dict[str, Registration] = {}


def register(registration: Registration) -> None:
    """Add an extension to every kernel from now on; registering it again replaces it."""
    _registered[registration.name] = registration


def registrations() -> tuple[Registration, ...]:
    """Return the extensions in the order in which they were registered."""
    return tuple(_registered.values())
