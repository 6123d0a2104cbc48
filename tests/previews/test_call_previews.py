"""Previews: what a waiting call would do, tried on copies, and taken where exactly that runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Rule, Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.events import Finished
from jupyter_toolcall.engine.decisions import current_approval_digest
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.previews import call_previews
from jupyter_toolcall.toolsets import tables
from jupyter_toolcall.view.contract import Notice, Previewed

HOTELS = pd.DataFrame({"city": [*"abcab"], "price": [9.0, None, 3.0, 4.0, 5.0]})
CHANGES = (
    ("filter", {"where": "price > 3"}),
    ("fill", {"columns": ["price"], "method": "value", "value": 7}),
    ("derive", {"column": "x", "expression": "price * 2"}),
    ("aggregate", {"by": ["city"]}),
    ("filter", {"where": "cost > 3"}),
)


@tool(pure=True)
def shout(text: str) -> str:
    """Return a text in capitals."""
    return text.upper()


@tool(read_only=True, untrusted=True)
def read_page() -> str:
    """Read a page."""
    return "a word of others"


def decided(
    session: Session, waits: bool = True, edited: str = "", then: threading.Event | None = None
) -> tuple[Session, list[Previewed], list[bool]]:
    """Decide on all calls in a panel, each after its preview if it `waits`.

    Returns the session, the previews that the panel was sent, and of each call whether it has the
    result of its preview. Before each decision `then` is set.
    """
    sent, seen = list[Notice](), set[str]()
    controller = PanelController(session, sent.append, greeted=True)

    async def decide() -> Session:
        running = asyncio.create_task(controller.run())
        while not running.done():
            await asyncio.sleep(0.01)
            told = {(n.call, n.approval_digest) for n in sent if isinstance(n, Previewed)}
            cursor = controller.session.cursor
            for call in controller.session.pending:
                digest = current_approval_digest(cursor, call, cursor.state)
                if call.id not in seen and (not waits or (call.id, digest) in told):
                    seen.add(call.id)
                    if then is not None:
                        then.set()
                    edit = {"type": "edit", "arguments": {"text": edited}}
                    decision = edit if edited else {"type": "approve"}
                    controller.receive({**decision, "call": call.id, "approval_digest": digest})
        return await running

    ended = asyncio.run(asyncio.wait_for(decide(), 60))
    ends = (
        entry.meta for entry in ended.journal.path(ended.head) if isinstance(entry.event, Finished)
    )
    previews = [notice for notice in sent if isinstance(notice, Previewed)]
    return ended, previews, [meta.get("by") == "preview" for meta in ends]


def session_of(*calls: Any, tools: Any = (shout,), approve: Any = "none", **more: Any) -> Session:
    model = Scripted([*calls, "Done."])
    return Session(Toolbox(*tools), model, scheme="flat", approve=approve, **more).tell("Go on.")


@given(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=3))
@settings(max_examples=10)
def test_a_session_is_the_same_with_previews_and_without(changes: Any) -> None:
    calls = [(f"tables_{name}", arguments) for name, arguments in changes]
    data: dict[str, Any] = {"tools": [tables], "inputs": {"hotels": HOTELS}}
    alone = session_of(*calls, approve="all", **data)
    session, sent, taken = decided(session_of(*calls, **data))
    assert [call.outcome for call in session.calls] == [call.outcome for call in alone.calls]
    # What would fail is said, and runs again where it is approved all the same.
    succeeded = [call.status == "succeeded" for call in alone.calls]
    assert (taken, [not notice.error for notice in sent]) == (succeeded, succeeded)


WORD = ("shout", {"text": "a word of others"})


@pytest.mark.parametrize(
    ("calls", "approve"),
    [
        ([("read_page", {}), WORD], [Rule("read_page", "run")]),
        ([WORD], [Rule("shout", "refuse")]),
        ([("plain", {})], "none"),
    ],
)
def test_what_is_refused_untrusted_or_not_pure_is_not_tried(calls: Any, approve: Any) -> None:
    tools = shout, read_page, lambda: 1
    tools[2].__name__ = "plain"
    session = session_of(*calls, tools=tools, approve=approve)
    _, previews, taken = decided(session, waits=False)
    assert (previews, any(taken)) == ([], False)


def test_large_objects_are_not_tried_and_the_card_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_previews, "MEMORY", 50)
    call = f"tables_{CHANGES[0][0]}", CHANGES[0][1]
    session, sent, taken = decided(session_of(call, tools=[tables], inputs={"hotels": HOTELS}))
    assert (session.calls[0].status, taken) == ("succeeded", [False])
    assert [notice.error for notice in sent] == ["No preview: the objects are larger than 0 MB."]


def loops(opened: threading.Event) -> None:
    while threading.current_thread() is not threading.main_thread():
        pass


def waits(opened: threading.Event) -> None:
    opened.wait(30)


@pytest.mark.parametrize("hangs", [loops, waits])
def test_a_preview_that_hangs_is_given_up_and_the_next_one_is_made(
    hangs: Callable[[threading.Event], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, threads = threading.Event(), list[threading.Thread]()

    @tool(pure=True)
    def slow() -> str:
        """Hang where it is tried, and run through where a person approved it."""
        threads.append(threading.current_thread())
        hangs(opened)
        return "a"

    monkeypatch.setattr(call_previews, "SECONDS", 0.05)
    session = session_of([("slow", {}), ("shout", {"text": "a"})], tools=[slow, shout])
    session, sent, taken = decided(session, then=opened)
    assert [notice.error for notice in sent] == ["No preview: it takes too long.", ""]
    assert ([call.result for call in session.calls], taken) == (["a", "A"], [False, True])
    # Nothing runs on in the kernel: what loops was ended.
    threads[0].join(30)
    assert [thread.is_alive() for thread in threads] == [False, True]


def test_the_result_is_taken_only_of_exactly_what_was_tried() -> None:
    session, _, taken = decided(session_of(("shout", {"text": "a"})), edited="b")
    assert (session.calls[0].result, taken) == ("B", [False])
