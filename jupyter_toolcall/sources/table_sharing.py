"""What a model is sent of a table's content: the schema, a sample of rows, or any rows.

A tool of the toolset `tables` runs behind `guarded`. It gets frames without the withheld columns,
so that all that it returns and says is a function of the others. A withheld column keeps its name
in every result, so its values never appear under another name. Outside the toolset, in a question
or in a prompt, `table_text` is all that a model is sent of a table.
"""

from __future__ import annotations

import csv
import io
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..core.errors import CallError, UsageError
from ..core.interface_text import t, tn
from ..core.interrupts import attempt, class_name
from ..core.text import count_text, nearest, visible_text
from ..tools.remote_values import RemoteValue
from ..tools.table_classes import AnyTable, cell_free_text, library_elsewhere, parts_with_cells
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .table_frames import Frame, columns_of, first_rows, frame_of_table, is_withheld
from .table_libraries import arrow

Share = Literal["schema", "sample", "values"]
SAMPLE = 20
"""Rows, values or new column names that one call sends in the mode `sample`."""
MOST_TEXT_ROWS = 5_000
"""Rows of which a text is made in the mode `values`; the text itself is cut far earlier."""
STATISTICS = ("min", "max", "mean", "std", "25%", "50%", "75%")
"""The statistics that are cells, or are computed from cells."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """What a model is sent of tables: see `check_sharing` for the modes."""

    share: Share = "sample"
    withhold: tuple[str, ...] = ()
    """Columns whose values are never sent."""

    @property
    def rows(self) -> int | None:
        """The rows that one call may send; None for any number."""
        return {"schema": 0, "sample": SAMPLE, "values": None}[self.share]


def check_sharing(share: str, withhold: Any = ()) -> Sharing:
    """Return what is shared.

    Arguments:
        share: `schema` (names, types and counts), `sample` (also at most 20 rows a call) or
            `values` (any rows).
        withhold: names of columns whose values are never sent.

    Raises:
        UsageError: for another mode, with the nearest.
    """
    modes = get_args(Share)
    if share not in modes:
        listed = ", ".join(modes)
        raise UsageError(f"share {share!r} is not one of {listed}.{nearest(share, modes)}")
    names = (withhold,) if isinstance(withhold, str) else tuple(withhold)
    return Sharing(share, tuple(dict.fromkeys(names)))  # type: ignore[arg-type]


def sharing_of(toolbox: Toolbox, otherwise: Sharing) -> Sharing:
    """Return what a toolbox shares: the strictest of its toolsets `tables`, or `otherwise`."""
    sources = (getattr(source, "sharing", None) for source in toolbox.sources)
    rules = [rule for rule in sources if isinstance(rule, Sharing)]
    return strictest(rules or [otherwise])


def strictest(rules: Sequence[Sharing]) -> Sharing:
    """Return what all of the rules share: the strictest mode, and no column that one withholds."""
    share = min((rule.share for rule in rules), key=get_args(Share).index)
    return Sharing(share, tuple(dict.fromkeys(name for rule in rules for name in rule.withhold)))


# -- the text of a table ------------------------------------------------------------------------


def table_text(value: object, sharing: Sharing) -> str:
    """Return what a model is sent of a table, or of a column: its size, and what is shared of it.

    The rows are CSV. Neither DuckDB nor pyarrow is needed.
    """
    most = MOST_TEXT_ROWS if sharing.rows is None else sharing.rows
    is_here = library_elsewhere(value) is None
    try:
        table = _as_table(value) if is_here else first_rows(value, most)
        frame = frame_of_table(_without_withheld_labels(table, sharing), sharing.withhold)
    except CallError:
        return cell_free_text(value)
    listed = ", ".join(visible_text(column.name, 80) for column in frame.withheld)
    withheld = f" (withheld: {listed})" if listed else ""
    shown, rows = frame.columns, len(frame)
    if sharing.share == "schema":
        size = f"{count_text(rows, 'row')}; " if is_here else ""
        types = ", ".join(
            f"{visible_text(column.name, 80)} ({column.dtype_text})" for column in shown
        )
        return f"{size}only names and types are shared: {types}{withheld}"
    count = min(rows, most)
    size = count_text(rows, "row") if count == rows else f"the first {count:,} of {rows:,} rows"
    size = size if is_here or rows < most else f"the first {rows:,} rows"
    text = io.StringIO()
    cells = [frame.cells(column, slice(count)) for column in shown]
    csv.writer(text, lineterminator="\n").writerows([frame.names, *zip(*cells, strict=True)])
    return f"{size}, {count_text(len(shown), 'column')}{withheld}:\n{text.getvalue()}"


def _as_table(value: object) -> Any:
    """Return a table as it is, and a column as a table of one; None for any other value."""
    if library_elsewhere(value):
        return value
    if hasattr(value, "to_frame"):
        return value.to_frame()
    if len(getattr(value, "shape", ())) != 2:
        return None
    if isinstance(value, AnyTable):
        return value
    # A batch of rows of Arrow.
    return arrow().Table.from_batches([value])


def _without_withheld_labels(table: Any, sharing: Sharing) -> object:
    """Return a table without the rows whose label is that of a withheld column, as in `df.T`."""
    if not sharing.withhold or type(getattr(table, "index", None)).__name__ in _WITHOUT_LABELS:
        return table
    return table[[not is_withheld(label, sharing.withhold) for label in table.index]]


_WITHOUT_LABELS = ("NoneType", "RangeIndex")
"""The classes of an index without labels; only tables of pandas have another one."""


def holds_withheld(value: object, withhold: tuple[str, ...]) -> bool:
    """Return whether a value is, or refers to, a table with a withheld column.

    What cannot be looked into counts as one: a value on a cluster, or a query that has not run.
    """
    if type(value) is RemoteValue:
        return True
    for part in parts_with_cells(value):
        table = part if isinstance(part, AnyTable) else attempt(_as_table, part)[0]
        frame = attempt(columns_of, table, withhold)[0]
        if frame is None or frame.withheld:
            return True
    return False


def cell_free_error(error: BaseException, tool: Tool) -> str:
    """Return the text of an error whose message may quote withheld values: its class and line."""
    code = getattr(tool.origin and tool.origin.function, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if code and frame.filename == code.co_filename]
    place = f" in line {lines[-1]}" if lines else ""
    return f"{class_name(type(error))}{place}; its message is not sent: it may hold withheld cells"


# -- the tools of the toolset -------------------------------------------------------------------


def guarded(name: str, function: Callable[..., object], sharing: Sharing) -> Callable[..., object]:
    """Return a tool's function that sends no more of its tables than is shared.

    The tool gets frames in which withheld columns cannot be named.
    """
    key, usual = _ROWS.get(name, ("", 0))

    def call(**values: Any) -> Any:
        if sharing.share == "schema" and (key or name == "pivot"):
            raise CallError(f"{name} would send cells, and only the schema is shared: {_COUNTS}")
        framed = {key: _framed(value, sharing) for key, value in values.items()}
        if key and sharing.rows is not None:
            framed[key] = min(values.get(key, usual), sharing.rows)
        try:
            result = function(**framed)
        except (CallError, MemoryError):
            raise
        except Exception as error:
            # Its message may quote cells.
            name_of_error = type(error).__name__
            raise CallError(f"the library of the table raised {name_of_error}") from None
        return _reduced(name, result, framed, sharing)

    return call


_ROWS = {"head": ("rows", 10), "sample": ("rows", 10), "value_counts": ("limit", SAMPLE)}
"""Of a tool whose results are cells, the argument that says how many rows, and its default."""
_COUNTS = "use schema, missing or describe"


def _framed(value: object, sharing: Sharing) -> object:
    """Return an argument with frames in place of its tables."""
    if isinstance(value, AnyTable):
        return columns_of(value, sharing.withhold)
    if isinstance(value, dict):
        return {key: _framed(item, sharing) for key, item in value.items()}
    return value


def _reduced(name: str, result: Any, values: Mapping[str, Any], sharing: Sharing) -> object:
    """Return a result without the cells that are not shared; a note in it says so."""
    if name == "pivot" and sharing.rows is not None:
        created = result.shape[1] - len({*values["index"]})
        if created > sharing.rows:
            raise CallError(
                f"{values['on']} has {created} values, and at most {sharing.rows} are shared"
            )
    if not isinstance(result, dict):
        return result
    if name == "describe" and sharing.share == "schema":
        columns = {
            column: {key: value for key, value in stats.items() if key not in STATISTICS}
            for column, stats in result["columns"].items()
        }
        result = {**result, "columns": columns, "note": "only counts are shared"}
    withheld = [column.name for column in values["table"].withheld]
    return {**result, "withheld": withheld} if withheld else result


def effect_of(name: str, sharing: Sharing) -> Callable[[Mapping[str, Any], str], str] | None:
    """Return a function from a call's values and the model's name to the sentence that says which
    cells the call sends; None for a tool that sends none.
    """
    if sharing.share == "schema" or name not in (*_ROWS, "describe", "pivot"):
        return None

    def effect(values: Mapping[str, Any], model: str) -> str:
        if name == "pivot":
            return t(
                "The values of %1 become column names, which %2 may read.", values["on"], model
            )
        frame = columns_of(values["table"], sharing.withhold)
        cells = _cells_sent(name, values, frame, sharing)
        named = [values["column"]] if "column" in values else values.get("columns") or ()
        count = len(named or frame.columns)
        is_listed = 0 < len(named) <= NAMED
        columns = ", ".join(named) if is_listed else tn("%1 column", "%1 columns", count)
        hidden = "" if named else ", ".join(column.name for column in frame.withheld)
        if not hidden:
            return t("Sends %1 of %2 to %3.", cells, columns, model)
        return t("Sends %1 of %2, without %4, to %3.", cells, columns, model, hidden)

    return effect


NAMED = 3
"""Columns that the sentence names; of more it has the number."""


def _cells_sent(name: str, values: Mapping[str, Any], frame: Frame, sharing: Sharing) -> str:
    """Return which cells of the columns a look sends."""
    if name == "describe":
        return t("the range and the quartiles")
    key, usual = _ROWS[name]
    asked = values.get(key, usual)
    rows = asked if sharing.rows is None else min(asked, sharing.rows)
    if name == "value_counts":
        return tn("at most %1 value", "at most %1 values", rows)
    if frame.elsewhere is None and rows >= len(frame):
        return tn("all %1 row", "all %1 rows", len(frame))
    if name == "head":
        return tn("the first row", "the first %1 rows", rows)
    return tn("%1 row chosen at random", "%1 rows chosen at random", rows)
