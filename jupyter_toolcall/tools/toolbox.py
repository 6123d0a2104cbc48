"""A box of tools: what a session can call, and the types of object that it knows."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core.errors import DefinitionError, UsageError
from ..core.text import nearest
from .object_types import classes_in, hint, is_object_class, kind_name
from .python_tools import from_class, from_function, from_instance
from .tool import Tool
from .tool_version import forget
from .value_copies import well_formed

_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Toolbox:
    """Functions, classes, instances, `Tool`s and other toolboxes, as tools.

    Raises DefinitionError for what is none of these, for a schema that cannot be
    derived, and for a name that is used twice.
    """

    def __init__(self, *sources: Any, types: Iterable[type] = ()) -> None:
        self.sources = tuple(_flat(sources))
        self.types = tuple(dict.fromkeys((*_types_of(sources), *types)))
        """The types that are met by name beside those of the sources."""
        self.kinds: Mapping[type, str] = _kinds(self.sources, self.types)
        self._tools = _named(tool for source in self.sources for tool in self._from(source))
        self.variables: Mapping[str, Any] = _variables(self)
        """What session variables are at the start."""

    def _from(self, source: Any) -> Iterable[Tool]:
        match source:
            case Tool():
                return (source,)
            case type():
                return from_class(source, self.kinds)
            case _ if inspect.isroutine(source) or isinstance(source, functools.partial):
                return (from_function(source, self.kinds),)
        found = tuple(from_instance(source, self.kinds))
        if not found:
            raise DefinitionError(
                f"a {type(source).__name__} is no tool, since it has no public methods: give "
                "functions, classes, instances, Tool or Toolbox"
            )
        return found

    def with_types(self, types: Iterable[type]) -> Toolbox:
        """Return this toolbox, where these types are met by name too."""
        more = [cls for cls in types if cls not in self.kinds]
        return Toolbox(*self.sources, types=(*self.types, *self.kinds, *more)) if more else self

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

    def look_again(self) -> None:
        """Read the versions of the tools anew when they are asked for next.

        What a tool calls by name may have been defined anew since.
        """
        for tool in self:
            forget(tool.version)

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
            case Tool():
                yield source
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


def _types_of(sources: Iterable[Any]) -> Iterator[type]:
    for source in sources:
        match source:
            case Toolbox():
                yield from source.types
            case list() | tuple():
                yield from _types_of(source)


def _variables(tools: Iterable[Tool]) -> dict[str, Any]:
    """Return what all tools say of the session's variables at the start."""
    found: dict[str, Any] = {}
    for tool in tools:
        for name, value in tool.variables.items():
            if found.setdefault(name, value) != value:
                raise DefinitionError(
                    f"{tool.name}: the variable {name!r} is {value!r:.60} here and "
                    f"{found[name]!r:.60} in another tool; give both the same"
                )
    return found


def _kinds(sources: Iterable[Any], types: Iterable[type]) -> dict[type, str]:
    """Return the types that are met by name: the classes given, what their methods make."""
    given = [source for source in sources if not isinstance(source, Tool)]
    classes = [source for source in given if isinstance(source, type)]
    found = dict.fromkeys([*types, *classes])
    for source in given:
        found.update(dict.fromkeys(_met_by(source, classes)))
    names: dict[str, type] = {}
    for cls in found:
        other = names.setdefault(kind_name(cls), cls)
        if not _same(other, cls):
            raise DefinitionError(
                f"two types are named {kind_name(cls)!r} ({other.__module__} and "
                f"{cls.__module__}); objects are named by type, so rename one"
            )
    return {cls: kind_name(cls) for cls in found}


def _same(one: type, other: type) -> bool:
    """A class that was defined anew, as by a cell that ran twice, is the same type."""
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


def _met_by(source: Any, classes: list[type]) -> Iterator[type]:
    """Yield what a class's methods make, and what a function takes and makes that has no JSON."""
    if isinstance(source, type):
        for method in vars(source).values():
            made = _hints(getattr(method, "__func__", method), ("return",), classes)
            yield from (part for part in made if is_object_class(part))
    elif inspect.isfunction(source):
        met = _hints(source, source.__annotations__, classes)
        bare = (part for part in met if is_object_class(part) and part is not object)
        yield from (part for part in bare if not dataclasses.is_dataclass(part))


def _hints(function: Any, names: Iterable[str], classes: list[type]) -> Iterator[Any]:
    for name in names if inspect.isfunction(function) else ():
        try:
            yield from classes_in(hint(function, name, classes))
        # What is wrong here is said when the tool is made, or does no harm.
        except (NameError, SyntaxError, TypeError, AttributeError, KeyError):
            continue


def _named(tools: Iterable[Tool]) -> dict[str, Tool]:
    named: dict[str, Tool] = {}
    for tool in tools:
        if not _NAME.fullmatch(tool.name):
            raise DefinitionError(
                f"{tool.name!r} is no name that models take: letters a to z, digits, _ and -, "
                "at most 128; give one with @tool(name=...)"
            )
        if tool.name in named:
            raise DefinitionError(
                f"two tools are named {tool.name!r}; rename one with @tool(name=...)"
            )
        named[tool.name] = _readable(tool)
    return named


def _readable(tool: Tool) -> Tool:
    """Half of a character in what is said of a tool would stop each request, file and message."""
    said = tool.description, dict(tool.parameters)
    description, parameters = readable = tuple(map(well_formed, said))
    if readable == said:
        return tool
    return dataclasses.replace(tool, description=description, parameters=parameters)
