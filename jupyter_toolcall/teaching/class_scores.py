"""The scores of a class, read from the notebooks that were handed in: nothing is executed.

A notebook shows what its learner ran, and a learner can write anything into a file. Where points
count, a grader runs the notebooks again (`docs/teaching.md`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from ..core.interface_text import from_wire
from ..core.text import aligned_lines, printable
from ..storage.notebook_files import MIME as SESSION
from ..storage.notebook_files import notebook_cells, with_parsed_rows
from .exercise_checks import shown_data, shown_results

GUESSES = ""
"""The column of the points of guesses: no exercise has this name."""


def score_rows(paths: Sequence[Path]) -> list[tuple[str, ...]]:
    """Return the table of a class: its head, and a row for each notebook in files and folders."""
    found = chain(*(path.rglob("*.ipynb") if path.is_dir() else [path] for path in paths))
    notebooks = sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)
    read = {path: _scores(path) for path in notebooks}
    exercises = sorted({name for scores in read.values() for name in scores} - {GUESSES})
    rows = (
        (printable(str(path)), *(scores.get(name, "-") for name in (*exercises, GUESSES)))
        for path, scores in read.items()
    )
    return [("notebook", *exercises, "guesses"), *rows]


def _scores(path: Path) -> dict[str, str]:
    """Return what a notebook shows: the last points of each exercise, and those of its guesses."""
    try:
        cells = notebook_cells(path)
        scores = [(name, f"{held} of {of}") for name, held, of in shown_results(cells)]
        return dict([*scores, *((GUESSES, score) for score in _guess_scores(cells))])
    # Anything may stand in a file: it ends no table of others.
    except Exception as error:
        return {GUESSES: f"cannot be read ({type(error).__name__})"}


def _guess_scores(cells: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yield the points of guesses that the saved sessions of a notebook show."""
    for saved in shown_data(cells, SESSION):
        rows = with_parsed_rows(saved)["rows"].get("extensions", ())
        yield from (str(from_wire(row["score"])) for row in rows if row.get("score"))


def as_text(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the table as aligned text."""
    return "\n".join(aligned_lines(rows, (0, len(rows[0]) - 1)))


def as_csv(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the table as CSV, in which no program for spreadsheets reads a formula."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*map(_as_text_cell, row)] for row in rows)
    return text.getvalue().rstrip("\n")


def _as_text_cell(cell: str) -> str:
    return f"'{cell}" if cell.lstrip()[:1] in tuple("=+-@") and cell != "-" else cell
