"""The options and settings that extensions add to `%%toolchat`; `%load_ext` reads this."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traitlets import Bool, Int, TraitError, Unicode
from traitlets.config import Configurable

from ..core.errors import UsageError


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


class ToolChat(Configurable):
    """What `%%toolchat` does where a cell does not say; extensions add settings."""

    model = Unicode("", help="Who answers, such as scripted:kitchen.").tag(config=True)
    scheme = Unicode("select", help="How tools are shown to the model.").tag(config=True)
    approve = Unicode("ask", help="Which calls wait for you.").tag(config=True)
    max_turns = Int(50, help="Replies of the model before a run stops.").tag(config=True)

    def settings(self) -> dict[str, Any]:
        """Return the settings by name."""
        return {name: getattr(self, name) for name in self.trait_names(config=True)}


def configured(shell: Any) -> ToolChat:
    """Return the settings of a kernel, known to `%config` from now on."""
    known = [each for each in shell.configurables if isinstance(each, ToolChat)]
    flags = {name: Bool(False, help=f.setting).tag(config=True) for name, f in FLAGS.items()}
    # `%config` and configuration files know the settings by the name of the class.
    made = known[0] if known else type("ToolChat", (ToolChat,), flags)(parent=shell)
    if not known:
        shell.configurables.append(made)
    return made


def take(settings: ToolChat, table: Mapping[str, Any]) -> None:
    """Take over a project's settings where the person has not set any.

    Raises UsageError for what is none.
    """
    known = settings.trait_names(config=True)
    if table.get("approve") == "all":
        raise UsageError(
            "[tool.jupyter-toolcall] approve = 'all' is not taken from a file, which would "
            "approve for whoever opens its notebooks; say it in a cell or by %config"
        )
    for name, value in table.items():
        if name not in known:
            raise UsageError(
                f"[tool.jupyter-toolcall] has no setting {name!r}; there are {', '.join(known)}"
            )
        if getattr(settings, name) != settings.traits()[name].default():
            continue
        try:
            setattr(settings, name, value)
        except TraitError:
            wrong = f"[tool.jupyter-toolcall] {name} = {value!r} is of the wrong type"
            raise UsageError(wrong) from None


def project(folder: Path) -> Mapping[str, Any]:
    """Return `[tool.jupyter-toolcall]` of the nearest pyproject.toml; {} where there is none."""
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file():
            try:
                found = tomllib.loads(file.read_text(encoding="utf-8"))
            except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
                return {}
            table: Mapping[str, Any] = found.get("tool", {}).get("jupyter-toolcall", {})
            return table
    return {}
