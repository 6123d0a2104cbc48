"""SQL on frames, computed by DuckDB in a connection of its own for each call.

A call reads the columns of its tables and nothing else: no file, no network, no setting, no other
variable. DuckDB parses the text; its tree is checked node by node, and the columns in an expression
become `c0`, `c1`, since DuckDB ignores case and renames doubled names. NULL follows SQL's
three-valued logic. An error never quotes a cell.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from psutil import Process

from ..core.errors import CallError, DefinitionError
from ..core.interrupts import attempt
from ..core.text import unique_names, visible_text
from ..tools.table_classes import AnyTable
from .table_frames import Column, Frame, arrow, kind_of, nan_as_null, numpy

LONGEST, LONGEST_QUERY = 2_000, 20_000
"""Characters of an expression, and of a query."""
SECONDS, MEMORY = 60, "2GB"
"""How long one query may take, and how much memory it may use."""
MOST_BYTES = 3 * 10**9
"""How much the memory of the process may grow: DuckDB does not count all that functions use."""
TICK = 0.05
"""Seconds until a limit, or an interrupt, is noticed."""
MOST_CELLS = 100_000_000
"""Cells of a result."""
_CONFIG = {
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
# With one thread, a result has the order of its rows, and sums of floats are always the same.
_NOT_A_VALUE = re.compile(
    r"(current_\w+|now|today|local\w+|transaction_timestamp|get_current_\w+|getvariable|random"
    r"|setseed|uuid\w*|gen_random_uuid|nextval|currval|setval|write_log|in_search_path|stats"
    r"|vector_type|txid_current|sleep_ms|pg_\w+|has_\w+_privilege|getenv|version|query\w*)"
)
"""Functions whose result depends on more than their arguments."""
_TABLE_FUNCTIONS = ("range", "generate_series", "unnest")
_EXPRESSIONS = frozenset(
    (
        *("CONSTANT", "COLUMN_REF", "FUNCTION", "COMPARISON", "CONJUNCTION", "OPERATOR", "CAST"),
        *("CASE", "BETWEEN", "WINDOW", "LAMBDA", "LAMBDA_REF", "COLLATE", "TYPE"),
    )
)
_QUERIES = _EXPRESSIONS | {"SUBQUERY", "STAR"}


def require_duckdb() -> None:
    """Raise DefinitionError, which says what to install, where DuckDB or pyarrow is missing."""
    for module in ("duckdb", "pyarrow"):
        # A module that was replaced by None has no specification, which raises.
        if attempt(find_spec, module)[0] is None:
            raise DefinitionError(
                f"the toolset tables needs {module}: pip install 'jupyter-toolcall[tables]'"
            )


def _duckdb() -> Any:
    return import_module("duckdb")


# -- expressions --------------------------------------------------------------------------------


def parsed_expression(text: str, frame: Frame) -> tuple[str, list[Column]]:
    """Return an expression on the columns of a frame, in which `c0` is the first of these columns.

    Raises CallError, in one line.
    """
    if len(text) > LONGEST:
        raise CallError(f"the expression is longer than {LONGEST:,} characters")
    tree = _tree(f"SELECT (\n{text}\n)", text)
    select = tree["statements"][0]["node"]
    clauses = ("where_clause", "group_expressions", "having", "qualify", "sample", "modifiers")
    is_alone = select["type"] == "SELECT_NODE" and select["from_table"]["type"] == "EMPTY"
    if not is_alone or len(select["select_list"]) != 1 or any(select[key] for key in clauses):
        raise CallError(f"{visible_text(text, 80)} is not one expression")
    (node,) = select["select_list"]
    if node.get("function_name") == "row":
        raise CallError("write one expression, such as price * 1.2")
    columns = list[Column]()
    select["select_list"] = [_with_numbers(node, frame, columns, frozenset())]
    return _written(tree).removeprefix("SELECT "), columns


def condition(frame: Frame, text: str) -> tuple[Any, int]:
    """Return the positions of the rows for which a condition is true, and how many it is NULL for.

    Raises CallError, in one line, for what is no condition.
    """
    mask = computed(frame, text)
    if not arrow().types.is_boolean(mask.type):
        raise CallError(
            f"{visible_text(text, 80)} is no condition: write a comparison such as price > 3, "
            "city IN ('Rome', 'Oslo') or name IS NOT NULL"
        )
    kept = numpy().flatnonzero(mask.fill_null(False).to_numpy())
    return kept, mask.null_count


def computed(frame: Frame, text: str) -> Any:
    """Return the values of an expression for each row, as an Arrow array."""
    sql, columns = parsed_expression(text, frame)
    # A window orders the rows by its own keys.
    query = f"SELECT x FROM (SELECT {sql} AS x, pos FROM t) ORDER BY pos"
    if not re.search(r"\bOVER\b", sql, re.IGNORECASE):
        query = f"SELECT {sql} AS x FROM t"
    values = run_sql(query, {"t": relation_of(frame, columns)}).column(0)
    if len(values) != len(frame):
        raise CallError(
            f"{visible_text(text, 80)} has not one value for each row; write OVER () after an "
            "aggregate, as in sum(price) OVER ()"
        )
    return nan_as_null(values)


def relation_of(frame: Frame, columns: Sequence[Column], is_key: bool = False) -> Relation:
    """Return columns as `c0`, `c1`, beside the position `pos` of each row.

    With `is_key`, values are only compared: times with a zone are given as their instants.
    """
    arrays = {f"c{number}": frame.array(column) for number, column in enumerate(columns)}
    pa = arrow()
    if is_key:
        arrays = {
            name: array.cast(pa.timestamp("us")) if _zone(array.type) else array
            for name, array in arrays.items()
        }
    arrays["pos"] = pa.array(numpy().arange(len(frame)))
    return Relation(arrays, {f"c{n}": column.name for n, column in enumerate(columns)})


@dataclass(frozen=True, slots=True)
class Relation:
    """Arrow arrays by the names that a query has for them, and their names for the model."""

    arrays: Mapping[str, Any]
    names: Mapping[str, str]


def _tree(sql: str, text: str) -> Any:
    """Return a query as DuckDB's tree. Raises CallError, in one line."""
    try:
        ((answer,),) = _connection().execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
        tree = json.loads(answer)
    except (_duckdb().Error, UnicodeError, RecursionError, RuntimeError):
        raise CallError(f"{visible_text(text, 80)} cannot be read as SQL") from None
    if tree["error"]:
        reason = _first_line(tree["error_message"])
        if reason.endswith('near ")"') and text.count("(") == text.count(")"):
            # It is the parenthesis that `parsed_expression` adds.
            reason = "it ends too early"
        raise CallError(f"{visible_text(text, 80)} cannot be read as SQL: {reason}")
    if len(tree["statements"]) != 1:
        raise CallError("write one statement, without a semicolon")
    return tree


_DATABASES: dict[int, Any] = {}


def _connection() -> Any:
    """Return a new connection to the empty database of this process.

    A forked process makes a database of its own.
    """
    process = os.getpid()
    if process not in _DATABASES:
        _DATABASES[process] = _duckdb().connect(":memory:", config=_CONFIG)
    return _DATABASES[process].cursor()


def _with_numbers(node: Any, frame: Frame, columns: list[Column], bound: frozenset[str]) -> Any:
    """Return an expression in which columns are `c0`, `c1`; they are added to `columns`.

    `bound` are the parameters of the lambdas around it.
    """
    if isinstance(node, list):
        return [_with_numbers(part, frame, columns, bound) for part in node]
    if not isinstance(node, dict):
        return node
    _check_node(node, _EXPRESSIONS)
    if node.get("class") == "LAMBDA":
        names = [ref["column_names"][0] for ref in _nodes(node["lhs"]) if "column_names" in ref]
        if any(re.fullmatch(r"c\d+", name, re.IGNORECASE) for name in names):
            raise CallError(f"the parameter of a lambda cannot be named {names[0]}: rename it")
        body = _with_numbers(node["expr"], frame, columns, bound | {*names})
        return {**node, "expr": body}
    if node.get("class") == "COLUMN_REF" and node["column_names"][0] not in bound:
        column, fields = _resolved(node["column_names"], frame)
        if column not in columns:
            columns.append(column)
        return {**node, "column_names": [f"c{columns.index(column)}", *fields]}
    if node.get("class") == "WINDOW" and _needs_order(node):
        parts = {key: _with_numbers(part, frame, columns, bound) for key, part in node.items()}
        return {**parts, "orders": [*parts["orders"], _POSITION]}
    return {key: _with_numbers(part, frame, columns, bound) for key, part in node.items()}


_POSITION: Mapping[str, Any] = {
    "type": "ASCENDING",
    "null_order": "ORDER_DEFAULT",
    "expression": {
        **{"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": ["pos"]}
    },
}


def _needs_order(node: Mapping[str, Any]) -> bool:
    """Return whether a window's result depends on the order of rows with equal keys."""
    of_rows = any(str(node.get(bound)).endswith("_ROWS") for bound in ("start", "end"))
    numbers_rows = "WINDOW_ROW_NUMBER", "WINDOW_NTILE", "WINDOW_LAG", "WINDOW_LEAD"
    return of_rows or node["type"] in numbers_rows


def _resolved(parts: list[str], frame: Frame) -> tuple[Column, list[str]]:
    """Return the column that a name in SQL stands for, and the fields after it."""
    names = frame.names
    for count in range(len(parts), 0, -1):
        name = ".".join(parts[:count])
        if name in names:
            return frame.column(name), parts[count:]
        alike = [other for other in names if other.casefold() == name.casefold()]
        if len(alike) == 1:
            return frame.column(alike[0]), parts[count:]
    if _NOT_A_VALUE.fullmatch(parts[0]):
        raise CallError(f"{parts[0]} is not allowed: a result depends on the table alone")
    return frame.column(parts[0]), parts[1:]


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _check_node(node: Mapping[str, Any], allowed: frozenset[str]) -> None:
    """Raise CallError for a node that a query or an expression may not have."""
    kind = node.get("class")
    if isinstance(kind, str) and kind not in allowed:
        word = kind.lower().replace("_", " ")
        raise CallError(f"a {word} is not allowed in an expression; tables_sql takes whole queries")
    if node.get("sample"):
        raise CallError("a random sample is not allowed in a query; use tables_sample")
    name = node.get("function_name")
    if name == "unnest" and "SUBQUERY" not in allowed:
        raise CallError("unnest is not allowed in an expression; tables_sql takes whole queries")
    if isinstance(name, str):
        # age(x) counts from today.
        since_today = name.casefold() == "age" and len(node.get("arguments", ())) == 1
        if since_today or _NOT_A_VALUE.fullmatch(name.casefold()) or node.get("schema"):
            raise CallError(f"{name} is not allowed: a result depends on the table alone")


def _written(tree: Any) -> str:
    """Return a tree as SQL."""
    rows = _connection().execute("SELECT json_deserialize_sql(?::JSON)", [json.dumps(tree)])
    try:
        ((sql,),) = rows.fetchall()
    except _duckdb().Error as error:
        raise CallError(f"this cannot be computed: {_first_line(str(error))}") from None
    return str(sql)


# -- whole queries ------------------------------------------------------------------------------


def query_tables(query: str, frames: Mapping[str, Frame]) -> AnyTable:
    """Return the result of a SELECT on several frames, as a table of the library of the first.

    Only the columns that the query names are read; withheld ones cannot be named, and `*` does not
    mean them. Raises CallError, in one line.
    """
    if len(query) > LONGEST_QUERY:
        raise CallError(f"the query is longer than {LONGEST_QUERY:,} characters")
    tree = _tree(query, query)
    nodes = [*_nodes(tree)]
    ctes = {entry["key"] for node in nodes for entry in node.get("cte_map", {}).get("map", ())}
    columns = {name.casefold() for frame in frames.values() for name in frame.names}
    for node in nodes:
        _check_node(node, _QUERIES)
        _check_source(node, frames, ctes)
        name = (node.get("column_names") or [""])[0].casefold()
        if name not in columns and _NOT_A_VALUE.fullmatch(name):
            raise CallError(f"{name} is not allowed: a result depends on the tables alone")
    mentioned = {
        str(name).casefold()
        for node in nodes
        for name in (*(node.get("column_names") or ()), *(node.get("using_columns") or ()))
    }
    # A name of a table stands for its rows, and other names for columns count all of them.
    sources = [node for node in nodes if "column_name_alias" in node]
    named = (str(node.get(key, "")) for node in sources for key in ("alias", "table_name"))
    tables = {name.casefold() for name in named if name}
    takes_all = any(
        node.get("class") == "STAR"
        or node.get("ref_type") == "NATURAL"
        or node.get("type") == "PIVOT"
        or node.get("column_name_alias")
        or "".join(node.get("column_names") or ()).casefold() in tables
        for node in nodes
    )
    relations = {
        name: _mentioned_columns(name, frame, mentioned, takes_all)
        for name, frame in frames.items()
    }
    result = run_sql(query, relations)
    first, names = next(iter(frames.values())), unique_names(result.column_names)
    arrays = map(first.engine.from_arrow, result.columns)
    return first.build([Column(name, name, a) for name, a in zip(names, arrays, strict=True)])


def is_by_row(query: str) -> bool:
    """Return whether a SELECT computes each row by itself, if it has no aggregate.

    One with an aggregate has a row for a table without rows.
    """
    tree = _tree(query, query)
    select = tree["statements"][0]["node"]
    clauses = ("group_expressions", "having", "qualify", "sample", "modifiers")
    return (
        select["type"] == "SELECT_NODE"
        and select["from_table"]["type"] == "BASE_TABLE"
        and select["aggregate_handling"] == "STANDARD_HANDLING"
        and not any(select[clause] for clause in clauses)
        and not any(node.get("class") in ("WINDOW", "SUBQUERY") for node in _nodes(tree))
    )


def quoted(name: str) -> str:
    """Return a name as SQL has it, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


def _check_source(node: Mapping[str, Any], frames: Mapping[str, Frame], ctes: set[str]) -> None:
    """Raise CallError for a source of rows that is none of the tables."""
    kind = node.get("type")
    if kind == "SHOW_REF":
        raise CallError("write one SELECT")
    if kind == "BASE_TABLE":
        name = node.get("table_name", "")
        known = {table.casefold() for table in (*frames, *ctes)}
        # A name that WITH gives elsewhere in the query may be one of the catalog's here.
        known -= {table for table in known if re.match("duckdb_|pg_|sqlite_|pragma_", table)}
        if name.casefold() not in known or node.get("schema_name") or node.get("catalog_name"):
            listed = ", ".join(frames)
            raise CallError(f"there is no table {visible_text(name, 80)!r}. Tables: {listed}")
    if kind == "TABLE_FUNCTION":
        function = node["function"].get("function_name", "")
        if function not in _TABLE_FUNCTIONS:
            raise CallError(f"{visible_text(function, 80)} is not allowed as a table")


def _mentioned_columns(table: str, frame: Frame, mentioned: set[str], takes_all: bool) -> Relation:
    """Return the columns of a frame that a query names. Raises CallError for withheld ones."""
    for column in frame.withheld:
        if column.name.casefold() in mentioned:
            raise CallError(f"{column.name} is withheld: a call cannot use it")
    # A relation has at least one column.
    chosen = [c for c in frame.columns if takes_all or c.name.casefold() in mentioned]
    alike: dict[str, str] = {}
    for column in chosen:
        first = alike.setdefault(column.name.casefold(), column.name)
        if first != column.name:
            raise CallError(
                f"{table} has {first} and {column.name}, which SQL cannot tell apart: rename one"
            )
    arrays = {column.name: frame.array(column) for column in chosen}
    return Relation(arrays or {"": arrow().nulls(len(frame))}, {})


# -- running ------------------------------------------------------------------------------------


def run_sql(query: str, relations: Mapping[str, Relation], values: Sequence[Any] = ()) -> Any:
    """Return the result of a query as an Arrow table.

    Sums of integers are integers of 64 bits or an error; decimals are floats, unless a column
    holds decimals. Raises CallError, in one line.

    Arguments:
        relations: the tables that the query reads, by name.
        values: what `?` stands for in it.
    """
    connection, done = _connection(), Future[Any]()

    def compute() -> None:
        try:
            done.set_result(_computed(connection, query, relations, values))
        except BaseException as error:
            done.set_exception(error)
        finally:
            connection.close()

    # DuckDB looks for an interrupt between its steps, and one step may take minutes.
    threading.Thread(target=compute, name="toolcall-sql", daemon=True).start()
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
        if not done.done():
            connection.interrupt()


def _computed(
    connection: Any, query: str, relations: Mapping[str, Relation], values: Sequence[Any]
) -> Any:
    """Return the result of a query on a connection; `run_sql` waits for it, and stops it."""
    duckdb, pa = _duckdb(), arrow()
    arrays = {
        (table, name): array
        for table, relation in relations.items()
        for name, array in relation.arrays.items()
    }
    names = {old: new for relation in relations.values() for old, new in relation.names.items()}
    try:
        keep_decimals = any(pa.types.is_decimal(array.type) for array in arrays.values())
        zone = _common_zone(arrays)
        connection.execute("SET TimeZone = ?", [_named_zone(zone)])
        for table, relation in relations.items():
            connection.register(table, pa.table(dict(relation.arrays)))
        return _in_zone(_read(connection, query, values, keep_decimals), zone)
    except duckdb.Error as error:
        raise _sql_error(error, names) from None
    except pa.ArrowException as error:
        raise CallError(f"this cannot be computed: {type(error).__name__}") from None


def _read(connection: Any, query: str, values: Sequence[Any], keep_decimals: bool) -> Any:
    """Return a result as an Arrow table of types that a frame takes back."""
    result = connection.sql(query, params=[*values])
    targets = (_result_type(str(type_), keep_decimals) for type_ in result.types)
    casts = ", ".join(f"CAST(#{number} AS {target})" for number, target in enumerate(targets, 1))
    try:
        table = _batches(result.project(casts).to_arrow_reader(100_000))
    except _duckdb().ConversionException:
        if "HUGEINT" in str(result.types):
            raise CallError("an integer of the result is out of range for 64 bits") from None
        raise
    arrays = [_without_intervals(array) for array in table.columns]
    return arrow().Table.from_arrays(arrays, names=[*result.columns])


def _batches(reader: Any) -> Any:
    """Return a result as a table. Raises CallError where it is too large."""
    batches, cells = list[Any](), 0
    for batch in reader:
        cells += batch.num_rows * max(1, batch.num_columns)
        if cells > MOST_CELLS:
            raise CallError(f"the result has more than {MOST_CELLS:,} cells")
        batches.append(batch)
    return arrow().Table.from_batches(batches, schema=reader.schema)


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


def _without_intervals(array: Any) -> Any:
    """Return intervals of days and less as durations. Raises CallError for months."""
    pa = arrow()
    if not pa.types.is_interval(array.type):
        return array
    parts = array.to_pylist()
    if any(part is not None and part.months for part in parts):
        raise CallError("the result has months, which are no fixed time; write them in days")
    micros = [
        None if part is None else part.days * 86_400_000_000 + part.nanoseconds // 1_000
        for part in parts
    ]
    return pa.chunked_array([pa.array(micros, pa.duration("us"))])


def _zone(type_: Any) -> str:
    return str(type_.tz or "") if arrow().types.is_timestamp(type_) else ""


def _common_zone(arrays: Mapping[tuple[str, str], Any]) -> str:
    """Return the time zone in which SQL reads times. Raises CallError for several."""
    zones = {zone: name for (_, name), array in arrays.items() if (zone := _zone(array.type))}
    if len(zones) > 1:
        listed = " and ".join(sorted(zones))
        raise CallError(f"the columns have times of the zones {listed}; use those of one")
    return next(iter(zones), "UTC")


def _named_zone(zone: str) -> str:
    """Return a zone as SQL names it: those of an offset are those of whole hours."""
    offset = re.fullmatch(r"([+-])(\d\d):?(\d\d)", zone)
    if offset is None:
        return zone
    if offset[3] != "00":
        raise CallError(f"SQL has no time zone {zone}; convert the times to a named zone")
    # The names of POSIX count westwards.
    return f"Etc/GMT{'-' if offset[1] == '+' else '+'}{int(offset[2])}"


def _in_zone(table: Any, zone: str) -> Any:
    """Return a table whose zoned times have the zone of the columns, as it is written there."""
    type_ = arrow().timestamp("us", zone)
    arrays = [array.cast(type_) if _zone(array.type) else array for array in table.columns]
    return arrow().Table.from_arrays(arrays, names=table.column_names)


def _first_line(text: str) -> str:
    return visible_text(next((line for line in text.splitlines() if line.strip()), ""), 300)


_QUOTES_NO_CELL = ("BinderException", "CatalogException", "ParserException", "SyntaxException")


def _sql_error(error: Exception, names: Mapping[str, str]) -> CallError:
    """Return an error in one line; one that may quote a cell is named by its class alone."""
    name = type(error).__name__
    if name == "OutOfMemoryException":
        return CallError(f"stopped: it needs more than {MEMORY} of memory")
    if name in _QUOTES_NO_CELL:
        text = re.sub(
            r'"?\b(c\d+)\b"?', lambda found: names.get(found[1], found[0]), _first_line(str(error))
        )
        hint = re.search(r"Did you mean \"(\w+)\"\?", str(error))
        text = text.partition(": ")[2] or text
        return CallError(f"{text} Did you mean {hint[1]}?" if hint else text)
    if name == "OutOfRangeException":
        return CallError("a number is out of range for its type or for a function")
    if name == "PermissionException":
        return CallError("a query reads the tables of its call, and nothing else")
    return CallError(f"a value does not fit ({name}); TRY_CAST(… AS …) gives NULL for such values")


def check_kinds(first: Any, second: Any, name: str) -> None:
    """Raise CallError where two arrays are of kinds that SQL would compare by a cast."""
    kinds = kind_of(first.type), kind_of(second.type)
    if kinds[0] != kinds[1]:
        raise CallError(
            f"{name} has the type {first.type} in one table and {second.type} in the other; "
            "cast one first"
        )
    types = arrow().types
    decimals = types.is_decimal(first.type), types.is_decimal(second.type)
    floats = types.is_floating(first.type), types.is_floating(second.type)
    if any(decimals) and any(floats):
        raise CallError(f"{name} holds decimals in one table and floats in the other; cast one")
    if bool(_zone(first.type)) != bool(_zone(second.type)):
        raise CallError(f"{name} has a time zone in one table only; cast one first")
