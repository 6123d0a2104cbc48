"""An action that a function does, in place of a person."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...digest import digest
from ...errors import DefinitionError
from ...tools import Tool, Toolbox
from ...tools.fingerprint import Version, version_of
from ...tools.tool import Origin, Resolve
from .reading import Definition, known_names
from .schema import is_open, names_of

Doer = Callable[..., Any] | Tool


def done_by(action: Doer, made: Definition, tool: Tool) -> Tool:
    """Return a definition's tool that runs a function with what its own types take.

    Raises DefinitionError where the function takes other arguments than the definition has.
    """
    inner = action if isinstance(action, Tool) else _as_tool(made, action)
    fits = tool.check

    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        return {"arguments": inner.check(fits(arguments, resolve)["arguments"], resolve)}

    def run(
        *subject: Any, arguments: Mapping[str, Any], variables: Mapping[str, Any] | None = None
    ) -> Any:
        return inner.function(*subject, **arguments)

    return replace(
        inner,
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        function=run,
        check=check,
        fill=tool.fill,
        reads=tool.reads,
        variables=tool.variables,
        version=Version(
            lambda: digest("action", tool.version(), inner.version()), tool.version, inner.version
        ),
    )


def _as_tool(made: Definition, action: Any) -> Tool:
    """Return a function's tool; one without types takes the arguments as they are."""
    if not callable(action):
        raise DefinitionError(f"action: {action!r:.60} is no function")
    taken = list(inspect.signature(action).parameters.values())
    _takes(made, taken)
    if inspect.isroutine(action) and all(each.annotation is not each.empty for each in taken):
        typed = next(iter(Toolbox(action)))
        takes_any = any(each.kind is each.VAR_KEYWORD for each in taken)
        if set(_comes(made)) <= set(names_of(typed.parameters)) and not (
            takes_any and is_open(made.parameters)
        ):
            return typed
    version = version_of(action)
    return Tool(name=made.name, function=action, origin=Origin(action), version=version)


def _comes(made: Definition) -> list[str]:
    removed = {d.key for d in made.defaults if d.action == "remove" and d.when is None}
    return [name for name in known_names(made) if name not in removed]


def _takes(made: Definition, taken: list[inspect.Parameter]) -> None:
    """Raise DefinitionError for an argument that the function, or the definition, lacks."""
    comes, names = _comes(made), [each.name for each in taken]
    unknown = [name for name in comes if name not in names]
    if unknown and all(each.kind is not each.VAR_KEYWORD for each in taken):
        there = ", ".join(names) or "nothing"
        raise DefinitionError(f"action: the function takes no {unknown[0]!r}; it takes {there}")
    for each in taken:
        named = each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        missing = named and each.default is each.empty and each.name not in comes
        if missing and not is_open(made.parameters):
            raise DefinitionError(
                f"action: the function needs {each.name!r}, which the definition does not have"
            )
