"""What a panel is told of two branches is what `session.diff` finds, whatever the branches are.

The laws: *agreement* (rows say what `session.diff` says), *freshness* (a comparison that is looked
at is told again as it changes, and no other).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.compare.comparison import CallPair, Comparison
from jupyter_toolcall.compare.comparison_rows import (
    MOST,
    ComparisonRow,
    DifferenceRow,
    PairRow,
    PartRow,
    change_parts,
)
from jupyter_toolcall.compare.differences import Same
from jupyter_toolcall.compare.values import difference
from jupyter_toolcall.core.call_record import CallRecord
from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.models import Reply, Request
from jupyter_toolcall.view.contract import Delta, Notice, Refused, Rows, Whole
from jupyter_toolcall.view.contract_rows import CallRow, ObjectRow
from jupyter_toolcall.view.previews import preview
from tests.examples import examples
from tests.wild import Clay, wild_box, wild_branch, wild_branches, wild_session

seeds = st.integers(0, 10_000)


@dataclass
class Panel:
    """Rows by table and id, as a panel keeps them; what it was told of comparisons is counted."""

    calls: dict[str, CallRow] = field(default_factory=dict)
    objects: dict[str, ObjectRow] = field(default_factory=dict)
    comparisons: dict[str, ComparisonRow] = field(default_factory=dict)
    differences: dict[str, DifferenceRow] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    """The heads of branches, by what a comparison calls them."""
    told: int = 0
    refused: str = ""

    def tell(self, notice: Notice) -> None:
        match notice:
            case Whole(rows):
                self.__init__(told=self.told)  # type: ignore[misc]
                self.put(rows)
            case Delta(rows):
                self.put(rows)
            case Refused(reason=reason):
                self.refused = reason

    def put(self, rows: Rows) -> None:
        for each in rows.drop:
            getattr(self, each.table, {}).pop(each.id, None)
        for table in ("calls", "objects", "comparisons", "differences"):
            getattr(self, table).update({row.id: row for row in getattr(rows, table)})
        self.heads.update({"current" if b.current else b.id: b.id for b in rows.branches})
        self.told += len(rows.comparisons)


def driven(session: Session) -> tuple[PanelController, Panel]:
    panel = Panel()
    drive = PanelController(session, panel.tell)
    drive.receive({"type": "hello"})
    return drive, panel


def obeyed(drive: PanelController, **wish: Any) -> None:
    drive.inbox.append(wish)
    drive.apply_commands()


# -- what a comparison says, in words that both sides have ---------------------------------


def facts(compared: Comparison) -> list[Any]:
    """Return what `session.diff` says of each pair of calls."""
    return [_fact(pair) for pair in compared.calls]


def _fact(pair: CallPair) -> Any:
    calls = [None if call is None else _call(call) for call in (pair.left, pair.right)]
    kind = "shared" if pair.shared else "same" if pair.same else "differs"
    changes = {(change.what, change.name) for change in pair.changes}
    made = [(each.left, each.right, each.same) for each in pair.objects]
    return calls, kind, changes, [] if pair.shared else made


def _call(call: CallRecord) -> Any:
    return call.step, call.tool, call.status, dict(call.arguments)


def shown_facts(row: ComparisonRow, panel: Panel) -> list[Any]:
    """Return what the rows say of each pair of calls, by what a panel knows."""
    own = sorted((r for r in panel.calls.values() if not r.branch), key=lambda r: r.step)
    shared = [PairRow(call.id, call.id, "shared") for call in own[: row.shared]]
    return [_shown_fact(pair, panel) for pair in (*shared, *row.pairs)]


def _shown_fact(pair: PairRow, panel: Panel) -> Any:
    rows = [panel.calls[each] if each else None for each in (pair.left, pair.right)]
    calls = [r and (r.step, r.tool, r.status, dict(r.arguments)) for r in rows]
    objects = [(each.left, each.right, each.same) for each in pair.objects]
    if pair.made:
        objects = [(pair.left, pair.right, pair.made == "same")]
    names = [
        (*(panel.objects[key].name if key else "" for key in keys), same) for *keys, same in objects
    ]
    return calls, pair.kind, {(change.what, change.name) for change in pair.changes}, names


# -- the laws ------------------------------------------------------------------------------


@settings(max_examples=examples(15))
@given(seeds, st.integers(0, 3))
def test_agreement_the_rows_of_any_two_branches_say_what_diff_says(seed: int, at: int) -> None:
    found = wild_branches(seed)
    shown = found[at % len(found)]
    drive, panel = driven(shown)
    for left in panel.heads:
        for right in panel.heads:
            ids = panel.heads[left], panel.heads[right]
            obeyed(drive, type="compare", left=ids[0], right=ids[1])
            row = panel.comparisons[f"{left} {right}"]
            compared = shown.fork(ids[1]).diff(shown.fork(ids[0]))
            assert shown_facts(row, panel) == facts(compared)
            assert row.same == compared.same
            assert (row.text is None) == isinstance(compared.text, Same)


@settings(max_examples=examples(15))
@given(seeds)
@example(0)
def test_freshness_what_is_looked_at_is_as_it_would_be_told_again(seed: int) -> None:
    rng = random.Random(seed)
    drive, panel = driven(wild_branches(seed, 2)[-1])
    obeyed(drive, type="compare")
    for _ in range(3):
        try:
            drive.session = wild_branch(rng, drive.session)
        except CallError:
            continue
        drive.publish("finished")
        if not panel.comparisons:  # There was no other branch; now the panel asks again.
            obeyed(drive, type="compare")
        saved = drive.whole()
        assert tuple(panel.comparisons.values()) == saved.comparisons
        changes = {f"change {call.before} {call.object}" for call in saved.calls if call.before}
        assert {row.id for row in saved.differences} - changes <= panel.differences.keys()


def test_freshness_what_nobody_looks_at_is_not_told() -> None:
    drive, panel = driven(wild_branches(3)[-1])
    drive.publish("finished")
    assert panel.told == 0
    obeyed(drive, type="compare")
    assert [row.unasked for row in panel.comparisons.values()] == [True]
    drive.publish("finished")
    assert panel.told == 1, "what has not changed is not told again"
    obeyed(drive, type="compare", on=False)
    assert not panel.comparisons
    drive.session.tell("Go on.")
    drive.publish("finished")
    assert panel.told == 1


def test_freshness_a_comparison_is_sent_again_when_a_run_pauses_and_not_before() -> None:
    turn = ["Done.", ("Clay_form", {"Clay": "Clay#1", "shape": "ball"})]
    given = {"clay": Clay()}
    main = Session(
        wild_box(), Scripted([turn[1], *turn * 9]), scheme="flat", approve="all", inputs=given
    )
    main.tell("Form it.")
    session = main.edit(main.calls[0], shape="bowl").run()
    drive, panel = driven(session)
    obeyed(drive, type="compare")
    told = panel.told
    for n in range(4):
        session.tell(f"Go on, {n}.")
        drive.publish("running")
    assert panel.told == told
    drive.publish("finished")
    assert panel.told == told + 1


def test_a_panel_that_connects_begins_without_comparisons() -> None:
    drive, panel = driven(wild_branches(3)[-1])
    obeyed(drive, type="compare")
    drive.receive({"type": "hello"})
    assert not panel.comparisons
    drive.publish("finished")
    assert not panel.comparisons


def test_one_branch_alone_is_refused() -> None:
    drive, panel = driven(wild_session(1))
    obeyed(drive, type="compare")
    assert "no other branch" in panel.refused


# -- sizes ---------------------------------------------------------------------------------


def long_session(calls: int, shape: str = "a") -> tuple[Session, list[str]]:
    """Return a session of calls on one object; what is put into the list is asked for next."""
    shapes = [shape]

    def model(request: Request) -> Reply:
        asked = ({"Clay": "Clay#1", "shape": f"{shapes[-1]} {n}"} for n in range(calls))
        return Scripted([*(("Clay_form", each) for each in asked), "Done."])(request)

    made = Session(
        wild_box(),
        model,
        scheme="flat",
        approve="all",
        inputs={"clay": Clay()},
        max_turns=calls + 5,
    )
    return made.tell("Form it."), shapes


def size(rows: Rows) -> int:
    return len(str(sendable_data(rows.comparisons)))


def test_objects_that_a_later_pair_of_calls_hands_on_are_marked_as_repeated() -> None:
    script: list[Any] = [
        ("Clay_form", {"Clay": "Clay#1", "shape": "a"}),
        ("save", {"pot": "Clay#2"}),
        "Done.",
    ]
    main = Session(
        wild_box(),
        Scripted(script),
        scheme="flat",
        approve="all",
        inputs={"clay": Clay()},
        outputs={"pot": Clay},
    ).tell("Form it.")
    drive, _ = driven(main.edit(main.calls[0], shape="b").run())
    rows = drive.whole()
    formed, saved = rows.comparisons[0].pairs
    assert formed.made == "differ"
    assert [(each.same, each.repeated) for each in saved.objects] == [(False, True)]
    assert [row.id for row in rows.differences][:1] == [f"{formed.left} {formed.right}"]


def quiet(text: str) -> str:
    return text.upper()


def loud(text: str) -> str:
    return f"{text.upper()}!"


def change_rows(before: object, after: object) -> list[PartRow]:
    return [*change_parts(difference(before, after), before, after)]


def tidied(upper: Callable[[str], str]) -> Session:
    """Return a session that writes a name in capitals, and keeps the cheap rows of a table."""

    def keep(table: pd.DataFrame, below: int) -> pd.DataFrame:
        return table[table["price"] < below]

    calls = [("upper", {"text": "inn"}), ("keep", {"table": "DataFrame#1", "below": 500})]
    box = Toolbox(keep, tool(name="upper")(upper))
    table = pd.DataFrame({"price": [100 * n for n in range(1, 10)], "stars": 3})
    model = Scripted([*calls, "Done."])
    return Session(box, model, scheme="flat", approve="all", inputs={"t": table}).tell("Tidy.")


def test_of_tables_the_rows_that_one_alone_has_are_shown_and_a_changed_tool_is_named() -> None:
    session = tidied(quiet)
    assert "upper was changed" in str(session.diff(tidied(loud)))
    drive, _ = driven(session.edit(session.calls[1], below=200).run())
    [row] = drive.whole().differences[:1]
    [part] = (part for part in row.parts if part.cells)
    assert (part.name, part.says) == ("3 rows only here", "")
    assert [cell.left for cell in part.cells] == ["200", "3", "300", "3", "400", "3"]
    assert all(cell.right_at == 0 and cell.right == "" for cell in part.cells)


def test_of_tables_with_other_columns_the_first_rows_of_both_are_shown() -> None:
    def by(table: pd.DataFrame, column: str) -> pd.DataFrame:
        return table.groupby(column, as_index=False).agg({"n": "sum"})

    orders = pd.DataFrame({"city": ["Rome", "Bonn"], "item": ["lamp"] * 2, "n": [1, 2]})
    script = [("by", {"table": "DataFrame#1", "column": "city"}), ("save", {"best": "$DataFrame"})]
    main = Session(
        *(Toolbox(by), Scripted([*script, "Done."])),
        scheme="flat",
        approve="all",
        inputs={"orders": orders},
        outputs={"best": pd.DataFrame},
    ).tell("Sum up.")
    drive, _ = driven(main.edit(main.calls[0], column="item").run())
    parts = [part for part in drive.whole().differences[0].parts if part.unfolded]
    cells = [[(c.row, c.column, c.left or c.right) for c in part.cells] for part in parts]
    assert [part.name for part in parts] == ["only here: city", "only here: item"]
    assert cells == [
        [("0", "city", "Bonn"), ("0", "n", "2"), ("1", "city", "Rome"), ("1", "n", "1")],
        [("0", "item", "lamp"), ("0", "n", "3")],
    ]


def test_a_row_is_called_by_its_label_in_previews_removed_rows_and_comparisons() -> None:
    late = pd.DataFrame({"key": [*range(10, 16)], "price": 1.0}, index=range(3, 9))
    kept, dearer = late[late["key"] != 13], late.assign(price=[*[1.0] * 5, 2.0])
    [cell] = change_rows(late, dearer)[0].cells
    [removed] = [part for part in change_rows(late, kept) if part.cells]
    assert (cell.row, {c.row for c in removed.cells}) == ("8", {"6"})
    assert preview(kept).rows == ("3", "4", "5", "7")
    assert preview(late.reset_index(drop=True)).rows == (), "their places from 0"
    # Without labels a row has its place, also where a key tells which row it is.
    records: list[dict[str, object]] = [{"key": k, "price": 1.0} for k in (10, 11, 12, 13)]
    moved = [records[3], *records[:2], {"key": 12, "price": 2.0}]
    [cell] = change_rows(records, moved)[0].cells
    assert (cell.row, cell.left, cell.right) == ("2 | 3", "1.0", "2.0")


def test_calls_that_are_shared_take_no_room() -> None:
    main, _ = long_session(300)
    drive, _ = driven(main.edit(main.calls[-1], shape="other").run())
    rows = drive.whole()
    [row] = rows.comparisons
    assert (row.shared, len(row.pairs)) == (299, 1)
    assert size(rows) < 400


def test_calls_that_are_the_same_take_little_room() -> None:
    main, _ = long_session(300)
    drive, _ = driven(main.edit(main.calls[0], shape="other").run())
    rows = drive.whole()
    assert [pair.kind for pair in rows.comparisons[0].pairs].count("same") == 299
    assert size(rows) < 300 * 90


def test_values_are_looked_at_as_far_as_they_are_told_and_no_farther() -> None:
    main, shapes = long_session(60)
    shapes.append("b")
    other = main.fork(main.calls[0]).run()
    drive, panel = driven(other)
    cached = other.cursor.context.values.differences
    before = len(cached)
    obeyed(drive, type="compare")
    [row] = panel.comparisons.values()
    assert [pair.made for pair in row.pairs] == ["differ"] * 59
    assert len(panel.differences) == len(cached) - before == MOST
