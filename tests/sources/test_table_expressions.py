"""Expressions on tables: what they mean on each engine, and what none of them can do."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.sources.table_tools import derive_column, filter_rows
from tests.sources.tables import ENGINES, called, rows, table


def kept(engine: str, where: str) -> list[int]:
    """The counts of the rows that a condition keeps."""
    return [row["count"] for row in rows(filter_rows(table(engine), where))]


def derived(engine: str, expression: str) -> list[Any]:
    return [row["x"] for row in rows(derive_column(table(engine), "x", expression))]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("where", "counts"),
    [
        ("price > 2", [1, 4]),
        ("2 < price <= 9", [1, 4]),
        ("price != 2", [1, 3, 4]),
        ("not price > 2", [2, 3, 5, 6]),
        ("~(price > 2)", [2, 3, 5, 6]),
        ("price == null", [2]),
        ("price is not None", [1, 3, 4, 5, 6]),
        ("city not in ['Rome']", [2, 5, 6]),
        ("city in ('Rome', null)", [1, 4]),
        ("count in [1, 6]", [1, 6]),
        ("(city == 'Rome') & fresh", [1, 4]),
        ("(city == 'Rome') | (city == \"Bonn\")", [1, 4, 6]),
        ("`unit price` >= count + 0.5", [1, 2, 3, 4, 5, 6]),
        ("`unit price` < -1 or count ** 2 == 36", [6]),
        ("fresh == true", [1, 3, 4]),
        ("fresh and not false", [1, 3, 4]),
        ("endswith(city, 'e') or city.str.lower() == 'bonn'", [1, 4, 6]),
        ("slice(city, 0, 1) == 'O'", [2, 5]),
        ("replace(city, 'o', '') == 'Rme'", [1, 4]),
        ("strip(city) == 'Oslo'", [2, 5]),
        ("day.dt.month() == 7", [4]),
        ("hour(day) == 23 or weekday(day) == 9", [6]),
        ("day in ['2024-01-31T09:30']", [1, 5]),
        ("'2024-01-31T10:00' < day", [4, 6]),
        ("abs(price - 3) < 1", [1]),
        ("round(price, 0) == 4 or floor(price) == 9", [1, 4]),
        ("coalesce(price, 0) == 0", [2]),
        ("(1 if fresh else 2) == 2", [2, 5, 6]),
        ("count % 3 == 0", [3, 6]),
    ],
)
def test_a_condition_keeps_the_same_rows_on_each_engine(
    engine: str, where: str, counts: list[int]
) -> None:
    assert kept(engine, where) == counts


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("count / 2", [0.5, 1, 1.5, 2, 2.5, 3]),
        ("-count + 2 * 3", [5, 4, 3, 2, 1, 0]),
        (
            "city + '-' + city",
            ["Rome-Rome", "Oslo-Oslo", None, "Rome-Rome", "Oslo-Oslo", "Bonn-Bonn"],
        ),
        ("len(city)", [4, 4, None, 4, 4, 4]),
        ("price > 2", [True, False, False, True, False, False]),
        ("'a' if count < 3 else 'b'", ["a", "a", "b", "b", "b", "b"]),
        ("7", [7] * 6),
        ("minute(day)", [30, 30, None, 30, 30, 30]),
    ],
)
def test_an_expression_has_the_same_values_on_each_engine(
    engine: str, expression: str, values: list[Any]
) -> None:
    assert derived(engine, expression) == values


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("price > 'x'", "a number is not compared with a text"),
        ("day > 'soon'", "'soon' is no date; write one as '2024-01-31'"),
        ("lower(price) == 'x'", "lower takes a text, not a number"),
        ("lowr(city) == 'x'", "there is no function lowr. Did you mean lower?"),
        ("price", "price is no condition."),
        ("true", "true is no condition."),
        ("price = 3", "price = 3 is no expression (invalid syntax"),
        ("price and fresh", "and, or and not stand between conditions"),
        ("city * 3 == 'x'", "* takes numbers, not a text"),
        ("contains(city)", "contains takes 2 arguments, and got 1"),
        ("price / 0 > 1", "/ 0 has no result"),
        ("cit == 'Rome'", "there is no column 'cit'. Did you mean city?"),
        ("`unit prices` > 1", "there is no column 'unit prices'. Did you mean unit price?"),
    ],
)
def test_an_error_says_in_one_line_what_is_wrong(where: str, text: str) -> None:
    with pytest.raises(CallError) as caught:
        kept("polars", where)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)


HOSTILE = [
    "__import__('os').system('touch {marker}')",
    "open('{marker}', 'w')",
    "exec('open({marker!r}, \"w\")')",
    "city.__class__.__mro__[1].__subclasses__()",
    "().__class__.__bases__[0].__subclasses__()",
    "city.str.__init__.__globals__['os']",
    "getattr(city, 'to_native')()",
    "city.to_native().to_csv('{marker}')",
    "[open('{marker}', 'w') for x in [1]]",
    "(x := open('{marker}', 'w'))",
    "(lambda: open('{marker}', 'w'))()",
    "{{open('{marker}', 'w'): 1}}",
    'f\'{{open("{marker}", "w")}}\'',
    "'%s' % city",
    "'{{0.__class__}}'.format(city)",
    "9**9**9 > price",
    "9**9**9**9",
    "price ** 9 ** 9",
    "price ** (9 ** 9)",
    "price ** count",
    "'a' * 999999999 == city",
    "city * 999999999 == 'x'",
    "city + 'a' * 10 ** 9",
    "1 << 99999999",
    "count << 60",
    "count @ count",
    "await city",
    "yield city",
    "*city",
    "city[0]",
    "city[:]",
    "price if",
    "print(city)",
    "contains(city, *['a'])",
    "contains(city, **{{'b': 1}})",
    "contains(city, '(a+)+$')",
    "lower(x=city)",
    "price in range(10 ** 9)",
    "city in city",
    "city in []",
    "b'bytes' == city",
    "1j > price",
    "... == price",
    "1e999 > price",
    "price > " + "9" * 5000,
    "price > " + "9" * 1000,
    "a; import os",
    "import os",
    "price > 1\nimport os",
    "price > 1 # `",
    "`" * 99,
    "`__class__` == 1",
    "`a" + "b" * 5000,
    "\x00",
    "price > 1\x00",
    "\ud800 == 1",
    "'\ud800' == city",
    "city == '\\N{{BOGUS}}'",
    "city == '\\d'",
    "column__0__ > `price`",
    "price is 1",
    "is_null(open('{marker}', 'w'))",
    "is_null(is_null(price))",
    "nw.col('price') > 1",
    "pl.col('price').map_elements(print) > 1",
    "replace(city, '', 'x' ) == 'a'",
    "slice(city, 0, 10 ** 9) == 'a'",
    "slice(city, -1, 1) == 'a'",
    "round(price, 10 ** 9) > 1",
    "price > float('nan')",
    "year(city) == 1",
    "day > '99999-01-01'",
    "day > '0001-01-01T00:00:00+14:00'",
    "(" * 46 + "price" + ")" * 46 + " > 1",
]
NEST = [
    "({})",
    "not {}",
    "-{}",
    "~{}",
    "abs({})",
    "[{}]",
    "{} if fresh else {}",
    "{} and {}",
    "{} > 1",
    "({}).__class__",
    "f'{{{}}}'",
    "lambda: {}",
    "{}[0]",
    "(x := {})",
    "{} ** 9",
    "{} * {}",
    "{}()",
]


def hostile_texts(marker: str) -> list[str]:
    """10,000 hostile texts: the listed ones, nested in each other, cut, repeated and mutated."""
    chance = random.Random(17)
    basis = [
        text.replace("{marker}", marker).replace("{{", "{").replace("}}", "}") for text in HOSTILE
    ]
    texts = [*basis]
    symbols = "`'\"()[]{}.,:;=<>!&|^~*/%+-@#\\\n\t \0"
    while len(texts) < 10_000:
        text = chance.choice(basis)
        match chance.randrange(5):
            case 0:
                for _ in range(chance.choice([1, 3, 30, 300])):
                    text = chance.choice(NEST).replace("{}", text[:3000])
            case 1:
                text = text[: chance.randrange(len(text) + 1)] + chance.choice(basis)
            case 2:
                text = chance.choice([" and ", " + ", ", ", "`", "("]).join(
                    [text] * chance.choice([2, 90])
                )
            case 3:
                at = chance.randrange(len(text) + 1)
                text = text[:at] + "".join(chance.choices(symbols, k=3)) + text[at:]
            case _:
                text = chance.choice("([-~") * chance.choice([50, 500, 1999]) + text
        texts.append(text[:20_000])
    return texts


def refusal(use: Callable[..., Any], text: str) -> str:
    """What an expression is refused with on a table; "" where it is a harmless one."""
    try:
        use(table("polars"), text)
    except CallError as error:
        return str(error)
    return ""


def derive(value: Any, text: str) -> Any:
    return derive_column(value, "x", text)


def test_ten_thousand_hostile_expressions_run_no_code_and_end_in_one_line(tmp_path: Any) -> None:
    marker = tmp_path / "was-here"
    texts = hostile_texts(str(marker))
    errors = [refusal(use, text) for text in texts for use in (filter_rows, derive)]
    assert len(errors) == 20_000
    assert len([error for error in errors if error]) > 19_000
    assert not [error for error in errors if "\n" in error or len(error) > 1_000]
    assert not marker.exists()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_expression_is_an_ordinary_failed_call_on_each_engine(
    engine: str, text: str, tmp_path: Any
) -> None:
    marker = tmp_path / "was-here"
    written = text.replace("{marker}", str(marker)).replace("{{", "{").replace("}}", "}")
    call = called(table(engine), "filter", where=written.replace("\ud800", "x")).calls[0]
    assert call.status in ("failed", "succeeded")
    assert not marker.exists()
