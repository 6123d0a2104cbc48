"""Sessions of a file go home without running anything of it: a notebook's, or a journal's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_toolcall import Scripted, Session, cli, toolsets
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.export import FORMATS, export
from jupyter_toolcall.export.formats import file_stem
from jupyter_toolcall.export.session_files import FileSession, chosen, sessions
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.kitchen import FRIES
from jupyter_toolcall.storage.notebook_files import MIME, execute, with_parsed_rows
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.view_rows import all_rows
from tests.branching import branching_session
from tests.example_tools import fries_session
from tests.export.worlds import plain, run

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NO_PYTHON = ("06_definitions", "08_graphql", "12_mcp")


def tool_names(line: str) -> tuple[str, ...]:
    return parse_options(line).tools


def sessions_in(path: Path) -> tuple[FileSession, ...]:
    return sessions(path, tool_names)


def executed(path: Path, *sources: str) -> Path:
    """Write a notebook of these cells, and run it."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    execute(path).write(path)
    return path


def home(held: FileSession, folder: Path, to: str = "py") -> Path:
    return export(held.session, folder / f"{held.label}.{to}", to, force=True)


@pytest.mark.filterwarnings("ignore:The 'convert_dates' keyword")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_session_of_a_tutorial_goes_home_from_its_file(path: Path, tmp_path: Path) -> None:
    held = sessions_in(path)
    assert held
    for each in held:
        script = home(each, tmp_path)
        is_whole = "FILL IN: " not in script.read_text()
        assert is_whole or path.stem.startswith(("04", "11", *NO_PYTHON))
        free = "whose toolset it imports" not in script.read_text()
        if is_whole:
            run(script, free=free)
        else:
            with pytest.raises(NotImplementedError, match="is not in this script: its value"):
                run(script, free=free)
        for to in FORMATS:
            assert home(each, tmp_path, to).stat().st_size > 100


LESSON = (
    """%load_ext jupyter_toolcall
from dataclasses import dataclass, field
from enum import Enum
import copy
from pydantic import BaseModel
from jupyter_toolcall import Scripted, Session, Toolbox, tool
""",
    """class Colour(Enum):
    RED = "red"

@dataclass
class Sheet:
    marks: list = field(default_factory=list)

    def draw(self, text: str, colour: Colour = Colour.RED):
        self.marks.append(f"{text} {colour.value}")

    @staticmethod
    def blank(marks: int) -> "Sheet":
        "Take a new sheet."
        return Sheet([EMPTY] * marks)

    async def dry(self) -> "Sheet":
        "Wait."
        return Sheet([f"dry {mark}" for mark in self.marks])

class Frame(BaseModel):
    sheet: Sheet
    edges: list[Colour] = []
""",
    """EMPTY = "-"
class Wall:
    name = "the_wall"
    def __init__(self, held): self.held = list(held)
    def hang(self, sheet: Sheet, *notes: str) -> int:
        "Hang it."
        sheet.marks += notes
        self.held.append(sheet)
        return len(self.held)
    def last(self) -> Sheet:
        "The last."
        return self.held[-1]

@tool(read_only=True)
def frame(frame: Frame) -> list[Sheet]:
    "Frame it."
    return [Sheet([*frame.sheet.marks, *(edge.value for edge in frame.edges)]), Sheet()]

def fail(sheet: Sheet):
    "Fail."
    sheet.marks.clear()
    raise ValueError("no '''")

paper = Sheet(["old"])
wall, other = Wall([]), 1
script = Scripted([
    [("Sheet_draw", {"text": "a'"}), ("Sheet_draw", {"text": "b", "colour": "red"})],
    ("frame", {"frame": {"sheet": "Sheet#2", "edges": ["red"]}}),
    [("Sheet_blank", {"marks": 2}), ("Sheet_dry", {"Sheet": "Sheet#3"})],
    [("fail", {"sheet": "Sheet#1"}), ("the_wall_hang", {"sheet": "Sheet#3", "notes": ["n"]})],
    [("the_wall_last", {})],
    "Done.",
    ("Sheet_draw", {"Sheet": "Sheet#1", "text": "late"}),
    "Done again.",
])
%who
""",
    "%%toolchat -n art -m script -t Sheet frame fail wall -i paper --scheme flat --approve all"
    "\nGo.",
    "%%toolchat -n art\nGo on.",
    "print({name: _[name].marks for name in _.objects})",
)


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return executed(tmp_path_factory.mktemp("lesson") / "art.v1.ipynb", *LESSON)


def test_the_script_of_a_file_makes_what_its_session_made(lesson: Path, tmp_path: Path) -> None:
    [held] = sessions_in(lesson)
    assert held.names == ("5", "art")
    # A name means the last of its cells.
    [last] = chosen(lesson, "art", tool_names)
    assert len(last.session.cursor.state.prompt) == len("Go on.")
    made = run(home(held, tmp_path))
    printed = nbformat.read(lesson, as_version=4).cells[-1].outputs[0].text
    marks = {name: made[name.lower().replace("#", "_")].marks for name in eval(printed)}
    assert marks == eval(printed)
    assert len(marks) == 10
    text = home(held, tmp_path).read_text()
    assert "# CHECK: Sheet#1 was a Sheet" in text
    assert 'frame=Frame(sheet=deepcopy(sheet_2), edges=[Colour("red")])' in text
    assert 'sheet_2 = deepcopy(sheet_1)\nsheet_2.draw(text="a\'")\n' in text
    assert "asyncio.run(deepcopy(sheet_3).dry())" in text
    assert "wall = Wall([])" not in text.partition("-- What the session")[2]
    assert "@tool" not in text


def test_a_method_of_a_timed_variable_runs_in_the_script_of_a_file(tmp_path: Path) -> None:
    path = executed(
        tmp_path / "till.ipynb",
        "%load_ext jupyter_toolcall\nfrom jupyter_toolcall import Scripted\nclass Till:\n"
        "    n = 1\n    def add(self, by: int) -> int:\n        'Add.'\n        self.n += by\n"
        "        return self.n\n%time till = Till()\n"
        "model = Scripted([('add', {'by': 2}), 'Done.'])",
        "%%toolchat -m model -t till.add --scheme flat --approve all\nGo.",
    )
    assert run(home(sessions_in(path)[0], tmp_path))["result_1"] == 3


def test_nothing_of_a_file_runs(tmp_path: Path, lesson: Path) -> None:
    notebook = nbformat.read(lesson, as_version=4)
    opens = f"open({str(tmp_path / 'ran')!r}, 'w')"
    for cell in notebook.cells:
        function = f"@{opens}\ndef fail(sheet: {opens}, more={opens})"
        cell.source = f"{opens}\n{cell.source}".replace("def fail(sheet: Sheet)", function)
    notebook.cells[3].source = LESSON[3]
    path = tmp_path / "a.ipynb"
    nbformat.write(notebook, path)
    for to in FORMATS:
        home(sessions_in(path)[-1], tmp_path, to)
    assert not (tmp_path / "ran").exists()


def test_what_a_file_knows_of_requests_is_what_was_sent(tmp_path: Path, lesson: Path) -> None:
    data = json.loads(home(sessions_in(lesson)[0], tmp_path, "messages").read_text())
    assert data["exact"] is False
    turns = data["turns"]
    assert [turn["turn"] for turn in turns] == [*range(1, 9)]
    assert {tool["name"] for tool in turns[0]["request"]["tools"]} >= {"Sheet_draw", "frame"}
    last = turns[-1]["request"]["messages"]
    assert [m["text"] for m in last if m["role"] == "user"] == ["Go.", "Go on."]
    assert '{"result": "Sheet#2"}' in json.dumps(last).replace("\\", "")


def lunch() -> Session:
    return fries_session(FRIES).tell("Bake me some fries.").edit("call_4", shape="SLICES").run()


def test_a_journal_goes_home_branch_by_branch(tmp_path: Path) -> None:
    session = lunch()
    session.save(tmp_path / "lunch.jsonl")
    one, two = sessions_in(tmp_path / "lunch.jsonl")
    assert [each.names[2] for each in (one, two)] == list(session.branches)
    ours = json.loads(session.export(tmp_path / "ours.json").read_text())
    theirs = json.loads(home(two, tmp_path, "json").read_text())
    for part in ("calls", "objects", "messages", "branches", "usage"):
        assert theirs[part] == ours[part], part
    exact = json.loads(session.export(tmp_path / "ours.messages.json").read_text())
    known = json.loads(home(two, tmp_path, "messages").read_text())
    assert [t["request"]["messages"] for t in known["turns"]] == [
        turn["request"]["messages"] for turn in exact["turns"]
    ]


def test_the_script_of_a_journal_runs_once_its_lines_are_filled_in(tmp_path: Path) -> None:
    session = lunch()
    session.save(tmp_path / "lunch.jsonl")
    text = home(sessions_in(tmp_path / "lunch.jsonl")[1], tmp_path).read_text()
    assert "# Not found, and used: Fries, Oven, Potato." in text
    for name in ("potato", "sink", "oven", "plate"):
        filled = f"{name}_1 = kitchen.{name.capitalize()}()"
        text = re.sub(rf"(?s)^{name}_1 = _fill_in\(.*?\)$", filled, text, flags=re.M)
    variables: dict[str, Any] = {}
    exec("from jupyter_toolcall import kitchen\n" + text, variables)
    assert plain(variables["fries"]) == plain(session.outputs["fries"])


RECORDS = (
    """%load_ext jupyter_toolcall
from dataclasses import dataclass
from jupyter_toolcall import Scripted

@dataclass
class Person:
    name: str
    age: int = 0

ann = {"name": "Ann", "age": 3}
model = Scripted([("save", {"one": ann, "all": [ann], "counts": {"a": 1}})])
""",
    "%%toolchat -m model -o one:Person all:list[Person] counts:dict[str,int] --approve all\nGo.",
)


def test_the_records_that_a_saved_session_made_are_of_their_classes(tmp_path: Path) -> None:
    (held,) = sessions_in(executed(tmp_path / "lesson.ipynb", *RECORDS))
    script = home(held, tmp_path)
    assert 'one = Person(name="Ann", age=3)' in script.read_text()
    made = run(script)
    assert made["all"] == [made["one"]] == [made["Person"]("Ann", 3)]
    assert made["counts"] == {"a": 1}


TOOLSETS = (
    """%load_ext jupyter_toolcall
import pandas as pd
from jupyter_toolcall import Scripted
df = pd.DataFrame({"city": ["Rome", None, "Oslo"], "n": [1, 2, 3]})
clean = Scripted([
    ("tables_head", {}),
    ("tables_drop_nulls", {"columns": ["city"]}),
    ("save", {"cities": "$DataFrame"}),
])
copy = Scripted([
    ("files_list", {}),
    ("files_read", {"path": "a.txt"}),
    ("files_write", {"path": "b.txt", "text": "y"}),
    "Done.",
])
""",
    "%%toolchat -m clean -t tables -i df -o cities:DataFrame --approve all\nClean {df}.",
    "%%toolchat -m copy -t files:data -n two --approve all\nCopy it.",
)


def test_the_script_of_a_saved_session_imports_its_toolset_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("x")
    path = executed(tmp_path / "lesson.ipynb", *TOOLSETS)
    (tmp_path / "data" / "b.txt").unlink()
    monkeypatch.chdir(tmp_path)
    tables, files = [home(each, tmp_path) for each in sessions_in(path)]
    assert "FILL IN" not in tables.read_text() + files.read_text()
    assert run(tables, free=False)["cities"]["city"].tolist() == ["Rome", "Oslo"]
    assert {"text": "x", "lines_in_file": 1} in run(files, free=False).values()
    assert (tmp_path / "data" / "b.txt").read_text() == "y"


def test_the_script_of_a_session_with_files_reads_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    calls = [("files_read", {"path": "a.txt"}), "Done."]
    session = Session(toolsets.files, Scripted(calls), scheme="flat", approve="all")
    script = session.tell("Go.").run().export(tmp_path / "read.py")
    assert run(script, free=False)["result_1"] == {"text": "x", "lines_in_file": 1}


def test_a_file_that_was_changed_is_refused_in_one_line(tmp_path: Path, lesson: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(lesson.read_text().replace('"Go on.\\"', '"Go away.\\"'))
    with pytest.raises(UsageError, match="does not fit"):
        sessions_in(path)
    notebook = nbformat.read(lesson, as_version=4)
    [saved] = [o.data[MIME] for c in notebook.cells[4:5] for o in c.outputs if "data" in o]
    saved.update(with_parsed_rows(saved))
    saved["rows"]["objects"][0]["kind"] = 7
    notebook.cells[5].outputs = []
    nbformat.write(notebook, path)
    with pytest.raises(UsageError, match=r"rows are damaged \(objects\.0\.kind: .*string"):
        sessions_in(path)


# -- the command line ---------------------------------------------------------------------------


def ran(*words: Any) -> int:
    return cli.main(["export", *map(str, words)])


def test_the_command_line_writes_a_file_for_each_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lesson.v1.ipynb"
    path.write_bytes((ROOT / "notebooks" / "03_current.ipynb").read_bytes())
    cells = [each.label for each in sessions_in(path)]
    assert ran(path, "--to", "html") == 0
    names = [f"lesson.v1-{cell}.html" for cell in cells]
    assert sorted(each.name for each in tmp_path.glob("*.html")) == sorted(names)
    said = capsys.readouterr().out.splitlines()
    assert [line.partition("  (cell ")[0] for line in said] == [str(tmp_path / n) for n in names]


def test_one_session_is_chosen_by_its_cell_or_its_name(tmp_path: Path, lesson: Path) -> None:
    for name in ("5", "art"):
        out = tmp_path / f"{name}.py"
        assert ran(lesson, "--output", out, "--session", name) == 0
        assert out.read_text().startswith("# Go.\n")
    assert ran(lesson, "--to", "messages") == 0
    assert (lesson.parent / "art.v1.messages.json").exists()
    assert ran(lesson, "--to", "ipynb") == 0
    assert (lesson.parent / "art.v1-5.ipynb").exists()
    assert file_stem("", "a/../b: c") == "a_.._b_ c"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("LESSON", "--to", "py", "--session", "x"), "there is no session x; there are 5, art"),
        (("LESSON",), "say in which format with --to, or to which file with --output"),
        (("no.ipynb", "--to", "py"), "no.ipynb: No such file or directory"),
        (("LESSON", "--output", "there/a.py"), "there is no folder"),
        (("LESSON", "--output", "a.pdf"), "ends in .pdf, which names no format"),
        (("EMPTY", "--to", "py"), "holds no session"),
        (("TEXT", "--to", "py"), "is no notebook"),
        (("TEXT.jsonl", "--to", "py"), "this is no journal of a session"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    words: tuple[str, ...],
    said: str,
    lesson: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    nbformat.write(nbformat.v4.new_notebook(cells=[]), "EMPTY")
    Path("TEXT").write_text("x\n")
    Path("TEXT.jsonl").write_text("x\n")
    assert ran(*(str(lesson) if word == "LESSON" else word for word in words)) == 1
    error = capsys.readouterr().err
    assert error.startswith("toolcall: ")
    assert said in error
    assert error.count("\n") == 1


def test_a_file_that_a_person_changed_needs_force(
    tmp_path: Path, lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.py"
    assert ran(lesson, "--output", out) == 0
    out.write_text(out.read_text().replace("CHECK", "CHECKED"))
    assert ran(lesson, "--output", out) == 1
    assert "--force" in capsys.readouterr().err
    assert ran(lesson, "--output", out, "--force") == 0


CIRCLES: dict[str, Any] = {
    "objects are the same as themselves": lambda rows: [
        one.update(same=one["id"]) for one in rows["objects"]
    ],
    "calls use their own objects": lambda rows: [
        one.update(uses=[{"parameter": "x", "object": one["object"], "receiver": True}])
        for one in rows["calls"]
        if "object" in one
    ],
    "objects are of calls that do not exist": lambda rows: rows.update(calls=[]),
    "branches were left from themselves": lambda rows: [
        one.update(left=one["id"], shares=one["id"]) for one in rows["branches"]
    ],
}


@pytest.mark.parametrize("to", ["svg", "html", "dot"])
@pytest.mark.parametrize("forge", CIRCLES.values(), ids=CIRCLES)
def test_rows_that_lead_in_a_circle_are_drawn(forge: Any, to: str, tmp_path: Path) -> None:
    session = branching_session(3, 8, branches=2)
    root = session.journal.path(session.head)[0].id
    rows = all_rows(session.cursor, "")
    data: Any = with_parsed_rows(mime_bundle(session.cursor, rows, root)[MIME])
    forge(data["rows"])
    output = nbformat.v4.new_output("display_data", data={MIME: data})
    cell = nbformat.v4.new_code_cell("x", outputs=[output], execution_count=1)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "forged.ipynb")
    (held,) = sessions_in(tmp_path / "forged.ipynb")
    assert "Ledger#" in home(held, tmp_path, to).read_text()


# -- `%toolchat export` in a notebook, with classes that its cells define --------------------

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


def printed(folder: Path, *cells: str) -> list[str]:
    """Return what the last cells print, in a notebook whose session made a word."""
    path = executed(folder / "a.ipynb", CELLS[0], MODEL, *CELLS[1:], *cells)
    done = nbformat.read(path, as_version=4).cells[-len(cells) :]
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in done]


def test_a_line_takes_the_last_session_or_a_named_one_home(tmp_path: Path) -> None:
    said = printed(
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
    for line, text in zip(printed(tmp_path, *tried), WRONG.values(), strict=True):
        assert text in line
