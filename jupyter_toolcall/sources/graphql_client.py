"""Requests to a GraphQL server: its headers, its responses, its errors, the ids of objects.

Headers and passwords are here alone. They are put in when a request is sent, and taken out
of whatever comes back. Raises CallError, in one line, wherever no data came.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from ..core.digests import encode
from ..core.errors import CallError, DefinitionError
from ..core.secrets import HIDDEN, LEAST
from ..sources import http_client
from .allowed_hosts import RequestLimits
from .graphql_introspection import Send
from .graphql_objects import ObjectPath, Step, objects_in, query, steps

SECONDS, MAX_BYTES = 300.0, 50_000_000
"""A query may run for minutes: a build does."""
MAX_ERRORS, MAX_DETAIL = 3, 2_000
"""How many errors of one response are shown, and characters of one part of an error."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_ACCEPT = "application/graphql-response+json, application/json;q=0.9"


@dataclass(frozen=True, slots=True)
class GraphQLEndpoint:
    """Where requests go. `url` holds no password; `shown` is what a person sees of it."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    password: str = field(default="", repr=False)
    """A name and a password, as `name:password`."""

    @property
    def shown(self) -> str:
        """The address without its query, and without the port of this computer."""
        parts = urlsplit(self.url)
        local = parts.hostname in ("localhost", "127.0.0.1", "::1")
        return f"{parts.scheme}://{parts.hostname if local else parts.netloc}{parts.path}"

    def send(self, text: str, variables: Mapping[str, Any]) -> Any:
        """Send a query with its variables, and return its data. Raises CallError."""
        headers = self._filled_headers()
        parts = urlsplit(self.url)
        host = parts.netloc if parts.port else f"{parts.netloc}:{_PORTS[parts.scheme]}"
        limits = RequestLimits((host,), SECONDS, MAX_BYTES, allow_hint="an endpoint at one of {}")
        body = encode({"query": text, **({"variables": variables} if variables else {})}).encode()
        try:
            response = http_client.send(limits, "POST", self.url, headers=headers, body=body)
        except CallError as error:
            raise CallError(self._hidden(str(error), headers)) from None
        return _data(response.status, self._hidden(response.text, headers), self.shown)

    def _filled_headers(self) -> dict[str, str]:
        """Return the headers with the variables of the environment that they name."""

        def value(name: re.Match[str]) -> str:
            if name[1] not in os.environ:
                raise CallError(
                    f"a header of {self.shown} needs the environment variable {name[1]}, which is "
                    "not set; set it and run the call again"
                )
            return os.environ[name[1]]

        filled = {"content-type": "application/json", "accept": _ACCEPT}
        if self.password:
            encoded = base64.b64encode(self.password.encode()).decode()
            filled["authorization"] = f"Basic {encoded}"
        return filled | {k.lower(): _VARIABLE.sub(value, v) for k, v in self.headers.items()}

    def _hidden(self, text: str, headers: Mapping[str, str]) -> str:
        """Return a text without the values of headers, and the secrets in them."""
        own = {key.lower() for key in self.headers} | {"authorization"}
        secrets = [value for key, value in headers.items() if key in own]
        secrets += [value.rpartition(" ")[2] for value in secrets]
        names = [name for value in self.headers.values() for name in _VARIABLE.findall(value)]
        secrets += [os.environ.get(name, "") for name in names]
        secrets += [self.password, self.password.partition(":")[2]]
        for secret in sorted({s for s in secrets if len(s) >= LEAST}, key=len, reverse=True):
            text = text.replace(secret, HIDDEN).replace(json.dumps(secret)[1:-1], HIDDEN)
        return text


_PORTS = {"http": 80, "https": 443}


def graphql_endpoint(url: str, headers: Mapping[str, str]) -> GraphQLEndpoint:
    """Return an endpoint; a name and a password in its URL become a header.

    Raises DefinitionError for what is no URL of the web, and for headers that are no texts.
    """
    try:
        parts = urlsplit(url)
        user, host, port = parts.username, parts.hostname, parts.port
    except ValueError as error:
        raise DefinitionError(f"the endpoint is no URL: {error}") from None
    if parts.scheme not in _PORTS or not host:
        raise DefinitionError("the endpoint must be a URL that begins with http:// or https://")
    for key, value in headers.items():
        if not all(isinstance(part, str) for part in (key, value)):
            raise DefinitionError(f"headers: {key!r:.40} must be a text, and have a text")
    has_password = "@" in parts.netloc
    password = f"{unquote(user or '')}:{unquote(parts.password or '')}" if has_password else ""
    netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    bare = urlunsplit(parts._replace(netloc=netloc, fragment=""))
    return GraphQLEndpoint(bare, dict(headers), password)


def send_nowhere(text: str, variables: Mapping[str, Any]) -> Any:
    """Raise CallError: the schema has no endpoint."""
    raise CallError(
        "this schema has no endpoint, so nothing can be sent; give one with "
        'from_graphql(..., endpoint="https://...")'
    )


# -- responses ------------------------------------------------------------------------


def _data(status: int, text: str, address: str) -> Any:
    """Return the data of a response. A part of it, beside errors, is a failure all the same."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    errors = body.get("errors") if isinstance(body, dict) else None
    if errors:
        raise CallError("; ".join(_errors(errors if isinstance(errors, list) else [errors])))
    if not 200 <= status < 300:
        reason = f"with status {status}: {_line(text, 300) or 'no text'}"
    elif not isinstance(body, dict):
        reason = f"with something that is no JSON: {_line(text, 200)}"
    elif not isinstance(body.get("data"), dict):
        reason = f"with neither data nor errors: {_line(text, 200)}"
    else:
        return body["data"]
    raise CallError(f"{address} answered {reason}")


def _errors(errors: list[Any]) -> Iterator[str]:
    """Yield each error in one line: its message, its path, and its extensions."""
    for error in errors[:MAX_ERRORS]:
        parts = error if isinstance(error, dict) else {"message": str(error)}
        path, extensions = parts.get("path"), parts.get("extensions")
        details = []
        if isinstance(path, list) and path:
            details.append(f"at {_line('.'.join(map(str, path)), MAX_DETAIL)}")
        for key, value in sorted(extensions.items()) if isinstance(extensions, dict) else ():
            text = json.dumps(value, ensure_ascii=False)
            # The end of a long output is the telling part.
            text = text if len(text) <= MAX_DETAIL else f"…{text[1 - MAX_DETAIL :]}"
            details.append(f"{_line(key, MAX_DETAIL)}: {text}")
        message = _line(str(parts.get("message") or "an error without a message"), MAX_DETAIL)
        yield f"{message} ({'; '.join(details)})" if details else message
    if len(errors) > MAX_ERRORS:
        yield f"and {len(errors) - MAX_ERRORS} more errors"


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
    ids: WeakKeyDictionary[ObjectPath, str] = field(default_factory=WeakKeyDictionary)

    def ask(
        self, operation: str, before: ObjectPath | None, step: Step, selection: str = ""
    ) -> Any:
        """Return the data that a step leads to, in one request once the ids are known."""
        way = [*steps(before), step]
        ahead = _objects(way)
        while ahead:
            # The ids of objects in an object's own path are asked for first.
            path = ahead[-1]
            missing = [each for each in _objects(steps(path)) if each not in self.ids]
            if path in self.ids or path.step.by_id or not missing:
                ahead.pop()
                if path not in self.ids:
                    self.ids[path] = self._id(path)
            else:
                ahead += missing
        return _at(self.send(*query(operation, way, selection, self.ids)), way)

    def _id(self, path: ObjectPath) -> str:
        if path.step.by_id:
            return str(path.step.arguments[0][1])
        way = [*steps(path), Step("id")]
        object_id = _at(self.send(*query("query", way, "", self.ids)), way)
        if not isinstance(object_id, (str, int)):
            raise CallError(f"{path} has no id: the server answered {object_id!r:.60}")
        return str(object_id)


def _objects(way: list[Step]) -> list[ObjectPath]:
    """Return the objects whose ids some steps need."""
    return [path for step in way for _, value in step.arguments for path in objects_in(value)]


def _at(data: Any, way: list[Step]) -> Any:
    """Return what is at the end of a way. Raises CallError where something on it is null."""
    for count, step in enumerate(way):
        if not isinstance(data, dict) or step.field not in data:
            shown = ".".join(each.field for each in way[:count]) or "the answer"
            what = "is null" if data is None else "is not what was asked for"
            raise CallError(f"{shown} {what}, so it has no {step.field}")
        data = data[step.field]
        for index in step.item:
            if not isinstance(data, list) or index >= len(data):
                raise CallError(f"{step.field} has no item {index} any more")
            data = data[index]
    return data
