"""The tutorials do what they say: offline, the same each time, and well kept in their files."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

from jupyter_toolcall.session.verify_files import verify
from jupyter_toolcall.storage.notebook_files import (
    Executed,
    execute,
    read_notebook,
    saved_sessions,
    with_parsed_rows,
)
from jupyter_toolcall.teaching.exercise_proofs import checked_exercises, prove
from tests.lessons import FIRST, NAMES, REPLAYING, executed
from tests.notebooks import write_notebook

ROOT = Path(__file__).parent.parent
CHECKED = [name for name in NAMES if "%toolchat check" in (ROOT / "notebooks" / name).read_text()]
"""The lessons with an exercise."""
NOT_PLAIN = re.compile(
    r"(?<![.`])\b(anew|said again|say it again|says? otherwise|came of|comes? of it"
    r"|from behind|dear|torn|from memory|is history|read otherwise|mend(s|ed)?|told|tells?"
    r"|spoken|speaks?|hears?|heard|overrules?|verdict|shelf|desk"
    r"|claimed|cut off|go(es)? on from|as it were|chats?)\b",
    re.IGNORECASE,
)
"""Words that the lessons do not use: the glossary has others for them."""
FENCED = re.compile(r"^```(?:python)?\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
FLEETING = {"at", "ms", "execution", "execution_count"}
"""Times and counts: what may differ between two runs."""
SESSION = "application/vnd.jupyter-toolcall.session+json"


@dataclass(frozen=True)
class Twice:
    """A notebook in its file, and two executions of it."""

    path: Path
    first: Executed
    second: Executed

    @property
    def saved(self) -> Any:
        return read_notebook(self.path)


@pytest.fixture(scope="module", params=executed())
def twice(request: pytest.FixtureRequest) -> Twice:
    path = ROOT / "notebooks" / request.param
    return Twice(path, execute(path), execute(path))


@pytest.fixture(scope="module")
def kitchen() -> Any:
    return read_notebook(ROOT / "notebooks" / "00_first_call.ipynb")


@pytest.fixture(scope="module")
def live_objects() -> Any:
    return read_notebook(ROOT / "notebooks" / "01_live_objects.ipynb")


@pytest.fixture(scope="module")
def by_hand() -> Any:
    return read_notebook(ROOT / "notebooks" / "04_by_hand.ipynb")


def lasting(part: Any) -> Any:
    """A part of a notebook without what may differ between two runs."""
    match part:
        case {"journal": Mapping(), "rows": Mapping()}:
            parsed = with_parsed_rows(part)
            return {key: lasting(value) for key, value in parsed.items()}
        case Mapping():
            return {key: lasting(value) for key, value in part.items() if key not in FLEETING}
        case list() | tuple():
            return [lasting(item) for item in part]
    return part


def texts(notebook: Any) -> list[list[str]]:
    """What each cell says in plain text."""
    return [[said(output) for output in cell.get("outputs", ())] for cell in notebook.cells]


def said(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


def below(notebook: Any, source: str) -> str:
    """All that stands below the first cell whose source begins so."""
    cell = next(cell for cell in notebook.cells if cell.source.startswith(source))
    return "\n".join(said(output) for output in cell.outputs)


def scripts(notebook: Any) -> list[str]:
    html, _ = HTMLExporter().from_notebook_node(notebook)
    return re.findall(r"<script.*?</script>", html, re.DOTALL)


def test_the_tutorials_are_numbered_and_each_is_tested() -> None:
    assert {"00_first_call.ipynb", "01_live_objects.ipynb", "04_by_hand.ipynb"} <= {*NAMES}
    numbers = [name.partition("_")[0] for name in NAMES]
    assert sorted({*numbers}) == numbers
    assert all(number.isdigit() for number in numbers)


@pytest.mark.parametrize("name", CHECKED)
def test_a_shipped_check_says_how_it_stands_and_gives_no_hint_away(name: str) -> None:
    shipped = [
        said(output)
        for cell in read_notebook(ROOT / "notebooks" / name).cells
        for output in cell.get("outputs", ())
        if "application/vnd.jupyter-toolcall.check+json" in output.get("data", {})
    ]
    assert shipped
    assert all(text.startswith("Not done yet: ") for text in shipped)
    assert not any("Hint 1" in text for text in shipped)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_to_be_guessed_is_folded_away_until_its_cell_runs(name: str) -> None:
    cells = read_notebook(ROOT / "notebooks" / name).cells
    asks = re.compile(r"\*\*(Predict|Before you run)")
    for place, cell in enumerate(cells):
        if cell.cell_type == "markdown" and asks.search(cell.source):
            behind = [each for each in cells[place + 1 : place + 4] if each.cell_type == "code"]
            assert any(_is_folded(each) for each in behind), cell.source


def _is_folded(cell: Any) -> bool:
    return bool(cell.metadata.get("jupyter", {}).get("outputs_hidden"))


@pytest.mark.parametrize("name", NAMES)
def test_a_hidden_output_shows_one_line_that_gives_nothing_away(name: str) -> None:
    for cell in read_notebook(ROOT / "notebooks" / name).cells:
        # What a check says of an empty attempt gives nothing away.
        if _is_folded(cell) and "%toolchat check" not in cell.source:
            # JupyterLab shows the first line of the first output, of an SVG its code.
            line = str(cell.outputs[0].get("text", "<")).strip().splitlines()[0]
            assert not re.search(r"[<\d\[]", line), cell.source


# -- what every lesson has ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_says_its_data_and_its_time_first(name: str) -> None:
    first = read_notebook(ROOT / "notebooks" / name).cells[0].source
    assert first.startswith("# ")
    for part in ("**After this lesson you know", "The data", "no key and no network"):
        assert part in first
    assert "about ten minutes" in first


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_takes_ten_minutes(name: str) -> None:
    assert estimated_minutes(name) <= 10


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_has_one_exercise_with_checks(name: str) -> None:
    cells = read_notebook(ROOT / "notebooks" / name).cells
    (shown,) = [cell for cell in cells if cell.source.startswith("%%toolchat exercise ")]
    assert shown.metadata["jupyter"]["source_hidden"]
    (checked,) = checked_exercises(ROOT / "notebooks" / name)
    assert shown.source == f"%%toolchat exercise {checked.exercise.name}{checked.exercise.source}"
    assert checked.exercise.checks
    assert checked.exercise.solution


def estimated_minutes(name: str) -> float:
    """Return how long a lesson takes a reader whose first language is another one.

    A minute is 180 words of prose or three cells that run. A decision (a prediction, or a button
    to press) takes 45 seconds, and thinking about the exercise two minutes. The lines to copy come
    after the lesson.
    """
    cells = read_notebook(ROOT / "notebooks" / name).cells
    end = next(n for n, cell in enumerate(cells) if cell.source.startswith("## In your own work"))
    prose = " ".join(cell.source for cell in cells[:end] if cell.cell_type == "markdown")
    words = len(re.findall(r"[\w'#.-]*\w[\w'#.-]*", re.sub(r"\]\([^)]*\)", "]", prose)))
    runs: int = sum(cell.cell_type == "code" for cell in cells[:end])
    decisions = len(re.findall(r"\*\*Predict|\b[Pp]ress `", prose))
    return words / 180 + runs / 3 + 0.75 * decisions + 2


def lines_to_copy(name: str) -> list[str]:
    """The code cells of the last section with a title, and the fenced blocks in its text."""
    cells = read_notebook(ROOT / "notebooks" / name).cells
    titles = [n for n, cell in enumerate(cells) if re.search(r"^## ", cell.source, re.MULTILINE)]
    assert cells[titles[-1]].source.startswith("## In your own work\n")
    last = cells[titles[-1] :]
    return [
        source
        for cell in last
        for source in ([cell.source] if cell.cell_type == "code" else FENCED.findall(cell.source))
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_ends_with_at_most_six_lines_to_copy(name: str) -> None:
    lines = [line for cell in lines_to_copy(name) for line in cell.splitlines() if line]
    assert 2 <= len(lines) <= 6
    assert "anthropic:" not in "".join(lines)


@pytest.mark.parametrize("name", executed())
def test_the_lines_to_copy_run_alone_in_a_notebook(name: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "notebooks" / "library_server.py", tmp_path)
    cells = "%load_ext jupyter_toolcall", *lines_to_copy(name)
    done = execute(write_notebook(tmp_path / "own.ipynb", *cells))
    outputs = [output for cell in done.notebook.cells for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_in_plain_english(name: str) -> None:
    notebook = read_notebook(ROOT / "notebooks" / name)
    for cell in notebook.cells:
        assert (word := NOT_PLAIN.search(cell.source)) is None, (word, cell.source)


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_does_not_lean_on_the_last_output(name: str) -> None:
    cells = read_notebook(ROOT / "notebooks" / name).cells
    code = (
        re.sub(r"^%.*|\".*?\"|'.*?'", "", cell.source) for cell in cells if cell.cell_type == "code"
    )
    assert [source for source in code if re.search(r"(?<![\w.])_(?!\w)(?!.* in )", source)] == []


def test_executing_twice_gives_the_same_notebook(twice: Twice) -> None:
    assert lasting(twice.first.notebook) == lasting(twice.second.notebook)


def test_a_file_says_what_executing_it_says(twice: Twice) -> None:
    assert texts(twice.saved) == texts(twice.first.notebook)
    assert [cell.source for cell in twice.saved.cells] == [
        cell.source for cell in twice.first.notebook.cells
    ]


@pytest.mark.parametrize("name", executed(each_time=(FIRST, REPLAYING)))
def test_the_sessions_of_a_file_come_out_again_without_a_network(name: str) -> None:
    path = ROOT / "notebooks" / name
    assert not verify(path).divergence
    assert len(saved_sessions(path)) > 1


@pytest.mark.parametrize("name", executed(CHECKED))
def test_the_exercises_of_a_file_pass_by_their_solutions_and_not_without(name: str) -> None:
    proofs = prove(ROOT / "notebooks" / name)
    assert proofs
    assert [*filter(None, proofs.values())] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_executed_from_its_first_cell_to_its_last(name: str) -> None:
    code = [c for c in read_notebook(ROOT / "notebooks" / name).cells if c.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_holds_no_widget_and_no_error(name: str) -> None:
    notebook = read_notebook(ROOT / "notebooks" / name)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert outputs
    assert "widgets" not in notebook.metadata
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
    assert not [key for o in outputs for key in o.get("data", {}) if "widget" in key]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_names_no_path_of_a_machine(name: str) -> None:
    text = json.dumps(read_notebook(ROOT / "notebooks" / name))
    for path in (ROOT, Path.home(), Path(tempfile.gettempdir())):
        assert len(str(path)) == 1 or f"{path}/" not in text
    assert "site-packages" not in text


@pytest.mark.parametrize("name", executed(each_time=(FIRST, REPLAYING)))
def test_html_holds_each_picture_and_no_script_of_ours(name: str) -> None:
    notebook = read_notebook(ROOT / "notebooks" / name)
    html, _ = HTMLExporter().from_notebook_node(notebook)
    drawn = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", html)
    pictures = [text for text in map(b64decode, drawn) if b"Object lineage: " in text]
    assert len(pictures) == len(saved_sessions(ROOT / "notebooks" / name))
    assert scripts(notebook) == scripts(nbformat.v4.new_notebook())


def test_the_first_cell_goes_from_a_raw_potato_to_a_plate(kitchen: Any) -> None:
    lines = below(kitchen, "%%toolchat").splitlines()
    assert lines[0] == "Finished · 8 calls · saved Plate#2 as fries"
    results = ["Potato#2", "Potato#3", "Potato#4", "Fries#1", "Plate#2"]
    assert [line.rpartition(" → ")[2] for line in lines if " → " in line] == results


def test_other_slices_run_the_cut_and_what_came_of_it(kitchen: Any) -> None:
    steps = [
        line for line in below(kitchen, "%toolchat -n lunch edit").splitlines() if line[:2] == "  "
    ]
    ran = [line.split()[2].partition("(")[0] for line in steps if "(cached)" not in line]
    assert ran == ["Potato_slice", "Oven_bake", "Fries_plate", "save"]
    assert len(steps) == 8


def test_a_failure_is_a_result_after_which_the_model_makes_another_call(kitchen: Any) -> None:
    waits = below(kitchen, "%%toolchat -m eager")
    assert "Waiting for you" in waits
    assert "✗ 1 Potato_slice(Potato#1, shape STICKS): ValueError: peel the potato" in waits
    assert "… 2 Potato_peel(Potato#1)" in waits
    assert "I peel it first." in waits


def test_a_change_of_a_table_waits_and_a_look_does_not(live_objects: Any) -> None:
    shown = below(live_objects, "%%toolchat -n penguins")
    assert "Waiting for you" in shown
    assert "✓ 1 tables_head(" in shown
    assert "✓ 2 tables_missing(" in shown
    assert "… 3 tables_drop_nulls(DataFrame#1)" in shown


def test_the_analyst_finishes_after_one_approval_and_drops_most_birds(live_objects: Any) -> None:
    shown = below(live_objects, 'print("The answer of the model:")')
    assert "Finished · 9 calls" in shown
    assert "34 birds remain" in shown


def test_other_columns_run_what_depends_on_them_alone(live_objects: Any) -> None:
    shown = below(live_objects, "%toolchat -n penguins edit")
    assert "7 ran, 2 from before" in shown
    assert "✓ 3 tables_drop_nulls(DataFrame#1, columns" in shown
    assert "333 birds remain" in shown
    assert "raw is as it was: (344, 17) False" in shown


def test_both_figures_are_there_and_differ(live_objects: Any) -> None:
    figures = [
        output.data["image/png"]
        for cell in live_objects.cells
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    assert len(figures) == 2
    assert figures[0] != figures[1]


def test_a_figure_is_a_small_picture_in_the_graph(live_objects: Any) -> None:
    finished = next(
        c for c in live_objects.cells if c.source.startswith("%toolchat -n penguins edit")
    )
    rows = with_parsed_rows(finished.outputs[0].data[SESSION])["rows"]
    objects = {row["name"]: row for row in rows["objects"]}
    image = objects["Figure#1"]["preview"]["image"]
    assert image.startswith("data:image/png;base64,")
    assert len(image) <= 4_100


def test_three_ways_deal_with_the_same_calls(by_hand: Any) -> None:
    assert "keep(table DataFrame#1, species Adelie) → DataFrame#2" in below(
        by_hand, "session = opened(analyst, approve="
    )
    by_program = below(by_hand, "session = opened(analyst).ask(TASK)\n\nwhile")
    assert by_program.splitlines()[:2] == ["keep: succeeded, DataFrame#2", "count: succeeded, 344"]
    by_nobody = below(by_hand, "session = opened(analyst).ask(TASK)\nbefore")
    assert "count {'table': 'DataFrame#1'}" in by_nobody
    assert by_nobody.endswith("(True, ())")


def costs(notebook: Any, source: str) -> dict[str, int]:
    """The input tokens of each scheme in the table below the first cell whose source begins so."""
    rows = below(notebook, source).partition("scheme  ")[2].splitlines()[1:]
    return {row.split()[0]: int(row.split()[6].strip("~").replace(",", "")) for row in rows if row}


def test_what_is_said_of_schemes_is_what_was_counted() -> None:
    compared = read_notebook(ROOT / "notebooks" / "09_schemes_compared.ipynb")
    few = costs(compared, "print(table(compare([lunch])")
    one_big_type = costs(compared, "print(table(compare([big(100)])")
    many_small_types = costs(compared, "print(table(compare([small(99)])")
    assert set(few) == {"select", "current", "flat", "native"}
    assert min(few, key=lambda scheme: few[scheme]) == "flat"
    assert one_big_type["select"] < one_big_type["current"] / 5
    assert one_big_type["current"] > one_big_type["flat"] / 2
    assert many_small_types["current"] < many_small_types["select"] < many_small_types["flat"] / 5


def test_a_chain_on_a_server_is_one_query_and_a_change_one_more() -> None:
    notebook = read_notebook(ROOT / "notebooks" / "08_graphql.ipynb")
    [chain, edited, replay] = [
        below(notebook, cell.source) for cell in notebook.cells if cell.source.endswith("queries")
    ]
    query = "['{{ penguins {{ species(name: {}) {{ heavier(grams: 4000) {{ chart }} }} }} }}']"
    assert chain.splitlines()[-1] == query.format("ADELIE")
    assert edited.splitlines()[-1] == query.format("CHINSTRAP")
    assert replay == "[]"


def test_the_model_sees_the_tools_that_it_selected_from_the_next_turn_on() -> None:
    shown = below(
        read_notebook(ROOT / "notebooks" / "02_select.ipynb"), "%%toolchat -n zen -m model -t"
    )
    seen = [line.partition("sees: ")[2] for line in shown.splitlines() if "sees: " in line]
    assert seen[0] == "selectTools, save"
    assert seen[1] == seen[3] == "selectTools, save, Text_without, Text_count"
    assert seen[5].endswith("Counts_longer_than, Counts_top, Counts_chart")


def test_only_the_last_of_the_clumsy_calls_runs() -> None:
    shown = below(read_notebook(ROOT / "notebooks" / "02_select.ipynb"), "%%toolchat -m clumsy")
    assert [line[2] for line in shown.splitlines() if line[:2] == "  " and line[2] in "✓✗"] == [
        *"✗✗✓✓✗✗✗✗✓"
    ]


def test_a_chain_on_the_current_object_makes_one_object_after_the_other() -> None:
    notebook = read_notebook(ROOT / "notebooks" / "03_current.ipynb")
    steps = [line for line in below(notebook, "%%toolchat -n pack").splitlines() if "  ✓" in line]
    results = [line.rpartition(" → ")[2] for line in steps if " → " in line]
    assert results == ["Container#2", "Container#3", "Directory#2", "File#1"]


def test_what_hangs_on_a_name_follows_an_edit() -> None:
    notebook = read_notebook(ROOT / "notebooks" / "03_current.ipynb")
    assert "4 ran, 4 cached, 2 from before" in below(notebook, 'print("These calls run again')
