"""Another agent uses the session of a notebook, and the person decides by clicking."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx2
import mcp_types as types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import Page, expect

from tests.e2e import rig
from tests.e2e.kitchen import (
    OWN,
    expect_status,
    expect_step,
    expect_waits,
    open_tab,
    panel,
    press,
    script,
)

CELLS = [
    OWN + script("model", "'The jar stands ready.'", "'I see a new jar.'") + "jar = Jar(100)",
    "%%toolchat -m model --scheme flat -t fill weigh -i jar\nLook after {jar}.",
    "%toolchat serve",
    "%%toolchat\nWhat is there now?",
]


def call_in_thread(address: str, token: str, tool: str, arguments: Any) -> Future[Any]:
    """Start a call of a client that is named as Claude Code is; return its result to be."""

    async def call() -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            info = types.Implementation(name="claude-code", version="2")
            transport = streamable_http_client(address, http_client=http)
            async with Client(transport, client_info=info) as client:
                return (await client.call_tool(tool, arguments)).structured_content

    return ThreadPoolExecutor(1).submit(lambda: asyncio.run(call()))


def connection(page: Page) -> tuple[str, str]:
    """Return the address and the token that the third cell prints."""
    printed = rig.outputs(page, 2)
    expect(printed).to_contain_text("claude mcp add")
    text = printed.inner_text()
    address = re.search(r"http://\S+/mcp", text)
    token = re.search(r"Bearer ([\w-]+)", text)
    assert address is not None
    assert token is not None
    return address[0], token[1]


def test_a_person_decides_by_clicking_on_the_calls_of_another_agent(
    page: Page, lab: rig.Place
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    rig.open_notebook(page, lab, "served.ipynb", CELLS[:3])
    rig.run_all(page)
    view = panel(page, 1)
    expect_status(view, "Finished")
    address, token = connection(page)
    rig.wait_idle(page)

    first = call_in_thread(address, token, "fill", {"grams": 300, "of": "peas"})
    expect_waits(view, 1, "fill")
    expect_status(view, "Waiting for you")
    expect(view).to_contain_text("mcp:claude-code")
    view.scroll_into_view_if_needed()
    rig.screenshot(page, "served-waits")
    press(view, "Approve")
    assert first.result(60)["result"] == "Jar#2"
    expect_status(view, "Finished")
    expect_step(view, 1, "fill", "mcp:claude-code", "Jar#2")

    second = call_in_thread(address, token, "weigh", {"jar": "Jar#2"})
    expect_waits(view, 2, "weigh")
    rig.dark_theme(page)
    rig.run_command(page, "application:toggle-left-area")
    page.set_viewport_size({"width": 500, "height": 768})
    view.scroll_into_view_if_needed()
    rig.screenshot(page, "served-waits-narrow-dark")
    press(view, "Reject")
    view.get_by_role("textbox").fill("not now")
    view.locator("form").get_by_role("button", name="Reject", exact=True).click()
    assert second.result(60)["note"].endswith("Reason: not now")
    expect_step(view, 2, "weigh", "rejected")
    rig.screenshot(page, "served-decided-narrow-dark")


def test_the_notebook_keeps_what_another_agent_did_and_the_person_continues(
    page: Page, lab: rig.Place
) -> None:
    cells = [CELLS[0], CELLS[1].replace("-i jar", "-i jar --approve all"), *CELLS[2:]]
    rig.open_notebook(page, lab, "served.ipynb", cells)
    for number in range(3):
        rig.run_cell(page, number)
    view = panel(page, 1)
    expect_status(view, "Finished")
    address, token = connection(page)
    rig.wait_idle(page)
    call = call_in_thread(address, token, "fill", {"grams": 300})
    assert call.result(60)["result"] == "Jar#2"
    expect_step(view, 1, "fill", "mcp:claude-code", "Jar#2")
    rig.save(page)
    saved = str(rig.saved_notebook(lab, "served.ipynb").cells[1].outputs)
    assert "mcp:claude-code" in saved
    assert token not in saved
    rig.run_cell(page, 3)
    after = panel(page, 3)
    expect_status(after, "Finished")
    messages = open_tab(after, "Messages")
    expect(messages).to_contain_text("I see a new jar.")
    expect(messages).to_contain_text("fill(grams=300)")
