"""Traffic of two providers, replayed through the client classes in every scheme.

The files in `tests/models/recordings` are streams as the providers document them, byte for byte as
a client gets them; their first lines say where they come from. `: response` begins the body of the
next response, and a body that ends early is a connection that was closed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.models.retrying import Patience
from jupyter_toolcall.schemes import SCHEMES
from tests.models.conftest import PROVIDERS
from tests.standin import anthropic_history, openai_rules
from tests.standin.model_api import Asked
from tests.standin.turns import Json

RECORDINGS = Path(__file__).parents[1] / "models" / "recordings"
PATIENCE = Patience(tries=3, sleep=lambda seconds: None)
RAN: list[str] = []


class City:
    """A city."""

    def forecast(self) -> str:
        """Return the forecast."""
        RAN.append("City_forecast")
        return "rain"


def get_weather(city: str) -> str:
    """Return the weather of a city."""
    RAN.append("get_weather")
    return "7 °C"


def get_time(city: str) -> str:
    """Return the time in a city."""
    RAN.append("get_time")
    return "12:00"


@dataclass
class Provider:
    """Plays the responses of a recording, in order, and keeps the bodies of the requests."""

    bodies: list[bytes]
    requests: list[Any] = field(default_factory=list)

    @property
    def transport(self) -> httpx2.MockTransport:
        def answer(request: httpx2.Request) -> httpx2.Response:
            self.requests.append(json.loads(request.read()))
            headers = {"content-type": "text/event-stream; charset=utf-8"}
            return httpx2.Response(200, headers=headers, content=self.bodies.pop(0))

        return httpx2.MockTransport(answer)


@contextmanager
def playing(recording: Path) -> Iterator[tuple[Provider, Any]]:
    """Give the provider of a recording, and the model that is its client."""
    _, *bodies = recording.read_bytes().split(b"\n: response\n")
    provider = Provider(bodies)
    with httpx2.Client(transport=provider.transport) as http:
        options: Any = {"api_key": "sk-test", "http_client": http, "max_retries": 0}
        if recording.parent.name == "anthropic":
            claude = anthropic.Anthropic(base_url="http://provider.test", **options)
            yield provider, Claude("claude-opus-5-5", client=claude, patience=PATIENCE)
        else:
            gpt = openai.OpenAI(base_url="http://provider.test/v1", **options)
            yield provider, OpenAI("gpt-6-sol", client=gpt, patience=PATIENCE)


def check_messages(provider: str, body: Json) -> None:
    """Raise Refused where a call is not answered right behind it, and only there."""
    if provider == "anthropic":
        anthropic_history.check_messages(body)
    else:
        openai_rules.check_messages(body["messages"])


SUCCEEDED: Mapping[str, tuple[str, ...]] = {
    "answer": (),
    "call": ("get_weather",),
    "parallel": ("get_weather", "get_time"),
    "thinking": ("get_weather",),
    "cut_inside": ("get_weather",),
    "cut_at_end": ("get_weather",),
    "length": ("get_weather",),
    "refused": (),
    "select_tools": ("get_weather",),
    "use_current": ("City_forecast",),
    "xml": ("get_weather",),
}
"""For each recording, the tools of ours that run where the scheme offers them at once."""
FAILED: Mapping[tuple[str, str], tuple[str, ...]] = {
    **{
        (name, "select"): SUCCEEDED[name]
        for name in ("call", "parallel", "thinking", "cut_inside", "cut_at_end", "length", "xml")
    },
    ("select_tools", "current"): ("selectTools",),
    ("select_tools", "flat"): ("selectTools",),
    ("use_current", "select"): ("_use_City", "City_forecast"),
    ("use_current", "flat"): ("_use_City",),
}
"""The calls that a scheme refuses: tools that it does not have, or that are not selected yet."""
FILES = sorted(RECORDINGS.glob("*/*.sse"))


@pytest.mark.parametrize("recording", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
@pytest.mark.parametrize("native", [False, True], ids=["interface", "xml"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_recorded_traffic_runs_a_session_in_every_scheme(
    scheme: str, native: bool, recording: Path
) -> None:
    RAN.clear()
    name, in_text = recording.stem, recording.stem == "xml" and not native
    with playing(recording) as (provider, model):
        tools = Toolbox(City, get_weather, get_time)
        options: Any = {"native": native, "inputs": {"city": City()}, "approve": "all"}
        session = Session(tools, model, scheme=scheme, **options).tell("How is it in Oslo?").run()
    # What was cut off, refused, or written as text for a scheme without XML, is no call.
    failed = () if in_text else FAILED.get((name, scheme), ())
    ran = [tool for tool in SUCCEEDED[name] if tool not in failed and not in_text]
    calls = [(call.tool, call.status) for call in session.calls]
    assert ran == RAN
    assert [tool for tool, status in calls if status == "failed"] == [*failed]
    assert {status for _, status in calls} <= {"succeeded", "failed"}
    # Each call has exactly one result in the next request, in the order of the calls.
    last, api = provider.requests[-1], PROVIDERS[recording.parent.name]()
    api.asked.append(Asked(last, {}))
    assert api.call_ids() == [result.call for result in api.results()]
    check_messages(recording.parent.name, last)
    if native:
        assert api.call_ids() == []
        assert json.dumps(last).count("<tool-result ") == len(calls)
    else:
        assert len(api.call_ids()) == len(calls)
    # The whole recording was asked for, and its end is the session's.
    assert len(provider.bodies) == (1 if in_text else 0)
    endings = {"answer": "Bye.", "refused": "]"}
    assert session.text.endswith("</tool-calls>" if in_text else endings.get(name, "7 °C ☀."))
    entries = len(session.journal)
    assert session.replay().run().text == session.text
    assert len(session.journal) == entries


@pytest.mark.parametrize("recording", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recording_says_in_its_first_lines_where_it_comes_from(recording: Path) -> None:
    origin = recording.read_text(encoding="utf-8").partition("\n: response\n")[0]
    assert origin.startswith((": Built, not recorded: ", ": Recorded on "))
    assert all(line.startswith(": ") for line in origin.splitlines())


def test_both_providers_have_the_same_recordings() -> None:
    found = [(path.parent.name, path.stem) for path in FILES]
    assert found == [(name, stem) for name in ("anthropic", "openai") for stem in sorted(SUCCEEDED)]
