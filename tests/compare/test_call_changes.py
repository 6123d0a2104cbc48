"""What a call changed: the object before it, and how its own object differs from that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.compare.comparison_rows import DifferenceRow
from jupyter_toolcall.jupyter.panel_commands import parse_command
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.view.contract import Delta, Notice, Rows, Whole
from jupyter_toolcall.view.contract_rows import CallRow, ObjectRow
from jupyter_toolcall.view.view_rows import all_rows


@dataclass(frozen=True)
class Account:
    """A bank account."""

    owner: str
    balance: int = 0

    def deposit(self, amount: int) -> Account:
        """Pay in."""
        return replace(self, balance=self.balance + amount)

    def give(self, to: Account, amount: int) -> Account:
        """Pay to somebody else."""
        return replace(to, balance=to.balance + amount)

    def same(self) -> Account:
        """Return the account itself."""
        return self

    def count(self) -> int:
        """Return the balance."""
        return self.balance


def session(*calls: tuple[str, dict[str, Any]], **inputs: Any) -> Session:
    box = Toolbox(Account, drop_empty, fill, total)
    given = inputs or {"alice": Account("alice", 5), "bob": Account("bob")}
    script = Scripted([*calls, "Done."])
    return Session(box, script, scheme="flat", approve="all", inputs=given).tell("Go.").run()


def drop_empty(table: pd.DataFrame) -> pd.DataFrame:
    """Drop the rows with empty cells."""
    return table.dropna()


def total(table: pd.DataFrame, index: bool) -> pd.DataFrame:
    """Sum by city."""
    by_city = table.groupby("city").sum()
    return by_city if index else by_city.reset_index()


def fill(table: pd.DataFrame, value: int) -> pd.DataFrame:
    """Fill the empty cells."""
    return table.fillna(value)


def shown(made: Session) -> tuple[dict[str, ObjectRow], CallRow, dict[str, DifferenceRow]]:
    """Return the objects by id, the first call, and the differences by id, as they are saved."""
    rows = all_rows(made.cursor, "s")
    differences = {row.id: row for row in rows.differences}
    return {row.id: row for row in rows.objects}, rows.calls[0], differences


@given(st.integers(-1_000, 1_000))
def test_a_method_changes_the_object_that_it_is_called_on(amount: int) -> None:
    objects, call, differences = shown(session(("Account_deposit", {"amount": amount})))
    # The newest account is taken where none is named.
    assert objects[call.before].name == "Account#2"
    if amount:
        assert call.change == f"balance: 0 → {amount} ({amount:+})"
        [part] = differences[f"change {call.before} {call.object}"].parts
        assert (part.name, part.left, part.right) == ("balance", "0", str(amount))
    else:
        assert call.change == "changed nothing"


def test_an_object_of_the_same_type_is_compared_with_the_one_called_on() -> None:
    asked = {"Account": "Account#1", "to": "Account#2", "amount": 3}
    objects, call, _ = shown(session(("Account_give", asked)))
    assert objects[call.before].name == "Account#1"
    assert call.change == 'owner: "alice" → "bob"; balance: 5 → 3 (-2)'


@pytest.mark.parametrize("tool", ["Account_same", "Account_count"])
def test_a_call_that_makes_no_object_has_changed_none(tool: str) -> None:
    _, call, differences = shown(session((tool, {"Account": "Account#1"})))
    assert (call.before, call.change, differences) == ("", "", {})


def test_a_table_is_changed_cell_by_cell_or_loses_rows() -> None:
    table = pd.DataFrame({"price": [1.0, None, 3.0], "city": ["Oslo", "Bergen", "Voss"]})
    made = session(("fill", {"table": "DataFrame#1", "value": 9}), sales=table)
    _, call, differences = shown(made)
    assert call.change == "price: 1 cell filled"
    [part] = differences[f"change {call.before} {call.object}"].parts
    assert [(cell.row, cell.column, cell.left, cell.right) for cell in part.cells] == [
        ("1", "price", "empty", "9.0")
    ]
    _, call, differences = shown(session(("drop_empty", {"table": "DataFrame#1"}), sales=table))
    assert "1 row removed" in call.change
    [rest, part] = differences[f"change {call.before} {call.object}"].parts
    assert (rest.cells, part.name) == ((), "Removed rows")
    assert [(cell.row, cell.column, cell.left, cell.right) for cell in part.cells] == [
        ("1", "price", "empty", ""),
        ("1", "city", "Bergen", ""),
    ]


def test_the_box_of_a_table_shows_the_changed_columns_in_the_order_of_the_table() -> None:
    table = pd.DataFrame({"city": ["Oslo", "Voss"], "id": [1, 2], "price": [None, 3.0], "z": 0})
    objects, call, _ = shown(session(("fill", {"table": "DataFrame#1", "value": 9}), sales=table))
    preview = objects[call.object].preview
    assert preview.columns == ("city", "id", "price", "z")
    assert preview.lines == ("city  price  z", "Oslo  9.0    0", "Voss  3.0    0")
    assert preview.others == "+ 1 column"


@pytest.mark.parametrize("index", [False, True])
def test_a_table_of_groups_is_a_new_table_of_which_no_cell_has_changed(index: bool) -> None:
    cities = ["Oslo", "Bergen", "Voss", "Oslo", "Bergen", "Bergen", "Oslo"]
    table = pd.DataFrame({"price": range(7), "city": cities})
    _, call, differences = shown(
        session(("total", {"table": "DataFrame#1", "index": index}), sales=table)
    )
    groups = "7 rows → 3, one for each city"
    assert call.change == ("a new table, 3 × 1" if index else groups)
    assert [part.cells for part in differences[f"change {call.before} {call.object}"].parts] == [()]


class Panel:
    """What a panel was sent."""

    def __init__(self) -> None:
        self.rows = list[Rows]()

    def tell(self, notice: Notice) -> None:
        if isinstance(notice, (Whole, Delta)):
            self.rows.append(notice.rows)


def test_a_panel_is_sent_how_two_objects_differ_when_it_asks() -> None:
    panel = Panel()
    made = session(("Account_deposit", {"Account": "Account#1", "amount": 2}))
    drive = PanelController(made, panel.tell)
    drive.greet()
    [whole] = panel.rows
    assert not whole.differences
    call = whole.calls[0]
    wish = {"type": "show_difference", "left": call.before, "right": call.object}
    assert parse_command(wish)
    drive.receive(wish)
    drive.apply_commands()
    assert [row.id for row in panel.rows[-1].differences] == [f"change {call.before} {call.object}"]
    drive.receive({**wish, "left": "nothing"})
    drive.apply_commands()
    assert panel.rows[-1].differences == ()


def test_objects_are_labelled_by_what_tells_them_apart() -> None:
    table = pd.DataFrame({"a": [1]})
    rows = all_rows(session(sales=table, alice=Account("alice"), account=Account("")).cursor, "s")
    labels = {row.name: row.label for row in rows.objects}
    assert labels == {"DataFrame#1": "sales", "Account#1": "alice", "Account#2": ""}


def test_the_empty_cells_of_a_table_are_counted_by_column() -> None:
    table = pd.DataFrame({"a": [1, None], "b": [1, 2], "c": [None, None]})
    [row] = all_rows(session(sales=table).cursor, "s").objects
    assert row.preview.empty_cells == (("a", "1"), ("c", "2"))
