"""Tables whose rows are elsewhere: what the tools compute there, and that they compute no more."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from polars.io.plugins import register_io_source

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.compare.differences import Others, Same
from jupyter_toolcall.compare.values import difference
from jupyter_toolcall.sources.table_frames import MOST_HERE, first_rows
from jupyter_toolcall.tools.table_classes import AnyTable
from jupyter_toolcall.tools.value_copies import private
from jupyter_toolcall.tools.value_digests import content_digest
from jupyter_toolcall.toolsets import tables
from jupyter_toolcall.view.previews import LARGE, preview
from tests.example_tools import last_question
from tests.sources.tables import call, failure, rows, table, tools
from tests.sources.test_table_sharing import CANARY, sent, session_of

dd: Any = import_module("dask.dataframe")
ibis: Any = import_module("ibis")
# As in many notebooks: the text of a table is its rows.
ibis.options.interactive = True
ROWS, PART = 200_000, 4_000
"""Rows of a source, and of what it reads at once."""
CITIES = ["Rome", "Oslo", "Bonn", None]


def part(first: int) -> pd.DataFrame:
    """Return the rows of a source from one on."""
    numbers = range(first, first + PART)
    return pd.DataFrame({"n": numbers, "city": [CITIES[n % 4] for n in numbers]})


@dataclass
class Source:
    """A table of a library, and how many of its rows were computed."""

    table: Any
    count: list[int] = field(default_factory=list)

    @property
    def computed(self) -> int:
        return sum(self.count)


def of_duckdb() -> Source:
    source = Source(None)

    def counted(numbers: Any) -> Any:
        source.count.append(len(numbers))
        return numbers

    connection: Any = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.create_function("counted", counted, ["BIGINT"], "BIGINT", type="arrow")
    city = "CASE range % 4 WHEN 0 THEN 'Rome' WHEN 1 THEN 'Oslo' WHEN 2 THEN 'Bonn' END"
    query = f"SELECT counted(range) AS n, {city} AS city FROM range({ROWS})"
    source.table = connection.sql(query)
    return source


def of_ibis() -> Source:
    source = Source(None)

    def read(columns: Any, predicate: Any, count: Any, size: Any) -> Iterator[pl.DataFrame]:
        for first in range(0, ROWS, PART):
            source.count.append(PART)
            frame = pl.from_pandas(part(first))
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if columns is None else frame.select(columns)
            if count is not None and first + PART >= count:
                break

    lazy = register_io_source(read, schema={"n": pl.Int64, "city": pl.String})
    source.table = ibis.polars.connect().create_table("sales", lazy)
    return source


COMPUTED: list[int] = []
"""The rows of each partition of Dask that was computed; a copy of the table has this list too."""


def read_part(first: int) -> pd.DataFrame:
    COMPUTED.append(PART)
    return part(first)


def of_dask() -> Source:
    COMPUTED.clear()
    return Source(dd.from_map(read_part, range(0, ROWS, PART), meta=part(0)[:0]), COMPUTED)


SOURCES: dict[str, Callable[[], Source]] = {"duckdb": of_duckdb, "ibis": of_ibis, "dask": of_dask}
libraries = pytest.mark.parametrize("library", SOURCES)
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("filter", {"where": "n % 3 = 1 AND city <> 'Bonn'"}),
    ("filter", {"where": "city IS NULL OR n > 7"}),
    ("derive", {"column": "m", "expression": "n * 2 + 1"}),
    ("derive", {"column": "city", "expression": "upper(city)"}),
    ("select", {"columns": ["city", "n"]}),
]
"""Calls that compute each row by itself."""


@libraries
@pytest.mark.parametrize("seed", range(3))
def test_no_call_computes_a_row_and_a_look_only_what_it_sends(library: str, seed: int) -> None:
    source = SOURCES[library]()
    kind = type(source.table).__name__
    steps = [("schema", {}), *random.Random(seed).choices(STEPS, k=4)]
    calls: list[Any] = [
        (f"tables_{name}", {"table": f"{kind}#{n or 1}"} | arguments)
        for n, (name, arguments) in enumerate(steps)
    ]
    session = session_of(Toolbox(tables), source.table, [*calls, "Done."]).tell("Go.").run()
    assert [call.error for call in session.calls] == [""] * 5
    newest = session[f"{kind}#5"]
    assert type(newest) is type(source.table)
    assert "city" in preview(newest).columns
    assert source.computed == 0
    sent_rows = call(newest, "head")["rows"]
    assert len(sent_rows) == 10
    # A source is read part by part, and Polars reads on behind a filter.
    is_filtered = library == "ibis" and any(name == "filter" for name, _ in steps)
    assert 0 < source.computed <= (ROWS if is_filtered else 2 * PART)
    expected = pd.concat([part(0), part(PART)], ignore_index=True)
    for name, arguments in steps[1:]:
        expected = call(expected, name, **arguments)
    assert sent_rows == call(expected, "head")["rows"]


WHOLE: list[tuple[str, dict[str, Any]]] = [
    ("sort", {"by": ["city", "n"], "descending": True}),
    ("aggregate", {"by": ["city"]}),
    ("aggregate", {"by": ["city"], "values": {"n": "sum"}}),
    ("aggregate", {"by": ["city"], "values": {"n": "mean"}}),
]


@libraries
@pytest.mark.parametrize("case", WHOLE, ids=lambda case: f"{case[0]}-{len(str(case[1]))}")
def test_what_needs_all_rows_is_computed_there_when_it_is_looked_at(
    library: str, case: tuple[str, dict[str, Any]]
) -> None:
    source, (name, arguments) = SOURCES[library](), case
    result = call(source.table, name, **arguments)
    assert source.computed == 0
    here = pd.concat([part(first) for first in range(0, ROWS, PART)], ignore_index=True)
    looked = call(result, "head")
    assert looked["rows"] == call(call(here, name, **arguments), "head")["rows"]
    assert "rows_in_table" not in looked


@libraries
def test_a_query_is_a_table_of_the_library(library: str) -> None:
    source = SOURCES[library]()
    query = "SELECT city, count(*) AS rows FROM sales WHERE n < 10 GROUP BY 1 ORDER BY 2, 1"
    named = {"sales": f"{type(source.table).__name__}#1"}
    script = [("tables_sql", {"query": query, "tables": named}), "Done."]
    session = session_of(tables, source.table, script).tell("Go.").run()
    (made,) = session.calls
    assert made.status == "succeeded", made.error
    assert source.computed == 0
    result = session[made.result]
    assert type(result) is type(source.table)
    counts = [{"value": value, "rows": 2} for value in (2, 3)]
    assert call(result, "value_counts", column="rows")["values"] == counts
    assert isinstance(call(result, "plot", kind="bar", x="city", y=["rows"]), Figure)


@libraries
def test_what_would_take_all_rows_says_what_to_write_instead(library: str) -> None:
    source = SOURCES[library]()
    hint = "those of the table are elsewhere: compute what you need with tables_sql"
    assert hint in failure(source.table, "fill", columns=["city"], method="value", value="?")
    assert hint in failure(source.table, "drop_nulls")
    assert source.computed == 0
    assert hint in failure(source.table, "describe")
    assert source.computed <= MOST_HERE + 2 * PART


@libraries
@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("filter", {"where": "cit = 'Rome'"}, '"cit" not found in FROM clause!'),
        ("filter", {"where": "n > current_date"}, "current_date is not allowed"),
        ("filter", {"where": "1 = 1) UNION SELECT * FROM (FROM other"}, "no table 'other'"),
        ("sort", {"by": ["cit"]}, "there is no column 'cit'. Did you mean city?"),
        ("aggregate", {"by": ["n"], "values": {"city": "sum"}}, "city has no sum"),
    ],
)
def test_errors_are_those_of_a_table_in_the_kernel(
    library: str, name: str, arguments: Any, text: str
) -> None:
    source = SOURCES[library]()
    assert text in failure(source.table, name, **arguments)
    assert source.computed == 0


@libraries
def test_a_withheld_column_is_not_sent_and_no_result_has_it(library: str) -> None:
    people = {"ssn": [f"{CANARY}-{n}" for n in range(9)], "n": [*range(9)]}
    table_ = SMALL[library](pd.DataFrame(people))
    kind, careful = type(table_).__name__, tables.sharing("values", withhold=["ssn"])

    @tool(read_only=True)
    def show(table: AnyTable) -> str:
        """Return the first rows as text."""
        return str(rows(first_rows(table, 3)))

    steps = [
        ("tables_head", {"table": f"{kind}#1"}),
        ("tables_filter", {"table": f"{kind}#1", "where": "ssn IS NOT NULL"}),
        ("tables_filter", {"table": f"{kind}#1", "where": "n > 5"}),
        ("tables_sql", {"tables": {"t": f"{kind}#1"}, "query": "SELECT * FROM t"}),
        ("show", {"table": f"{kind}#1"}),
        ("tables_head", {"table": f"{kind}#2"}),
        "Done.",
    ]
    session = session_of(Toolbox(careful, show), table_, steps).tell("Go.").run()
    assert [call.error for call in session.calls if call.error] == [
        "ssn is withheld: a call cannot use it"
    ]
    assert CANARY not in "".join(sent(turn.request) for turn in session.requests)
    assert session.calls[-1].result["rows"] == [{"n": 6}, {"n": 7}, {"n": 8}]
    model = Scripted([("save", {"result": "fine"})])
    asking = Session(careful, model, scheme="flat", approve="all")
    assert asking.query(table_, "What is it?") == "fine"
    text = sent(last_question(asking).requests[0].request)
    assert CANARY not in text
    assert "9 rows, 1 column (withheld: ssn)" in text


SMALL: dict[str, Callable[[pd.DataFrame], Any]] = {
    "duckdb": lambda frame: duckdb.connect().from_df(frame),
    "ibis": lambda frame: ibis.polars.connect().create_table("t", pl.from_pandas(frame)),
    "dask": lambda frame: dd.from_pandas(frame, npartitions=2),
}


@libraries
def test_a_question_sends_the_first_rows_alone(library: str) -> None:
    source = SOURCES[library]()
    for share, most in (("sample", 20), ("schema", 0)):
        source.count.clear()
        model = Scripted([("save", {"result": "fine"})])
        toolbox = Toolbox(tables.sharing(share))
        Session(toolbox, model, scheme="flat", approve="all").query(source.table, "What is it?")
        assert source.computed <= (PART if most else 0)


@libraries
def test_a_picture_has_the_columns_and_its_rows_when_it_is_opened(library: str) -> None:
    source = SOURCES[library]()
    small = preview(source.table)
    assert (small.columns, small.cells, small.caption) == (("n", "city"), (), "not computed")
    assert small.more
    assert source.computed == 0
    assert len(preview(source.table, room=LARGE).cells) == LARGE.rows
    assert source.computed <= PART


@libraries
def test_two_tables_differ_in_their_queries(library: str) -> None:
    source = SOURCES[library]()
    few = call(source.table, "filter", where="n < 9")
    assert isinstance(difference(source.table, source.table), Same)
    assert not isinstance(difference(source.table, few), Same)
    assert source.computed == 0


def test_the_difference_of_relations_is_told_by_their_queries() -> None:
    relation = duckdb.connect().sql("SELECT 1 AS n")
    result = difference(relation, relation.filter("n > 7"))
    assert isinstance(result, Others)
    assert "n > 7" in str(result)


def test_a_digest_is_that_of_plan_and_source_where_these_can_be_told(tmp_path: Any) -> None:
    frame = pd.DataFrame({"n": [1, 2]})
    first, again = (dd.from_pandas(frame.copy(), npartitions=2) for _ in range(2))
    assert content_digest(first) == content_digest(again) != ""
    assert content_digest(first) != content_digest(first[first.n > 1])
    assert content_digest(first) != content_digest(dd.from_pandas(frame + 1, npartitions=2))
    stored = [backend_with_table(tmp_path / name) for name in ("a.db", "a.db", "b.db")]
    digests = [content_digest(table) for table in stored]
    assert digests[0] == digests[1] != digests[2]
    assert content_digest(stored[0].limit(1)) not in ("", digests[0])
    # Two databases in memory have no names that tell them apart.
    assert content_digest(SMALL["ibis"](frame)) == content_digest(SMALL["duckdb"](frame)) == ""
    session = Session(tables, Scripted(["Done."]), inputs={"t": SMALL["duckdb"](frame)})
    relation = session.cursor.state.objects["DuckDBPyRelation#1"]
    assert session.cursor.context.values.note(relation) == "not reproducible"


def backend_with_table(path: Any) -> Any:
    """Return a table of a database in a file."""
    backend = ibis.sqlite.connect(path)
    backend.con.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER)")
    return backend.table("t")


@libraries
def test_a_table_is_passed_without_a_copy_of_its_rows(library: str) -> None:
    source = SOURCES[library]()
    copied, is_whole = private(source.table)
    assert is_whole
    assert (copied is source.table) == (library != "dask")
    assert source.computed == 0


def test_sums_beyond_64_bits_are_exact_or_an_error() -> None:
    large = duckdb.connect().sql("SELECT 1 AS g, 9007199254740993 AS n")
    total = call(large, "aggregate", by=["g"], values={"n": "sum"})
    assert call(total, "head")["rows"] == [{"g": 1, "n_sum": 2**53 + 1}]
    huge = duckdb.connect().sql("SELECT 1 AS g, 9223372036854775807 AS n FROM range(2)")
    text = failure(call(huge, "aggregate", by=["g"], values={"n": "sum"}), "head")
    assert text == "the library of the table raised ConversionException"


def test_a_window_counts_over_all_partitions_of_dask() -> None:
    frame = dd.from_pandas(pd.DataFrame({"n": [*range(6)]}), npartitions=3)
    counted = call(frame, "derive", column="rows", expression="count(*) OVER ()")
    assert rows(counted.compute()) == [{"n": n, "rows": 6} for n in range(6)]
    one = tools.query_with_sql("SELECT max(n) AS n FROM t", {"t": frame})
    assert rows(one.compute()) == [{"n": 5}]


def test_a_query_with_another_table_is_refused() -> None:
    one = SMALL["duckdb"](pd.DataFrame({"n": [1]}))
    with pytest.raises(Exception, match="reads one table whose rows are elsewhere, and no other"):
        tools.query_with_sql("SELECT * FROM t JOIN u USING (n)", {"t": one, "u": table("polars")})
