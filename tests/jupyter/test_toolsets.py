"""`-t tables` and `-t files` in a cell: without an import, with what is shared, by their names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.options import context_for_cell, parse_options
from jupyter_toolcall.storage.notebook_files import execute
from tests.notebooks import write_notebook

FIRST = """%load_ext jupyter_toolcall
import pandas as pd
from jupyter_toolcall import Scripted, Toolbox

df = pd.DataFrame({"city": ["Rome", None, "Oslo"], "ssn": ["canary-1", "canary-2", "canary-3"]})
model = Scripted(
    [
        ("tables_head", {}),
        ("tables_drop_nulls", {"columns": ["city"]}),
        ("save", {"clean": "$DataFrame"}),
    ],
    name="scripted:clean",
)
"""


Printed = Callable[..., str]


@pytest.fixture
def printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Printed]:
    """Run cells one after the other; what the last one printed."""
    monkeypatch.chdir(tmp_path)
    # A shell puts its variables in place of the main module.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    shell = InteractiveShell.instance()

    def run(*cells: str) -> str:
        for cell in (FIRST, *cells):
            capsys.readouterr()
            shell.run_cell(cell, store_history=True).raise_error()
        return capsys.readouterr().out

    yield run
    InteractiveShell.clear_instance()


CLEAN = "%%toolchat -m model -t tables -i df -o clean:DataFrame --approve all"


def test_a_model_cleans_a_table_without_an_import(printed: Printed) -> None:
    look = "print(len(_.calls), [*_.outputs], len(df), len(clean), [*clean.columns])"
    assert printed(f"{CLEAN}\nClean {{df}}.", look) == ("4 ['clean'] 3 2 ['city', 'ssn']\n")


@pytest.mark.parametrize(
    ("options", "result"),
    [
        ("", "{'rows': [{'city': 'Rome', 'ssn': 'canary-1'}, "),
        ("--withhold ssn", "{'rows': [{'city': 'Rome'}, {'city': None}, {'city': 'Oslo'}], "),
        ("--share schema", "head would send cells, and only the schema is shared: "),
        ("--share values", "{'rows': [{'city': 'Rome', 'ssn': 'canary-1'}, "),
    ],
)
def test_a_cell_says_what_is_shared(printed: Printed, options: str, result: str) -> None:
    look = "call = _.calls[1]; print(call.result or call.outcome.message)"
    assert printed(f"{CLEAN} {options}\nClean {{df}}.", look).startswith(result)


def test_a_setting_says_what_a_toolset_shares_that_nobody_configured(printed: Printed) -> None:
    cells = [
        "%config ToolChat.share = 'schema'\nfrom jupyter_toolcall.toolsets import tables",
        f"{CLEAN}\nClean {{df}}.",
        "first = _.calls[1].status",
        "tables = tables.sharing('values')",
        f"{CLEAN} --fresh\nClean {{df}}.",
        "print(first, _.calls[1].status)",
    ]
    assert printed(*cells) == "failed succeeded\n"


def test_a_setting_withholds_columns_and_a_line_adds_more(printed: Printed) -> None:
    cells = [
        "%config ToolChat.withhold = ['ssn']",
        f"{CLEAN}\nClean {{df}}.",
        "first = _.calls[1].result['rows'][0]",
        f"{CLEAN} --fresh --withhold city\nClean {{df}}.",
        "print(first, _.calls[1].result['withheld'])",
    ]
    assert printed(*cells) == "{'city': 'Rome'} ['city', 'ssn']\n"


def test_withholding_a_column_leaves_the_mode_that_somebody_chose(printed: Printed) -> None:
    cells = [
        "%config ToolChat.withhold = ['city']\nfrom jupyter_toolcall.toolsets import tables\n"
        "careful = tables.sharing('schema')",
        f"{CLEAN.replace('tables', 'careful')} --withhold ssn\nClean {{df}}.",
        "print(_.calls[1].status, _.cursor.context.sharing)",
    ]
    assert printed(*cells) == ("failed Sharing(share='schema', withhold=('city', 'ssn'))\n")


@pytest.mark.parametrize(
    ("options", "prompt"),
    [
        ("", "Look at 3 rows, 2 columns:\ncity,ssn\nRome,canary-1\n,canary-2\n"),
        ("--withhold ssn", "Look at 3 rows, 1 column (withheld: ssn):\ncity\nRome\n"),
        ("--share schema", "Look at 3 rows; only names and types are shared: city ("),
    ],
)
@pytest.mark.parametrize("tools", ["", "-t tables"])
def test_a_table_that_a_prompt_names_is_shared_as_the_cell_says(
    printed: Printed, options: str, tools: str, prompt: str
) -> None:
    cells = [
        f"%%toolchat -m m --scheme flat {tools} {options}\nLook at {{df}}",
        "print(_.requests[0].request.messages[0].text)",
    ]
    assert printed("m = Scripted(['Done.'])", *cells).startswith(prompt)


def test_a_question_about_a_table_obeys_the_cell_without_the_toolset_too(printed: Printed) -> None:
    cells = [
        "%%toolchat -m m --scheme flat --withhold ssn -i df\nLook.",
        "asked = _; asked.query('DataFrame#1', 'What is it?')",
        "print(asked.fork(asked.branches[-1]).requests[-1].request.messages[-1].text)",
    ]
    text = printed("m = Scripted(['Done.', ('save', {'result': 'x'})])", *cells)
    assert "3 rows, 1 column (withheld: ssn):\ncity\nRome" in text
    assert "canary" not in text


def test_a_variable_of_the_name_of_a_toolset_wins(printed: Printed) -> None:
    cells = [
        "def count(n: int) -> int:\n    return n\n\ntables = Toolbox(count)",
        "%%toolchat -m m -t tables --approve all\nGo.",
        "print(_.toolbox.names)",
    ]
    assert printed("m = Scripted(['Done.'])", *cells) == "('count',)\n"


def test_the_files_of_a_notebook_are_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("x")
    model = "m = Scripted([('files_list', {}), 'Done.'])"
    cells = [
        "%%toolchat -m m -t files\nGo.",
        "first = _.calls[-1].result",
        "%%toolchat -m m -t files:data --fresh\nGo.",
        "print(first['entries'], _.calls[-1].result['entries'])",
    ]
    path = write_notebook(tmp_path / "work.ipynb", FIRST, model, *cells)
    assert execute(path).notebook.cells[-1].outputs[0].text == (
        "[{'folder': 'data'}, {'file': 'work.ipynb', 'bytes': "
        f"{path.stat().st_size}}}] [{{'file': 'a.txt', 'bytes': 1}}]\n"
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("-t table", "-t: no variable table in this notebook. Did you mean tables?"),
        ("-t files:nowhere", "-t files:nowhere: there is no folder 'nowhere'."),
        ("-t tables --share shema", "argument --share: invalid choice: 'shema'"),
        ("-tools tables", "-tools: write --tools"),
        (
            "-m anthropic",
            "-m: no variable anthropic in this notebook. Did you mean anthropic:MODEL?",
        ),
    ],
)
def test_a_mistake_is_one_line(line: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        context_for_cell(parse_options(f"-m scripted:kitchen {line}"), {}, Journal(), tmp_path)
    assert text in str(caught.value)
