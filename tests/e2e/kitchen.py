"""The cells that the browser tests run, and the words for what a person does at a panel.

Every tool here notes in `ran` that its own code was reached, so that a test can tell a call
that ran from one that was only recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.e2e.rig import CURRENT, KERNEL, Place, open_notebook, outputs, run_all

LOAD = """%load_ext jupyter_toolcall
from jupyter_toolcall.kitchen import Potato, Sink, Oven, Plate, Fries
potato, sink, oven, plate = Potato(), Sink(), Oven(), Plate()"""
OPTIONS = "-m scripted:kitchen -t Potato Oven Fries -i potato sink oven plate -o fries:Plate"
PROMPT = "Bake me some fries from {potato}. Save them as fries."

OWN = """%load_ext jupyter_toolcall
import time
from typing import Annotated
from pydantic import Field
from jupyter_toolcall import Scripted, tool
ran = []

class Jar:
    \"\"\"A jar of something.\"\"\"
    def __init__(self, grams: int, of: str = "beans") -> None:
        self.grams, self.of = grams, of
    def __str__(self) -> str:
        return f"{self.grams} g {self.of}"

def fill(grams: Annotated[int, Field(ge=1, le=500)], of: str = "beans") -> Jar:
    \"\"\"Fill a jar.\"\"\"
    ran.append(("fill", grams))
    return Jar(grams, of)

def weigh(jar: Jar) -> int:
    \"\"\"Weigh a jar.\"\"\"
    ran.append(("weigh", jar.grams))
    return jar.grams

def nap(seconds: float) -> str:
    \"\"\"Sleep.\"\"\"
    ran.append(("nap", seconds))
    time.sleep(seconds)
    return "awake"
"""


def fries_cell(options: str = "", prompt: str = PROMPT) -> str:
    """The kitchen's cell, with more options."""
    return f"%%toolchat {OPTIONS} {options}\n{prompt}"


def script(name: str, *turns: str) -> str:
    """The source of a scripted model, one item a turn."""
    return f"{name} = Scripted([{', '.join(turns)}])\n"


def panel(page: Page, number: int) -> Locator:
    """The view of a cell's session that is on show."""
    return outputs(page, number).get_by_role("region", name="Tool calls")


def run_notebook(
    page: Page, place: Place, name: str, cells: Sequence[str], number: int = 1, low: bool = False
) -> Locator:
    """Open a notebook and start running all of it, in a low window if asked for; returns the view
    of the cell's session."""
    open_notebook(page, place, name, cells)
    if low:
        page.set_viewport_size({"width": 1366, "height": 768})
    run_all(page)
    return panel(page, number)


def press(view: Locator, name: str) -> None:
    view.get_by_role("button", name=name, exact=True).click()


def expect_status(view: Locator, says: str) -> None:
    expect(view.get_by_role("status", name="Session status")).to_have_text(says)


def steps(view: Locator) -> Locator:
    return view.get_by_role("list", name="Steps").locator("> li")


def expect_step(view: Locator, number: int, *words: str) -> None:
    """Step `number`, the first is 1, says all of these words."""
    for word in words:
        expect(steps(view).nth(number - 1)).to_contain_text(word)


def choose(view: Locator, number: int) -> None:
    """Open the card of a step, the first is 1; returns when it is shown.

    By a key: after a run JupyterLab scrolls to the next cell, and the card moves below the graph;
    between press and release of a mouse button, no click comes.
    """
    step = steps(view).nth(number - 1)
    step.get_by_role("button").first.press("Enter")
    expect(step).to_have_attribute("aria-current", "step")
    # A call has its number in the title of the card, and an object below that.
    card = view.locator(".tc-title").first.locator("xpath=..")
    expect(card).to_contain_text(re.compile(rf"call {number}(?!\d)"))


def expect_waits(view: Locator, number: int, tool: str) -> None:
    """The step waits, and its decision can be made now: the card is that of this call."""
    expect_step(view, number, tool, "waits for you")
    # Several calls of a turn say that they wait; the buttons are for the one on the card.
    expect(view.locator(".tc-title").first).to_contain_text(re.compile(rf"{tool}.*call {number}$"))
    expect(view.get_by_role("button", name="Approve", exact=True)).to_be_enabled()


def approve(view: Locator, *tools: str, first: int) -> None:
    """Approve these calls as they come to wait."""
    for number, tool in enumerate(tools, first):
        if tool not in ("selectTools", "save"):
            expect_waits(view, number, tool)
            press(view, "Approve")


def approve_kitchen(view: Locator) -> None:
    """Approve every call of the kitchen's script."""
    tools = ("Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake")
    approve(view, *tools, "selectTools", "Fries_plate", first=2)
    expect_status(view, "Finished")


def node(view: Locator, name: str) -> Locator:
    """The nodes of an object's name, that of the current branch first."""
    graph = view.get_by_role("img", name="Object lineage")
    return graph.get_by_role("button", name=re.compile(f"^{re.escape(name)}($|\\W)"))


def scale_of(view: Locator) -> float:
    """The scale of the graph."""
    world = view.get_by_role("img", name="Object lineage").locator("> g").first
    found = re.search(r"scale\(([\d.]+)\)", world.get_attribute("transform") or "")
    assert found is not None
    return float(found[1])


def expect_current_in_sight(view: Locator) -> None:
    """The node of the current call is in the canvas, with all of its width and height."""
    expect(view.locator(".tc-canvas .hit[aria-pressed=true]")).to_have_count(1)
    inside = """canvas => {
        const moves = document.getAnimations().filter(one => one instanceof CSSTransition);
        for (const move of moves) move.finish();
        const [box, node] = [canvas, canvas.querySelector('.hit[aria-pressed=true]')].map(
            one => one.getBoundingClientRect()
        );
        return ['left', 'top'].every(side => node[side] >= box[side]) &&
            ['right', 'bottom'].every(side => node[side] <= box[side]);
    }"""
    assert view.locator(".tc-canvas").evaluate(inside)


def open_tab(view: Locator, name: str) -> Locator:
    """Open a tab; returns what is in it."""
    view.get_by_role("tab", name=name).click()
    return view.get_by_role("tabpanel", name=name)


def edit_call(view: Locator) -> Locator:
    """Open the dialog `Edit call`; returns it."""
    press(view, "Edit")
    dialog = view.get_by_role("dialog", name="Edit call")
    expect(dialog).to_be_visible()
    return dialog


def forge(page: Page, number: int, command: Mapping[str, Any]) -> None:
    """Send a command to a cell's session as its panel would, late, double or forged."""
    page.evaluate(
        f"""async ([number, content]) => {{
            const outputs = {CURRENT}.content.widgets[number].model.outputs.toJSON();
            const live = 'application/vnd.jupyter-toolcall.live+json';
            const id = outputs.find(output => output.data?.[live]).data[live].model_id;
            const kernel = {KERNEL};
            kernel.sendShellMessage({{
                channel: 'shell', buffers: [], metadata: {{}}, parent_header: {{}},
                header: {{
                    msg_id: crypto.randomUUID(), msg_type: 'comm_msg', session: kernel.clientId,
                    username: '', version: '5.3', date: new Date().toISOString(),
                }},
                content: {{comm_id: id, data: {{method: 'custom', content}}}},
            }}, false, true);
        }}""",
        [number, dict(command)],
    )


def text_of(page: Page, number: int) -> Locator:
    """What an ordinary cell printed or returned."""
    return outputs(page, number)
