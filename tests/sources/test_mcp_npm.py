"""Servers of the MCP project, from npm: files and `everything`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Toolbox, from_mcp
from jupyter_toolcall.sources.mcp_connection import connections
from jupyter_toolcall.tools.running_tool import showing_progress
from tests.example_tools import play

pytestmark = pytest.mark.long
SCOPE = "@modelcontextprotocol"
VENV_NODE = Path(__file__).parents[2] / ".venv" / "node"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Install the servers once; yield the folder of their programs."""
    npm = shutil.which("npm", path=str(VENV_NODE)) or shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on the PATH")
    folder = tmp_path_factory.mktemp("npm")
    names = [f"{SCOPE}/server-filesystem", f"{SCOPE}/server-everything"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(Path(npm).parent), prepend=":")
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *names],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            pytest.skip(f"npm cannot be reached: {done.stderr[-300:]}")
        yield folder / "node_modules" / ".bin"
        for link in connections():
            link.close()


# -- files ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("allowed")
    (folder / "plums.txt").write_text("three plums\nfour pears\n")
    return folder.resolve()


@pytest.fixture(scope="module")
def files(packages: Path, folder: Path) -> Toolbox:
    return from_mcp(f"{packages / 'mcp-server-filesystem'} {folder}")


def test_files_are_listed_and_read(files: Toolbox, folder: Path) -> None:
    calls = [
        ("list_directory", {"path": str(folder)}),
        ("read_text_file", {"path": str(folder / "plums.txt")}),
    ]
    session = play(files, *calls)
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]
    assert "plums.txt" in str(session.calls[0].result)
    assert session.calls[1].result == {"content": "three plums\nfour pears\n"}


def test_reading_runs_unasked_where_hints_are_trusted(packages: Path, folder: Path) -> None:
    tools = from_mcp(f"{packages / 'mcp-server-filesystem'} {folder}", trust_hints=True)
    calls = [
        ("list_directory", {"path": str(folder)}),
        ("create_directory", {"path": str(folder / "d")}),
    ]
    session = play(tools, *calls, approve="ask")
    assert session.calls[0].status == "succeeded"
    assert [call.tool for call in session.pending] == ["create_directory"]


# -- everything -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything(packages: Path) -> Toolbox:
    return from_mcp(f"{packages / 'mcp-server-everything'}")


def test_everything_is_listed_and_called_in_every_scheme(everything: Toolbox) -> None:
    for scheme in ("flat", "select", "current", "native"):
        calls: list[Any] = [("echo", {"message": "hi"}), ("get-sum", {"a": 2, "b": 3})]
        if scheme == "select":
            calls = [("selectTools", {"tools": ["echo", "get-sum"]}), *calls]
        session = play(everything, *calls, scheme=scheme)
        assert [call.status for call in session.calls] == ["succeeded"] * len(calls)
        assert "5" in str(session.calls[-1].result)


def test_structured_content_images_and_resources_become_values(everything: Toolbox) -> None:
    calls = [
        ("get-structured-content", {"location": "New York"}),
        ("get-tiny-image", {}),
        ("get-resource-links", {"count": 2}),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
    ]
    session = play(everything, *calls)
    assert [call.status for call in session.calls] == ["succeeded"] * 4
    assert {"temperature", "conditions", "humidity"} <= session.calls[0].result.keys()
    assert "McpImage#1" in session.objects
    links = [session[name] for name in session.objects if name.startswith("McpResource")]
    assert len(links) == 3
    # Each second one is bytes.
    assert [link.text()[:9] for link in links] == ["Resource "] * 3


def test_the_progress_of_a_long_call_is_reported(everything: Toolbox) -> None:
    shown: list[str] = []
    (long,) = [tool for tool in everything if "long-running" in tool.name]
    with showing_progress(shown.append):
        long.function(arguments={"duration": 1, "steps": 4})
    assert shown[-1].startswith("4 of 4")


def test_prompts_are_listed_and_filled_in(everything: Toolbox) -> None:
    assert everything.names
    (link,) = [each for each in connections() if each.is_open and "everything" in each.address.name]
    assert "args-prompt" in [prompt["name"] for prompt in link.prompts()]
    assert "Bern" in link.prompt("args-prompt", {"city": "Bern"})[0]["content"]["text"]
