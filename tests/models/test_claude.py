"""Claude over real HTTP, where all goes well: what is sent, kept and sent back."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Session, Tool, Toolbox
from jupyter_toolcall.core.digests import encode
from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.core.recorded_data import replace
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.provider_client import legal_key, own_key
from jupyter_toolcall.models.retrying import Patience
from jupyter_toolcall.schemes.messages import Assistant, Result, Results, User
from tests.standin.anthropic_api import NEWEST, StandIn
from tests.standin.anthropic_turns import encode as encode_event
from tests.standin.talk import a_tool, answered, asked, heard
from tests.standin.turns import Hide, Json, Think, Turn, Use, says

PEEL = a_tool("Potato_peel", "Peel a potato.", potato="string")
FRY = a_tool("fry", "Fry pieces.", pieces="string")
SELECT = a_tool("selectTools", "Gain tools. Objects: Potato#1", tools="array")

SAVE = a_tool("save", "Hand in the fries.", fries="string")


def test_thinking_is_sent_back_byte_for_byte_and_in_order(claude: StandIn) -> None:
    thought = 'Naïve? <b>\u2028 \\ " \n 🥔 ' * 20
    claude.turns += [says(Think(thought), "a", Hide("Zm9v"), Think("then"), _peel()), says("b")]
    with claude.model() as model:
        first = asked("Peel.", PEEL)
        reply = model(first)
        stored = json.loads(encode(reply.raw))
        model(answered(first, replace(reply, raw=stored), "Potato#2"))
    sent = claude.asked[1].body["messages"][1]["content"]
    kinds = ["thinking", "text", "redacted_thinking", "thinking", "tool_use"]
    assert [block["type"] for block in sent] == kinds
    assert sent[0]["thinking"] == thought
    assert sent[0]["signature"] in claude.thoughts.signed
    assert (claude.refused, claude.asked[1].dropped) == ([], ())


def test_a_turn_that_another_model_said_or_whose_calls_changed_is_rebuilt(claude: StandIn) -> None:
    claude.turns += [says(Think("Hm."), "Peeling.", _peel()), says("a"), says("b"), says("c")]
    with claude.model() as model, claude.model("claude-sonnet-5-5") as other:
        first = asked("Peel.", PEEL)
        reply = model(first)
        other(answered(first, reply, "Potato#2"))
        model(answered(first, replace(reply, raw={"choices": []}), "Potato#2"))
        renamed = replace(reply, calls=(replace(reply.calls[0], id="renamed"),))
        model(answered(first, renamed, "Potato#2"))
    for asked_ in claude.asked[1:]:
        said = asked_.body["messages"][1]["content"]
        assert [block["type"] for block in said] == ["text", "tool_use"]
    assert said[1]["id"] == "renamed"
    assert claude.refused == []


def test_the_kernels_interrupt_ends_a_wait_for_the_model_at_once(claude: StandIn) -> None:
    def interrupt() -> None:
        assert claude.stalled.wait(10)
        os.kill(os.getpid(), signal.SIGINT)

    claude.reading = 60
    claude.turns += [says(cut=0, stalls=True, hard=True), says("again")]
    kernel = threading.Thread(target=interrupt)
    with claude.model() as model:
        kernel.start()
        with pytest.raises(KeyboardInterrupt):
            model(asked("Go."))
        kernel.join()
        assert claude.left.wait(10), "the connection is still open"
        assert model(asked("Go.")).text == "again"


def test_what_a_selection_says_besides_ok_follows_the_results(claude: StandIn) -> None:
    claude.turns += [says(Use("selectTools", {"tools": ["Potato_peel", "peal"]})), says("ok")]
    with claude.model(strategy="reference") as model:
        first = asked("Peel.", SELECT, deferred=(PEEL,))
        reply = model(first)
        partly = Result(reply.calls[0].id, "no tool peal", selected=("Potato_peel", "gone"))
        model(answered(first, reply, partly, news="Be quick."))
    blocks = claude.asked[1].body["messages"][2]["content"]
    assert blocks[0]["content"] == [{"type": "tool_reference", "tool_name": "Potato_peel"}]
    assert [block["text"] for block in blocks[1:]] == ["no tool peal", "Be quick."]
    assert claude.refused == []


@pytest.mark.parametrize(("name", "again"), [(NEWEST, True), ("claude-sonnet-4-6", False)])
def test_a_tool_with_new_arguments_is_redefined(claude: StandIn, name: str, again: bool) -> None:
    claude.turns += [says("a"), says("b"), says("c")]
    other = a_tool("save", "Hand in the plate.", plate="string")
    with claude.model(name) as model:
        first = asked("Cook.", SAVE)
        second = replace(heard(first, model(first), User("And plate it.")), tools=(other,))
        model(heard(second, model(second), User("Well done.")))
    assert claude.refused == []
    for asked_ in claude.asked[1:]:
        blocks = (block for turn in asked_.body["messages"] for block in turn["content"])
        added = [b["tool"]["definition"] for b in blocks if b["type"] == "tool_addition"]
        (sent,) = added if again else asked_.body["tools"]
        assert (sent["description"], sent["input_schema"]) == (
            "Hand in the plate.",
            other.parameters,
        )


def test_the_cache_is_found_after_a_turn_of_a_hundred_calls(claude: StandIn) -> None:
    claude.turns += [says(*[_peel(str(number)) for number in range(100)]), says("done")]
    with claude.model() as model:
        first = asked("Peel all.", PEEL, system="You are a patient cook. " * 400)
        reply = model(first)
        usage = model(answered(first, reply, *["Potato#2"] * 100)).usage
    assert usage
    assert usage.cached == claude.asked[0].usage["cache_creation_input_tokens"] > 0


@pytest.mark.parametrize(
    ("stop", "means"),
    [
        *(("max_tokens", "length"), ("refusal", "refused"), ("end_turn", "end")),
        *(("model_context_window_exceeded", "context"), ("stop_sequence", "end")),
    ],
)
def test_no_call_of_a_reply_that_stopped_early_runs(claude: StandIn, stop: str, means: str) -> None:
    claude.turns += [says("I begin", Think("Hm."), _peel(), stop=stop), says("On I go.")]
    with claude.model() as model:
        first = asked("Peel.", PEEL)
        reply = model(first)
        assert (reply.stop, reply.calls, reply.text) == (means, (), "I begin")
        assert model(heard(first, reply)).text == "On I go."
    assert claude.refused == []
    assert claude.asked[1].body["messages"][-1]["content"][0]["text"] == "Go on."


def test_a_turn_that_paused_continues_and_is_sent_back_as_it_is(claude: StandIn) -> None:
    claude.turns += [
        says("I search", Think("Hm."), stop="pause_turn"),
        says("still", stop="pause_turn"),
        says("Found."),
    ]
    with claude.model() as model:
        session = Session(Toolbox(), model, scheme="flat").tell("Search.")
    assert str(session) == "Found."
    assert claude.refused == []
    paused = [asked_.body["messages"][-1]["content"] for asked_ in claude.asked[1:]]
    kinds = [[block["type"] for block in content] for content in paused]
    assert kinds == [["text", "thinking"], ["text", "thinking", "text"]]


def test_a_refusal_tells_its_category_and_reason_and_is_no_reply_text(claude: StandIn) -> None:
    claude.turns += [says(stop="refusal", explanation="This is not about potatoes."), says("ok")]
    with claude.model() as model:
        first = asked("Break in.")
        reply = model(first)
        assert (reply.stop, reply.text) == ("refused", "")
        assert reply.said == "[The model refused (cyber). This is not about potatoes.]"
        model(heard(first, reply, User("Then peel.")))
    assert [turn["role"] for turn in claude.asked[1].body["messages"]] == ["user"]
    assert claude.refused == []


def test_words_and_names_that_the_api_does_not_take_are_mended(claude: StandIn) -> None:
    claude.turns += [says("a")]
    strange = Assistant(" ", (Call("call 1#é", "no such tool!"),))
    half = "half \ud83e a potato"
    with claude.model() as model:
        first = replace(asked(half, PEEL, system=half), messages=(User(half), User(" "), strange))
        given = Result("call 1#é", half)
        request = replace(first, messages=(*first.messages, Results((given,), news=half)))
        assert model(request).text == "a"
    assert claude.refused == []


def test_without_a_key_one_line_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ModelError) as caught:
        Claude(NEWEST)(asked("Go."))
    told = str(caught.value)
    assert "ANTHROPIC_API_KEY is not set" in told
    assert "scripted:" in told
    assert "\n" not in told


def _peel(number: str = "1") -> Use:
    return Use("Potato_peel", {"potato": f"Potato#{number}"})


def test_a_parameter_of_any_name_is_sent_as_a_name_that_the_api_takes(claude: StandIn) -> None:
    claude.turns += [says(Use("say", {"_x003C_value_x003E_": "Hello"})), says("ok"), says("so")]
    parameters = {"type": "object", "properties": {"<value>": {}}, "required": ["<value>"]}
    tool = Tool("say", "Say it.", parameters, lambda **given: given["<value>"])
    with claude.model() as model:
        session = Session(Toolbox(tool), model, scheme="flat", approve="all").tell("Say hello.")
        [call] = session.calls
        assert (call.arguments, call.result) == ({"<value>": "Hello"}, "Hello")
        session.edit(call, **{"<value>": "Bye"}).run()
    assert claude.refused == []
    schema = claude.asked[0].body["tools"][0]["input_schema"]
    assert [*schema["properties"]] == schema["required"] == ["_x003C_value_x003E_"]
    [used] = claude.asked[1].body["messages"][1]["content"]
    assert used["input"] == {"_x003C_value_x003E_": "Hello"}


@given(st.text(st.characters(codec="utf-8")) | st.from_regex(r"(_?x[0-9A-F]{4}[_<]?){1,4}"))
def test_a_parameters_name_is_read_back_from_what_was_sent(name: str) -> None:
    sent = legal_key(name)
    assert re.fullmatch(r"[a-zA-Z0-9_.-]*", sent)
    assert own_key(sent) == name
    if re.fullmatch(r"[a-z_]*", name):
        assert sent == name


def test_events_of_types_yet_unknown_are_passed_over(claude: StandIn) -> None:
    new = encode_event({"type": "weather", "sun": True}) + b": a comment\n\n"
    use = {"type": "tool_use", "id": "a", "name": "fry", "input": {}}
    events: list[Json] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": use},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
        {"type": "message_stop"},
    ]
    claude.turns.append(Turn(raw=b"".join(new + encode_event(each) for each in events)))
    with claude.model() as model:
        assert [call.id for call in model(asked("Go.", FRY)).calls] == ["a"]


def test_an_api_that_is_not_there_yet_is_asked_again() -> None:
    server = StandIn([says("here")])
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        server.__enter__()
        client.base_url = server.url

    patience = Patience(sleep=wait, chance=lambda: 0.0)
    with server.sdk(base_url="http://127.0.0.1:9", max_retries=0) as client:
        reply = Claude(NEWEST, client=client, patience=patience)(asked("Go."))
    server.__exit__()
    assert (reply.text, waits) == ("here", [1])
    assert "connection to the API failed" in reply.attempts[0].said
