"""A tool's name as the XML has it, a tool and its function, and back: names alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from ...errors import CallError
from ...tools import Tool, nearest


def pair(tool: Tool) -> tuple[str, str]:
    """Return the names of a tool and of its function; a plain function is both."""
    function = tool.name.removeprefix(f"{tool.group}_") if tool.group else tool.name
    return (tool.group, function) if function != tool.name else (tool.name, tool.name)


def found(group: str, function: str, tools: Iterable[Tool]) -> Tool:
    """Return the tool that a call names, however it spells that.

    Raises CallError, which names the nearest that there is.
    """
    known = {tool.name: tool for tool in tools}
    if not group and not function:
        raise CallError("the call does not say which tool and which function")
    for spelled in (str, _loosely):
        tool = _match(spelled(group), spelled(function), _by_name(known, spelled))
        if tool is not None:
            return tool
    raise _unknown(group, function, known)


def _loosely(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(".", "_")


def _by_name(known: Mapping[str, Tool], spelled: Callable[[str], str]) -> dict[str, Tool]:
    """Two tools that are spelled alike are told apart by their exact names alone."""
    counts = Counter(map(spelled, known))
    return {spelled(name): tool for name, tool in known.items() if counts[spelled(name)] == 1}


def _match(group: str, function: str, known: Mapping[str, Tool]) -> Tool | None:
    if not function:
        alone = [tool for tool in known.values() if group in (tool.group, _loosely(tool.group))]
        return known.get(group) or (alone[0] if len(alone) == 1 else None)
    return next((known[name] for name in _spellings(group, function, known) if name in known), None)


def _spellings(group: str, function: str, known: Mapping[str, Tool]) -> Iterator[str]:
    yield f"{group}_{function}" if group else function
    if group in known and function in (group, _loosely(pair(known[group])[1])):
        yield group
    if function in known and not any(_loosely(tool.group) == group for tool in known.values()):
        yield function


def _unknown(group: str, function: str, known: Mapping[str, Tool]) -> CallError:
    functions: dict[str, list[str]] = {}
    for tool in known.values():
        functions.setdefault(pair(tool)[0], []).append(pair(tool)[1])
    if group in functions and function:
        there = functions[group]
        return CallError(
            f"the tool {group!r} has no function {function!r}; there "
            f"{'is' if len(there) == 1 else 'are'} {', '.join(there)}.{nearest(function, there)}"
        )
    if group in functions:
        return CallError(f"say which function of {group!r}: {', '.join(functions[group])}")
    said = group or function
    return CallError(f"there is no tool {said!r}.{nearest(said, [*functions, *known])}")
