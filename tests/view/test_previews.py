"""A picture of a value is small, whatever the value does; on demand it is large."""

from __future__ import annotations

import base64
import dataclasses
import importlib
import io
import json
from typing import Any

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.tools.value_display import reprs_with_printers
from jupyter_toolcall.view.contract import Displayed, Notice, Refused
from jupyter_toolcall.view.previews import LARGE, preview

ROW = 5_000
"""Bytes of a preview in a row, names and marks of JSON included."""
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def said(**methods: Any) -> Any:
    """Return an object that shows itself by these methods."""
    return type(
        "Shown", (), {name: lambda self, told=told: told for name, told in methods.items()}
    )()


def picture(side: int) -> Image.Image:
    return Image.effect_noise((side, side), 90)


def size(value: Any) -> int:
    return len(json.dumps(sendable_data(preview(value))))


@given(
    st.one_of(
        st.text(max_size=9_000),
        st.dictionaries(st.text(max_size=200), st.text(max_size=2_000), max_size=40),
        st.text(max_size=9_000).map(lambda text: said(_repr_html_=f"<p>{text}</p>")),
        st.text(max_size=9_000).map(lambda text: said(_repr_markdown_=text)),
        st.integers(1, 900).map(picture),
        st.integers(1, 400).map(
            lambda n: pandas.DataFrame({f"c{i}" * 9: [i] * n for i in range(12)})
        ),
    )
)
def test_a_picture_in_a_row_is_small_and_is_json(value: Any) -> None:
    assert size(value) <= 3 * ROW
    if not isinstance(value, (str, dict)) or str(value).isascii():
        assert size(value) <= ROW


@pytest.mark.parametrize("name", ["_repr_html_", "_repr_png_", "_repr_svg_", "_repr_mimebundle_"])
def test_what_a_value_raises_or_says_wrongly_costs_its_picture_alone(name: str) -> None:
    def fails(self: object) -> None:
        raise SystemError("no")

    for told in (fails, lambda self: 7, lambda self: "", lambda self: (None,), lambda self: "<svg"):
        drawn = preview(type("Odd", (), {name: told, "__repr__": lambda self: "odd"})())
        assert (drawn.image, drawn.glyph) == ("", ())
        assert drawn.text == "odd" or drawn.html == "<svg"


def test_a_class_and_what_answers_to_every_name_show_nothing_of_their_own() -> None:
    class Answers:
        def __getattr__(self, name: str) -> Any:
            return lambda *given: "<b>anything</b>"

        def __repr__(self) -> str:
            return "answers"

    assert preview(type(said(_repr_html_="<b>a</b>"))).html == ""
    assert preview(Answers()).text == "answers"


def test_markup_is_kept_as_it_is_and_its_words_beside_it() -> None:
    drawn = preview(said(_repr_html_="<h1>Sales</h1><script>steal()</script><p>12 rows"))
    assert drawn.html.startswith("<h1>Sales</h1>")
    assert drawn.text == "Sales 12 rows"
    assert not drawn.more


def test_markdown_is_read_where_it_can_be_and_its_own_markup_is_text() -> None:
    drawn = preview(said(_repr_markdown_="**1,427** sold <b>today</b>"))
    assert "<strong>1,427</strong>" in drawn.html
    assert "<b>" not in drawn.html


def test_an_image_in_a_row_is_a_thumbnail_and_larger_on_demand() -> None:
    value = picture(600)
    small, large = preview(value), preview(value, room=LARGE)
    assert (small.more, large.more) == (True, False)
    assert len(small.image) <= 4_000 < len(large.image)
    assert opened(large.image).size[0] >= 480


def opened(address: str) -> Any:
    return Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))


def test_an_image_that_a_value_draws_of_itself_is_shown() -> None:
    for told in (PIXEL, base64.b64encode(PIXEL).decode(), (PIXEL, {"width": 1})):
        assert opened(preview(said(_repr_png_=told)).image).size == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3"/></svg>',
        '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "a" "b"><svg xmlns="http://www.w3.org/2000/svg"/>',
    ],
)
def test_a_drawing_of_its_own_is_an_image_and_never_markup(text: str) -> None:
    drawn = preview(said(_repr_svg_=text))
    assert drawn.image.startswith("data:image/svg+xml;base64,")
    assert drawn.html == ""


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg>&b;</svg>',
        "<html><svg/></html>",
        "<svg><g></svg>",
    ],
)
def test_what_is_no_plain_drawing_is_no_image(text: str) -> None:
    assert preview(said(_repr_svg_=text)).image == ""


def test_a_table_shows_its_head_and_more_of_it_on_demand() -> None:
    table = pandas.DataFrame({f"column {n}": range(60) for n in range(9)})
    small, large = preview(table), preview(table, room=LARGE)
    assert (len(small.columns), len(small.cells)) == (5, 4)
    assert (len(large.columns), len(large.cells)) == (9, 60)
    assert (small.more, large.more) == (True, False)
    assert small.caption == "60 × 9"


def test_a_table_that_is_shown_in_part_says_which_part() -> None:
    table = pandas.DataFrame({f"column {n}": range(1200) for n in range(80)})
    assert preview(table, room=LARGE).text == "first 500 of 1,200 rows, 60 of 80 columns"
    assert preview(table).text == "first 4 of 1,200 rows, 5 of 80 columns"
    assert preview(table.iloc[:200, :5], room=LARGE).text == ""
    assert len(preview(table.iloc[:200], room=LARGE).cells) == 200


@pytest.mark.parametrize("columns", [4, 9])
def test_a_table_keeps_the_order_of_its_columns_and_those_that_a_call_names(columns: int) -> None:
    table = pandas.DataFrame({f"c{n}": [n / 7] for n in range(columns)})
    drawn, is_whole = preview(table, first=["c6", "c2"]), columns == 4
    order = [0, 1, 2, 3] if is_whole else [0, 1, 2, 6, 8]
    assert drawn.columns == tuple(f"c{n}" for n in order)
    assert drawn.cells == (tuple(str(n / 7) for n in order),)
    # The box has the named columns, before the last one.
    assert drawn.lines[0].split() == (["c2", "c3"] if is_whole else ["c2", "c6"])


@pytest.mark.parametrize(
    ("names", "shown", "others"),
    [
        (["id", "name", "price"], "id  name  price", ""),
        (["order_date", "guest", "price"], "order_date  guest", "+ 1 column"),
        (["order_date", "inhabitants", "id", "of"], "order_date  id", "+ 2 columns"),
        (["the_name_of_the_customer", "id"], "the_name_of_the…", "+ 1 column"),
    ],
)
def test_a_box_shows_whole_columns_and_counts_those_without_room(
    names: list[str], shown: str, others: str
) -> None:
    drawn = preview(pandas.DataFrame({name: range(5) for name in names}))
    assert (drawn.lines[0], drawn.others) == (shown, others)
    # A line less of cells where the others are counted.
    assert len(drawn.lines) == (3 if others else 4)
    assert all(len(line) <= 17 for line in drawn.lines)


def test_cells_are_as_they_are_written_and_blanks_and_empty_cells_are_seen() -> None:
    cells = [87999.12, None, "basel ", "two  words", "", "Bern", "1e5"]
    drawn = preview(pandas.DataFrame({" city": cells}, dtype=object), room=LARGE)
    shown = ["87999.12", "", '"basel "', '"two  words"', '""', "Bern", "1e5"]
    assert (drawn.columns, [cell for (cell,) in drawn.cells]) == (('" city"',), shown)


def test_empty_cells_are_counted_in_the_order_of_the_columns() -> None:
    table = pandas.DataFrame({"few": [None, 1, 2], "none": [1, 2, 3], "many": [None, None, 3]})
    assert preview(table).empty_cells == (("few", "1"), ("many", "2"))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_all_libraries_are_shown_alike(library: str) -> None:
    columns = {"n": [1, 2, 3, 4, 5], "of": ["a", None, "c", "d", None], "x": [0.5] * 5}
    tables = importlib.import_module(library)
    table = tables.DataFrame(columns) if library == "polars" else tables.table(columns)
    drawn = preview(table)
    assert (drawn.caption, drawn.columns, drawn.empty_columns) == ("5 × 3", ("n", "of", "x"), 1)
    assert drawn.cells[:2] == (("1", "a", "0.5"), ("2", "", "0.5"))
    assert (len(drawn.cells), drawn.more, drawn.html) == (4, True, "")
    assert len(preview(table, room=LARGE).cells) == 5


def test_what_a_person_registered_for_a_type_goes_before_its_own_methods() -> None:
    from IPython.core.formatters import DisplayFormatter

    formatters = DisplayFormatter().formatters
    formatters["text/html"].for_type(complex, lambda value: f"<i>{value.real}</i>")
    shows = reprs_with_printers(formatters)
    assert preview(2 + 1j, shows).html == "<i>2.0</i>"
    assert preview(said(_repr_html_="<b>own</b>"), shows).html == "<b>own</b>"
    assert preview(2 + 1j).html == ""


@dataclasses.dataclass(frozen=True)
class Page:
    """A page of words."""

    words: str

    def turn(self) -> Page:
        """Return the next page."""
        return Page(self.words * 2)

    def _repr_html_(self) -> str:
        return f"<p>{self.words}</p>"


def driven() -> tuple[PanelController, list[Notice]]:
    told: list[Notice] = []
    session = Session(
        Toolbox(Page),
        Scripted([("Page_turn", {}), "Done."]),
        scheme="flat",
        approve="all",
        inputs={"page": Page("a " * 900)},
    )
    drive = PanelController(session.ask("Turn."), told.append)
    drive.greet()
    drive.run_to_pause()
    return drive, told


def test_a_panel_is_told_an_object_as_large_as_may_be_where_it_asks() -> None:
    drive, told = driven()
    row = next(row for row in drive.whole().objects if row.name == "Page#2")
    assert (row.preview.more, row.preview.html) == (True, "")
    drive.receive({"type": "show_object", "object": row.id})
    drive.apply_commands()
    shown = told[-1]
    assert isinstance(shown, Displayed)
    assert (shown.object, shown.preview.html.count("a ")) == (row.id, 1_800)


def test_asking_for_an_object_that_is_not_here_is_refused() -> None:
    drive, told = driven()
    drive.receive({"type": "show_object", "object": "nothing"})
    drive.apply_commands()
    assert isinstance(told[-1], Refused)
    assert "not in this kernel" in told[-1].reason
