"""The version of a tool: it changes with all that the tool is made of, and says with what."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.tools.tool_version import Version, fingerprint, keeping_state, parts_of

SOURCE = """
    import functools
    from dataclasses import dataclass, field
    from enum import Enum
    from pydantic import BaseModel, field_validator

    SALT = 1
    PRICES = {"a": [1, 2], "b": 3}
    COUNT = 0
    LOG = []

    class Heat(Enum):
        LOW = 1
        HIGH = 2

    def oil(x):
        return x + 1

    def deep(x):
        return oil(x)

    def twice(function):
        @functools.wraps(function)
        def both(*args):
            return function(*args) + function(*args)
        return both

    def bare(function):
        def once(*args):
            return function(*args)
        return once

    @twice
    def wrapped(x):
        return x * 7

    @bare
    def hidden(x):
        return x * 8

    @functools.lru_cache
    def cached(x):
        return x * 9

    ACTIONS = {"oil": oil, "cached": cached}

    @dataclass
    class Fries:
        shape: str = "STICKS"
        parts: list = field(default_factory=lambda: [1])

        def __post_init__(self):
            self.salted = False

        def cook(self):
            return self.season()

        def season(self):
            return 5

        def unused(self):
            return 6

        def __repr__(self):
            return "Fries"

        @property
        def weight(self):
            return 10

        @staticmethod
        def origin():
            return "here"

    class Base:
        RATE = 2
        def inherited(self):
            return 1

    class Potato(Base):
        def peel(self):
            return self.wash() + self.inherited() + self.RATE

        def wash(self):
            return oil(1)

        def other(self):
            return 3

    class Order(BaseModel):
        size: int = 1

        @field_validator("size")
        @classmethod
        def small(cls, value):
            return min(value, 10)

    @dataclass(frozen=True)
    class Limits:
        most: int = 3

    LIMITS = Limits(most=4)

    class Scale:
        def weigh(self):
            return 11

    SCALE = Scale()

    def outer(n):
        def inner(x):
            return x + n
        return inner

    def tool_plain(x):
        return x + SALT
    def tool_helper(x):
        return deep(x)
    def tool_default(x, by=2, how=oil, table={"k": 1}):
        return x
    def tool_table(x):
        return PRICES["a"]
    def tool_dispatch(x):
        return ACTIONS[x](x)
    def tool_enum(x):
        return Heat.LOW
    def tool_wrapped(x):
        return wrapped(x) + hidden(x) + cached(x)
    def tool_makes(x):
        return Fries()
    def tool_uses(x: "Fries") -> int:
        return x.cook() + x.weight
    def tool_static(x):
        return Fries.origin()
    def tool_model(x):
        return Order(size=x)
    def tool_frozen(x):
        return LIMITS.most
    def tool_object(x):
        return SCALE.weigh()
    def tool_counts(x):
        global COUNT
        COUNT += 1
        LOG.append(x)
        return COUNT
    tool_closed = outer(3)
    tool_partial = functools.partial(oil, x=4)
    @twice
    def tool_decorated(x):
        return oil(x)
"""


def notebook(source: str = SOURCE) -> dict[str, Any]:
    """Return the variables of a notebook in which this is a cell."""
    module = sys.modules["a_notebook"] = ModuleType("a_notebook")
    exec(compile(textwrap.dedent(source), "a cell", "exec"), vars(module))
    return vars(module)


def changed(tool: str, old: str, new: str, owner: str = "") -> set[str]:
    """Return the parts of a tool that are others after an edit of the notebook."""
    assert SOURCE.count(old) == 1, old
    found = []
    for space in (notebook(), notebook(SOURCE.replace(old, new))):
        cls = space[owner] if owner else None
        function = getattr(cls, tool) if owner else space[tool]
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
        (
            "tool_helper",
            "return oil(x)\n\n    def twice",
            "return -oil(x)\n\n    def twice",
            {"deep"},
        ),
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
        ("tool_makes", '"STICKS"', '"SLICES"', {"Fries.__init__"}),
        ("tool_makes", "lambda: [1]", "lambda: [2]", {"Fries.<lambda>"}),
        ("tool_uses", "return self.season()", "return -self.season()", {"Fries.cook"}),
        ("tool_uses", "return 5", "return 55", {"Fries.season"}),
        ("tool_uses", "return 10", "return 100", {"Fries.weight"}),
        ("tool_static", 'return "here"', 'return "there"', {"Fries.origin"}),
        ("tool_model", "min(value, 10)", "min(value, 11)", {"Order.small"}),
        ("tool_model", "size: int = 1", "size: int = 2", {"Order"}),
        ("tool_frozen", "Limits(most=4)", "Limits(most=5)", {"LIMITS"}),
        ("tool_object", "return 11", "return 12", {"Scale.weigh"}),
        ("tool_closed", "outer(3)", "outer(4)", {"n"}),
        ("tool_closed", "return x + n", "return x - n", {""}),
        ("tool_partial", "oil, x=4", "oil, x=5", {""}),
        ("tool_partial", "return x + 1", "return x + 2", {"oil"}),
        ("tool_decorated", "return x + 1", "return x + 2", {"oil"}),
    ],
)
def test_a_tool_is_another_with_what_it_is_made_of(
    tool: str, old: str, new: str, parts: set[str]
) -> None:
    assert changed(tool, old, new) == parts


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("self.wash() + self.inherited()", "self.wash() - self.inherited()", {""}),
        ("return oil(1)", "return oil(2)", {"Potato.wash"}),
        ("return x + 1", "return x + 2", {"oil"}),
        (
            "def inherited(self):\n            return 1",
            "def inherited(self):\n            return 2",
            {"Base.inherited"},
        ),
        ("RATE = 2", "RATE = 3", {"Base.RATE"}),
        ("return 3\n\n    class Order", "return 4\n\n    class Order", set()),
    ],
)
def test_a_method_is_another_with_the_methods_that_it_calls(
    old: str, new: str, parts: set[str]
) -> None:
    assert changed("peel", old, new, "Potato") == parts


@pytest.mark.parametrize(
    ("tool", "old", "new"),
    [
        ("tool_helper", "import functools", "# a comment\n\n    import functools"),
        ("tool_makes", "return 6", "return 66"),
        ("tool_plain", '"b": 3', '"b": 4'),
        ("tool_counts", "COUNT = 0", "COUNT = 7"),
        # What only stands behind a dot there is no variable of the notebook.
        ("tool_model", "SALT = 1", "SALT = 1\n    size = 5"),
        ("tool_uses", "SALT = 1", "SALT = 1\n    weight = 5\n    cook = 6"),
    ],
)
def test_a_tool_is_the_same_with_what_it_is_not_made_of(tool: str, old: str, new: str) -> None:
    assert changed(tool, old, new) == set()


def test_a_module_beside_the_notebook_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_what_has_no_code_has_the_version_of_its_name() -> None:
    assert fingerprint(len) == fingerprint(len) != fingerprint(max)


def test_functions_that_call_one_another_have_a_version() -> None:
    space = notebook("def a(x):\n    return b(x)\ndef b(x):\n    return a(x)\n")
    assert {*parts_of(space["a"])} == {"", "b"}


# -- laws ---------------------------------------------------------------------------------------

HELD = (
    SOURCE
    + """
    from types import SimpleNamespace
    import pydantic

    class Client:
        url = "a"
        def __init__(self):
            self.to, self.oven, self.tags = "Ann", Base(), {"a"}
        def send(self, x):
            return self.address, self.url, self.oven.inherited()
        @property
        def address(self):
            return self.to
    class Slotted:
        __slots__ = ("to", "self")
        def __init__(self):
            self.to, self.self = b"Ann", self
    client, slotted = Client(), Slotted()
    CONF = {"to": ["Ann", {"b", "a"}], "more": SimpleNamespace(by=oil, at=(1, 2.0))}
    @functools.singledispatch
    def kind(x):
        return "any"
    def make():
        return Potato()
    def step(count):
        def once(x):
            nonlocal count
            count += x
            return count
        return once
    def tool_all(x, memo={}):
        memo[x] = LOG.append(x)
        CACHE[x] = client.made = [Potato()]
        return client.send(x), slotted.to, CONF["to"], kind(x), make().wash(), pydantic.BaseModel
    CACHE = {}
    tool_steps = step(1)
"""
)


@pytest.mark.parametrize(
    "change",
    [
        *("Client.url = 'b'", "client.to = 'Bob'", "client.oven.own = 1", "client.tags.add('b')"),
        *("client.send = oil", "Client.send = oil", "Base.inherited = oil", "Potato.wash = deep"),
        *("Client.address = property(oil)", "slotted.to = b'Bob'", "slotted.self = None"),
        *("CONF['to'][0] = 'Bob'", "CONF['to'][1].add('c')", "CONF['more'].by = deep"),
        *("CONF['more'].at = (1, 2)", "CONF.update(more=1)", "CONF['to'].reverse()"),
        *("kind.register(int, oil)", "kind = oil", "make = oil", "tool_all.by = 1"),
        *("tool_all.__defaults__ = ({1: 1},)", "oil.__code__ = deep.__code__", "CACHE[0] = 1"),
        *("oil.__defaults__ = (1,)", "client.__class__ = Base", "tool_all.__wrapped__ = oil"),
    ],
)
def test_any_change_of_what_is_reached_changes_the_version(change: str) -> None:
    space = notebook(HELD)
    tool = space["tool_all"]
    version = Version(lambda: fingerprint(tool))
    outer = Version(lambda: f"outer {version()}", version)
    before = outer()
    outer.forget()
    assert outer() == before
    exec(change, space)
    assert outer() == before
    outer.forget()
    assert outer() != before


def versions() -> list[str]:
    space = notebook(HELD)
    tools = {name: value for name, value in space.items() if name.startswith("tool_")}
    return [f"{name} {fingerprint(tool)}" for name, tool in tools.items()]


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_a_version_is_the_same_in_each_process(seed: str) -> None:
    source = f"import runpy; print(*runpy.run_path({__file__!r})['versions'](), sep='\\n')"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    printed = subprocess.check_output([sys.executable, "-c", source], env=environment, text=True)
    assert printed.splitlines() == versions()


def test_what_a_tool_changes_while_it_runs_leaves_all_versions_as_they_are() -> None:
    space = notebook(HELD)
    tools = [space[name] for name in ("tool_all", "tool_counts", "tool_steps")]
    before = [*map(fingerprint, tools)]
    for n in range(3):
        with keeping_state():
            assert [tool(n) for tool in tools][1] == n + 1
    assert [*map(fingerprint, tools)] == before
    # A counter and a list that it fills are state also where the notebook calls it.
    tools[1](4), tools[2](5)
    assert [*map(fingerprint, tools)] == before
    space["CACHE"][9] = "from elsewhere"
    assert fingerprint(tools[0]) != before[0]


def test_calls_that_fill_a_cache_are_not_outdated() -> None:
    space = notebook("CACHE = {}\ndef f(x: int) -> int:\n    return CACHE.setdefault(x, [x])[0]")
    calls = [("f", {"x": 1}), ("f", {"x": 2}), "done"]
    session = Session(Toolbox(space["f"]), Scripted(calls), scheme="flat", approve="all")
    assert session.tell("Go.").outdated() == ()
    assert session.replay().run().head == session.head
    space["CACHE"][1] = [5]
    assert len(session.outdated()) == 0


def test_of_an_installed_package_the_version_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    space = notebook("import json, pydantic\ndef f(x):\n    return json.dumps(pydantic.Field(x))")
    before = parts_of(space["f"])
    assert {*before} == {"", "pydantic"}
    monkeypatch.setattr("jupyter_toolcall.tools.tool_version.package_version", lambda root: "0.1")
    assert parts_of(space["f"])["pydantic"] != before["pydantic"]
