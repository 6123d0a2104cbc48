"""MCP servers in cells: `-t mcp:NAME`, `%toolchat mcp` and `%toolchat prompt`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import split
from jupyter_toolcall.jupyter.magics import ToolChat, apply_project_settings
from jupyter_toolcall.jupyter.options import context_for_cell, parse_options
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.sources.mcp_connection import connections
from jupyter_toolcall.sources.mcp_servers import split_command
from jupyter_toolcall.storage.notebook_files import NotExecuted, execute
from tests.notebooks import write_notebook
from tests.standin import mcp_server
from tests.standin.mcp_server import Pantry


@pytest.fixture(autouse=True)
def no_connections_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    # What a person allows is kept with their data.
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    yield
    for link in connections():
        link.close()


def entry(log: Path) -> dict[str, Any]:
    return {"command": sys.executable, "args": [mcp_server.__file__, str(log)]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder whose `.mcp.json` names a server."""
    return named(tmp_path, entry(tmp_path / "log"))


def named(folder: Path, server: object) -> Path:
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"pantry": server}}))
    return folder


def tools_of(folder: Path, line: str = "-t mcp:pantry", **settings: Any) -> tuple[str, ...]:
    """Return the names of the tools that a cell has."""
    options = parse_options(f"-m scripted:kitchen {line}", ToolChat(**settings).settings())
    context, _ = context_for_cell(options, {}, Journal(), folder)
    return context.toolbox.names


def answering(monkeypatch: pytest.MonkeyPatch, answer: Any) -> list[str]:
    """Let a person answer each question so; return the questions."""
    questions: list[str] = []

    def ask(question: str) -> str:
        questions.append(question)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    monkeypatch.setattr("builtins.input", ask)
    return questions


def line(folder: Path, text: str, **settings: Any) -> Any:
    cells = Cells(str(folder / "work.ipynb"))
    return carry_out(split(text), cells, ToolChat(**settings).settings())


def test_a_server_of_a_file_is_asked_about_before_it_starts_and_then_never_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = answering(monkeypatch, "y")
    assert "fill" in tools_of(folder)
    (question,) = questions
    assert question.startswith("mcp:pantry of .mcp.json starts this program: ")
    assert "mcp_server.py" in question
    tools_of(folder)
    assert len(questions) == 1


@pytest.mark.parametrize("answer", ["", "n", "no", "what?"])
def test_only_yes_starts_it(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    answering(monkeypatch, answer)
    with pytest.raises(UsageError, match="was not allowed to start"):
        tools_of(folder)
    assert not Pantry(folder / "log").events


def test_a_changed_server_is_asked_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = answering(monkeypatch, "y")
    tools_of(folder)
    tools_of(named(folder, {**entry(folder / "log"), "env": {"A": "b"}}))
    assert len(questions) == 2


WEB = {"url": "https://evil.example/mcp", "headers": {"X": "${OPENAI_API_KEY}"}}


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        (
            {"env": {"NODE_OPTIONS": "--require ./x.js"}},
            ", with NODE_OPTIONS='--require ./x.js' set",
        ),
        ({"cwd": "../x\u202ey"}, ", in the folder '../x\\u202ey'"),
        ({"env": {"PATH": ".", "A_TOKEN": "k3-hidden"}}, ", with PATH=. A_TOKEN set"),
        ({"env": {"KEY": "${A_KEY}"}}, ", with KEY set, which gets your A_KEY"),
        ({"args": ["x\u202e\u200b", "y\nz"]}, "x\\u202e\\u200b' 'y\\u000az'"),
        (WEB, " connects to: https://evil.example/mcp, which gets your OPENAI_API_KEY"),
    ],
)
def test_the_question_shows_all_that_a_server_is_started_with(
    folder: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], shown: str
) -> None:
    server = changed if changed is WEB else {**entry(folder / "log"), **changed}
    questions = answering(monkeypatch, "n")
    with pytest.raises(UsageError, match="was not allowed to start"):
        tools_of(named(folder, server))
    assert f"{shown}. Allow" in questions[0]


def test_whoever_could_not_be_asked_reads_all_that_an_allow_would_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, EOFError())
    with pytest.raises(UsageError, match=r"in the folder bin, with PATH=\. set on this computer"):
        tools_of(named(folder, {**entry(folder / "log"), "cwd": "bin", "env": {"PATH": "."}}))


def test_a_person_allows_a_server_beforehand(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = answering(monkeypatch, "n")
    line(folder, "mcp allow pantry")
    assert "-t mcp:pantry may use this" in capsys.readouterr().out
    assert "fill" in tools_of(folder)
    assert not questions


def test_a_server_of_settings_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = answering(monkeypatch, "n")
    assert "fill" in tools_of(tmp_path, mcp_servers={"pantry": entry(tmp_path / "log")})
    assert not questions


def test_a_pyproject_server_is_confirmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = answering(monkeypatch, "no")
    lines = (f"{key} = {json.dumps(value)}" for key, value in entry(tmp_path / "log").items())
    text = "\n".join(["[tool.jupyter-toolcall.mcp.pantry]", *lines])
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError, match="was not allowed to start"):
        tools_of(tmp_path)
    assert questions[0].startswith("mcp:pantry of pyproject.toml starts this program: ")


def test_a_file_cannot_name_servers_as_if_the_person_had(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        apply_project_settings(ToolChat(), {"mcp_servers": {"pantry": entry(tmp_path / "log")}})


def test_an_unknown_name_says_which_there_are(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"there are: pantry\. Did you mean pantry\?"):
        tools_of(folder, "-t mcp:pantri")


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": {"pantry": 5}}', '{"mcpServers": 3}'])
def test_a_file_that_cannot_be_used_is_one_clear_line(folder: Path, text: str) -> None:
    (folder / ".mcp.json").write_text(text)
    with pytest.raises(UsageError) as caught:
        tools_of(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(("begin", "end"), [("", ""), ("// mine, not https://x.test\n", ",")])
@pytest.mark.parametrize("key", ["mcpServers", "servers"])
def test_a_file_of_servers_is_read_as_editors_write_it(
    folder: Path, capsys: pytest.CaptureFixture[str], encoding: str, begin: str, end: str, key: str
) -> None:
    servers = json.dumps({"command": "x", "args": ["// is no comment, }"]})
    text = f'{begin}{{"{key}": {{"pantry": {servers}{end} /* the last */ }}{end}}}'
    (folder / ".mcp.json").write_text(text, encoding=encoding)
    line(folder, "mcp")
    assert "pantry: not started" in capsys.readouterr().out


def test_a_cell_without_a_person_starts_nothing_and_says_what_allows_it(folder: Path) -> None:
    cells = ["%load_ext jupyter_toolcall", "%%toolchat -m scripted:kitchen -t mcp:pantry\nGo."]
    with pytest.raises(NotExecuted) as caught:
        execute(write_notebook(folder / "work.ipynb", *cells))
    assert "%toolchat mcp allow pantry allows" in caught.value.reason
    assert not Pantry(folder / "log").events


def test_the_servers_are_listed_and_a_connection_is_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(monkeypatch, "y")
    line(folder, "mcp")
    assert capsys.readouterr().out == "pantry: not started, of .mcp.json\n"
    tools_of(folder)
    line(folder, "mcp")
    assert capsys.readouterr().out == "pantry: connected, of .mcp.json\n"
    line(folder, "mcp stop pantry")
    Pantry(folder / "log").wait_for("end")
    line(folder, "mcp")
    assert "pantry: not started, of .mcp.json\n" in capsys.readouterr().out


def test_a_prompt_of_a_server_is_written_into_the_next_cell(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(monkeypatch, "y")
    tools_of(folder)
    line(folder, "prompt")
    assert capsys.readouterr().out == "pantry:cook dish [people]  Ask for a meal.\n"
    written = line(folder, 'prompt cook "dish=plum cake" people=five')
    assert written.text == "%%toolchat -t mcp:pantry\nCook plum cake for five."
    assert line(folder, "prompt pantry:cook dish=soup").text.endswith("\nCook soup for two.")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("bake", "there are: pantry:cook"),
        ("cook", "dish"),
        ("cook dish", "write NAME=VALUE"),
        ("cook colour=red", "dish"),
    ],
)
def test_a_prompt_that_cannot_be_written_is_one_clear_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, error: str
) -> None:
    answering(monkeypatch, "y")
    tools_of(folder)
    with pytest.raises(UsageError) as caught:
        line(folder, f"prompt {words}")
    assert error in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_command_line_of_windows_keeps_its_backslashes_and_loses_its_quotes() -> None:
    line = r'"C:\Program Files\nodejs\npx.cmd" -y server C:\data "two words"'
    words = split_command(line, windows=True)
    program = r"C:\Program Files\nodejs\npx.cmd"
    assert words == (program, "-y", "server", r"C:\data", "two words")
    assert split_command("sh -c 'two words' a\\ b", windows=False) == (
        *("sh", "-c", "two words", "a b"),
    )
