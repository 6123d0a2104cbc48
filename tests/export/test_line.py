"""`%toolchat export` and `session.export` in a notebook, with classes that its cells define."""

from __future__ import annotations

from pathlib import Path

import nbformat

from jupyter_toolcall.storage.notebook_files import execute
from tests.export.worlds import run

CELLS = (
    "%load_ext jupyter_toolcall\nfrom jupyter_toolcall import Scripted",
    """class Word:
    def __init__(self, text): self.text = text
    def twice(self) -> "Word": return Word(self.text * FACTOR)
""",
    "FACTOR = 2\nword = Word('ab')\nopen_file = open('x', 'w')\nword.seen = open_file.fileno()",
    """class Word:
    "Defined again."
    def __init__(self, text): self.text = text
    def twice(self) -> "Word": return Word(self.text * FACTOR + SIGN)
""",
    "SIGN = '!'\nword = Word('ab')",
    "%%toolchat -n words -m twice -t Word -i word --scheme flat --approve all\nDouble {word}.",
)
MODEL = "twice = Scripted([('Word_twice', {}), 'Done.'])"


def executed(folder: Path, *more: str) -> list[str]:
    path = folder / "a.ipynb"
    cells = [nbformat.v4.new_code_cell(source) for source in (CELLS[0], MODEL, *CELLS[1:], *more)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    done = execute(path).notebook.cells[-len(more) :]
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in done]


def test_a_line_takes_the_last_session_or_a_named_one_home(tmp_path: Path) -> None:
    said = executed(
        tmp_path,
        *("%toolchat export words.py", "%toolchat export words.txt --to py -n words"),
        *("%toolchat export words.html", "%toolchat export words.py"),
    )
    assert said[0] == "words.py  (a plain script, one statement a call)\n"
    assert run(tmp_path / "words.py")["word_2"].text == "abab!"
    text = (tmp_path / "words.py").read_text()
    assert text.count("class Word") == 1
    assert "Defined again." in text
    assert (tmp_path / "words.txt").read_text() == text
    assert (tmp_path / "words.html").exists()


WRONG = {
    "export": "export takes the name of one file, such as fries.py; its formats are py, ipynb",
    "export a.py b.py": "export takes the name of one file",
    "export a.py --too x": "export knows no --too. Did you mean --to?",
    "export a.py --to": "--to needs one of py, ipynb",
    "export a.py --to pi": "no format 'pi'",
    "exprot a.py": "Did you mean export?",
}


def test_what_is_wrong_with_a_line_is_said(tmp_path: Path) -> None:
    tried = (
        f"try:\n    get_ipython().run_line_magic('toolchat', {line!r})\n"
        "except Exception as error:\n    print(error)"
        for line in WRONG
    )
    for printed, text in zip(executed(tmp_path, *tried), WRONG.values(), strict=True):
        assert text in printed
