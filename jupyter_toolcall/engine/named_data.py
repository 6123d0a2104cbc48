"""Plain data that a call names: the name of an input, such as `str#1`, stands for its value.

The journal, the panel and the digests have the name; the tool gets the value.
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
from ..tools.plain_data import uncut_data
from ..tools.tool import Tool, parameters_schema, unchanged
from ..tools.value_copies import private
from ..tools.value_text import StandsForText
from .session_values import SessionValues

Plain = Mapping[Path, Any]
"""Values, by the path of their name in the arguments."""


@dataclass(frozen=True, slots=True)
class NamedData:
    """The plain data that the arguments of one call name."""

    objects: Mapping[Path, tuple[str, Made]] = field(default_factory=dict)
    readings: tuple[Plain, ...] = ({},)
    """The values in each form that is tried: first as they are, then as JSON data."""
    plain: Plain = field(default_factory=dict)
    """The form that is tried."""

    @property
    def uses(self) -> Uses:
        """What produced each value, by argument."""
        return {".".join(path): made.producer for path, (_, made) in self.objects.items()}

    def with_values(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments with each value in place of its name."""
        for path, value in self.plain.items():
            arguments = replaced_at(arguments, path, value)
        return dict(arguments)

    def with_names(
        self, filled: Mapping[str, Any], values: Mapping[str, Any], asked: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the arguments that the tool runs with, as the model asked for them: with names.

        Arguments:
            filled: the arguments with values and defaults.
            values: the arguments with values, before defaults were filled in.
            asked: the arguments with names. An argument that a default changed is not among them.
        """
        arguments = dict.fromkeys(path[0] for path in self.plain if path[0] in filled)
        # NaN is not equal to itself.
        same = (n for n in arguments if filled[n] is values[n] or filled[n] == values[n])
        return {**filled, **{argument: asked[argument] for argument in same}}

    def explained(self, error: CallError) -> CallError:
        """Return an error about the arguments with the value of each name."""
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
    """Return the plain data that arguments name. Raises Absent for a value that is not at hand."""
    names = named_paths(parameters_schema(tool), arguments, fits_plain(state.plain))
    if not names:
        return NO_DATA
    objects = {path: (name, state.objects[name]) for path, name in names.items()}
    copies = {path: data_of(values.value(made)) for path, (_, made) in objects.items()}
    as_json = {path: uncut_data(value) for path, value in copies.items()}
    # Only a Python function may take a date, or a value of an enum, as it is.
    is_python = tool.origin is not None and tool.fill is unchanged
    readings = (copies, as_json) if is_python and copies != as_json else (as_json,)
    return NamedData(objects, readings)
