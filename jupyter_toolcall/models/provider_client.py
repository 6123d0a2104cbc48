"""What the clients of Anthropic and OpenAI share: one request, one line for every error, one reply.

Their SDKs have one author, one set of errors, and one transport (`httpx2`). Each client imports
its own SDK, at the first request: the import takes seconds. The key stays inside the SDK's client.
"""

from __future__ import annotations

import json
import re
import sys
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlsplit

from ..core.errors import ModelError
from ..core.events import Call
from ..core.json_data import no_constant
from ..core.recorded_data import replace
from ..schemes.messages import Reply, Request, Sent
from ..tools.arguments import parse_arguments
from ..tools.plain_data import well_formed
from ..tools.tool import ToolDefinition, parameters_schema
from .retrying import Passing, Patience, asked_wait, may_pass, persistent
from .tool_names import with_short_names

Json = dict[str, Any]

AGAIN = "nothing of it ran; run again to continue"
GO_ON = "Go on."
"""Said for the person where the model has to speak twice: no API continues the model's turn."""
NO_KEY = "none"
"""The key for a server that asks for none: the SDK wants one."""
_SHORT = 6
"""A header's value of so many characters is no secret."""


class ProviderClient(ABC):
    """A model behind an API: call it with a `Request`, and it returns a `Reply`.

    `on_text` gets each piece of text as it comes, and what it raises ends the call; `on_wait`
    gets why the API is asked again, and when. A call raises ModelError, in one line, if there
    is no whole reply; an interrupt passes through.
    """

    provider = ""
    """Its name in front of a model's."""
    key_name = ""
    """The variable of the environment that holds the key."""

    def __init__(
        self,
        model: str,
        on_text: Callable[[str], object] | None,
        on_wait: Callable[[str], object] | None,
        patience: Patience | None,
        client: Any,
    ) -> None:
        self.model = model
        self.name = f"{self.provider}:{model}"
        self.on_text = on_text or (lambda text: None)
        self.on_wait = on_wait or (lambda text: None)
        self.patience = patience or Patience()
        # Who asks again is `persistent`, where it is seen.
        asks_again = client and client.max_retries
        self._client = client.with_options(max_retries=0) if asks_again else client

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def __call__(self, request: Request) -> Reply:
        """Return the model's reply. Raises ModelError if there is no whole one."""
        return persistent(lambda: self._attempt(request), self.patience, self.on_wait)

    def body(self, request: Request) -> Json:
        """Return the JSON body that a request is sent as: nothing else goes into it."""
        return self._body(with_short_names(request)[0])

    @abstractmethod
    def _body(self, request: Request) -> Json:
        """Return the body of a request whose tools have names that the API takes."""

    @abstractmethod
    def _sdk(self) -> tuple[Any, type[Exception]]:
        """Return the SDK, and the class of all its errors."""

    @abstractmethod
    def _stream(self, body: Json) -> Iterator[Any]:
        """Yield the parts of the response to a body, decoded as far as `_read` needs it."""

    @abstractmethod
    def _read(self, parts: Iterable[Any], body: Json, tools: Mapping[str, str]) -> Reply:
        """Return the reply that the parts hold; `tools` are names of tools by their short form."""

    @abstractmethod
    def _connected(self) -> Any:
        """Return the SDK's client, with the key of the environment."""

    @abstractmethod
    def _named_url(self) -> str:
        """Return the address that the environment or a program names."""

    @property
    def base_url(self) -> str:
        """The address that requests are sent to. Raises ModelError where it is none."""
        return str(self._client.base_url) if self._client else self._named_url()

    @property
    def server(self) -> str:
        """The address as it may be shown: without a user's name and password."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")

    @property
    def where(self) -> str:
        """The API's name in an error."""
        return "the API"

    def _refusal(self, status: int, body: object) -> tuple[str, bool]:
        """Return what an HTTP status means and what to do, and whether it is final."""
        where, busy = self.where, f"too many requests for now ({status}), wait a little"
        other = f"{where} is busy or down" if status >= 500 else f"{where} refused the request"
        lines = {
            401: f"{where} refuses the key (401): check {self.key_name}",
            403: f"the key may not use {self.model} at {where} (403)",
            404: f"{where} has no model {self.model} (404): check the name",
            **dict.fromkeys((408, 409, 429), busy),
        }
        return lines.get(status, f"{other} ({status})"), False

    def _unreached(self, cause: str) -> ModelError:
        return Passing(f"the connection to {self.where} failed ({cause}); {AGAIN}")

    def _attempt(self, request: Request) -> Reply:
        """Return the reply to one request. Raises Passing if another attempt may help."""
        try:
            sent, tools = with_short_names(request)
            body = self._body(sent)
            with closing(self._parts(body)) as parts:
                return self._read(parts, body, tools)
        except ModelError as error:
            problem = redacted(error, self._secrets())
        # Raised here, so that no trace of the request, and its key, hangs on it.
        raise problem

    def _parts(self, body: Json) -> Generator[Any, None, None]:
        """Yield the parts of the response. Raises ModelError, in one line, for what goes wrong."""
        import httpx2

        sdk, sdk_error = self._sdk()
        try:
            self._client = self._client or self._connected()
            yield from self._stream(body)
            return
        except sdk.APIStatusError as error:
            problem = self._refused(error)
        except (sdk.APITimeoutError, httpx2.TimeoutException) as error:
            late = f"{self.where} did not answer in time; {AGAIN}"
            # A long wait for an answer is not repeated without being asked for.
            problem = Passing(late) if cause(error) == "ConnectTimeout" else ModelError(late)
        except (sdk.APIConnectionError, httpx2.HTTPError) as error:
            redirect = error.__cause__
            problem = (
                redirect if isinstance(redirect, ModelError) else self._unreached(cause(error))
            )
        except sdk_error as error:
            problem = ModelError(f"{self.where} could not be asked: {one_line(str(error))}")
        except (httpx2.InvalidURL, ValueError, OSError) as error:
            problem = ModelError(
                f"{self.where} could not be asked, or understood ({cause(error)}); {AGAIN}"
            )
        raise problem from None

    def _refused(self, error: Any) -> ModelError:
        """Return the error for a response with an HTTP status of failure."""
        status, headers = error.status_code, error.response.headers
        line, final = self._refusal(status, error.body)
        line = ": ".join(filter(None, (line, error_text(error.body))))
        if final or not may_pass(status, headers):
            return ModelError(line)
        return Passing(f"{line}; {AGAIN}", asked_wait(headers, time.time()))

    def _secrets(self) -> Iterator[str]:
        """Yield the keys of the SDK's client, and what a person's own headers say."""
        for key in ("api_key", "auth_token"):
            if (text := getattr(self._client, key, None)) != NO_KEY:
                yield text or ""
        for text in getattr(self._client, "_custom_headers", {}).values():
            if isinstance(text, str) and len(text) > _SHORT:
                yield text


# -- the connection --------------------------------------------------------------------------


def same_server_only(response: Any) -> None:
    """Raise ModelError for a redirect to another scheme, host or port.

    A request holds the prompt and the results of tools, and some keys travel in headers that an
    HTTP client sends along wherever it is redirected to: so the person names each server. It is
    given to the HTTP client as a hook, which runs before the redirect is followed.
    """
    import httpx2

    if not response.has_redirect_location:
        return
    origin = _server(response.url)
    try:
        target = _server(response.url.join(response.headers["location"]))
    except httpx2.InvalidURL:
        target = "no address"
    if target != origin:
        raise ModelError(
            f"{origin} redirects to {target}, which is another server: "
            "nothing was sent there; if it is the right one, set the base URL to it"
        )


def _server(url: Any) -> str:
    """Return the scheme, host and port of an HTTP client's URL, which has no default port."""
    return f"{url.scheme}://{url.netloc.decode()}"


def http_client(owner: object, make: Callable[..., Any]) -> Any:
    """Return an HTTP client for an SDK, which is closed with its owner.

    An SDK closes the HTTP client that it made itself, and not one that it was given.
    """
    client = make(event_hooks={"response": [same_server_only]})
    weakref.finalize(owner, client.close)
    return client


def read_to_end(parts: Iterable[object]) -> None:
    """Read the remaining parts of a stream: then the connection serves the next turn."""
    import httpx2

    with suppress(httpx2.HTTPError, ValueError):
        deque(parts, maxlen=0)


# -- errors ----------------------------------------------------------------------------------


def error_text(body: object) -> str:
    """Return the words of an error, in whichever form a server sends them."""
    match body:
        case str():
            return one_line(body)
        case {"error": (str() | dict()) as inner} if inner:
            return error_text(inner)
        case {"message": (str() | dict()) as inner} if inner:
            return error_text(inner)
        case {"detail": str(inner)}:
            return one_line(inner)
        case {"detail": list(faults)}:
            return one_line("; ".join(map(_fault, faults)))
    return ""


def _fault(fault: object) -> str:
    match fault:
        case {"loc": list(path), "msg": str(message)}:
            return f"{'.'.join(map(str, path))}: {message}"
    return str(fault)


def redacted(error: ModelError, secrets: Iterable[str]) -> ModelError:
    """Return an error of the same kind without these texts."""
    text = str(error)
    for secret in filter(None, secrets):
        text = text.replace(secret, "«redacted»")
    return Passing(text, error.after) if isinstance(error, Passing) else ModelError(text)


def cause(error: BaseException) -> str:
    """Return the kind of an error's cause: the words of a transport may quote what was sent."""
    return type(error.__cause__ or error).__name__


def one_line(text: str) -> str:
    """Return the words of another program as the part of one line."""
    return well_formed(" ".join(text.split())[:300])


# -- tools ---------------------------------------------------------------------------------------


def tools_sent(request: Request) -> list[Sent]:
    """Return the tools as they were first sent, then those that are new or have other arguments."""
    schemas = {tool.name: parameters_schema(tool) for tool in request.first}
    now = sorted(request.tools, key=lambda tool: tool.name)
    new = [as_sent(t, request.turn) for t in now if schemas.get(t.name) != parameters_schema(t)]
    return [*request.first, *new]


def newest_tools(request: Request) -> list[Sent]:
    """Return the newest definition of each tool on offer, in the order in which they first came.

    A server's cache has what it read before, so that a tool stands where it first stood.
    """
    newest = {tool.name: tool for tool in tools_sent(request)}
    offered = {tool.name for tool in request.tools}
    return [tool for name, tool in newest.items() if name in offered]


def as_sent(tool: ToolDefinition, turn: int) -> Sent:
    """Return a tool as it is sent with the request of a turn for the first time."""
    return Sent(tool.name, tool.description, parameters_schema(tool), turn=turn)


# -- the reply -------------------------------------------------------------------------------


def call_of(call_id: str, name: str, text: str, tools: Mapping[str, str]) -> Call:
    """Return a call with the arguments in a text; where they cannot be read strictly it is broken.

    `tools` are the names of tools, by the short form that they were sent in.
    """
    call = Call(well_formed(call_id), tools.get(name, well_formed(name)))
    try:
        return replace(call, arguments=parse_arguments(text))
    except ValueError as error:
        return replace(call, broken=str(error))


def stop_reason(reason: str, stops: Mapping[str, str]) -> str:
    """Return a provider's stop reason as one of ours.

    Raises Passing for "", since the stream ended before the reply did; ModelError for an unknown
    reason.
    """
    if not reason:
        raise Passing(f"the model's reply was cut off before its end; {AGAIN}")
    if reason not in stops:
        name = well_formed(reason[:80])
        raise ModelError(f"the model stopped for an unknown reason: {name}; {AGAIN}")
    return stops[reason]


def broken_off(where: str, why: str, passes: bool) -> ModelError:
    """Return the error for a stream in which the API says that it failed."""
    line = f"{where} broke off its reply ({why or 'without saying why'}); {AGAIN}"
    return Passing(line) if passes else ModelError(line)


def garbled(what: str) -> ModelError:
    """Return the error for a stream that makes no sense."""
    return ModelError(f"the model's reply came garbled: {what}; {AGAIN}")


def json_object(text: str) -> Json:
    """Return a part of the stream. Raises ModelError if it is no JSON object."""
    try:
        data = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise garbled("a part that is not a JSON object")
    return data


def legal_name(name: str) -> str:
    """Return a tool's name as the APIs take it: a model may have called what does not exist."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


# A parameter may have any name; Anthropic's API takes keys of letters, digits, _ . and - alone.
# Each other character is written as its code point, as names in XML are (ISO/IEC 9075-14, 9.1):
# `<value>` is `_x003C_value_x003E_`. So a name can be read back from what was sent alone.
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_.-]|_(?=x[0-9A-Fa-f]{4,6}[^a-zA-Z0-9.-])")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4,6})_")


def legal_key(name: str) -> str:
    """Return a parameter's name as Anthropic's API takes it."""
    return _ILLEGAL.sub(lambda match: f"_x{ord(match[0]):04X}_", name)


def own_key(name: str) -> str:
    """Return a parameter's own name, of the name that the API takes."""
    return _ESCAPED.sub(_character, name)


def _character(escaped: re.Match[str]) -> str:
    code = int(escaped[1], 16)
    return chr(code) if code <= sys.maxunicode else escaped[0]
