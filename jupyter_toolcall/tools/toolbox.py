"""A box of tools: what a session can call, and the types of object that it knows."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_type_hints

from ..errors import DefinitionError, UsageError
from .kinds import classes_in, is_object_class, kind_name
from .python import from_class, from_function, from_instance
from .tool import Tool, nearest


class Toolbox:
    """Functions, classes, instances, `Tool`s and other toolboxes, as tools.

    Raises DefinitionError for what is none of these, for a schema that cannot be
    derived, and for a name that is used twice.
    """

    def __init__(self, *sources: Any, types: Iterable[type] = ()) -> None:
        self.sources = tuple(_flat(sources))
        self.kinds: Mapping[type, str] = _kinds(self.sources, types)
        self._tools = _named(tool for source in self.sources for tool in self._from(source))

    def _from(self, source: Any) -> Iterable[Tool]:
        match source:
            case Tool():
                return (source,)
            case type():
                return from_class(source, self.kinds)
            case _ if inspect.isroutine(source) or isinstance(source, functools.partial):
                return (from_function(source, self.kinds),)
        return from_instance(source, self.kinds)

    def with_types(self, types: Iterable[type]) -> Toolbox:
        """Return this toolbox, where these types are met by name too."""
        more = [cls for cls in types if cls not in self.kinds]
        return Toolbox(*self.sources, types=(*self.kinds, *more)) if more else self

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        try:
            return self._tools[name]
        except KeyError:
            raise UsageError(f"no tool {name!r}.{nearest(name, self._tools)}") from None

    def get(self, name: str) -> Tool | None:
        """Return a tool, or None where there is none of that name."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def type_named(self, name: str) -> type | None:
        """Return the class that objects of this type have, where it is known."""
        return next((cls for cls, known in self.kinds.items() if known == name), None)

    def __repr__(self) -> str:
        return f"<Toolbox of {len(self)} tools: {', '.join(list(self.names)[:8])}>"


def _flat(sources: Iterable[Any]) -> Iterator[Any]:
    for source in sources:
        match source:
            case Toolbox():
                yield from source.sources
            case list() | tuple():
                yield from _flat(source)
            case None | str() | bytes() | int() | float() | dict() | set():
                raise DefinitionError(
                    f"{source!r:.60} is no tool: give functions, classes, instances, "
                    "Tool or Toolbox"
                )
            case _:
                yield source


def _kinds(sources: Iterable[Any], types: Iterable[type]) -> dict[type, str]:
    """Return the types that are met by name: the classes given, what their methods make."""
    classes = [source for source in sources if isinstance(source, type)]
    found = dict.fromkeys([*types, *classes])
    for cls in classes:
        found.update(dict.fromkeys(_made_by(cls)))
    names: dict[str, type] = {}
    for cls in found:
        other = names.setdefault(kind_name(cls), cls)
        if other is not cls:
            raise DefinitionError(
                f"two types are named {kind_name(cls)!r} ({other.__module__} and "
                f"{cls.__module__}); objects are named by type, so rename one"
            )
    return {cls: name for name, cls in names.items()}


def _made_by(cls: type) -> Iterator[type]:
    for method in vars(cls).values():
        bare = getattr(method, "__func__", method)
        if inspect.isfunction(bare):
            for part in classes_in(_returns(bare)):
                if is_object_class(part):
                    yield part


def _returns(function: Any) -> Any:
    try:
        return get_type_hints(function).get("return")
    except (NameError, TypeError):
        return None


def _named(tools: Iterable[Tool]) -> dict[str, Tool]:
    named: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in named:
            raise DefinitionError(
                f"two tools are named {tool.name!r}; rename one with @tool(name=...)"
            )
        named[tool.name] = tool
    return named
