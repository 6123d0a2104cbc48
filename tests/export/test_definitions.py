"""A script has the very functions that ran, and says which it cannot have."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell as Shell

from jupyter_toolcall import Scripted, Session, Toolbox
from tests.export.worlds import exported, plain, run

TWICE = """
import functools
def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **named):
        return 2 * function(*args, **named)
    return wrapper
@twice
def add(a: int) -> int:
    return a + 1
tools = [add]
"""
_numbers = itertools.count()
HEAD = "from jupyter_toolcall import Scripted, Session, Toolbox, tool\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a source text as a module."""
    monkeypatch.syspath_prepend(tmp_path)

    def imported(source: str, head: str = HEAD) -> ModuleType:
        name = f"own_module_{next(_numbers)}"
        (tmp_path / f"{name}.py").write_text(head + source)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return imported


@pytest.fixture
def shell() -> Iterator[Shell]:
    """Return a shell whose cells are the main module."""
    before = sys.modules["__main__"]
    yield Shell()
    sys.modules["__main__"] = before


def played(tools: Any, calls: Any) -> Session:
    script = Scripted([*calls, "Done."])
    return Session(Toolbox(*tools), script, scheme="flat", approve="all").tell("Go.")


def text_of(session: Session) -> str:
    """Return the exported script, which was run and made what the session has."""
    path = exported(session)
    made = run(path)
    for number, call in enumerate(session.calls, 1):
        assert plain(made[f"result_{number}"]) == plain(call.result), path.read_text()
    return path.read_text()


def said(text: str) -> str:
    return " ".join(text.replace("\n#", "").split())


WRITTEN = {
    "a function that is defined again later in its file": """
def add(a: int) -> int:
    return a + 1
tools = [add]
def add(a: int) -> int:
    return a - 1
""",
    "a decorated function that is defined again later": TWICE
    + """@twice
def add(a: int) -> int:
    return a - 1
""",
    "a decorated function whose wrapper does not say what it wraps": """
def twice(function):
    def add(a: int) -> int:
        return 2 * inner(a)
    inner = function
    return add
@twice
def plus(a: int) -> int:
    return a + 1
tools = [plus]
""",
    "a function with an attribute": """
@tool(read_only=True)
def add(a: int) -> int:
    return a + add.by
add.by = 3
tools = [add]
""",
    "a cached function": """
import functools
@functools.cache
def add(a: int) -> int:
    return a + 1
tools = [add]
""",
    "closures over an int, a text and a list": """
def make(k, sign, more):
    def add(a: int) -> str:
        return sign * (a + k + sum(more))
    return add
for f in (make(1, "+", [2, 3]), make(100, "-", [])):
    tools = [f]
    s = Session(Toolbox(f), Scripted([("add", {"a": 1}), "ok"]), approve="all")
""",
    "two closures over the same variable": """
def make(k):
    def add(a: int) -> int:
        return a + k
    def times(a: int) -> int:
        return a * k
    return add, times
tools = [make(2)[0], make(3)[1]]
""",
    "a function in a function, with the helper, the module and the class beside it": """
def main():
    import math as m
    class Scale:
        by = 2
        def up(self, a):
            return a * self.by
    def helper(a):
        '''Help,
           on two lines.'''
        return Scale().up(a) + m.floor(1.5)
    def add(a: int) -> int:
        # Zero is counted as one.
        return helper(a) if a else add(a + 1)
    s = Session(Toolbox(add), Scripted([("add", {"a": 1}), "ok"]), approve="all")
    return add
tools = [main()]
""",
    "records and choices of a function": """
import enum
from pydantic import BaseModel
def main():
    class Mode(enum.Enum):
        A = 1
    class Order(BaseModel):
        n: int
        mode: Mode = Mode.A
    def add(a: int, order: Order = Order(n=3), mode: Mode = Mode.A) -> int:
        return a + order.n + order.mode.value + mode.value
    return add
tools = [main()]
""",
    "functions that call each other in a function": """
def main():
    def is_even(a: int) -> bool:
        return a == 0 or is_odd(a - 1)
    def is_odd(a: int) -> bool:
        return a != 0 and is_even(a - 1)
    return is_even, is_odd
tools = main()
""",
    "a default that the function around it has": """
def make(k):
    def add(a: int, by: int = k) -> int:
        return a + by
    return add
tools = [make(5)]
""",
    "a lambda as a default": """
def add(a: int, key: object = lambda a: a + 1) -> int:
    return key(a)
tools = [add]
def add(a: int, key: object = lambda a: a - 1) -> int:
    return key(a)
""",
    "constants of one block, and variables that are more than one statement says": """
try:
    import no_such_module as fast
    is_fast = True
except ImportError:
    fast, is_fast = None, False
rate, sizes, times = 2, [], 1
ratio = 1
sizes.append(3)
times += 1
times += 1
globals().update(ratio=9, more=4)
def add(a: int) -> int:
    return a * ratio + more + sizes[0] * times if not (fast or is_fast) else rate
tools = [add]
ratio = 100
""",
    "functions that take their arguments by position": """
import functools
def bare(function):
    return functools.wraps(function)(lambda *values: function(*values))
@functools.singledispatch
def kind(a: int, end: str = ".") -> str:
    return f"{a}{end}"
@kind.register
def _(a: int, end: str = ".") -> str:
    return f"int {a}{end}"
@bare
def add(a: int, by: int = 2) -> int:
    return a + by
def below(by: int = 9, a: int = 1, /) -> int:
    return by - a
tools = [kind, add, below]
""",
    "a partial, whatever holds it": """
import functools
class Oven:
    heat = 5
    def warm(self, a: int, by: int) -> int:
        return a + by + self.heat
oven = Oven()
def add(a: int, by: int) -> int:
    return a + by
for f in (functools.partial(add, by=7), functools.partial(add, by=9)):
    tools = [f, functools.partial(oven.warm, by=7)]
    s = Session(Toolbox(f), Scripted([("add", {"a": 1}), "ok"]), approve="all")
""",
    "a function of the name that `symtable` gives to modules": """
k = 3
def top(a: int) -> int:
    return a + k
tools = [top]
""",
    "a function below the check for a program": """
if __name__ != "__main__":
    k = 3
    def add(a: int) -> int:
        return a + k
    tools = [add]
    s = Session(Toolbox(add), Scripted([("add", {"a": 1}), "ok"]), approve="all")
""",
}


@pytest.mark.parametrize("source", WRITTEN.values(), ids=WRITTEN)
def test_a_script_has_the_function_that_ran(source: str, module: Any) -> None:
    tools = module(source).tools
    names = Toolbox(*tools).names
    text = text_of(played(tools, [(name, {"a": 4}) for name in names]))
    assert "does not run here" not in text
    assert "Not found" not in text
    assert "Session(" not in text
    assert text.count("# Zero is") == source.count("# Zero is")
    assert "for " not in text.partition("The session ---")[0].replace("and free of", "")


UNWRITTEN = {
    "a closure over what no literal says": (
        """
import threading
def make(lock):
    def add(a: int) -> int:
        with lock:
            return a + 1
    return add
tools = [make(threading.Lock())]
""",
        "it is add, which uses lock, a lock that cannot be written as code",
    ),
    "a closure that changes its list": (
        """
def make(log):
    def add(a: int) -> int:
        log.append(a)
        return len(log)
    return add
tools = [make([])]
""",
        "it is add, which changes log from call to call",
    ),
    "a lambda": (
        """
add = lambda a: a + 1
add.__name__ = "add"
add.__annotations__ = {"a": int}
tools = [add]
""",
        "it is a lambda, which has no name that a script can call",
    ),
    "a lambda that another one replaced": (
        """
key = lambda a: a + 1
def add(a: int) -> int:
    return key(a)
tools = [add]
globals().update(key=lambda a: a + 9)
""",
        "it is key, a lambda, which has no name that a script can call",
    ),
    "code without a module": (
        """
space = {}
exec("def add(a: int) -> int: return a + 1", space)
add = space["add"]
tools = [add]
""",
        "it is add, which no module has under a name",
    ),
    "code without a file": (
        """
exec("def add(a: int) -> int: return a + 1")
tools = [add]
""",
        "it is add, whose source is not at hand",
    ),
    "a decorator that is defined again": (
        TWICE
        + """def twice(function):
    return function
""",
        "it is add, whose decorator cannot be found",
    ),
}


@pytest.mark.parametrize(("source", "why"), UNWRITTEN.values(), ids=UNWRITTEN)
def test_what_cannot_be_written_is_named_as_data(source: str, why: str, module: Any) -> None:
    text = text_of(played(module(source).tools, [("add", {"a": 4}), ("add", {"a": 4})]))
    assert f"1 add(a=4) does not run here: {why}." in said(text)
    assert "def " not in text


@pytest.mark.parametrize("head", [HEAD, ""], ids=["written out", "imported"])
@pytest.mark.parametrize(
    "edit",
    [("a + 1", "a - 1"), ("= 0", "= 1"), ("def add", "def other")],
    ids=["its body", "its default", "its name"],
)
def test_a_function_whose_file_was_edited_since_is_never_another_one(
    edit: tuple[str, str], head: str, module: Any
) -> None:
    own = module("def add(a: int, by: int = 0) -> int:\n    return a + 1 + by\n", head)
    session = played([own.add], [("add", {"a": 4})])
    path = Path(own.__file__)
    path.write_text(path.read_text().replace(*edit))
    importlib.reload(own)
    assert "does not run here: it is add, whose source was changed" in said(text_of(session))


@pytest.mark.parametrize("head", [HEAD, ""], ids=["written out", "imported"])
@pytest.mark.parametrize(
    "source",
    [
        "def add(a: int) -> int:\n    return a + {0}\n",
        "def make(k):\n    def add(a: int) -> int:\n        return a + k\n    return add\n"
        "add = make({0})\n",
    ],
    ids=["functions", "closures"],
)
def test_functions_of_one_name_are_not_mixed_up(source: str, head: str, module: Any) -> None:
    one, two = (module(source.format(number), head).add for number in (1, 100))
    two.__name__ = "take"
    text = text_of(played([one, two], [("add", {"a": 4}), ("take", {"a": 4})]))
    assert "it is add, a name that means something else in this script" in said(text)


def test_two_closures_of_one_definition_are_not_mixed_up(module: Any) -> None:
    source = "def make(k):\n    def add(a: int) -> int:\n        return a + k\n    return add\n"
    make = module(source).make
    one, two = make(1), make(100)
    two.__name__ = "take"
    text = text_of(played([one, two], [("add", {"a": 4}), ("take", {"a": 4})]))
    assert "k = 1\n" in text
    assert "it is add, a name that means something else in this script" in said(text)


def test_a_class_that_is_defined_again_is_written_as_it_was(module: Any) -> None:
    own = module("""
class Counter:
    step = 1
    def __init__(self, n: int = 0):
        self.n = n
    def up(self, by: int = 1) -> int:
        return self.n + by * self.step
first = Counter
class Counter(first):
    step = 2
    def up(self, by: int = 1) -> int:
        return self.n - by * self.step
""")
    session = played([own.first(5)], [("Counter_up", {"by": 2})])
    assert "return self.n + by" in text_of(session)
    assert "step = 2" not in text_of(session)


def test_a_function_that_a_later_cell_defines_again_is_the_one_of_its_cell(shell: Shell) -> None:
    for by in (1, 2):
        shell.run_cell(
            f"def helper(a, by={by}):\n    return a + by\n"
            "def add(a: int) -> int:\n    return helper(a)",
            store_history=True,
        )
        shell.run_cell(f"add_{by}, helper_{by} = add, helper", store_history=True)
        tools = [shell.user_ns["add"]]
        text = text_of(played(tools, [("add", {"a": 4})]))
        assert f"by={by}" in text
    assert "helper_" not in text


def test_a_cell_that_ran_again_exports_what_ran_and_only_a_change_is_marked(shell: Shell) -> None:
    cell = """import functools
def double(function):
    return functools.wraps(function)(lambda a: 2 * function(a))
K = 3
def helper(n):
    return n * K
@double
def add(a: int) -> int:
    return helper(a)
"""
    shell.run_cell(f"{cell}first = add", store_history=True)
    session = played([shell.user_ns["first"]], [("add", {"a": 4})])
    shell.run_cell(cell, store_history=True)
    assert "CHECK" not in text_of(session)
    shell.run_cell("def helper(n):\n    return n * K + 0", store_history=True)
    assert "CHECK: since this ran: add uses what was changed: helper" in text_of(session)


def test_a_function_of_a_cell_that_also_imports_a_module_is_written(shell: Shell) -> None:
    cell = """import math
import textwrap as words
def whole(a: float, also=lambda x: math.floor(x)) -> int:
    return also(a)
def root(a: int) -> int:
    return whole(math.sqrt(a))
class Line:
    def __init__(self, text: str) -> None:
        self.text = words.dedent(text)
def line(text: str) -> Line:
    return Line(text)
"""
    shell.run_cell(cell, store_history=True)
    root, line = (shell.user_ns[name] for name in ("root", "line"))
    session = played([root, line], [("root", {"a": 16}), ("line", {"text": " a"})])
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]
    path = exported(session)
    assert run(path)["result_1"] == 4
    text = path.read_text()
    assert "lambda x: math.floor(x)" in text
    assert "return whole(math.sqrt(a))" in text
    assert "self.text = words.dedent(text)" in text
    assert "FILL IN" not in text
