"""Endpoint definitions over real HTTP: what is sent, what comes back, what is not let through."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_toolcall import Session, Tool, from_definition
from jupyter_toolcall.core.errors import DefinitionError
from tests.example_tools import run_calls
from tests.standin.web import Answer, Asked, Web

PARAMETERS = {
    "name": {"type": "string"},
    "n": {"type": "integer"},
    "tags": {"type": "array"},
    "more": {"type": "object"},
    "yes": {"type": "boolean"},
}
JSON = {"Content-Type": "application/json; charset=utf-8"}


def definition(web: Web, method: str, location: str, path: str = "/x", **more: Any) -> Any:
    endpoint = {"url": f"{web.url}{path}", "method": method, "argument_location": location, **more}
    function = {"name": "call", "description": "Call it.", "parameters": PARAMETERS}
    return {"type": "endpoint", "tool": {"function": function}, "endpoint": endpoint}


def called(tool: Tool, arguments: dict[str, Any]) -> Session:
    return run_calls(tool, calls=[("call", arguments)])


def asked(
    method: str, location: str, arguments: dict[str, Any], path: str = "/x", **more: Any
) -> Asked:
    """Return what a server was asked by a call with these arguments."""
    with Web() as web:
        made = {**definition(web, method, location, path), **more}
        session = called(from_definition(made, allow_hosts=(web.host,)), arguments)
    assert session.calls[0].error == ""
    (found,) = web.asked
    return found


def answered(answer: Answer | Callable[[Asked], Answer], **more: Any) -> Any:
    """Return the result of a call that a server answers so, or else its error."""
    routes = answer if callable(answer) else lambda asked: answer
    with Web(routes) as web:
        made = definition(web, "get", "query", **more)
        call = called(from_definition(made, allow_hosts=(web.host,)), {}).calls[0]
    return call.error if call.status == "failed" else call.result


# -- where arguments stand --------------------------------------------------------------


MIXED = {"name": "a&b#c?/", "tags": ["x", 2], "more": {"k": 1}, "yes": False}
IN_URL = "/x?name=a%26b%23c%3F%2F&tags=x&tags=2&more=%7B%22k%22%3A1%7D&yes=false"
WORDS = {"name": "a&b=c ☃", "n": 7, "yes": True}
FORM = b"name=a%26b%3Dc+%E2%98%83&n=7&yes=true"


@pytest.mark.parametrize(
    ("methods", "location", "path", "arguments", "sent", "kind", "body"),
    [
        (("post", "put"), "body", "/x", MIXED, "/x", "application/json", MIXED),
        (("post",), "form", "/x", WORDS, "/x", "application/x-www-form-urlencoded", FORM),
        (("get", "post", "put", "delete"), "query", "/x", MIXED, IN_URL, None, b""),
        (("get",), "query", "/x?key=v", {"n": 1}, "/x?key=v&n=1", None, b""),
        (("get",), "query", "/x", {}, "/x", None, b""),
        (("get",), "path", "/p/{name}/{n}", {**WORDS, "name": "A"}, "/p/A/7?yes=true", None, b""),
    ],
)
def test_each_argument_is_sent_in_its_place(
    methods: tuple[str, ...],
    location: str,
    path: str,
    arguments: dict[str, Any],
    sent: str,
    kind: str | None,
    body: Any,
) -> None:
    for method in methods:
        found = asked(method, location, arguments, path)
        assert (found.method, found.path) == (method.upper(), sent)
        assert found.headers.get("content-type") == kind
        assert body == (json.loads(found.body) if isinstance(body, dict) else found.body)


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        *(("a b", "a%20b"), ("../../admin", "..%2F..%2Fadmin"), ("x?a=1#y", "x%3Fa%3D1%23y")),
        *(("a%2Fb", "a%252Fb"), ("x@evil.example:80", "x%40evil.example%3A80")),
        *(("Zoë\n", "Zo%C3%AB%0A"), ("{n}", "%7Bn%7D"), ("a\\b", "a%5Cb")),
    ],
)
def test_an_argument_can_neither_leave_nor_end_its_part_of_the_path(said: str, sent: str) -> None:
    assert asked("get", "path", {"name": said}, "/p/{name}/end").path == f"/p/{sent}/end"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        *(({"name": s}, f"name: {s!r} cannot stand in the path") for s in ("..", ".", "", " ")),
        ({"name": ["a"]}, "name: stands in the URL, so it has to be a text or a number"),
        ({"name": {}}, "name: stands in the URL, so it has to be a text or a number"),
        ({}, "name: stands in the URL, so it has to be a text or a number"),
    ],
)
def test_a_part_of_a_path_is_a_word_and_no_step_up(arguments: dict[str, Any], error: str) -> None:
    with Web() as web:
        made = definition(web, "get", "path", "/p/{name}/end")
        made["tool"]["function"]["parameters"] = {"name": {}}
        call = called(from_definition(made, allow_hosts=(web.host,)), arguments).calls[0]
    assert error in call.error
    assert not web.asked


def test_defaults_are_sent_and_what_is_removed_is_not() -> None:
    defaults = {"name": "@remove", "city": "@override The {name}", "env": "{vars.env}"}
    with Web() as web:
        made = {**definition(web, "get", "query"), "defaults": defaults}
        tool = from_definition(made, allow_hosts=(web.host,), variables={"env": "test"})
        session = called(tool, {"name": "Bronx"})
    assert web.asked[0].path == "/x?city=The+Bronx&env=test"
    assert session.calls[0].arguments == {"city": "The Bronx", "env": "test"}


def test_headers_are_filled_in_when_they_are_sent_and_are_not_quoted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_DOOR", "canary-4711")
    headers = {"Authorization": "Bearer ${SHOP_DOOR}", "X-Plain": "canary-4712"}
    with Web(lambda asked: Answer(b"no canary-4711 nor canary-4712", 403)) as web:
        made = definition(web, "get", "query")
        session = called(from_definition(made, allow_hosts=(web.host,), headers=headers), {})
        assert session.calls[0].error == "GET /x answered 403 Forbidden: no [secret] nor [secret]"
    assert web.asked[0].headers["authorization"] == "Bearer canary-4711"
    assert "canary" not in session.journal.dumps()


# -- what an answer means -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (Answer(b'{"a": [1, null]}', headers=JSON), {"a": [1, None]}),
        (Answer(b"7", 201, {"Content-Type": "application/problem+json"}), 7),
        (Answer(b'{"a": 1}', headers={"Content-Type": "text/plain"}), '{"a": 1}'),
        (Answer("naïve".encode(), headers={"Content-Type": "text/html"}), "naïve"),
        (Answer(b"caf\xe9", headers={"Content-Type": "text/plain; charset=latin-1"}), "café"),
        (Answer(b"no type"), "no type"),
        (Answer(b"", 204), None),
    ],
)
def test_json_is_data_and_text_is_text(answer: Answer, result: Any) -> None:
    assert answered(answer) == result


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            Answer(b'{"error": "no\nsuch"}', 404, JSON),
            'GET /x answered 404 Not Found: {"error": "no such"}',
        ),
        (Answer(b"", 500), "GET /x answered 500 Internal Server Error"),
        (Answer(b"x" * 5000, 503), f"GET /x answered 503 Service Unavailable: {'x' * 500}…"),
        (Answer(b"who?", 499), "GET /x answered 499: who?"),
        (Answer(b"as before", 304), "GET /x answered 304 Not Modified"),
        (Answer(b"<html>", headers=JSON), "the answer is no JSON: '<html>'"),
        (Answer(b"[" * 100_000, headers=JSON), f"the answer is no JSON: '{'[' * 500}'"),
        (
            Answer(b"\x89PNG\0\0", headers={"Content-Type": "image/png"}),
            "the answer is image/png data, neither JSON nor text",
        ),
    ],
)
def test_a_failure_and_what_is_neither_json_nor_text_fail(answer: Answer, said: str) -> None:
    # The query, which holds arguments, is not quoted.
    assert answered(answer, path="/x?name=secret") == said


# -- what is not let through ----------------------------------------------------------------


def test_without_allowed_hosts_nothing_is_sent_and_the_error_says_what_to_write() -> None:
    with Web() as web:
        call = called(from_definition(definition(web, "get", "query")), {}).calls[0]
    assert call.status == "failed"
    assert call.error == (
        f'{web.host} is not allowed; from_definition(..., allow_hosts=("{web.host}",)) allows it'
    )
    assert not web.asked


@pytest.mark.parametrize(
    "hosts", [7, [7], ["https://a.example/"], "a b", [""], ["a.example/x"], ["me@a.example"]]
)
def test_what_is_no_host_is_refused_when_the_definition_is_read(hosts: Any) -> None:
    said = r'allow_hosts: .*; give \(?"api\.example\.org"'
    with Web() as web, pytest.raises(DefinitionError, match=said):
        from_definition(definition(web, "get", "query"), allow_hosts=hosts)


def test_one_host_may_be_given_as_it_is() -> None:
    with Web() as web:
        tool = from_definition(definition(web, "get", "query"), allow_hosts="127.0.0.1")
        assert called(tool, {}).calls[0].result == "hello"


def test_the_timeout_of_a_definition_is_for_the_whole_answer() -> None:
    with Web() as web:
        web.routes = lambda asked: Answer(web.until_closed())
        made = definition(web, "get", "query", timeout=0.3)
        call = called(from_definition(made, allow_hosts=(web.host,)), {}).calls[0]
    assert call.error == f"{web.host} gave no whole answer in 0.3 seconds"
