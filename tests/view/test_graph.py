"""The drawing has every call and object once, in a window of calls, and Graphviz's places."""

from __future__ import annotations

import random
import re
import shutil
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.text import printable
from jupyter_toolcall.view import graphviz_engine
from jupyter_toolcall.view.contract import Rows
from jupyter_toolcall.view.contract_rows import BranchRow, CallRow, ObjectRow, Use
from jupyter_toolcall.view.graph import (
    ANCESTORS,
    BOX,
    FEWEST,
    HORIZON,
    MOST,
    PACE,
    PAGE,
    PILL,
    drawing,
    graph_row,
)
from jupyter_toolcall.view.graph_geometry import text_width
from jupyter_toolcall.view.graph_rows import GraphNode, GraphRow
from jupyter_toolcall.view.view_rows import all_rows
from tests.benchmarks.workload import Bead
from tests.branching import branching_session


def rows_of(seed: int, turns: int, branches: int = 1) -> Rows:
    return all_rows(branching_session(seed, turns, branches).cursor, "")


def by_row(graph: GraphRow, kind: str) -> dict[str, GraphNode]:
    return {node.row: node for node in graph.nodes if node.kind == kind}


def chain(count: int) -> Rows:
    """Each call takes what the one before made."""
    objects = [ObjectRow("o0", "A#1", "A", role="input")]
    calls = []
    for n in range(1, count + 1):
        key, before = f"o{n}", (Use("a", f"o{n - 1}"),)
        objects.append(ObjectRow(key, f"A#{n + 1}", "A", step=n, call=f"c{n}"))
        call = CallRow(f"c{n}", f"c{n}", "A_next", n, n, "succeeded", uses=before, object=key)
        calls.append(call)
    return Rows(calls=tuple(calls), objects=tuple(objects))


def node_of(rows: Iterable[CallRow | ObjectRow], drawn: Collection[str]) -> dict[str, str]:
    """For each row that of its node: itself, or the equal one that is drawn in its place."""
    return {row.id: row.id if row.id in drawn else row.same for row in rows}


@pytest.mark.parametrize("seed", range(20))
def test_every_call_and_object_of_a_short_session_is_drawn_once(seed: int) -> None:
    rows = rows_of(seed, 3 + seed, 1 + seed % 4)
    graph = graph_row(rows)
    if len(rows.calls) <= MOST:
        for kind, table in (("call", rows.calls), ("object", rows.objects)):
            drawn = by_row(graph, kind)
            assert {*node_of(table, drawn).values()} == {*drawn}
    nodes = [(node.kind, node.row) for node in graph.nodes if node.kind != "reference"]
    assert len({*nodes}) == len(nodes)


def test_calls_that_take_nothing_stand_below_one_another_and_stay_while_others_come() -> None:
    free = [CallRow(f"c{n}", f"c{n}", "load", n, 1, "succeeded") for n in range(1, 5)]
    after = [
        CallRow(f"c{n}", f"c{n}", "next", n, n, "succeeded", uses=(Use("a", f"o{of}"),))
        for n, of in ((5, 3), (6, 1), (7, 4))
    ]
    calls = (*free, *after, CallRow("c8", "c8", "load", 8, 8, "succeeded"))
    objects = tuple(ObjectRow(f"o{n}", f"A#{n}", "A", step=n, call=f"c{n}") for n in range(1, 9))
    drawings = [by_row(graph_row(Rows(calls=calls, objects=objects), n), "call") for n in (4, 7, 8)]
    heights = [
        [drawn[call.id].y for call in (*free, calls[-1]) if call.id in drawn] for drawn in drawings
    ]
    assert heights[0] == heights[1] == heights[2][:-1] == sorted(heights[0])
    assert heights[2][-1] > heights[2][-2]


@pytest.mark.parametrize("seed", range(20))
def test_every_object_that_a_call_takes_or_makes_is_joined_to_it_by_one_edge(seed: int) -> None:
    rows = rows_of(seed, 12, 1 + seed % 4)
    graph = graph_row(rows)
    call_node = node_of(rows.calls, by_row(graph, "call"))
    object_node = node_of(rows.objects, by_row(graph, "object"))
    # A reference stands for its object in another row.
    nodes = [f"{node.kind}:{node.row}".replace("reference", "object") for node in graph.nodes]
    edges = [edge for edge in graph.edges if graph.nodes[edge.head].kind != "reference"]
    drawn = {(nodes[edge.tail], nodes[edge.head]) for edge in edges}
    assert len(drawn) == len(edges)
    taken = {
        (f"object:{object_node[use.object]}", f"call:{call_node[call.id]}")
        for call in rows.calls
        for use in call.uses
    }
    made = {
        (f"call:{call_node[row.call]}", f"object:{object_node[row.id]}")
        for row in rows.objects
        if row.call
    }
    assert drawn == taken | made


@pytest.mark.parametrize("seed", range(20))
def test_every_line_leads_to_the_right_within_its_row(seed: int) -> None:
    graph = graph_row(rows_of(seed, 12 + seed, 1 + seed % 4))
    lines = [edge for edge in graph.edges if edge.path]
    for tail, head in ((graph.nodes[line.tail], graph.nodes[line.head]) for line in lines):
        assert tail.x < head.x
    above = [edge for edge in graph.edges if not edge.path]
    for tail, head in ((graph.nodes[edge.tail], graph.nodes[edge.head]) for edge in above):
        assert tail.row == head.row
        name = f"{'↑' if tail.y < head.y else '↓'} {tail.label}"
        assert head.label == name or head.label.startswith(f"{name} of ")
    assert graph.width < 1.5 * PAGE


@pytest.mark.parametrize("count", [3, MOST, MOST + 1, 149, 1_000])
def test_at_most_sixty_calls_are_drawn_and_a_fold_has_the_numbers_of_others(count: int) -> None:
    graph = graph_row(chain(count))
    calls, folds = by_row(graph, "call"), by_row(graph, "fold")
    assert len(calls) + graph.earlier == count
    assert count <= MOST or MOST - PACE < len(calls) + len(folds) <= MOST
    assert f"c{count}" in calls
    # The oldest of a long session are left out.
    start = max(0, count - HORIZON)
    labels = [f"{start} earlier calls", f"calls {start + 1}-{graph.earlier}"]
    assert [node.label for node in folds.values()] == labels[
        not start : 1 + (graph.earlier > start)
    ]


def test_calls_that_have_no_room_and_are_no_chain_are_counted_in_a_box_that_no_line_leaves() -> (
    None
):
    rows = chain(150)
    # Each call takes the first object.
    calls = tuple(replace(call, uses=rows.calls[0].uses) for call in rows.calls)
    graph = drawing(replace(rows, calls=calls))
    (box,) = (n for n, node in enumerate(graph.nodes) if node.kind == "fold")
    assert graph.nodes[box].label == f"{graph.earlier} earlier calls"
    assert [graph.nodes[edge.tail].row for edge in graph.edges if edge.head == box] == ["o0"]
    assert box not in {edge.tail for edge in graph.edges}


def folds_of(rows: Rows, graph: GraphRow) -> dict[str, list[CallRow]]:
    """The calls of each fold, by the id of its last call."""
    calls, folds = {row.id: row for row in rows.calls}, dict[str, list[CallRow]]()
    own = [row for row in rows.calls if row.id not in by_row(graph, "call") and not row.scheme]
    for key, node in by_row(graph, "fold").items():
        if numbers := re.fullmatch(r"calls (\d+)-(\d+)", node.label):
            first, last = map(int, numbers.groups())
            inside = [row for row in own if row.branch == calls[key].branch]
            folds[key] = [row for row in inside if first <= row.step <= last and not row.same]
    return folds


def assert_lineage(rows: Rows, graph: GraphRow) -> None:
    """What is drawn between nodes is what was taken and made, with each fold as one call: what goes
    in goes into its first one, and what goes out was made by its last one."""
    folds, objects, drawn = folds_of(rows, graph), by_row(graph, "object"), by_row(graph, "call")
    within = {call.id: key for key, calls in folds.items() for call in calls}
    names = {row.id: row.id if row.id in objects else row.same or row.id for row in rows.objects}
    lineage = set[tuple[str, str]]()
    for call in rows.calls:
        if (node := within.get(call.id, call.id)) not in drawn and node not in folds:
            continue
        own = {row.id for row in rows.objects if row.call in {c.id for c in folds.get(node, ())}}
        taken = {names[use.object] for use in call.uses} - (own - {*objects})
        made = {row.id for row in rows.objects if row.call == call.id}
        if node in folds:
            assert not taken or call == folds[node][0]
            assert made.isdisjoint(objects) or call == folds[node][-1]
        lineage |= {(key, f"call:{node}") for key in taken}
        lineage |= {(f"call:{node}", key) for key in made if key in objects}
    kinds = {"fold": "call:", "call": "call:", "object": ""}
    ids = [f"{kinds[node.kind]}{node.row}" for node in graph.nodes]
    left_out = {f"call:{key}" for key in by_row(graph, "fold") if key not in folds}
    edges = {(ids[edge.tail], ids[edge.head]) for edge in graph.edges}
    assert {ends for ends in edges if ends[1] not in left_out} == lineage
    assert all(len(calls) >= FEWEST for calls in folds.values())


@pytest.mark.parametrize("seed", range(20))
def test_what_is_drawn_is_the_lineage_with_chains_as_folds(seed: int) -> None:
    rows = rows_of(seed, 20 + seed, 1 + seed % 4)
    branch_of = {row.id: row.branch for row in rows.calls}
    for selected in ("", rows.objects[-1].id, *(row.id for row in rows.calls[:3])):
        graph = drawing(rows, selected=selected, most=24)
        assert_lineage(rows, graph)
        nodes = [node for node in reversed(graph.nodes) if node.kind in ("call", "fold")]
        # Another branch begins with a call of its own, or is left out whole.
        first = {branch_of[node.row]: node.kind for node in nodes if node.muted}
        assert {*first.values()} <= {"call"}
        label = next((n.label for n in nodes if n.label.startswith("not drawn: ")), "")
        assert not any(row.name in label for row in rows.branches if row.id in first)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_fold_is_a_chain_in_any_session(data: st.DataObject) -> None:
    count = data.draw(st.integers(20, 60))
    objects, calls = [ObjectRow("o0", "A#1", "A", role="input")], list[CallRow]()
    for n in range(1, count + 1):
        # Mostly what the call before made, sometimes far ones; some make nothing, some two.
        far = data.draw(st.lists(st.sampled_from(objects), max_size=2)) * (n % 5 == 0)
        taken = {row.id: Use("a", row.id) for row in [objects[-1], *far]}
        key, made = f"c{n}", data.draw(st.sampled_from([1, 1, 1, 1, 0, 2]))
        edited = data.draw(st.integers(0, 19)) == 0
        uses = (*taken.values(),)
        calls.append(CallRow(key, key, "f", n, n, "succeeded", uses=uses, edited=edited))
        objects += (
            ObjectRow(f"o{n}.{m}", f"A#{n}", "A", step=n, call=key, saved="out" * (n == 9))
            for m in range(made)
        )
    rows = Rows(calls=(*calls,), objects=(*objects,))
    assert_lineage(rows, drawing(rows, most=data.draw(st.integers(12, 40))))


def test_an_early_edit_that_is_selected_is_joined_to_what_came_of_it() -> None:
    graph = graph_row(chain(100), selected="c1")
    joined = {(graph.nodes[edge.tail].label, graph.nodes[edge.head].label) for edge in graph.edges}
    assert [node.label for node in graph.nodes if node.kind == "fold"] == ["calls 2-50"]
    assert {("A#2", "calls 2-50"), ("calls 2-50", "A#51")} <= joined


def test_a_reference_to_an_object_of_another_branch_names_it_if_it_is_not_the_shown_one() -> None:
    rows = chain(3)
    others = tuple(replace(row, branch="b") for row in rows.calls[1:])
    kept = tuple(replace(row, branch="b") for row in rows.objects[2:])
    new = replace(rows.calls[2], id="x", call="x", object="n", branch="d")
    branches = (BranchRow("a", "main", current=True), BranchRow("b", "old"), BranchRow("d", "new"))
    made = ObjectRow("n", "A#4", "A", step=3, call="x", branch="d")
    objects = (*rows.objects[:2], *kept, made)
    graph = graph_row(Rows(calls=(rows.calls[0], *others, new), objects=objects, branches=branches))
    assert [n.label for n in by_row(graph, "reference").values()] == ["↑ A#2", "↑ A#3 of old"]


def test_a_call_that_makes_nothing_stands_in_the_row_of_what_it_takes_where_that_has_room() -> None:
    rows = chain(12)
    side = CallRow("s", "s", "count", 13, 13, "succeeded", uses=(Use("a", "o2"),), result="1")
    graph = graph_row(replace(rows, calls=(*rows.calls, side)))
    taken, pill = by_row(graph, "object")["o2"], by_row(graph, "call")["s"]
    assert pill.x > taken.x
    assert abs(pill.y - taken.y) < BOX[1]


def test_a_compact_drawing_has_the_whole_text_of_each_call_and_the_names_of_objects() -> None:
    drawings = [graph_row(chain(40), compact=compact) for compact in (False, True)]
    calls = [[n.label for n in graph.nodes if n.kind == "call"] for graph in drawings]
    assert calls[0] == calls[1]
    assert [n.label for n in drawings[1].nodes if n.kind == "object"] == [
        f"#{number}" for number in range(1, 42)
    ]
    assert max(node.height for node in drawings[1].nodes) == PILL
    assert drawings[1].height < drawings[0].height / 3


def test_a_window_ends_where_the_person_wants_it_to() -> None:
    assert max(int(key[1:]) for key in by_row(graph_row(chain(149), until=70), "call")) == 70


def test_what_a_later_call_saves_is_not_saved_yet_at_an_earlier_one() -> None:
    rows = chain(2)
    saves = CallRow("s", "s", "save", 3, 3, "succeeded", saves=True, uses=(Use("out", "o2"),))
    objects = (*rows.objects[:2], replace(rows.objects[2], saved="out"))
    rows = replace(rows, calls=(*rows.calls, saves), objects=objects)
    shown = [by_row(graph_row(rows, until), "object")["o2"] for until in (2, 3)]
    assert [(node.detail, node.flag) for node in shown] == [("", ""), ("saved as out", "out")]


def test_what_the_selected_object_came_from_is_drawn_too() -> None:
    kept = by_row(graph_row(chain(500), selected="o200"), "call")
    assert {f"c{n}" for n in range(201 - ANCESTORS, 201)} <= {*kept}
    assert {"c500", "c481"} <= {*kept}
    assert len(kept) <= MOST


def test_a_call_shows_its_number_its_tool_and_its_result_where_it_made_no_object() -> None:
    rows = chain(2)
    mean = CallRow("m", "m", "A_mean", 3, 3, "succeeded", uses=(Use("a", "o2"),), result="2327.5")
    first = CallRow("f", "f", "A_first", 4, 4, "answered", object="o1")
    graph = graph_row(replace(rows, calls=(*rows.calls, mean, first)))
    assert [node.label for node in graph.nodes if node.kind == "call"] == [
        "1 A_next",
        "2 A_next",
        "3 A_mean = 2327.5",
        "4 A_first = A#2",
    ]


def test_names_of_arguments_stand_at_the_edges_where_a_call_takes_two_objects() -> None:
    rows = chain(2)
    uses = (Use("left", "o1"), Use("right", "o2"), Use("again", "o2"))
    join = CallRow("j", "j", "join", 3, 3, "succeeded", uses=uses)
    graph = graph_row(replace(rows, calls=(*rows.calls, join)))
    assert sorted(edge.label for edge in graph.edges if edge.label) == ["left", "right, again"]


@pytest.mark.parametrize(
    ("status", "state"), [("proposed", "waits"), ("running", "running"), ("failed", "failed")]
)
def test_a_call_in_progress_has_its_state_and_dashed_objects(status: str, state: str) -> None:
    rows = chain(2)
    last = replace(rows.calls[-1], status=status)  # type: ignore[arg-type]
    made = replace(rows.objects[-1], role="pending")
    changed = replace(rows, calls=(rows.calls[0], last), objects=(*rows.objects[:-1], made))
    graph = graph_row(changed)
    assert by_row(graph, "call")["c2"].state == state
    assert by_row(graph, "object")["o2"].dashed


@pytest.mark.parametrize("seed", range(8))
def test_all_rows_of_a_branch_stand_together_below_its_name_those_of_the_shown_one_first(
    seed: int,
) -> None:
    rows = rows_of(seed, 12, 2 + seed % 4)
    graph = graph_row(rows)
    branch_of = {row.id: row.branch for row in rows.objects}
    branch_of |= {row.id: row.branch for row in rows.calls}
    shown = next(row.id for row in rows.branches if row.current)
    names = sorted((n for n in graph.nodes if n.kind == "branch"), key=lambda node: node.y)
    drawn = [node for node in graph.nodes if node.kind in ("call", "object")]
    tops = [node.y for node in names] + [graph.height]
    assert [node.muted for node in names] == [node.row != shown for node in names]
    assert (names or [GraphNode(row=shown)])[0].row == shown
    for name, top, bottom in zip(names, tops, tops[1:], strict=False):
        below = [n for n in drawn if top < n.y < bottom and not n.input]
        assert {branch_of[n.row] or shown for n in below if n.kind == "call"} == {name.row}
        assert all(node.muted == (branch_of[node.row] != "") for node in below)


def test_an_equal_call_that_takes_another_object_is_drawn_on_each_branch() -> None:
    rows = chain(2)
    uses = (Use("left", "o1"), Use("right", "o2"))
    join = CallRow("j", "j", "join", 3, 3, "succeeded", uses=uses)
    other = replace(join, id="k", call="k", branch="b", same="j", uses=(Use("left", "x"), uses[1]))
    objects = (*rows.objects, ObjectRow("x", "A#2", "A", step=1, call="c", branch="b"))
    calls = (*rows.calls, join, CallRow("c", "c", "A_next", 1, 1, branch="b"), other)
    edges = graph_row(Rows(calls=calls, objects=objects)).edges
    named = sorted((edge.label, edge.muted) for edge in edges if edge.label)
    assert named == [("left", False), ("left", True), ("right", False), ("right", True)]
    same = replace(other, uses=uses)
    edges = graph_row(Rows(calls=(*calls[:-1], same), objects=objects)).edges
    assert sorted(edge.label for edge in edges if edge.label) == ["left", "right"]


@pytest.mark.parametrize("page", [450, 525, 900, 1_200])
def test_rows_are_as_wide_as_the_page_and_stand_in_the_order_of_their_first_call(page: int) -> None:
    graph = graph_row(chain(30), page=page)
    assert page - 250 < graph.width <= page
    calls = [node for node in graph.nodes if node.kind == "call"]
    assert calls == sorted(calls, key=lambda node: (node.y, node.x))
    output = ObjectRow("output:clean", "clean", "A", "output")
    for part in map(chain, range(1, 13)):
        assert graph_row(replace(part, objects=(*part.objects, output)), page=page).width <= page


def joins(count: int) -> Rows:
    """A chain in which calls 2, 4, ... take an input, too; the last input is unused."""
    inputs = tuple(ObjectRow(f"i{n}", f"B#{n}", "B", role="input") for n in range(1, count + 2))
    rows = chain(2 * count)
    calls = tuple(
        replace(call, uses=(*call.uses, Use("b", f"i{call.step // 2}")))
        if call.step % 2 == 0
        else call
        for call in rows.calls
    )
    return replace(rows, calls=calls, objects=(*inputs, *rows.objects))


@pytest.mark.parametrize("page", [450, 900, 1_200, 5_000])
def test_an_input_stands_in_the_row_of_the_call_that_first_takes_it_and_right_before_it(
    page: int,
) -> None:
    graph = graph_row(joins(4), page=page)
    objects, calls = by_row(graph, "object"), by_row(graph, "call")
    for n in range(1, 5):
        taken, call = objects[f"i{n}"], calls[f"c{2 * n}"]
        between = [node for node in graph.nodes if taken.x < node.x < call.x]
        row = range(int(call.y) - 100, int(call.y) + 100)
        assert [node for node in between if int(node.y) in row] == []
        assert abs(taken.y - call.y) < taken.height
        # What the call before made stands above it.
        before = [node for node in graph.nodes if node.row == f"o{2 * n - 1}"]
        assert any(abs(node.x - taken.x) < 20 and node.y < taken.y for node in before)


def test_an_input_moves_once_to_the_call_that_first_takes_it_and_the_first_one_never() -> None:
    rows, places = joins(3), list[dict[str, GraphNode]]()
    for count in range(7):
        objects = tuple(row for row in rows.objects if row.step <= count)
        part = replace(rows, calls=rows.calls[:count], objects=objects)
        places.append(by_row(graph_row(part, page=5_000), "object"))
    for n in (1, 2, 3):
        xs = [drawn[f"i{n}"].x for drawn in places]
        # Before, it is among those that no call takes; afterwards no call moves it.
        assert len({*xs[2 * n :]}) == 1
    assert len({(drawn["o0"].x, drawn["o0"].y) for drawn in places[1:]}) == 1


@pytest.mark.parametrize("count", [2, 6, 7, 20])
def test_inputs_that_no_call_takes_stand_in_lines_below_and_not_below_one_another(
    count: int,
) -> None:
    inputs = tuple(ObjectRow(f"i{n}", f"B#{n}", "B", role="input") for n in range(count))
    rows = chain(3)
    drawn = by_row(graph_row(replace(rows, objects=(*rows.objects, *inputs))), "object")
    places = [(drawn[row.id].y, drawn[row.id].x) for row in inputs]
    assert places == sorted(places)
    assert len({y for y, _ in places}) == -(-count // 6)
    assert max(node.y for key, node in drawn.items() if key[0] == "o") < places[0][0]
    alone = by_row(graph_row(Rows(objects=inputs)), "object")
    assert min(node.y for node in alone.values()) < BOX[1]


def test_an_output_that_is_not_saved_yet_stands_in_the_row_of_its_branch() -> None:
    rows = chain(6)
    fork = replace(rows.calls[2], id="fork", call="fork", object="new")
    calls = (*rows.calls[:2], *(replace(row, branch="b") for row in rows.calls[2:]), fork)
    objects = (*rows.objects[:3], *(replace(row, branch="b") for row in rows.objects[3:]))
    new = ObjectRow("new", "A#4", "A", step=3, call="fork")
    out = ObjectRow("output:clean", "clean", "A", "output")
    rows = Rows(calls=calls, objects=(*objects, new, out))
    places = by_row(graph_row(rows, page=1_200), "object")
    assert places["output:clean"].y == places["new"].y != places["o6"].y


def test_calls_without_objects_are_drawn_in_rows_as_they_are_read() -> None:
    def ping(text: str) -> str:
        """Return it."""
        return text

    script = Scripted([("ping", {"text": str(n)}) for n in range(14)] + ["Done."])
    session = Session(Toolbox(ping), script, scheme="flat", approve="all").tell("Go.")
    nodes = graph_row(all_rows(session.cursor, "")).nodes
    assert len({node.y for node in nodes}) == 3
    assert [*nodes] == sorted(nodes, key=lambda node: (node.y, node.x))


def test_calls_without_objects_stand_in_a_line_of_their_own_in_order_of_number() -> None:
    rows = chain(4)
    mails = [CallRow(f"m{n}", f"m{n}", "mail", n, n, "succeeded") for n in (0, 5, 9)]
    places = by_row(graph_row(replace(rows, calls=(*rows.calls, *mails))), "call")
    line = [places[call.id] for call in mails]
    assert [*line] == sorted(line, key=lambda node: node.x)
    assert {node.y for node in line}.isdisjoint(places[call.id].y for call in rows.calls)


def test_rows_of_a_forged_file_that_lead_in_a_circle_are_drawn() -> None:
    a = ObjectRow("a", "A#1", "A", call="c", same="b")
    b = ObjectRow("b", "A#2", "A", call="c", same="a")
    call = CallRow("c", "c", "f", 1, 1, uses=(Use("x", "a"), Use("y", "nothing")), same="c")
    graph = graph_row(Rows(calls=(call,), objects=(a, b)))
    assert not graph.error
    assert len(graph.nodes) == 3


def test_letters_that_are_not_seen_take_no_room_and_wide_ones_take_more() -> None:
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("表", 10) > text_width("m", 10)
    assert text_width("iii", 10) < text_width("mmm", 10)


def test_without_an_engine_there_is_one_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    monkeypatch.setenv("PATH", "")
    graph = graph_row(chain(3))
    assert (graph.nodes, graph.edges) == ((), ())
    assert str(graph.error).startswith("No Graphviz here")
    assert "\n" not in str(graph.error)


def test_the_program_dot_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("dot") is None:
        pytest.skip("the program dot is not installed")
    by_library = graph_row(chain(5))
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    by_program = graph_row(chain(5))
    assert [node.label for node in by_program.nodes] == [node.label for node in by_library.nodes]
    assert not by_program.error


def test_a_layout_that_takes_too_long_is_no_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphviz_engine, "PATIENCE", 0.0)
    assert str(graph_row(chain(5)).error) == "Graphviz took longer than 2 seconds"


def test_a_drawing_without_limits_has_all_calls() -> None:
    assert len(by_row(drawing(chain(200), most=10**9), "call")) == 200


def test_an_emoji_of_several_characters_stays_one_and_hidden_joiners_do_not() -> None:
    family, heart = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f"
    assert printable(f"{family} {heart}") == f"{family} {heart}"
    assert printable("us\u200der\ufe0f") == "us\\u200der\\ufe0f"


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_that_changes_nothing_is_drawn_as_the_branch_that_it_repeats(seed: int) -> None:
    rng = random.Random(seed)
    script = [("Bead_next", {"Bead": f"Bead#{rng.randint(1, n)}"}) for n in range(1, 9)]
    model = Scripted([*script, "Done."])
    session = Session(Toolbox(Bead), model, scheme="flat", inputs={"bead": Bead(0)}, approve="all")
    replay, head = session.tell("Go on.").replay("call_1"), ""

    def heights(drawn: Session) -> dict[str, float]:
        graph = graph_row(all_rows(drawn.cursor, ""))
        return {"": graph.height} | {node.label: node.y for node in graph.nodes}

    while replay.head != head:
        assert heights(replay) == heights(session)
        head = replay.head
        replay.step()
    assert len(replay.calls) == len(session.calls) == 8
