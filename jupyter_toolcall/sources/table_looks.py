"""The tools of the toolset `tables` that show a table: functions from a table to JSON data, and
`plot`, to a figure of matplotlib.

A figure has labelled axes, a background of its own, and follows the person's matplotlib style, so
that it can be read on light and dark pages. Exported scripts import this module.
"""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from ..core.errors import CallError
from ..core.interrupts import attempt
from ..core.recorded_data import JsonDict
from ..tools.table_classes import AnyTable
from .table_duckdb import run_sql
from .table_frames import Frame, columns_of, json_cell, quoted, rows_to_show
from .table_libraries import Column, arrow, numpy
from .table_sql import relation_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 1_000
"""Rows that one look returns."""
Rows = Annotated[int, Field(ge=1, le=MOST_ROWS)]


def head(table: AnyTable, rows: Rows = 10) -> JsonDict:
    """Return the first rows of a table.

    Args:
        rows: How many.
    """
    frame = rows_to_show(table, rows)
    return {"rows": frame.json_rows(slice(rows))} | _size(table)


def sample(table: AnyTable, rows: Rows = 10, seed: int = 0) -> JsonDict:
    """Return rows of a table that are chosen at random; the same seed chooses the same rows.

    Args:
        rows: How many.
        seed: Another seed chooses other rows.
    """
    frame = rows_to_show(table)
    chosen = random.Random(seed).sample(range(len(frame)), min(rows, len(frame)))
    return {"rows": frame.json_rows(sorted(chosen)), "rows_in_table": len(frame)}


def schema(table: AnyTable) -> JsonDict:
    """Return the number of rows, and the name and the type of each column."""
    frame = columns_of(table)
    types = {column.name: frame.type_text(column) for column in frame.columns}
    return _size(table) | {"columns": types}


def _size(table: AnyTable) -> JsonDict:
    """Return how many rows a table has, if they are here."""
    frame = columns_of(table)
    return {"rows_in_table": len(frame)} if frame.elsewhere is None else {}


def missing(table: AnyTable) -> JsonDict:
    """Return how many values are missing in each column that has missing ones."""
    frame = rows_to_show(table)
    counts = {column.name: frame.missing(column) for column in frame.columns}
    return {
        "rows_in_table": len(frame),
        "missing": {name: count for name, count in counts.items() if count},
    }


def describe(table: AnyTable, columns: list[str] | None = None) -> dict[str, Any]:
    """Return statistics of columns: counts, and for numbers and dates the range and the quartiles.

    Args:
        columns: The columns to describe; all of them if left out.
    """
    frame = rows_to_show(table)
    chosen = frame.columns if columns is None else frame.chosen(columns)
    return {
        "rows_in_table": len(frame),
        "columns": {column.name: _statistics(frame, column) for column in chosen},
    }


_STATISTICS = {
    **{"distinct": "count(DISTINCT c0)", "min": "min(c0)", "max": "max(c0)"},
    **{"mean": "avg(c0)", "std": "stddev_samp(c0)"},
    **{f"{n}%": f"quantile_cont(c0::DOUBLE, {n / 100})" for n in (25, 50, 75)},
}
_OF_KIND = {
    **dict.fromkeys(("text", "bool"), ("distinct",)),
    **{"date": ("min", "max"), "number": tuple(_STATISTICS)},
}
"""The statistics of each kind of column."""


def _statistics(frame: Frame, column: Column) -> JsonDict:
    stats = {"type": frame.type_text(column), "missing": frame.missing(column)}
    names = _OF_KIND.get(attempt(frame.kind, column)[0] or "", ())
    if not names:
        return stats
    statistics = _STATISTICS | {"std": std_sql(frame, column, "c0")}
    listed = ", ".join(f"{statistics[name]} AS {quoted(name)}" for name in names)
    relation = relation_of(frame, [column])
    (values,) = run_sql(f"SELECT {listed} FROM t", {"t": relation}).to_pylist()
    return stats | {name: json_cell(v) for name, v in values.items() if v is not None}


def std_sql(frame: Frame, column: Column, sql: str) -> str:
    """Return the SQL of a standard deviation. Large integers differ by less than a float shows."""
    if frame.elsewhere is None and arrow().types.is_integer(frame.array(column).type):
        sql = f"{sql}::HUGEINT - (SELECT min({sql}) FROM t)"
    return f"stddev_samp({sql})"


def value_counts(
    table: AnyTable, column: str, limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 20
) -> JsonDict:
    """Return the values of a column with the number of their rows, the most frequent first.

    Args:
        limit: How many values at most.
    """
    frame = rows_to_show(table)
    counted = frame.column(column)
    groups = run_sql(
        "SELECT min(pos) AS first, count(*) AS rows FROM t GROUP BY c0 "
        "ORDER BY rows DESC, c0 NULLS LAST, first",
        {"t": relation_of(frame, [counted], is_key=True)},
    )
    shown = groups.slice(0, limit)
    values, counts = frame.cells(counted, shown["first"]), shown["rows"].to_pylist()
    listed = [{"value": v, "rows": count} for v, count in zip(values, counts, strict=True)]
    return {"values": listed, "distinct": len(groups), "rows_in_table": len(frame)}


# -- figures ------------------------------------------------------------------------------------

COLORS = ("#3b7dd8", "#d9722b", "#2f9e6e", "#c2478f", "#8a63d2", "#a08a1e", "#4aa3b5", "#c04a4a")
"""Each has a contrast of 3 to 1 to white and to black pages."""
MOST_POINTS, MOST_BARS = 20_000, 60
Plot = Literal["line", "bar", "scatter", "histogram", "box"]


def plot(
    table: AnyTable,
    kind: Plot,
    y: list[str],
    x: str | None = None,
    title: str = "",
    y_label: str = "",
) -> Figure:
    """Draw columns of a table as a figure.

    Args:
        kind: line, bar and scatter draw `y` over `x`; histogram and box draw the distribution
            of `y`.
        y: One to eight columns of numbers.
        x: The column of the horizontal axis; the row's number if left out.
        title: A title above the figure.
        y_label: The label of the vertical axis; by itself the column, or "value".
    """
    frame = rows_to_show(table)
    columns = frame.chosen(y)
    across = None if x is None else frame.column(x)
    _check_plot(frame, kind, columns, x)
    figure, axes = _empty_figure(title)
    names = [column.name for column in columns]
    if kind in ("histogram", "box"):
        _draw_distributions(axes, kind, [frame.array(c).drop_null() for c in columns], names)
    else:
        _draw_over(axes, frame, kind, across, columns)
    first = names[0] if len(names) == 1 else "value"
    axes.set_xlabel(_label({"histogram": first, "box": ""}.get(kind, x or "row")))
    axes.set_ylabel(_label(y_label or ("rows" if kind == "histogram" else first)))
    if len(names) > 1 and kind != "box":
        axes.legend(frameon=False)
    return figure


def _check_plot(frame: Frame, kind: str, columns: Sequence[Column], x: str | None) -> None:
    """Raise CallError for what cannot be drawn."""
    if not 1 <= len(columns) <= len(COLORS):
        raise CallError(f"y takes 1 to {len(COLORS)} columns")
    texts = [column for column in columns if frame.kind(column) != "number"]
    if texts:
        raise CallError(f"{texts[0].name} holds no numbers; cast it first, or count with aggregate")
    if kind in ("histogram", "box") and x is not None:
        raise CallError(f"a {kind} has no x: name its columns in y")
    if kind == "bar" and len(frame) > MOST_BARS:
        raise CallError(f"{len(frame):,} bars cannot be read: aggregate or filter to {MOST_BARS}")
    if not len(frame):
        raise CallError("the table has no rows")


def _empty_figure(title: str) -> tuple[Figure, Any]:
    """Return a figure without pyplot, so that nothing is left open, and its axes."""
    try:
        cls: Any = figure_class()
    except ImportError:
        raise CallError("plot needs matplotlib: pip install matplotlib") from None
    figure = cls(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.set_prop_cycle(color=COLORS)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    axes.set_axisbelow(True)
    axes.set_title(_label(title), loc="left")
    return figure, axes


def _label(text: str) -> str:
    """Return a text without the marks of formulas, which matplotlib would read."""
    return text[:80].replace("$", r"\$")


def _values(frame: Frame, column: Column, rows: object) -> Any:
    """Return cells of a column as matplotlib takes them: numbers with NaN, dates, texts."""
    kind, array = frame.kind(column), frame.array(column).take(rows)
    if kind == "number":
        return array.cast("float64", safe=False).to_numpy()
    values = array.to_pylist()
    return numpy().array(values if kind == "date" else [*map(str, values)], object)


def _draw_over(
    axes: Any, frame: Frame, kind: str, x: Column | None, columns: Sequence[Column]
) -> None:
    step = max(1, -(-len(frame) // MOST_POINTS))
    rows = numpy().arange(0, len(frame), step)
    if step > 1:
        axes.annotate(
            f"one of {step:,} rows", (1, 1), xycoords="axes fraction", ha="right", fontsize="small"
        )
    if kind != "bar" and x is not None:
        # A point without a place has none in the chart; matplotlib reads no missing time of a zone.
        rows = rows[frame.valid(x)[rows]]
        if kind == "line":
            rows = rows[_values(frame, x, rows).argsort(kind="stable")]
    across = numpy().arange(1, len(rows) + 1) if x is None else _values(frame, x, rows)
    marker = "o" if len(rows) <= MOST_BARS else ""
    for index, column in enumerate(columns):
        heights, label = _values(frame, column, rows), _label(column.name)
        if kind == "line":
            axes.plot(across, heights, marker=marker, markersize=4, label=label)
        elif kind == "scatter":
            axes.scatter(across, heights, s=14, alpha=0.7, label=label)
        else:
            width = 0.8 / len(columns)
            offset = (index - (len(columns) - 1) / 2) * width
            axes.bar(numpy().arange(len(rows)) + offset, heights, width, label=label)
    if kind == "bar":
        labels = [str(value)[:20] for value in across]
        is_turned = len(labels) > 6 or max(map(len, labels)) > 9
        turn = {"rotation": 45, "ha": "right"} if is_turned else {}
        axes.set_xticks(range(len(labels)), labels, **turn)


def _draw_distributions(axes: Any, kind: str, arrays: Sequence[Any], names: Sequence[str]) -> None:
    values = [array.cast("float64", safe=False).to_numpy() for array in arrays]
    labels = [*map(_label, names)]
    if kind == "histogram":
        axes.hist(values, bins=30, histtype="stepfilled", alpha=0.6, label=labels)
        return
    boxes = axes.boxplot(values, tick_labels=labels, patch_artist=True, widths=0.5)
    for box, color in zip(boxes["boxes"], COLORS, strict=False):
        box.set_facecolor(color)
    for line in boxes["medians"]:
        line.set_color(axes.xaxis.label.get_color())


@functools.cache
def figure_class() -> type:
    """Return the class of the figures: matplotlib's, which shows itself in a cell without pyplot.

    Raises ImportError where matplotlib is missing.
    """
    base: Any = import_module("matplotlib.figure").Figure

    def show_as_png(figure: Any) -> bytes:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
        return buffer.getvalue()

    # A pickled figure names its class by this module. Its size in pixels is no caption.
    attributes = {"__module__": __name__, "__str__": object.__str__, "_repr_png_": show_as_png}
    return type("Figure", (base,), attributes)


def __getattr__(name: str) -> object:
    if name == "Figure":
        return figure_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
