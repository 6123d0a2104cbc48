"""What a notebook is after it ran again: the same file, and nobody asked twice."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.kitchen import (
    LOAD,
    OWN,
    approve,
    approve_kitchen,
    expect_status,
    expect_step,
    expect_waits,
    fries_cell,
    panel,
    press,
    run_notebook,
    script,
    steps,
)
from tests.e2e.rig import (
    Place,
    open_notebook,
    outputs,
    restart_kernel,
    run_all,
    save,
    saved_notebook,
    screenshot,
    wait_idle,
)

LIVE = "application/vnd.jupyter-toolcall.live+json"
UNSTEADY = re.compile(r'"(at|ms|hmac|mac)": ?[0-9.e+-]+|"(model_id|mac|hmac)": ?"[^"]*"')


def steady(notebook: Any) -> str:
    """A notebook's text without the ids of widgets, times and execution counts."""
    kept = copy.deepcopy(notebook)
    kept.metadata.pop("widgets", None)
    for cell in kept.cells:
        cell.execution_count = None
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            output.pop("execution_count", None)
    text = json.dumps(kept, sort_keys=True, indent=1)
    return re.sub(r"\b\d+ (ms|µs|s)\b|<1 ms", "", UNSTEADY.sub("", text))


@pytest.mark.parametrize(
    "options", [pytest.param("--approve all", marks=pytest.mark.long), "--approve ask"]
)
def test_restart_and_run_all_gives_the_same_notebook_and_asks_nobody_twice(
    page: Page, lab: Place, options: str
) -> None:
    cells = [LOAD, fries_cell(options), "print(fries)"]
    open_notebook(page, lab, "same.ipynb", cells)
    run_all(page)
    if options == "--approve ask":
        approve_kitchen(panel(page, 1))
    runs = []
    for again in range(3):
        if again:
            restart_kernel(page)
            run_all(page)
        expect_status(panel(page, 1), "Finished")
        wait_idle(page)
        expect(outputs(page, 2)).to_contain_text("fries: sticks")
        save(page)
        runs.append(steady(saved_notebook(lab, "same.ipynb")).splitlines())
    assert runs[0] == runs[1]
    assert runs[1] == runs[2]


def test_a_cell_that_waits_and_is_run_again_is_decided_where_it_was(page: Page, lab: Place) -> None:
    open_notebook(page, lab, "again.ipynb", [LOAD, fries_cell(), "print(fries)"])
    run_all(page)
    approve(panel(page, 1), "Potato_rinse", first=2)
    expect_waits(panel(page, 1), 3, "Potato_peel")
    run_all(page)
    # The kernel runs it again after the decisions, and asks for none of them then.
    tools = ("Potato_peel", "Potato_slice", "Oven_bake", "selectTools", "Fries_plate")
    approve(panel(page, 1), *tools, first=3)
    wait_idle(page)
    expect_status(panel(page, 1), "Finished")
    expect(outputs(page, 2)).to_contain_text("fries: sticks")


def test_a_named_session_continues_in_the_next_cell_and_fresh_asks_again(
    page: Page, lab: Place
) -> None:
    model = script(
        "model", '("fill", {"grams": 1})', '"One jar."', '("fill", {"grams": 2})', '"Two jars."'
    )
    cells = [
        OWN + model,
        "%%toolchat -n jars -m model -t fill --scheme flat\nOne jar.",
        "%%toolchat -n jars\nAnother.",
        "ran",
    ]
    open_notebook(page, lab, "named.ipynb", cells)
    run_all(page)
    approve(panel(page, 1), "fill", first=1)
    expect_status(panel(page, 1), "Finished")
    second = panel(page, 2)
    expect_step(second, 1, "fill", "Jar#1")
    approve(second, "fill", first=2)
    expect_status(second, "Finished")
    wait_idle(page)
    expect(outputs(page, 3)).to_contain_text("[('fill', 1), ('fill', 2)]")

    restart_kernel(page)
    run_all(page)
    wait_idle(page)
    expect_status(panel(page, 1), "Finished")
    expect_status(panel(page, 2), "Finished")
    expect(steps(panel(page, 2))).to_have_count(2)
    screenshot(page, "named-again")

    page.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.widgets[1].model.sharedModel
            .setSource("%%toolchat -n jars -m model -t fill --scheme flat --fresh\\nOne jar.")"""
    )
    restart_kernel(page)
    run_all(page)
    expect_waits(panel(page, 1), 1, "fill")
    press(panel(page, 1), "Stop")
    wait_idle(page)


def test_no_wait_ends_at_the_pause_and_the_panel_continues(page: Page, lab: Place) -> None:
    cells = [LOAD, fries_cell("--no-wait"), "print('fries' in globals())", "print(fries)"]
    open_notebook(page, lab, "nowait.ipynb", cells)
    run_all(page)
    wait_idle(page)
    expect(outputs(page, 2)).to_contain_text("False")
    view = panel(page, 1)
    approve_kitchen(view)
    page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 3")
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
    expect(outputs(page, 3)).to_contain_text("fries: sticks")
    save(page)
    saved = saved_notebook(lab, "nowait.ipynb").cells[1].outputs
    assert [LIVE in output.data for output in saved] == [True, False]
    assert "Plate#2" in "".join(saved[1].data["image/svg+xml"])


def test_a_cell_inside_time_ends_in_one_clear_line_where_a_person_is_needed(
    page: Page, lab: Place
) -> None:
    run_notebook(page, lab, "time.ipynb", [LOAD, "%%time\n" + fries_cell()])
    wait_idle(page)
    failed = outputs(page, 1).locator("[data-mime-type='application/vnd.jupyter.stderr']")
    expect(failed).to_contain_text("Potato_rinse (call_2) waits for a person")
    expect(failed).not_to_contain_text("Traceback")
