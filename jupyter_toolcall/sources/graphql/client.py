"""Speaking to a GraphQL server: over HTTP, with its headers; what it answers, and its errors.

Headers and passwords live here alone. They are put in at the moment of sending, and taken
out of whatever comes back. Raises CallError, in one line, wherever no data came.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from ...digest import encode
from ...errors import CallError, DefinitionError
from ...secrets import HIDDEN, LEAST
from .. import http_client as http
from ..allowed_hosts import RequestLimits
from .introspection import Send
from .paths import Path, Step, known_id, needed, query, steps

SECONDS, SIZE = 300.0, 50_000_000
"""A query may run for minutes: a build does."""
SHOWN, LONGEST = 3, 2_000
"""So many errors of one answer are told, and characters of one part of an error."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go. `url` holds no password; `place` is what a person is shown."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    password: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """The address without what tells nothing: a query, and the port of this machine."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        local = host in ("localhost", "127.0.0.1", "::1")
        return f"{parts.scheme}://{host if local else parts.netloc}{parts.path}"


def endpoint(url: str, headers: Mapping[str, str]) -> Endpoint:
    """Return an endpoint; a name and a password in its URL become a header.

    Raises DefinitionError for what is no URL of the web, and for headers that are no texts.
    """
    try:
        parts = urlsplit(url)
        name, host, port = parts.username, parts.hostname, parts.port
    except ValueError as error:
        raise DefinitionError(f"the endpoint is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise DefinitionError("the endpoint must be a URL that begins with http:// or https://")
    for key, value in headers.items():
        if not all(isinstance(part, str) for part in (key, value)):
            raise DefinitionError(f"headers: {key!r:.40} must be a text, and have a text")
    said = f"{unquote(name or '')}:{unquote(parts.password or '')}"
    basic = f"Basic {base64.b64encode(said.encode()).decode()}" if "@" in parts.netloc else ""
    shown = f"[{host}]" if ":" in host else host
    netloc = f"{shown}:{port}" if port else shown
    return Endpoint(urlunsplit(parts._replace(netloc=netloc, fragment="")), dict(headers), basic)


def sender(to: Endpoint) -> Send:
    """Return what sends a query there and returns its data."""
    parts = urlsplit(to.url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    door = RequestLimits((f"{host}:{port}",), SECONDS, SIZE, allow_hint="an endpoint at one of {}")

    def send(text: str, variables: Mapping[str, Any]) -> Any:
        headers = _filled(to)
        hide = _hiding(to, headers)
        body = encode({"query": text, **({"variables": variables} if variables else {})})
        try:
            answer = http.send(door, "POST", to.url, headers=headers, body=body.encode())
        except CallError as error:
            raise CallError(hide(str(error))) from None
        return _data(answer.status, hide(answer.text), to.place)

    return send


def nowhere(text: str, variables: Mapping[str, Any]) -> Any:
    """Say that there is nowhere to send to."""
    raise CallError(
        "this schema has no endpoint, so nothing can be sent; give one with "
        'from_graphql(..., endpoint="https://...")'
    )


def _filled(to: Endpoint) -> dict[str, str]:
    """Return the headers with the variables of the environment that they name."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise CallError(
                f"a header of {to.place} needs the environment variable {found[1]}, which is not "
                "set; set it and run the call again"
            )
        return os.environ[found[1]]

    given = {"content-type": "application/json", "accept": _ACCEPT}
    given |= {"authorization": to.password} if to.password else {}
    return given | {k.lower(): _VARIABLE.sub(value, v) for k, v in to.headers.items()}


_ACCEPT = "application/graphql-response+json, application/json;q=0.9"


def _hiding(to: Endpoint, headers: Mapping[str, str]) -> Callable[[str], str]:
    """Return what takes the headers' values, and the secrets in them, out of a text."""
    own = {key.lower() for key in to.headers} | {"authorization"}
    values = [value for key, value in headers.items() if key in own]
    values += [value.rpartition(" ")[2] for value in values]
    named = (name for value in to.headers.values() for name in _VARIABLE.findall(value))
    values += [os.environ.get(name, "") for name in named]
    said = base64.b64decode(to.password.removeprefix("Basic ")).decode()
    values += [said, said.partition(":")[2]]
    secrets = sorted({v for v in values if len(v) >= LEAST}, key=len, reverse=True)

    def hide(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, HIDDEN).replace(json.dumps(secret)[1:-1], HIDDEN)
        return text

    return hide


# -- what comes back ------------------------------------------------------------------


def _data(status: int, text: str, place: str) -> Any:
    """Return the data of an answer. A part of it, beside errors, is a failure all the same."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    errors = body.get("errors") if isinstance(body, dict) else None
    if errors:
        raise CallError("; ".join(_errors(errors if isinstance(errors, list) else [errors])))
    if not 200 <= status < 300:
        raise CallError(f"{place} answered with status {status}: {_line(text, 300) or 'no text'}")
    if not isinstance(body, dict):
        raise CallError(f"{place} answered with something that is no JSON: {_line(text, 200)}")
    if not isinstance(body.get("data"), dict):
        raise CallError(f"{place} answered with neither data nor errors: {_line(text, 200)}")
    return body["data"]


def _errors(errors: list[Any]) -> Iterator[str]:
    """Yield each error in one line: its message, its path, and what else is told of it."""
    for error in errors[:SHOWN]:
        known = error if isinstance(error, dict) else {"message": str(error)}
        path = known.get("path")
        way = ".".join(map(str, path)) if isinstance(path, list) else ""
        at = [f"at {_line(way, LONGEST)}"] if way else []
        more = known.get("extensions")
        told = sorted(more.items()) if isinstance(more, dict) else []
        details = [*at, *(f"{_line(key, LONGEST)}: {_detail(value)}" for key, value in told)]
        message = _line(str(known.get("message") or "an error without a message"), LONGEST)
        yield f"{message} ({'; '.join(details)})" if details else message
    if len(errors) > SHOWN:
        yield f"and {len(errors) - SHOWN} more errors"


def _detail(value: Any) -> str:
    """The end of a long output says most."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"…{text[1 - LONGEST :]}"


def _line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


# -- objects --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """A way to send, and the ids of objects as far as they were asked for.

    An id is asked for once for each object, not for each path: two objects that were made
    by equal calls at two times may be two things.
    """

    send: Send
    ids: WeakKeyDictionary[Path, str] = field(default_factory=WeakKeyDictionary)

    def ask(self, operation: str, before: Path | None, step: Step, selection: str = "") -> Any:
        """Return what a step leads to, in one request once the ids that it needs are known."""
        way = [*steps(before), step]
        self._identify([path for each in way for path in needed(each)])
        text, variables = query(operation, way, selection, self.ids)
        return _at(self.send(text, variables), way)

    def _identify(self, objects: list[Path]) -> None:
        """Ask for the ids of objects, first for those that stand in their own paths."""
        ahead = objects
        while ahead:
            path = ahead[-1]
            way = steps(path)
            known = known_id(path)
            more = [p for step in way for p in needed(step) if p not in self.ids]
            if path in self.ids or known or not more:
                ahead.pop()
                if path not in self.ids:
                    self.ids[path] = known or self._id(path, way)
            else:
                ahead += more

    def _id(self, path: Path, way: list[Step]) -> str:
        text, variables = query("query", [*way, Step("id")], "", self.ids)
        found = _at(self.send(text, variables), [*way, Step("id")])
        if not isinstance(found, (str, int)):
            raise CallError(f"{path} has no id: the server answered {found!r:.60}")
        return str(found)


def _at(data: Any, way: list[Step]) -> Any:
    """Return what stands at the end of a way. Raises CallError where something on it is null."""
    for at, step in enumerate(way):
        if not isinstance(data, dict) or step.field not in data:
            shown = ".".join(each.field for each in way[:at]) or "the answer"
            what = "is null" if data is None else "is not what was asked for"
            raise CallError(f"{shown} {what}, so it has no {step.field}")
        data = data[step.field]
        for index in step.item:
            if not isinstance(data, list) or index >= len(data):
                raise CallError(f"{step.field} has no item {index} any more")
            data = data[index]
    return data
