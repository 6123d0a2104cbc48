"""Models by name: `provider:name`. What a provider needs is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from ..errors import UsageError
from ..request import Model
from ..tools.tool import nearest


def model_named(model: Model | str | None) -> Model | None:
    """Return the model that a name stands for; a function is a model already.

    Raises UsageError for a name that there is not. A key is asked for at the first request.
    """
    if model is None or callable(model):
        return model
    provider, _, name = str(model).partition(":")
    if provider not in PROVIDERS or not name:
        known = ", ".join(f"{each}:NAME" for each in PROVIDERS)
        raise UsageError(
            f"{model!r} is no model; there are {known}, and functions."
            f"{nearest(provider, PROVIDERS)}"
        )
    return PROVIDERS[provider](name)


def _claude(name: str) -> Model:
    made: Model = import_module(".claude", __package__).Claude(name)
    return made


def _scripted(name: str) -> Model:
    scripts: Mapping[str, Model] = import_module("..kitchen", __package__).SCRIPTS
    if name not in scripts:
        known = ", ".join(f"scripted:{each}" for each in scripts)
        raise UsageError(
            f"there is no script {name!r}; there are {known}. "
            "Your own: give Scripted([...]) as the model"
        )
    return scripts[name]


PROVIDERS: Mapping[str, Callable[[str], Model]] = {"anthropic": _claude, "scripted": _scripted}
