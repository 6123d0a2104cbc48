"""The text of a value for a model: a line for a plain input, or the content of an object."""

from __future__ import annotations

import dataclasses
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from ..core.digests import readable_json
from ..core.interrupts import attempt, class_name
from ..core.json_data import replaced_at
from ..core.secrets import Hide, is_named_secret
from .json_structure import structure_of
from .object_types import DATA, Kinds, kind_of
from .plain_data import described_for_model, plain_data, well_formed
from .table_classes import cell_free_text, has_cells, shape_of

LINE = 400
"""Characters of a plain input that a model is shown where objects are listed."""
ITEMS = 100
"""Items of a list or a dict that are read for that line."""
CONTENT = 10_000
"""Characters of an object's content that a question to the model shows."""


class StandsForText(ABC):
    """An object whose text stands for it wherever a tool takes a text."""

    @abstractmethod
    def text(self) -> str:
        """Return the text. Raises CallError where it cannot be read."""

    @abstractmethod
    def text_label(self) -> str:
        """Return a short label for the text, which a model reads; the text itself is not read."""

    def preview_value(self) -> object:
        """Return the value that a large preview of the object shows."""
        return self.text()


_BUILTIN = (str, int, float, bool, bytes, type(None), list, dict, tuple, set, frozenset)


def is_plain_input(value: object, kinds: Kinds) -> bool:
    """Return whether an input is plain data: a text, a number, a date, an enum, JSON data."""
    # A scalar of an array library has an empty shape. What a class says of it may raise anything.
    is_scalar = attempt(lambda: isinstance(value, DATA) or bool(shape_of(value) == ()))[0]
    return bool(type(value) in _BUILTIN or is_scalar) and kind_of(value, kinds) is None


def shown_value(name: str, value: object, hide: Hide, longest: int) -> str:
    """Return a plain input as JSON in one line; a long one is cut, with its size.

    A text has up to `longest` characters.

    A text or bytes whose `name` is that of a secret, such as `api_key`, is not shown.
    """
    if is_named_secret(name) and isinstance(value, (str, bytes)):
        return f"not shown, since {name} is the name of a secret"
    match value:
        case str():
            text = hide(well_formed(value))
            size = f"… ({len(text):,} characters in all)" if len(text) > longest else ""
            return f"{readable_json(text[:longest])}{size}"
        case bytes():
            return f"{len(value):,} bytes"
        case Mapping():
            head: Any = dict(itertools.islice(value.items(), ITEMS))
        case list() | tuple() | set() | frozenset():
            head = [*itertools.islice(value, ITEMS)]
        case _:
            return _cut(readable_json(hide(plain_data(value))), 0, False)
    text = readable_json(hide(plain_data(head)))
    return _cut(text, len(value), len(value) > ITEMS)


def _cut(text: str, size: int, is_part: bool) -> str:
    """Return a text of at most LINE characters, with the size if it is cut or `is_part`."""
    if len(text) <= LINE and not is_part:
        return text
    return f"{text[:LINE]}… ({size:,} items in all)" if size else f"{text[:LINE]}…"


TableText = Callable[[Any], str]
"""Returns what a model is sent of a table."""


def content_text(value: object, hide: Hide, table_text: TableText) -> str:
    """Return the content of an object: its fields, tables, JSON data, or its `repr`."""
    # A value's own methods may raise anything.
    text, raised = attempt(_content, value, table_text)
    text = described_for_model(value, CONTENT) if raised or text is None else text
    text = str(hide(well_formed(text)))
    if len(text) <= CONTENT:
        return text
    return f"{text[:CONTENT]}… ({len(text):,} characters in all; the rest is left out)"


def _content(value: object, table_text: TableText) -> str:
    if has_cells(value):
        return table_text(value)
    is_record = dataclasses.is_dataclass(value) or hasattr(type(value), "model_fields")
    if is_record or isinstance(value, (*_BUILTIN, *DATA)):
        structure = structure_of(value, _table_kind, _table_kind)
        data = plain_data(structure.value)
        for held in structure.objects:
            text, raised = attempt(table_text, held.value)
            text = cell_free_text(held.value) if raised or text is None else text
            data = replaced_at(data, tuple(map(str, held.path)), text)
        return readable_json(data)
    return described_for_model(value, CONTENT)


def _table_kind(value: object) -> str | None:
    return class_name(type(value)) if has_cells(value) else None
