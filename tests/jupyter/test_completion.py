"""Help where one types: completion and inspection, as a kernel gives them to every front end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

SETUP = """%load_ext jupyter_toolcall
from jupyter_toolcall.kitchen import Potato, Oven
potato = Potato()
def weigh(potato, unit="g"):
    '''Weigh a potato.'''
"""
CELL = "%%toolchat -m scripted:kitchen -t Potato --approve ask -o fries:Plate\nPeel {potato}."


@pytest.fixture(scope="module")
def kernel() -> Iterator[BlockingKernelClient]:
    manager, client = start_new_kernel()
    client.execute_interactive(SETUP, timeout=60)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def help_at(kernel: BlockingKernelClient, code: str, place: str) -> str:
    """What Shift-Tab tells with the cursor in the last place that reads so."""
    at = code.rindex(place) + len(place)
    content: dict[str, Any] = kernel.inspect(code, at, reply=True, timeout=60)["content"]
    return str(content["data"].get("text/plain", "")) if content["found"] else ""


def completions(kernel: BlockingKernelClient, code: str) -> list[str]:
    """What Tab offers at the end."""
    return list(kernel.complete(code, reply=True, timeout=60)["content"]["matches"])


def test_an_option_says_what_it_takes_and_its_default(kernel: BlockingKernelClient) -> None:
    assert help_at(kernel, CELL, "--approve").startswith("--approve ask|read-only|all|none")
    assert "(default ask)" in help_at(kernel, CELL, "--appr")
    assert help_at(kernel, CELL, "--approve ask") == help_at(kernel, CELL, "--approve")
    assert "-m, --model NAME" in help_at(kernel, CELL, "scripted")


def test_a_variable_of_the_line_says_what_python_says_of_it(kernel: BlockingKernelClient) -> None:
    assert "Weigh a potato." in help_at(kernel, CELL.replace("Potato", "weigh"), "-t weigh")
    assert "Potato" in help_at(kernel, CELL, "{potato")


def test_the_magic_itself_says_all_of_its_options(kernel: BlockingKernelClient) -> None:
    assert "--max-turns" in help_at(kernel, CELL, "%%toolchat")
    asked = kernel.execute("%%toolchat?", reply=True, timeout=60)["content"]["payload"]
    assert "--max-turns" in asked[0]["data"]["text/plain"]


def test_objects_and_tools_of_the_session_say_what_they_are(kernel: BlockingKernelClient) -> None:
    ask = "%%toolchat -m scripted:kitchen -t Potato -i potato --approve none --no-wait\nPeel it."
    kernel.execute_interactive(ask, allow_stdin=False, timeout=60)
    told = help_at(kernel, "%%toolchat\nTake Potato#1 now", "Potato#1")
    assert told.startswith("Potato#1\n")
    told = help_at(kernel, "%%toolchat\nuse Potato_peel", "Potato_peel")
    assert told.startswith("Potato_peel(Potato)\nTake the skin off.\n  Potato: ")


@pytest.mark.parametrize(
    ("written", "completed"),
    [
        *((" --appr", "--approve"), (" --approve r", "read-only"), (" -t Ov", "Oven")),
        *((" -o fries:Pot", "fries:Potato"), (" -o names:li", "names:list[")),
        (" -o names:list[s", "names:list[set[ names:list[str"),
        *((" -o names:dict[str,Pot", "names:dict[str,Potato"), ("\nPeel {pot", "potato}")),
    ],
)
def test_options_values_and_types_complete(
    kernel: BlockingKernelClient, written: str, completed: str
) -> None:
    assert completions(kernel, f"%%toolchat{written}") == completed.split()


def test_without_the_extension_the_kernel_is_as_it_was(kernel: BlockingKernelClient) -> None:
    assert "Weigh a potato." in help_at(kernel, "weigh(1)", "weigh")
    assert help_at(kernel, "nothing_of_that_name", "nothing") == ""
    kernel.execute_interactive("%unload_ext jupyter_toolcall", timeout=60)
    assert help_at(kernel, CELL, "--approve") == ""
    assert "Weigh a potato." in help_at(kernel, "weigh(1)", "weigh")
    kernel.execute_interactive("%load_ext jupyter_toolcall", timeout=60)
    assert help_at(kernel, CELL, "--approve") != ""


def test_the_mcp_servers_that_have_a_name_are_offered(kernel: BlockingKernelClient) -> None:
    setting = '%config ToolChat.mcp_servers = {"docs": "https://example.org/mcp"}'
    kernel.execute_interactive(setting, timeout=60)
    assert completions(kernel, "%%toolchat -t mcp:d") == ["mcp:docs"]
