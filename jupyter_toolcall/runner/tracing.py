"""Spans of OpenTelemetry, by its conventions for generative AI; nothing where nobody traces.

Whoever sets a tracer provider has imported OpenTelemetry, so nothing is imported here. What
models and tools say is in a span only where the conventions' own switch asks for it, and
then without secrets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..digest import encode
from ..secrets import Hide

SWITCH = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
Note = Callable[[Mapping[str, Any]], None]
"""Takes what becomes known of a span while it lasts; what is None is left out."""


def span(
    operation: str, subject: str, attributes: Mapping[str, Any]
) -> AbstractContextManager[Note]:
    """Keep a span open: `chat MODEL` or `execute_tool NAME`; what is raised in it is noted."""
    api = sys.modules.get("opentelemetry.trace")
    return _UNTRACED if api is None else _span(api, operation, subject, attributes)


_UNTRACED: AbstractContextManager[Note] = nullcontext(lambda known: None)


@contextmanager
def _span(api: Any, operation: str, subject: str, attributes: Mapping[str, Any]) -> Iterator[Note]:
    tracer = api.get_tracer("jupyter_toolcall")
    kind = api.SpanKind.CLIENT if operation == "chat" else api.SpanKind.INTERNAL
    given = {"gen_ai.operation.name": operation, **_known(attributes)}
    with tracer.start_as_current_span(
        f"{operation} {subject}", kind=kind, attributes=given, record_exception=False
    ) as open_span:
        yield lambda known: open_span.set_attributes(_known(known))


def content(name: str, value: Any, hide: Hide) -> Mapping[str, Any]:
    """Return an attribute of what was said, where that is asked for; {} where not."""
    if "opentelemetry.trace" not in sys.modules:
        return {}
    wanted = os.environ.get(SWITCH, "").lower() in ("true", "1", "span_only", "span_and_event")
    return {name: encode(hide(value))} if wanted else {}


def _known(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if value is not None}
