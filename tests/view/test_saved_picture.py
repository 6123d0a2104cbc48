"""The saved picture shows the drawing as it is: nothing lies on anything else, and it is small."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, takewhile
from typing import Any, cast, get_args
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.call_record import Status
from jupyter_toolcall.kitchen import Potato
from jupyter_toolcall.view.contract import Rows
from jupyter_toolcall.view.contract_rows import CallRow, ObjectRow, Preview, SessionRow, Use
from jupyter_toolcall.view.graph import PAGE, with_graph
from jupyter_toolcall.view.graph_geometry import text_width
from jupyter_toolcall.view.graph_rows import GraphRow, NodeState
from jupyter_toolcall.view.svg import MARKS, SHAPES, svg
from jupyter_toolcall.view.view_rows import all_rows
from tests.branching import branching_session
from tests.examples import examples

SVG = "{http://www.w3.org/2000/svg}"


def drawn(rows: Rows) -> tuple[GraphRow, ElementTree.Element]:
    rows = with_graph(rows)
    return rows.graph[0], ElementTree.fromstring(svg(rows))


def test_two_equal_runs_leave_equal_outputs_so_that_version_control_sees_no_change() -> None:
    def output() -> dict[str, object]:
        script = [("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"}), "Done."]
        options: Any = {"scheme": "flat", "approve": "all", "inputs": {"potato": Potato()}}
        session = Session(Toolbox(Potato), Scripted(script), **options)
        return session.tell("Go.").edit("call_1").run()._repr_mimebundle_()

    assert output() == output()


def test_the_picture_has_a_title_above_the_drawing_and_a_description_for_readers() -> None:
    rows = all_rows(branching_session(5, 8, branches=3).cursor, "books")
    prompt = next(row for row in rows.messages if row.role == "user")
    asked = replace(prompt, text=f"  Mend <the> {'books ' * 20}\nand more")
    inputs = [row for row in rows.objects if row.role == "input"]
    names = replace(prompt, text=f"Join {inputs[0].name} and {inputs[0].name}0.")
    titles = {
        f"Mend <the> {('books ' * 20)[:48]}… · 8 calls, 3 branches": replace(
            rows, messages=(asked,)
        ),
        f"Join {inputs[0].label} and {inputs[0].name}0. · 8 calls, 3 branches": replace(
            rows, messages=(names,)
        ),
        "books · 8 calls, 3 branches": replace(rows, messages=()),
        "8 calls, 3 branches": replace(rows, messages=(), session=()),
    }
    for title, shown in titles.items():
        picture = drawn(shown)[1]
        assert picture.findtext(f"{SVG}title") == f"Object lineage: {title}"
        assert picture.findtext(f"{SVG}text") == title
        assert float(picture[3].get("y", 0)) < 0
        assert "3 branches" in (picture.findtext(f"{SVG}desc") or "")


Box = tuple[str, float, float, float, float]


def boxes(picture: ElementTree.Element) -> list[Box]:
    """Boxes, pills and labels of edges as they are in the picture."""
    found: list[Box] = []
    for rect in picture.iterfind(f"{SVG}g/{SVG}rect"):
        left, top = float(rect.get("x", 0)), float(rect.get("y", 0))
        wide, high = float(rect.get("width", 0)), float(rect.get("height", 0))
        found.append((f"node at {left} {top}", left, top, left + wide, top + high))
    groups = picture.findall(f"{SVG}g")
    # Edges and their labels come before the nodes.
    edges = takewhile(lambda group: group.find(f"{SVG}rect") is None, groups)
    for label in (text for group in edges for text in group.iterfind(f"{SVG}text")):
        x, y, text = float(label.get("x", 0)), float(label.get("y", 0)), label.text or ""
        half = len(text) * 2.9
        found.append((f"label {text}", x - half, y - 9, x + half, y + 2))
    return found


def overlaps(picture: ElementTree.Element) -> list[str]:
    return [
        f"{a[0]} on {b[0]}"
        for a, b in combinations(boxes(picture), 2)
        if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
    ]


@pytest.mark.parametrize("seed", range(examples(20)))
def test_no_box_pill_or_label_lies_on_another(seed: int) -> None:
    session = branching_session(seed, 3 + 2 * seed % 40, branches=1 + seed % 5)
    graph, picture = drawn(all_rows(session.cursor, ""))
    assert not graph.error
    assert len(boxes(picture)) >= sum(node.kind != "branch" for node in graph.nodes)
    assert overlaps(picture) == []
    sheet = picture[2]
    width, height = float(sheet.get("width", 0)), float(sheet.get("height", 0))
    assert all(left > 0 and right < width for _, left, _, right, _ in boxes(picture))
    # Above the drawing is the title, so that no flag touches the edge.
    assert float(sheet.get("y", 0)) < -20
    assert all(top > 0 and bottom < height for _, _, top, _, bottom in boxes(picture))


def table(count: int, preview: Preview) -> Rows:
    """Rows of a long line in which each table is made from the one before it and an older one."""
    objects = [ObjectRow("o0", "Table#1", "Table", role="input")]
    calls = []
    for n in range(1, count):
        made = ObjectRow(f"o{n}", f"Table#{n + 1}", "Table", step=n, call=f"c{n}", preview=preview)
        objects.append(made)
        uses = (Use("table", f"o{n - 1}"), Use("other", f"o{max(0, n - 7)}"))
        call = CallRow(f"c{n}", f"c{n}", "Table_clean", step=n, turn=n, status="succeeded")
        calls.append(replace(call, uses=uses, object=f"o{n}"))
    return Rows((SessionRow(says="Finished"),), tuple(calls), tuple(objects))


def test_the_lines_of_a_table_keep_their_columns_and_the_others_are_counted_below() -> None:
    lines = ("name  price", "      3.066…", "ada   1.5")
    _, picture = drawn(table(2, Preview(lines=lines, others="+ 2 columns")))
    texts = {text.text: text for text in picture.iter(f"{SVG}text")}
    assert {*lines, "+ 2 columns"} <= texts.keys()
    assert "preserve" in texts[lines[1]].attrib.values()


@pytest.mark.parametrize("count", [3, 60, 2_000])
def test_the_picture_is_small_however_long_the_session_is(count: int) -> None:
    cells = ("ada   1", "bob   2", "eve   3")
    shown = table(count, Preview(caption="30 × 3", lines=("name  price", *cells)))
    image = table(count, Preview(image=f"data:image/png;base64,{'A' * 4_000}"))
    for rows in (shown, image):
        assert len(svg(rows).encode()) < 100_000
        assert float(drawn(rows)[1].get("width", 0)) < 3 * PAGE


@pytest.mark.parametrize("state", get_args(NodeState))
@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("stale", [False, True])
def test_a_pill_has_the_icons_of_its_state_of_an_edit_and_of_an_outdated_result(
    state: NodeState, edited: bool, stale: bool
) -> None:
    statuses: dict[NodeState, Status] = {"ran": "succeeded", "waits": "proposed"}
    status = cast(Status, statuses.get(state, state))
    call = CallRow("c", "c", "cut", 1, 1, edited=edited, outdated="why" * stale)
    _, picture = drawn(Rows(calls=(replace(call, status=status),)))
    paths = [path.get("d") for path in picture.iterfind(f"{SVG}g/{SVG}g/{SVG}path")]
    icons = [MARKS[state]] if state != "ran" else []
    icons += ["edited"] * edited + ["clock"] * stale
    assert paths == [path for icon in icons for path in SHAPES["icons"][icon]]


HOSTILE = (
    "<script>alert(1)</script>",
    '"/><a href="x">',
    '"]; EVIL [',
    "]]>",
    "&amp;&#0;",
    "\u202e",
    "\x00",
    "\ud800",
)
hostile_texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=9), max_size=4).map("".join)


@given(hostile_texts, hostile_texts, hostile_texts)
def test_no_text_becomes_markup_or_hides_in_a_picture(name: str, caption: str, result: str) -> None:
    shown = Preview(caption=caption, text=result, fields=((name, caption),))
    taken = ObjectRow("o", name, name, role="input", label=caption, saved=caption, preview=shown)
    uses = (Use(name, "o"), Use(caption, "p"))
    call = CallRow("c", "c", name, 1, 1, "failed", uses=uses, result=result)
    other = replace(taken, id="p", preview=replace(shown, lines=(name, caption), others=result))
    graph, picture = drawn(Rows(calls=(call,), objects=(taken, other)))
    assert not graph.error
    tags = {element.tag.removeprefix(SVG) for element in picture.iter()}
    assert tags <= {"svg", "g", "rect", "path", "text", "image", "title", "desc"}
    assert not [c for c in "".join(picture.itertext()) if not (c.isprintable() or c in "\n\u200d")]


@pytest.mark.parametrize("name", ["Table#1", "m" * 40, "表" * 40, "\U0001f955" * 12, "Щ" * 9, "é"])
def test_only_text_that_may_be_wider_than_its_box_is_fitted_and_then_it_fits(name: str) -> None:
    objects = (ObjectRow("o", name, "Table", role="input"),)
    graph, picture = drawn(Rows(calls=(CallRow("c", "c", name, 1, 1),), objects=objects))
    for node in graph.nodes:
        (text,) = (line for line in picture.iter(f"{SVG}text") if line.text == node.label)
        size = 12 if node.kind == "object" else 11.5
        width = text_width(node.label, size, mono=node.kind == "call")
        may_overflow = not name.isascii() and name != "é" and 1.5 * width > node.width - 8
        assert (text.get("textLength") is not None) == may_overflow, node.label
        assert float(text.get("textLength", 0)) < node.width
