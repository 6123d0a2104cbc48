"""The stand-in for Anthropic's API does refuse what the API refuses: a test for each rule."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from tests.standin.anthropic_api import KEY, StandIn
from tests.standin.turns import Json, Think, Use, says

HEADERS = {"authorization": f"Bearer {KEY}", "anthropic-version": "2026-10-21"}
BETA = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn([says("fine")]) as server:
        yield server


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
        "system": [_text("Cook.") | MARK],
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


def test_a_good_request_is_taken(server: StandIn) -> None:
    assert post(server, good()) == (200, "")
    assert server.refused == []


Change = Callable[[Json], object]

RULES: dict[str, tuple[Change, str]] = {
    "an unknown parameter": (lambda b: b.update(temperature=0), "temperature: Extra"),
    "no max_tokens": (lambda b: b.pop("max_tokens"), "max_tokens: Field required"),
    "no model": (lambda b: b.pop("model"), "model: Field required"),
    "too many max_tokens": (lambda b: b.update(max_tokens=10**7), "max_tokens"),
    "no messages": (lambda b: b.update(messages=[]), "at least one message"),
    "the model speaks first": (lambda b: b["messages"].pop(0), "first message"),
    "an unknown role": (lambda b: b["messages"][0].update(role="tool"), "role"),
    "an empty message": (lambda b: b["messages"][0].update(content=[]), "non-empty content"),
    "an empty text": (lambda b: b["messages"][0].update(content=[_text("")]), "non-empty"),
    "a blank text": (lambda b: b["messages"][2]["content"].append(_text(" \n")), "non-empty"),
    "an empty system text": (lambda b: b.update(system=[_text("")]), "non-empty"),
    "an unknown block": (lambda b: b["messages"][0].update(content=[{"type": "x"}]), "tag 'x'"),
    "a block's unknown field": (lambda b: b["messages"][0]["content"][0].update(x=1), "Extra"),
    "a call by the user": (lambda b: b["messages"][0].update(content=[_use("c")]), "tag"),
    "a result by the model": (
        lambda b: b["messages"][1]["content"].append(_result("a")),
        "tag 'tool_result'",
    ),
    "the model speaks last": (lambda b: b["messages"].pop(), "prefill"),
    "thinking at the end": (
        lambda b: b["messages"][1].update(content=[_redacted()]),
        "final block",
    ),
    "an unanswered call": (lambda b: b["messages"][2]["content"].pop(0), "without `tool_result`"),
    "calls without any answer": (
        lambda b: b["messages"][2].update(content=[_text("Hello?")]),
        "without `tool_result`",
    ),
    "an answer in a later message": (
        lambda b: b["messages"].extend(
            [
                {"role": "assistant", "content": "Hm."},
                {"role": "user", "content": [b["messages"][2]["content"].pop(0)]},
            ]
        ),
        "tool_use",
    ),
    "text before results": (lambda b: b["messages"][2]["content"].insert(0, _text("x")), "first"),
    "text between results": (lambda b: b["messages"][2]["content"].insert(1, _text("x")), "first"),
    "one call answered twice": (
        lambda b: b["messages"][2]["content"].insert(0, _result("a")),
        "single result",
    ),
    "an unknown id": (
        lambda b: b["messages"][2]["content"].insert(0, _result("z")),
        "unexpected `tool_use_id`",
    ),
    "an id used twice": (
        lambda b: b["messages"][1]["content"].append(_use("a")),
        "ids must be unique",
    ),
    "a call's bad id": (lambda b: b["messages"][1]["content"][1].update(id="a#1"), "id: String"),
    "a call's bad name": (lambda b: b["messages"][1]["content"][1].update(name="a b"), "name"),
    "a call's bad input": (lambda b: b["messages"][1]["content"][1].update(input="x"), "object"),
    "a bad tool name": (lambda b: b["tools"][0].update(name="Potato#1"), "pattern"),
    "a long tool name": (lambda b: b["tools"][0].update(name="a" * 65), "pattern"),
    "two tools of one name": (lambda b: b["tools"][1].update(name="select"), "unique"),
    "a tool's unknown field": (lambda b: b["tools"][0].update(parameters={}), "Extra"),
    "a tool without a schema": (lambda b: b["tools"][0].pop("input_schema"), "input_schema"),
    "a schema of choices": (
        lambda b: b["tools"][0]["input_schema"].update(anyOf=[]),
        "at the top level",
    ),
    "only tools that wait": (lambda b: b["tools"].pop(0), "defer_loading=false"),
    "a breakpoint on a tool that waits": (lambda b: b["tools"][1].update(MARK), "defer_loading"),
    "a reference to an undeclared tool": (
        lambda b: b["messages"][2]["content"][0].update(content=[_reference("fry")]),
        "'fry' not found",
    ),
    "a reference beside text": (
        lambda b: b["messages"][2]["content"][0].update(content=[_reference("peel"), _text("x")]),
        "mixed",
    ),
    "a forced tool": (lambda b: b.update(tool_choice={"type": "any"}), "forced"),
    "a choice without tools": (
        lambda b: b.update(tools=[], tool_choice={"type": "auto"}),
        "while providing tools",
    ),
    "five breakpoints": (
        lambda b: [part.update(MARK) for turn in b["messages"] for part in turn["content"][:2]],
        "maximum of 4",
    ),
    "a strange breakpoint": (
        lambda b: b["system"][0].update(cache_control={"type": "forever"}),
        "cache_control",
    ),
    "an unknown way to think": (lambda b: b.update(thinking={"type": "hard"}), "thinking"),
    "no thinking": (lambda b: b.update(thinking={"type": "disabled"}), "cannot be disabled"),
    "a budget to think": (
        lambda b: b.update(thinking={"type": "enabled", "budget_tokens": 2000}),
        "budget",
    ),
    "adaptive thinking on an older model": (
        lambda b: b.update(model="claude-haiku-4-5"),
        "not supported",
    ),
    "waiting tools on an old model": (
        lambda b: (b.update(model="claude-opus-4-1"), b.pop("thinking")),
        "not supported",
    ),
    "thinking that nobody signed": (
        lambda b: b["messages"][1]["content"].insert(0, _thinking("made up")),
        "Invalid `signature`",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_stand_in_refuses(server: StandIn, rule: str) -> None:
    change, told = RULES[rule]
    body = good()
    change(body)
    status, message = post(server, body)
    assert status == 400
    assert told in message
    assert server.refused == [message]


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
    server: StandIn, headers: dict[str, str | None], status: int, told: str
) -> None:
    answer = post(server, good(), headers)
    assert answer[0] == status
    assert told in answer[1]


def test_the_stand_in_refuses_an_unknown_model_and_no_json(server: StandIn) -> None:
    assert post(server, good() | {"model": "gpt-6"}) == (404, "model: gpt-6")
    assert post(server, b"{")[0] == 400
    assert post(server, b" " * 32_000_001)[0] == 413


def test_the_stand_in_refuses_thinking_that_was_changed_or_moved(server: StandIn) -> None:
    body = good()
    server.turns = [says(Think("A thought."), Use("peel", id="c"))]
    assert post(server, body) == (200, "")
    (signature,) = server.thoughts.signed
    thought = {"type": "thinking", "thinking": "A thought.", "signature": signature}
    body["messages"] += [
        {"role": "assistant", "content": [thought, _use("c")]},
        {"role": "user", "content": [_result("c")]},
    ]
    server.turns = [says("fine")] * 4
    assert post(server, body) == (200, "")
    assert server.asked[-1].dropped == ()

    changed = copy.deepcopy(body)
    changed["messages"][3]["content"][0]["thinking"] += " "
    assert "cannot be modified" in post(server, changed)[1]

    for key, value in (("system", "Bake."), ("tools", [{**body["tools"][0], "description": "?"}])):
        moved = body | {key: value}
        assert post(server, moved) == (200, "")
        assert len(server.asked[-1].dropped) == 1
        strict = moved | {"thinking": {"type": "adaptive"}}
        assert "bound to a different conversation" in post(server, strict)[1]


def test_the_stand_in_omits_thinking_that_nobody_asked_to_see(server: StandIn) -> None:
    server.turns = [says(Think("A thought."))]
    assert post(server, good() | {"thinking": {"type": "adaptive"}}) == (200, "")
    assert [shown for _, shown in server.thoughts.signed.values()] == [""]


def test_the_stand_in_finds_only_what_is_the_same_from_the_start(server: StandIn) -> None:
    server.turns = [says("fine")] * 3
    body = good()
    body["system"][0]["text"] = "Cook well. " * 1000
    read = []
    for system in (body["system"], body["system"], [_text("!" + body["system"][0]["text"]) | MARK]):
        assert post(server, body | {"system": system}) == (200, "")
        read.append(server.asked[-1].usage["cache_read_input_tokens"])
    assert read[0] == read[2] == 0
    assert read[1] > 2000


def post(
    server: StandIn, body: Any, headers: dict[str, str | None] | None = None
) -> tuple[int, str]:
    """Return the status and, of an error in the API's shape, the message."""
    merged = HEADERS | BETA | (headers or {})
    given = {name: value for name, value in merged.items() if value is not None}
    sent = {"content": body} if isinstance(body, bytes) else {"json": body}
    answer = httpx2.post(f"{server.url}/v1/messages", headers=given, **sent)
    if answer.status_code == 200:
        return 200, ""
    told = answer.json()
    assert told["type"] == "error"
    assert told["error"]["type"]
    return answer.status_code, str(told["error"]["message"])


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
