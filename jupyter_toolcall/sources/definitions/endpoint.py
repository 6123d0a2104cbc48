"""`endpoint`: the HTTP request that a call becomes, and what its answer means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ...digest import encode
from ...errors import CallError, DefinitionError
from ...tools import nearest
from ..http import Door, Response, send
from .keys import known_keys, one_of

METHODS = ("get", "post", "put", "delete")
LOCATIONS = ("body", "form", "path", "query")
SECONDS = 20.0
QUOTED = 500
"""Characters of an answer that a failure quotes."""
_KEYS = ("url", "method", "argument_location", "timeout")
_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a call goes, and where in the request its arguments stand."""

    url: str
    method: str
    argument_location: str
    timeout: float | None = None

    @property
    def slots(self) -> tuple[str, ...]:
        """The parameters that stand in the URL's path."""
        return tuple(_SLOT.findall(self.url))


@dataclass(frozen=True, slots=True)
class Sent:
    """A request in full."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


def called(endpoint: Endpoint, arguments: Mapping[str, Any], hosts: tuple[str, ...]) -> Any:
    """Return what an endpoint answers: JSON as data, text as text.

    Raises CallError for a host that is not allowed, for no answer, and for a status that
    says failure.
    """
    request = composed(endpoint, arguments)
    door = Door(hosts, endpoint.timeout or SECONDS)
    answer = send(door, request.method, request.url, headers=request.headers, body=request.body)
    if not 200 <= answer.status < 300:
        raise CallError(f"{request.method} {_place(request.url)} answered {_failure(answer)}")
    return _content(answer)


def composed(endpoint: Endpoint, arguments: Mapping[str, Any]) -> Sent:
    """Return the request that a call becomes. Raises CallError for what fits no path."""
    method = endpoint.method.upper()
    given = {key: value for key, value in arguments.items() if value is not None}
    match endpoint.argument_location:
        case "body":
            kind = {"content-type": "application/json"}
            return Sent(method, endpoint.url, kind, encode(dict(arguments)).encode())
        case "form":
            kind = {"content-type": "application/x-www-form-urlencoded"}
            return Sent(method, endpoint.url, kind, _pairs(given).encode())
        case "path":
            url = _SLOT.sub(lambda slot: _segment(slot[1], given), endpoint.url)
            rest = {key: value for key, value in given.items() if key not in endpoint.slots}
            return Sent(method, _with_query(url, rest), {})
    return Sent(method, _with_query(endpoint.url, given), {})


def _segment(name: str, arguments: Mapping[str, Any]) -> str:
    """Return one argument as a part of a path, which it can neither leave nor end."""
    value = arguments.get(name)
    if value is None or isinstance(value, (dict, list)):
        raise CallError(f"{name}: stands in the URL, so it has to be a text or a number")
    text = _word(value)
    if text.strip() in ("", ".", ".."):
        raise CallError(f"{name}: {text!r} cannot stand in the path of a URL")
    return quote(text, safe="")


def _with_query(url: str, arguments: Mapping[str, Any]) -> str:
    base, mark, fragment = url.partition("#")
    pairs = _pairs(arguments)
    return f"{base}{('&' if '?' in base else '?') + pairs if pairs else ''}{mark}{fragment}"


def _pairs(arguments: Mapping[str, Any]) -> str:
    """Return arguments as `a=1&b=x`; a list repeats its key, an object is its JSON."""
    every = (
        (key, _word(item))
        for key, value in arguments.items()
        for item in (value if isinstance(value, list) else [value])
    )
    return urlencode(list(every))


def _word(value: Any) -> str:
    return value if isinstance(value, str) else encode(value)


def _failure(answer: Response) -> str:
    known = answer.status in HTTPStatus._value2member_map_
    phrase = f" {HTTPStatus(answer.status).phrase}" if known else ""
    text = " ".join(answer.text[: 4 * QUOTED].split())
    said = f"{text[:QUOTED]}…" if len(text) > QUOTED else text
    return f"{answer.status}{phrase}: {said}" if said else f"{answer.status}{phrase}"


def _content(answer: Response) -> Any:
    if not answer.body:
        return None
    if answer.kind == "application/json" or answer.kind.endswith("+json"):
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise CallError(f"the answer is no JSON: {answer.text[:QUOTED]!r}") from None
    if b"\0" in answer.body[:1000]:
        raise CallError(f"the answer is {answer.kind or 'unnamed'} data, neither JSON nor text")
    return answer.text


def _place(url: str) -> str:
    """The host is the definition's own, and the query holds what was asked for."""
    return urlsplit(url).path or "/"


# -- reading ----------------------------------------------------------------------------


def read_endpoint(found: Any) -> Endpoint:
    """Return what `endpoint` says. Raises DefinitionError, naming the place."""
    if isinstance(found, Mapping) and "argumentLocation" in found:
        found = {
            "argument_location" if key == "argumentLocation" else key: value
            for key, value in found.items()
        }
    said = known_keys(found, _KEYS, "endpoint")
    needed = {"method": METHODS, "argument_location": LOCATIONS}
    for key in _KEYS[:3]:
        if key not in said:
            words = f"; there is {' or '.join(needed[key])}" if key in needed else ""
            raise DefinitionError(f"endpoint.{key}: is missing{words}")
    method = one_of(said["method"], METHODS, "endpoint.method")
    location = one_of(said["argument_location"], LOCATIONS, "endpoint.argument_location")
    if method in ("get", "delete") and location in ("body", "form"):
        raise DefinitionError(
            f"endpoint.argument_location: a {method} has no body for {location!r}; "
            "there is query or path"
        )
    return Endpoint(_url(said["url"], location), method, location, _timeout(said.get("timeout")))


def _url(found: Any, location: str) -> str:
    place = "endpoint.url"
    try:
        parts = urlsplit(found if isinstance(found, str) else "")
        port_fits = parts.port != 0
    except ValueError:
        raise DefinitionError(f"{place}: {found!r:.80} is no URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_fits:
        raise DefinitionError(f"{place}: {found!r:.80} is no URL such as https://api.example.org/x")
    if "@" in parts.netloc:
        raise DefinitionError(f"{place}: holds a password; definitions are shown, so leave it out")
    slots = _SLOT.findall(found)
    if slots and location != "path":
        raise DefinitionError(
            f"{place}: {{{slots[0]}}} is filled in only with argument_location 'path'"
        )
    elsewhere = found.replace(parts.path, "", 1) if parts.path else found
    if _SLOT.search(elsewhere) or re.search(r"[{}]", _SLOT.sub("", found)):
        raise DefinitionError(
            f"{place}: {found!r:.80}: braces stand in the path alone, as {{name}}"
        )
    return str(found)


def _timeout(found: Any) -> float | None:
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 < found <= 3600:
        raise DefinitionError(f"endpoint.timeout: {found!r:.40}; give seconds, more than 0")
    return found


def check_slots(endpoint: Endpoint, known: Iterable[str]) -> None:
    """Raise DefinitionError for a name in the URL that no argument has."""
    names = tuple(known)
    for slot in endpoint.slots:
        if slot not in names:
            raise DefinitionError(
                f"endpoint.url: there is no parameter {slot!r:.60} to fill in; there are: "
                f"{', '.join(names) or 'none'}.{nearest(slot, names)}"
            )
