"""The arguments of a definition's tool: what the model sees of them, and what runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...tools.arguments import readable
from ...tools.tool import Check, Resolve
from .reading import Definition, known_names, texts_in
from .schema import Checker, freed, without
from .transforms import EMPTY, Default, applied


@dataclass(frozen=True)
class Filling:
    """A tool's `fill`: from what the model asked for to the arguments that run."""

    definition: Definition
    asked: Callable[[], Checker] = field(repr=False, compare=False)

    def __call__(
        self, arguments: Mapping[str, Any], variables: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments that run. Raises CallError for what does not fit.

        What the model said is held against the schema first, but for what is missing or
        empty: that may be filled in.
        """
        made = self.definition
        names = {default.key for default in made.defaults if default.action == "default"}
        empty = {k: v for k, v in arguments.items() if k in names and v in EMPTY}
        said = self.asked()({k: v for k, v in arguments.items() if k not in empty})
        given = {key: empty[key] if key in empty else said[key] for key in arguments}
        return readable(applied(made.defaults, {**given, **made.fixed}, variables))


def filling(made: Definition) -> Filling:
    """Return the `fill` of a definition's tool."""
    known = (part for name in _touched(made) for part in (name, _head(name)))
    names = (*known, *made.fixed)
    return Filling(made, functools.cache(lambda: Checker(made.name, _lenient(made), names)))


def _touched(made: Definition) -> tuple[str, ...]:
    """Return what defaults write, remove or read: that need not be in the schema."""
    return (*(default.key for default in made.defaults), *_read(made))


def _read(made: Definition) -> tuple[str, ...]:
    return tuple(r.name for d in made.defaults for r in d.reads if r.of == "params")


def _head(name: str) -> str:
    return name.partition(".")[0]


def _lenient(made: Definition) -> dict[str, Any]:
    """Return the schema without `required` wherever a default may fill in."""
    schema = {key: value for key, value in made.parameters.items() if key != "required"}
    inside = {_head(default.key) for default in made.defaults if "." in default.key}
    parts = {
        name: {k: v for k, v in part.items() if k != "required"}
        for name, part in schema.get("properties", {}).items()
        if name in inside and isinstance(part, Mapping)
    }
    return {**schema, "properties": {**schema["properties"], **parts}} if parts else schema


def checking(made: Definition) -> Check:
    """Return the `check` of a definition's tool: of all that runs, a person's words too.

    What defaults write over, or inside, need not fit what the model is told of it.
    """
    ours = {_head(d.key) for d in made.defaults if "." in d.key or d.action == "override"}
    gone = {d.key for d in made.defaults if d.action == "remove"}
    schema = freed(without(made.parameters, (), gone), ours | set(made.fixed))
    names = (*known_names(made), *_read(made))
    checker = functools.cache(lambda: Checker(made.name, schema, names))

    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        return {"arguments": checker()(arguments)}

    return check


# -- what the model sees ------------------------------------------------------------------


def shown(made: Definition) -> dict[str, Any]:
    """Return the parameters that the model is told of.

    What is always removed or the same is left out, unless something else reads it; what
    has a default is not required.
    """
    read = {_head(name) for name in _read(made)}
    settled = {d.key for d in made.defaults if d.when is None and _is_settled(d)}
    filled = {d.key for d in made.defaults if d.when is None and d.action == "default"}
    return without(made.parameters, (settled - read) | set(made.fixed), settled | filled)


def _is_settled(default: Default) -> bool:
    """Return whether the model's word for it never counts."""
    return default.action != "default" and all(r.of == "vars" for r in default.reads)


def variables_of(made: Definition) -> tuple[str, ...]:
    """Return the variables that a definition reads.

    A name with dots may be a name, or lead into a variable: both are read.
    """
    texts: Iterable[Any] = (*made.defaults, *texts_in(made.result))
    found: dict[str, None] = {}
    for reference in (r for text in texts for r in _references(text)):
        if reference.of == "vars":
            parts = reference.name.split(".")
            found |= dict.fromkeys(".".join(parts[: n + 1]) for n in range(len(parts)))
    return tuple(found)


def _references(text: Any) -> Any:
    return text.reads if isinstance(text, Default) else text.references
