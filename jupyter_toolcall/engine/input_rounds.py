"""Rounds of input: what a running tool asks the person, the person's response, and how the call
continues. They are recorded in the journal, so an open round survives a restart of the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from ..core.call_record import CallRecord
from ..core.digests import digest
from ..core.errors import CallError, DefinitionError, NotYourTurn, UsageError
from ..core.events import Data, Decided, Decision, Failed, InputNeeded, Outcome, to_json
from ..core.input_round import InputRound
from ..core.recorded_data import JsonDict, JsonObject, replace
from ..core.secrets import Secrets
from ..tools.arguments import plain_arguments
from ..tools.running_tool import InputRequest, InputRequired, InputResponse
from .session_values import PreparedCall, Resumption

MOST_ROUNDS = 10
"""Rounds of input of one call: a tool that asks for more fails."""


# -- what the tool asks -----------------------------------------------------------------------


def input_outcome(required: InputRequired, ready: PreparedCall) -> Outcome:
    """Return the outcome of a run whose tool asks for input: a failure for an invalid question."""
    name = ready.tool.name
    if ready.tool.resume is None:
        return Failed(f"{name} asks for input, and has no `resume` that takes it")
    rounds = ready.resumption.rounds if ready.resumption is not None else 0
    if rounds >= MOST_ROUNDS:
        return Failed(f"{name} asked for input {MOST_ROUNDS} times, and asks again")
    try:
        requests = {key: _request_json(request) for key, request in required.requests.items()}
        asked = plain_arguments({"requests": requests, "state": required.state})
        for request in requests.values():
            _demand_form(request)
    except (CallError, DefinitionError, UsageError, AttributeError, TypeError) as error:
        return Failed(f"{name} asks for input in a form that cannot be shown: {error}")
    if not requests:
        return Failed(f"{name} asks for input, and has no question")
    return InputNeeded(asked["requests"], asked["state"])


def _request_json(request: InputRequest) -> JsonDict:
    data: JsonDict = {"message": str(request.message)}
    data |= {"schema": dict(request.schema)} if request.schema else {}
    return data | ({"url": str(request.url)} if request.url else {})


def _demand_form(request: JsonObject) -> None:
    """Raise UsageError or DefinitionError for a request that is no valid form or page."""
    _form_checker(request)
    if not (url := request.get("url", "")):
        return
    parts = urlsplit(url)
    # The host that the person reads in the address must be the one that the link opens.
    is_plain = url.isascii() and url.isprintable() and "@" not in parts.netloc
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
        raise UsageError(f"{url!r:.80} is no plain address that begins with https:// or http://")


# -- the person's response --------------------------------------------------------------------


def questions_text(call: CallRecord) -> str:
    """Return what the tool of a call asks, with the names of the fields, on a line each."""
    assert call.open_round is not None
    lines = []
    for request in call.open_round.asked.requests.values():
        names = ", ".join(request.get("schema", {}).get("properties", {}))
        lines.append(" ".join(filter(None, (request["message"], request.get("url"), names))))
    return "\n".join(lines)


def round_digest(call: CallRecord) -> str:
    """Return the digest of the open round as it is shown: a response applies to exactly that."""
    assert call.open_round is not None
    asked = to_json(call.open_round.asked)
    return digest("round", call.id, call.approval_digest, len(call.rounds), asked)


def response_event(call: CallRecord, decision: Decision, result: object, reason: str) -> Decided:
    """Return a person's response to the open round of a call.

    `result` has the fields of the form. For several questions it has their fields by the key of
    each question; for one question it may have that form too.

    Raises CallError for fields that do not fit, NotYourTurn for an approval.
    """
    if decision == "approve":
        raise NotYourTurn(
            f"{call.tool} asks you for input, and was approved: answer with the fields of its "
            "form, or reject"
        )
    assert call.open_round is not None
    content = _checked_fields(call.open_round, call.tool, result) if decision == "answer" else None
    response = None if content is None else Data(content)
    shown_digest = round_digest(call)
    return Decided(call.id, decision, shown_digest, None, response, reason, round=len(call.rounds))


def _checked_fields(open_round: InputRound, tool: str, result: object) -> JsonDict:
    """Return the fields by question. Raises CallError, which names a field that does not fit."""
    requests = open_round.asked.requests
    fields = plain_arguments({} if result is None else result)
    # For one question, fields that are no mappings by its key are taken as those of its form.
    by_key = fields.keys() <= requests.keys() and all(
        isinstance(field, Mapping) for field in fields.values()
    )
    if len(requests) == 1 and not (fields and by_key):
        fields = dict.fromkeys(requests, fields)
    return {
        key: _form_checker(request, tool)(plain_arguments(fields.get(key, {})))
        for key, request in requests.items()
    }


def _form_checker(request: JsonObject, title: str = "input") -> Any:
    """Return the checker of a form's fields; a page has no fields.

    Raises DefinitionError where the form is no JSON Schema.
    """
    schemas = import_module("..sources.definition_schema", __package__)
    form = {"type": "object", "properties": {}, **request.get("schema", {})}
    form.setdefault("additionalProperties", False)
    return schemas.ArgumentChecker(title, schemas.read_schema(form, title))


# -- how the call continues ----------------------------------------------------------------------


def with_response(call: CallRecord, ready: PreparedCall, secrets: Secrets) -> PreparedCall:
    """Return a prepared call that continues with the response to its open round.

    Raises CallError where what was approved has changed since, MissingSecret where a variable of
    the environment is not set.
    """
    last = call.open_round
    assert last is not None
    assert last.response is not None
    if ready.tool.resume is None or ready.approval_digest != call.approval_digest:
        raise CallError(f"{call.tool} changed after it asked for input, so it cannot continue")
    reveal = secrets.reveal
    content = reveal(last.content, last.response.secrets)
    action = "accept" if last.response.decision == "answer" else "decline"
    responses = {
        key: InputResponse(action, content.get(key, {}))  # type: ignore[arg-type]
        for key in last.asked.requests
    }
    state = reveal(last.asked.state, last.keys)
    return replace(ready, resumption=Resumption(state, responses, len(call.rounds)))


def is_same_round(call: CallRecord, recorded: CallRecord, number: int) -> bool:
    """Return whether a call is at round `number` and asks what the recorded call asked there."""
    now, then = call.open_round, recorded.open_round
    if now is None or then is None or call.status == "unknown":
        return False
    return len(call.rounds) == number and now.asked == then.asked
