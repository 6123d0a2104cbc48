"""What is the same on two branches is one node of the graph, exactly where a comparison says so."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.compare.alignment import compare
from jupyter_toolcall.models import Scripted
from jupyter_toolcall.view.contract import Rows
from jupyter_toolcall.view.contract_rows import CallRow, ObjectRow
from jupyter_toolcall.view.view_rows import all_rows
from tests.branching import branching_session
from tests.examples import examples


def drawn(rows: Rows) -> list[ObjectRow]:
    """The nodes of objects that calls made."""
    return [row for row in rows.objects if row.role == "made" and not row.same]


def node(row: CallRow | ObjectRow) -> str:
    return row.same or row.id


@pytest.mark.parametrize("seed", range(examples(8)))
def test_two_calls_are_one_node_exactly_if_a_comparison_with_the_shown_branch_says_the_same(
    seed: int,
) -> None:
    session = branching_session(seed, 4 + 3 * seed, branches=5)
    rows = all_rows(session.cursor, "")
    by_branch: dict[str, dict[str, CallRow]] = {}
    for row in rows.calls:
        by_branch.setdefault(row.branch, {})[row.call] = row
    compared = 0
    for branch, calls in by_branch.items():
        if not branch:
            continue
        for pair in compare(
            session.cursor, session.at(replace(session.cursor, head=branch)).cursor
        ).calls:
            if pair.left and pair.right and pair.right.id in calls and not pair.shared:
                one, other = by_branch[""][pair.left.id], calls[pair.right.id]
                assert (node(one) == node(other)) == pair.same
                compared += 1
    assert compared or len(by_branch) == 1


@pytest.mark.parametrize("seed", range(examples(8)))
def test_a_row_is_drawn_as_a_row_that_is_drawn_and_no_branch_has_two_at_one_node(seed: int) -> None:
    rows = all_rows(branching_session(seed, 4 + 3 * seed, branches=5).cursor, "")
    table: tuple[tuple[CallRow | ObjectRow, ...], ...] = (rows.calls, rows.objects)
    for some in table:
        by_id = {row.id: row for row in some}
        assert all(by_id[row.same].same == "" for row in some if row.same)
        assert all(by_id[row.same].branch != row.branch for row in some if row.same)
        at = [(row.branch, node(row)) for row in some]
        assert len(set(at)) == len(at)


@dataclass(frozen=True)
class Page:
    """A page of text."""

    text: str = ""

    def add(self, text: str) -> Page:
        """Add text."""
        return Page(self.text + text)


def note(text: str) -> Page:
    """Return a new page with a text."""
    return Page(text)


def chain() -> Session:
    """A call that nothing depends on, and a chain of eight beside it."""
    later = [("Page_add", {"Page": f"Page#{n}", "text": f"{n}"}) for n in range(3, 10)]
    first = ("Page_add", {"Page": "Page#1", "text": "begin"})
    model = Scripted([("note", {"text": "x"}), first, *later, "Done."])
    page = {"page": Page()}
    session = Session(Toolbox(Page, note), model, scheme="flat", inputs=page, approve="all")
    return session.tell("Write.")


def test_an_edit_of_a_call_on_which_nothing_depends_adds_one_node() -> None:
    session = chain()
    before = len(drawn(all_rows(session.cursor, "")))
    for number in range(1, 8):
        session = session.edit(session.calls[0], text=f"edit {number}").run()
        rows = all_rows(session.cursor, "")
        others = {row.branch for row in rows.calls if row.branch}
        assert len(drawn(rows)) == before + len(others)
