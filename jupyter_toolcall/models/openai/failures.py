"""What went wrong between us and a server, in one line, and whether it may pass.

Pure. The lines are for the person; a key in them is taken out by who raises them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import ModelError
from ..provider_client import AGAIN, one_line
from ..retrying import Passing, asked_wait, may_pass

_CONTEXT = ("context_length_exceeded", "exceed_context_size_error")
_FOR_GOOD = ("insufficient_quota", "invalid_request_error")


def refused(
    status: int, headers: Mapping[str, str], body: object, model: str, place: str, now: float
) -> ModelError:
    """Return what an HTTP status of the server means, and what to do."""
    code, message = _code(body), said(body)
    told = f": {message}" if message else ""
    line = _line(status, code, told, model, place)
    if not may_pass(status, headers) or code in _FOR_GOOD:
        return ModelError(line)
    return Passing(f"{line}; {AGAIN}", asked_wait(headers, now))


def _line(status: int, code: str, told: str, model: str, place: str) -> str:
    if code in _CONTEXT or status == 413:
        return f"the conversation is too long for {model} ({status}): begin a new session{told}"
    if code == "insufficient_quota":
        return f"the account at {place} has no credit left ({status}){told}"
    match status:
        case 401:
            return f"{place} refuses the key (401): check OPENAI_API_KEY{told}"
        case 403:
            return f"the key may not use {model} at {place} (403){told}"
        case 404:
            return f"{place} has no model {model}, or no chat completions (404): check both{told}"
        case 408 | 409 | 429:
            return f"too many requests for now ({status}), wait a little{told}"
        case _ if status >= 500:
            return f"{place} is busy or down ({status}){told}"
    if "reasoning_content" in told:
        told += "; OpenAI(MODEL, keep_thoughts=True) sends it"
    return f"{place} refused the request ({status}){told}"


def broken_off(error: object) -> ModelError:
    """Return what an error within a stream means."""
    line = f"the server broke off its reply ({said(error) or 'without saying why'}); {AGAIN}"
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) else 500
    for_good = _code(error) in _FOR_GOOD or not may_pass(status, {})
    return ModelError(line) if for_good else Passing(line)


def said(body: object) -> str:
    """Return the words of an error, in whichever form a server gives them."""
    match body:
        case str():
            return one_line(body)
        case {"error": (str() | dict()) as inner} if inner:
            return said(inner)
        case {"message": (str() | dict()) as inner} if inner:
            return said(inner)
        case {"detail": str(inner)}:
            return one_line(inner)
        case {"detail": list(faults)}:
            return one_line("; ".join(map(_fault, faults)))
    return ""


def _fault(fault: Any) -> str:
    match fault:
        case {"loc": list(place), "msg": str(message)}:
            return f"{'.'.join(map(str, place))}: {message}"
    return str(fault)


def _code(body: object) -> str:
    """Return the word by which an error is told apart, "" where it has none."""
    match body:
        case {"code": str(code)} if code:
            return code
        case {"type": str(kind)}:
            return kind
        case {"error": dict(inner)}:
            return _code(inner)
    return ""
