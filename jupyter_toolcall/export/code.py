"""Pieces of Python code, and what they need to run: names that a module has, or the module."""

from __future__ import annotations

import functools
import importlib.util
import keyword
import sys
import sysconfig
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

WIDE = 96
"""Characters of a line; a longer call has a line for each argument."""
INDENT = "    "


class Unwritable(Exception):
    """No code says it; the message says what it is, in a few words."""


@dataclass(frozen=True, slots=True)
class Need:
    """What code uses: a name that a module has, or the module itself (no name)."""

    module: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of code, and what it needs."""

    text: str
    needs: frozenset[Need] = field(default_factory=frozenset)

    def then(self, text: str) -> Code:
        """Return this code with more text behind it."""
        return Code(self.text + text, self.needs)


def of_module(module: str, text: str) -> Code:
    """Return code that uses a module by its name."""
    return Code(text, frozenset({Need(module)}))


def joined(opened: str, parts: Iterable[Code], closed: str, between: str = ", ") -> Code:
    """Return parts in a row, with what is around and between them."""
    known = list(parts)
    needs = frozenset(need for part in known for need in part.needs)
    return Code(f"{opened}{between.join(part.text for part in known)}{closed}", needs)


def call(
    head: Code,
    first: Iterable[Code] = (),
    named: Mapping[str, Code] | None = None,
    last: Iterable[Code] = (),
) -> Code:
    """Return the call of what `head` says: values in their order, and by name.

    A name that code cannot have as a keyword stands in a dict. A long call has a line for
    each argument.
    """
    parts = [*first, *_keywords(named or {}), *last]
    one = joined(f"{head.text}(", parts, ")")
    if len(one.text) > WIDE and parts:
        one = joined(f"{head.text}(\n{INDENT}", parts, ",\n)", f",\n{INDENT}")
    return Code(one.text, one.needs | head.needs)


def _keywords(named: Mapping[str, Code]) -> Iterable[Code]:
    odd = {name: code for name, code in named.items() if not is_name(name)}
    yield from (
        Code(f"{name}={code.text}", code.needs) for name, code in named.items() if name not in odd
    )
    if odd:
        yield joined(
            "**{", (Code(f"{key!r}: {code.text}", code.needs) for key, code in odd.items()), "}"
        )


def is_name(text: str) -> bool:
    """Return whether code can have a text as a name, and as no other one."""
    plain = unicodedata.normalize("NFKC", text) == text
    return plain and text.isidentifier() and not keyword.iskeyword(text)


MAIN = "__main__"


def reference(thing: Any) -> Code:
    """Return how code names a class or a function. Raises Unwritable where nothing has it."""
    found = next(_homes(thing), None)
    if found is None:
        raise Unwritable(f"{_called(thing)}, which no module has under a name")
    module, name = found
    if module == "builtins":
        return Code(name)
    return Code(name, frozenset({Need(module, name.partition(".")[0])}))


def is_found(thing: Any) -> bool:
    """Return whether some module has a class or a function under a name."""
    return next(_homes(thing), None) is not None


def is_yours(module: str) -> bool:
    """Return whether a module is the person's own: neither Python's nor from a package index."""
    return module == MAIN or not _is_installed(module.partition(".")[0])


@functools.cache
def _is_installed(top: str) -> bool:
    if top in sys.stdlib_module_names or top in sys.builtin_module_names:
        return True
    places = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    return any(origin(top).startswith(place) for place in places if place)


def origin(module: str) -> str:
    """Return the file of a module that can be imported, "" for none."""
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return ""
    if found is None:
        return ""
    return found.origin or next(iter(found.submodule_search_locations or ()), "")


def _called(thing: Any) -> str:
    return str(getattr(thing, "__qualname__", None) or type(thing).__name__)


def _homes(thing: Any) -> Iterator[tuple[str, str]]:
    """Yield the modules that have a thing, the one nearest to the top of its package first."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if isinstance(module, str) and isinstance(name, str) and "<" not in name:
        parts = module.split(".")
        packages = [".".join(parts[: n + 1]) for n in range(len(parts))]
        tops = packages if "." not in name and module != MAIN else [module]
        yield from ((top, name) for top in tops if _is_there(thing, top, name))
    yield from _by_value(thing)


def _is_there(thing: Any, module: str, name: str) -> bool:
    """A class that was defined anew, as by a cell that ran twice, is found under its name."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    same = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    now = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    return found is thing or (found is not None and now == same and now != (None, None))


def _by_value(thing: Any) -> Iterator[tuple[str, str]]:
    """What a function made, or a partial, has the name of the variable that holds it."""
    bare = thing
    while isinstance(bare, functools.partial):
        bare = bare.func
    for module in dict.fromkeys((getattr(bare, "__module__", None), MAIN)):
        held = vars(sys.modules[module]) if module in sys.modules else {}
        yield from (
            (str(module), name)
            for name, value in list(held.items())
            if value is thing and not name.startswith("_")
        )
