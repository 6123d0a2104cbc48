"""What a model is sent of a table's content: the schema, a sample of rows, or any rows.

A tool of the toolset `tables` runs behind `guarded`: it refuses a call that would send more, and
drops the message of an engine's error if it may quote cells. A withheld column keeps its name in
every result, so its values never appear under another name. Outside the toolset, in a question or
in a prompt, `table_text` is all that a model is sent of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..core.digests import readable_json
from ..core.errors import CallError, UsageError
from ..core.interface_text import t, tn
from ..core.interrupts import attempt
from ..core.text import nearest, visible_text
from ..tools.table_classes import cell_free_text
from ..tools.toolbox import Toolbox
from ..tools.value_copies import plain_data
from .table_expressions import condition, value_of
from .table_frames import frame_of_table

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


def table_text(value: Any, sharing: Sharing) -> str:
    """Return what a model is sent of a table, or of a column: its size, and what is shared of it.

    The rows are CSV, or JSON where cells hold lists or records. narwhals is not needed.
    """
    table = _as_table(value)
    if table is None:
        return cell_free_text(value)
    table = _without_withheld_labels(table, sharing)
    rows, names = table.shape[0], _column_names(table)
    shown = [n for n, name in enumerate(names) if not _is_withheld(name, sharing)]
    listed = [visible_text(str(names[n]), 80) for n in range(len(names)) if n not in {*shown}]
    withheld = f" (withheld: {', '.join(listed)})" if listed else ""
    if sharing.share == "schema":
        types = ", ".join(f"{name} ({kind})" for name, kind in _column_types(table, names))
        return f"{_count(rows, 'row')}; only names and types are shared: {types}{withheld}"
    count = min(rows, MOST_TEXT_ROWS if sharing.rows is None else sharing.rows)
    size = _count(rows, "row") if count == rows else f"the first {count:,} of {rows:,} rows"
    head = f"{size}, {_count(len(shown), 'column')}{withheld}"
    return f"{head}:\n{_rows_text(_part(table, names, shown, count), sharing)}"


def _as_table(value: Any) -> Any:
    """Return a table as it is, and a column as a table of one; None for any other value."""
    if hasattr(value, "to_frame"):
        return value.to_frame()
    return value if len(getattr(value, "shape", ())) == 2 else None


def _column_names(table: Any) -> list[Any]:
    return [*getattr(table, "column_names", table.columns)]


def _column_types(table: Any, names: list[Any]) -> list[tuple[str, str]]:
    types = getattr(table, "dtypes", None)
    types = table.schema.types if types is None else types
    return [(visible_text(str(n), 80), str(t)) for n, t in zip(names, [*types], strict=True)]


def _is_withheld(name: Any, sharing: Sharing) -> bool:
    """Return whether a column is withheld; one of several levels is, if a level is."""
    parts = name if isinstance(name, tuple) else (name,)
    return any(str(part) in sharing.withhold for part in parts)


def _has_labels(table: Any) -> bool:
    """Return whether the rows of a table have labels of their own: only those of pandas do."""
    return hasattr(table, "iloc") and type(table.index).__name__ != "RangeIndex"


def _without_withheld_labels(table: Any, sharing: Sharing) -> Any:
    """Return a table without the rows whose label is that of a withheld column, as in `df.T`."""
    if not sharing.withhold or not _has_labels(table):
        return table
    return table[[not _is_withheld(label, sharing) for label in table.index]]


def _part(table: Any, names: list[Any], shown: list[int], count: int) -> Any:
    """Return the columns at these positions, of the first rows."""
    if hasattr(table, "iloc"):
        return table.iloc[:count, shown]
    part = table.select([names[n] for n in shown])
    return part.slice(0, count)


def _rows_text(table: Any, sharing: Sharing) -> str:
    if hasattr(table, "to_csv"):
        withheld = any(_is_withheld(name, sharing) for name in table.index.names)
        return str(table.to_csv(index=_has_labels(table) and not withheld))
    if hasattr(table, "write_csv"):
        text, raised = attempt(table.write_csv)
        if not raised:
            return str(text)
    dicts = table.to_dicts() if hasattr(table, "to_dicts") else table.to_pylist()
    return "\n".join(map(readable_json, map(plain_data, dicts)))


# -- the tools of the toolset -------------------------------------------------------------------


def guarded(name: str, function: Callable[..., Any], sharing: Sharing) -> Callable[..., Any]:
    """Return a tool's function that sends no more of its tables than is shared."""

    def call(**values: Any) -> Any:
        hidden = _hidden(values, sharing)
        allowed = _allowed(name, values, sharing, hidden)
        try:
            result = function(**allowed)
        except CallError:
            raise
        except Exception as error:
            raise _engine_error(error, sharing.share == "schema" or bool(hidden)) from None
        return _reduced(name, result, values, sharing, hidden)

    return call


def _hidden(values: Mapping[str, Any], sharing: Sharing) -> tuple[str, ...]:
    """Return the withheld columns that the tables of a call have."""
    if not sharing.withhold:
        return ()
    tables = [values[key] for key in ("table", "other") if key in values]
    columns = {name for table in tables for name in frame_of_table(table).columns}
    return tuple(name for name in sharing.withhold if name in columns)


def _engine_error(error: Exception, cells_hidden: bool) -> CallError:
    error_name = type(error).__name__
    if cells_hidden:
        return CallError(f"the table's engine raised {error_name}; its message may quote cells")
    lines = str(error).splitlines() or [""]
    return CallError(f"the table's engine raised {error_name}: {visible_text(lines[0])}")


def _allowed(
    name: str, values: dict[str, Any], sharing: Sharing, hidden: tuple[str, ...]
) -> dict[str, Any]:
    """Return the values that a tool gets. Raises CallError if it would send what is not shared."""
    if sharing.share == "schema" and name in ("head", "sample", "value_counts", "pivot"):
        raise CallError(f"{name} would send cells, and only the schema is shared: {_COUNTS}")
    if hidden:
        _refuse_hidden(name, values, hidden)
    if name in ("head", "sample", "value_counts"):
        key = "limit" if name == "value_counts" else "rows"
        asked = values.get(key, SAMPLE if key == "limit" else 10)
        values = {**values, key: asked if sharing.rows is None else min(asked, sharing.rows)}
    if name in ("head", "sample") and hidden:
        frame = frame_of_table(values["table"])
        values = {**values, "table": frame.drop([*hidden]).to_native()}
    return values


_COUNTS = "use schema, missing or describe"


def _refuse_hidden(name: str, values: Mapping[str, Any], hidden: tuple[str, ...]) -> None:
    """Raise CallError where values of withheld columns would get another name, or be sent."""
    frame = frame_of_table(values["table"])
    if name == "filter":
        condition(values["where"], frame, hidden)
    if name == "derive":
        value_of(values["expression"], frame, hidden)
    computed = (values.get("values") or {}) if name == "aggregate" else {}
    named: Mapping[str, Any] = {
        "value_counts": [values.get("column")],
        "rename": [*values.get("names", {})],
        "unpivot": values.get("columns", ()),
        "pivot": [values.get("on"), values.get("values")],
        "aggregate": [
            column for column, how in computed.items() if how not in ("count", "distinct")
        ],
        "join": _suffixed(values),
    }
    refused = [column for column in named.get(name, ()) if column in hidden]
    if refused:
        raise CallError(
            f"{', '.join(refused)}: withheld, so {name} may not use it; its values stay in columns "
            "of that name"
        )


def _suffixed(values: Mapping[str, Any]) -> list[str]:
    """Return the columns that a join would give another name, since both tables have them."""
    if "other" not in values:
        return []
    other = frame_of_table(values["other"]).columns
    both = [column for column in frame_of_table(values["table"]).columns if column in other]
    return [column for column in both if column not in values["on"]]


def _reduced(
    name: str, result: Any, values: Mapping[str, Any], sharing: Sharing, hidden: tuple[str, ...]
) -> Any:
    """Return a result without the cells that are not shared; a note in it says so."""
    if name in ("head", "sample") and hidden:
        return {**result, "withheld": [*hidden]}
    if name == "describe":
        return _reduced_statistics(result, sharing, hidden)
    if name == "pivot" and sharing.rows is not None:
        created = len(frame_of_table(result).columns) - len(values["index"])
        if created > sharing.rows:
            raise CallError(
                f"{values['on']} has {created} values, and at most {sharing.rows} are shared"
            )
    return result


def _reduced_statistics(result: Any, sharing: Sharing, hidden: tuple[str, ...]) -> Any:
    if sharing.share != "schema" and not hidden:
        return result
    columns = {
        column: {key: value for key, value in stats.items() if key not in STATISTICS}
        if sharing.share == "schema" or column in hidden
        else stats
        for column, stats in result["columns"].items()
    }
    note = "withheld columns: counts only"
    note = "only counts are shared" if sharing.share == "schema" else note
    return {**result, "columns": columns, "note": note}


def effect_of(name: str, sharing: Sharing) -> Callable[[Mapping[str, Any], str], str] | None:
    """Return a function from a call's values and the model's name to the sentence that says which
    cells the call sends; None for a tool that sends none.
    """
    if sharing.share == "schema" or name not in _EFFECTS:
        return None
    return lambda values, model: _EFFECTS[name](values, model, sharing)


def _first_rows_sent(values: Mapping[str, Any], model: str, sharing: Sharing) -> str:
    rows = _row_count(values, sharing)
    return _rows_sent(tn("the first row", "the first %1 rows", rows), values, model, sharing)


def _random_rows_sent(values: Mapping[str, Any], model: str, sharing: Sharing) -> str:
    rows = _row_count(values, sharing)
    which = tn("%1 row chosen at random", "%1 rows chosen at random", rows)
    return _rows_sent(which, values, model, sharing)


def _row_count(values: Mapping[str, Any], sharing: Sharing) -> int:
    most = MANY if sharing.rows is None else sharing.rows
    rows: int = min(values.get("rows", 10), len(frame_of_table(values["table"])), most)
    return rows


def _rows_sent(which: str, values: Mapping[str, Any], model: str, sharing: Sharing) -> str:
    frame, hidden = frame_of_table(values["table"]), _hidden(values, sharing)
    if _row_count(values, sharing) == len(frame):
        which = tn("all %1 row", "all %1 rows", len(frame))
    columns = tn("%1 column", "%1 columns", len(frame.columns) - len(hidden))
    if not hidden:
        return t("Sends %1 of %2 to %3.", which, columns, model)
    return t("Sends %1 of %2, without %4, to %3.", which, columns, model, ", ".join(hidden))


def _values_sent(values: Mapping[str, Any], model: str, sharing: Sharing) -> str:
    most = min(values.get("limit", SAMPLE), MANY if sharing.rows is None else sharing.rows)
    count = tn("%1 value", "%1 values", most)
    return t("Sends at most %1 of %2 to %3.", count, values["column"], model)


def _ranges_sent(values: Mapping[str, Any], model: str, sharing: Sharing) -> str:
    names = values.get("columns") or frame_of_table(values["table"]).columns
    hidden = _hidden(values, sharing)
    sent = [column for column in names if column not in hidden]
    of = ", ".join(sent) if len(sent) <= NAMED else tn("%1 column", "%1 columns", len(sent))
    without = ", ".join(column for column in names if column in hidden)
    if not without:
        return t("Sends the range and the quartiles of %1 to %2.", of, model)
    return t("Sends the range and the quartiles of %1, without %3, to %2.", of, model, without)


def _names_sent(values: Mapping[str, Any], model: str, sharing: Sharing) -> str:
    return t("The values of %1 become column names, which %2 may read.", values["on"], model)


MANY, NAMED = 10**9, 3
_EFFECTS: Mapping[str, Callable[[Mapping[str, Any], str, Sharing], str]] = {
    "head": _first_rows_sent,
    "sample": _random_rows_sent,
    "value_counts": _values_sent,
    "describe": _ranges_sent,
    "pivot": _names_sent,
}


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
