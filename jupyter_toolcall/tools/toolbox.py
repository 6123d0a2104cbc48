"""`Toolbox`: the tools that a session can call, and the types of object that it knows."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core.errors import DefinitionError, UsageError
from ..core.text import nearest
from .arguments import LazySchema
from .object_types import Kinds, annotation_type, classes_in, is_object_class, kind_name
from .plain_data import well_formed
from .python_tools import from_bound_method, from_class, from_function
from .tool import Tool, parameters_schema
from .tool_version import forget

TOOL_NAME = re.compile(r"[\w.-](?:[\w ./:-]{0,198}[\w.-])?")


_GIVE = "give functions, classes, instances, Tool or Toolbox"


class ToolSource(ABC):
    """A source that makes its tools for the types of object that a toolbox knows."""

    @property
    def prefix(self) -> str:
        """What stands before the name of a tool where another source has a tool of that name; ""
        where names do not change."""
        return ""

    @abstractmethod
    def tools(self, kinds: Kinds) -> Iterable[Tool]:
        """Return the tools; `kinds` are the types that the toolbox knows."""

    def type_named(self, name: str) -> type | None:
        """Return a class that its tools create, by its name; None for any other name."""
        return None


class Toolbox:
    """The tools of a session.

    A function, or a method of an instance, is one tool, named as it is. Each public method of a
    class is a tool `Class_method`, whose argument `Class` names the object to work on. The methods
    of an instance share its state. Parameters need types; docstrings describe them. An object class
    among the types is given by the object's name, such as `Potato#3`.

    Arguments:
        sources: functions, classes, instances, `Tool`s, other toolboxes, and lists of these.
        types: more classes whose objects are given by name.

    Attributes:
        sources: the sources, without lists and toolboxes around them.
        types: the classes that were passed as `types`.
        kinds: each class whose objects are given by name, with the name of its type.
        variables: the session variables of the tools, with their values at the start.
        answers: the types of lists and records that a session asks the model for, as they are
            written (`list[str]`).

    Raises:
        DefinitionError: for a source that is none of these, a parameter that has no schema, and a
            name that two tools or two types have.

    Example:
        >>> def double(n: int) -> int:
        ...     "Return twice a number."
        ...     return 2 * n
        >>> class Counter:
        ...     "Counts upwards."
        ...     def add(self, n: int = 1) -> "Counter":
        ...         "Return a counter that is n further."
        ...         return self
        >>> toolbox = Toolbox(double, Counter)
        >>> toolbox.names
        ('double', 'Counter_add')
        >>> toolbox["double"].parameters["required"]
        ['n']
        >>> list(toolbox["Counter_add"].parameters["properties"])
        ['Counter', 'n']
    """

    def __init__(self, *sources: object, types: Iterable[type] = ()) -> None:
        parts = tuple(_flat(sources))
        self.sources = tuple(part for part in parts if not isinstance(part, Toolbox))
        of_parts = (cls for part in parts if isinstance(part, Toolbox) for cls in part.types)
        for cls in (added := tuple(types)):
            if not isinstance(cls, type):
                raise DefinitionError(f"types: {cls!r:.60} is no class")
        self.types: tuple[type, ...] = tuple(dict.fromkeys((*of_parts, *added)))
        self.kinds: Mapping[type, str] = _kinds(self.sources, self.types)
        named = [(tool, source) for source in self.sources for tool in self._from(source)]
        self._tools = _by_name(_without_collisions(named))
        self._replaced: dict[str, Tool] = {}
        """The tools that were put in the place of those from the sources, by name."""
        self.variables: Mapping[str, Any] = _variables(self)
        self.answers: dict[str, Any] = {}

    def _from(self, source: object) -> Iterable[Tool]:
        match source:
            case Tool():
                return (source,)
            case ToolSource():
                return source.tools(self.kinds)
            case type():
                return from_class(source, self.kinds)
            case _ if inspect.ismethod(source) and not isinstance(source.__self__, type):
                return (from_bound_method(source, self.kinds),)
            case _ if inspect.isroutine(source) or isinstance(source, functools.partial):
                return (from_function(source, self.kinds),)
        tools = tuple(from_class(type(source), self.kinds, source))
        if not tools:
            why = f"a {type(source).__name__} is no tool, since it has no public methods"
            raise DefinitionError(f"{why}: {_GIVE}")
        return tools

    def with_tools(self, tools: Mapping[str, Tool]) -> Toolbox:
        """Return this toolbox with other tools under the same names, and answers of its own.

        Raises DefinitionError for a tool that has another name.
        """
        for name, tool in tools.items():
            if tool.name != name:
                raise DefinitionError(f"{name!r:.60} is given a tool that is named {tool.name!r}")
        changed = copy.copy(self)
        changed._replaced = {**self._replaced, **tools}
        changed._tools = {**self._tools, **tools}
        changed.answers = {**self.answers}
        # What was computed of the tools before.
        vars(changed).pop("_receiver_kinds", None)
        vars(changed).pop("_parameter_kinds", None)
        return changed

    def renew(self, tool: Tool) -> None:
        """Have a tool as its server defines it now, in place of the one of that name."""
        renewed = _by_name([tool])
        self._replaced |= renewed
        self._tools |= renewed

    def with_types(self, types: Iterable[type]) -> Toolbox:
        """Return a toolbox of the same tools, in which objects of these types are named too."""
        missing = [cls for cls in types if cls not in self.kinds]
        if not missing:
            return self
        box = Toolbox(*self.sources, types=(*self.types, *self.kinds, *missing))
        return box.with_tools(self._replaced) if self._replaced else box

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return self.get(name) is not None

    def __getitem__(self, name: str) -> Tool:
        """Return a tool. Raises UsageError for an unknown name, with the nearest one."""
        if (tool := self.get(name)) is None:
            raise UsageError(f"no tool {name!r:.60}.{nearest(str(name), self._tools)}")
        return tool

    def look_again(self) -> None:
        """Compute the versions of the tools again when they are next needed.

        A helper that a tool calls by name may have been defined again since.
        """
        for tool in self:
            forget(tool.version)

    def get(self, name: object) -> Tool | None:
        """Return a tool, or None if there is none of that name."""
        return self._tools.get(name) if isinstance(name, str) else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, in the order of the sources."""
        return tuple(self._tools)

    def takes(self, kind: str) -> bool:
        """Return whether a tool takes objects of a type, by its name (`kind`)."""
        # A type that has tools needs no schema: in a large GraphQL API these are computed late.
        return kind in self._receiver_kinds or kind in self._parameter_kinds

    @functools.cached_property
    def _receiver_kinds(self) -> frozenset[str]:
        return frozenset(tool.kind for tool in self if tool.receiver)

    @functools.cached_property
    def _parameter_kinds(self) -> frozenset[str]:
        return frozenset(kind for tool in self for kind in tool.takes)

    def type_named(self, name: str) -> type | None:
        """Return the class of the objects of a type, or None if no such type is known."""
        classes = [cls for cls, kind in self.kinds.items() if kind == name]
        sources = (source for source in self.sources if isinstance(source, ToolSource))
        of_sources = (source.type_named(name) for source in sources)
        return next((cls for cls in (*classes, *of_sources) if cls is not None), None)

    def __repr__(self) -> str:
        return f"<Toolbox of {len(self)} tools: {', '.join(list(self.names)[:8])}>"


def _flat(sources: Iterable[object]) -> Iterator[object]:
    """Yield the sources in lists and toolboxes, and the toolboxes themselves."""
    for source in sources:
        match source:
            case Toolbox():
                yield from (source, *source.sources)
            case list() | tuple():
                yield from _flat(source)
            case None | str() | bytes() | int() | float() | dict() | set():
                raise DefinitionError(f"{source!r:.60} is no tool: {_GIVE}")
            case _:
                yield source


def _variables(tools: Iterable[Tool]) -> dict[str, Any]:
    """Return the session variables of all tools. Raises DefinitionError if two tools differ."""
    variables: dict[str, Any] = {}
    for tool in tools:
        for name, value in tool.variables.items():
            if variables.setdefault(name, value) != value:
                raise DefinitionError(
                    f"{tool.name}: the variable {name!r} is {value!r:.60} here and "
                    f"{variables[name]!r:.60} in another tool; give both the same"
                )
    return variables


def _kinds(sources: Iterable[object], types: Iterable[type]) -> dict[type, str]:
    """Return the types of object: the classes among the sources, and those in annotations."""
    classes = [source for source in sources if isinstance(source, type)]
    all_types = dict.fromkeys([*types, *classes])
    for source in sources:
        all_types.update(dict.fromkeys(_annotated_types(source, classes)))
    names: dict[str, type] = {}
    for cls in all_types:
        other = names.setdefault(kind_name(cls), cls)
        # A class that was defined again, as by a cell that ran twice, is the same type.
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise DefinitionError(
                f"two types are named {kind_name(cls)!r} ({other.__module__} and "
                f"{cls.__module__}); objects are named by type, so rename one"
            )
    return {cls: kind_name(cls) for cls in all_types}


def _annotated_types(source: object, classes: list[type]) -> Iterator[type]:
    """Yield the types that a class's methods return, and those in a function's annotations."""
    if isinstance(source, type):
        for method in vars(source).values():
            returned = _classes(getattr(method, "__func__", method), ("return",), classes)
            yield from filter(is_object_class, returned)
    elif inspect.isfunction(function := getattr(source, "__func__", source)):
        for cls in filter(is_object_class, _classes(function, function.__annotations__, classes)):
            if cls is not object and not dataclasses.is_dataclass(cls):
                yield cls


def _classes(function: object, names: Iterable[str], all_types: list[type]) -> Iterator[Any]:
    for name in names if inspect.isfunction(function) else ():
        try:
            yield from classes_in(annotation_type(function, name, all_types))
        # An error here is raised again when the tool is made, or does no harm.
        except (NameError, SyntaxError, TypeError, AttributeError, KeyError):
            continue


def _without_collisions(named: list[tuple[Tool, Any]]) -> Iterator[Tool]:
    """Yield tools with their source's prefix, where sources have tools of one name."""
    counts = Counter(tool.name for tool, _ in named)
    for tool, source in named:
        prefix = source.prefix if isinstance(source, ToolSource) else ""
        is_shared = prefix and counts[tool.name] > 1
        yield dataclasses.replace(tool, name=f"{prefix}_{tool.name}") if is_shared else tool


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    named, subjects = dict[str, Tool](), dict[str, Any]()
    for tool in tools:
        number, instance = 1, tool.instance
        while subjects.setdefault(instance, tool.subject) is not tool.subject:
            number, instance = number + 1, f"{tool.instance}_{number + 1}"
        tool = tool if number == 1 else dataclasses.replace(tool, instance=instance)
        if not TOOL_NAME.fullmatch(tool.name):
            raise DefinitionError(
                f"{tool.name!r:.240} is no name of a tool: letters, digits, spaces and any of "
                "_ - . / :, at most 200; give one with @tool(name=...)"
            )
        if tool.name in named:
            raise DefinitionError(
                f"two tools are named {tool.name!r}; rename one with @tool(name=...)"
            )
        # Half of a Unicode character would stop each request, file and message.
        description, parameters = well_formed(tool.description), parameters_schema(tool)
        if not isinstance(parameters, LazySchema):
            parameters = well_formed(dict(parameters))
        if (description, parameters) != (tool.description, parameters_schema(tool)):
            tool = dataclasses.replace(tool, description=description, parameters=parameters)
        named[tool.name] = tool
    return named
