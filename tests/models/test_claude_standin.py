"""The stand-in for Anthropic's API does refuse what the API refuses: a test for each rule."""

from __future__ import annotations

import copy
from typing import Any

import httpx2
import pytest

from tests.standin.anthropic_api import KEY, StandIn
from tests.standin.turns import Json, Think, Use, says

HEADERS = {"authorization": f"Bearer {KEY}", "anthropic-version": "2026-10-21"}
BETA = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
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


def _redacted() -> Json:
    return {"type": "redacted_thinking", "data": "x"}


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


GONE = object()
"""Stands for what is removed."""
Change = tuple[str, Any]
RULES: dict[str, tuple[str, *tuple[Change, ...]]] = {
    "an unknown parameter": ("temperature: Extra", ("temperature", 0)),
    "no max_tokens": ("max_tokens: Field required", ("max_tokens", GONE)),
    "no model": ("model: Field required", ("model", GONE)),
    "too many max_tokens": ("max_tokens", ("max_tokens", 10**7)),
    "no messages": ("at least one message", ("messages", [])),
    "the model speaks first": ("first message", ("messages.0", GONE)),
    "an unknown role": ("role", ("messages.0.role", "tool")),
    "an empty message": ("non-empty content", ("messages.0.content", [])),
    "an empty text": ("non-empty", ("messages.0.content.0.text", "")),
    "a blank text": ("non-empty", ("messages.2.content.2.text", " \n")),
    "an empty system text": ("non-empty", ("system.0.text", "")),
    "an unknown block": ("tag 'x'", ("messages.0.content.0", {"type": "x"})),
    "a block's unknown field": ("Extra", ("messages.0.content.0.x", 1)),
    "a call by the user": ("tag", ("messages.0.content.0", _use("c"))),
    "a result by the model": ("tag 'tool_result'", ("messages.1.content.1+", _result("a"))),
    "the model speaks last": ("prefill", ("messages.2", GONE)),
    "thinking at the end": ("final block", ("messages.1.content", [_redacted()])),
    "an unanswered call": ("without `tool_result`", ("messages.2.content.0", GONE)),
    "calls without any answer": (
        "without `tool_result`",
        ("messages.2.content", [_text("Hello?")]),
    ),
    "an answer in a later message": (
        "tool_use",
        ("messages.2.content.0", GONE),
        ("messages.3+", {"role": "assistant", "content": "Hm."}),
        ("messages.4+", {"role": "user", "content": [_result("a")]}),
    ),
    "text before results": ("first", ("messages.2.content.0+", _text("x"))),
    "text between results": ("first", ("messages.2.content.1+", _text("x"))),
    "one call answered twice": ("single result", ("messages.2.content.0+", _result("a"))),
    "an unknown id": ("unexpected `tool_use_id`", ("messages.2.content.0+", _result("z"))),
    "an id used twice": ("ids must be unique", ("messages.1.content.3+", _use("a"))),
    "a call's bad id": ("id: String", ("messages.1.content.1.id", "a#1")),
    "a call's bad name": ("name", ("messages.1.content.1.name", "a b")),
    "a call's bad input": ("object", ("messages.1.content.1.input", "x")),
    "a bad tool name": ("pattern", ("tools.0.name", "Potato#1")),
    "a long tool name": ("pattern", ("tools.0.name", "a" * 65)),
    "two tools of one name": ("unique", ("tools.1.name", "select")),
    "a tool's unknown field": ("Extra", ("tools.0.parameters", {})),
    "a tool without a schema": ("input_schema", ("tools.0.input_schema", GONE)),
    "a schema of choices": ("at the top level", ("tools.0.input_schema.anyOf", [])),
    "only tools that wait": ("defer_loading=false", ("tools.0", GONE)),
    "a breakpoint on a tool that waits": ("defer_loading", ("tools.1.cache_control", MARK)),
    "a reference to an undeclared tool": (
        "'fry' not found",
        ("messages.2.content.0.content", [_reference("fry")]),
    ),
    "a reference beside text": (
        "mixed",
        ("messages.2.content.0.content", [_reference("peel"), _text("x")]),
    ),
    "a forced tool": ("forced", ("tool_choice", {"type": "any"})),
    "a choice without tools": (
        "while providing tools",
        ("tools", []),
        ("tool_choice", {"type": "auto"}),
    ),
    "five breakpoints": (
        "maximum of 4",
        ("messages.0.content.0.cache_control", MARK),
        ("messages.1.content.1.cache_control", MARK),
        ("messages.1.content.2.cache_control", MARK),
        ("messages.2.content.0.cache_control", MARK),
    ),
    "a strange breakpoint": ("cache_control", ("system.0.cache_control", {"type": "forever"})),
    "an unknown way to think": ("thinking", ("thinking", {"type": "hard"})),
    "no thinking": ("cannot be disabled", ("thinking", {"type": "disabled"})),
    "a budget to think": ("budget", ("thinking", {"type": "enabled", "budget_tokens": 2000})),
    "adaptive thinking on an older model": ("not supported", ("model", "claude-haiku-4-5")),
    "waiting tools on an old model": (
        "not supported",
        ("model", "claude-opus-4-1"),
        ("thinking", GONE),
    ),
    "thinking that nobody signed": (
        "Invalid `signature`",
        ("messages.1.content.0+", _thinking("made up")),
    ),
}
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


@pytest.mark.parametrize("rule", RULES)
def test_the_stand_in_refuses(claude: StandIn, rule: str) -> None:
    told, *changes = RULES[rule]
    body = good()
    for path, value in changes:
        change(body, path, value)
    status, message = post(claude, body)
    assert status == 400
    assert told in message
    assert claude.refused == [message]


@pytest.mark.parametrize(
    ("headers", "status", "told"),
    [
        ({"authorization": ""}, 401, "invalid x-api-key"),
        ({"authorization": "Bearer wrong"}, 401, "invalid x-api-key"),
        ({"anthropic-version": None}, 400, "anthropic-version"),
        ({"anthropic-beta": "weather-2026"}, 400, "weather-2026"),
        ({"anthropic-beta": ""}, 400, "block_binding: Extra"),
    ],
)
def test_the_stand_in_refuses_headers(
    claude: StandIn, headers: dict[str, str | None], status: int, told: str
) -> None:
    answer = post(claude, good(), headers)
    assert answer[0] == status
    assert told in answer[1]


def test_the_stand_in_refuses_an_unknown_model_and_no_json(claude: StandIn) -> None:
    assert post(claude, good() | {"model": "gpt-6"}) == (404, "model: gpt-6")
    assert post(claude, b"{")[0] == 400
    assert post(claude, b" " * 32_000_001)[0] == 413


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


def test_the_stand_in_omits_thinking_that_nobody_asked_to_see(claude: StandIn) -> None:
    claude.turns = [says(Think("A thought."))]
    assert post(claude, good() | {"thinking": {"type": "adaptive"}}) == (200, "")
    assert [shown for _, shown in claude.thoughts.signed.values()] == [""]


def test_the_stand_in_finds_only_what_is_the_same_from_the_start(claude: StandIn) -> None:
    claude.turns = [says("fine")] * 3
    body = good()
    body["system"][0]["text"] = "Cook well. " * 1000
    read = []
    for system in (
        body["system"],
        body["system"],
        [{**body["system"][0], "text": "!" + body["system"][0]["text"]}],
    ):
        assert post(claude, body | {"system": system}) == (200, "")
        read.append(claude.asked[-1].usage["cache_read_input_tokens"])
    assert read[0] == read[2] == 0
    assert read[1] > 2000


def post(
    claude: StandIn, body: Any, headers: dict[str, str | None] | None = None
) -> tuple[int, str]:
    """Return the status and, of an error in the API's shape, the message."""
    merged = HEADERS | BETA | (headers or {})
    given = {name: value for name, value in merged.items() if value is not None}
    sent = {"content": body} if isinstance(body, bytes) else {"json": body}
    answer = httpx2.post(f"{claude.url}/v1/messages", headers=given, **sent)
    if answer.status_code == 200:
        return 200, ""
    told = answer.json()
    assert told["type"] == "error"
    assert told["error"]["type"]
    return answer.status_code, str(told["error"]["message"])
