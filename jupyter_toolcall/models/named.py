"""Models by name: `provider:name`, what each provider needs, as data, and a table of them.

A provider's module is imported when one of its models is used; to list them imports nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ..core.errors import UsageError, checked_function
from ..core.text import aligned_lines, nearest
from ..schemes.messages import Model, Reply, Request

IN_PLACE = "JUPYTER_TOOLCALL_RECORDED"
"""The variable of the environment that names the notebook whose sessions stand in."""
CHOSEN = "JUPYTER_TOOLCALL_MODEL"
"""The variable of the environment that names the model where a cell and its settings do not."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models come from, and what is needed to use one here."""

    make: Callable[[str], Model]
    """Returns the model of a name, "" for the model that is the provider's name."""
    what: str
    """What its models are, in a few words."""
    names: Callable[[Path], Iterable[str]] = lambda folder: ()
    """The models that are worth naming in a notebook of this folder; there may be others."""
    word: str = "NAME"
    """What to write behind the colon; "" if the provider's name is a model."""
    keys: tuple[str, ...] = ()
    """Variables of the environment, one of which has to be set."""
    module: str = ""
    """What has to be installed, and the extra of this package that brings it."""
    extra: str = ""
    without_names: str = ""
    """Why it cannot be used where it names no model."""

    @property
    def live(self) -> bool:
        """Whether its models are outside of this package, and may reply differently elsewhere."""
        return bool(self.keys or self.module)

    def lacks(self, environment: Mapping[str, str]) -> str:
        """Return why it cannot be used, "" if it can."""
        if self.module and find_spec(self.module) is None:
            return f"{self.module} is missing: pip install {self.module}"
        if self.keys and not any(environment.get(key) for key in self.keys):
            first, *others = self.keys
            both = f"neither {first} nor {' nor '.join(others)} is set"
            return both if others else f"{first} is not set"
        return ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A model that can be named, and why it cannot be used here ("" if it can)."""

    name: str
    lacks: str
    what: str


def model_named(model: Model | str | None) -> Model | None:
    """Return the model that a name stands for; a function is a model already.

    Raises UsageError for an unknown name. A key is asked for at the first request.
    While a notebook is verified, what it recorded stands in for models that are not here.
    """
    notebook = os.environ.get(IN_PLACE, "")
    # A class is no model: called with a request, it would make an instance.
    if model is None or (callable(model) and not isinstance(model, type)):
        live = bool(notebook) and hasattr(model, "body")
        if live:
            return _imported("recorded.StandIn", model, notebook)
        return model and checked_function(model, "the model", "request")
    model = str(model)
    name, _, inner = model.partition(":")
    provider = PROVIDERS.get(name)
    if provider is None or bool(provider.word) != bool(inner):
        patterns = ", ".join(map(_pattern, PROVIDERS))
        raise UsageError(
            f"{model!r} is no model; there are {patterns}, and functions.{nearest(name, PROVIDERS)}"
        )
    if notebook and provider.live:
        return _imported("recorded.StandIn", model, notebook)
    return provider.make(inner)


def _imported(path: str, *arguments: object) -> Model:
    """Return a model of the class at `module.Class`, imported now."""
    module, _, name = path.partition(".")
    model: Model = getattr(import_module(f".{module}", __package__), name)(*arguments)
    return model


def is_name(text: str) -> bool:
    """Return whether a text is meant as a model's name, and not as a variable's."""
    return ":" in text or (text in PROVIDERS and not PROVIDERS[text].word)


def _pattern(provider: str) -> str:
    word = PROVIDERS[provider].word
    return f"{provider}:{word}" if word else provider


def _names(provider: str, folder: Path) -> list[str]:
    """Return the names of a provider's models that are worth naming."""
    details = PROVIDERS[provider]
    return [f"{provider}:{name}" for name in details.names(folder)] if details.word else [provider]


def default(environment: Mapping[str, str]) -> str:
    """Return the name of the model that is used if nobody names one."""
    if environment.get(CHOSEN):
        return environment[CHOSEN]
    usable = environment.get(IN_PLACE) or not PROVIDERS["anthropic"].lacks(environment)
    return MIDDLE if usable else LAST


class Person:
    """You play the model: it returns no reply, and the session waits until you write one."""

    name = identity = "person"

    def __call__(self, request: Request) -> Reply | None:
        return None

    def __repr__(self) -> str:
        return "<person: you play the model>"


def _scripted(name: str) -> Model:
    scripts = _scripts()
    if name not in scripts:
        names = ", ".join(f"scripted:{script}" for script in scripts)
        raise UsageError(
            f"there is no script {name!r}; there are {names}. "
            "Your own: give Scripted([...]) as the model"
        )
    return scripts[name]


def _scripts() -> Mapping[str, Model]:
    scripts: Mapping[str, Model] = import_module("..kitchen", __package__).SCRIPTS
    return scripts


MIDDLE = "anthropic:claude-sonnet-5-5"
"""Anthropic's current model of middle size."""
LAST = "person"
"""The model if there is no key."""
_CLAUDES = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        partial(_imported, "anthropic.Claude"),
        "Claude, by Anthropic's API",
        lambda folder: _CLAUDES,
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    ),
    "openai": Provider(
        partial(_imported, "openai.OpenAI"),
        "OpenAI's API, or any server that speaks its chat completions",
        keys=("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        module="openai",
        extra="openai",
    ),
    "recorded": Provider(
        partial(_imported, "recorded.Recorded"),
        "what --record kept, or a notebook's own sessions",
        lambda folder: recordings(folder),
        word="FILE",
        without_names="there is none in this folder",
    ),
    "scripted": Provider(
        _scripted, "a script: offline, the same each time", lambda folder: _scripts()
    ),
    LAST: Provider(
        lambda name: Person(), "you play the model: each turn waits for your reply", word=""
    ),
}


# -- the list of models -------------------------------------------------------------------------

MOST = 12
"""So many recordings of a folder are listed, the newest first."""
_LINE = b'{"turn": '


def models(environment: Mapping[str, str], folder: Path) -> Iterator[Listed]:
    """Yield the models of each provider by name, and the recordings in a folder.

    A key is never looked at.
    """
    for name, provider in PROVIDERS.items():
        lacks, names = provider.lacks(environment), _names(name, folder)
        if not names:
            lacks, names = lacks or provider.without_names, [_pattern(name)]
        for model in names:
            yield Listed(model, lacks, provider.what)


def table(rows: Iterable[Listed], chosen: str) -> str:
    """Return models as a table, a line each, with a star at the model that is used by default."""
    lines = [("  model", "usable here", "what it is")]
    for row in rows:
        star = "*" if row.name == chosen else " "
        lines.append((f"{star} {row.name}", f"no: {row.lacks}" if row.lacks else "yes", row.what))
    return "\n".join(aligned_lines(lines, range(3)))


def completions(folder: Path) -> list[str]:
    """Return what may be completed behind `-m`."""
    names = [name for provider in PROVIDERS for name in _names(provider, folder)]
    return [*names, *(f"{name}:" for name, provider in PROVIDERS.items() if provider.word)]


def recordings(folder: Path) -> list[str]:
    """Return the names of the recordings in a folder, the newest first."""
    files = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [path.name for path in files[:MOST] if _is_recording(path)]


def _is_recording(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_LINE)) == _LINE
    except OSError:
        return False
