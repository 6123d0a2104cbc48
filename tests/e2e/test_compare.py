"""Branches in a real notebook: compared, named, hidden, gone to, and seen without a kernel."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest
from playwright.sync_api import Locator, Page, expect

from jupyter_toolcall import Scripted, Session, Toolbox
from tests.e2e import kitchen
from tests.e2e.rig import (
    Place,
    dark_theme,
    open_notebook,
    outputs,
    run_cell,
    save,
    saved_notebook,
    screenshot,
    shut_down_kernels,
    wait_drawn,
    wait_idle,
)
from tests.wild import expected, wild_branches

ROOT = Path(__file__).parents[2]
EDITED = "shape=SLICES (call 4)"
BRANCHES = ("%toolchat branch", "_2.checkout('with skin').name_branch('by code').branch")

TABLES = (
    kitchen.OWN
    + """
import pandas as pd

def load(rows: int) -> pd.DataFrame:
    \"\"\"Load a table.\"\"\"
    ran.append(("load", rows))
    return pd.DataFrame({"city": ["Rome", "Bonn"] * 20, "n": range(40)}).assign(m=rows)

def clean(DataFrame: pd.DataFrame, above: int) -> pd.DataFrame:
    \"\"\"Set what is above to zero.\"\"\"
    return DataFrame.assign(n=DataFrame["n"].mask(DataFrame["n"] > above, 0))

model = Scripted([("load", {"rows": 1}), ("clean", {"DataFrame": "$DataFrame", "above": 38}), "ok"])
"""
)


def slices(page: Page, place: Place, name: str) -> Locator:
    """The kitchen's cell, baked with sticks and then, by an edit, with slices."""
    open_notebook(page, place, name, [kitchen.LOAD, kitchen.fries_cell("--approve all"), *BRANCHES])
    run_cell(page, 0)
    wait_idle(page)
    run_cell(page, 1)
    view = kitchen.panel(page, 1)
    kitchen.expect_status(view, "Finished")
    edited(view, 3, lambda dialog: dialog.get_by_text("SLICES").click())
    expect(view).to_contain_text("4 ran, 1 cached, 3 from before")
    return view


def edited(view: Locator, step: int, change: Callable[[Locator], None]) -> None:
    """Edit a step after the end, the first is 0; returns when the new branch is at its end."""
    # The end of the run may still come, and choose the last call.
    wait_idle(view.page)
    kitchen.choose(view, step + 1)
    dialog = kitchen.edit_call(view)
    change(dialog)
    kitchen.press(dialog, "Run with these values")
    expect(dialog).to_be_hidden()
    kitchen.expect_status(view, "Finished")


def test_on_another_branch_a_graph_that_was_fitted_is_fitted_again(page: Page, lab: Place) -> None:
    view = slices(page, lab, "anew.ipynb")
    kitchen.press(view, "Fit")
    branch_list(view).get_by_role("button", name=re.compile("^main")).click()
    expect(view.get_by_role("button", name=re.compile("^Branch main"))).to_be_visible()
    kitchen.expect_status(view, "Finished")
    wait_idle(page)
    assert kitchen.scale_of(view) <= 1
    kitchen.expect_current_in_sight(view)


def branch_list(view: Locator) -> Locator:
    """Open the list of branches; returns it."""
    view.get_by_role("button", name=re.compile("^Branch")).click()
    return view.get_by_role("dialog", name="Branches")


def test_an_edit_is_compared_live_and_in_the_notebook_without_a_kernel(
    page: Page, lab: Place
) -> None:
    view = slices(page, lab, "c.ipynb")
    compared = kitchen.open_tab(view, "Compare")
    table = compared.get_by_role("table", name=f"Comparison of main and {EDITED}")
    expect(table).to_contain_text("selectTools, Potato_rinse, Potato_peel: the same in both")
    expect(table.get_by_role("cell", name=re.compile("Potato_slice.*STICKS"))).to_be_visible()
    expect(table.get_by_role("cell", name=re.compile("Potato_slice.*SLICES"))).to_be_visible()
    expect(table).to_contain_text("cut in sticks")
    expect(table.locator("mark", has_text="fries: slices").first).to_be_visible()
    screenshot(page, "compare-live")
    table.get_by_role("button", name=re.compile("Oven_bake")).first.click()
    kitchen.open_tab(view, "Graph")
    expect(kitchen.node(view, "Fries#1 of main")).to_have_attribute("aria-pressed", "true")
    save(page)

    shut_down_kernels(lab)
    page.goto("about:blank")
    page.goto(f"{lab.address('c.ipynb')}?reset")
    wait_drawn(page)
    saved = outputs(page, 1).get_by_role("region", name="Tool calls")
    again = kitchen.open_tab(saved, "Compare")
    expect(again.locator("mark", has_text='"fries: slices"').first).to_be_visible()
    expect(again.locator("mark", has_text='"STICKS"').first).to_be_visible()
    again.get_by_role("button", name="Swap").click()
    expect(again.get_by_role("table", name=f"Comparison of {EDITED} and main")).to_be_visible()
    dark_theme(page)
    screenshot(page, "compare-saved-dark")


def test_a_cell_of_a_table_that_differs_is_found_live_and_saved(page: Page, lab: Place) -> None:
    cell = "%%toolchat -m model -t load clean --scheme flat --approve all\nClean it."
    view = kitchen.run_notebook(page, lab, "t.ipynb", [TABLES, cell])
    kitchen.expect_status(view, "Finished")
    edited(view, 1, lambda dialog: dialog.get_by_label("above").fill("39"))
    compared = kitchen.open_tab(view, "Compare")
    expect(compared.get_by_role("cell", name="39", exact=True).first).to_be_visible()
    screenshot(page, "compare-table")
    wait_idle(page)
    save(page)
    assert "1 cell changed" in str(saved_notebook(lab, "t.ipynb").cells[1].outputs)


def test_branches_are_named_hidden_shown_and_gone_to_from_the_panel_and_by_lines(
    page: Page, lab: Place
) -> None:
    view = slices(page, lab, "n.ipynb")
    branches = branch_list(view)
    branches.get_by_role("button", name=f"Rename {EDITED}").click()
    field = branches.get_by_role("textbox", name=f"New name of {EDITED}")
    field.fill("main")
    branches.get_by_role("button", name="Save", exact=True).click()
    expect(branches.get_by_role("alert")).to_contain_text("already")
    field.fill("with skin")
    field.press("Enter")
    expect(branches.get_by_role("button", name=re.compile("^with skin"))).to_be_visible()
    branches.get_by_role("button", name="Hide main").click()
    expect(view.get_by_role("button", name=re.compile("^Branch.*1 hidden"))).to_be_visible()
    kitchen.open_tab(view, "Graph")
    expect(kitchen.node(view, "Potato#4 of main")).to_have_count(0)
    compared = kitchen.open_tab(view, "Compare")
    expect(compared).to_contain_text("One branch in view")
    screenshot(page, "compare-hidden")

    run_cell(page, 2)
    expect(outputs(page, 2)).to_contain_text("* with skin")
    expect(outputs(page, 2)).to_contain_text("1 hidden: main")

    run_cell(page, 3)
    expect(outputs(page, 3)).to_contain_text("by code")
    expect(view.get_by_role("button", name=re.compile("^Branch by code"))).to_be_visible()

    compared.get_by_role("button", name="1 hidden").click()
    view.get_by_role("button", name="Show main").click()
    expect(compared.get_by_role("table")).to_contain_text("cut in sticks")
    branches.get_by_role("button", name=re.compile("^main")).click()
    expect(view.get_by_role("button", name=re.compile("^Branch main"))).to_be_visible()
    wait_idle(page)
    save(page)
    assert "by code" in str(saved_notebook(lab, "n.ipynb").cells[1].outputs)


# -- tables stay in their half -----------------------------------------------------------------

HALVES = """table => {
    const box = element => element.getBoundingClientRect();
    const rows = [...table.querySelectorAll('.tc-crow')].map(row => [...row.children].slice(1));
    const out = rows.flat().flatMap(half => [...half.querySelectorAll('*')].filter(element => {
        // What scrolls is cut at the edge of what it scrolls in.
        const {left, right} = box(element.parentElement.closest('.tc-scroll') ?? element);
        return right > left && (left < box(half).left - 1 || right > box(half).right + 1);
    }).map(element => element.outerHTML));
    const pairs = rows.filter(halves => halves.length === 2).map(halves => halves.map(box));
    const scrolls = [...table.querySelectorAll('.tc-scroll')]
        .filter(element => element.scrollWidth > element.clientWidth);
    const share = test => pairs.filter(test).length / pairs.length;
    return {
        out,
        beside: share(([a, b]) => a.right <= b.left + 1),
        below: share(([a, b]) => a.bottom <= b.top + 1 && a.left === b.left),
        shaded: scrolls.every(area => getComputedStyle(area).backgroundImage.includes('gradient')),
        scrolls: scrolls.length,
    };
}"""


def groups(table: pandas.DataFrame, column: str) -> pandas.DataFrame:
    """Sum up the groups of a table."""
    return table.groupby(column, as_index=False).agg({"revenue": "sum"})


def top(table: pandas.DataFrame, n: int) -> pandas.DataFrame:
    """Return the rows with the largest value."""
    return table.nlargest(n, "revenue")


@pytest.mark.parametrize(
    ("width", "height", "is_stacked"), [(500, 900, True), (900, 700, False), (1366, 768, False)]
)
def test_wide_tables_stay_in_their_half_which_stands_below_the_other_in_a_narrow_panel(
    page: Page, tmp_path: Path, width: int, height: int, is_stacked: bool
) -> None:
    named = {f"a column with a long name {n}": range(9) for n in range(5)}
    orders = pandas.DataFrame({"city": [*"abc"] * 3, "item": [*"xyyzzzxxx"], **named})
    script = [
        *(
            ("top", {"table": "DataFrame#1", "n": 8}),
            ("groups", {"table": "$DataFrame", "column": "city"}),
        ),
        *(("save", {"best": "$DataFrame"}), "Done."),
    ]
    main = Session(
        *(Toolbox(groups, top), Scripted(script)),
        scheme="flat",
        approve="all",
        inputs={"orders": orders.assign(revenue=range(9))},
        outputs={"best": pandas.DataFrame},
    ).tell("Find the best.")
    by_item = main.edit(main.calls[1], column="item").run()
    less = by_item.edit(by_item.calls[0], n=3).run()
    less = less.name_branch("a long name of a branch, as people give them, to its limit")
    page.set_viewport_size({"width": width, "height": height})
    page.goto(less.export(tmp_path / "wide.html").as_uri())
    compared = kitchen.open_tab(page.get_by_role("region", name="Tool calls"), "Compare")
    table = compared.get_by_role("table", name="Comparison of main and a long name")
    # What was saved is shown, whatever an earlier row shows.
    expect(table.locator(".saved details[open]")).to_have_count(2)
    expect(table.get_by_text("only here: city").first).to_be_visible()
    found = table.evaluate(HALVES)
    screenshot(page, f"compare-wide-{width}")
    assert found.pop("scrolls") > 0
    assert found == {"out": [], "beside": not is_stacked, "below": is_stacked, "shaded": True}


# -- branches at random: what the panel shows is what `session.diff` says -------------------

ROWS = """table => [...table.querySelectorAll('.tc-crow')].flatMap(row => {
    const [head, ...cells] = row.children;
    if (!cells.some(cell => cell.querySelector('.tc-call'))) return [];
    const side = cell => {
        const call = cell.querySelector('.tc-call');
        const texts = selector => [...cell.querySelectorAll(selector)].map(one => one.textContent);
        const tool = call?.textContent.split('(')[0];
        return call && {tool, marks: texts('.tc-call mark'), objects: texts('.tc-mini .strong')};
    };
    return [{head: head.textContent, left: side(cells[0]), right: side(cells.at(-1))}];
})"""


def shown_rows(compared: Locator, names: str) -> Any:
    """Return the rows of the comparison of two branches, with what is the same unfolded."""
    table = compared.get_by_role("table", name=f"Comparison of {names}", exact=True)
    expect(compared.get_by_role("status")).to_contain_text(re.compile("call"))
    if not compared.get_by_role("button", name="Fold equal calls").count():
        show = compared.get_by_role("button", name="Show", exact=True)
        if show.count():
            show.first.click()
    return table.evaluate(ROWS)


@pytest.mark.parametrize("seed", [1, 2, 3, 6, 8, 9, 10, 11])
def test_an_exported_page_shows_of_random_branches_what_diff_says(
    page: Page, tmp_path: Path, seed: int
) -> None:
    session = wild_branches(seed)[-1]
    page.goto(session.export(tmp_path / "wild.html").as_uri())
    compared = kitchen.open_tab(page.get_by_role("region", name="Tool calls"), "Compare")
    here = session.branch
    table = compared.get_by_role("table").get_attribute("aria-label") or ""
    other = table.removeprefix("Comparison of ").removesuffix(f" and {here}")
    assert shown_rows(compared, f"{other} and {here}") == expected(session.diff(other))
    screenshot(page, f"compare-random-{seed}")
    compared.get_by_role("button", name="Swap").click()
    back = expected(session.fork(session.branch_names[other]).diff(session))
    assert shown_rows(compared, f"{here} and {other}") == back


def test_a_live_panel_shows_of_random_branches_what_diff_says(page: Page, lab: Place) -> None:
    load = f"""%load_ext jupyter_toolcall
import json, random, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.wild import Clay, Wild, cast, expected, grown, total
model, clay = Wild(random.Random(10)), Clay()"""
    cell = "%%toolchat -m model -t Clay cast total -i clay --scheme flat --approve all\nMake it."
    grow = """_ = grown(_2, 10, 5), _2.name_branch('first')
print(json.dumps({name: expected(_2.diff(name)) for name in _2.branch_names}))"""
    view = kitchen.run_notebook(page, lab, "random.ipynb", [load, cell, grow])
    expect(view.get_by_role("status", name="Session status")).to_contain_text("Finished")
    expect(outputs(page, 2)).to_contain_text("{")
    said: dict[str, Any] = json.loads(outputs(page, 2).inner_text())
    assert len(said) > 2
    compared = kitchen.open_tab(view, "Compare")
    for name, rows in said.items():
        compared.get_by_role("combobox", name="Left branch").select_option(label=name)
        assert shown_rows(compared, f"{name} and first") == rows
        screenshot(page, f"compare-random-{name}")
