"""Plain data that a call names: the name of an input such as `str#1` stands for its value.

The name is what is recorded, shown and digested; the value is what the tool is called with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import CallError
from ..core.events import Made, Uses
from ..core.json_data import replaced_at
from ..core.state import State
from ..tools.object_references import Path, fits_plain, named_paths
from ..tools.tool import Tool, unchanged
from ..tools.value_copies import private, uncut_data
from ..tools.value_text import StandsForText
from .session_values import SessionValues

Plain = Mapping[Path, Any]
"""Values, by where the names of them stand in the arguments."""


@dataclass(frozen=True, slots=True)
class NamedData:
    """The plain data that the arguments of one call name."""

    objects: Mapping[Path, tuple[str, Made]] = field(default_factory=dict)
    readings: tuple[Plain, ...] = ({},)
    """The values, in the order in which they are tried: as they are, and as JSON data."""
    plain: Plain = field(default_factory=dict)
    """The reading that is tried."""

    @property
    def uses(self) -> Uses:
        """What produced each value, by argument."""
        return {".".join(path): made.producer for path, (_, made) in self.objects.items()}

    def in_place(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments with the values in place of the names."""
        for path, value in self.plain.items():
            arguments = replaced_at(arguments, path, value)
        return dict(arguments)

    def with_names(
        self, arguments: Mapping[str, Any], given: Mapping[str, Any], asked: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return what runs with the names again, where no default has changed the argument."""
        names = dict.fromkeys(path[0] for path in self.plain if path[0] in arguments)
        # NaN is not equal to itself.
        same = (n for n in names if arguments[n] is given[n] or arguments[n] == given[n])
        return {**arguments, **{name: asked[name] for name in same}}

    def explained(self, error: CallError) -> CallError:
        """Return an error about the arguments that says what each name stands for."""
        objects = dict(self.objects.values())
        values = [f"{name} is {made.shown:.80}" for name, made in objects.items()]
        return CallError("; ".join([str(error), *values]), error.fields) if values else error


NO_DATA = NamedData()


def data_of(value: Any) -> Any:
    """Return the data that a named value stands for. Raises CallError where it cannot be read."""
    return value.text() if isinstance(value, StandsForText) else private(value)[0]


def named_data(
    tool: Tool, arguments: Mapping[str, Any], state: State, values: SessionValues
) -> NamedData:
    """Return the plain data that arguments name. Raises Absent where a value is not here."""
    names = named_paths(tool.parameters, arguments, fits_plain(state.plain))
    if not names:
        return NO_DATA
    objects = {path: (name, state.objects[name]) for path, name in names.items()}
    given = {path: data_of(values.value(made)) for path, (_, made) in objects.items()}
    as_json = {path: uncut_data(value) for path, value in given.items()}
    # Only the types of a Python function take a date, or a value of an enum, as it is.
    is_python = tool.origin is not None and tool.fill is unchanged
    readings = (given, as_json) if is_python and given != as_json else (as_json,)
    return NamedData(objects, readings)
