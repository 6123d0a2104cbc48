"""What a model is sent of a table: nothing that is withheld, and no more than is shared."""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import pandas as pd
import pytest
from pydantic import BaseModel

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.models import Request
from jupyter_toolcall.schemes.messages import Results
from jupyter_toolcall.tools.table_classes import AnyTable
from jupyter_toolcall.tools.tool import Changed
from jupyter_toolcall.toolsets import tables
from tests.example_tools import last_question, panel_of, run_calls
from tests.sources.tables import ENGINES, call, called, failure, rows, table, tools

CANARY = "canary-7391"
DATA: dict[str, list[Any]] = {
    "ssn": [f"{CANARY}-{n}" for n in range(30)],
    "name": [f"n{n % 3}" for n in range(30)],
    "paid": [float(n) for n in range(30)],
}
CAREFUL = tables.sharing("values", withhold=["ssn"])


def sent(request: Request) -> str:
    """All that a model is sent with a request."""
    parts: list[Any] = [request.system, request.news]
    parts += [(tool.name, tool.description, dict(tool.parameters)) for tool in request.tools]
    for message in request.messages:
        results = message.results if isinstance(message, Results) else ()
        parts += [result.content for result in results] or [repr(message)]
    return json.dumps(parts, default=str)


OTHERS: list[list[Any]] = [
    [f"{CANARY}-{n}" for n in range(30)],
    [None] * 30,
    [n % 2 for n in range(30)],
    [0.5 if n < 9 else None for n in range(30)],
    [{"any": n} for n in range(30)],
]
"""What the withheld column may hold: the type, the missing values and the doubles differ."""


def steps_of_a_model(chance: random.Random, kind: str) -> list[Any]:
    """Return calls of any table tool on any table so far; many of them name the withheld column."""
    steps: list[Any] = [
        ("tables_sort", {"table": f"{kind}#1", "by": ["name"]}),
        ("tables_filter", {"table": f"{kind}#2", "where": "paid > 3"}),
    ]
    for _ in range(30):
        name, arguments = chance.choice(ATTEMPTS)
        newest: dict[str, Any] = {"table": f"{kind}#{chance.randint(1, 4)}"}
        if name == "join":
            newest["other"] = f"{kind}#{chance.randint(1, 3)}"
        if name == "sql":
            newest = {"tables": {"t": f"{kind}#{chance.randint(1, 3)}", "u": f"{kind}#1"}}
        is_own = name in {function.__name__ for function in OWN}
        steps.append((name if is_own else f"tables_{name}", {**newest, **arguments}))
        steps.append((f"tables_{chance.choice(('head', 'schema', 'describe', 'missing'))}", {}))
    return [*steps, "Done."]


ATTEMPTS: list[tuple[str, dict[str, Any]]] = [
    *(("head", {"rows": 30}), ("sample", {"rows": 30}), ("schema", {}), ("missing", {})),
    *(("describe", {}), ("describe", {"columns": ["ssn"]}), ("value_counts", {"column": "ssn"})),
    ("value_counts", {"column": "name"}),
    ("derive", {"column": "copy", "expression": "ssn"}),
    ("derive", {"column": "copy", "expression": "upper(SSN) || '!'"}),
    ("derive", {"column": "empty", "expression": "ssn IS NULL"}),
    ("derive", {"column": "n", "expression": "row_number() OVER (ORDER BY ssn)"}),
    ("derive", {"column": "n", "expression": "row_number() OVER (ORDER BY name)"}),
    ("derive", {"column": "ssn", "expression": "paid * 2"}),
    ("derive", {"column": "twice", "expression": "paid * 2"}),
    ("filter", {"where": f"starts_with(ssn, '{CANARY[:3]}')"}),
    ("filter", {"where": "ssn IS NOT NULL"}),
    ("filter", {"where": "paid > 3 AND name <> 'n1'"}),
    *(("rename", {"names": {"ssn": "free"}}), ("rename", {"names": {"name": "ssn"}})),
    ("rename", {"names": {"name": "title"}}),
    *(("cast", {"column": "ssn", "to": to, "invalid": "null"}) for to in ("int", "str", "date")),
    ("cast", {"column": "paid", "to": "str"}),
    ("fill", {"columns": ["ssn"], "method": "value", "value": 3}),
    ("fill", {"columns": ["ssn"], "method": "forward"}),
    ("fill", {"columns": ["paid"], "method": "mean"}),
    *(("aggregate", {"by": ["ssn"]}), ("aggregate", {"by": ["name"]})),
    ("aggregate", {"by": ["name"], "values": {"ssn": "distinct"}}),
    ("aggregate", {"by": ["name"], "values": {"paid": "sum"}}),
    ("pivot", {"index": ["name"], "on": "ssn", "values": "paid"}),
    ("pivot", {"index": ["paid"], "on": "name", "values": "ssn"}),
    ("pivot", {"index": ["paid"], "on": "name", "values": "paid"}),
    *(("unpivot", {"columns": ["ssn", "name"]}), ("unpivot", {"columns": ["paid"]})),
    *(("sort", {"by": ["ssn"]}), ("sort", {"by": ["name"], "descending": True})),
    *(("drop_duplicates", {}), ("drop_duplicates", {"columns": ["ssn"]})),
    *(("drop_nulls", {}), ("drop_nulls", {"columns": ["ssn"]})),
    *(("select", {"columns": ["ssn"]}), ("select", {"columns": ["name", "paid"]})),
    *(("join", {"on": ["name"], "how": how}) for how in ("inner", "left", "full", "anti")),
    ("join", {"on": ["ssn"]}),
    ("sql", {"query": "SELECT * FROM t ORDER BY paid LIMIT 9"}),
    ("sql", {"query": "SELECT ssn FROM t"}),
    ("sql", {"query": "SELECT t FROM t"}),
    ("sql", {"query": "SELECT t.* EXCLUDE (ssn) FROM t"}),
    ("sql", {"query": "SELECT count(*) AS n FROM t JOIN u USING (ssn)"}),
    ("sql", {"query": "SELECT count(*) AS n FROM t NATURAL JOIN u"}),
    ("sql", {"query": "SELECT COLUMNS('s.*') FROM t"}),
    ("plot", {"kind": "box", "y": ["ssn"]}),
    ("plot", {"kind": "bar", "x": "ssn", "y": ["paid"]}),
]


def longest(table: AnyTable) -> str:
    """Return the longest cell of a table, as a person's own tool may."""
    return max((str(cell) for row in rows(table) for cell in row.values()), key=len)


def hidden_copy(table: AnyTable) -> list[Any]:
    """Return a table in which the withheld column has another name."""
    return [tools.derive_column(table, "plain", "ssn")]


def with_copy(table: AnyTable) -> AnyTable:
    """Return a table in which the withheld column has another name."""
    copied: AnyTable = tools.derive_column(table, "plain", "ssn")
    return copied


def failing(table: AnyTable) -> int:
    """Raise an error that quotes a withheld cell."""
    raise ValueError(rows(table)[0].get("ssn"))


def length(table: AnyTable) -> dict[str, int]:
    """Return how many cells are missing, as plain data."""
    return {"missing": sum(cell is None for row in rows(table) for cell in row.values())}


OWN = [longest, hidden_copy, with_copy, failing, length]


def session_of(toolbox: Toolbox, value: Any, steps: list[Any]) -> Session:
    """Return a session on a table in which all calls run."""
    model = Scripted(steps)
    return Session(toolbox, model, scheme="flat", inputs={"t": value}, approve="all")


ATTEMPTS += [(function.__name__, {}) for function in OWN for _ in range(2)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_nothing_that_is_sent_depends_on_a_withheld_value(engine: str, seed: int) -> None:
    runs = list[list[str]]()
    for withheld in OTHERS if engine == ENGINES[0] else OTHERS[:2]:
        value = table(engine, {**DATA, "ssn": withheld})
        steps = steps_of_a_model(random.Random(seed), type(value).__name__)
        session = session_of(Toolbox(CAREFUL, *OWN), value, steps)
        session.tell("Go.").run()
        assert {call.status for call in session.calls} == {"succeeded", "failed"}
        runs.append([sent(turn.request) for turn in session.requests])
        tables_made = [n for n in session.objects if n.startswith(type(value).__name__)]
        assert len([session[n] for n in tables_made if "ssn" in columns_of(session[n])]) > 2
    assert CANARY not in "".join(runs[0])
    assert all(run == runs[0] for run in runs)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_an_own_tool_returns_of_withheld_columns_is_never_sent(engine: str) -> None:
    @tool(sees_withheld=True)
    def seen(table: AnyTable) -> str:
        """Return the first withheld cell."""
        return str(rows(table)[0]["ssn"])

    value = table(engine, DATA)
    kind = type(value).__name__
    asked_for = [
        ("longest", {"table": f"{kind}#1"}),
        ("with_copy", {"table": f"{kind}#1"}),
        ("tables_head", {"table": f"{kind}#2"}),
        ("longest", {"table": f"{kind}#2"}),
        ("failing", {"table": f"{kind}#1"}),
        ("length", {"table": f"{kind}#3"}),
        ("seen", {"table": f"{kind}#1"}),
    ]
    steps = [*asked_for[:3], ("tables_select", {"table": f"{kind}#1", "columns": ["name"]})]
    session = session_of(Toolbox(CAREFUL, *OWN, seen), value, [*steps, *asked_for[3:], "Done."])
    session.tell("Go.").run()
    results = [call.error or call.result for call in session.calls]
    line = failing.__code__.co_firstlineno + 2
    assert results == [
        "str#1",
        f"{kind}#2",
        f"{kind}#2 is not shared: a tool made it of a table with withheld columns, and is not "
        "marked with sees_withheld",
        f"{kind}#3",
        "str#2",
        f"ValueError in line {line}; its message is not sent: it may hold withheld cells",
        {"missing": 0},
        f"{CANARY}-0",
    ]
    assert session["str#1"] == f"{CANARY}-10"
    assert CANARY not in "".join(sent(turn.request) for turn in session.requests[:-1])


class Notes:
    """Keeps what it was given."""

    def __init__(self) -> None:
        self.seen = list[str]()

    def add(self, table: pd.DataFrame) -> None:
        """Keep a withheld cell."""
        self.seen.append(table["ssn"][0])

    def show(self) -> str:
        """Return all that was kept."""
        return str(self.seen)


def test_what_an_instance_keeps_of_withheld_columns_is_not_sent() -> None:
    steps = [("Notes_add", {"table": "DataFrame#1"}), ("Notes_show", {}), "Done."]
    session = session_of(Toolbox(CAREFUL, Notes()), table("pandas", DATA), steps)
    session.tell("Go.").run()
    assert [call.error for call in session.calls] == ["", ""]
    assert session[session.calls[1].result] == f"['{CANARY}-0']"
    assert CANARY not in "".join(sent(turn.request) for turn in session.requests)


def test_values_of_a_withheld_column_as_names_of_columns_are_refused() -> None:
    wide = table("pandas", DATA).set_index("ssn").T
    text = failure(wide, "schema", CAREFUL)
    assert text == "the names of the columns are values of a withheld column"
    assert CANARY not in asked(wide, CAREFUL)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_withheld_column_follows_its_rows(engine: str) -> None:
    value = table(engine, DATA)
    late = call(value, "filter", CAREFUL, where="paid >= 28")
    assert [row["ssn"] for row in rows(late)] == [f"{CANARY}-28", f"{CANARY}-29"]
    down = call(value, "sort", CAREFUL, by=["paid"], descending=True)
    assert rows(down)[0]["ssn"] == f"{CANARY}-29"
    both = call(value, "join", CAREFUL, other=value, on=["paid"])
    assert columns_of(both) == ["ssn", "name", "paid", "name_right"]
    assert rows(call(value, "unpivot", CAREFUL, columns=["name"]))[29]["ssn"] == f"{CANARY}-29"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_whose_records_have_a_withheld_field_is_withheld(engine: str) -> None:
    records = [{"id": {"SSN ": f"{CANARY}-{n}"}, "n": n} for n in range(3)]
    value = table(engine, {"person": records, "n": [1, 2, 3]})
    assert call(value, "head", CAREFUL)["rows"] == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert failure(value, "derive", CAREFUL, column="x", expression="person.n") == (
        "person is withheld: a call cannot use it"
    )
    assert CANARY not in asked(value, CAREFUL)


def columns_of(value: Any) -> list[str]:
    return [*getattr(value, "column_names", value.columns)]


@pytest.mark.parametrize("engine", ENGINES)
def test_schema_shares_names_types_and_counts_and_no_cell(engine: str) -> None:
    schema, value = tables.sharing("schema"), table(engine, DATA)
    assert call(value, "schema", schema)["columns"]["paid"] == "Float64"
    described = call(value, "describe", schema)
    assert described["note"] == "only counts are shared"
    assert described["columns"]["paid"] == {"type": "Float64", "missing": 0, "distinct": 30}
    instead = "and only the schema is shared: use schema, missing or describe"
    pivot = {"index": ["paid"], "on": "name", "values": "ssn"}
    looks: dict[str, Any] = {"head": {}, "sample": {}, "value_counts": {"column": "name"}}
    for name, arguments in {**looks, "pivot": pivot}.items():
        said = failure(value, name, schema, **arguments)
        assert said == f"{name} would send cells, {instead}"
    session = called(value, "cast", schema, column="ssn", to="int")
    assert CANARY not in sent(session.requests[-1].request)


@pytest.mark.parametrize("engine", ENGINES)
def test_sample_shares_at_most_twenty_rows_and_values_any(engine: str) -> None:
    value = table(engine, DATA)
    assert len(call(value, "head", rows=30)["rows"]) == 20
    assert len(call(value, "sample", rows=30)["rows"]) == 20
    assert len(call(value, "value_counts", column="ssn", limit=30)["values"]) == 20
    pivot = {"index": ["name"], "on": "ssn", "values": "paid"}
    assert failure(value, "pivot", **pivot) == "ssn has 30 values, and at most 20 are shared"
    everything = tables.sharing("values")
    assert len(call(value, "head", everything, rows=30)["rows"]) == 30
    assert len(columns_of(call(value, "pivot", everything, **pivot))) == 31


def test_a_look_says_which_columns_are_withheld() -> None:
    looked = call(table("pandas", DATA), "head", CAREFUL, rows=1)
    cells = [{"name": "n0", "paid": 0.0}]
    assert looked == {"rows": cells, "rows_in_table": 30, "withheld": ["ssn"]}


def rows_of(session: Session) -> list[Any]:
    """The rows of the calls as a panel gets them."""
    return [*panel_of(session)[1][0].rows.calls]


def shop(toolbox: Toolbox, *call: Any, approve: Literal["all", "none"] = "all") -> Session:
    """Return a session in which a model of a shop calls a tool on a table."""
    model, inputs = Scripted([call, "Done."], name="scripted:shop"), {"t": table("pandas", DATA)}
    return Session(toolbox, model, scheme="flat", inputs=inputs, approve=approve).tell("Go.").run()


def test_the_card_and_the_step_say_which_rows_leave_for_the_provider() -> None:
    toolbox = tables.sharing("sample", ["ssn"])
    session = shop(toolbox, "tables_head", {"rows": 30}, approve="none")
    sentence = "Sends the first 20 rows of 2 columns, without ssn, to scripted:shop."
    assert rows_of(session)[0].downstream == sentence
    session.decide(session.pending[0], "approve").run()
    assert rows_of(session)[0].change == sentence


RANGE = "the range and the quartiles"


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("head", {"rows": 1}, "Sends the first row of 3 columns to scripted:shop."),
        ("head", {"rows": 30}, "Sends all 30 rows of 3 columns to scripted:shop."),
        ("sample", {}, "Sends 10 rows chosen at random of 3 columns to scripted:shop."),
        ("value_counts", {"column": "name"}, "Sends at most 20 values of name to scripted:shop."),
        ("describe", {"columns": ["paid"]}, f"Sends {RANGE} of paid to scripted:shop."),
        *(("schema", {}, None), ("missing", {}, None), ("drop_nulls", {}, None)),
    ],
)
def test_only_what_sends_cells_says_so(name: str, arguments: Any, sentence: str | None) -> None:
    said = rows_of(shop(tables.sharing("values"), f"tables_{name}", arguments))[0].change
    assert said == sentence if sentence else not said.startswith("Sends")


# -- outside the toolset: a question, a prompt, and the results of other tools --------------------


@dataclass
class Report:
    """A plain record that may hold a table."""

    title: str
    table: Any


class Note(BaseModel):
    """A pydantic model that may hold a table."""

    table: Any


def asked(value: Any, toolbox: Toolbox) -> str:
    """All that a model is sent in a question about a value."""
    model = Scripted([("save", {"result": "fine"})])
    session = Session(toolbox, model, scheme="flat", approve="all")
    assert session.query(value, "What is it?") == "fine"
    return "".join(sent(turn.request) for turn in last_question(session).requests)


HOLDERS: list[Any] = [
    lambda table: table,
    lambda table: [table, 1],
    lambda table: {"deep": [{"table": table}]},
    lambda table: (Report("t", table),),
    lambda table: Report("t", table),
    lambda table: Note(table=table),
    lambda table: [Note(table=table)],
    lambda table: deque([table]),
    lambda table: SimpleNamespace(table=table),
    lambda table: {table.columns[0] if hasattr(table.columns[0], "lower") else "x": table},
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_a_question_sends_no_more_of_a_table_than_is_shared(engine: str, holder: Any) -> None:
    value = holder(table(engine, DATA))
    assert CANARY not in asked(value, CAREFUL)
    schema = asked(value, tables.sharing("schema"))
    assert CANARY not in schema
    assert "29.0" not in schema


@pytest.mark.parametrize("engine", ENGINES)
def test_a_question_sends_the_shared_rows_of_the_columns_that_are_not_withheld(engine: str) -> None:
    value = table(engine, DATA)
    text = asked(value, tables.sharing("sample", ["ssn"]))
    assert "the first 20 of 30 rows, 2 columns (withheld: ssn):" in text
    assert "19.0" in text
    assert "20.0" not in text
    assert "30 rows, 2 columns (withheld: ssn):" in asked(value, CAREFUL)
    assert "29.0" in asked(value, CAREFUL)
    schema = asked(value, tables.sharing("schema", ["ssn"]))
    assert "30 rows; only names and types are shared: name (" in schema
    assert "paid (" in schema
    assert "(withheld: ssn)" in schema
    assert f"{CANARY}-0" in asked(value, tables)


FRAME = table("pandas", DATA)


@pytest.mark.parametrize(
    "value",
    [
        *(FRAME["ssn"], FRAME.iloc[0], FRAME.T, FRAME.groupby(["ssn"]).sum()),
        *(FRAME.set_index("ssn"), FRAME.set_index("ssn")["paid"], FRAME.set_index(["ssn", "name"])),
        FRAME.set_axis([("ssn", "a"), ("name", "b"), ("paid", "c")], axis=1),
        *(table("polars", DATA)["ssn"], table("polars", DATA).lazy()),
        *(table("pyarrow", DATA)["ssn"], table("pyarrow", DATA).to_batches()[0]),
    ],
)
def test_columns_rows_and_labels_of_a_table_are_withheld_too(value: Any) -> None:
    assert CANARY not in asked(value, CAREFUL)
    assert CANARY not in asked(value, tables.sharing("schema"))


@pytest.mark.parametrize("toolbox", [CAREFUL, tables.sharing("schema")])
def test_transform_sends_the_name_of_a_table_and_no_cell(toolbox: Toolbox) -> None:
    model = Scripted([("save", {"result": "DataFrame#1"})])
    session = Session(toolbox, model, scheme="flat", approve="all")
    assert len(session.transform(table("pandas", DATA), "Leave it.")) == 30
    assert CANARY not in "".join(sent(turn.request) for turn in last_question(session).requests)


def in_a_cycle() -> list[Any]:
    """Return a list that holds itself, and a table."""
    cycle: list[Any] = [table("pandas", DATA)]
    cycle.append(cycle)
    return cycle


def as_variable() -> Changed:
    """Return a table beside a session variable."""
    return Changed(table("pandas", DATA), {"seen": 1})


def in_a_namespace() -> dict[str, Any]:
    """Return a value without JSON that holds a table."""
    return {"a": [SimpleNamespace(table=table("pandas", DATA))]}


def in_an_iterator() -> Iterator[Any]:
    """Return more tables than are read."""
    return iter([table("pandas", DATA)] * 1_200)


@pytest.mark.parametrize("function", [in_a_cycle, as_variable, in_a_namespace, in_an_iterator])
@pytest.mark.parametrize("toolbox", [CAREFUL, tables.sharing("schema")])
def test_no_result_of_other_tools_quotes_cells_of_a_table(function: Any, toolbox: Toolbox) -> None:
    schema = {"type": "object", "properties": {}}
    own = Tool(function.__name__, function.__doc__, schema, function, variables={"seen": 0})
    inputs = {"notes": [Note(table=table("pandas", DATA))]}
    session = run_calls(toolbox, own, calls=[(function.__name__, {})], inputs=inputs)
    assert session.calls[0].status == "succeeded", session.calls[0].error
    assert CANARY not in "".join(sent(turn.request) for turn in session.requests)


def test_sharing_is_checked_when_it_is_chosen() -> None:
    text = r"share 'shema' is not one of schema.*Did you mean schema"
    with pytest.raises(UsageError, match=text):
        tables.sharing("shema")
