"""Spans of OpenTelemetry, by its conventions for generative AI; no hook where nobody traces.

Whoever sets a tracer provider has imported OpenTelemetry, so nothing is imported here. A span
holds texts of models and tools only if the conventions' own switch asks for them, and no secrets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..core.digests import encode
from ..core.events import Data, Failed, Interrupted, Outcome
from ..core.recorded_data import JsonDict, JsonObject
from ..core.secrets import Hide
from ..schemes.messages import Reply
from .cursor import SessionContext, SessionHooks
from .session_values import PreparedCall

SWITCH = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
ON = {"true", "1", "span_only", "span_and_event"}
"""The values of the switch with which spans hold texts."""
Note = Callable[[JsonObject], None]
"""Adds attributes to an open span; attributes that are None are left out."""


def traced(context: SessionContext) -> tuple[SessionHooks, ...]:
    """Return the hooks of a session, with spans where this process uses OpenTelemetry."""
    api = sys.modules.get("opentelemetry.trace")
    # Libraries import the API, the MCP SDK for one, where nobody collects spans.
    if api is None or isinstance(api.get_tracer_provider(), api.ProxyTracerProvider):
        return context.hooks
    return (*context.hooks, Tracing(context.secrets.hide))


@dataclass(frozen=True)
class Tracing(SessionHooks):
    """A span for each request, `chat MODEL`, and for each execution, `execute_tool NAME`."""

    hide: Hide

    @contextmanager
    def around_request(self, model: str) -> Iterator[Callable[[Reply | None], None]]:
        provider, _, name = model.rpartition(":")
        request = {"gen_ai.provider.name": provider or None, "gen_ai.request.model": name or None}
        with _span("chat", name or "model", request) as note:
            yield lambda reply: note(_reply_attributes(reply))

    @contextmanager
    def around_execution(self, call: PreparedCall) -> Iterator[Callable[[Outcome], None]]:
        called = {"gen_ai.tool.name": call.tool.name, "gen_ai.tool.call.id": call.call_id}
        asked = self._content("gen_ai.tool.call.arguments", dict(call.arguments))
        with _span("execute_tool", call.tool.name, {**called, **asked}) as note:
            yield lambda outcome: note(self._outcome_attributes(outcome))

    def _outcome_attributes(self, outcome: Outcome) -> Mapping[str, object]:
        match outcome:
            case Data(data):
                return self._content("gen_ai.tool.call.result", data)
            case Failed():
                return {"error.type": "failed"}
            case Interrupted():
                return {"error.type": "interrupted"}
        return {}

    def _content(self, name: str, value: object) -> Mapping[str, object]:
        """Return a text of a model or a tool as an attribute; {} unless the switch asks for it."""
        is_captured = os.environ.get(SWITCH, "").lower() in ON
        return {name: encode(self.hide(value))} if is_captured else {}


@contextmanager
def _span(operation: str, subject: str, attributes: Mapping[str, object]) -> Iterator[Note]:
    """Keep a span open; what is raised in it is noted."""
    api: Any = sys.modules["opentelemetry.trace"]
    kind = api.SpanKind.CLIENT if operation == "chat" else api.SpanKind.INTERNAL
    span_attributes = {"gen_ai.operation.name": operation, **_without_none(attributes)}
    with api.get_tracer("jupyter_toolcall").start_as_current_span(
        f"{operation} {subject}", kind=kind, attributes=span_attributes, record_exception=False
    ) as open_span:

        def note(attributes: JsonObject) -> None:
            open_span.set_attributes(_without_none(attributes))
            if "error.type" in attributes:
                open_span.set_status(api.StatusCode.ERROR)

        yield note


def _reply_attributes(reply: Reply | None) -> Mapping[str, object]:
    if reply is None:
        return {}
    reason: JsonDict = {"gen_ai.response.finish_reasons": [reply.stop]}
    if (used := reply.usage) is None:
        return reason
    return reason | {
        "gen_ai.usage.input_tokens": used.input,
        "gen_ai.usage.output_tokens": used.output,
        "gen_ai.usage.cache_read.input_tokens": used.cached,
    }


def _without_none(attributes: Mapping[str, object]) -> JsonDict:
    return {key: value for key, value in attributes.items() if value is not None}
