"""What a panel is told bit by bit is what it would be told as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import Unfinished
from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.view.contract import Delta, Notice, Rows, Whole
from jupyter_toolcall.view.graph import with_graph
from jupyter_toolcall.view.view_rows import ViewRows
from tests.examples import examples

TABLES = ("session", "calls", "objects", "tools", "messages", "branches", "graph")


@dataclass(frozen=True)
class Bead:
    """An object."""

    number: int = 0

    def next(self) -> Bead:
        """Return the bead after this one."""
        return Bead(self.number + 1)


class Counter:
    """A stateful instance."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> int:
        """Count on."""
        self.count += 1
        return self.count


def split(beads: list[Bead]) -> list[Bead]:
    """Make as many new ones."""
    return [Bead(bead.number + 50) for bead in beads]


def fail(x: int) -> int:
    """Fail."""
    raise ValueError(str(x))


@dataclass
class Panel:
    """Rows by table and id, as a panel keeps them."""

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    wholes: int = 0
    deltas: int = 0
    sizes: list[int] = field(default_factory=list)
    """How long each update is without the drawing, which is sent by the clock."""

    def tell(self, notice: Notice) -> None:
        match notice:
            case Whole(rows):
                self.tables, self.wholes = {}, self.wholes + 1
                self.put(rows)
            case Delta(rows):
                self.deltas += 1
                self.put(rows)

        data = sendable_data(notice)
        data.get("rows", {}).pop("graph", None)
        self.sizes.append(len(json.dumps(data)))

    def put(self, rows: Rows) -> None:
        for gone in rows.drop:
            self.tables[gone.table].pop(gone.id, None)
        for table in TABLES:
            for row in getattr(rows, table):
                self.tables.setdefault(table, {})[row.id] = row


names = st.sampled_from([1, 1, 2, 2, 3, 4]).map(lambda n: f"Bead#{n}")
asked = st.one_of(
    st.just(("Bead_next", {})),
    names.map(lambda name: ("Bead_next", {"Bead": name})),
    st.lists(names, min_size=1, max_size=3).map(lambda found: ("split", {"beads": found})),
    st.just(("Bead_next", {})),
    names.map(lambda name: ("Bead_next", {"Bead": name})),
    st.sampled_from([("fail", {"x": 1}), ("fail", {"x": "a"}), ("nope", {}), ("Counter_add", {})]),
    names.map(lambda name: ("save", {"out": name})),
    st.sampled_from([("selectTools", {"tools": bad}) for bad in (5, None, ["Bead_next", "split"])]),
)
replies = st.one_of(asked, st.lists(asked, min_size=1, max_size=3), st.just("Done."))
KINDS = ("approve", "approve", "approve_all", "edit", "reject", "answer", "replay", "fork")
kinds = st.sampled_from((*KINDS, "checkout", "draw_graph", "step", "run", "hello"))
wishes = st.tuples(kinds, st.integers(0, 5), st.sampled_from(["Bead#1", 5, ["Bead#1", "Bead#2"]]))


CHOSEN = [("selectTools", {"tools": ["Bead_next", "split", "fail", "Counter_add"]})]


@dataclass(frozen=True)
class Plan:
    script: list[Any]
    wishes: list[tuple[str, int, Any]]
    scheme: str
    approve: str
    saves: bool


plans = st.builds(
    Plan,
    st.lists(replies, min_size=3, max_size=8),
    st.lists(wishes, min_size=1, max_size=8),
    st.sampled_from(["flat", "select"]),
    st.sampled_from(["ask", "ask", "all"]),
    st.booleans(),
)


def opened(plan: Plan) -> Session:
    return Session(
        Toolbox(Bead, split, fail, Counter()),
        Scripted([*(CHOSEN if plan.scheme == "select" else []), *plan.script]),
        scheme=plan.scheme,
        inputs={"p": Bead(), "q": Bead(1)},
        outputs={"out": Bead} if plan.saves else None,
        approve=plan.approve,
    ).ask("Go.")


def message(drive: PanelController, wish: tuple[str, int, Any]) -> Mapping[str, Any]:
    """Return a wish as a panel sends it, about one of the calls that it shows."""
    kind, which, value = wish
    rows = drive.whole()
    waiting = [row for row in rows.calls if row.approval_digest and not row.branch]
    shown = waiting or [row for row in rows.calls if not row.branch]
    if not shown:
        return {"type": "run"}
    row, branch = shown[which % len(shown)], rows.branches[which % len(rows.branches)]
    more: dict[str, dict[str, Any]] = {
        "approve": {"approval_digest": row.approval_digest},
        "approve_all": {"approval_digest": row.approval_digest},
        "edit": {"arguments": {**row.arguments, **({"x": 7} if "x" in row.arguments else {})}},
        "answer": {"result": value},
        "checkout": {"branch": branch.id},
    }
    about = {} if kind in ("checkout", "draw_graph", "step", "run", "hello") else {"call": row.call}
    return {"type": kind, **about, **more.get(kind, {})}


def drive_on(drive: PanelController) -> None:
    try:
        drive.run_to_pause()
    except Unfinished:
        return


def told_as_a_whole(drive: PanelController) -> Panel:
    panel, session = Panel(), drive.session
    row = replace(drive.updates.shown_status(), ran=0, remembered=0)
    panel.tell(Whole(with_graph(ViewRows().whole(session.cursor, row))))
    return panel


def check(panel: Panel, drive: PanelController) -> None:
    whole = told_as_a_whole(drive)
    for table in TABLES:
        assert panel.tables.get(table, {}) == whole.tables.get(table, {}), table


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(plans)
def test_changes_put_together_are_the_whole(plan: Plan) -> None:
    panel = Panel()
    drive = PanelController(opened(plan), panel.tell)
    drive.greet()
    drive_on(drive)
    check(panel, drive)
    for wish in plan.wishes:
        drive.inbox.append(message(drive, wish))
        drive_on(drive)
        check(panel, drive)
    if not drive.session.state.open:
        drive.session = drive.session.ask("And again.")
        drive_on(drive)
        check(panel, drive)


def test_a_replay_in_steps_past_a_fork_is_told_as_a_whole_would_be() -> None:
    panel = Panel()
    plan = Plan(
        [("Bead_next", {}), ("fail", {"x": 1}), ("Bead_next", {})], [], "flat", "all", False
    )
    drive = PanelController(opened(plan), panel.tell)
    drive.greet()
    drive_on(drive)
    main = drive.session.head
    digest = drive.session.state.call("call_2").approval_digest
    for wish in (
        {"type": "edit", "call": "call_2", "arguments": {"x": 2}, "approval_digest": digest},
        {"type": "checkout", "branch": main},
        {"type": "step"},
        {"type": "replay", "call": "call_1"},
        *[{"type": "step"}] * 20,
    ):
        drive.inbox.append(wish)
        drive_on(drive)
        check(panel, drive)
    assert drive.session.head == main
    assert {row.name: row.current for row in panel.tables["branches"].values()} == {
        "main": True,
        "x=2 (call 2)": False,
    }


def test_what_a_fork_or_an_undo_left_is_drawn_at_once_as_another_branch() -> None:
    panel = Panel()
    script = [*[("Bead_next", {"Bead": "Bead#1"})] * 4, ("save", {"out": "Bead#6"})]
    drive = PanelController(opened(Plan(script, [], "flat", "ask", True)), panel.tell)
    drive.greet()
    drive_on(drive)
    for _ in range(5):
        drive.inbox.append(message(drive, ("approve", 0, None)))
        drive_on(drive)
    main = drive.session.head
    # With the steps that the session stands at, and those of the pills of the branch that it left:
    # a call that waits again stands once.
    for wish, shown, pale in (
        ({"type": "fork", "call": "call_2"}, [1, 2], [3, 4, 5]),
        ({"type": "checkout", "branch": main}, [1, 2, 3, 4, 5], []),
        ({"type": "undo", "call": "call_4"}, [1, 2, 3, 4], [5]),
        ({"type": "checkout", "branch": main}, [1, 2, 3, 4, 5], []),
        ({"type": "replay", "call": "call_3"}, [1, 2, 3], [4, 5]),
    ):
        drive.inbox.append(wish)
        drive_on(drive)
        check(panel, drive)
        steps = {row.id: row.step for row in panel.tables["calls"].values()}
        nodes = panel.tables["graph"]["graph"].nodes
        pills = sorted((steps[node.row], node.muted) for node in nodes if node.kind == "call")
        assert [step for step, is_muted in pills if not is_muted] == shown, wish
        assert [step for step, is_muted in pills if is_muted] == pale, wish
    assert [row.branch for row in panel.tables["objects"].values() if row.saved] == [main]


def test_a_step_forward_sends_what_changed_and_no_more() -> None:
    panel = Panel()
    plan = Plan([("Bead_next", {})] * 30, [], "flat", "all", False)
    drive = PanelController(opened(plan), panel.tell)
    drive.rate.interval = 0
    drive.greet()
    drive_on(drive)
    assert panel.deltas > 60
    assert panel.wholes == 1
    # Numbers grow by a digit or two, a duration may be told or not; nothing else grows.
    few, many = (panel.sizes[2 * call : 2 * call + 2] for call in (3, 28))
    assert sum(many) < sum(few) + 60
    assert sum(many) < 1_840
