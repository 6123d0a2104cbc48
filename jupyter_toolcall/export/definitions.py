"""What code needs, defined: the statements of the person's own modules, imports for the rest.

A slice: of a module only what is used, in its order, each statement as it was written.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .code import Need
from .homes import MAIN, is_yours, origin
from .texts import KNOWN, OURS, Import, Statement, Text, Texts, cell_source, text_of

WORLD = f"{OURS}.kitchen"
"""The one module of ours that holds tools: it goes home with them."""
DISPLAY = Import("IPython.display", "display", "display")


@dataclass(frozen=True, slots=True)
class Definitions:
    """Imports and statements that give code what it needs."""

    imports: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    bound: frozenset[str] = frozenset()
    """All names that are defined here."""
    missing: tuple[str, ...] = ()
    """Names that nothing defines."""
    twice: tuple[str, ...] = ()
    """Names that two modules define in two ways; the first one is kept."""
    future: bool = False


@dataclass
class _Slice:
    """What was chosen so far."""

    texts: Texts
    imports: dict[Import, None] = field(default_factory=dict)
    chosen: dict[str, dict[int, Statement]] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    done: set[Need] = field(default_factory=set)

    def take(self, need: Need) -> None:
        """Choose what defines a name, and all that it uses."""
        if need in self.done:
            return
        self.done.add(need)
        text = self.texts(need.module) if is_by_source(need.module, self.texts) else None
        if text is None:
            known = need.name or need.module.partition(".")[0]
            self.imports[Import(need.module, need.name, known)] = None
            return
        places = text.binding(need.name)
        for place in places:
            self._choose(need.module, place, text.statements[place])
        if not places:
            self._elsewhere(need, text)

    def _choose(self, module: str, place: int, statement: Statement) -> None:
        found = statement.imports
        if found is None:
            self.chosen.setdefault(module, {})[place] = statement
            for name in sorted(statement.uses):
                self.take(Need(module, name))
            text = self.texts(module)
            for name in sorted(statement.mentions):
                if text is not None and text.binding(name):
                    self.take(Need(module, name))
        elif found.name and is_by_source(found.module, self.texts) and found.name == found.known:
            self.take(Need(found.module, found.name))
        else:
            self.imports[found] = None

    def _elsewhere(self, need: Need, text: Text) -> None:
        if need.name in KNOWN:
            return
        if need.name == "display":
            self.imports[DISPLAY] = None
        elif text.stars:
            self.imports |= dict.fromkeys(text.stars)
        else:
            self.missing[need.name] = None


def defined(needs: Iterable[Need], texts: Texts) -> Definitions:
    """Return what defines all that is needed, what it uses itself too."""
    found = _Slice(texts)
    for need in sorted(needs, key=lambda each: (each.module, each.name)):
        found.take(need)
    statements = [
        found.chosen[module][place]
        for module in _in_order(found.chosen)
        for place in sorted(found.chosen[module])
    ]
    names = [name for each in statements for name in each.binds]
    return Definitions(
        tuple(_sorted_imports(found.imports)),
        tuple(dict.fromkeys(each.text for each in statements)),
        frozenset(names) | {each.known for each in found.imports},
        tuple(found.missing),
        tuple(_twice(found)),
        any((text := texts(module)) is not None and text.future for module in found.chosen),
    )


def _in_order(chosen: Mapping[str, object]) -> Sequence[str]:
    """A notebook uses what modules define, and not the other way round."""
    return sorted(chosen, key=lambda module: (module == MAIN, module != WORLD))


def _twice(found: _Slice) -> Iterator[str]:
    seen: dict[str, object] = {}
    for each in found.imports:
        if seen.setdefault(each.known, each) != each:
            yield each.known
    for module, statements in found.chosen.items():
        for name in sorted({name for each in statements.values() for name in each.binds}):
            if seen.setdefault(name, module) != module:
                yield name


def _sorted_imports(imports: Iterable[Import]) -> Iterator[str]:
    """Return imports as a person would write them: modules first, names of one together."""
    known = sorted(imports, key=lambda each: (each.name != "", each.module, each.name))
    groups: dict[str, list[Import]] = {}
    for each in known:
        if each.name:
            groups.setdefault(each.module, []).append(each)
        else:
            yield str(each)
    for module, names in groups.items():
        listed = dict.fromkeys(str(each).partition(" import ")[2] for each in names)
        yield f"from {module} import {', '.join(listed)}"


# -- where a module's text is ---------------------------------------------------------------


def is_by_source(module: str, texts: Texts) -> bool:
    """Return whether a module's definitions go home as text: others are imported.

    A module of the person's own that imports this package is of no use without it.
    """
    if module in (MAIN, WORLD):
        return True
    if module.partition(".")[0] == OURS or not is_yours(module):
        return False
    text = texts(module)
    names = (each.imports.module for each in text.statements if each.imports) if text else ()
    return any(name.partition(".")[0] == OURS for name in names)


@functools.lru_cache(maxsize=64)
def _file_text(path: str, package: str, changed: int) -> Text | None:
    try:
        return text_of([Path(path).read_text(encoding="utf-8")], package)
    except (OSError, UnicodeDecodeError, ValueError):
        return None


def module_text(module: str) -> Text | None:
    """Return the text of a module that is imported, or that can be; None where there is none."""
    found = sys.modules.get(module)
    path = str(getattr(found, "__file__", None) or (origin(module) if module != MAIN else ""))
    package = str(getattr(found, "__package__", None) or module.rpartition(".")[0])
    if not path.endswith(".py"):
        return None
    try:
        return _file_text(path, package, Path(path).stat().st_mtime_ns)
    except OSError:
        return None


def cells_text(cells: Iterable[str]) -> Text:
    """Return the text of a notebook's cells."""
    return text_of(map(cell_source, cells))


def here(module: str) -> Text | None:
    """Return the text of a module of this process; of a kernel's notebook, its cells so far."""
    cells = vars(sys.modules[MAIN]).get("In") if module == MAIN else None
    if isinstance(cells, list) and all(isinstance(cell, str) for cell in cells):
        return cells_text(cells)
    return module_text(module)


def on_paper(cells: Sequence[str]) -> Texts:
    """Return the texts of a notebook that is only read: its cells, and our world."""
    own = cells_text(cells)

    def text(module: str) -> Text | None:
        return own if module == MAIN else module_text(module) if module == WORLD else None

    return text
