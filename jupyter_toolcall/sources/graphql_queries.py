"""Objects of a GraphQL server, the queries that lead to them, and the requests.

An object is the path of the query that leads to it, and nothing else: no client, no address and
no header. A path never changes, so it is compared and copied as one value.

Headers and passwords are put in when a request is sent, and taken out of every response. Raises
CallError, in one line, if there is no data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from ..core.digests import digest_text, encode
from ..core.errors import CallError, DefinitionError
from ..core.recorded_data import JsonDict, JsonObject
from ..core.text import printable, shortened_text
from . import graphql_schema as gql
from .graphql_schema import AnyType
from .http_client import PORTS, RequestLimits, web_url
from .request_headers import SecretHeaders


class Answer(NamedTuple):
    """The data of a response, and in one line each what went wrong with parts of it."""

    data: Any
    errors: tuple[str, ...] = ()


Send = Callable[[str, JsonObject], Answer]
"""Sends a query with its variables. Raises CallError where no data came."""
Value = Any
"""What stands in an argument: JSON data, in which an `ObjectPath` stands for its id."""
Sent = tuple[tuple[str, AnyType, Value], ...]
"""Arguments as they are sent: the name, the type and the value of each."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
FIRST_STEPS, LAST_STEPS, MAX_ARGUMENT = 3, 5, 60
"""How many steps of a path are shown, and characters of one argument."""


class Step(NamedTuple):
    """One field on the way: its arguments, an item of its list, a type to narrow it to."""

    field: str
    arguments: Sent = ()
    item: tuple[int, ...] = ()
    on: str = ""
    by_id: bool = False
    """Whether it finds an object by its id, which is its one argument."""


class ObjectPath:
    """The way to an object. Each type of a schema is a class below this one."""

    __slots__ = ("__weakref__", "before", "key", "step")
    before: ObjectPath | None
    step: Step
    key: str

    def __init__(self, before: ObjectPath | None, step: Step) -> None:
        arguments = _arguments_text(step, lambda path: path.key, lambda ref, value: encode(value))
        # Journals hold digests of this text: another form of it would be another object.
        text = f'["{step.field}", {{{arguments}}}, {[*step.item]}, "{step.on}"]'
        put = object.__setattr__
        put(self, "before", before)
        put(self, "step", step)
        put(self, "key", digest_text("path", before.key if before else "", text))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self} never changes: a call makes a new object")

    def __content__(self) -> str:
        """What it is, as content: whatever leads along one path is equal."""
        return self.key

    def __str__(self) -> str:
        shown = [_shown(step) for step in steps(self)]
        left_out = len(shown) - FIRST_STEPS - LAST_STEPS
        if left_out > 1:
            shown = [*shown[:FIRST_STEPS], f"…{left_out} more…", *shown[-LAST_STEPS:]]
        return ".".join(shown)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> JsonDict:
        return {"text/plain": printable(str(self))}


def steps(path: ObjectPath | None) -> list[Step]:
    """Return the steps that lead to an object, the first one first."""
    path_steps = []
    while path is not None:
        path_steps.append(path.step)
        path = path.before
    return path_steps[::-1]


Name = Callable[[ObjectPath], str]
Variable = Callable[[AnyType, Value], str]
"""Writes a value that has no literal."""


def written(ref: AnyType, value: Value, name: Name, variable: Variable) -> str:
    """Return a value of a type as GraphQL writes it; `name` writes objects."""
    item, named = gql.item_type(ref), gql.named_type(ref)
    if isinstance(value, ObjectPath):
        return name(value)
    if item is not None and value is not None:
        return "[" + ", ".join(written(item, part, name, variable) for part in value) + "]"
    if (fields := gql.input_fields(named)) is not None and value is not None:
        parts = (f"{k}: {written(fields[k].type, v, name, variable)}" for k, v in value.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, (dict, list)):
        return variable(ref, value)
    return str(value) if value and gql.enum_values(named) else _ENCODER.encode(value)


def _arguments_text(step: Step, name: Name, variable: Variable) -> str:
    texts = ((key, written(ref, value, name, variable)) for key, ref, value in step.arguments)
    return ", ".join(f"{key}: {text}" for key, text in texts)


def query(
    operation: str, way: Iterable[Step], selection: str, ids: Mapping[ObjectPath, str]
) -> tuple[str, JsonDict]:
    """Return the text and the variables of a request; `ids` are those of the objects in it."""
    variables: list[tuple[AnyType, Value]] = []

    def variable(ref: AnyType, value: Value) -> str:
        variables.append((ref, value))
        return f"$v{len(variables)}"

    def name(path: ObjectPath) -> str:
        return _ENCODER.encode(ids[path])

    opened, closed = "", 0
    for step in way:
        arguments = _arguments_text(step, name, variable)
        opened += f" {{ {step.field}" + (f"({arguments})" if arguments else "")
        opened += f" {{ ... on {step.on}" if step.on else ""
        closed += 2 if step.on else 1
    declared = ", ".join(f"$v{n}: {ref}" for n, (ref, _) in enumerate(variables, 1))
    head = f"{operation}({declared})" if declared else operation.removeprefix("query")
    text = f"{head}{opened}{f' {selection}' if selection else ''}{' }' * closed}".strip()
    return text, {f"v{n}": value for n, (_, value) in enumerate(variables, 1)}


# -- as a person reads it -------------------------------------------------------------


def _shown(step: Step) -> str:
    texts: list[str] = []
    for name, ref, value in step.arguments:
        text = written(ref, value, _short_path, lambda ref, value: encode(value))
        text = shortened_text(text, MAX_ARGUMENT)
        texts.append(f"{name}: {text}" if texts else text)
    index = "".join(f"[{at}]" for at in step.item)
    return _short_name(step) + (f"({', '.join(texts)})" if texts else "") + index


def _short_name(step: Step) -> str:
    """An object that was found by its id is shown by its type and that."""
    if not step.by_id:
        return step.field
    return step.on or step.field.removeprefix("load").removesuffix("FromID")


def _short_path(path: ObjectPath) -> str:
    """An object in an argument is shown by its fields alone: it has a row of its own."""
    names = [_short_name(step) for step in steps(path)]
    return ".".join(names if len(names) <= 3 else [names[0], "…", names[-1]])


# -- requests -------------------------------------------------------------------------

SECONDS, MAX_BYTES = 300.0, 50_000_000
"""A query may run for minutes: a build does."""
MAX_ERRORS, MAX_DETAIL = 3, 2_000
"""How many errors of one response are shown, and characters of one part of an error."""
_ACCEPT = "application/graphql-response+json, application/json;q=0.9"


@dataclass(frozen=True, slots=True)
class GraphQLEndpoint:
    """Where requests go. `url` holds no password; `shown` is what a person sees of it."""

    url: str
    headers: SecretHeaders = field(default_factory=SecretHeaders, repr=False)

    @property
    def shown(self) -> str:
        """The address without its query, and without the port of this computer."""
        parts = urlsplit(self.url)
        local = parts.hostname in ("localhost", "127.0.0.1", "::1")
        return f"{parts.scheme}://{parts.hostname if local else parts.netloc}{parts.path}"

    def send(self, text: str, variables: Mapping[str, object]) -> Answer:
        """Send a query with its variables. Raises CallError where no data came."""
        parts = urlsplit(self.url)
        host = parts.netloc if parts.port else f"{parts.netloc}:{PORTS[parts.scheme]}"
        limits = RequestLimits((host,), SECONDS, MAX_BYTES, allow_hint="an endpoint at one of {}")
        body = encode({"query": text, **({"variables": variables} if variables else {})}).encode()
        kind = {"content-type": "application/json", "accept": _ACCEPT}
        response = self.headers.send(limits, "POST", self.url, kind, body, self.shown)
        return _answer(response.status, response.text, self.shown)

    def introspection(self) -> object:
        """Return the server's introspection result, with the directives where it lists them.

        Raises DefinitionError where it tells nothing.
        """
        try:
            data = self.send(gql.introspection_query(""), {}).data
            names = [field["name"] for field in (data.get("__type") or {}).get("fields") or ()]
            # Servers that go beyond the standard list the directives of a field.
            listed = next((n for n in ("directives", "appliedDirectives") if n in names), "")
            return self.send(gql.introspection_query(listed), {}).data if listed else data
        except CallError as error:
            raise DefinitionError(f"{self.shown} did not tell its schema: {error}") from None


def graphql_endpoint(url: str, headers: Mapping[str, str]) -> GraphQLEndpoint:
    """Return an endpoint; a name and a password in its URL become a header.

    Raises DefinitionError for what is no URL of the web, and for headers that are no texts.
    """
    parts = web_url(url)
    if parts is None:
        raise DefinitionError("the endpoint is no URL such as https://api.example.org/graphql")
    has_password = "@" in parts.netloc
    user, secret = unquote(parts.username or ""), unquote(parts.password or "")
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
    password = f"{user}:{secret}" if has_password else ""
    return GraphQLEndpoint(bare, SecretHeaders(dict(headers), password))


def send_nowhere(text: str, variables: Mapping[str, object]) -> Answer:
    """Raise CallError: the schema has no endpoint."""
    raise CallError(
        "this schema has no endpoint, so nothing can be sent; give one with "
        'from_graphql(..., endpoint="https://...")'
    )


# -- responses ------------------------------------------------------------------------


def _answer(status: int, text: str, address: str) -> Answer:
    """Return the data of a response, and the errors beside it. Raises CallError without data."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    errors = body.get("errors") if isinstance(body, dict) else None
    if errors:
        lines = tuple(_errors(errors if isinstance(errors, list) else [errors]))
        if isinstance(body.get("data"), dict):
            return Answer(body["data"], lines)
        raise CallError("; ".join(lines))
    if not 200 <= status < 300:
        reason = f"with status {status}: {_line(text, 300) or 'no text'}"
    elif not isinstance(body, dict):
        reason = f"with something that is no JSON: {_line(text, 200)}"
    elif not isinstance(body.get("data"), dict):
        reason = f"with neither data nor errors: {_line(text, 200)}"
    else:
        return Answer(body["data"])
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
    return shortened_text(" ".join(text.split()), limit)


# -- objects --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """A way to send, and the ids of objects as far as they were asked for.

    An id is asked for once for each object, not for each path: two objects that were made
    by equal calls at two times may be two things.
    """

    send: Send = send_nowhere
    ids: WeakKeyDictionary[ObjectPath, str] = field(default_factory=WeakKeyDictionary)

    def ask(
        self, operation: str, before: ObjectPath | None, step: Step, selection: str = ""
    ) -> Answer:
        """Return the data that a step leads to, in one request once the ids are known.

        Raises CallError where nothing came.
        """
        way = [*steps(before), step]
        ahead = _objects(way)
        while ahead:
            # The ids of objects in an object's own path are asked for first.
            path = ahead[-1]
            missing = [step for step in _objects(steps(path)) if step not in self.ids]
            if path in self.ids or path.step.by_id or not missing:
                ahead.pop()
                if path not in self.ids:
                    self.ids[path] = self._id(path)
            else:
                ahead += missing
        return _at(self.send(*query(operation, way, selection, self.ids)), way)

    def _id(self, path: ObjectPath) -> str:
        if path.step.by_id:
            return str(path.step.arguments[0][2])
        way = [*steps(path), Step("id")]
        object_id = _at(self.send(*query("query", way, "", self.ids)), way).data
        if type(object_id) not in (str, int):
            raise CallError(f"{path} has no id: the server answered {object_id!r:.60}")
        return str(object_id)


def _objects(way: list[Step]) -> list[ObjectPath]:
    """Return the objects whose ids some steps need."""
    objects = list[ObjectPath]()

    def name(path: ObjectPath) -> str:
        objects.append(path)
        return ""

    for step in way:
        _arguments_text(step, name, lambda ref, value: "")
    return objects


def _at(answer: Answer, way: list[Step]) -> Answer:
    """Return what is at the end of a way. Raises CallError where something on it is null."""
    data, reason = answer.data, "; ".join(answer.errors)
    for count, step in enumerate(way):
        if not isinstance(data, dict) or step.field not in data:
            shown = ".".join(step.field for step in way[:count]) or "the answer"
            what = "is null" if data is None else "is not what was asked for"
            raise CallError(reason or f"{shown} {what}, so it has no {step.field}")
        data = data[step.field]
        for index in step.item:
            if not isinstance(data, list) or index >= len(data):
                raise CallError(reason or f"{step.field} has no item {index} any more")
            data = data[index]
    if data is None and reason:
        raise CallError(reason)
    return Answer(data, answer.errors)
