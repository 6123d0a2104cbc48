"""Sentences are short, new words are explained, and errors say what to do."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import jupyter_toolcall
from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import NotYourTurn, UsageError
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.kitchen import Potato
from jupyter_toolcall.storage.notebook_files import notebook_cells

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
HARD = """\
the person changes the argument to the median / (`$DataFrame` is the newest table)
Without it the model first selects / Where nobody can answer
it survives a restart of the kernel, and the saved notebook shows it
Above the prompt are the options / It does not change the potato, it returns
An arrow with the name of a parameter is an argument / The others are **cached**
copy these lines / how a model cleans a table while a step waits for your approval, that
and no cell. / So in the scheme `select`, which is the default / When you change a tool's code
does not trust a server with / the mark of the server does not count
A script that calls `selectTools` itself selects
on the branch that the panel shows, or on the branch where / A recording fits one task
Where a server stops while a call runs / The same `Session.map` again
What is recorded stays as it was written: what the model is sent
counts as a secret if the variable's name"""
"""Parts of sentences that an editor found hard to read, between slashes."""
WORDS = {
    "session": "one conversation with a model",
    "prompt": "what you ask the model",
    "JSON": "names and values in braces",
    "provider": "that runs models",
    "cached": "their old results are used",
    "branch": "the old version",
    "turn": "a request and its reply",
    "scheme": "decides which tools each request holds",
    "toolbox": "(all tools)",
    "read-only": "it changes nothing",
    "policy": "decides which calls wait",
    "elicitation": "It asks **you**",
}
"""What the cell says in which a word is read first, in the order of the lessons."""
LONGEST = 25
"""Words of a sentence that is not long."""
CELL = "\n\n\f"
"""What stands between two cells."""


def prose(path: Path) -> str:
    """Return the text of a page; of a lesson, that of its cells without code."""
    if path.suffix == ".md":
        return path.read_text()
    cells = [cell for cell in notebook_cells(path) if cell["cell_type"] == "markdown"]
    return CELL.join("".join(cell["source"]) for cell in cells)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without those of code, tables, headings and comments."""
    for silent in (r"^ *```.*?^ *```", r"^ *:::.*$", r"<!--.*?-->|<[^>]+>", r"^ *(\||#).*?$"):
        text = re.sub(silent, "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.split(r"(?<=[.:?!])[\"')*]*\s+(?=\S)|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", text)


def share_of_long_ones(*texts: str) -> float:
    lengths = [len(one.split()) for text in texts for one in sentences(text) if one.split()]
    return sum(length > LONGEST for length in lengths) / max(1, len(lengths))


@pytest.mark.parametrize("path", [*PAGES, *LESSONS], ids=lambda path: path.name)
def test_a_page_has_none_of_the_sentences_that_were_hard_to_read(path: Path) -> None:
    text = " ".join(prose(path).split())
    assert [part for part in re.split(r" / |\n", HARD) if part in text] == []


@pytest.mark.parametrize("path", [*PAGES, *LESSONS], ids=lambda path: path.name)
def test_at_most_five_of_100_sentences_are_long_and_none_of_a_lesson(path: Path) -> None:
    assert share_of_long_ones(prose(path)) <= (0.05 if path in PAGES else 0)


def test_at_most_five_of_100_sentences_about_the_public_names_are_long() -> None:
    public = [getattr(jupyter_toolcall, name) for name in jupyter_toolcall.__all__]
    members = [member for one in public for member in getattr(one, "__dict__", {}).values()]
    assert share_of_long_ones(*(inspect.getdoc(one) or "" for one in (*public, *members))) <= 0.05


@pytest.mark.parametrize("word", WORDS)
def test_a_new_word_is_explained_where_it_is_read_first(word: str) -> None:
    cells = [cell for path in LESSONS for cell in prose(path).split(CELL)]
    text = (re.sub(r"\]\(.*?\)|`[^`\n]*`|\[replay, edit, fork", "", cell) for cell in cells)
    first = next(cell for cell in text if re.search(rf"(?<![-\w]){word}", cell))
    assert WORDS[word] in " ".join(first.split())


def test_an_unknown_subcommand_is_answered_with_the_nearest_name_and_not_with_all() -> None:
    with pytest.raises(UsageError, match=r"Did you mean approve\? %toolchat help") as raised:
        carry_out(["aprove"], Cells(), {})
    assert len(str(raised.value)) < 100


def test_a_prompt_while_a_call_waits_says_how_to_decide_on_it() -> None:
    model = Scripted([("Potato_peel", {}), "Done."])
    session = Session(Toolbox(Potato), model, scheme="flat", inputs={"potato": Potato()})
    waiting = session.tell("Peel it.")
    with pytest.raises(NotYourTurn, match="call 1 has no result yet: use its panel, or %toolchat"):
        waiting.ask("And now?")
