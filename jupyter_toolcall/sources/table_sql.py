"""SQL that a model writes: a condition or an expression on the columns of a table, or a query on
several tables.

DuckDB parses the text; its tree is checked node by node. A column in an expression becomes `c0`,
`c1`, since DuckDB ignores case and renames doubled names. NULL follows SQL's three-valued logic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..core.errors import CallError
from ..core.recorded_data import JsonDict, JsonObject
from ..core.text import unique_names, visible_text
from ..tools.running_tool import describe_result
from ..tools.table_classes import AnyTable, library_elsewhere
from .table_duckdb import Relation, converted_sql, first_line, run_sql
from .table_frames import Frame, frame_of_table, quoted
from .table_libraries import Column, arrow, nan_as_null, numpy, zone_of

LONGEST, LONGEST_QUERY = 2_000, 20_000
"""Characters of an expression, and of a query."""
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
_CLAUSES = ("group_expressions", "having", "qualify", "sample", "modifiers")


# -- expressions --------------------------------------------------------------------------------


def computed(frame: Frame, text: str) -> Any:
    """Return the values of an expression for each row, as an Arrow array.

    Raises CallError, in one line.
    """
    sql, columns = _parsed_expression(text, frame)
    # A window orders the rows by its own keys.
    order = "ORDER BY pos" * bool(re.search(r"\bOVER\b", sql, re.IGNORECASE))
    query, names = f"SELECT pos, {sql} AS x FROM t {order}", [column.name for column in columns]
    return nan_as_null(run_sql(query, {"t": relation_of(frame, columns)}, names=names)["x"])


def relation_of(frame: Frame, columns: Sequence[Column], is_key: bool = False) -> Relation:
    """Return columns as `c0`, `c1`, beside the position `pos` of each row.

    With `is_key`, values are only compared: times with a zone are given as their instants.
    """
    arrays = {f"c{number}": frame.array(column) for number, column in enumerate(columns)}
    for name, array in arrays.items() if is_key else ():
        arrays[name] = array.cast(arrow().timestamp("us")) if zone_of(array.type) else array
    return {**arrays, "pos": arrow().array(numpy().arange(len(frame)))}


def _parsed_expression(text: str, frame: Frame) -> tuple[str, list[Column]]:
    """Return an expression on the columns of a frame, in which `c0` is the first of these columns.

    Raises CallError, in one line.
    """
    if len(text) > LONGEST:
        raise CallError(f"the expression is longer than {LONGEST:,} characters")
    tree = _tree(f"SELECT (\n{text}\n)", text)
    select = tree["statements"][0]["node"]
    is_alone = select["type"] == "SELECT_NODE" and select["from_table"]["type"] == "EMPTY"
    has_clauses = any(select[key] for key in ("where_clause", *_CLAUSES)) if is_alone else True
    if has_clauses or len(select["select_list"]) != 1:
        raise CallError(f"{visible_text(text, 80)} is not one expression")
    (node,) = select["select_list"]
    if node.get("function_name") == "row":
        raise CallError("write one expression, such as price * 1.2")
    columns = list[Column]()
    select["select_list"] = [_with_numbers(node, frame, columns, frozenset())]
    sql = converted_sql("json_deserialize_sql", json.dumps(tree))
    return sql.removeprefix("SELECT "), columns


def _tree(sql: str, text: str) -> Any:
    """Return a query as DuckDB's tree. Raises CallError, in one line."""
    tree = json.loads(converted_sql("json_serialize_sql", sql))
    if tree["error"]:
        reason = first_line(tree["error_message"])
        if reason.endswith('near ")"') and text.count("(") == text.count(")"):
            # It is the parenthesis that `_parsed_expression` adds.
            reason = "it ends too early"
        raise CallError(f"{visible_text(text, 80)} cannot be read as SQL: {reason}")
    if len(tree["statements"]) != 1:
        raise CallError("write one statement, without a semicolon")
    return tree


def _with_numbers(
    node: object, frame: Frame, columns: list[Column], lambdas: frozenset[str]
) -> Any:
    """Return an expression in which columns are `c0`, `c1`; they are added to `columns`.

    `lambdas` are the parameters of the lambdas around it.
    """
    if isinstance(node, list):
        return [_with_numbers(part, frame, columns, lambdas) for part in node]
    if not isinstance(node, dict):
        return node
    _check_node(node, _EXPRESSIONS)
    if node.get("class") == "LAMBDA":
        names = [ref["column_names"][0] for ref in _nodes(node["lhs"]) if "column_names" in ref]
        if any(re.fullmatch(r"c\d+", name, re.IGNORECASE) for name in names):
            raise CallError(f"the parameter of a lambda cannot be named {names[0]}: rename it")
        body = _with_numbers(node["expr"], frame, columns, lambdas | {*names})
        return {**node, "expr": body}
    if node.get("class") == "COLUMN_REF" and node["column_names"][0] not in lambdas:
        column, fields = _resolved(node["column_names"], frame)
        if column not in columns:
            columns.append(column)
        return {**node, "column_names": [f"c{columns.index(column)}", *fields]}
    parts = {key: _with_numbers(part, frame, columns, lambdas) for key, part in node.items()}
    if node.get("class") == "WINDOW" and _needs_order(node):
        parts["orders"].append(_POSITION)
    return parts


_POSITION: JsonObject = {
    "type": "ASCENDING",
    "null_order": "ORDER_DEFAULT",
    "expression": {
        **{"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": ["pos"]}
    },
}


def _needs_order(node: Mapping[str, object]) -> bool:
    """Return whether a window's result depends on the order of rows with equal keys."""
    of_rows = any(str(node.get(end)).endswith("_ROWS") for end in ("start", "end"))
    numbers_rows = "WINDOW_ROW_NUMBER", "WINDOW_NTILE", "WINDOW_LAG", "WINDOW_LEAD"
    return of_rows or node["type"] in numbers_rows


def _resolved(parts: list[str], frame: Frame) -> tuple[Column, list[str]]:
    """Return the column that a name in SQL stands for, and the fields after it."""
    names = frame.names
    for count in range(len(parts), 0, -1):
        name = ".".join(parts[:count])
        alike = [other for other in names if other.casefold() == name.casefold()]
        if name in names or len(alike) == 1:
            return frame.column(name if name in names else alike[0]), parts[count:]
    if _NOT_A_VALUE.fullmatch(parts[0]):
        raise CallError(f"{parts[0]} is not allowed: a result depends on the table alone")
    return frame.column(parts[0]), parts[1:]


def _nodes(tree: object) -> Iterator[JsonDict]:
    """Yield the nodes of a tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _check_node(node: JsonObject, allowed: frozenset[str]) -> None:
    """Raise CallError for a node that a query or an expression may not have."""
    kind, name = node.get("class"), node.get("function_name")
    only_queries = "is not allowed in an expression; tables_sql takes whole queries"
    if isinstance(kind, str) and kind not in allowed:
        raise CallError(f"a {kind.lower().replace('_', ' ')} {only_queries}")
    if name == "unnest" and "SUBQUERY" not in allowed:
        raise CallError(f"unnest {only_queries}")
    if node.get("sample"):
        raise CallError("a random sample is not allowed in a query; use tables_sample")
    if isinstance(name, str):
        # age(x) counts from today.
        since_today = name.casefold() == "age" and len(node.get("arguments", ())) == 1
        if since_today or _NOT_A_VALUE.fullmatch(name.casefold()) or node.get("schema"):
            raise CallError(f"{name} is not allowed: a result depends on the table alone")


# -- whole queries ------------------------------------------------------------------------------


def query_tables(query: str, frames: Mapping[str, Frame]) -> AnyTable:
    """Return the result of a SELECT on several frames, as a table of the library of the first.

    Only the columns that the query names are read; withheld ones cannot be named, and `*` does not
    mean them. Raises CallError, in one line.
    """
    if len(query) > LONGEST_QUERY:
        raise CallError(f"the query is longer than {LONGEST_QUERY:,} characters")
    nodes = [*_nodes(_tree(query, query))]
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
    takes_all = _takes_all(nodes)
    relations = {
        name: _mentioned_columns(name, frame, mentioned, takes_all)
        for name, frame in frames.items()
    }
    result = run_sql(query, relations)
    first, names = next(iter(frames.values())), unique_names(result.column_names)
    arrays = map(first.library.from_arrow, result.columns)
    return first.build([Column(name, name, a) for name, a in zip(names, arrays, strict=True)])


def _takes_all(nodes: Sequence[JsonObject]) -> bool:
    """Return whether a query may read columns that it does not name."""
    # A name of a table stands for its rows, and other names for columns count all of them.
    sources = [node for node in nodes if "column_name_alias" in node]
    named = (str(node.get(key, "")) for node in sources for key in ("alias", "table_name"))
    tables = {name.casefold() for name in named if name}
    return any(
        node.get("class") == "STAR"
        or node.get("ref_type") == "NATURAL"
        or node.get("type") == "PIVOT"
        or node.get("column_name_alias")
        or "".join(node.get("column_names") or ()).casefold() in tables
        for node in nodes
    )


def is_by_row(query: str) -> bool:
    """Return whether a SELECT computes each row by itself, if it has no aggregate.

    One with an aggregate has a row for a table without rows.
    """
    tree = _tree(query, query)
    select = tree["statements"][0]["node"]
    return (
        select["type"] == "SELECT_NODE"
        and select["from_table"]["type"] == "BASE_TABLE"
        and select["aggregate_handling"] == "STANDARD_HANDLING"
        and not any(select[clause] for clause in _CLAUSES)
        and not any(node.get("class") in ("WINDOW", "SUBQUERY") for node in _nodes(tree))
    )


def _check_source(node: Mapping[str, Any], frames: Mapping[str, Frame], ctes: set[str]) -> None:
    """Raise CallError for a source of rows that is none of the tables."""
    kind = node.get("type")
    if kind == "SHOW_REF":
        raise CallError("write one SELECT")
    if kind == "BASE_TABLE":
        name = node.get("table_name", "")
        tables = {table.casefold() for table in (*frames, *ctes)}
        # A name that WITH gives elsewhere in the query may be one of the catalog's here.
        tables -= {table for table in tables if re.match("duckdb_|pg_|sqlite_|pragma_", table)}
        if name.casefold() not in tables or node.get("schema_name") or node.get("catalog_name"):
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
    return arrays or {"": arrow().nulls(len(frame))}


# -- tables whose rows are elsewhere ------------------------------------------------------------


def _query_there(table: Any, query: str, name: str) -> Any:
    """Return a query on a table that has a name in it; nothing is computed."""
    match library_elsewhere(table):
        case "duckdb":
            return table.query(name, query)
        case "ibis":
            return table.alias(name).sql(query, dialect="duckdb")
    compute: Any = partial(_query_of_part, query, name)
    meta = compute(table._meta)
    # Each partition of Dask is queried by itself where that is the same, else all as one.
    parts = table if is_by_row(query) and not len(meta) else table.repartition(npartitions=1)
    return parts.map_partitions(compute, meta=meta[:0], clear_divisions=True)


def _query_of_part(query: str, name: str, part: object) -> AnyTable:
    return query_tables(query, {name: frame_of_table(part)})


def query_elsewhere(frame: Frame, query: str, name: str = "t") -> AnyTable:
    """Return a query on a table whose rows are elsewhere, without its withheld columns.

    Raises CallError, in one line, for what is an error on a table without rows.
    """
    query_tables(query, {name: frame})
    table = frame.elsewhere
    if frame.withheld:
        visible = ", ".join(map(quoted, frame.names))
        table = _query_there(table, f"SELECT {visible} FROM {quoted(name)}", name)
    describe_result("no row is computed yet: tables_head shows the first rows")
    result: AnyTable = _query_there(table, query, name)
    return result
