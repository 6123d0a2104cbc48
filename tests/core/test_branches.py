"""Branches as a person has them: named, out of view, gone to; and what a panel is told of each."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.compare.comparison import Comparison
from jupyter_toolcall.core.branches import branches, checked_branch_name
from jupyter_toolcall.core.errors import CallError, Unfinished, UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.journal_entries import Label
from jupyter_toolcall.core.state_fold import state_at
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import split
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.models import Reply, Request
from jupyter_toolcall.storage.notebook_files import MIME, with_parsed_rows
from jupyter_toolcall.view.contract import Delta, Rows, Whole
from jupyter_toolcall.view.contract_rows import BranchRow
from tests.example_tools import panel_of, run_calls


@dataclass(frozen=True)
class Potato:
    peeled: bool = False
    cut: str = ""

    def peel(self) -> Potato:
        return Potato(True, self.cut)

    def slice(self, shape: str) -> Potato:
        return Potato(self.peeled, shape)


SCRIPT: list[Any] = [
    ("Potato_peel", {"Potato": "$Potato"}),
    [
        ("Potato_slice", {"Potato": "Potato#2", "shape": "sticks"}),
        ("Potato_slice", {"Potato": "Potato#2", "shape": "dice"}),
    ],
    ("Potato_peel", {"Potato": "$Potato"}),
    "Done.",
]


def session(journal: Journal | None = None, approve: str = "all") -> Session:
    inputs = {"potato": Potato()}
    return run_calls(Potato, calls=SCRIPT, inputs=inputs, journal=journal, approve=approve)


def edited(of: Session, shape: str = "slices", call: int = 1) -> Session:
    return of.edit(of.calls[call], shape=shape).run()


# -- names ----------------------------------------------------------------------------------


def test_a_branch_is_gone_to_by_the_name_that_a_person_gave_it() -> None:
    main = session()
    slices = edited(main)
    assert (main.branch, slices.branch) == ("main", "shape=slices (call 2)")
    slices.name_branch("  with   skin ")
    assert slices.branch == "with skin"
    assert dict(main.branch_names) == {"main": main.head, "with skin": slices.head}
    there = session(main.journal).checkout("with skin")
    assert there.head == slices.head
    assert there.checkout(main.head[:8]).head == main.head
    main.name_branch("thin", of="with skin").name_branch("as asked")
    assert list(main.branch_names) == ["as asked", "thin"]


def test_a_name_goes_with_its_branch_when_that_grows() -> None:
    main = session()
    other = edited(main).name_branch("mine")
    other.tell("And now?")
    assert other.branch == "mine"
    assert other.branch_names["mine"] != main.head
    assert (edited(other, "cubes", 2).branch, other.branch) == ("shape=cubes (call 3)", "mine")


def test_an_unknown_or_taken_name_is_refused_in_one_line_with_the_nearest() -> None:
    main = session()
    slices = edited(main)
    text = r"no branch 'slice'; there are main, (shape=slices \(call 2\))\. Did you mean \1\?"
    with pytest.raises(UsageError, match=text):
        main.checkout("slice")
    with pytest.raises(UsageError, match="a branch is called 'main' already; 'main 2' is free"):
        slices.name_branch("main")
    for wrong in ("", " ", "-x", "a\u202eb", "x" * 61):
        with pytest.raises(UsageError, match="can't be the name of a branch"):
            slices.name_branch(wrong)
    assert slices.name_branch("shape=slices (call 2)").branch == "shape=slices (call 2)"
    assert not slices.journal.labels, "the name that it has is no news"


def test_a_place_on_the_way_of_a_branch_has_no_name_of_its_own() -> None:
    main = session()
    place = main.fork(main.calls[0])
    assert place.branch == "fork after call 1"
    with pytest.raises(UsageError, match="its name cannot be changed"):
        place.name_branch("early")
    assert list(main.branch_names) == ["main"]


def test_names_and_what_is_hidden_are_there_after_a_reload(tmp_path: Path) -> None:
    main = session()
    edited(main).name_branch("mine")
    edited(main, "cubes").name_branch("theirs")
    main.hide_branch("theirs").save(tmp_path / "s.jsonl")
    again = Session.load(tmp_path / "s.jsonl", Toolbox(Potato), inputs={"potato": Potato()})
    again.checkout("mine")
    assert list(again.branch_names) == ["main", "mine", "theirs"]
    rows = with_parsed_rows(again._repr_mimebundle_()[MIME])["rows"]
    shown = {row["name"]: row.get("hidden", False) for row in rows["branches"]}
    assert shown == {"main": False, "mine": False, "theirs": True}


def test_names_that_a_journal_brings_along_are_told_apart_and_cut() -> None:
    main = session()
    other = edited(main).name_branch("mine")
    for begins in (main.journal.path(main.head)[0].id, *other.journal.labels):
        other.journal.label(begins, Label("same" * 40))
    again = session(Journal.loads(other.journal.dumps()))
    assert len(again.branch_names) == 2
    assert all(len(name) <= 64 for name in again.branch_names)


def causes(of: Session) -> list[tuple[str, str]]:
    """The names of the branches, and in what each differs, without the oldest."""
    return [(each.name, each.change) for each in branches(of.journal, of.head)][1:]


def test_a_branch_is_named_by_what_makes_it_and_says_in_what_it_differs() -> None:
    main = session()
    slice_call, peel_call = main.calls[1], main.calls[3]
    edited(main)
    main.edit(slice_call, Potato="Potato#1", shape="very " * 20).run()
    main.decide_anew(slice_call.id, "reject", reason="no knife").run()
    main.decide_anew(slice_call.id, "answer", result="Potato#1").run()
    last = main.edit(peel_call, Potato="Potato#1").run()
    assert causes(last) == [
        ("shape=slices (call 2)", "Potato_slice: shape slices instead of sticks"),
        (
            "Potato=Potato#1, shape=very very very v… (call 2)",
            f"Potato_slice: Potato Potato#1 instead of Potato#2, shape {'very ' * 11}very… "
            "instead of sticks",
        ),
        ("rejected (call 2)", "Potato_slice rejected: no knife"),
        ("answered Potato#1 (call 2)", "Potato_slice answered by a person"),
        ("Potato=Potato#1 (call 4)", "Potato_peel: Potato Potato#1 instead of Potato#4"),
    ]


@pytest.mark.parametrize("decision", ["approve", "reject", "unasked"])
@pytest.mark.parametrize("scheme", ["select", "current", "flat"])
def test_an_edit_is_named_by_what_the_person_changed_and_not_by_what_the_scheme_filled_in(
    scheme: str, decision: Any
) -> None:
    calls: list[Any] = [("Potato_peel", {}), ("Potato_slice", {"shape": "sticks"})]
    calls = [("_use_Potato", {"id": "Potato#1"}), *calls] if scheme == "current" else calls
    approve, inputs = "all" if decision == "unasked" else "ask", {"potato": Potato()}
    main = run_calls(Potato, calls=calls, inputs=inputs, scheme=scheme, approve=approve)
    while main.pending:
        main.decide(
            main.pending[0], decision if main.calls[-1].tool == "Potato_slice" else "approve"
        )
        main.run()
    call = main.calls[-1]
    other = main.edit(call, shape="slices").run()
    assert other.branch == f"shape=slices (call {call.step})"
    both = main.edit(call, Potato="Potato#1", shape="slices").run()
    assert both.branch == f"Potato=Potato#1, shape=slices (call {call.step})"
    assert other.calls[-1].status == both.calls[-1].status == "succeeded"


@pytest.mark.parametrize(
    ("method", "left", "name"),
    [
        ("cubic", {}, "method=linear"),
        ("linear", {"x": 2}, "x=2"),
        ("cubic", {"x": 2}, "x=2, method=linear"),
    ],
)
def test_an_edit_without_an_argument_is_named_by_the_default_that_runs(
    method: str, left: dict[str, int], name: str
) -> None:
    def fill(x: int = 1, method: str = "linear") -> str:
        return f"{x} {method}"

    first = run_calls(fill, calls=[("fill", {"x": 1, "method": method})])
    edited = first.decide_anew("call_1", "edit", arguments={"x": 1, **left}).run()
    assert edited.branch == f"{name} (call 1)"
    assert edited.decide_anew("call_1", "edit", arguments={}).run().calls[0].result == "1 linear"


def test_a_fork_is_named_by_the_call_it_comes_after_and_equal_names_get_numbers() -> None:
    replies = iter([("Potato_peel", {}), ("Potato_slice", {"shape": "x"}), "Done.", "Enough."])

    def model(request: Request) -> Reply:
        return Scripted([next(replies, "Well.")] * 9)(request)

    inputs = {"potato": Potato()}
    main = Session(Toolbox(Potato), model, scheme="flat", inputs=inputs, approve="all").tell("Go.")
    forked = main.fork(main.calls[0]).run()
    third = main.fork(main.calls[0])
    assert third.branch == "fork after call 1 (2)"
    assert third.run().branch == "fork after call 1 (2)"
    assert causes(third) == [
        ("fork after call 1", "Enough. instead of Potato_slice"),
        ("fork after call 1 (2)", "Well. instead of Potato_slice"),
    ]
    assert forked.branch == "fork after call 1"
    assert main.fork(main.journal.path(main.head)[1].id).branch == "fork before call 1"


def test_another_model_names_its_branch(kernel: Kernel) -> None:
    kernel.variables["other"] = Scripted(SCRIPT, name="other")
    kernel.cell("-n a -m m -t Potato -i potato --scheme flat --approve all", "Slice it.")
    kernel.line("fork 1")
    assert kernel.cells.current().branch == "fork after call 1"
    fresh = kernel.cell("-n a -m other", "Slice it.")
    assert fresh.branch == f"model={kernel.variables['other'].identity} (after call 1)"
    assert causes(fresh)[-1][1].startswith("model other:")


def test_branches_of_equal_edits_say_what_else_a_person_decided_on_them() -> None:
    main = session()
    first, sliced = main.calls[0], main.calls[1]
    other = main.edit(sliced, shape="slices").run()
    both = other.edit(other.calls[3], Potato="Potato#1").run()
    alone = main.edit(main.calls[3], Potato="Potato#1").run()
    again = both.decide_anew(first.id, "answer", result="Potato#1").run()
    slices = "Potato_slice: shape slices instead of sticks"
    peel = "Potato_peel: Potato Potato#1 instead of Potato#4"
    assert causes(again)[1:] == [
        ("Potato=Potato#1 (call 4)", f"{peel}, with {slices}"),
        ("Potato=Potato#1 (call 4) 2", f"{peel}, without {slices}"),
        (
            "answered Potato#1 (call 1)",
            f"Potato_peel answered by a person, with {slices}, with {peel}",
        ),
    ]
    assert alone.branch == "Potato=Potato#1 (call 4) 2"


JOINED = "\U0001f469\u200d\u2764\ufe0f"
shapes_drawn = st.text(max_size=80) | st.text("- \x1f\U0001f3f3\u2764\u200d\ufe0f", max_size=80)


@given(st.lists(shapes_drawn, max_size=4, unique=True))
@example(["-\x1f", "-\x1f-x", JOINED * 40, f"a{JOINED * 40}"])
def test_names_of_branches_are_short_and_unique_and_find_their_branch(shapes: list[str]) -> None:
    main = session()
    for shape in shapes:
        edited(main, shape)
        with suppress(Unfinished, UsageError):
            main.query([1], shape)
    names = [*main.branch_names]
    assert len(names) == len({*names})
    for name, head in main.branch_names.items():
        assert checked_branch_name(name) == name
        assert main.checkout(name).head == head


# -- out of view ----------------------------------------------------------------------------


def test_hiding_deletes_nothing_and_what_is_on_show_can_not_be_hidden() -> None:
    main = session()
    slices = edited(main)
    before = [entry.id for entry in main.journal]
    main.hide_branch(slices.branch)
    assert [entry.id for entry in main.journal] == before
    assert main.checkout("shape=slices (call 2)").head == slices.head
    assert main.diff("main").left.name == "main"
    with pytest.raises(UsageError, match="is the branch on show"):
        main.hide_branch(slices.branch)
    main.checkout("main").show_branch(slices.branch)
    assert not any(label.hidden for label in main.journal.labels.values())
    with pytest.raises(UsageError, match="no branch 'nothing'"):
        main.hide_branch("nothing")
    with pytest.raises(UsageError, match="no branch '3'"):
        main.checkout(3)  # type: ignore[arg-type]
    with pytest.raises(CallError, match="no object '0'"):
        main[0]  # type: ignore[index]


# -- lines ----------------------------------------------------------------------------------


@dataclass
class Kernel:
    """A kernel with one session, and what its lines say."""

    capsys: pytest.CaptureFixture[str]
    cells: Cells = field(default_factory=Cells)
    variables: dict[str, Any] = field(
        default_factory=lambda: {"Potato": Potato, "potato": Potato(), "m": Scripted(SCRIPT)}
    )

    def cell(self, line: str, text: str) -> Session:
        chosen = parse_options(line)
        return self.cells.keep(
            add_prompt(self.cells.session(chosen, self.variables), text, False).run()
        )

    def line(self, text: str) -> Any:
        made: Any = carry_out(split(text), self.cells, {}, self.variables)
        return self.cells.keep(made) if isinstance(made, Session) else made

    def says(self, text: str) -> str:
        self.line(text)
        return self.capsys.readouterr().out


@pytest.fixture
def kernel(capsys: pytest.CaptureFixture[str]) -> Kernel:
    made = Kernel(capsys)
    made.cell("-m m -t Potato -i potato --scheme flat --approve all", "Slice it.")
    made.line("edit 2 shape=slices")
    return made


def test_lines_list_name_hide_show_and_go_to_branches(kernel: Kernel) -> None:
    assert kernel.says("branch").splitlines() == [
        "  main                   4 calls",
        "* shape=slices (call 2)  4 calls    Potato_slice: shape slices instead of sticks",
    ]
    assert "* with skin  4 calls" in kernel.says("branch with skin")
    said = kernel.says("branch --hide main")
    assert said.splitlines()[-1] == "1 hidden: main; %toolchat branch --show NAME"
    assert "  main  " not in said
    assert "hidden" not in kernel.says("branch --show main")
    assert kernel.line("checkout main").branch == "main"
    assert kernel.line('checkout "with skin"').branch == "with skin"
    assert kernel.line("checkout with skin").branch == "with skin"
    assert "* with skin" in kernel.says("checkout")


def test_lines_compare_with_the_branch_left_with_another_or_two(kernel: Kernel) -> None:
    kernel.line("branch with skin")
    for line, names in (
        ("diff", ("main", "with skin")),
        ("diff main", ("main", "with skin")),
        ("diff with skin main", ("with skin", "main")),
        ('diff "with skin" main', ("with skin", "main")),
    ):
        compared = kernel.line(line)
        assert isinstance(compared, Comparison)
        assert (compared.left.name, compared.right.name) == names
    assert kernel.line("diff with skin").same


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("branch --hide", "--hide needs the name of a branch"),
        ("branch --hide shape=slices (call 2)", "is the branch on show"),
        ("branch --show shape=slises (call 2)", "Did you mean shape=slices (call 2)?"),
        ("checkout man", "Did you mean main?"),
        ("diff a b c", "at most two branches"),
    ],
)
def test_a_line_that_is_wrong_says_what_is_right(kernel: Kernel, line: str, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)) as refused:
        kernel.line(line)
    assert "\n" not in str(refused.value)


# -- the panel ------------------------------------------------------------------------------


def rows_of(told: list[Any]) -> Rows:
    """Return the rows of the last notice that has all of them."""
    return next(notice.rows for notice in reversed(told) if isinstance(notice, Whole))


def obeyed(drive: PanelController, **wish: Any) -> None:
    drive.inbox.append(wish)
    asyncio.run(drive.resume())


def test_the_panel_names_hides_and_shows_and_is_told_all_of_it() -> None:
    main = session()
    drive, told = panel_of(edited(main))
    left, here = rows_of(told).branches
    entries = len(main.journal)
    for command in ({"type": "compare", "left": left.id}, {"type": "show_request", "turn": 1}):
        obeyed(drive, right=here.id, **command)
    obeyed(drive, type="name_branch", branch=here.id, name="mine")
    assert [row.name for row in rows_of(told).branches] == ["main", "mine"]
    obeyed(drive, type="name_branch", branch=left.id, name="as asked")
    assert [row.name for row in rows_of(told).branches] == ["as asked", "mine"]
    obeyed(drive, type="name_branch", branch=left.id, name="mine")
    assert "already" in told[-1].reason
    assert any(row.branch == left.id for row in rows_of(told).calls)
    obeyed(drive, type="hide_branch", branch=left.id)
    assert [row.hidden for row in rows_of(told).branches] == [True, False]
    assert not any(row.branch for row in rows_of(told).calls)
    assert not any(row.branch for row in rows_of(told).objects)
    obeyed(drive, type="hide_branch", branch=here.id)
    assert "on show" in told[-1].reason
    obeyed(drive, type="hide_branch", branch=left.id, hidden=False)
    assert any(row.branch == left.id for row in rows_of(told).calls)
    assert len(main.journal) == entries


def test_names_from_elsewhere_reach_the_panel_when_it_is_brought_up_to_date() -> None:
    drive, told = panel_of(edited(session()))
    assert not drive.republish_changed()
    drive.session.name_branch("mine")
    assert drive.republish_changed()
    assert rows_of(told).branches[-1].name == "mine"
    assert not drive.republish_changed()


def test_a_session_that_other_code_continues_is_shown_as_it_stands() -> None:
    waits = session(approve="ask")
    drive, told = panel_of(waits)
    drive.publish("waiting")
    while waits.pending:
        waits.decide(waits.pending[0]).run()
    assert not drive.republish_changed()
    continued = told[-1]
    assert isinstance(continued, Delta)
    assert [(row.phase, row.pending) for row in continued.rows.session] == [("finished", ())]
    assert {row.status for row in continued.rows.calls} == {"succeeded"}
    edited(waits)
    assert not drive.republish_changed()
    assert len(rows_of(told).branches) == 2
    before = len(told)
    assert not drive.republish_changed()
    assert len(told) == before


def test_what_a_panel_is_told_of_two_branches_says_how_their_values_differ() -> None:
    drive, told = panel_of(edited(session()))
    left, here = rows_of(told).branches
    obeyed(drive, type="compare", left=left.id, right=here.id)
    compared = told[-1].rows.differences
    assert compared
    for row in compared:
        assert {*row.id.split(" ")} <= {each.id for each in rows_of(told).objects}
        (part,) = row.parts
        assert (part.name, part.left, part.right) == ("cut", '"sticks"', '"slices"')
    obeyed(drive, type="compare", left=here.id, right=left.id)
    turned = [row.id.split(" ")[::-1] for row in told[-1].rows.differences]
    assert turned == [row.id.split(" ") for row in compared]


def test_a_branch_that_is_old_or_out_of_view_is_told_when_it_is_asked_for() -> None:
    main = session()
    others = [edited(main, f"shape {n}") for n in range(8)]
    drive, told = panel_of(main)
    assert len([row for row in rows_of(told).branches if row.shares]) == 4
    old = rows_of(told).branches[1]
    assert not old.shares
    obeyed(drive, type="compare", left=old.id, right=main.head)
    assert next(row for row in rows_of(told).branches if row.id == old.id).shares
    compared = told[-1]
    assert isinstance(compared, Delta)
    main.hide_branch(others[0].branch)
    assert drive.republish_changed()
    obeyed(drive, type="compare", left=old.id, right=main.head)
    assert "can't be compared" in told[-1].reason
    obeyed(drive, type="compare", left="nonsense", right=main.head)
    assert "can't be compared" in told[-1].reason


# Which branch, which of its calls, and its new shape.
steps = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=5
)


def made_of(rows: Rows, branch: BranchRow) -> Mapping[int, tuple[str, str, Any]]:
    """Return the calls of a branch by step, as a panel puts them together from rows."""
    if branch.current:
        own = [row for row in rows.calls if not row.branch]
        return {row.step: (row.tool, row.status, dict(row.arguments)) for row in own}
    known = {"current" if row.current else row.id: row for row in rows.branches}
    shares = known[branch.shares]
    mine = {row.step: row for row in rows.calls if row.branch == branch.id}
    found = {step: (row.tool, row.status, dict(row.arguments)) for step, row in mine.items()}
    before = made_of(rows, shares)
    return {step: found.get(step) or before[step] for step in range(1, branch.calls + 1)}


@given(steps, st.integers(0, 5))
def test_a_branch_has_the_rows_of_its_calls(plan: list[tuple[int, int, str]], at: int) -> None:
    sessions = [session()]
    for which, number, shape in plan:
        of = sessions[which % len(sessions)]
        call = of.calls[number % len(of.calls)]
        more = {"shape": shape} if call.tool == "Potato_slice" else {}
        sessions.append(of.edit(call, **more).run())
    shown = sessions[at % len(sessions)]
    drive, _ = panel_of(shown)
    rows = drive.whole()
    keys = [row.id for row in rows.calls]
    assert len(keys) == len(set(keys)), "no row takes another's place"
    objects = {row.id for row in rows.objects}
    for row in rows.calls:
        assert {use.object for use in row.uses} <= objects
    for branch in rows.branches:
        if not (branch.current or branch.shares):
            continue
        state = state_at(shown.journal, branch.id)
        assert made_of(rows, branch) == {
            call.step: (call.tool, call.status, dict(call.arguments)) for call in state.all_calls()
        }
