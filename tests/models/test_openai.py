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
from tests.standin.turns import Json, Think, Turn, Use, says
from tests.standin.web import Answer, Web


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


def reply_to(server: StandIn, turn: Turn, **options: Any) -> Reply:
    """Return what a model makes of a turn of a server."""
    server.turns.append(turn)
    with server.model(**options) as model:
        reply: Reply = model(GO)
        return reply


# -- what is sent ---------------------------------------------------------------------------


def test_a_first_request_has_the_system_the_prompt_and_the_tools() -> None:
    schema = dict(PEEL.parameters) | {"$defs": {"P": {"type": "string", "pattern": "^P#[1-9]$"}}}
    peel = {"name": "peel", "description": "Peel it.", "parameters": schema}
    functions = {"name": "cut", "parameters": dict(CUT.parameters)}, peel
    assert body(replace(GO, tools=(Tool("peel", "Peel it.", schema), CUT))) == {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "You cook."},
            {"role": "user", "content": "Go."},
        ],
        "tools": [{"type": "function", "function": function} for function in functions],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_is_empty_is_left_out() -> None:
    bare = Request("", (Tool("bare", "", {}),), (User("Go."),))
    assert {*body(replace(bare, tools=()))} == {"model", "messages", "stream", "stream_options"}
    function = body(bare)["tools"][0]["function"]
    assert function == {"name": "bare", "parameters": {"type": "object", "properties": {}}}


def test_calls_are_answered_in_call_order_and_an_error_says_so_and_news_come_behind() -> None:
    calls = Call("a", "peel", {"n": 1}), Call("b", "cut", {"ü": None}), Call("c", "cut")
    errors = Result("b", "no knife", True), Result("c", '{"error": "x"}', True)
    results = Results((Result("a", '{"made": "P#1"}'), *errors), news="A tool is new.")
    sent = after(Assistant("", calls), results)
    assert (sent[0]["role"], sent[0]["content"]) == ("assistant", None)
    given = [*zip("abc", ["peel", "cut", "cut"], ['{"n": 1}', '{"ü": null}', "{}"], strict=True)]
    assert sent[0]["tool_calls"] == [
        {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call, name, arguments in given
    ]
    texts = ['{"made": "P#1"}', '{"error": "no knife"}', '{"error": "x"}']
    assert sent[1:] == [
        *(
            {"role": "tool", "tool_call_id": c, "content": text}
            for c, text in zip("abc", texts, strict=True)
        ),
        {"role": "user", "content": "A tool is new."},
    ]


def test_turns_alternate_whatever_the_session_held() -> None:
    said, nothing = Assistant("Yes."), Assistant("  ")
    sent = after(User("And you?"), said, said, nothing, User(" "), User("Well?"), said)
    assert [message["role"] for message in sent] == ["assistant", "user"] * 3
    assert [message["content"] for message in sent] == [
        "Yes.",
        "Go on.",
        "Yes.",
        "Well?",
        "Yes.",
        "Go on.",
    ]


def test_a_call_that_was_broken_or_misnamed_goes_back_in_a_form_that_servers_read() -> None:
    long = "x" * 50
    names_sent = {"peel": "peel", "no such tool!": "no_such_tool_", "": "_", "x" * 70: "x" * 64}
    ids = ["a", "b", f"{long}1", f"{long}2"]
    calls = tuple(Call(c, name, {}, broken="bad") for c, name in zip(ids, names_sent, strict=True))
    results = Results(tuple(Result(call.id, "no", True) for call in calls))
    sent = after(Assistant("", calls), results)
    functions = [call["function"] for call in sent[0]["tool_calls"]]
    assert [function["arguments"] for function in functions] == ["{}"] * 4
    assert [function["name"] for function in functions] == [*names_sent.values()]
    # Ids of other models that are too long stay apart.
    ids = [call["id"] for call in sent[0]["tool_calls"]]
    assert [message["tool_call_id"] for message in sent[1:5]] == ids
    assert len({*ids}) == 4


def test_a_description_that_is_longer_than_openai_takes_is_told_by_the_system() -> None:
    long = "Finds é.\n" + "- one more\n" * 200
    made = body(replace(GO, tools=(a_tool("find", long), CUT)))
    described = {tool["function"]["name"]: tool["function"] for tool in made["tools"]}
    assert described["find"]["description"] == "Finds é. (More: see the system message.)"
    system = made["messages"][0]
    assert system == {"role": "system", "content": f"You cook.\n\nThe tool find: {long.strip()}"}


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


FIRST: dict[str, Any] = {"peel": PEEL.parameters, "cut": {}, "no longer offered": {}}


def test_a_tool_keeps_its_first_description_until_its_arguments_change() -> None:
    sent = tuple(Sent(name, "At first.", schema) for name, schema in FIRST.items())
    made = body(replace(GO, first=sent, turn=1))
    assert names(made) == ["peel", "cut"]
    functions = [tool["function"] for tool in made["tools"]]
    assert functions[0]["description"] == "At first."
    assert functions[1] == {"name": "cut", "parameters": dict(CUT.parameters)}


def test_further_fields_of_the_api_are_sent_as_they_are() -> None:
    options = {"temperature": 0, "seed": 7, "parallel_tool_calls": False}
    sent = body(GO, options=options)
    assert {key: sent[key] for key in options} == options
    assert "parallel_tool_calls" not in body(GO)


def test_half_a_character_is_sent_as_one_that_is_whole() -> None:
    broken = replace(GO, system="\ud83e", messages=(User("\udd54 Go."),))
    assert json.dumps(body(broken), ensure_ascii=False).encode()


# -- what is answered -----------------------------------------------------------------------

COOK = says("Zwei 🥔.", Use("peel", {"n": 1, "x": "a\u2028b"}), Use("cut", {"n": [1, {"ü": None}]}))


@pytest.mark.parametrize("piece", [1, 3, 1000])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_calls_are_read_in_every_dialect(openai: StandIn, dialect: str, piece: int) -> None:
    heard: list[str] = []
    turn = replace(COOK, dialect=dialect, piece=piece)
    reply = reply_to(openai, turn, on_text=heard.append)
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
    reply = reply_to(openai, says(*uses, dialect=dialect))
    assert [call.arguments for call in reply.calls] == [{"n": 1}, {"n": 2}]


def test_the_one_call_that_replies_had_before_is_read_too(openai: StandIn) -> None:
    pieces = [{"name": "peel", "arguments": ""}, {"arguments": '{"n"'}, {"arguments": ": 1}"}]
    raw = b"".join(encode(chunk({"function_call": piece})) for piece in pieces)
    assert reply_to(openai, Turn(raw=raw + encode(chunk({}, "function_call")))) == Reply(
        calls=(Call("", "peel", {"n": 1}),), stop="tools"
    )


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_is_shown_and_sent_back_if_needed(openai: StandIn, name: str, keeps: bool) -> None:
    openai.turns.append(says("Yes.", Use("peel"), Think("Hm, ja."), thought_field=name))
    with openai.model(keep_thoughts=keeps) as model:
        reply = model(GO)
        said = Assistant(reply.text, reply.calls, reply.raw)
        later = replace(GO, messages=(*GO.messages, said, Results((Result("call_0001", "ok"),))))
        sent = model.body(later)["messages"][2]
    assert (reply.thought, reply.text, reply.raw is None) == ("Hm, ja.", "Yes.", not keeps)
    assert sent.get(name) == ("Hm, ja." if keeps else None)


def test_the_same_thought_in_two_fields_is_told_once(openai: StandIn) -> None:
    both = encode(chunk({"reasoning": "Hm.", "reasoning_content": "Hm."}))
    assert (
        reply_to(openai, Turn(raw=both + encode(chunk({"content": "Yes."}, "stop")))).thought
        == "Hm."
    )


@pytest.mark.parametrize(
    ("turn", "stop", "text"),
    [
        *((says("Yes."), "end", "Yes."), (says("Yes.", stop=None), "end", "Yes.")),
        (says("Yes.", stop="tool_calls"), "end", "Yes."),
        (says("Yes, b", stop="length"), "length", "Yes, b"),
        (says("Yes, b", Use("peel", raw='{"n'), stop="length"), "length", "Yes, b"),
        (says("Never", stop="content_filter"), "refused", "Never"),
        (says(refusal="I can't."), "refused", "I can't."),
        (says(""), "end", ""),
    ],
)
def test_why_it_stopped_is_told(openai: StandIn, turn: Turn, stop: str, text: str) -> None:
    reply = reply_to(openai, turn)
    assert (reply.stop, reply.text) == (stop, text)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, 2)),
        (
            {
                "prompt_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 1},
            },
            Usage(9, 0, 8, 1),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, Usage(9, 0, 4)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(9)),
        *(({"prompt_tokens": None, "completion_tokens": "2"}, Usage()), (None, None)),
    ],
)
def test_tokens_are_counted(openai: StandIn, usage: Json | None, told: Usage | None) -> None:
    last = encode(chunk(None, usage=usage))
    assert (
        reply_to(openai, Turn(raw=encode(chunk({"content": "Yes."}, "stop")) + last)).usage == told
    )


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
        *(({"error": {"message": "full"}}, "full"), ({"error": "full"}, "full")),
        *(({"message": "full", "code": 400}, "full"), ({"detail": "full"}, "full")),
        ({"detail": [{"loc": ["body", "tools"], "msg": "full"}]}, "body.tools: full"),
        *(("full\nof it", "full of it"), ([1], "(400)"), ({}, "(400)")),
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
    reply = reply_to(openai, Turn(raw=raw))
    assert (reply.text, reply.stop, reply.calls) == ("Ja.", "end", ())


def test_an_address_that_answers_something_else_is_named(openai: StandIn) -> None:
    with pytest.raises(ModelError) as told:
        reply_to(openai, Turn(raw=b"<html>", headers=(("content-type", "text/html"),)))
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


# -- where it is asked ----------------------------------------------------------------------


def test_the_model_has_a_name_and_asks_for_nothing_before_its_first_call() -> None:
    model = model_named("openai:gpt-6-sol")
    assert isinstance(model, OpenAI)
    assert (model.name, repr(model)) == ("openai:gpt-6-sol", "OpenAI('gpt-6-sol')")


OPENAI, LOCAL, OWN = "https://api.openai.com/v1", "http://localhost:11434/v1", "http://localhost/v1"
FOREIGN = "https://api.example.org/v1"


@pytest.mark.parametrize(
    ("base_url", "key", "environment", "url", "sent"),
    [
        *((None, "", "KEY", OPENAI, "k"), (None, "own", "KEY", OPENAI, "own")),
        *((LOCAL.removesuffix("/v1"), "", "", LOCAL, "none"), (f"{LOCAL}/", "", "", LOCAL, "none")),
        *((url, "", "", url, "none") for url in ("http://[::1]:8080/v1", "http://192.168.1.9/api")),
        *((f"http://{name}", "", "", f"http://{name}/v1", "none") for name in ("a:1", "a.local")),
        *((OWN, "", "KEY", OWN, "none"), (OWN, "own", "", OWN, "own")),
        *((None, "", "URL", OWN, "none"), (None, "", "URL KEY", OWN, "k")),
        (FOREIGN, "", "KEY", FOREIGN, "k"),
    ],
)
def test_a_server_is_found_and_gets_the_key_that_is_meant_for_it(
    base_url: str | None, key: str, environment: str, url: str, sent: str
) -> None:
    variables = {"KEY": ("OPENAI_API_KEY", "k"), "URL": ("OPENAI_BASE_URL", OWN)}
    given = dict(variables[name] for name in environment.split())
    assert server_and_key(base_url, key or None, given) == (url, sent)


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
def test_what_is_missing_is_one_line(
    monkeypatch: pytest.MonkeyPatch, base_url: str | None, why: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError, match=why) as told:
        OpenAI(MODEL, base_url=base_url)(GO)
    assert "\n" not in str(told.value)


def test_the_environment_names_the_server_and_a_server_of_ones_own_gets_no_key_of_it(
    openai: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with StandIn([says("here")], key="none") as own:
        assert OpenAI(MODEL, base_url=own.url)(GO).text == "here"
        assert KEY not in str(own.asked)
    monkeypatch.setenv("OPENAI_BASE_URL", openai.url)
    openai.turns.append(says("here"))
    assert OpenAI(MODEL)(GO).text == "here"
