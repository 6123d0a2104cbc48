"""The schemes: what a model is offered, and what it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import NotYourTurn
from jupyter_toolcall.kitchen import FRIES, Plate, Potato, kitchen
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.schemes import SCHEMES
from jupyter_toolcall.schemes.messages import Reply, model_identity
from tests.example_tools import fries_session, results
from tests.schemes.test_xml_reading import WeatherTool


def open_kitchen(script: Any = FRIES, scheme: str = "select", **options: Any) -> Session:
    model = script if isinstance(script, Scripted) else Scripted(script)
    return fries_session(model, scheme, **options)


def test_flat_offers_every_tool_and_names_the_objects_of_the_start() -> None:
    inputs = {"potato": (Potato(), "The raw potato.")}
    session = open_kitchen(scheme="flat", inputs=inputs).ask("go")
    assert len(session.cursor.request.tools) == 1 + len(kitchen())
    assert "- Potato#1: The raw potato." in session.cursor.request.system


WHAT_IS_SENT = """
from jupyter_toolcall import Session
from jupyter_toolcall.kitchen import FRIES, Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.engine.replay import advance

given = {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}
for scheme in SCHEMES:
    session = Session(kitchen(), FRIES, scheme=scheme, inputs=given, approve="all").ask("go")
    while advance(session.cursor) is not None:
        request = session.cursor.request
        print([tool.definition() for tool in (*request.tools, *request.deferred)])
"""


def test_the_same_session_sends_the_same_bytes_in_every_process() -> None:
    """A prompt cache lives by that; the order of a set differs from process to process."""

    def sent(seed: str) -> str:
        code = f"SCHEMES = {[*SCHEMES]}\n{WHAT_IS_SENT}"
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert not done.stderr
        return done.stdout

    first, second = map(sent, "12")
    assert first.count("Potato_peel") > len(SCHEMES)
    assert first == second


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_the_schemes_own_tools_say_no_api_refuses(scheme: str) -> None:
    session = open_kitchen(scheme=scheme, outputs={"n": int, "fries": Plate}).ask("go")
    for tool in session.cursor.offer.own:
        text = json.dumps(tool.definition())
        assert '"format"' not in text
        assert '"description": ""' not in text


def test_save_checks_plain_values_as_tools_do() -> None:
    outputs = {"n": int, "x": float, "s": str, "b": bool}
    good = {"n": 1, "x": 2, "s": "t", "b": True}
    for name, wrong in (("n", True), ("n", 1.5), ("x", "a"), ("s", 1), ("b", 2)):
        session = open_kitchen([("save", {**good, name: wrong}), "x"], outputs=outputs).tell("go")
        assert f"{name}: must be a" in session.calls[0].error
    spelled = {"n": "1", "x": "2", "s": "t", "b": "true"}
    for saved in (good, spelled):
        assert open_kitchen([("save", saved)], outputs=outputs).tell("go").outputs == good


def test_the_tools_of_the_scheme_never_wait() -> None:
    script = [("selectTools", {"tools": ["Oven_bake"]}), ("save", {"fries": "Plate#1"})]
    session = open_kitchen(script, approve="none").tell("go")
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]


def test_a_replay_knows_a_model_by_its_name_settings_and_code() -> None:
    gpt = [OpenAI("gpt", options=options) for options in ({}, {"temperature": 0}, {"top_p": 1})]
    functions: list[Any] = [lambda request: Reply("One."), lambda request: Reply("Two.")]
    known = [*map(model_identity, [*gpt, *functions, Claude("claude-opus-5-5", max_tokens=9)])]
    assert known[0] == "openai:gpt"
    assert len({*known}) == len(known)


def test_a_result_is_json_that_names_objects() -> None:
    script = [("Potato_peel", {}), ("Potato_slice", {"Potato": "Potato#1", "shape": "STICKS"}), "x"]
    session = open_kitchen(script, scheme="flat").tell("go")
    assert [json.loads(result.content) for result in results(session)] == [
        {"result": "Potato#2"},
        {"error": "ValueError: peel the potato before you cut it"},
    ]


def test_a_session_reads_as_what_it_is() -> None:
    session = open_kitchen(name="lunch").tell("go")
    assert repr(session) == "<Session lunch: 8 calls, 9 objects>"
    assert str(session) == session.text
    assert session.branches == (session.head,)
    assert session.generate() is not None
    with pytest.raises(NotYourTurn):
        open_kitchen(approve="none").tell("go").ask("more")


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_description_of_a_class_is_sent_once(scheme: str, native: bool) -> None:
    options: Any = {"scheme": scheme, "native": native, "inputs": {"potato": Potato()}}
    session = Session(Toolbox(Potato, WeatherTool()), Scripted(["Done."]), **options).tell("Go.")
    request = session.requests[0].request
    text = "\n".join([request.system, *(tool.description for tool in request.tools)])
    assert text.count(str(Potato.__doc__)) == 1
    assert text.count("Tells the weather.") == 1
