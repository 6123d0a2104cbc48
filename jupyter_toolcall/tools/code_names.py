"""The names that compiled code uses: what it reads, and what it changes.

Code is read without its source, which a function of another program may not have.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType

_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_KINDS = {
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME"), "variables"),
    **dict.fromkeys((*_ATTRIBUTES, "IMPORT_FROM"), "members"),
    **dict.fromkeys(("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"), "rebound"),
    **dict.fromkeys(("STORE_ATTR", "DELETE_ATTR"), "assigned"),
    "IMPORT_NAME": "modules",
}
"""What the name in an instruction is."""
_METHODS = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert"),
    *("pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault", "sort", "update"),
}
"""The methods that change the container that they are called on."""
_FUNCTIONS = {"next", "setattr", "delattr", "heappush", "heappop", "insort", "shuffle"}
"""The functions that change an argument."""
_ITEMS = {"STORE_SUBSCR": 1, "DELETE_SUBSCR": 1, "STORE_SLICE": 2}
"""The instructions that change a container, with the values that stand above it on the stack."""


@dataclass(frozen=True, slots=True)
class CodeNames:
    """The names that code, with the functions in it, uses."""

    variables: frozenset[str]
    """Read from outside of the function."""
    members: frozenset[str]
    """Behind a dot, or in a text beside `getattr`."""
    modules: frozenset[str]
    rebound: frozenset[str]
    """Variables outside of the function that it assigns."""
    assigned: frozenset[str]
    """Assigned behind a dot."""
    filled: frozenset[str]
    """What names a container whose items the code changes. Where it cannot be told, all names."""


@functools.lru_cache(4_096)
def names_in(code: CodeType) -> CodeNames:
    """Return the names that code uses."""
    names: dict[str, set[str]] = {kind: set() for kind in (*_KINDS.values(), "filled")}
    steps = [*dis.get_instructions(code)]
    for step in steps:
        if step.opname in _KINDS:
            names[_KINDS[step.opname]].add(step.argval)
        elif type(step.argval) is str and "getattr" in code.co_names:
            names["members"].add(step.argval)
    for end in _changed_containers(steps):
        filled = None if end is None else _names_of_value(steps, end)
        names["filled"].update((*code.co_names, *code.co_freevars) if filled is None else filled)
    for inner in (part for part in code.co_consts if isinstance(part, CodeType)):
        for kind in names:
            names[kind] |= getattr(names_in(inner), kind)
    names["rebound"].difference_update(code.co_cellvars)
    return CodeNames(**{kind: frozenset(found) for kind, found in names.items()})


def _changed_containers(steps: Sequence[dis.Instruction]) -> Iterator[int | None]:
    """Yield where the value of each container is at hand that is changed; None if unknown."""
    for index, step in enumerate(steps):
        before = steps[index - 1].opname
        if step.opname in _ATTRIBUTES and step.argval in _METHODS:
            yield index
        elif step.argval in _FUNCTIONS and step.opname in _KINDS:
            yield None
        elif step.opname == "BINARY_SUBSCR" and before == "COPY":
            # `x[key] += 1` copies both, and has their copies in another order.
            yield _without_value(steps, index - 2)
        elif step.opname in _ITEMS and before != "SWAP":
            for _ in range(_ITEMS[step.opname]):
                index = _without_value(steps, index)
            yield index


def _names_of_value(steps: Sequence[dis.Instruction], end: int) -> list[str] | None:
    """Return the names in `a.b[key].c`, whose value the instruction before `end` leaves."""
    names = list[str]()
    while end > 0:
        end -= 1
        step = steps[end]
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            return [*names, step.argval]
        if step.opname.startswith("LOAD_FAST"):
            return names
        if step.opname in _ATTRIBUTES:
            names.append(step.argval)
        elif step.opname == "BINARY_SUBSCR":
            end = _without_value(steps, end)
        else:
            break
    # It is what a call returns, or one of two values.
    return None


def _without_value(steps: Sequence[dis.Instruction], end: int) -> int:
    """Return where the instructions begin that leave the uppermost value before `end`."""
    missing = 1
    while missing > 0 and end > 0:
        end -= 1
        missing -= dis.stack_effect(steps[end].opcode, steps[end].arg, jump=False)
    return end
