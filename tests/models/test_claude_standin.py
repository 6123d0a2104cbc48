"""The stand-in for Anthropic's API does refuse what the API refuses: a test for each rule."""

from __future__ import annotations

import copy
from typing import Any

import httpx2
import pytest

from tests.standin.anthropic_api import KEY, StandIn
from tests.standin.turns import Json, Think, Use, says

HEADERS = {
    "authorization": f"Bearer {KEY}",
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "thinking-binding-controls-2026-08-01",
}
MARK = {"type": "ephemeral"}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _use(name: str) -> Json:
    return {"type": "tool_use", "id": name, "name": "peel", "input": {}}


def _result(name: str) -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": "ok"}


def _reference(name: str) -> Json:
    return {"type": "tool_reference", "tool_name": name}


def _thinking(text: str) -> Json:
    return {"type": "thinking", "thinking": text, "signature": "c2ln"}


def good() -> Json:
    """Return a body that is taken: a call, its answer, and tools that wait."""
    return {
        "model": "claude-opus-5-5",
        "max_tokens": 1000,
        "thinking": {
            "type": "adaptive",
            "display": "summarized",
            "block_binding": {"prefix_mismatch_behavior": "drop_block"},
        },
        "system": [_text("Cook.") | {"cache_control": MARK}],
        "tools": [
            {"name": "select", "input_schema": {"type": "object"}},
            {"name": "peel", "input_schema": {"type": "object"}, "defer_loading": True},
        ],
        "messages": [
            {"role": "user", "content": [_text("Peel.")]},
            {"role": "assistant", "content": [_text("I do."), _use("a"), _use("b")]},
            {"role": "user", "content": [_result("a"), _result("b"), _text("Go on.")]},
        ],
        "stream": True,
    }


def test_a_good_request_is_taken(claude: StandIn) -> None:
    claude.turns.append(says("fine"))
    assert post(claude, good()) == (200, "")
    assert claude.refused == []


GONE = "(gone)"
"""Stands for what is removed."""
Change = tuple[str, Any]
RESULT = "messages.2.content.0"
ANSWERED_LATER = (
    (RESULT, GONE),
    ("messages.3+", {"role": "assistant", "content": "Hm."}),
    ("messages.4+", {"role": "user", "content": [_result("a")]}),
)
MARKED = ("messages.0.content.0", "messages.1.content.1", "messages.1.content.2", RESULT)
RULES: list[tuple[str, *tuple[Change, ...]]] = [
    ("temperature: Extra", ("temperature", 0)),
    ("first message", ("messages.0", GONE)),
    ("non-empty", ("messages.0.content.0.text", "")),
    ("non-empty", ("messages.2.content.2.text", " \n")),
    ("without `tool_result`", (RESULT, GONE)),
    ("tool_use", *ANSWERED_LATER),
    ("first", (f"{RESULT}+", _text("x"))),
    ("single result", (f"{RESULT}+", _result("a"))),
    ("unexpected `tool_use_id`", (f"{RESULT}+", _result("z"))),
    ("ids must be unique", ("messages.1.content.3+", _use("a"))),
    ("id: String", ("messages.1.content.1.id", "a#1")),
    ("name", ("messages.1.content.1.name", "a b")),
    ("pattern", ("tools.0.name", "Potato#1")),
    ("unique", ("tools.1.name", "select")),
    ("at the top level", ("tools.0.input_schema.anyOf", [])),
    ("defer_loading=false", ("tools.0", GONE)),
    ("defer_loading", ("tools.1.cache_control", MARK)),
    ("'fry' not found", (f"{RESULT}.content", [_reference("fry")])),
    ("mixed", (f"{RESULT}.content", [_reference("peel"), _text("x")])),
    ("maximum of 4", *((f"{path}.cache_control", MARK) for path in MARKED)),
    ("not supported", ("model", "claude-haiku-4-5")),
    ("not supported", ("model", "claude-opus-4-1"), ("thinking", GONE)),
    ("Invalid `signature`", ("messages.1.content.0+", _thinking("made up"))),
]
"""What is refused: a part of the message, and what is changed in a good request.

A change is a path and the value to set there; with a + it is inserted.
"""


def change(body: Json, path: str, value: Any) -> None:
    """Carry out a change of `RULES`."""
    *way, last = path.removesuffix("+").split(".")
    inner: Any = body
    for step in way:
        inner = inner[int(step) if step.isdigit() else step]
    key = int(last) if last.isdigit() else last
    if value is GONE:
        del inner[key]
    elif path.endswith("+"):
        inner.insert(key, value)
    else:
        inner[key] = value


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_stand_in_refuses(claude: StandIn, rule: tuple[str, *tuple[Change, ...]]) -> None:
    told, *changes = rule
    body = good()
    for path, value in changes:
        change(body, path, value)
    status, message = post(claude, body)
    assert (status, told in message) == (400, True)
    assert claude.refused == [message]


def test_the_stand_in_refuses_thinking_that_was_changed_or_moved(claude: StandIn) -> None:
    body = good()
    claude.turns = [says(Think("A thought."), Use("peel", id="c"))]
    assert post(claude, body) == (200, "")
    (signature,) = claude.thoughts.signed
    thought = {"type": "thinking", "thinking": "A thought.", "signature": signature}
    body["messages"] += [
        {"role": "assistant", "content": [thought, _use("c")]},
        {"role": "user", "content": [_result("c")]},
    ]
    claude.turns = [says("fine")] * 4
    assert post(claude, body) == (200, "")
    assert claude.asked[-1].dropped == ()

    changed = copy.deepcopy(body)
    changed["messages"][3]["content"][0]["thinking"] += " "
    assert "cannot be modified" in post(claude, changed)[1]

    for key, value in (("system", "Bake."), ("tools", [{**body["tools"][0], "description": "?"}])):
        moved = body | {key: value}
        assert post(claude, moved) == (200, "")
        assert len(claude.asked[-1].dropped) == 1
        strict = moved | {"thinking": {"type": "adaptive"}}
        assert "bound to a different conversation" in post(claude, strict)[1]


def test_the_stand_in_finds_only_what_is_the_same_from_the_start(claude: StandIn) -> None:
    claude.turns = [says("fine")] * 3
    read = []
    for start in ("", "", "!"):
        system = [_text(f"{start}{'Cook well. ' * 1000}") | {"cache_control": MARK}]
        assert post(claude, good() | {"system": system}) == (200, "")
        read.append(claude.asked[-1].usage["cache_read_input_tokens"])
    assert read[0] == read[2] == 0
    assert read[1] > 2000


def post(claude: StandIn, body: Any) -> tuple[int, str]:
    """Return the status and, of an error in the API's shape, the message."""
    answer = httpx2.post(f"{claude.url}/v1/messages", headers=HEADERS, json=body)
    return answer.status_code, "" if answer.is_success else answer.json()["error"]["message"]
