"""The version of a tool: it changes with all that the tool is made of, and says with what."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jupyter_toolcall.tools.tool_version import Version, forget, parts_of, version_of


def fingerprint(function: Any, owner: Any = None) -> str:
    return version_of(function, owner)()


SOURCE = """
    import functools
    from dataclasses import dataclass, field
    from enum import Enum
    from pydantic import BaseModel, field_validator

    SALT = 1
    PRICES = {"a": [1, 2], "b": 3}

    class Heat(Enum):
        LOW = 1
        HIGH = 2

    def oil(x): return x + 1
    def deep(x): return oil(x)

    def twice(function):
        @functools.wraps(function)
        def both(*args): return function(*args) + function(*args)
        return both

    def bare(function):
        def once(*args): return function(*args)
        return once

    @twice
    def wrapped(x): return x * 7
    @bare
    def hidden(x): return x * 8
    @functools.lru_cache
    def cached(x): return x * 9

    ACTIONS = {"oil": oil, "cached": cached}

    @dataclass
    class Fries:
        shape: str = "STICKS"
        parts: list = field(default_factory=lambda: [1])

        def __post_init__(self): self.salted = False
        def cook(self): return self.season()
        def season(self): return 5
        def unused(self): return 6
        def __repr__(self): return "Fries"
        @property
        def weight(self): return 10
        @staticmethod
        def origin(): return "here"

    class Base:
        RATE = 2
        def boil(self): return 1

    class Potato(Base):
        def peel(self): return self.wash() + self.boil() + self.RATE
        def wash(self): return oil(1)
        def other(self): return 3

    class Order(BaseModel):
        size: int = 1

        @field_validator("size")
        @classmethod
        def small(cls, value): return min(value, 10)

    @dataclass(frozen=True)
    class Limits:
        most: int = 3

    LIMITS = Limits(most=4)

    def outer(n):
        def inner(x): return x + n
        return inner

    def tool_plain(x): return x + SALT
    def tool_helper(x): return deep(x)
    def tool_default(x, by=2, how=oil, table={"k": 1}): return x
    def tool_table(x): return PRICES["a"]
    def tool_dispatch(x): return ACTIONS[x](x)
    def tool_enum(x): return Heat.LOW
    def tool_wrapped(x): return wrapped(x) + hidden(x) + cached(x)
    def tool_makes(x): return Fries()
    def tool_uses(x: "Fries") -> int: return x.cook() + x.weight
    def tool_static(x): return Fries.origin()
    def tool_model(x): return Order(size=x)
    def tool_frozen(x): return LIMITS.most
    tool_closed = outer(3)
    tool_partial = functools.partial(oil, x=4)
    @twice
    def tool_decorated(x): return oil(x)
"""


def notebook(source: str = SOURCE) -> dict[str, Any]:
    """Return the variables of a notebook in which this is a cell."""
    module = sys.modules["a_notebook"] = ModuleType("a_notebook")
    exec(compile(textwrap.dedent(source), "a cell", "exec"), vars(module))
    return vars(module)


def changed(tool: str, old: str, new: str) -> set[str]:
    """Return the parts of a tool that are others after an edit of the notebook."""
    assert SOURCE.count(old) == 1, old
    owner, _, name = tool.rpartition(".")
    found = []
    for space in (notebook(), notebook(SOURCE.replace(old, new))):
        cls = space[owner] if owner else None
        function = getattr(cls, name) if owner else space[name]
        found.append((fingerprint(function, cls), parts_of(function, cls)))
    (before, parts), (after, others) = found
    differing = {name for name in {*parts, *others} if parts.get(name) != others.get(name)}
    assert (before != after) == bool(differing)
    return differing


@pytest.mark.parametrize(
    ("tool", "old", "new", "parts"),
    [
        ("tool_plain", "return x + SALT", "return x - SALT", {""}),
        ("tool_plain", "SALT = 1", "SALT = 2", {"SALT"}),
        ("tool_helper", "return x + 1", "return x + 2", {"oil"}),
        ("tool_default", "by=2", "by=3", {""}),
        ("tool_default", "return x + 1", "return x + 2", {"oil"}),
        ("tool_default", '{"k": 1}', '{"k": 2}', {""}),
        ("tool_table", '"b": 3', '"b": 4', {"PRICES"}),
        ("tool_dispatch", "return x * 9", "return x * 90", {"cached"}),
        ("tool_enum", "LOW = 1", "LOW = 0", {"Heat", "Heat.LOW"}),
        ("tool_wrapped", "return x * 7", "return x * 70", {"wrapped"}),
        ("tool_wrapped", "return x * 8", "return x * 80", {"hidden"}),
        ("tool_wrapped", "return x * 9", "return x * 90", {"cached"}),
        ("tool_wrapped", "function(*args) + function(*args)", "function(*args)", {"wrapped"}),
        ("tool_makes", "self.salted = False", "self.salted = True", {"Fries.__post_init__"}),
        ("tool_makes", '"STICKS"', '"SLICES"', {"Fries"}),
        ("tool_makes", "lambda: [1]", "lambda: [2]", {"Fries.<lambda>"}),
        ("tool_uses", "return self.season()", "return -self.season()", {"Fries.cook"}),
        ("tool_uses", "return 5", "return 55", {"Fries.season"}),
        ("tool_uses", "return 10", "return 100", {"Fries.weight"}),
        ("tool_static", 'return "here"', 'return "there"', {"Fries.origin"}),
        ("tool_model", "min(value, 10)", "min(value, 11)", {"Order.small"}),
        ("tool_model", "size: int = 1", "size: int = 2", {"Order"}),
        ("tool_frozen", "Limits(most=4)", "Limits(most=5)", {"LIMITS", "LIMITS.most"}),
        ("tool_closed", "outer(3)", "outer(4)", {"n"}),
        ("tool_closed", "return x + n", "return x - n", {""}),
        ("tool_partial", "oil, x=4", "oil, x=5", {""}),
        ("tool_partial", "return x + 1", "return x + 2", {""}),
        ("tool_decorated", "return x + 1", "return x + 2", {"oil"}),
        ("Potato.peel", "self.wash() + self.boil()", "self.wash() - self.boil()", {""}),
        ("Potato.peel", "return oil(1)", "return oil(2)", {"Potato.wash"}),
        ("Potato.peel", "return x + 1", "return x + 2", {"oil"}),
        ("Potato.peel", "def boil(self): return 1", "def boil(self): return 2", {"Base.boil"}),
        ("Potato.peel", "RATE = 2", "RATE = 3", {"Base.RATE"}),
        ("Potato.peel", "def other(self): return 3", "def other(self): return 4", set()),
        ("tool_helper", "import functools", "# a comment\n\n    import functools", set()),
        ("tool_makes", "return 6", "return 66", set()),
        ("tool_makes", 'return "Fries"', 'return "Chips"', set()),
        ("tool_plain", '"b": 3', '"b": 4', set()),
        # What only stands behind a dot there is no variable of the notebook.
        ("tool_model", "SALT = 1", "SALT = 1\n    size = 5", set()),
        ("tool_uses", "SALT = 1", "SALT = 1\n    weight = 5\n    cook = 6", set()),
    ],
)
def test_a_tool_is_another_with_what_it_is_made_of_and_with_nothing_else(
    tool: str, old: str, new: str, parts: set[str]
) -> None:
    assert changed(tool, old, new) == parts


REACHED = """
    import collections, datetime, functools, math, operator, re
    import numpy as np

    math = type(math)("math")
    math.floor = len

    class Inner:
        port = 80
        def __str__(self): return "Ann"
        def go(self): return 1

    class Client:
        __slots__ = ("to", "inner", "sent", "__dict__")
        def __init__(self):
            self.to, self.inner, self.sent = "Ann", Inner(), 0
        def send(self):
            self.sent += 1
            return self.to

    client = Client()
    CONF, CLIENTS = {"to": "Ann"}, [Client()]
    DAY, WORD, ROW = datetime.date(2026, 1, 1), re.compile("a"), np.arange(3)
    FIRST, COUNTS = operator.itemgetter(0), collections.defaultdict(lambda: 1)
    helper = finder = lambda: 1

    @functools.singledispatch
    def by_type(x): return 0
    def make(): return Inner()

    def tool(x):
        client.send()
        math.floor(3)
        FIRST([client.inner.go(), CONF["to"], CLIENTS, DAY, WORD, ROW, COUNTS])
        return make().go(), by_type(x)

    def tool_by_text(x):
        import a_notebook
        return getattr(a_notebook, "hel" + "per")() + globals()["finder"]()
"""


@pytest.mark.parametrize(
    "change",
    [
        *("client.to = 'Eve'", "client.send = lambda: 'Eve'", "client.inner = None"),
        *("CLIENTS[0].to = 'Eve'", "CONF.update(to='Eve')", "CLIENTS.append(1)"),
        *("Inner.go = lambda self: 2", "Client.send = lambda self: 2", "make = lambda: 2"),
        *("DAY = datetime.date(2027, 1, 1)", "WORD = re.compile('b')", "ROW[0] = 7"),
        *("FIRST = operator.itemgetter(1)", "by_type.register(int, lambda x: 1)"),
        "COUNTS.default_factory = lambda: 2",
        # A text beside `getattr` or `globals` may be a name.
        *("math.floor = lambda text: 'Eve'", "helper = lambda: 2", "finder = lambda: 2"),
    ],
)
def test_a_tool_is_another_once_anything_that_it_reaches_is_changed(change: str) -> None:
    space = notebook(REACHED)
    tool = space["tool_by_text" if change[:6] in ("helper", "finder") else "tool"]
    before = fingerprint(tool)
    exec(change, space)
    assert fingerprint(tool) != before


@pytest.mark.parametrize(
    "text", ["f'{x}'", "str(x)", "'%s' % x", "'{}'.format(x)", "'{x}'.format_map({'x': x})", "x"]
)
def test_how_a_value_is_shown_counts_where_code_makes_a_text_of_it(text: str) -> None:
    space = notebook(f"{REACHED}\n    x = Inner()\n    def show(): return {text}\n")
    before = fingerprint(space["show"])
    exec("Inner.__str__ = lambda self: 'Eve'", space)
    assert (fingerprint(space["show"]) == before) is (text == "x")


@pytest.mark.parametrize(
    "statement",
    [
        *(
            *("COUNT += x", "LOG.append(x)", "LOG[1:] = [x]", "DONE[x] = 1", "DONE[0] += 1"),
            "del DONE[0]",
        ),
        *("SHELF['a'].append(x)", "SHELF.setdefault(x, []).append(x)", "SHELF['b'] = [x]"),
        *("pot.seen[x] = 1", "pot.inner.n += 1", "POTS[0].seen.update({x: 1})", "pot.stir(x)"),
        *("[LOG.append(i) for i in range(3)]", "(lambda: LOG.append(x))()", "held()"),
    ],
)
def test_what_a_tool_changes_is_its_state_and_all_else_counts(statement: str) -> None:
    space = notebook(f"""
    COUNT, LOG, DONE, SHELF, PRICES = 0, [1], {{0: 1}}, {{"a": []}}, {{"a": 1}}

    class Pot:
        def __init__(self):
            self.n, self.seen, self.size = 0, {{}}, 3
            self.inner = None
        def stir(self, x):
            self.n += x

    pot, POTS = Pot(), [Pot()]
    pot.inner = Pot()

    def hold(n):
        def count():
            nonlocal n
            n += 1
        return count
    held = hold(0)

    def tool(x):
        global COUNT
        {statement}
        return PRICES["a"], pot.size, POTS[0].size, held
    """)
    before = fingerprint(space["tool"])
    space["tool"](7)
    assert fingerprint(space["tool"]) == before
    for change in ("PRICES['a'] = 2", "pot.size = 4", "POTS[0].size = 5"):
        exec(change, space)
        after = fingerprint(space["tool"])
        assert after != before, change
        before = after


@pytest.mark.parametrize(
    ("made", "edited"),
    [
        ("numpy.int64(1)", "numpy.int64(2)"),
        ("numpy.add", "numpy.subtract"),
        ("collections.defaultdict(list, a=1)", "collections.defaultdict(list, a=2)"),
        ("collections.namedtuple('P', 'x', defaults=[1])", "collections.namedtuple('P', 'x')"),
        ("attrs.make_class('P', {'x': attrs.field(default=1)})", "attrs.make_class('P', ['x'])"),
        ("range(3)", "range(4)"),
        ("bytearray(b'a')", "bytearray(b'b')"),
        ("collections.ChainMap({'a': 1})", "collections.ChainMap({'a': 2})"),
        ("json", "math"),
        ("json.dumps", "json.loads"),
        ("[[datetime.date(2026, 1, 1)]]", "[[datetime.date(2026, 1, 2)]]"),
        ("operator.itemgetter(len)", "len"),
    ],
)
def test_a_constant_of_any_kind_counts(made: str, edited: str) -> None:
    source = "import attrs, collections, datetime, json, math, numpy, operator\nKEPT = {}\n"
    spaces = [notebook(source.format(value)) for value in (made, made, edited)]
    before, again, after = (fingerprint(eval("lambda: KEPT", space)) for space in spaces)
    assert before == again != after


def test_a_module_beside_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    # A cached file is told from a newer one of the same size by its second.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "beside_the_notebook.py"
    space: dict[str, Any] = {"__name__": "a_notebook"}
    found = []
    for n in (1, 2):
        file.write_text(
            f"RATE = {n}\ndef inner(x):\n    return x * RATE\ndef fry(x):\n    return inner(x)\n"
        )
        importlib.invalidate_caches()
        sys.modules.pop("beside_the_notebook", None)
        exec("import beside_the_notebook as b\nfrom beside_the_notebook import fry", space)
        exec("def one(x):\n    return b.fry(x)\ndef two(x):\n    return fry(x)", space)
        exec("def three(x):\n    import beside_the_notebook as c\n    return c.fry(x)", space)
        found.append([parts_of(space[name]) for name in ("one", "two", "three")])
    sys.modules.pop("beside_the_notebook", None)
    for before, after in zip(*found, strict=True):
        assert {name for name in after if before.get(name) != after[name]} == {"RATE"}
        assert {"inner", "fry"} <= {*after}


def test_what_is_installed_is_not_followed() -> None:
    space = notebook(
        "import json, pydantic, yaml\n"
        "def f(x):\n    return json.dumps(yaml.safe_load(x), default=pydantic.TypeAdapter)\n"
    )
    # The module yaml is installed as PyYAML.
    packages = {f"{name} {importlib.metadata.version(name)}" for name in ("pydantic", "PyYAML")}
    assert {*parts_of(space["f"])} == {"", "json", "pydantic", "yaml", *packages}


def test_a_version_is_read_again_once_it_was_forgotten() -> None:
    space = notebook()
    inner = Version(lambda: fingerprint(space["tool_helper"]))
    outer = Version(lambda: f"outer {inner()}", inner)
    before = inner(), outer()
    exec("def oil(x):\n    return 'new'", space)
    assert (inner(), outer()) == before
    forget(outer)
    assert inner() != before[0]
    assert outer() == f"outer {inner()}"


def test_what_has_no_code_has_the_version_of_its_name() -> None:
    assert fingerprint(len) == fingerprint(len) != fingerprint(max)


def test_functions_that_call_one_another_have_a_version() -> None:
    space = notebook("def a(x):\n    return b(x)\ndef b(x):\n    return a(x)\n")
    assert {*parts_of(space["a"])} == {"", "b"}
