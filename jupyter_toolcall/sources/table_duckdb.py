"""DuckDB, in a connection of its own for each query, within limits of time and memory.

A query reads the Arrow arrays that it is given and nothing else: no file, no network, no setting.
An error is one line, and never quotes a cell.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from psutil import Process

from ..core.errors import CallError, DefinitionError
from ..core.interrupts import attempt
from ..core.text import visible_text
from ..tools.running_tool import cancel_with_call
from .table_libraries import arrow, zone_of

SECONDS, MEMORY = 60, "2GB"
"""How long one query may take, and how much memory it may use."""
MOST_BYTES = 3 * 10**9
"""How much the memory of the process may grow: DuckDB does not count all that functions use."""
TICK = 0.05
"""Seconds until a limit, or an interrupt, is noticed."""
THREAD, LEAVES = "toolcall-sql", 5
"""The name of the threads of queries, and the seconds that a stopped one has at the exit."""
MOST_CELLS = 100_000_000
"""Cells of a result."""
_CONFIG = {
    # With one thread, a result has the order of its rows, and sums of floats are always the same.
    "threads": "1",
    "memory_limit": MEMORY,
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    # A division by zero is NULL: SQL would compare NaN as the largest number.
    "ieee_floating_point_ops": "false",
    "error_on_division_by_zero": "false",
}
_DATABASES: dict[int, Any] = {}


def require_duckdb() -> None:
    """Raise DefinitionError, which says what to install, where DuckDB or pyarrow is missing."""
    for module in ("duckdb", "pyarrow"):
        # A module that was replaced by None has no specification, which raises.
        if attempt(find_spec, module)[0] is None:
            raise DefinitionError(f"the toolset tables needs {module}: pip install duckdb pyarrow")


def _duckdb() -> Any:
    return import_module("duckdb")


def _connection() -> Any:
    """Return a new connection to the empty database of this process.

    A forked process makes a database of its own.
    """
    process = os.getpid()
    if process not in _DATABASES:
        _DATABASES[process] = _duckdb().connect(":memory:", config=_CONFIG)
    return _DATABASES[process].cursor()


def converted_sql(function: str, text: str) -> str:
    """Return a query as DuckDB's tree in JSON, or such a tree as a query.

    Raises CallError, in one line, for what DuckDB cannot convert.
    """
    query = f"SELECT {function}(?{'::JSON' * function.startswith('json_de')})"
    try:
        ((answer,),) = _connection().execute(query, [text]).fetchall()
    except _duckdb().Error as error:
        raise CallError(f"this cannot be computed: {first_line(str(error))}") from None
    except (UnicodeError, RecursionError, RuntimeError):
        raise CallError("this cannot be read as SQL") from None
    return str(answer)


Relation = Mapping[str, Any]
"""Arrow arrays by the names that a query has for them."""


def run_sql(
    query: str,
    relations: Mapping[str, Relation],
    values: Sequence[object] = (),
    names: Sequence[str] = (),
) -> Any:
    """Return the result of a query as an Arrow table.

    Sums of integers are integers of 64 bits or an error; decimals are floats, unless a column
    holds decimals. Raises CallError, in one line.

    Arguments:
        relations: the tables that the query reads, by name.
        values: what `?` stands for in it.
        names: what an error calls the columns `c0`, `c1`.
    """
    connection, done = _connection(), Future[Any]()

    def compute() -> None:
        # DuckDB is left before the result is there: the process may end at once then, and Python
        # ends a thread inside of C++ by an abort.
        try:
            with closing(connection):
                result = _computed(connection, query, relations, values)
            done.set_result(result)
        except BaseException as error:
            shown_error = _sql_error(error, names) if isinstance(error, _duckdb().Error) else error
            # A query that is cancelled with its call has no result.
            attempt(done.set_exception, shown_error)

    # DuckDB looks for an interrupt between its steps, and one step may take minutes.
    cancel_with_call(done)
    threading.Thread(target=compute, name=THREAD, daemon=True).start()
    ends, memory = time.monotonic() + SECONDS, Process().memory_info
    most = memory().rss + MOST_BYTES
    try:
        while not done.done() and time.monotonic() < ends and memory().rss < most:
            wait([done], TICK)
        if done.done():
            return done.result()
        limit = f"it needs more than {MEMORY} of memory"
        limit = f"it takes more than {SECONDS} s" if time.monotonic() >= ends else limit
        raise CallError(f"stopped: {limit}. Write a query that does less")
    finally:
        if not done.done() or done.cancelled():
            attempt(connection.interrupt)


@atexit.register
def _leave_stopped_queries() -> None:
    """Wait for stopped queries to end: Python ends a thread inside of C++ by an abort."""
    ends = time.monotonic() + LEAVES
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(max(0, ends - time.monotonic()))


def _computed(
    connection: Any, query: str, relations: Mapping[str, Relation], values: Sequence[Any]
) -> Any:
    """Return the result of a query on a connection; `run_sql` waits for it, and stops it."""
    pa = arrow()
    arrays = [array for relation in relations.values() for array in relation.values()]
    zone = _common_zone({zone_of(array.type) for array in arrays} - {""})
    keep_decimals = any(pa.types.is_decimal(array.type) for array in arrays)
    try:
        connection.execute("SET TimeZone = ?", [_named_zone(zone)])
        for table, relation in relations.items():
            connection.register(table, pa.table(dict(relation)))
        result = connection.sql(query, params=[*values])
        types = [_result_type(str(type_), keep_decimals) for type_ in result.types]
        casts = ", ".join(f"CAST(#{number} AS {type_})" for number, type_ in enumerate(types, 1))
        most = MOST_CELLS // len(types)
        table = result.project(casts).limit(most + 1).to_arrow_table()
    except pa.ArrowException as error:
        raise CallError(f"this cannot be computed: {type(error).__name__}") from None
    if len(table) > most:
        raise CallError(f"the result has more than {MOST_CELLS:,} cells")
    arrays = [_of_table(array, pa.timestamp("us", zone)) for array in table.columns]
    return pa.Table.from_arrays(arrays, names=result.columns)


def _result_type(type_: str, keep_decimals: bool) -> str:
    """Return the type as which a result is read. Raises CallError for what no library has."""
    if type_ in ("HUGEINT", "UHUGEINT"):
        return "BIGINT"
    if type_.startswith("DECIMAL") and not keep_decimals and not type_.endswith("]"):
        return "DOUBLE"
    if type_.startswith("ENUM") or type_ == "UUID":
        return "VARCHAR"
    if type_.startswith(("BIT", "UNION", "VARIANT", "TIME WITH", "BIGNUM", "GEOMETRY", "TYPE")):
        raise CallError(f"the result has the type {type_}; cast it")
    return type_


def _of_table(array: Any, zoned: Any) -> Any:
    """Return an array as tables have it: zoned times in their zone, intervals as durations.

    Raises CallError for intervals of months.
    """
    pa = arrow()
    if zone_of(array.type):
        return array.cast(zoned)
    if not pa.types.is_interval(array.type):
        return array
    parts = array.to_pylist()
    if any(part is not None and part.months for part in parts):
        raise CallError("the result has months, which are no fixed time; write them in days")
    micros = [part and part.days * 86_400_000_000 + part.nanoseconds // 1_000 for part in parts]
    return pa.chunked_array([pa.array(micros, pa.duration("us"))])


def _common_zone(zones: set[str]) -> str:
    """Return the time zone in which SQL reads times. Raises CallError for several."""
    if len(zones) > 1:
        listed = " and ".join(sorted(zones))
        raise CallError(f"the columns have times of the zones {listed}; use those of one")
    return next(iter(zones), "UTC")


def _named_zone(zone: str) -> str:
    """Return a zone as SQL names it: those of an offset are those of whole hours."""
    if (offset := re.fullmatch(r"([+-])(\d\d):?(\d\d)", zone)) is None:
        return zone
    if offset[3] != "00":
        raise CallError(f"SQL has no time zone {zone}; convert the times to a named zone")
    # The names of POSIX count westwards.
    return f"Etc/GMT{'-' if offset[1] == '+' else '+'}{int(offset[2])}"


def first_line(text: str) -> str:
    """Return the first line of a text that is not blank, cut."""
    return visible_text(next((line for line in text.splitlines() if line.strip()), ""), 300)


_QUOTES_NO_CELL = ("BinderException", "CatalogException", "ParserException", "SyntaxException")
_ERRORS = {
    "OutOfMemoryException": f"stopped: it needs more than {MEMORY} of memory",
    "OutOfRangeException": "a number is out of range for its type or for a function",
    "PermissionException": "a query reads the tables of its call, and nothing else",
}


def _sql_error(error: BaseException, names: Sequence[str]) -> CallError:
    """Return an error in one line; one that may quote a cell is named by its class alone."""
    name, text = type(error).__name__, str(error)
    if name in _QUOTES_NO_CELL:
        if '"pos" must appear in the GROUP BY' in text:
            return CallError(
                "this has not one value for each row; write OVER () after an aggregate, as in "
                "sum(price) OVER ()"
            )
        column_names = {f"c{number}": column for number, column in enumerate(names)}
        line = re.sub(r'"?\b(c\d+)\b"?', lambda m: column_names.get(m[1], m[0]), first_line(text))
        hint = re.search(r"Did you mean \"(\w+)\"\?", text)
        line = line.partition(": ")[2] or line
        return CallError(f"{line} Did you mean {hint[1]}?" if hint else line)
    if ("HUGEINT" in text or "INT128" in text) and name == "ConversionException":
        return CallError("an integer of the result is out of range for 64 bits")
    fits = f"a value does not fit ({name}); TRY_CAST(… AS …) gives NULL for such values"
    return CallError(_ERRORS.get(name, fits))
