"""The saved picture: nothing in it overlaps, nothing is missing, and it stays small."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from jupyter_toolcall.view.contract import Rows
from jupyter_toolcall.view.contract_rows import (
    BranchRow,
    CallRow,
    CallWarning,
    ObjectRow,
    Preview,
    SessionRow,
    Use,
)
from jupyter_toolcall.view.picture_layout import is_without_result
from jupyter_toolcall.view.svg import MOST, svg
from jupyter_toolcall.view.view_rows import all_rows
from tests.branching import branching_session

SVG = "{http://www.w3.org/2000/svg}"
WIDTHS = {"12": 7.0, "11": 6.0, "10.5": 5.8}
"""Pixels of a letter at a size, wide ones of common fonts."""
CODE = 6.33


@dataclass(frozen=True)
class Box:
    what: str
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def number(element: ElementTree.Element, name: str) -> float:
    return float(element.get(name, "0"))


def text_box(element: ElementTree.Element, dx: float, dy: float) -> Box:
    text, size = element.text or "", element.get("font-size", "11")
    wide = len(text) * (CODE if element.get("font-family") else WIDTHS[size])
    x, y = dx + number(element, "x"), dy + number(element, "y")
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "start")]
    return Box(f"text {text}", left, y - float(size) * 0.8, left + wide, y + 2)


def boxes(picture: ElementTree.Element) -> Iterator[Box]:
    """Boxes of tiles, of texts that are not in tiles, of chips and of icons on edges."""
    foot = number(picture[0], "height") - 2
    for element in picture:
        dx, dy = 0.0, 0.0
        if place := re.match(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
            dx, dy = float(place[1]), float(place[2])
        if element.tag == f"{SVG}g" and element[0].tag in (f"{SVG}circle", f"{SVG}title"):
            circle = element.find(f"{SVG}circle")
            assert circle is not None
            half = number(circle, "r")
            if half == 10:
                yield Box("icon", dx - half, dy - half, dx + half, dy + half)
        elif element.tag == f"{SVG}g":
            squares = [one for one in element if one.tag == f"{SVG}rect"]
            left = min(number(one, "x") for one in squares)
            top = min(number(one, "y") for one in squares)
            right = max(number(one, "x") + number(one, "width") for one in squares)
            bottom = max(number(one, "y") + number(one, "height") for one in squares)
            yield Box("tile", dx + left, dy + top, dx + right, dy + bottom)
            for one in element.findall(f"{SVG}text"):
                if number(one, "y") > 30:
                    yield text_box(one, dx, dy)
        elif element.tag == f"{SVG}rect" and element.get("rx") == "4" and not element.get("stroke"):
            x, y = number(element, "x"), number(element, "y")
            yield Box("chip", x, y, x + number(element, "width"), y + number(element, "height"))
        elif element.tag == f"{SVG}text" and number(element, "y") < foot:
            is_in_chip = element.get("font-size") == "10.5" and not element.get("font-family")
            if not is_in_chip or element.get("text-anchor") != "middle":
                yield text_box(element, 0, 0)


def edges(picture: ElementTree.Element) -> Iterator[list[Box]]:
    """The parts of each edge, a pixel wide."""
    for element in picture.findall(f"{SVG}path"):
        if element.get("fill") != "none":
            continue
        corners = re.findall(r"[MLQ](-?[\d.]+) (-?[\d.]+)", element.get("d", ""))
        points = [(float(x), float(y)) for x, y in corners]
        yield [
            Box("edge", min(x, u) - 0.5, min(y, v) - 0.5, max(x, u) + 0.5, max(y, v) + 0.5)
            for (x, y), (u, v) in pairwise(points)
        ]


def overlaps(picture: ElementTree.Element) -> list[str]:
    """What lies on what, and which edges cross what."""
    all_boxes = [*boxes(picture)]
    found = [f"{a.what} on {b.what}" for a, b in combinations(all_boxes, 2) if a.meets(b)]
    for parts in edges(picture):
        crossed = {box.what: box for box in all_boxes if any(part.meets(box) for part in parts)}
        # An edge begins at its chip, and its icon stands on it.
        found += [f"edge on {what}" for what in crossed if what not in ("chip", "icon")]
    return found


def rows_of(seed: int, turns: int) -> Rows:
    return all_rows(branching_session(seed, turns, branches=5).cursor, "")


@pytest.mark.parametrize(
    ("seed", "turns"), [*((n, t) for n in range(6) for t in (3, 8, 20, 60)), (6, 150), (7, 300)]
)
def test_nothing_in_the_picture_lies_on_anything_else(seed: int, turns: int) -> None:
    picture = ElementTree.fromstring(svg(rows_of(seed, turns)))
    assert len([*boxes(picture)]) > 6
    assert overlaps(picture) == []


@pytest.mark.parametrize("seed", range(20))
def test_every_call_and_every_input_of_a_short_session_is_in_the_picture(seed: int) -> None:
    rows = rows_of(seed, random.Random(seed).randint(3, 8))
    text = svg(rows)
    tiles = text.count('<g transform="translate(')
    used = [row for row in rows.objects if row.used and row.role != "output"]
    objects = [row for row in used if not row.same]
    lost = [row for row in rows.calls if is_without_result(row)]
    calls = [row for row in rows.calls if not row.same]
    edited = [row for row in calls if row.edited and not row.memory and row.object]
    assert tiles >= len(objects) + len(lost) + len(edited)
    assert text.count(">no object<") == len(lost)
    for row in objects:
        assert f">{row.name}<" in text
    for call in rows.calls:
        if call.object and not call.branch:
            for use in call.uses:
                name = next(row.name for row in rows.objects if row.id == use.object)
                # Or it stands for others that are far away too.
                assert f"{name}<" in text or " +" in text
    for branch in rows.branches:
        made = [row for row in rows.objects if row.branch == branch.id and row.role == "made"]
        assert not made or f">{branch.name}<" in text


def many(count: int, image: str = "") -> Rows:
    """Rows of a long line with failures, a second argument, and a branch every hundred calls."""
    objects = [ObjectRow("o0", "Table#1", "Table", role="input", used=True)]
    calls = []
    for n in range(1, count):
        branch, lane = ("b1", 1 + n % 40) if n % 10 == 0 else ("", 0)
        preview = (
            Preview(caption="30 × 3", image=image)
            if image
            else Preview(
                columns=("name", "price"), cells=(("ada", "1"), ("bob", "2"), ("eve", "3"))
            )
        )
        objects.append(
            ObjectRow(
                f"o{n}",
                f"Table#{n + 1}",
                "Table",
                step=n,
                call=f"c{n}",
                column=n,
                lane=lane,
                branch=branch,
                used=True,
                preview=preview,
            )
        )
        uses = (Use("table", f"o{n - 1}", receiver=True), Use("other", f"o{max(0, n - 7)}"))
        calls.append(
            CallRow(
                f"c{n}",
                f"c{n}",
                "Table_clean",
                step=n,
                turn=n,
                status="succeeded",
                branch=branch,
                uses=uses,
                object=f"o{n}",
                edited=n % 9 == 0,
            )
        )
        if n % 5 == 0:
            calls.append(
                CallRow(
                    f"f{n}",
                    f"f{n}",
                    "Table_drop",
                    step=n,
                    turn=n,
                    status="failed",
                    uses=uses[:1],
                    error="no such column",
                    column=n,
                    lane=45,
                )
            )
    branches = (BranchRow("b0", "main", current=True), BranchRow("b1", "amount=5 (call 4)"))
    session = SessionRow(says="Finished", phase="finished")
    return Rows(session=(session,), calls=tuple(calls), objects=tuple(objects), branches=branches)


@pytest.mark.parametrize("image", ["", "data:image/png;base64," + "A" * 3_900])
@pytest.mark.parametrize("count", [3, 30, 300, 1_000, 10_000])
def test_a_picture_has_at_most_100_kilobytes(count: int, image: str) -> None:
    text = svg(many(count, image))
    assert len(text.encode()) <= MOST == 100_000
    assert overlaps(ElementTree.fromstring(text)) == []
    assert "<image" in text or not image
    assert "not drawn" in text or count < 300


def test_a_long_line_below_the_picture_is_wrapped_and_prints_over_nothing() -> None:
    rows = rows_of(1, 3)
    endings = tuple(f"saved Ledger#{n} as a_name_that_is_long_{n}" for n in range(9))
    told = replace(rows.session[0], ending=endings)
    picture = ElementTree.fromstring(svg(replace(rows, session=(told,))))
    lines = [one for one in picture.findall(f"{SVG}text") if one.get("x") == "16"]
    assert len(lines) > 1
    right = number(picture[0], "width")
    assert all(text_box(line, 0, 0).right <= right for line in lines)
    assert not any(a.meets(b) for a, b in combinations([text_box(one, 0, 0) for one in lines], 2))


def test_a_failure_a_rejection_and_a_warning_say_why() -> None:
    rows = many(4)
    warning = CallWarning("lost change", "It was lost.", "Save it.")
    first, *rest = rows.calls
    lost = CallRow("l", "l", "Table_drop", step=9, turn=9, uses=first.uses[:1], column=2, lane=3)
    lost_ones = (
        replace(lost, id="r", status="rejected", reason="too dear"),
        replace(lost, id="f", status="failed", error="no such column", lane=4),
    )
    text = svg(replace(rows, calls=(replace(first, warning=warning), *rest, *lost_ones)))
    assert ">too dear<" in text
    assert ">no such column<" in text
    assert "<title>lost change</title>" in text
