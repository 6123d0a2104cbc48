"""The stand-in for chat completions refuses what real servers refuse: one test for each rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.standin.model_api import Refused
from tests.standin.openai_rules import check
from tests.standin.turns import Json


def call(call_id: str = "a", name: str = "peel", arguments: str = "{}") -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*given: Json) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(given)}


def answer(call_id: str = "a") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


def tool(name: str = "peel", **fields: Any) -> Json:
    parameters = {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **fields}}


USER = {"role": "user", "content": "Go."}
SYSTEM = {"role": "system", "content": "You peel."}
SAID = {"role": "assistant", "content": "Yes."}
GOOD: Json = {
    "model": "m",
    "messages": [SYSTEM, USER, calls(call(), call("b")), answer(), answer("b"), SAID, USER],
    "tools": [tool()],
    "stream": True,
    "stream_options": {"include_usage": True},
}


def test_a_good_request_is_taken() -> None:
    check(GOOD)


REFUSED: dict[str, list[tuple[Any, str]]] = {
    "messages": [
        ([SYSTEM], "user message comes first"),
        ([USER, USER], "must alternate"),
        ([USER, SAID], "last one is the assistant's"),
        ([{"role": "user", "content": " "}], "is empty"),
        ([{"role": "user", "content": "Go.", "mood": "good"}], "has no 'mood'"),
        ([USER, {"role": "assistant", "content": None}, USER], "content or calls"),
        ([USER, calls(call(), call("b")), answer(), USER], "no answer to b"),
        ([USER, calls(call(), call("b")), answer("b"), answer()], "answered before"),
        ([USER, calls(call()), answer("z")], "no call before it"),
        ([USER, calls(call()), {"role": "tool", "content": "ok"}], "has a tool_call_id"),
        ([USER, calls(call(), call()), answer()], "two calls with one id"),
        ([USER, calls(call("x" * 41)), answer("x" * 41)], "1 to 40 characters"),
        ([USER, calls(call(name="a b")), answer()], "does not match"),
        ([USER, calls(call(arguments='{"a": NaN}')), answer()], "no JSON object"),
        ([USER, calls({"id": "a", "function": {}}), answer()], "arguments as a string"),
    ],
    "tools": [
        ([], "not empty"),
        ([tool(f"t{n}") for n in range(129)], "at most 128"),
        ([tool("Potato#1")], "does not match"),
        ([tool(), tool()], "unique"),
        ([tool(description="x" * 1025)], "1 to 1024"),
        ([tool(input_schema={})], "unknown parameter"),
        ([tool(parameters={"type": "object", "properties": {}, "anyOf": []})], "no anyOf"),
    ],
    "model": [("", "name a model")],
    "stream": [(False, "goes with stream")],
    "system": [("You peel.", "Unknown parameter")],
}
"""Values of the fields of a request that are not exact, and why the API refuses them."""


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [(field, value, why) for field, values in REFUSED.items() for value, why in values],
)
def test_a_field_that_is_not_exact_is_refused(field: str, value: Any, why: str) -> None:
    with pytest.raises(Refused) as refused:
        check({**GOOD, field: value})
    assert why in refused.value.message


@pytest.mark.parametrize("field", ["model", "messages", "tools"])
def test_a_field_that_is_missing_is_refused(field: str) -> None:
    body = {key: value for key, value in GOOD.items() if key != field}
    with pytest.raises(Refused):
        check({**body, "tool_choice": "auto"} if field == "tools" else body)
