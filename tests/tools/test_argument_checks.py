"""`@tool(check=f)`: a person's own validator of the arguments of a call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, from_definition, tool
from jupyter_toolcall.core.errors import CallError, DefinitionError
from jupyter_toolcall.engine.person_model import check_person_call
from jupyter_toolcall.jupyter.panel_commands import apply_command, parse_command
from jupyter_toolcall.schemes import SCHEMES
from jupyter_toolcall.schemes.messages import Results
from jupyter_toolcall.toolsets import tables
from tests.example_tools import run_calls


@dataclass
class Crate:
    """A crate."""

    items: list[str] = field(default_factory=list)


def add_to(check: Callable[..., object]) -> Session:
    """Return a session whose model adds an apple to a crate, by a tool with this check."""

    @tool(check=check)
    def add(crate: Crate, item: str, count: int = 1) -> Crate:
        """Add items."""
        return Crate([*crate.items, *[item] * count])

    return session_of(add, ("add", {"crate": "Crate#1", "item": "apple"}))


def session_of(source: Any, *replies: Any, **options: Any) -> Session:
    options = {"inputs": {"crate": Crate(["pear"])}, "approve": "ask", **options}
    return run_calls(source, calls=replies, **options)


def raises(error: BaseException) -> Callable[..., object]:
    def check(**arguments: Any) -> None:
        raise error

    return check


@pytest.mark.parametrize("result", [None, True])
def test_a_call_that_its_check_accepts_waits_as_any_other(result: object) -> None:
    seen: list[dict[str, Any]] = []

    def check(**arguments: Any) -> object:
        seen.append(arguments)
        return result

    session = add_to(check).run()
    assert [call.tool for call in session.pending] == ["add"]
    assert seen[0] == {"crate": Crate(["pear"]), "item": "apple"}
    assert session.decide(session.pending[0].id, "approve").run()["Crate#2"].items[-1] == "apple"


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (raises(ValueError("no apples in this crate")), "add: no apples in this crate"),
        (raises(AssertionError("no apples")), "add: no apples"),
        (raises(CallError("take a bag", {"crate": "is too small"})), "add: take a bag"),
        (raises(ValueError()), "add: its check raised ValueError: "),
        (raises(KeyError("apple")), "add: its check raised KeyError: 'apple'"),
        (raises(SystemExit(3)), "add: its check raised SystemExit: 3"),
        (lambda crate: None, "add: its check raised TypeError: "),
        (lambda **arguments: False, "add: its check returned False, so the call did not run; "),
        (lambda **arguments: "no apples", "add: its check returned a value of type str, so the "),
    ],
)
def test_a_call_that_its_check_refuses_fails_before_anybody_is_asked(
    check: Callable[..., object], text: str
) -> None:
    session = add_to(check).run()
    assert session.calls[0].status == "failed"
    assert session.calls[0].error.startswith(text)
    assert "\n" not in session.calls[0].error
    results = session.requests[1].request.messages[-1]
    assert isinstance(results, Results)
    assert session.calls[0].error in results.results[0].content
    assert list(session.objects) == ["Crate#1"]


def test_a_check_cannot_change_what_is_recorded() -> None:
    def spoil(crate: Crate, item: str) -> None:
        crate.items.append("a worm")

    session = add_to(spoil).run()
    session = session.decide(session.pending[0].id, "approve").run()
    assert session["Crate#1"].items == ["pear"]
    assert session["Crate#2"].items == ["pear", "apple"]


def test_an_edit_is_checked_and_the_form_says_what_is_wrong() -> None:
    def few(crate: Crate, item: str, count: int = 1) -> None:
        if count > 3:
            raise CallError("add at most 3", {"count": "at most 3"})

    session = add_to(few).run()
    row = session.pending[0]
    digest = session.cursor.prepared(row, session.state)[0].approval_digest
    edit = {"type": "edit", "call": row.id, "approval_digest": digest}
    arguments = {"crate": "Crate#1", "item": "fig"}
    with pytest.raises(CallError, match=r"^add: add at most 3$") as refused:
        apply_command(session, parse_command({**edit, "arguments": {**arguments, "count": 4}}))
    assert refused.value.fields == {"count": "at most 3"}
    assert session.pending[0].id == row.id
    wish = parse_command({**edit, "arguments": {**arguments, "count": 2}})
    assert apply_command(session, wish).run()["Crate#2"].items == ["pear", "fig", "fig"]


def test_a_person_in_the_models_place_is_told_before_the_call_is_recorded() -> None:
    session = add_to(raises(ValueError("no apples")))
    with pytest.raises(CallError, match=r"^add: no apples$"):
        check_person_call(session.cursor, "add", {"crate": "Crate#1", "item": "apple"})


class Basket:
    """A basket."""

    def __init__(self, items: tuple[str, ...] = ()) -> None:
        self.items = items

    @tool(check=lambda Basket, item: item not in Basket.items)
    def put(self, item: str) -> Basket:
        """Put something into it."""
        return Basket((*self.items, item))


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_check_of_a_method_gets_its_object_in_every_scheme(scheme: str, native: bool) -> None:
    starts: dict[str, list[Any]] = {
        "select": [("selectTools", {"tools": ["Basket_put"]})],
        "current": [("_use_Basket", {"id": "Basket#1"})],
    }
    put = ("Basket_put", {"item": "fig"})
    options: Any = {"scheme": scheme, "native": native, "approve": "all"}
    replies = [*starts.get(scheme, []), put, put]
    session = session_of(Basket, *replies, inputs={"basket": Basket()}, **options).run()
    assert [call.status for call in session.calls[-2:]] == ["succeeded", "failed"]
    assert "its check returned False" in session.calls[-1].error


def paying(check: Callable[..., object]) -> Toolbox:
    @tool(check=check)
    def pay(n: int) -> int:
        """Pay."""
        return n

    return Toolbox(pay)


def paid(*sources: Any) -> Session:
    """Return a session that paid 6, and then 5."""
    return run_calls(*sources, calls=[("pay", {"n": 6}), ("pay", {"n": 5})])


def at_most(most: int) -> Callable[..., object]:
    return lambda n: n <= most or None


@pytest.mark.parametrize(
    ("check", "why"),
    [
        *((at_most(5), ""), (at_most(6), "its tool pay uses what was changed: most")),
        (lambda n: n > 0, "its tool pay uses what was changed: its check, most"),
    ],
)
def test_the_code_of_the_check_is_part_of_the_code_of_the_tool(
    tmp_path: Path, check: Callable[..., object], why: str
) -> None:
    script = Scripted([("pay", {"n": 1}), "Done."])
    session = Session(paying(at_most(5)), script, scheme="flat").tell("Go.").run()
    session.decide("call_1", "approve").run().save(tmp_path / "session.jsonl")
    loaded = Session.load(tmp_path / "session.jsonl", paying(check), script)
    assert [found.why for found in loaded.outdated()] == ([why] if why else [])
    assert [call.id for call in loaded.replay().run().pending] == (["call_1"] if why else [])


class Limit:
    """A check that is an object."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, n: int) -> None:
        self.check(self.most, n)

    @staticmethod
    def check(most: int, n: int) -> None:
        if n > most:
            raise ValueError(f"pay at most {most}")


@pytest.mark.parametrize(
    "check", [Limit(5), Limit(5).__call__, functools.partial(Limit.check, 5)], ids=type
)
def test_whatever_can_be_called_is_a_check(check: Callable[..., object]) -> None:
    calls = paid(*paying(check)).calls
    assert [call.error or call.result for call in calls] == ["pay: pay at most 5", 5]
    assert "its check" in paying(check)["pay"].parts()


def test_the_function_of_a_definition_has_its_check_and_ends_the_run() -> None:
    @tool(check=Limit(5), ends_run=True)
    def pay(n: int) -> int:
        """Pay."""
        return n

    function = {"name": "pay", "parameters": {"n": {"type": "integer"}}}
    session = paid(from_definition({"type": "action", "tool": {"function": function}}, action=pay))
    assert [call.error or call.result for call in session.calls] == ["pay: pay at most 5", 5]
    assert session.text == ""


@pytest.mark.parametrize("sees_withheld", [True, False])
def test_a_check_of_a_table_quotes_no_withheld_value(sees_withheld: bool) -> None:
    def refuse(table: pd.DataFrame) -> None:
        raise ValueError(f"not for {table['ssn'][0]}")

    @tool(check=refuse, sees_withheld=sees_withheld)
    def rows(table: pd.DataFrame) -> int:
        """Count rows."""
        return len(table)

    careful = tables.sharing("values", withhold=["ssn"])
    people = pd.DataFrame({"ssn": ["123-45"]})
    call = ("rows", {"table": "DataFrame#1"})
    error = run_calls(careful, rows, calls=[call], inputs={"people": people}).calls[0].error
    assert ("123-45" in error) == sees_withheld
    assert error.startswith("rows: " if sees_withheld else "rows: ValueError in line ")


async def waits() -> None: ...


@pytest.mark.parametrize(
    ("check", "said"),
    [("no function", "give a function"), (3, "give a function"), (waits, "check is async")],
)
def test_a_check_has_to_be_an_ordinary_function(check: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        tool(check=check)
