"""What is sent to a server of chat completions, and what is made of its answer."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.models.named import model_named
from jupyter_toolcall.models.openai import OpenAI, server_and_key
from jupyter_toolcall.schemes.messages import (
    Assistant,
    Attempt,
    Message,
    Reply,
    Request,
    Result,
    Results,
    Sent,
    User,
)
from jupyter_toolcall.tools.tool import Tool
from tests.example_tools import fries_session
from tests.models.test_provider_sessions import COOKED, TOOLS
from tests.standin.openai_api import KEY, MODEL, StandIn
from tests.standin.openai_rules import check
from tests.standin.openai_turns import DIALECTS, chunk, encode
from tests.standin.turns import Think, Turn, Use, says
from tests.standin.web import Answer, Web

Json = dict[str, Any]


def a_tool(name: str, description: str = "") -> Tool:
    return Tool(name, description, {"type": "object", "properties": {"n": {"type": "integer"}}})


PEEL, CUT = a_tool("peel", "Peel it."), a_tool("cut")
GO = Request("You cook.", (PEEL, CUT), (User("Go."),))


def body(request: Request, **options: Any) -> Json:
    """Return the body of a request, once the strict server has taken it."""
    made = OpenAI(MODEL, **options).body(request)
    check(json.loads(json.dumps(made)))
    return made


def names(made: Json) -> list[str]:
    return [tool["function"]["name"] for tool in made["tools"]]


def after(*messages: Message) -> list[Json]:
    """Return the messages that are sent behind the system's and the prompt."""
    sent: list[Json] = body(replace(GO, messages=(User("Go."), *messages)))["messages"]
    return sent[2:]


# -- what is sent ---------------------------------------------------------------------------


def test_a_first_request_has_the_system_the_prompt_and_the_tools() -> None:
    assert body(GO) == {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "You cook."},
            {"role": "user", "content": "Go."},
        ],
        "tools": [
            {"type": "function", "function": {"name": "cut", "parameters": dict(CUT.parameters)}},
            {
                "type": "function",
                "function": {
                    "name": "peel",
                    "description": "Peel it.",
                    "parameters": dict(PEEL.parameters),
                },
            },
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_is_empty_is_left_out() -> None:
    assert set(body(Request("", (), (User("Go."),)))) == {
        "model",
        "messages",
        "stream",
        "stream_options",
    }
    bare = Tool("bare", "", {})
    function = body(Request("", (bare,), (User("Go."),)))["tools"][0]["function"]
    assert function == {"name": "bare", "parameters": {"type": "object", "properties": {}}}


def test_calls_without_text_are_answered_in_call_order_and_news_come_behind() -> None:
    calls = (Call("a", "peel", {"n": 1}), Call("b", "cut", {"ü": None}))
    results = (Result("a", '{"made": "P#1"}'), Result("b", '{"error": "no knife"}', True))
    assert after(Assistant("", calls), Results(results, news="A tool is new.")) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "peel", "arguments": '{"n": 1}'},
                },
                {
                    "id": "b",
                    "type": "function",
                    "function": {"name": "cut", "arguments": '{"ü": null}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"made": "P#1"}'},
        {"role": "tool", "tool_call_id": "b", "content": '{"error": "no knife"}'},
        {"role": "user", "content": "A tool is new."},
    ]


def test_an_error_says_so_in_its_content_since_there_is_no_field_for_it() -> None:
    failed = Results((Result("a", "no knife", True), Result("b", '{"error": "x"}', True)))
    sent = after(Assistant("", (Call("a", "cut"), Call("b", "cut"))), failed)
    assert [json.loads(message["content"]) for message in sent[1:3]] == [
        {"error": "no knife"},
        {"error": "x"},
    ]


def test_turns_alternate_whatever_the_session_held() -> None:
    said, nothing = Assistant("Yes."), Assistant("  ")
    sent = after(User("And you?"), said, said, nothing, User(" "), User("Well?"), said)
    assert [(message["role"], message["content"]) for message in sent] == [
        ("assistant", "Yes."),
        ("user", "Go on."),
        ("assistant", "Yes."),
        ("user", "Well?"),
        ("assistant", "Yes."),
        ("user", "Go on."),
    ]


def test_a_call_that_was_broken_or_misnamed_goes_back_in_a_form_that_servers_read() -> None:
    calls = (
        Call("a", "peel", {}, broken="the arguments are not valid JSON"),
        Call("b", "no such tool!", {}),
        Call("c", "", {}),
        Call("d", "x" * 70, {}),
    )
    results = Results(tuple(Result(call.id, "no", True) for call in calls))
    functions = [call["function"] for call in after(Assistant("", calls), results)[0]["tool_calls"]]
    assert [function["arguments"] for function in functions] == ["{}"] * 4
    assert [function["name"] for function in functions] == ["peel", "no_such_tool_", "_", "x" * 64]


def test_ids_of_other_models_that_are_too_long_stay_apart() -> None:
    calls = (Call("x" * 50 + "1", "peel"), Call("x" * 50 + "2", "peel"))
    results = Results(tuple(Result(call.id, "ok") for call in calls))
    sent = after(Assistant("", calls), results)
    ids = [call["id"] for call in sent[0]["tool_calls"]]
    assert [message["tool_call_id"] for message in sent[1:3]] == ids
    assert len(set(ids)) == 2


def test_a_description_that_is_longer_than_openai_takes_is_told_by_the_system() -> None:
    long = "Finds é.\n" + "- one more\n" * 200
    made = body(replace(GO, tools=(a_tool("find", long), CUT)))
    described = {tool["function"]["name"]: tool["function"] for tool in made["tools"]}
    assert described["find"]["description"] == "Finds é. (More: see the system message.)"
    system = made["messages"][0]
    assert system == {"role": "system", "content": f"You cook.\n\nThe tool find: {long.strip()}"}


def test_schemas_keep_their_definitions_and_patterns() -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/P"}, "o": {"type": "string", "pattern": "^P#[1-9]$"}},
        "$defs": {"P": {"type": "object", "properties": {}}},
        "required": ["p"],
        "additionalProperties": False,
    }
    sent = body(replace(GO, tools=(Tool("peel", "", schema),)))
    assert sent["tools"][0]["function"]["parameters"] == schema


def test_tools_that_come_into_view_later_stand_behind_those_before() -> None:
    first = body(Request("", tuple(map(a_tool, ("select", "b", "z"))), (User("Go."),)))
    sent = tuple(Sent(t.name, t.description, t.parameters) for t in map(a_tool, "bz"))
    more = Sent("select", "", PEEL.parameters), Sent("y", "", PEEL.parameters, turn=1)
    said = Assistant("Yes."), User("And?")
    tools = tuple(map(a_tool, ("select", "a", "b", "c", "y", "z")))
    later = body(Request("", tools, (User("Go."), *said), first=(*sent, *more), turn=2))
    assert names(first) == ["b", "select", "z"]
    assert names(later) == ["b", "z", "select", "y", "a", "c"]
    assert later["messages"][: len(first["messages"])] == first["messages"]


def test_a_tool_keeps_its_first_description_until_its_arguments_change() -> None:
    sent = Sent("peel", "At first.", PEEL.parameters), Sent("cut", "At first.", {})
    made = body(replace(GO, first=sent, turn=1))
    assert names(made) == ["peel", "cut"]
    functions = [tool["function"] for tool in made["tools"]]
    assert functions[0]["description"] == "At first."
    assert functions[1] == {"name": "cut", "parameters": dict(CUT.parameters)}


def test_a_tool_that_is_not_offered_is_not_sent() -> None:
    assert names(body(replace(GO, first=(Sent("bake", "", {}),)))) == ["cut", "peel"]


def test_further_fields_of_the_api_are_sent_as_they_are() -> None:
    options = {"temperature": 0, "seed": 7, "parallel_tool_calls": False}
    sent = body(GO, options=options)
    assert {key: sent[key] for key in options} == options
    assert "parallel_tool_calls" not in body(GO)


def test_half_a_character_is_sent_as_one_that_is_whole() -> None:
    broken = replace(GO, system="\ud83e", messages=(User("\udd54 Go."),))
    assert json.dumps(body(broken), ensure_ascii=False).encode()


def test_the_body_that_is_shown_is_the_body_that_is_sent(openai: StandIn) -> None:
    openai.turns.append(says("here"))
    with openai.model() as model:
        model(GO)
        assert openai.asked[0].body == model.body(GO)


# -- what is answered -----------------------------------------------------------------------

COOK = says("Zwei 🥔.", Use("peel", {"n": 1, "x": "a\u2028b"}), Use("cut", {"n": [1, {"ü": None}]}))


@pytest.mark.parametrize("piece", [1, 3, 1000])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_calls_are_read_in_every_dialect(openai: StandIn, dialect: str, piece: int) -> None:
    openai.turns.append(replace(COOK, dialect=dialect, piece=piece))
    heard: list[str] = []
    with openai.model(on_text=heard.append) as model:
        reply = model(GO)
    assert [(call.tool, call.arguments, call.broken) for call in reply.calls] == [
        ("peel", {"n": 1, "x": "a\u2028b"}, ""),
        ("cut", {"n": [1, {"ü": None}]}, ""),
    ]
    assert (reply.text, reply.stop) == ("Zwei 🥔.", "tools")
    assert "".join(heard) == "Zwei 🥔."
    ids = [call.id for call in reply.calls]
    assert ids == (["", ""] if dialect == "no ids" else ["call_0001", "call_0002"])


@pytest.mark.parametrize(
    "dialect", ["openai", "whole", "zero", "unnumbered", "names again", "stop"]
)
def test_an_id_used_twice_is_two_calls_all_the_same(openai: StandIn, dialect: str) -> None:
    uses = (Use("peel", {"n": 1}, id="a"), Use("peel", {"n": 2}, id="a"))
    openai.turns.append(says(*uses, dialect=dialect))
    with openai.model() as model:
        assert [call.arguments for call in model(GO).calls] == [{"n": 1}, {"n": 2}]


def test_the_one_call_that_replies_had_before_is_read_too(openai: StandIn) -> None:
    pieces = [{"name": "peel", "arguments": ""}, {"arguments": '{"n"'}, {"arguments": ": 1}"}]
    raw = b"".join(encode(chunk({"function_call": piece})) for piece in pieces)
    openai.turns.append(Turn(raw=raw + encode(chunk({}, "function_call"))))
    with openai.model() as model:
        assert model(GO) == Reply(calls=(Call("", "peel", {"n": 1}),), stop="tools")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_what_it_thinks_aloud_is_shown_and_not_sent_back(openai: StandIn, name: str) -> None:
    openai.turns.append(says("Yes.", Think("Hm, ja."), thought_field=name))
    with openai.model() as model:
        reply = model(GO)
    assert (reply.thought, reply.text, reply.raw) == ("Hm, ja.", "Yes.", None)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_what_it_thinks_aloud_goes_back_where_that_is_asked_for(openai: StandIn, name: str) -> None:
    openai.turns.append(says(Use("peel"), Think("Hm, ja."), thought_field=name))
    with openai.model(keep_thoughts=True) as model:
        reply = model(GO)
        said = Assistant(reply.text, reply.calls, reply.raw)
        more = replace(GO, messages=(*GO.messages, said, Results((Result("call_0001", "ok"),))))
        assert model.body(more)["messages"][2][name] == "Hm, ja."


def test_the_same_thought_in_two_fields_is_told_once(openai: StandIn) -> None:
    both = encode(chunk({"reasoning": "Hm.", "reasoning_content": "Hm."}))
    openai.turns.append(Turn(raw=both + encode(chunk({"content": "Yes."}, "stop"))))
    with openai.model() as model:
        assert model(GO).thought == "Hm."


@pytest.mark.parametrize(
    ("turn", "stop", "text"),
    [
        (says("Yes."), "end", "Yes."),
        (says("Yes.", stop="tool_calls"), "end", "Yes."),
        (says("Yes, b", stop="length"), "length", "Yes, b"),
        (says("Yes, b", Use("peel", raw='{"n'), stop="length"), "length", "Yes, b"),
        (says("Never", stop="content_filter"), "refused", "Never"),
        (says(refusal="I can't."), "refused", "I can't."),
        (says(""), "end", ""),
    ],
)
def test_why_it_stopped_is_told(openai: StandIn, turn: Turn, stop: str, text: str) -> None:
    openai.turns.append(turn)
    with openai.model() as model:
        reply = model(GO)
    assert (reply.stop, reply.text) == (stop, text)


def test_text_that_ends_properly_needs_no_reason_but_calls_do(openai: StandIn) -> None:
    openai.turns += [says("Yes.", stop=None), says("Yes.", Use("peel"), stop=None)]
    with openai.model() as model:
        reply = model(GO)
        assert (reply.text, reply.stop) == ("Yes.", "end")
        with pytest.raises(ModelError, match="cut off"):
            model(GO)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, 2)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 1},
            },
            Usage(9, 2, 8, 1),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, Usage(9, 0, 4)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(9)),
        ({"prompt_tokens": None, "completion_tokens": "2"}, Usage()),
        (None, None),
    ],
)
def test_tokens_are_counted(openai: StandIn, usage: Json | None, told: Usage | None) -> None:
    last = encode(chunk(None, usage=usage))
    openai.turns.append(Turn(raw=encode(chunk({"content": "Yes."}, "stop")) + last))
    with openai.model() as model:
        assert model(GO).usage == told


def test_a_server_that_does_not_count_tokens_is_asked_once_more_without() -> None:
    api = StandIn([says("Yes."), says("No.")], counts=False)
    with api.model() as model:
        model.patience = replace(model.patience, tries=2, sleep=lambda wait: None)
        told: list[str] = []
        model.on_wait = told.append
        first = model(GO)
        assert model(GO).attempts == ()
    assert (first.text, first.usage) == ("Yes.", None)
    assert first.attempts == (Attempt("the server does not count tokens in a stream", 0),)
    assert len(told) == 1
    assert ["stream_options" in heard.body for heard in api.asked] == [True, False, False]


# -- errors and other answers -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "full"}}, "full"),
        ({"error": "full"}, "full"),
        ({"object": "error", "message": "full", "code": 400}, "full"),
        ({"detail": "full"}, "full"),
        ({"detail": [{"loc": ["body", "tools"], "msg": "full"}]}, "body.tools: full"),
        ("full\nof it", "full of it"),
        ([1], "(400)"),
        ({}, "(400)"),
    ],
)
def test_the_words_of_an_error_are_found_in_every_form(body: Any, words: str) -> None:
    data = body if isinstance(body, str) else json.dumps(body)
    answer = Answer(data.encode(), 400, {"content-type": "application/json"})
    with (
        Web(lambda asked: answer) as web,
        StandIn().sdk(base_url=web.url, max_retries=0) as client,
        pytest.raises(ModelError) as told,
    ):
        OpenAI(MODEL, client=client)(GO)
    assert words in str(told.value)


START = encode(chunk({"role": "assistant", "content": "Ja."}))
END = encode(chunk({}, "tool_calls"))


@pytest.mark.parametrize(
    "raw",
    [
        START + END + encode(chunk({})) + encode(chunk({"content": ""})),
        encode({"object": "ping"}) + START + encode({"choices": []}) + END,
        b"\n: keep-alive\n\nid: 3\nevent: message\n" + START + END,
        START + encode(chunk({"content": None, "tool_calls": None, "refusal": None})) + END,
        START + encode({"choices": [{"index": 1, "delta": {"content": "two"}}]}) + END,
        START + encode({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        START.replace(b'"Ja."', b'[{"type": "text", "text": "Ja."}]') + END,
    ],
)
def test_what_servers_send_beside_a_reply_is_passed_over(openai: StandIn, raw: bytes) -> None:
    openai.turns.append(Turn(raw=raw))
    with openai.model() as model:
        reply = model(GO)
    assert (reply.text, reply.stop, reply.calls) == ("Ja.", "end", ())


def test_an_address_that_answers_something_else_is_named(openai: StandIn) -> None:
    openai.turns.append(Turn(raw=b"<html>", headers=(("content-type", "text/html"),)))
    with openai.model() as model, pytest.raises(ModelError) as told:
        model(GO)
    assert str(told.value) == f"{openai.url} answers no chat completions: check the base URL"


# -- sessions ---------------------------------------------------------------------------------


def test_each_request_continues_from_the_last_one_and_new_tools_stand_behind() -> None:
    api = StandIn(COOKED["select"])
    with api.model() as model:
        fries_session(model).tell("Make fries.")
    for before, after in pairwise(api.bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"][: len(before["tools"])] == before["tools"]
    expected = ["save", "selectTools", *sorted(TOOLS[:3]), *sorted(TOOLS[3:])]
    assert names(api.bodies[-1]) == expected


def test_ids_that_come_twice_or_not_at_all_in_a_reply_are_told_apart() -> None:
    uses = (Use("Potato_peel", {"Potato": "Potato#1"}, id=id_) for id_ in ("a", "a", "", "a b"))
    api = StandIn([says(*uses, dialect="whole"), says("Peeled."), says("Enough.")])
    with api.model() as model:
        session = fries_session(model, "flat").tell("Peel it.")
    ids = [call.id for call in session.calls]
    assert len({*ids}) == 4
    assert {call.status for call in session.calls} == {"succeeded"}
    assert [result.call for result in api.results()] == ids
    assert api.refused == []


# -- where it is asked ----------------------------------------------------------------------


def test_the_model_has_a_name_and_asks_for_nothing_before_its_first_call() -> None:
    model = model_named("openai:gpt-6-sol")
    assert isinstance(model, OpenAI)
    assert (model.name, repr(model)) == ("openai:gpt-6-sol", "OpenAI('gpt-6-sol')")


@pytest.mark.parametrize(
    ("base_url", "key", "environment", "url", "sent"),
    [
        (None, None, {"OPENAI_API_KEY": "k"}, "https://api.openai.com/v1", "k"),
        (None, "own", {"OPENAI_API_KEY": "k"}, "https://api.openai.com/v1", "own"),
        ("http://localhost:11434", None, {}, "http://localhost:11434/v1", "none"),
        ("http://localhost:11434/", None, {}, "http://localhost:11434/v1", "none"),
        ("http://127.0.0.1:8080/v1/", None, {}, "http://127.0.0.1:8080/v1", "none"),
        ("http://[::1]:8080/v1", None, {}, "http://[::1]:8080/v1", "none"),
        ("http://192.168.1.9/api", None, {}, "http://192.168.1.9/api", "none"),
        ("http://ollama:11434", None, {}, "http://ollama:11434/v1", "none"),
        ("http://mini.local/v1", None, {}, "http://mini.local/v1", "none"),
        ("http://localhost/v1", None, {"OPENAI_API_KEY": "k"}, "http://localhost/v1", "none"),
        ("http://localhost/v1", "own", {}, "http://localhost/v1", "own"),
        (None, None, {"OPENAI_BASE_URL": "http://localhost/v1"}, "http://localhost/v1", "none"),
        (
            None,
            None,
            {"OPENAI_BASE_URL": "http://localhost/v1", "OPENAI_API_KEY": "k"},
            "http://localhost/v1",
            "k",
        ),
        (
            "https://api.example.org/v1",
            None,
            {"OPENAI_API_KEY": "k"},
            "https://api.example.org/v1",
            "k",
        ),
    ],
)
def test_a_server_is_found_and_gets_the_key_that_is_meant_for_it(
    base_url: str | None, key: str | None, environment: dict[str, str], url: str, sent: str
) -> None:
    assert server_and_key(base_url, key, environment) == (url, sent)


@pytest.mark.parametrize(
    ("base_url", "why"),
    [
        (None, "OPENAI_API_KEY is not set.*OPENAI_BASE_URL.*http://localhost:11434/v1"),
        ("https://api.example.org/v1", r"OPENAI_API_KEY is not set.*api\.example\.org"),
        ("localhost:11434", "no address of a server.*http://localhost:11434/v1"),
        ("ftp://localhost", "no address of a server"),
        ("http://", "no address of a server"),
        ("http://localhost:notaport", "no address of a server"),
    ],
)
def test_what_has_to_be_set_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, base_url: str | None, why: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError, match=why) as told:
        OpenAI(MODEL, base_url=base_url)(GO)
    assert "\n" not in str(told.value)


def test_the_environment_names_the_server_and_the_key(
    openai: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", openai.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    openai.turns.append(says("here"))
    assert OpenAI(MODEL)(GO).text == "here"


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with StandIn([says("here")], key="none") as server:
        assert OpenAI(MODEL, base_url=server.url)(GO).text == "here"
        assert KEY not in str(server.asked)


def test_a_server_of_ones_own_that_does_not_run_is_named(openai: StandIn) -> None:
    openai.__exit__()
    with pytest.raises(ModelError, match=f"no server answers at {openai.url}: start it"):
        OpenAI(MODEL, base_url=openai.url)(GO)
