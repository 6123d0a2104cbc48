"""What the clients of Anthropic and OpenAI share: redirects, and one line for every error.

Their SDKs have one author, one set of errors, and one transport (`httpx2`). Each SDK is passed in.
"""

from __future__ import annotations

import json
import re
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from ..core.errors import ModelError
from ..core.text import printable
from ..tools.value_copies import well_formed
from .retrying import Passing

AGAIN = "nothing of it ran, and running again goes on from here"
_PORTS = {"http": 80, "https": 443}


class Response(Protocol):
    """A response of either SDK's HTTP client."""

    @property
    def has_redirect_location(self) -> bool: ...
    @property
    def headers(self) -> Any: ...
    @property
    def url(self) -> Any: ...


def same_server_only(response: Response) -> None:
    """Raise ModelError for a redirect to another scheme, host or port.

    A request holds the prompt and the results of tools, and some keys travel in headers that an
    HTTP client sends along wherever it is redirected to: so the person names each server. It is
    given to the HTTP client as a hook, which runs before the redirect is followed.
    """
    if not response.has_redirect_location:
        return
    here = str(response.url)
    try:
        there = urljoin(here, response.headers["location"])
        same = _server(there) == _server(here)
    except ValueError:
        there, same = "", False
    if not same:
        place = printable("{}://{}:{}".format(*_server(there))) if there else "no address"
        raise ModelError(
            f"{'{}://{}:{}'.format(*_server(here))} redirects to {place}, which is another server: "
            "nothing was sent there; if it is the right one, set the base URL to it"
        )


def _server(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def http_client(owner: object, make: Callable[..., Any]) -> Any:
    """Return an HTTP client for an SDK, which is closed with its owner.

    An SDK closes the HTTP client that it made itself, and not one that it was given.
    """
    client = make(event_hooks={"response": [same_server_only]})
    weakref.finalize(owner, client.close)
    return client


def read_to_end(parts: Iterable[object]) -> None:
    """Read what is left of a stream: then the connection serves the next turn."""
    import httpx2

    with suppress(httpx2.HTTPError, ValueError):
        deque(parts, maxlen=0)


# -- errors ----------------------------------------------------------------------------------


@contextmanager
def model_errors(
    sdk: Any,
    sdk_error: type[Exception],
    where: str,
    refused: Callable[[Any], ModelError],
    unreached: Callable[[str], ModelError],
) -> Iterator[None]:
    """Raise what goes wrong within as ModelError, in one line: Passing if it may pass by itself.

    `refused` has the error for an HTTP status, `unreached` for a connection, by its cause.
    """
    import httpx2

    try:
        yield
        return
    except sdk.APIStatusError as error:
        problem = refused(error)
    except (sdk.APITimeoutError, httpx2.TimeoutException) as error:
        late = f"{where} did not answer in time; {AGAIN}"
        # A long wait for an answer is not repeated without being asked for.
        problem = Passing(late) if cause(error) == "ConnectTimeout" else ModelError(late)
    except (sdk.APIConnectionError, httpx2.HTTPError) as error:
        redirect = error.__cause__
        problem = redirect if isinstance(redirect, ModelError) else unreached(cause(error))
    except sdk_error as error:
        problem = ModelError(f"{where} could not be asked: {one_line(str(error))}")
    except (httpx2.InvalidURL, ValueError, OSError) as error:
        told = f"{where} could not be asked, or understood ({cause(error)}); {AGAIN}"
        problem = ModelError(told)
    raise problem from None


def redacted(error: ModelError, secrets: Iterable[object]) -> ModelError:
    """Return an error of the same kind without these texts."""
    text = str(error)
    for secret in secrets:
        if isinstance(secret, str) and secret:
            text = text.replace(secret, "«redacted»")
    return Passing(text, error.after) if isinstance(error, Passing) else ModelError(text)


def cause(error: BaseException) -> str:
    """Return the kind of an error's cause: the words of a transport may quote what was sent."""
    return type(error.__cause__ or error).__name__


def one_line(text: str) -> str:
    """Return the words of another program as the part of one line."""
    return well_formed(" ".join(text.split())[:300])


# -- parts of a reply ------------------------------------------------------------------------


def garbled(what: str) -> ModelError:
    """Return the error for a stream that makes no sense."""
    return ModelError(f"the model's reply came garbled: {what}; {AGAIN}")


def json_object(text: str) -> dict[str, Any]:
    """Return a part of the stream. Raises ModelError if it is no JSON object."""
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise garbled("a part that is not a JSON object")
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def legal_name(name: str) -> str:
    """Return a tool's name as the APIs take it: a model may have called what does not exist."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"
