"""Spans of OpenTelemetry: a chat for each request, a tool for each run, no secret in any."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.engine.tracing import SWITCH
from jupyter_toolcall.models import Reply, Request

SECRET = "canary-5f0d3a"
EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def provider() -> Iterator[None]:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(EXPORTER))
    trace.set_tracer_provider(made)
    yield
    EXPORTER.shutdown()


@pytest.fixture(autouse=True)
def empty() -> None:
    EXPORTER.clear()


class Told:
    """A model that calls one tool, and reports its tokens."""

    name = "anthropic:claude-sonnet-5-5"

    def __call__(self, request: Request) -> Reply:
        usage = Usage(100, 20, cached=80)
        calls = () if request.turn else (Call("a", "login", {"password": SECRET}),)
        return Reply("Done.", calls, "tools" if calls else "end", usage)


def login(password: str) -> str:
    if not password:
        raise ValueError("no password")
    return f"in with {password}"


def spans() -> list[ReadableSpan]:
    return list(EXPORTER.get_finished_spans())


def run(model: object = None) -> Session:
    box = Toolbox(login)
    return Session(box, model or Told(), scheme="flat", approve="all").tell("Go.")  # type: ignore[arg-type]


def test_each_request_and_each_run_of_a_tool_has_a_span() -> None:
    run()
    chat_name = "chat claude-sonnet-5-5"
    assert [span.name for span in spans()] == [chat_name, "execute_tool login", chat_name]
    chat = dict(spans()[0].attributes or {})
    assert chat == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5-5",
        "gen_ai.response.finish_reasons": ("tools",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 80,
    }
    # What is said is in no span unless that is asked for.
    assert SECRET not in "".join(span.to_json() for span in spans())


def test_what_is_said_is_there_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "true")
    monkeypatch.setenv("LOGIN_TOKEN", SECRET)
    run()
    told = dict(spans()[1].attributes or {})
    assert told["gen_ai.tool.call.arguments"] == '{"password":"{secret:LOGIN_TOKEN}"}'
    assert told["gen_ai.tool.call.result"] == '"in with {secret:LOGIN_TOKEN}"'
    assert SECRET not in "".join(each.to_json() for each in spans())


def test_a_failure_is_noted_in_its_span() -> None:
    def wrong(request: Request) -> Reply:
        calls = () if request.turn else (Call("a", "login", {"password": ""}),)
        return Reply("", calls, "tools" if calls else "end")

    run(wrong)
    span = spans()[1]
    assert (dict(span.attributes or {})["error.type"], span.status.is_ok) == ("failed", False)


def test_a_model_that_fails_ends_its_span_in_error() -> None:
    def down(request: Request) -> Reply:
        raise ModelError("the API is busy")

    with pytest.raises(ModelError):
        run(down)
    (only,) = spans()
    assert not only.status.is_ok
