"""The base of rows: what a panel is sent, and a notebook keeps, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, dataclass_transform

from pydantic import BeforeValidator, WithJsonSchema

from .interface_text import from_wire
from .json_data import from_exact

Text = Annotated[
    str,
    BeforeValidator(from_wire),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array"}]}),
]
"""A text, which may be an `InterfaceText`: that is sent as a list, and the panel translates it."""
Json = Annotated[Any, BeforeValidator(from_exact)]
"""JSON data: what JavaScript would change is sent as a mark, such as {"$json": "1.0"}."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Row:
    """Base of what is sent: each subclass is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        """Make a dataclass of a subclass."""
        # Python 3.13 gives a dataclass one of its own, if it has none.
        cls.__replace__ = Row.__replace__  # type: ignore[method-assign]
        dataclass(frozen=True)(cls)

    def __replace__(self, **changes: object) -> object:
        """Return a row with other values of some fields, which `dataclasses` sets one by one."""
        row = object.__new__(type(self))
        vars(row).update(vars(self), **changes)
        return row
