"""Which object came from which: the graph of a branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .call_record import CallRecord
from .errors import UsageError
from .state import State
from .text import nearest


@dataclass(frozen=True, slots=True)
class Edge:
    """An object was used by a call, as this argument, and the call made another one."""

    source: str
    target: str
    call_id: str
    tool: str
    parameter: str


@dataclass(frozen=True)
class Graph:
    """The objects of a branch by name, and how they came from one another."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def _parents(self) -> Mapping[str, tuple[str, ...]]:
        return _grouped((edge.target, edge.source) for edge in self.edges)

    @cached_property
    def _children(self) -> Mapping[str, tuple[str, ...]]:
        return _grouped((edge.source, edge.target) for edge in self.edges)

    def checked_name(self, name: str) -> str:
        """Return a name that an object has. Raises UsageError, which suggests the nearest."""
        if name in self.nodes:
            return name
        hint = nearest(str(name), self.nodes)
        there_are = f" There are {', '.join(self.nodes[-5:]) or 'none yet'}"
        raise UsageError(f"there is no object {name!r:.60}.{hint or there_are}")

    def deps(self, name: str, *, all: bool = False) -> tuple[str, ...]:
        """Return the objects that one was made from, the nearest first."""
        return _reach(name, self._parents) if all else self._parents.get(name, ())

    def users(self, name: str, *, all: bool = False) -> tuple[str, ...]:
        """Return the objects that were made from one, the nearest first."""
        return _reach(name, self._children) if all else self._children.get(name, ())


def lineage(state: State) -> Graph:
    """Return the graph of a state's objects."""
    edges = (edge for call in state.all_calls() for edge in _edges(call, state))
    return Graph(tuple(state.names), tuple(edges))


def _edges(call: CallRecord, state: State) -> Iterable[Edge]:
    # What a call returned unchanged belongs to the call that made it.
    for target in map(state.name_of, call.produced):
        for argument, producer in call.uses.items():
            source = state.by_producer.get(producer)
            if source is not None and source != target:
                yield Edge(source, target, call.id, call.tool, argument)


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        groups.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in groups.items()}


def _reach(name: str, neighbours: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    reached: dict[str, None] = {}
    ahead = [*neighbours.get(name, ())]
    while ahead:
        nearest = ahead.pop(0)
        if nearest not in reached:
            reached[nearest] = None
            ahead += neighbours.get(nearest, ())
    return tuple(reached)
