"""What a notebook, a model or a tool says is text: it runs nothing, and asks nobody for anything.

Every text of every row is hostile, whatever rows there are: they are made from the
dataclasses of the contract.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Dialog, Page, Request, expect

from jupyter_toolcall.core.call_record import RecordedStatus, Status
from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.teaching.panel_rows import TeachingRow
from jupyter_toolcall.view import contract as rows
from jupyter_toolcall.view.contract import Rows, Whole
from jupyter_toolcall.view.contract_rows import (
    BranchRow,
    CallRow,
    MessageRow,
    ObjectRow,
    SessionRow,
    ToolRow,
    TurnRow,
    Use,
)
from jupyter_toolcall.view.graph_rows import GraphEdge, GraphNode, GraphRow
from jupyter_toolcall.view.svg import svg
from jupyter_toolcall.view.text_summary import session_text
from tests.e2e import rig
from tests.e2e.corpus import CORPUS, HOST
from tests.e2e.kitchen import open_tab, panel
from tests.e2e.samples import SESSION, saved_data, wait_for_file

pytestmark = pytest.mark.own_page

STATUSES: tuple[Status, ...] = (*get_args(RecordedStatus), "running")
SCHEMA = {
    "type": "object",
    "properties": {said: {"description": said, "enum": [said, "x"]} for said in CORPUS[:9]},
}


def hostile(kind: Any, said: str) -> Any:
    """A value of a type in which every text is this one."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        made = {f.name: hostile(hints[f.name], said) for f in dataclasses.fields(kind)}
        return kind(**made)
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Literal:
        return inside[0]
    if origin in (UnionType, typing.Union):
        return hostile(inside[0], said)
    if origin is tuple:
        return tuple(hostile(each, said) for each in inside if each is not Ellipsis)
    if origin is not None and issubclass(origin, Mapping):
        return {said: said}
    return {str: said, int: 1, float: 1.0, bool: False}.get(kind, said)


def row(kind: type[Any], said: str, **links: Any) -> Any:
    """A hostile row whose links to others are as they should be."""
    return dataclasses.replace(hostile(kind, said), **links)


def hostile_graph() -> GraphRow:
    """A drawing in which each text of the corpus stands wherever one can: in a box and a pill."""
    numbered = list(enumerate(CORPUS))
    size = {"width": 112.0, "height": 84.0}
    boxes = [
        row(GraphNode, said, row=f"o{n}", x=150.0 * n + 60, y=50.0, **size) for n, said in numbered
    ]
    pills = [
        dataclasses.replace(box, kind="call", row=f"c{n}", y=150.0) for n, box in enumerate(boxes)
    ]
    edges = [row(GraphEdge, said, tail=len(boxes) + n, head=n) for n, said in numbered]
    place: dict[str, Any] = {"id": "graph", "width": 150.0 * len(boxes), "height": 200.0}
    place |= {"nodes": (*boxes, *pills), "edges": tuple(edges), "until": 0}
    return row(GraphRow, CORPUS[0], **place)  # type: ignore[no-any-return]


def hostile_rows(live: bool, asks: bool = False) -> Rows:
    """A session in which each text of the corpus stands wherever a text can.

    The call that waits is to be decided on, or `asks` for input.
    """
    numbered = list(enumerate(CORPUS))
    calls = tuple(
        row(
            CallRow,
            said,
            **{"id": f"c{n}", "call": f"c{n}", "step": n + 1, "turn": n + 1, "branch": ""},
            status=STATUSES[n % len(STATUSES)] if n else "proposed",
            object=f"o{n}",
            uses=(Use(said, f"o{max(n - 1, 0)}"), Use(said, "o0")),
        )
        for n, said in numbered
    )
    if not asks:
        calls = (dataclasses.replace(calls[0], questions=()), *calls[1:])
    objects = tuple(
        row(
            ObjectRow,
            said,
            **{"id": f"o{n}", "step": n, "call": f"c{n}", "branch": ""},
            role="made" if n else "input",
        )
        for n, said in numbered
    )
    session = row(SessionRow, CORPUS[0], id="session", phase="waiting", pending=("c0",))
    teaching = row(TeachingRow, CORPUS[0], id="teaching")
    # While the person is the model, guesses, or is asked for a budget, they decide nothing.
    session = dataclasses.replace(session, yours=None, budget=None) if live else session
    teaching = dataclasses.replace(teaching, turn=None) if live else teaching
    others = {
        "tools": [row(ToolRow, said, id=said, parameters=SCHEMA) for said in CORPUS],
        "branches": [row(BranchRow, said, id=f"b{n}", current=not n) for n, said in numbered],
        "messages": [row(MessageRow, said, id=f"m{n}", turn=n + 1) for n, said in numbered],
        "turns": [row(TurnRow, said, id=f"t{n}", turn=n + 1) for n, said in numbered],
        "extensions": [teaching],
        "graph": [hostile_graph()],
    }
    given = {f.name for f in dataclasses.fields(Rows)} - {"drop", "session", "calls", "objects"}
    kinds = typing.get_type_hints(Rows)
    for name in given - set(others):
        kind = get_args(kinds[name])[0]
        others[name] = [row(kind, said, id=f"{name}{n}") for n, said in numbered]
    made = Rows(session=(session,), calls=calls, objects=objects)
    return dataclasses.replace(made, **{name: tuple(each) for name, each in others.items()})


def saved() -> dict[str, Any]:
    """The bundle of the hostile session, as a cell would leave it."""
    made = hostile_rows(live=False)
    data = saved_data(made, {"head": CORPUS[1], "events": [CORPUS[2]]})
    return {SESSION: data, "image/svg+xml": svg(made), "text/plain": session_text(made)}


def asked(page: Page) -> list[str]:
    """From now on: the addresses of the canary that the page asks for, and dialogs it opens."""
    seen: list[str] = []

    def note(request: Request) -> None:
        if HOST in request.url.partition("?")[0]:
            seen.append(request.url)

    def close(dialog: Dialog) -> None:
        seen.append(dialog.message)
        dialog.dismiss()

    page.on("request", note)
    page.on("dialog", close)
    return seen


def expect_harmless(page: Page, seen: list[str], place: str) -> None:
    """Nothing ran, nothing was asked for, and nothing that could do either is there."""
    assert page.evaluate("window.canary") is None
    assert seen == []
    found = page.evaluate(
        """place => [...document.querySelectorAll(`${place} *`)].flatMap(element => {
            const bad = ['SCRIPT', 'IFRAME', 'OBJECT', 'EMBED', 'LINK', 'META', 'BASE', 'A',
                'STYLE', 'VIDEO', 'AUDIO', 'FOREIGNOBJECT', 'USE', 'ANIMATE'];
            const acts = [...element.attributes].filter(({ name, value }) =>
                name.startsWith('on') || name === 'srcdoc' || name === 'action'
                || (/^(href|src|xlink:href)$/.test(name) && !value.startsWith('data:image/')));
            return bad.includes(element.tagName.toUpperCase()) || acts.length
                ? [element.outerHTML.slice(0, 120)] : [];
        })""",
        place,
    )
    assert found == []


def walk(page: Page, number: int) -> None:
    """Look at everything that a session shows."""
    view = panel(page, number)
    for tab in view.get_by_role("tab").all():
        tab.click()
        page.evaluate(
            """() => {
                for (const each of document.querySelectorAll('.tc summary')) each.click();
                for (const each of document.querySelectorAll('.tc .turn')) each.click();
            }"""
        )
    open_tab(view, "Graph")
    page.evaluate(
        """() => {
            const all = selector => [...document.querySelectorAll(selector)];
            for (const each of all('.tc-steps button')) each.click();
            for (const each of all('.tc .node .hit')) each.focus();
        }"""
    )


def test_a_saved_session_acts_nowhere_whatever_it_says(page: Page, lab: rig.Place) -> None:
    seen = asked(page)
    rig.open_notebook(page, lab, "hostile.ipynb", ["%%toolchat\n" + CORPUS[0]], {0: [saved()]})
    view = panel(page, 0)
    expect(view).to_contain_text("<script>window.canary=1</script>")
    walk(page, 0)
    rig.screenshot(page, "hostile")
    rig.show_side_panel(page)
    expect_harmless(page, seen, ".tc")
    expect_harmless(page, seen, "#jupyter-toolcall-side")
    decisions = view.locator(".tc-acts")
    expect(decisions.get_by_role("button", name="Approve", exact=True)).to_have_count(0)


@pytest.mark.parametrize("asks", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_live_session_acts_nowhere_and_neither_does_what_tells_of_it(
    page: Page, lab: rig.Place, asks: bool
) -> None:
    seen = asked(page)
    whole = sendable_data(Whole(hostile_rows(live=True, asks=asks)))
    panel_of = "from jupyter_toolcall.jupyter.panel import Panel\nfake = Panel()\n"
    show = "from IPython.display import display\ndisplay(fake.bundle(), raw=True)\n"
    source = f"{wait_for_file('go')}\n{panel_of}{show}fake.send({whole!r})"
    rig.write_notebook(lab, "front.ipynb", ["1"])
    rig.open_notebook(page, lab, "live.ipynb", [source])
    page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCell.inputHidden = true")
    rig.run_all(page)
    rig.run_command(page, "docmanager:open", path=lab.path("front.ipynb"))
    (lab.root / "go").touch()
    toast = page.locator(".Toastify__toast")
    expect(toast).to_contain_text("<script>window.canary=1</script>")
    expect_harmless(page, seen, ".Toastify__toast-body p")
    toast.get_by_role("button", name="Show").click()
    view = rig.outputs(page, 0).get_by_role("region", name="Tool calls")
    if asks:
        view.get_by_role("button", name="Answer", exact=True).click()
    else:
        view.get_by_role("button", name="Edit", exact=True).click()
        expect(view.get_by_role("dialog")).to_be_visible()
    expect_harmless(page, seen, ".tc")
    page.keyboard.press("Escape")
    walk(page, 0)
    rig.wait_idle(page)
    rig.screenshot(page, "hostile-live")
    expect_harmless(page, seen, ".tc")


def test_the_page_that_nbconvert_makes_of_it_acts_nowhere(page: Page, tmp_path: Path) -> None:
    seen = asked(page)
    made = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(
                "%%toolchat\nPeel.", outputs=[nbformat.v4.new_output("display_data", data=saved())]
            )
        ]
    )
    html, _ = HTMLExporter(template_name="lab").from_notebook_node(made)
    at = tmp_path / "hostile.html"
    at.write_text(html)
    page.goto(at.as_uri(), wait_until="domcontentloaded")
    shown = page.locator(".jp-OutputArea-output img, .jp-OutputArea-output svg").first
    expect(shown).to_be_visible()
    assert page.evaluate("window.canary") is None
    assert seen == []


def test_every_kind_of_row_has_its_hostile_one() -> None:
    made = hostile_rows(live=False)
    for field in dataclasses.fields(Rows):
        if field.name != "drop":
            assert getattr(made, field.name), field.name
    assert rows.VERSION == 4
