"""The HTTP request that a call of an endpoint tool becomes, and the result of its response."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote, urlencode, urlsplit

from ..core.digests import encode
from ..core.errors import CallError
from .http_client import RequestLimits, Response
from .request_headers import SecretHeaders

MAX_QUOTED = 500
"""Characters of a response that an error quotes."""
SLOT = re.compile(r"\{([^{}]*)\}")
"""A parameter in the path of the URL."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a call goes, and where in the request its arguments stand.

    `method` is get, post, put or delete, `argument_location` body, form, path or query, and
    `timeout` is in seconds.
    """

    url: str
    method: str
    argument_location: str
    timeout: float = 20.0


def call_endpoint(
    endpoint: Endpoint,
    hosts: tuple[str, ...],
    secret_headers: SecretHeaders,
    arguments: Mapping[str, object],
    variables: Mapping[str, object],
) -> object:
    """Return what an endpoint answers: JSON as data, text as text. Variables are not sent.

    Raises CallError for an argument that fits no path, for a host that is not allowed, for
    no response, and for a status of failure.
    """
    method, url = endpoint.method.upper(), endpoint.url
    present = {key: value for key, value in arguments.items() if value is not None}
    headers, body = {}, b""
    match endpoint.argument_location:
        case "body":
            headers, body = {"content-type": "application/json"}, encode(dict(arguments)).encode()
        case "form":
            headers = {"content-type": "application/x-www-form-urlencoded"}
            body = _form_encoded(present).encode()
        case "path":
            slots = SLOT.findall(url)
            url = SLOT.sub(lambda slot: _path_segment(slot[1], present), url)
            url = _with_query(url, {k: v for k, v in present.items() if k not in slots})
        case _:
            url = _with_query(url, present)
    limits = RequestLimits(hosts, endpoint.timeout)
    # The host is in the definition, and the query holds arguments: the path is enough.
    path = urlsplit(url).path or "/"
    response = secret_headers.send(limits, method, url, headers, body, path)
    if not 200 <= response.status < 300:
        raise CallError(f"{method} {path} answered {_status_line(response)}")
    return _content(response)


def _path_segment(name: str, arguments: Mapping[str, object]) -> str:
    """Return one argument as a part of a path, which it can neither leave nor end."""
    value = arguments.get(name)
    if value is None or isinstance(value, (dict, list)):
        raise CallError(f"{name}: stands in the URL, so it has to be a text or a number")
    text = _as_text(value)
    if text.strip() in ("", ".", ".."):
        raise CallError(f"{name}: {text!r} cannot stand in the path of a URL")
    return quote(text, safe="")


def _with_query(url: str, arguments: Mapping[str, object]) -> str:
    base, mark, fragment = url.partition("#")
    query = _form_encoded(arguments)
    return f"{base}{('&' if '?' in base else '?') + query if query else ''}{mark}{fragment}"


def _form_encoded(arguments: Mapping[str, object]) -> str:
    """Return arguments as `a=1&b=x`; a list repeats its key, an object is its JSON."""
    return urlencode(
        [
            (key, _as_text(item))
            for key, value in arguments.items()
            for item in (value if isinstance(value, list) else [value])
        ]
    )


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else encode(value)


def _status_line(response: Response) -> str:
    has_phrase = response.status in HTTPStatus._value2member_map_
    phrase = f" {HTTPStatus(response.status).phrase}" if has_phrase else ""
    text = " ".join(response.text[: 4 * MAX_QUOTED].split())
    quoted = f"{text[:MAX_QUOTED]}…" if len(text) > MAX_QUOTED else text
    return f"{response.status}{phrase}{': ' if quoted else ''}{quoted}"


def _content(response: Response) -> object:
    if not response.body:
        return None
    kind = response.media_type
    if kind == "application/json" or kind.endswith("+json"):
        try:
            return json.loads(response.body)
        except (ValueError, RecursionError):
            raise CallError(f"the answer is no JSON: {response.text[:MAX_QUOTED]!r}") from None
    if b"\0" in response.body[:1000]:
        raise CallError(f"the answer is {kind or 'unnamed'} data, neither JSON nor text")
    return response.text
