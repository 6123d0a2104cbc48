"""Pieces of Python code, and what they need to run: names that a module has, or the module."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

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
