"""Models by name: `provider:name`, what each provider takes, as data, and a table of them.

What a provider needs is imported when it is asked for; to list them imports nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ..core.errors import UsageError
from ..core.text import nearest
from ..schemes.messages import Model, Reply, Request

IN_PLACE = "JUPYTER_TOOLCALL_RECORDED"
"""The variable of the environment that names the notebook whose sessions stand in."""


CHOSEN = "JUPYTER_TOOLCALL_MODEL"
"""The variable of the environment that names the model where a cell and its settings do not."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models come from, and what it takes to use one here."""

    make: str | Callable[[str], Model]
    """`module.Class` here, called with the model's name if it has one; or what makes the model."""
    what: str
    """What its models are, in a few words."""
    names: Callable[[], tuple[str, ...]] = tuple
    """The models that are worth naming; there may be others."""
    place: str = "NAME"
    """What stands behind the colon, in one word; "" where the provider's name is a model."""
    keys: tuple[str, ...] = ()
    """Variables of the environment, one of which has to be set."""
    file: str = ""
    """A variable of the environment that names a file."""
    module: str = ""
    """What has to be installed, and the extra of this package that brings it."""
    extra: str = ""

    @property
    def live(self) -> bool:
        """Whether its models are somewhere else, and not the same wherever they are asked."""
        return bool(self.keys or self.file or self.module)

    @property
    def stands_alone(self) -> bool:
        """Whether the provider's name alone is a model."""
        return not self.place or bool(self.file)

    def lacks(self, environment: Mapping[str, str]) -> str:
        """Return why it cannot be used, "" where it can."""
        if self.module and find_spec(self.module) is None:
            return f"{self.module} is missing: pip install 'jupyter-toolcall[{self.extra}]'"
        if self.keys and not any(environment.get(key) for key in self.keys):
            first, *others = self.keys
            both = f"neither {first} nor {' nor '.join(others)} is set"
            return both if others else f"{first} is not set"
        if self.file and not Path(environment.get(self.file) or "\0").expanduser().is_file():
            return f"{self.file} names no file, so give the path of one"
        return ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A model that there is, and why it cannot be used here ("" where it can)."""

    name: str
    lacks: str
    what: str


def model_named(model: Model | str | None) -> Model | None:
    """Return the model that a name stands for; a function is a model already.

    Raises UsageError for a name that there is not. A key is asked for at the first request.
    While a notebook is verified, what it recorded stands in for models that are not here.
    """
    notebook = os.environ.get(IN_PLACE, "")
    if model is None or callable(model):
        live = bool(notebook) and hasattr(model, "body")
        return _imported("recorded.StandIn", model, notebook) if live else model
    provider, name = _parted(str(model))
    if notebook and PROVIDERS[provider].live:
        return _imported("recorded.StandIn", str(model), notebook)
    make = PROVIDERS[provider].make
    if callable(make):
        return make(name)
    return _imported(make, *([name] if PROVIDERS[provider].place else []))


def _imported(path: str, *arguments: object) -> Model:
    """Return a model of the class at `module.Class`, imported now."""
    module, _, name = path.partition(".")
    model: Model = getattr(import_module(f".{module}", __package__), name)(*arguments)
    return model


def is_name(text: str) -> bool:
    """Return whether a text is meant as a model's name, and not as a variable's."""
    known = PROVIDERS.get(text)
    return ":" in text or (known is not None and known.stands_alone)


def _parted(model: str) -> tuple[str, str]:
    """Return a model's provider and its name there. Raises UsageError."""
    provider, _, name = model.partition(":")
    known = PROVIDERS.get(provider)
    if known is None or not (known.place if name else known.stands_alone):
        there = ", ".join(_pattern(each) for each in PROVIDERS)
        raise UsageError(
            f"{model!r} is no model; there are {there}, and functions."
            f"{nearest(provider, PROVIDERS)}"
        )
    return provider, name


def _pattern(provider: str) -> str:
    place = PROVIDERS[provider].place
    return f"{provider}:{place}" if place else provider


def names(provider: str) -> tuple[str, ...]:
    """Return the names of a provider's models that are worth naming."""
    known = PROVIDERS[provider]
    return tuple(f"{provider}:{name}" for name in known.names()) if known.place else (provider,)


def default(environment: Mapping[str, str]) -> str:
    """Return the model where nobody has named one, "" where there is none to fall back on."""
    if environment.get(CHOSEN):
        return environment[CHOSEN]
    if environment.get(IN_PLACE) or not PROVIDERS["anthropic"].lacks(environment):
        return MIDDLE
    return LAST if LAST in PROVIDERS else ""


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
        known = ", ".join(f"scripted:{each}" for each in scripts)
        raise UsageError(
            f"there is no script {name!r}; there are {known}. "
            "Your own: give Scripted([...]) as the model"
        )
    return scripts[name]


def _scripts() -> Mapping[str, Model]:
    scripts: Mapping[str, Model] = import_module("..kitchen", __package__).SCRIPTS
    return scripts


MIDDLE = "anthropic:claude-sonnet-5-5"
"""Anthropic's current model of middle size."""
LAST = "person"
"""Who answers where there is no key."""
_CLAUDES = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        "anthropic.Claude",
        "Claude, by Anthropic's API",
        lambda: _CLAUDES,
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    ),
    "openai": Provider(
        "openai.OpenAI",
        "OpenAI's API, or any server that speaks its chat completions",
        keys=("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        module="openai",
        extra="openai",
    ),
    "recorded": Provider(
        "recorded.Recorded", "what --record kept, or a notebook's own sessions", place="FILE"
    ),
    "local": Provider(
        "local.Local",
        "a GGUF file of yours, run on this machine",
        place="PATH",
        file="JUPYTER_TOOLCALL_GGUF",
        module="xllamacpp",
        extra="local",
    ),
    "scripted": Provider(
        _scripted, "a script: offline, the same each time", lambda: tuple(_scripts())
    ),
    LAST: Provider(
        lambda name: Person(), "you play the model: each turn waits for your reply", place=""
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
    for provider, known in PROVIDERS.items():
        lacks, models = known.lacks(environment), names(provider)
        if provider == "recorded":
            models = tuple(f"recorded:{name}" for name in recordings(folder))
            lacks = "" if models else "there is none in this folder"
        for model in models or (_pattern(provider),):
            yield Listed(model, lacks, known.what)


def table(rows: Iterator[Listed], chosen: str) -> str:
    """Return models as a table, a line each; `chosen` answers where nobody says who."""
    lines = [
        (
            f"{'*' if row.name == chosen else ' '} {row.name}",
            f"no: {row.lacks}" if row.lacks else "yes",
            row.what,
        )
        for row in rows
    ]
    wide = [max(len(line[column]) for line in lines) for column in (0, 1)]
    head = ("  model", "usable here", "what it is")
    return "\n".join(
        f"{name:{wide[0]}}  {usable:{wide[1]}}  {what}" for name, usable, what in (head, *lines)
    )


def completions(folder: Path) -> list[str]:
    """Return what may be completed behind `-m`."""
    known = [name for provider in PROVIDERS for name in names(provider)]
    open_ended = [f"{name}:" for name, provider in PROVIDERS.items() if provider.place]
    return [*known, *(f"recorded:{name}" for name in recordings(folder)), *open_ended]


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
