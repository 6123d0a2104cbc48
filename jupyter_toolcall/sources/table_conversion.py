"""Conversion of a column to another type; values that do not fit are counted, or become missing.

An error never quotes a cell: the column may be withheld from the model.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.errors import CallError
from .table_frames import engine_of, kind_of_column, narwhals, type_text

_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$"
_WHOLE = r"^[+-]?\d{1,18}$"
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")
ISO = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M")
"""The formats of dates that are tried if no format is named."""


def converted(frame: Any, name: str, to: str, null: bool, format: str | None) -> Any:
    """Return a column of a frame with another type, as a series of the same name.

    Values that do not fit become missing if `null`. Otherwise they are counted in a CallError.
    """
    series = frame[name]
    kind = kind_of_column(series.dtype)
    if to in ("int", "float"):
        result = _numbers(series, kind, to)
    elif to == "bool":
        result = _booleans(series, kind)
    elif to == "str":
        result = _texts(series, kind, format)
    else:
        result = _dates(series, kind, to, format)
    lost = int(result.null_count()) - int(series.null_count())
    if lost > 0 and not null:
        raise CallError(
            f"{lost:,} values of {name} are no {to}; with invalid: null they become missing"
        )
    return result.alias(name)


def _conversion_error(series: Any, to: str) -> CallError:
    return CallError(f"a column of type {type_text(series.dtype)} does not become {to}")


def _numbers(series: Any, kind: str, to: str) -> Any:
    nw = narwhals()
    if kind == "text":
        texts = series.cast(nw.String).str.strip_chars()
        fits = texts.str.contains(_WHOLE if to == "int" else _NUMBER).fill_null(False)
        series = _with_nulls(texts, fits)
        series = series.cast(nw.Float64) if to == "float" else series
    elif kind == "number" and to == "int" and not series.dtype.is_integer():
        whole = ((series == series.floor()) & (series.abs() < 2.0**63)).fill_null(False)
        series = _with_nulls(series, whole)
    elif kind not in ("number", "bool"):
        raise _conversion_error(series, to)
    return series.cast(nw.Float64) if to == "float" else _whole(series)


def _with_nulls(series: Any, fits: Any) -> Any:
    """Return a series in which the values that do not fit are missing."""
    nw, frame = narwhals(), series.alias("value").to_frame().with_columns(fits.alias("fits"))
    kept = nw.when(nw.col("fits")).then(nw.col("value")).otherwise(nw.lit(None))
    return frame.select(kept.alias("value"))["value"]


def _whole(series: Any) -> Any:
    """Return a series of whole numbers; pandas needs its nullable type if some are missing."""
    nw = narwhals()
    if engine_of(series) == "pandas" and series.null_count():
        pandas, native = import_module("pandas"), series.to_native()
        if kind_of_column(series.dtype) == "text":
            native = pandas.to_numeric(native.astype("object"), errors="coerce")
        return nw.from_native(native.astype("Int64"), series_only=True)
    return series.cast(nw.Int64)


def _booleans(series: Any, kind: str) -> Any:
    nw = narwhals()
    if kind == "bool":
        return series
    if kind == "number":
        return _nullable_booleans(series != 0, series.is_null())
    if kind != "text":
        raise _conversion_error(series, "bool")
    texts = series.cast(nw.String).str.strip_chars().str.to_lowercase()
    fits = texts.is_in([*_TRUE, *_FALSE]).fill_null(False)
    return _nullable_booleans(texts.is_in([*_TRUE]).fill_null(False), ~fits)


def _nullable_booleans(booleans: Any, missing: Any) -> Any:
    if not missing.any():
        return booleans
    if engine_of(booleans) == "pandas":
        native = booleans.to_native().astype("boolean").mask(missing.to_native())
        return narwhals().from_native(native, series_only=True)
    return _with_nulls(booleans, ~missing)


def _texts(series: Any, kind: str, format: str | None) -> Any:
    if kind == "date":
        return series.dt.to_string(format or "%Y-%m-%d %H:%M:%S")
    return series.cast(narwhals().String)


# -- dates ----------------------------------------------------------------------------------------


def _dates(series: Any, kind: str, to: str, format: str | None) -> Any:
    nw = narwhals()
    if kind == "text":
        parsers = {"pandas": _dates_by_pandas, "polars": _dates_by_polars, "pyarrow": _by_pyarrow}
        native = parsers[engine_of(series)](series, (format,) if format else ISO)
        series = nw.from_native(native, series_only=True)
    elif kind != "date":
        raise _conversion_error(series, to)
    # pandas has no type of dates: a date is midnight.
    if to == "date" and engine_of(series) == "pandas":
        return series.dt.truncate("1d")
    if to == "date":
        return series.cast(nw.Date)
    return series if series.dtype != nw.Date else series.cast(nw.Datetime("us"))


def _dates_by_pandas(series: Any, formats: tuple[str, ...]) -> Any:
    pandas, texts = import_module("pandas"), series.to_native().str.strip()
    dates = None
    for date_format in formats:
        parsed = pandas.to_datetime(texts, format=date_format, errors="coerce")
        dates = parsed if dates is None else dates.fillna(parsed)
    return dates


def _dates_by_polars(series: Any, formats: tuple[str, ...]) -> Any:
    polars, texts = import_module("polars"), series.to_native().str.strip_chars()
    frame = polars.DataFrame({"text": texts})
    parsed = [
        polars.col("text").str.strptime(polars.Datetime("us"), date_format, strict=False)
        for date_format in formats
    ]
    return frame.select(polars.coalesce(parsed))["text"]


def _by_pyarrow(series: Any, formats: tuple[str, ...]) -> Any:
    compute = import_module("pyarrow.compute")
    texts = compute.utf8_trim_whitespace(series.to_native())
    return compute.coalesce(*[_parsed_by_pyarrow(compute, texts, form) for form in formats])


def _parsed_by_pyarrow(compute: Any, texts: Any, format: str) -> Any:
    """Return dates; a text that is no date is null, where Arrow reads 2024-02-30 as 1 March."""
    dates = compute.strptime(texts, format, "s", error_is_null=True)
    shown = compute.strftime(dates, format)
    other = compute.and_(
        compute.not_equal(shown, texts),
        compute.equal(compute.utf8_length(shown), compute.utf8_length(texts)),
    )
    valid = compute.if_else(compute.fill_null(other, True), None, dates)
    return compute.cast(valid, "timestamp[us]")
